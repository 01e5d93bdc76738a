/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In-memory collection of a POWER9 or POWER10 machine: what its parts share.
 *
 * A chip has a nest, whose microcode counts for the units outside the cores,
 * and cores. A core has one engine, which adds to a page of the core's own
 * and, as LDBAR of a thread says, to a page or a trace buffer of the thread.
 * All of it runs under the BQL.
 */
#ifndef PMU_MODELS_PNV_IMC_H
#define PMU_MODELS_PNV_IMC_H

#include "compat.h"
#include "qemu/timer.h"
#include "exec/memory.h"
#include "hw/ppc/pnv_chip.h"
#include "registry.h"

#define TYPE_PNV_IMC "pnv-imc"
OBJECT_DECLARE_SIMPLE_TYPE(PnvImc, PNV_IMC)

/* A page of counters: 128 lines of four, each line 64 bytes. */
#define PNV_IMC_NLINES          128
#define PNV_IMC_NSLOTS          4
#define PNV_IMC_NCOUNTERS       (PNV_IMC_NLINES * PNV_IMC_NSLOTS)
#define PNV_IMC_OFFSET(line, slot) (64 * (line) + 0x18 + 8 * (slot))
#define PNV_IMC_MAX_SOURCES     16  /* the last has no name */

/* The nest's counters, from HOMER + 0x180000; none is beyond this. */
#define PNV_IMC_NEST_SIZE       0x1000
#define PNV_IMC_MAX_GROUPS      7

/* SCOM registers of a core */
typedef enum PnvImcScom {
    PNV_IMC_PDBAR, PNV_IMC_HTM, PNV_IMC_EVENT_MASK, PNV_IMC_TRACE,
    PNV_IMC_NSCOMS
} PnvImcScom;

/*
 * What is always counted: nanoseconds of virtual time; and for each thread the
 * same, those of them in which it was not idle, and instructions executed in
 * each of the four states of MSR[HV], MSR[PR].
 */
typedef enum PnvImcRaw {
    RAW_NS, RAW_THREAD_NS, RAW_BUSY_NS, RAW_INST_HV0_PR0, RAW_INST_HV0_PR1,
    RAW_INST_HV1_PR0, RAW_INST_HV1_PR1, PNV_IMC_NRAWS
} PnvImcRaw;

/* A counter that counts by itself: the sum of some raw values. */
typedef struct PnvImcSource {
    const char *name;
    uint8_t line;
    uint8_t slot;
    uint8_t raws;       /* bit n: PnvImcRaw n */
    enum { UNIT_ONE, UNIT_REF_CLOCK, UNIT_CORE_CLOCK } unit;
} PnvImcSource;

/* Counters [start, end) of the nest that are posted together. */
typedef struct PnvImcGroup {
    const char *name;
    uint16_t start;     /* the head count, if framed */
    uint16_t end;       /* after the tail count, if framed */
    bool framed;
    uint8_t every;      /* which of the posts are this group's */
} PnvImcGroup;

/* What differs between POWER9 and POWER10 */
typedef struct PnvImcGeneration {
    const char *name;
    const char *chip_type;
    unsigned scale;     /* events in a unit of a page's counters */
    uint64_t uav;       /* all units of the nest */
    bool msr_in_record; /* bits 0:1 of a trace record's doubleword 2 */
    hwaddr (*homer)(PnvChip *chip);
    uint32_t (*scom)(PnvImcScom reg, unsigned core);
    PnvImcSource sources[PNV_IMC_MAX_SOURCES];
    PnvImcGroup groups[PNV_IMC_MAX_GROUPS];
} PnvImcGeneration;

const PnvImcGeneration *pnv_imc_generation(const char *name, Error **errp);

typedef struct PnvImcCore PnvImcCore;
typedef struct PnvImcThread PnvImcThread;
typedef struct PnvImcNest PnvImcNest;

struct PnvImc {
    DeviceState parent_obj;

    char *generation;
    uint64_t post;      /* ns between posts */
    uint64_t slow;      /* ns between head and tail of a nest post */
    uint64_t clock;     /* Hz of the cores */
    uint64_t uav;
    uint64_t trace_div;
    bool trace_idle;

    const PnvImcGeneration *gen;
    GPtrArray *nests;
    GPtrArray *cores;
};

/* Of the clock whose ticks @source counts; 0: it does not count ticks. */
uint64_t pnv_imc_source_hz(const PnvImc *imc, const PnvImcSource *source);

/* How often @source has happened, by @raw */
uint64_t pnv_imc_source_events(const PnvImc *imc, const PnvImcSource *source,
                               const uint64_t *raw);

/* NULL: that counter does not count by itself. */
const PnvImcSource *pnv_imc_source_at(const PnvImc *imc, unsigned line,
                                      unsigned slot);

/* From @text: a number or, with @sources, the name of one. */
bool pnv_imc_parse_offset(const PnvImc *imc, const char *text, bool sources,
                          uint64_t *offset, Error **errp);

/* To a big-endian doubleword. False: there is no memory. */
bool pnv_imc_add(hwaddr addr, uint64_t units);

/* The first of @last plus @period, plus @period ... that is yet to come */
int64_t pnv_imc_next(int64_t last, uint64_t period);

/* Page of accumulating counters (pnv-imc-page.c) */

typedef struct PnvImcPage {
    bool running;
    uint64_t seen[PNV_IMC_NRAWS];       /* raw values at the last look */
    uint64_t counted[PNV_IMC_NRAWS];    /* while the page was running */
    uint64_t posted[PNV_IMC_MAX_SOURCES];   /* units of that, in memory */
    uint64_t added[PNV_IMC_NCOUNTERS];  /* units that wait for a post */
} PnvImcPage;

void pnv_imc_page_set_running(PnvImcPage *page, const uint64_t *raw,
                              bool running);
bool pnv_imc_page_add(PnvImcPage *page, uint64_t offset, uint64_t units,
                      Error **errp);
/* False: there is no memory at @base, and what was due is lost. */
bool pnv_imc_page_post(PnvImcPage *page, const PnvImc *imc,
                       const uint64_t *raw, hwaddr base);
/* Forget what has not been posted. */
void pnv_imc_page_drop(PnvImcPage *page, const PnvImc *imc,
                       const uint64_t *raw);
void pnv_imc_page_list(const PnvImc *imc, GString *out);

/* Trace buffer (pnv-imc-trace.c) */

typedef struct PnvImcTrace {
    bool running;
    QEMUTimer timer;
    int64_t started;        /* virtual time */
    uint64_t periods;       /* since then, up to what the timer waits for */
    bool sampling;          /* a record is to be made by the vCPU */
    uint32_t head;          /* where the next record goes */
    uint64_t records;       /* since the pointer was reset */
    uint64_t total;         /* since the machine was */
    uint64_t skipped;       /* that came due before the last was made */
    uint64_t last_tb;       /* records are of a later time */
    uint64_t div;
    bool idle;              /* records of an idle thread, too */
    bool stop;
    uint64_t corrupt;
    uint64_t burst;
} PnvImcTrace;

void pnv_imc_trace_init(PnvImcThread *thread);
/* To be called after everything that could start, stop or change the rate */
void pnv_imc_trace_update(PnvImcThread *thread, bool running);
void pnv_imc_trace_restart(PnvImcThread *thread);
void pnv_imc_trace_burst(PnvImcThread *thread, uint64_t records);
uint32_t pnv_imc_trace_entries(const PnvImcThread *thread);

/* Thread (pnv-imc-thread.c) */

typedef enum PnvImcMode {
    MODE_OFF, MODE_ACCUMULATE, MODE_TRACE, MODE_UNDEFINED
} PnvImcMode;

typedef enum PnvImcThreadStat {
    STAT_LDBAR, STAT_THREAD_POST, STAT_RECORD, PNV_IMC_NTHREAD_STATS
} PnvImcThreadStat;

struct PnvImcThread {
    PmuModel model;
    PnvImcCore *core;
    PowerPCCPU *cpu;
    uint64_t ldbar;
    bool idle;
    int64_t idle_changed;   /* virtual time */
    uint64_t busy_ns;       /* until then */
    uint64_t undefined;     /* times that LDBAR had both bits */
    bool lossy;
    PnvImcPage page;
    PnvImcTrace trace;
    PmuStat stats[PNV_IMC_NTHREAD_STATS];
};

bool pnv_imc_thread_init(PnvImcThread *thread, PnvImcCore *core,
                         PowerPCCPU *cpu, unsigned number, Error **errp);
void pnv_imc_thread_reset(PnvImcThread *thread);
PnvImcMode pnv_imc_thread_mode(const PnvImcThread *thread);
hwaddr pnv_imc_thread_address(const PnvImcThread *thread);
/* Adds to @raw, except for the time, which it sets. */
void pnv_imc_thread_raw(const PnvImcThread *thread, uint64_t *raw);
void pnv_imc_thread_post(PnvImcThread *thread);
/* The engine was started or stopped, or LDBAR or TRACE written. */
void pnv_imc_thread_update(PnvImcThread *thread);

/* Core (pnv-imc-core.c) */

typedef enum PnvImcCoreStat {
    STAT_PDBAR, STAT_HTM, STAT_EVENT_MASK, STAT_TRACE, STAT_CORE_POST,
    PNV_IMC_NCORE_STATS
} PnvImcCoreStat;

/* A register, as the opaque of its region */
typedef struct PnvImcPort {
    PnvImcCore *core;
    PnvImcScom reg;
    MemoryRegion region;
} PnvImcPort;

struct PnvImcCore {
    PmuModel model;
    PnvImc *imc;
    PnvImcPort ports[PNV_IMC_NSCOMS];
    uint64_t scom[PNV_IMC_NSCOMS];
    bool running;
    QEMUTimer timer;
    int64_t due;
    uint64_t post;
    bool hold;
    bool lossy;
    bool mixed;             /* accumulating and tracing threads, right now */
    uint64_t checkstop;     /* times that this, or a switch, has happened */
    PnvImcPage page;
    unsigned nthreads;
    PnvImcThread *threads;
    PmuStat stats[PNV_IMC_NCORE_STATS];
};

PnvImcCore *pnv_imc_core_new(PnvImc *imc, PnvChip *chip, PnvCore *pc,
                             unsigned number, Error **errp);
void pnv_imc_core_reset(PnvImcCore *core);
/* Notice threads that accumulate and threads that trace on one core. */
void pnv_imc_core_check(PnvImcCore *core);
void pnv_imc_core_checkstop(PnvImcCore *core, const char *why);

/* Nest (pnv-imc-nest.c) */

PnvImcNest *pnv_imc_nest_new(PnvImc *imc, PnvChip *chip, Error **errp);
void pnv_imc_nest_reset(PnvImcNest *nest);

/* Call @written after each mtspr to LDBAR by any vCPU (pnv-ldbar.c). */
void pnv_ldbar_watch(PowerPCCPU *cpu, void (*written)(PowerPCCPU *cpu));

#endif
