/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes on their way to a mesh: software is told that they are done when
 * they have left, and a read overtakes none.
 */
#ifndef PMU_MODELS_CMN_BUS_H
#define PMU_MODELS_CMN_BUS_H

#include "qemu/osdep.h"
#include "qemu/timer.h"

typedef struct CmnBus {
    int64_t delay;      /* ns that a write takes; 0: it is done at once */
    GQueue posted;
    QEMUTimer *arrival; /* of the first of them */
    void (*write)(void *opaque, uint64_t addr, uint64_t mask, uint64_t value);
    void *opaque;
} CmnBus;

/* @write is what a write does when it arrives. */
void cmn_bus_init(CmnBus *bus, void (*write)(void *opaque, uint64_t addr,
                                             uint64_t mask, uint64_t value),
                  void *opaque);
void cmn_bus_write(CmnBus *bus, uint64_t addr, uint64_t mask, uint64_t value);

/* Let all posted writes arrive, as a read does. */
void cmn_bus_push(CmnBus *bus);

/* Those arrive whose time has come, though a busy host has not run the timer. */
void cmn_bus_arrive(CmnBus *bus);

#endif
