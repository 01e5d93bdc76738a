// SPDX-License-Identifier: GPL-2.0-only
/*
 * LDBAR, where a thread's counts and records go: only to memory of ours. A CPU that was
 * offline when the module was loaded has what somebody else has left there, so that is
 * cleared when the CPU comes, with the engine of its core off.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/cpumask.h>
#include <linux/export.h>
#include <linux/smp.h>
#include <asm/reg.h>

#include "power_imc.h"

static struct power_imc *power_imc_ldbar_imc;
static struct cpumask power_imc_ldbar_clean;	/* CPUs whose LDBAR is ours */
static int power_imc_ldbar_prepare_state, power_imc_ldbar_online_state;

/**
 * power_imc_ldbar() - LDBAR's value.
 * @address: of a thread's page or buffer, real or in the linear map
 * @mode: POWER_IMC_LDBAR_ENABLE to accumulate, POWER_IMC_LDBAR_TRACE to trace, 0 for neither
 */
u64 power_imc_ldbar(u64 address, u64 mode)
{
	return (address & POWER_IMC_BAR_ADDRESS) | mode;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ldbar);

/**
 * power_imc_ldbar_write() - set this CPU's LDBAR, unless all is to be off for good.
 * @imc: the device
 * @value: power_imc_ldbar(), or 0
 *
 * Context: interrupts off.
 */
void power_imc_ldbar_write(const struct power_imc *imc, u64 value)
{
	mtspr(SPRN_LDBAR, READ_ONCE(imc->halted) ? 0 : value);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ldbar_write);

/* This CPU points to no memory. The engine of its core is off, unless that could not be had. */
void power_imc_ldbar_clear_here(void)
{
	mtspr(SPRN_LDBAR, 0);
	cpumask_set_cpu(smp_processor_id(), &power_imc_ldbar_clean);
}

static void power_imc_ldbar_clear_local(void *unused)
{
	power_imc_ldbar_clear_here();
}

/* No thread that is online points to memory. May sleep. */
void power_imc_ldbar_clear(void)
{
	if (power_imc_ldbar_is_ours())
		on_each_cpu(power_imc_ldbar_clear_local, NULL, 1);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ldbar_clear);

/**
 * power_imc_ldbar_clean_up() - leave nothing of a predecessor in this CPU's LDBAR.
 *
 * Context: interrupts off.
 */
void power_imc_ldbar_clean_up(void)
{
	if (!cpumask_test_cpu(smp_processor_id(), &power_imc_ldbar_clean))
		power_imc_ldbar_clear_here();
}

/* On another CPU, before @cpu executes anything. */
static int power_imc_ldbar_prepare(unsigned int cpu)
{
	if (cpumask_test_cpu(cpu, &power_imc_ldbar_clean))
		return 0;
	return power_imc_engine_pause(power_imc_core_of(power_imc_ldbar_imc, cpu));
}

/* The CPU did not come after all, or has gone. */
static int power_imc_ldbar_dead(unsigned int cpu)
{
	power_imc_engine_resume(power_imc_core_of(power_imc_ldbar_imc, cpu));
	return 0;
}

/* On @cpu. Boxes may have found it first, and use their engine, which starts now. */
static int power_imc_ldbar_online(unsigned int cpu)
{
	unsigned long flags;

	local_irq_save(flags);
	power_imc_ldbar_clean_up();
	local_irq_restore(flags);
	power_imc_engine_resume(power_imc_core_of(power_imc_ldbar_imc, cpu));
	return 0;
}

static void power_imc_ldbar_unwatch(void *unused)
{
	cpuhp_remove_state_nocalls(power_imc_ldbar_prepare_state);
	cpuhp_remove_state_nocalls(power_imc_ldbar_online_state);
}

/**
 * power_imc_ldbar_watch() - clear LDBAR of every CPU that comes online, until the device goes.
 * @imc: the device, with its cores
 *
 * Return: 0 or a negative errno.
 */
int power_imc_ldbar_watch(struct power_imc *imc)
{
	int state;

	if (!power_imc_ldbar_is_ours())
		return 0;
	power_imc_ldbar_imc = imc;
	/* A CPU that comes in between must not pause an engine that it does not resume. */
	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "perf/power_imc:online",
					  power_imc_ldbar_online, NULL);
	if (state < 0)
		return state;
	power_imc_ldbar_online_state = state;
	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "perf/power_imc:prepare",
					  power_imc_ldbar_prepare, power_imc_ldbar_dead);
	if (state < 0) {
		cpuhp_remove_state_nocalls(power_imc_ldbar_online_state);
		return state;
	}
	power_imc_ldbar_prepare_state = state;
	return devm_add_action_or_reset(imc->dev, power_imc_ldbar_unwatch, NULL);
}
