/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The registry of models: every model instance has a name, under which the
 * guest's pmu-model program reaches it through the pmu-ctl device.
 *
 * Everything here runs under the big QEMU lock (BQL): models are created
 * and register accesses, clock reads and control commands are handled with
 * it held. So nothing in the models takes a lock of its own.
 */
#ifndef PMU_MODELS_REGISTRY_H
#define PMU_MODELS_REGISTRY_H

#include "qemu/osdep.h"
#include "qemu/queue.h"

typedef struct PmuModel PmuModel;

/* Accesses seen in one class of registers. */
typedef struct PmuStat {
    const char *name;
    uint64_t reads;
    uint64_t writes;
} PmuStat;

/* A fault at an access of a certain number, see fault.h */
typedef struct PmuFault {
    uint64_t accesses;
    uint64_t last;      /* accesses left until the device is gone; 0: never */
    uint64_t odd;       /* accesses left until one goes wrong */
    unsigned odd_as;
    bool gone;          /* the device has ceased to answer */
} PmuFault;

/* Something that can be read and set from outside the hardware's view. */
typedef struct PmuKey {
    const char *name;
    const char *help;
    uint64_t max;       /* the largest value that set accepts */
    unsigned arg;       /* handed to get and set */
    uint64_t (*get)(PmuModel *model, unsigned arg);
    bool (*set)(PmuModel *model, unsigned arg, uint64_t value, Error **errp);
} PmuKey;

/*
 * Most events that one command may add. More than a lap of the widest
 * counter that is not 64 bits wide could not be told from less.
 */
#define PMU_ADD_MAX (1ULL << 48)

struct PmuModel {
    char *name;                 /* "imc0@1": block, index, @, socket */
    const char *description;
    const PmuKey *keys;
    size_t nkeys;
    PmuStat *stats;
    size_t nstats;
    PmuFault fault;
    /* One line for each event: "event NAME ..."; NULL: no events */
    void (*list_events)(PmuModel *model, GString *out);
    /* @n clocks (or occasions) in each of which @event counted @inc */
    bool (*add)(PmuModel *model, const char *event, uint64_t n, uint64_t inc,
                Error **errp);
    QTAILQ_ENTRY(PmuModel) next;
};

/* False if the name is taken. The caller keeps @model until it unregisters. */
bool pmu_registry_add(PmuModel *model, Error **errp);
void pmu_registry_remove(PmuModel *model);

/* NULL is "from the start"; models come in the order they were added. */
PmuModel *pmu_registry_next(PmuModel *model);

/* Is @pattern more than one name ("all", or with wildcards)? */
bool pmu_registry_is_pattern(const char *pattern);

/* A name without "@socket" means socket 0. */
bool pmu_model_matches(const PmuModel *model, const char *pattern);

const PmuKey *pmu_model_key(const PmuModel *model, const char *name,
                            Error **errp);

#endif
