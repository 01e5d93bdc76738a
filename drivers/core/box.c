// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which PMUs and boxes there are: the list, its locks, look-up and references; and which are used.
 *
 * While a box is used and has an owner, it is engaged. It is used by its open events, and by those
 * of tasks, which use every box of their PMU. If a box cannot be engaged, events of tasks do not
 * count on its CPU; it is tried again when the next event is opened.
 */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "core.h"

/* Held for the whole of a move. core.h has the order of all locks. */
DEFINE_MUTEX(pmu_core_mutex);
/* The PMUs, their boxes, owners, what is engaged, and events; not held throughout a move. */
DEFINE_MUTEX(pmu_boxes_mutex);
LIST_HEAD(pmu_devs);

/* Take all locks that are needed to add or remove a PMU or a box. */
void pmu_devs_lock(void)
{
	mutex_lock(&pmu_core_mutex);
	mutex_lock(&pmu_boxes_mutex);
}

void pmu_devs_unlock(void)
{
	mutex_unlock(&pmu_boxes_mutex);
	mutex_unlock(&pmu_core_mutex);
}

/*
 * The locks of boxes that this CPU has, or waits for. Those of PMUs that sample do not count: a
 * sample is made under such a lock, and may read events of other PMUs, but not the other way round.
 */
static DEFINE_PER_CPU(unsigned int, pmu_locks_here);

/*
 * May no lock be taken here? Tracepoints fire under the lock of a box, as that of register
 * accesses. A sample of one, or a program there, may read an event of that box, or of another.
 * Interrupts are off.
 */
bool pmu_lock_is_held_here(void)
{
	return __this_cpu_read(pmu_locks_here);
}

/* A raw lock under which no event of ours is read on this CPU, as under that of a box. */
unsigned long pmu_quiet_lock(raw_spinlock_t *lock) __acquires(lock)
{
	unsigned long flags;

	local_irq_save(flags);
	__this_cpu_inc(pmu_locks_here);
	raw_spin_lock(lock);
	return flags;
}
EXPORT_SYMBOL_IF_KUNIT(pmu_quiet_lock);

void pmu_quiet_unlock(raw_spinlock_t *lock, unsigned long flags) __releases(lock)
{
	raw_spin_unlock(lock);
	__this_cpu_dec(pmu_locks_here);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(pmu_quiet_unlock);

/**
 * pmu_box_lock() - keep everybody else from a box.
 * @box: the box
 *
 * For a driver's own interrupts and files. Every verb but event_init, event_free, counters, engage,
 * disengage and owner_changed is called with this lock; engage and disengage may be, if the PMU is
 * engage_at_start.
 *
 * Context: any but an NMI or a verb; interrupts are off until pmu_box_unlock().
 * Return: for pmu_box_unlock().
 */
unsigned long pmu_box_lock(struct pmu_box *box) __acquires(&box->lock)
{
	unsigned long flags;

	local_irq_save(flags);
	/* First: there is a tracepoint of a lock that had to be waited for. */
	if (!box->pd->desc->sampling)
		__this_cpu_inc(pmu_locks_here);
	raw_spin_lock(&box->lock);
	return flags;
}
EXPORT_SYMBOL_PMU_CORE(pmu_box_lock);

/*
 * Start the poll timer on this CPU, or cancel it, without the box's lock: the tracepoint
 * timer:hrtimer_start fires under a lock of hrtimer, and its sample may read this box. Several CPUs
 * may be here; the last one sees the newest period.
 */
static void pmu_box_set_timer(struct pmu_box *box)
{
	u64 poll_ns;

	raw_spin_lock(&box->timer_lock);
	poll_ns = READ_ONCE(box->poll_ns);
	if (poll_ns)
		hrtimer_start(&box->timer, ns_to_ktime(poll_ns), HRTIMER_MODE_REL_PINNED_HARD);
	else
		hrtimer_try_to_cancel(&box->timer);
	raw_spin_unlock(&box->timer_lock);
}

/**
 * pmu_box_unlock() - end pmu_box_lock().
 * @box: the box
 * @flags: what that returned
 *
 * Context: as there.
 */
void pmu_box_unlock(struct pmu_box *box, unsigned long flags) __releases(&box->lock)
{
	bool timer_due = box->timer_due;

	box->timer_due = false;
	raw_spin_unlock(&box->lock);
	if (!box->pd->desc->sampling)
		__this_cpu_dec(pmu_locks_here);
	if (timer_due)
		pmu_box_set_timer(box);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_PMU_CORE(pmu_box_unlock);

/* The scope id of the box that @cpu shares. */
int pmu_scope_id(enum pmu_scope scope, int cpu)
{
	switch (scope) {
	case PMU_SCOPE_PACKAGE:
		return topology_physical_package_id(cpu);
	case PMU_SCOPE_DIE:
		return topology_logical_die_id(cpu);
	case PMU_SCOPE_CORE:
		return PMU_CORE_ID(topology_physical_package_id(cpu), topology_core_id(cpu));
	case PMU_SCOPE_CPU:
		return cpu;
	case PMU_SCOPE_SYSTEM:
		break;
	}
	return 0;
}

/*
 * Does the PMU have a box? If not, it may be about to be unregistered, and must not get an event.
 * If it has one, the code that removes the box sees that pmu_dev.events counts the event.
 */
bool pmu_dev_has_box(struct pmu_dev *pd)
{
	bool any;

	mutex_lock(&pmu_boxes_mutex);
	any = !list_empty(&pd->boxes);
	mutex_unlock(&pmu_boxes_mutex);
	return any;
}

/* The box that counts for @cpu, with a reference, or NULL. */
struct pmu_box *pmu_box_get(struct pmu_dev *pd, int cpu)
{
	int scope_id = pmu_scope_id(pd->desc->scope, cpu);
	struct pmu_box *box, *found = NULL;

	mutex_lock(&pmu_boxes_mutex);
	list_for_each_entry(box, &pd->boxes, node)
		if (box->scope_id == scope_id && box->cpu >= 0)
			found = box;
	if (found)
		kref_get(&found->kref);
	mutex_unlock(&pmu_boxes_mutex);
	return found;
}

static void pmu_box_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct pmu_box, rcu));
}

/*
 * The last reference may be that of a task's event, which perf takes from its CPU with raw locks
 * held and interrupts off. A PREEMPT_RT kernel cannot free memory there.
 */
static void pmu_box_release(struct kref *kref)
{
	call_rcu(&container_of(kref, struct pmu_box, kref)->rcu, pmu_box_free);
}

void pmu_box_put(struct pmu_box *box)
{
	kref_put(&box->kref, pmu_box_release);
}

bool pmu_box_wanted(const struct pmu_box *box)
{
	return box->cpu >= 0 && (atomic_read(&box->users) || atomic_read(&box->pd->users));
}

struct pmu_engage_call {
	struct pmu_box *box;
	bool on;
	int err;
};

static void pmu_box_engage_local(void *data)
{
	struct pmu_engage_call *call = data;
	const struct pmu_box_ops *ops = call->box->pd->desc->ops;

	if (call->on)
		call->err = ops->engage(call->box);
	else
		ops->disengage(call->box);
}

/* The same, of a box that is engaged when its first event starts, which may be just now. */
static void pmu_box_disengage_idle(void *data)
{
	struct pmu_box *box = data;
	unsigned long flags = pmu_box_lock(box);

	if (pmu_box_is_idle(box) && box->engaged) {
		if (!box->asleep)
			box_ops(box)->disengage(box);
		box->engaged = false;
	}
	pmu_box_unlock(box, flags);
}

/* Called with pmu_boxes_mutex, which an owner that goes offline waits for. */
int pmu_box_set_engaged(struct pmu_box *box, bool on)
{
	struct pmu_engage_call call = { .box = box, .on = on };

	lockdep_assert_held(&pmu_boxes_mutex);
	/* A box without an owner is disengaged, or will be once it has left the last one. */
	if (!box->pd->desc->ops->engage || box->engaged == on || box->dead || box->cpu < 0)
		return 0;
	if (box->pd->desc->engage_at_start)
		return on ? 0 : smp_call_function_single(box->cpu, pmu_box_disengage_idle, box, 1);
	/*
	 * A box that sleeps is disengaged. pmu_box_resume() engages it, if it is to be engaged
	 * then.
	 */
	if (!box->asleep)
		call.err = smp_call_function_single(box->cpu, pmu_box_engage_local, &call, 1) ?:
			   call.err;
	if (call.err)
		return call.err;
	WRITE_ONCE(box->settled, ktime_get_ns() + box->pd->desc->settle_ms * NSEC_PER_MSEC);
	WRITE_ONCE(box->engaged, on);
	return 0;
}

/*
 * When this returns, boxes whose events were closed before are disengaged. An open that engages
 * calls this, too: a real-time task may keep the work item from running. May sleep.
 */
void pmu_use_catch_up(struct work_struct *unused)
{
	struct pmu_dev *pd;
	struct pmu_box *box;

	mutex_lock(&pmu_boxes_mutex);
	list_for_each_entry(pd, &pmu_devs, node)
		list_for_each_entry(box, &pd->boxes, node)
			if (!pmu_box_wanted(box))
				pmu_box_set_engaged(box, false);
	mutex_unlock(&pmu_boxes_mutex);
}

static DECLARE_WORK(pmu_use_work, pmu_use_catch_up);

/* All PMUs are gone. */
void pmu_use_exit(void)
{
	flush_work(&pmu_use_work);
}

/*
 * An event is opened on @only, or if that is NULL for a task: engage all boxes of the PMU that can
 * be. Returns the first error if none can. May sleep. A leader of the same PMU, which was opened
 * before, has engaged the same box or boxes, and keeps them so.
 */
int pmu_use(struct pmu_dev *pd, struct pmu_box *only, const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader;
	struct pmu_box *box;
	int err, first = 0;
	bool any = false;
	s64 left;

	atomic_inc(only ? &only->users : &pd->users);
	if (!pd->desc->ops->engage || pd->desc->engage_at_start ||
	    (leader != event && leader->pmu == event->pmu))
		return 0;
	mutex_lock(&pmu_boxes_mutex);
	list_for_each_entry(box, &pd->boxes, node) {
		if ((only && box != only) || !pmu_box_wanted(box))
			continue;
		err = pmu_box_set_engaged(box, true);
		any |= !err;
		first = first ?: err;
	}
	mutex_unlock(&pmu_boxes_mutex);
	if (!any && first) {
		pmu_unuse(pd, only);
		return first;
	}
	left = only ? READ_ONCE(only->settled) - ktime_get_ns() : 0;
	if (left > 0)
		usleep_range(left / NSEC_PER_USEC + 1, left / NSEC_PER_USEC + 100);
	return 0;
}

/* The opposite of pmu_use(). Any context. */
void pmu_unuse(struct pmu_dev *pd, struct pmu_box *box)
{
	if (!atomic_dec_and_test(box ? &box->users : &pd->users) || !pd->desc->ops->engage)
		return;
	/* No event of the box has started, or it could not be engaged: wake nobody. */
	if (box && !READ_ONCE(box->engaged))
		return;
	queue_work(system_dfl_wq, &pmu_use_work);
}
