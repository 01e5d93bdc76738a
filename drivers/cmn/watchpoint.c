// SPDX-License-Identifier: GPL-2.0-only
/*
 * Watchpoints count the flits at a device port that match. A DTM has two for each direction. The
 * even one can count the flits that match both.
 */
#include <linux/bitfield.h>
#include <linux/export.h>

#include "cmn.h"

static const char * const cmn_channel_names[CMN_CHANNELS] = { "REQ", "RSP", "SNP", "DAT" };

/* WPn_CONFIG. If an XP has several DTMs, each knows only its own two ports. */
u32 cmn_wp_config(const struct cmn *cmn, const struct cmn_wp *wp, bool combine)
{
	u32 config = FIELD_PREP(CMN_WP_CONFIG_DEV_SEL, wp->port % 2) |
		     FIELD_PREP(CMN_WP_CONFIG_CHN_SEL, wp->channel) |
		     FIELD_PREP(CMN_WP_CONFIG_GRP, wp->group);

	if (wp->exclusive)
		config |= cmn->part->wp_exclusive;
	if (combine)
		config |= cmn->part->wp_combine;
	if (!cmn->multi_dtm && cmn->part->wp_dev_sel2)
		config |= FIELD_PREP(CMN_WP_CONFIG_DEV_SEL2, wp->port / 2);
	if (cmn->part->wp_chn_num)
		config |= FIELD_PREP(CMN_WP_CONFIG_CHN_NUM, wp->number);
	return config;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_wp_config);

/**
 * cmn_wp_decode() - what a watchpoint event watches.
 * @cmn: the mesh
 * @config: attr.config
 * @wp: set to it
 *
 * Context: event_init.
 * Return: 0, or -EINVAL with a message.
 */
int cmn_wp_decode(const struct cmn *cmn, u64 config, struct cmn_wp *wp)
{
	unsigned int direction = FIELD_GET(CMN_CONFIG_EVENTID, config);

	*wp = (struct cmn_wp){
		.port = FIELD_GET(CMN_CONFIG_WP_DEV_SEL, config),
		.channel = FIELD_GET(CMN_CONFIG_WP_CHN_SEL, config),
		.number = FIELD_GET(CMN_CONFIG_WP_CHN_NUM, config),
		.group = FIELD_GET(CMN_CONFIG_WP_GRP, config),
		.tag = FIELD_GET(CMN_CONFIG_WP_COMBINE, config),
		.down = direction == CMN_WP_DOWN,
		.exclusive = FIELD_GET(CMN_CONFIG_WP_EXCLUSIVE, config),
	};
	if (direction != CMN_WP_UP && direction != CMN_WP_DOWN)
		cmn_refuse(cmn, "a watchpoint's eventid is %u for up or %u for down, not %u",
			   CMN_WP_UP, CMN_WP_DOWN, direction);
	else if (wp->channel >= CMN_CHANNELS)
		cmn_refuse(cmn, "wp_chn_sel=%u is none of the %u channels",
			   wp->channel, CMN_CHANNELS);
	else if (wp->group >= cmn->part->wp_groups)
		cmn_refuse(cmn, "wp_grp=%u: %s has %u match groups",
			   wp->group, cmn->part->name, cmn->part->wp_groups);
	else if (wp->number && !cmn->part->wp_chn_num)
		cmn_refuse(cmn, "wp_chn_num=%u: watchpoints of %s see one virtual channel alone",
			   wp->number, cmn->part->name);
	else if (wp->number >= max_t(u8, cmn->vcs[wp->channel], 1))
		cmn_refuse(cmn, "wp_chn_num=%u: this mesh has %u %s channels",
			   wp->number, cmn->vcs[wp->channel], cmn_channel_names[wp->channel]);
	else
		return 0;
	return -EINVAL;
}

static bool cmn_wp_same_xps(const struct cmn_event *one, const struct cmn_event *other)
{
	if (one->nr != other->nr)
		return false;
	for (unsigned int i = 0; i < one->nr; i++)
		if (one->member[i].node != other->member[i].node)
			return false;
	return true;
}

/* Can the two be combined? They look at the same flits, through two match groups. */
bool cmn_wp_makes_pair(const struct cmn_event *one, const struct cmn_event *other)
{
	const struct cmn_wp *a = &one->wp, *b = &other->wp;

	return one->type == CMN_TYPE_WP && other->type == CMN_TYPE_WP && a->tag &&
	       a->tag == b->tag && a->down == b->down && a->port == b->port &&
	       a->channel == b->channel && a->number == b->number && a->group != b->group &&
	       cmn_wp_same_xps(one, other);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_wp_makes_pair);

/**
 * cmn_wp_claim() - take a watchpoint of a DTM.
 * @claims: the DTM's
 * @ce: the event that gets it; it has to outlive the claim
 * @trial: a group is tried, whose halves belong together
 *
 * A pair has both watchpoints of a direction, and counts at the even one. Which half has the even
 * one was decided when they were opened, so it is the same in all DTMs, whichever half is claimed
 * first. Two halves that were not opened for each other may need the same one. Then the second one
 * gets the other, in all DTMs. Half a pair has its own watchpoint, and keeps the other one free.
 * The even half counts nothing until the odd one is there. The odd half counts the flits that it
 * matches.
 *
 * Return: its number, or -EAGAIN.
 */
int cmn_wp_claim(struct cmn_dtm_claims *claims, struct cmn_event *ce, bool trial)
{
	unsigned int even = ce->wp.down ? 2 : 0, n = even;
	struct cmn_event *other;

	if (ce->wp.tag ? ce->odd : claims->wps & BIT(even))
		n = even + 1;
	other = claims->half[n];
	if (other && cmn_wp_makes_pair(other, ce))
		n ^= 1;
	if (claims->wps & BIT(n))
		return -EAGAIN;
	if (claims->wps & BIT(n ^ 1)) {
		other = claims->half[n ^ 1];
		if (!other != !ce->wp.tag)
			return -EAGAIN;
		if (other && (!cmn_wp_makes_pair(other, ce) ||
			      (!trial && other->party != ce->party)))
			return -EAGAIN;
	}
	claims->wps |= BIT(n);
	claims->half[n] = ce->wp.tag ? ce : NULL;
	return n;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_wp_claim);

/* An event has watchpoint @n, and all else that it needs. If this makes a pair whole, note it. */
void cmn_wp_claimed(struct cmn_dtm_claims *claims, unsigned int n)
{
	struct cmn_event *ce = claims->half[n], *other = claims->half[n ^ 1];

	if (!ce || !other)
		return;
	ce->paired = true;
	other->paired = true;
}

/* Give back watchpoint @n. */
void cmn_wp_unclaim(struct cmn_dtm_claims *claims, unsigned int n)
{
	claims->wps &= ~BIT(n);
	claims->half[n] = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_wp_unclaim);
