/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A debug and trace controller: eight 32-bit counters, a cycle counter of 40
 * bits, overflow flags and the interrupt.
 */
#ifndef PMU_MODELS_CMN_DTC_H
#define PMU_MODELS_CMN_DTC_H

#include "qemu/timer.h"
#include "product.h"
#include "common/clock.h"

#define CMN_DTC_NCOUNTERS   8
#define CMN_DTC_CYCLES      CMN_DTC_NCOUNTERS   /* index in PMOVSR */

typedef struct CmnDtc CmnDtc;

struct CmnDtc {
    const CmnProduct *product;
    const CmnLayout *layout;
    CmnDtc *first;              /* DTC 0: it starts and stops the mesh */
    void (*changed)(void *opaque);  /* the interrupt may have */
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

    bool hide_overflows;        /* PMOVSR reads 0 while not enabled */
};

/* @first is DTC 0 of the mesh, or itself. */
void cmn_dtc_init(CmnDtc *dtc, CmnDtc *first, const CmnProduct *product,
                  const CmnLayout *layout, uint64_t hz);
void cmn_dtc_reset(CmnDtc *dtc);

/* As a kernel leaves it that does not clean up: counting, all overflowed */
void cmn_dtc_make_dirty(CmnDtc *dtc);

/* Do the DTMs of the mesh count? @dtc is DTC 0. */
bool cmn_dtc_enabled(const CmnDtc *dtc);

/* @n increments arrive for counter @index. */
void cmn_dtc_count(CmnDtc *dtc, unsigned index, uint64_t n);

/* Let the time until now pass for the cycle counter. */
void cmn_dtc_sync(CmnDtc *dtc);

/* After a change in DTC 0: does the cycle counter run now? */
void cmn_dtc_update(CmnDtc *dtc);

bool cmn_dtc_interrupts(const CmnDtc *dtc);
void cmn_dtc_set_hz(CmnDtc *dtc, uint64_t hz);

/* Registers, by their offset in the frame; bits outside @mask not written */
uint64_t cmn_dtc_read(CmnDtc *dtc, uint32_t offset);
void cmn_dtc_write(CmnDtc *dtc, uint32_t offset, uint64_t mask,
                   uint64_t value);

/* In which group of registers an offset is, for statistics */
typedef enum CmnDtcGroup {
    CMN_DTC_NONE, CMN_DTC_CONTROL, CMN_DTC_COUNT, CMN_DTC_OVERFLOW,
    CMN_DTC_OTHER
} CmnDtcGroup;

CmnDtcGroup cmn_dtc_group(const CmnDtc *dtc, uint32_t offset);

#endif
