/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Carries on their way from DTMs to the counters of a DTC.
 */
#ifndef PMU_MODELS_CMN_CARRY_H
#define PMU_MODELS_CMN_CARRY_H

#include "qemu/osdep.h"
#include "qemu/timer.h"

typedef struct CmnCarries {
    int64_t delay;      /* ns that each one takes */
    GQueue under_way;   /* in the order of arrival */
    QEMUTimer *arrival; /* of the first of them */
    void (*arrive)(void *opaque, unsigned index, uint64_t n);
    void *opaque;
} CmnCarries;

/* @arrive is called when @n increments have come to counter @index. */
void cmn_carries_init(CmnCarries *carries,
                      void (*arrive)(void *opaque, unsigned index, uint64_t n),
                      void *opaque);
void cmn_carries_reset(CmnCarries *carries);

/* @n leave for counter @index at virtual time @when, which may be past. */
void cmn_carries_send(CmnCarries *carries, unsigned index, uint64_t n,
                      int64_t when);

/* Let the carries arrive that are due by now. */
void cmn_carries_sync(CmnCarries *carries);

/* How many are under way */
uint64_t cmn_carries_pending(const CmnCarries *carries);

#endif
