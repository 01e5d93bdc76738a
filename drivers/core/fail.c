// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event whose device is gone enters error state.
 *
 * This needs the event's ctx->mutex, which others may hold while they wait for a user's mmap_lock.
 * perf may hold that lock when it frees an event, so what frees the event must not wait for this.
 * Instead, the work item has a reference on the event.
 */
#include <linux/export.h>
#include <linux/workqueue.h>

#include <pmu/loans.h>

#include "core.h"

/* Of our own, so that no work item is left when the module goes. */
static struct workqueue_struct *pmu_fail_wq;

/*
 * The device is gone: the event never counts again, even if the device comes back. An event on a
 * CPU enters error state, from a context that may call perf_event_disable(). An event of a task
 * does not: on some kernels perf expects that nobody else has a reference on an inherited one.
 */
void pmu_event_fail(struct pmu_event *ev)
{
	ev->failed = true;
	/* A work item cannot be queued here: perf's context lock nests inside the scheduler's. */
	if (!pmu_event_is_task(ev->event))
		irq_work_queue(&ev->fail_irq);
}

/* If the work item has not begun, or perf is about to free the event, nothing is to be done. */
static void pmu_event_fail_irq(struct irq_work *work)
{
	struct pmu_event *ev = container_of(work, struct pmu_event, fail_irq);

	if (!xchg(&ev->failing, true) && pmu_event_get(ev->event))
		queue_work(pmu_fail_wq, &ev->fail_work);
}

/*
 * After this a read of the event returns end of file, as for a pinned event that perf cannot
 * schedule. If a user enables the event before, or it moves to another CPU, add() refuses it and
 * queues this work again.
 */
static void pmu_event_fail_work(struct work_struct *work)
{
	struct pmu_event *ev = container_of(work, struct pmu_event, fail_work);

	/* First, so that a failure from here on queues this again. */
	xchg(&ev->failing, false);
	perf_event_disable(ev->event);
	pmu_event_put_failed(ev->event);
}

void pmu_event_init_failing(struct pmu_event *ev)
{
	init_irq_work(&ev->fail_irq, pmu_event_fail_irq);
	INIT_WORK(&ev->fail_work, pmu_event_fail_work);
}

/* perf frees the event: nobody has a reference, and nothing makes it fail any more. May sleep. */
void pmu_event_end_failing(struct pmu_event *ev)
{
	if (ev->failed)
		irq_work_sync(&ev->fail_irq);
}

int pmu_fail_init(void)
{
	pmu_fail_wq = alloc_workqueue("pmu_core_fail", WQ_UNBOUND, 0);
	return pmu_fail_wq ? 0 : -ENOMEM;
}

/* All PMUs are gone. */
void pmu_fail_exit(void)
{
	destroy_workqueue(pmu_fail_wq);
}

#if IS_ENABLED(CONFIG_PMU_SUITE_KUNIT_TEST)
/* After this, perf has freed events that failed while they were closed. */
void pmu_fail_flush(void)
{
	flush_workqueue(pmu_fail_wq);
}
EXPORT_SYMBOL_IF_KUNIT(pmu_fail_flush);
#endif
