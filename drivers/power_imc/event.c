// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that are counters in memory: what a config means, and how it is read.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irq_work.h>

#include "power_imc.h"

/* The names of the in-tree driver; all but event are other names for bits of it. */
const struct pmu_format power_imc_formats[] = {
	{ .name = "event", .mask = POWER_IMC_CONFIG_EVENT, .always = true },
	{ .name = "offset", .mask = POWER_IMC_CONFIG_OFFSET, .alias = true },
	{ .name = "rvalue", .mask = POWER_IMC_CONFIG_RVALUE, .alias = true },
	{ .name = "mode", .mask = POWER_IMC_CONFIG_MODE, .alias = true },
};

const unsigned int power_imc_nr_formats = ARRAY_SIZE(power_imc_formats);

/**
 * power_imc_offset_check() - can a config's counter be read?
 * @unit: the unit
 * @config: attr.config
 *
 * The counter, 8 bytes, has to lie on a multiple of 8 and wholly inside of the unit. The
 * microcode's control block, likewise on a multiple of 8, is no counter. What rvalue and
 * mode would mean is not published, so they have to be 0.
 *
 * Return: 0 or -EINVAL.
 */
int power_imc_offset_check(const struct power_imc_unit *unit, u64 config)
{
	if (config % sizeof(u64) || config + sizeof(u64) > unit->size)
		return -EINVAL;
	if (unit->type == POWER_IMC_TYPE_NEST && config >= unit->control_offset &&
	    config < unit->control_offset + POWER_IMC_NEST_CB_SIZE)
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_offset_check);

/**
 * power_imc_counter_read() - the value of an event's counter.
 * @base: where offset 0 is
 * @ev: the event, whose config was checked
 * @value: set to the value, 64 bits
 *
 * The producer stores whole doublewords, so none is ever seen half written.
 *
 * Context: any.
 * Return: 0.
 */
int power_imc_counter_read(const void *base, const struct pmu_event *ev, u64 *value)
{
	const __be64 *counter = base + ev->event->attr.config;

	*value = be64_to_cpu(READ_ONCE(*counter));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_counter_read);

/* Who reads may hold locks that printing needs. */
static void power_imc_restart_tell(struct irq_work *work)
{
	pr_warn("power_imc_pmu: counters in memory have begun anew at 0, as when a chip's microcode is restarted: what they had counted since they were last read is lost\n");
}

static DEFINE_IRQ_WORK(power_imc_restart_work, power_imc_restart_tell);
static atomic_t power_imc_restart_told = ATOMIC_INIT(0);

/* Of all counters in memory: none of 64 bits ever wraps. Told once: a microcode has many. */
void power_imc_counter_restarted(struct pmu_box *box, struct pmu_event *ev)
{
	if (!atomic_xchg(&power_imc_restart_told, 1))
		irq_work_queue(&power_imc_restart_work);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_counter_restarted);

/* The module goes, and no event is there. May sleep. */
void power_imc_counter_exit(void)
{
	irq_work_sync(&power_imc_restart_work);
}
