/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of cmn_pmu share.
 *
 * A mesh is a grid of crosspoints (XPs) with devices at their ports. An XP has one or more DTMs.
 * Each counts events of the XP and its devices in four 16-bit counters. When one of them wraps, it
 * can increment one of eight 32-bit counters of a DTC, the debug and trace controller of the XP's
 * domain. DTC 0 starts and stops all counters together.
 *
 * Three headers do not know struct cmn, the mesh: part.h, event.h and io.h.
 *
 * Each file uses only files below it: main.c; discover.c, drawing.c, pmu.c; claim.c, config.c,
 * irq.c, map.c, sample.c; dtm.c; dtc.c; watchpoint.c; events.c; event-tables.c, id.c, part.c,
 * tree.c.
 *
 * Mutexes, neither taken inside the other: cmn_mutex (main.c: the list of meshes), and
 * cmn_halves_mutex (pmu.c: open halves of pairs of watchpoints), in event_init and event_free.
 * Counting takes no lock: see <pmu/core.h>.
 */
#ifndef CMN_H
#define CMN_H

#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/sysfs.h>
#include <linux/types.h>

#include <pmu/core.h>

#include "event.h"
#include "io.h"
#include "part.h"
#include "regs.h"

/* Hz. No mesh has a faster clock, and no event counts more than once per clock. */
#define CMN_MAX_CLOCK		4000000000ULL

struct dentry;
struct platform_device;

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
	bool ours;			/* was written since the mesh was taken over */
	bool beside;			/* another node has its id, and so its device's lines */
	u8 events;			/* that count, with or without a filter */
	u8 filter_users[CMN_FILTERS];	/* those of them that use a filter */
};

struct cmn_xp {
	void __iomem *base;
	u16 id, logical;
	u16 first_dtm;
	u8 nr_ports, nr_dtms;
	u8 connect[CMN_MAX_PORTS];	/* type of the device, or 0 */
	u8 cals;			/* bit per port that has several devices */
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
	u64 pass;			/* the pass in which counts was read */
	u64 counts;
	u64 looked_ns;			/* time before that read, for cmn_event_value_exact() */
	unsigned long unlocked;		/* jiffies when dtm_enable was last looked at */
};

/* A DTC, and the counts of its counters beyond their widths. */
struct cmn_dtc {
	void __iomem *base, *pmu;
	u16 id, xp;
	u32 offset;			/* of the DTC's frame, from the start of the region */
	u32 last[CMN_DTC_COUNTERS];
	u64 total[CMN_DTC_COUNTERS];
	u64 cycles_last, cycles_total;
	u64 pass[CMN_DTC_COUNTERS / 2];	/* the passes in which pairs of counters were read */
	u64 pair[CMN_DTC_COUNTERS / 2];
	u8 started;			/* bit per letter that was started since the last flush */
	u8 stale;			/* bit per free letter that DTMs may still carry into */
	u16 counting;			/* bit per letter of an event that counts, and for cycles */
	u8 used;			/* bit per letter that an event has had since the reset */
};

/* What counts may suffer from. */
enum cmn_complaint {
	CMN_STOP_LATE, CMN_CARRIES_LOST, CMN_CARRIES_STRAYED,
	/* Told once: */
	CMN_RUN_BY_OTHERS, CMN_DTM_LOCKED, CMN_FILTERS_MIXED, CMN_CHANNEL_OPEN, CMN_PAIR_INVERTED,
	CMN_LINES_SHARED, CMN_AS_650,
};

/* A DTM that shows what becomes of carries, and what was read of it before a stop. */
struct cmn_sample {
	u16 dtm;
	u8 dtcs;			/* bit per DTC that may get its carries; 0: no sample */
	bool idle;			/* the next stop takes another one */
	u8 asked;			/* number of stops that have seen what becomes of a carry */
	u64 counts;			/* its local counters */
	u64 carries[CMN_DTC_COUNTERS];	/* by letter, of those that these carry to */
};

struct cmn;

/* An interrupt, of one DTC or several. */
struct cmn_line {
	struct cmn *cmn;
	int irq;
	u8 dtcs;			/* bit per DTC */
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
	bool no_niden, no_spniden;	/* DTC 0 says that these inputs are off */
	u8 nr_dtcs;
	u16 nr_xps, nr_dtms, nr_nodes;
	struct cmn_xp *xps;		/* by logical id */
	struct cmn_dtm *dtms;
	struct cmn_node *nodes;
	struct cmn_dtc dtc[CMN_MAX_DTCS];
	struct cmn_line line[CMN_MAX_DTCS];
	u8 nr_lines;

	/* Under the box's lock, or while the core calls no verb: */
	bool stopped;			/* DTC 0 has stopped all counters */
	bool frozen;			/* for the core, from freeze to thaw */
	bool held;			/* for the read of a group, from hold to end_read */
	bool loses_carries;		/* a stop loses carries that are under way */
	u8 unsure_dtcs;			/* bit per DTC that may get no carries, stop or not */
	struct { u8 from, to, letter; } stray;	/* DTCs, of carries that came to another one */
	bool withheld;			/* since a sleep firmware denies access to the PMU */
	bool gone;			/* the mesh did not answer a read */
	u32 carry_ns;			/* the longest time that a carry takes */
	u32 wrap_ns;			/* the shortest time in which a local counter wraps */
	u32 late_ns;			/* the time that the last late carry or stop took */
	unsigned long untold, told;	/* bit per enum cmn_complaint */
	struct irq_work complaint;	/* tells them */
	u64 pass;			/* number of passes of reads; see pmu_box_ops.begin_read */
	u64 stop_pass;			/* the first since a stop or flush; U64_MAX: none */
	unsigned long stop_jiffies;	/* when that stop was */
	unsigned long *stale_dtms;	/* bit per DTM whose registers have to be written */
	unsigned long *stale_nodes;
	unsigned long *started_xps;	/* bit per XP that the next flush has to write */
	struct list_head fresh;		/* events that start when the mesh runs again */
	struct cmn_sample sample;	/* for the next stop */

	struct pmu_box *box;
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

/* id.c */
u8 cmn_id_bits(unsigned int width, unsigned int height);
unsigned int cmn_id_dev_bits(const struct cmn *cmn, unsigned int ports);
struct cmn_place cmn_id_place(const struct cmn *cmn, u16 id, unsigned int ports);
bool cmn_id_is_at(const struct cmn *cmn, u16 id, const struct cmn_xp *xp);
bool cmn_node_fits(const struct cmn_xp *xp, u16 type, struct cmn_place at);
unsigned int cmn_id_ports(const struct cmn *cmn, const struct cmn_xp *xp,
			  const struct cmn_node *nodes, unsigned int nr);

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
u16 cmn_member_read(struct cmn *cmn, const struct cmn_member *m);
u8 cmn_dtm_letters(const struct cmn_dtm *dtm, u64 config);
u64 cmn_dtm_read(struct cmn *cmn, struct cmn_dtm *dtm);
void cmn_flush(struct cmn *cmn);
void cmn_flush_none(struct cmn *cmn);

/* A local counter of a DTM's four. */
static inline u16 cmn_count(u64 counts, unsigned int counter)
{
	return counts >> (16 * counter);
}

/* sample.c */
void cmn_stand(struct cmn *cmn);
void cmn_stood(struct cmn *cmn);

/* dtc.c */
void cmn_carries_init(struct cmn *cmn);
void cmn_tell(struct cmn *cmn, enum cmn_complaint what);
void cmn_tell_once(struct cmn *cmn, enum cmn_complaint what);
void cmn_dtc_reset(struct cmn_dtc *dtc);
void cmn_dtc_quiesce(struct cmn_dtc *dtc);
void cmn_mesh_run(struct cmn *cmn, bool run);
u64 cmn_counts_read(struct cmn *cmn, const void __iomem *reg);
void cmn_moved(struct cmn *cmn);
u64 cmn_carries_read(struct cmn *cmn, const u8 *letter, u8 dtcs);
u64 cmn_carries_await(struct cmn *cmn, const u8 *letter, u8 dtcs, u64 least);
void cmn_cycles_start(struct cmn_dtc *dtc);
void cmn_cycles_stop(struct cmn_dtc *dtc);
u64 cmn_cycles_read(struct cmn *cmn, struct cmn_dtc *dtc);
bool cmn_is_counting(const struct cmn *cmn);
bool cmn_overflow(struct cmn *cmn, u8 dtcs);

/* irq.c */
int cmn_irq_init(struct cmn *cmn, struct platform_device *pdev);
void cmn_irq_enable(struct cmn *cmn);
void cmn_irq_disable(struct cmn *cmn);
void cmn_irq_move(struct cmn *cmn, int cpu);

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

/* main.c */
int cmn_reset(struct cmn *cmn);
void cmn_quiesce(struct cmn *cmn);

/* map.c */
const char *cmn_connected_name(u8 code);
void cmn_map_init(void);
void cmn_map_exit(void);
void cmn_map_create(struct cmn *cmn);

/* drawing.c */
void cmn_drawing_init(void);
void cmn_drawing_exit(void);
void cmn_drawing_create(struct cmn *cmn);

#endif /* CMN_H */
