/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * In-memory collection of a POWER9 or POWER10 machine: what its parts share.
 *
 * A chip has a nest, whose microcode counts for the units outside the cores,
 * and cores. A core has one engine, which adds to a page of the core's own
 * and, as LDBAR of a thread says, to a page or a trace buffer of the thread.
 * All of it runs under the BQL.
 */
#ifndef PMU_MODELS_POWER_IMC_H
#define PMU_MODELS_POWER_IMC_H

#include "common/compat.h"
#include "qemu/timer.h"
#include "hw/ppc/pnv_chip.h"
#include "common/registry.h"

#define TYPE_POWER_IMC "power-imc"
OBJECT_DECLARE_SIMPLE_TYPE(PowerImc, POWER_IMC)

/* A page of counters: 128 lines of four, each line 64 bytes. */
#define POWER_IMC_NLINES          128
#define POWER_IMC_NSLOTS          4
#define POWER_IMC_NCOUNTERS       (POWER_IMC_NLINES * POWER_IMC_NSLOTS)
#define POWER_IMC_OFFSET(line, slot) (64 * (line) + 0x18 + 8 * (slot))
#define POWER_IMC_MAX_SOURCES     16  /* the last has no name */

#define POWER_IMC_POST_NS         1000000     /* between posts */

/* The nest's counters, from HOMER + 0x180000; none is beyond this. */
#define POWER_IMC_NEST_SIZE       0x1000
#define POWER_IMC_MAX_GROUPS      7

/* SCOM registers of a core */
typedef enum PowerImcScom {
    POWER_IMC_PDBAR, POWER_IMC_HTM, POWER_IMC_EVENT_MASK, POWER_IMC_TRACE,
    POWER_IMC_NSCOMS
} PowerImcScom;

/*
 * What is always counted: nanoseconds of virtual time; and for each thread the
 * same, those of them in which it was not idle, and instructions executed in
 * each of the four states of MSR[HV], MSR[PR].
 */
typedef enum PowerImcRaw {
    RAW_NS, RAW_THREAD_NS, RAW_BUSY_NS, RAW_INST_HV0_PR0, RAW_INST_HV0_PR1,
    RAW_INST_HV1_PR0, RAW_INST_HV1_PR1, POWER_IMC_NRAWS
} PowerImcRaw;

/* A counter that counts by itself: the sum of some raw values. */
typedef struct PowerImcSource {
    const char *name;
    uint8_t line;
    uint8_t slot;
    uint8_t raws;       /* bit n: PowerImcRaw n */
    enum { UNIT_ONE, UNIT_REF_CLOCK, UNIT_CORE_CLOCK } unit;
} PowerImcSource;

/* Counters [start, end) of the nest that are posted together. */
typedef struct PowerImcGroup {
    const char *name;
    uint16_t start;     /* the head count, if framed */
    uint16_t end;       /* after the tail count, if framed */
    bool framed;
    uint8_t every;      /* which of the posts are this group's */
    uint16_t begun;     /* where a post's begin is counted, if not at start */
} PowerImcGroup;

/* What differs between POWER9 and POWER10 */
typedef struct PowerImcGeneration {
    const char *name;
    const char *chip_type;
    unsigned scale;     /* events in a unit of a page's counters */
    uint64_t uav;       /* all units of the nest */
    bool msr_in_record; /* bits 0:1 of a trace record's doubleword 2 */
    hwaddr (*homer)(PnvChip *chip);
    uint32_t (*scom)(PowerImcScom reg, unsigned core);
    PowerImcSource sources[POWER_IMC_MAX_SOURCES];
    PowerImcGroup groups[POWER_IMC_MAX_GROUPS];
} PowerImcGeneration;

const PowerImcGeneration *power_imc_generation(const char *name, Error **errp);

typedef struct PowerImcCore PowerImcCore;
typedef struct PowerImcThread PowerImcThread;
typedef struct PowerImcNest PowerImcNest;

struct PowerImc {
    DeviceState parent_obj;

    char *generation;
    const PowerImcGeneration *gen;
    GPtrArray *nests;
    GPtrArray *cores;
    Notifier shutdown;
};

/*
 * The frequency of the clock whose ticks @source counts; 0 if it counts no
 * clock.
 */
uint64_t power_imc_source_hz(const PowerImcSource *source);

/* How often @source has happened, by @raw */
uint64_t power_imc_source_events(const PowerImcSource *source,
                                 const uint64_t *raw);

/* NULL: that counter does not count by itself. */
const PowerImcSource *power_imc_source_at(const PowerImc *imc, unsigned line,
                                          unsigned slot);

/* From @text: a number or, with @sources, the name of one. */
bool power_imc_parse_offset(const PowerImc *imc, const char *text, bool sources,
                            uint64_t *offset, Error **errp);

/* To a big-endian doubleword. False: there is no memory. */
bool power_imc_add(hwaddr addr, uint64_t units);

/* The first of @last plus @period, plus @period ... that is yet to come */
int64_t power_imc_next(int64_t last, uint64_t period);

/* Page of accumulating counters (page.c) */

typedef struct PowerImcPage {
    bool running;
    uint64_t seen[POWER_IMC_NRAWS];       /* raw values at the last look */
    uint64_t counted[POWER_IMC_NRAWS];    /* while the page was running */
    uint64_t posted[POWER_IMC_MAX_SOURCES];   /* units of that, in memory */
    uint64_t added[POWER_IMC_NCOUNTERS];  /* units that wait for a post */
} PowerImcPage;

void power_imc_page_set_running(PowerImcPage *page, const uint64_t *raw,
                                bool running);
bool power_imc_page_add(PowerImcPage *page, uint64_t offset, uint64_t units,
                        Error **errp);
/* False: there is no memory at @base, and what was due is lost. */
bool power_imc_page_post(PowerImcPage *page, const PowerImc *imc,
                         const uint64_t *raw, hwaddr base);
/* Forget what has not been posted. */
void power_imc_page_drop(PowerImcPage *page, const PowerImc *imc,
                         const uint64_t *raw);
void power_imc_page_list(const PowerImc *imc, GString *out);

/* Trace buffer (trace.c) */

typedef struct PowerImcTrace {
    bool running;
    QEMUTimer timer;
    int64_t started;        /* virtual time */
    uint64_t periods;       /* since then, up to what the timer waits for */
    bool sampling;          /* a record is to be made by the vCPU */
    uint32_t head;          /* where the next record goes */
    uint64_t total;         /* records since the machine was reset */
    uint64_t last_tb;       /* the next record has a later timebase */
    uint64_t div;
    uint64_t every;         /* instructions to a record; 0: by the clock */
    uint64_t corrupt;
    uint64_t burst;
    bool spread;            /* its records are of the time since the last one */
    uint64_t asked;         /* timebase when a burst was asked for */
    uint64_t order;         /* of a record's doublewords, a digit each */
    uint64_t hold;          /* hold the next record after so many words */
    unsigned begun;         /* doublewords of a record under way; 0: none */
    uint64_t words[8];      /* the doublewords of that record, big-endian */
    hwaddr address;         /* the address that it is written to */
    bool lossy;             /* the rest of a held record is lost */
    uint64_t tb_div;        /* records have the timebase divided by this, */
    uint64_t tb_add;        /* and this added */
    bool idles;             /* an idle thread makes records, too */
    bool tells;             /* doubleword 2 has the MSR's bits */
} PowerImcTrace;

void power_imc_trace_init(PowerImcThread *thread);
/* LDBAR is written, or the engine stops: what becomes of a record under way. */
void power_imc_trace_end(PowerImcThread *thread);
void power_imc_trace_hold(PowerImcThread *thread, uint64_t words);
/* To be called after everything that could start, stop or change the rate */
void power_imc_trace_update(PowerImcThread *thread, bool running);
void power_imc_trace_restart(PowerImcThread *thread);
void power_imc_trace_burst(PowerImcThread *thread, uint64_t records);
void power_imc_trace_spread(PowerImcThread *thread, bool on);
/*
 * The thread has executed enough instructions for a record. @ip is the address
 * of the next instruction.
 */
void power_imc_trace_executed(PowerImcThread *thread, uint64_t ip);

/* Thread (thread.c) */

typedef enum PowerImcMode {
    MODE_OFF, MODE_ACCUMULATE, MODE_TRACE, MODE_UNDEFINED
} PowerImcMode;

typedef enum PowerImcThreadStat {
    STAT_LDBAR, STAT_THREAD_POST, STAT_RECORD, POWER_IMC_NTHREAD_STATS
} PowerImcThreadStat;

struct PowerImcThread {
    PmuModel model;
    PowerImcCore *core;
    PowerPCCPU *cpu;
    uint64_t ldbar;         /* as the engine goes by it */
    uint64_t linger;        /* ns until it goes by a new one */
    uint64_t next_ldbar;
    bool deaf;              /* what is written to LDBAR does not arrive */
    QEMUTimer ldbar_timer;
    bool idle;
    int64_t idle_changed;   /* virtual time */
    uint64_t busy_ns;       /* until then */
    uint64_t undefined;     /* times that LDBAR had both bits */
    PowerImcPage page;
    PowerImcTrace trace;
    PmuStat stats[POWER_IMC_NTHREAD_STATS];
};

bool power_imc_thread_init(PowerImcThread *thread, PowerImcCore *core,
                           PowerPCCPU *cpu, unsigned number, Error **errp);
void power_imc_thread_reset(PowerImcThread *thread);
PowerImcMode power_imc_thread_mode(const PowerImcThread *thread);
hwaddr power_imc_thread_address(const PowerImcThread *thread);
/* Adds to @raw, except for the time, which it sets. */
void power_imc_thread_raw(const PowerImcThread *thread, uint64_t *raw);
void power_imc_thread_post(PowerImcThread *thread);
/* The engine was started or stopped, or LDBAR or TRACE written. */
void power_imc_thread_update(PowerImcThread *thread);

/* Core (core.c) */

typedef enum PowerImcCoreStat {
    STAT_PDBAR, STAT_HTM, STAT_EVENT_MASK, STAT_TRACE, STAT_CORE_POST,
    POWER_IMC_NCORE_STATS
} PowerImcCoreStat;

/* A register, as the opaque of its region */
typedef struct PowerImcPort {
    PowerImcCore *core;
    PowerImcScom reg;
    MemoryRegion region;
} PowerImcPort;

struct PowerImcCore {
    PmuModel model;
    PowerImc *imc;
    PowerImcPort ports[POWER_IMC_NSCOMS];
    uint64_t scom[POWER_IMC_NSCOMS];
    bool running;
    QEMUTimer timer;
    int64_t due;
    uint64_t linger;        /* ns from STOP to the end of all writes */
    QEMUTimer stop_timer;
    uint64_t refuse;        /* bit n: PowerImcScom n cannot be written */
    uint64_t deep;          /* stop level that loses registers; 0: none */
    uint64_t lost;          /* times that this has happened */
    uint64_t unanswered;    /* accesses to SCOMs of a core that sleeps so */
    bool mute;              /* the HTM mode reads as 0 */
    uint64_t period;        /* ns between posts */
    bool unposted;          /* the end of counting posts nothing */
    bool rewinds;           /* STOP restarts a trace at its base */
    bool shares;            /* the threads have one LDBAR */
    bool through;           /* counters run while the engine is off */
    uint64_t drops;         /* ns after which it does so; 0: never */
    int64_t told;           /* virtual time when it was written */
    bool fenced;
    uint64_t fence_base;    /* where; of everywhere if the size is 0 */
    uint64_t fence_size;
    uint64_t stray;         /* writes to memory in there */
    int64_t wrote;          /* virtual time of the last write */
    bool mixed;             /* accumulating and tracing threads, right now */
    uint64_t checkstop;     /* times that this, or a switch, has happened */
    uint64_t untraced;      /* times that a thread ceased to trace, while on */
    uint64_t hot;           /* times that LDBAR was written while on */
    PowerImcPage page;
    unsigned nthreads;
    PowerImcThread *threads;
    PmuStat stats[POWER_IMC_NCORE_STATS];
};

PowerImcCore *power_imc_core_new(PowerImc *imc, PnvChip *chip, PnvCore *pc,
                                 unsigned number, Error **errp);
void power_imc_core_reset(PowerImcCore *core);
/* The machine ends, or starts anew: an engine that is on is reported. */
void power_imc_core_end(PowerImcCore *core);
/* The core, or a thread of it, has written to memory. */
void power_imc_core_wrote(PowerImcCore *core, hwaddr addr);
/* A thread fell asleep, at the level that its PSSCR says. */
void power_imc_core_slept(PowerImcCore *core);
/* Notice threads that accumulate and threads that trace on one core. */
void power_imc_core_check(PowerImcCore *core);
void power_imc_core_checkstop(PowerImcCore *core, const char *why);
/* LDBAR of a thread is being written, from one value to another. */
void power_imc_core_ldbar(PowerImcCore *core, const char *thread,
                          uint64_t from, uint64_t to);
/* LDBAR of a thread traced, and does no more. */
void power_imc_core_untraced(PowerImcCore *core, const char *thread);

/* Nest (nest.c) */

PowerImcNest *power_imc_nest_new(PowerImc *imc, PnvChip *chip, Error **errp);
void power_imc_nest_reset(PowerImcNest *nest);

/* Call @written after each mtspr to LDBAR by any vCPU (ldbar.c). */
void power_imc_ldbar_watch(PowerPCCPU *cpu, void (*written)(PowerPCCPU *cpu));

#endif
