// SPDX-License-Identifier: GPL-2.0-only
/*
 * Equal events of a box share what they count with.
 *
 * One of them is the bearer: it has claimed the hardware, and verbs are called only with it. Its
 * raw value is folded once for all events that share and count (fold.c). An event that joins folds
 * first and counts from there, so no register is written. A bearer that leaves hands its claim and
 * its raw value to another event.
 *
 * All of this runs under the box's lock, but for pmu_events_share().
 */
#include <linux/module.h>
#include <linux/string.h>

#include "core.h"

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

/* An exclusive group has asked for hardware of its own. */
static bool pmu_event_keeps_apart(const struct pmu_event *ev)
{
	return ev->claims_anew || ev->exclusive;
}

/* Do two events of a PMU count the same, so that one counter is enough for both? */
bool pmu_events_share(const struct pmu_event *one, const struct pmu_event *other)
{
	return one->box == other->box && pmu_dev_shares(one->pd) && !pmu_event_keeps_apart(one) &&
	       !pmu_event_keeps_apart(other) &&
	       pmu_attrs_are_equal(&one->event->attr, &other->event->attr);
}

/* Each fold credits all that share. The next one claims a counter of its own. */
static bool pmu_bearer_is_full(const struct pmu_event *bearer)
{
	const struct list_head *node;
	unsigned int sharers = 1;

	list_for_each(node, &bearer->sharing)
		sharers++;
	return sharers >= PMU_MOST_SHARERS;
}

/* Let the event count with the counter of an equal event, if there is one. */
bool pmu_share_join(struct pmu_box *box, struct pmu_event *ev)
{
	struct pmu_event *bearer;

	list_for_each_entry(bearer, &box->bearers, bearing) {
		if (bearer->failed || !pmu_events_share(bearer, ev) ||
		    pmu_bearer_is_full(bearer))
			continue;
		ev->bearer = bearer;
		list_add_tail(&ev->sharing, &bearer->sharing);
		ev->event->hw.idx = bearer->event->hw.idx;
		return true;
	}
	return false;
}

/* The event has claimed a counter. Equal events may share it from now on. */
void pmu_share_offer(struct pmu_box *box, struct pmu_event *ev)
{
	if (pmu_dev_shares(box->pd))
		list_add(&ev->bearing, &box->bearers);
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
	to->prev = from->prev;
	to->folded_ns = from->folded_ns;
	to->folded_pass = from->folded_pass;
	to->counting = from->counting;
	from->counting = 0;
	if (box_ops(box)->hand)
		box_ops(box)->hand(box, from, to);
}

/* The event has stopped. Do others go on sharing its counter? */
bool pmu_share_leave(struct pmu_box *box, struct pmu_event *ev)
{
	struct pmu_event *heir;

	if (ev->bearer != ev) {
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
