// SPDX-License-Identifier: GPL-2.0-only
/*
 * When rings are drained: by a timer on each CPU that traces.
 */
#include <kunit/test.h>

#include "power_imc/trace.h"
#include "suites.h"

/* A millisecond, at once again for more, and seldom only where nothing runs that could make records. */
static void the_timer_is_seldom_in_idle_alone(struct kunit *test)
{
	u64 often = 1009000, seldom = 8000000, interval = often;

	KUNIT_EXPECT_EQ(test, power_imc_drain_next(often, false, true, false), 50000ULL);
	KUNIT_EXPECT_EQ(test, power_imc_drain_next(seldom, true, true, true), often);
	for (unsigned int i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, power_imc_drain_next(interval, true, false, false), often);
		interval = power_imc_drain_next(interval, true, false, true);
	}
	KUNIT_EXPECT_EQ(test, interval, seldom);
	KUNIT_EXPECT_EQ(test, power_imc_drain_next(50000, true, false, true), often);
}

/* CPUs that start at any time drain at the same moments; what is left over is drained at once. */
static void all_cpus_drain_at_the_same_time(struct kunit *test)
{
	u64 often = 1009000, start = 5 * often;

	for (u64 late = 0; late < often; late += 1000) {
		KUNIT_EXPECT_EQ(test, power_imc_drain_when(start + late, often), start + often);
		KUNIT_EXPECT_EQ(test, power_imc_drain_when(start + late, 2 * often),
				start + 2 * often);
		KUNIT_EXPECT_EQ(test, power_imc_drain_when(start + late, 50000),
				start + late + 50000);
	}
}

static struct kunit_case drain_cases[] = {
	KUNIT_CASE(the_timer_is_seldom_in_idle_alone),
	KUNIT_CASE(all_cpus_drain_at_the_same_time),
	{ }
};

struct kunit_suite power_imc_drain_suite = {
	.name = "power_imc_drain", .test_cases = drain_cases,
};
