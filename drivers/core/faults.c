// SPDX-License-Identifier: GPL-2.0-only
/*
 * What perf leaves to drivers although it concerns them all, until it is mended there (rule 7 of
 * design.md).
 *
 * An event whose device is gone enters error state. (Since 6.15, perf detaches the events of a PMU
 * that is unregistered, but not those of one device of several.) This needs the event's ctx->mutex,
 * for which what frees the event must not wait. So the work item has a reference on the event.
 *
 * A PMU and its driver's module are kept as long as perf uses them: while events are open, and
 * while a software event, which has no reference on the module, uses the context of a PMU with one
 * of whose events it was in a group. For events of tasks perf does not do this.
 */
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <pmu/loans.h>

#include "core.h"

static DEFINE_RAW_SPINLOCK(pmu_failing_lock);
static LIST_HEAD(pmu_failing);

/*
 * After this a read of the event returns end of file, as for a pinned event that perf cannot
 * schedule. If a user enables the event later, or it moves to another CPU, add() refuses it and
 * fails it again.
 */
static void pmu_fail_work_fn(struct work_struct *work)
{
	struct perf_event *event;
	struct pmu_event *ev;
	unsigned long flags;

	do {
		event = NULL;
		flags = pmu_quiet_lock(&pmu_failing_lock);
		ev = list_first_entry_or_null(&pmu_failing, struct pmu_event, failing);
		if (ev)
			list_del_init(&ev->failing);
		/* If perf is about to free the event, nothing is to be done. */
		if (ev && pmu_event_get(ev->event))
			event = ev->event;
		pmu_quiet_unlock(&pmu_failing_lock, flags);
		if (event) {
			perf_event_disable(event);
			pmu_event_put_in_error(event);
		}
	} while (ev);
}

static DECLARE_WORK(pmu_fail_work, pmu_fail_work_fn);

static void pmu_fail_irq_fn(struct irq_work *irq)
{
	queue_work(system_dfl_wq, &pmu_fail_work);
}

/* A work item cannot be queued where an event fails: a context's lock nests in the scheduler's. */
static struct irq_work pmu_fail_irq = IRQ_WORK_INIT_HARD(pmu_fail_irq_fn);

/*
 * The device is gone: the event never counts again, even if the device comes back. An event on a
 * CPU enters error state, from a context that may call perf_event_disable(). An event of a task
 * does not: on some kernels perf expects that nobody else has a reference on an inherited one.
 */
void pmu_event_fail(struct pmu_event *ev)
{
	unsigned long flags;

	/* Who has the lock may have been interrupted. The next read fails the event. */
	if (in_nmi())
		return;
	ev->failed = true;
	if (pmu_event_is_task(ev->event))
		return;
	flags = pmu_quiet_lock(&pmu_failing_lock);
	if (list_empty(&ev->failing))
		list_add_tail(&ev->failing, &pmu_failing);
	pmu_quiet_unlock(&pmu_failing_lock, flags);
	irq_work_queue(&pmu_fail_irq);
}

/* perf frees the event: nothing makes it fail any more. */
void pmu_event_end_failing(struct pmu_event *ev)
{
	unsigned long flags;

	if (!ev->failed)
		return;
	flags = pmu_quiet_lock(&pmu_failing_lock);
	list_del_init(&ev->failing);
	pmu_quiet_unlock(&pmu_failing_lock, flags);
}

/* When this returns, perf has freed events that failed while they were closed. */
VISIBLE_IF_KUNIT void pmu_fail_flush(void)
{
	irq_work_sync(&pmu_fail_irq);
	flush_work(&pmu_fail_work);
}
EXPORT_SYMBOL_IF_KUNIT(pmu_fail_flush);

/* Held while a PMU is registered with perf or unregistered. core.h has the order of all locks. */
DEFINE_MUTEX(pmu_register_mutex);

/* PMUs that are unregistered and not freed yet. Under pmu_register_mutex. */
static LIST_HEAD(pmu_devs_gone);

static void pmu_keep_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(pmu_keep_work, pmu_keep_work_fn);

/* Jiffies until the next look: few at first, since most programs close all of a group at once. */
static unsigned long pmu_keep_delay;

/*
 * Does anything use the PMU but the event @closed? An event that moves may be in no context. Under
 * pmu_boxes_mutex no move begins. A task's context refers to the PMU until perf has freed the
 * event, which only the module's references show.
 */
static bool pmu_dev_is_lent(struct pmu_dev *pd, const struct perf_event *closed)
{
	lockdep_assert_held(&pmu_boxes_mutex);
	if (pd->desc->tasks)
		return module_refcount(pd->desc->owner) > 0;
	return pd->moving || pmu_contexts_are_lent(&pd->pmu, closed);
}

static void pmu_look_after(unsigned long delay)
{
	lockdep_assert_held(&pmu_boxes_mutex);
	/* Put off no look that comes sooner, or opening events in a loop might prevent it. */
	if (delayed_work_pending(&pmu_keep_work) && pmu_keep_delay <= delay)
		return;
	pmu_keep_delay = delay;
	mod_delayed_work(system_dfl_wq, &pmu_keep_work, delay);
}

/*
 * @event of the PMU is destroyed, and still has its references on the module and its context; or it
 * is refused, and has no context. Events that are closed at the same time may be about to drop
 * theirs, so the module may be kept until the next look. May sleep, and waits for nobody.
 */
void pmu_keep(struct pmu_dev *pd, const struct perf_event *event)
{
	/* While others of ours are open, they keep the module. */
	if (atomic_add_unless(&pd->events, -1, 1))
		return;
	mutex_lock(&pmu_boxes_mutex);
	if (!pd->kept && !pd->desc->tasks && pmu_dev_is_lent(pd, event)) {
		__module_get(pd->desc->owner);
		pd->kept = true;
		pmu_look_after(1);
	}
	if (list_empty(&pd->boxes))
		pmu_look_after(1);
	atomic_dec(&pd->events);
	mutex_unlock(&pmu_boxes_mutex);
}

/* Move a PMU that is of no use any more to @unused. Returns whether to look at the PMU again. */
static bool pmu_dev_let_go(struct pmu_dev *pd, struct list_head *unused)
{
	bool open = atomic_read(&pd->events), lent = !open && pmu_dev_is_lent(pd, NULL);
	bool boxless = list_empty(&pd->boxes);

	if (pd->kept && !lent) {
		pd->kept = false;
		module_put(pd->desc->owner);
	}
	if (boxless && !open && !lent)
		list_move(&pd->node, unused);
	return lent && (pd->kept || boxless);
}

void pmu_dev_free(struct pmu_dev *pd)
{
	if (pd->attrs)
		pmu_attrs_free(pd->attrs);
	free_percpu(pd->here);
	kfree(pd);
}

/*
 * Unregister the PMUs on a list. No open finds them. The last thing that perf does with an event is
 * to read its pmu->module and to put that module. So a PMU is freed when nobody uses its module, or
 * when the module @goes.
 */
static void pmu_devs_unregister(struct list_head *unused, const struct module *goes)
{
	struct pmu_dev *pd, *next;

	list_for_each_entry(pd, unused, node)
		pmu_unregister(&pd->pmu);
	list_splice(unused, &pmu_devs_gone);
	list_for_each_entry_safe(pd, next, &pmu_devs_gone, node) {
		if (pd->desc->owner != goes && module_refcount(pd->desc->owner) > 0)
			continue;
		list_del(&pd->node);
		pmu_dev_free(pd);
	}
}

/*
 * Let modules go that were kept, and unregister PMUs without a box, once nothing uses them. If
 * something does, look again after @delay. Called with pmu_register_mutex and no other lock: perf
 * may take locks of hotplug.
 */
void pmu_devs_let_go(unsigned long delay)
{
	struct pmu_dev *pd, *next;
	bool again = false;
	LIST_HEAD(unused);

	lockdep_assert_held(&pmu_register_mutex);
	pmu_devs_lock();
	list_for_each_entry_safe(pd, next, &pmu_devs, node)
		again |= pmu_dev_let_go(pd, &unused);
	if (again)
		pmu_look_after(delay);
	pmu_devs_unlock();
	pmu_devs_unregister(&unused, NULL);
}

/**
 * pmu_unregister_all() - unregister what is left of a driver's PMUs.
 * @owner: the driver's module
 *
 * Called after its devices are unbound, from the driver's module exit, where no event is open any
 * more, and from a module init that fails. PMUs stay behind if something used them, or the module,
 * when their last box went.
 *
 * Context: module init or exit, may sleep.
 */
void pmu_unregister_all(struct module *owner)
{
	struct pmu_dev *pd, *next;
	LIST_HEAD(left);

	mutex_lock(&pmu_register_mutex);
	pmu_devs_lock();
	list_for_each_entry_safe(pd, next, &pmu_devs, node)
		if (pd->desc->owner == owner)
			list_move(&pd->node, &left);
	pmu_devs_unlock();
	pmu_devs_unregister(&left, owner);
	mutex_unlock(&pmu_register_mutex);
}
EXPORT_SYMBOL_PMU_CORE(pmu_unregister_all);

static void pmu_keep_work_fn(struct work_struct *work)
{
	mutex_lock(&pmu_register_mutex);
	pmu_devs_let_go(min(2 * pmu_keep_delay, (unsigned long)HZ));
	mutex_unlock(&pmu_register_mutex);
}

/* All PMUs are gone. */
void pmu_faults_exit(void)
{
	cancel_delayed_work_sync(&pmu_keep_work);
	pmu_fail_flush();
}
