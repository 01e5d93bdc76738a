/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A DRAM clock: a free-running number of ticks since virtual time 0, computed
 * when asked for. Fractions of a tick survive every change of frequency, so a
 * count over any window is the difference of two exact tick numbers.
 */
#ifndef PMU_MODELS_DCLK_H
#define PMU_MODELS_DCLK_H

typedef struct Dclk {
    uint64_t hz;
    bool stopped;
    int64_t base_ns;        /* virtual time of the last change */
    uint64_t base_ticks;    /* ticks until then */
    uint64_t base_rest;     /* and what was over, in ticks / 10^9 */
} Dclk;

/* With more than this, 2^64 ticks would not last the 292 years of int64 ns. */
#define DCLK_HZ_MAX 2000000000ULL

void dclk_init(Dclk *clk, uint64_t hz, bool stopped);
uint64_t dclk_ticks(const Dclk *clk);
void dclk_set_hz(Dclk *clk, uint64_t hz);
void dclk_set_stopped(Dclk *clk, bool stopped);

#endif
