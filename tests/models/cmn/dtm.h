/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A debug and trace monitor: four 16-bit counters of an XP, or of two of its
 * ports, and four watchpoints.
 */
#ifndef PMU_MODELS_CMN_DTM_H
#define PMU_MODELS_CMN_DTM_H

#include "dtc.h"
#include "flit.h"

#define CMN_DTM_NCOUNTERS   4
#define CMN_DTM_NWPS        4       /* 0 and 1 watch uploads */
#define CMN_DTM_STRIDE      0x200   /* from one DTM of an XP to the next */
#define CMN_DTM_FIRST       0x100   /* first register, in the PMU block */

/* Codes of what a counter can count */
#define CMN_SOURCE_WP(wp)       (wp)
#define CMN_SOURCE_XP(line)     (0x04 + (line))
#define CMN_SOURCE_DEVICE(port, dev, line) \
    (0x10 + ((port) << 4) + ((dev) << 2) + (line))

typedef struct CmnWatchpoint {
    uint64_t config;
    uint64_t val;
    uint64_t mask;
} CmnWatchpoint;

typedef struct CmnDtm {
    const CmnProduct *product;
    const CmnLayout *layout;
    CmnDtc *first;              /* DTC 0 */
    CmnDtc *dtc;                /* of its domain */
    bool sees_secure;           /* watchpoints do, see watchpoint.c */
    bool any_vc;                /* and all virtual channels */
    bool inverts_pair;          /* exclusive is for the match of a pair */

    uint64_t control;
    CmnWatchpoint wp[CMN_DTM_NWPS];
    uint64_t sample_count;
    uint64_t sample_reload;
    uint64_t config;            /* PMU_CONFIG */
    uint64_t count;             /* PMEVCNT, four times 16 bits */

    unsigned locks;             /* dtm_enable keeps writes away; 2: see cmn_dtm_read() */
    bool clears;                /* a counter with another input begins at 0 */
    uint64_t traffic;           /* in a second, at each paired counter */
    uint64_t rest;              /* of one, in billionths */
    int64_t synced;             /* virtual time until which it has come */
    uint64_t total;             /* what paired counters have counted */
    uint64_t packets;           /* that watchpoints have made for a trace */
} CmnDtm;

void cmn_dtm_reset(CmnDtm *dtm);

/* Let the traffic until virtual time @now pass. */
void cmn_dtm_sync(CmnDtm *dtm, int64_t now);

/* As a kernel leaves it that does not clean up: counting for its DTC */
void cmn_dtm_make_dirty(CmnDtm *dtm);

/* As a tracing tool leaves it: each watchpoint makes packets of all flits */
void cmn_dtm_make_trace(CmnDtm *dtm);

/* @source happens @n times. */
void cmn_dtm_count(CmnDtm *dtm, unsigned source, uint64_t n);

/* Every counter that is paired with a global one counts @n. False: none can */
bool cmn_dtm_bump(CmnDtm *dtm, uint64_t n);

/* @n flits pass. Their port is relative to what the DTM serves. */
void cmn_dtm_flits(CmnDtm *dtm, const CmnFlit *flit, uint64_t n);

/* Registers, by their offset in the PMU block less the DTM's stride */
uint64_t cmn_dtm_read(CmnDtm *dtm, uint32_t offset);
void cmn_dtm_write(CmnDtm *dtm, uint32_t offset, uint64_t mask,
                   uint64_t value);

/* In which group of registers an offset is, for statistics */
typedef enum CmnDtmGroup {
    CMN_DTM_CONFIG, CMN_DTM_WATCHPOINT, CMN_DTM_COUNT, CMN_DTM_OTHER
} CmnDtmGroup;

CmnDtmGroup cmn_dtm_group(uint32_t offset);

#endif
