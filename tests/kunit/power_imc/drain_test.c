// SPDX-License-Identifier: GPL-2.0-only
/*
 * When rings are drained: by a timer on each CPU that traces.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/smp.h>
#include <asm/time.h>

#include "power_imc/trace.h"
#include "suites.h"

#define SLOTS		16
#define OFTEN_NS	1009000

/* A millisecond, at once again for more, and seldom only where nothing runs that could make records. */
static void the_timer_is_seldom_in_idle_alone(struct kunit *test)
{
	u64 often = OFTEN_NS, seldom = 8000000, interval = often;

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
	u64 often = OFTEN_NS, start = 5 * often;

	for (u64 late = 0; late < often; late += 1000) {
		KUNIT_EXPECT_EQ(test, power_imc_drain_when(start + late, often), start + often);
		KUNIT_EXPECT_EQ(test, power_imc_drain_when(start + late, 2 * often),
				start + 2 * often);
		KUNIT_EXPECT_EQ(test, power_imc_drain_when(start + late, 50000),
				start + late + 50000);
	}
}

/* What the CPU drains: an empty ring, with one event that gets no records. */
struct drainer {
	struct power_imc_trace trace;
	struct power_imc_trace_event te;
	struct power_imc_record slots[SLOTS];
	unsigned int looks, apart;	/* apart: the timer was to come at a moment of its own */
};

/* The rest is on the drainer's CPU with interrupts off. */
static void drainer_look(void *drainer)
{
	struct drainer *d = drainer;

	d->looks++;
	d->apart += ktime_to_ns(hrtimer_get_expires(&d->trace.timer)) % OFTEN_NS != 0;
}

static void drainer_start(void *drainer)
{
	struct drainer *d = drainer;

	power_imc_drain_start(&d->trace);
	list_add_tail(&d->te.node, &d->trace.events);
	drainer_look(d);
}

static void drainer_end(void *drainer)
{
	struct drainer *d = drainer;

	list_del_init(&d->te.node);
	power_imc_drain_end(&d->trace);
}

static void drainer_init(struct drainer *d)
{
	power_imc_drain_init(&d->trace);
	d->trace.ring.base = d->slots;
	d->trace.ring.slots = SLOTS;
	power_imc_ring_restart(&d->trace.ring, get_tb());
}

/* The timers do so each time from their start on, at short and at long intervals. */
static void timers_come_at_the_same_moments(struct kunit *test)
{
	struct drainer *drainers = kunit_kcalloc(test, nr_cpu_ids, sizeof(*drainers), GFP_KERNEL);
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, drainers);
	for_each_online_cpu(cpu) {
		drainer_init(&drainers[cpu]);
		KUNIT_EXPECT_EQ(test, smp_call_function_single(cpu, drainer_start, &drainers[cpu], 1), 0);
		usleep_range(100, 300);
	}
	for (unsigned int looks = 0; looks < 100; looks++) {
		usleep_range(1000, 5000);
		for_each_online_cpu(cpu)
			smp_call_function_single(cpu, drainer_look, &drainers[cpu], 1);
	}
	for_each_online_cpu(cpu) {
		struct drainer *d = &drainers[cpu];

		smp_call_function_single(cpu, drainer_end, d, 1);
		KUNIT_EXPECT_EQ_MSG(test, d->apart, 0U, "CPU %d, of %u", cpu, d->looks);
		KUNIT_EXPECT_GT_MSG(test, d->trace.timers, 5ULL, "CPU %d", cpu);
	}
}

static struct kunit_case drain_cases[] = {
	KUNIT_CASE(the_timer_is_seldom_in_idle_alone),
	KUNIT_CASE(all_cpus_drain_at_the_same_time),
	KUNIT_CASE(timers_come_at_the_same_moments),
	{ }
};

struct kunit_suite power_imc_drain_suite = {
	.name = "power_imc_drain", .test_cases = drain_cases,
};
