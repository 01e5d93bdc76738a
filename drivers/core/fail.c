// SPDX-License-Identifier: GPL-2.0-only
/* An event whose device is gone enters error state. */
#include <pmu/loans.h>

#include "core.h"

/*
 * The device is gone: the event never counts again, even if the device comes back. An event on a
 * CPU enters error state, from a context that may call perf_event_disable(). An event of a task
 * does not: when the task exits, perf holds the context's lock, and pmu_event_destroy() would wait
 * there for the work item, which needs the same lock.
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
