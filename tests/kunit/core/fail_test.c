// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events whose counter can no longer be read: they fail for good, whatever a user does meanwhile.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include <core/core.h>

#include "suites.h"
#include "memory.h"

static struct memory *memory;
static struct memory_box *box;

static int fail_test_init(struct kunit *test)
{
	memory = memory_create(test, PMU_SCOPE_SYSTEM);
	box = &memory->boxes[0];
	memory_plug(test, memory);
	return 0;
}

static void fail_test_exit(struct kunit *test)
{
	memory_destroy(test, memory);
}

/* An event that has failed does not count again, though it is enabled and the device answers. */
static void fails_for_good(struct kunit *test)
{
	struct perf_event *event = memory_open(0, NULL);
	unsigned int reads;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	box->read_error = -ENODEV;
	perf_open_count(event);
	KUNIT_ASSERT_TRUE(test, perf_open_fails_soon(event));
	box->read_error = 0;
	reads = box->reads;
	for (int i = 0; i < 3; i++) {
		perf_event_enable(event);
		KUNIT_EXPECT_TRUE(test, perf_open_fails_soon(event));
	}
	KUNIT_EXPECT_EQ(test, box->reads, reads);
	perf_event_release_kernel(event);
}

/* A user who enables a failing event all the time neither brings it back nor breaks anything. */
static int enable_all_the_time(void *event)
{
	while (!kthread_should_stop()) {
		perf_event_enable(event);
		cond_resched();
	}
	return 0;
}

static void fails_while_it_is_enabled(struct kunit *test)
{
	bool failed = true;

	for (int i = 0; i < 20 && failed; i++) {
		struct perf_event *event = memory_open(0, NULL);
		struct task_struct *other;

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
		other = kthread_run(enable_all_the_time, event, "pmu_core_enable");
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
		box->read_error = -ENODEV;
		perf_open_count(event);
		msleep(20);
		box->read_error = 0;
		kthread_stop(other);
		failed = perf_open_fails_soon(event);
		KUNIT_EXPECT_TRUE_MSG(test, failed, "round %d", i);
		perf_event_release_kernel(event);
	}
}

/* An event that is closed, and somebody who then holds the lock of its context for a while. */
static struct {
	struct perf_event *event;
	struct mutex *lock;		/* of its context */
	struct completion closed, enough;
} last;

static void close_last(struct work_struct *work)
{
	perf_event_release_kernel(last.event);
	complete(&last.closed);
}

static void hold_last(struct work_struct *work)
{
	mutex_lock(last.lock);
	wait_for_completion(&last.enough);
	mutex_unlock(last.lock);
}

static DECLARE_WORK(closing_last, close_last);
static DECLARE_WORK(holding_last, hold_last);

/* Do so many wait for the lock? They get it in the order in which they came. */
static bool await_last(unsigned int waiters)
{
	return perf_open_soon(list_count_nodes(&last.lock->wait_list) == waiters);
}

/*
 * An event fails that is just being closed. Who closes it does not wait for the lock of its context,
 * since perf may hold a user's mmap_lock then, for which a reader with that lock may wait.
 */
static void fails_while_it_is_closed(struct kunit *test)
{
	int users = module_refcount(THIS_MODULE);

	last.event = memory_open(0, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, last.event);
	last.lock = &last.event->ctx->mutex;
	init_completion(&last.closed);
	init_completion(&last.enough);
	mutex_lock(last.lock);
	queue_work(system_unbound_wq, &closing_last);
	KUNIT_EXPECT_TRUE(test, await_last(1));
	queue_work(system_unbound_wq, &holding_last);
	KUNIT_EXPECT_TRUE(test, await_last(2));
	box->read_error = -ENODEV;
	smp_call_function_single(last.event->cpu, perf_open_read_here, last.event, 1);
	KUNIT_EXPECT_TRUE(test, await_last(3));
	mutex_unlock(last.lock);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&last.closed, 10 * HZ), 0UL);
	/* perf would free it after a grace period. */
	rcu_barrier();
	complete(&last.enough);
	flush_work(&closing_last);
	flush_work(&holding_last);
	pmu_fail_flush();
	KUNIT_EXPECT_EQ(test, module_refcount(THIS_MODULE), users);
	box->read_error = 0;
}

static void read_under_a_lock(void *event)
{
	static DEFINE_RAW_SPINLOCK(lock);
	unsigned long flags = pmu_quiet_lock(&lock);

	perf_open_read_here(event);
	pmu_quiet_unlock(&lock, flags);
}

/* A probe or tracepoint that fires under the lock of the list of failing events reads no event. */
static void nobody_reads_under_the_lock(struct kunit *test)
{
	struct perf_event *event = memory_open(0, NULL);
	unsigned int reads;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	reads = box->reads;
	smp_call_function_single(event->cpu, read_under_a_lock, event, 1);
	KUNIT_EXPECT_EQ(test, box->reads, reads);
	smp_call_function_single(event->cpu, perf_open_read_here, event, 1);
	KUNIT_EXPECT_EQ(test, box->reads, reads + 1);
	perf_event_release_kernel(event);
}

static struct kunit_case fail_cases[] = {
	KUNIT_CASE(nobody_reads_under_the_lock),
	KUNIT_CASE(fails_for_good),
	KUNIT_CASE_SLOW(fails_while_it_is_enabled),
	KUNIT_CASE_SLOW(fails_while_it_is_closed),
	{ }
};

struct kunit_suite pmu_fail_suite = {
	.name = "pmu_core_fail",
	.init = fail_test_init,
	.exit = fail_test_exit,
	.test_cases = fail_cases,
};
