// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory controller as the core sees it: how a config becomes a control register,
 * and the verbs.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/export.h>

#include "intel_imc.h"

const struct pmu_format intel_imc_formats[INTEL_IMC_FORMATS] = {
	{ .name = "event", .mask = INTEL_IMC_CONFIG_EVENT, .digits = 2, .always = true },
	{ .name = "umask", .mask = INTEL_IMC_CONFIG_UMASK, .digits = 2, .always = true },
	{ .name = "edge", .mask = INTEL_IMC_CONFIG_EDGE },
	{ .name = "inv", .mask = INTEL_IMC_CONFIG_INV },
	{ .name = "thresh", .mask = INTEL_IMC_CONFIG_THRESH },
};

/* Half the transfer rate of DDR4-3200, which is faster than any of these parts runs. */
#define INTEL_IMC_MAX_DRAM_CLOCK_HZ	1600000000ULL

/**
 * intel_imc_config_is_fixed() - does a config ask for the fixed counter?
 * @config: attr.config
 */
bool intel_imc_config_is_fixed(u64 config)
{
	return config == INTEL_IMC_CONFIG_FIXED;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_config_is_fixed);

/**
 * intel_imc_config_to_ctl() - the control register for a config.
 * @config: attr.config without reserved bits
 *
 * Return: content of CTL0..CTL3, or of FIXED_CTL for the fixed counter's config.
 */
u32 intel_imc_config_to_ctl(u64 config)
{
	return INTEL_IMC_CTL_ENABLE | (intel_imc_config_is_fixed(config) ? 0 : config);
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_config_to_ctl);

/**
 * intel_imc_config_max_rate() - how fast a config's counter can advance at most.
 * @kind: which events there are
 * @config: attr.config without reserved bits
 *
 * Return: counts per second. With a threshold any event counts at most 1 per clock;
 * without one 8 bits, unless the event's own limit is published.
 */
u64 intel_imc_config_max_rate(const struct intel_imc_kind *kind, u64 config)
{
	unsigned int increment;

	if (intel_imc_config_is_fixed(config) || FIELD_GET(INTEL_IMC_CONFIG_THRESH, config))
		return INTEL_IMC_MAX_DRAM_CLOCK_HZ;
	increment = kind->increments[FIELD_GET(INTEL_IMC_CONFIG_EVENT, config)] ?: U8_MAX;
	return INTEL_IMC_MAX_DRAM_CLOCK_HZ * increment;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_config_max_rate);

static int intel_imc_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	const struct intel_imc_kind *kind = container_of(desc, struct intel_imc_kind, desc);
	u64 config = ev->event->attr.config;

	/*
	 * This is not the fixed counter, since a umask or another field is set. No such event
	 * exists.
	 */
	if (!intel_imc_config_is_fixed(config) &&
	    FIELD_GET(INTEL_IMC_CONFIG_EVENT, config) == INTEL_IMC_CONFIG_FIXED)
		return -EINVAL;
	if (config & kind->refused)
		return -EINVAL;
	ev->max_rate = intel_imc_config_max_rate(kind, config);
	ev->bounded = true;
	return 0;
}

static u64 intel_imc_event_counters(const struct pmu_desc *desc, const struct pmu_event *ev)
{
	if (intel_imc_config_is_fixed(ev->event->attr.config))
		return BIT_ULL(INTEL_IMC_FIXED);
	return GENMASK_ULL(INTEL_IMC_GENERAL_COUNTERS - 1, 0);
}

static int intel_imc_box_power_on(struct pmu_box *box)
{
	intel_imc_channel_reset(pmu_box_priv(box));
	return 0;
}

static void intel_imc_box_power_off(struct pmu_box *box)
{
	intel_imc_channel_inspect(pmu_box_priv(box));
}

static void intel_imc_box_begin_read(struct pmu_box *box)
{
	intel_imc_channel_inspect_sometimes(pmu_box_priv(box));
}

static u64 intel_imc_event_start(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	return intel_imc_counter_start(pmu_box_priv(box), idx,
				       intel_imc_config_to_ctl(ev->event->attr.config),
				       ev->max_rate);
}

static void intel_imc_event_stop(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	intel_imc_counter_stop(pmu_box_priv(box), idx);
}

static int intel_imc_event_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	return intel_imc_counter_read(pmu_box_priv(box), idx, value);
}

static void intel_imc_box_freeze(struct pmu_box *box)
{
	intel_imc_channel_freeze(pmu_box_priv(box));
}

static void intel_imc_box_thaw(struct pmu_box *box)
{
	intel_imc_channel_thaw(pmu_box_priv(box));
}

const struct pmu_box_ops intel_imc_box_ops = {
	.event_init = intel_imc_event_init,
	.power_on = intel_imc_box_power_on,
	.power_off = intel_imc_box_power_off,
	.counters = intel_imc_event_counters,
	.start = intel_imc_event_start,
	.stop = intel_imc_event_stop,
	.begin_read = intel_imc_box_begin_read,
	.read = intel_imc_event_read,
	.freeze = intel_imc_box_freeze,
	.thaw = intel_imc_box_thaw,
};
