// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_imc: what a core counts, all its threads together. A box per core.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <asm/cputhreads.h>

#include "imc.h"

static int imc_core_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	return imc_offset_check(to_imc_unit(desc), ev->event->attr.config) ?:
	       imc_domain_get(IMC_TYPE_CORE);
}

static void imc_core_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	imc_domain_put(IMC_TYPE_CORE);
}

static int imc_core_power_on(struct pmu_box *box)
{
	return imc_engine_get(pmu_box_priv(box), IMC_TYPE_CORE);
}

static void imc_core_power_off(struct pmu_box *box)
{
	imc_engine_put(pmu_box_priv(box));
}

static int imc_core_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	const struct imc_core *core = pmu_box_priv(box);

	return imc_counter_read(core->page, ev, value);
}

static const struct pmu_box_ops imc_core_ops = {
	.event_init = imc_core_event_init,
	.event_free = imc_core_event_free,
	.power_on = imc_core_power_on,
	.power_off = imc_core_power_off,
	.read = imc_core_read,
};

static void imc_page_free(void *page)
{
	kfree(page);
}

/*
 * A page for the engine to write to, until @dev is unbound: a whole one, whatever the
 * catalog says of a unit's size.
 */
void *imc_page_alloc(struct device *dev, int cpu)
{
	/* As kmalloc() aligns powers of two. From another node where this one has no memory. */
	void *page = kmalloc_node(IMC_PAGE_SIZE, GFP_KERNEL | __GFP_ZERO, cpu_to_node(cpu));

	if (!page || devm_add_action_or_reset(dev, imc_page_free, page))
		return NULL;
	return page;
}

/* Every core that may come online has a page and is ready for its engine to be started. */
int imc_cores_create(struct imc *imc)
{
	int cpu;

	imc->nr_cores = cpu_core_index_of_thread(nr_cpu_ids - 1) + 1;
	imc->cores = devm_kcalloc(imc->dev, imc->nr_cores, sizeof(*imc->cores), GFP_KERNEL);
	if (!imc->cores)
		return -ENOMEM;
	for_each_present_cpu(cpu) {
		struct imc_core *core = imc_core_of(imc, cpu);

		if (core->page)
			continue;
		raw_spin_lock_init(&core->lock);
		core->imc = imc;
		core->first_cpu = cpu;
		core->page = imc_page_alloc(imc->dev, cpu);
		if (!core->page)
			return -ENOMEM;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(imc_cores_create);

/* Register a unit that counts per core. */
int imc_core_register(struct imc_unit *unit)
{
	struct imc *imc = unit->imc;
	int err = 0;

	unit->desc.ops = &imc_core_ops;
	unit->desc.scope = PMU_SCOPE_CORE;
	for (unsigned int i = 0; i < imc->nr_cores && !err; i++) {
		struct imc_core *core = &imc->cores[i];
		int cpu = core->first_cpu;

		if (core->page)
			err = devm_pmu_box_register(imc->dev, &unit->desc, unit->name,
						    PMU_CORE_ID(topology_physical_package_id(cpu),
								topology_core_id(cpu)), core);
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(imc_core_register);
