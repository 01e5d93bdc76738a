/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of cmn_pmu share.
 *
 * A mesh is a grid of crosspoints (XPs) with devices at their ports. An XP has one or more DTMs.
 * Each counts events of the XP and its devices in four 16-bit counters. When one of them wraps, it
 * can increment one of eight 32-bit counters of a DTC, the debug and trace controller of the XP's
 * domain. DTC 0 starts and stops all counters together.
 */
#ifndef CMN_H
#define CMN_H

#include <linux/delay.h>
#include <linux/io.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/smp.h>
#include <linux/sysfs.h>
#include <linux/types.h>

#include <pmu/core.h>

#include "regs.h"

/* Hz. No mesh has a faster clock, and no event counts more than once per clock. */
#define CMN_MAX_CLOCK		4000000000ULL

struct dentry;
struct platform_device;

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

/* Filters of one event: one whose value is occupid, and one for filter2. */
#define CMN_EVENT_FILTERS	2

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
	u16 unit_info;			/* of an XP's domain, or 0: it cannot be discovered */
	bool counts_ports;		/* CMN_NODE_INFO_PORTS */
	const struct cmn_widths *widths;	/* of selectors */
	u8 wp_groups;
	u32 wp_exclusive, wp_combine, wp_dev_sel2, wp_chn_num;
	struct cmn_info_field multi_dtm, isolation, vcs[CMN_CHANNELS];
	const u64 *hns_filters;		/* CMN_FILTERS, or NULL for those of HN-F */
	u64 hns_reset;			/* an HN-S's selector without events, unless it is 0 */
};

/* Where a node is, from its id. */
struct cmn_place {
	u8 x, y, port, dev;
};

/* A node with an event selector. A node with two selectors is two of these. */
struct cmn_node {
	void __iomem *sel;
	u64 image;			/* what the selector has to hold */
	u32 filters;			/* its upper half, as last written */
	u16 type, id, logical;
	u16 xp, dtm;			/* indices */
	u8 port, dev;
	bool wide;			/* ids are CMN_EVENT_SEL_LANE_WIDE apart */
	u8 filter_users[CMN_FILTERS];	/* counting events that use a filter */
};

struct cmn_xp {
	void __iomem *base;
	u16 id, logical;
	u16 first_dtm;
	u8 nr_ports, nr_dtms;
	u8 connect[CMN_MAX_PORTS];	/* type of the device, or 0 */
};

struct cmn_watch {
	u32 config;
	u64 val, mask;
};

struct cmn_dtm {
	void __iomem *base;
	u64 config, written;		/* what PMU_CONFIG has to hold, and what it holds */
	struct cmn_watch wp[CMN_DTM_WPS];
	u32 wp_config[CMN_DTM_WPS];	/* as last written */
	u8 stale_wps;			/* bit per watchpoint that has to be written */
	u8 dtc;				/* the DTC of its domain; on CMN-600 not known and 0 */
	u16 xp;
	u32 pass;			/* the pass in which counts was read */
	u64 counts;
	u64 looked_ns;			/* time before that read, for cmn_event_value_exact() */
};

/* A DTC, and the counts of its counters beyond their widths. */
struct cmn_dtc {
	void __iomem *base, *pmu;
	u16 id, xp;
	u32 offset;			/* of the DTC's frame, from the start of the region */
	u32 last[CMN_DTC_COUNTERS];
	u64 total[CMN_DTC_COUNTERS];
	u64 cycles_last, cycles_total;
	u32 pass[CMN_DTC_COUNTERS / 2];	/* the passes in which pairs of counters were read */
	u64 pair[CMN_DTC_COUNTERS / 2];
	u8 started;			/* bit per letter that was started since the last flush */
	u8 stale;			/* bit per free letter that DTMs may still carry into */
};

struct cmn;

/* An interrupt, of one DTC or several. */
struct cmn_line {
	struct cmn *cmn;
	int irq;
	u8 dtcs;			/* bit per DTC */
	atomic_t forwarded;		/* calls to the owner CPU that have not been served */
	call_single_data_t csd;
};

/* A mesh. Lives until the module is unloaded: a PMU whose device is gone still uses its desc. */
struct cmn {
	struct device *dev;
	const struct cmn_part *part;
	u8 code;			/* the revision, as in the hardware's id */
	u8 rev;				/* the revision that the driver takes it for */
	u16 events;			/* the sets of events of the part and the revision */
	void __iomem *base;
	resource_size_t start, size;
	u32 root;			/* offset of the root's frame in the region */
	u64 info[2];			/* INFO_GLOBAL and INFO_GLOBAL_1 */
	u8 width, height, id_bits;
	bool multi_dtm;
	bool quartered;			/* Graviton5: no register says which domain a node is in */
	bool known_domains;		/* if not, an event takes a letter of every DTC */
	u8 vcs[CMN_CHANNELS];
	u8 nr_dtcs;
	u16 nr_xps, nr_dtms, nr_nodes;
	struct cmn_xp *xps;		/* by logical id */
	struct cmn_dtm *dtms;
	struct cmn_node *nodes;
	struct cmn_dtc dtc[CMN_MAX_DTCS];
	struct cmn_line line[CMN_MAX_DTCS];
	u8 nr_lines;

	/* Only on the owner CPU with interrupts off: */
	bool stopped;			/* DTC 0 has stopped all counters */
	bool loses_carries;		/* a stop loses carries that are under way */
	bool withheld;			/* since a sleep firmware denies access to the PMU */
	bool gone;			/* the mesh did not answer a read */
	u32 carry_ns;			/* the longest time that a carry takes */
	u32 wrap_ns;			/* the shortest time in which a local counter wraps */
	u32 late_ns;			/* the time that the last late carry took, at least */
	struct irq_work complaint;	/* reports carries that were late or lost */
	u32 pass;			/* number of passes of reads; see pmu_box_ops.begin_read */
	unsigned long *stale_dtms;	/* bit per DTM whose registers have to be written */
	unsigned long *stale_nodes;
	unsigned long *started_xps;	/* bit per XP that the next flush has to write */

	struct pmu_box *box;
	int cpu;			/* the box's owner */
	struct pmu_desc desc;
	struct pmu_named_event *named;	/* the events that this mesh has */
	struct device_attribute identifier;
	struct attribute *attrs[2];
	struct attribute_group group;
	const struct attribute_group *groups[2];
	char name[16];
	int number;
	struct dentry *map, *drawing;
	struct list_head list;
};

/*
 * config, config1 and config2. They are those of the in-tree driver, which has no WP_CHN_NUM. One
 * mask serves decoding and the text in format/.
 */
#define CMN_CONFIG_TYPE		GENMASK_ULL(15, 0)
#define CMN_CONFIG_EVENTID	GENMASK_ULL(26, 16)
#define CMN_CONFIG_OCCUPID	GENMASK_ULL(30, 27)
#define CMN_CONFIG_WP_COMBINE	CMN_CONFIG_OCCUPID
#define CMN_CONFIG_BYNODEID	BIT_ULL(31)
#define CMN_CONFIG_NODEID	GENMASK_ULL(47, 32)
#define CMN_CONFIG_WP_DEV_SEL	GENMASK_ULL(50, 48)
#define CMN_CONFIG_WP_CHN_SEL	GENMASK_ULL(55, 51)
#define CMN_CONFIG_WP_GRP	GENMASK_ULL(57, 56)
#define CMN_CONFIG_WP_EXCLUSIVE	BIT_ULL(58)
#define CMN_CONFIG_WP_CHN_NUM	GENMASK_ULL(60, 59)
#define CMN_CONFIG_WP		GENMASK_ULL(60, 48)
#define CMN_CONFIG_FILTER2	GENMASK_ULL(51, 48)	/* not of watchpoints */

#define CMN_WP_UP		0	/* eventid: from the device to the XP */
#define CMN_WP_DOWN		2

enum cmn_format {
	CMN_FORMAT_TYPE, CMN_FORMAT_EVENTID, CMN_FORMAT_OCCUPID, CMN_FORMAT_FILTER,
	CMN_FORMAT_FILTER2, CMN_FORMAT_BYNODEID,
	CMN_FORMAT_NODEID, CMN_FORMAT_WP_DEV_SEL, CMN_FORMAT_WP_CHN_SEL, CMN_FORMAT_WP_CHN_NUM,
	CMN_FORMAT_WP_GRP, CMN_FORMAT_WP_EXCLUSIVE, CMN_FORMAT_WP_COMBINE,
	CMN_FORMAT_WP_VAL, CMN_FORMAT_WP_MASK, CMN_FORMATS,
};

/* What a watchpoint event watches. */
struct cmn_wp {
	u8 port, channel, number, group, tag;
	bool down, exclusive;
};

/* Where an event counts in one DTM. */
struct cmn_member {
	u16 node;		/* the node with the selector; for a watchpoint the XP's */
	u16 dtm;
	u8 counter;
	u8 wp;
	u16 last;		/* the counter at the last read */
};

/* An event, decoded, and the counters that were claimed for it. */
struct cmn_event {
	u16 type, id;
	u8 filter[CMN_EVENT_FILTERS], filter_value[CMN_EVENT_FILTERS];
	u8 dtcs;			/* bit per DTC in whose domain it counts */
	u8 letter[CMN_MAX_DTCS];	/* the claimed counter of each of these DTCs */
	u8 cycles;			/* type DTC: the DTC whose cycle counter it is */
	struct cmn_wp wp;
	u64 wp_val, wp_mask;
	u64 carries;			/* known wraps of local counters, plus an offset */
	bool may_log;			/* what pmu_may_log() said when the event was opened */
	bool counted, paired;		/* was ever claimed; was ever one of a whole pair */
	/* Of half a pair: */
	const struct perf_event *event;
	struct pid *opener;		/* the process that opened it */
	const void *party;		/* halves with the same party make pairs */
	bool odd;			/* has the odd watchpoint; the even one counts the pair */
	struct list_head open;		/* in cmn_halves; its mutex guards the next three, too: */
	u64 serial;			/* numbers halves in the order of opening */
	struct cmn_event *mate;		/* the other half, or NULL if that is not open */
	bool second;			/* the pair counts at the mate, not at this half */
	u16 nr;
	struct cmn_member member[];
};

struct cmn_dtm_claims {
	u8 counters, wps;
	struct cmn_event *half[CMN_DTM_WPS];	/* by watchpoint: the half of a pair that has it */
};

struct cmn_filter_claim {
	u8 users, value;
};

/*
 * What events have claimed of the mesh, or claim in the trial of a group. The claims of the nodes'
 * filters come after it in memory.
 */
struct cmn_claims {
	u8 letters[CMN_MAX_DTCS];
	u8 cycles;			/* bit per DTC */
	struct cmn_dtm_claims dtm[];
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
};

/*
 * Register access. KUnit suites replace the hardware by a register file. Modules that are built
 * without suites access the hardware directly.
 */
struct cmn_bus {
	u64 (*read)(const void __iomem *reg, unsigned int bytes);
	void (*write)(void __iomem *reg, unsigned int bytes, u64 value);
};

#if IS_ENABLED(CONFIG_PMU_SUITE_KUNIT_TEST)
extern const struct cmn_bus *cmn_kunit_bus;
#define cmn_bus()	READ_ONCE(cmn_kunit_bus)
#else
#define cmn_bus()	((const struct cmn_bus *)NULL)
#endif

static inline u64 cmn_read64(const void __iomem *reg)
{
	return cmn_bus() ? cmn_bus()->read(reg, 8) : readq_relaxed(reg);
}

static inline u32 cmn_read32(const void __iomem *reg)
{
	return cmn_bus() ? cmn_bus()->read(reg, 4) : readl_relaxed(reg);
}

static inline void cmn_write64(u64 value, void __iomem *reg)
{
	if (cmn_bus())
		cmn_bus()->write(reg, 8, value);
	else
		writeq_relaxed(value, reg);
}

static inline void cmn_write32(u32 value, void __iomem *reg)
{
	if (cmn_bus())
		cmn_bus()->write(reg, 4, value);
	else
		writel_relaxed(value, reg);
}

/* Wait for @ns after all values that were read have come: a relaxed read does not order a delay. */
static inline void cmn_wait(unsigned int ns)
{
	rmb();
	ndelay(ns);
}

/* FIELD_GET() for a mask that is not constant; 0 for a mask of 0. */
static inline u64 cmn_field(u64 value, u64 mask)
{
	return mask ? (value & mask) >> __ffs64(mask) : 0;
}

/* part.c */
const struct cmn_part *cmn_part_find(u16 number, u8 rev);
const struct cmn_part *cmn_part_newest(u16 number);
const struct cmn_part *cmn_part_named(u16 number, const char *revision, u8 *rev);
const char *cmn_revision_name(const struct cmn *cmn);
u64 cmn_filter_mask(const struct cmn *cmn, u16 type, enum cmn_filter filter);
unsigned int cmn_selector_bits(const struct cmn *cmn, u16 type);

/* id.c */
u8 cmn_id_bits(unsigned int width, unsigned int height);
unsigned int cmn_id_dev_bits(const struct cmn *cmn, unsigned int ports);
struct cmn_place cmn_id_place(const struct cmn *cmn, u16 id, unsigned int ports);
bool cmn_id_is_at(const struct cmn *cmn, u16 id, const struct cmn_xp *xp);

/* discover.c */
extern char *cmn_assume_revision;
int cmn_discover(struct cmn *cmn);
void cmn_undiscover(struct cmn *cmn);

/* tree.c */
int cmn_children(struct cmn *cmn, u32 offset, const char *what, unsigned int most, u32 *array);
int cmn_child(struct cmn *cmn, u32 offset, u32 array, unsigned int n, unsigned long *seen,
	      u32 *child);
unsigned int cmn_frames(const struct cmn *cmn);
int cmn_root_check(struct cmn *cmn);
int cmn_root_fits(struct cmn *cmn);

/* dtm.c */
void cmn_dtm_reset(struct cmn_dtm *dtm);
void cmn_dtm_quiesce(struct cmn_dtm *dtm);
void cmn_node_reset(struct cmn *cmn, struct cmn_node *node);
void cmn_node_quiesce(struct cmn *cmn, struct cmn_node *node);
void cmn_member_start(struct cmn *cmn, const struct cmn_event *ce, const struct cmn_member *m);
void cmn_member_stop(struct cmn *cmn, const struct cmn_event *ce, const struct cmn_member *m);
u64 cmn_counts_read(struct cmn *cmn, const void __iomem *reg);
u16 cmn_member_read(struct cmn *cmn, const struct cmn_member *m);
void cmn_flush(struct cmn *cmn);
void cmn_flush_none(struct cmn *cmn);

/* dtc.c */
void cmn_carries_init(struct cmn *cmn);
u32 cmn_dtc_reset(struct cmn_dtc *dtc);
void cmn_dtc_quiesce(struct cmn_dtc *dtc);
void cmn_mesh_run(struct cmn *cmn, bool run);
u64 cmn_carries_read(struct cmn *cmn, const struct cmn_event *ce);
u64 cmn_carries_await(struct cmn *cmn, const struct cmn_event *ce, u64 least);
void cmn_cycles_start(struct cmn_dtc *dtc);
void cmn_cycles_stop(struct cmn_dtc *dtc);
u64 cmn_cycles_read(struct cmn *cmn, struct cmn_dtc *dtc);
bool cmn_overflow(struct cmn *cmn, u8 dtcs);

/* irq.c */
int cmn_irq_init(struct cmn *cmn, struct platform_device *pdev);
void cmn_irq_enable(struct cmn *cmn);
void cmn_irq_disable(struct cmn *cmn);
void cmn_irq_move(struct cmn *cmn, int cpu);

/* watchpoint.c */
u32 cmn_wp_config(const struct cmn *cmn, const struct cmn_wp *wp, bool combine);
int cmn_wp_decode(const struct cmn *cmn, u64 config, struct cmn_wp *wp);
bool cmn_wp_makes_pair(const struct cmn_event *one, const struct cmn_event *other);
int cmn_wp_claim(struct cmn_dtm_claims *claims, struct cmn_event *ce, bool trial);
void cmn_wp_claimed(struct cmn_dtm_claims *claims, unsigned int n);
void cmn_wp_unclaim(struct cmn_dtm_claims *claims, unsigned int n);

/* claim.c */
size_t cmn_claims_size(const struct cmn *cmn);
const char *cmn_claim(const struct cmn *cmn, struct cmn_claims *claims, struct cmn_event *ce,
		      bool trial);
void cmn_unclaim(const struct cmn *cmn, struct cmn_claims *claims, struct cmn_event *ce);

/* config.c */
struct cmn_event *cmn_event_create(const struct cmn *cmn, const u64 *config);

/* event-tables.c */
extern const struct cmn_event_table cmn_event_tables[];
extern const unsigned int cmn_nr_event_tables;

/* events.c */
int cmn_events_build(struct cmn *cmn);
void cmn_events_free(struct cmn *cmn);
void cmn_refuse(const struct cmn *cmn, const char *fmt, ...) __printf(2, 3);
const char *cmn_type_name(u16 type);
bool cmn_type_counts(u16 type, u16 node_type);
bool cmn_has_node(const struct cmn *cmn, u16 type, int id);
const struct cmn_event_row *cmn_event_row_find(const struct cmn *cmn, u16 type, u16 id);
int cmn_xp_event_port(const struct cmn *cmn, u16 id);
bool cmn_xp_event_fits(const struct cmn *cmn, u16 id);

/* pmu.c */
void cmn_desc_init(struct cmn *cmn);
void cmn_half_open(struct cmn_event *ce, const struct perf_event *event);
void cmn_half_close(struct cmn_event *ce);
void cmn_event_start(struct cmn *cmn, struct cmn_event *ce);
void cmn_event_hand(const struct cmn_event *from, struct cmn_event *to);
void cmn_event_stop(struct cmn *cmn, const struct cmn_event *ce);
u64 cmn_event_value(struct cmn *cmn, struct cmn_event *ce);
int cmn_event_value_exact(struct cmn *cmn, struct cmn_event *ce, u64 *value);

/* main.c */
int cmn_reset(struct cmn *cmn);
void cmn_quiesce(struct cmn *cmn);

/* map.c */
const char *cmn_connected_name(u8 code);
void cmn_map_init(void);
void cmn_map_exit(void);
void cmn_map_create(struct cmn *cmn);
void cmn_map_remove(struct cmn *cmn);

/* drawing.c */
void cmn_drawing_init(void);
void cmn_drawing_exit(void);
void cmn_drawing_create(struct cmn *cmn);
void cmn_drawing_remove(struct cmn *cmn);

#endif /* CMN_H */
