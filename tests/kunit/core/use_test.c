// SPDX-License-Identifier: GPL-2.0-only
/*
 * Use: a box is engaged while it is used, and not for long after that. memory.c sees to it that it
 * is never engaged or disengaged twice, and not engaged in the end.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/sched.h>
#include <linux/workqueue.h>

#include <core/core.h>

#include "suites.h"
#include "memory.h"

static struct memory *memory;

static void power_create(struct kunit *test, enum pmu_scope scope)
{
	memory = memory_create(test, scope);
	memory_with_power(memory);
}

static int use_test_init(struct kunit *test)
{
	memory = NULL;
	return 0;
}

static void use_test_exit(struct kunit *test)
{
	memory_destroy(test, memory);
}

static struct perf_event *open_one(struct kunit *test, int cpu, struct task_struct *task)
{
	struct perf_event *event = memory_open(cpu, task);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

/* The first event switches the box on, and nothing does again; the last switches it off. */
static void first_on_last_off(struct kunit *test)
{
	struct memory_box *box;
	struct perf_event *a, *b;

	power_create(test, PMU_SCOPE_SYSTEM);
	memory_plug(test, memory);
	box = &memory->boxes[0];
	KUNIT_EXPECT_EQ(test, box->on, 0U);
	a = open_one(test, 0, NULL);
	KUNIT_EXPECT_EQ(test, box->on, 1U);
	b = open_one(test, 0, NULL);
	perf_event_release_kernel(a);
	/* To open one waits for what is still to be disengaged: nothing is. */
	a = open_one(test, 0, NULL);
	KUNIT_EXPECT_EQ(test, box->on, 1U);
	KUNIT_EXPECT_EQ(test, box->off, 0U);
	perf_event_release_kernel(a);
	perf_event_release_kernel(b);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(box->off) == 1));
	KUNIT_EXPECT_EQ(test, box->on, 1U);
}

/* Disabled is not closed: only closing ends the use. */
static void on_while_disabled(struct kunit *test)
{
	struct perf_event *a, *b;

	power_create(test, PMU_SCOPE_SYSTEM);
	memory_plug(test, memory);
	a = open_one(test, 0, NULL);
	perf_event_disable(a);
	b = open_one(test, 0, NULL);
	KUNIT_EXPECT_EQ(test, memory->boxes[0].on, 1U);
	KUNIT_EXPECT_EQ(test, memory->boxes[0].off, 0U);
	perf_event_release_kernel(a);
	perf_event_release_kernel(b);
}

/*
 * A box whose events were closed is off before the driver is asked for the next event, since it may
 * be in that event's way.
 */
static void off_before_the_next(struct kunit *test)
{
	struct memory_box *box;

	power_create(test, PMU_SCOPE_SYSTEM);
	memory_plug(test, memory);
	box = &memory->boxes[0];
	box->off_ms = 200;
	for (unsigned int i = 1; i <= 3; i++) {
		struct perf_event *event = open_one(test, 0, NULL);

		KUNIT_EXPECT_EQ(test, memory->engaged_at_init, 0U);
		KUNIT_EXPECT_EQ(test, box->on, i);
		KUNIT_EXPECT_EQ(test, box->off, i - 1);
		perf_event_release_kernel(event);
	}
}

/* A box that cannot be engaged: perf_event_open() says why, nothing is kept, the next may. */
static void engage_fails(struct kunit *test)
{
	struct memory_box *box;

	power_create(test, PMU_SCOPE_SYSTEM);
	memory_plug(test, memory);
	box = &memory->boxes[0];
	box->power_error = -EBUSY;
	KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, 0, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, atomic_read(&memory->inits), 1);
	KUNIT_EXPECT_EQ(test, atomic_read(&memory->frees), 1);
	box->power_error = -EIO;
	KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, 0, NULL), -EIO);
	box->power_error = 0;
	KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, 0, NULL), 0);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(box->off) == 1));
	KUNIT_EXPECT_EQ(test, box->on, 1U);
}

/* A task may come to any CPU: its event engages every box, until the last event is closed. */
static void task_powers_every_box(struct kunit *test)
{
	struct perf_event *a, *b;
	int cpu;

	power_create(test, PMU_SCOPE_CPU);
	memory->desc.tasks = PMU_TASKS_TOO;
	memory_plug(test, memory);
	a = open_one(test, -1, current);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_TRUE(test, memory->boxes[cpu].engaged);
	b = open_one(test, -1, current);
	perf_event_release_kernel(a);
	a = open_one(test, 0, NULL);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_TRUE(test, memory->boxes[cpu].engaged);
	perf_event_release_kernel(b);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_TRUE(test, cpu == 0 ||
				  perf_open_soon(!READ_ONCE(memory->boxes[cpu].engaged)));
	KUNIT_EXPECT_TRUE(test, memory->boxes[0].engaged);
	perf_event_release_kernel(a);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(!READ_ONCE(memory->boxes[0].engaged)));
}

/* Where that is enough, a box is engaged when its first event starts, and not for one that is off. */
static void engaged_at_the_first_start(struct kunit *test)
{
	struct perf_event_attr off = { .disabled = 1 };
	struct memory_box *box;
	struct perf_event *a, *b;

	power_create(test, PMU_SCOPE_SYSTEM);
	memory->desc.engage_at_start = true;
	memory_plug(test, memory);
	box = &memory->boxes[0];
	a = perf_open_attr(MEMORY_PMU, off, 0, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, a);
	KUNIT_EXPECT_EQ(test, box->on, 0U);
	b = open_one(test, 0, NULL);
	perf_event_enable(a);
	KUNIT_EXPECT_EQ(test, box->on, 1U);
	box->raw += 5;
	KUNIT_EXPECT_EQ(test, perf_open_count(a), 5ULL);
	perf_event_release_kernel(a);
	KUNIT_EXPECT_EQ(test, box->off, 0U);
	perf_event_release_kernel(b);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(box->off) == 1));
}

/* An event on a CPU engages that CPU's box alone. */
static void cpu_powers_its_box(struct kunit *test)
{
	struct perf_event *event;
	int other = memory_second_cpu();

	if (other < 0)
		kunit_skip(test, "needs two CPUs");
	power_create(test, PMU_SCOPE_CPU);
	memory_plug(test, memory);
	event = open_one(test, other, NULL);
	KUNIT_EXPECT_TRUE(test, memory->boxes[other].engaged);
	KUNIT_EXPECT_FALSE(test, memory->boxes[0].engaged);
	perf_event_release_kernel(event);
}

/*
 * If one box of several cannot be engaged, a task's event does not count on that CPU, and the next
 * open tries the box again. If no box can be engaged, the event is refused.
 */
static void engage_fails_for_one(struct kunit *test)
{
	struct perf_event *one, *two;
	int bad = memory_second_cpu();
	int cpu;

	if (bad < 0)
		kunit_skip(test, "needs two CPUs");
	power_create(test, PMU_SCOPE_CPU);
	memory->desc.tasks = PMU_TASKS_ONLY;
	memory_plug(test, memory);
	memory->boxes[bad].power_error = -EIO;
	one = open_one(test, -1, current);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_EQ(test, memory->boxes[cpu].engaged, cpu != bad);
	memory->boxes[bad].power_error = 0;
	two = open_one(test, -1, current);
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_TRUE(test, memory->boxes[cpu].engaged);
	perf_event_release_kernel(one);
	perf_event_release_kernel(two);
	for_each_online_cpu(cpu) {
		KUNIT_EXPECT_TRUE(test, perf_open_soon(!READ_ONCE(memory->boxes[cpu].engaged)));
		memory->boxes[cpu].power_error = -EIO;
	}
	KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, -1, current), -EIO);
	KUNIT_EXPECT_EQ(test, atomic_read(&memory->inits), atomic_read(&memory->frees));
}

/* A box that comes while tasks' events are open is engaged at once. */
static void late_box_is_powered(struct kunit *test)
{
	struct perf_event *event;
	int late = memory_second_cpu();

	if (late < 0)
		kunit_skip(test, "needs two CPUs");
	power_create(test, PMU_SCOPE_CPU);
	memory->desc.tasks = PMU_TASKS_ONLY;
	memory_plug_box(test, memory, 0);
	event = open_one(test, -1, current);
	memory_plug_box(test, memory, late);
	KUNIT_EXPECT_TRUE(test, memory->boxes[late].engaged);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(!READ_ONCE(memory->boxes[late].engaged)));
}

/* A device that goes is disengaged then, and not again when its event is closed. */
static void off_with_the_device(struct kunit *test)
{
	struct perf_event *event;

	power_create(test, PMU_SCOPE_SYSTEM);
	memory_plug(test, memory);
	event = open_one(test, 0, NULL);
	memory_unplug(memory);
	KUNIT_EXPECT_EQ(test, memory->boxes[0].off, 1U);
	KUNIT_EXPECT_TRUE(test, perf_open_fails_soon(event));
	perf_event_release_kernel(event);
}

/* What comes in on the owner CPU right after it has switched the box off for good. */
static struct pmu_dev *killed;
static bool killed_is_owned;

static void look_for_the_killed(struct irq_work *work)
{
	killed_is_owned = this_cpu_ptr(killed->here)->box;
}

static DEFINE_IRQ_WORK(after_the_kill, look_for_the_killed);

static void look_after_the_kill(void)
{
	irq_work_queue(&after_the_kill);
}

/* A device that goes is off its owner at once: nothing that perf does there still sees it. */
static void owner_forgets_at_once(struct kunit *test)
{
	struct perf_event *event;

	power_create(test, PMU_SCOPE_SYSTEM);
	memory_plug(test, memory);
	event = open_one(test, 0, NULL);
	killed = to_pmu_dev(event->pmu);
	killed_is_owned = true;
	memory->boxes[0].disengaging = look_after_the_kill;
	/* From the owner itself: nothing else can come in between. */
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	memory_unplug(memory);
	irq_work_sync(&after_the_kill);
	KUNIT_EXPECT_EQ(test, memory->boxes[0].off, 1U);
	KUNIT_EXPECT_FALSE(test, killed_is_owned);
	perf_event_release_kernel(event);
}

/*
 * A box that is being engaged for an event on another CPU, which has interrupts off, until this
 * is told to go on, or for so long: meanwhile the lock that engaging takes is held.
 */
static DECLARE_COMPLETION(going_on);
static unsigned int going_on_ms;
static bool go_on;
static struct perf_event *opened_there;

static void go_on_slowly(void)
{
	complete(&going_on);
	for (unsigned int ms = 0; ms < going_on_ms && !READ_ONCE(go_on); ms++)
		mdelay(1);
}

static void open_there(struct work_struct *work)
{
	opened_there = memory_open(smp_processor_id(), NULL);
}

static DECLARE_WORK(opening_there, open_there);

/* What perf_event_open() says of a sibling of another PMU's event, opened while @cpu's box goes on. */
static int open_sibling_meanwhile(struct kunit *test, int cpu)
{
	struct perf_event *sibling = kunit_kzalloc(test, sizeof(*sibling), GFP_KERNEL);
	struct perf_event *leader = perf_open("software", PERF_COUNT_SW_CPU_CLOCK, cpu, NULL);
	struct perf_event *known;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, sibling);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, leader);
	known = open_one(test, 0, NULL);
	sibling->pmu = known->pmu;
	sibling->attr.type = known->attr.type;
	sibling->cpu = cpu;
	sibling->group_leader = leader;

	memory->boxes[cpu].engaging = go_on_slowly;
	reinit_completion(&going_on);
	WRITE_ONCE(go_on, false);
	schedule_work_on(cpu, &opening_there);
	wait_for_completion(&going_on);
	err = sibling->pmu->event_init(sibling);
	WRITE_ONCE(go_on, true);
	flush_work(&opening_there);
	if (!err)
		sibling->destroy(sibling);
	KUNIT_EXPECT_NOT_ERR_OR_NULL(test, opened_there);
	if (!IS_ERR_OR_NULL(opened_there))
		perf_event_release_kernel(opened_there);
	perf_event_release_kernel(known);
	perf_event_release_kernel(leader);
	return err;
}

static int sibling_while_power_changes(struct kunit *test, enum pmu_tasks tasks, unsigned int ms)
{
	int other = memory_second_cpu();

	if (other < 0)
		kunit_skip(test, "needs two CPUs");
	power_create(test, PMU_SCOPE_CPU);
	memory->desc.tasks = tasks;
	memory_plug(test, memory);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	going_on_ms = ms;
	return open_sibling_meanwhile(test, other);
}

/* In a group of another PMU's an event waits while its box is engaged, and is not refused. */
static void sibling_waits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sibling_while_power_changes(test, PMU_TASKS_NEVER, 1000), 0);
}

/* The same of a PMU for tasks, for which perf does not lock the leader's context. */
static void sibling_for_tasks_waits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, sibling_while_power_changes(test, PMU_TASKS_TOO, 1000), 0);
}

static struct kunit_case use_cases[] = {
	KUNIT_CASE(first_on_last_off),
	KUNIT_CASE(on_while_disabled),
	KUNIT_CASE(off_before_the_next),
	KUNIT_CASE(engage_fails),
	KUNIT_CASE(task_powers_every_box),
	KUNIT_CASE(engaged_at_the_first_start),
	KUNIT_CASE(cpu_powers_its_box),
	KUNIT_CASE(engage_fails_for_one),
	KUNIT_CASE(late_box_is_powered),
	KUNIT_CASE(off_with_the_device),
	KUNIT_CASE(owner_forgets_at_once),
	KUNIT_CASE(sibling_waits),
	KUNIT_CASE(sibling_for_tasks_waits),
	{ }
};

struct kunit_suite pmu_use_suite = {
	.name = "pmu_core_use",
	.init = use_test_init,
	.exit = use_test_exit,
	.test_cases = use_cases,
};
