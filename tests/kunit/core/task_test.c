// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of tasks: they count in the box of whichever CPU their task runs on, while it
 * runs. The task is a kernel thread, which does what it is told on the CPU it is told.
 */
#include <kunit/test.h>
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/preempt.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <core/core.h>

#include "suites.h"
#include "memory.h"

static struct memory *memory;

static void tasks_create(struct kunit *test, enum pmu_tasks tasks)
{
	memory = memory_create(test, PMU_SCOPE_CPU);
	memory->desc.tasks = tasks;
}

static int task_test_init(struct kunit *test)
{
	memory = NULL;
	return 0;
}

static void task_test_exit(struct kunit *test)
{
	memory_destroy(test, memory);
}

/* So many events, on the CPU that this runs on. */
struct happening {
	struct kthread_work work;
	unsigned int events;
	int cpu;			/* where it was */
};

static void happen_here(struct kthread_work *work)
{
	struct happening *happening = container_of(work, struct happening, work);

	preempt_disable();
	happening->cpu = smp_processor_id();
	memory->boxes[happening->cpu].raw += happening->events;
	preempt_enable();
}

static long happen_to_nobody(void *events)
{
	memory->boxes[raw_smp_processor_id()].raw += (unsigned long)events;
	return 0;
}

/*
 * @events happen on @cpu while the task runs there. Before and after others happen, while
 * another thread has the CPU.
 */
static void happen_to(struct kunit *test, struct kthread_worker *task, int cpu, unsigned int events)
{
	struct happening happening = { .events = events };
	int other;

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(task->task, cpumask_of(cpu)), 0);
	for_each_online_cpu(other)
		work_on_cpu(other, happen_to_nobody, (void *)1000000UL);
	kthread_init_work(&happening.work, happen_here);
	kthread_queue_work(task, &happening.work);
	kthread_flush_work(&happening.work);
	KUNIT_ASSERT_EQ(test, happening.cpu, cpu);
	for_each_online_cpu(other)
		work_on_cpu(other, happen_to_nobody, (void *)1000000UL);
}

static void destroy_task(void *worker)
{
	kthread_destroy_worker(worker);
}

static struct kthread_worker *create_task(struct kunit *test)
{
	struct kthread_worker *worker = kthread_create_worker(0, "pmu_core_task");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, worker);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, destroy_task, worker), 0);
	return worker;
}

static struct perf_event *open_of(struct kunit *test, struct kthread_worker *task)
{
	struct perf_event *event = memory_open(-1, task->task);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

/* Exactly what happens while the task runs is counted, on every CPU it comes to. */
static void follows_the_task(struct kunit *test)
{
	struct kthread_worker *task = create_task(test);
	struct perf_event *event;
	u64 truth = 0;
	int cpu;

	tasks_create(test, PMU_TASKS_ONLY);
	memory_plug(test, memory);
	event = open_of(test, task);
	for (unsigned int i = 1; i <= 3; i++) {
		for_each_online_cpu(cpu) {
			happen_to(test, task, cpu, i + cpu);
			truth += i + cpu;
			KUNIT_EXPECT_EQ(test, perf_open_count(event), truth);
		}
	}
	perf_event_release_kernel(event);
}

/* Tasks that share a CPU have their own counts, and the CPU's event has all. */
static void tasks_do_not_mix(struct kunit *test)
{
	struct kthread_worker *a = create_task(test), *b = create_task(test);
	struct perf_event *of_a, *of_b, *of_cpu;

	tasks_create(test, PMU_TASKS_TOO);
	memory_plug(test, memory);
	of_a = open_of(test, a);
	of_b = open_of(test, b);
	of_cpu = memory_open(0, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, of_cpu);
	happen_to(test, a, 0, 5);
	happen_to(test, b, 0, 70);
	happen_to(test, a, 0, 600);
	KUNIT_EXPECT_EQ(test, perf_open_count(of_a), 605ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(of_b), 70ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(of_cpu), 605ULL + 70 + 6 * 1000000);
	perf_event_release_kernel(of_a);
	perf_event_release_kernel(of_b);
	perf_event_release_kernel(of_cpu);
}

/* A task's event counts only on CPUs that have a box. */
static void nothing_without_a_box(struct kunit *test)
{
	struct kthread_worker *task = create_task(test);
	struct perf_event *event;
	int other = memory_second_cpu();

	if (other < 0)
		kunit_skip(test, "needs two CPUs");
	tasks_create(test, PMU_TASKS_ONLY);
	memory_plug_box(test, memory, 0);
	event = open_of(test, task);
	happen_to(test, task, 0, 5);
	happen_to(test, task, other, 70);
	happen_to(test, task, 0, 600);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 605ULL);
	perf_event_release_kernel(event);
}

/* Likewise where the box was not to be engaged, though the event was opened. */
static void nothing_without_power(struct kunit *test)
{
	struct kthread_worker *task = create_task(test);
	struct perf_event *event;
	int other = memory_second_cpu();

	if (other < 0)
		kunit_skip(test, "needs two CPUs");
	tasks_create(test, PMU_TASKS_ONLY);
	memory_with_power(memory);
	memory_plug_box(test, memory, 0);
	event = open_of(test, task);
	memory->boxes[other].power_error = -EIO;
	memory_plug_box(test, memory, other);
	happen_to(test, task, other, 70);
	happen_to(test, task, 0, 5);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	KUNIT_EXPECT_EQ(test, memory->boxes[other].reads, 0U);
	perf_event_release_kernel(event);
}

/* The device goes while the task sleeps: the count stays as it is, and no verb is called. */
static void device_goes(struct kunit *test)
{
	struct kthread_worker *task = create_task(test);
	struct perf_event *event;

	tasks_create(test, PMU_TASKS_ONLY);
	memory_plug(test, memory);
	event = open_of(test, task);
	happen_to(test, task, 0, 5);
	memory_unplug(memory);
	happen_to(test, task, 0, 70);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	perf_event_release_kernel(event);
}

/* Two events of kthreadd, which every kernel thread inherits that comes after. */
struct family {
	struct perf_event *event[2];
};

static struct family open_of_kthreadd(struct kunit *test)
{
	/* It lives for ever. */
	struct task_struct *kthreadd = rcu_access_pointer(current->real_parent);
	struct family family;

	KUNIT_ASSERT_EQ(test, kthreadd->pid, 2);
	for (int i = 0; i < ARRAY_SIZE(family.event); i++) {
		family.event[i] = perf_open_inherit(MEMORY_PMU, 0, kthreadd);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, family.event[i]);
	}
	return family;
}

static void close_of_kthreadd(struct family *family)
{
	for (int i = 0; i < ARRAY_SIZE(family->event); i++)
		perf_event_release_kernel(family->event[i]);
}

/* A child runs on a CPU until it is told to exit. */
static bool children_exit;

static int run_and_exit(void *data)
{
	while (!READ_ONCE(children_exit))
		cond_resched();
	return 0;
}

static struct task_struct *start_child(struct kunit *test, int cpu)
{
	struct task_struct *child = kthread_create(run_and_exit, NULL, "pmu_core_child");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, child);
	get_task_struct(child);
	kthread_bind(child, cpu);
	wake_up_process(child);
	return child;
}

/* perf's part of an exit is over once the task says that it has exited. */
static bool child_ends(struct task_struct *child)
{
	bool ended = perf_open_soon(READ_ONCE(child->exit_state));

	if (ended)
		put_task_struct(child);
	return ended;
}

/*
 * Inherited events that cannot be read as the task exits. perf frees them with the lock of the
 * task's context held, so nothing may wait for that lock then.
 */
static void exits_with_failed_events(struct kunit *test)
{
	struct task_struct *child;
	struct family family;
	int cpu;

	tasks_create(test, PMU_TASKS_ONLY);
	memory_plug(test, memory);
	family = open_of_kthreadd(test);
	WRITE_ONCE(children_exit, false);
	child = start_child(test, 0);
	KUNIT_ASSERT_TRUE(test, perf_open_soon(READ_ONCE(memory->boxes[0].reads) >= 2));
	for_each_online_cpu(cpu)
		memory->boxes[cpu].read_error = -ENODEV;
	/* Time for those who wait for the context's lock to come */
	memory->free_ms = 100;
	WRITE_ONCE(children_exit, true);
	KUNIT_ASSERT_TRUE(test, child_ends(child));
	memory->free_ms = 0;
	close_of_kthreadd(&family);
}

/* The device goes while tasks on all CPUs exit, a little earlier or later. */
static void device_goes_while_tasks_exit(struct kunit *test)
{
	struct task_struct **child = kunit_kcalloc(test, nr_cpu_ids, sizeof(*child), GFP_KERNEL);
	struct family family;
	int cpu;

	KUNIT_ASSERT_NOT_NULL(test, child);
	tasks_create(test, PMU_TASKS_ONLY);
	for (unsigned int round = 0; round < 10; round++) {
		memory_plug(test, memory);
		family = open_of_kthreadd(test);
		WRITE_ONCE(children_exit, false);
		for_each_online_cpu(cpu)
			child[cpu] = start_child(test, cpu);
		msleep(20);
		if (round % 2) {
			WRITE_ONCE(children_exit, true);
			usleep_range(round * 500, round * 500 + 100);
			memory_unplug(memory);
		} else {
			memory_unplug(memory);
			WRITE_ONCE(children_exit, true);
		}
		for_each_online_cpu(cpu)
			KUNIT_ASSERT_TRUE(test, child_ends(child[cpu]));
		close_of_kthreadd(&family);
	}
}

/* An event of a task that sleeps, as perf has it on a CPU and takes it off. */
static void add_here(void *event)
{
	((struct perf_event *)event)->pmu->add(event, PERF_EF_START);
}

static bool was_dead;

static void del_here(void *event)
{
	struct pmu_box *box = pmu_event_of(event)->box;

	((struct perf_event *)event)->pmu->del(event, 0);
	/* The last use of the box is over, but no grace period: KASAN watches. */
	was_dead = READ_ONCE(box->dead);
}

/*
 * A box is not freed at once by whoever drops its last reference: perf may hold raw locks with
 * interrupts off.
 */
static void freed_after_a_grace_period(struct kunit *test)
{
	struct kthread_worker *task = create_task(test);
	struct perf_event *event;

	tasks_create(test, PMU_TASKS_ONLY);
	memory_plug(test, memory);
	event = open_of(test, task);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, add_here, event, 1), 0);
	memory_unplug(memory);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, del_here, event, 1), 0);
	KUNIT_EXPECT_TRUE(test, was_dead);
	perf_event_release_kernel(event);
}

/* What an event may belong to, by the PMU: a CPU, a task, a task on one CPU. */
static void who_may_have_events(struct kunit *test)
{
	static const struct { enum pmu_tasks tasks; int cpu_error, task_error; } rows[] = {
		{ PMU_TASKS_NEVER, 0, -EINVAL },
		{ PMU_TASKS_TOO, 0, 0 },
		{ PMU_TASKS_ONLY, -EINVAL, 0 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		tasks_create(test, rows[i].tasks);
		memory_plug(test, memory);
		KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, 0, NULL), rows[i].cpu_error);
		KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, -1, current), rows[i].task_error);
		KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, 0, current), rows[i].task_error);
		/* Whatever it belongs to, a bit that no format has is refused. */
		KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0x100, -1, current), -EINVAL);
		if (i + 1 < ARRAY_SIZE(rows))
			memory_destroy(test, memory);
	}
}

/* Without CAP_PERFMON: refused where the driver wants the privilege, and there alone. */
static void privileged_only(struct kunit *test)
{
	struct cred *nobody = prepare_creds();
	const struct cred *mine;
	int plain, privileged, capable;

	KUNIT_ASSERT_NOT_NULL(test, nobody);
	cap_clear(nobody->cap_effective);
	tasks_create(test, PMU_TASKS_ONLY);
	memory_plug(test, memory);
	mine = override_creds(nobody);
	plain = perf_open_error(MEMORY_PMU, 0, -1, current);
	memory->desc.privileged = true;
	privileged = perf_open_error(MEMORY_PMU, 0, -1, current);
	cap_raise(nobody->cap_effective, CAP_PERFMON);
	capable = perf_open_error(MEMORY_PMU, 0, -1, current);
	revert_creds(mine);
	put_cred(nobody);
	KUNIT_EXPECT_EQ(test, plain, 0);
	KUNIT_EXPECT_EQ(test, privileged, -EACCES);
	KUNIT_EXPECT_EQ(test, capable, 0);
}

static struct kunit_case task_cases[] = {
	KUNIT_CASE(follows_the_task),
	KUNIT_CASE(tasks_do_not_mix),
	KUNIT_CASE(nothing_without_a_box),
	KUNIT_CASE(nothing_without_power),
	KUNIT_CASE(device_goes),
	KUNIT_CASE(exits_with_failed_events),
	KUNIT_CASE_SLOW(device_goes_while_tasks_exit),
	KUNIT_CASE(freed_after_a_grace_period),
	KUNIT_CASE(who_may_have_events),
	KUNIT_CASE(privileged_only),
	{ }
};

struct kunit_suite pmu_task_suite = {
	.name = "pmu_core_task",
	.init = task_test_init,
	.exit = task_test_exit,
	.test_cases = task_cases,
};
