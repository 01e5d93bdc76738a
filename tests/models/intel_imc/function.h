/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A PCI function of Intel's uncore: what memory channels and UBOXes have in
 * common, and the table row of the processor generation they belong to.
 */
#ifndef PMU_MODELS_INTEL_IMC_FUNCTION_H
#define PMU_MODELS_INTEL_IMC_FUNCTION_H

#include "common/compat.h"
#include "hw/pci/pci_device.h"
#include "events.h"
#include "common/registry.h"

#define UNCORE_MAX_CHANNELS 8

typedef struct UncoreSlot {
    uint16_t id;
    uint8_t devfn;
} UncoreSlot;

/* In what the registers of a channel differ from one generation to another */
typedef struct IntelImcRegisters {
    bool frz_needs_frz_en;      /* bit 8 of BOX_CTL alone does not freeze */
    bool box_resets;            /* BOX_CTL 1:0 reset counters and controls */
    uint32_t box_ones;          /* bits of BOX_CTL that always read as 1 */
    uint32_t box_reserved;      /* and that have to be written as 0, */
    uint32_t box_wanted;        /* or as 1 */
    uint32_t ctl_mask;          /* implemented in CTLn; the rest reads as 0 */
    uint32_t ctl_reserved;      /* has to be written as 0 */
    /* For channels in memory: bits of BOX_CTL */
    uint32_t box_frz, box_rst_ctrs, box_rst_ctrl;
    uint32_t box_kept;          /* bits that read as they were written */
    bool no_enable;             /* bit 22 of CTLn is reserved: they all run */
    bool half_clock;            /* event 1 is the clock, or half of it */
} IntelImcRegisters;

/* Free-running counters of a memory controller */
typedef enum IntelImcFree {
    INTEL_IMC_FREE_READ, INTEL_IMC_FREE_WRITE, INTEL_IMC_FREE_PMM_READ,
    INTEL_IMC_FREE_PMM_WRITE, INTEL_IMC_FREE_RPQ_CYCLES,
    INTEL_IMC_FREE_WPQ_CYCLES, INTEL_IMC_FREE_DCLK, INTEL_IMC_NFREE
} IntelImcFree;

#define INTEL_IMC_MAX_CONTROLLERS 12

/* Where the channels are that a function leads to, from the window's start */
typedef struct IntelImcWindow {
    unsigned controllers;
    unsigned channels;          /* of a controller, */
    unsigned numbers;           /* and with those that are none */
    uint32_t first, stride;     /* of the controllers */
    uint32_t block, block_stride;   /* of the channels of a controller */
    uint16_t free[INTEL_IMC_NFREE]; /* in a controller; 0: there is none */
    bool whole;                 /* register d4 has the address, and no other */
    unsigned record;            /* size of the table's records; 0: no table */
} IntelImcWindow;

#define INTEL_IMC_WINDOW_SIZE         0x800000  /* of a socket */
#define INTEL_IMC_WINDOW_BASE(socket) \
    (0xd0000000ULL + (socket) * INTEL_IMC_WINDOW_SIZE)

/* The physical address of a channel's block */
static inline uint64_t intel_imc_block_address(const IntelImcWindow *window,
                                               unsigned socket,
                                               unsigned controller,
                                               unsigned channel)
{
    return INTEL_IMC_WINDOW_BASE(socket) + window->first +
           controller * window->stride + window->block +
           channel * window->block_stride;
}

typedef struct UncoreGeneration {
    const char *name;               /* of devices: NAME-imc, NAME-ubox and so on */
    UncoreSlot ubox;
    uint8_t ubox_nodeid;            /* the UBOX's registers */
    uint8_t ubox_gidnidmap;
    UncoreSlot channel[UNCORE_MAX_CHANNELS];
    unsigned nchannels;
    UncoreSlot mmio;                /* leads to channels in memory; id 0: none */
    const IntelImcWindow *window;
    IntelImcEvents events;
    const IntelImcRegisters *registers;
} UncoreGeneration;

#define TYPE_UNCORE_FUNCTION "pmu-uncore-function"
OBJECT_DECLARE_TYPE(UncoreFunction, UncoreFunctionClass, UNCORE_FUNCTION)

/* Abstract; a generation registers a subclass of each with its row. */
#define TYPE_INTEL_IMC_CHANNEL "pmu-intel-imc-channel"
#define TYPE_INTEL_IMC_MMIO "pmu-intel-imc-mmio"
#define TYPE_UNCORE_UBOX "pmu-uncore-ubox"
#define TYPE_INTEL_IMC_DISCOVERY "pmu-intel-imc-discovery"

struct UncoreFunction {
    PCIDevice parent_obj;

    PmuModel model;
    uint32_t socket;
    uint16_t id;                    /* instead of the slot's; 0: that */
    bool gone;
};

struct UncoreFunctionClass {
    PCIDeviceClass parent_class;

    const UncoreGeneration *gen;
    /* A dword that is the model's own; false: plain configuration space */
    bool (*read)(UncoreFunction *f, uint32_t reg, uint32_t *value);
    /* Bits outside @mask were not written. NULL: nothing can be written */
    bool (*write)(UncoreFunction *f, uint32_t reg, uint32_t mask,
                  uint32_t value);
    /* The statistics' slot of an access. NULL: there are none */
    PmuStat *(*stat)(UncoreFunction *f, uint32_t addr, int len);
};

static inline UncoreFunction *uncore_function(PmuModel *model)
{
    return container_of(model, UncoreFunction, model);
}

/*
 * The last step of realize: be at the right slot, have its id, and have the
 * model registered as @name (which is taken over, and freed).
 */
bool uncore_function_start(UncoreFunction *f, const UncoreSlot *slot,
                           char *name, Error **errp);

/* Is any vCPU of a socket, or die, awake? */
bool uncore_socket_awake(uint32_t socket);

/* For a model's table of keys */
uint64_t uncore_get_gone(PmuModel *model, unsigned arg);
bool uncore_set_gone(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp);

#define UNCORE_KEY_GONE \
    { "gone", "1: all-ones to every read, no write arrives (removed)", \
      1, 0, uncore_get_gone, uncore_set_gone }

#endif
