// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmn: what registers hold while events count, when the mesh is taken over, and when it is left.
 * Numbers are those of Documentation/hardware/cmn.md, worked out by hand.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include "regfile.h"

/* With which also what was stopped at the same XP is written. */
static void start_again(struct cmn_regfile *file, struct cmn_event *ce)
{
	cmn_event_stop(&file->cmn, ce);
	cmn_event_start(&file->cmn, ce);
	cmn_events_begin(&file->cmn);
}

/* PMU_CONFIG event by event, as in Documentation/hardware/cmn.md, 9.3: one write at the end. */
static void dtm_images(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 xp = file->xp[1];		/* id 0x20 */
	u64 reset = cmn_regfile_get(file, xp + PMU_CONFIG);
	struct cmn_event *one, *two, *three;

	KUNIT_EXPECT_EQ(test, reset, 0x1ULL);
	one = cmn_regfile_start(test, file, claims, 0x2480010005, 0, 0);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + PMU_CONFIG), 0x0000002000000011ULL);
	two = cmn_regfile_start(test, file, claims, 0x2080750006, 0, 0);
	cmn_regfile_forget(file);
	three = cmn_regfile_start(test, file, claims, 0x0001002080007770, 0x200000000,
				  0xffffffe07fffffff);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + PMU_CONFIG), 0x0000052002100071ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, true, xp + PMU_CONFIG), 1U);
	/* Line 1, for local counter 1. */
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + SEL), 0x7500ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + WP0_CONFIG), 0x1ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + WP0_CONFIG + 8), 0x200000000ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + WP0_CONFIG + 16), 0xffffffe07fffffffULL);

	cmn_event_stop(&file->cmn, three);
	cmn_event_stop(&file->cmn, two);
	start_again(file, one);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + PMU_CONFIG) & 0xff, 0x11ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + SEL), 0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + WP0_CONFIG + 8), ~0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + WP0_CONFIG + 16), 0ULL);
	kvfree(one);
	kvfree(two);
	kvfree(three);
}

/* The last counter, with the last letter; four more letters are somebody else's. */
static void the_last_of_all(struct kunit *test)
{
	static const struct cmn_fake_node nodes[] = {
		{ 0, 0, 0x0003, 0x00, 0 }, { 1, 0, 0x0005, 0x24, 0 }, { 1, 0, 0x0005, 0x21, 1 },
	};
	/* Of HN-F 0x24, of XP 0x20, and what goes down there; of XP 0; of HN-F 0x21. */
	static const u64 config[] = {
		0x2480010005, 0x2080750006, 0x0001002080027770, 0x0080110006, 0x0080110006,
		0x0080110006, 0x0080110006, 0x2180010005,
	};
	struct cmn_fake_mesh mesh = cmn_fake_600;
	struct cmn_event *ce[ARRAY_SIZE(config)];
	struct cmn_regfile *file;
	struct cmn_claims *claims;

	mesh.nodes = nodes;
	mesh.nr = ARRAY_SIZE(nodes);
	file = cmn_regfile_ready(test, &mesh);
	claims = cmn_regfile_claims(test, file);
	for (int i = 0; i < ARRAY_SIZE(config); i++)
		ce[i] = cmn_regfile_start(test, file, claims, config[i], 0, 0);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->xp[1] + PMU_CONFIG),
			0x17020520721000f1ULL);
	for (int i = 0; i < ARRAY_SIZE(config); i++)
		kvfree(ce[i]);
}

/* Four lines of an XP in four bytes; two of them unused, as devices have counters 1 and 2. */
static void narrow_selectors(struct kunit *test)
{
	static const u64 config[] = { 0x2080750006, 0x2080010005, 0x2480010005, 0x2080160006 };
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce[ARRAY_SIZE(config)];

	for (int i = 0; i < ARRAY_SIZE(config); i++)
		ce[i] = cmn_regfile_start(test, file, claims, config[i], 0, 0);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->xp[1] + SEL), 0x16000075ULL);
	for (int i = 0; i < ARRAY_SIZE(config); i++)
		kvfree(ce[i]);
}

/* Nine bits of id at a stride of 16 on CMN-700, written as one. */
static void wide_selectors(struct kunit *test)
{
	struct cmn_fake_mesh mesh = cmn_fake_700;
	struct cmn_regfile *file;
	struct cmn_claims *claims;
	struct cmn_event *one, *two;
	u32 xp;

	mesh.info1 = 0x2420a;		/* two SNP channels */
	file = cmn_regfile_ready(test, &mesh);
	claims = cmn_regfile_claims(test, file);
	xp = file->xp[1];
	one = cmn_regfile_start(test, file, claims, 0x2080750006, 0, 0);
	two = cmn_regfile_start(test, file, claims, 0x2081010006, 0, 0);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + SEL), 0x0000000001010075ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, true, xp + SEL), 1U);
	kvfree(one);
	kvfree(two);
}

/* In the second DTM of an XP ports count from 0; the second set of events is 8 further. */
static void second_dtm_and_second_set(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 xp = file->xp[6];		/* id 0x48 */
	struct cmn_event *ccla = cmn_regfile_start(test, file, claims, 0x4e80210105, 0, 0);
	struct cmn_event *rni = cmn_regfile_start(test, file, claims, 0x4e8005000a, 0, 0);
	u32 node = file->node[7];

	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, node + SEL + 8), 0x21ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, node + SEL), 0x0500ULL);
	/* Port 3 is port 1 there: inputs 0x20 and 0x21, letters A and B. */
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + 0x200 + PMU_CONFIG),
			0x0000212000100031ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + PMU_CONFIG), 1ULL);
	kvfree(ccla);
	kvfree(rni);
}

/* The upper half of a selector is written when a filter changes, and no other time. */
static void filters(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 node = file->node[3];	/* id 0x20 */
	struct cmn_event *one = cmn_regfile_start(test, file, claims, 0x20b02b0005, 0, 0);
	struct cmn_event *two;

	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, node + SEL), 6ULL << 42 | 0x2b);
	KUNIT_EXPECT_FALSE(test, test_bit(CMN_FILTERS_MIXED, &file->cmn.told));
	cmn_regfile_forget(file);
	two = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0);
	KUNIT_EXPECT_TRUE(test, test_bit(CMN_FILTERS_MIXED, &file->cmn.told));
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, node + SEL), 6ULL << 42 | 0x012b);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, true, node + SEL), 1U);
	for (unsigned int n = 0; n < file->reads + file->writes; n++)
		if (file->log[n].offset == node + SEL)
			KUNIT_EXPECT_EQ(test, file->log[n].bytes, 4);
	kvfree(one);
	kvfree(two);
}

/* What is not known of watchpoints is said when it first matters. */
static void open_questions_of_watchpoints(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	/* Of SNP, then SNP with exclusive, of REQ, and half a pair with exclusive. */
	static const struct { u64 config; bool channel, pair; } rows[] = {
		{ 0x0010000000007770, false, false }, { 0x0410000000007770, false, false },
		{ 0x0000000000027770, true, false }, { 0x0410000008027770, true, true },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cmn_event *ce = cmn_regfile_start(test, file, claims, rows[i].config, 0, 0);

		KUNIT_EXPECT_EQ(test, test_bit(CMN_CHANNEL_OPEN, &file->cmn.told), rows[i].channel);
		KUNIT_EXPECT_EQ(test, test_bit(CMN_PAIR_INVERTED, &file->cmn.told), rows[i].pair);
		cmn_event_stop(&file->cmn, ce);
		cmn_unclaim(&file->cmn, claims, ce);
		kvfree(ce);
	}
}

/* A filter is there as long as an event has it: it may act on others of the node. */
static void filters_go_with_the_last_user(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 node = file->node[3];	/* id 0x20 */
	struct cmn_event *one = cmn_regfile_start(test, file, claims, 0x20b02b0005, 0, 0);
	struct cmn_event *two = cmn_regfile_start(test, file, claims, 0x20b02a0005, 0, 0);
	struct cmn_event *plain = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0);

	cmn_event_stop(&file->cmn, one);
	start_again(file, plain);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, node + SEL), 6ULL << 42 | 0x012a00);
	cmn_event_stop(&file->cmn, two);
	start_again(file, plain);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, node + SEL), 0x010000ULL);
	kvfree(one);
	kvfree(two);
	kvfree(plain);
}

/*
 * Taking over: DTMs first, which dtm_enable may have locked and whose watchpoints may trace; an
 * overflow is cleared while all is enabled, and then the mesh is stopped.
 */
static void takes_over(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile(test, &cmn_fake_600);
	u32 dtc0 = file->node[3], dtc1 = file->node[4];
	const u64 half = 0x8000000080000000;
	const struct { u32 offset; u64 value; bool read; } expected[] = {
		{ dtc0 + TRACE_CONTROL, 0, true }, { dtc0 + TRACE_CONTROL, 0 },
		{ dtc0 + DTC_CTL, 0x1 }, { dtc0 + PMCR, 0x41 },
		{ dtc0 + PMEVCNT_AB, half }, { dtc0 + PMEVCNT_AB + 0x10, half },
		{ dtc0 + PMEVCNT_AB + 0x20, half }, { dtc0 + PMEVCNT_AB + 0x30, half },
		{ dtc0 + PMCCNTR, 0 }, { dtc0 + PMOVSR_CLR, 0x1ff },
		{ dtc0 + DTC_CTL, 0, true }, { dtc0 + PMCR, 0, true },
		{ dtc1 + TRACE_CONTROL, 0, true },
		{ dtc1 + DTC_CTL, 0x1 }, { dtc1 + PMCR, 0x41 },
		{ dtc1 + PMEVCNT_AB, half }, { dtc1 + PMEVCNT_AB + 0x10, half },
		{ dtc1 + PMEVCNT_AB + 0x20, half }, { dtc1 + PMEVCNT_AB + 0x30, half },
		{ dtc1 + PMCCNTR, 0 }, { dtc1 + PMOVSR_CLR, 0x1ff },
		{ dtc1 + DTC_CTL, 0, true }, { dtc1 + PMCR, 0, true },
		{ dtc0 + PMCR, 0 }, { dtc0 + PMCR, 0, true },
	};
	unsigned int n;

	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	for (unsigned int i = 0; i < 8; i++)
		cmn_regfile_set(file, file->xp[i] + PMU_CONFIG, 0x1702052072100ff1);
	for (unsigned int i = 0; i < 8; i++) {
		cmn_regfile_set(file, file->xp[i] + DTM_CONTROL, 0x9);
		for (unsigned int n = 0; n < 4; n++)
			cmn_regfile_set(file, file->xp[i] + WP0_CONFIG + 0x18 * n, 0x100);
	}
	cmn_regfile_set(file, file->node[6] + SEL, 0x700000001);
	cmn_regfile_set(file, dtc0 + TRACE_CONTROL, 0x08);
	cmn_regfile_forget(file);
	KUNIT_ASSERT_EQ(test, cmn_reset(&file->cmn), 0);
	for (unsigned int i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->xp[i] + PMU_CONFIG), 1ULL);
		KUNIT_EXPECT_EQ(test, file->log[7 * i + 1].offset, file->xp[i] + DTM_CONTROL);
		KUNIT_EXPECT_TRUE(test, file->log[7 * i + 1].write);
		KUNIT_EXPECT_EQ(test, file->log[7 * i + 1].value, 0ULL);
		KUNIT_EXPECT_EQ(test, file->log[7 * i + 2].offset, file->xp[i] + PMU_CONFIG);
		for (unsigned int n = 0; n < 4; n++)
			KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->xp[i] + WP0_CONFIG + 0x18 * n),
					0ULL);
	}
	/* No event has started there. */
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[6] + SEL), 0x700000001ULL);
	n = file->reads + file->writes - ARRAY_SIZE(expected);
	for (unsigned int i = 0; i < ARRAY_SIZE(expected); i++) {
		KUNIT_EXPECT_EQ_MSG(test, file->log[n + i].offset, expected[i].offset, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, file->log[n + i].value, expected[i].value, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, file->log[n + i].write, !expected[i].read, "%u", i);
	}
}

/* A mesh of S3 r2 with an HN-S. */
static struct cmn_fake_mesh s3_r2(void)
{
	static const struct cmn_fake_node nodes[] = {
		{ 0, 0, 0x0003, 0x00, 0 }, { 1, 0, 0x0200, 0x24, 0 },
	};
	struct cmn_fake_mesh mesh = cmn_fake_700;

	mesh.part = 0x43e;
	mesh.rev = 3;
	mesh.info = 0x3303008;
	mesh.info1 = 0x1000908249;
	mesh.domains = 1;
	mesh.nodes = nodes;
	mesh.nr = ARRAY_SIZE(nodes);
	return mesh;
}

/*
 * Not all fields of an HN-S of S3 r2 are 0 after a reset of the machine. Selectors are as after one
 * when an event first counts at their XP, and not touched before.
 */
static void hns_of_s3_r2(struct kunit *test)
{
	struct cmn_fake_mesh mesh = s3_r2();
	struct cmn_regfile *file = cmn_regfile_ready(test, &mesh);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *watch;

	cmn_regfile_set(file, file->node[1] + 0xd900, 0x71a200000001);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[1] + 0xd900), 0x71a200000001ULL);
	watch = cmn_regfile_start(test, file, claims, 0x7770, 0, 0);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[1] + 0xd900), 0x800000000000ULL);
	kvfree(watch);
}

/*
 * Ids and filters of HN-S that S3 has from r2p0 on, at the places that they have there. With the
 * last user a field is as after a reset.
 */
static void filters_of_s3_r2(struct kunit *test)
{
	static const struct { u64 config, image; } cases[] = {
		{ 0x08010200, 2ULL << 46 | 1ULL << 48 | 0x01 },	/* cache_miss_hbt */
		{ 0x30440200, 2ULL << 46 | 6ULL << 48 | 0x44 },
		{ 0x08070200, 2ULL << 46 | 1ULL << 38 | 0x07 },	/* sf_evictions_hbt_all */
		{ 0x00180200, 0x18 },				/* snp_sent_vc0 */
		{ 0x08180200, 1ULL << 46 | 0x18 },
		{ 0x58040200, 2ULL << 46 | 11ULL << 32 | 0x04 },
		{ 0x100c0200, 2ULL << 46 | 2ULL << 40 | 0x0c },
		{ 0x68430200, 2ULL << 46 | 13ULL << 42 | 0x43 },	/* cbusy11_lbt */
		{ 0x18260200, 2ULL << 46 | 3ULL << 36 | 0x26 },
		{ 0x6000008070200, 2ULL << 46 | 6ULL << 52 | 1ULL << 38 | 0x07 },
		{ 0x10000000a0200, 2ULL << 46 | 1ULL << 52 | 0x0a },	/* slc_eviction_all_eu */
	};
	struct cmn_fake_mesh mesh = s3_r2();

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cmn_regfile *file = cmn_regfile_ready(test, &mesh);
		struct cmn_claims *claims = cmn_regfile_claims(test, file);
		u32 sel = file->node[1] + 0xd900;
		struct cmn_event *ce = cmn_regfile_start(test, file, claims, cases[i].config, 0, 0);
		struct cmn_event *watch = cmn_regfile_start(test, file, claims, 0x7770, 0, 0);

		cmn_events_begin(&file->cmn);
		KUNIT_EXPECT_EQ_MSG(test, cmn_regfile_get(file, sel), cases[i].image, "row %d", i);
		cmn_event_stop(&file->cmn, ce);
		start_again(file, watch);
		KUNIT_EXPECT_EQ_MSG(test, cmn_regfile_get(file, sel), 2ULL << 46, "row %d", i);
		kvfree(ce);
		kvfree(watch);
	}
}

/* A node takes both filters of an event or none, and only one value of each at a time. */
static void two_filters_of_an_event(struct kunit *test)
{
	struct cmn_fake_mesh mesh = s3_r2();
	struct cmn_regfile *file = cmn_regfile_ready(test, &mesh);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *hbt_mu = cmn_regfile_event(test, file, 0x5000008070200, 0, 0);
	struct cmn_event *hbt_sn = cmn_regfile_event(test, file, 0x40000080a0200, 0, 0);
	struct cmn_event *lbt_mu = cmn_regfile_event(test, file, 0x50000100a0200, 0, 0);
	struct cmn_event *also_hbt_mu = cmn_regfile_event(test, file, 0x50000080a0200, 0, 0);

	KUNIT_EXPECT_NULL(test, cmn_claim(&file->cmn, claims, hbt_mu, false));
	KUNIT_EXPECT_NOT_NULL(test, cmn_claim(&file->cmn, claims, hbt_sn, false));
	KUNIT_EXPECT_NOT_NULL(test, cmn_claim(&file->cmn, claims, lbt_mu, false));
	KUNIT_EXPECT_NULL(test, cmn_claim(&file->cmn, claims, also_hbt_mu, false));
	cmn_unclaim(&file->cmn, claims, hbt_mu);
	cmn_unclaim(&file->cmn, claims, also_hbt_mu);
	/* The refused event has left no claim. */
	KUNIT_EXPECT_NULL(test, cmn_claim(&file->cmn, claims, lbt_mu, false));
	cmn_unclaim(&file->cmn, claims, lbt_mu);
	KUNIT_EXPECT_NULL(test, cmn_claim(&file->cmn, claims, hbt_sn, false));
	kvfree(hbt_mu);
	kvfree(hbt_sn);
	kvfree(lbt_mu);
	kvfree(also_hbt_mu);
}

/*
 * Behind a sleep the mesh is taken over as at first, whatever was counted: then events start that
 * were never stopped, and leave nothing when they are.
 */
static void taken_over_again(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 node = file->node[3], xp = file->xp[1];
	struct cmn_event *filtered = cmn_regfile_start(test, file, claims, 0x20b02b0005, 0, 0);
	struct cmn_event *watch = cmn_regfile_start(test, file, claims, 0x0001002080007770, 0x5,
						    0xf);
	u64 before;

	cmn_events_begin(&file->cmn);
	cmn_regfile_set(file, node + SEL, 0);
	cmn_regfile_set(file, xp + PMU_CONFIG, 0);
	cmn_regfile_set(file, xp + WP0_CONFIG, 0);
	cmn_regfile_set(file, xp + WP0_CONFIG + 8, 0);
	KUNIT_ASSERT_EQ(test, cmn_reset(&file->cmn), 0);
	KUNIT_EXPECT_TRUE(test, file->cmn.stopped);
	cmn_regfile_forget(file);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, file->writes, 0U);

	cmn_event_start(&file->cmn, filtered);
	cmn_event_start(&file->cmn, watch);
	before = cmn_event_value(&file->cmn, filtered);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, node + SEL), 6ULL << 42 | 0x2b);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + WP0_CONFIG), 1ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + WP0_CONFIG + 8), 5ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + PMU_CONFIG) & 0xf1, 0x31ULL);
	cmn_mesh_run(&file->cmn, true);
	cmn_regfile_set(file, xp + PMEVCNT, 0x1234);
	KUNIT_EXPECT_EQ(test, cmn_event_value(&file->cmn, filtered) - before, 0x1234ULL);
	cmn_mesh_run(&file->cmn, false);
	cmn_event_stop(&file->cmn, filtered);
	start_again(file, watch);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, node + SEL), 0ULL);
	kvfree(filtered);
	kvfree(watch);
}

/*
 * Firmware may keep the PMU from us: no mesh that counts nothing. What DTCs other than the first
 * keep does not decide that.
 */
static void control_keeps_nothing(struct kunit *test)
{
	static const u32 control[] = { PMCR, DTC_CTL };
	struct cmn_regfile *file = cmn_regfile(test, &cmn_fake_600);

	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	for (unsigned int i = 0; i < ARRAY_SIZE(control); i++) {
		file->stuck = file->node[3] + control[i];
		cmn_regfile_set(file, file->stuck, 0);
		KUNIT_EXPECT_EQ(test, cmn_reset(&file->cmn), -EACCES);
		KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[3] + PMCR), 0ULL);
		KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[3] + DTC_CTL), 0ULL);
		file->stuck = file->node[4] + control[i];
		KUNIT_EXPECT_EQ(test, cmn_reset(&file->cmn), 0);
	}
}

/* Leaving: what is selected goes first, and with it all that could count. */
static void leaves_nothing(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 xp = file->xp[1], hnf = file->node[3], ccla = file->node[7];
	unsigned int written = 0;
	struct cmn_event *ce[] = {
		cmn_regfile_start(test, file, claims, 0x20b02b0005, 0, 0),
		cmn_regfile_start(test, file, claims, 0x2080750006, 0, 0),
		cmn_regfile_start(test, file, claims, 0x4e80210105, 0, 0),
	};

	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, hnf + SEL) & 0xffffffff, 0x2bULL);
	cmn_regfile_forget(file);
	cmn_quiesce(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, hnf + SEL), 0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + SEL), 0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, ccla + SEL + 8), 0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + PMU_CONFIG), 0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[1] + PMCR), 0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[1] + DTC_CTL), 0ULL);
	/* Selectors come first: those of the XPs where something has counted. */
	while (file->log[written].offset % 0x10000 < WP0_CONFIG)
		written++;
	KUNIT_EXPECT_GE(test, written, 3U);
	KUNIT_EXPECT_LT(test, written, file->cmn.nr_nodes);
	KUNIT_EXPECT_EQ(test, file->log[written].offset % 0x1000, PMU_CONFIG % 0x1000);
	for (int i = 0; i < ARRAY_SIZE(ce); i++)
		kvfree(ce[i]);
}

static struct kunit_case cmn_image_cases[] = {
	KUNIT_CASE(dtm_images),
	KUNIT_CASE(the_last_of_all),
	KUNIT_CASE(narrow_selectors),
	KUNIT_CASE(wide_selectors),
	KUNIT_CASE(second_dtm_and_second_set),
	KUNIT_CASE(filters),
	KUNIT_CASE(open_questions_of_watchpoints),
	KUNIT_CASE(filters_go_with_the_last_user),
	KUNIT_CASE(takes_over),
	KUNIT_CASE(hns_of_s3_r2),
	KUNIT_CASE(filters_of_s3_r2),
	KUNIT_CASE(two_filters_of_an_event),
	KUNIT_CASE(taken_over_again),
	KUNIT_CASE(control_keeps_nothing),
	KUNIT_CASE(leaves_nothing),
	{ }
};

struct kunit_suite cmn_image_suite = {
	.name = "cmn_image",
	.test_cases = cmn_image_cases,
};
