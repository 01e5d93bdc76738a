// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owners that go offline and come back. This needs a second CPU; and where the first cannot go
 * offline, as on x86, a package of two without it.
 */
#include <kunit/test.h>
#include <linux/cpu.h>
#include <linux/sched.h>
#include <linux/topology.h>

#include "suites.h"
#include "memory.h"

static struct memory *memory;
static int away;			/* a CPU that is offline, or -1 */

static int hotplug_test_init(struct kunit *test)
{
	memory = NULL;
	away = -1;
	return 0;
}

static void hotplug_test_exit(struct kunit *test)
{
	if (away >= 0)
		KUNIT_EXPECT_EQ(test, add_cpu(away), 0);
	memory_destroy(test, memory);
}

static void hotplug_create(struct kunit *test, enum pmu_scope scope, enum pmu_tasks tasks)
{
	memory = memory_create(test, scope);
	memory_with_power(memory);
	memory->desc.tasks = tasks;
	memory_plug(test, memory);
}

static void leave(struct kunit *test, int cpu)
{
	KUNIT_ASSERT_EQ(test, remove_cpu(cpu), 0);
	away = cpu;
}

static void come_back(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, add_cpu(away), 0);
	away = -1;
}

static struct perf_event *open_one(struct kunit *test, int cpu, struct task_struct *task)
{
	struct perf_event *event = memory_open(cpu, task);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

static int second_cpu(struct kunit *test)
{
	int cpu = memory_second_cpu();

	if (cpu < 0)
		kunit_skip(test, "needs two CPUs");
	return cpu;
}

/* The first online CPU of a package but @but, or -1. */
static int first_of_package(int package, int but)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (cpu != but && topology_physical_package_id(cpu) == package)
			return cpu;
	return -1;
}

/* A box that loses its last CPU goes off, and on again with the CPU if it is still used. */
static void power_goes_with_the_cpu(struct kunit *test)
{
	int cpu = second_cpu(test);
	struct memory_box *box, *first;
	struct perf_event *event;

	hotplug_create(test, PMU_SCOPE_CPU, PMU_TASKS_ONLY);
	box = &memory->boxes[cpu];
	first = &memory->boxes[0];
	event = open_one(test, -1, current);
	KUNIT_EXPECT_EQ(test, box->on, 1U);
	leave(test, cpu);
	KUNIT_EXPECT_EQ(test, box->off, 1U);
	KUNIT_EXPECT_TRUE(test, first->powered);
	come_back(test);
	KUNIT_EXPECT_EQ(test, box->on, 2U);
	KUNIT_EXPECT_EQ(test, first->on, 1U);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(box->off) == 2));
}

/* A CPU that comes when nothing is open has nothing to switch on. */
static void idle_box_stays_off(struct kunit *test)
{
	int cpu = second_cpu(test);

	hotplug_create(test, PMU_SCOPE_CPU, PMU_TASKS_ONLY);
	leave(test, cpu);
	come_back(test);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].on, 0U);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].off, 0U);
}

/* The last event is closed while the CPU is away: it comes back to a box that stays off. */
static void closed_while_away(struct kunit *test)
{
	int cpu = second_cpu(test);
	struct perf_event *event;

	hotplug_create(test, PMU_SCOPE_CPU, PMU_TASKS_ONLY);
	event = open_one(test, -1, current);
	leave(test, cpu);
	perf_event_release_kernel(event);
	come_back(test);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].on, 1U);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].off, 1U);
}

/* Opened while the CPU is away: only what is there is powered, and the rest when it comes. */
static void opened_while_away(struct kunit *test)
{
	int cpu = second_cpu(test);
	struct perf_event *event;

	hotplug_create(test, PMU_SCOPE_CPU, PMU_TASKS_TOO);
	leave(test, cpu);
	KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, cpu, NULL), -ENODEV);
	event = open_one(test, -1, current);
	KUNIT_EXPECT_TRUE(test, memory->boxes[0].powered);
	KUNIT_EXPECT_FALSE(test, memory->boxes[cpu].powered);
	come_back(test);
	KUNIT_EXPECT_TRUE(test, memory->boxes[cpu].powered);
	perf_event_release_kernel(event);
}

/* A device that goes while its box has no CPU: no verb is called, on whichever CPU. */
static void device_goes_while_away(struct kunit *test)
{
	int cpu = second_cpu(test);
	struct perf_event *event;

	hotplug_create(test, PMU_SCOPE_CPU, PMU_TASKS_ONLY);
	event = open_one(test, -1, current);
	leave(test, cpu);
	memory_unplug(memory);
	come_back(test);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].on, 1U);
	perf_event_release_kernel(event);
}

/*
 * Another CPU of the scope takes over: it stays powered, events count on, and what
 * happens in the midst of it is theirs as well.
 */
static void heir_counts_on(struct kunit *test)
{
	int package = topology_physical_package_id(cpumask_last(cpu_online_mask));
	int owner = first_of_package(package, -1), heir = first_of_package(package, owner);
	struct perf_event *event;
	struct memory_box *box;

	if (heir < 0 || !cpu_is_hotpluggable(owner))
		kunit_skip(test, "needs a package of two CPUs, the first hotpluggable");
	memory = memory_create(test, PMU_SCOPE_PACKAGE);
	memory_with_power(memory);
	memory_plug_box(test, memory, package);
	box = &memory->boxes[package];
	event = open_one(test, owner, NULL);
	KUNIT_EXPECT_EQ(test, event->cpu, owner);
	box->raw += 5;
	box->between = 70;
	leave(test, owner);
	KUNIT_EXPECT_EQ(test, event->cpu, heir);
	box->raw += 600;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 675ULL);
	come_back(test);
	box->raw += 8000;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 8675ULL);
	KUNIT_EXPECT_EQ(test, box->on, 1U);
	KUNIT_EXPECT_EQ(test, box->off, 0U);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(box->off) == 1));
}

static struct kunit_case hotplug_cases[] = {
	KUNIT_CASE_SLOW(power_goes_with_the_cpu),
	KUNIT_CASE_SLOW(idle_box_stays_off),
	KUNIT_CASE_SLOW(closed_while_away),
	KUNIT_CASE_SLOW(opened_while_away),
	KUNIT_CASE_SLOW(device_goes_while_away),
	KUNIT_CASE_SLOW(heir_counts_on),
	{ }
};

struct kunit_suite pmu_hotplug_suite = {
	.name = "pmu_core_hotplug",
	.init = hotplug_test_init,
	.exit = hotplug_test_exit,
	.test_cases = hotplug_cases,
};
