// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver's module is kept while events of others use one of its PMUs.
 *
 * If one of perf's own software events is in a group with one of ours, it uses our PMU's context,
 * and goes on to do so when ours is closed. It has no reference on the driver's module, so the core
 * takes one. For events of tasks perf does not do this.
 */
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/printk.h>
#include <linux/workqueue.h>

#include <pmu/loans.h>

#include "core.h"

static void pmu_keep_work_fn(struct work_struct *work);
static DECLARE_DELAYED_WORK(pmu_keep_work, pmu_keep_work_fn);

/* Jiffies until the next look: few at first, since most programs close all of a group at once. */
static unsigned long pmu_keep_delay;

/*
 * Does anything use the PMU but @own references? An event that moves may be in no context. Under
 * pmu_boxes_mutex no move begins.
 */
static bool pmu_dev_is_lent(struct pmu_dev *pd, int own)
{
	int cpu, refs = 0;

	lockdep_assert_held(&pmu_boxes_mutex);
	for_each_possible_cpu(cpu)
		refs += pmu_context_refs(&pd->pmu, cpu);
	return pd->moving || refs > own;
}

static void pmu_dev_keep(struct pmu_dev *pd)
{
	if (pd->kept)
		return;
	__module_get(pd->desc->owner);
	pd->kept = true;
	pmu_keep_delay = 1;
	mod_delayed_work(system_dfl_wq, &pmu_keep_work, pmu_keep_delay);
}

/* Returns whether anything uses the PMU but @own references. If so, the module is kept if @keep. */
static bool pmu_dev_look(struct pmu_dev *pd, int own, bool keep)
{
	bool lent;

	mutex_lock(&pmu_boxes_mutex);
	lent = pmu_dev_is_lent(pd, own);
	if (lent && keep)
		pmu_dev_keep(pd);
	mutex_unlock(&pmu_boxes_mutex);
	return lent;
}

/*
 * @event of the PMU is destroyed, and still has its references on the module and its context. May
 * sleep.
 */
void pmu_keep(struct pmu_dev *pd, const struct perf_event *event)
{
	int own = pmu_event_has_context(event);

	/* While others of ours are open, they keep the module. */
	if (!atomic_dec_and_test(&pd->events) || pd->desc->tasks)
		return;
	/* Events that are closed at the same time are about to drop their references. */
	for (int looks = 20; pmu_dev_look(pd, own, !looks) && looks; looks--)
		usleep_range(100, 200);
}

/* Say it once, and not of events that are just being closed. */
static void pmu_dev_tell(struct pmu_dev *pd)
{
	if (pd->told || pmu_keep_delay < HZ / 2)
		return;
	pd->told = true;
	pr_notice("%s: a software event that was in a group with one of its events is still open: the module can be unloaded once that is closed\n",
		  pd->name);
}

static void pmu_keep_work_fn(struct work_struct *work)
{
	bool any = false;
	struct pmu_dev *pd;

	mutex_lock(&pmu_boxes_mutex);
	list_for_each_entry(pd, &pmu_devs, node) {
		if (!pd->kept)
			continue;
		pd->kept = !atomic_read(&pd->events) && pmu_dev_is_lent(pd, 0);
		any |= pd->kept;
		if (pd->kept)
			pmu_dev_tell(pd);
		else
			module_put(pd->desc->owner);
	}
	if (any) {
		pmu_keep_delay = min(2 * pmu_keep_delay, (unsigned long)HZ);
		queue_delayed_work(system_dfl_wq, &pmu_keep_work, pmu_keep_delay);
	}
	mutex_unlock(&pmu_boxes_mutex);
}

/* All PMUs are gone. */
void pmu_keep_exit(void)
{
	cancel_delayed_work_sync(&pmu_keep_work);
}
