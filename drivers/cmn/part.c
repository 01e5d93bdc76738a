// SPDX-License-Identifier: GPL-2.0-only
/*
 * How the products and their revisions differ, one row each.
 *
 * CI-700 has no public manual. Its ports, DTM information, selectors and watchpoints are where
 * CMN-650 has them.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "cmn.h"

static const char * const cmn_600_revisions[CMN_REVISIONS] = {
	"r1p0", "r1p1", "r1p2", "r1p3", "r2p0", "r3p0", "r3p1", "r3p2",
};

static const char * const cmn_650_revisions[CMN_REVISIONS] = {
	"r0p0", "r1p0", "r1p1", "r2p0", "r1p2",
};

static const char * const cmn_700_revisions[CMN_REVISIONS] = { "r0p0", "r1p0", "r2p0", "r3p0" };
static const char * const cmn_ci700_revisions[CMN_REVISIONS] = { "r0p0", "r1p0", "r2p0" };
static const char * const cmn_s3_revisions[CMN_REVISIONS] = {
	"r0p0", "r0p1", "r1p0", "r2p0", "r2p1", "r2p2", "r2p5",
};

static const u16 cmn_connect_600[CMN_MAX_PORTS] = { 0x08, 0x10 };
static const u16 cmn_connect_650[CMN_MAX_PORTS] = { 0x08, 0x10, 0x28, 0x30, 0x38, 0x40 };
static const u16 cmn_connect_700[CMN_MAX_PORTS] = { 0x08, 0x10, 0x18, 0x20, 0x28, 0x30 };
static const u16 cmn_connect_s3_r2[CMN_MAX_PORTS] = {
	0x08, 0x10, 0x18, 0x20, 0x28, 0x30, 0xe70, 0xe78,
};

/*
 * Filters of HN-F and, up to S3 r1, of HN-S. If a product lacks a field, it has no events that use
 * it.
 */
static const u64 cmn_home_filters[CMN_FILTERS] = {
	[CMN_FILTER_OCCUP1] = GENMASK_ULL(34, 32),
	[CMN_FILTER_CLASS] = GENMASK_ULL(36, 35),
	[CMN_FILTER_HBT_LBT] = GENMASK_ULL(38, 37),
	[CMN_FILTER_SN_HOME] = GENMASK_ULL(40, 39),
	[CMN_FILTER_THROTTLE] = GENMASK_ULL(44, 42),
};

static const u64 cmn_hns_filters_s3_r2[CMN_FILTERS] = {
	[CMN_FILTER_OCCUP1] = GENMASK_ULL(35, 32),
	[CMN_FILTER_CLASS] = GENMASK_ULL(37, 36),
	[CMN_FILTER_HBT_LBT] = GENMASK_ULL(39, 38),
	[CMN_FILTER_SN_HOME] = GENMASK_ULL(41, 40),
	[CMN_FILTER_THROTTLE] = GENMASK_ULL(45, 42),
	[CMN_FILTER_SNP_VC] = GENMASK_ULL(47, 46),
	[CMN_FILTER_SOURCE] = GENMASK_ULL(51, 48),
	[CMN_FILTER_EVICT_STATE] = GENMASK_ULL(54, 52),
};

/* XP, HN-F, HN-S, RN-I and RN-D, gateways, others. */
static const struct cmn_widths cmn_widths_600 = { 8, 5, 6, 5, 7, 6 };
static const struct cmn_widths cmn_widths_650 = { 8, 6, 6, 5, 7, 6 };
static const struct cmn_widths cmn_widths_700 = { 9, 6, 6, 6, 7, 6 };
static const struct cmn_widths cmn_widths_700_r2 = { 9, 6, 6, 6, 8, 6 };
static const struct cmn_widths cmn_widths_s3_r2 = { 10, 6, 7, 7, 8, 6 };

/* OCCUP1 of DN, the DVM node. Gateways have the same field, but no event uses it. */
#define CMN_DN_OCCUP1	GENMASK_ULL(35, 32)

#define CMN_INFO(_mask)		{ 0, _mask }
#define CMN_INFO_1(_mask)	{ 1, _mask }

/* All but CMN-600. */
#define CMN_COMMON						\
	.frame = 0x10000,					\
	.authstatus = 0xfb8,					\
	.pointer = GENMASK(29, 0),				\
	.wp_groups = 3,						\
	.wp_exclusive = CMN_WP_CONFIG_EXCLUSIVE,		\
	.wp_combine = CMN_WP_CONFIG_COMBINE,			\
	.wp_dev_sel2 = CMN_WP_CONFIG_DEV_SEL2

#define CMN_650_COMMON						\
	CMN_COMMON,						\
	.pmu = 0x2000, .xp_pmu = 0x2000,			\
	.connect = cmn_connect_650,				\
	.unit_info = 0x910,					\
	.widths = &cmn_widths_650,				\
	.multi_dtm = CMN_INFO(BIT_ULL(63)),			\
	.vcs = {						\
		[CMN_RSP] = CMN_INFO(GENMASK_ULL(53, 52)),	\
		[CMN_DAT] = CMN_INFO(GENMASK_ULL(51, 50)),	\
	}

#define CMN_700_COMMON						\
	CMN_COMMON,						\
	.connect = cmn_connect_700,				\
	.unit_info = 0x960,					\
	.counts_ports = true,					\
	.wp_chn_num = CMN_WP_CONFIG_CHN_NUM,			\
	.multi_dtm = CMN_INFO(BIT_ULL(63)),			\
	.vcs = {						\
		[CMN_REQ] = CMN_INFO_1(GENMASK_ULL(1, 0)),	\
		[CMN_RSP] = CMN_INFO(GENMASK_ULL(53, 52)),	\
		[CMN_SNP] = CMN_INFO_1(GENMASK_ULL(3, 2)),	\
		[CMN_DAT] = CMN_INFO(GENMASK_ULL(51, 50)),	\
	}

#define CMN_600_COMMON						\
	.number = 0x434,					\
	.rooted = true,						\
	.frame = 0x4000,					\
	.authstatus = 0x2db8,					\
	.pointer = GENMASK(27, 0),				\
	.pmu = 0x2000, .xp_pmu = 0x2000,			\
	.connect = cmn_connect_600,				\
	.widths = &cmn_widths_600,				\
	.wp_groups = 2,						\
	.wp_exclusive = CMN_WP_CONFIG_EXCLUSIVE_600,		\
	.wp_combine = CMN_WP_CONFIG_COMBINE_600

#define CMN_600_NAMES	.name = "CMN-600", .revisions = cmn_600_revisions

#define CMN_700_NAMES						\
	.name = "CMN-700", .revisions = cmn_700_revisions,	\
	.number = 0x43c, .events = CMN_700,			\
	.pmu = 0x2000, .xp_pmu = 0x2000

#define CMN_S3_COMMON						\
	.name = "CMN S3", .revisions = cmn_s3_revisions,	\
	.number = 0x43e,					\
	.pmu = 0xd900, .may_hang = true,			\
	.isolation = CMN_INFO(BIT_ULL(44))

static const struct cmn_part cmn_parts[] = {
	{ CMN_600_COMMON, CMN_600_NAMES, .first_rev = 0, .last_rev = 3,
	  .events = CMN_600 | CMN_600_R1 },
	{ CMN_600_COMMON, CMN_600_NAMES, .first_rev = 4, .last_rev = 7,
	  .events = CMN_600 | CMN_600_R2 },
	/* Derived from CMN-600 r2 and later. Its own revisions have no public names. */
	{ CMN_600_COMMON, .name = "CMN-600AE", .code = 0x438,
	  .first_rev = 0, .last_rev = CMN_REVISIONS - 1, .events = CMN_600 | CMN_600_R2 },
	/* r1p2 came after r2p0, and has fewer events. */
	{ CMN_650_COMMON, .name = "CMN-650", .revisions = cmn_650_revisions,
	  .number = 0x436, .first_rev = 0, .last_rev = 4, .newest_rev = 3, .events = CMN_650 },
	{ CMN_650_COMMON, .name = "CI-700", .revisions = cmn_ci700_revisions,
	  .number = 0x43a, .first_rev = 0, .last_rev = 2, .events = CMN_CI700 },
	{ CMN_700_COMMON, CMN_700_NAMES, .first_rev = 0, .last_rev = 1, .widths = &cmn_widths_700 },
	/* r2p0 has events of CCHA with ids of 8 bits. */
	{ CMN_700_COMMON, CMN_700_NAMES, .first_rev = 2, .last_rev = 3,
	  .widths = &cmn_widths_700_r2 },
	{ CMN_700_COMMON, CMN_S3_COMMON, .first_rev = 0, .last_rev = 1, .xp_pmu = 0xd900,
	  .events = CMN_S3 | CMN_S3_R1, .widths = &cmn_widths_700_r2 },
	{ CMN_700_COMMON, CMN_S3_COMMON, .first_rev = 2, .last_rev = 2, .xp_pmu = 0xa000,
	  .events = CMN_S3 | CMN_S3_R1, .widths = &cmn_widths_700_r2 },
	{ CMN_COMMON, CMN_S3_COMMON, .first_rev = 3, .last_rev = 6, .xp_pmu = 0xa000,
	  .events = CMN_S3 | CMN_S3_R2, .widths = &cmn_widths_s3_r2, .isolates = true,
	  .connect = cmn_connect_s3_r2, .unit_info = 0x960, .counts_ports = true,
	  .wp_chn_num = CMN_WP_CONFIG_CHN_NUM,
	  .multi_dtm = CMN_INFO(BIT_ULL(59)),
	  .vcs = {
		[CMN_REQ] = CMN_INFO_1(GENMASK_ULL(2, 0)),
		[CMN_RSP] = CMN_INFO_1(GENMASK_ULL(11, 9)),
		[CMN_SNP] = CMN_INFO_1(GENMASK_ULL(5, 3)),
		[CMN_DAT] = CMN_INFO_1(GENMASK_ULL(8, 6)),
	  },
	  .hns_filters = cmn_hns_filters_s3_r2,
	  .hns_reset = BIT_ULL(47) },
};

static bool cmn_part_is(const struct cmn_part *part, u16 number)
{
	return number == (part->code ?: part->number);
}

/* The row of a part and revision, or NULL if that is not known. */
const struct cmn_part *cmn_part_find(u16 number, u8 rev)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(cmn_parts); i++)
		if (cmn_part_is(&cmn_parts[i], number) && cmn_parts[i].first_rev <= rev &&
		    rev <= cmn_parts[i].last_rev)
			return &cmn_parts[i];
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_part_find);

/* The row with a part's newest revision, or NULL if the part is not known. */
const struct cmn_part *cmn_part_newest(u16 number)
{
	const struct cmn_part *newest = NULL;

	for (unsigned int i = 0; i < ARRAY_SIZE(cmn_parts); i++)
		if (cmn_part_is(&cmn_parts[i], number))
			newest = &cmn_parts[i];
	return newest;
}

/* The row of a part's revision by name, or NULL. Sets @rev to the revision's code. */
const struct cmn_part *cmn_part_named(u16 number, const char *revision, u8 *rev)
{
	for (*rev = 0; *rev < CMN_REVISIONS; ++*rev) {
		const struct cmn_part *part = cmn_part_find(number, *rev);

		if (part && part->revisions && !strcmp(part->revisions[*rev], revision))
			return part;
	}
	return NULL;
}

/* The name of the mesh's revision, or of the one that it is taken for, or "?". */
const char *cmn_revision_name(const struct cmn *cmn)
{
	return (cmn->part->revisions ? cmn->part->revisions[cmn->rev] : NULL) ?: "?";
}
EXPORT_SYMBOL_IF_KUNIT(cmn_revision_name);

/* The bits of @filter in the selector of a node of @type, or 0. */
u64 cmn_filter_mask(const struct cmn *cmn, u16 type, enum cmn_filter filter)
{
	if (filter == CMN_FILTER_NONE)
		return 0;
	switch (type) {
	case CMN_TYPE_HNF:
		return cmn_home_filters[filter];
	case CMN_TYPE_HNS:
		return (cmn->part->hns_filters ?: cmn_home_filters)[filter];
	case CMN_TYPE_DN:
		return filter == CMN_FILTER_OCCUP1 ? CMN_DN_OCCUP1 : 0;
	default:
		return 0;
	}
}

/* The width of event ids of @type. A wider id would select another event. */
unsigned int cmn_selector_bits(const struct cmn *cmn, u16 type)
{
	const struct cmn_widths *widths = cmn->part->widths;

	switch (type) {
	case CMN_TYPE_XP:
		return widths->xp;
	case CMN_TYPE_HNF:
		return widths->hnf;
	case CMN_TYPE_HNS:
		return widths->hns;
	case CMN_TYPE_RNI:
	case CMN_TYPE_RND:
		return widths->rn;
	case CMN_TYPE_CCRA:
	case CMN_TYPE_CCHA:
	case CMN_TYPE_CCLA:
		return widths->ccg;
	default:
		return widths->others;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cmn_selector_bits);
