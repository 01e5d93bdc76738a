// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who runs: a sample is of the current task, so a ring that is drained for a whole CPU is
 * drained whenever the CPU goes from one task to another. perf does that for the events
 * of tasks. It tells no module of it for those of a CPU; the tracepoint does.
 */
#include <linux/errno.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>

#include "trace.h"

static DEFINE_MUTEX(imc_switch_mutex);
static unsigned int imc_switch_users;
static struct tracepoint *imc_switch_tracepoint;
static void (*imc_switch_probe)(int cpu);

/* The task that goes is still current; interrupts are off. */
static void imc_sched_switch(void *data, bool preempt, struct task_struct *prev,
			     struct task_struct *next, unsigned int prev_state)
{
	imc_switch_probe(smp_processor_id());
}

static void imc_switch_match(struct tracepoint *tracepoint, void *data)
{
	if (!strcmp(tracepoint->name, "sched_switch"))
		imc_switch_tracepoint = tracepoint;
}

static int imc_switch_register(void (*probe)(int cpu))
{
	/* The compiler compares the arguments with the kernel's. */
	check_trace_callback_type_sched_switch(imc_sched_switch);
	if (!imc_switch_tracepoint)
		for_each_kernel_tracepoint(imc_switch_match, NULL);
	if (!imc_switch_tracepoint)
		return -EOPNOTSUPP;
	imc_switch_probe = probe;
	return tracepoint_probe_register(imc_switch_tracepoint, imc_sched_switch, NULL);
}

/**
 * imc_switch_watch() - have a function called when a CPU switches tasks.
 * @probe: called on that CPU, interrupts off, while the old task is still current; the
 *	same for all users
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP if the kernel has no such tracepoint; -ENOMEM.
 */
int imc_switch_watch(void (*probe)(int cpu))
{
	int err = 0;

	mutex_lock(&imc_switch_mutex);
	if (!imc_switch_users)
		err = imc_switch_register(probe);
	if (!err)
		imc_switch_users++;
	mutex_unlock(&imc_switch_mutex);
	return err;
}

/* Undo one imc_switch_watch(). After the last, no call is under way any more. May sleep. */
void imc_switch_unwatch(void)
{
	mutex_lock(&imc_switch_mutex);
	if (!--imc_switch_users) {
		tracepoint_probe_unregister(imc_switch_tracepoint, imc_sched_switch, NULL);
		tracepoint_synchronize_unregister();
	}
	mutex_unlock(&imc_switch_mutex);
}
