// SPDX-License-Identifier: GPL-2.0-only
/* The memory controller for pmu_core: how a config becomes a control register, and the verbs. */
#include <linux/bitfield.h>
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/device.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/notifier.h>
#include <linux/perf_event.h>
#include <linux/string.h>

#include "intel_imc.h"

const struct pmu_format intel_imc_formats[INTEL_IMC_FORMATS] = {
	{ .name = "event", .mask = INTEL_IMC_CONFIG_EVENT, .digits = 2, .always = true },
	{ .name = "umask", .mask = INTEL_IMC_CONFIG_UMASK, .digits = 2, .always = true },
	{ .name = "edge", .mask = INTEL_IMC_CONFIG_EDGE },
	{ .name = "inv", .mask = INTEL_IMC_CONFIG_INV },
	{ .name = "thresh", .mask = INTEL_IMC_CONFIG_THRESH },
};

/* From Sapphire Rapids on; the last one only on Granite Rapids */
const struct pmu_format intel_imc_spr_formats[INTEL_IMC_FORMATS + 1] = {
	{ .name = "event", .mask = INTEL_IMC_CONFIG_EVENT, .digits = 2, .always = true },
	{ .name = "umask", .mask = INTEL_IMC_CONFIG_UMASK | INTEL_IMC_CONFIG_UMASK_MORE,
	  .digits = 2, .always = true },
	{ .name = "edge", .mask = INTEL_IMC_CONFIG_EDGE },
	{ .name = "inv", .mask = INTEL_IMC_CONFIG_INV },
	{ .name = "thresh", .mask = INTEL_IMC_CONFIG_THRESH },
	{ .name = "both", .mask = INTEL_IMC_CONFIG1_BOTH, .word = PMU_CONFIG1 },
};

/* Half the transfer rate of DDR4-3200, which is faster than any of these parts runs. */
#define INTEL_IMC_MAX_DRAM_CLOCK_HZ	1600000000ULL

/**
 * intel_imc_config_is_fixed() - does a config ask for the fixed counter?
 * @config: attr.config
 *
 * Return: true for the config of the fixed counter, with no other bit set.
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
 * Edges are those of a comparison: without a threshold of one with 1, which is the same where the
 * guides define the former. What the registers count then is hardware/intel_imc.md, 12.16.
 *
 * Return: content of CTL0..CTL3, or of FIXED_CTL for the fixed counter's config.
 */
u32 intel_imc_config_to_ctl(u64 config)
{
	if (config & INTEL_IMC_CONFIG_EDGE && !(config & INTEL_IMC_CONFIG_THRESH))
		config |= FIELD_PREP(INTEL_IMC_CONFIG_THRESH, 1);
	return INTEL_IMC_CTL_ENABLE | (intel_imc_config_is_fixed(config) ? 0 : config);
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_config_to_ctl);

/**
 * intel_imc_config_max_rate() - how fast a config's counter can advance at most.
 * @kind: which events there are
 * @config: attr.config without reserved bits
 *
 * Return: counts per second. With a threshold, or of edges, any event counts at most 1 per clock;
 * else at most 255, unless the event's own limit is published.
 */
u64 intel_imc_config_max_rate(const struct intel_imc_kind *kind, u64 config)
{
	u64 clock_hz = kind->clock_hz ?: INTEL_IMC_MAX_DRAM_CLOCK_HZ;
	unsigned int increment;

	if (intel_imc_config_is_fixed(config) ||
	    config & (INTEL_IMC_CONFIG_THRESH | INTEL_IMC_CONFIG_EDGE))
		return clock_hz;
	increment = kind->increments[FIELD_GET(INTEL_IMC_CONFIG_EVENT, config)] ?: U8_MAX;
	return clock_hz * increment;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_config_max_rate);

/*
 * PMUs of the same channels that the in-tree driver, loaded behind this one, has now. It calls
 * those of a processor that it does not know units of type 6, and a single one has no number. Such
 * names do not keep it off, and none of them is ours.
 */
static atomic_t intel_imc_rivals;

static int intel_imc_pmu_came_or_went(struct notifier_block *nb, unsigned long action, void *data)
{
	struct device *rival = data;
	const char *name = dev_name(rival);

	if (strcmp(name, "uncore_imc") && strcmp(name, "uncore_type_6") &&
	    !str_has_prefix(name, "uncore_type_6_"))
		return NOTIFY_DONE;
	if (action == BUS_NOTIFY_REMOVED_DEVICE)
		atomic_dec_if_positive(&intel_imc_rivals);
	if (action == BUS_NOTIFY_ADD_DEVICE && atomic_inc_return(&intel_imc_rivals) == 1)
		dev_warn(rival, "another driver takes the memory channels of intel_imc_pmu: counts of open events are wrong from now on\n");
	return NOTIFY_DONE;
}

/* For all devices: registered while the module is loaded. */
struct notifier_block intel_imc_pmus_changed = { .notifier_call = intel_imc_pmu_came_or_went };

bool intel_imc_has_rivals(void)
{
	return atomic_read(&intel_imc_rivals);
}

static int intel_imc_check_rivals(const struct pmu *pmu)
{
	if (!intel_imc_has_rivals())
		return 0;
	if (pmu_may_log())
		dev_warn_ratelimited(pmu->dev, "another driver, loaded later, has PMUs of these memory channels: no event counts here until it is unloaded (intel_uncore)\n");
	return -EBUSY;
}

/* The first named event with a config's code, or NULL */
static const struct pmu_named_event *intel_imc_named(const struct intel_imc_kind *kind, u64 config)
{
	for (int i = 0; i < kind->desc.nr_events; i++)
		if (!((kind->desc.events[i].config[PMU_CONFIG] ^ config) & INTEL_IMC_CONFIG_EVENT))
			return &kind->desc.events[i];
	return NULL;
}

/**
 * intel_imc_find_occupancies() - note which event codes are, or may be, occupancies.
 * @kind: the events; a code is what the first of its names says, and without a name may be one
 *
 * Context: module init.
 */
void __init intel_imc_find_occupancies(struct intel_imc_kind *kind)
{
	bitmap_fill(kind->occupancies, U8_MAX + 1);
	for (int i = kind->desc.nr_events - 1; i >= 0; i--) {
		const struct pmu_named_event *event = &kind->desc.events[i];

		__assign_bit(FIELD_GET(INTEL_IMC_CONFIG_EVENT, event->config[PMU_CONFIG]),
			     kind->occupancies, strstr(event->name, "_occ"));
	}
}

/* Why no counter can count a config, or NULL */
static const char *intel_imc_config_fault(const struct intel_imc_kind *kind, u64 config)
{
	u8 code = FIELD_GET(INTEL_IMC_CONFIG_EVENT, config);

	if (!intel_imc_config_is_fixed(config) && code == INTEL_IMC_CONFIG_FIXED)
		return "event 0xff is the fixed counter, which has no other field";
	if (config & kind->refused)
		return "it sets bits that this processor's controls lack";
	if (config & INTEL_IMC_CONFIG_INV && !(config & INTEL_IMC_CONFIG_THRESH))
		return "inv needs a threshold";
	/* With any umask: only that of the clock was asked for. */
	if (kind->no_clock && kind->increments[code] && code == (u8)kind->clock)
		return "here only event 0xff is the clock";
	return NULL;
}

static int intel_imc_refuse_event(const struct pmu_event *ev, const char *fault)
{
	if (pmu_may_log())
		pr_notice_ratelimited("%s: event refused: %s\n", ev->event->pmu->name, fault);
	return -EINVAL;
}

static int intel_imc_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	const struct intel_imc_kind *kind = container_of(desc, struct intel_imc_kind, desc);
	u64 config = ev->event->attr.config;
	const char *fault = intel_imc_config_fault(kind, config);

	if (fault)
		return intel_imc_refuse_event(ev, fault);
	if (test_bit(FIELD_GET(INTEL_IMC_CONFIG_EVENT, config), kind->occupancies) &&
	    pmu_may_log()) {
		if (!intel_imc_named(kind, config))
			pr_notice_once("%s: event=0x%02llx has no name here: if it is an occupancy, it may start from 0 instead of the queue's depth: pmu-check --probe occupancy\n",
				       ev->event->pmu->name, config & INTEL_IMC_CONFIG_EVENT);
		else
			pr_notice_once("%s: an occupancy may start from 0 instead of the queue's depth, which no source tells: pmu-check --probe occupancy\n",
				       ev->event->pmu->name);
	}
	ev->poll_rate = intel_imc_config_max_rate(kind, config);
	ev->bound = ev->poll_rate;
	return intel_imc_check_rivals(ev->event->pmu);
}

static u64 intel_imc_event_counters(const struct pmu_desc *desc, const struct pmu_event *ev)
{
	if (intel_imc_config_is_fixed(ev->event->attr.config))
		return BIT_ULL(INTEL_IMC_FIXED);
	return GENMASK_ULL(INTEL_IMC_GENERAL_COUNTERS - 1, 0);
}

static int intel_imc_box_engage(struct pmu_box *box)
{
	intel_imc_channel_reset(pmu_box_priv(box));
	return 0;
}

static void intel_imc_box_disengage(struct pmu_box *box)
{
	intel_imc_channel_inspect(pmu_box_priv(box));
}

static void intel_imc_box_begin_read(struct pmu_box *box)
{
	intel_imc_channel_inspect_sometimes(pmu_box_priv(box));
}

/* A umask for an event that has no sub-events but needs one, if it is known that it has none */
static u32 intel_imc_needed_umask(const struct intel_imc_kind *kind, u64 config)
{
	const struct pmu_named_event *named;

	if (kind->umask != INTEL_IMC_UMASK_NEEDED || intel_imc_config_is_fixed(config) ||
	    config & INTEL_IMC_CONFIG_UMASK)
		return 0;
	named = intel_imc_named(kind, config);
	return !named || named->config[PMU_CONFIG] & INTEL_IMC_CONFIG_UMASK ? 0 :
	       FIELD_PREP(INTEL_IMC_CTL_UMASK, 1);
}

static u64 intel_imc_event_start(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct intel_imc_channel *ch = pmu_box_priv(box);
	u64 config = ev->event->attr.config;

	return intel_imc_counter_start(ch, idx, intel_imc_config_to_ctl(config) |
				       intel_imc_needed_umask(ch->part->kind, config),
				       ev->poll_rate);
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
	.engage = intel_imc_box_engage,
	.disengage = intel_imc_box_disengage,
	.counters = intel_imc_event_counters,
	.start = intel_imc_event_start,
	.stop = intel_imc_event_stop,
	.begin_read = intel_imc_box_begin_read,
	.read = intel_imc_event_read,
	.freeze = intel_imc_box_freeze,
	.thaw = intel_imc_box_thaw,
};

/*
 * Granite Rapids, where an event may take two counters: one for each sub-channel. Its value is
 * their sum, of 48 bits as each is.
 */
static bool intel_imc_event_is_pair(const struct pmu_event *ev)
{
	return ev->event->attr.config1 & INTEL_IMC_CONFIG1_BOTH;
}

static int intel_imc_pair_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	u64 config = ev->event->attr.config;
	int err = intel_imc_event_init(desc, ev);

	if (err || !intel_imc_event_is_pair(ev))
		return err;
	if (FIELD_GET(INTEL_IMC_CONFIG_EVENT, config) != INTEL_IMC_CAS_SCH0)
		return intel_imc_refuse_event(ev, "only event 5 is of both sub-channels");
	ev->poll_rate *= 2;
	ev->bound *= 2;
	return 0;
}

/**
 * intel_imc_pair_claim() - take counters, the same as last time if these are free.
 * @used: bit per counter that is taken
 * @pair: the counters that the event last had; set to those that it gets
 * @usable: the counters that can count the event
 * @nr: how many it needs
 *
 * Context: any.
 * Return: 0; -EAGAIN, and nothing is taken.
 */
int intel_imc_pair_claim(u8 *used, struct intel_imc_pair *pair, u8 usable, unsigned int nr)
{
	struct intel_imc_pair got = { };
	u8 left = usable & ~*used;

	for (unsigned int i = 0; i < pair->nr; i++) {
		if (left & BIT(pair->idx[i])) {
			got.idx[got.nr++] = pair->idx[i];
			left &= ~BIT(pair->idx[i]);
		}
	}
	while (got.nr < nr && left) {
		got.idx[got.nr++] = __ffs(left);
		left &= left - 1;
	}
	if (got.nr < nr)
		return -EAGAIN;
	for (unsigned int i = 0; i < nr; i++)
		*used |= BIT(got.idx[i]);
	*pair = got;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_pair_claim);

static int intel_imc_event_claim(struct pmu_box *box, struct pmu_event *ev, void *state, bool trial)
{
	struct intel_imc_pair tried = { };

	return intel_imc_pair_claim(state, trial ? &tried : ev->priv,
				    intel_imc_event_counters(NULL, ev),
				    intel_imc_event_is_pair(ev) ? 2 : 1);
}

static void intel_imc_event_unclaim(struct pmu_box *box, struct pmu_event *ev, void *state)
{
	struct intel_imc_pair *pair = ev->priv;

	for (unsigned int i = 0; i < pair->nr; i++)
		*(u8 *)state &= ~BIT(pair->idx[i]);
}

static void intel_imc_pair_hand(struct pmu_box *box, struct pmu_event *from, struct pmu_event *to)
{
	const struct intel_imc_pair *pair = from->priv;

	*(struct intel_imc_pair *)to->priv = *pair;
}

static u64 intel_imc_pair_start(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct intel_imc_pair *pair = ev->priv;
	u32 ctl = intel_imc_config_to_ctl(ev->event->attr.config);
	u64 sum = 0;

	for (unsigned int i = 0; i < pair->nr; i++) {
		if (i)
			ctl = (ctl & ~INTEL_IMC_CTL_EVENT) | INTEL_IMC_CAS_SCH1;
		sum += intel_imc_counter_start(pmu_box_priv(box), pair->idx[i], ctl, ev->poll_rate);
	}
	return sum & GENMASK_ULL(INTEL_IMC_COUNTER_WIDTH - 1, 0);
}

static void intel_imc_pair_stop(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct intel_imc_pair *pair = ev->priv;

	for (unsigned int i = 0; i < pair->nr; i++)
		intel_imc_counter_stop(pmu_box_priv(box), pair->idx[i]);
}

static int intel_imc_pair_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	struct intel_imc_pair *pair = ev->priv;
	u64 one, sum = 0;
	int err;

	for (unsigned int i = 0; i < pair->nr; i++) {
		err = intel_imc_counter_read(pmu_box_priv(box), pair->idx[i], &one);
		if (err)
			return err;
		sum += one;
	}
	*value = sum & GENMASK_ULL(INTEL_IMC_COUNTER_WIDTH - 1, 0);
	return 0;
}

const struct pmu_box_ops intel_imc_pair_ops = {
	.event_init = intel_imc_pair_event_init,
	.engage = intel_imc_box_engage,
	.disengage = intel_imc_box_disengage,
	.claim = intel_imc_event_claim,
	.unclaim = intel_imc_event_unclaim,
	.hand = intel_imc_pair_hand,
	.start = intel_imc_pair_start,
	.stop = intel_imc_pair_stop,
	.begin_read = intel_imc_box_begin_read,
	.read = intel_imc_pair_read,
	.freeze = intel_imc_box_freeze,
	.thaw = intel_imc_box_thaw,
};
