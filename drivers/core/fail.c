// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event whose device has gone goes to error state.
 */
#include <pmu/loans.h>

#include "core.h"

/*
 * The device is gone: the event counts no more, whatever becomes of the device. A CPU's event
 * goes to error state, from where perf_event_disable() may be called. A task's does not: perf
 * holds its context's lock when the task exits, and would wait there for the work item that
 * wants the same lock.
 */
void pmu_event_fail(struct pmu_event *ev)
{
	ev->failed = true;
	/* A work item cannot be queued here: perf's context lock nests inside the scheduler's. */
	if (!pmu_event_is_task(ev->event))
		irq_work_queue(&ev->fail_irq);
}

static void pmu_event_fail_irq(struct irq_work *work)
{
	queue_work(system_dfl_wq, &container_of(work, struct pmu_event, fail_irq)->fail_work);
}

/*
 * After this a read of the event returns end of file, as for a pinned event that perf cannot
 * schedule. If a user enables the event before, or it moves to another CPU, add() refuses it and
 * queues this work again.
 */
static void pmu_event_fail_work(struct work_struct *work)
{
	struct perf_event *event = container_of(work, struct pmu_event, fail_work)->event;

	perf_event_disable(event);
	pmu_swap_state(event, PERF_EVENT_STATE_OFF, PERF_EVENT_STATE_ERROR);
}

void pmu_event_init_failing(struct pmu_event *ev)
{
	init_irq_work(&ev->fail_irq, pmu_event_fail_irq);
	INIT_WORK(&ev->fail_work, pmu_event_fail_work);
}
