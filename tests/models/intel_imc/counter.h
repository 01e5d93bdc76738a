/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The four general counters and the fixed one of a memory channel: what
 * control words, clocks and events do to them. How the words get here (PCI
 * configuration registers) is the business of the caller.
 */
#ifndef PMU_MODELS_INTEL_IMC_COUNTER_H
#define PMU_MODELS_INTEL_IMC_COUNTER_H

#include "common/clock.h"
#include "events.h"

#define INTEL_IMC_NGENERAL    4
#define INTEL_IMC_FIXED       INTEL_IMC_NGENERAL    /* index of the fixed one */
#define INTEL_IMC_NCOUNTERS   (INTEL_IMC_NGENERAL + 1)

#define INTEL_IMC_COUNTER_MASK ((1ULL << 48) - 1)

/* CTLn */
#define INTEL_IMC_CTL_THRESH(ctl) ((uint8_t)((ctl) >> 24))
#define INTEL_IMC_CTL_INV     (1u << 23)
#define INTEL_IMC_CTL_EN      (1u << 22)  /* also in FIXED_CTL */
#define INTEL_IMC_CTL_OV_EN   (1u << 20)  /* likewise; without effect */
#define INTEL_IMC_CTL_EDGE    (1u << 18)
#define INTEL_IMC_CTL_UMASK(ctl) ((uint8_t)((ctl) >> 8))
#define INTEL_IMC_CTL_EVENT(ctl) ((uint8_t)(ctl))

/* What no source says, or sources disagree on: 0 is what drivers assume. */
typedef enum IntelImcAnswer {
    INTEL_IMC_RUNS_FROZEN,      /* 1: the fixed one, 2: the general ones */
    INTEL_IMC_EXCEEDS,          /* a threshold has to be exceeded */
    INTEL_IMC_NEEDS_UMASK,      /* 0 counts nothing of any event but 0 */
    INTEL_IMC_NO_EVENT_0,       /* there is no clock but the fixed one */
    INTEL_IMC_BELOW,            /* a threshold counts what does not reach it */
    INTEL_IMC_EDGE_ALONE,       /* without threshold 1: nothing, 2: no edge */
    INTEL_IMC_INV_ALONE,        /* without threshold: counts nothing */
    INTEL_IMC_BEGINS_AT,        /* what an occupancy does not know of a queue */
    /* Of channels in memory; others have these at their registers. */
    INTEL_IMC_TWICE,            /* a control takes the second write */
    INTEL_IMC_HIGH,             /* what bits 63:48 read */
    INTEL_IMC_DROPS,            /* bits that a control does not keep */
    INTEL_IMC_NANSWERS
} IntelImcAnswer;

typedef struct IntelImcCounters {
    unsigned answer[INTEL_IMC_NANSWERS];
    ModelClock clk;
    bool frozen;
    unsigned fixed_shift;               /* a clock of the fixed one is 1 << this */
    bool no_enable;                     /* the general ones have no enable bit */
    const IntelImcEvent *clock;         /* NULL: event 0 */
    const IntelImcEvent *half_clock;    /* NULL: there is none */
    uint64_t synced;                    /* tick up to which values are right */
    uint64_t value[INTEL_IMC_NCOUNTERS];
    uint32_t ctl[INTEL_IMC_NCOUNTERS];
    uint32_t written[INTEL_IMC_NCOUNTERS];  /* the last write of a control */
    /*
     * Clocks until this tick hold an added event that satisfies the threshold
     * of the counter, which is inverted and does not count them.
     */
    uint64_t busy_until[INTEL_IMC_NGENERAL];
} IntelImcCounters;

/* Bring all values up to the present. To be called before any change. */
void intel_imc_counters_sync(IntelImcCounters *c);

/* Enabled, not frozen. It moves only if the clock runs, too. */
bool intel_imc_counter_runs(const IntelImcCounters *c, unsigned index);

void intel_imc_counters_set_frozen(IntelImcCounters *c, bool frozen);
void intel_imc_counter_set_ctl(IntelImcCounters *c, unsigned index,
                               uint32_t ctl);
void intel_imc_counter_set(IntelImcCounters *c, unsigned index, uint64_t value);

/* Raw counts, modulo 2^48. */
void intel_imc_counter_bump(IntelImcCounters *c, unsigned index,
                            uint64_t counts);

/* @n separate clocks, in each of which @event's increment is @inc. */
void intel_imc_counters_event(IntelImcCounters *c, const IntelImcEvent *event,
                              uint64_t n, uint8_t inc);

#endif
