/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loans: what the suite takes of perf that perf does not offer to drivers. Documentation/design.md
 * has a row for each function here, with the test that notices if perf has changed.
 */
#ifndef PMU_LOANS_H
#define PMU_LOANS_H

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/smp.h>

#include <pmu/compat.h>

/**
 * pmu_software_event() - an event of the kernel's own that counts nothing.
 * @config: PERF_COUNT_SW_...
 * @cpu: the CPU; if it goes offline meanwhile, the event is on that of the caller
 *
 * It is on a CPU, since perf's first event of a task patches a static key of the scheduler.
 *
 * Context: may sleep.
 * Return: the event, or what perf_event_create_kernel_counter() returned.
 */
static inline struct perf_event *pmu_software_event(u64 config, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.config = config,
		.size = sizeof(attr),
		.disabled = 1,
	};
	struct perf_event *event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);

	while (event == ERR_PTR(-ENODEV) && cpu != raw_smp_processor_id()) {
		cpu = raw_smp_processor_id();
		event = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
	}
	return event;
}

#ifndef pmu_allow_cpu
/**
 * pmu_allow_cpu() - may the caller open an event on a CPU?
 * @locked: is the mutex of a CPU's context held, as for a sibling? Then no event can be opened
 *	here, and the right is CAP_PERFMON, whatever perf_event_paranoid says
 *
 * perf exports this check from 7.x on, and makes it for every event on a CPU: open one and see. On
 * PREEMPT_RT, to free that is to wait for RCU, and so for a CPU that a real-time task has for
 * itself. There, CAP_PERFMON is enough: perf asks security modules later.
 *
 * Context: may sleep.
 * Return: 0 or a negative errno.
 */
static inline int pmu_allow_cpu(bool locked)
{
	struct perf_event *event;

	if (locked)
		return perfmon_capable() ? 0 : -EACCES;
	if (IS_ENABLED(CONFIG_PREEMPT_RT) && ns_capable_noaudit(&init_user_ns, CAP_PERFMON))
		return 0;
	event = pmu_software_event(PERF_COUNT_SW_CPU_CLOCK, raw_smp_processor_id());
	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}
#endif

/* Is an event, and so its group, in a context, whose mutex is held? */
static inline bool pmu_is_in_context(const struct perf_event *event,
				     const struct perf_event_context *ctx)
{
	return READ_ONCE(event->ctx) == ctx && event->attach_state & PERF_ATTACH_CONTEXT;
}

/* How many of a PMU's events are open on a CPU and belong to no task? This may change meanwhile. */
static inline int pmu_context_events(struct pmu *pmu, int cpu)
{
	return READ_ONCE(pmu_context_of(pmu, cpu)->nr_events);
}

/*
 * Does anything use the contexts of a PMU, whose events are not of tasks? The reference of @event,
 * which perf destroys, does not count; it may be NULL.
 *
 * perf's own software events join the context of the PMU whose event they are in a group with, and
 * use it until they are freed: also when that event is closed, or the CPU is offline.
 */
static inline bool pmu_contexts_are_lent(struct pmu *pmu, const struct perf_event *event)
{
	int cpu, refs = 0;

	for_each_possible_cpu(cpu)
		refs += pmu_context_ref_count(pmu_context_of(pmu, cpu));
	return refs > (event && pmu_event_context(event));
}

/*
 * Take a reference on an event whose destroy hook has not returned. Returns false if there is none
 * any more. On some kernels perf expects no others on an event that was inherited.
 */
static inline bool pmu_event_get(struct perf_event *event)
{
	return atomic_long_inc_not_zero(&event->refcount);
}

/**
 * pmu_event_put_in_error() - put an event that is off into error state, and drop a reference on it.
 * @event: an event on a CPU, which may move to another; perf frees it with the last reference
 *
 * A close takes the event out of its context before it drops its reference. So the caller's is not
 * the last one if the event is in its context. Otherwise it may be, and is dropped by a second
 * close, since perf exports nothing else.
 *
 * If somebody has just enabled the event, its driver refuses it when perf adds it.
 *
 * Context: may sleep.
 */
static inline void pmu_event_put_in_error(struct perf_event *event)
{
	struct perf_event_context *ctx;
	bool open;

	for (ctx = READ_ONCE(event->ctx); ; ctx = READ_ONCE(event->ctx)) {
		mutex_lock(&ctx->mutex);
		if (READ_ONCE(event->ctx) == ctx)
			break;
		mutex_unlock(&ctx->mutex);
	}
	open = pmu_is_in_context(event, ctx);
	raw_spin_lock_irq(&ctx->lock);
	if (event->state == PERF_EVENT_STATE_OFF)
		WRITE_ONCE(event->state, PERF_EVENT_STATE_ERROR);
	raw_spin_unlock_irq(&ctx->lock);
	if (open)
		atomic_long_dec(&event->refcount);
	mutex_unlock(&ctx->mutex);
	if (!open && !atomic_long_add_unless(&event->refcount, -1, 1))
		perf_event_release_kernel(event);
}

/*
 * In event_init: have perf make a sample whenever it is told of an overflow. It would adapt a
 * frequency's period, and restart the event; with a period it would hold back samples. Those who
 * read the event's attributes see @period.
 */
static inline void pmu_bypass_period(struct perf_event *event, u64 period)
{
	event->attr.sample_period = period;
	event->attr.freq = 0;
	event->hw.sample_period = 1;
	event->hw.last_period = 1;
	local64_set(&event->hw.period_left, 1);
}

/*
 * In event_init: have @output called with each sample; NULL if the event has inherited that. @list
 * is an empty one, for the event alone: perf_tp_event() expects it, and perf uses an event's node
 * only for tracepoints and breakpoints. Returns the function that writes the sample.
 */
static inline perf_overflow_handler_t pmu_swap_output(struct perf_event *event,
						      perf_overflow_handler_t output,
						      struct hlist_head *list)
{
	perf_overflow_handler_t had = event->overflow_handler;

	hlist_add_head(&event->hlist_entry, list);
	if (output)
		event->overflow_handler = output;
	return had;
}

/*
 * Have a task's context, if there is one, refer to perf's own PMU instead of one that may go.
 *
 * Before 6.2, a task has one context for the events of all PMUs like this one. It refers to the PMU
 * whose event it was made for, also when that is closed, until 5.14 for good, and then until the
 * task is scheduled with it. perf looks at the PMU when it schedules or ends the task.
 */
static inline void pmu_leave_context(struct pmu *pmu, struct perf_event_context *ctx)
{
#ifdef HAVE_TASK_CONTEXTS
	struct pmu *own;

	if (!ctx || !pmu_contexts_are_shared(pmu))
		return;
	own = pmu_context_pmu(pmu_context_of(pmu, cpumask_first(cpu_possible_mask)));
	raw_spin_lock_irq(&ctx->lock);
	if (pmu_context_pmu(ctx) == pmu)
		pmu_context_pmu(ctx) = own;
	raw_spin_unlock_irq(&ctx->lock);
#endif
}

/*
 * The same for all tasks. Not found are those that have ended, whose contexts an event that is
 * closed has to leave, and those forked meanwhile from one that has an event of perf's own in such
 * a context.
 */
static inline void pmu_leave_tasks(struct pmu *pmu)
{
#ifdef HAVE_TASK_CONTEXTS
	struct task_struct *process, *task;

	if (!pmu_contexts_are_shared(pmu))
		return;
	rcu_read_lock();
	for_each_process_thread(process, task)
		pmu_leave_context(pmu, pmu_task_context(pmu, task));
	rcu_read_unlock();
#endif
}

/**
 * pmu_unregister() - unregister a PMU whose events are all closed.
 * @pmu: the PMU
 *
 * perf (7.3, too) frees a PMU's contexts without cancelling their multiplexing timers, which run on
 * after the last event, and which a write to perf_event_mux_interval_ms starts. If the memory is
 * reused before a timer expires, the CPU hangs. perf starts no timer that it believes to be active,
 * so mark each after cancelling it. Its handler may clear the mark: repeat until it is idle.
 *
 * Context: may sleep. No event can be opened any more.
 */
static inline void pmu_unregister(struct pmu *pmu)
{
	bool again;
	int cpu;

	pmu_leave_tasks(pmu);
	for_each_possible_cpu(cpu) {
		typeof(pmu_cpu_context_of(pmu, cpu)) context = pmu_cpu_context_of(pmu, cpu);

		/* A software PMU's timer is not set up. */
		if (!context || !context->hrtimer.base || pmu_contexts_are_shared(pmu))
			continue;
		do {
			hrtimer_cancel(&context->hrtimer);
			raw_spin_lock_irq(&context->hrtimer_lock);
			context->hrtimer_active = 1;
			again = hrtimer_active(&context->hrtimer);
			raw_spin_unlock_irq(&context->hrtimer_lock);
		} while (again);
	}
	perf_pmu_unregister(pmu);
}

#endif /* PMU_LOANS_H */
