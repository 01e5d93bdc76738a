// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleep: a device whose machine suspends or hibernates, and comes back with its registers
 * as after reset.
 *
 * Events stay where they are. Their counts are folded before the machine sleeps, no verb is called
 * while it sleeps, and afterwards they go on as if they were started then. CPUs other than the
 * first go offline in between. If such a CPU is the last of its scope, perf takes its events out of
 * their context for good, as it does with those of the CPU's own PMU: they keep what they have
 * counted, and count no more.
 */
#include <linux/cpu.h>
#include <linux/export.h>
#include <linux/smp.h>

#include "core.h"

static void pmu_box_suspend(void *data)
{
	struct pmu_box *box = data;
	unsigned long flags = pmu_box_lock(box);
	bool disengage = box->engaged && !box->dead;

	if (!pmu_box_is_idle(box)) {
		pmu_box_freeze(box);
		pmu_box_fold(box);
	}
	box->asleep = true;
	pmu_box_unlock(box, flags);
	if (disengage)
		box->pd->desc->ops->disengage(box);
}

/* Nothing is known of the hardware except that it does not count. All events start again. */
static void pmu_box_restart(struct pmu_box *box)
{
	struct pmu_event *ev;

	if (pmu_box_is_idle(box))
		return;
	if (box_ops(box)->engage && !box->engaged) {
		list_for_each_entry(ev, &box->active, active)
			pmu_event_fail(ev);
		return;
	}
	pmu_box_begin_pass(box);
	/*
	 * Start a bearer once, not for each event that shares: in a frozen box folded_pass says
	 * that it has been started.
	 */
	list_for_each_entry(ev, &box->active, active)
		if (!pmu_event_is_shared(ev->bearer) || ev->bearer->folded_pass != box->pass)
			pmu_event_begin(ev->bearer);
	pmu_box_thaw(box);
}

static void pmu_box_resume(void *data)
{
	struct pmu_box *box = data;
	bool engaged = box->engaged && !box->dead && !box->pd->desc->ops->engage(box);
	unsigned long flags = pmu_box_lock(box);

	box->asleep = false;
	box->engaged = engaged;
	pmu_box_restart(box);
	pmu_box_unlock(box, flags);
}

/*
 * Call @function for each box of @dev, on the owner CPU if it has one. A box without an owner is
 * off and does not count: with cpu_hotplug_lock held no CPU is in the course of leaving its box.
 */
static int pmu_boxes_call(const struct device *dev, smp_call_func_t function)
{
	struct pmu_dev *pd;
	struct pmu_box *box;

	cpus_read_lock();
	mutex_lock(&pmu_boxes_mutex);
	list_for_each_entry(pd, &pmu_devs, node) {
		list_for_each_entry(box, &pd->boxes, node) {
			if (box->dev != dev)
				continue;
			if (box->cpu >= 0)
				smp_call_function_single(box->cpu, function, box, 1);
			else
				function(box);
		}
	}
	mutex_unlock(&pmu_boxes_mutex);
	cpus_read_unlock();
	return 0;
}

/**
 * pmu_boxes_suspend() - call no verb of a device's boxes until pmu_boxes_resume().
 * @dev: the device they were registered for
 *
 * Boxes that are engaged are disengaged first. For the driver's dev_pm_ops.
 *
 * Context: may sleep.
 * Return: 0.
 */
int pmu_boxes_suspend(struct device *dev)
{
	return pmu_boxes_call(dev, pmu_box_suspend);
}
EXPORT_SYMBOL_PMU_CORE(pmu_boxes_suspend);

/**
 * pmu_boxes_resume() - a device's boxes go on after pmu_boxes_suspend().
 * @dev: the device they were registered for; nothing may count there, but registers may
 *	hold anything
 *
 * Boxes that were engaged are engaged again. Events that are open add to what they had
 * counted before.
 *
 * Context: may sleep.
 * Return: 0.
 */
int pmu_boxes_resume(struct device *dev)
{
	return pmu_boxes_call(dev, pmu_box_resume);
}
EXPORT_SYMBOL_PMU_CORE(pmu_boxes_resume);
