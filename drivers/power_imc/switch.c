// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who runs: a sample is of the current task, so a ring is drained whenever its CPU goes
 * from one task to another, and when a task ends, since it has no number any more when it is
 * switched away from for the last time. perf tells no module of either; tracepoints do.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>

#include <pmu/compat.h>

#include "trace.h"

static DEFINE_MUTEX(power_imc_switch_mutex);
static atomic_t power_imc_switch_users = ATOMIC_INIT(0);
static bool power_imc_switch_registered; /* under power_imc_switch_mutex, as is what follows */
static struct tracepoint *power_imc_switch_tracepoint, *power_imc_exit_tracepoint;
static void (*power_imc_switch_probe)(int cpu);

/* The task that goes is still current; interrupts are off. */
static void power_imc_sched_switch(void *data, bool preempt, struct task_struct *prev,
				   struct task_struct *next, unsigned int prev_state)
{
	power_imc_switch_probe(smp_processor_id());
}

/* In the task that ends; newer kernels have more arguments. */
static void power_imc_sched_process_exit(void *data, struct task_struct *task)
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

static int power_imc_switch_register(void (*probe)(int cpu))
{
	int err;

	/* The compiler compares the arguments with the kernel's. */
	check_trace_callback_type_sched_switch(power_imc_sched_switch);
	if (!power_imc_switch_tracepoint || !power_imc_exit_tracepoint)
		for_each_kernel_tracepoint(power_imc_switch_match, NULL);
	if (!power_imc_switch_tracepoint || !power_imc_exit_tracepoint)
		return -EOPNOTSUPP;
	power_imc_switch_probe = probe;
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

/*
 * In a work item: who frees an event may hold a lock of perf's that hotplug takes, too, and
 * tracepoints are switched off with hotplug held off.
 */
static void power_imc_switch_idle(struct work_struct *work)
{
	mutex_lock(&power_imc_switch_mutex);
	if (power_imc_switch_registered && !atomic_read(&power_imc_switch_users)) {
		tracepoint_probe_unregister(power_imc_exit_tracepoint, power_imc_sched_process_exit,
					    NULL);
		tracepoint_probe_unregister(power_imc_switch_tracepoint, power_imc_sched_switch,
					    NULL);
		tracepoint_synchronize_unregister();
		power_imc_switch_registered = false;
	}
	mutex_unlock(&power_imc_switch_mutex);
}

static DECLARE_WORK(power_imc_switch_work, power_imc_switch_idle);

/**
 * power_imc_switch_watch() - have a function called when a CPU switches tasks, or one ends.
 * @probe: called on that CPU, interrupts off, while the old task is still current; the
 *	same for all users
 *
 * Context: may sleep; takes cpu_hotplug_lock.
 * Return: 0; -EOPNOTSUPP if the kernel has no such tracepoints; -ENOMEM.
 */
int power_imc_switch_watch(void (*probe)(int cpu))
{
	int err = 0;

	mutex_lock(&power_imc_switch_mutex);
	if (!power_imc_switch_registered)
		err = power_imc_switch_register(probe);
	if (!err) {
		power_imc_switch_registered = true;
		atomic_inc(&power_imc_switch_users);
	}
	mutex_unlock(&power_imc_switch_mutex);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_switch_watch);

/* Undo one power_imc_switch_watch(). After the last, calls end some time later. Any context. */
void power_imc_switch_unwatch(void)
{
	if (atomic_dec_and_test(&power_imc_switch_users))
		schedule_work(&power_imc_switch_work);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_switch_unwatch);

/* The module goes, and nobody watches: after this no call is under way any more. May sleep. */
void power_imc_switch_exit(void)
{
	flush_work(&power_imc_switch_work);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_switch_exit);
