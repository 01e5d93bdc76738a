// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The trace of a thread: records of 64 bytes in a buffer at LDBAR, at the rate
 * that the TRACE register programs, over and over from the buffer's base, with
 * no word about what is overwritten.
 *
 * A record is made by the vCPU itself, between two translation blocks: program
 * counter, MSR and timebase are those of one instant, the program counter
 * always that of a block's beginning. Emulation cannot keep up with 128000
 * records a second, so the rate is divided (trace-div). When timer or vCPU are
 * late, records are left out, never made up. How many there are is up to the
 * host's speed, so a test can have one for so many instructions instead
 * (every).
 *
 * A record's doublewords are written one by one, by default in address order,
 * and a record may stop halfway (hold). What then becomes of it when LDBAR is
 * written or the engine stops, no source tells: it is completed, or not (lossy).
 *
 * No source tells that the timebase of a record is the thread's: it may be
 * divided (tb-div) and have an offset (tb-add).
 *
 * Left out: triggers that are no clock make no records; the PIDR information in
 * doubleword 2, whose layout no source tells, is 0 but for the MSR's bits.
 */
#include "device.h"
#include "qemu/error-report.h"
#include "qemu/units.h"
#include "system/tcg.h"
#include "hw/ppc/ppc.h"

/* TRACE */
#define TRACE_SAMPSEL(scom)     extract64(scom, 62, 2)
#define TRACE_CPMC_LOAD(scom)   extract64(scom, 30, 32)
#define TRACE_CPMC1SEL(scom)    extract64(scom, 23, 7)
#define TRACE_CPMC2SEL(scom)    extract64(scom, 16, 7)
#define TRACE_BUFFERSIZE(scom)  extract64(scom, 13, 3)

#define BUFFERSIZE_MAX  4
#define RECORD_SIZE     64
#define MIN_ENTRIES     (256 * KiB / RECORD_SIZE)
#define TB2_MASK        MAKE_64BIT_MASK(0, 42)
#define DEFAULT_DIV     64
#define ORDER_WORDS     8
#define DEFAULT_ORDER   0x01234567      /* the last doubleword last */

typedef struct Record {
    uint64_t tb1;
    uint64_t ip;
    uint64_t pidr;
    uint64_t cpmc[POWER_IMC_NSLOTS];
    uint64_t tb2;
} Record;

QEMU_BUILD_BUG_ON(sizeof(Record) != RECORD_SIZE);

static uint64_t trace_scom(const PowerImcThread *thread)
{
    return thread->core->scom[POWER_IMC_TRACE];
}

static uint32_t trace_entries(const PowerImcThread *thread)
{
    return MIN_ENTRIES << MIN(TRACE_BUFFERSIZE(trace_scom(thread)),
                              BUFFERSIZE_MAX);
}

/* CPMC1 and 2 count the line that is selected, 3 and 4 are dedicated. */
static const PowerImcSource *trace_source(const PowerImcThread *thread,
                                          unsigned cpmc)
{
    uint64_t scom = trace_scom(thread);
    unsigned line[POWER_IMC_NSLOTS] = {
        TRACE_CPMC1SEL(scom), TRACE_CPMC2SEL(scom), 0, 0
    };

    return power_imc_source_at(thread->core->imc, line[cpmc], cpmc);
}

/* Counts from load to overflow */
static uint64_t trace_counts(const PowerImcThread *thread)
{
    return MAX(UINT32_MAX - TRACE_CPMC_LOAD(trace_scom(thread)), 1);
}

/* Clock ticks a second of the trigger; 0: it is not a clock. */
static uint64_t trace_hz(const PowerImcThread *thread)
{
    const PowerImcSource *source =
        trace_source(thread, TRACE_SAMPSEL(trace_scom(thread)));

    return source ? power_imc_source_hz(source) : 0;
}

/* Do records come by the clock? */
static bool trace_is_clocked(const PowerImcThread *thread)
{
    return thread->trace.running && !thread->trace.every && trace_hz(thread);
}

/* Rounded up: when the timer fires, the trigger has overflowed. */
static int64_t trace_due(const PowerImcThread *thread)
{
    const PowerImcTrace *trace = &thread->trace;
    uint64_t hz = trace_hz(thread);
    unsigned __int128 ticks = trace_counts(thread) * trace->div;

    ticks *= trace->periods;
    return trace->started +
           (int64_t)((ticks * NANOSECONDS_PER_SECOND + hz - 1) / hz);
}

static uint64_t timebase(PowerImcThread *thread)
{
    return cpu_ppc_load_tbl(&thread->cpu->env);
}

static void record_fill_cpmcs(PowerImcThread *thread, Record *record)
{
    uint64_t scom = trace_scom(thread);
    uint64_t raw[POWER_IMC_NRAWS] = { 0 };
    unsigned i;

    power_imc_thread_raw(thread, raw);
    for (i = 0; i < POWER_IMC_NSLOTS; i++) {
        const PowerImcSource *source = trace_source(thread, i);

        if (source) {
            record->cpmc[i] = cpu_to_be64(
                (uint32_t)power_imc_source_events(source, raw));
        }
    }
    /*
     * The counter that triggers records has just overflowed and been loaded
     * again.
     */
    record->cpmc[TRACE_SAMPSEL(scom)] = cpu_to_be64(TRACE_CPMC_LOAD(scom));
}

/* Write the doublewords of the current record that come before number @to. */
static void trace_write_words(PowerImcThread *thread, unsigned to)
{
    PowerImcTrace *trace = &thread->trace;

    for (; trace->begun < to; trace->begun++) {
        unsigned word = trace->order >> 4 * (ORDER_WORDS - 1 - trace->begun) &
                        0xf;

        if (address_space_write(&address_space_memory,
                                trace->address + 8 * word,
                                MEMTXATTRS_UNSPECIFIED, &trace->words[word],
                                8) != MEMTX_OK) {
            warn_report_once("%s: there is no memory at LDBAR, 0x%"
                             HWADDR_PRIx, thread->model.name, trace->address);
            trace->begun = 0;
            return;
        }
    }
    power_imc_core_wrote(thread->core, trace->address);
    if (to == ORDER_WORDS) {
        trace->begun = 0;
        trace->head = (trace->head + 1) % trace_entries(thread);
        trace->total++;
        thread->stats[STAT_RECORD].writes++;
    }
}

void power_imc_trace_hold(PowerImcThread *thread, uint64_t words)
{
    thread->trace.hold = words;
    if (!words && thread->trace.begun) {
        trace_write_words(thread, ORDER_WORDS);
    }
}

/* Complete or drop a record that a test holds back. */
void power_imc_trace_end(PowerImcThread *thread)
{
    PowerImcTrace *trace = &thread->trace;

    if (trace->begun && trace->lossy) {
        trace->begun = 0;
    } else if (trace->begun) {
        trace_write_words(thread, ORDER_WORDS);
    }
}

/* A record of timebase @at, or of the next that has none yet. */
static void trace_write(PowerImcThread *thread, uint64_t at, uint64_t ip)
{
    PowerImcTrace *trace = &thread->trace;
    CPUPPCState *env = &thread->cpu->env;
    uint64_t tb = MAX(at, trace->last_tb + 1);
    uint64_t stamp = tb / trace->tb_div + trace->tb_add;
    Record record = {
        .tb1 = cpu_to_be64(stamp),
        .ip = cpu_to_be64(ip),
    };
    uint64_t tb2 = stamp & TB2_MASK;
    hwaddr addr = power_imc_thread_address(thread) + RECORD_SIZE * trace->head;

    if (trace->begun) {
        return;
    }
    if (thread->core->imc->gen->msr_in_record || trace->tells) {
        record.pidr = cpu_to_be64(
            (env->msr >> MSR_HV & 1) << 63 | (env->msr >> MSR_PR & 1) << 62);
    }
    if (trace->corrupt) {
        tb2 ^= TB2_MASK;
        trace->corrupt--;
    }
    record.tb2 = cpu_to_be64(tb2);
    record_fill_cpmcs(thread, &record);
    memcpy(trace->words, &record, sizeof(record));
    trace->address = addr;
    trace->last_tb = tb;
    trace_write_words(thread, trace->hold ?: ORDER_WORDS);
}

/* Set the timer for the next record. */
static void trace_arm(PowerImcThread *thread)
{
    PowerImcTrace *trace = &thread->trace;
    unsigned __int128 passed =
        qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - trace->started;

    passed = passed * trace_hz(thread) / NANOSECONDS_PER_SECOND;
    trace->periods = passed / (trace_counts(thread) * trace->div) + 1;
    timer_mod_ns(&trace->timer, trace_due(thread));
}

/*
 * Much may have changed since the vCPU was asked; asking woke it up. The timer
 * is armed only now: firing in vain, it would keep the vCPU from its turn.
 */
static void trace_sample(CPUState *cs, run_on_cpu_data data)
{
    PowerImcThread *thread = data.host_ptr;

    thread->trace.sampling = false;
    if (!trace_is_clocked(thread)) {
        return;
    }
    if (!cs->halted || thread->trace.idles) {
        trace_write(thread, timebase(thread), thread->cpu->env.nip);
    }
    trace_arm(thread);
}

/*
 * As if they had come evenly, while nobody looked: since the last record, of
 * which a driver may have seen an event end and begin, or since it was asked.
 */
static void trace_sample_burst(CPUState *cs, run_on_cpu_data data)
{
    PowerImcThread *thread = data.host_ptr;
    PowerImcTrace *trace = &thread->trace;
    uint64_t now = timebase(thread);
    uint64_t from = trace->spread ? trace->last_tb :
                                    MAX(trace->last_tb, trace->asked);
    uint64_t step = MAX((now - from) / MAX(trace->burst, 1), 1);

    while (trace->burst) {
        trace->burst--;
        if (trace->running) {
            trace_write(thread, now - MIN(now, trace->burst * step),
                        thread->cpu->env.nip);
        }
    }
}

/* Without TCG there is no vCPU that could be in the middle of something. */
static void trace_run(PowerImcThread *thread, run_on_cpu_func func)
{
    CPUState *cs = CPU(thread->cpu);
    run_on_cpu_data data = RUN_ON_CPU_HOST_PTR(thread);

    if (tcg_enabled()) {
        async_run_on_cpu(cs, func, data);
    } else {
        func(cs, data);
    }
}

/* Nothing that comes will be of a time before. */
static void trace_begin(PowerImcThread *thread)
{
    PowerImcTrace *trace = &thread->trace;

    trace->last_tb = MAX(trace->last_tb, timebase(thread));
}

void power_imc_trace_spread(PowerImcThread *thread, bool on)
{
    thread->trace.spread = on;
    trace_begin(thread);
}

void power_imc_trace_burst(PowerImcThread *thread, uint64_t records)
{
    bool under_way = thread->trace.burst;

    thread->trace.burst = records;
    thread->trace.asked = timebase(thread);
    if (!under_way) {
        trace_run(thread, trace_sample_burst);
    }
}

void power_imc_trace_executed(PowerImcThread *thread, uint64_t ip)
{
    if (thread->trace.running && thread->trace.every) {
        trace_write(thread, timebase(thread), ip);
    }
}

static void trace_tick(void *opaque)
{
    PowerImcThread *thread = opaque;
    PowerImcTrace *trace = &thread->trace;

    if (trace->sampling || (thread->idle && !trace->idles)) {
        trace_arm(thread);
        return;
    }
    trace->sampling = true;
    trace_run(thread, trace_sample);
}

void power_imc_trace_update(PowerImcThread *thread, bool running)
{
    PowerImcTrace *trace = &thread->trace;

    trace->running = running;
    if (trace_is_clocked(thread)) {
        trace->started = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        trace_arm(thread);
    } else {
        timer_del(&trace->timer);
    }
}

void power_imc_trace_restart(PowerImcThread *thread)
{
    PowerImcTrace *trace = &thread->trace;

    trace->head = 0;
    trace->begun = 0;
    trace_begin(thread);
}

void power_imc_trace_init(PowerImcThread *thread)
{
    PowerImcTrace *trace = &thread->trace;

    trace->div = DEFAULT_DIV;
    trace->tb_div = 1;
    trace->order = DEFAULT_ORDER;
    timer_init_ns(&trace->timer, QEMU_CLOCK_VIRTUAL, trace_tick, thread);
}
