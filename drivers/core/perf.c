// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf's callbacks in terms of a box and its verbs.
 *
 * An event counts in one box: that of the CPU it was opened on, or, if it belongs to a
 * task, that of the CPU where the task is scheduled, from add to del.
 *
 * All of this except event_init and destruction runs on the box's owner CPU with
 * interrupts off: perf calls there, the poll timer is pinned there, and removal and
 * hotplug go there by IPI. While the box moves, perf still calls on the old owner for
 * events that it has not moved yet: there nothing is touched, see pmu_box_is_here().
 *
 * The box is frozen whenever nothing counts. It is frozen late, at the first start or
 * stop between perf's pmu_disable and pmu_enable, so that a pair that changes nothing
 * costs no access, and thawed once at the end, so that a group starts together.
 */
#include <linux/cpu.h>
#include <linux/preempt.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/smp.h>

#include "core.h"

static bool pmu_event_is_task(const struct perf_event *event)
{
	return event->attach_state & PERF_ATTACH_TASK;
}

static const struct pmu_box_ops *box_ops(const struct pmu_box *box)
{
	return box->pd->desc->ops;
}

/*
 * Does this CPU own the box? Interrupts are off, and owned is written by this CPU alone, so
 * what is here stays so.
 */
static bool pmu_box_is_here(const struct pmu_box *box)
{
	return *this_cpu_ptr(box->pd->owned) == box;
}

/* Nobody is there to be asked for anything. */
static bool pmu_box_absent(const struct pmu_box *box)
{
	return box->dead || box->asleep;
}

static void pmu_box_begin_read(struct pmu_box *box)
{
	if (!pmu_box_absent(box) && box_ops(box)->begin_read)
		box_ops(box)->begin_read(box);
}

static void pmu_box_end_read(struct pmu_box *box)
{
	if (!pmu_box_absent(box) && !box->frozen && box_ops(box)->end_read)
		box_ops(box)->end_read(box);
}

/* Several events are read as a group: one by itself is not worth a stop. */
static void pmu_box_hold(struct pmu_box *box)
{
	if (!pmu_box_absent(box) && !box->frozen && box_ops(box)->hold)
		box_ops(box)->hold(box);
}

/* What is read while the box is frozen is of one moment: one pass. */
void pmu_box_freeze(struct pmu_box *box)
{
	if (box->frozen)
		return;
	if (!pmu_box_absent(box) && box_ops(box)->freeze)
		box_ops(box)->freeze(box);
	box->frozen = true;
	pmu_box_begin_read(box);
}

static void pmu_box_thaw(struct pmu_box *box)
{
	if (box->disabled)
		return;
	if (!box->running) {
		/* Nothing counts until perf comes again: no reason to wake this CPU. */
		if (box->poll_ns && hrtimer_try_to_cancel(&box->timer) >= 0)
			box->poll_ns = 0;
		return;
	}
	if (pmu_box_absent(box) || !box->frozen)
		return;
	if (box_ops(box)->thaw)
		box_ops(box)->thaw(box);
	box->frozen = false;
}

/*
 * The device is gone: the event counts no more, whatever becomes of the device. A CPU's event
 * goes to error state, from where perf_event_disable() may be called. A task's does not: perf
 * holds its context's lock when the task exits, and would wait there for the work item that
 * wants the same lock.
 */
static void pmu_event_fail(struct pmu_event *ev)
{
	ev->failed = true;
	/* A work item cannot be queued here: perf's context lock nests inside the scheduler's. */
	if (!pmu_event_is_task(ev->event))
		irq_work_queue(&ev->fail_irq);
}

static void pmu_event_fail_irq(struct irq_work *work)
{
	schedule_work(&container_of(work, struct pmu_event, fail_irq)->fail_work);
}

/*
 * As perf does for a pinned event that cannot be scheduled: read() returns end of file. Where
 * somebody enables the event in between, or the CPU's events move, add refuses it and this
 * comes again.
 */
static void pmu_event_fail_work(struct work_struct *work)
{
	struct perf_event *event = container_of(work, struct pmu_event, fail_work)->event;
	struct perf_event_context *ctx;

	perf_event_disable(event);
	/* Of a CPU, so it outlives the event. */
	ctx = READ_ONCE(event->ctx);
	raw_spin_lock_irq(&ctx->lock);
	if (event->ctx == ctx && event->state == PERF_EVENT_STATE_OFF)
		WRITE_ONCE(event->state, PERF_EVENT_STATE_ERROR);
	raw_spin_unlock_irq(&ctx->lock);
}

static int pmu_event_read_raw(void *context, u64 *now)
{
	struct pmu_event *ev = context;

	return box_ops(ev->box)->read(ev->box, ev, ev->event->hw.idx, now);
}

/* Bring event->count up to date. Where the box has left this CPU that was done by its leave. */
static void pmu_event_update(struct pmu_event *ev)
{
	u64 delta;

	if (ev->failed || ev->box->asleep || !pmu_box_is_here(ev->box))
		return;
	if (pmu_fold(&ev->prev, ev->box->pd->desc->width, pmu_event_read_raw, ev, &delta))
		pmu_event_fail(ev);
	else
		local64_add(delta, &ev->event->count);
}

/**
 * pmu_box_fold() - bring the counts of a box's events up to date.
 * @box: the box
 *
 * For a driver whose hardware has an interrupt for counters that wrap.
 *
 * Context: the owner CPU, interrupts off.
 */
void pmu_box_fold(struct pmu_box *box)
{
	struct pmu_event *ev;

	pmu_box_begin_read(box);
	list_for_each_entry(ev, &box->active, active)
		pmu_event_update(ev);
	pmu_box_end_read(box);
}
EXPORT_SYMBOL_NS_GPL(pmu_box_fold, PMU_CORE_NS);

static enum hrtimer_restart pmu_box_poll(struct hrtimer *timer)
{
	struct pmu_box *box = container_of(timer, struct pmu_box, timer);

	if (list_empty(&box->active)) {
		box->poll_ns = 0;
		return HRTIMER_NORESTART;
	}
	pmu_box_fold(box);
	hrtimer_forward_now(timer, ns_to_ktime(box->poll_ns));
	return HRTIMER_RESTART;
}

/* The shortest period among the events that started since the box was last idle. */
static void pmu_box_poll_for(struct pmu_box *box, const struct pmu_event *ev)
{
	if (!ev->poll_ns || (box->poll_ns && box->poll_ns <= ev->poll_ns))
		return;
	box->poll_ns = ev->poll_ns;
	hrtimer_start(&box->timer, ns_to_ktime(box->poll_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

void pmu_box_init_counting(struct pmu_box *box)
{
	INIT_LIST_HEAD(&box->active);
	box->frozen = true;
	hrtimer_setup(&box->timer, pmu_box_poll, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}

/*
 * A free counter of @usable, preferably @hint, or -1. First fit is exact as long as the
 * sets that a driver's events can use are equal or disjoint.
 */
static int pmu_pick_counter(u64 used, u64 usable, int hint)
{
	usable &= ~used;
	if (!usable)
		return -1;
	return hint >= 0 && usable & BIT_ULL(hint) ? hint : __ffs64(usable);
}

/* Take what the event needs; its counter's number goes to hw.idx. */
static int pmu_event_claim(struct pmu_box *box, struct pmu_event *ev)
{
	const struct pmu_box_ops *ops = box_ops(box);
	int idx = 0;

	if (ops->claim)
		return ops->claim(box, ev, box->state, false);
	if (ops->counters) {
		idx = pmu_pick_counter(box->used, ops->counters(box->pd->desc, ev), ev->last_idx);
		if (idx < 0)
			return -EAGAIN;
		box->used |= BIT_ULL(idx);
	}
	ev->event->hw.idx = idx;
	return 0;
}

static void pmu_event_unclaim(struct pmu_box *box, struct pmu_event *ev)
{
	const struct pmu_box_ops *ops = box_ops(box);

	if (ops->claim) {
		ops->unclaim(box, ev, box->state);
	} else if (ops->counters) {
		box->used &= ~BIT_ULL(ev->event->hw.idx);
		ev->last_idx = ev->event->hw.idx;
	}
	ev->event->hw.idx = -1;
}

/* The raw value that counting goes on from. */
static u64 pmu_event_start_value(struct pmu_box *box, struct pmu_event *ev)
{
	u64 value = 0;

	/* When it wakes up, see pmu_box_restart(). */
	if (box->asleep)
		return 0;
	/* If nothing ran, it is long ago that the box was frozen. */
	if (!box->running)
		pmu_box_begin_read(box);
	if (box_ops(box)->start)
		return box_ops(box)->start(box, ev, ev->event->hw.idx);
	if (pmu_event_read_raw(ev, &value))
		pmu_event_fail(ev);
	return value;
}

static void pmu_event_start(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	struct pmu_box *box = ev->box;

	if (!(event->hw.state & PERF_HES_STOPPED) || !pmu_box_is_here(box))
		return;
	pmu_box_freeze(box);
	atomic64_set(&ev->prev, pmu_event_start_value(box, ev));
	/* From here on an NMI may read. */
	WRITE_ONCE(event->hw.state, 0);
	list_add_tail(&ev->active, &box->active);
	box->running++;
	pmu_box_poll_for(box, ev);
	pmu_box_thaw(box);
	perf_event_update_userpage(event);
}

static void pmu_event_stop(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	struct pmu_box *box = ev->box;

	/*
	 * Without this flag perf throttles a group, or has an event at the limit of its samples:
	 * from an NMI, or from within the event's own sample. Both end by other ways.
	 */
	if (!(flags & PERF_EF_UPDATE) || event->hw.state & PERF_HES_STOPPED)
		return;
	pmu_box_freeze(box);
	pmu_event_update(ev);
	if (!pmu_box_absent(box) && box_ops(box)->stop)
		box_ops(box)->stop(box, ev, event->hw.idx);
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	list_del(&ev->active);
	box->running--;
	pmu_box_thaw(box);
	perf_event_update_userpage(event);
}

/* A task's event counts in this CPU's box from now on. */
static void pmu_event_bind(struct pmu_event *ev)
{
	struct pmu_box *box = *this_cpu_ptr(ev->pd->owned);

	if (box)
		kref_get(&box->kref);
	ev->box = box;
}

static void pmu_event_unbind(struct pmu_event *ev)
{
	if (ev->box)
		pmu_box_put(ev->box);
	ev->box = NULL;
}

static bool pmu_box_usable(const struct pmu_box *box)
{
	return box && pmu_box_is_here(box) && (box->powered || !box_ops(box)->power_on);
}

/*
 * Has another CPU the box for good? An event that was opened while the box moved may have come
 * to its context too late to move with it; it would never count, and nobody would know.
 */
static bool pmu_box_elsewhere(const struct pmu_box *box)
{
	int cpu = READ_ONCE(box->cpu);

	return cpu >= 0 && cpu != smp_processor_id() && !READ_ONCE(box->migrating);
}

static int pmu_event_add(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	int err = -ENODEV;

	if (pmu_event_is_task(event))
		pmu_event_bind(ev);
	if (ev->failed || (ev->box && (ev->box->dead || pmu_box_elsewhere(ev->box)))) {
		pmu_event_fail(ev);
	} else if (pmu_box_usable(ev->box)) {
		if (ev->parked) {
			ev->parked = false;
			return 0;
		}
		err = pmu_event_claim(ev->box, ev);
	}
	if (err) {
		if (pmu_event_is_task(event))
			pmu_event_unbind(ev);
		return err;
	}
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		pmu_event_start(event, 0);
	return 0;
}

static void pmu_event_del(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	struct pmu_box *box = ev->box;

	if (box->migrating && !pmu_box_is_here(box) && !(event->hw.state & PERF_HES_STOPPED)) {
		ev->parked = true;
		return;
	}
	pmu_event_stop(event, PERF_EF_UPDATE);
	pmu_event_unclaim(box, ev);
	if (pmu_event_is_task(event))
		pmu_event_unbind(ev);
}

static bool pmu_event_is_beside(const struct perf_event *event, const struct perf_event *other)
{
	return other != event && other->pmu == event->pmu &&
	       other->state == PERF_EVENT_STATE_ACTIVE;
}

/*
 * Does another event of the group count in the same box? What counts is of this CPU, so one of
 * the same PMU does. Events of other PMUs may lead the group, or be in it.
 */
static bool pmu_event_has_company(const struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;

	if (pmu_event_is_beside(event, leader))
		return true;
	for_each_sibling_event(sibling, leader)
		if (pmu_event_is_beside(event, sibling))
			return true;
	return false;
}

/*
 * perf reads in an NMI, too, as for a BPF program that runs there. What the NMI has interrupted may
 * be in the middle of a pass, or hold the lock of a bus: only a look at memory is safe then. The
 * event's count is that of the last read.
 */
static bool pmu_box_readable(const struct pmu_box *box)
{
	return !in_nmi() || (!box_ops(box)->start && !box_ops(box)->begin_read);
}

static void pmu_event_read(struct perf_event *event)
{
	struct pmu_event *ev = pmu_event_of(event);
	bool alone;

	if (event->hw.state & PERF_HES_STOPPED || !pmu_box_is_here(ev->box) ||
	    !pmu_box_readable(ev->box))
		return;
	alone = !ev->box->reading;
	if (alone)
		pmu_box_begin_read(ev->box);
	else if (pmu_event_has_company(event))
		pmu_box_hold(ev->box);
	pmu_event_update(ev);
	if (alone)
		pmu_box_end_read(ev->box);
}

/*
 * A group that is read is read in one pass, so that its counts are of one moment, or as close
 * together as the bus allows. Adding a group needs nothing here: perf disables the PMU around
 * it, so it is thawed as one.
 */
static void pmu_start_txn(struct pmu *pmu, unsigned int flags)
{
	struct pmu_box *box = *this_cpu_ptr(to_pmu_dev(pmu)->owned);

	if (!box || !(flags & PERF_PMU_TXN_READ))
		return;
	box->reading = true;
	pmu_box_begin_read(box);
}

static int pmu_commit_txn(struct pmu *pmu)
{
	struct pmu_box *box = *this_cpu_ptr(to_pmu_dev(pmu)->owned);

	if (!box || !box->reading)
		return 0;
	pmu_box_end_read(box);
	box->reading = false;
	return 0;
}

/* Only adding is ever cancelled. */
static void pmu_cancel_txn(struct pmu *pmu)
{
}

static void pmu_disable(struct pmu *pmu)
{
	struct pmu_box *box = *this_cpu_ptr(to_pmu_dev(pmu)->owned);

	if (box)
		box->disabled = true;
}

static void pmu_enable(struct pmu *pmu)
{
	struct pmu_box *box = *this_cpu_ptr(to_pmu_dev(pmu)->owned);

	if (!box)
		return;
	box->disabled = false;
	pmu_box_thaw(box);
}

static void pmu_event_discard(struct pmu_event *ev)
{
	ev->event->pmu_private = NULL;
	if (ev->box)
		pmu_box_put(ev->box);
	kfree(ev);
}

/* The end of an event that the driver took. */
static void pmu_event_release(struct pmu_event *ev)
{
	const struct pmu_desc *desc = ev->pd->desc;

	if (desc->ops->event_free)
		desc->ops->event_free(desc, ev);
	pmu_event_discard(ev);
}

static void pmu_event_destroy(struct perf_event *event)
{
	struct pmu_event *ev = pmu_event_of(event);

	/*
	 * Parked is what an event is in the course of a migration only: wait for its end, or see
	 * all that it has done to the event.
	 */
	if (smp_load_acquire(&ev->parked)) {
		mutex_lock(&pmu_core_mutex);
		mutex_unlock(&pmu_core_mutex);
	}
	/* perf may free a task's with its context's lock held: there is nobody to wait for. */
	if (ev->failed && !pmu_event_is_task(event)) {
		irq_work_sync(&ev->fail_irq);
		cancel_work_sync(&ev->fail_work);
	}
	/* An inherited event goes before the one it was made from, which uses the box for both. */
	if (!event->parent)
		pmu_power_unuse(ev->pd, ev->box);
	pmu_event_release(ev);
}

/* What a group takes of a box, tried on an empty one. */
struct pmu_trial {
	u64 used;
	void *state;
};

static bool pmu_trial_take(struct pmu_trial *trial, struct pmu_box *box,
			   const struct perf_event *event)
{
	const struct pmu_box_ops *ops = box_ops(box);
	struct pmu_event *ev;
	int idx;

	/* Members of other PMUs take nothing here. One that is switched off may be switched on. */
	if (event->pmu != &box->pd->pmu)
		return true;
	ev = pmu_event_of(event);
	if (ev->box != box)
		return false;
	if (ops->claim)
		return !ops->claim(box, ev, trial->state, true);
	if (!ops->counters)
		return true;
	idx = pmu_pick_counter(trial->used, ops->counters(box->pd->desc, ev), -1);
	if (idx < 0)
		return false;
	trial->used |= BIT_ULL(idx);
	return true;
}

static bool pmu_trial_fits(struct pmu_trial *trial, struct pmu_box *box, struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;

	if (!pmu_trial_take(trial, box, event))
		return false;
	if (leader == event)
		return true;
	if (!pmu_trial_take(trial, box, leader))
		return false;
	for_each_sibling_event(sibling, leader)
		if (!pmu_trial_take(trial, box, sibling))
			return false;
	return true;
}

/* Can the group count at the same time once @event is in it? */
static int pmu_group_check(struct pmu_box *box, struct perf_event *event)
{
	const struct pmu_box_ops *ops = box_ops(box);
	struct pmu_trial trial = { 0 };
	bool fits;

	/*
	 * Where nothing is claimed every group fits. perf does not lock the list of siblings for
	 * the PMUs of tasks, which are of this kind.
	 */
	if (!ops->claim && !ops->counters)
		return 0;
	if (box->pd->desc->state_size) {
		trial.state = kzalloc(box->pd->desc->state_size, GFP_KERNEL);
		if (!trial.state)
			return -ENOMEM;
	}
	fits = pmu_trial_fits(&trial, box, event);
	kfree(trial.state);
	return fits ? 0 : -EINVAL;
}

static int pmu_refuse(const struct pmu_dev *pd, const char *why)
{
	static DEFINE_RATELIMIT_STATE(limit, 5 * HZ, 200);

	if (pmu_may_log() && __ratelimit(&limit))
		pr_notice("%s: event refused: %s\n", pd->name, why);
	return -EINVAL;
}

/*
 * May the event switch boxes on? perf asks who opens it only when event_init is over; but who will
 * not get the event must not switch on anything for a moment, nor be in the way of who may.
 */
static int pmu_event_check_power(const struct pmu_desc *desc, struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader;

	if (!desc->ops->power_on)
		return 0;
	/* All boxes, that is. */
	if (pmu_event_is_task(event))
		return perfmon_capable() ? 0 : -EACCES;
	/* For a sibling perf holds its leader's context. Who has a leader was trusted with it. */
	if (leader != event)
		return pmu_event_is_task(leader) ? -EINVAL : 0;
	return pmu_allow_cpu();
}

static int pmu_event_check(const struct pmu_dev *pd, struct perf_event *event)
{
	const struct pmu_desc *desc = pd->desc;
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type != pd->pmu.type)
		return -ENOENT;
	/* An inherited one is as that which was opened, by who had the right to; not who forks. */
	if (event->parent)
		return 0;
	if (desc->privileged && !perfmon_capable())
		return -EACCES;
	/* perf would say so, too, but only once the event was taken. */
	if (!desc->excludes && event_has_any_exclude_flag(event))
		return -EINVAL;
	if (desc->sampling && !is_sampling_event(event))
		return -ENOENT;
	if (!desc->sampling && is_sampling_event(event))
		return pmu_refuse(pd, "it cannot sample; count instead");
	if (desc->tasks == (pmu_event_is_task(event) ? PMU_TASKS_NEVER : PMU_TASKS_ONLY))
		return pmu_refuse(pd, desc->tasks ? "it counts for tasks alone" :
				  "it counts for the system, not for a task");
	if (pmu_reserved_bits(desc, PMU_CONFIG, attr->config) ||
	    pmu_reserved_bits(desc, PMU_CONFIG1, attr->config1) ||
	    pmu_reserved_bits(desc, PMU_CONFIG2, attr->config2) || pmu_attr_further_config(attr))
		return pmu_refuse(pd, "the config has bits that no format describes");
	return pmu_event_check_power(desc, event);
}

/*
 * The box that an event on a CPU counts in, with a reference; NULL for one of a task, which
 * has none until it is scheduled.
 */
static struct pmu_box *pmu_event_find_box(struct pmu_dev *pd, const struct perf_event *event)
{
	struct pmu_box *box;

	/* An inherited event finds its box, if there is one, when its task runs. */
	if (event->parent)
		return NULL;
	if (pmu_event_is_task(event))
		return pmu_dev_has_box(pd) ? NULL : ERR_PTR(-ENODEV);
	box = cpu_online(event->cpu) ? pmu_box_get(pd, event->cpu) : NULL;
	return box ?: ERR_PTR(-ENODEV);
}

static struct pmu_event *pmu_event_create(struct pmu_dev *pd, struct perf_event *event)
{
	struct pmu_box *box = pmu_event_find_box(pd, event);
	struct pmu_event *ev;

	if (IS_ERR(box))
		return ERR_CAST(box);
	ev = kzalloc(sizeof(*ev) + pd->desc->event_size, GFP_KERNEL);
	if (!ev) {
		if (box)
			pmu_box_put(box);
		return ERR_PTR(-ENOMEM);
	}
	ev->event = event;
	ev->pd = pd;
	ev->box = box;
	ev->last_idx = -1;
	ev->priv = pd->desc->event_size ? ev + 1 : NULL;
	init_irq_work(&ev->fail_irq, pmu_event_fail_irq);
	INIT_WORK(&ev->fail_work, pmu_event_fail_work);
	event->hw.idx = -1;
	/* perf says that an event is on its CPU before it adds it; an NMI may read in between. */
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	event->pmu_private = ev;
	return ev;
}

/* Once the driver has taken the event: does its group fit, and can its box be powered? */
static int pmu_event_settle(struct pmu_event *ev)
{
	struct perf_event *event = ev->event;
	int err;

	ev->poll_ns = pmu_poll_period_ns(ev->pd->desc->width, ev->max_rate);
	if (ev->box) {
		err = pmu_group_check(ev->box, event);
		if (err)
			return err;
	}
	err = event->parent ? 0 : pmu_power_use(ev->pd, ev->box, event);
	if (err || !ev->box)
		return err;
	/* While it waited for power the box may have moved. */
	event->cpu = READ_ONCE(ev->box->cpu);
	if (event->cpu >= 0)
		return 0;
	pmu_power_unuse(ev->pd, ev->box);
	return -ENODEV;
}

static int pmu_event_init(struct perf_event *event)
{
	struct pmu_dev *pd = to_pmu_dev(event->pmu);
	const struct pmu_box_ops *ops = pd->desc->ops;
	struct pmu_event *ev;
	int err;

	err = pmu_event_check(pd, event);
	if (err)
		return err;
	/* What was closed just now may still be powered, and in the way of this. */
	if (ops->power_on && !event->parent && pmu_event_may_wait(event))
		pmu_power_flush();
	ev = pmu_event_create(pd, event);
	if (IS_ERR(ev))
		return PTR_ERR(ev);

	err = ops->event_init(pd->desc, ev);
	if (err) {
		pmu_event_discard(ev);
		return err;
	}
	err = pmu_event_settle(ev);
	if (err) {
		pmu_event_release(ev);
		return err;
	}
	event->destroy = pmu_event_destroy;
	return 0;
}

/* The driver was told the period by event_init, and thins out by it. */
static int pmu_event_check_period(struct perf_event *event, u64 period)
{
	return -EINVAL;
}

/* The callbacks and capabilities that all PMUs share. */
void pmu_perf_init(struct pmu_dev *pd)
{
	struct pmu *pmu = &pd->pmu;

	pmu->capabilities = pd->desc->excludes ? 0 : PERF_PMU_CAP_NO_EXCLUDE;
	/* perf_hw_context is for the CPU's own PMU alone. */
	pmu->task_ctx_nr = pd->desc->tasks ? perf_sw_context : perf_invalid_context;
	pmu->event_init = pmu_event_init;
	pmu->pmu_enable = pmu_enable;
	pmu->pmu_disable = pmu_disable;
	pmu->add = pmu_event_add;
	pmu->del = pmu_event_del;
	pmu->start = pmu_event_start;
	pmu->stop = pmu_event_stop;
	pmu->read = pmu_event_read;
	pmu->start_txn = pmu_start_txn;
	pmu->commit_txn = pmu_commit_txn;
	pmu->cancel_txn = pmu_cancel_txn;
	if (pd->desc->sampling)
		pmu->check_period = pmu_event_check_period;
}

/* Nothing is known of the hardware, but that it does not count: all events start anew. */
void pmu_box_restart(struct pmu_box *box)
{
	struct pmu_event *ev;

	if (!box->running)
		return;
	if (box_ops(box)->power_on && !box->powered) {
		list_for_each_entry(ev, &box->active, active)
			pmu_event_fail(ev);
		return;
	}
	pmu_box_begin_read(box);
	list_for_each_entry(ev, &box->active, active)
		atomic64_set(&ev->prev, pmu_event_start_value(box, ev));
	pmu_box_thaw(box);
}

/*
 * On the owner, which is so no more: owned is written here alone, with interrupts off, so what
 * perf does on this CPU sees one owner from its begin to its end. Counts are brought up to date;
 * events that perf still has here keep them until they are where the box is.
 */
static void pmu_box_leave(void *data)
{
	struct pmu_box *box = data;

	/* Of a box that is off registers may hold anything. */
	if (box->running && !box->dead)
		pmu_box_fold(box);
	hrtimer_try_to_cancel(&box->timer);
	*this_cpu_ptr(box->pd->owned) = NULL;
}

/* On the new owner. */
void pmu_box_arrive(void *data)
{
	struct pmu_box *box = data;

	*this_cpu_ptr(box->pd->owned) = box;
	if (list_empty(&box->active))
		box->poll_ns = 0;
	if (box->poll_ns)
		hrtimer_start(&box->timer, ns_to_ktime(box->poll_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

static void pmu_box_kill_local(void *data)
{
	struct pmu_box *box = data;
	struct pmu_event *ev;

	/* What the hardware still tells is counted; if it has gone, this says so. */
	if (box->running && !box->asleep)
		pmu_box_fold(box);
	if (box->powered && !box->asleep)
		box_ops(box)->power_off(box);
	box->powered = false;
	box->dead = true;
	/* A task's event goes on in the box of another CPU, if that is not dead. */
	list_for_each_entry(ev, &box->active, active)
		if (!pmu_event_is_task(ev->event))
			pmu_event_fail(ev);
	if (box->cpu >= 0)
		pmu_box_leave(box);
}

/*
 * The device goes: after this no verb is called, and the events are on their way to
 * error state once they are to count. Called with cpu_hotplug_lock and pmu_core_mutex.
 */
void pmu_box_kill(struct pmu_box *box)
{
	if (box->cpu >= 0)
		smp_call_function_single(box->cpu, pmu_box_kill_local, box, 1);
	else
		pmu_box_kill_local(box);
	pmu_box_own(box, -1);
}

/* On the new owner, at the end of a migration. */
static void pmu_box_settle(void *data)
{
	struct pmu_box *box = data;
	struct pmu_event *ev, *next;

	box->migrating = false;
	/* What perf did not schedule again, since something else took its turn, has to stop. */
	list_for_each_entry_safe(ev, next, &box->active, active) {
		if (ev->parked) {
			pmu_event_del(ev->event, 0);
			/* Who sees this sees all of the above; perf may be closing the event. */
			smp_store_release(&ev->parked, false);
		}
	}
}

/*
 * Hand the box and its events from CPU @from to CPU @to, both online. The counters count on:
 * what happens in between is counted. With no @to the events stop when perf takes the
 * context of @from down.
 */
void pmu_box_migrate(struct pmu_box *box, int from, int to)
{
	struct pmu *pmu = &box->pd->pmu;

	WRITE_ONCE(box->migrating, to >= 0);
	smp_call_function_single(from, pmu_box_leave, box, 1);
	if (to < 0) {
		pmu_box_power(box, false);
		pmu_box_own(box, -1);
		return;
	}
	pmu_box_own(box, to);
	/*
	 * Since 6.2 ("perf: Rewrite core context handling") until that was mended a call moves
	 * one group: the next is looked for from the one that was just taken out of the tree.
	 * Before and since it moves all, but may wait for a grace period if there is none. So
	 * ask how many there are, which those of a box that died before are among.
	 */
	for (int most = pmu_context_events(pmu, from); most > 0; most--) {
		perf_pmu_migrate_context(pmu, from, to);
		if (!pmu_context_events(pmu, from))
			break;
	}
	smp_call_function_single(to, pmu_box_settle, box, 1);
}
