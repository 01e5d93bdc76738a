// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmn: discovery, of meshes of all sizes, and of trees that are not what they should be.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "regfile.h"

static unsigned long seed;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of what is random; 0: another one each time, which is printed");

static unsigned int sets_of(const struct cmn *cmn, u16 type)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < cmn->nr_nodes; i++)
		count += cmn->nodes[i].type == type;
	return count;
}

/* The nodes of a mesh are found where they are, with both sets of events of those with two. */
static void finds_all(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn *cmn = &file->cmn;

	KUNIT_EXPECT_EQ(test, cmn->width, 4);
	KUNIT_EXPECT_EQ(test, cmn->height, 2);
	KUNIT_EXPECT_EQ(test, cmn->nr_dtcs, 2);
	KUNIT_EXPECT_EQ(test, cmn->nr_dtms, 16);
	KUNIT_EXPECT_EQ(test, sets_of(cmn, 0x6), 8U);
	KUNIT_EXPECT_EQ(test, sets_of(cmn, 0x5), 3U);
	KUNIT_EXPECT_EQ(test, sets_of(cmn, 0x4), 2U);
	KUNIT_EXPECT_EQ(test, sets_of(cmn, 0xa), 2U);
	KUNIT_EXPECT_EQ(test, sets_of(cmn, 0x11), 1U);
	KUNIT_EXPECT_EQ(test, sets_of(cmn, 0x105), 1U);
	KUNIT_EXPECT_EQ(test, sets_of(cmn, 0x106), 1U);
	KUNIT_EXPECT_EQ(test, file->outside, 0U);
}

/* Discovery reads what it needs once, and writes nothing; taking over writes each register once. */
static void each_register_once(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile(test, &cmn_fake_700);

	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	for (unsigned int n = 0; n < file->reads; n++)
		KUNIT_EXPECT_EQ_MSG(test, cmn_regfile_count(file, false, file->log[n].offset), 1U,
				    "0x%llx", file->log[n].offset);
	cmn_regfile_forget(file);
	KUNIT_ASSERT_EQ(test, cmn_reset(&file->cmn), 0);
	for (unsigned int n = 0; n < file->reads + file->writes; n++)
		/* PMCR of DTC 0 is switched on and off. */
		if (file->log[n].offset != file->node[1] + 0x2100)
			KUNIT_EXPECT_EQ_MSG(test, cmn_regfile_count(file, file->log[n].write,
								    file->log[n].offset), 1U,
					    "0x%llx", file->log[n].offset);
	/* Of each DTM 5 writes, and a read; of each DTC 8, 1, and 2 to see that it is on. No selector. */
	KUNIT_EXPECT_EQ(test, file->writes, 5 * 16 + 2 * 8 + 1U);
	KUNIT_EXPECT_EQ(test, file->reads, 16 + 2 * 3 + 1U);
}

/* Meshes of every size, with ids as wide as they are there, and of 2x2 with narrow ones too. */
static void all_sizes(struct kunit *test)
{
	struct cmn_fake_mesh mesh = {
		.part = 0x43c, .rev = 2, .info = 0x4028000003303008, .domains = 1, .ports = 2,
		.connect = { 0x0e }, .nodes = cmn_fake_dtc, .nr = 1,
	};

	for (unsigned int width = 1; width <= 12; width++) {
		for (unsigned int height = 1; height <= 12; height += 1 + (width > 4)) {
			struct cmn_regfile *file;
			unsigned int last = width * height - 1;
			struct cmn_place at;

			mesh.width = width;
			mesh.height = height;
			mesh.id_bits = cmn_id_bits(width, height);
			file = cmn_regfile(test, &mesh);
			KUNIT_ASSERT_EQ_MSG(test, cmn_regfile_discover(file), 0, "%ux%u", width,
					    height);
			KUNIT_EXPECT_EQ(test, file->cmn.width, width);
			KUNIT_EXPECT_EQ(test, file->cmn.height, height);
			KUNIT_EXPECT_EQ(test, file->cmn.id_bits, mesh.id_bits);
			at = cmn_id_place(&file->cmn, file->cmn.xps[last].id, 1);
			KUNIT_EXPECT_EQ(test, at.x, width - 1);
			KUNIT_EXPECT_EQ(test, at.y, height - 1);
			cmn_regfile_undiscover(file);
		}
	}
	mesh.width = 2;
	mesh.height = 2;
	mesh.id_bits = 1;
	KUNIT_EXPECT_EQ(test, cmn_regfile_discover(cmn_regfile(test, &mesh)), 0);
}

/* Graviton5 says of no XP and of no DTC in which domain it is. */
static struct cmn *discover_graviton5(struct kunit *test, u8 width, u8 height,
				      const struct cmn_fake_node *dtcs, unsigned int nr)
{
	struct cmn_fake_mesh mesh = {
		.part = 0x43e, .rev = 3, .info = 0x0400000003303008, .width = width,
		.height = height, .id_bits = 4, .domains = 1, .ports = 2, .connect = { 0x0e },
		.nodes = dtcs, .nr = nr,
	};
	struct cmn_regfile *file = cmn_regfile(test, &mesh);

	file->cmn.quartered = true;
	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	KUNIT_EXPECT_EQ(test, file->cmn.nr_dtcs, nr);
	return &file->cmn;
}

/* A DTC in each quarter, in the order of the quarters. */
static const struct cmn_fake_node in_quarters[] = {
	{ 0, 0, 3, 0 }, { 5, 6, 3, 5 << 7 | 6 << 3 },
	{ 4, 7, 3, 4 << 7 | 7 << 3 }, { 9, 13, 3, 9 << 7 | 13 << 3 },
};

/* Domains go by place, also those of the DTCs, which are in the order of their XPs. */
static void graviton5_has_quarters(struct kunit *test)
{
	static const struct { u8 x, y, domain; } xps[] = {
		{ 0, 0, 0 }, { 4, 6, 0 }, { 5, 6, 1 }, { 9, 0, 1 }, { 0, 13, 2 }, { 4, 7, 2 },
		{ 5, 7, 3 }, { 9, 13, 3 },
	};
	struct cmn *cmn = discover_graviton5(test, 10, 14, in_quarters, ARRAY_SIZE(in_quarters));
	unsigned int in[CMN_MAX_DTCS] = { };

	KUNIT_EXPECT_TRUE(test, cmn->known_domains);
	for (unsigned int i = 0; i < ARRAY_SIZE(in_quarters); i++)
		KUNIT_EXPECT_EQ(test, cmn->dtc[i].id, in_quarters[i].id);
	for (unsigned int i = 0; i < ARRAY_SIZE(xps); i++)
		KUNIT_EXPECT_EQ_MSG(test, cmn->dtms[xps[i].y * 10 + xps[i].x].dtc, xps[i].domain,
				    "%u, %u", xps[i].x, xps[i].y);
	for (unsigned int i = 0; i < cmn->nr_dtms; i++)
		in[cmn->dtms[i].dtc]++;
	for (unsigned int i = 0; i < CMN_MAX_DTCS; i++)
		KUNIT_EXPECT_EQ_MSG(test, in[i], 35U, "domain %u", i);
}

/*
 * If places and order disagree, the DTC that gets an event's carries is not known. The event looks
 * for them in every DTC.
 */
static void graviton5_without_its_quarters(struct kunit *test)
{
	static const struct cmn_fake_node
		order[] = { { 9, 0, 3, 9 << 7 }, { 4, 6, 3, 4 << 7 | 6 << 3 },
			    { 0, 13, 3, 13 << 3 }, { 5, 13, 3, 5 << 7 | 13 << 3 } },
		crowd[] = { { 0, 0, 3, 0 }, { 1, 0, 3, 1 << 7 },
			    { 0, 13, 3, 13 << 3 }, { 5, 13, 3, 5 << 7 | 13 << 3 } },
		three[] = { { 0, 0, 3, 0 }, { 5, 0, 3, 5 << 7 }, { 0, 7, 3, 7 << 3 } };
	static const struct {
		u8 width, height, nr;
		const struct cmn_fake_node *dtcs;
	} meshes[] = {
		{ 10, 14, ARRAY_SIZE(order), order }, { 10, 14, ARRAY_SIZE(crowd), crowd },
		{ 10, 14, ARRAY_SIZE(three), three }, { 10, 14, 1, cmn_fake_dtc },
		{ 14, 14, ARRAY_SIZE(in_quarters), in_quarters },
	};
	static const u64 config[] = { 0x10006, 0, 0 };	/* mxp_e_req_txflit_valid */

	for (unsigned int i = 0; i < ARRAY_SIZE(meshes); i++) {
		struct cmn *cmn = discover_graviton5(test, meshes[i].width, meshes[i].height,
						     meshes[i].dtcs, meshes[i].nr);
		struct cmn_event *ce;

		KUNIT_EXPECT_FALSE(test, cmn->known_domains);
		for (unsigned int n = 0; n < meshes[i].nr; n++)
			KUNIT_EXPECT_EQ(test, cmn->dtc[n].id, meshes[i].dtcs[n].id);
		ce = cmn_event_create(cmn, config);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ce);
		KUNIT_EXPECT_EQ(test, ce->dtcs, BIT(meshes[i].nr) - 1);
		kvfree(ce);
	}
}

static const struct { u16 part; u8 rev; u64 info; int err; char *what, *assume; } parts[] = {
	{ 0x434, 7, 0x3303008, 0, "CMN-600 r3p2" },
	{ 0x434, 8, 0x3303008, 0, "CMN-600 of a revision that is not known" },
	{ 0x438, 5, 0x3303008, 0, "CMN-600AE" },
	{ 0x43e, 2, 0x4014000003303008, 0, "S3 r1p0" },
	{ 0x43e, 2, 0x4014100003303008, -ENODEV, "S3 r1p0 with isolation" },
	{ 0x43e, 3, 0x0400100003303008, 0, "S3 r2p0 with isolation" },
	{ 0x43e, 6, 0x0400000003303008, 0, "S3 r2p5" },
	{ 0x43e, 7, 0x0400000003303008, -ENODEV, "S3 by guess" },
	{ 0x43e, 7, 0x0400100003303008, 0, "S3 that is said to be r2p5", "r2p5" },
	{ 0x43e, 7, 0x4014100003303008, -ENODEV, "S3 with isolation, said to be r1p0", "r1p0" },
	{ 0x434, 8, 0x3303008, -ENODEV, "CMN-600 that is not to be guessed", "no" },
	{ 0x434, 7, 0x3303008, 0, "CMN-600 r3p2, without a guess", "no" },
	{ 0x434, 8, 0x3303008, -ENODEV, "CMN-600 of a revision of CMN-650", "r0p0" },
	{ 0x43d, 0, 0x3303008, -ENODEV, "no part" },
};

/* Known parts and revisions are accepted, and revisions that could hang the system are not. */
static void knows_parts(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(parts); i++) {
		struct cmn_fake_mesh mesh = {
			.part = parts[i].part, .rev = parts[i].rev, .info = parts[i].info,
			.width = 2, .height = 1, .id_bits = 2, .domains = 1,
			.nodes = cmn_fake_dtc, .nr = 1,
		};
		struct cmn_regfile *file = cmn_regfile(test, &mesh);

		cmn_assume_revision = parts[i].assume ?: "";
		KUNIT_EXPECT_EQ_MSG(test, cmn_regfile_discover(file), parts[i].err, "%s",
				    parts[i].what);
		cmn_assume_revision = "";
	}
}

/*
 * An unknown, later revision is taken for the newest known one, or for that of the module
 * parameter. perf is told the real one.
 */
static void assumed_revisions(struct kunit *test)
{
	static const struct { u16 part, number; u8 rev, taken_for; char *assume, *name; } cases[] = {
		{ 0x434, 0x434, 9, 7, "", "r3p2" }, { 0x434, 0x434, 9, 3, "r1p3", "r1p3" },
		{ 0x43c, 0x43c, 4, 3, "", "r3p0" }, { 0x43c, 0x43c, 3, 0, "r0p0", "r0p0" },
		{ 0x436, 0x436, 5, 3, "", "r2p0" }, { 0x43a, 0x43a, 3, 2, "", "r2p0" },
		{ 0x438, 0x434, 0, 0, "", "?" }, { 0x438, 0x434, 15, 15, "no", "?" },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cmn_fake_mesh mesh = {
			.part = cases[i].part, .rev = cases[i].rev, .info = 0x3303008,
			.width = 2, .height = 1, .id_bits = 2, .domains = 1,
			.nodes = cmn_fake_dtc, .nr = 1,
		};
		struct cmn_regfile *file = cmn_regfile(test, &mesh);
		int err;

		cmn_assume_revision = cases[i].assume;
		err = cmn_regfile_discover(file);
		cmn_assume_revision = "";
		KUNIT_ASSERT_EQ_MSG(test, err, 0, "0x%x revision %u", mesh.part, mesh.rev);
		KUNIT_EXPECT_EQ(test, file->cmn.part->number, cases[i].number);
		KUNIT_EXPECT_EQ(test, file->cmn.code, cases[i].rev);
		KUNIT_EXPECT_EQ(test, file->cmn.rev, cases[i].taken_for);
		KUNIT_EXPECT_STREQ(test, cmn_revision_name(&file->cmn), cases[i].name);
	}
}

/* Every revision that is known has a name, and one without a name is not looked for beyond the table. */
static void names_revisions(struct kunit *test)
{
	static const u16 numbers[] = { 0x434, 0x436, 0x43a, 0x43c, 0x43e };
	unsigned int known = 0;

	for (int i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct cmn cmn = { .part = cmn_part_find(numbers[i], 0) };

		KUNIT_ASSERT_NOT_NULL(test, cmn.part);
		for (cmn.rev = 0; cmn.rev <= 15; cmn.rev++) {
			bool is_known = cmn_part_find(numbers[i], cmn.rev);

			known += is_known;
			KUNIT_EXPECT_EQ_MSG(test, cmn_revision_name(&cmn)[0], is_known ? 'r' : '?',
					    "0x%x revision %u", numbers[i], cmn.rev);
		}
	}
	KUNIT_EXPECT_EQ(test, known, 8U + 5 + 3 + 4 + 7);
}

/* S3 r2 has its fields of configuration elsewhere. */
static void moved_fields(struct kunit *test)
{
	struct cmn_fake_mesh mesh = {
		.part = 0x43e, .rev = 3, .width = 2, .height = 1, .id_bits = 2, .domains = 1,
		.nodes = cmn_fake_dtc, .nr = 1,
		/* Multiple DTMs; 3 REQ, 2 SNP, 1 DAT and 4 RSP channels. */
		.info = 0x0c00000003303008, .info1 = 3 | 2 << 3 | 1 << 6 | 4 << 9,
	};
	struct cmn_regfile *file = cmn_regfile(test, &mesh);

	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	KUNIT_EXPECT_TRUE(test, file->cmn.multi_dtm);
	KUNIT_EXPECT_EQ(test, file->cmn.vcs[CMN_REQ], 3);
	KUNIT_EXPECT_EQ(test, file->cmn.vcs[CMN_SNP], 2);
	KUNIT_EXPECT_EQ(test, file->cmn.vcs[CMN_DAT], 1);
	KUNIT_EXPECT_EQ(test, file->cmn.vcs[CMN_RSP], 4);
}

/* Passed over: external nodes, empty entries, loops, unknown types; the rest is there. */
static void passes_over(struct kunit *test)
{
	static const struct { u64 pointer; s8 nodes; const char *what; } cases[] = {
		{ 0x80e04000, 0, "external" },
		{ 0xffffffff, 0, "external, and nonsense" },
		{ 0, 0, "empty" },
		{ 0x0000, 0, "the root" },
	};
	unsigned int all;
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	u32 xp = file->xp[1], node;
	u64 info;

	all = file->cmn.nr_nodes;
	info = cmn_regfile_get(file, xp + 0x80);
	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		cmn_regfile_undiscover(file);
		cmn_regfile_set(file, xp + 0x80, info + 1);
		cmn_regfile_set(file, xp + 0x100 + 8 * (info & 0xffff), cases[i].pointer);
		KUNIT_EXPECT_EQ_MSG(test, cmn_regfile_discover(file), 0, "%s", cases[i].what);
		KUNIT_EXPECT_EQ_MSG(test, file->cmn.nr_nodes, all, "%s", cases[i].what);
	}
	/* Loops: to itself, to a sibling's child. */
	for (int i = 0; i < 2; i++) {
		cmn_regfile_undiscover(file);
		cmn_regfile_set(file, xp + 0x100 + 8 * (info & 0xffff), i ? xp : file->node[3]);
		KUNIT_EXPECT_EQ(test, cmn_regfile_discover(file), 0);
		KUNIT_EXPECT_EQ(test, file->cmn.nr_nodes, all);
	}
	/* A node of a type that came later is no event of ours. */
	cmn_regfile_undiscover(file);
	node = file->node[10];
	cmn_regfile_set(file, node, (cmn_regfile_get(file, node) & ~0xffffULL) | 0x1234);
	KUNIT_EXPECT_EQ(test, cmn_regfile_discover(file), 0);
	KUNIT_EXPECT_EQ(test, file->cmn.nr_nodes, all - 1);
	KUNIT_EXPECT_EQ(test, file->outside, 0U);
}

/*
 * An isolated node is not touched. Its pointer says so from S3 r2 on; should one of another part
 * say so, it is right.
 */
static void isolated_nodes(struct kunit *test)
{
	static const struct cmn_fake_node nodes[] = {
		{ 0, 0, 0x0003, 0x00, 0 }, { 1, 0, 0x0200, 0x20, 0 }, { 1, 0, 0x0200, 0x24, 1 },
	};
	struct cmn_fake_mesh mesh = {
		.part = 0x43e, .rev = 3, .width = 2, .height = 1, .id_bits = 2, .domains = 1,
		.nodes = nodes, .nr = ARRAY_SIZE(nodes), .info = 0x0400100003303008,
	};
	struct cmn_regfile *file = cmn_regfile(test, &mesh);

	cmn_regfile_set(file, file->xp[1] + 0x100, file->node[1] | BIT(30));
	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	KUNIT_EXPECT_EQ(test, file->cmn.nr_nodes, 3);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->node[1]), 0U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->node[2]), 1U);

	file = cmn_regfile(test, &cmn_fake_700);
	cmn_regfile_set(file, file->xp[1] + 0x100, file->node[3] | BIT(30));
	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->node[3]), 0U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->node[4]), 1U);
}

enum where { ROOT, XP0, XP1, HNF, DTC0, DTC1 };

static u32 offset_of(const struct cmn_regfile *file, enum where where)
{
	switch (where) {
	case ROOT:
		return file->cmn.root;
	case XP0:
		return file->xp[0];
	case XP1:
		return file->xp[1];
	case HNF:
		return file->node[3];
	case DTC0:
		return file->node[1];
	default:
		return file->node[2];
	}
}

/* Nonsense that cannot be passed over without leaving out what should be counted. */
static void refuses_nonsense(struct kunit *test)
{
	static const struct { enum where where; u32 reg; u64 value; const char *what; } cases[] = {
		{ ROOT, 0x000, 0x0005, "no root" },
		{ ROOT, 0x080, 0x010000c5, "197 XPs" },
		{ ROOT, 0x080, 0x0100ffff, "65535 XPs" },
		{ ROOT, 0x080, 0x01000000, "no XP" },
		{ ROOT, 0x080, 0x00000008, "pointers on the node's own information" },
		{ ROOT, 0x080, 0xfff80008, "pointers that end outside of the frame" },
		{ ROOT, 0x100, 0x10000000, "an XP outside of the region" },
		{ ROOT, 0x100, 0x0fff8000, "an XP that ends outside of it" },
		{ ROOT, 0x100, 0x00010008, "an XP at an odd place" },
		{ XP1, 0x000, 0x000f000100200006, "an XP with 15 ports" },
		{ XP1, 0x080, 0x01000081, "an XP with 129 children" },
		{ XP1, 0x080, 0x0100ffff, "an XP with 65535 children" },
		{ XP1, 0x100, 0x3fff0000, "a device outside of the region" },
		{ XP0, 0x960, 3, "a domain without a DTC" },
		{ DTC0, 0x000, 0x00000001000c0003, "two DTCs of one number" },
		{ DTC0, 0x000, 0x00000002000c0003, "no DTC 0" },
		{ DTC1, 0x000, 0x0000000000680006, "no DTC 1" },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cmn_regfile *file = cmn_regfile(test, &cmn_fake_700);
		int err;

		cmn_regfile_set(file, offset_of(file, cases[i].where) + cases[i].reg,
				cases[i].value);
		err = cmn_regfile_discover(file);
		KUNIT_EXPECT_TRUE_MSG(test, err == -EINVAL || (!i && err == -ENODEV), "%s: %d",
				      cases[i].what, err);
		KUNIT_EXPECT_EQ_MSG(test, file->outside, 0U, "%s", cases[i].what);
	}
}

/* Errors that only the map depends on do not keep the nodes from counting. */
static void numbers_without_a_grid(struct kunit *test)
{
	static const struct { u64 value; const char *what; } cases[] = {
		{ 0x0002000000200006, "two XPs of one number" },
		{ 0x0002008f00200006, "an XP numbered beyond the mesh" },
		{ 0x0002000100380006, "an XP that has another's id" },
		{ 0x0002000100080006, "two XPs that start the second row" },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cmn_regfile *file = cmn_regfile(test, &cmn_fake_700);
		struct cmn *cmn = &file->cmn;

		cmn_regfile_set(file, file->xp[1], cases[i].value);
		KUNIT_ASSERT_EQ_MSG(test, cmn_regfile_discover(file), 0, "%s", cases[i].what);
		KUNIT_EXPECT_EQ(test, cmn->nr_xps, 8);
		KUNIT_EXPECT_EQ_MSG(test, cmn->width * cmn->height, 8, "%s", cases[i].what);
		for (unsigned int n = 0; n < cmn->nr_nodes; n++)
			if (cmn->nodes[n].type == 0x0005 && cmn->nodes[n].id < 0x40)
				KUNIT_EXPECT_EQ(test, cmn->xps[cmn->nodes[n].xp].base - cmn->base,
						file->xp[1]);
		KUNIT_EXPECT_EQ(test, file->outside, 0U);
	}
}

/* All DTMs of an XP are in the domain of the first, whatever the others' registers say. */
static void one_domain_of_an_xp(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile(test, &cmn_fake_700);
	struct cmn *cmn = &file->cmn;

	for (unsigned int i = 0; i < 8; i++)
		cmn_regfile_set(file, file->xp[i] + 0x968, 0);
	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	KUNIT_ASSERT_EQ(test, cmn->nr_dtms, 16);
	for (unsigned int i = 0; i < 16; i++)
		KUNIT_EXPECT_EQ_MSG(test, cmn->dtms[i].dtc, i / 2 % 2, "DTM %u", i);
}

/* The root's own pointers are as much outside of a region that is too small as anything else. */
static void root_beyond_the_region(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile(test, &cmn_fake_700);

	/* Nor is anything read of a region that begins where no register does. */
	file->cmn.start = 4;
	KUNIT_EXPECT_EQ(test, cmn_regfile_discover(file), -EINVAL);
	KUNIT_EXPECT_EQ(test, file->reads, 0U);
	file->cmn.start = 0;
	cmn_regfile_set(file, 0x80, 0x90000008);
	file->cmn.size = 0x8000;
	KUNIT_EXPECT_EQ(test, cmn_regfile_discover(file), -EINVAL);
	KUNIT_EXPECT_EQ(test, file->outside, 0U);
}

static u64 random_u64(struct rnd_state *random)
{
	return (u64)prandom_u32_state(random) << 32 | prandom_u32_state(random);
}

/* A word of the tree: those that are not 0. */
static u64 random_word(struct cmn_regfile *file, struct rnd_state *random)
{
	static const u16 words[] = { 0x00, 0x08, 0x10, 0x80, 0x100, 0x108, 0x900, 0x908, 0x960 };
	u32 frame = file->frame * (prandom_u32_state(random) % file->frames);

	return frame + words[prandom_u32_state(random) % ARRAY_SIZE(words)];
}

/* Whatever is in the tree, nothing outside of the region is touched, and nothing hangs. */
static void survives_anything(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile(test, &cmn_fake_700);
	unsigned long this_seed = seed ?: get_random_u32();
	unsigned int good = 0;
	struct rnd_state random;

	kunit_info(test, "seed=%lu\n", this_seed);
	prandom_seed_state(&random, this_seed);
	for (int i = 0; i < 500; i++) {
		u64 at = random_word(file, &random), was = cmn_regfile_get(file, at);
		u64 value = random_u64(&random);

		/* Not too far from the truth, or nothing but the first check is tried. */
		if (i % 4)
			value = was ^ BIT_ULL(value % 64);
		cmn_regfile_set(file, at, value);
		if (!cmn_regfile_discover(file)) {
			good++;
			KUNIT_EXPECT_EQ(test, cmn_reset(&file->cmn), 0);
		}
		cmn_regfile_undiscover(file);
		KUNIT_ASSERT_EQ_MSG(test, file->outside, 0U, "0x%llx was 0x%llx, now 0x%llx", at,
				    was, value);
		/* What reset wrote is above, but a frame may have come to lie in another. */
		cmn_regfile_forget(file);
		cmn_regfile_set(file, at, was);
	}
	KUNIT_EXPECT_GT(test, good, 50U);
}

/* DTMs whose ports are not in use are left alone, also if an id names such a port. */
static void dtms_of_used_ports(struct kunit *test)
{
	struct cmn_fake_mesh mesh = cmn_fake_700;
	struct cmn_regfile *file;

	mesh.connect[2] = 0;
	mesh.connect[3] = 0;
	file = cmn_regfile(test, &mesh);
	KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
	KUNIT_EXPECT_EQ(test, file->cmn.nr_dtms, 8);
	for (unsigned int n = 0; n < file->cmn.nr_nodes; n++)
		KUNIT_EXPECT_EQ(test, file->cmn.nodes[n].dtm, file->cmn.nodes[n].xp);
	KUNIT_ASSERT_EQ(test, cmn_reset(&file->cmn), 0);
	for (unsigned int i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, true, file->xp[i] + 0x2210), 1U);
		KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, true, file->xp[i] + 0x2410), 0U);
	}
}

/* Ports and domains of CMN-650 and CI-700 are not where those of CMN-700 are. */
static void layout_of_650(struct kunit *test)
{
	static const struct cmn_fake_node nodes[] = {
		{ 0, 0, 0x0003, 0x00, 0 }, { 1, 0, 0x0003, 0x20, 1 }, { 1, 0, 0x0005, 0x25, 0 },
	};
	static const struct { u16 part; u8 rev; } cases[] = { { 0x436, 3 }, { 0x43a, 2 } };

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cmn_fake_mesh mesh = {
			.part = cases[i].part, .rev = cases[i].rev, .width = 2, .height = 2,
			.id_bits = 2, .domains = 2, .nodes = nodes, .nr = ARRAY_SIZE(nodes),
			/* A DTM for two ports; 2 RSP and 3 DAT channels. */
			.info = 0xc02c000003303008, .connect = { 0x0e, 0, 0x0e, 0, 0x0d },
		};
		struct cmn_regfile *file = cmn_regfile(test, &mesh);
		struct cmn *cmn = &file->cmn;

		KUNIT_ASSERT_EQ(test, cmn_regfile_discover(file), 0);
		KUNIT_EXPECT_EQ(test, cmn->vcs[CMN_RSP], 2);
		KUNIT_EXPECT_EQ(test, cmn->vcs[CMN_DAT], 3);
		KUNIT_EXPECT_EQ(test, cmn->vcs[CMN_REQ], 1);
		KUNIT_EXPECT_EQ(test, cmn->vcs[CMN_SNP], 1);
		KUNIT_EXPECT_EQ(test, cmn->nr_dtms, 12);
		KUNIT_EXPECT_EQ(test, cmn->xps[1].nr_ports, 5);
		KUNIT_EXPECT_EQ(test, cmn->xps[1].connect[1], 0);
		KUNIT_EXPECT_EQ(test, cmn->xps[1].connect[2], 0x0e);
		KUNIT_EXPECT_EQ(test, cmn->xps[1].connect[4], 0x0d);
		for (unsigned int d = 0; d < 12; d++)
			KUNIT_EXPECT_EQ_MSG(test, cmn->dtms[d].dtc, d / 3 % 2, "DTM %u", d);
		/* Port 2 of an XP with more than two ports: in its second DTM. */
		for (unsigned int n = 0; n < cmn->nr_nodes; n++)
			if (cmn->nodes[n].type == 0x0005)
				KUNIT_EXPECT_EQ(test, cmn->nodes[n].dtm, 4);
		KUNIT_EXPECT_EQ(test, file->outside, 0U);
	}
}

static bool has_name(const struct cmn *cmn, const char *name)
{
	for (unsigned int i = 0; i < cmn->desc.nr_events; i++)
		if (!strcmp(cmn->desc.events[i].name, name))
			return true;
	return false;
}

/* Revisions that lack an event do not name it; r2 of CMN-600 has other DVM names. */
static void names_by_revision(struct kunit *test)
{
	static const struct {
		u8 rev;
		bool untrk, cxra, cxra_late, dvm;
		unsigned int nr;
	} cases[] = {
		{ 0, false, false, false, false }, { 1, false, false, false, false },
		{ 2, true, true, false, false }, { 3, true, true, true, false, 182 },
		{ 4, true, true, true, true, 189 },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct cmn_fake_mesh mesh = cmn_fake_600;
		struct cmn_regfile *file;
		struct cmn *cmn;

		mesh.rev = cases[i].rev;
		file = cmn_regfile_ready(test, &mesh);
		cmn = &file->cmn;
		KUNIT_ASSERT_EQ(test, cmn_events_build(cmn), 0);
		KUNIT_EXPECT_EQ(test, has_name(cmn, "hnf_snp_sent_untrk"), cases[i].untrk);
		KUNIT_EXPECT_EQ(test, has_name(cmn, "cxra_rht_occ"), cases[i].cxra);
		KUNIT_EXPECT_EQ(test, has_name(cmn, "cxha_rdb_occ"), cases[i].cxra);
		KUNIT_EXPECT_EQ(test, has_name(cmn, "cxra_external_chirsp_stalls"),
				cases[i].cxra_late);
		KUNIT_EXPECT_EQ(test, has_name(cmn, "dn_dvmop_tlbi"), cases[i].dvm);
		KUNIT_EXPECT_EQ(test, has_name(cmn, "dn_rxreq_dvmop"), !cases[i].dvm);
		KUNIT_EXPECT_FALSE(test, has_name(cmn, "hns_cache_miss_all"));
		KUNIT_EXPECT_FALSE(test, has_name(cmn, "mxp_p2_req_txflit_valid"));
		KUNIT_EXPECT_FALSE(test, has_name(cmn, "mxp_e_pub_txflit_valid"));
		if (cases[i].nr)
			KUNIT_EXPECT_EQ(test, cmn->desc.nr_events, cases[i].nr);
		cmn_events_free(cmn);
	}
}

/* All parts and revisions, with all nodes, ports and channels that they can have. */
static void every_name_opens(struct kunit *test)
{
	static const struct { u16 part; u8 revs, ports, types; u64 info, info1; } all[] = {
		{ 0x434, 8, 2, 9, 0x3303008 },
		{ 0x438, 1, 2, 9, 0x3303008 },
		{ 0x436, 5, 4, 11, 0x4028000003303008 },
		{ 0x43a, 3, 4, 11, 0x4028000003303008 },
		{ 0x43c, 4, 4, 16, 0x4028000003303008, 0x2420a },
		{ 0x43e, 3, 4, 16, 0x4028000003303008, 0x2420a },
		/* S3 r2, where fields have moved */
		{ 0x43e, 7, 4, 16, 0x0400000003303008, 2 | 2 << 3 | 2 << 6 | 2 << 9 },
	};
	/* Nine on CMN-600, two more on CMN-650 and CI-700. */
	static const u16 types[] = {
		0x0003, 0x0001, 0x0004, 0x0005, 0x0007, 0x000a, 0x000d, 0x0100, 0x0101,
		0x0010, 0x0011,
		0x0103, 0x0104, 0x0105, 0x0106, 0x0200,
	};
	struct cmn_fake_node nodes[ARRAY_SIZE(types)] = { };

	for (int i = 0; i < ARRAY_SIZE(types); i++)
		nodes[i].type = types[i];
	for (int p = 0; p < ARRAY_SIZE(all); p++) {
		struct cmn_fake_mesh mesh = {
			.part = all[p].part, .width = 2, .height = 1, .id_bits = 2, .domains = 1,
			.info = all[p].info, .info1 = all[p].info1,
			.nodes = nodes, .nr = all[p].types,
		};

		for (unsigned int port = 0; port < all[p].ports; port++)
			mesh.connect[port] = 0x0e;
		for (mesh.rev = p == 6 ? 3 : 0; mesh.rev < all[p].revs; mesh.rev++) {
			struct cmn_regfile *file = cmn_regfile_ready(test, &mesh);
			struct cmn *cmn = &file->cmn;

			KUNIT_ASSERT_EQ(test, cmn_events_build(cmn), 0);
			KUNIT_EXPECT_GT(test, cmn->desc.nr_events, 100U);
			for (unsigned int n = 0; n < cmn->desc.nr_events; n++) {
				const struct pmu_named_event *event = &cmn->desc.events[n];
				struct cmn_event *ce = cmn_event_create(cmn, event->config);

				KUNIT_EXPECT_FALSE_MSG(test, IS_ERR(ce), "0x%x rev %u: %s",
						       mesh.part, mesh.rev, event->name);
				if (!IS_ERR(ce))
					kvfree(ce);
			}
			cmn_events_free(cmn);
		}
	}
}

static struct kunit_case cmn_discover_cases[] = {
	KUNIT_CASE(finds_all),
	KUNIT_CASE(each_register_once),
	KUNIT_CASE_SLOW(all_sizes),
	KUNIT_CASE(graviton5_has_quarters),
	KUNIT_CASE(graviton5_without_its_quarters),
	KUNIT_CASE(knows_parts),
	KUNIT_CASE(assumed_revisions),
	KUNIT_CASE(names_revisions),
	KUNIT_CASE(moved_fields),
	KUNIT_CASE(passes_over),
	KUNIT_CASE(isolated_nodes),
	KUNIT_CASE(refuses_nonsense),
	KUNIT_CASE(numbers_without_a_grid),
	KUNIT_CASE(one_domain_of_an_xp),
	KUNIT_CASE(root_beyond_the_region),
	KUNIT_CASE_SLOW(survives_anything),
	KUNIT_CASE(dtms_of_used_ports),
	KUNIT_CASE(layout_of_650),
	KUNIT_CASE(names_by_revision),
	KUNIT_CASE_SLOW(every_name_opens),
	{ }
};

struct kunit_suite cmn_discover_suite = {
	.name = "cmn_discover",
	.test_cases = cmn_discover_cases,
};
