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

/* What the CPU drains: an empty ring, with one event that gets no records. */
struct drainer {
	struct power_imc core_imc;
	struct power_imc_core core;
	struct power_imc_trace trace;
	struct power_imc_trace_event te;
	struct power_imc_record slots[SLOTS];
};

/* The rest is on the drainer's CPU with interrupts off. */
static void drainer_start(void *drainer)
{
	struct drainer *d = drainer;

	power_imc_drain_start(&d->trace);
	list_add_tail(&d->te.node, &d->trace.events);
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
	d->trace.core = &d->core;
	d->core.imc = &d->core_imc;
	/* LDBAR is left alone. */
	d->trace.leaving = true;
	d->trace.ring.base = d->slots;
	d->trace.ring.slots = SLOTS;
}

/* The timers come on all CPUs until nothing is traced. */
static void timers_come_while_there_are_events(struct kunit *test)
{
	struct drainer *drainers = kunit_kcalloc(test, nr_cpu_ids, sizeof(*drainers), GFP_KERNEL);
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, drainers);
	for_each_online_cpu(cpu) {
		drainer_init(&drainers[cpu]);
		KUNIT_EXPECT_EQ(test, smp_call_function_single(cpu, drainer_start, &drainers[cpu], 1), 0);
	}
	msleep(300);
	for_each_online_cpu(cpu) {
		struct drainer *d = &drainers[cpu];

		smp_call_function_single(cpu, drainer_end, d, 1);
		KUNIT_EXPECT_GT_MSG(test, d->trace.timers, 5ULL, "CPU %d", cpu);
		KUNIT_EXPECT_FALSE(test, hrtimer_active(&d->trace.timer));
	}
}

static struct kunit_case drain_cases[] = {
	KUNIT_CASE(timers_come_while_there_are_events),
	{ }
};

struct kunit_suite power_imc_drain_suite = {
	.name = "power_imc_drain", .test_cases = drain_cases,
};
