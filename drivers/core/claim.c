// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event takes of a box's hardware, and whether a group can ever have all that it takes.
 *
 * Equal events of a box share what they count with.
 *
 * One of them is the bearer: it has claimed the hardware, and verbs are called only with it. Its
 * raw value is folded once for all events that share and count, and each is credited when perf
 * reads it (fold.c). An event that joins folds first and counts from there, so no register is
 * written. A bearer that leaves hands its claim and its raw value to another event.
 *
 * All of this runs under the box's lock, but for pmu_events_share() and the trial of a group.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "core.h"

/* A bearer that leaves, and a group's read, go through all. The next one claims another counter. */
#define PMU_MOST_SHARERS	64

static bool pmu_sharing = true;
module_param_named(share, pmu_sharing, bool, 0444);
MODULE_PARM_DESC(share, "equal events of a PMU share one counter (Y); N: each has its own");

/*
 * Can events of this PMU share? Counters in memory are not claimed, so there is nothing to share.
 * An NMI may read them, too, and must not walk a list that is being changed.
 */
static bool pmu_dev_shares(const struct pmu_dev *pd)
{
	const struct pmu_box_ops *ops = pd->desc->ops;

	return pmu_sharing && ops->start && (ops->claim ? !!ops->hand : !!ops->counters);
}

static bool pmu_attrs_are_equal(const struct perf_event_attr *one,
				const struct perf_event_attr *other)
{
	return one->config == other->config && one->config1 == other->config1 &&
	       one->config2 == other->config2 && one->exclude_user == other->exclude_user &&
	       one->exclude_kernel == other->exclude_kernel &&
	       one->exclude_hv == other->exclude_hv && one->exclude_idle == other->exclude_idle &&
	       one->exclude_host == other->exclude_host &&
	       one->exclude_guest == other->exclude_guest;
}

/*
 * Do two events of a PMU count the same, so that one counter is enough for both? An exclusive group
 * has asked for hardware of its own.
 */
static bool pmu_events_share(const struct pmu_event *one, const struct pmu_event *other)
{
	return one->box == other->box && pmu_dev_shares(one->box->pd) &&
	       !one->claims_anew && !other->claims_anew && !one->exclusive && !other->exclusive &&
	       pmu_attrs_are_equal(&one->event->attr, &other->event->attr);
}

/* Let the event count with the counter of an equal event, if there is one. */
static bool pmu_share_join(struct pmu_box *box, struct pmu_event *ev)
{
	struct pmu_event *bearer;

	list_for_each_entry(bearer, &box->bearers, bearing) {
		if (bearer->failed || !pmu_events_share(bearer, ev) ||
		    bearer->counter.sharers == PMU_MOST_SHARERS - 1)
			continue;
		bearer->counter.sharers++;
		ev->bearer = bearer;
		list_add_tail(&ev->sharing, &bearer->sharing);
		ev->event->hw.idx = bearer->event->hw.idx;
		return true;
	}
	return false;
}

/*
 * Make another event that shares the counter its bearer. What is known of the counter is handed
 * over, too.
 */
static void pmu_share_hand(struct pmu_box *box, struct pmu_event *from, struct pmu_event *to)
{
	struct pmu_event *ev;

	list_splice_init(&from->sharing, &to->sharing);
	list_for_each_entry(ev, &to->sharing, sharing)
		ev->bearer = to;
	to->bearer = to;
	list_replace_init(&from->bearing, &to->bearing);
	to->counter = from->counter;
	to->counter.sharers--;
	from->counter.sharers = 0;
	from->counter.counting = 0;
	if (box_ops(box)->hand)
		box_ops(box)->hand(box, from, to);
}

/* The event has stopped. Do others go on sharing its counter? */
static bool pmu_share_leave(struct pmu_box *box, struct pmu_event *ev)
{
	struct pmu_event *heir;

	if (ev->bearer != ev) {
		ev->bearer->counter.sharers--;
		list_del_init(&ev->sharing);
		ev->bearer = ev;
		return true;
	}
	if (!pmu_event_is_shared(ev)) {
		list_del_init(&ev->bearing);
		return false;
	}
	heir = list_first_entry(&ev->sharing, struct pmu_event, sharing);
	list_del_init(&heir->sharing);
	pmu_share_hand(box, ev, heir);
	return true;
}

/*
 * Reserve in @state what an event needs: that of the box, or an empty one if @trial. Returns the
 * number of its counter, or a negative errno. The first free counter leaves out no event that could
 * have one, as long as the sets that a driver's events can use are equal or disjoint.
 */
static int pmu_reserve(struct pmu_box *box, struct pmu_event *ev, u64 *state, bool trial)
{
	const struct pmu_box_ops *ops = box->pd->desc->ops;
	u64 usable;

	if (ops->claim)
		return ops->claim(box, ev, state, trial);
	if (!ops->counters)
		return 0;
	usable = ops->counters(box->pd->desc, ev) & ~*state;
	if (!usable)
		return -EAGAIN;
	*state |= usable & -usable;
	return __ffs64(usable);
}

/* Reserve what the event needs. The number of its counter goes to hw.idx. */
int pmu_event_claim(struct pmu_box *box, struct pmu_event *ev)
{
	int idx;

	lockdep_assert_held(&box->lock);
	if (pmu_share_join(box, ev))
		return 0;
	idx = pmu_reserve(box, ev, box->state, false);
	if (idx < 0)
		return idx;
	ev->event->hw.idx = idx;
	/* Equal events may share it from now on. */
	if (pmu_dev_shares(box->pd))
		list_add(&ev->bearing, &box->bearers);
	return 0;
}

void pmu_event_unclaim(struct pmu_box *box, struct pmu_event *ev)
{
	const struct pmu_box_ops *ops = box_ops(box);
	int idx = ev->event->hw.idx;

	ev->event->hw.idx = -1;
	if (pmu_share_leave(box, ev))
		return;
	if (ops->claim)
		ops->unclaim(box, ev, box->state);
	else if (ops->counters)
		*box->state &= ~BIT_ULL(idx);
}

/* The order of the trial: the leader, its siblings, and @last, which is new. NULL after it. */
static struct perf_event *pmu_trial_next(struct perf_event *event, struct perf_event *last)
{
	if (event == last)
		return NULL;
	if (list_is_last(&event->sibling_list, &last->group_leader->sibling_list))
		return last;
	return list_next_entry(event, sibling_list);
}

/* How many events of its group, of those that are tried before it, is @event equal to? */
static unsigned int pmu_trial_equals(struct perf_event *event, struct perf_event *last)
{
	struct perf_event *other;
	unsigned int equals = 0;

	for (other = last->group_leader; other != event; other = pmu_trial_next(other, last))
		equals += other->pmu == event->pmu &&
			  pmu_events_share(pmu_event_of(event), pmu_event_of(other));
	return equals;
}

static bool pmu_trial_take(u64 *state, struct pmu_box *box, struct perf_event *event,
			   struct perf_event *last)
{
	struct pmu_event *ev;

	/*
	 * Events of other PMUs claim nothing here. Events that are off are tried too: they may be
	 * enabled later.
	 */
	if (event->pmu != &box->pd->pmu)
		return true;
	ev = pmu_event_of(event);
	return ev->box == box && (pmu_trial_equals(event, last) % PMU_MOST_SHARERS ||
				  pmu_reserve(box, ev, state, true) >= 0);
}

/* Can the group count at the same time once @event is in it? */
int pmu_group_check(struct pmu_box *box, struct perf_event *event)
{
	const struct pmu_box_ops *ops = box->pd->desc->ops;
	struct perf_event *member = event->group_leader;
	u64 *state;

	/*
	 * If nothing is claimed, every group fits. The PMUs of tasks are of this kind, and perf
	 * does not lock their lists of siblings.
	 */
	if (!ops->claim && !ops->counters)
		return 0;
	/* The group fitted without an event that takes nothing more: do not try it again. */
	if (pmu_trial_equals(event, event) % PMU_MOST_SHARERS)
		return 0;
	state = kcalloc(pmu_state_words(box->pd->desc), sizeof(*state), GFP_KERNEL);
	if (!state)
		return -ENOMEM;
	while (member && pmu_trial_take(state, box, member, event))
		member = pmu_trial_next(member, event);
	kfree(state);
	return member ? -EINVAL : 0;
}
