/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The device that a mesh is in QEMU. */
#ifndef PMU_MODELS_CMN_H
#define PMU_MODELS_CMN_H

#include "common/compat.h"
#include "hw/irq.h"
#include "qapi/qapi-types-common.h"
#include "bus.h"
#include "corrupt.h"
#include "frame.h"
#include "common/registry.h"

#define TYPE_CMN "pmu-cmn"
OBJECT_DECLARE_TYPE(Cmn, CmnClass, CMN)

struct CmnClass {
    DeviceClass parent_class;

    const CmnProduct *product;
};

/* Accesses of 64 and of 32 bits are counted for each class of registers. */
#define CMN_NSTATS (2 * CMN_NREGCLASSES + 2)
#define CMN_STAT_NARROW (2 * CMN_NREGCLASSES)
#define CMN_STAT_UNPOWERED (CMN_STAT_NARROW + 1)

/* How the mesh stands still: between a stop by DTC 0 and its next start */
typedef struct CmnStand {
    uint64_t times;
    int64_t ns;
    uint64_t accesses;          /* without those that stop and start it */
    int64_t since;              /* start of the last stand; in it: */
    uint64_t accesses_since;
} CmnStand;

struct Cmn {
    DeviceState parent_obj;

    /* properties */
    CmnDescription description;
    uint64_t base;
    uint32_t spi;               /* of DTC 0 */
    bool shared_irq;            /* all DTCs on that one */
    int32_t node;               /* of NUMA; -1: firmware does not say */
    uint32_t rev;
    OnOffAuto multi_dtm;
    uint32_t vcs[CMN_NCHANNELS];
    bool isolation;
    bool graviton5;
    bool ids_by_use;
    bool niden, spniden;
    bool secure_disable;        /* secure flits want SPNIDEN */
    uint64_t carry_delay;       /* ns */
    char *corrupt;

    CmnMesh mesh;
    CmnCorruptions corruptions;
    MemoryRegion mmio;
    CmnBus bus;
    qemu_irq irq[CMN_MAX_DTCS];
    int64_t irq_delay;          /* ns from a flag to the interrupt */
    QEMUTimer *irq_change;

    CmnStand stand;

    bool gone;
    int64_t sleep;              /* ns until it has no power, and without it */
    bool unpowered;
    QEMUTimer *power_change;
    uint64_t tear_dtm;
    uint64_t tear_dtc;
    uint64_t address;           /* what the key "word" is about */
    GHashTable *accesses;       /* how many, by cmn_access(); NULL: not kept */

    PmuModel model;
    PmuKey *keys;
    PmuStat stats[CMN_NSTATS];
};

/* An access of 4 or 8 bytes, as a key for Cmn.accesses */
static inline gpointer cmn_access(uint64_t addr, unsigned size, bool write)
{
    return GSIZE_TO_POINTER(addr << 2 | (size == 8) << 1 | write);
}

/* What software would read, without counting the access */
uint64_t cmn_peek(Cmn *s, uint64_t addr);
void cmn_poke(Cmn *s, uint64_t addr, uint64_t mask, uint64_t value);

/* As a kernel leaves it that does not clean up */
void cmn_make_dirty(Cmn *s);

/* Measure how the mesh stands still from now on. */
void cmn_stand_reset(Cmn *s);

/*
 * The mesh loses power in @ns, for @ns. Then registers are as after a reset.
 * With 0 it keeps its power.
 */
void cmn_sleep(Cmn *s, int64_t ns);

/* control.c: how tests reach it. False: no name was left */
bool cmn_control_start(Cmn *s, Error **errp);

/* fdt.c: the node in the machine's device tree */
void cmn_fdt_add(const Cmn *s);

/* Interrupt of a DTC, as a number in the machine's description */
static inline unsigned cmn_spi(const Cmn *s, unsigned dtc)
{
    return s->spi + (s->shared_irq ? 0 : dtc);
}

#endif
