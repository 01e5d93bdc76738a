// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPUs that go offline and come back. This needs a second one; and for a device that has a near
 * owner a second node. What happens while another CPU takes over is in move_test.c.
 */
#include <kunit/test.h>
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include <pmu/loans.h>

#include "suites.h"
#include "memory.h"

static struct memory *memory;
static struct device *near;		/* what a PMU belongs to that asks for a near owner */

static int hotplug_test_init(struct kunit *test)
{
	memory = NULL;
	near = NULL;
	return 0;
}

static void hotplug_test_exit(struct kunit *test)
{
	memory_destroy(test, memory);
	if (near)
		root_device_unregister(near);
}

static void hotplug_create(struct kunit *test, enum pmu_scope scope, enum pmu_tasks tasks)
{
	memory = memory_create(test, scope);
	memory_with_power(memory);
	memory->desc.tasks = tasks;
	memory_plug(test, memory);
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
	take_offline(test, cpu);
	KUNIT_EXPECT_EQ(test, box->off, 1U);
	KUNIT_EXPECT_TRUE(test, first->engaged);
	bring_back(test, cpu);
	KUNIT_EXPECT_EQ(test, box->on, 2U);
	KUNIT_EXPECT_EQ(test, first->on, 1U);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(box->off) == 2));
}

/* A CPU that leaves when nothing is open has nothing to read, and one that comes nothing to switch on. */
static void idle_box_stays_off(struct kunit *test)
{
	int cpu = second_cpu(test);

	hotplug_create(test, PMU_SCOPE_CPU, PMU_TASKS_ONLY);
	take_offline(test, cpu);
	bring_back(test, cpu);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].begins, 0U);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].on, 0U);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].off, 0U);
}

/* An event that perf takes out of its CPU, and puts back. */
static struct {
	struct perf_event *event;
	int err;
} early;

/* The state of another architecture's PMUs, after perf's own: nobody has it here. */
#define REFUSING	CPUHP_AP_PERF_CSKY_ONLINE

static int refuse(unsigned int cpu)
{
	return -EBUSY;
}

static void take_out(struct memory_box *mb)
{
	struct pmu *pmu = early.event->pmu;
	unsigned long flags;

	local_irq_save(flags);
	pmu->pmu_disable(pmu);
	pmu->del(early.event, 0);
	pmu->pmu_enable(pmu);
	local_irq_restore(flags);
}

static void put_back(void *data)
{
	struct pmu *pmu = early.event->pmu;

	pmu->pmu_disable(pmu);
	early.err = pmu->add(early.event, PERF_EF_START);
	pmu->pmu_enable(pmu);
}

/*
 * A later state refuses that a CPU goes offline. The last event of the CPU's box stops while the
 * CPU gets the box back, so the box is not to be disengaged any more.
 */
static void stays_on_if_the_cpu_stays(struct kunit *test)
{
	int cpu = second_cpu(test);
	struct memory_box *box;

	hotplug_create(test, PMU_SCOPE_CPU, PMU_TASKS_NEVER);
	box = &memory->boxes[cpu];
	early.event = open_one(test, cpu, NULL);
	KUNIT_ASSERT_EQ(test, cpuhp_setup_state_nocalls(REFUSING, "pmu_core_kunit:refuse", NULL, refuse), 0);
	box->moving = take_out;
	KUNIT_EXPECT_EQ(test, remove_cpu(cpu), -EBUSY);
	box->moving = NULL;
	cpuhp_remove_state_nocalls(REFUSING);
	KUNIT_EXPECT_EQ(test, box->owners, 2U);
	KUNIT_EXPECT_EQ(test, box->off, 0U);
	smp_call_function_single(cpu, put_back, NULL, 1);
	KUNIT_EXPECT_EQ(test, early.err, 0);
	box->raw += 5;
	KUNIT_EXPECT_EQ(test, perf_open_count(early.event), 5ULL);
	perf_event_release_kernel(early.event);
}

/* Offlines that are refused one after the other do not put off the next fold. */
static void refusals_do_not_stop_polling(struct kunit *test)
{
	int cpu = second_cpu(test);
	struct memory_box *box;
	struct perf_event *event;
	unsigned int reads;
	unsigned long end;

	memory = memory_create(test, PMU_SCOPE_CPU);
	/* Folded every 2 s */
	memory->desc.width = 32;
	memory->max_rate = 1ULL << 30;
	memory_plug(test, memory);
	box = &memory->boxes[cpu];
	event = open_one(test, cpu, NULL);
	KUNIT_ASSERT_EQ(test, cpuhp_setup_state_nocalls(REFUSING, "pmu_core_kunit:refuse", NULL, refuse), 0);
	reads = READ_ONCE(box->reads);
	for (end = jiffies + 5 * HZ; time_before(jiffies, end);)
		KUNIT_EXPECT_EQ(test, remove_cpu(cpu), -EBUSY);
	cpuhp_remove_state_nocalls(REFUSING);
	KUNIT_EXPECT_GT(test, READ_ONCE(box->reads), reads);
	perf_event_release_kernel(event);
}

/* The last event is closed while the CPU is away: it comes back to a box that stays off. */
static void closed_while_away(struct kunit *test)
{
	int cpu = second_cpu(test);
	struct perf_event *event;

	hotplug_create(test, PMU_SCOPE_CPU, PMU_TASKS_ONLY);
	event = open_one(test, -1, current);
	take_offline(test, cpu);
	perf_event_release_kernel(event);
	bring_back(test, cpu);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].on, 1U);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].off, 1U);
}

/* Opened while the CPU is away: only what is there is engaged, and the rest when it comes. */
static void opened_while_away(struct kunit *test)
{
	int cpu = second_cpu(test);
	struct perf_event *event;

	hotplug_create(test, PMU_SCOPE_CPU, PMU_TASKS_TOO);
	take_offline(test, cpu);
	KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, cpu, NULL), -ENODEV);
	event = open_one(test, -1, current);
	KUNIT_EXPECT_TRUE(test, memory->boxes[0].engaged);
	KUNIT_EXPECT_FALSE(test, memory->boxes[cpu].engaged);
	bring_back(test, cpu);
	KUNIT_EXPECT_TRUE(test, memory->boxes[cpu].engaged);
	perf_event_release_kernel(event);
}

/* A device that goes while its box has no CPU: no verb is called, on whichever CPU. */
static void device_goes_while_away(struct kunit *test)
{
	int cpu = second_cpu(test);
	struct perf_event *event;

	hotplug_create(test, PMU_SCOPE_CPU, PMU_TASKS_ONLY);
	event = open_one(test, -1, current);
	take_offline(test, cpu);
	memory_unplug(memory);
	bring_back(test, cpu);
	KUNIT_EXPECT_EQ(test, memory->boxes[cpu].on, 1U);
	perf_event_release_kernel(event);
}

/*
 * A PMU that is one device has its owner in the device's node, as long as a CPU is left there, and
 * again as soon as there is one.
 */
static void owner_is_near(struct kunit *test)
{
	int node = cpu_to_node(cpumask_last(cpu_online_mask));
	int first = cpumask_first(cpumask_of_node(node));
	int second = cpumask_next(first, cpumask_of_node(node));
	struct perf_event *event;

	if (first == 0 || second >= nr_cpu_ids)
		kunit_skip(test, "needs two nodes, the last of two CPUs");
	memory = memory_create(test, PMU_SCOPE_SYSTEM);
	near = root_device_register("pmu_core_kunit_near");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, near);
	set_dev_node(near, node);
	memory->desc.parent = near;
	memory_plug(test, memory);
	event = open_one(test, 0, NULL);
	KUNIT_EXPECT_EQ(test, event->cpu, first);
	take_offline(test, first);
	KUNIT_EXPECT_EQ(test, event->cpu, second);
	KUNIT_EXPECT_EQ(test, remove_cpu(second), 0);
	KUNIT_EXPECT_NE(test, cpu_to_node(event->cpu), node);
	memory->boxes[0].raw += 5;
	KUNIT_EXPECT_EQ(test, add_cpu(second), 0);
	KUNIT_EXPECT_EQ(test, event->cpu, second);
	memory->boxes[0].raw += 70;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 75ULL);
	bring_back(test, first);
	perf_event_release_kernel(event);
}

/* The CPU on which the kernel wants to open an event goes offline before it is open: another will do. */
static void software_event_of_a_cpu_that_left(struct kunit *test)
{
	int cpu = second_cpu(test);
	struct perf_event *event;

	take_offline(test, cpu);
	event = pmu_software_event(PERF_COUNT_SW_CPU_CLOCK, cpu);
	bring_back(test, cpu);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	KUNIT_EXPECT_NE(test, event->cpu, cpu);
	perf_event_release_kernel(event);
}

static struct kunit_case hotplug_cases[] = {
	KUNIT_CASE_SLOW(power_goes_with_the_cpu),
	KUNIT_CASE_SLOW(idle_box_stays_off),
	KUNIT_CASE_SLOW(stays_on_if_the_cpu_stays),
	KUNIT_CASE_SLOW(refusals_do_not_stop_polling),
	KUNIT_CASE_SLOW(closed_while_away),
	KUNIT_CASE_SLOW(opened_while_away),
	KUNIT_CASE_SLOW(device_goes_while_away),
	KUNIT_CASE_SLOW(owner_is_near),
	KUNIT_CASE(software_event_of_a_cpu_that_left),
	{ }
};

struct kunit_suite pmu_hotplug_suite = {
	.name = "pmu_core_hotplug",
	.init = hotplug_test_init,
	.exit = hotplug_test_exit,
	.test_cases = hotplug_cases,
};
