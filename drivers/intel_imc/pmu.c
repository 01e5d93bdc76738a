// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events of the memory controller: the user ABI, the named events, and how a config
 * becomes a control register.
 */
#include <linux/bitfield.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/module.h>

#include "imc.h"

/*
 * config, as in the in-tree driver. The fields lie where the control register has them,
 * which is what imc_config_to_ctl() relies on.
 */
#define IMC_CONFIG_EVENT	((u64)IMC_CTL_EVENT)
#define IMC_CONFIG_UMASK	((u64)IMC_CTL_UMASK)
#define IMC_CONFIG_EDGE		((u64)IMC_CTL_EDGE)
#define IMC_CONFIG_INV		((u64)IMC_CTL_INVERT)
#define IMC_CONFIG_THRESH	((u64)IMC_CTL_THRESHOLD)

static const struct pmu_format imc_formats[] = {
	{ .name = "event", .mask = IMC_CONFIG_EVENT, .digits = 2, .always = true },
	{ .name = "umask", .mask = IMC_CONFIG_UMASK, .digits = 2, .always = true },
	{ .name = "edge", .mask = IMC_CONFIG_EDGE },
	{ .name = "inv", .mask = IMC_CONFIG_INV },
	{ .name = "thresh", .mask = IMC_CONFIG_THRESH },
};

/* Not a code of the hardware's: this config, no other bit set, is the fixed counter. */
#define IMC_CONFIG_FIXED	0xff

#define IMC_EVENT_SCALED(_name, _event, _umask, _scale, _unit) {	\
	.name = _name,							\
	.config = { FIELD_PREP_CONST(IMC_CONFIG_EVENT, _event) |	\
		    FIELD_PREP_CONST(IMC_CONFIG_UMASK, _umask) },	\
	.scale = _scale, .unit = _unit,					\
}

#define IMC_EVENT(_name, _event, _umask) \
	IMC_EVENT_SCALED(_name, _event, _umask, NULL, NULL)

/* Every CAS command moves one 64-byte line; 64 / 2^20 MiB. */
#define IMC_EVENT_CAS(_name, _umask) \
	IMC_EVENT_SCALED(_name, 0x04, _umask, "6.103515625e-5", "MiB")

/* One umask bit per rank of the channel, and all of them together. */
#define IMC_EVENT_RANKS(_name, _event)		\
	IMC_EVENT(_name, _event, 0xff),		\
	IMC_EVENT(_name "_rank0", _event, 0x01), \
	IMC_EVENT(_name "_rank1", _event, 0x02), \
	IMC_EVENT(_name "_rank2", _event, 0x04), \
	IMC_EVENT(_name "_rank3", _event, 0x08), \
	IMC_EVENT(_name "_rank4", _event, 0x10), \
	IMC_EVENT(_name "_rank5", _event, 0x20), \
	IMC_EVENT(_name "_rank6", _event, 0x40), \
	IMC_EVENT(_name "_rank7", _event, 0x80)

/*
 * Sandy Bridge-EP: Intel 327043-001, table 2-61. The name without a suffix is all of an
 * event's sub-events. The first three are the in-tree driver's.
 */
static const struct pmu_named_event imc_snbep_events[] = {
	IMC_EVENT("clockticks", IMC_CONFIG_FIXED, 0x00),
	IMC_EVENT_CAS("cas_count_read", 0x03),
	IMC_EVENT_CAS("cas_count_write", 0x0c),

	IMC_EVENT("act_count", 0x01, 0x00),
	IMC_EVENT("pre_count", 0x02, 0x03),
	IMC_EVENT("pre_count_page_miss", 0x02, 0x01),
	IMC_EVENT("pre_count_page_close", 0x02, 0x02),
	IMC_EVENT_CAS("cas_count", 0x0f),
	IMC_EVENT_CAS("cas_count_rd_reg", 0x01),
	IMC_EVENT_CAS("cas_count_rd_underfill", 0x02),
	IMC_EVENT_CAS("cas_count_wr_wmm", 0x04),
	IMC_EVENT_CAS("cas_count_wr_rmm", 0x08),
	IMC_EVENT("dram_refresh", 0x05, 0x06),
	IMC_EVENT("dram_refresh_panic", 0x05, 0x02),
	IMC_EVENT("dram_refresh_high", 0x05, 0x04),
	IMC_EVENT("dram_pre_all", 0x06, 0x00),
	IMC_EVENT("major_modes", 0x07, 0x0f),
	IMC_EVENT("major_modes_read", 0x07, 0x01),
	IMC_EVENT("major_modes_write", 0x07, 0x02),
	IMC_EVENT("major_modes_partial", 0x07, 0x04),
	IMC_EVENT("major_modes_isoch", 0x07, 0x08),
	IMC_EVENT("preemption", 0x08, 0x03),
	IMC_EVENT("preemption_rd_preempt_rd", 0x08, 0x01),
	IMC_EVENT("preemption_rd_preempt_wr", 0x08, 0x02),
	IMC_EVENT("ecc_correctable_errors", 0x09, 0x00),
	IMC_EVENT("rpq_inserts", 0x10, 0x00),
	IMC_EVENT("rpq_cycles_ne", 0x11, 0x00),
	IMC_EVENT("rpq_cycles_full", 0x12, 0x00),
	IMC_EVENT("wpq_inserts", 0x20, 0x00),
	IMC_EVENT("wpq_cycles_ne", 0x21, 0x00),
	IMC_EVENT("wpq_cycles_full", 0x22, 0x00),
	IMC_EVENT("wpq_read_hit", 0x23, 0x00),
	IMC_EVENT("wpq_write_hit", 0x24, 0x00),
	IMC_EVENT_RANKS("power_throttle_cycles", 0x41),
	IMC_EVENT("power_self_refresh", 0x43, 0x00),
	IMC_EVENT("rpq_occupancy", 0x80, 0x00),
	IMC_EVENT("wpq_occupancy", 0x81, 0x00),
	IMC_EVENT_RANKS("power_cke_cycles", 0x83),
	IMC_EVENT("power_channel_dlloff", 0x84, 0x00),
	IMC_EVENT("power_channel_ppd", 0x85, 0x00),
	IMC_EVENT("power_critical_throttle_cycles", 0x86, 0x00),
};

/* Most counts per DRAM clock, by event code; a counter accepts 8 bits of any other. */
static const u8 imc_max_increments[256] = {
	[0x00 ... 0x02] = 1, [0x04 ... 0x09] = 1, [0x10 ... 0x12] = 1, [0x20 ... 0x24] = 1,
	[0x41] = 1, [0x43] = 1, [0x80] = 22, [0x81] = 32, [0x83] = 16, [0x84] = 1, [0x85] = 4,
	[0x86] = 1,
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
 * @config: attr.config without reserved bits
 *
 * Return: counts per second. With a threshold any event counts at most 1 per clock.
 */
u64 imc_config_max_rate(u64 config)
{
	unsigned int increment;

	if (imc_config_is_fixed(config) || FIELD_GET(IMC_CONFIG_THRESH, config))
		return IMC_MAX_DRAM_CLOCK_HZ;
	increment = imc_max_increments[FIELD_GET(IMC_CONFIG_EVENT, config)] ?: U8_MAX;
	return IMC_MAX_DRAM_CLOCK_HZ * increment;
}
EXPORT_SYMBOL_IF_KUNIT(imc_config_max_rate);

static int imc_event_init(struct pmu_box *box, struct pmu_event *ev)
{
	u64 config = ev->event->attr.config;

	/* Neither the fixed counter, which has no umask and so on, nor an event that exists. */
	if (!imc_config_is_fixed(config) && FIELD_GET(IMC_CONFIG_EVENT, config) == IMC_CONFIG_FIXED)
		return -EINVAL;
	ev->max_rate = imc_config_max_rate(config);
	return 0;
}

static u64 imc_event_counters(struct pmu_box *box, const struct pmu_event *ev)
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

static const struct pmu_box_ops imc_box_ops = {
	.event_init = imc_event_init,
	.counters = imc_event_counters,
	.start = imc_event_start,
	.stop = imc_event_stop,
	.read = imc_event_read,
	.freeze = imc_box_freeze,
	.thaw = imc_box_thaw,
};

const struct pmu_desc imc_snbep_desc = {
	.owner = THIS_MODULE,
	.ops = &imc_box_ops,
	.scope = PMU_SCOPE_PACKAGE,
	.width = IMC_COUNTER_WIDTH,
	.formats = imc_formats,
	.nr_formats = ARRAY_SIZE(imc_formats),
	.events = imc_snbep_events,
	.nr_events = ARRAY_SIZE(imc_snbep_events),
};
EXPORT_SYMBOL_IF_KUNIT(imc_snbep_desc);
