// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A hardware thread, as the engine of its core sees it: LDBAR, the page that
 * it accumulates to, and what the thread has executed so far.
 *
 * A write of LDBAR takes effect at once, or some time later (linger), or never
 * (deaf). What a page was due by then goes to the old address: no source tells
 * whether hardware does that. A write restarts a trace at the buffer's base.
 *
 * Instructions and idle times are those of QEMU's vCPU (vcpu-watch.h).
 */
#include "device.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "vcpu-watch.h"

#define LDBAR_ENABLE    PPC_BIT(0)
#define LDBAR_TRACE     PPC_BIT(1)
#define LDBAR_ADDRESS   0x00ffffffffffe000ULL

static const char *const stat_names[POWER_IMC_NTHREAD_STATS] = {
    "ldbar", "post", "record",
};

/* Threads by cpu_index, to find that of a vCPU that wrote LDBAR or slept */
static GPtrArray *threads_by_cpu;

static PowerImcThread *thread_of_cpu(unsigned cpu_index)
{
    return threads_by_cpu && cpu_index < threads_by_cpu->len ?
           g_ptr_array_index(threads_by_cpu, cpu_index) : NULL;
}

static void thread_register(PowerImcThread *thread)
{
    unsigned index = CPU(thread->cpu)->cpu_index;

    if (!threads_by_cpu) {
        threads_by_cpu = g_ptr_array_new();
    }
    if (index >= threads_by_cpu->len) {
        g_ptr_array_set_size(threads_by_cpu, index + 1);
    }
    g_ptr_array_index(threads_by_cpu, index) = thread;
}

PowerImcMode power_imc_thread_mode(const PowerImcThread *thread)
{
    switch (thread->ldbar & (LDBAR_ENABLE | LDBAR_TRACE)) {
    case 0:
        return MODE_OFF;
    case LDBAR_ENABLE:
        return MODE_ACCUMULATE;
    case LDBAR_TRACE:
        return MODE_TRACE;
    default:
        return MODE_UNDEFINED;
    }
}

hwaddr power_imc_thread_address(const PowerImcThread *thread)
{
    return thread->ldbar & LDBAR_ADDRESS;
}

void power_imc_thread_raw(const PowerImcThread *thread, uint64_t *raw)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    unsigned i;

    raw[RAW_NS] = now;
    raw[RAW_THREAD_NS] += now;
    raw[RAW_BUSY_NS] += thread->busy_ns +
                        (thread->idle ? 0 : now - thread->idle_changed);
    for (i = 0; i < VCPU_WATCH_NSTATES; i++) {
        raw[RAW_INST_HV0_PR0 + i] +=
            vcpu_watch_instructions(CPU(thread->cpu), i);
    }
}

static void thread_set_idle(PowerImcThread *thread, bool idle)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    if (!thread->idle) {
        thread->busy_ns += now - thread->idle_changed;
    }
    thread->idle_changed = now;
    thread->idle = idle;
}

static void cpu_slept_or_woke(unsigned cpu_index, bool idle)
{
    PowerImcThread *thread = thread_of_cpu(cpu_index);

    if (thread) {
        thread_set_idle(thread, idle);
        if (idle) {
            power_imc_core_slept(thread->core);
        }
    }
}

static void cpu_executed(unsigned cpu_index, uint64_t pc)
{
    PowerImcThread *thread = thread_of_cpu(cpu_index);

    BQL_LOCK_GUARD();
    if (thread) {
        power_imc_trace_executed(thread, pc);
    }
}

void power_imc_thread_post(PowerImcThread *thread)
{
    uint64_t raw[POWER_IMC_NRAWS] = { 0 };

    if (!thread->page.running) {
        return;
    }
    power_imc_thread_raw(thread, raw);
    if (power_imc_page_post(&thread->page, thread->core->imc, raw,
                            power_imc_thread_address(thread))) {
        thread->stats[STAT_THREAD_POST].writes++;
        power_imc_core_wrote(thread->core, power_imc_thread_address(thread));
    } else {
        warn_report_once("%s: there is no memory at LDBAR, 0x%" HWADDR_PRIx,
                         thread->model.name, power_imc_thread_address(thread));
    }
}

static void thread_stop_page(PowerImcThread *thread)
{
    uint64_t raw[POWER_IMC_NRAWS] = { 0 };

    if (!thread->page.running) {
        return;
    }
    if (!thread->core->unposted) {
        power_imc_thread_post(thread);
    }
    power_imc_thread_raw(thread, raw);
    power_imc_page_set_running(&thread->page, raw, false);
}

static void thread_start_page(PowerImcThread *thread)
{
    uint64_t raw[POWER_IMC_NRAWS] = { 0 };

    if (!thread->page.running) {
        power_imc_thread_raw(thread, raw);
        power_imc_page_set_running(&thread->page, raw, true);
    }
}

void power_imc_thread_update(PowerImcThread *thread)
{
    PowerImcMode mode = power_imc_thread_mode(thread);
    bool running = thread->core->running;

    if (running && mode == MODE_ACCUMULATE) {
        thread_start_page(thread);
    } else {
        thread_stop_page(thread);
    }
    if (!running) {
        power_imc_trace_end(thread);
        if (thread->core->rewinds) {
            power_imc_trace_restart(thread);
        }
    }
    power_imc_trace_update(thread, running && mode == MODE_TRACE);
}

static void thread_check(PowerImcThread *thread, PowerImcMode before)
{
    PowerImcMode now = power_imc_thread_mode(thread);

    if (now == MODE_UNDEFINED) {
        thread->undefined++;
        warn_report("%s: LDBAR 0x%" PRIx64 " both accumulates and traces, "
                    "which is not defined", thread->model.name,
                    thread->ldbar);
    }
    if (thread->core->running &&
        ((before == MODE_ACCUMULATE && now == MODE_TRACE) ||
         (before == MODE_TRACE && now == MODE_ACCUMULATE))) {
        power_imc_core_checkstop(thread->core, "LDBAR switches between "
                                 "accumulation and trace");
    }
    if (before == MODE_TRACE && now != MODE_TRACE) {
        power_imc_core_untraced(thread->core, thread->model.name);
    }
    power_imc_core_check(thread->core);
}

static void thread_go_by(PowerImcThread *thread, uint64_t value)
{
    PowerImcMode before = power_imc_thread_mode(thread);

    timer_del(&thread->ldbar_timer);
    thread_stop_page(thread);
    power_imc_trace_end(thread);
    thread->ldbar = value;
    power_imc_trace_restart(thread);
    power_imc_thread_update(thread);
    thread_check(thread, before);
}

static void thread_lingered(void *opaque)
{
    PowerImcThread *thread = opaque;

    thread_go_by(thread, thread->next_ldbar);
}

/* No more than one write is under way: the next one ends it. */
static void thread_write_ldbar(PowerImcThread *thread, uint64_t value)
{
    thread->stats[STAT_LDBAR].writes++;
    if (thread->deaf) {
        return;
    }
    power_imc_core_ldbar(thread->core, thread->model.name,
                         timer_pending(&thread->ldbar_timer) ?
                         thread->next_ldbar : thread->ldbar, value);
    if (timer_pending(&thread->ldbar_timer)) {
        thread_lingered(thread);
    }
    if (!thread->linger) {
        thread_go_by(thread, value);
        return;
    }
    thread->next_ldbar = value;
    timer_mod_ns(&thread->ldbar_timer,
                 qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + thread->linger);
}

/* With one partition to a core, its threads' LDBARs are one register. */
static void cpu_wrote_ldbar(PowerPCCPU *cpu)
{
    PowerImcThread *thread = thread_of_cpu(CPU(cpu)->cpu_index);
    PowerImcCore *core = thread->core;
    uint64_t value = cpu->env.spr[SPR_LDBAR];
    unsigned i;

    if (!(cpu->env.flags & POWERPC_FLAG_SMT_1LPAR) && !core->shares) {
        thread_write_ldbar(thread, value);
        return;
    }
    for (i = 0; i < core->nthreads; i++) {
        core->threads[i].cpu->env.spr[SPR_LDBAR] = value;
        thread_write_ldbar(&core->threads[i], value);
    }
}

static PowerImcThread *thread_of(PmuModel *model)
{
    return container_of(model, PowerImcThread, model);
}

static void thread_list_events(PmuModel *model, GString *out)
{
    power_imc_page_list(thread_of(model)->core->imc, out);
}

static bool thread_add(PmuModel *model, const char *event, uint64_t n,
                       uint64_t inc, Error **errp)
{
    PowerImcThread *thread = thread_of(model);
    uint64_t offset;

    if (!power_imc_parse_offset(thread->core->imc, event, true, &offset,
                                errp)) {
        return false;
    }
    if (!thread->page.running) {
        error_setg(errp, "%s counts nothing: %s", model->name,
                   thread->core->running ? "LDBAR does not accumulate" :
                   "the engine of its core is off (HTM mode)");
        return false;
    }
    return power_imc_page_add(&thread->page, offset, n * inc, errp);
}

enum {
    KEY_LDBAR, KEY_MODE, KEY_UNDEFINED, KEY_IDLE, KEY_INSTRUCTIONS,
    KEY_MEASURE, KEY_MEASURED, KEY_MEASURED_CALLS, KEY_MEASURED_MOST,
    KEY_MEASURED_QUARTILE,
    KEY_TOTAL, KEY_HEAD, KEY_DIV, KEY_EVERY, KEY_CORRUPT, KEY_BURST,
    KEY_SPREAD, KEY_ORDER, KEY_HOLD, KEY_LOSSY, KEY_TB_DIV, KEY_TB_ADD,
    KEY_IDLES, KEY_TELLS, KEY_LINGER, KEY_DEAF
};

static uint64_t get_trace(PmuModel *model, unsigned key)
{
    const PowerImcTrace *trace = &thread_of(model)->trace;

    switch (key) {
    case KEY_TOTAL:
        return trace->total;
    case KEY_HEAD:
        return trace->head;
    case KEY_DIV:
        return trace->div;
    case KEY_EVERY:
        return trace->every;
    case KEY_CORRUPT:
        return trace->corrupt;
    case KEY_SPREAD:
        return trace->spread;
    case KEY_ORDER:
        return trace->order;
    case KEY_HOLD:
        return trace->begun ?: trace->hold;
    case KEY_LOSSY:
        return trace->lossy;
    case KEY_TB_DIV:
        return trace->tb_div;
    case KEY_TB_ADD:
        return trace->tb_add;
    case KEY_IDLES:
        return trace->idles;
    case KEY_TELLS:
        return trace->tells;
    default:
        return trace->burst;
    }
}

static bool set_burst(PowerImcThread *thread, uint64_t value, Error **errp)
{
    if (!thread->trace.running) {
        error_setg(errp, "%s does not trace: %s", thread->model.name,
                   thread->core->running ? "LDBAR does not say so" :
                   "the engine of its core is off (HTM mode)");
        return false;
    }
    power_imc_trace_burst(thread, value);
    return true;
}

static bool set_div(PowerImcThread *thread, uint64_t value, Error **errp)
{
    if (!value) {
        error_setg(errp, "trace-div is at least 1, the hardware's rate");
        return false;
    }
    thread->trace.div = value;
    power_imc_thread_update(thread);
    return true;
}

static void set_every(PowerImcThread *thread, uint64_t value)
{
    thread->trace.every = value;
    vcpu_watch_every(CPU(thread->cpu), value, cpu_executed);
    power_imc_thread_update(thread);
}

/* Each doubleword once */
static bool set_order(PowerImcThread *thread, uint64_t value, Error **errp)
{
    unsigned seen = 0;
    unsigned i;

    for (i = 0; i < 8; i++) {
        seen |= 1 << (value >> 4 * i & 0xf);
    }
    if (seen != 0xff) {
        error_setg(errp, "an order has each of the digits 0 to 7 once");
        return false;
    }
    thread->trace.order = value;
    return true;
}

static bool set_trace(PmuModel *model, unsigned key, uint64_t value,
                      Error **errp)
{
    PowerImcThread *thread = thread_of(model);

    switch (key) {
    case KEY_ORDER:
        return set_order(thread, value, errp);
    case KEY_HOLD:
        power_imc_trace_hold(thread, value);
        return true;
    case KEY_LOSSY:
        thread->trace.lossy = value;
        return true;
    case KEY_TB_DIV:
        thread->trace.tb_div = MAX(value, 1);
        return true;
    case KEY_TB_ADD:
        thread->trace.tb_add = value;
        return true;
    case KEY_IDLES:
        thread->trace.idles = value;
        return true;
    case KEY_TELLS:
        thread->trace.tells = value;
        return true;
    case KEY_DIV:
        return set_div(thread, value, errp);
    case KEY_EVERY:
        set_every(thread, value);
        return true;
    case KEY_CORRUPT:
        thread->trace.corrupt = value;
        return true;
    case KEY_SPREAD:
        power_imc_trace_spread(thread, value);
        return true;
    default:
        return set_burst(thread, value, errp);
    }
}

static uint64_t instructions(const PowerImcThread *thread)
{
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < VCPU_WATCH_NSTATES; i++) {
        sum += vcpu_watch_instructions(CPU(thread->cpu), i);
    }
    return sum;
}

static uint64_t get_thread(PmuModel *model, unsigned key)
{
    PowerImcThread *thread = thread_of(model);

    switch (key) {
    case KEY_LDBAR:
        return thread->ldbar;
    case KEY_MODE:
        return power_imc_thread_mode(thread);
    case KEY_UNDEFINED:
        return thread->undefined;
    case KEY_INSTRUCTIONS:
        return instructions(thread);
    case KEY_LINGER:
        return thread->linger;
    case KEY_DEAF:
        return thread->deaf;
    default:
        return thread->idle;
    }
}

static bool set_thread(PmuModel *model, unsigned key, uint64_t value,
                       Error **errp)
{
    PowerImcThread *thread = thread_of(model);

    if (key == KEY_LDBAR) {
        thread->cpu->env.spr[SPR_LDBAR] = value;
        cpu_wrote_ldbar(thread->cpu);
    } else if (key == KEY_LINGER) {
        thread->linger = value;
    } else if (key == KEY_DEAF) {
        thread->deaf = value;
    } else {
        thread_set_idle(thread, value);
    }
    return true;
}

static uint64_t get_measured(PmuModel *model, unsigned key)
{
    VcpuMeasured measured =
        vcpu_watch_measured(CPU(thread_of(model)->cpu));

    switch (key) {
    case KEY_MEASURED_CALLS:
        return measured.calls;
    case KEY_MEASURED_MOST:
        return measured.most;
    case KEY_MEASURED_QUARTILE:
        return measured.quartile;
    default:
        return measured.instructions;
    }
}

static bool set_measure(PmuModel *model, unsigned key, uint64_t value,
                        Error **errp)
{
    if (!vcpu_watch_measure(CPU(thread_of(model)->cpu), value)) {
        error_setg(errp, "so many functions cannot be measured at a time");
        return false;
    }
    return true;
}

static const PmuKey thread_keys[] = {
    { "ldbar", "SPR LDBAR; setting it is as if the thread wrote it",
      UINT64_MAX, KEY_LDBAR, get_thread, set_thread },
    { "mode", "0 off, 1 accumulation, 2 trace, 3 both, which is not defined",
      0, KEY_MODE, get_thread, NULL },
    { "undefined", "times that both bits of LDBAR were set", 0, KEY_UNDEFINED,
      get_thread, NULL },
    { "idle", "1: the thread sleeps; true until the vCPU next wakes or sleeps",
      1, KEY_IDLE, get_thread, set_thread },
    { "instructions", "that the thread executed since the machine was started",
      0, KEY_INSTRUCTIONS, get_thread, NULL },
    { "measure", "address of a function to be measured, too, on all threads; "
      "0: none", UINT64_MAX, KEY_MEASURE, get_measured, set_measure },
    { "measured", "instructions executed in measured functions that returned",
      0, KEY_MEASURED, get_measured, NULL },
    { "measured-calls", "calls of measured functions that returned", 0,
      KEY_MEASURED_CALLS, get_measured, NULL },
    { "measured-most", "the most instructions of one such call", 0,
      KEY_MEASURED_MOST, get_measured, NULL },
    { "measured-quartile", "lower quartile of the last 256 such calls", 0,
      KEY_MEASURED_QUARTILE, get_measured, NULL },
    { "total", "trace records since the machine was reset", 0, KEY_TOTAL,
      get_trace, NULL },
    { "head", "entry of the buffer to which the next record goes", 0,
      KEY_HEAD, get_trace, NULL },
    { "trace-div", "how many times slower than programmed records come",
      UINT32_MAX, KEY_DIV, get_trace, set_trace },
    { "every", "one record for so many instructions, user's and kernel's each "
      "on their own, and none by the clock; 0: by the clock", INT64_MAX,
      KEY_EVERY, get_trace, set_trace },
    { "corrupt", "this many of the next records get a wrong second timebase",
      UINT64_MAX, KEY_CORRUPT, get_trace, set_trace },
    { "burst", "write this many records at once; reads as those still to come",
      1 << 20, KEY_BURST, get_trace, set_trace },
    { "spread", "1: records of a burst have come evenly since the last one, or "
      "since this was set; 0: since the burst was asked for", 1, KEY_SPREAD, get_trace,
      set_trace },
    { "order", "in which a record's doublewords are written, a digit each",
      0x76543210, KEY_ORDER, get_trace, set_trace },
    { "hold", "the next record stops after this many doublewords, and with it "
      "the trace; 0: it goes on", 7, KEY_HOLD, get_trace, set_trace },
    { "lossy", "1: a write of LDBAR, or the engine's stop, loses what is left "
      "of a record under way", 1, KEY_LOSSY, get_trace, set_trace },
    { "tb-div", "by what the timebase of records is divided", UINT32_MAX,
      KEY_TB_DIV, get_trace, set_trace },
    { "tb-add", "what is added to that", UINT64_MAX, KEY_TB_ADD, get_trace,
      set_trace },
    { "idles", "1: an idle thread makes records, too, by the clock", 1,
      KEY_IDLES, get_trace, set_trace },
    { "tells", "1: doubleword 2 of POWER9's records has the MSR's bits, too", 1,
      KEY_TELLS, get_trace, set_trace },
    { "deaf", "1: writes of LDBAR do not arrive", 1, KEY_DEAF, get_thread,
      set_thread },
    { "linger", "ns until a write of LDBAR takes effect", INT64_MAX / 2,
      KEY_LINGER, get_thread, set_thread },
};

void power_imc_thread_reset(PowerImcThread *thread)
{
    timer_del(&thread->ldbar_timer);
    thread->ldbar = 0;
    thread->undefined = 0;
    memset(&thread->page, 0, sizeof(thread->page));
    power_imc_trace_restart(thread);
    thread->trace.total = 0;
    thread->trace.last_tb = 0;
    power_imc_trace_update(thread, false);
}

bool power_imc_thread_init(PowerImcThread *thread, PowerImcCore *core,
                           PowerPCCPU *cpu, unsigned number, Error **errp)
{
    unsigned i;

    thread->core = core;
    thread->cpu = cpu;
    for (i = 0; i < POWER_IMC_NTHREAD_STATS; i++) {
        thread->stats[i].name = stat_names[i];
    }
    thread->model = (PmuModel) {
        .name = g_strdup_printf("thread%u%s", number,
                                strchr(core->model.name, '@')),
        .description = "in-memory collection of a hardware thread",
        .keys = thread_keys,
        .nkeys = ARRAY_SIZE(thread_keys),
        .stats = thread->stats,
        .nstats = POWER_IMC_NTHREAD_STATS,
        .list_events = thread_list_events,
        .add = thread_add,
    };
    timer_init_ns(&thread->ldbar_timer, QEMU_CLOCK_VIRTUAL, thread_lingered,
                  thread);
    power_imc_trace_init(thread);
    thread_register(thread);
    power_imc_ldbar_watch(cpu, cpu_wrote_ldbar);
    return vcpu_watch_start(cpu_slept_or_woke, errp) &&
           pmu_registry_add(&thread->model, errp);
}
