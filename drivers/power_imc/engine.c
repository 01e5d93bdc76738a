// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine of a core: it writes what the core and its threads count, or trace, to
 * memory. The first powered box of the core starts it and the last stops it.
 */
#include <linux/export.h>
#include <linux/of.h>
#include <linux/smp.h>
#include <asm/cputhreads.h>
#include <asm/smp.h>

#include "power_imc.h"

struct power_imc_core *power_imc_core_of(struct power_imc *imc, int cpu)
{
	return &imc->cores[cpu_core_index_of_thread(cpu)];
}

/*
 * Registers may be lost in deep sleep while the engine is off, so they are always set. The
 * page too when tracing: the core may count there all the same.
 */
static int power_imc_engine_start(struct power_imc_core *core, enum power_imc_type type, u64 scom)
{
	const struct power_imc_firmware *firmware = core->imc->firmware;
	u32 pir = hard_smp_processor_id();

	int err = firmware->init_core(pir, __pa(core->page));

	if (err)
		return err;
	if (type != POWER_IMC_TYPE_TRACE)
		return firmware->core(pir, true);
	return firmware->init_trace(pir, scom) ?: firmware->trace(pir, true);
}

static int power_imc_engine_stop(struct power_imc_core *core)
{
	const struct power_imc_firmware *firmware = core->imc->firmware;
	u32 pir = hard_smp_processor_id();
	int err;

	if (core->type == POWER_IMC_TYPE_TRACE)
		err = firmware->trace(pir, false);
	else
		err = firmware->core(pir, false);
	if (err)
		dev_warn(core->imc->dev, "the engine of CPU %d's core could not be stopped (%pe): no other kind of unit, nor another trace configuration, can be used any more\n",
			 core->first_cpu, ERR_PTR(err));
	return err;
}

/**
 * power_imc_engine_get() - use the engine of a core.
 * @core: the core; this runs on one of its CPUs
 * @type: what for, POWER_IMC_TYPE_CORE, POWER_IMC_TYPE_THREAD or POWER_IMC_TYPE_TRACE
 * @scom: as for power_imc_domain_get()
 *
 * Context: interrupts off.
 * Return: 0; -EBUSY while the system uses its engines for something else; what the
 * firmware says.
 */
int power_imc_engine_get(struct power_imc_core *core, enum power_imc_type type, u64 scom)
{
	int err = power_imc_domain_get(type, scom);

	if (err)
		return err;
	raw_spin_lock(&core->lock);
	if (!core->users)
		err = power_imc_engine_start(core, type, scom);
	if (!err) {
		core->users++;
		core->type = type;
	}
	raw_spin_unlock(&core->lock);
	if (err)
		power_imc_domain_put(type);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engine_get);

/**
 * power_imc_engine_put() - one user of a core's engine less.
 * @core: the core; this runs on one of its CPUs
 *
 * An engine that does not stop stays a user of its domain for good: it may still be on.
 *
 * Context: interrupts off.
 */
void power_imc_engine_put(struct power_imc_core *core)
{
	enum power_imc_type type = core->type;
	int err = 0;

	raw_spin_lock(&core->lock);
	if (!--core->users)
		err = power_imc_engine_stop(core);
	raw_spin_unlock(&core->lock);
	if (!err)
		power_imc_domain_put(type);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engine_put);

static void power_imc_ldbar_clear(void *data)
{
	mtspr(SPRN_LDBAR, 0);
}

/*
 * Stop every engine, whoever started it, and have no thread point to memory any more. All
 * cores that the machine has, not only those that this kernel runs on. A core that does
 * not answer is asleep, and its engine with it.
 */
void power_imc_engines_quiesce(struct power_imc *imc)
{
	struct device_node *np;
	u32 pir;

	for_each_of_cpu_node(np)
		if (!of_property_read_u32(np, "ibm,ppc-interrupt-server#s", &pir))
			imc->firmware->core(pir, false);
	on_each_cpu(power_imc_ldbar_clear, NULL, 1);
}
