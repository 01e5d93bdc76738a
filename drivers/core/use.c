// SPDX-License-Identifier: GPL-2.0-only
/*
 * Use: an event that is open uses its box. While a box is used and has an owner, it is engaged: the
 * driver has started the hardware or firmware that must run before an event can count.
 *
 * A box is used by its open events, and by those of tasks, which use every box of their PMU since
 * they may come to run on any CPU. If a box cannot be engaged, events of tasks do not count on its
 * CPU, but do on others; it is tried again when the next event is opened.
 *
 * A work item calls disengage after the last user: perf may hold locks when it frees an event,
 * and a user who opens and closes events in a loop does not toggle an engine each time.
 */
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "core.h"

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

/* Called with pmu_boxes_mutex, which an owner that goes offline waits for. */
int pmu_box_set_engaged(struct pmu_box *box, bool on)
{
	struct pmu_engage_call call = { .box = box, .on = on };

	lockdep_assert_held(&pmu_boxes_mutex);
	/* A box without an owner is disengaged, or will be once it has left the last one. */
	if (!box->pd->desc->ops->engage || box->engaged == on || box->dead || box->cpu < 0)
		return 0;
	/*
	 * A box that sleeps is disengaged. pmu_box_resume() engages it, if it is to be engaged
	 * then.
	 */
	if (!box->asleep)
		call.err = smp_call_function_single(box->cpu, pmu_box_engage_local, &call, 1) ?:
			   call.err;
	if (!call.err)
		WRITE_ONCE(box->engaged, on);
	return call.err;
}

/* Is a box still engaged although its last event was closed? */
static bool pmu_disengage_due;

/*
 * When this returns, boxes whose events were closed before are disengaged. An open calls this, too,
 * since a real-time task may keep the work item from running. May sleep.
 */
void pmu_use_catch_up(void)
{
	struct pmu_dev *pd;
	struct pmu_box *box;

	mutex_lock(&pmu_boxes_mutex);
	if (xchg(&pmu_disengage_due, false))
		list_for_each_entry(pd, &pmu_devs, node)
			list_for_each_entry(box, &pd->boxes, node)
				if (!pmu_box_wanted(box))
					pmu_box_set_engaged(box, false);
	mutex_unlock(&pmu_boxes_mutex);
}

static void pmu_use_work_fn(struct work_struct *work)
{
	pmu_use_catch_up();
}

static DECLARE_WORK(pmu_use_work, pmu_use_work_fn);

/* All PMUs are gone. */
void pmu_use_exit(void)
{
	flush_work(&pmu_use_work);
}

/*
 * Engage @only, or if that is NULL as many boxes of the PMU as can be engaged. Returns the first
 * error if no box could.
 */
static int pmu_engage(struct pmu_dev *pd, struct pmu_box *only)
{
	struct pmu_box *box;
	int err, first = 0;
	bool any = false;

	mutex_lock(&pmu_boxes_mutex);
	list_for_each_entry(box, &pd->boxes, node) {
		if ((only && box != only) || !pmu_box_wanted(box))
			continue;
		err = pmu_box_set_engaged(box, true);
		any |= !err;
		first = first ?: err;
	}
	mutex_unlock(&pmu_boxes_mutex);
	return any ? 0 : first;
}

/*
 * An event is opened on @box, or for a task if @box is NULL. May sleep. A leader of the same PMU,
 * which was opened before, has engaged the same box or boxes, and keeps them so.
 */
int pmu_use(struct pmu_dev *pd, struct pmu_box *box, const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader;
	int err;

	atomic_inc(box ? &box->users : &pd->users);
	if (!pd->desc->ops->engage || (leader != event && leader->pmu == event->pmu))
		return 0;
	err = pmu_engage(pd, box);
	if (err)
		pmu_unuse(pd, box);
	return err;
}

/* The opposite of pmu_use(). Any context. */
void pmu_unuse(struct pmu_dev *pd, struct pmu_box *box)
{
	if (!atomic_dec_and_test(box ? &box->users : &pd->users) || !pd->desc->ops->engage)
		return;
	WRITE_ONCE(pmu_disengage_due, true);
	queue_work(system_dfl_wq, &pmu_use_work);
}
