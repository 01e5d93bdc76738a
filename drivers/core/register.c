// SPDX-License-Identifier: GPL-2.0-only
/*
 * PMUs and their boxes: registration and removal.
 *
 * A PMU appears with its first box and goes with its last, or once its events are closed
 * (faults.c). A box that comes back meanwhile joins it again.
 */
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/smp.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include <pmu/loans.h>
#include <pmu/version.h>

#include "core.h"

static struct device *pmu_software;	/* for pmu_always_there() */

/*
 * This is done once: to open an event patches code of all CPUs. It also locks perf's list of PMUs
 * within an SRCU section, and older kernels hold that lock while they unregister a PMU and wait for
 * such sections to end.
 */
static void pmu_find_software(struct work_struct *work)
{
	struct perf_event *event = pmu_software_event(PERF_COUNT_SW_DUMMY, raw_smp_processor_id());

	if (IS_ERR(event)) {
		pmu_software = ERR_CAST(event);
		return;
	}
	/* perf has it before any module is loaded. */
	pmu_software = event->pmu->dev ?: ERR_PTR(-ENODEV);
	perf_event_release_kernel(event);
}

static struct pmu_dev *pmu_dev_find(const char *name)
{
	struct pmu_dev *pd;

	list_for_each_entry(pd, &pmu_devs, node)
		if (!strcmp(pd->name, name))
			return pd;
	return NULL;
}

/*
 * Is there a PMU of this name? perf_pmu_register() would fail as well, but with a stack dump that
 * gives no advice. The PMU may be unregistered at any time, so nothing of it is looked at.
 */
static bool pmu_name_taken(const char *name)
{
	struct device *found = bus_find_device_by_name(pmu_software->bus, NULL, name);

	put_device(found);
	return found;
}

/**
 * pmu_is_of_another() - does a driver outside this suite have a PMU of this name?
 * @name: the PMU's name
 *
 * Context: may sleep; not from where a PMU is registered.
 * Return: true if one has.
 */
bool pmu_is_of_another(const char *name)
{
	bool found;

	/* Without the lock, a PMU of this suite might be registered between the two checks. */
	mutex_lock(&pmu_register_mutex);
	found = !pmu_dev_find(name) && pmu_name_taken(name);
	mutex_unlock(&pmu_register_mutex);
	return found;
}
EXPORT_SYMBOL_PMU_CORE(pmu_is_of_another);

/**
 * pmu_always_there() - a PMU whose bus has all PMUs, for bus_register_notifier().
 *
 * Context: any.
 * Return: the device of perf's own software PMU, which is never unregistered.
 */
struct device *pmu_always_there(void)
{
	return pmu_software;
}
EXPORT_SYMBOL_PMU_CORE(pmu_always_there);

/* Called with pmu_register_mutex, and no other lock: perf may take locks of hotplug. */
static struct pmu_dev *pmu_dev_register(struct device *dev, const struct pmu_desc *desc,
					const char *name)
{
	struct pmu_dev *pd;
	int err;

	if (pmu_name_taken(name))
		return dev_err_ptr_probe(dev, -EEXIST,
			"another driver has a PMU named %s: unload that driver or unbind its device first\n",
			name);

	pd = kzalloc(struct_size(pd, name, strlen(name) + 1), GFP_KERNEL);
	if (!pd)
		return ERR_PTR(-ENOMEM);
	memcpy(pd->name, name, strlen(name) + 1);
	pd->desc = desc;
	INIT_LIST_HEAD(&pd->boxes);
	pd->attrs = pmu_attrs_create(desc, &pd->pmu.attr_groups);
	pd->here = alloc_percpu(struct pmu_here);
	if (!pd->attrs || !pd->here) {
		pmu_dev_free(pd);
		return ERR_PTR(-ENOMEM);
	}

	pmu_perf_init(pd);
	pmu_set_parent(&pd->pmu, desc->parent);
	pd->pmu.module = desc->owner;
	err = perf_pmu_register(&pd->pmu, pd->name, -1);
	if (err) {
		pmu_dev_free(pd);
		return dev_err_ptr_probe(dev, err, "perf refused the PMU %s\n", name);
	}
	/* Before the bus is up, at boot, there is no directory for the link yet. */
	if (desc->parent && pd->pmu.dev)
		err = sysfs_create_link(&pd->pmu.dev->kobj, &desc->parent->kobj, "device");
	if (err)
		dev_warn(dev, "%s has no link to its device: error %d\n", name, err);
	pmu_devs_lock();
	list_add_tail(&pd->node, &pmu_devs);
	pmu_devs_unlock();
	return pd;
}

static bool pmu_dev_has_scope(struct pmu_dev *pd, int scope_id)
{
	struct pmu_box *box;

	list_for_each_entry(box, &pd->boxes, node)
		if (box->scope_id == scope_id)
			return true;
	return false;
}

/* Called with all locks but perf's. */
static int pmu_box_add(struct pmu_dev *pd, struct pmu_box *box, const struct pmu_desc *desc)
{
	int cpu;

	if (pd->desc != desc || pmu_dev_has_scope(pd, box->scope_id))
		return dev_err_probe(box->dev, -EEXIST, "%s has counters for scope %d already\n",
				     pd->name, box->scope_id);

	box->pd = pd;
	cpu = pmu_box_pick_cpu(box, -1);
	if (cpu >= 0)
		pmu_box_own(box, cpu);
	else if (desc->scope < PMU_SCOPE_CORE)	/* for a core it is normal */
		dev_warn(box->dev, "%s: no CPU of %s %d is online, so nothing can be counted there until one is\n",
			 pd->name, desc->scope == PMU_SCOPE_DIE ? "die" : "package", box->scope_id);
	pmu_box_show_cpus(box, true);
	list_add_tail(&box->node, &pd->boxes);
	return 0;
}

static void pmu_box_remove(void *data)
{
	struct pmu_box *box = data;

	mutex_lock(&pmu_register_mutex);
	cpus_read_lock();
	pmu_devs_lock();
	list_del(&box->node);
	pmu_box_kill(box);
	pmu_devs_unlock();
	cpus_read_unlock();
	/* These use the device. */
	hrtimer_cancel(&box->timer);
	irq_work_sync(&box->left);
	irq_work_sync(&box->complaint);
	pmu_devs_let_go(1);
	mutex_unlock(&pmu_register_mutex);
	pmu_box_put(box);
}

/**
 * devm_pmu_box_register() - let perf use a set of counters, until @dev is unbound.
 * @dev: the device that has the counters; named in messages
 * @desc: what kind of PMU it is
 * @name: the PMU's name in sysfs; boxes of one name and several scopes are one PMU
 * @scope_id: which package, core and so on the box belongs to, see enum pmu_scope
 * @priv: the driver's data, for pmu_box_priv(); not used any more once @dev is unbound
 *
 * The hardware must be frozen. It is touched on the owner CPU from the moment that
 * an event is opened, possibly before this returns. When @dev is unbound while events
 * are open they go to error state, keeping their counts.
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; -EEXIST if the PMU's name is another driver's, or if the PMU has a
 * box for this scope already.
 */
int devm_pmu_box_register(struct device *dev, const struct pmu_desc *desc,
			  const char *name, int scope_id, void *priv)
{
	struct pmu_box *box = kzalloc(struct_size(box, state, pmu_state_words(desc)), GFP_KERNEL);
	struct pmu_dev *pd;
	int err;

	if (!box)
		return -ENOMEM;
	kref_init(&box->kref);
	box->dev = dev;
	box->scope_id = scope_id;
	box->cpu = -1;
	box->priv = priv;
	box->frozen = true;
	pmu_box_init_folding(box, desc->sampling);
	box->left = IRQ_WORK_INIT_HARD(pmu_box_left);

	/* First: if this failed later, a PMU without a box would stay until the module's exit. */
	err = devm_add_action(dev, pmu_box_remove, box);
	if (err) {
		pmu_box_put(box);
		return err;
	}
	mutex_lock(&pmu_register_mutex);
	/* The list of boxes is changed under this mutex too. */
	pd = pmu_dev_find(name) ?: pmu_dev_register(dev, desc, name);
	err = PTR_ERR_OR_ZERO(pd);
	if (!err) {
		cpus_read_lock();
		pmu_devs_lock();
		err = pmu_box_add(pd, box, desc);
		pmu_devs_unlock();
		cpus_read_unlock();
	}
	mutex_unlock(&pmu_register_mutex);
	if (err) {
		devm_remove_action(dev, pmu_box_remove, box);
		pmu_box_put(box);
	}
	return err;
}
EXPORT_SYMBOL_PMU_CORE(devm_pmu_box_register);

/**
 * pmu_box_priv() - the driver's data of a box.
 * @box: the box, as a verb got it
 *
 * Context: a verb.
 * Return: what devm_pmu_box_register() was given.
 */
void *pmu_box_priv(const struct pmu_box *box)
{
	return box->priv;
}
EXPORT_SYMBOL_PMU_CORE(pmu_box_priv);

static int __init pmu_core_init(void)
{
	struct work_struct find;
	int err;

	/* Ask as the kernel: a loader of modules need not have the right to open events. */
	INIT_WORK_ONSTACK(&find, pmu_find_software);
	queue_work(system_dfl_wq, &find);
	flush_work(&find);
	destroy_work_on_stack(&find);
	if (IS_ERR(pmu_software)) {
		err = PTR_ERR(pmu_software);
		pr_err("pmu_core: perf opens no event of its own: error %d\n", err);
		return err;
	}
	return pmu_hotplug_init();
}
module_init(pmu_core_init);

static void __exit pmu_core_exit(void)
{
	pmu_hotplug_exit();
	pmu_use_exit();
	pmu_faults_exit();
	/* Wait for RCU callbacks: pmu_box_free() is code of this module. */
	rcu_barrier();
}
module_exit(pmu_core_exit);

MODULE_DESCRIPTION("Common part of pmu-suite's perf drivers");
MODULE_LICENSE("GPL");
MODULE_VERSION(PMU_SUITE_VERSION);
