// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counter arithmetic: wraps, concurrent folding, poll periods.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/kthread.h>

#include <pmu/core.h>

#include "suites.h"

/* 48-bit differences: Documentation/hardware/intel_imc.md, 9.2. */
static const struct { u64 prev, now, delta; } deltas48[] = {
	{ 0x000000000000, 0x000000000000, 0 },
	{ 0x000000000000, 0x000000000001, 1 },
	{ 0xffffffffffff, 0x000000000000, 1 },
	{ 0xfffffffffff0, 0x000000000010, 32 },
	{ 0x000000000001, 0x000000000000, 281474976710655 },
	{ 0x0000ffffffff, 0x000100000005, 6 },
	{ 0x800000000000, 0x7fffffffffff, 281474976710655 },
	{ 0x123456789abc, 0x123456789abc, 0 },
};

/* A 48-bit difference is taken modulo 2^48. */
static void delta_48_bits(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(deltas48); i++)
		KUNIT_EXPECT_EQ_MSG(test, pmu_delta(deltas48[i].prev, deltas48[i].now, 48),
				    deltas48[i].delta, "row %d", i);
}

/* At every width: one past the highest value is 0, and the longest step is exact. */
static void delta_every_width(struct kunit *test)
{
	for (unsigned int width = 1; width <= 64; width++) {
		u64 top = GENMASK_ULL(width - 1, 0);

		KUNIT_EXPECT_EQ_MSG(test, pmu_delta(top, 0, width), 1ULL, "width %u", width);
		KUNIT_EXPECT_EQ_MSG(test, pmu_delta(0, top, width), top, "width %u", width);
		KUNIT_EXPECT_EQ_MSG(test, pmu_delta(top, top, width), 0ULL, "width %u", width);
	}
}

/* A counter of any width, for pmu_fold(). */
struct counter {
	atomic64_t events;		/* all of them; the register shows the low bits */
	unsigned int width;
	int err;
	unsigned int reads;
	atomic64_t *overtake;		/* somebody else folds into this within the next read */
	u64 overtaken;			/* what that fold found */
};

static int read_counter(void *context, u64 *now)
{
	struct counter *c = context;

	c->reads++;
	if (c->err)
		return c->err;
	*now = atomic64_read(&c->events) & GENMASK_ULL(c->width - 1, 0);
	if (c->overtake) {
		atomic64_t *prev = c->overtake;

		c->overtake = NULL;
		atomic64_add(5, &c->events);
		return pmu_fold(prev, c->width, read_counter, c, &c->overtaken);
	}
	return 0;
}

/* Folding piecewise over many wraps adds up to the true total, at every width. */
static void fold_every_width(struct kunit *test)
{
	for (unsigned int width = 16; width <= 64; width++) {
		u64 step = GENMASK_ULL(width - 1, 0) / 3, truth = 0, total = 0, delta;
		struct counter c = { .width = width };
		atomic64_t prev = ATOMIC64_INIT(0);

		for (int i = 0; i < 10; i++) {
			atomic64_add(step, &c.events);
			truth += step;
			KUNIT_ASSERT_EQ(test, pmu_fold(&prev, width, read_counter, &c, &delta), 0);
			total += delta;
		}
		KUNIT_EXPECT_EQ_MSG(test, total, truth, "width %u", width);
	}
}

/* 48 bits, from 16 below the top: the wrap costs nothing and adds nothing. */
static void fold_over_2_48(struct kunit *test)
{
	struct counter c = { .width = 48, .events = ATOMIC64_INIT(BIT_ULL(48) - 16) };
	atomic64_t prev = ATOMIC64_INIT(BIT_ULL(48) - 16);
	u64 delta;

	atomic64_add(1000016, &c.events);
	KUNIT_ASSERT_EQ(test, pmu_fold(&prev, 48, read_counter, &c, &delta), 0);
	KUNIT_EXPECT_EQ(test, delta, 1000016ULL);
	KUNIT_EXPECT_EQ(test, atomic64_read(&prev), 1000000LL);
}

/* A read that fails leaves everything as it was, so that nothing is folded twice. */
static void fold_read_error(struct kunit *test)
{
	struct counter c = { .width = 48, .err = -ENODEV };
	atomic64_t prev = ATOMIC64_INIT(77);
	u64 delta = 5;

	KUNIT_EXPECT_EQ(test, pmu_fold(&prev, 48, read_counter, &c, &delta), -ENODEV);
	KUNIT_EXPECT_EQ(test, atomic64_read(&prev), 77LL);
	KUNIT_EXPECT_EQ(test, delta, 5ULL);
}

/*
 * Somebody folds between our read and our exchange: our value is older than theirs, and
 * to fold it would count nearly 2^48. It has to be read again.
 */
static void fold_overtaken(struct kunit *test)
{
	atomic64_t prev = ATOMIC64_INIT(0);
	struct counter c = { .width = 48, .events = ATOMIC64_INIT(3), .overtake = &prev };
	u64 delta;

	KUNIT_ASSERT_EQ(test, pmu_fold(&prev, 48, read_counter, &c, &delta), 0);
	KUNIT_EXPECT_EQ(test, c.overtaken, 8ULL);
	KUNIT_EXPECT_EQ(test, delta, 0ULL);
	KUNIT_EXPECT_EQ(test, c.reads, 3U);
}

#define FOLDERS		4
#define FOLDS		20000

struct folders {
	struct counter counter;
	atomic64_t prev;
	struct folder {
		struct folders *all;
		struct task_struct *task;
		u64 added, folded;
		int err;
		struct completion done;
	} folder[FOLDERS];
};

/* Makes events happen and folds the counter, as a reader and the poll timer do. */
static int fold_on(void *data)
{
	struct folder *me = data;
	u64 delta;

	for (int i = 0; i < FOLDS && !me->err; i++) {
		u64 events = i % 97;

		atomic64_add(events, &me->all->counter.events);
		me->added += events;
		me->err = pmu_fold(&me->all->prev, me->all->counter.width, read_counter,
				   &me->all->counter, &delta);
		me->folded += delta;
		if (i % 64 == 0)
			cond_resched();
	}
	complete(&me->done);
	return 0;
}

/* Every event is folded exactly once however many fold at the same time; 16 bits, many wraps. */
static void fold_concurrently(struct kunit *test)
{
	struct folders *all = kunit_kzalloc(test, sizeof(*all), GFP_KERNEL);
	u64 added = 0, folded = 0;

	KUNIT_ASSERT_NOT_NULL(test, all);
	all->counter.width = 16;
	for (int i = 0; i < FOLDERS; i++) {
		struct folder *f = &all->folder[i];

		f->all = all;
		init_completion(&f->done);
		f->task = kthread_run(fold_on, f, "fold/%d", i);
		if (IS_ERR(f->task)) {
			f->err = PTR_ERR(f->task);
			complete(&f->done);
		}
	}
	for (int i = 0; i < FOLDERS; i++) {
		wait_for_completion(&all->folder[i].done);
		KUNIT_EXPECT_EQ(test, all->folder[i].err, 0);
		added += all->folder[i].added;
		folded += all->folder[i].folded;
	}
	KUNIT_EXPECT_GT(test, added, BIT_ULL(16) * 10);
	KUNIT_EXPECT_EQ(test, folded, added);
}

/* Half the time to wrap, in ms: Documentation/hardware/intel_imc.md, 3.1. */
static void poll_period(struct kunit *test)
{
	static const struct { unsigned int width; u64 rate, ms; } rows[] = {
		{ 48, 800000000, 175921860 },			/* 351,843.7 s */
		{ 48, 22ULL * 800000000, 7996448 },		/* 15,992.9 s: RPQ_OCCUPANCY */
		{ 48, 255ULL * 1600000000, 344944 },		/* 689.9 s: the hardware's bound */
		{ 32, 1000000000, 2147 },
		{ 16, 1000000, 32 },
		{ 40, 1000, 549755813888 },
		{ 1, 1, 1000 },
		{ 64, 5000000000, 1844674407370 },
		{ 64, 4000000000ULL << 16, 35184372 },		/* an event of a mesh, */
		{ 64, 60 * (4000000000ULL << 16), 586406 },	/* of 60 of its nodes, */
		{ 64, 4000000000ULL << 24, 137438 },		/* and its cycles */
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 period = pmu_poll_period_ns(rows[i].width, rows[i].rate);

		KUNIT_EXPECT_EQ_MSG(test, period / NSEC_PER_MSEC, rows[i].ms, "row %d", i);
	}
}

/* A counter that cannot wrap within the kernel's time, or does not count, needs no poll. */
static void poll_never(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pmu_poll_period_ns(64, 500000000), 0ULL);
	KUNIT_EXPECT_EQ(test, pmu_poll_period_ns(48, 0), 0ULL);
	KUNIT_EXPECT_EQ(test, pmu_poll_period_ns(63, 1), 0ULL);
	/* The fastest thing there is still gets a period that a timer can use. */
	KUNIT_EXPECT_EQ(test, pmu_poll_period_ns(1, U64_MAX), 1ULL);
	KUNIT_EXPECT_EQ(test, pmu_poll_period_ns(64, U64_MAX), 500000000ULL);
}

/* The bound, from both sides: 10^9 / 2^29 times the rate, in the time and 2^27 ns more; rounded down. */
static void bound_edge(struct kunit *test)
{
	static const struct { u64 rate, ns, most; } rows[] = {
		{ 1600000000, 0, 400000000 },			/* a memory channel's clock: at once, */
		{ 1600000000, 1000000000, 3380232238 },		/* after a second, */
		{ 1600000000, 86400000000000, 257492465429687 },	/* and a day */
		{ 255 * 1600000000ULL, 1000000000, 861959220886 },
		{ 1, 0, 0 }, { 4, 0, 1 }, { 3, 0, 0 },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		u64 rate = rows[i].rate, ns = rows[i].ns, most = rows[i].most;

		KUNIT_EXPECT_EQ_MSG(test, pmu_most_counts(rate, ns), most, "row %d", i);
		KUNIT_EXPECT_TRUE_MSG(test, pmu_delta_is_possible(most, 48, rate, ns), "row %d", i);
		KUNIT_EXPECT_FALSE_MSG(test, pmu_delta_is_possible(most + 1, 48, rate, ns), "row %d", i);
	}
}

/* More than 64 bits are no bound, nor is a clock that went back, nor a rate that is not known. */
static void no_bound(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pmu_most_counts(U64_MAX, BIT_ULL(31)), U64_MAX);
	KUNIT_EXPECT_EQ(test, pmu_most_counts(BIT_ULL(60), BIT_ULL(40)), U64_MAX);
	KUNIT_EXPECT_EQ(test, pmu_most_counts(BIT_ULL(44), BIT_ULL(47)), BIT_ULL(62) + BIT_ULL(42));
	KUNIT_EXPECT_EQ(test, pmu_most_counts(1, S64_MAX), BIT_ULL(34));
	KUNIT_EXPECT_TRUE(test, pmu_delta_is_possible(BIT_ULL(48) - 1, 48, 1600000000, -1ULL));
	KUNIT_EXPECT_TRUE(test, pmu_delta_is_possible(BIT_ULL(48) - 1, 48, 0, 0));
	KUNIT_EXPECT_TRUE(test, pmu_delta_is_possible(0, 48, 1, 0));
}

/* What has 64 bits does not wrap: a counter that is smaller than before went back. */
static void goes_back(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, pmu_delta_is_possible(pmu_delta(5, 4, 64), 64, 0, 0));
	KUNIT_EXPECT_FALSE(test, pmu_delta_is_possible(BIT_ULL(63), 64, 0, 0));
	KUNIT_EXPECT_TRUE(test, pmu_delta_is_possible(BIT_ULL(63) - 1, 64, 0, 0));
	KUNIT_EXPECT_TRUE(test, pmu_delta_is_possible(pmu_delta(5, 4, 63), 63, 0, 0));
}

static struct kunit_case fold_cases[] = {
	KUNIT_CASE(delta_48_bits),
	KUNIT_CASE(delta_every_width),
	KUNIT_CASE(fold_every_width),
	KUNIT_CASE(fold_over_2_48),
	KUNIT_CASE(fold_read_error),
	KUNIT_CASE(fold_overtaken),
	KUNIT_CASE(fold_concurrently),
	KUNIT_CASE(poll_period),
	KUNIT_CASE(poll_never),
	KUNIT_CASE(bound_edge),
	KUNIT_CASE(no_bound),
	KUNIT_CASE(goes_back),
	{ }
};

struct kunit_suite pmu_fold_suite = {
	.name = "pmu_core_fold",
	.test_cases = fold_cases,
};
