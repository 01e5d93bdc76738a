// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmn: a stop of the mesh, and carries that come late, go elsewhere or are lost.
 */
#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/slab.h>

#include "regfile.h"

/* A stop is over when it has been read back: only then the time of what is under way begins. */
static void a_stop_is_read_back(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	u32 dtc0 = file->node[3];
	u64 began, took;

	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
	cmn_regfile_set(file, xp + PMEVCNT, 0xfff0);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, ce) - before, 0xfff0ULL);
	cmn_regfile_set(file, xp + PMEVCNT, 0x10);
	cmn_mesh_run(&file->cmn, false);
	KUNIT_EXPECT_FALSE(test, file->cmn.loses_carries);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, ce) - before, 0x10010ULL);
	KUNIT_EXPECT_TRUE(test, file->cmn.loses_carries);
	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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
	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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
	cmn_regfile_run(file);
	cmn_stand(&file->cmn);
	file->cmn.stop_jiffies -= HZ;
	cmn_regfile_set(file, xp + PMEVCNT, 0xa0010);
	cmn_stood(&file->cmn);
	KUNIT_EXPECT_EQ(test, file->cmn.carry_ns, 2 * waited);
	kvfree(one);
	kvfree(two);
}

/* What is looked at around a stop is a DTM that counts: one that does not is left for the next. */
static void a_dtm_that_is_idle(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce[3];

	cmn_regfile_set(file, file->xp[2] + PMEVCNT, 0x4000);
	for (u64 i = 0; i < 3; i++)
		ce[i] = cmn_regfile_start(test, file, claims, 0x80110006 + ((i + 1) << 37), 0, 0);
	file->cmn.sample.asked = U8_MAX;
	for (int i = 0; i < 4; i++) {
		cmn_regfile_run(file);
		cmn_regfile_set(file, file->xp[3] + PMEVCNT, 1000 * i);
		cmn_regfile_forget(file);
		cmn_stand(&file->cmn);
		KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false,
							file->xp[min(i, 2) + 1] + PMEVCNT), 2U);
	}
	for (int i = 0; i < 3; i++)
		cmn_event_stop(&file->cmn, ce[i]);
	/* None carries to a letter. */
	cmn_reset(&file->cmn);
	cmn_mesh_run(&file->cmn, true);
	cmn_regfile_forget(file);
	cmn_stand(&file->cmn);
	cmn_stood(&file->cmn);
	KUNIT_EXPECT_EQ(test, file->reads, 1U);
	for (int i = 0; i < 3; i++)
		kvfree(ce[i]);
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

	cmn_regfile_run(file);
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
		cmn_regfile_run(file);
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

		cmn_regfile_run(file);
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

/* What becomes of counters 1 and 0 of the second XP, and of letters B and A, at which read. */
static struct {
	u32 dtc;
	u64 locals;
	u64 letters;
	unsigned int at;
} under_way;

static void before_read_under_way(struct cmn_regfile *file, unsigned int n)
{
	if (n < under_way.at)
		return;
	cmn_regfile_set(file, file->xp[1] + PMEVCNT, under_way.locals);
	cmn_regfile_set(file, under_way.dtc + PMEVCNT_AB, under_way.letters);
}

/*
 * Since the last read the counters have wrapped seven times, so that the counts do not show a carry
 * more or less. The stop shows it.
 */
static void what_a_stop_shows(struct kunit *test)
{
	static const struct {
		const char *what;
		u64 locals;
		u64 letters;
		unsigned int at;
		unsigned long untold;
	} rows[] = {
		/* Reads: 0 letters, 1 counters; 2 PMCR; 3 letters, 4 counters; 5 letters, 6 counters. */
		{ "quiet", 0x900080009000, 0x8000000780000007, 2, 0 },
		{ "it wraps before the stop", 0x900080000010, 0x8000000780000008, 2, 0 },
		{ "its carry is lost", 0x900080000010, 0x8000000780000007, 2, BIT(CMN_CARRIES_LOST) },
		{ "its carry is late", 0x900080009000, 0x8000000780000008, 4, BIT(CMN_STOP_LATE) },
		{ "its carry is later", 0x900080009000, 0x8000000780000008, 5, BIT(CMN_STOP_LATE) },
		{ "it counts on", 0x900080009001, 0x8000000780000007, 5, BIT(CMN_STOP_LATE) },
		{ "both wrap", 0x900000200010, 0x8000000880000008, 2, 0 },
		{ "a carry of B is lost", 0x900000209000, 0x8000000780000007, 2, BIT(CMN_CARRIES_LOST) },
		{ "one of B, of both", 0x900000200010, 0x8000000780000008, 2, BIT(CMN_CARRIES_LOST) },
		{ "one that carries to none wraps", 0x1080009000, 0x8000000780000007, 2, 0 },
		{ "B is late", 0x900080009000, 0x8000000880000007, 4, BIT(CMN_STOP_LATE) },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
		struct cmn_claims *claims = cmn_regfile_claims(test, file);
		struct cmn_event *a = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0);
		struct cmn_event *b = cmn_regfile_start(test, file, claims, 0x2080020005, 0, 0);

		cmn_regfile_run(file);
		cmn_regfile_set(file, file->xp[1] + PMEVCNT, 0x00200010);
		cmn_event_value(&file->cmn, a);
		cmn_event_value(&file->cmn, b);
		cmn_regfile_set(file, file->xp[1] + PMEVCNT, 0x900080009000);
		cmn_regfile_set(file, file->node[2] + PMEVCNT_AB, 0x8000000780000007);
		under_way.dtc = file->node[2];
		under_way.locals = rows[i].locals;
		under_way.letters = rows[i].letters;
		under_way.at = rows[i].at;
		file->cmn.sample.asked = U8_MAX;	/* It waits for no wrap. */
		cmn_regfile_forget(file);
		file->before_read = before_read_under_way;
		local_irq_disable();
		cmn_stand(&file->cmn);
		cmn_stood(&file->cmn);
		KUNIT_EXPECT_EQ_MSG(test, file->cmn.untold, rows[i].untold, "%s", rows[i].what);
		local_irq_enable();
		kvfree(a);
		kvfree(b);
	}
}

/* Counters of one event that carry to the same letter: one carry does not do for two. */
static void a_letter_of_two_counters(struct kunit *test)
{
	for (unsigned int carries = 1; carries <= 2; carries++) {
		struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
		struct cmn_claims *claims = cmn_regfile_claims(test, file);
		struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x10005, 0, 0);

		cmn_regfile_run(file);
		cmn_regfile_set(file, file->xp[1] + PMEVCNT, 0x90009000);
		under_way.dtc = file->node[3];
		under_way.locals = 0x00100010;
		under_way.letters = 0x8000000080000000 + carries;
		/* 0 and 1 letters, of two DTCs, 2 counters */
		under_way.at = 3;
		file->cmn.sample.asked = U8_MAX;
		cmn_regfile_forget(file);
		file->before_read = before_read_under_way;
		local_irq_disable();
		cmn_stand(&file->cmn);
		KUNIT_EXPECT_EQ(test, file->cmn.untold, carries < 2 ? BIT(CMN_CARRIES_LOST) : 0UL);
		local_irq_enable();
		kvfree(ce);
	}
}

static struct {
	u16 pace;
	u8 carries;			/* that come when the counter wraps */
} passing;

static void before_read_passing(struct cmn_regfile *file, unsigned int n)
{
	u32 counter = file->xp[1] + PMEVCNT, letter = file->node[2] + PMEVCNT_AB;
	u16 before = cmn_regfile_get(file, counter), now = before + passing.pace;

	if (file->cmn.stopped)
		return;
	cmn_regfile_set(file, counter, now);
	if (now < before)
		cmn_regfile_set(file, letter, cmn_regfile_get(file, letter) + passing.carries);
}

/* The first stops come right after a wrap, and right before one, if one is near. */
static void a_stop_at_a_wrap(struct kunit *test)
{
	/* From 0xa000 in at most 33 looks, each of a letter and the counter; and PMCR. */
	static const struct {
		u16 pace;
		u8 carries, asked, after;
		unsigned int reads;
		bool lost;
	} rows[] = {
		{ 0x400, 0, 0, 1, 0, true },
		{ 0x400, 1, 0, 1, 2 * (1 + 11) + 1 + 2, false },
		/* That of another DTM may hide that this one's is lost. */
		{ 0x400, 2, 0, 0, 2 * (1 + 11) + 1 + 2, false },
		{ 0x400, 1, 15, 16, 2 * (1 + 10) + 1 + 2, false },
		{ 0x400, 1, 16, 16, 2 + 1 + 2, false },
		{ 0x140, 1, 0, 0, 2 * (1 + 1) + 1 + 2, false },
		{ 0, 1, 0, 0, 2 * (1 + 1) + 1 + 2, false },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
		struct cmn_claims *claims = cmn_regfile_claims(test, file);
		struct cmn_event *ce = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0);

		cmn_regfile_run(file);
		cmn_regfile_set(file, file->xp[1] + PMEVCNT, 0xa000);
		passing.pace = rows[i].pace;
		passing.carries = rows[i].carries;
		file->cmn.sample.asked = rows[i].asked;
		cmn_regfile_forget(file);
		file->before_read = before_read_passing;
		local_irq_disable();
		cmn_stand(&file->cmn);
		KUNIT_EXPECT_EQ_MSG(test, file->cmn.untold,
				    rows[i].lost ? BIT(CMN_CARRIES_LOST) : 0UL, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, file->cmn.sample.asked, rows[i].after, "row %d", i);
		if (rows[i].reads)
			KUNIT_EXPECT_EQ_MSG(test, file->reads, rows[i].reads, "row %d", i);
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

	cmn_regfile_run(file);
	cmn_mesh_run(&file->cmn, false);
	cmn_event_stop(&file->cmn, a);
	/* Now the DTM is written. */
	cmn_event_stop(&file->cmn, b);
	cmn_event_start(&file->cmn, b);
	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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

static struct kunit_case cmn_stop_cases[] = {
	KUNIT_CASE(a_stop_is_read_back),
	KUNIT_CASE(a_lost_carry),
	KUNIT_CASE(a_stray_carry),
	KUNIT_CASE(a_stray_carry_of_several_domains),
	KUNIT_CASE(counters_that_count_on),
	KUNIT_CASE(a_dtm_that_is_idle),
	KUNIT_CASE(another_program_runs_it),
	KUNIT_CASE(gone_while_carries_are_awaited),
	KUNIT_CASE(what_a_stop_shows),
	KUNIT_CASE(a_letter_of_two_counters),
	KUNIT_CASE(a_stop_at_a_wrap),
	KUNIT_CASE(a_carry_of_the_event_before),
	KUNIT_CASE(complains_later),
	{ }
};

struct kunit_suite cmn_stop_suite = {
	.name = "cmn_stop",
	.test_cases = cmn_stop_cases,
};
