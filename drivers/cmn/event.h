/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The user's part of cmn_pmu: config words, an event that is decoded from them, and what it claims
 * of a mesh.
 */
#ifndef CMN_EVENT_H
#define CMN_EVENT_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/types.h>

#include "regs.h"

struct cmn;
struct perf_event;
struct pid;

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

/* Filters of one event: one whose value is occupid, and one for filter2. */
#define CMN_EVENT_FILTERS	2

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
	u64 base;			/* what its counters had when it started */
	struct list_head fresh;		/* in the mesh's list from the start until the mesh runs */
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

/* pmu.c */
void cmn_half_open(struct cmn_event *ce, const struct perf_event *event);
void cmn_half_close(struct cmn_event *ce);
void cmn_event_start(struct cmn *cmn, struct cmn_event *ce);
void cmn_events_begin(struct cmn *cmn);
void cmn_event_hand(struct cmn_event *from, struct cmn_event *to);
void cmn_event_stop(struct cmn *cmn, struct cmn_event *ce);
u64 cmn_event_value(struct cmn *cmn, struct cmn_event *ce);
int cmn_event_value_exact(struct cmn *cmn, struct cmn_event *ce, u64 *value);

#endif /* CMN_EVENT_H */
