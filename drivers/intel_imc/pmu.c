// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory controller as the core sees it: how a config becomes a control register,
 * and the verbs.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/export.h>

#include "imc.h"

const struct pmu_format imc_formats[IMC_FORMATS] = {
	{ .name = "event", .mask = IMC_CONFIG_EVENT, .digits = 2, .always = true },
	{ .name = "umask", .mask = IMC_CONFIG_UMASK, .digits = 2, .always = true },
	{ .name = "edge", .mask = IMC_CONFIG_EDGE },
	{ .name = "inv", .mask = IMC_CONFIG_INV },
	{ .name = "thresh", .mask = IMC_CONFIG_THRESH },
};

/* DDR4-3200, faster than any of these parts runs; half the transfer rate. */
#define IMC_MAX_DRAM_CLOCK_HZ	1600000000ULL

/**
 * imc_config_is_fixed() - does a config ask for the fixed counter?
 * @config: attr.config
 */
bool imc_config_is_fixed(u64 config)
{
	return config == IMC_CONFIG_FIXED;
}
EXPORT_SYMBOL_IF_KUNIT(imc_config_is_fixed);

/**
 * imc_config_to_ctl() - the control register that counts what a config asks for.
 * @config: attr.config without reserved bits
 *
 * Return: content of CTL0..CTL3, or of FIXED_CTL for the fixed counter's config.
 */
u32 imc_config_to_ctl(u64 config)
{
	return imc_config_is_fixed(config) ? IMC_CTL_ENABLE : config | IMC_CTL_ENABLE;
}
EXPORT_SYMBOL_IF_KUNIT(imc_config_to_ctl);

/**
 * imc_config_max_rate() - how fast a config's counter can advance at most.
 * @kind: which events there are
 * @config: attr.config without reserved bits
 *
 * Return: counts per second. With a threshold any event counts at most 1 per clock;
 * without one 8 bits, unless the event's own limit is published.
 */
u64 imc_config_max_rate(const struct imc_kind *kind, u64 config)
{
	unsigned int increment;

	if (imc_config_is_fixed(config) || FIELD_GET(IMC_CONFIG_THRESH, config))
		return IMC_MAX_DRAM_CLOCK_HZ;
	increment = kind->increments[FIELD_GET(IMC_CONFIG_EVENT, config)] ?: U8_MAX;
	return IMC_MAX_DRAM_CLOCK_HZ * increment;
}
EXPORT_SYMBOL_IF_KUNIT(imc_config_max_rate);

static int imc_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	const struct imc_kind *kind = container_of(desc, struct imc_kind, desc);
	u64 config = ev->event->attr.config;

	/* Neither the fixed counter, which has no umask and so on, nor an event that exists. */
	if (!imc_config_is_fixed(config) && FIELD_GET(IMC_CONFIG_EVENT, config) == IMC_CONFIG_FIXED)
		return -EINVAL;
	if (config & kind->refused)
		return -EINVAL;
	ev->max_rate = imc_config_max_rate(kind, config);
	return 0;
}

static u64 imc_event_counters(const struct pmu_desc *desc, const struct pmu_event *ev)
{
	if (imc_config_is_fixed(ev->event->attr.config))
		return BIT_ULL(IMC_FIXED);
	return GENMASK_ULL(IMC_GENERAL_COUNTERS - 1, 0);
}

static u64 imc_event_start(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	return imc_counter_start(pmu_box_priv(box), idx, imc_config_to_ctl(ev->event->attr.config));
}

static void imc_event_stop(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	imc_counter_stop(pmu_box_priv(box), idx);
}

static int imc_event_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	return imc_counter_read(pmu_box_priv(box), idx, value);
}

static void imc_box_freeze(struct pmu_box *box)
{
	imc_channel_freeze(pmu_box_priv(box));
}

static void imc_box_thaw(struct pmu_box *box)
{
	imc_channel_thaw(pmu_box_priv(box));
}

const struct pmu_box_ops imc_box_ops = {
	.event_init = imc_event_init,
	.counters = imc_event_counters,
	.start = imc_event_start,
	.stop = imc_event_stop,
	.read = imc_event_read,
	.freeze = imc_box_freeze,
	.thaw = imc_box_thaw,
};
