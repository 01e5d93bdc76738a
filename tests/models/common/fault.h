/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Faults at an access that is chosen by its number: from there on nobody
 * answers, or this one is answered wrongly. Only accesses to a model's own registers
 * count, not those to the rest of a function's configuration space.
 */
#ifndef PMU_MODELS_FAULT_H
#define PMU_MODELS_FAULT_H

#include "registry.h"

/* The value that software reads instead of @value, of @size bytes. */
uint64_t pmu_fault_read(PmuModel *model, uint64_t value, unsigned size);

/* Does a write arrive? */
bool pmu_fault_write(PmuModel *model);

/* Has the device ceased to answer? */
static inline bool pmu_fault_gone(const PmuModel *model)
{
    return model->fault.gone;
}

/* Keys for a model's table */
enum { PMU_FAULT_ACCESSES, PMU_FAULT_LAST, PMU_FAULT_ODD, PMU_FAULT_ODD_AS };

uint64_t pmu_fault_get(PmuModel *model, unsigned key);
bool pmu_fault_set(PmuModel *model, unsigned key, uint64_t value,
                   Error **errp);

#define PMU_FAULT_KEYS \
    { "accesses", "to its registers, of those that were answered; 0: from now " \
      "on", 0, PMU_FAULT_ACCESSES, pmu_fault_get, pmu_fault_set }, \
    { "last", "the Nth access from now on, and all behind it, is not answered: " \
      "all-ones to every read, no write arrives; 0: it is there again", \
      UINT32_MAX, PMU_FAULT_LAST, pmu_fault_get, pmu_fault_set }, \
    { "odd", "the Nth access from now on, if it is a read, is answered as " \
      "odd_as says; 0: none", UINT32_MAX, PMU_FAULT_ODD, pmu_fault_get, \
      pmu_fault_set }, \
    { "odd_as", "0: all zeroes; 1: all ones; 2 + N: bit N is wrong", 65, \
      PMU_FAULT_ODD_AS, pmu_fault_get, pmu_fault_set }

#endif
