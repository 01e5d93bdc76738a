// SPDX-License-Identifier: GPL-2.0-only
/* Trace records of POWER in-memory collection: whose a record is. */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>

#include <pmu/compat.h>

#include "power_imc/ring.h"
#include "power_imc/trace.h"
#include "records.h"
#include "suites.h"

/*
 * The hardware is whoever runs, and writes its own number where the address is. What the driver drains by
 * has to find the records while that task is the current one.
 */
#define TURNS		300
#define MOST_AT_A_TIME	5
#define SHORT_LIVES	100

static struct {
	struct writer *writer;
	int cpu;
	pid_t last;
	unsigned int taken, wrong, changes, with_interrupts;
	void (*of_driver)(int cpu);	/* what it watches task switches by, or NULL */
} attribution;

static void attribute(int cpu)
{
	struct power_imc_ring *ring = &attribution.writer->ring;
	struct power_imc_record record;
	pid_t pid;
	u64 lost;

	if (cpu != attribution.cpu)
		return;
	/* As perf finds it: none at the last switch of a task, which has ended before. */
	pid = task_pid_nr_ns(current, &init_pid_ns);
	attribution.with_interrupts += !irqs_disabled() || smp_processor_id() != cpu;
	while (power_imc_ring_take(ring, &record, attribution.writer->tb, &lost)) {
		attribution.wrong += be64_to_cpu(record.ip) != pid;
		attribution.changes += pid != attribution.last;
		attribution.last = pid;
		WRITE_ONCE(attribution.taken, attribution.taken + 1);
	}
}

struct traced {
	unsigned int turns, written;
	struct traced *other;
	struct completion turn, done;
};

/* Some records, then it is the other one's turn; the last records are followed by the end. */
static int traced_thread(void *data)
{
	struct traced *traced = data;
	unsigned long flags;

	for (unsigned int turn = 0; turn < traced->turns; turn++) {
		wait_for_completion(&traced->turn);
		for (unsigned int i = 0; i <= turn % MOST_AT_A_TIME; i++) {
			local_irq_save(flags);
			write_at(attribution.writer, current->pid);
			local_irq_restore(flags);
			traced->written++;
		}
		complete(&traced->other->turn);
	}
	kthread_complete_and_exit(&traced->done, 0);
}

static void traced_start(struct kunit *test, struct traced *traced)
{
	struct task_struct *task = kthread_create(traced_thread, traced, "traced");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	kthread_bind(task, attribution.cpu);
	wake_up_process(task);
}

static void traced_init(struct traced *traced, unsigned int turns, struct traced *other)
{
	*traced = (struct traced){ .turns = turns, .other = other };
	init_completion(&traced->turn);
	init_completion(&traced->done);
}

static int attribution_test_init(struct kunit *test)
{
	memset(&attribution, 0, sizeof(attribution));
	attribution.writer = writer_of(test, REAL_SLOTS);
	attribution.cpu = cpumask_last(cpu_online_mask);
	/* The driver has a device, or not. */
	attribution.of_driver = power_imc_switched;
	if (!attribution.of_driver)
		return power_imc_switches_watch(attribute);
	WRITE_ONCE(power_imc_switched, attribute);
	return 0;
}

static void attribution_test_exit(struct kunit *test)
{
	if (attribution.of_driver)
		WRITE_ONCE(power_imc_switched, attribution.of_driver);
	else
		power_imc_switches_unwatch();
	tracepoint_synchronize_unregister();
}

/* A thread's last records are taken when it ends, which is a little after it has said so. */
static void attribution_check(struct kunit *test, unsigned int written)
{
	for (unsigned int i = 0; i < 500 && READ_ONCE(attribution.taken) < written; i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, attribution.taken, written);
	KUNIT_EXPECT_EQ(test, attribution.wrong, 0U);
	KUNIT_EXPECT_EQ(test, attribution.with_interrupts, 0U);
	KUNIT_EXPECT_EQ(test, attribution.writer->ring.stats.lost, 0ULL);
}

static void two_tasks_take_turns(struct kunit *test)
{
	static struct traced one, two;

	traced_init(&one, TURNS, &two);
	traced_init(&two, TURNS, &one);
	complete(&one.turn);
	traced_start(test, &one);
	traced_start(test, &two);
	wait_for_completion(&one.done);
	wait_for_completion(&two.done);
	attribution_check(test, one.written + two.written);
	KUNIT_EXPECT_EQ(test, attribution.changes, 2U * TURNS);
}

/* Tasks that are never switched away from but to end. */
static void short_lives_count(struct kunit *test)
{
	unsigned int written = 0;
	static struct traced one;

	for (unsigned int i = 0; i < SHORT_LIVES; i++) {
		traced_init(&one, 1, &one);
		complete(&one.turn);
		traced_start(test, &one);
		wait_for_completion(&one.done);
		written += one.written;
	}
	attribution_check(test, written);
	KUNIT_EXPECT_EQ(test, attribution.changes, (unsigned int)SHORT_LIVES);
}

static struct kunit_case attribution_cases[] = {
	KUNIT_CASE(two_tasks_take_turns),
	KUNIT_CASE(short_lives_count),
	{ }
};

struct kunit_suite power_imc_attribution_suite = {
	.name = "power_imc_attribution", .init = attribution_test_init, .exit = attribution_test_exit,
	.test_cases = attribution_cases,
};
