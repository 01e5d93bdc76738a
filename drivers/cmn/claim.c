// SPDX-License-Identifier: GPL-2.0-only
/*
 * What an event takes: a local counter in every DTM where it counts, and possibly a watchpoint or a
 * filter there; and a letter of the DTC of each domain that has one of these DTMs.
 */
#include <linux/bitmap.h>
#include <linux/bitops.h>
#include <linux/export.h>
#include <linux/overflow.h>

#include "cmn.h"

#define CMN_NONE	0xff

/* Bytes; see struct cmn_claims. */
size_t cmn_claims_size(const struct cmn *cmn)
{
	return offsetof(struct cmn_claims, dtm) +
	       array_size(cmn->nr_dtms, sizeof(struct cmn_dtm_claims)) +
	       array3_size(cmn->nr_nodes, CMN_FILTERS, sizeof(struct cmn_filter_claim));
}
EXPORT_SYMBOL_IF_KUNIT(cmn_claims_size);

/* Of filter @i of the event on a node; NULL if it has none. */
static struct cmn_filter_claim *cmn_filter_claim(const struct cmn *cmn, struct cmn_claims *claims,
						 const struct cmn_event *ce, unsigned int node,
						 unsigned int i)
{
	struct cmn_filter_claim *first = (void *)&claims->dtm[cmn->nr_dtms];

	return ce->filter[i] == CMN_FILTER_NONE ? NULL : &first[node * CMN_FILTERS + ce->filter[i]];
}

/* Take the filters of an event on a node: all of them or none. */
static bool cmn_claim_filters(const struct cmn *cmn, struct cmn_claims *claims,
			      const struct cmn_event *ce, unsigned int node)
{
	struct cmn_filter_claim *claim;

	for (unsigned int i = 0; i < CMN_EVENT_FILTERS; i++) {
		claim = cmn_filter_claim(cmn, claims, ce, node, i);
		if (claim && claim->users && claim->value != ce->filter_value[i])
			return false;
	}
	for (unsigned int i = 0; i < CMN_EVENT_FILTERS; i++) {
		claim = cmn_filter_claim(cmn, claims, ce, node, i);
		if (!claim)
			continue;
		claim->users++;
		claim->value = ce->filter_value[i];
	}
	return true;
}

static void cmn_unclaim_filters(const struct cmn *cmn, struct cmn_claims *claims,
				const struct cmn_event *ce, unsigned int node)
{
	struct cmn_filter_claim *claim;

	for (unsigned int i = 0; i < CMN_EVENT_FILTERS; i++) {
		claim = cmn_filter_claim(cmn, claims, ce, node, i);
		if (claim && !--claim->users)
			claim->value = 0;
	}
}

/* Take what the event needs in one DTM, and note it in @m. Returns NULL, or why it does not fit. */
static const char *cmn_claim_member(const struct cmn *cmn, struct cmn_claims *claims,
				    struct cmn_event *ce, struct cmn_member *m, bool trial)
{
	struct cmn_dtm_claims *dtm = &claims->dtm[m->dtm];
	unsigned int counter = ffz(dtm->counters);
	int wp = 0;

	if (counter >= CMN_DTM_COUNTERS)
		return "the four counters of a DTM are not enough";
	if (!cmn_claim_filters(cmn, claims, ce, m->node))
		return "two events want different filters of one node";
	if (ce->type == CMN_TYPE_WP) {
		wp = cmn_wp_claim(dtm, ce, trial);
		if (wp < 0 && ce->wp.tag)
			return "wp_combine wants two of the same XPs that differ in wp_grp alone";
		if (wp < 0)
			return "the two watchpoints of a direction are not enough";
	}
	dtm->counters |= BIT(counter);
	m->counter = counter;
	m->wp = wp;
	return NULL;
}

static void cmn_unclaim_member(const struct cmn *cmn, struct cmn_claims *claims,
			       const struct cmn_event *ce, const struct cmn_member *m)
{
	struct cmn_dtm_claims *dtm = &claims->dtm[m->dtm];

	dtm->counters &= ~BIT(m->counter);
	cmn_unclaim_filters(cmn, claims, ce, m->node);
	if (ce->type == CMN_TYPE_WP)
		cmn_wp_unclaim(dtm, m->wp);
}

/*
 * Find a free letter of DTC @i. If the domains are not known, a DTM may be in any of them, so the
 * letter has to be free in all. DTMs may still carry into a letter for an event that was stopped.
 * Using such a letter costs a write to each of these DTMs, so an event with far fewer DTMs gets
 * another letter. Low letters are taken first: a register has two letters, and one read returns
 * both.
 */
static unsigned int cmn_free_letter(const struct cmn *cmn, const struct cmn_claims *claims,
				    const struct cmn_event *ce, unsigned int i)
{
	unsigned int taken = claims->letters[i], stale = cmn->dtc[i].stale;

	if (!cmn->known_domains)
		for (unsigned int other = 0; other < cmn->nr_dtcs; other++) {
			taken |= claims->letters[other];
			stale |= cmn->dtc[other].stale;
		}
	if (4 * ce->nr < bitmap_weight(cmn->stale_dtms, cmn->nr_dtms) &&
	    ffz(taken | stale) < CMN_DTC_COUNTERS)
		return ffz(taken | stale);
	return ffz(taken);
}

static const char *cmn_claim_letters(const struct cmn *cmn, struct cmn_claims *claims,
				     const struct cmn_event *ce, u8 *letter)
{
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++) {
		letter[i] = CMN_NONE;
		if (!(ce->dtcs & BIT(i)))
			continue;
		letter[i] = cmn_free_letter(cmn, claims, ce, i);
		if (letter[i] >= CMN_DTC_COUNTERS)
			return "the eight counters of a DTC are not enough";
	}
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++)
		if (ce->dtcs & BIT(i))
			claims->letters[i] |= BIT(letter[i]);
	return NULL;
}

/* Give back the letters of an event, and what it has in the DTMs of its first @nr members. */
static void cmn_unclaim_members(const struct cmn *cmn, struct cmn_claims *claims,
				const struct cmn_event *ce, unsigned int nr)
{
	while (nr--)
		cmn_unclaim_member(cmn, claims, ce, &ce->member[nr]);
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++)
		if (ce->dtcs & BIT(i))
			claims->letters[i] &= ~BIT(ce->letter[i]);
}

static const char *cmn_claim_cycles(const struct cmn *cmn, struct cmn_claims *claims,
				    struct cmn_event *ce, bool trial)
{
	unsigned int free = ffz(claims->cycles);

	/* Each DTC has a cycle counter, but all count the same, so a group needs one. */
	if (trial && claims->cycles)
		return "it has two cycles events";
	if (free >= cmn->nr_dtcs)
		return "the cycle counters are taken";
	claims->cycles |= BIT(free);
	if (!trial)
		ce->cycles = free;
	return NULL;
}

/**
 * cmn_claim() - take what an event needs.
 * @cmn: the mesh
 * @claims: what is taken already
 * @ce: the event
 * @trial: only see whether the event fits: @ce, which may be counting, is not changed. If it does
 *	not fit, @claims is garbage
 *
 * Context: any; @claims is the caller's.
 * Return: NULL; or a text that says why not. Then @claims is as before, unless @trial.
 */
const char *cmn_claim(const struct cmn *cmn, struct cmn_claims *claims, struct cmn_event *ce,
		      bool trial)
{
	u8 scratch[CMN_MAX_DTCS], *letter = trial ? scratch : ce->letter;
	const char *why;

	if (ce->type == CMN_TYPE_DTC)
		return cmn_claim_cycles(cmn, claims, ce, trial);
	why = cmn_claim_letters(cmn, claims, ce, letter);
	if (why)
		return why;
	for (unsigned int i = 0; i < ce->nr; i++) {
		struct cmn_member tried = ce->member[i];

		why = cmn_claim_member(cmn, claims, ce, trial ? &tried : &ce->member[i], trial);
		if (why && !trial)
			cmn_unclaim_members(cmn, claims, ce, i);
		if (why)
			return why;
	}
	if (trial)
		return NULL;
	ce->counted = true;
	if (ce->type == CMN_TYPE_WP)
		cmn_wp_claimed(&claims->dtm[ce->member[0].dtm], ce->member[0].wp);
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_claim);

/* Give back what cmn_claim() took, not on trial. */
void cmn_unclaim(const struct cmn *cmn, struct cmn_claims *claims, struct cmn_event *ce)
{
	if (ce->type == CMN_TYPE_DTC)
		claims->cycles &= ~BIT(ce->cycles);
	else
		cmn_unclaim_members(cmn, claims, ce, ce->nr);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_unclaim);
