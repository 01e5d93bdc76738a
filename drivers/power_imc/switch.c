// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who runs: a sample is of the current task, so a ring is drained whenever its CPU goes
 * from one task to another, and when a task ends, since it has no number any more when it is
 * switched away from for the last time. perf tells no module of either; tracepoints do.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/smp.h>
#include <linux/spinlock.h>
#include <linux/tracepoint.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>

#include <pmu/compat.h>

#include "trace.h"

/* Who opens an event waits so long for hotplug, which switching tracepoints takes part in. */
#define POWER_IMC_SWITCH_WAIT_MS	10000

static DEFINE_RAW_SPINLOCK(power_imc_switch_lock);
/* Under power_imc_switch_lock: */
static unsigned int power_imc_switch_users;
static bool power_imc_switch_on;
static int power_imc_switch_error;	/* since the last user came */
static DECLARE_WAIT_QUEUE_HEAD(power_imc_switch_wait);
static struct tracepoint *power_imc_switch_tracepoint, *power_imc_exit_tracepoint;
static void (*power_imc_switch_probe)(int cpu);

/* The task that goes is still current; interrupts are off. */
static void power_imc_sched_switch(void *data, PMU_SCHED_SWITCH_ARGS)
{
	power_imc_switch_probe(smp_processor_id());
}

/* In the task that ends. */
static void power_imc_sched_process_exit(void *data, PMU_SCHED_EXIT_ARGS)
{
	unsigned long flags;

	local_irq_save(flags);
	power_imc_switch_probe(smp_processor_id());
	local_irq_restore(flags);
}

static void power_imc_switch_match(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		power_imc_switch_tracepoint = tracepoint;
	else if (!strcmp(tracepoint->name, "sched_process_exit"))
		power_imc_exit_tracepoint = tracepoint;
}

static int power_imc_switch_register(void)
{
	int err;

	pmu_check_sched_probes(power_imc_sched_switch, power_imc_sched_process_exit);
	if (!power_imc_switch_tracepoint || !power_imc_exit_tracepoint)
		for_each_kernel_tracepoint(power_imc_switch_match, NULL);
	if (!power_imc_switch_tracepoint || !power_imc_exit_tracepoint)
		return -EOPNOTSUPP;
	err = tracepoint_probe_register(power_imc_switch_tracepoint, power_imc_sched_switch, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(power_imc_exit_tracepoint, power_imc_sched_process_exit,
					NULL);
	if (err)
		tracepoint_probe_unregister(power_imc_switch_tracepoint, power_imc_sched_switch,
					    NULL);
	return err;
}

static void power_imc_switch_unregister(void)
{
	tracepoint_probe_unregister(power_imc_exit_tracepoint, power_imc_sched_process_exit, NULL);
	tracepoint_probe_unregister(power_imc_switch_tracepoint, power_imc_sched_switch, NULL);
	tracepoint_synchronize_unregister();
}

/*
 * Switch tracepoints on if there are users, and off if there are none. In a work item, of which one
 * run at a time is under way, since tracepoints are switched with hotplug held off: who opens an
 * event must not wait for that for ever (core.h), and who frees one may hold a lock of perf's that
 * hotplug takes, too.
 */
static void power_imc_switch_adjust(struct work_struct *work)
{
	bool on, off;
	int err = 0;

	raw_spin_lock_irq(&power_imc_switch_lock);
	on = power_imc_switch_users && !power_imc_switch_on;
	off = !power_imc_switch_users && power_imc_switch_on;
	/* Whoever comes from here on waits for the next run. */
	if (off)
		power_imc_switch_on = false;
	raw_spin_unlock_irq(&power_imc_switch_lock);
	if (off)
		power_imc_switch_unregister();
	if (!on)
		return;
	err = power_imc_switch_register();
	raw_spin_lock_irq(&power_imc_switch_lock);
	power_imc_switch_on = !err;
	power_imc_switch_error = err;
	raw_spin_unlock_irq(&power_imc_switch_lock);
	wake_up_all(&power_imc_switch_wait);
}

static DECLARE_WORK(power_imc_switch_work, power_imc_switch_adjust);

/* 1 if switches are watched, 0 if they will be, or a negative errno. */
static int power_imc_switch_state(void)
{
	int state;

	raw_spin_lock_irq(&power_imc_switch_lock);
	state = power_imc_switch_on ? 1 : power_imc_switch_error;
	raw_spin_unlock_irq(&power_imc_switch_lock);
	return state;
}

/**
 * power_imc_switch_watch() - have a function called when a CPU switches tasks, or one ends.
 * @probe: called on that CPU, interrupts off, while the old task is still current; the
 *	same for all users
 *
 * Context: may sleep; waits for hotplug, but no longer than POWER_IMC_SWITCH_WAIT_MS, nor for who
 * is killed.
 * Return: 0; -EOPNOTSUPP if the kernel has no such tracepoints; -ENOMEM; -EAGAIN if hotplug took
 * too long; -EINTR if the task is killed.
 */
int power_imc_switch_watch(void (*probe)(int cpu))
{
	int state;
	long left;
	bool on;

	raw_spin_lock_irq(&power_imc_switch_lock);
	on = power_imc_switch_on;
	power_imc_switch_users++;
	power_imc_switch_error = 0;
	power_imc_switch_probe = probe;
	raw_spin_unlock_irq(&power_imc_switch_lock);
	if (on)
		return 0;
	queue_work(system_dfl_wq, &power_imc_switch_work);
	left = wait_event_killable_timeout(power_imc_switch_wait, power_imc_switch_state(),
					   msecs_to_jiffies(POWER_IMC_SWITCH_WAIT_MS));
	state = power_imc_switch_state();
	if (state > 0)
		return 0;
	power_imc_switch_unwatch();
	return state ?: left < 0 ? -EINTR : -EAGAIN;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_switch_watch);

/* Undo one power_imc_switch_watch(). After the last, calls end some time later. Any context. */
void power_imc_switch_unwatch(void)
{
	unsigned long flags;
	bool last;

	raw_spin_lock_irqsave(&power_imc_switch_lock, flags);
	last = !--power_imc_switch_users;
	raw_spin_unlock_irqrestore(&power_imc_switch_lock, flags);
	if (last)
		queue_work(system_dfl_wq, &power_imc_switch_work);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_switch_unwatch);

/* The module goes, and nobody watches: after this no call is under way any more. May sleep. */
void power_imc_switch_exit(void)
{
	flush_work(&power_imc_switch_work);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_switch_exit);
