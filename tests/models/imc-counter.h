/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The four general counters and the fixed one of a memory channel: what
 * control words, clocks and events do to them. How the words get here (PCI
 * configuration registers) is the business of the caller.
 */
#ifndef PMU_MODELS_IMC_COUNTER_H
#define PMU_MODELS_IMC_COUNTER_H

#include "dclk.h"
#include "imc-events.h"

#define IMC_NGENERAL    4
#define IMC_FIXED       IMC_NGENERAL    /* index of the fixed counter */
#define IMC_NCOUNTERS   (IMC_NGENERAL + 1)

#define IMC_COUNTER_MASK ((1ULL << 48) - 1)

/* CTLn */
#define IMC_CTL_THRESH(ctl) ((uint8_t)((ctl) >> 24))
#define IMC_CTL_INV     (1u << 23)
#define IMC_CTL_EN      (1u << 22)  /* also in FIXED_CTL */
#define IMC_CTL_OV_EN   (1u << 20)  /* also in FIXED_CTL */
#define IMC_CTL_EDGE    (1u << 18)
#define IMC_CTL_UMASK(ctl) ((uint8_t)((ctl) >> 8))
#define IMC_CTL_EVENT(ctl) ((uint8_t)(ctl))

typedef struct ImcCounters {
    Dclk clk;
    /* Bits of a counter's control without which it wraps in silence */
    uint32_t flag_needs;
    bool frozen;
    uint64_t synced;                    /* tick up to which values are right */
    uint64_t value[IMC_NCOUNTERS];
    uint32_t ctl[IMC_NCOUNTERS];
    /*
     * Clocks until this tick hold an added event that satisfies the threshold
     * of the counter, which is inverted and does not count them.
     */
    uint64_t busy_until[IMC_NGENERAL];
    uint32_t overflowed;                /* bit n: counter n has wrapped */
} ImcCounters;

/* Bring all values up to the present. To be called before any change. */
void imc_counters_sync(ImcCounters *c);

/* Enabled, not frozen; the fixed counter also needs a clock that runs. */
bool imc_counter_runs(const ImcCounters *c, unsigned index);

void imc_counters_set_frozen(ImcCounters *c, bool frozen);
void imc_counter_set_ctl(ImcCounters *c, unsigned index, uint32_t ctl);
void imc_counter_set(ImcCounters *c, unsigned index, uint64_t value);

/* Raw counts, modulo 2^48. */
void imc_counter_bump(ImcCounters *c, unsigned index, uint64_t counts);

/* @n separate clocks, in each of which @event's increment is @inc. */
void imc_counters_event(ImcCounters *c, const ImcEvent *event, uint64_t n,
                        uint8_t inc);

#endif
