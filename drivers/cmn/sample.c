// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a stop of the mesh does to carries: whether they come late or not at all, and whether DTMs
 * stop late. No manual says. Most counters wrap many times between two reads, so that a carry more
 * or less does not show in counts. So one DTM is looked at right before and after stops.
 */
#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/string.h>

#include "cmn.h"

/* Is there a sample? If it has hardly counted, the next DTM is that carries to a letter. */
static bool cmn_sample_pick(struct cmn *cmn)
{
	struct cmn_sample *s = &cmn->sample;

	/* The first DTM is the last one, too. */
	for (unsigned int i = s->idle; i <= cmn->nr_dtms; i++) {
		unsigned int at = (s->dtm + i) % cmn->nr_dtms;
		const struct cmn_dtm *dtm = &cmn->dtms[at];

		if (!(dtm->written & CMN_PMU_CONFIG_PAIRED_ALL))
			continue;
		s->dtm = at;
		s->dtcs = cmn->known_domains ? BIT(dtm->dtc) : BIT(cmn->nr_dtcs) - 1;
		return true;
	}
	s->dtcs = 0;
	return false;
}

/* Those of a DTM's local counters that carry to a letter, beside zeros. */
static u64 cmn_sample_counts(const struct cmn_dtm *dtm, u64 counts)
{
	for (unsigned int k = 0; k < CMN_DTM_COUNTERS; k++)
		if (!(dtm->written & CMN_PMU_CONFIG_PAIRED(k)))
			counts &= ~((u64)U16_MAX << (16 * k));
	return counts;
}

/* Sets the carries of the sample, by letter; reads its counters after them, and returns these. */
static u64 cmn_sample_read(struct cmn *cmn, u64 *carries)
{
	struct cmn_dtm *dtm = &cmn->dtms[cmn->sample.dtm];
	unsigned long letters = cmn_dtm_letters(dtm, dtm->written);
	u8 letter[CMN_MAX_DTCS];
	unsigned int i;

	for_each_set_bit(i, &letters, CMN_DTC_COUNTERS) {
		memset(letter, i, sizeof(letter));
		carries[i] = cmn_carries_read(cmn, letter, cmn->sample.dtcs);
	}
	return cmn_sample_counts(dtm, cmn_dtm_read(cmn, dtm));
}

/* A sample whose counters have counted less than this since they were last read is idle. */
#define CMN_SAMPLE_IDLE		256

static bool cmn_sample_is_idle(u64 before, u64 now)
{
	for (unsigned int k = 0; k < CMN_DTM_COUNTERS; k++)
		if ((u16)(cmn_count(now, k) - cmn_count(before, k)) >= CMN_SAMPLE_IDLE)
			return false;
	return true;
}

/* Has a counter wrapped from one look to the next, or will one by @looks more? */
static bool cmn_sample_wraps(u64 before, u64 now, unsigned int looks)
{
	for (unsigned int k = 0; k < CMN_DTM_COUNTERS; k++) {
		unsigned int step = (u16)(cmn_count(now, k) - cmn_count(before, k));

		if (cmn_count(before, k) + (looks + 1) * step > U16_MAX)
			return true;
	}
	return false;
}

/* How much is read to await a wrap, and at how many stops. */
#define CMN_SAMPLE_READS	64
#define CMN_SAMPLE_STOPS	16

/*
 * A carry shows what a stop does to it if the stop comes right after a wrap, or right before one
 * that DTMs still make as they stop. At other moments few are under way, and what becomes of them
 * would be seen only now and then. So the first stops wait for a wrap that is near: one until it is
 * over, the next until it is due. Leaves in the sample what was read before the wrap. Returns
 * whether there is one.
 */
static bool cmn_sample_await(struct cmn *cmn)
{
	struct cmn_sample *s = &cmn->sample;
	const struct cmn_dtm *dtm = &cmn->dtms[s->dtm];
	u8 letters = cmn_dtm_letters(dtm, dtm->written);
	/* Two letters are one read. */
	unsigned int reads = 1 + hweight8((letters | letters >> 1) & 0x55) * hweight8(s->dtcs);
	unsigned int looks = max(CMN_SAMPLE_READS / reads, 1U);
	u64 carries[CMN_DTC_COUNTERS], counts;
	bool near, due;

	do {
		cmn->pass++;
		counts = cmn_sample_read(cmn, carries);
		if (cmn_sample_wraps(s->counts, counts, 0))
			return true;
		near = cmn_sample_wraps(s->counts, counts, --looks);
		due = s->asked % 2 && cmn_sample_wraps(s->counts, counts, 1);
		s->counts = counts;
		memcpy(s->carries, carries, sizeof(carries));
	} while (near && !due);
	return due;
}

/*
 * A counter that has wrapped since it was read before the stop has made a carry. Returns false if
 * others came as well, which may hide that this one did not.
 */
static bool cmn_sample_check(struct cmn *cmn)
{
	struct cmn_sample *s = &cmn->sample;
	const struct cmn_dtm *dtm = &cmn->dtms[s->dtm];
	unsigned long letters = cmn_dtm_letters(dtm, dtm->written);
	u64 carries[CMN_DTC_COUNTERS], counts = cmn_sample_read(cmn, carries);
	u8 letter[CMN_MAX_DTCS];
	bool clear = true;
	unsigned int i;

	if (cmn->gone || s->dtcs & cmn->unsure_dtcs)
		return false;
	for (i = 0; i < CMN_DTM_COUNTERS; i++)
		if (cmn_count(counts, i) < cmn_count(s->counts, i))
			s->carries[cmn_field(dtm->written, CMN_PMU_CONFIG_GLOBAL(i))]++;
	for_each_set_bit(i, &letters, CMN_DTC_COUNTERS) {
		memset(letter, i, sizeof(letter));
		carries[i] = cmn_carries_read(cmn, letter, s->dtcs);
		clear &= carries[i] <= s->carries[i];
		if (carries[i] < s->carries[i])
			cmn_carries_await(cmn, letter, s->dtcs, s->carries[i]);
	}
	return clear;
}

/*
 * Look at the sample before the stop; returns whether a wrap is near. As long as stops ask for one,
 * the next looks at another DTM.
 */
static bool cmn_sample_take(struct cmn *cmn)
{
	struct cmn_sample *s = &cmn->sample;
	struct cmn_dtm *dtm = &cmn->dtms[s->dtm];
	u64 before = cmn_sample_counts(dtm, dtm->counts);

	cmn->pass++;
	s->counts = cmn_sample_read(cmn, s->carries);
	s->idle = s->dtcs & cmn->unsure_dtcs || cmn_sample_is_idle(before, s->counts);
	if (cmn->gone || s->idle || s->asked >= CMN_SAMPLE_STOPS || cmn->loses_carries)
		return false;
	s->idle = true;
	return cmn_sample_await(cmn);
}

/**
 * cmn_stand() - stop the mesh, unless it is.
 * @cmn: the mesh
 *
 * If a counter of the sample has wrapped since it was last read before the stop, its carry must
 * have come.
 *
 * Context: the box's lock. Accesses of cmn_mesh_run(); twice 1 read of a DTM and 1 to 4 of its DTC
 * (of all, if domains are not known), the second ones for the pass. If the DTM counts, once more,
 * or up to 64 reads to await a wrap, until 16 stops have seen what becomes of one. Up to 3 ms if
 * carries are missing: cmn_carries_await().
 */
void cmn_stand(struct cmn *cmn)
{
	struct cmn_sample *s = &cmn->sample;
	bool sampled, asked;

	if (cmn->stopped)
		return;
	sampled = !cmn->withheld && !cmn->gone && cmn_sample_pick(cmn);
	asked = sampled && cmn_sample_take(cmn);
	cmn_mesh_run(cmn, false);
	if (!sampled || cmn->gone || !cmn_sample_check(cmn) || !asked)
		return;
	/* After the wrap, and before one. */
	s->asked++;
	s->idle = s->asked % 2 == 0;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_stand);

/**
 * cmn_stood() - has the mesh stood since it was stopped?
 * @cmn: the mesh, stopped; when it will run again, before a flush, or when nothing counts any more
 *
 * What has moved since it was read after the stop tells: see cmn_moved(). After a long time, in
 * which nothing counted, another program may have used the mesh, which harms nobody.
 *
 * Context: the box's lock. 1 read of a DTM, and 1 to 4 of its DTC (of all, if domains are not
 * known).
 */
void cmn_stood(struct cmn *cmn)
{
	u64 carries[CMN_DTC_COUNTERS];

	if (!cmn->sample.dtcs || cmn->withheld || cmn->gone ||
	    time_after(jiffies, cmn->stop_jiffies + HZ / 10))
		return;
	cmn->pass++;
	cmn_sample_read(cmn, carries);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_stood);
