// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmn: ids, configs, register images, sequences of accesses. Numbers are those of
 * Documentation/hardware/cmn.md, worked out by hand.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/slab.h>

#include "regfile.h"

/* Offsets in the frame of an XP, and of a DTC; the same for CMN-600 and CMN-700. */
#define SEL		0x2000
#define DTM_CONTROL	0x2100
#define WP0_CONFIG	0x21a0
#define PMU_CONFIG	0x2210
#define PMEVCNT		0x2220
#define DTC_CTL		0x0a00
#define TRACE_CONTROL	0x0a30
#define PMEVCNT_AB	0x2000
#define PMCCNTR		0x2040
#define PMCR		0x2100
#define PMOVSR_CLR	0x2120

/* Ids of Documentation/hardware/cmn.md, 9.2: mesh, id, ports of the XP, and where that is. */
static const struct { u8 width, height; u16 id; u8 ports; struct cmn_place at; } places[] = {
	{ 4, 2, 0x4c, 2, { 2, 1, 1, 0 } }, { 4, 2, 0x0c, 2, { 0, 1, 1, 0 } },
	{ 4, 2, 0x68, 2, { 3, 1, 0, 0 } }, { 4, 2, 0x24, 2, { 1, 0, 1, 0 } },
	{ 8, 8, 0x176, 2, { 5, 6, 1, 2 } }, { 8, 8, 0x176, 3, { 5, 6, 3, 0 } },
	{ 8, 8, 0x1ff, 2, { 7, 7, 1, 3 } }, { 8, 8, 0x1ff, 4, { 7, 7, 3, 1 } },
	{ 8, 8, 0x01f, 2, { 0, 3, 1, 3 } }, { 8, 8, 0x01f, 3, { 0, 3, 3, 1 } },
	{ 12, 10, 0x5cc, 2, { 11, 9, 1, 0 } },
	{ 4, 10, 0x1b0, 3, { 3, 6, 0, 0 } }, { 4, 10, 0x1b5, 3, { 3, 6, 2, 1 } },
	{ 4, 10, 0x1b5, 2, { 3, 6, 1, 1 } }, { 4, 10, 0x1a8, 2, { 3, 5, 0, 0 } },
	{ 2, 2, 0x28, 2, { 1, 1, 0, 0 } },
	{ 1, 1, 0x16, 6, { 0, 0, 5, 2 } }, { 1, 1, 0x04, 6, { 0, 0, 1, 0 } },
};

/* An id says where a node is, by the size of the mesh and the ports of the very XP. */
static void ids_to_places(struct kunit *test)
{
	struct cmn *cmn = kunit_kzalloc(test, sizeof(*cmn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cmn);
	for (int i = 0; i < ARRAY_SIZE(places); i++) {
		struct cmn_place at;

		cmn->width = places[i].width;
		cmn->height = places[i].height;
		cmn->nr_xps = cmn->width * cmn->height;
		cmn->id_bits = cmn_id_bits(cmn->width, cmn->height);
		at = cmn_id_place(cmn, places[i].id, places[i].ports);
		KUNIT_EXPECT_EQ_MSG(test, at.x, places[i].at.x, "id 0x%x", places[i].id);
		KUNIT_EXPECT_EQ_MSG(test, at.y, places[i].at.y, "id 0x%x", places[i].id);
		KUNIT_EXPECT_EQ_MSG(test, at.port, places[i].at.port, "id 0x%x", places[i].id);
		KUNIT_EXPECT_EQ_MSG(test, at.dev, places[i].at.dev, "id 0x%x", places[i].id);
	}
}

/* HN-Fs, by the low bits of their ids, at an XP: what it tells, and the ports that decide. */
static const struct {
	u8 told, connect[4], cals, ids[4], nr, ports;
	const char *what;
} used[] = {
	{ 4, { 0x0e, 0x0e }, 0, { 0, 4 }, 2, 2, "four ports, ids of two" },
	{ 4, { 0x0e, 0x0e }, 0, { 0, 2 }, 2, 4, "four ports, ids of four" },
	{ 4, { 0x0e, 0x0e }, 1, { 0, 1, 4 }, 3, 2, "the same with a CAL" },
	{ 4, { 0x0e, 0x0e }, 1, { 0, 1, 2 }, 3, 4, "a CAL, and nothing else at the second port" },
	{ 2, { 0x0e, 0x0e }, 0, { 0, 2 }, 2, 4, "two ports, ids of more" },
	{ 3, { 0x0e, 0, 0x0e }, 0, { 0, 4 }, 2, 3, "two ports that are not the first" },
	{ 4, { 0x0d, 0x0e }, 0, { 4 }, 1, 2, "another kind at the first port" },
	{ 4, { 0x0d, 0x0d }, 0, { 0 }, 1, 4, "fits nowhere: as the XP tells" },
	{ 4, { 0x3f, 0x3f, 0x3f, 0x3f }, 0, { 0, 4 }, 2, 4, "unknown kinds" },
	{ 4, { 0 }, 0, { 0, 4 }, 2, 4, "nothing is connected" },
};

/* Where the number of ports is in doubt, ids are as the types of connected devices want them. */
static void types_decide_ids(struct kunit *test)
{
	struct cmn *cmn = kunit_kzalloc(test, sizeof(*cmn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cmn);
	cmn->nr_xps = 6;
	for (int i = 0; i < ARRAY_SIZE(used); i++) {
		struct cmn_xp xp = { .nr_ports = used[i].told, .cals = used[i].cals };
		struct cmn_node nodes[4] = { };

		memcpy(xp.connect, used[i].connect, sizeof(used[i].connect));
		for (unsigned int n = 0; n < used[i].nr; n++) {
			nodes[n].type = 0x0005;
			nodes[n].id = 0x28 | used[i].ids[n];
		}
		cmn->part = cmn_part_find(0x43c, 2);
		KUNIT_EXPECT_EQ_MSG(test, cmn_id_ports(cmn, &xp, nodes, used[i].nr),
				    used[i].ports, "%s", used[i].what);
		/* A CMN-600 has two ports. */
		cmn->part = cmn_part_find(0x434, 3);
		KUNIT_EXPECT_EQ(test, cmn_id_ports(cmn, &xp, nodes, used[i].nr), used[i].told);
	}
}

/* Two bits at the least, for every size of mesh. */
static void id_bits_of_all_meshes(struct kunit *test)
{
	for (unsigned int most = 1; most <= 12; most++) {
		unsigned int bits = most <= 4 ? 2 : most <= 8 ? 3 : 4;

		for (unsigned int other = 1; other <= most; other++) {
			KUNIT_EXPECT_EQ(test, cmn_id_bits(most, other), bits);
			KUNIT_EXPECT_EQ(test, cmn_id_bits(other, most), bits);
		}
	}
}

/* perf's strings as config words, and what they are of. */
static const struct { bool is_700; u64 config[3]; u16 type, id; u8 value; u16 nr; } configs[] = {
	{ false, { 0x3 }, 0x3, 0, 0, 0 },
	{ false, { 0x10005 }, 0x5, 1, 0, 3 },
	{ false, { 0x2480050005 }, 0x5, 5, 0, 1 },
	{ false, { 0x080f0005 }, 0x5, 0xf, 1, 3 },
	{ true, { 0x302b0005 }, 0x5, 0x2b, 6, 3 },
	{ true, { 0x18280005 }, 0x5, 0x28, 3, 3 },
	{ false, { 0x750006 }, 0x6, 0x75, 0, 8 },
	{ true, { 0xe10006 }, 0x6, 0xe1, 0, 8 },
	{ true, { 0x1810006 }, 0x6, 0x181, 0, 8 },	/* a channel that nobody describes */
	{ false, { 0x5000a }, 0xa, 5, 0, 2 },
	{ false, { 0x5000d }, 0xd, 5, 0, 2 },
	{ true, { 0x5000a }, 0xa, 5, 0, 2 },		/* RN-I and CCLA_RNI */
	{ true, { 0x200004 }, 0x4, 0x20, 0, 2 },	/* HN-I and HN-P */
	{ true, { 0x10011 }, 0x11, 1, 0, 1 },
	{ true, { 0x210105 }, 0x105, 0x21, 0, 2 },	/* CCLA and CCLA_RNI */
	{ false, { 0x08050001 }, 0x1, 5, 1, 1 },
	{ true, { 0x100c0001 }, 0x1, 0xc, 2, 1 },
	{ false, { 0x7770, 0x200000000, 0xffffffe07fffffff }, 0x7770, 0, 0, 8 },
};

static void configs_to_events(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(configs); i++) {
		struct cmn_regfile *file = cmn_regfile_ready(test, configs[i].is_700 ?
							     &cmn_fake_700 : &cmn_fake_600);
		struct cmn_event *ce = cmn_event_create(&file->cmn, configs[i].config);

		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ce);
		KUNIT_EXPECT_EQ_MSG(test, ce->type, configs[i].type, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, ce->id, configs[i].id, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, ce->filter_value[0], configs[i].value, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, ce->nr, configs[i].nr, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, ce->wp_mask, configs[i].config[2], "row %d", i);
		kvfree(ce);
	}
}

/*
 * Event 5 of a DN is an occupancy by kind of request on CMN-600 r1, and from r2 on the DVM syncs,
 * which have no kinds.
 */
static void an_id_that_means_another_event(struct kunit *test)
{
	enum { REFUSED = CMN_FILTERS + 1 };
	static const struct { u8 rev; u64 config; u8 filter, value; } cases[] = {
		{ 3, 0x00050001, CMN_FILTER_OCCUP1, 0 }, { 3, 0x10050001, CMN_FILTER_OCCUP1, 2 },
		{ 4, 0x00050001, CMN_FILTER_NONE, 0 }, { 4, 0x10050001, REFUSED },
		{ 4, 0x000c0001, CMN_FILTER_OCCUP1, 0 }, { 4, 0x080c0001, CMN_FILTER_OCCUP1, 1 },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		const u64 words[] = { cases[i].config, 0, 0 };
		struct cmn_fake_mesh mesh = cmn_fake_600;
		struct cmn_event *ce;

		mesh.rev = cases[i].rev;
		ce = cmn_event_create(&cmn_regfile_ready(test, &mesh)->cmn, words);
		KUNIT_ASSERT_EQ_MSG(test, IS_ERR(ce), cases[i].filter == REFUSED, "row %d", i);
		if (IS_ERR(ce))
			continue;
		KUNIT_EXPECT_EQ_MSG(test, ce->filter[0], cases[i].filter, "row %d", i);
		KUNIT_EXPECT_EQ_MSG(test, ce->filter_value[0], cases[i].value, "row %d", i);
		kvfree(ce);
	}
}

/* Events that cannot be counted are refused, and never count 0. */
static void refusals(struct kunit *test)
{
	static const struct { bool is_700; u64 config[3]; const char *what; } refused[] = {
		{ false, { 0x10009 }, "type without events" },
		{ false, { 0x10200 }, "no node of the type" },
		{ false, { 0x2180050005 }, "no such node" },
		{ false, { 0x2400050005 }, "nodeid without bynodeid" },
		{ false, { 0x5 }, "eventid 0" },
		{ false, { 0x1010006 }, "wider than the selector of an XP" },
		{ false, { 0x210005 }, "wider than the selector of an HN-F of CMN-600" },
		{ true, { 0x410005 }, "wider than the selector of an HN-F of CMN-700" },
		{ true, { 0x41000a }, "wider than the selector of an RN-I" },
		{ false, { 0x140006 }, "an event of an XP in which nothing happens" },
		{ false, { 0x190006 }, "port 2 of an XP of CMN-600" },
		{ false, { 0x810006 }, "PUB on CMN-600" },
		{ false, { 0xa10006 }, "RSP2 of one RSP channel" },
		{ true, { 0x1010006 }, "SNP2 of one SNP channel" },
		{ false, { 0x130006 }, "a partial flit on REQ" },
		{ false, { 0x630006 }, "a partial flit between XPs" },
		{ false, { 0x8010005 }, "filter of an event that has none" },
		{ false, { 0x8010001 }, "unused filter of a DN event" },
		{ false, { 0x10003 }, "cycles with an eventid" },
		{ false, { 0x10005, 1 }, "a value to match without a watchpoint" },
		{ false, { 0x17770 }, "watchpoint in no direction" },
		{ false, { 0x0200000000007770 }, "third match group of CMN-600" },
		{ true, { 0x0300000000007770 }, "fourth match group" },
		{ false, { 0x0020000000007770 }, "fifth channel" },
		{ false, { 0x0800000000007770 }, "virtual channel on CMN-600" },
		{ true, { 0x1000000000007770 }, "third virtual channel of two" },
		{ true, { 0x0810000000007770 }, "second SNP channel of one" },
		{ false, { 0x0002000000007770 }, "port that no XP has" },
		{ false, { 0x0002000080007770 }, "port that this XP lacks" },
	};

	for (int i = 0; i < ARRAY_SIZE(refused); i++) {
		struct cmn_regfile *file = cmn_regfile_ready(test, refused[i].is_700 ?
							     &cmn_fake_700 : &cmn_fake_600);
		struct cmn_event *ce = cmn_event_create(&file->cmn, refused[i].config);

		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(ce), -EINVAL, "%s", refused[i].what);
		if (!IS_ERR(ce))
			kvfree(ce);
	}
}

/* A port without a device has no flits: XPs are passed over for it, unless none is left. */
static void ports_without_a_device(struct kunit *test)
{
	/* mxp_p3_req_txflit_valid: of all, of XP 0x28, of 0x48; mxp_e_req_txflit_valid of 0x28. */
	static const struct { u64 config; u16 nr; } cases[] = {
		{ 0x1d0006, 7 }, { 0x28801d0006, 0 }, { 0x48801d0006, 1 }, { 0x2880010006, 1 },
	};
	struct cmn_regfile *file = cmn_regfile(test, &cmn_fake_700);

	cmn_regfile_set(file, file->xp[5] + 0x20, 0);
	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		const u64 words[] = { cases[i].config, 0, 0 };
		struct cmn_event *ce = cmn_event_create(&file->cmn, words);

		KUNIT_EXPECT_EQ(test, IS_ERR(ce) ? 0 : ce->nr, cases[i].nr);
		if (!IS_ERR(ce))
			kvfree(ce);
	}
}

/* Alone, an XP has ports where others have links, and no more than six of them. */
static void ports_of_an_xp_alone(struct kunit *test)
{
	static const struct cmn_fake_mesh mesh = {
		.part = 0x43c, .rev = 2, .width = 1, .height = 1, .id_bits = 2, .ports = 6,
		.info = 0x4014000003303008, .info1 = 0x24205, .domains = 1,
		.connect = { 0x0e, 0, 0x0e, 0x0e, 0x0e }, .nodes = cmn_fake_dtc, .nr = 1,
	};
	struct cmn_regfile *file = cmn_regfile_ready(test, &mesh);

	for (unsigned int code = 0; code < 8; code++) {
		const u64 words[] = { (1 | code << 2) << 16 | 6, 0, 0 };
		struct cmn_event *ce = cmn_event_create(&file->cmn, words);

		KUNIT_EXPECT_EQ_MSG(test, !IS_ERR(ce), code < 6 && mesh.connect[code], "%u", code);
		if (!IS_ERR(ce))
			kvfree(ce);
	}
}

/* The widths of event ids by type of node: of each part, and of revisions in which they grew. */
static void widths_of_ids(struct kunit *test)
{
	static const struct { u16 number; u8 rev; } parts[] = {
		{ 0x434, 0 }, { 0x434, 7 }, { 0x436, 3 }, { 0x43a, 2 }, { 0x43c, 1 },
		{ 0x43c, 3 }, { 0x43e, 0 }, { 0x43e, 2 }, { 0x43e, 3 }, { 0x43e, 6 },
	};
	/* 0: not there */
	static const struct { u16 type; u8 bits[ARRAY_SIZE(parts)]; } widths[] = {
		{ 0x0006, { 8, 8, 8, 8, 9, 9, 9, 9, 10, 10 } },
		{ 0x0005, { 5, 5, 6, 6, 6 } },
		{ 0x0200, { 0, 0, 0, 0, 0, 6, 6, 6, 7, 7 } },
		{ 0x0004, { 6, 6, 6, 6, 6, 6, 6, 6, 6, 6 } },
		{ 0x0007, { 6, 6, 6, 6, 6, 6, 6, 6, 6, 6 } },
		{ 0x0010, { 0, 0, 0, 6, 6, 6, 6, 6, 6, 6 } },
		{ 0x0011, { 0, 0, 6, 6, 6, 6, 6, 6, 6, 6 } },
		{ 0x0001, { 6, 6, 6, 6, 6, 6, 6, 6, 6, 6 } },
		{ 0x000a, { 5, 5, 5, 5, 6, 6, 6, 6, 7, 7 } },
		{ 0x000d, { 5, 5, 5, 5, 6, 6, 6, 6, 7, 7 } },
		{ 0x0100, { 6, 6, 6 } },
		{ 0x0101, { 6, 6, 6 } },
		{ 0x0103, { 0, 0, 0, 0, 7, 8, 8, 8, 8, 8 } },
		{ 0x0104, { 0, 0, 0, 0, 7, 8, 8, 8, 8, 8 } },
		{ 0x0105, { 0, 0, 0, 0, 7, 8, 8, 8, 8, 8 } },
	};
	struct cmn *cmn = kunit_kzalloc(test, sizeof(*cmn), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, cmn);
	for (int p = 0; p < ARRAY_SIZE(parts); p++) {
		cmn->part = cmn_part_find(parts[p].number, parts[p].rev);
		KUNIT_ASSERT_NOT_NULL(test, cmn->part);
		for (int i = 0; i < ARRAY_SIZE(widths); i++)
			if (widths[i].bits[p])
				KUNIT_EXPECT_EQ_MSG(test, cmn_selector_bits(cmn, widths[i].type),
						    widths[i].bits[p], "0x%x rev %u, type 0x%x",
						    parts[p].number, parts[p].rev, widths[i].type);
	}
}

/*
 * An incomplete row of the table of parts would refuse every event, or read registers that do not
 * exist.
 */
static void parts_are_whole(struct kunit *test)
{
	static const u16 types[] = {
		0x0001, 0x0004, 0x0005, 0x0006, 0x0007, 0x000a, 0x000d, 0x0010, 0x0011,
		0x0100, 0x0101, 0x0103, 0x0104, 0x0105, 0x0200,
	};
	struct cmn *cmn = kunit_kzalloc(test, sizeof(*cmn), GFP_KERNEL);
	unsigned int rows = 0;

	KUNIT_ASSERT_NOT_NULL(test, cmn);
	for (unsigned int i = 0; i < 0x1000 * CMN_REVISIONS; i++) {
		const struct cmn_part *part = cmn_part_find(i / CMN_REVISIONS, i % CMN_REVISIONS);

		if (!part)
			continue;
		rows++;
		cmn->part = part;
		KUNIT_ASSERT_NOT_NULL(test, part->widths);
		for (int t = 0; t < ARRAY_SIZE(types); t++) {
			unsigned int bits = cmn_selector_bits(cmn, types[t]);

			KUNIT_EXPECT_GE_MSG(test, bits, 5U, "0x%x", i);
			KUNIT_EXPECT_LE_MSG(test, bits, types[t] == 0x0006 ? 10U : 8U, "0x%x", i);
		}
		KUNIT_EXPECT_NOT_NULL(test, part->name);
		KUNIT_EXPECT_NOT_NULL(test, part->connect);
		KUNIT_EXPECT_NE(test, part->frame, 0U);
		KUNIT_EXPECT_NE(test, part->pointer, 0U);
		KUNIT_EXPECT_NE(test, part->pmu, 0);
		KUNIT_EXPECT_NE(test, part->xp_pmu, 0);
		KUNIT_EXPECT_NE(test, part->wp_groups, 0);
		KUNIT_EXPECT_NE(test, part->wp_exclusive, 0U);
		KUNIT_EXPECT_NE(test, part->wp_combine, 0U);
		KUNIT_EXPECT_NE(test, part->events, 0);
	}
	/* Of six parts, as Documentation/hardware/cmn.md, 1.7 lists their revisions; CMN-600AE all. */
	KUNIT_EXPECT_EQ(test, rows, 8 + 16 + 5 + 3 + 4 + 7U);
}

/* WPn_CONFIG: fields are at other places on CMN-600, and a DTM of several knows two ports. */
static void watchpoint_images(struct kunit *test)
{
	struct cmn_wp all = {
		.port = 3, .channel = 3, .group = 1, .down = true, .exclusive = true,
	};
	struct cmn_wp plain = { .port = 1 };
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);

	KUNIT_EXPECT_EQ(test, cmn_wp_config(&file->cmn, &plain, false), 0x1U);
	KUNIT_EXPECT_EQ(test, cmn_wp_config(&file->cmn, &all, true), 0x317U);
	file->cmn.multi_dtm = false;
	KUNIT_EXPECT_EQ(test, cmn_wp_config(&file->cmn, &all, true), 0x20317U);
	all.number = 1;
	KUNIT_EXPECT_EQ(test, cmn_wp_config(&file->cmn, &all, true), 0xa0317U);

	file = cmn_regfile_ready(test, &cmn_fake_600);
	all.port = 1;
	KUNIT_EXPECT_EQ(test, cmn_wp_config(&file->cmn, &all, true), 0x77U);
}

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
	KUNIT_EXPECT_FALSE(test, file->cmn.mixed);
	cmn_regfile_forget(file);
	two = cmn_regfile_start(test, file, claims, 0x2080010005, 0, 0);
	KUNIT_EXPECT_TRUE(test, file->cmn.mixed);
	cmn_events_begin(&file->cmn);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, node + SEL), 6ULL << 42 | 0x012b);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, true, node + SEL), 1U);
	KUNIT_EXPECT_EQ(test, file->log[0].bytes, 4);
	kvfree(one);
	kvfree(two);
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

/* A mesh without an interrupt is refused: an overflow of a letter would not be noticed. */
static void needs_an_interrupt(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct platform_device *pdev;
	struct device *dev = file->cmn.dev;

	pdev = platform_device_register_simple("cmn_kunit_irq", PLATFORM_DEVID_NONE, NULL, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pdev);
	file->cmn.dev = &pdev->dev;
	KUNIT_EXPECT_EQ(test, cmn_irq_init(&file->cmn, pdev), -ENXIO);
	KUNIT_EXPECT_EQ(test, file->cmn.nr_lines, 0);
	file->cmn.dev = dev;
	platform_device_unregister(pdev);
}

static struct kunit_case cmn_cases[] = {
	KUNIT_CASE(ids_to_places),
	KUNIT_CASE(types_decide_ids),
	KUNIT_CASE(id_bits_of_all_meshes),
	KUNIT_CASE(configs_to_events),
	KUNIT_CASE(an_id_that_means_another_event),
	KUNIT_CASE(refusals),
	KUNIT_CASE(ports_without_a_device),
	KUNIT_CASE(ports_of_an_xp_alone),
	KUNIT_CASE(widths_of_ids),
	KUNIT_CASE(parts_are_whole),
	KUNIT_CASE(watchpoint_images),
	KUNIT_CASE(dtm_images),
	KUNIT_CASE(the_last_of_all),
	KUNIT_CASE(narrow_selectors),
	KUNIT_CASE(wide_selectors),
	KUNIT_CASE(second_dtm_and_second_set),
	KUNIT_CASE(filters),
	KUNIT_CASE(filters_go_with_the_last_user),
	KUNIT_CASE(takes_over),
	KUNIT_CASE(hns_of_s3_r2),
	KUNIT_CASE(filters_of_s3_r2),
	KUNIT_CASE(two_filters_of_an_event),
	KUNIT_CASE(taken_over_again),
	KUNIT_CASE(control_keeps_nothing),
	KUNIT_CASE(leaves_nothing),
	KUNIT_CASE(needs_an_interrupt),
	{ }
};

static struct kunit_suite cmn_suite = {
	.name = "cmn",
	.test_cases = cmn_cases,
};

kunit_test_suites(&cmn_suite, &cmn_count_suite, &cmn_discover_suite, &cmn_claim_suite,
		  &cmn_flush_suite, &cmn_group_suite, &cmn_irq_suite);

MODULE_DESCRIPTION("KUnit suites of cmn_pmu");
MODULE_LICENSE("GPL");
PMU_IMPORT_NS(PMU_CORE);
PMU_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
