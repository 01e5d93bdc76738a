// SPDX-License-Identifier: GPL-2.0-only
/*
 * DTMs and the selectors of nodes: what counts where, and the counters' 16 bits.
 *
 * Starting and stopping changes only images. A register that differs from its image is stale. It is
 * written before the mesh runs again if something was started at its XP, once for all events that
 * share it. At other XPs, what was stopped keeps counting, into letters that no event has. Such a
 * DTM is written when an event starts that uses the letter. Half a pair of watchpoints is written
 * at once, since the other half would keep counting as well.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/string.h>

#include "cmn.h"

/* A watchpoint that matches almost nothing: every bit of a flit has to be 1. */
static const struct cmn_watch cmn_wp_idle = { .val = ~0ULL };

#define CMN_WP_UNKNOWN	~0U	/* no config has been written yet, so the first one always is */

static void __iomem *cmn_wp_reg(const struct cmn_dtm *dtm, unsigned int n, unsigned int reg)
{
	return dtm->base + reg + n * CMN_DTM_WP_STRIDE;
}

/**
 * cmn_dtm_reset() - take over a DTM: nothing paired with a DTC, no watchpoint that traces.
 * @dtm: the DTM
 *
 * A tracing tool may have left dtm_enable set, and the manuals forbid any other write then. Its
 * watchpoints make packets of flits as long as the DTC's dt_en is set, so they are disarmed. Their
 * other registers are written when an event first uses them.
 *
 * Context: see cmn_reset(). 1 read and 5 writes, 1 more if DTM_CONTROL is not 0.
 */
void cmn_dtm_reset(struct cmn_dtm *dtm)
{
	if (cmn_read64(dtm->base + CMN_DTM_CONTROL))
		cmn_write64(0, dtm->base + CMN_DTM_CONTROL);
	dtm->unlocked = jiffies;
	dtm->config = CMN_PMU_CONFIG_EN;
	dtm->written = dtm->config;
	cmn_write64(dtm->config, dtm->base + CMN_DTM_PMU_CONFIG);
	for (unsigned int n = 0; n < CMN_DTM_WPS; n++) {
		cmn_write32(0, cmn_wp_reg(dtm, n, CMN_DTM_WP_CONFIG));
		dtm->wp[n] = cmn_wp_idle;
		dtm->wp_config[n] = CMN_WP_UNKNOWN;
	}
	dtm->stale_wps = 0;
	/* Counts that were read are of before. */
	dtm->pass = 0;
}

/* Leave the DTM as a reset of the machine does, except for registers that do nothing then. */
void cmn_dtm_quiesce(struct cmn_dtm *dtm)
{
	cmn_write64(0, dtm->base + CMN_DTM_PMU_CONFIG);
}

/* A selector as a reset of the machine leaves it. */
static u64 cmn_sel_reset(const struct cmn *cmn, const struct cmn_node *node)
{
	return node->type == CMN_TYPE_HNS ? cmn->part->hns_reset : 0;
}

/**
 * cmn_node_reset() - take over a node: no event on any line, and no filter.
 * @cmn: the mesh
 * @node: the node
 *
 * What a previous kernel selected would be counted too: nodes can share lines. Its filters may
 * act on events that do not ask for any. So the selector is written when the first event starts at
 * the XP, not before: the in-tree driver never writes selectors that no event uses, and nothing
 * counts there until then.
 *
 * Context: see cmn_reset(). No access.
 */
void cmn_node_reset(struct cmn *cmn, struct cmn_node *node)
{
	/* XPs of CMN-700 and later have event ids that do not fit into a byte. */
	node->wide = node->type == CMN_TYPE_XP &&
		     cmn_selector_bits(cmn, CMN_TYPE_XP) > CMN_EVENT_SEL_LANE;
	node->image = cmn_sel_reset(cmn, node);
	node->ours = false;
	node->events = 0;
	memset(node->filter_users, 0, sizeof(node->filter_users));
	__set_bit(node - cmn->nodes, cmn->stale_nodes);
}

/* Leave the selector as a reset of the machine does. */
void cmn_node_quiesce(struct cmn *cmn, struct cmn_node *node)
{
	if (node->ours)
		cmn_write64(cmn_sel_reset(cmn, node), node->sel);
}

/* Select event @id on line @line of @node; 0 selects none. */
static void cmn_sel_set(struct cmn *cmn, struct cmn_node *node, unsigned int line, u16 id)
{
	unsigned int lane = node->wide ? CMN_EVENT_SEL_LANE_WIDE : CMN_EVENT_SEL_LANE;
	u64 mask = GENMASK_ULL(lane - 1, 0) << (line * lane);

	node->image = (node->image & ~mask) | ((u64)id << (line * lane) & mask);
	__set_bit(node - cmn->nodes, cmn->stale_nodes);
}

/*
 * All events of a node that use a filter share it. When the last of them stops, the filter gets the
 * value that a reset of the machine leaves.
 */
static void cmn_filters_set(struct cmn *cmn, struct cmn_node *node, const struct cmn_event *ce,
			    bool on)
{
	for (unsigned int i = 0; i < CMN_EVENT_FILTERS; i++) {
		u64 mask = cmn_filter_mask(cmn, node->type, ce->filter[i]);

		if (!mask)
			continue;
		node->filter_users[ce->filter[i]] += on ? 1 : -1;
		node->image &= ~mask;
		if (node->filter_users[ce->filter[i]])
			node->image |= (u64)ce->filter_value[i] << __ffs64(mask);
		else
			node->image |= cmn_sel_reset(cmn, node) & mask;
	}
}

/*
 * Is there a filter that an event at the node has, and another one has not? No source says whether
 * it acts on that one, too.
 */
static bool cmn_filters_mixed(const struct cmn *cmn, const struct cmn_node *node)
{
	for (unsigned int i = 0; i < CMN_FILTERS; i++)
		if (node->filter_users[i] && node->filter_users[i] < node->events &&
		    (node->image ^ cmn_sel_reset(cmn, node)) &
		    cmn_filter_mask(cmn, node->type, i))
			return true;
	return false;
}

static void cmn_wp_set(struct cmn *cmn, struct cmn_dtm *dtm, unsigned int n,
		       const struct cmn_watch *watch)
{
	dtm->wp[n] = *watch;
	dtm->stale_wps |= BIT(n);
	__set_bit(dtm - cmn->dtms, cmn->stale_dtms);
}

/* Where the counter takes its pulses from. Line and counter have the same number. */
static u8 cmn_input(const struct cmn *cmn, const struct cmn_event *ce, const struct cmn_member *m)
{
	const struct cmn_node *node = &cmn->nodes[m->node];

	switch (ce->type) {
	case CMN_TYPE_WP:
		return CMN_INPUT_WP(m->wp);
	case CMN_TYPE_XP:
		return CMN_INPUT_XP(m->counter);
	default:
		/* If an XP has several DTMs, each knows only its own two ports. */
		return CMN_INPUT_DEVICE(cmn->multi_dtm ? node->port % 2 : node->port,
					node->dev, m->counter);
	}
}

/**
 * cmn_member_start() - let a DTM count an event from the next cmn_flush() on.
 * @cmn: the mesh, stopped
 * @ce: the event
 * @m: where it counts, as claimed
 *
 * Context: the box's lock. No access.
 */
void cmn_member_start(struct cmn *cmn, const struct cmn_event *ce, const struct cmn_member *m)
{
	struct cmn_dtm *dtm = &cmn->dtms[m->dtm];
	struct cmn_node *node = &cmn->nodes[m->node];
	unsigned int k = m->counter;

	dtm->config &= ~(CMN_PMU_CONFIG_GLOBAL(k) | CMN_PMU_CONFIG_INPUT(k));
	dtm->config |= CMN_PMU_CONFIG_PAIRED(k) |
		       (u64)ce->letter[dtm->dtc] << CMN_PMU_CONFIG_GLOBAL_SHIFT(k) |
		       (u64)cmn_input(cmn, ce, m) << CMN_PMU_CONFIG_INPUT_SHIFT(k);
	__set_bit(m->dtm, cmn->stale_dtms);
	__set_bit(dtm->xp, cmn->started_xps);
	cmn->dtc[dtm->dtc].started |= BIT(ce->letter[dtm->dtc]);
	cmn->dtc[dtm->dtc].counting |= BIT(ce->letter[dtm->dtc]);
	cmn->dtc[dtm->dtc].used |= BIT(ce->letter[dtm->dtc]);
	if (cmn->part->events & CMN_CI700)
		cmn_tell_once(cmn, CMN_AS_650);
	if (node->beside)
		cmn_tell_once(cmn, CMN_LINES_SHARED);
	if (ce->type == CMN_TYPE_WP) {
		/* In a pair, the even watchpoint's combine bit ANDs the odd one with it. */
		bool combine = ce->wp.tag && m->wp % 2 == 0;
		struct cmn_watch watch = {
			.config = cmn_wp_config(cmn, &ce->wp, combine),
			.val = ce->wp_val,
			.mask = ce->wp_mask,
		};

		cmn_wp_set(cmn, dtm, m->wp, &watch);
		if (cmn->vcs[ce->wp.channel] > 1)
			cmn_tell_once(cmn, CMN_CHANNEL_OPEN);
		if (ce->wp.tag && ce->wp.exclusive)
			cmn_tell_once(cmn, CMN_PAIR_INVERTED);
		/* Half a pair counts nothing as long as the other one matches nothing. */
		if (combine && dtm->wp_config[m->wp + 1] == CMN_WP_UNKNOWN)
			dtm->stale_wps |= BIT(m->wp + 1);
		return;
	}
	node->events++;
	cmn_filters_set(cmn, node, ce, true);
	cmn_sel_set(cmn, node, k, ce->id);
	if (cmn_filters_mixed(cmn, node))
		cmn_tell_once(cmn, CMN_FILTERS_MIXED);
}

/**
 * cmn_member_stop() - stop counting an event in a DTM, at a cmn_flush() that writes it.
 * @cmn: the mesh, stopped
 * @ce: the event
 * @m: where it counts
 *
 * By the time another event counts with the event's letter, the counter no longer carries into it.
 *
 * Context: the box's lock. No access.
 */
void cmn_member_stop(struct cmn *cmn, const struct cmn_event *ce, const struct cmn_member *m)
{
	struct cmn_dtm *dtm = &cmn->dtms[m->dtm];
	struct cmn_node *node = &cmn->nodes[m->node];

	dtm->config &= ~CMN_PMU_CONFIG_PAIRED(m->counter);
	__set_bit(m->dtm, cmn->stale_dtms);
	cmn->dtc[dtm->dtc].stale |= BIT(ce->letter[dtm->dtc]);
	cmn->dtc[dtm->dtc].counting &= ~BIT(ce->letter[dtm->dtc]);
	/* Write at once, or the other half would keep counting as if this one were there. */
	if (ce->wp.tag)
		__set_bit(dtm->xp, cmn->started_xps);
	if (ce->type == CMN_TYPE_WP) {
		struct cmn_watch watch = cmn_wp_idle;

		/* With the exclusive bit the watchpoint would match almost everything. */
		watch.config = dtm->wp[m->wp].config & ~cmn->part->wp_exclusive;
		cmn_wp_set(cmn, dtm, m->wp, &watch);
		return;
	}
	node->events--;
	cmn_filters_set(cmn, node, ce, false);
	cmn_sel_set(cmn, node, m->counter, 0);
	/* Write at once: it is not known whether a filter acts on the node's other events, too. */
	if (ce->filter[0] != CMN_FILTER_NONE && node->events)
		__set_bit(dtm->xp, cmn->started_xps);
}

/* The letters that a DTM carries to with the counters that are paired in @config. */
u8 cmn_dtm_letters(const struct cmn_dtm *dtm, u64 config)
{
	u8 letters = 0;

	for (unsigned int k = 0; k < CMN_DTM_COUNTERS; k++)
		if (config & CMN_PMU_CONFIG_PAIRED(k))
			letters |= BIT(cmn_field(dtm->written, CMN_PMU_CONFIG_GLOBAL(k)));
	return letters;
}

/*
 * The four local counters of a DTM. Between a stop and the next flush they must not move. 1 read in
 * a pass.
 */
u64 cmn_dtm_read(struct cmn *cmn, struct cmn_dtm *dtm)
{
	u64 pass = dtm->pass, before = dtm->counts;

	if (pass == cmn->pass)
		return before;
	dtm->counts = cmn_counts_read(cmn, dtm->base + CMN_DTM_PMEVCNT);
	dtm->pass = cmn->pass;
	if (cmn->stopped && !cmn->gone && pass >= cmn->stop_pass && dtm->counts != before)
		cmn_moved(cmn);
	return dtm->counts;
}

/**
 * cmn_member_read() - an event's local counter.
 * @cmn: the mesh
 * @m: where it counts
 *
 * Context: the box's lock. 1 read in a pass for all counters of the DTM.
 * Return: 16 bits.
 */
u16 cmn_member_read(struct cmn *cmn, const struct cmn_member *m)
{
	return cmn_count(cmn_dtm_read(cmn, &cmn->dtms[m->dtm]), m->counter);
}

static void cmn_flush_wp(struct cmn_dtm *dtm, unsigned int n)
{
	const struct cmn_watch *watch = &dtm->wp[n];

	if (dtm->wp_config[n] != watch->config) {
		cmn_write32(watch->config, cmn_wp_reg(dtm, n, CMN_DTM_WP_CONFIG));
		dtm->wp_config[n] = watch->config;
	}
	cmn_write64(watch->val, cmn_wp_reg(dtm, n, CMN_DTM_WP_VAL));
	cmn_write64(watch->mask, cmn_wp_reg(dtm, n, CMN_DTM_WP_MASK));
}

/*
 * Another program may have set dtm_enable, and no manual says whether that keeps writes away. Then
 * all is written again, and the XP's selector behind the DTMs: that may have been locked, too. The
 * mesh stands meanwhile, so the DTM is looked at ten times a second at most.
 */
static void cmn_dtm_unlock(struct cmn *cmn, struct cmn_dtm *dtm)
{
	if (time_before(jiffies, dtm->unlocked + HZ / 10))
		return;
	dtm->unlocked = jiffies;
	if (!(cmn_counts_read(cmn, dtm->base + CMN_DTM_CONTROL) & CMN_DTM_CONTROL_ENABLE) ||
	    cmn->gone)
		return;
	cmn_write64(0, dtm->base + CMN_DTM_CONTROL);
	dtm->written = ~dtm->config;
	memset(dtm->wp_config, 0xff, sizeof(dtm->wp_config));
	dtm->stale_wps = BIT(CMN_DTM_WPS) - 1;
	dtm->pass = 0;
	__set_bit(dtm->xp, cmn->started_xps);
	for (unsigned int i = 0; i < cmn->nr_nodes; i++) {
		struct cmn_node *node = &cmn->nodes[i];

		if (node->xp != dtm->xp || node->type != CMN_TYPE_XP || !node->ours)
			continue;
		node->ours = false;
		__set_bit(i, cmn->stale_nodes);
	}
	cmn_tell_once(cmn, CMN_DTM_LOCKED);
}

static void cmn_flush_dtm(struct cmn *cmn, struct cmn_dtm *dtm)
{
	cmn_dtm_unlock(cmn, dtm);
	for (unsigned int n = 0; n < CMN_DTM_WPS; n++)
		if (dtm->stale_wps & BIT(n))
			cmn_flush_wp(dtm, n);
	dtm->stale_wps = 0;
	if (dtm->written != dtm->config)
		cmn_write64(dtm->config, dtm->base + CMN_DTM_PMU_CONFIG);
	dtm->written = dtm->config;
}

static void cmn_flush_node(struct cmn_node *node)
{
	u32 filters = node->image >> 32;

	if (node->wide || !node->ours || node->filters != filters)
		cmn_write64(node->image, node->sel);
	else
		cmn_write32(node->image, node->sel);
	node->filters = filters;
	node->ours = true;
}

/* Note that no event counts, and that all registers but selectors hold their images. */
void cmn_flush_none(struct cmn *cmn)
{
	bitmap_zero(cmn->stale_dtms, cmn->nr_dtms);
	bitmap_zero(cmn->started_xps, cmn->nr_xps);
	cmn->sample.dtcs = 0;
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++) {
		cmn->dtc[i].stale = 0;
		cmn->dtc[i].started = 0;
		cmn->dtc[i].counting = 0;
		cmn->dtc[i].used = 0;
	}
}

/**
 * cmn_flush() - write what has to be written before the mesh runs.
 * @cmn: the mesh, stopped
 *
 * That is nothing unless something was started, half a pair of watchpoints stopped, or an event
 * with a filter at a node that counts another event.
 *
 * Context: the box's lock. 1 write for each selector and each DTM that is
 * concerned, and 2 or 3 for a watchpoint; 1 read for a DTM, ten times a second at most.
 */
void cmn_flush(struct cmn *cmn)
{
	unsigned int i;

	if (bitmap_empty(cmn->started_xps, cmn->nr_xps))
		return;
	for (i = 0; i < cmn->nr_dtcs; i++)
		cmn->dtc[i].stale = 0;
	for_each_set_bit(i, cmn->stale_dtms, cmn->nr_dtms) {
		struct cmn_dtm *dtm = &cmn->dtms[i];
		struct cmn_dtc *dtc = &cmn->dtc[dtm->dtc];
		/* Of events that were stopped since. */
		u8 letters = cmn_dtm_letters(dtm, dtm->written & ~dtm->config);

		if (!test_bit(dtm->xp, cmn->started_xps) && !(letters & dtc->started)) {
			dtc->stale |= letters;
			continue;
		}
		cmn_flush_dtm(cmn, dtm);
		__clear_bit(i, cmn->stale_dtms);
	}
	/* After the DTMs, since dtm_enable may lock the selector of an XP, too. */
	for_each_set_bit(i, cmn->stale_nodes, cmn->nr_nodes) {
		if (!test_bit(cmn->nodes[i].xp, cmn->started_xps))
			continue;
		cmn_flush_node(&cmn->nodes[i]);
		__clear_bit(i, cmn->stale_nodes);
	}
	for (i = 0; i < cmn->nr_dtcs; i++)
		cmn->dtc[i].started = 0;
	bitmap_zero(cmn->started_xps, cmn->nr_xps);
}
