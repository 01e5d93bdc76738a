// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmn: what counters and letters say, together, and when they are read. Numbers are those of
 * Documentation/hardware/cmn.md, worked out by hand.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "regfile.h"

/* Offsets in the frame of an XP, and of a DTC; the same for CMN-600 and CMN-700. */
#define PMEVCNT		0x2220
#define DTC_CTL		0x0a00
#define PMEVCNT_AB	0x2000
#define PMCCNTR		0x2040
#define PMCR		0x2100
#define PMOVSR		0x2118
#define PMOVSR_CLR	0x2120

/* As at the end of a transaction. */
static void run(struct cmn_regfile *file)
{
	cmn_events_begin(&file->cmn);
	cmn_mesh_run(&file->cmn, true);
}

/* Local counters that wrap have carried: the sum goes on. */
static void local_wraps(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 xp = file->xp[1], dtc0 = file->node[3];
	struct cmn_event *ce;
	u64 before;

	/* Three HN-Fs at one XP: counters 0, 1 and 2. */
	cmn_regfile_set(file, xp + PMEVCNT, 0x00000000fff00010);
	ce = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);
	before = cmn_event_value(&file->cmn, ce);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMEVCNT_AB), 0x8000000080000000ULL);
	run(file);
	cmn_regfile_set(file, xp + PMEVCNT, 0x0000000000100020);
	cmn_regfile_set(file, dtc0 + PMEVCNT_AB, 0x80000001);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, ce) - before, 0x30ULL);
	kvfree(ce);
}

/*
 * A wrap that was seen has a carry, be it under way. One that was not seen is missing until its
 * carry comes, and so it is never too much: HN-Fs at one XP, counters 0, 1 and 2.
 */
static void carries_under_way(struct kunit *test)
{
	static const struct { u64 locals; u32 letter; u64 value; } steps[] = {
		{ 0xfff0, 0x80000000, 0xfff0 },
		{ 0x0010, 0x80000000, 0x10010 },		/* wrapped */
		{ 0x0020, 0x80000000, 0x10020 },
		{ 0x0030, 0x80000001, 0x10030 },		/* its carry has come */
		{ 0xfff0fff0, 0x80000001, 0x10000 + 0x1ffe0 },
		{ 0x00100010, 0x80000002, 0x30020 },		/* one of two */
		{ 0x00200020, 0x80000003, 0x30040 },
		{ 0x00300030, 0x80000003, 0x30060 },		/* four more, twice each */
		{ 0x00200040, 0x80000005, 0x50060 },
		{ 0x00300050, 0x80000007, 0x70080 },
		{ 0x00010051, 0x80000007, 0x80052 },		/* read again after those */
		{ 0x00020052, 0x80000008, 0x80054 },
	};
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 xp = file->xp[1], dtc0 = file->node[3];
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);
	u64 before = cmn_event_value(&file->cmn, ce);

	run(file);
	cmn_regfile_forget(file);
	for (int i = 0; i < ARRAY_SIZE(steps); i++) {
		cmn_regfile_set(file, xp + PMEVCNT, steps[i].locals);
		cmn_regfile_set(file, dtc0 + PMEVCNT_AB, steps[i].letter);
		file->cmn.pass++;
		KUNIT_EXPECT_EQ_MSG(test, cmn_event_value(&file->cmn, ce) - before,
				    steps[i].value, "step %d", i);
	}
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	kvfree(ce);
}

/* An equal event takes counters over: it goes on from what they were known to be, and gives them back. */
static void counts_are_handed_on(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	/* This event takes the first counter and letter, so that others are handed on. */
	struct cmn_event *beside = cmn_regfile_start(test, file, claims, 0x2480010005, 0, 0);
	struct cmn_event *from = cmn_regfile_start(test, file, claims, 0x2480020005, 0, 0);
	struct cmn_event *to = cmn_regfile_event(test, file, 0x2480020005, 0, 0);
	u32 xp = file->xp[1], dtc0 = file->node[3];
	u64 before = cmn_event_value(&file->cmn, from);

	run(file);
	cmn_regfile_set(file, xp + PMEVCNT, 0x100000);
	cmn_regfile_set(file, dtc0 + PMEVCNT_AB, 0x8000000180000000);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, from) - before, 0x10010ULL);
	cmn_event_hand(from, to);
	cmn_regfile_forget(file);
	/* Wrapped, and the carry is under way. */
	cmn_regfile_set(file, xp + PMEVCNT, 0x50000);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, to) - before, 0x20005ULL);
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	cmn_unclaim(&file->cmn, claims, beside);
	cmn_unclaim(&file->cmn, claims, to);
	KUNIT_EXPECT_NULL(test, memchr_inv(claims, 0, cmn_claims_size(&file->cmn)));
	kvfree(beside);
	kvfree(from);
	kvfree(to);
}

/* In a mesh that counts the letters are read first: what carries meanwhile is missing. */
static void letters_come_first(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);

	run(file);
	cmn_regfile_forget(file);
	cmn_event_value(&file->cmn, ce);
	KUNIT_EXPECT_EQ(test, file->log[0].offset, file->node[3] + PMEVCNT_AB);
	KUNIT_EXPECT_EQ(test, file->log[1].offset, file->node[4] + PMEVCNT_AB);
	KUNIT_EXPECT_EQ(test, file->log[2].offset, file->xp[1] + PMEVCNT);
	kvfree(ce);
}

/*
 * The same holds for each of several events that are read in one pass without a stop of the mesh.
 * The third has letters in another register than the first two. All use one DTM.
 */
static void letters_of_each_event_come_first(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce[] = {
		cmn_regfile_start(test, file, claims, 0x2480010005, 0, 0),
		cmn_regfile_start(test, file, claims, 0x2480020005, 0, 0),
		cmn_regfile_start(test, file, claims, 0x2480030005, 0, 0),
	};
	unsigned int letter = 0, local = 0;

	run(file);
	for (int i = 0; i < ARRAY_SIZE(ce); i++) {
		cmn_regfile_forget(file);
		cmn_event_value(&file->cmn, ce[i]);
	}
	for (unsigned int i = 0; i < file->reads; i++) {
		if (file->log[i].offset == file->node[3] + PMEVCNT_AB + 0x10)
			letter = i + 1;
		if (file->log[i].offset == file->xp[1] + PMEVCNT)
			local = i + 1;
	}
	KUNIT_EXPECT_GT(test, letter, 0U);
	KUNIT_EXPECT_GT(test, local, letter);
	for (int i = 0; i < ARRAY_SIZE(ce); i++)
		kvfree(ce[i]);
}

/* A stop is over when it has been read back: only then the time of what is under way begins. */
static void a_stop_is_read_back(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	u32 dtc0 = file->node[3];
	u64 began, took;

	run(file);
	cmn_regfile_forget(file);
	began = ktime_get_ns();
	cmn_mesh_run(&file->cmn, false);
	took = ktime_get_ns() - began;
	KUNIT_EXPECT_EQ(test, file->writes, 1U);
	KUNIT_EXPECT_EQ(test, file->reads, 1U);
	KUNIT_EXPECT_EQ(test, file->log[0].offset, dtc0 + PMCR);
	KUNIT_EXPECT_TRUE(test, file->log[0].write);
	KUNIT_EXPECT_EQ(test, file->log[1].offset, dtc0 + PMCR);
	/* The time that 2304 carries take, one each ns. */
	KUNIT_EXPECT_GE(test, took, 2304ULL);
}

/* A carry that does not come is waited for once. No value goes back, none makes up for it. */
static void a_lost_carry(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 xp = file->xp[1];
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);
	u64 before = cmn_event_value(&file->cmn, ce);

	run(file);
	cmn_regfile_set(file, xp + PMEVCNT, 0xfff0);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, ce) - before, 0xfff0ULL);
	cmn_regfile_set(file, xp + PMEVCNT, 0x10);
	cmn_mesh_run(&file->cmn, false);
	KUNIT_EXPECT_FALSE(test, file->cmn.loses_carries);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, ce) - before, 0x10010ULL);
	KUNIT_EXPECT_TRUE(test, file->cmn.loses_carries);
	run(file);
	cmn_regfile_set(file, xp + PMEVCNT, 0x20);
	cmn_mesh_run(&file->cmn, false);
	cmn_regfile_forget(file);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, ce) - before, 0x10020ULL);
	KUNIT_EXPECT_LE(test, file->reads, 3U);
	kvfree(ce);
}

/* A carry of XP 0x20 does not come to DTC 1, and counter A of DTC 0 has counted. What is said? */
static bool is_said_to_stray(struct kunit *test, struct cmn_regfile *file,
			     struct cmn_claims *claims)
{
	u32 xp = file->xp[1], dtc0 = file->node[1];
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0);
	bool strayed;

	run(file);
	cmn_regfile_set(file, xp + PMEVCNT, 0xfff0);
	cmn_event_value(&file->cmn, ce);
	cmn_regfile_set(file, xp + PMEVCNT, 0x10);
	cmn_regfile_set(file, dtc0 + PMEVCNT_AB, 0x8000000080000001);
	local_irq_disable();
	cmn_mesh_run(&file->cmn, false);
	cmn_event_value(&file->cmn, ce);
	strayed = test_bit(CMN_CARRIES_STRAYED, &file->cmn.untold);
	KUNIT_EXPECT_NE(test, strayed, test_bit(CMN_CARRIES_LOST, &file->cmn.untold));
	local_irq_enable();
	kvfree(ce);
	return strayed;
}

/* Carries that do not come are looked for in the DTCs of other domains. */
static void a_stray_carry(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);

	KUNIT_EXPECT_TRUE(test, is_said_to_stray(test, file, cmn_regfile_claims(test, file)));
	KUNIT_EXPECT_EQ(test, file->cmn.stray.from, 1);
	KUNIT_EXPECT_EQ(test, file->cmn.stray.to, 0);
	KUNIT_EXPECT_EQ(test, file->cmn.stray.letter, 0);
}

/* So are those of an event over several domains, whose letters differ: B of DTC 0, A of DTC 1. */
static void a_stray_carry_of_several_domains(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *first = cmn_regfile_start(test, file, claims, 0x4080110006, 0, 0);
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);
	u32 xp = file->xp[2], dtc1 = file->node[2];

	KUNIT_ASSERT_EQ(test, ce->letter[0], 1);
	KUNIT_ASSERT_EQ(test, ce->letter[1], 0);
	run(file);
	cmn_regfile_set(file, xp + PMEVCNT, 0xfff0fff0);
	cmn_event_value(&file->cmn, ce);
	cmn_regfile_set(file, xp + PMEVCNT, 0x00100010);
	cmn_regfile_set(file, dtc1 + PMEVCNT_AB, 0x8000000180000000);
	local_irq_disable();
	cmn_mesh_run(&file->cmn, false);
	cmn_event_value(&file->cmn, ce);
	KUNIT_EXPECT_TRUE(test, test_bit(CMN_CARRIES_STRAYED, &file->cmn.untold));
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, file->cmn.stray.from, 0);
	KUNIT_EXPECT_EQ(test, file->cmn.stray.to, 1);
	KUNIT_EXPECT_EQ(test, file->cmn.stray.letter, 1);
	kvfree(first);
	kvfree(ce);
}

/*
 * In a mesh that stands a counter stays as it is, unless registers are written. If not, DTMs have
 * not stopped, which is said, and later stops wait for longer.
 */
static void counters_that_count_on(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *one = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0), *two;
	u32 xp = file->xp[1], waited;

	run(file);
	cmn_stand(&file->cmn);
	waited = file->cmn.carry_ns;
	two = cmn_regfile_start(test, file, claims, 0x2480010005, 0, 0);
	local_irq_disable();
	cmn_stood(&file->cmn);
	cmn_regfile_set(file, xp + PMEVCNT, 0x70010);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, file->cmn.untold, 0UL);
	cmn_regfile_set(file, xp + PMEVCNT, 0x80010);
	cmn_stood(&file->cmn);
	KUNIT_EXPECT_TRUE(test, test_bit(CMN_STOP_LATE, &file->cmn.untold));
	/* The stop has waited once, however often something moves. */
	cmn_regfile_set(file, xp + PMEVCNT, 0x90010);
	cmn_stood(&file->cmn);
	local_irq_enable();
	KUNIT_EXPECT_EQ(test, file->cmn.late_ns, waited);
	KUNIT_EXPECT_EQ(test, file->cmn.carry_ns, 2 * waited);
	/* What another program has counted while nothing of ours did says nothing of stops. */
	run(file);
	cmn_stand(&file->cmn);
	file->cmn.stop_jiffies -= HZ;
	cmn_regfile_set(file, xp + PMEVCNT, 0xa0010);
	cmn_stood(&file->cmn);
	KUNIT_EXPECT_EQ(test, file->cmn.carry_ns, 2 * waited);
	kvfree(one);
	kvfree(two);
}

/* What is looked at around a stop is a counter that counts: one that does not is left for the next. */
static void a_counter_that_is_idle(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	/* At XPs 0x20 and 0x40 */
	struct cmn_event *one = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0);
	struct cmn_event *two = cmn_regfile_start(test, file, claims, 0x4080110006, 0, 0);

	for (int i = 0; i < 5; i++) {
		run(file);
		cmn_regfile_set(file, file->xp[2] + PMEVCNT, 1000 * i);
		cmn_regfile_forget(file);
		cmn_stand(&file->cmn);
	}
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->xp[2] + PMEVCNT), 2U);
	cmn_event_stop(&file->cmn, two);
	cmn_event_stop(&file->cmn, one);
	/* None carries to a letter. */
	cmn_reset(&file->cmn);
	cmn_mesh_run(&file->cmn, true);
	cmn_regfile_forget(file);
	cmn_stand(&file->cmn);
	cmn_stood(&file->cmn);
	KUNIT_EXPECT_EQ(test, file->reads, 1U);
	kvfree(one);
	kvfree(two);
}

/*
 * No DTM takes a millisecond to stop. Where one seems to, or DTC 0 runs, another program runs the
 * mesh, for which no stop waits.
 */
static void another_program_runs_it(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0);
	u32 xp = file->xp[1], dtc0 = file->node[3], longest = 0;

	run(file);
	local_irq_disable();
	for (u64 n = 0; n < 12; n++) {
		cmn_mesh_run(&file->cmn, false);
		cmn_regfile_set(file, dtc0 + PMCR, n == 11);
		cmn_regfile_set(file, xp + PMEVCNT, 2 * n);
		cmn_event_value(&file->cmn, ce);
		KUNIT_EXPECT_EQ(test, test_bit(CMN_RUN_BY_OTHERS, &file->cmn.untold), n > 9);
		cmn_regfile_set(file, xp + PMEVCNT, 2 * n + 1);
		file->cmn.pass++;
		cmn_event_value(&file->cmn, ce);
		longest = max(longest, file->cmn.carry_ns);
		run(file);
	}
	KUNIT_EXPECT_EQ(test, longest, 1000000U);
	/* Once more since then, and not when DTC 0 ran. */
	KUNIT_EXPECT_EQ(test, file->cmn.carry_ns, 5000U);
	local_irq_enable();
	kvfree(ce);
}

static unsigned int gone_after;

static void before_read_gone(struct cmn_regfile *file, unsigned int n)
{
	if (n >= gone_after)
		file->cmn.size = 0;
}

/* A mesh that answers no more while carries are awaited has neither lost them nor are they late. */
static void gone_while_carries_are_awaited(struct kunit *test)
{
	bool gone = true;

	/* A letter, and the DTM. */
	for (gone_after = 2; gone; gone_after++) {
		struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
		struct cmn_claims *claims = cmn_regfile_claims(test, file);
		struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0);
		u32 xp = file->xp[1];

		run(file);
		cmn_regfile_set(file, xp + PMEVCNT, 0xfff0);
		cmn_event_value(&file->cmn, ce);
		cmn_regfile_set(file, xp + PMEVCNT, 0x10);
		local_irq_disable();
		cmn_mesh_run(&file->cmn, false);
		cmn_regfile_forget(file);
		file->before_read = before_read_gone;
		cmn_event_value(&file->cmn, ce);
		gone = file->cmn.gone;
		KUNIT_EXPECT_EQ_MSG(test, !file->cmn.untold, gone, "gone after %u", gone_after);
		KUNIT_EXPECT_EQ(test, file->cmn.loses_carries, !gone);
		local_irq_enable();
		kvfree(ce);
	}
	KUNIT_EXPECT_GT(test, gone_after, 10U);
}

/* What becomes of counter 0 of the second XP, and of letter A, at which read from the stop on. */
static struct {
	u16 local;
	u32 letter;
	unsigned int at;
} under_way;

static void before_read_under_way(struct cmn_regfile *file, unsigned int n)
{
	if (n < under_way.at)
		return;
	cmn_regfile_set(file, file->xp[1] + PMEVCNT, under_way.local);
	cmn_regfile_set(file, file->node[2] + PMEVCNT_AB, 0x8000000080000000 + under_way.letter);
}

/*
 * Since the last read the counter has wrapped seven times, so that the counts do not show a carry
 * more or less. The stop shows it.
 */
static void what_a_stop_shows(struct kunit *test)
{
	static const struct {
		const char *what;
		u16 local;
		u32 letter;
		unsigned int at;
		unsigned long untold;
	} rows[] = {
		/* Reads: 0 letter, 1 counter; 2 PMCR; 3 letter, 4 counter; 5 letter, 6 counter. */
		{ "quiet", 0x9000, 7, 2, 0 },
		{ "it wraps before the stop", 0x10, 8, 2, 0 },
		{ "its carry is lost", 0x10, 7, 2, BIT(CMN_CARRIES_LOST) },
		{ "its carry is late", 0x9000, 8, 4, BIT(CMN_STOP_LATE) },
		{ "its carry is later", 0x9000, 8, 5, BIT(CMN_STOP_LATE) },
		{ "it counts on", 0x9001, 7, 5, BIT(CMN_STOP_LATE) },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
		struct cmn_claims *claims = cmn_regfile_claims(test, file);
		struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0);

		run(file);
		cmn_regfile_set(file, file->xp[1] + PMEVCNT, 0x10);
		cmn_event_value(&file->cmn, ce);
		cmn_regfile_set(file, file->xp[1] + PMEVCNT, 0x9000);
		cmn_regfile_set(file, file->node[2] + PMEVCNT_AB, 0x8000000080000007);
		under_way.local = rows[i].local;
		under_way.letter = rows[i].letter;
		under_way.at = rows[i].at;
		cmn_regfile_forget(file);
		file->before_read = before_read_under_way;
		local_irq_disable();
		cmn_stand(&file->cmn);
		cmn_stood(&file->cmn);
		KUNIT_EXPECT_EQ_MSG(test, file->cmn.untold, rows[i].untold, "%s", rows[i].what);
		local_irq_enable();
		kvfree(ce);
	}
}

/* A counter that an event has had may have counted for what that event left. */
static void a_carry_of_the_event_before(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	/* At XP 0x40, in the domain of DTC 0, with counters A and B. */
	struct cmn_event *a = cmn_regfile_start(test, file, claims, 0x4080110006, 0, 0);
	struct cmn_event *b = cmn_regfile_start(test, file, claims, 0x4080120006, 0, 0);

	run(file);
	cmn_mesh_run(&file->cmn, false);
	cmn_event_stop(&file->cmn, a);
	/* Now the DTM is written. */
	cmn_event_stop(&file->cmn, b);
	cmn_event_start(&file->cmn, b);
	run(file);
	cmn_mesh_run(&file->cmn, false);
	KUNIT_EXPECT_EQ(test, file->cmn.dtc[0].stale, 0);
	KUNIT_EXPECT_FALSE(test, is_said_to_stray(test, file, claims));
	kvfree(a);
	kvfree(b);
}

/* perf may hold the scheduler's locks where a carry is missed: nothing is printed there. */
static void complains_later(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 xp = file->xp[1];
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);
	bool busy;

	run(file);
	cmn_regfile_set(file, xp + PMEVCNT, 0xfff0);
	cmn_event_value(&file->cmn, ce);
	cmn_regfile_set(file, xp + PMEVCNT, 0x10);
	local_irq_disable();
	cmn_mesh_run(&file->cmn, false);
	cmn_event_value(&file->cmn, ce);
	busy = irq_work_is_busy(&file->cmn.complaint);
	local_irq_enable();
	KUNIT_EXPECT_TRUE(test, busy);
	kvfree(ce);
}

/*
 * A letter that has wrapped goes on, and is put back to the middle of its range, but not while
 * something may carry into it.
 */
static void letters_wrap(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 dtc0 = file->node[3], dtc1 = file->node[4];
	struct cmn_event *one = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);
	struct cmn_event *two = cmn_regfile_start(test, file, claims, 0x5000a, 0, 0);
	u64 before = cmn_event_value(&file->cmn, one), other = cmn_event_value(&file->cmn, two);

	/* Domains are not known: both have the same letters. */
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMEVCNT_AB), 0x8000000080000000ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc1 + PMEVCNT_AB), 0x8000000080000000ULL);
	run(file);
	cmn_regfile_set(file, dtc0 + PMEVCNT_AB, 0x8000000700000005);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, one) - before, 0x80000005ULL << 16);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, two) - other, 7ULL << 16);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMEVCNT_AB), 0x8000000700000005ULL);
	cmn_mesh_run(&file->cmn, false);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, one) - before, 0x80000005ULL << 16);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMEVCNT_AB), 0x8000000780000000ULL);
	/* In the next pass nothing more is there. */
	run(file);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, one) - before, 0x80000005ULL << 16);
	kvfree(one);
	kvfree(two);
}

/* Every letter goes on by itself when it has wrapped, and the sum is that of all DTCs. */
static void all_letters_wrap(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 dtc0 = file->node[3], dtc1 = file->node[4];
	struct cmn_event *ce[8];
	u64 before[8];

	/* Four of XP 0x20, four of XP 0. */
	for (unsigned int i = 0; i < 8; i++)
		ce[i] = cmn_regfile_start(test, file, claims, i < 4 ? 0x2080110006 : 0x80110006,
					  0, 0);
	for (unsigned int i = 0; i < 8; i++)
		before[i] = cmn_event_value(&file->cmn, ce[i]);
	run(file);
	for (unsigned int pair = 0; pair < 4; pair++) {
		cmn_regfile_set(file, dtc0 + PMEVCNT_AB + 0x10 * pair,
				(2ULL * pair + 2) << 32 | (2 * pair + 1));
		/* In the other domain those with odd numbers have wrapped. */
		cmn_regfile_set(file, dtc1 + PMEVCNT_AB + 0x10 * pair,
				(0x100ULL + pair) << 32 | (0x80000010 + pair));
	}
	cmn_mesh_run(&file->cmn, false);
	for (unsigned int i = 0; i < 8; i++) {
		u64 other = i % 2 ? 0x80000100ULL + i / 2 : 0x10 + i / 2;

		KUNIT_EXPECT_EQ_MSG(test, cmn_event_value(&file->cmn, ce[i]) - before[i],
				    (0x80000001ULL + i + other) << 16, "letter %c", 'A' + i);
	}
	for (unsigned int pair = 0; pair < 4; pair++) {
		KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMEVCNT_AB + 0x10 * pair),
				0x8000000080000000ULL);
		KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc1 + PMEVCNT_AB + 0x10 * pair),
				0x8000000080000010ULL + pair);
	}
	for (unsigned int i = 0; i < 8; i++)
		kvfree(ce[i]);
}

/* The cycle counter is a count by itself, without clock gating as long as it is used. */
static void cycles(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 dtc0 = file->node[3];
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x3, 0, 0);
	u64 before = cmn_event_value(&file->cmn, ce);

	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + DTC_CTL), 0x401ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMCCNTR), 0x8000000000ULL);
	cmn_regfile_set(file, dtc0 + PMCCNTR, 0x8000001234);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, ce) - before, 0x1234ULL);
	cmn_regfile_set(file, dtc0 + PMCCNTR, 0x10);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, ce) - before, 0x8000000010ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMCCNTR), 0x8000000000ULL);
	cmn_event_stop(&file->cmn, ce);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + DTC_CTL), 0x1ULL);
	kvfree(ce);
}

/*
 * In a mesh that stands a pass costs a read for each DTM and a read for each DTC and two letters,
 * however many events.
 */
static void a_pass_is_cheap(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *one = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);
	struct cmn_event *two = cmn_regfile_start(test, file, claims, 0x20005, 0, 0);

	cmn_events_begin(&file->cmn);
	run(file);
	cmn_mesh_run(&file->cmn, false);
	cmn_regfile_forget(file);
	cmn_event_value(&file->cmn, one);
	cmn_event_value(&file->cmn, two);
	/* HN-Fs are at XPs 0x20, in the domain of DTC 1, and 0x40. */
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->xp[1] + PMEVCNT), 1U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->xp[2] + PMEVCNT), 1U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->node[1] + PMEVCNT_AB), 1U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->node[2] + PMEVCNT_AB), 1U);
	KUNIT_EXPECT_EQ(test, file->reads, 4U);
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	kvfree(one);
	kvfree(two);
}

/* All flags are cleared, of the DTCs that the interrupt is of; in a stopped mesh too. */
static void overflow_is_cleared(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	u32 dtc0 = file->node[3], dtc1 = file->node[4];

	KUNIT_EXPECT_FALSE(test, cmn_overflow(&file->cmn, 3));
	for (unsigned int bit = 0; bit <= 8; bit++) {
		cmn_regfile_set(file, dtc0 + PMOVSR, BIT(bit));
		cmn_regfile_set(file, dtc1 + PMOVSR, BIT(bit));
		cmn_regfile_forget(file);
		KUNIT_EXPECT_TRUE(test, cmn_overflow(&file->cmn, 1));
		KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMOVSR_CLR), BIT_ULL(bit));
		KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, true, dtc1 + PMOVSR_CLR), 0U);
		/* To see the flags, and when they have gone. */
		KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, dtc0 + PMOVSR), 2U);
		KUNIT_EXPECT_EQ(test, file->log[0].value, 0x41ULL);
		KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMCR), 0ULL);
	}
}

/* While a mesh stands for a read, no interrupt lets it run, though it counts but cycles. */
static void overflow_while_cycles_stand(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x3, 0, 0);
	u32 dtc0 = file->node[3];

	run(file);
	cmn_mesh_run(&file->cmn, false);
	cmn_regfile_set(file, dtc0 + PMOVSR, 0x100);
	cmn_regfile_forget(file);
	KUNIT_EXPECT_TRUE(test, cmn_overflow(&file->cmn, 1));
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	cmn_event_stop(&file->cmn, ce);
	KUNIT_EXPECT_TRUE(test, cmn_overflow(&file->cmn, 1));
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMOVSR_CLR), 0x100ULL);
	kvfree(ce);
}

/*
 * Events during an exact read. Reads 0 and 1 are of letters, read 2 is of counters, and reads 3 to
 * 5 are the same again.
 */
static struct {
	u64 locals[2];
	u32 letters[2];
	u64 at[6];			/* ns */
	unsigned int slow_ms;		/* before the last one */
} meanwhile;

static void happens_meanwhile(struct cmn_regfile *file, unsigned int n)
{
	if (n >= 6)
		return;
	if (n == 5)
		mdelay(meanwhile.slow_ms);
	meanwhile.at[n] = ktime_get_mono_fast_ns();
	cmn_regfile_set(file, file->xp[1] + PMEVCNT, meanwhile.locals[n / 3]);
	cmn_regfile_set(file, file->node[3] + PMEVCNT_AB,
			0x8000000080000000 + meanwhile.letters[n / 3]);
}

/* In a mesh that counts the value is exact if no counter wraps from one look at it to the next. */
static void exact_while_it_counts(struct kunit *test)
{
	static const struct {
		const char *what;
		u64 locals[2];
		u32 letters[2];
		int err;
		u64 value;		/* or of a read after that */
	} rows[] = {
		{ "quiet", { 0x30, 0x38 }, { 0, 0 }, 0, 0x38 },
		{ "wraps unseen before", { 0x30, 0x38 }, { 5, 5 }, 0, 0x50038 },
		{ "a carry under way", { 0x30, 0x38 }, { 5, 6 }, 0, 0x60038 },
		{ "a wrap meanwhile", { 0xfff0, 0x10 }, { 6, 6 }, -EAGAIN, 0x70010 },
		{ "its carry comes, too", { 0xfff0, 0x10 }, { 7, 8 }, -EAGAIN, 0x80010 },
		{ "one of two wraps", { 0x1000fff0, 0x20000010 }, { 8, 9 }, -EAGAIN, 0x92010 },
		{ "known, and late", { 0x5, 0x6 }, { 9, 9 }, -EAGAIN, 0xb0006 },
		{ "it has come", { 0x6, 0x7 }, { 0xb, 0xb }, 0, 0xb0007 },
	};
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);
	u64 before = cmn_event_value(&file->cmn, ce), value;

	run(file);
	KUNIT_EXPECT_EQ(test, file->cmn.wrap_ns, 16384U);
	file->cmn.wrap_ns = NSEC_PER_SEC;
	file->cmn.carry_ns = 1000000;
	file->before_read = happens_meanwhile;
	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		memcpy(meanwhile.locals, rows[i].locals, sizeof(meanwhile.locals));
		memcpy(meanwhile.letters, rows[i].letters, sizeof(meanwhile.letters));
		cmn_regfile_forget(file);
		KUNIT_EXPECT_EQ_MSG(test, cmn_event_value_exact(&file->cmn, ce, &value),
				    rows[i].err, "%s", rows[i].what);
		KUNIT_EXPECT_EQ_MSG(test, file->reads, 6U, "%s", rows[i].what);
		/* All carries of before the look have come. */
		KUNIT_EXPECT_GE_MSG(test, meanwhile.at[3] - meanwhile.at[2], 1000000ULL, "%s",
				    rows[i].what);
		if (rows[i].err)
			value = cmn_event_value(&file->cmn, ce);
		KUNIT_EXPECT_EQ_MSG(test, value - before, rows[i].value, "%s", rows[i].what);
		KUNIT_EXPECT_EQ(test, file->writes, 0U);
	}
	kvfree(ce);
}

/* A read is not exact if a counter may have wrapped. It is not even tried if one surely will. */
static void not_exact_if_it_takes_long(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);
	u64 value;

	run(file);
	memset(&meanwhile, 0, sizeof(meanwhile));
	file->before_read = happens_meanwhile;
	file->cmn.wrap_ns = 50 * NSEC_PER_MSEC;
	meanwhile.slow_ms = 51;
	cmn_regfile_forget(file);
	KUNIT_EXPECT_EQ(test, cmn_event_value_exact(&file->cmn, ce, &value), -EAGAIN);
	KUNIT_EXPECT_EQ(test, file->reads, 6U);
	file->cmn.wrap_ns = file->cmn.carry_ns;
	cmn_regfile_forget(file);
	KUNIT_EXPECT_EQ(test, cmn_event_value_exact(&file->cmn, ce, &value), -EAGAIN);
	KUNIT_EXPECT_EQ(test, file->reads, 2U);
	kvfree(ce);
}

/* The cycle counter is one register. */
static void cycles_are_exact(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x3, 0, 0);
	u64 before = cmn_event_value(&file->cmn, ce), value = 0;

	run(file);
	cmn_regfile_set(file, file->node[3] + PMCCNTR, 0x8000000005);
	cmn_regfile_forget(file);
	KUNIT_EXPECT_EQ(test, cmn_event_value_exact(&file->cmn, ce, &value), 0);
	KUNIT_EXPECT_EQ(test, value - before, 5ULL);
	KUNIT_EXPECT_EQ(test, file->reads, 1U);
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	kvfree(ce);
}

static struct kunit_case cmn_count_cases[] = {
	KUNIT_CASE(local_wraps),
	KUNIT_CASE(carries_under_way),
	KUNIT_CASE(counts_are_handed_on),
	KUNIT_CASE(letters_come_first),
	KUNIT_CASE(letters_of_each_event_come_first),
	KUNIT_CASE(a_stop_is_read_back),
	KUNIT_CASE(a_lost_carry),
	KUNIT_CASE(a_stray_carry),
	KUNIT_CASE(a_stray_carry_of_several_domains),
	KUNIT_CASE(counters_that_count_on),
	KUNIT_CASE(a_counter_that_is_idle),
	KUNIT_CASE(another_program_runs_it),
	KUNIT_CASE(gone_while_carries_are_awaited),
	KUNIT_CASE(what_a_stop_shows),
	KUNIT_CASE(a_carry_of_the_event_before),
	KUNIT_CASE(complains_later),
	KUNIT_CASE(letters_wrap),
	KUNIT_CASE(all_letters_wrap),
	KUNIT_CASE(cycles),
	KUNIT_CASE(exact_while_it_counts),
	KUNIT_CASE(not_exact_if_it_takes_long),
	KUNIT_CASE(cycles_are_exact),
	KUNIT_CASE(a_pass_is_cheap),
	KUNIT_CASE(overflow_is_cleared),
	KUNIT_CASE(overflow_while_cycles_stand),
	{ }
};

struct kunit_suite cmn_count_suite = {
	.name = "cmn_count",
	.test_cases = cmn_count_cases,
};
