/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a product is, and the tables of its events: types of nodes, sets of events, filters.
 *
 * A new product, or a new revision, needs changes here, in part.c and in event-tables.c.
 */
#ifndef CMN_PART_H
#define CMN_PART_H

#include <linux/bits.h>
#include <linux/types.h>

struct cmn;

/* Node types, as NODE_INFO has them. */
enum cmn_type {
	CMN_TYPE_DN = 0x0001,
	CMN_TYPE_CFG = 0x0002,
	CMN_TYPE_DTC = 0x0003,
	CMN_TYPE_HNI = 0x0004,
	CMN_TYPE_HNF = 0x0005,
	CMN_TYPE_XP = 0x0006,
	CMN_TYPE_SBSX = 0x0007,
	CMN_TYPE_HNF_MPAM_S = 0x0008,
	CMN_TYPE_HNF_MPAM_NS = 0x0009,
	CMN_TYPE_RNI = 0x000a,
	CMN_TYPE_RND = 0x000d,
	CMN_TYPE_RNSAM = 0x000f,
	CMN_TYPE_MTSX = 0x0010,
	CMN_TYPE_HNP = 0x0011,
	CMN_TYPE_CXRA = 0x0100,
	CMN_TYPE_CXHA = 0x0101,
	CMN_TYPE_CXLA = 0x0102,
	CMN_TYPE_CCRA = 0x0103,
	CMN_TYPE_CCHA = 0x0104,
	CMN_TYPE_CCLA = 0x0105,
	CMN_TYPE_CCLA_RNI = 0x0106,
	CMN_TYPE_HNS = 0x0200,
	CMN_TYPE_HNS_MPAM_S = 0x0201,
	CMN_TYPE_HNS_MPAM_NS = 0x0202,
	CMN_TYPE_APB = 0x1000,
	/* No node: the user ABI's number for a watchpoint. */
	CMN_TYPE_WP = 0x7770,
};

/* Sets of events: one for each product, and for revisions whose numbering differs. */
#define CMN_600			BIT(0)
#define CMN_650			BIT(1)
#define CMN_CI700		BIT(2)
#define CMN_700			BIT(3)
#define CMN_S3			BIT(4)
#define CMN_600_R1		BIT(5)	/* CMN-600 before r2p0: other numbers of DVM events */
#define CMN_600_R2		BIT(6)	/* CMN-600 from r2p0 on: DVM events of CMN-650 */
#define CMN_S3_R1		BIT(7)	/* S3 before r2p0: filters of HN-S as on CMN-700 */
#define CMN_S3_R2		BIT(8)	/* S3 from r2p0 on: other filters, and other events */
#define CMN_ANY			(CMN_600 | CMN_650 | CMN_CI700 | CMN_700 | CMN_S3)

/* Flit channels that can be watched, and may have several virtual ones. */
enum cmn_channel { CMN_REQ, CMN_RSP, CMN_SNP, CMN_DAT, CMN_CHANNELS };

/* Fields in the upper half of a selector, each shared by all four lines of the node. */
enum cmn_filter {
	CMN_FILTER_OCCUP1, CMN_FILTER_CLASS, CMN_FILTER_HBT_LBT, CMN_FILTER_SN_HOME,
	CMN_FILTER_THROTTLE, CMN_FILTER_SNP_VC, CMN_FILTER_SOURCE, CMN_FILTER_EVICT_STATE,
	CMN_FILTERS,
	CMN_FILTER_NONE = CMN_FILTERS,
};

/* Bits of event ids, by type of node: see cmn_selector_bits(). */
struct cmn_widths {
	u8 xp, hnf, hns;
	u8 rn;				/* RN-I, RN-D */
	u8 ccg;				/* CCRA, CCHA, CCLA */
	u8 others;
};

/* A field of INFO_GLOBAL or INFO_GLOBAL_1; the mask is 0 if the product lacks it. */
struct cmn_info_field {
	u8 word;			/* of cmn.info */
	u64 mask;
};

/* The number of values of CMN_PERIPH_ID_23_REVISION. */
#define CMN_REVISIONS		16

/* A product, or a range of its revisions, that differs for software. */
struct cmn_part {
	const char *name;
	const char * const *revisions;	/* CMN_REVISIONS, or NULL if not public */
	u16 number;			/* for firmware and perf */
	u16 code;			/* in the hardware's id; 0: the same as number */
	u8 first_rev, last_rev;
	u8 newest_rev;			/* of the part, unless it is last_rev */
	u16 events;			/* CMN_600 and so on */
	bool rooted;			/* firmware says where the root is; else it is at 0 */
	u32 frame;			/* size of a node's registers, bytes */
	u32 pointer;			/* bits of a child pointer that are an offset */
	bool isolates;			/* CMN_CHILD_ISOLATED */
	bool may_hang;			/* a wrong guess of the revision may hang the system */
	u16 pmu, xp_pmu;		/* PMU block in a node's frame, and in an XP's */
	const u16 *connect;		/* offsets of a port's connect info, CMN_MAX_PORTS */
	u16 authstatus;			/* in a DTC's frame */
	u16 unit_info;			/* of an XP's domain, or 0: it cannot be discovered */
	bool counts_ports;		/* CMN_NODE_INFO_PORTS */
	const struct cmn_widths *widths;	/* of selectors */
	u8 wp_groups;
	u32 wp_exclusive, wp_combine, wp_dev_sel2, wp_chn_num;
	struct cmn_info_field multi_dtm, isolation, vcs[CMN_CHANNELS];
	const u64 *hns_filters;		/* CMN_FILTERS, or NULL for those of HN-F */
	u64 hns_reset;			/* an HN-S's selector without events, unless it is 0 */
};

/* A named event's row. Names of an event with a filter end with the name of a value. */
struct cmn_event_row {
	const char *name;
	u8 id;
	u16 events;
	const struct cmn_filter_names *filter, *filter2;
};

struct cmn_filter_names {
	enum cmn_filter filter;
	unsigned int nr;
	const char * const *names;	/* by value; NULL where it has none */
};

struct cmn_event_table {
	enum cmn_type type;
	const char *prefix;
	unsigned int nr;
	const struct cmn_event_row *rows;
	u8 below;			/* how much lower than in its rows the ids are */
};

/* part.c */
const struct cmn_part *cmn_part_find(u16 number, u8 rev);
const struct cmn_part *cmn_part_newest(u16 number);
const struct cmn_part *cmn_part_named(u16 number, const char *revision, u8 *rev);
const char *cmn_revision_name(const struct cmn *cmn);
u64 cmn_filter_mask(const struct cmn *cmn, u16 type, enum cmn_filter filter);
unsigned int cmn_selector_bits(const struct cmn *cmn, u16 type);

/* event-tables.c */
extern const struct cmn_event_table cmn_event_tables[];
extern const unsigned int cmn_nr_event_tables;

#endif /* CMN_PART_H */
