// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watching switches takes as long as it takes to switch tracepoints, which may be as long as a CPU
 * comes or goes. Whoever opens an event waits for that, but not without end.
 */
#include <kunit/test.h>
#include <linux/atomic.h>
#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/tracepoint.h>

#include "suites.h"

/* Far longer than an open may wait. */
#define HELD_MS		60000

/*
 * Somebody else switches a tracepoint, and is in the middle of it until told to go on: then nobody
 * can switch one, on kernels without static keys, too, where that does not wait for hotplug.
 */
static struct {
	struct completion under_way, go_on, gone;
} held;

static int held_enable(void)
{
	complete(&held.under_way);
	wait_for_completion_timeout(&held.go_on, msecs_to_jiffies(HELD_MS));
	return -ECANCELED;
}

#ifdef HAVE_TRACEPOINT_EXT
static struct tracepoint_ext held_ext = { .regfunc = held_enable };
static struct tracepoint held_tracepoint = { .name = "power_imc_held", .ext = &held_ext };
#else
static struct tracepoint held_tracepoint = { .name = "power_imc_held", .regfunc = held_enable };
#endif

static void held_probe(void *data)
{
}

static int held_thread(void *unused)
{
	tracepoint_probe_register(&held_tracepoint, held_probe, NULL);
	kthread_complete_and_exit(&held.gone, 0);
}

static void hold_tracepoints(struct kunit *test)
{
	init_completion(&held.under_way);
	init_completion(&held.go_on);
	init_completion(&held.gone);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, kthread_run(held_thread, NULL, "held"));
	wait_for_completion(&held.under_way);
}

static void release_tracepoints(void)
{
	complete(&held.go_on);
	wait_for_completion(&held.gone);
}

static void watched(int cpu)
{
}

/* The refused event has left nothing behind. */
static void expect_watched_afterwards(struct kunit *test)
{
	int err = power_imc_session_open(POWER_IMC_TYPE_TRACE, watched);

	KUNIT_EXPECT_EQ(test, err, 0);
	if (!err)
		power_imc_session_close();
}

static void no_wait_without_end(struct kunit *test)
{
	int err;

	hold_tracepoints(test);
	err = power_imc_session_open(POWER_IMC_TYPE_TRACE, watched);
	release_tracepoints();
	KUNIT_EXPECT_EQ(test, err, -EAGAIN);
	if (!err)
		power_imc_session_close();
	expect_watched_afterwards(test);
}

/* A task that waits, and may be killed. */
static struct {
	struct completion ready, done;
	int err;
} waiter;

static int waiter_thread(void *unused)
{
	allow_signal(SIGKILL);
	complete(&waiter.ready);
	waiter.err = power_imc_session_open(POWER_IMC_TYPE_TRACE, watched);
	kthread_complete_and_exit(&waiter.done, 0);
}

static void no_wait_for_who_is_killed(struct kunit *test)
{
	struct task_struct *task;

	init_completion(&waiter.ready);
	init_completion(&waiter.done);
	task = kthread_create(waiter_thread, NULL, "waiter");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	get_task_struct(task);
	hold_tracepoints(test);
	wake_up_process(task);
	wait_for_completion(&waiter.ready);
	send_sig(SIGKILL, task, 1);
	wait_for_completion(&waiter.done);
	put_task_struct(task);
	release_tracepoints();
	KUNIT_EXPECT_EQ(test, waiter.err, -EINTR);
	if (!waiter.err)
		power_imc_session_close();
	expect_watched_afterwards(test);
}

static atomic_t calls;

static void called(int cpu)
{
	atomic_inc(&calls);
}

/* For this time no task switch is reported, although this task sleeps. */
static bool none_in_ms(unsigned int ms)
{
	int before = atomic_read(&calls);

	msleep(ms);
	return atomic_read(&calls) == before;
}

/* Events of another kind need no switches, so nothing is left of the traces before them. */
static void no_switches_for_another_kind(struct kunit *test)
{
	bool none = false;

	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_TRACE, called), 0);
	KUNIT_EXPECT_FALSE(test, none_in_ms(100));
	power_imc_session_close();
	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_CORE, NULL), 0);
	for (unsigned int i = 0; i < 50 && !none; i++)
		none = none_in_ms(100);
	KUNIT_EXPECT_TRUE(test, none);
	power_imc_session_close();
}

static void switch_test_exit(struct kunit *test)
{
	power_imc_session_end();
}

static struct kunit_case switch_cases[] = {
	KUNIT_CASE(no_wait_without_end),
	KUNIT_CASE(no_wait_for_who_is_killed),
	KUNIT_CASE(no_switches_for_another_kind),
	{ }
};

struct kunit_suite power_imc_switch_suite = {
	.name = "power_imc_switch", .exit = switch_test_exit, .test_cases = switch_cases,
};
