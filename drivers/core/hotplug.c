// SPDX-License-Identifier: GPL-2.0-only
/*
 * Owner CPUs: every box has one among the online CPUs of its scope, shown in cpumask.
 * When it goes offline another takes over, as does a better one that comes online, and the
 * counters count on meanwhile.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/device.h>
#include <linux/export.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "core.h"

/* More than any distance between nodes. */
#define PMU_COST_ISOLATED	1024

static enum cpuhp_state pmu_hotplug_state;

/* Which scope @cpu is in: the number that a box of that scope has. */
int pmu_scope_id(enum pmu_scope scope, int cpu)
{
	switch (scope) {
	case PMU_SCOPE_PACKAGE:
		return topology_physical_package_id(cpu);
	case PMU_SCOPE_DIE:
		return topology_logical_die_id(cpu);
	case PMU_SCOPE_NODE:
		return cpu_to_node(cpu);
	case PMU_SCOPE_CORE:
		return PMU_CORE_ID(topology_physical_package_id(cpu), topology_core_id(cpu));
	case PMU_SCOPE_CPU:
		return cpu;
	case PMU_SCOPE_SYSTEM:
		break;
	}
	return 0;
}

/*
 * Make @cpu, or none if -1, the owner of a box that has left the one before. Called with
 * cpu_hotplug_lock and pmu_core_mutex.
 */
void pmu_box_own(struct pmu_box *box, int cpu)
{
	struct pmu_dev *pd = box->pd;

	lockdep_assert_held(&pmu_core_mutex);
	if (box->cpu >= 0)
		cpumask_clear_cpu(box->cpu, &pd->owners);
	WRITE_ONCE(box->cpu, cpu);
	if (cpu < 0)
		return;
	cpumask_set_cpu(cpu, &pd->owners);
	if (pd->desc->ops->owner_changed)
		pd->desc->ops->owner_changed(box, cpu);
	smp_call_function_single(cpu, pmu_box_arrive, box, 1);
}

/**
 * pmu_cpu_is_isolated() - has somebody asked for a CPU to be left alone?
 * @cpu: the CPU
 *
 * Context: any.
 */
bool pmu_cpu_is_isolated(int cpu)
{
	/* That knows the partitions of cpusets, but not in each kernel CPUs without a tick. */
	return cpu_is_isolated(cpu) || !housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN) ||
	       !housekeeping_test_cpu(cpu, HK_TYPE_TICK);
}
EXPORT_SYMBOL_NS_GPL(pmu_cpu_is_isolated, PMU_CORE_NS);

/*
 * What is lost if @cpu owns the box: the quiet of an isolated CPU, which somebody has asked for,
 * and only then time, which is the way to the device.
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

static void pmu_box_offer(struct pmu_box *box, int cpu)
{
	if (!pmu_box_spans(box, cpu))
		return;
	if (box->cpu < 0) {
		pmu_box_own(box, cpu);
		pmu_box_power(box, pmu_box_wanted(box));
	} else if (pmu_box_cost(box, cpu) < pmu_box_cost(box, box->cpu)) {
		pmu_box_migrate(box, box->cpu, cpu);
	}
}

static int pmu_cpu_online(unsigned int cpu)
{
	struct pmu_dev *pd;
	struct pmu_box *box;

	mutex_lock(&pmu_core_mutex);
	list_for_each_entry(pd, &pmu_devs, node)
		list_for_each_entry(box, &pd->boxes, node)
			pmu_box_offer(box, cpu);
	mutex_unlock(&pmu_core_mutex);
	return 0;
}

/* Runs on the CPU that leaves, before perf takes its contexts down. */
static int pmu_cpu_offline(unsigned int cpu)
{
	struct pmu_dev *pd;
	struct pmu_box *box;

	mutex_lock(&pmu_core_mutex);
	list_for_each_entry(pd, &pmu_devs, node)
		list_for_each_entry(box, &pd->boxes, node)
			if (box->cpu == cpu)
				pmu_box_migrate(box, cpu, pmu_box_pick_cpu(box, cpu));
	mutex_unlock(&pmu_core_mutex);
	return 0;
}

int pmu_hotplug_init(void)
{
	int state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "perf/pmu_core:online",
					      pmu_cpu_online, pmu_cpu_offline);

	if (state < 0)
		return state;
	pmu_hotplug_state = state;
	return 0;
}

void pmu_hotplug_exit(void)
{
	cpuhp_remove_state_nocalls(pmu_hotplug_state);
}
