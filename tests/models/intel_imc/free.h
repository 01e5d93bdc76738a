/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The free-running counters of a memory controller, in the window of mmio.c.
 */
#ifndef PMU_MODELS_INTEL_IMC_FREE_H
#define PMU_MODELS_INTEL_IMC_FREE_H

#include "counter.h"
#include "function.h"

#define INTEL_IMC_DCLK_HZ     1600000000    /* DDR4-3200 */

typedef struct IntelImcFreeRunning {
    PmuModel model;
    ModelClock clk;
    uint64_t value[INTEL_IMC_FREE_DCLK];
    uint64_t dclk;          /* what was set, less the ticks of that moment */
    uint64_t dead;          /* so many reads until the counters advance */
    bool gone;
    PmuStat stat;
} IntelImcFreeRunning;

void intel_imc_free_start(IntelImcFreeRunning *free,
                          const IntelImcWindow *window,
                          unsigned controller, unsigned socket, Error **errp);

/* The counter at an offset in a controller's registers; -1: there is none */
int intel_imc_free_at(const IntelImcWindow *window, hwaddr at);

/* From its byte @byte on */
uint64_t intel_imc_free_read(IntelImcFreeRunning *free, unsigned i,
                             unsigned byte);

/* @n of an event's happenings, on a channel of the controller */
void intel_imc_free_event(IntelImcFreeRunning *free,
                          const IntelImcWindow *window,
                          const IntelImcEvent *event, uint64_t n);

#endif
