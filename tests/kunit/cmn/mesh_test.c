// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmn: ids of nodes, config words, the table of parts. Numbers are those of
 * Documentation/hardware/cmn.md, worked out by hand.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "regfile.h"

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

/* A second device wants a CAL, but not at a gateway: of a CCG it can be an RN-I. */
static void second_devices(struct kunit *test)
{
	static const struct { u8 connect; u16 type; bool fits; } rows[] = {
		{ 0x0e, 0x0005, false }, { 0x01, 0x000a, false }, { 0x1e, 0x000a, true },
		{ 0x1f, 0x0103, true }, { 0x13, 0x0101, true }, { 0x11, 0x0101, true },
		{ 0x12, 0x0100, true }, { 0x1e, 0x0005, false },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cmn_xp xp = { .connect = { rows[i].connect } };

		KUNIT_EXPECT_EQ_MSG(test, cmn_node_fits(&xp, rows[i].type,
							(struct cmn_place){ .dev = 1 }),
				    rows[i].fits, "connect info 0x%x", rows[i].connect);
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

static struct kunit_case cmn_cases[] = {
	KUNIT_CASE(ids_to_places),
	KUNIT_CASE(types_decide_ids),
	KUNIT_CASE(second_devices),
	KUNIT_CASE(id_bits_of_all_meshes),
	KUNIT_CASE(configs_to_events),
	KUNIT_CASE(an_id_that_means_another_event),
	KUNIT_CASE(refusals),
	KUNIT_CASE(ports_without_a_device),
	KUNIT_CASE(ports_of_an_xp_alone),
	KUNIT_CASE(widths_of_ids),
	KUNIT_CASE(parts_are_whole),
	KUNIT_CASE(watchpoint_images),
	{ }
};

static struct kunit_suite cmn_suite = {
	.name = "cmn",
	.test_cases = cmn_cases,
};

kunit_test_suites(&cmn_suite, &cmn_count_suite, &cmn_discover_suite, &cmn_claim_suite,
		  &cmn_flush_suite, &cmn_group_suite, &cmn_image_suite, &cmn_irq_suite,
		  &cmn_stop_suite);

MODULE_DESCRIPTION("KUnit suites of cmn_pmu");
MODULE_LICENSE("GPL");
PMU_IMPORT_NS(PMU_CORE);
PMU_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
