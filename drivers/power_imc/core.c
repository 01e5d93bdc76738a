// SPDX-License-Identifier: GPL-2.0-only
/*
 * core_imc: what a core counts, all its threads together. A box per core.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <asm/cputhreads.h>
#include <asm/smp.h>

#include "power_imc.h"

static int power_imc_core_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	return power_imc_offset_check(to_imc_unit(desc), ev->event->attr.config) ?:
	       power_imc_domain_open(to_imc_unit(desc)->imc, POWER_IMC_TYPE_CORE);
}

static void power_imc_core_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	power_imc_domain_close(POWER_IMC_TYPE_CORE);
}

static int power_imc_core_power_on(struct pmu_box *box)
{
	return power_imc_engine_get(pmu_box_priv(box), POWER_IMC_TYPE_CORE);
}

static void power_imc_core_power_off(struct pmu_box *box)
{
	power_imc_engine_put(pmu_box_priv(box), false);
}

static int power_imc_core_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	const struct power_imc_core *core = pmu_box_priv(box);

	return power_imc_counter_read(core->page, ev, value);
}

static const struct pmu_box_ops power_imc_core_ops = {
	.event_init = power_imc_core_event_init,
	.event_free = power_imc_core_event_free,
	.power_on = power_imc_core_power_on,
	.power_off = power_imc_core_power_off,
	.read = power_imc_core_read,
	.restarted = power_imc_counter_restarted,
};

/*
 * Every core that may come online has a page and is ready for its engine to be started. The
 * page is a whole one, whatever the catalog says of a unit's size.
 */
int power_imc_cores_create(struct power_imc *imc)
{
	int cpu;

	imc->nr_cores = cpu_core_index_of_thread(nr_cpu_ids - 1) + 1;
	imc->cores = devm_kcalloc(imc->dev, imc->nr_cores, sizeof(*imc->cores), GFP_KERNEL);
	if (!imc->cores)
		return -ENOMEM;
	for_each_present_cpu(cpu) {
		struct power_imc_core *core = power_imc_core_of(imc, cpu);

		if (core->page)
			continue;
		raw_spin_lock_init(&core->lock);
		core->imc = imc;
		core->first_cpu = cpu;
		core->pir = get_hard_smp_processor_id(cpu);
		core->halves = power_imc_halves();
		core->page = power_imc_memory_alloc(imc, POWER_IMC_PAGE_SIZE, cpu);
		if (!core->page)
			return -ENOMEM;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_cores_create);

/* Register a unit that counts per core. */
int power_imc_core_register(struct power_imc_unit *unit)
{
	struct power_imc *imc = unit->imc;
	int err = 0;

	unit->desc.ops = &power_imc_core_ops;
	unit->desc.scope = PMU_SCOPE_CORE;
	for (unsigned int i = 0; i < imc->nr_cores && !err; i++) {
		struct power_imc_core *core = &imc->cores[i];
		int cpu = core->first_cpu;

		if (core->page)
			err = devm_pmu_box_register(imc->dev, &unit->desc, unit->name,
						    PMU_CORE_ID(topology_physical_package_id(cpu),
								topology_core_id(cpu)), core);
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_core_register);
