// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The engine of a core: its SCOM registers, the page at PDBAR, and the clock
 * by which this and the pages of the core's threads are posted.
 *
 * Modelled: PDBAR, HTM mode (of which IBM bit 4 starts the engine), EVENT_MASK
 * and TRACE; posts at a fixed period; the state of threads that may stop a
 * real machine by a checkstop, which is reported and counted, no more.
 *
 * An engine may be slow to stop (linger), refuse to be told (refuse), and lose
 * its HTM mode when all threads of its core sleep deeply (deep). Then no SCOM
 * of the core is answered either, until a thread wakes up. QEMU has no deep
 * stop states; which level is one, a test says. No source tells whether
 * the HTM mode reads as it was written: it does, unless it is mute or drops.
 *
 * Left out: what EVENT_MASK selects, which no source tells; other fields of
 * the HTM mode.
 */
#include "device.h"
#include "qapi/error.h"
#include "qemu/error-report.h"
#include "hw/ppc/pnv_xscom.h"

#define PDBAR_ADDRESS   0x0003ffffffffe000ULL
#define HTM_START       PPC_BIT(4)
#define PSSCR_RL        0xf     /* the stop level that is asked for */

static const char *const stat_names[POWER_IMC_NCORE_STATS] = {
    "pdbar", "htm", "event_mask", "trace", "post",
};

/* The sum over the threads, but one time */
static void core_raw(const PowerImcCore *core, uint64_t *raw)
{
    unsigned i;

    memset(raw, 0, POWER_IMC_NRAWS * sizeof(*raw));
    for (i = 0; i < core->nthreads; i++) {
        power_imc_thread_raw(&core->threads[i], raw);
    }
}

/* Firmware leaves PDBAR at 0 if it only sets up tracing: then no page is. */
static void core_post(PowerImcCore *core)
{
    uint64_t raw[POWER_IMC_NRAWS];
    hwaddr base = core->scom[POWER_IMC_PDBAR];

    core_raw(core, raw);
    if (!base) {
        power_imc_page_drop(&core->page, core->imc, raw);
    } else if (power_imc_page_post(&core->page, core->imc, raw, base)) {
        core->stats[STAT_CORE_POST].writes++;
        power_imc_core_wrote(core, base);
    } else {
        warn_report_once("%s: there is no memory at PDBAR, 0x%" HWADDR_PRIx,
                         core->model.name, base);
    }
}

static void core_post_all(PowerImcCore *core)
{
    unsigned i;

    core_post(core);
    for (i = 0; i < core->nthreads; i++) {
        power_imc_thread_post(&core->threads[i]);
    }
}

void power_imc_core_wrote(PowerImcCore *core, hwaddr addr)
{
    core->wrote = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    if (core->fenced && (!core->fence_size ||
                         addr - core->fence_base < core->fence_size)) {
        core->stray++;
        warn_report("%s: a write to 0x%" HWADDR_PRIx " is stray",
                    core->model.name, addr);
    }
}

static void core_tick(void *opaque)
{
    PowerImcCore *core = opaque;

    core_post_all(core);
    core->due = power_imc_next(core->due, core->period);
    timer_mod_ns(&core->timer, core->due);
}

static void core_start(PowerImcCore *core)
{
    core->due = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + core->period;
    timer_mod_ns(&core->timer, core->due);
}

void power_imc_core_checkstop(PowerImcCore *core, const char *why)
{
    core->checkstop++;
    warn_report("%s: %s: a real machine may stop with a checkstop",
                core->model.name, why);
}

void power_imc_core_untraced(PowerImcCore *core, const char *thread)
{
    if (core->running) {
        core->untraced++;
        warn_report("%s: LDBAR of %s ends a trace while the engine is on: "
                    "a real machine may stop with a checkstop",
                    core->model.name, thread);
    }
}

/*
 * The in-tree driver sets and clears IBM bit 0 under an engine that is on, at
 * each switch of tasks, and nobody is known to write anything else.
 */
void power_imc_core_ldbar(PowerImcCore *core, const char *thread,
                          uint64_t from, uint64_t to)
{
    if (core->scom[POWER_IMC_HTM] & HTM_START && (from ^ to) & ~PPC_BIT(0)) {
        core->hot++;
        warn_report("%s: LDBAR of %s is written while the engine is on",
                    core->model.name, thread);
    }
}

void power_imc_core_check(PowerImcCore *core)
{
    unsigned modes = 0;
    bool mixed;
    unsigned i;

    for (i = 0; core->running && i < core->nthreads; i++) {
        modes |= 1 << power_imc_thread_mode(&core->threads[i]);
    }
    mixed = modes & 1 << MODE_ACCUMULATE && modes & 1 << MODE_TRACE;
    if (mixed && !core->mixed) {
        power_imc_core_checkstop(core,
                                 "one thread accumulates, another traces");
    }
    core->mixed = mixed;
}

static void core_update_threads(PowerImcCore *core)
{
    unsigned i;

    for (i = 0; i < core->nthreads; i++) {
        power_imc_thread_update(&core->threads[i]);
    }
    power_imc_core_check(core);
}

/* Whether the core's counters run. */
static void core_count(PowerImcCore *core)
{
    uint64_t raw[POWER_IMC_NRAWS];

    core_raw(core, raw);
    power_imc_page_set_running(&core->page, raw,
                               core->running || core->through);
}

static void core_set_running(PowerImcCore *core, bool running)
{
    if (core->running == running) {
        return;
    }
    if (running) {
        core_start(core);
    } else {
        timer_del(&core->timer);
        if (!core->unposted) {
            core_post(core);
        }
    }
    core->running = running;
    core_count(core);
    core_update_threads(core);
}

static void core_stop(void *opaque)
{
    core_set_running(opaque, false);
}

/* Stopping may take its time; what comes before it has passed takes over. */
static void core_switch(PowerImcCore *core, bool on)
{
    timer_del(&core->stop_timer);
    if (!on && core->running && core->linger) {
        timer_mod_ns(&core->stop_timer,
                     qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + core->linger);
    } else {
        core_set_running(core, on);
    }
}

static void core_lose(PowerImcCore *core)
{
    core->lost++;
    core->scom[POWER_IMC_HTM] = 0;
    core_switch(core, false);
}

/* All threads sleep at this level or a deeper one. */
static bool core_asleep(const PowerImcCore *core)
{
    unsigned i;

    for (i = 0; core->deep && i < core->nthreads; i++) {
        const PowerImcThread *thread = &core->threads[i];
        uint64_t psscr = thread->cpu->env.spr[SPR_PSSCR];

        if (!thread->idle || (psscr & PSSCR_RL) < core->deep) {
            return false;
        }
    }
    return core->deep;
}

void power_imc_core_slept(PowerImcCore *core)
{
    if (core->running && core_asleep(core)) {
        core_lose(core);
    }
}

static bool core_hides_htm(const PowerImcCore *core)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    return core->mute || (core->drops && now - core->told > core->drops);
}

static MemTxResult scom_read(void *opaque, hwaddr addr, uint64_t *value,
                             unsigned size, MemTxAttrs attrs)
{
    PowerImcPort *port = opaque;

    port->core->stats[port->reg].reads++;
    if (core_asleep(port->core)) {
        port->core->unanswered++;
        return MEMTX_ERROR;
    }
    *value = port->reg == POWER_IMC_HTM && core_hides_htm(port->core) ?
             0 : port->core->scom[port->reg];
    return MEMTX_OK;
}

static MemTxResult scom_write(void *opaque, hwaddr addr, uint64_t value,
                              unsigned size, MemTxAttrs attrs)
{
    PowerImcPort *port = opaque;
    PowerImcCore *core = port->core;

    core->stats[port->reg].writes++;
    if (core_asleep(core)) {
        core->unanswered++;
        return MEMTX_ERROR;
    }
    if (core->refuse & 1 << port->reg) {
        return MEMTX_ERROR;
    }
    if (port->reg == POWER_IMC_PDBAR) {
        value &= PDBAR_ADDRESS;
    }
    core->scom[port->reg] = value;
    if (port->reg == POWER_IMC_HTM) {
        core->told = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        core_switch(core, value & HTM_START);
    } else if (port->reg == POWER_IMC_TRACE) {
        core_update_threads(core);
    }
    return MEMTX_OK;
}

static const MemoryRegionOps scom_ops = {
    .read_with_attrs = scom_read,
    .write_with_attrs = scom_write,
    .valid = { .min_access_size = 8, .max_access_size = 8 },
    .impl = { .min_access_size = 8, .max_access_size = 8 },
    .endianness = DEVICE_BIG_ENDIAN,
};

/* On top of the regions by which QEMU answers for quads and cores. */
static void core_map(PowerImcCore *core, PnvChip *chip, unsigned hwid)
{
    unsigned i;

    for (i = 0; i < POWER_IMC_NSCOMS; i++) {
        PowerImcPort *port = &core->ports[i];
        g_autofree char *name = g_strdup_printf("power-imc.%s.%s",
                                                core->model.name,
                                                stat_names[i]);

        port->core = core;
        port->reg = i;
        pnv_xscom_region_init(&port->region, OBJECT(core->imc), &scom_ops,
                              port, name, 1);
        memory_region_add_subregion_overlap(
            &chip->xscom, (hwaddr)core->imc->gen->scom(i, hwid) << 3,
            &port->region, 1);
    }
}

static PowerImcCore *core_of(PmuModel *model)
{
    return container_of(model, PowerImcCore, model);
}

static void core_list_events(PmuModel *model, GString *out)
{
    power_imc_page_list(core_of(model)->imc, out);
}

static bool core_add(PmuModel *model, const char *event, uint64_t n,
                     uint64_t inc, Error **errp)
{
    PowerImcCore *core = core_of(model);
    uint64_t offset;

    if (!power_imc_parse_offset(core->imc, event, true, &offset, errp)) {
        return false;
    }
    if (!core->page.running || !core->scom[POWER_IMC_PDBAR]) {
        error_setg(errp, "%s counts nothing: %s", model->name, core->running ?
                   "PDBAR has not been set" : "its engine is off (HTM mode)");
        return false;
    }
    return power_imc_page_add(&core->page, offset, n * inc, errp);
}

enum {
    KEY_RUNNING, KEY_CHECKSTOP, KEY_UNTRACED, KEY_HOT, KEY_FLUSH, KEY_LINGER, KEY_REFUSE, KEY_DEEP,
    KEY_LOST, KEY_UNANSWERED, KEY_MUTE, KEY_DROPS, KEY_FENCE, KEY_FENCE_BASE, KEY_FENCE_SIZE, KEY_STRAY,
    KEY_WROTE, KEY_NOW, KEY_PERIOD, KEY_UNPOSTED, KEY_REWINDS, KEY_SHARES, KEY_THROUGH
};

static uint64_t get_scom(PmuModel *model, unsigned reg)
{
    return core_of(model)->scom[reg];
}

static uint64_t get_core(PmuModel *model, unsigned key)
{
    PowerImcCore *core = core_of(model);

    switch (key) {
    case KEY_RUNNING:
        return core->running;
    case KEY_CHECKSTOP:
        return core->checkstop;
    case KEY_UNTRACED:
        return core->untraced;
    case KEY_HOT:
        return core->hot;
    case KEY_LINGER:
        return core->linger;
    case KEY_REFUSE:
        return core->refuse;
    case KEY_DEEP:
        return core->deep;
    case KEY_LOST:
        return core->lost;
    case KEY_UNANSWERED:
        return core->unanswered;
    case KEY_MUTE:
        return core->mute;
    case KEY_DROPS:
        return core->drops;
    case KEY_FENCE:
        return core->fenced;
    case KEY_FENCE_BASE:
        return core->fence_base;
    case KEY_FENCE_SIZE:
        return core->fence_size;
    case KEY_STRAY:
        return core->stray;
    case KEY_WROTE:
        return core->wrote;
    case KEY_NOW:
        return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    case KEY_PERIOD:
        return core->period;
    case KEY_UNPOSTED:
        return core->unposted;
    case KEY_REWINDS:
        return core->rewinds;
    case KEY_SHARES:
        return core->shares;
    case KEY_THROUGH:
        return core->through;
    default:
        return 0;
    }
}

static bool set_flush(PowerImcCore *core, Error **errp)
{
    if (!core->running) {
        error_setg(errp, "%s posts nothing: its engine is off (HTM mode)",
                   core->model.name);
        return false;
    }
    core_post_all(core);
    return true;
}

static bool set_core(PmuModel *model, unsigned key, uint64_t value,
                     Error **errp)
{
    PowerImcCore *core = core_of(model);

    switch (key) {
    case KEY_FLUSH:
        return set_flush(core, errp);
    case KEY_LINGER:
        core->linger = value;
        return true;
    case KEY_REFUSE:
        core->refuse = value;
        return true;
    case KEY_DEEP:
        core->deep = value;
        return true;
    case KEY_MUTE:
        core->mute = value;
        return true;
    case KEY_DROPS:
        core->drops = value;
        return true;
    case KEY_FENCE:
        core->fenced = value;
        return true;
    case KEY_FENCE_BASE:
        core->fence_base = value;
        return true;
    case KEY_FENCE_SIZE:
        core->fence_size = value;
        return true;
    case KEY_PERIOD:
        core->period = MAX(value, 1000);
        return true;
    case KEY_UNPOSTED:
        core->unposted = value;
        return true;
    case KEY_REWINDS:
        core->rewinds = value;
        return true;
    case KEY_SHARES:
        core->shares = value;
        return true;
    case KEY_THROUGH:
        core->through = value;
        core_count(core);
        return true;
    default:
        core_lose(core);
        return true;
    }
}

static const PmuKey core_keys[] = {
    { "pdbar", "SCOM PDBAR", 0, POWER_IMC_PDBAR, get_scom, NULL },
    { "htm", "SCOM HTM mode", 0, POWER_IMC_HTM, get_scom, NULL },
    { "event_mask", "SCOM EVENT_MASK", 0, POWER_IMC_EVENT_MASK, get_scom,
      NULL },
    { "trace", "SCOM TRACE", 0, POWER_IMC_TRACE, get_scom, NULL },
    { "running", "1: the engine has been started", 0, KEY_RUNNING, get_core,
      NULL },
    { "checkstop", "times that accumulation and trace met, which may stop a "
      "real machine", 0, KEY_CHECKSTOP, get_core, NULL },
    { "untraced", "times that LDBAR ended a thread's trace while the engine "
      "was on, which may stop a real machine", 0, KEY_UNTRACED, get_core,
      NULL },
    { "hot", "times that LDBAR of a thread was written while the engine was "
      "on, but for bit 0", 0, KEY_HOT, get_core, NULL },
    { "flush", "post now", 1, KEY_FLUSH, get_core, set_core },
    { "linger", "ns for which a stopped engine goes on", INT64_MAX / 2,
      KEY_LINGER, get_core, set_core },
    { "refuse", "registers that cannot be written: 1 PDBAR, 2 HTM mode, "
      "4 EVENT_MASK, 8 TRACE, or sums", 15, KEY_REFUSE, get_core, set_core },
    { "deep", "stop level at which all threads asleep lose the HTM mode, and "
      "no SCOM is answered; 0: none", PSSCR_RL, KEY_DEEP, get_core, set_core },
    { "lost", "times that the HTM mode was lost; setting it loses it now",
      UINT64_MAX, KEY_LOST, get_core, set_core },
    { "unanswered", "accesses to SCOMs while all threads slept so", 0,
      KEY_UNANSWERED, get_core, NULL },
    { "mute", "1: the HTM mode reads as 0, whatever it is", 1, KEY_MUTE,
      get_core, set_core },
    { "drops", "ns after which the HTM mode reads as 0, whatever it is",
      INT64_MAX / 2, KEY_DROPS, get_core, set_core },
    { "fence", "1: every write to memory of the core or its threads is stray",
      1, KEY_FENCE, get_core, set_core },
    { "fence-base", "where that begins", UINT64_MAX, KEY_FENCE_BASE, get_core,
      set_core },
    { "fence-size", "bytes of it; 0: all memory", UINT64_MAX, KEY_FENCE_SIZE,
      get_core, set_core },
    { "stray", "such writes; each is reported", 0, KEY_STRAY, get_core, NULL },
    { "wrote", "virtual time of the last write to memory, in ns", 0,
      KEY_WROTE, get_core, NULL },
    { "now", "virtual time, in ns", 0, KEY_NOW, get_core, NULL },
    { "period", "ns between posts, at least 1000", INT64_MAX / 2, KEY_PERIOD,
      get_core, set_core },
    { "unposted", "1: what is due when LDBAR or STOP ends counting is posted "
      "with the next post only", 1, KEY_UNPOSTED, get_core, set_core },
    { "rewinds", "1: STOP restarts traces at the buffer's base", 1,
      KEY_REWINDS, get_core, set_core },
    { "through", "1: what the core counts while its engine is off is posted "
      "after it has been started", 1, KEY_THROUGH, get_core, set_core },
    { "shares", "1: the threads have one LDBAR, as with one partition to a "
      "core", 1, KEY_SHARES, get_core, set_core },
};

void power_imc_core_end(PowerImcCore *core)
{
    if (core->running) {
        warn_report("%s: its engine is on where the machine ends",
                    core->model.name);
    }
}

void power_imc_core_reset(PowerImcCore *core)
{
    unsigned i;

    timer_del(&core->timer);
    timer_del(&core->stop_timer);
    core->running = false;
    core->mixed = false;
    core->checkstop = 0;
    core->untraced = 0;
    core->hot = 0;
    core->lost = 0;
    core->unanswered = 0;
    memset(core->scom, 0, sizeof(core->scom));
    memset(&core->page, 0, sizeof(core->page));
    for (i = 0; i < core->nthreads; i++) {
        power_imc_thread_reset(&core->threads[i]);
    }
}

static bool core_init_threads(PowerImcCore *core, PnvCore *pc, unsigned number,
                              Error **errp)
{
    unsigned i;

    core->nthreads = CPU_CORE(pc)->nr_threads;
    core->threads = g_new0(PowerImcThread, core->nthreads);
    for (i = 0; i < core->nthreads; i++) {
        if (!power_imc_thread_init(&core->threads[i], core, pc->threads[i],
                                   number * core->nthreads + i, errp)) {
            return false;
        }
    }
    return true;
}

PowerImcCore *power_imc_core_new(PowerImc *imc, PnvChip *chip, PnvCore *pc,
                                 unsigned number, Error **errp)
{
    PowerImcCore *core = g_new0(PowerImcCore, 1);
    unsigned i;

    core->imc = imc;
    core->period = POWER_IMC_POST_NS;
    timer_init_ns(&core->timer, QEMU_CLOCK_VIRTUAL, core_tick, core);
    timer_init_ns(&core->stop_timer, QEMU_CLOCK_VIRTUAL, core_stop, core);
    for (i = 0; i < POWER_IMC_NCORE_STATS; i++) {
        core->stats[i].name = stat_names[i];
    }
    core->model = (PmuModel) {
        .name = g_strdup_printf("core%u@%u", number, chip->chip_id),
        .description = "in-memory collection of a core",
        .keys = core_keys,
        .nkeys = ARRAY_SIZE(core_keys),
        .stats = core->stats,
        .nstats = POWER_IMC_NCORE_STATS,
        .list_events = core_list_events,
        .add = core_add,
    };
    core_map(core, chip, pc->hwid);
    if (!pmu_registry_add(&core->model, errp) ||
        !core_init_threads(core, pc, number, errp)) {
        return NULL;
    }
    return core;
}
