// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counter arithmetic: wraps, what a counter can have counted, poll periods.
 */
#include <kunit/test.h>

#include <core/core.h>

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

/* A counter of 64 bits does not wrap: if it is smaller than before, it went back. */
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
