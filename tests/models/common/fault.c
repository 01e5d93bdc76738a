// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Faults at an access that is chosen by its number.
 */
#include "qemu/osdep.h"
#include "fault.h"

enum { AS_ZEROES, AS_ONES, AS_BIT };

/* Count one more access. Does it go wrong? */
static bool happens(PmuFault *fault)
{
    if (fault->last && !--fault->last) {
        fault->gone = true;
    }
    if (!fault->gone) {
        fault->accesses++;
    }
    return fault->odd && !--fault->odd;
}

uint64_t pmu_fault_read(PmuModel *model, uint64_t value, unsigned size)
{
    PmuFault *fault = &model->fault;
    bool odd = happens(fault);

    if (fault->gone) {
        return UINT64_MAX;
    }
    if (!odd) {
        return value;
    }
    switch (fault->odd_as) {
    case AS_ZEROES:
        return 0;
    case AS_ONES:
        return UINT64_MAX;
    default:
        return value ^ 1ULL << (fault->odd_as - AS_BIT) % (8 * size);
    }
}

bool pmu_fault_write(PmuModel *model)
{
    happens(&model->fault);
    return !model->fault.gone;
}

uint64_t pmu_fault_get(PmuModel *model, unsigned key)
{
    switch (key) {
    case PMU_FAULT_ACCESSES:
        return model->fault.accesses;
    case PMU_FAULT_LAST:
        return model->fault.last;
    case PMU_FAULT_ODD:
        return model->fault.odd;
    default:
        return model->fault.odd_as;
    }
}

bool pmu_fault_set(PmuModel *model, unsigned key, uint64_t value,
                   Error **errp)
{
    switch (key) {
    case PMU_FAULT_ACCESSES:
        model->fault.accesses = value;
        break;
    case PMU_FAULT_LAST:
        model->fault.last = value;
        model->fault.gone = false;
        break;
    case PMU_FAULT_ODD:
        model->fault.odd = value;
        break;
    default:
        model->fault.odd_as = value;
        break;
    }
    return true;
}
