// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf's callbacks in terms of a box and its verbs; event_init is in open.c.
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
 * costs no access, and thawed once at the end, so that a group starts together. For the same
 * reason an event that perf takes out in between is stopped only at the end. An event that starts
 * or stops by itself freezes nothing for others where the driver can do so.
 */
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/preempt.h>
#include <linux/smp.h>
#include <linux/timekeeping.h>

#include "core.h"

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
		/* perf holds locks here under which a verb may not write to the log. */
		if (box->leaving)
			irq_work_queue(&box->left);
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
 * From one to another of the states in which perf neither schedules an event nor accounts its time.
 * True if the event was in the first. It is of a CPU, whose context outlives it.
 */
bool pmu_event_swap_state(struct perf_event *event, enum perf_event_state from,
			  enum perf_event_state to)
{
	struct perf_event_context *ctx = READ_ONCE(event->ctx);
	bool found;

	/* perf_event_open() has not come to that yet. */
	if (!ctx)
		return false;
	raw_spin_lock_irq(&ctx->lock);
	found = event->ctx == ctx && event->state == from;
	if (found)
		WRITE_ONCE(event->state, to);
	raw_spin_unlock_irq(&ctx->lock);
	return found;
}

/*
 * As perf does for a pinned event that cannot be scheduled: read() returns end of file. Where
 * somebody enables the event in between, or the CPU's events move, add refuses it and this
 * comes again.
 */
static void pmu_event_fail_work(struct work_struct *work)
{
	struct perf_event *event = container_of(work, struct pmu_event, fail_work)->event;

	perf_event_disable(event);
	pmu_event_swap_state(event, PERF_EVENT_STATE_OFF, PERF_EVENT_STATE_ERROR);
}

/* An event fails in a work item, by an irq_work. */
void pmu_event_init_failing(struct pmu_event *ev)
{
	init_irq_work(&ev->fail_irq, pmu_event_fail_irq);
	INIT_WORK(&ev->fail_work, pmu_event_fail_work);
}

static int pmu_event_read_raw(void *context, u64 *now)
{
	struct pmu_event *ev = context;

	return box_ops(ev->box)->read(ev->box, ev, ev->event->hw.idx, now);
}

static void pmu_box_complain(struct irq_work *work)
{
	struct pmu_box *box = container_of(work, struct pmu_box, complaint);

	dev_warn_ratelimited(box->dev, "%s: the counter of event config=%#llx moved by %lld, more than it can have counted since the last read: another program wrote to it, or the device was reset; this difference is not counted\n",
			     box->pd->name, box->odd_config, box->odd_delta);
}

/*
 * The log says it once, and not again until the box has counted without. perf may hold the
 * scheduler's locks here, and printk wakes up tasks.
 */
static void pmu_event_doubt(const struct pmu_event *ev, u64 delta)
{
	struct pmu_box *box = ev->box;

	if (!box->odd && !box->told) {
		box->odd_config = ev->event->attr.config;
		box->odd_delta = delta;
		irq_work_queue(&box->complaint);
	}
	box->odd = true;
}

/* For the bound of an event: a clock that can be read in an NMI. */
static u64 pmu_event_clock(const struct pmu_event *ev)
{
	return ev->bounded ? ktime_get_mono_fast_ns() : 0;
}

struct pmu_reading {
	struct pmu_event *ev;
	u64 now;			/* the raw value that was read last */
};

static int pmu_reading_take(void *context, u64 *now)
{
	struct pmu_reading *reading = context;
	int err = pmu_event_read_raw(reading->ev, now);

	if (!err)
		reading->now = *now;
	return err;
}

/*
 * Bring event->count up to date. Where the box has left this CPU that was done by its leave. The
 * time since the last fold is never taken for less than it is: it begins before that read and ends
 * behind this one, and if an NMI folds in between it begins with the older of the two.
 */
static void pmu_event_update(struct pmu_event *ev)
{
	unsigned int width = ev->box->pd->desc->width;
	struct pmu_reading reading = { .ev = ev };
	struct pmu_box *box = ev->box;
	u64 since = READ_ONCE(ev->folded_ns), now, delta;

	if (ev->failed || box->asleep || !pmu_box_is_here(box))
		return;
	now = pmu_event_clock(ev);
	if (pmu_fold(&ev->prev, width, pmu_reading_take, &reading, &delta)) {
		pmu_event_fail(ev);
		return;
	}
	WRITE_ONCE(ev->folded_ns, now);
	if (box_ops(box)->restarted && (s64)delta < 0) {
		box_ops(box)->restarted(box, ev);
		delta = reading.now;
	} else if (!pmu_delta_is_possible(delta, width, ev->bounded ? ev->max_rate : 0,
					  pmu_event_clock(ev) - since)) {
		pmu_event_doubt(ev, delta);
		return;
	}
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
EXPORT_SYMBOL_PMU_CORE(pmu_box_fold);

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

static void pmu_box_left(struct irq_work *work);

void pmu_box_init_counting(struct pmu_box *box)
{
	INIT_LIST_HEAD(&box->active);
	INIT_LIST_HEAD(&box->events);
	box->left = IRQ_WORK_INIT_HARD(pmu_box_left);
	box->frozen = true;
	init_irq_work(&box->complaint, pmu_box_complain);
	hrtimer_setup(&box->timer, pmu_box_poll, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}

/* Of a box that is dead. Its last owner may still have to run these; both refer to its device. */
void pmu_box_end_counting(struct pmu_box *box)
{
	irq_work_sync(&box->left);
	irq_work_sync(&box->complaint);
}

/*
 * A free counter of @usable, preferably @hint, or -1. First fit is exact as long as the
 * sets that a driver's events can use are equal or disjoint.
 */
int pmu_pick_counter(u64 used, u64 usable, int hint)
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
	WRITE_ONCE(ev->folded_ns, pmu_event_clock(ev));
	if (box_ops(box)->start)
		return box_ops(box)->start(box, ev, ev->event->hw.idx);
	if (pmu_event_read_raw(ev, &value))
		pmu_event_fail(ev);
	return value;
}

static bool pmu_event_is_beside(const struct perf_event *event, const struct perf_event *other,
				enum perf_event_state least)
{
	return other != event && other->pmu == event->pmu && other->state >= least;
}

/*
 * Does another event of the group count in the same box, or if @least is INACTIVE, may it? What
 * counts is of this CPU, so one of the same PMU does. Events of other PMUs may lead the group, or
 * be in it.
 */
static bool pmu_event_has_company(const struct perf_event *event, enum perf_event_state least)
{
	struct perf_event *leader = event->group_leader, *sibling;

	if (pmu_event_is_beside(event, leader, least))
		return true;
	for_each_sibling_event(sibling, leader)
		if (pmu_event_is_beside(event, sibling, least))
			return true;
	return false;
}

/*
 * May the event start or stop while the others of its box count on? Not with its group, since what
 * belongs to a group starts and stops in one moment, nor if the box is frozen already.
 */
static bool pmu_event_is_alone(const struct pmu_event *ev)
{
	return ev->box->pd->desc->live && !ev->box->frozen &&
	       !pmu_event_has_company(ev->event, PERF_EVENT_STATE_INACTIVE);
}

static void pmu_event_start(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	struct pmu_box *box = ev->box;

	/*
	 * To end the throttling of a group 6.16 starts all of it, also what is not on the CPU: that
	 * has no counter, and if it is a task's no box.
	 */
	if (event->state != PERF_EVENT_STATE_ACTIVE)
		return;
	if (!(event->hw.state & PERF_HES_STOPPED) || ev->waiting || !pmu_box_is_here(box))
		return;
	if (!pmu_event_is_alone(ev))
		pmu_box_freeze(box);
	if (!box->running) {
		box->told = box->odd;
		box->odd = false;
	}
	atomic64_set(&ev->prev, pmu_event_start_value(box, ev));
	/* From here on an NMI may read. */
	WRITE_ONCE(event->hw.state, 0);
	list_add_tail(&ev->active, &box->active);
	box->running++;
	pmu_box_poll_for(box, ev);
	pmu_box_thaw(box);
	perf_event_update_userpage(event);
}

static void pmu_event_stop_counter(struct pmu_event *ev)
{
	if (!pmu_box_absent(ev->box) && box_ops(ev->box)->stop)
		box_ops(ev->box)->stop(ev->box, ev, ev->event->hw.idx);
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
	/* If nothing else counts, to freeze is enough, and the counter need not be set up again. */
	if (box->running > 1 && pmu_event_is_alone(ev)) {
		pmu_event_stop_counter(ev);
		pmu_box_begin_read(box);
		pmu_event_update(ev);
		pmu_box_end_read(box);
	} else {
		pmu_box_freeze(box);
		pmu_event_update(ev);
		pmu_event_stop_counter(ev);
	}
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

/*
 * May perf put the event on a CPU that the box has left? It counts once both are on one CPU again.
 * A pinned event would go to error state if it were refused. perf tries any other again.
 */
static bool pmu_event_may_wait(const struct pmu_event *ev)
{
	return ev->box && !pmu_event_is_task(ev->event) &&
	       (READ_ONCE(ev->box->migrating) || ev->box->leaving) &&
	       ev->event->group_leader->attr.pinned;
}

static void pmu_event_remove(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;

	pmu_event_stop(ev->event, PERF_EF_UPDATE);
	pmu_event_unclaim(box, ev);
	if (pmu_event_is_task(ev->event))
		pmu_event_unbind(ev);
}

/*
 * To put an event beside others, perf takes these out and puts back what still fits, all between
 * pmu_disable and pmu_enable. So what it takes out counts on until pmu_enable, or until another
 * one finds no counter. One that samples does not: who reads its samples expects none of an event
 * that is off.
 */
static bool pmu_event_may_come_back(const struct pmu_event *ev)
{
	return ev->box->disabled && pmu_box_is_here(ev->box) && !ev->failed && !ev->claims_anew &&
	       !(ev->event->hw.state & PERF_HES_STOPPED) && !is_sampling_event(ev->event);
}

/* What has not come back. */
static void pmu_box_remove_out(struct pmu_box *box)
{
	struct pmu_event *ev, *next;

	if (!box->out)
		return;
	list_for_each_entry_safe(ev, next, &box->active, active) {
		if (ev->out) {
			ev->out = false;
			pmu_event_remove(ev);
		}
	}
	box->out = 0;
}

static int pmu_event_add(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	int err = -ENODEV;

	if (ev->out) {
		ev->out = false;
		ev->box->out--;
		return 0;
	}
	if (pmu_event_is_task(event))
		pmu_event_bind(ev);
	if (ev->failed || (ev->box && (ev->box->dead || pmu_box_elsewhere(ev->box)))) {
		pmu_event_fail(ev);
	} else if (ev->parked) {
		/* Where the box is, or once more where it was. */
		ev->parked = false;
		return 0;
	} else if (pmu_box_usable(ev->box)) {
		err = pmu_event_claim(ev->box, ev);
		if (err == -EAGAIN && ev->box->out) {
			pmu_box_remove_out(ev->box);
			err = pmu_event_claim(ev->box, ev);
		}
	} else if (pmu_event_may_wait(ev)) {
		ev->waiting = true;
		return 0;
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

	if (ev->waiting) {
		ev->waiting = false;
	} else if (box->migrating && !pmu_box_is_here(box) &&
		   !(event->hw.state & PERF_HES_STOPPED)) {
		ev->parked = true;
	} else if (pmu_event_may_come_back(ev)) {
		ev->out = true;
		box->out++;
	} else {
		pmu_event_remove(ev);
	}
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
	else if (pmu_event_has_company(event, PERF_EVENT_STATE_ACTIVE))
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
	pmu_box_remove_out(box);
	box->disabled = false;
	pmu_box_thaw(box);
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
void pmu_box_leave(void *data)
{
	struct pmu_box *box = data;

	/* Of a box that is off registers may hold anything. */
	if (box->running && !box->dead)
		pmu_box_fold(box);
	hrtimer_try_to_cancel(&box->timer);
	*this_cpu_ptr(box->pd->owned) = NULL;
}

/* On the new owner, or the old one if it does not go offline after all. */
void pmu_box_arrive(void *data)
{
	struct pmu_box *box = data;

	box->leaving = false;
	*this_cpu_ptr(box->pd->owned) = box;
	if (list_empty(&box->active))
		box->poll_ns = 0;
	if (box->poll_ns)
		hrtimer_start(&box->timer, ns_to_ktime(box->poll_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

static void pmu_box_switch_off(struct pmu_box *box)
{
	if (box->powered && !box->asleep)
		box_ops(box)->power_off(box);
	WRITE_ONCE(box->powered, false);
}

static void pmu_box_left(struct irq_work *work)
{
	struct pmu_box *box = container_of(work, struct pmu_box, left);

	/* The CPU may stay after all, or perf may have put another event on it. */
	if (!box->leaving || box->running || !pmu_box_is_here(box))
		return;
	pmu_box_switch_off(box);
	pmu_box_leave(box);
}

/*
 * On the last CPU of the scope, when it begins to go offline. A later state of hotplug may refuse
 * that, so events count on until perf takes its context down, and the box leaves behind the last.
 */
void pmu_box_retire(void *data)
{
	struct pmu_box *box = data;

	box->leaving = true;
	pmu_box_left(&box->left);
}

/* On the owner of a box that had none: the events that perf put there meanwhile start. */
void pmu_box_admit(void *data)
{
	struct pmu_box *box = data;
	struct pmu_event *ev;

	list_for_each_entry(ev, &box->events, node) {
		if (!ev->waiting)
			continue;
		if (!pmu_box_usable(box) || pmu_event_claim(box, ev)) {
			pmu_event_fail(ev);
			continue;
		}
		ev->waiting = false;
		/* As in pmu_box_settle(). */
		pmu_box_freeze(box);
		pmu_event_start(ev->event, 0);
	}
}

static void pmu_box_kill_local(void *data)
{
	struct pmu_box *box = data;
	struct pmu_event *ev;

	/* What the hardware still tells is counted; if it has gone, this says so. */
	if (box->running && !box->asleep)
		pmu_box_fold(box);
	pmu_box_switch_off(box);
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
 * error state once they are to count. Called with cpu_hotplug_lock and pmu_boxes_mutex.
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
void pmu_box_settle(void *data)
{
	struct pmu_box *box = data;
	struct pmu_event *ev, *next;

	WRITE_ONCE(box->migrating, false);
	/* What perf did not schedule again, since something else took its turn, has to stop. */
	list_for_each_entry_safe(ev, next, &box->active, active) {
		if (ev->parked) {
			/* To see whether it is alone would take the context's lock. */
			pmu_box_freeze(box);
			pmu_event_remove(ev);
			/* Who sees this sees all of the above; perf may be closing the event. */
			smp_store_release(&ev->parked, false);
		}
	}
}
