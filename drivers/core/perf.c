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
 * reason an event that perf takes out in between is stopped only at the end.
 */
#include <linux/cpu.h>
#include <linux/preempt.h>
#include <linux/smp.h>

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

	/*
	 * To end the throttling of a group 6.16 starts all of it, also what is not on the CPU: that
	 * has no counter, and if it is a task's no box.
	 */
	if (event->state != PERF_EVENT_STATE_ACTIVE)
		return;
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
	} else if (pmu_box_usable(ev->box)) {
		if (ev->parked) {
			ev->parked = false;
			return 0;
		}
		err = pmu_event_claim(ev->box, ev);
		if (err == -EAGAIN && ev->box->out) {
			pmu_box_remove_out(ev->box);
			err = pmu_event_claim(ev->box, ev);
		}
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
	} else if (pmu_event_may_come_back(ev)) {
		ev->out = true;
		box->out++;
	} else {
		pmu_event_remove(ev);
	}
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
			pmu_event_remove(ev);
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
