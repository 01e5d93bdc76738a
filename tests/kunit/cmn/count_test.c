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
	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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
	cmn_regfile_run(file);
	cmn_regfile_set(file, dtc0 + PMEVCNT_AB, 0x8000000700000005);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, one) - before, 0x80000005ULL << 16);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, two) - other, 7ULL << 16);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMEVCNT_AB), 0x8000000700000005ULL);
	cmn_mesh_run(&file->cmn, false);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, one) - before, 0x80000005ULL << 16);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMEVCNT_AB), 0x8000000780000000ULL);
	/* In the next pass nothing more is there. */
	cmn_regfile_run(file);
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
	cmn_regfile_run(file);
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
	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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

	cmn_regfile_run(file);
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
