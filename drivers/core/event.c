// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf's events in terms of a box and its verbs: what happens on a CPU.
 *
 * An event counts in one box: that of the CPU it was opened on, or, if it belongs to a
 * task, that of the CPU where the task is scheduled, from add to del.
 *
 * perf's callbacks take the box's lock, with interrupts off. perf calls on the box's owner CPU, or,
 * while it moves events to another owner, on both; and it reads on any CPU of the package.
 */
#include <linux/preempt.h>

#include "core.h"

/*
 * Does another event of the group count in the same box? If @least is INACTIVE: may it? Events of
 * the same PMU do, since all events that count here are on this CPU. The group may have events of
 * other PMUs, even as its leader. No sibling counts without its leader, which perf may have
 * switched off while both still count: its state does not matter.
 */
static bool pmu_event_has_company(const struct perf_event *event, enum perf_event_state least)
{
	struct perf_event *leader = event->group_leader, *sibling;

	if (leader != event && leader->pmu == event->pmu)
		return true;
	for_each_sibling_event(sibling, leader)
		if (sibling != event && sibling->pmu == event->pmu && sibling->state >= least)
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
	if (ev->box->frozen) {
		pmu_event_update(ev);
		return;
	}
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

	if (pmu_event_fold_beside(ev, ev->bearer->counter.counting))
		return;
	if (!pmu_event_is_alone(ev))
		pmu_box_freeze(box);
	if (pmu_box_is_idle(box)) {
		box->doubted_before = box->doubted;
		box->doubted = false;
	}
	if (ev->bearer->counter.counting)
		pmu_event_fold(ev);
	else
		pmu_event_begin(ev->bearer);
}

static void pmu_event_start_locked(struct pmu_event *ev)
{
	struct perf_event *event = ev->event;
	struct pmu_box *box = ev->box;

	if (!(event->hw.state & PERF_HES_STOPPED) || box->dead)
		return;
	pmu_event_start_counter(ev);
	pmu_event_credit(ev);
	ev->bearer->counter.counting++;
	/* From here on an NMI may read the event. */
	WRITE_ONCE(event->hw.state, 0);
	list_add_tail(&ev->active, &box->active);
	pmu_box_poll_for(box, ev);
	pmu_box_thaw(box);
	perf_event_update_userpage(event);
}

static void pmu_event_start(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	unsigned long irqs;

	/*
	 * To end the throttling of a group, 6.16 starts all its events, even those that are not on
	 * the CPU. They have no counter, and an event of a task has no box.
	 */
	if (event->state != PERF_EVENT_STATE_ACTIVE)
		return;
	irqs = pmu_box_lock(ev->box);
	pmu_event_start_locked(ev);
	pmu_box_unlock(ev->box, irqs);
}

/* The counter keeps counting if other events count with it. */
static void pmu_event_stop_hardware(struct pmu_event *ev)
{
	struct pmu_event *bearer = ev->bearer;

	if (bearer->counter.counting == 1 && !pmu_box_absent(ev->box) && box_ops(ev->box)->stop)
		box_ops(ev->box)->stop(ev->box, bearer, bearer->event->hw.idx);
}

/* If nothing else counts, it is enough to freeze the box. The counter stays set up. */
static void pmu_event_stop_counter(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;

	if (pmu_event_fold_beside(ev, ev->bearer->counter.counting - 1))
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

static void pmu_event_stop_locked(struct pmu_event *ev)
{
	struct perf_event *event = ev->event;

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	pmu_event_stop_counter(ev);
	ev->bearer->counter.counting--;
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	list_del(&ev->active);
	pmu_box_thaw(ev->box);
	perf_event_update_userpage(event);
}

static void pmu_event_stop(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	unsigned long irqs;

	/*
	 * Without this flag perf throttles a group, or an event has reached its limit of samples;
	 * this may be in an NMI, or within the event's own sample. Leave the event running: a
	 * throttled one is soon started again, and one at its limit is disabled once interrupts are
	 * on.
	 */
	if (!(flags & PERF_EF_UPDATE) || event->hw.state & PERF_HES_STOPPED)
		return;
	irqs = pmu_box_lock(ev->box);
	pmu_event_stop_locked(ev);
	pmu_box_unlock(ev->box, irqs);
}

static struct pmu_here *pmu_here_of(const struct pmu *pmu)
{
	return this_cpu_ptr(container_of(pmu, struct pmu_dev, pmu)->here);
}

/* A task's event counts in this CPU's box from now on. Interrupts are off, so it is not freed. */
static void pmu_event_bind(struct pmu_event *ev)
{
	struct pmu_box *box = READ_ONCE(pmu_here_of(ev->event->pmu)->box);

	ev->box = box && kref_get_unless_zero(&box->kref) ? box : NULL;
}

static void pmu_event_unbind(struct pmu_event *ev)
{
	pmu_box_put(ev->box);
	ev->box = NULL;
}

static void pmu_event_remove(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;

	pmu_event_stop_locked(ev);
	pmu_event_unclaim(box, ev);
	if (pmu_event_is_task(ev->event))
		pmu_event_unbind(ev);
}

/*
 * An event that perf takes out may come back, so it counts on meanwhile: when perf adds another
 * event, or moves them. One that samples is stopped, since no sample may come from an event that is
 * off.
 */
static bool pmu_event_may_come_back(const struct pmu_event *ev)
{
	const struct pmu_box *box = ev->box;

	if (ev->event->hw.state & PERF_HES_STOPPED || ev->failed)
		return false;
	if (box->moving && box->cpu != smp_processor_id())
		return true;
	return box->disabled && !ev->claims_anew && !is_sampling_event(ev->event);
}

/* Events that are out come first in the list of active events. */
static void pmu_event_take_out(struct pmu_event *ev)
{
	/*
	 * perf lets nobody read it before it is back, but in a move. Otherwise its group may have
	 * been read, and perf has yet to copy the counts.
	 */
	if (ev->box->moving)
		pmu_event_credit(ev);
	ev->out = smp_processor_id() + 1;
	ev->box->out++;
	list_move(&ev->active, &ev->box->active);
}

static void pmu_event_put_back(struct pmu_event *ev)
{
	ev->out = 0;
	ev->box->out--;
	list_move_tail(&ev->active, &ev->box->active);
}

/* perf does not put it back. */
static void pmu_event_drop(struct pmu_event *ev)
{
	pmu_event_put_back(ev);
	pmu_event_remove(ev);
}

/*
 * Is an event that is out of another context, or on its way to the new owner? perf sets its CPU as
 * it puts it there, but siblings come before their leader, with which perf adds them. So the CPU on
 * which it was taken out matters, too. Until it is added, it yields to events of its own context,
 * and to a pinned one if it is none.
 */
static bool pmu_event_waits(const struct pmu_event *ev, const struct pmu_event *claimant)
{
	const struct pmu_box *box = ev->box;
	int cpu = smp_processor_id();
	bool here = ev->out == cpu + 1 && (pmu_event_is_task(ev->event) || ev->event->cpu == cpu);

	if (!claimant)
		return !here || (box->moving && ev->event->cpu != box->cpu);
	return box->moving && !here && (!claimant->pinned || ev->pinned);
}

/*
 * Stop the events that perf has not put back: for a @claimant, or at pmu_enable on this CPU. Those
 * of another CPU's context stay: perf may be about to put them back there, or to change their
 * groups.
 */
static void pmu_box_remove_out(struct pmu_box *box, const struct pmu_event *claimant)
{
	struct pmu_event *ev, *next;

	list_for_each_entry_safe(ev, next, &box->active, active) {
		if (!ev->out)
			return;
		if (pmu_event_waits(ev, claimant))
			continue;
		pmu_event_drop(ev);
	}
}

/*
 * Perf has moved the box's events, but for those that wait for their turn. Whether these are in
 * groups, which stop together, cannot be seen without the lock of their context.
 */
void pmu_box_end_move(struct pmu_box *box)
{
	lockdep_assert_held(&box->lock);
	box->moving = false;
	if (box->out)
		pmu_box_freeze(box);
	box->disabled++;
	while (box->out)
		pmu_event_drop(list_first_entry(&box->active, struct pmu_event, active));
	box->disabled--;
	pmu_box_thaw(box);
}

/*
 * perf frees the event, which is in no context any more. If it is still out, its hardware is given
 * up first. This does not wait for the end of the move.
 */
void pmu_event_settle(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;
	unsigned long flags;

	if (!box)
		return;
	flags = pmu_box_lock(box);
	if (ev->out) {
		pmu_box_freeze(box);
		pmu_event_drop(ev);
	}
	pmu_box_unlock(box, flags);
}

/* Claim what the event needs, if need be of events that perf has not put back. */
static int pmu_event_claim_anyhow(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;
	int err = pmu_event_claim(box, ev);

	if (err != -EAGAIN || !box->out)
		return err;
	if (box->moving)
		pmu_box_freeze(box);
	pmu_box_remove_out(box, ev);
	return pmu_event_claim(box, ev);
}

static int pmu_event_add_locked(struct pmu_event *ev, int flags)
{
	struct pmu_box *box = ev->box;
	bool elsewhere;
	int err;

	if (ev->out) {
		pmu_event_put_back(ev);
		return 0;
	}
	/*
	 * An event that was opened during a move may have come to the old CPU too late to be moved.
	 * It would end with that CPU, and no error would show it.
	 */
	elsewhere = box->cpu >= 0 && box->cpu != smp_processor_id() && !box->moving;
	if (ev->failed || box->dead || elsewhere) {
		/* A task's may count in another box. */
		if (!pmu_event_is_task(ev->event))
			pmu_event_fail(ev);
		return -ENODEV;
	}
	if (!box->engaged && box_ops(box)->engage) {
		if (!box->pd->desc->engage_at_start ||
		    (!box->asleep && box_ops(box)->engage(box)))
			return -ENODEV;
		box->engaged = true;
	}
	err = pmu_event_claim_anyhow(ev);
	if (err)
		return err;
	ev->event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (flags & PERF_EF_START)
		pmu_event_start_locked(ev);
	return 0;
}

static int pmu_event_add(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	struct pmu_box *box;
	unsigned long irqs;
	int err;

	if (pmu_event_is_task(event) && !ev->out)
		pmu_event_bind(ev);
	box = ev->box;
	if (!box)
		return -ENODEV;
	irqs = pmu_box_lock(box);
	pmu_event_note_leader(ev);
	err = pmu_event_add_locked(ev, flags);
	pmu_box_unlock(box, irqs);
	if (err && pmu_event_is_task(event))
		pmu_event_unbind(ev);
	return err;
}

static void pmu_event_del(struct perf_event *event, int flags)
{
	struct pmu_event *ev = pmu_event_of(event);
	struct pmu_box *box = ev->box;
	unsigned long irqs = pmu_box_lock(box);

	if (pmu_event_may_come_back(ev))
		pmu_event_take_out(ev);
	else
		pmu_event_remove(ev);
	pmu_box_unlock(box, irqs);
}

static void pmu_event_read_locked(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;

	if (pmu_here_of(ev->event->pmu)->reading != box) {
		pmu_box_begin_read(box);
		pmu_event_update(ev);
		pmu_box_end_read(box);
		return;
	}
	if (pmu_event_has_company(ev->event, PERF_EVENT_STATE_ACTIVE)) {
		pmu_box_do(box, box_ops(box)->hold);
		pmu_group_update(ev);
	} else {
		pmu_event_update(ev);
	}
}

/*
 * perf also reads in an NMI, for a BPF program that runs there. The NMI may have interrupted code
 * that holds the lock of the box, or of a bus, so only memory may be read, and only if the box is
 * not locked. Otherwise the count stays that of the last read, or of the last fold.
 */
static void pmu_event_read_in_nmi(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;
	const struct pmu_box_ops *ops = box->pd->desc->ops;

	if (!raw_spin_trylock(&box->lock))
		return;
	if (ops->start || ops->begin_read)
		pmu_event_credit(ev);
	else
		pmu_event_read_locked(ev);
	raw_spin_unlock(&box->lock);
}

/* During a move the event may have been stopped on another CPU just now. */
static void pmu_event_read_here(struct pmu_event *ev)
{
	struct pmu_box *box = ev->box;
	unsigned long irqs = pmu_box_lock(box);

	if (!(ev->event->hw.state & PERF_HES_STOPPED))
		pmu_event_read_locked(ev);
	pmu_box_unlock(box, irqs);
}

static void pmu_event_read(struct perf_event *event)
{
	struct pmu_event *ev = pmu_event_of(event);
	unsigned long irqs;

	/* The samples add to the count, and a sample of one event may read another: in a verb. */
	if (is_sampling_event(event))
		return;
	/* Older kernels read for a sample with them on, while a task's event may be taken out. */
	local_irq_save(irqs);
	if (!(event->hw.state & PERF_HES_STOPPED)) {
		if (in_nmi())
			pmu_event_read_in_nmi(ev);
		else if (!pmu_lock_is_held_here())
			pmu_event_read_here(ev);
	}
	local_irq_restore(irqs);
}

/*
 * A group is read in one pass, so that its counts are of one moment, or as close together as the
 * bus allows. Adding a group needs nothing here: perf disables the PMU around it, so it is thawed
 * as one.
 */
static void pmu_start_txn(struct pmu *pmu, unsigned int flags)
{
	struct pmu_here *here = pmu_here_of(pmu);
	struct pmu_box *box = READ_ONCE(here->box);
	unsigned long irqs;

	if (!box || !(flags & PERF_PMU_TXN_READ))
		return;
	here->reading = box;
	irqs = pmu_box_lock(box);
	pmu_box_begin_read(box);
	pmu_box_unlock(box, irqs);
}

static int pmu_commit_txn(struct pmu *pmu)
{
	struct pmu_here *here = pmu_here_of(pmu);
	struct pmu_box *box = here->reading;
	unsigned long irqs;

	if (!box)
		return 0;
	here->reading = NULL;
	irqs = pmu_box_lock(box);
	pmu_box_end_read(box);
	pmu_box_unlock(box, irqs);
	return 0;
}

/* Only adding is ever cancelled. */
static void pmu_cancel_txn(struct pmu *pmu)
{
}

static void pmu_disable(struct pmu *pmu)
{
	struct pmu_here *here = pmu_here_of(pmu);
	struct pmu_box *box = READ_ONCE(here->box);
	unsigned long irqs;

	if (!box)
		return;
	here->disabled = box;
	irqs = pmu_box_lock(box);
	box->disabled++;
	pmu_box_unlock(box, irqs);
}

static void pmu_enable(struct pmu *pmu)
{
	struct pmu_here *here = pmu_here_of(pmu);
	struct pmu_box *box = here->disabled;
	unsigned long irqs;

	if (!box)
		return;
	here->disabled = NULL;
	irqs = pmu_box_lock(box);
	if (box->out)
		pmu_box_remove_out(box, NULL);
	box->disabled--;
	pmu_box_thaw(box);
	pmu_box_unlock(box, irqs);
}

void pmu_event_init_callbacks(struct pmu *pmu)
{
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
}
