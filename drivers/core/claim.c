// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event takes of a box's hardware, and whether a group can ever have all that it takes.
 */
#include <linux/slab.h>

#include "core.h"

/*
 * A free counter of @usable, preferably @hint, or -1. First fit leaves out no event that could have
 * a counter, as long as the sets that a driver's events can use are equal or disjoint.
 */
static int pmu_pick_counter(u64 used, u64 usable, int hint)
{
	usable &= ~used;
	if (!usable)
		return -1;
	return hint >= 0 && usable & BIT_ULL(hint) ? hint : __ffs64(usable);
}

/* Reserve what the event needs. The number of its counter goes to hw.idx. */
int pmu_event_claim(struct pmu_box *box, struct pmu_event *ev)
{
	const struct pmu_box_ops *ops = box_ops(box);
	int idx = 0, err;

	if (pmu_share_join(box, ev))
		return 0;
	if (ops->claim) {
		err = ops->claim(box, ev, box->state, false);
		if (err)
			return err;
	} else if (ops->counters) {
		idx = pmu_pick_counter(box->used, ops->counters(box->pd->desc, ev), ev->last_idx);
		if (idx < 0)
			return -EAGAIN;
		box->used |= BIT_ULL(idx);
	}
	ev->event->hw.idx = idx;
	pmu_share_offer(box, ev);
	return 0;
}

void pmu_event_unclaim(struct pmu_box *box, struct pmu_event *ev)
{
	const struct pmu_box_ops *ops = box_ops(box);

	ev->last_idx = ev->event->hw.idx;
	ev->event->hw.idx = -1;
	if (pmu_share_leave(box, ev))
		return;
	if (ops->claim)
		ops->unclaim(box, ev, box->state);
	else if (ops->counters)
		box->used &= ~BIT_ULL(ev->last_idx);
}

/* What a group claims, in a trial on an empty box. */
struct pmu_trial {
	u64 used;
	void *state;
};

static bool pmu_trial_shares(const struct perf_event *event, const struct perf_event *other)
{
	return event->pmu == other->pmu &&
	       pmu_events_share(pmu_event_of(event), pmu_event_of(other));
}

/*
 * Does @event share a counter with an event of its group that was tried before it? The order of the
 * trial: @first, the leader, the siblings.
 */
static bool pmu_trial_has(const struct perf_event *first, const struct perf_event *event)
{
	struct perf_event *leader = first->group_leader, *sibling;

	if (event == first)
		return false;
	if (pmu_trial_shares(event, first))
		return true;
	if (event == leader)
		return false;
	if (pmu_trial_shares(event, leader))
		return true;
	for_each_sibling_event(sibling, leader) {
		if (event == sibling)
			return false;
		if (pmu_trial_shares(event, sibling))
			return true;
	}
	return false;
}

static bool pmu_trial_take(struct pmu_trial *trial, struct pmu_box *box,
			   const struct perf_event *first, const struct perf_event *event)
{
	const struct pmu_box_ops *ops = box->pd->desc->ops;
	struct pmu_event *ev;
	int idx;

	/*
	 * Events of other PMUs claim nothing here. Events that are off are tried too: they may be
	 * enabled later.
	 */
	if (event->pmu != &box->pd->pmu)
		return true;
	ev = pmu_event_of(event);
	if (ev->box != box)
		return false;
	if (pmu_trial_has(first, event))
		return true;
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

	if (!pmu_trial_take(trial, box, event, event))
		return false;
	if (leader == event)
		return true;
	if (!pmu_trial_take(trial, box, event, leader))
		return false;
	for_each_sibling_event(sibling, leader)
		if (!pmu_trial_take(trial, box, event, sibling))
			return false;
	return true;
}

/* Can the group count at the same time once @event is in it? */
int pmu_group_check(struct pmu_box *box, struct perf_event *event)
{
	const struct pmu_box_ops *ops = box->pd->desc->ops;
	struct pmu_trial trial = { 0 };
	bool fits;

	/*
	 * If nothing is claimed, every group fits. The PMUs of tasks are of this kind, and perf
	 * does not lock their lists of siblings.
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
