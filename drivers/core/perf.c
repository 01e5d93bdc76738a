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
 * What changes between perf's pmu_disable and pmu_enable costs as little as possible: freeze.c says
 * when the box is frozen. An event that perf takes out in between is stopped only at the end. If
 * the driver can do so, an event that starts or stops on its own does not freeze the others.
 */
#include <linux/preempt.h>
#include <linux/smp.h>

#include "core.h"

static bool pmu_event_is_beside(const struct perf_event *event, const struct perf_event *other,
				enum perf_event_state least)
{
	return other != event && other->pmu == event->pmu && other->state >= least;
}

/*
 * Does another event of the group count in the same box? If @least is INACTIVE: may it? Events of
 * the same PMU do, since all events that count here are on this CPU. The group may have events of
 * other PMUs, even as its leader.
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
 * Does the event start or stop on its own in a running box? In a group it does not, since all
 * members start and stop in one moment.
 */
static bool pmu_event_is_single(const struct pmu_event *ev)
{
	return !ev->box->frozen && !pmu_event_has_company(ev->event, PERF_EVENT_STATE_INACTIVE);
}

/* May the event start or stop while the other events of its box keep counting? */
static bool pmu_event_is_alone(const struct pmu_event *ev)
{
	return ev->box->pd->desc->live && pmu_event_is_single(ev);
}

/* A single event is read in a pass of its own, but in a frozen box in the pass of the freeze. */
static void pmu_event_fold(struct pmu_event *ev)
{
	if (!ev->box->frozen)
		pmu_box_begin_read(ev->box);
	pmu_event_update(ev);
	pmu_box_end_read(ev->box);
}

/*
 * An event that starts or stops while equal events count needs only their exact count. Returns
 * whether that could be read while the box runs.
 */
static bool pmu_event_fold_beside(struct pmu_event *ev, unsigned int others)
{
	return others && box_ops(ev->box)->read_exact && pmu_event_is_single(ev) &&
	       pmu_event_update_exactly(ev);
}

/* Let the event's hardware count. What it counted before belongs to others that share it. */
static void pmu_event_start_counter(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;

	if (pmu_event_fold_beside(ev, ev->bearer->counting))
		return;
	if (!pmu_event_is_alone(ev))
		pmu_box_freeze(box);
	if (pmu_box_is_idle(box)) {
		box->told = box->odd;
		box->odd = false;
	}
	if (ev->bearer->counting)
		pmu_event_fold(ev);
	else
		pmu_event_begin(ev->bearer);
}

void pmu_event_start(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	struct pmu_box *box = ev->box;

	/*
	 * To end the throttling of a group, 6.16 starts all its events, even those that are not on
	 * the CPU. They have no counter, and an event of a task has no box.
	 */
	if (event->state != PERF_EVENT_STATE_ACTIVE)
		return;
	if (!(event->hw.state & PERF_HES_STOPPED) || ev->transit == PMU_TRANSIT_WAITING ||
	    !pmu_box_is_here(box))
		return;
	pmu_event_start_counter(ev);
	ev->bearer->counting++;
	/* From here on an NMI may read the event. */
	WRITE_ONCE(event->hw.state, 0);
	list_add_tail(&ev->active, &box->active);
	pmu_box_poll_for(box, ev);
	pmu_box_thaw(box);
	perf_event_update_userpage(event);
}

/* The counter keeps counting if other events count with it. */
static void pmu_event_stop_hardware(struct pmu_event *ev)
{
	struct pmu_event *bearer = ev->bearer;

	if (bearer->counting == 1 && !pmu_box_absent(ev->box) && box_ops(ev->box)->stop)
		box_ops(ev->box)->stop(ev->box, bearer, bearer->event->hw.idx);
}

/* If nothing else counts, it is enough to freeze the box. The counter stays set up. */
static void pmu_event_stop_counter(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;

	if (pmu_event_fold_beside(ev, ev->bearer->counting - 1))
		return;
	if (!list_is_singular(&box->active) && pmu_event_is_alone(ev)) {
		pmu_event_stop_hardware(ev);
		pmu_event_fold(ev);
	} else {
		pmu_box_freeze(box);
		pmu_event_update(ev);
		pmu_event_stop_hardware(ev);
	}
}

static void pmu_event_stop(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	struct pmu_box *box = ev->box;

	/*
	 * Without this flag perf throttles a group, or an event has reached its limit of samples;
	 * this may be in an NMI, or within the event's own sample. Leave the event running: a
	 * throttled one is soon started again, and one at its limit is disabled once interrupts are
	 * on.
	 */
	if (!(flags & PERF_EF_UPDATE) || event->hw.state & PERF_HES_STOPPED)
		return;
	pmu_event_stop_counter(ev);
	ev->bearer->counting--;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	list_del(&ev->active);
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

bool pmu_box_usable(const struct pmu_box *box)
{
	return box && pmu_box_is_here(box) && (box->engaged || !box_ops(box)->engage);
}

/*
 * Does another CPU own the box, with no move under way? An event that was opened during the move
 * may have entered its context too late to be moved. It would never count, and no error would show
 * that.
 */
static bool pmu_box_elsewhere(const struct pmu_box *box)
{
	int cpu = READ_ONCE(box->cpu);

	return cpu >= 0 && cpu != smp_processor_id() && !READ_ONCE(box->migrating);
}

/*
 * What the event's leader asks for. perf does not tell a sibling that is being closed that its
 * leader is gone, so the leader is looked at only when the event is opened and when it is added.
 */
void pmu_event_note_leader(struct pmu_event *ev)
{
	const struct perf_event_attr *attr = &ev->event->group_leader->attr;

	ev->pinned = attr->pinned;
	ev->exclusive = attr->exclusive;
}

static bool pmu_event_is_pinned(const struct pmu_event *ev)
{
	return ev->pinned;
}

/*
 * May perf put the event on a CPU that the box has left? It counts once both are on one CPU again.
 * If a pinned event were refused, it would go to error state. perf tries all others again.
 */
static bool pmu_event_may_wait(const struct pmu_event *ev)
{
	return ev->box && !pmu_event_is_task(ev->event) &&
	       (READ_ONCE(ev->box->migrating) || ev->box->leaving) && pmu_event_is_pinned(ev);
}

void pmu_event_remove(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;

	pmu_event_stop(ev->event, PERF_EF_UPDATE);
	pmu_event_unclaim(box, ev);
	if (pmu_event_is_task(ev->event))
		pmu_event_unbind(ev);
}

/*
 * To add an event, perf takes the others out and puts back those that still fit, all between
 * pmu_disable and pmu_enable. So an event that is taken out keeps counting until pmu_enable, or
 * until another event finds no counter. An event that samples does not: its reader expects no
 * samples of an event that is off.
 */
static bool pmu_event_may_come_back(const struct pmu_event *ev)
{
	return ev->box->disabled && pmu_box_is_here(ev->box) && !ev->failed && !ev->claims_anew &&
	       !(ev->event->hw.state & PERF_HES_STOPPED) && !is_sampling_event(ev->event);
}

/* Stop the events that perf has not put back. */
static void pmu_box_remove_out(struct pmu_box *box)
{
	struct pmu_event *ev, *next;

	if (!box->out)
		return;
	list_for_each_entry_safe(ev, next, &box->active, active) {
		if (ev->transit == PMU_TRANSIT_OUT) {
			ev->transit = PMU_TRANSIT_NONE;
			pmu_event_remove(ev);
		}
	}
	box->out = 0;
}

/* Both CPUs of a move may try. Returns whether this one ends PMU_TRANSIT_PARKED. */
static bool pmu_event_unpark(struct pmu_event *ev, enum pmu_transit to)
{
	return READ_ONCE(ev->transit) == PMU_TRANSIT_PARKED &&
	       cmpxchg(&ev->transit, PMU_TRANSIT_PARKED, to) == PMU_TRANSIT_PARKED;
}

/* On the new owner: stop an event if it is parked. */
static void pmu_event_evict(struct pmu_event *ev)
{
	if (!pmu_event_unpark(ev, PMU_TRANSIT_EVICTED))
		return;
	/*
	 * Whether it is in a group cannot be seen without the context's lock. Those of a group stop
	 * together.
	 */
	pmu_box_freeze(ev->box);
	pmu_event_remove(ev);
	/* Pairs with pmu_event_settle(), which then sees all of the above. */
	smp_store_release(&ev->transit, PMU_TRANSIT_NONE);
}

/* On the owner: stop the events that are parked, but not those that are @spared. */
void pmu_box_evict_parked(struct pmu_box *box, bool (*spared)(const struct pmu_event *ev))
{
	struct pmu_event *ev, *next;

	list_for_each_entry_safe(ev, next, &box->active, active)
		if (!spared || !spared(ev))
			pmu_event_evict(ev);
}

/*
 * On the owner, at the end of a move and before the box loses its owner: stop all that are parked.
 * perf may not have scheduled them again, because of multiplexing.
 */
void pmu_box_stop_parked(struct pmu_box *box)
{
	box->disabled = true;
	pmu_box_evict_parked(box, NULL);
	box->disabled = false;
	pmu_box_thaw(box);
}

static void pmu_event_settle_local(void *data)
{
	struct pmu_event *ev = data;
	struct pmu_box *box = ev->box;

	box->disabled = true;
	pmu_event_evict(ev);
	box->disabled = false;
	pmu_box_thaw(box);
}

/*
 * perf frees the event, which is in no context any more. If it is still parked, its hardware is
 * given up first. May sleep, but does not wait for the end of the move.
 */
void pmu_event_settle(struct pmu_event *ev)
{
	bool parked;

	/* Pairs with pmu_event_evict(). */
	if (smp_load_acquire(&ev->transit) == PMU_TRANSIT_NONE)
		return;
	mutex_lock(&pmu_boxes_mutex);
	/*
	 * The owner may have stopped it meanwhile: pmu_box_evict_parked(). If not, the box has one,
	 * and keeps it as long as the mutex is held. If the event was parked as the device went,
	 * there is no owner, and the device is not touched. This pairs as above.
	 */
	parked = smp_load_acquire(&ev->transit) != PMU_TRANSIT_NONE;
	if (parked && ev->box->dead) {
		local_irq_disable();
		pmu_event_settle_local(ev);
		local_irq_enable();
	} else if (parked) {
		WARN_ON_ONCE(smp_call_function_single(ev->box->cpu, pmu_event_settle_local, ev, 1));
	}
	mutex_unlock(&pmu_boxes_mutex);
}

/* Claim what the event needs, if need be of events that perf has not put back. */
static int pmu_event_claim_anyhow(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;
	int err = pmu_event_claim(box, ev);

	if (err == -EAGAIN && box->out) {
		pmu_box_remove_out(box);
		err = pmu_event_claim(box, ev);
	}
	/* Events that still have all counters may be on their way to this CPU. */
	if (err == -EAGAIN && READ_ONCE(box->migrating) && pmu_event_is_pinned(ev)) {
		pmu_box_evict_parked(box, pmu_event_is_pinned);
		err = pmu_event_claim(box, ev);
	}
	return err;
}

static int pmu_event_add(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	int err = -ENODEV;

	pmu_event_note_leader(ev);
	if (ev->transit == PMU_TRANSIT_OUT) {
		ev->transit = PMU_TRANSIT_NONE;
		ev->box->out--;
		return 0;
	}
	if (pmu_event_is_task(event))
		pmu_event_bind(ev);
	if (ev->failed || (ev->box && READ_ONCE(ev->box->dead))) {
		pmu_event_fail(ev);
	} else if (pmu_event_unpark(ev, PMU_TRANSIT_NONE)) {
		/* On the new CPU, or once more on the old one. */
		return 0;
	} else if (ev->box && pmu_box_elsewhere(ev->box)) {
		pmu_event_fail(ev);
	} else if (pmu_box_usable(ev->box)) {
		err = pmu_event_claim_anyhow(ev);
	} else if (pmu_event_may_wait(ev)) {
		ev->transit = PMU_TRANSIT_WAITING;
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

/* Does the event count in a box that another CPU has taken over? Only that CPU may stop it. */
static bool pmu_event_is_behind(const struct pmu_event *ev)
{
	return !pmu_box_is_here(ev->box) && !READ_ONCE(ev->box->dead) &&
	       !(ev->event->hw.state & PERF_HES_STOPPED);
}

static void pmu_event_del(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	struct pmu_box *box = ev->box;

	if (ev->transit == PMU_TRANSIT_WAITING) {
		ev->transit = PMU_TRANSIT_NONE;
	} else if (pmu_event_is_behind(ev)) {
		/* Pairs with pmu_event_unpark() on the new owner. */
		smp_store_release(&ev->transit, PMU_TRANSIT_PARKED);
	} else if (pmu_event_may_come_back(ev)) {
		ev->transit = PMU_TRANSIT_OUT;
		box->out++;
	} else {
		pmu_event_remove(ev);
	}
}

/*
 * perf also reads in an NMI, for a BPF program that runs there. The NMI may have interrupted a
 * pass, or code that holds the lock of a bus, so only memory may be read. For other events the
 * count stays that of the last read.
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
 * A group is read in one pass, so that its counts are of one moment, or as close together as the
 * bus allows. Adding a group needs nothing here: perf disables the PMU around it, so it is thawed
 * as one.
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

/* The driver has read the period in event_init, and thins out samples by it. */
static int pmu_event_check_period(struct perf_event *event, u64 period)
{
	return -EINVAL;
}

/* The callbacks, but for event_init, and the capabilities that all PMUs share. */
void pmu_perf_init(struct pmu_dev *pd)
{
	struct pmu *pmu = &pd->pmu;

	pmu->capabilities = pd->desc->excludes ? 0 : PERF_PMU_CAP_NO_EXCLUDE;
	/* perf_hw_context is only for the CPU's own PMU. */
	pmu->task_ctx_nr = pd->desc->tasks ? perf_sw_context : perf_invalid_context;
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
