// SPDX-License-Identifier: GPL-2.0-only
/*
 * DTCs: the 32-bit counters that DTMs carry into, called A to H in the manuals and letters
 * here, the cycle counter, overflow, and the bit that runs the whole mesh.
 *
 * An event's value is the sum of its 16-bit local counters and, 16 bits up, of one
 * letter for each DTC. A carry from one to the other takes time, and in a mesh that counts
 * no two registers are read at once: cmn_event_value() makes the best of that. For values of one
 * moment the mesh is stopped, and the carries under way are awaited.
 *
 * Letters are extended to 64 bits here. They count on from one event to the next. They begin in
 * the middle of their range, and are put back there when they have wrapped and nothing counts. So
 * 2^31 wraps of local counters, or 2^47 events, pass before the interrupt, and as many again until
 * it would be too late to serve it.
 */
#include <linux/device.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/moduleparam.h>

#include "cmn.h"

#define CMN_LETTER_START	BIT_ULL(31)
#define CMN_CYCLES_START	BIT_ULL(CMN_PMCCNTR_WIDTH - 1)
#define CMN_CYCLES_MASK		GENMASK_ULL(CMN_PMCCNTR_WIDTH - 1, 0)

/*
 * How long after a stop a carry may still come, and a DTM still count. No manual says. If all local
 * counters of the largest mesh wrap at once, and a DTC takes one of their 144 * 4 * 4 carries in
 * each clock of 1 GHz, the last one comes after 2304 ns. It is no longer in a running mesh: each
 * counter wraps again 65536 clocks later at the earliest.
 */
static unsigned int cmn_carry_ns = 2500;
module_param_named(carry_ns, cmn_carry_ns, uint, 0444);
MODULE_PARM_DESC(carry_ns, "time in ns that a carry takes at most from a DTM to its DTC (2500; up to 1000000)");

#define CMN_HZ_PER_MHZ		1000000U
/* The mesh's highest clock, MHz: how soon a local counter may wrap. */
static unsigned int cmn_clock_mhz = CMN_MAX_CLOCK / CMN_HZ_PER_MHZ;
module_param_named(clock_mhz, cmn_clock_mhz, uint, 0444);
MODULE_PARM_DESC(clock_mhz, "highest clock of the mesh, MHz (4000)");

/* A carry that takes longer than this, in ns, is taken for lost. */
#define CMN_CARRY_LIMIT		1000000U
/* The first wait for a missing carry, in ns. */
#define CMN_CARRY_FIRST		100U

static void __iomem *cmn_letter_reg(const struct cmn_dtc *dtc, unsigned int letter)
{
	return dtc->pmu + CMN_DTC_PMEVCNT(letter / 2) + 4 * (letter % 2);
}

/* Runs in an irq_work. */
static void cmn_complain(struct irq_work *work)
{
	struct cmn *cmn = container_of(work, struct cmn, complaint);

	if (test_and_clear_bit(CMN_STOP_LATE, &cmn->untold))
		dev_warn_ratelimited(cmn->dev, "%s: a carry took longer than %u ns, or a DTM to stop, or another program has run the mesh: counts may be wrong by multiples of 65536; from now on each stop waits for %u ns, as carry_ns=%u would\n",
				     cmn->name, cmn->late_ns, cmn->carry_ns, cmn->carry_ns);
	if (test_and_clear_bit(CMN_CARRIES_STRAYED, &cmn->untold))
		dev_warn(cmn->dev, "%s: carries do not come to DTC %u, and counter %c of DTC %u, which no event has, has counted: XPs may be in other domains than they say, or a stop loses carries; counts may lack multiples of 65536; please report this line and the drawing to the maintainers of pmu-suite\n",
			 cmn->name, cmn->stray.from, 'A' + cmn->stray.letter, cmn->stray.to);
	if (test_and_clear_bit(CMN_CARRIES_LOST, &cmn->untold))
		dev_warn(cmn->dev, "%s: carries are lost when the mesh is stopped: each start, stop and read of a group may cost an event 65536 for each of its nodes\n",
			 cmn->name);
	if (test_and_clear_bit(CMN_RUN_BY_OTHERS, &cmn->untold))
		dev_warn(cmn->dev, "%s: another program runs the mesh while it should stand, or carries take longer than a millisecond: counts may be wrong by multiples of 65536\n",
			 cmn->name);
	if (test_and_clear_bit(CMN_DTM_LOCKED, &cmn->untold))
		dev_warn(cmn->dev, "%s: another program has set dtm_enable of a DTM, which may have kept writes away: it is cleared now; events at that XP may have counted something else\n",
			 cmn->name);
	if (test_and_clear_bit(CMN_FILTERS_MIXED, &cmn->untold))
		dev_notice(cmn->dev, "%s: an event counts at a node beside another one with a filter: if the filter acts on both, which no manual says, the first counts too little; count them one after the other to see\n",
			   cmn->name);
	if (test_and_clear_bit(CMN_CHANNEL_OPEN, &cmn->untold))
		dev_notice(cmn->dev, "%s: a watchpoint is at a channel of which the mesh has several virtual ones: it counts the one that wp_chn_num says, without it the first, or all, which no manual says; pmu-check --probe virtual-channels tells\n",
			   cmn->name);
	if (test_and_clear_bit(CMN_PAIR_INVERTED, &cmn->untold))
		dev_notice(cmn->dev, "%s: wp_exclusive of half a pair inverts the match of this half, or that of the pair, which no manual says; pmu-check --probe pairs tells\n",
			   cmn->name);
	if (test_and_clear_bit(CMN_LINES_SHARED, &cmn->untold))
		dev_notice(cmn->dev, "%s: an event is at a node that shares its lines with others of its device: if they are not ORed, which no manual says, it counts 0, also under a load that makes such events\n",
			   cmn->name);
	if (test_and_clear_bit(CMN_AS_650, &cmn->untold))
		dev_notice(cmn->dev, "%s: CI-700 has no public manual and is taken to be as CMN-650: compare the drawing in debugfs with the SoC's manual\n",
			   cmn->name);
}

/* Have it said in the log, where that may be. */
void cmn_tell(struct cmn *cmn, enum cmn_complaint what)
{
	set_bit(what, &cmn->untold);
	irq_work_queue(&cmn->complaint);
}

/* The same, but no more than once for a mesh. */
void cmn_tell_once(struct cmn *cmn, enum cmn_complaint what)
{
	if (!__test_and_set_bit(what, &cmn->told))
		cmn_tell(cmn, what);
}

/**
 * cmn_carries_init() - prepare a mesh; call this before anything else.
 * @cmn: the mesh
 *
 * Context: any.
 */
void cmn_carries_init(struct cmn *cmn)
{
	INIT_LIST_HEAD(&cmn->fresh);
	init_irq_work(&cmn->complaint, cmn_complain);
	cmn->wrap_ns = BIT(16) * (NSEC_PER_SEC / CMN_HZ_PER_MHZ) /
		       clamp(cmn_clock_mhz, 1U, (unsigned int)(CMN_MAX_CLOCK / CMN_HZ_PER_MHZ));
}
EXPORT_SYMBOL_IF_KUNIT(cmn_carries_init);

/**
 * cmn_dtc_reset() - take over a DTC, as a previous kernel left it.
 * @dtc: the DTC
 *
 * An overflow can be cleared only while the PMU is enabled; and the counters may be running. A
 * tracing tool may have asked for packets that come periodically.
 *
 * Context: see cmn_reset(). 1 read and 8 writes, 1 more if TRACE_CONTROL is not 0. Leaves it
 * enabled.
 */
void cmn_dtc_reset(struct cmn_dtc *dtc)
{
	if (cmn_read32(dtc->base + CMN_DTC_TRACE_CONTROL))
		cmn_write32(0, dtc->base + CMN_DTC_TRACE_CONTROL);
	cmn_write32(CMN_DTC_CTL_DT_EN, dtc->base + CMN_DTC_CTL);
	cmn_write32(CMN_PMCR_RUN, dtc->pmu + CMN_DTC_PMCR);
	for (unsigned int i = 0; i < CMN_DTC_COUNTERS / 2; i++)
		cmn_write64(CMN_LETTER_START << 32 | CMN_LETTER_START,
			    dtc->pmu + CMN_DTC_PMEVCNT(i));
	for (unsigned int i = 0; i < CMN_DTC_COUNTERS; i++)
		dtc->last[i] = CMN_LETTER_START;
	cmn_write64(0, dtc->pmu + CMN_DTC_PMCCNTR);
	cmn_write32(CMN_PMOVSR_ALL, dtc->pmu + CMN_DTC_PMOVSR_CLR);
}

/* Leave the DTC as a reset of the machine does. */
void cmn_dtc_quiesce(struct cmn_dtc *dtc)
{
	cmn_write32(0, dtc->pmu + CMN_DTC_PMCR);
	cmn_write32(0, dtc->base + CMN_DTC_CTL);
	/* This read makes sure that all writes have arrived. */
	cmn_read32(dtc->base + CMN_DTC_CTL);
}

/**
 * cmn_mesh_run() - let all counters of the mesh count, or stop them.
 * @cmn: the mesh
 * @run: which
 *
 * DTC 0 controls all counters. When a stop returns, nothing is in flight: the write has arrived,
 * all DTMs have stopped, and the last carry has come.
 *
 * Context: the box's lock. 1 write, to stop 1 read and some us.
 */
void cmn_mesh_run(struct cmn *cmn, bool run)
{
	void __iomem *pmcr = cmn->dtc[0].pmu + CMN_DTC_PMCR;

	cmn_write32(run ? CMN_PMCR_RUN : 0, pmcr);
	cmn->stopped = !run;
	/* Values that were read are out of date. */
	cmn->pass++;
	if (run)
		return;
	cmn->stop_pass = cmn->pass;
	cmn->stop_jiffies = jiffies;
	/* Read it back, so that the delay begins after the write has arrived. */
	cmn_read32(pmcr);
	cmn->carry_ns = max(cmn->carry_ns, min(cmn_carry_ns, CMN_CARRY_LIMIT));
	cmn_wait(cmn->carry_ns);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_mesh_run);

static void cmn_letter_put(struct cmn_dtc *dtc, unsigned int letter, u32 value)
{
	unsigned int shift = 32 * (letter % 2);
	u64 *pair = &dtc->pair[letter / 2];

	cmn_write32(value, cmn_letter_reg(dtc, letter));
	dtc->last[letter] = value;
	*pair = (*pair & ~(GENMASK_ULL(31, 0) << shift)) | (u64)value << shift;
}

/**
 * cmn_counts_read() - a register with several counters.
 * @cmn: the mesh; marked as gone if it is
 * @reg: the register
 *
 * A device that is gone reads as all ones. Counters may hold all ones, too, but PMCR cannot.
 *
 * Context: the box's lock. 1 read; 2 more for all ones.
 * Return: 64 bits.
 */
u64 cmn_counts_read(struct cmn *cmn, const void __iomem *reg)
{
	u64 counts = cmn_read64(reg);

	if (counts != U64_MAX)
		return counts;
	if (cmn_read32(cmn->dtc[0].pmu + CMN_DTC_PMCR) == U32_MAX)
		cmn->gone = true;
	return cmn_read64(reg);
}

/*
 * What should have been over has lasted for longer than @ns. Later stops wait for longer, unless
 * another program runs the mesh, or must have: nothing lasts for as long as CMN_CARRY_LIMIT.
 */
static void cmn_late(struct cmn *cmn, unsigned int ns)
{
	u32 pmcr = cmn_read32(cmn->dtc[0].pmu + CMN_DTC_PMCR);
	bool runs = pmcr & CMN_PMCR_PMU_EN;

	if (pmcr == U32_MAX) {
		cmn->gone = true;
	} else if (runs || ns >= CMN_CARRY_LIMIT) {
		if (!runs)
			cmn->carry_ns = min(cmn_carry_ns, CMN_CARRY_LIMIT);
		cmn_tell_once(cmn, CMN_RUN_BY_OTHERS);
	} else {
		cmn->late_ns = ns;
		cmn->carry_ns = clamp(2 * ns, CMN_CARRY_FIRST, CMN_CARRY_LIMIT);
		cmn_tell(cmn, CMN_STOP_LATE);
	}
}

/*
 * Counters have moved since they were read first in this stop: it was taken for done too early. It
 * has waited once, and all may be late.
 */
void cmn_moved(struct cmn *cmn)
{
	cmn->stop_pass = U64_MAX;
	cmn_late(cmn, cmn->carry_ns);
}

/*
 * Returns the carries of local counters, 64 bits, of all events that ever had the letter. 1 read in
 * a pass for two letters; in a mesh that is stopped 1 write if it has wrapped.
 */
static u64 cmn_letter_read(struct cmn *cmn, struct cmn_dtc *dtc, unsigned int letter)
{
	unsigned int pair = letter / 2;
	u64 pass = dtc->pass[pair], before = dtc->pair[pair];
	u32 now;

	if (pass != cmn->pass) {
		dtc->pair[pair] = cmn_counts_read(cmn, dtc->pmu + CMN_DTC_PMEVCNT(pair));
		dtc->pass[pair] = cmn->pass;
		if (cmn->stopped && !cmn->gone && pass >= cmn->stop_pass &&
		    dtc->pair[pair] != before)
			cmn_moved(cmn);
	}
	now = dtc->pair[pair] >> (32 * (letter % 2));
	dtc->total[letter] += (u32)(now - dtc->last[letter]);
	dtc->last[letter] = now;
	/* While the mesh counts, a carry between the read and the write would be lost. */
	if (cmn->stopped && now < CMN_LETTER_START)
		cmn_letter_put(dtc, letter, CMN_LETTER_START);
	return dtc->total[letter];
}

/**
 * cmn_carries_read() - the sum of letters.
 * @cmn: the mesh
 * @letter: by DTC
 * @dtcs: bit per DTC
 *
 * Context: the box's lock. Accesses as cmn_letter_read(), for each DTC.
 * Return: carries of local counters, 64 bits, and an offset.
 */
u64 cmn_carries_read(struct cmn *cmn, const u8 *letter, u8 dtcs)
{
	u64 carries = 0;

	for (unsigned int i = 0; i < cmn->nr_dtcs; i++)
		if (dtcs & BIT(i))
			carries += cmn_letter_read(cmn, &cmn->dtc[i], letter[i]);
	return carries;
}

/*
 * Carries do not come to letters. Has such a letter counted in another DTC, where no event has had
 * it? Notes which. A letter that an event has had may have counted for that event's counters, which
 * count on after a stop, so it tells nothing.
 */
static bool cmn_carries_stray(struct cmn *cmn, const u8 *letters, u8 dtcs)
{
	for (unsigned int n = 0; n < cmn->nr_dtcs * cmn->nr_dtcs; n++) {
		unsigned int from = n / cmn->nr_dtcs, to = n % cmn->nr_dtcs;
		unsigned int letter = letters[from];
		struct cmn_dtc *dtc = &cmn->dtc[to];
		u64 pair;

		if (!(dtcs & BIT(from)) || dtc->used & BIT(letter))
			continue;
		pair = cmn_counts_read(cmn, dtc->pmu + CMN_DTC_PMEVCNT(letter / 2));
		if ((u32)(pair >> (32 * (letter % 2))) == dtc->last[letter])
			continue;
		cmn->stray.from = from;
		cmn->stray.to = to;
		cmn->stray.letter = letter;
		return true;
	}
	return false;
}

/**
 * cmn_carries_await() - wait for carries that are missing.
 * @cmn: the mesh, stopped
 * @letter: by DTC: local counters have wrapped more often than these tell
 * @dtcs: bit per DTC
 * @least: what they should tell
 *
 * Either carries take longer than assumed, and later stops wait longer; or the mesh loses carries
 * when it is stopped, and later calls do not wait. An irq_work reports either, since perf may hold
 * the scheduler's locks here, and printk wakes tasks.
 *
 * Context: the box's lock. Up to 2 ms. Later stops wait for the time that was found,
 * or later calls do not wait.
 * Return: cmn_carries_read() at the end.
 */
u64 cmn_carries_await(struct cmn *cmn, const u8 *letter, u8 dtcs, u64 least)
{
	u64 carries = cmn_carries_read(cmn, letter, dtcs);
	bool strayed;

	if (cmn->loses_carries)
		return carries;
	/* That they come late is told here. */
	cmn->stop_pass = U64_MAX;
	for (unsigned int ns = max(cmn->carry_ns, CMN_CARRY_FIRST); ns <= CMN_CARRY_LIMIT;
	     ns *= 2) {
		cmn_wait(ns);
		cmn->pass++;
		carries = cmn_carries_read(cmn, letter, dtcs);
		if (carries < least)
			continue;
		cmn_late(cmn, ns);
		return carries;
	}
	strayed = cmn_carries_stray(cmn, letter, dtcs);
	if (cmn->gone)
		return carries;
	cmn->loses_carries = true;
	cmn_tell(cmn, strayed ? CMN_CARRIES_STRAYED : CMN_CARRIES_LOST);
	return carries;
}

/**
 * cmn_cycles_start() - let the cycle counter count.
 * @dtc: the DTC
 *
 * It counts only while the DTC has a clock, so clock gating is turned off.
 *
 * Context: the box's lock. 2 writes.
 */
void cmn_cycles_start(struct cmn_dtc *dtc)
{
	cmn_write32(CMN_DTC_CTL_DT_EN | CMN_DTC_CTL_CG_DISABLE, dtc->base + CMN_DTC_CTL);
	cmn_write64(CMN_CYCLES_START, dtc->pmu + CMN_DTC_PMCCNTR);
	dtc->cycles_last = CMN_CYCLES_START;
	dtc->counting |= BIT(CMN_DTC_COUNTERS);
}

/* Turn clock gating on again. 1 write. */
void cmn_cycles_stop(struct cmn_dtc *dtc)
{
	cmn_write32(CMN_DTC_CTL_DT_EN, dtc->base + CMN_DTC_CTL);
	dtc->counting &= ~BIT(CMN_DTC_COUNTERS);
}

/**
 * cmn_cycles_read() - the count of the cycle counter.
 * @cmn: the mesh
 * @dtc: the DTC
 *
 * Context: the box's lock. 1 read; in a mesh that is stopped 1 write if it has
 * wrapped.
 * Return: cycles, 64 bits.
 */
u64 cmn_cycles_read(struct cmn *cmn, struct cmn_dtc *dtc)
{
	u64 now = cmn_counts_read(cmn, dtc->pmu + CMN_DTC_PMCCNTR) & CMN_CYCLES_MASK;

	dtc->cycles_total += (now - dtc->cycles_last) & CMN_CYCLES_MASK;
	dtc->cycles_last = now;
	if (cmn->stopped && now < CMN_CYCLES_START) {
		cmn_write64(CMN_CYCLES_START, dtc->pmu + CMN_DTC_PMCCNTR);
		dtc->cycles_last = CMN_CYCLES_START;
	}
	return dtc->cycles_total;
}

/* Does anything count for an event? */
bool cmn_is_counting(const struct cmn *cmn)
{
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++)
		if (cmn->dtc[i].counting)
			return true;
	return false;
}

static bool cmn_overflow_locked(struct cmn *cmn, u8 dtcs)
{
	bool idle = cmn->stopped, any = false;
	u32 flags[CMN_MAX_DTCS] = { };

	/*
	 * Another CPU reads a group, or starts and stops events, and counts have to stand still
	 * until it has done so. By then the interrupt has come again.
	 */
	if (idle && cmn_is_counting(cmn))
		return true;
	if (idle)
		cmn_mesh_run(cmn, true);
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++) {
		if (dtcs & BIT(i))
			flags[i] = cmn_read32(cmn->dtc[i].pmu + CMN_DTC_PMOVSR) & CMN_PMOVSR_ALL;
		any |= flags[i];
	}
	if (any && !idle && cmn->box) {
		cmn_mesh_run(cmn, false);
		pmu_box_fold(cmn->box);
	}
	/* The end of the pass has started the mesh, unless the device is being removed. */
	if (cmn->stopped)
		cmn_mesh_run(cmn, true);
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++) {
		if (!flags[i])
			continue;
		cmn_write32(flags[i], cmn->dtc[i].pmu + CMN_DTC_PMOVSR_CLR);
		/* Wait for the write to arrive, or the interrupt would come again. */
		cmn_read32(cmn->dtc[i].pmu + CMN_DTC_PMOVSR);
	}
	if (idle)
		cmn_mesh_run(cmn, false);
	return any;
}

/**
 * cmn_overflow() - serve the overflow of DTCs.
 * @cmn: the mesh
 * @dtcs: bit per DTC
 *
 * In a stopped mesh, a read of a letter or cycle counter that has wrapped puts it back to the
 * middle of its range, so it is enough to bring all events up to date. The mesh has to run for the
 * flags to be seen and cleared.
 *
 * Context: interrupts off; not a verb. 1 read for each DTC, 1 read and 1 write for each that
 * has overflowed, and those of the events and of a stop.
 * Return: whether any had.
 */
bool cmn_overflow(struct cmn *cmn, u8 dtcs)
{
	unsigned long irqs = cmn->box ? pmu_box_lock(cmn->box) : 0;
	bool any = cmn_overflow_locked(cmn, dtcs);

	if (cmn->box)
		pmu_box_unlock(cmn->box, irqs);
	return any;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_overflow);
