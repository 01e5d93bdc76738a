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

/* If the work item is under way, or perf is about to free the event, nothing is to be done. */
static void pmu_event_fail_irq(struct irq_work *work)
{
	struct pmu_event *ev = container_of(work, struct pmu_event, fail_irq);

	if (!xchg(&ev->failing, true) && pmu_event_get(ev->event))
		queue_work(pmu_fail_wq, &ev->fail_work);
}

/* Put the event into error state. Returns false if somebody has just enabled it. */
static bool pmu_event_finish_failing(struct pmu_event *ev)
{
	struct perf_event *event = ev->event;
	struct perf_event_context *ctx = pmu_event_lock(event);

	if (pmu_is_in_context(event, ctx) && READ_ONCE(event->state) > PERF_EVENT_STATE_OFF) {
		mutex_unlock(&ctx->mutex);
		return false;
	}
	pmu_event_to_error(event);
	/* To fail again, the event first has to be enabled, which needs the mutex. */
	xchg(&ev->failing, false);
	pmu_event_put_locked(event, ctx);
	return true;
}

/*
 * After this a read of the event returns end of file, as for a pinned event that perf cannot
 * schedule. If a user enables the event later, or it moves to another CPU, add() refuses it and
 * queues this work again.
 */
static void pmu_event_fail_work(struct work_struct *work)
{
	struct pmu_event *ev = container_of(work, struct pmu_event, fail_work);

	do {
		perf_event_disable(ev->event);
	} while (!pmu_event_finish_failing(ev));
}

void pmu_event_init_failing(struct pmu_event *ev)
{
	/* A hard one: on PREEMPT_RT those who wait for another wait for RCU. */
	ev->fail_irq = IRQ_WORK_INIT_HARD(pmu_event_fail_irq);
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
