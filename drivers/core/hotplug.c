// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owner CPUs: every box has one among the online CPUs of its scope, shown in cpumask. When it goes
 * offline another takes over, as does a better one that comes online. The counters keep counting. A
 * box whose last CPU goes offline, or whose device is removed, has no owner.
 *
 * Last, sleep: a machine suspends or hibernates, and the device comes back with its registers as
 * after reset. Events stay where they are, and go on as if they were started then.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/device.h>
#include <linux/export.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>

#include <pmu/loans.h>

#include "core.h"

/* More than any distance between nodes. */
#define PMU_COST_ISOLATED	1024

static int pmu_hotplug_state;

/*
 * Make @cpu, or none if -1, the owner of a box. Called with cpu_hotplug_lock and pmu_boxes_mutex.
 * While perf moves events, they may count on both CPUs.
 */
void pmu_box_own(struct pmu_box *box, int cpu)
{
	struct pmu_dev *pd = box->pd;
	unsigned long flags;

	lockdep_assert_held(&pmu_boxes_mutex);
	if (box->cpu >= 0)
		cpumask_clear_cpu(box->cpu, &pd->owners);
	flags = pmu_box_lock(box);
	box->leaving = cpu < 0;
	WRITE_ONCE(box->cpu, cpu);
	pmu_box_unlock(box, flags);
	if (cpu < 0)
		return;
	cpumask_set_cpu(cpu, &pd->owners);
	if (pd->desc->ops->owner_changed)
		pd->desc->ops->owner_changed(box, cpu);
	pmu_box_set_engaged(box, pmu_box_wanted(box));
	/*
	 * The last event may have been closed meanwhile: either pmu_unuse() has seen that the box
	 * is engaged, or it is seen here that nobody wants it. Pairs with the atomic operation
	 * there.
	 */
	smp_mb();
	if (!pmu_box_wanted(box))
		pmu_box_set_engaged(box, false);
}

/**
 * pmu_cpu_is_isolated() - has the administrator isolated a CPU?
 * @cpu: the CPU
 *
 * Context: any.
 * Return: true if the CPU should be left alone.
 */
bool pmu_cpu_is_isolated(int cpu)
{
	/* On some kernels cpu_is_isolated() does not cover nohz_full CPUs. */
	return cpu_is_isolated(cpu) || !housekeeping_test_cpu(cpu, HK_TYPE_TICK);
}
EXPORT_SYMBOL_PMU_CORE(pmu_cpu_is_isolated);

/*
 * The cost of @cpu as the owner. Leaving isolated CPUs undisturbed matters most, since the
 * administrator asked for it. Next is the distance to the device.
 */
static unsigned int pmu_box_cost(const struct pmu_box *box, int cpu)
{
	struct device *parent = box->pd->desc->parent;
	int node = parent ? dev_to_node(parent) : NUMA_NO_NODE;
	unsigned int distance = node == NUMA_NO_NODE ? 0 : node_distance(node, cpu_to_node(cpu));

	return pmu_cpu_is_isolated(cpu) ? distance + PMU_COST_ISOLATED : distance;
}

static bool pmu_box_spans(const struct pmu_box *box, int cpu)
{
	return pmu_scope_id(box->pd->desc->scope, cpu) == box->scope_id;
}

/* The best owner for the box other than @leaving, or -1. */
int pmu_box_pick_cpu(const struct pmu_box *box, int leaving)
{
	int cpu, found = -1;

	for_each_online_cpu(cpu)
		if (cpu != leaving && pmu_box_spans(box, cpu) &&
		    (found < 0 || pmu_box_cost(box, cpu) < pmu_box_cost(box, found)))
			found = cpu;
	return found;
}

static void pmu_box_move_events(struct pmu_box *box, int from, int to)
{
	struct pmu *pmu = &box->pd->pmu;

	/*
	 * From 6.2 ("perf: Rewrite core context handling") until it was fixed, a call moves only
	 * one group: it looks for the next one from the one that it has just taken out of the tree.
	 * Other kernels move all events, but may wait for a grace period if there are none. So ask
	 * how many there are. This includes events of boxes that died earlier, and more may be
	 * opened meanwhile.
	 */
	for (int most = 2 * pmu_context_events(pmu, from);
	     most > 0 && pmu_context_events(pmu, from); most--)
		perf_pmu_migrate_context(pmu, from, to);
}

/*
 * Hand the box and its events from CPU @from to CPU @to, both online. The counters keep counting:
 * what happens in between is counted.
 */
static void pmu_box_migrate(struct pmu_box *box, int from, int to)
{
	unsigned long flags;

	mutex_lock(&pmu_boxes_mutex);
	box->pd->moving = true;
	flags = pmu_box_lock(box);
	WRITE_ONCE(box->moving, true);
	pmu_box_unlock(box, flags);
	pmu_box_own(box, to);
	mutex_unlock(&pmu_boxes_mutex);
	pmu_box_move_events(box, from, to);
	/* Events may come to the old CPU after the others have left it. */
	pmu_box_move_events(box, from, to);
	flags = pmu_box_lock(box);
	pmu_box_end_move(box);
	pmu_box_unlock(box, flags);
	pmu_box_move_events(box, from, to);
	hrtimer_cancel(&box->timer);
	smp_call_function_single(to, pmu_box_poll_here, box, 1);
	mutex_lock(&pmu_boxes_mutex);
	box->pd->moving = false;
	mutex_unlock(&pmu_boxes_mutex);
}

/*
 * On the last CPU of the scope, which goes offline. A later state of hotplug may refuse that, so
 * events keep counting until perf takes the CPU's context down, and the box is disengaged after the
 * last one. If perf puts another event on the CPU after that, it is refused.
 */
void pmu_box_left(struct irq_work *work)
{
	struct pmu_box *box = container_of(work, struct pmu_box, left);
	unsigned long flags = pmu_box_lock(box);
	bool left = box->leaving && pmu_box_is_idle(box) && box->engaged;
	bool disengage = left && !pmu_box_absent(box);

	if (left)
		WRITE_ONCE(box->engaged, false);
	pmu_box_unlock(box, flags);
	if (disengage)
		box->pd->desc->ops->disengage(box);
}

/*
 * This CPU, the last one of the box's scope, begins to go offline, which a later state may refuse.
 */
static void pmu_box_abandon(struct pmu_box *box)
{
	mutex_lock(&pmu_boxes_mutex);
	pmu_box_own(box, -1);
	irq_work_queue(&box->left);
	irq_work_sync(&box->left);
	mutex_unlock(&pmu_boxes_mutex);
}

/* May the CPUs of a box's scope see it? */
void pmu_box_show_cpus(struct pmu_box *box, bool there)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct pmu_box **seen = &per_cpu_ptr(box->pd->here, cpu)->box;

		if (!there && *seen == box)
			WRITE_ONCE(*seen, NULL);
		else if (there && cpu_online(cpu) && pmu_box_spans(box, cpu))
			WRITE_ONCE(*seen, box);
	}
}

static void pmu_box_kill_local(void *data)
{
	struct pmu_box *box = data;
	unsigned long flags = pmu_box_lock(box);
	bool disengage = box->engaged && !pmu_box_absent(box);
	struct pmu_event *ev;

	/* Fold what can still be read. A read of a device that is already gone fails. */
	if (!pmu_box_is_idle(box) && !box->asleep)
		pmu_box_fold(box);
	WRITE_ONCE(box->engaged, false);
	WRITE_ONCE(box->dead, true);
	pmu_box_poll_every(box, 0);
	/* A task's event continues in the box of another CPU, if that is not dead. */
	list_for_each_entry(ev, &box->active, active)
		if (!pmu_event_is_task(ev->event))
			pmu_event_fail(ev);
	pmu_box_unlock(box, flags);
	if (disengage)
		box->pd->desc->ops->disengage(box);
}

/*
 * The device is being removed. After this no verb is called, and events enter error state when they
 * would next count. Called with cpu_hotplug_lock and pmu_boxes_mutex.
 */
void pmu_box_kill(struct pmu_box *box)
{
	pmu_box_show_cpus(box, false);
	if (box->cpu >= 0)
		smp_call_function_single(box->cpu, pmu_box_kill_local, box, 1);
	else
		pmu_box_kill_local(box);
	pmu_box_own(box, -1);
}

/* @cpu comes online, or does not go offline after all. */
static void pmu_box_offer(struct pmu_box *box, int cpu)
{
	if (box->cpu < 0) {
		mutex_lock(&pmu_boxes_mutex);
		pmu_box_own(box, cpu);
		mutex_unlock(&pmu_boxes_mutex);
	} else if (pmu_box_cost(box, cpu) < pmu_box_cost(box, box->cpu)) {
		pmu_box_migrate(box, box->cpu, cpu);
	}
}

/*
 * The first event of an idle box is being opened; the caller has the only reference beside the
 * device's. An owner that was isolated meanwhile, as by a partition of cpusets, is relieved. CPU
 * hotplug and moves must not be waited for here, so if one is under way, or somebody else opens an
 * event, the owner stays.
 */
void pmu_box_relieve(struct pmu_box *box)
{
	int cpu;

	if (!cpus_read_trylock())
		return;
	if (mutex_trylock(&pmu_core_mutex)) {
		mutex_lock(&pmu_boxes_mutex);
		if (box->cpu >= 0 && kref_read(&box->kref) == 2) {
			cpu = pmu_box_pick_cpu(box, -1);
			if (pmu_box_cost(box, cpu) < pmu_box_cost(box, box->cpu))
				pmu_box_own(box, cpu);
		}
		mutex_unlock(&pmu_boxes_mutex);
		mutex_unlock(&pmu_core_mutex);
	}
	cpus_read_unlock();
}

static int pmu_cpu_online(unsigned int cpu)
{
	struct pmu_dev *pd;
	struct pmu_box *box;

	mutex_lock(&pmu_core_mutex);
	list_for_each_entry(pd, &pmu_devs, node) {
		list_for_each_entry(box, &pd->boxes, node) {
			if (!pmu_box_spans(box, cpu))
				continue;
			per_cpu_ptr(pd->here, cpu)->box = box;
			pmu_box_offer(box, cpu);
		}
	}
	mutex_unlock(&pmu_core_mutex);
	return 0;
}

/* Runs on the CPU that leaves, before perf takes its contexts down. */
static int pmu_cpu_offline(unsigned int cpu)
{
	struct pmu_dev *pd;
	struct pmu_box *box;
	int heir;

	mutex_lock(&pmu_core_mutex);
	list_for_each_entry(pd, &pmu_devs, node) {
		list_for_each_entry(box, &pd->boxes, node) {
			if (box->cpu != cpu)
				continue;
			heir = pmu_box_pick_cpu(box, cpu);
			if (heir < 0)
				pmu_box_abandon(box);
			else
				pmu_box_migrate(box, cpu, heir);
		}
	}
	mutex_unlock(&pmu_core_mutex);
	return 0;
}

int pmu_hotplug_init(void)
{
	pmu_hotplug_state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "perf/pmu_core:online",
						      pmu_cpu_online, pmu_cpu_offline);
	return min(pmu_hotplug_state, 0);
}

void pmu_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(pmu_hotplug_state);
}

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
		if (!pmu_event_is_shared(ev->bearer) ||
		    ev->bearer->counter.folded_pass != box->pass)
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
