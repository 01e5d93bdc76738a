/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock of a modelled device: a free-running number of ticks since virtual
 * time 0, computed when asked for. Fractions of a tick survive every change of
 * frequency, so a count over any window is the difference of two exact numbers.
 */
#ifndef PMU_MODELS_CLOCK_H
#define PMU_MODELS_CLOCK_H

typedef struct ModelClock {
    uint64_t hz;
    bool stopped;
    int64_t base_ns;        /* virtual time of the last change */
    uint64_t base_ticks;    /* ticks until then */
    uint64_t base_rest;     /* and what was over, in ticks / 10^9 */
} ModelClock;

/* With more than this, 2^64 ticks would not last the 292 years of int64 ns. */
#define MODEL_CLOCK_HZ_MAX 2000000000ULL

void model_clock_init(ModelClock *clk, uint64_t hz, bool stopped);
uint64_t model_clock_ticks(const ModelClock *clk);
void model_clock_set_hz(ModelClock *clk, uint64_t hz);
void model_clock_set_stopped(ModelClock *clk, bool stopped);

#endif
