/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A debug and trace controller: eight 32-bit counters, a cycle counter of 40
 * bits, overflow flags and the interrupt.
 */
#ifndef PMU_MODELS_CMN_DTC_H
#define PMU_MODELS_CMN_DTC_H

#include "qemu/timer.h"
#include "carry.h"
#include "product.h"
#include "common/clock.h"

#define CMN_DTC_NCOUNTERS   8
#define CMN_DTC_CYCLES      CMN_DTC_NCOUNTERS   /* index in PMOVSR */

typedef struct CmnDtc CmnDtc;

struct CmnDtc {
    const CmnProduct *product;
    const CmnLayout *layout;
    CmnDtc *first;              /* DTC 0: it starts and stops the mesh */
    void (*update_irq)(void *opaque);   /* it may have changed */
    void *opaque;

    uint32_t control;
    uint32_t pmcr;
    uint32_t overflowed;        /* bit n: counter n, bit 8: cycles */
    uint32_t counter[CMN_DTC_NCOUNTERS];
    uint64_t cycles;
    uint32_t trace_control;
    uint32_t traceid;
    uint32_t claim;

    ModelClock clk;
    uint64_t last_tick;
    bool cycles_run;
    QEMUTimer *wrap;            /* fires when the cycle counter wraps */

    CmnCarries carries;
    bool drops;                 /* carries that arrive while it is stopped */
    uint64_t dropped;

    int64_t synced;             /* virtual time until which traffic has come */

    /* Of DTC 0, of whose stops and starts DTMs may learn late */
    int64_t stop_delay;         /* ns */
    int64_t changed;            /* when that was last sent */
    bool before;                /* the state that DTMs knew until then */

    bool hide_overflows;        /* PMOVSR reads 0 while not enabled */

    /* From outside */
    bool niden, spniden;        /* inputs: debug is allowed, and secure debug */
    bool pm_disabled;           /* PMCR keeps nothing */
    bool kept_on;               /* another program sets pmu_en again at once */
    bool dt_disabled;           /* DTC_CTL keeps nothing */
};

/* @first is DTC 0 of the mesh, or itself. */
void cmn_dtc_init(CmnDtc *dtc, CmnDtc *first, const CmnProduct *product,
                  const CmnLayout *layout, uint64_t hz);
void cmn_dtc_reset(CmnDtc *dtc);

/* As a kernel leaves it that does not clean up: counting, all overflowed */
void cmn_dtc_make_dirty(CmnDtc *dtc);

/* Is its dt_en set? */
bool cmn_dtc_is_on(const CmnDtc *dtc);

/* Is the DTC enabled? If there is a delay, DTMs learn of it later. */
bool cmn_dtc_enabled(const CmnDtc *dtc);

/*
 * When between virtual times @from and @to, ns, DTMs count for DTC 0: the
 * first such time and, in @until, its end. Between the two DTC 0 was not
 * written.
 */
int64_t cmn_dtc_span(const CmnDtc *dtc, int64_t from, int64_t to,
                     int64_t *until);

/* @n increments for counter @index left a DTM at virtual time @when, ns. */
void cmn_dtc_carry(CmnDtc *dtc, unsigned index, uint64_t n, int64_t when);

/* Bring the cycle counter and the carries up to the present time. */
void cmn_dtc_sync(CmnDtc *dtc);

/* After a change in DTC 0: does the cycle counter run now? */
void cmn_dtc_update(CmnDtc *dtc);

bool cmn_dtc_interrupts(const CmnDtc *dtc);
void cmn_dtc_set_hz(CmnDtc *dtc, uint64_t hz);

/* Registers, by their offset in the frame; bits outside @mask not written */
uint64_t cmn_dtc_read(CmnDtc *dtc, uint32_t offset);
void cmn_dtc_write(CmnDtc *dtc, uint32_t offset, uint64_t mask,
                   uint64_t value);

/* The groups of registers for which accesses are counted */
typedef enum CmnDtcGroup {
    CMN_DTC_NONE, CMN_DTC_CONTROL, CMN_DTC_COUNT, CMN_DTC_OVERFLOW,
    CMN_DTC_OTHER
} CmnDtcGroup;

CmnDtcGroup cmn_dtc_group(const CmnDtc *dtc, uint32_t offset);

#endif
