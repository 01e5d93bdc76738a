// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which PMUs and boxes there are: the list, its locks, look-up and references.
 */
#include <linux/slab.h>
#include <linux/topology.h>

#include "core.h"

/* Held for the whole of a move. core.h has the order of all locks. */
DEFINE_MUTEX(pmu_core_mutex);
/* The PMUs, their boxes, owners, what is engaged, and events; not held throughout a move. */
DEFINE_MUTEX(pmu_boxes_mutex);
LIST_HEAD(pmu_devs);

/* Take all locks that are needed to add or remove a PMU or a box. */
void pmu_devs_lock(void)
{
	mutex_lock(&pmu_core_mutex);
	mutex_lock(&pmu_boxes_mutex);
}

void pmu_devs_unlock(void)
{
	mutex_unlock(&pmu_boxes_mutex);
	mutex_unlock(&pmu_core_mutex);
}

/* The scope id of the box that @cpu shares. */
int pmu_scope_id(enum pmu_scope scope, int cpu)
{
	switch (scope) {
	case PMU_SCOPE_PACKAGE:
		return topology_physical_package_id(cpu);
	case PMU_SCOPE_DIE:
		return topology_logical_die_id(cpu);
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
 * Does the PMU have a box? If not, it may be about to be unregistered, and must not get an event.
 * If it has one, the code that removes the box sees that pmu_dev.events counts the event.
 */
bool pmu_dev_has_box(struct pmu_dev *pd)
{
	bool any;

	mutex_lock(&pmu_boxes_mutex);
	any = !list_empty(&pd->boxes);
	mutex_unlock(&pmu_boxes_mutex);
	return any;
}

/* The box that counts for @cpu, with a reference, or NULL. */
struct pmu_box *pmu_box_get(struct pmu_dev *pd, int cpu)
{
	int scope_id = pmu_scope_id(pd->desc->scope, cpu);
	struct pmu_box *box, *found = NULL;

	mutex_lock(&pmu_boxes_mutex);
	list_for_each_entry(box, &pd->boxes, node) {
		if (box->scope_id == scope_id && box->cpu >= 0) {
			kref_get(&box->kref);
			found = box;
			break;
		}
	}
	mutex_unlock(&pmu_boxes_mutex);
	return found;
}

static void pmu_box_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct pmu_box, rcu));
}

/*
 * The last reference may be that of a task's event, which perf takes from its CPU with raw locks
 * held and interrupts off. A PREEMPT_RT kernel cannot free memory there.
 */
static void pmu_box_release(struct kref *kref)
{
	call_rcu(&container_of(kref, struct pmu_box, kref)->rcu, pmu_box_free);
}

void pmu_box_put(struct pmu_box *box)
{
	kref_put(&box->kref, pmu_box_release);
}
