// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmn: allocation, tried exhaustively on small meshes, against rules that are counted out
 * here in another way.
 */
#include <kunit/test.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "regfile.h"

#define DEPTH	5

/* Two HN-Fs at one XP, one with a DN; few enough nodes to try everything. */
static const struct cmn_fake_node nodes_600[] = {
	{ 0, 0, 0x0003, 0x00, 0 }, { 1, 0, 0x0003, 0x20, 1 }, { 1, 0, 0x0005, 0x20, 0 },
	{ 1, 0, 0x0005, 0x24, 1 }, { 0, 0, 0x0005, 0x04, 2 }, { 0, 0, 0x0001, 0x00, 0 },
};

static const struct cmn_fake_mesh small_600 = {
	.part = 0x434, .rev = 3, .width = 2, .height = 1, .id_bits = 2, .info = 0x3303008,
	.connect = { 0x0e, 0x0e }, .domains = 1, .nodes = nodes_600, .nr = ARRAY_SIZE(nodes_600),
};

static const struct cmn_fake_node nodes_700[] = {
	{ 0, 0, 0x0003, 0x00, 0 }, { 1, 0, 0x0003, 0x20, 1 }, { 1, 0, 0x0005, 0x20, 0 },
	{ 1, 0, 0x0005, 0x24, 1 }, { 0, 0, 0x0005, 0x02, 2 }, { 0, 0, 0x0001, 0x00, 0 },
};

static const struct cmn_fake_mesh small_700 = {
	.part = 0x43c, .rev = 2, .width = 2, .height = 1, .id_bits = 2, .ports = 4,
	.info = 0xc028000003303008, .info1 = 0x24206, .connect = { 0x0e, 0x0e, 0x0e },
	.domains = 2, .nodes = nodes_700, .nr = ARRAY_SIZE(nodes_700),
};

/* Events of all kinds, aggregate and by node, with filters, pairs and cycles. */
static const u64 kinds[] = {
	0x10005, 0x80f0005, 0x100f0005, 0x2080010005, 0x110006, 0x7770, 0x0001000000027770,
	0x08007770, 0x0100000008007770, 0x0100002088007770, 0x3,
};

struct search {
	struct cmn_regfile *file;
	struct cmn_claims *claims, *trial, *before[DEPTH + 1];
	struct cmn_event *event[DEPTH][ARRAY_SIZE(kinds)];
	unsigned int claimed, refused, broken;
};

/* No two events have the same counter, watchpoint or letter. */
static bool disjoint(const struct search *s, struct cmn_event * const *held, unsigned int n)
{
	const struct cmn *cmn = &s->file->cmn;
	u8 letters[CMN_MAX_DTCS] = { }, counters[8] = { }, wps[8] = { };

	for (unsigned int i = 0; i < n; i++) {
		for (unsigned int d = 0; d < cmn->nr_dtcs; d++) {
			if (held[i]->type == CMN_TYPE_DTC || !(held[i]->dtcs & BIT(d)))
				continue;
			if (letters[d] & BIT(held[i]->letter[d]))
				return false;
			letters[d] |= BIT(held[i]->letter[d]);
		}
		for (unsigned int j = 0; j < held[i]->nr; j++) {
			const struct cmn_member *m = &held[i]->member[j];

			if (counters[m->dtm] & BIT(m->counter))
				return false;
			counters[m->dtm] |= BIT(m->counter);
			if (held[i]->type != CMN_TYPE_WP)
				continue;
			if (wps[m->dtm] & BIT(m->wp) || m->wp / 2 != held[i]->wp.down)
				return false;
			wps[m->dtm] |= BIT(m->wp);
		}
	}
	return true;
}

/* On trial the same fits as in earnest, but for a second cycles event. */
static bool trial_agrees(const struct search *s, struct cmn_event * const *held, unsigned int n,
			 bool fits)
{
	unsigned int cycles = 0;
	bool tried = true;

	memset(s->trial, 0, cmn_claims_size(&s->file->cmn));
	for (unsigned int i = 0; i < n; i++) {
		cycles += held[i]->type == CMN_TYPE_DTC;
		tried = tried && !cmn_claim(&s->file->cmn, s->trial, held[i], true);
	}
	return cycles > 1 ? !tried : tried == fits;
}

static bool share_a_node(const struct cmn_event *one, const struct cmn_event *other)
{
	for (unsigned int i = 0; i < one->nr; i++)
		for (unsigned int j = 0; j < other->nr; j++)
			if (one->member[i].node == other->member[j].node)
				return true;
	return false;
}

/* A filter of a node has one value; events here have no second filter. */
static bool filters_agree(const struct cmn_event *one, const struct cmn_event *other)
{
	return one->filter[0] != other->filter[0] || one->filter[0] == CMN_FILTER_NONE ||
	       one->filter_value[0] == other->filter_value[0];
}

/* Can two events be where they meet? A direction has one pair, or two watchpoints. */
static bool get_along(const struct cmn_event *one, const struct cmn_event *other)
{
	if (!share_a_node(one, other))
		return true;
	if (one->type == CMN_TYPE_WP && other->type == CMN_TYPE_WP &&
	    one->wp.down == other->wp.down && (one->wp.tag || other->wp.tag))
		return one->wp.tag == other->wp.tag && one->wp.group != other->wp.group &&
		       one->nr == other->nr;
	return one->type == CMN_TYPE_WP || filters_agree(one, other);
}

/* Do events fit, by counting alone? What they take of a kind is as good as any other. */
static bool possible(const struct search *s, struct cmn_event * const *held, unsigned int n)
{
	const struct cmn *cmn = &s->file->cmn;
	u8 counters[8] = { }, wps[8][2] = { };
	unsigned int cycles = 0;

	for (unsigned int i = 0; i < n; i++) {
		cycles += held[i]->type == CMN_TYPE_DTC;
		for (unsigned int j = 0; j < i; j++)
			if (!get_along(held[i], held[j]))
				return false;
		for (unsigned int j = 0; j < held[i]->nr; j++) {
			unsigned int dtm = held[i]->member[j].dtm;

			if (++counters[dtm] > 4)
				return false;
			if (held[i]->type == CMN_TYPE_WP && ++wps[dtm][held[i]->wp.down] > 2)
				return false;
		}
	}
	return cycles <= cmn->nr_dtcs;
}

static void search(struct search *s, struct cmn_event **held, unsigned int n)
{
	const struct cmn *cmn = &s->file->cmn;
	size_t size = cmn_claims_size(cmn);

	if (n == DEPTH)
		return;
	for (unsigned int k = 0; k < ARRAY_SIZE(kinds); k++) {
		struct cmn_event *ce = s->event[n][k];
		bool fits;

		memcpy(s->before[n], s->claims, size);
		fits = !cmn_claim(cmn, s->claims, ce, false);
		held[n] = ce;
		s->broken += !trial_agrees(s, held, n + 1, fits);
		/* Nothing is refused that would have fitted; letters are enough for all of these. */
		s->broken += fits != possible(s, held, n + 1);
		if (fits) {
			s->claimed++;
			s->broken += !disjoint(s, held, n + 1);
			search(s, held, n + 1);
			cmn_unclaim(cmn, s->claims, ce);
		} else {
			s->refused++;
		}
		/* A failure has undone what it did, and giving back gives all back. */
		s->broken += !!memcmp(s->before[n], s->claims, size);
	}
}

/* The half with the second match group was opened second. */
static struct cmn_event *half_of(struct cmn_event *ce)
{
	ce->odd = ce->wp.tag && ce->wp.group;
	return ce;
}

static void try_all(struct kunit *test, const struct cmn_fake_mesh *mesh)
{
	struct search *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);
	struct cmn_event *held[DEPTH];

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->file = cmn_regfile_ready(test, mesh);
	s->claims = cmn_regfile_claims(test, s->file);
	s->trial = cmn_regfile_claims(test, s->file);
	for (unsigned int n = 0; n <= DEPTH; n++)
		s->before[n] = cmn_regfile_claims(test, s->file);
	for (unsigned int n = 0; n < DEPTH; n++)
		for (unsigned int k = 0; k < ARRAY_SIZE(kinds); k++)
			s->event[n][k] = half_of(cmn_regfile_event(test, s->file, kinds[k], 0, 0));
	search(s, held, 0);
	KUNIT_EXPECT_EQ(test, s->broken, 0U);
	KUNIT_EXPECT_GT(test, s->claimed, 1000U);
	KUNIT_EXPECT_GT(test, s->refused, 1000U);
	for (unsigned int n = 0; n < DEPTH; n++)
		for (unsigned int k = 0; k < ARRAY_SIZE(kinds); k++)
			kvfree(s->event[n][k]);
}

static void everything_on_600(struct kunit *test)
{
	try_all(test, &small_600);
}

static void everything_on_700(struct kunit *test)
{
	try_all(test, &small_700);
}

/* Eight letters for a domain, all used; on CMN-600 a letter is one in all domains. */
static void letters_run_out(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &small_600);
	struct cmn *cmn = &file->cmn;
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	/* Four events of one XP, four of the other, and one more. */
	static const u64 config[] = { 0x0080110006, 0x2080110006 };
	struct cmn_event *ce[9];

	for (int i = 0; i < 9; i++) {
		ce[i] = cmn_regfile_event(test, file, i == 8 ? 0x3 : config[i / 4], 0, 0);
		KUNIT_EXPECT_NULL(test, cmn_claim(cmn, claims, ce[i], false));
		if (i < 8)
			KUNIT_EXPECT_EQ(test, ce[i]->letter[0], i);
	}
	KUNIT_EXPECT_EQ(test, claims->letters[0], 0xff);
	KUNIT_EXPECT_EQ(test, claims->letters[1], 0xff);
	cmn_unclaim(cmn, claims, ce[3]);
	KUNIT_EXPECT_NULL(test, cmn_claim(cmn, claims, ce[3], false));
	KUNIT_EXPECT_EQ(test, ce[3]->letter[1], 3);
	for (int i = 0; i < 9; i++)
		kvfree(ce[i]);
}

/* Watchpoints: up at port 1, RSP, group 0, tag 3, of XP 0x20; and what may differ. */
#define WP_BASE		(0x7770 | WP_TAG_3 | WP_XP_20 | BIT_ULL(48) | BIT_ULL(51))
#define WP_TAG_3	(3ULL << 27)
#define WP_XP_20	(BIT_ULL(31) | 0x20ULL << 32)
#define WP_DOWN		(2ULL << 16)
#define WP_TAG_4	(7ULL << 27)		/* 3 ^ 4 */
#define WP_EVERYWHERE	WP_XP_20
#define WP_OTHER_XP	(0x20ULL << 32)
#define WP_PORT_0	BIT_ULL(48)
#define WP_DAT		(2ULL << 51)
#define WP_GROUP_1	BIT_ULL(56)
#define WP_EXCLUSIVE	BIT_ULL(58)
/* The odd watchpoint of a pair at an XP: its configuration, value and mask. */
#define WP1_CONFIG	0x21b8
#define WP_CONFIG_EXCLUSIVE	BIT_ULL(8)
#define WP_CHANNEL_1	BIT_ULL(59)

static const struct { u64 differs; bool pair; const char *what; } pair_cases[] = {
	{ WP_GROUP_1, true, "a pair" },
	{ 0, false, "the same group" },
	{ WP_GROUP_1 | WP_DOWN, false, "the other direction" },
	{ WP_GROUP_1 | WP_TAG_4, false, "another tag" },
	{ WP_GROUP_1 | WP_EVERYWHERE, false, "one of all XPs" },
	{ WP_GROUP_1 | WP_OTHER_XP, false, "another XP" },
	{ WP_GROUP_1 | WP_PORT_0, false, "another port" },
	{ WP_GROUP_1 | WP_DAT, false, "another channel" },
	{ WP_GROUP_1 | WP_CHANNEL_1, false, "another virtual channel" },
};

/* Two watchpoints are a pair if they see the same flits, of the same XPs, through two groups. */
static void pairs(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &small_700);
	struct cmn_event *one = cmn_regfile_event(test, file, WP_BASE, 0, 0);

	for (int i = 0; i < ARRAY_SIZE(pair_cases); i++) {
		struct cmn_event *other = cmn_regfile_event(test, file,
							    WP_BASE ^ pair_cases[i].differs, 0, 0);

		KUNIT_EXPECT_EQ_MSG(test, cmn_wp_makes_pair(one, other), pair_cases[i].pair, "%s",
				    pair_cases[i].what);
		KUNIT_EXPECT_EQ_MSG(test, cmn_wp_makes_pair(other, one), pair_cases[i].pair, "%s",
				    pair_cases[i].what);
		kvfree(other);
	}
	kvfree(one);
}

/*
 * The second of a pair gets the odd watchpoint, and nobody else does; so it is whichever comes first.
 */
static void pairs_are_kept_together(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &small_700);
	struct cmn_event *one = cmn_regfile_event(test, file, WP_BASE, 0, 0);
	struct cmn_event *other = half_of(cmn_regfile_event(test, file, WP_BASE ^ WP_GROUP_1, 0, 0));
	struct cmn_event *all = half_of(cmn_regfile_event(test, file, WP_BASE ^
							  (WP_GROUP_1 | WP_EVERYWHERE), 0, 0));
	struct cmn_event *single = cmn_regfile_event(test, file, WP_BASE ^ WP_TAG_3, 0, 0);
	struct cmn_dtm_claims claims = { };

	KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, one, false), 0);
	KUNIT_EXPECT_LT(test, cmn_wp_claim(&claims, all, false), 0);
	KUNIT_EXPECT_LT(test, cmn_wp_claim(&claims, single, false), 0);
	KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, other, false), 1);
	KUNIT_EXPECT_LT(test, cmn_wp_claim(&claims, other, false), 0);

	/* The first goes and comes back, then both do, the other way round. */
	cmn_wp_unclaim(&claims, 0);
	KUNIT_EXPECT_LT(test, cmn_wp_claim(&claims, single, false), 0);
	KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, one, false), 0);
	cmn_wp_unclaim(&claims, 0);
	cmn_wp_unclaim(&claims, 1);
	KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, other, false), 1);
	KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, one, false), 0);

	/* Without them a single one has the place, and no pair has any. */
	cmn_wp_unclaim(&claims, 0);
	cmn_wp_unclaim(&claims, 1);
	KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, single, false), 0);
	KUNIT_EXPECT_LT(test, cmn_wp_claim(&claims, one, false), 0);
	KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, single, false), 1);
	kvfree(one);
	kvfree(other);
	kvfree(all);
	kvfree(single);
}

/*
 * A stopped event need not be written, but half a pair has to be, since the other half waits for it
 * again. Afterwards the stopped half matches nothing.
 */
static void a_stopped_half_is_written(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &small_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *one = cmn_regfile_start(test, file, claims, WP_BASE, 0, 0);
	struct cmn_event *other = half_of(cmn_regfile_event(test, file, WP_BASE ^
							    (WP_GROUP_1 | WP_EXCLUSIVE), 5, 0));
	u32 wp1 = file->xp[1] + WP1_CONFIG;

	KUNIT_ASSERT_NULL(test, cmn_claim(&file->cmn, claims, other, false));
	cmn_event_start(&file->cmn, other);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, wp1) & WP_CONFIG_EXCLUSIVE, WP_CONFIG_EXCLUSIVE);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, wp1 + 8), 5ULL);
	cmn_event_stop(&file->cmn, other);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, wp1) & WP_CONFIG_EXCLUSIVE, 0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, wp1 + 8), ~0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, wp1 + 16), 0ULL);
	cmn_event_stop(&file->cmn, one);
	kvfree(one);
	kvfree(other);
}

/* Halves of two users who chose the same number are no pair; those of a group that is tried are. */
static void pairs_have_one_user(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &small_700);
	struct cmn_event *one = cmn_regfile_event(test, file, WP_BASE, 0, 0);
	struct cmn_event *other = half_of(cmn_regfile_event(test, file, WP_BASE ^ WP_GROUP_1, 0, 0));
	struct cmn_dtm_claims claims = { };

	one->party = test;
	other->party = file;
	KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, one, false), 0);
	KUNIT_EXPECT_LT(test, cmn_wp_claim(&claims, other, false), 0);
	KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, other, true), 1);
	kvfree(one);
	kvfree(other);
}

/* Halves of all XPs: a pair that counts only when both have all that they need. */
static void half_that_found_no_place(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &small_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *one = cmn_regfile_event(test, file, WP_BASE ^ WP_EVERYWHERE, 0, 0);
	struct cmn_event *other = half_of(cmn_regfile_event(test, file, WP_BASE ^
							    (WP_EVERYWHERE | WP_GROUP_1), 0, 0));
	struct cmn_event *here[3];

	KUNIT_ASSERT_NULL(test, cmn_claim(&file->cmn, claims, one, false));
	/* All other counters of the last XP that both have, which is 0x20. */
	for (int i = 0; i < ARRAY_SIZE(here); i++) {
		here[i] = cmn_regfile_event(test, file, 0x2080110006, 0, 0);
		KUNIT_ASSERT_NULL(test, cmn_claim(&file->cmn, claims, here[i], false));
	}
	KUNIT_EXPECT_NOT_NULL(test, cmn_claim(&file->cmn, claims, other, false));
	KUNIT_EXPECT_FALSE(test, one->paired || other->paired);
	for (int i = 0; i < ARRAY_SIZE(here); i++) {
		cmn_unclaim(&file->cmn, claims, here[i]);
		kvfree(here[i]);
	}
	KUNIT_EXPECT_NULL(test, cmn_claim(&file->cmn, claims, other, false));
	KUNIT_EXPECT_TRUE(test, one->paired && other->paired);
	kvfree(one);
	kvfree(other);
}

/*
 * Of two halves that were not opened for each other, the second one gets the watchpoint that is
 * left.
 */
static void pairs_of_equal_halves(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &small_700);
	struct cmn_event *one = cmn_regfile_event(test, file, WP_BASE, 0, 0);
	struct cmn_event *other = cmn_regfile_event(test, file, WP_BASE ^ WP_GROUP_1, 0, 0);
	struct cmn_dtm_claims claims = { };

	for (int odd = 0; odd < 2; odd++) {
		one->odd = odd;
		other->odd = odd;
		KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, one, false), odd);
		KUNIT_EXPECT_LT(test, cmn_wp_claim(&claims, one, false), 0);
		KUNIT_EXPECT_EQ(test, cmn_wp_claim(&claims, other, false), !odd);
		cmn_wp_unclaim(&claims, 0);
		cmn_wp_unclaim(&claims, 1);
	}
	kvfree(one);
	kvfree(other);
}

/* Halves that are open, as perf knows them: each leads itself, or is in a group. */
struct open_half {
	struct cmn_event *ce;
	struct perf_event event;
};

static struct open_half *open_half(struct kunit *test, struct cmn_regfile *file, unsigned int group,
				   struct open_half *leader)
{
	struct open_half *half = kunit_kzalloc(test, sizeof(*half), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, half);
	half->event.group_leader = leader ? &leader->event : &half->event;
	half->ce = cmn_regfile_event(test, file, WP_BASE | (u64)group << 56, 0, 0);
	cmn_half_open(half->ce, &half->event);
	return half;
}

static void close_half(struct open_half *half)
{
	cmn_half_close(half->ce);
	kvfree(half->ce);
}

static bool is_pair(const struct open_half *first, const struct open_half *second)
{
	return first->ce->mate == second->ce && second->ce->mate == first->ce &&
	       !first->ce->second && second->ce->second;
}

/* A group's first half counts its pair, whatever pair it was in before. */
static void pairs_of_groups(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &small_700);
	struct open_half *x, *y, *a, *b;

	x = open_half(test, file, 1, NULL);
	a = open_half(test, file, 0, NULL);
	KUNIT_EXPECT_TRUE(test, is_pair(x, a));
	b = open_half(test, file, 1, a);
	KUNIT_EXPECT_TRUE(test, is_pair(a, b));
	y = open_half(test, file, 0, NULL);
	KUNIT_EXPECT_TRUE(test, is_pair(x, y));
	close_half(y);
	close_half(x);
	close_half(b);
	close_half(a);
}

/* An event that its group refuses leaves an existing pair as it was. */
static void pairs_survive_who_is_refused(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &small_700);
	struct open_half *a = open_half(test, file, 0, NULL), *b = open_half(test, file, 1, a);
	struct open_half *refused = open_half(test, file, 2, a);

	KUNIT_EXPECT_TRUE(test, is_pair(a, refused));
	close_half(refused);
	KUNIT_EXPECT_TRUE(test, is_pair(a, b));
	close_half(b);
	close_half(a);
}

/* The half that is left makes a pair with one that is free; what it was as the second half it remains. */
static void pairs_of_who_is_left(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &small_700);
	struct open_half *a = open_half(test, file, 0, NULL), *b = open_half(test, file, 1, NULL);
	struct open_half *c = open_half(test, file, 2, NULL), *d;

	close_half(b);
	KUNIT_EXPECT_TRUE(test, is_pair(a, c));
	close_half(a);
	d = open_half(test, file, 1, NULL);
	KUNIT_EXPECT_TRUE(test, is_pair(d, c));
	close_half(c);
	close_half(d);
}

static struct kunit_case cmn_claim_cases[] = {
	KUNIT_CASE(everything_on_600),
	KUNIT_CASE(everything_on_700),
	KUNIT_CASE(letters_run_out),
	KUNIT_CASE(pairs),
	KUNIT_CASE(pairs_are_kept_together),
	KUNIT_CASE(a_stopped_half_is_written),
	KUNIT_CASE(pairs_have_one_user),
	KUNIT_CASE(half_that_found_no_place),
	KUNIT_CASE(pairs_of_equal_halves),
	KUNIT_CASE(pairs_of_groups),
	KUNIT_CASE(pairs_survive_who_is_refused),
	KUNIT_CASE(pairs_of_who_is_left),
	{ }
};

struct kunit_suite cmn_claim_suite = {
	.name = "cmn_claim",
	.test_cases = cmn_claim_cases,
};
