// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The memory controllers of Ice Lake-SP and later: a PCI function whose
 * configuration space says where in memory the registers of the controllers
 * are, and in each controller its channels and the free-running counters. From
 * Sapphire Rapids on the channels are listed in a table (discovery.c).
 *
 * Modelled: the two kinds of base address; of a channel the control and counter
 * registers, with the counting of counter.c, and freezing and resets; the
 * fixed counter, which has half the clock; of Ice Lake a third channel in each
 * controller that is not active, so that it ignores writes and reads 0, or is;
 * the free-running counters of traffic and of the clock; faults. What a manual forbids to write has no
 * effect, and is remembered (key "reserved").
 *
 * Decided here, since no source says: a counter cannot be written, but
 * by its reset; both resets are of the fixed counter, too; freezing stops it,
 * too; that it has half the clock also after Ice Lake; bit 16 of BOX_CTL is
 * kept and without effect; bits of the base addresses that no driver looks at
 * are not 0; the rest of the window reads all ones; queues have no cycles but
 * those that are set.
 *
 * Left out: the unit status; the bits of a control that clear its counter;
 * the other registers of a memory controller; migration.
 *
 * QEMU interface (devices "NAME-mmio", NAME of a row of generations.c):
 *  + property "socket": number of the socket, part of the models' names
 *  + property "third": a bit for each controller whose third channel is active
 *  + configuration registers: see CFG_* below; memory: see the row's window
 *  + models "imcN@S", N being the number in the in-tree driver's names,
 *    "freeN@S", N being the controller, and "mmio@S": the function and what its
 *    window lacks
 *  + control keys: see the tables of keys below
 * Wants "multifunction=on", which all functions of a real uncore have.
 */
#include "function.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "counter.h"
#include "common/fault.h"
#include "free.h"

#define MEM_REGISTERS       4
#define MAX_CHANNELS        3                   /* of a controller */

/* Configuration space */
#define CFG_BASE            0xd0
#define   CFG_BASE_ADDRESS      0x1fffffff      /* bits 51:23 of it */
#define   CFG_BASE_OTHER        0x20000000
#define CFG_WHOLE           0xd4                /* the same, where it is used */
#define CFG_MEM(i)          (0xd8 + 4 * (i))
#define   CFG_MEM_OFFSET        0x7ff           /* bits 22:12 */
#define   CFG_MEM_OTHER         0x00200000

#define BLOCK_SIZE          0x60

/* Registers of a block */
#define REG_BOX_CTL         0x00
#define REG_CTR(n)          (0x08 + 8 * (n))
#define REG_FIXED_CTR       0x38
#define REG_CTL(n)          (0x40 + 4 * (n))
#define REG_FIXED_CTL       0x54

typedef enum ChannelStat {
    STAT_CTL, STAT_CTR, STAT_FIXED_CTL, STAT_FIXED_CTR, STAT_BOX_CTL,
    STAT_NARROW, STAT_OTHER, CHANNEL_NSTATS
} ChannelStat;

static const char *const channel_stat_names[CHANNEL_NSTATS] = {
    "ctl", "ctr", "fixed_ctl", "fixed_ctr", "box_ctl", "narrow", "other",
};

typedef struct Mmio Mmio;

typedef struct MmioChannel {
    PmuModel model;
    Mmio *mmio;
    unsigned controller;
    IntelImcCounters counters;
    uint32_t box_ctl;
    uint64_t lose;          /* number of writes that will be lost */
    bool dead;
    bool doze;              /* no clock while the socket sleeps */
    bool gone;
    uint64_t reserved;      /* first forbidden write: register, wrong bits */
    PmuStat stats[CHANNEL_NSTATS];
} MmioChannel;

enum { STAT_PHANTOM, STAT_WINDOW, MMIO_NSTATS };

struct Mmio {
    UncoreFunction parent_obj;

    MemoryRegion window;
    uint32_t third;
    uint32_t base;
    uint32_t mem[MEM_REGISTERS];
    MmioChannel channel[INTEL_IMC_MAX_CONTROLLERS][MAX_CHANNELS];
    IntelImcFreeRunning free[INTEL_IMC_MAX_CONTROLLERS];
    PmuStat stats[MMIO_NSTATS];
};

DECLARE_INSTANCE_CHECKER(Mmio, MMIO, TYPE_INTEL_IMC_MMIO)

static const UncoreGeneration *mmio_gen(Mmio *mmio)
{
    return UNCORE_FUNCTION_GET_CLASS(mmio)->gen;
}

static const IntelImcWindow *mmio_window(Mmio *mmio)
{
    return mmio_gen(mmio)->window;
}

/* A third one needs a number. */
static unsigned mmio_channels(Mmio *mmio, unsigned controller)
{
    const IntelImcWindow *window = mmio_window(mmio);
    bool third = window->numbers == MAX_CHANNELS &&
                 mmio->third >> controller & 1;

    return third ? MAX_CHANNELS : window->channels;
}

static MmioChannel *channel_of(PmuModel *model)
{
    return container_of(model, MmioChannel, model);
}

static Mmio *mmio_of(PmuModel *model)
{
    return MMIO(uncore_function(model));
}

/* A channel's registers */

static ChannelStat channel_stat(unsigned reg)
{
    switch (reg) {
    case REG_BOX_CTL:
        return STAT_BOX_CTL;
    case REG_CTR(0) ... REG_CTR(INTEL_IMC_NGENERAL) - 1:
        return STAT_CTR;
    case REG_FIXED_CTR ... REG_FIXED_CTR + 7:
        return STAT_FIXED_CTR;
    case REG_CTL(0) ... REG_CTL(INTEL_IMC_NGENERAL) - 1:
        return STAT_CTL;
    case REG_FIXED_CTL:
        return STAT_FIXED_CTL;
    default:
        return STAT_OTHER;
    }
}

static bool stat_is_counter(ChannelStat stat)
{
    return stat == STAT_CTR || stat == STAT_FIXED_CTR;
}

static void stat_count(PmuStat *stat, bool write)
{
    if (write) {
        stat->writes++;
    } else {
        stat->reads++;
    }
}

/* Counters are read at once, the rest has 32 bits. */
static void channel_count(MmioChannel *ch, unsigned reg, unsigned size,
                          bool write)
{
    ChannelStat stat = channel_stat(reg);
    unsigned width = stat_is_counter(stat) ? 8 : 4;

    if (stat != STAT_OTHER && (size != width || reg % width)) {
        stat = STAT_NARROW;
    }
    stat_count(&ch->stats[stat], write);
}

/* Bring the counters up to the present time, then stop or start the clock. */
static void channel_set_clock(MmioChannel *ch)
{
    uint32_t socket = UNCORE_FUNCTION(ch->mmio)->socket;

    intel_imc_counters_sync(&ch->counters);
    model_clock_set_stopped(&ch->counters.clk, ch->dead ||
                            (ch->doze && !uncore_socket_awake(socket)));
}

/* The dword at @reg, a multiple of 4 */
static uint32_t channel_dword(MmioChannel *ch, unsigned reg)
{
    unsigned index;
    uint64_t high;

    switch (channel_stat(reg)) {
    case STAT_BOX_CTL:
        return ch->box_ctl;
    case STAT_CTR:
        index = (reg - REG_CTR(0)) / 8;
        break;
    case STAT_FIXED_CTR:
        index = INTEL_IMC_FIXED;
        break;
    case STAT_CTL:
        return ch->counters.ctl[(reg - REG_CTL(0)) / 4];
    case STAT_FIXED_CTL:
        return ch->counters.ctl[INTEL_IMC_FIXED];
    default:
        return 0;
    }
    high = ch->counters.answer[INTEL_IMC_HIGH];
    return (ch->counters.value[index] | high << 48) >> (reg & 4 ? 32 : 0);
}

static uint64_t channel_read(MmioChannel *ch, unsigned reg, unsigned size)
{
    uint64_t value;

    channel_count(ch, reg, size, false);
    if (ch->gone) {
        return UINT64_MAX;
    }
    channel_set_clock(ch);
    value = channel_dword(ch, reg & ~3u);
    if (size == 8) {
        value |= (uint64_t)channel_dword(ch, reg + 4) << 32;
    }
    return pmu_fault_read(&ch->model, value >> 8 * (reg & 3), size);
}

static void channel_reserved(MmioChannel *ch, unsigned reg, uint32_t wrong)
{
    if (wrong && !ch->reserved) {
        ch->reserved = (uint64_t)reg << 32 | wrong;
    }
}

static void channel_write_box_ctl(MmioChannel *ch, uint32_t value)
{
    const IntelImcRegisters *regs = mmio_gen(ch->mmio)->registers;
    unsigned i;

    channel_reserved(ch, REG_BOX_CTL, value & regs->box_reserved);
    for (i = 0; i < INTEL_IMC_NCOUNTERS; i++) {
        if (value & regs->box_rst_ctrs) {
            intel_imc_counter_set(&ch->counters, i, 0);
        }
        if (value & regs->box_rst_ctrl) {
            intel_imc_counter_set_ctl(&ch->counters, i, 0);
        }
    }
    ch->box_ctl = value & regs->box_kept;
    intel_imc_counters_set_frozen(&ch->counters, value & regs->box_frz);
}

static void channel_write_dword(MmioChannel *ch, unsigned reg, uint32_t value)
{
    const IntelImcRegisters *regs = mmio_gen(ch->mmio)->registers;

    switch (channel_stat(reg)) {
    case STAT_BOX_CTL:
        channel_write_box_ctl(ch, value);
        break;
    case STAT_CTR:
    case STAT_FIXED_CTR:
        channel_reserved(ch, reg, UINT32_MAX);
        break;
    case STAT_CTL:
        channel_reserved(ch, reg, value & regs->ctl_reserved);
        intel_imc_counter_set_ctl(&ch->counters, (reg - REG_CTL(0)) / 4,
                                  value & regs->ctl_mask);
        break;
    case STAT_FIXED_CTL:
        channel_reserved(ch, reg, value & ~INTEL_IMC_CTL_EN);
        intel_imc_counter_set_ctl(&ch->counters, INTEL_IMC_FIXED,
                                  value & INTEL_IMC_CTL_EN);
        break;
    default:
        break;
    }
}

/* An access narrower than a dword is part of one. */
static void channel_write(MmioChannel *ch, unsigned reg, unsigned size,
                          uint64_t value)
{
    channel_count(ch, reg, size, true);
    if (ch->gone || !pmu_fault_write(&ch->model)) {
        return;
    }
    if (ch->lose) {
        ch->lose--;
        return;
    }
    channel_set_clock(ch);
    if (size < 4) {
        value = deposit32(channel_dword(ch, reg & ~3u), 8 * (reg & 3),
                          8 * size, value);
    }
    channel_write_dword(ch, reg & ~3u, value);
    if (size == 8) {
        channel_write_dword(ch, reg + 4, value >> 32);
    }
}

static bool channel_add(PmuModel *model, const char *name, uint64_t n,
                        uint64_t inc, Error **errp)
{
    MmioChannel *ch = channel_of(model);
    const IntelImcEvent *event =
        intel_imc_event_find(mmio_gen(ch->mmio)->events, name, errp);

    if (!event) {
        return false;
    }
    if (inc < 1 || inc > event->max_inc) {
        error_setg(errp, "%s counts 1 to %u in a clock, not %" PRIu64,
                   event->name, event->max_inc, inc);
        return false;
    }
    if (ch->dead) {
        error_setg(errp, "%s is dead: nothing can happen on it", model->name);
        return false;
    }
    intel_imc_counters_event(&ch->counters, event, n, inc);
    intel_imc_free_event(&ch->mmio->free[ch->controller],
                         mmio_window(ch->mmio), event, n * inc);
    return true;
}

static void channel_list_events(PmuModel *model, GString *out)
{
    IntelImcEvents of = mmio_gen(channel_of(model)->mmio)->events;
    const IntelImcEvent *e = NULL;

    while ((e = intel_imc_event_next(of, e))) {
        g_string_append_printf(out, "event %s %s code=0x%02x umask=0x%02x "
                               "max=%u%s", e->name, e->alias ?: "-", e->code,
                               e->umask | e->place, e->max_inc,
                               e->places ? "" : "\n");
        if (e->places) {
            g_string_append_printf(out, " places=0x%02x\n", e->places);
        }
    }
}

static uint64_t get_counter(PmuModel *model, unsigned index)
{
    intel_imc_counters_sync(&channel_of(model)->counters);
    return channel_of(model)->counters.value[index];
}

static bool set_counter(PmuModel *model, unsigned index, uint64_t value,
                        Error **errp)
{
    intel_imc_counter_set(&channel_of(model)->counters, index, value);
    return true;
}

enum { FAULT_DEAD, FAULT_DOZE, FAULT_GONE };

static bool *channel_fault(PmuModel *model, unsigned fault)
{
    MmioChannel *ch = channel_of(model);

    return fault == FAULT_DEAD ? &ch->dead :
           fault == FAULT_DOZE ? &ch->doze : &ch->gone;
}

static uint64_t get_fault(PmuModel *model, unsigned fault)
{
    return *channel_fault(model, fault);
}

static bool set_fault(PmuModel *model, unsigned fault, uint64_t value,
                      Error **errp)
{
    *channel_fault(model, fault) = value;
    channel_set_clock(channel_of(model));
    return true;
}

enum { NUMBER_LOSE, NUMBER_RESERVED };

static uint64_t *channel_number(PmuModel *model, unsigned number)
{
    MmioChannel *ch = channel_of(model);

    return number == NUMBER_LOSE ? &ch->lose : &ch->reserved;
}

static uint64_t get_number(PmuModel *model, unsigned number)
{
    return *channel_number(model, number);
}

static bool set_number(PmuModel *model, unsigned number, uint64_t value,
                       Error **errp)
{
    *channel_number(model, number) = value;
    return true;
}

static uint64_t get_answer(PmuModel *model, unsigned answer)
{
    return channel_of(model)->counters.answer[answer];
}

static bool set_answer(PmuModel *model, unsigned answer, uint64_t value,
                       Error **errp)
{
    IntelImcCounters *c = &channel_of(model)->counters;

    intel_imc_counters_sync(c);
    c->answer[answer] = value;
    return true;
}

#define COUNTER_KEY(name, index) \
    { name, "value of the counter, 48 bits", INTEL_IMC_COUNTER_MASK, index, \
      get_counter, set_counter }

static const PmuKey channel_keys[] = {
    COUNTER_KEY("ctr0", 0), COUNTER_KEY("ctr1", 1), COUNTER_KEY("ctr2", 2),
    COUNTER_KEY("ctr3", 3), COUNTER_KEY("fixed", INTEL_IMC_FIXED),
    { "dead", "1: the clock stands still and nothing happens", 1, FAULT_DEAD,
      get_fault, set_fault },
    { "doze", "1: from an access on the clock runs only if a CPU of the socket "
      "is awake then (package sleep)", 1, FAULT_DOZE, get_fault, set_fault },
    { "gone", "1: all-ones to every read, no write arrives", 1, FAULT_GONE,
      get_fault, set_fault },
    PMU_FAULT_KEYS,
    { "lose", "so many of the next writes do not arrive", UINT32_MAX,
      NUMBER_LOSE, get_number, set_number },
    { "reserved", "the first write that a manual forbids, register << 32 | "
      "bits that were wrong; 0: none", 0, NUMBER_RESERVED,
      get_number, set_number },
    { "runs_frozen", "1: the fixed counter runs on in a channel that is frozen; "
      "2: the general ones do", 2, INTEL_IMC_RUNS_FROZEN, get_answer,
      set_answer },
    { "exceeds", "1: an increment has to be more than the threshold", 1,
      INTEL_IMC_EXCEEDS, get_answer, set_answer },
    { "below", "1: a threshold counts increments that do not reach it", 1,
      INTEL_IMC_BELOW, get_answer, set_answer },
    { "no_event_0", "1: no event is the clock", 1, INTEL_IMC_NO_EVENT_0,
      get_answer, set_answer },
    { "high", "what bits 63:48 of a counter read", UINT16_MAX, INTEL_IMC_HIGH,
      get_answer, set_answer },
    { "twice", "1: a control takes only what is written twice in a row", 1,
      INTEL_IMC_TWICE, get_answer, set_answer },
    { "drops", "bits that a control does not keep", UINT32_MAX, INTEL_IMC_DROPS,
      get_answer, set_answer },
};

/* The window */

typedef enum Place {
    PLACE_NOWHERE, PLACE_CHANNEL, PLACE_PHANTOM, PLACE_FREE,
} Place;

/*
 * What is at an offset of the window: which channel, and where in its block; or
 * which free-running counter, and which byte of it
 */
static Place mmio_place(Mmio *mmio, hwaddr at, unsigned *controller,
                        unsigned *which, unsigned *reg)
{
    const IntelImcWindow *window = mmio_window(mmio);
    unsigned i, n;
    int free;

    for (i = 0; i < window->controllers; i++) {
        hwaddr in = at - window->first - i * window->stride;

        *controller = i;
        free = intel_imc_free_at(window, in);
        if (free >= 0) {
            *which = free;
            *reg = in & 7;
            return PLACE_FREE;
        }
        for (n = 0; n < window->numbers; n++) {
            *which = n;
            *reg = in - window->block - n * window->block_stride;
            if (*reg < BLOCK_SIZE && in < INTEL_IMC_WINDOW_SIZE) {
                return n < mmio_channels(mmio, i) ? PLACE_CHANNEL :
                                                    PLACE_PHANTOM;
            }
        }
    }
    return PLACE_NOWHERE;
}

static uint64_t mmio_read(void *opaque, hwaddr at, unsigned size)
{
    Mmio *mmio = opaque;
    unsigned controller, which, reg;
    Place place = mmio_place(mmio, at, &controller, &which, &reg);
    uint64_t value = UINT64_MAX;

    switch (place) {
    case PLACE_CHANNEL:
        value = channel_read(&mmio->channel[controller][which], reg, size);
        break;
    case PLACE_FREE:
        value = intel_imc_free_read(&mmio->free[controller], which, reg);
        break;
    case PLACE_PHANTOM:
        stat_count(&mmio->stats[STAT_PHANTOM], false);
        value = 0;
        break;
    case PLACE_NOWHERE:
        stat_count(&mmio->stats[STAT_WINDOW], false);
        break;
    }
    return UNCORE_FUNCTION(mmio)->gone ? UINT64_MAX : value;
}

static void mmio_write(void *opaque, hwaddr at, uint64_t value, unsigned size)
{
    Mmio *mmio = opaque;
    unsigned controller, which, reg;

    switch (mmio_place(mmio, at, &controller, &which, &reg)) {
    case PLACE_CHANNEL:
        if (!UNCORE_FUNCTION(mmio)->gone) {
            channel_write(&mmio->channel[controller][which], reg, size,
                          value);
        }
        break;
    case PLACE_FREE:
        stat_count(&mmio->free[controller].stat, true);
        break;
    case PLACE_PHANTOM:
        stat_count(&mmio->stats[STAT_PHANTOM], true);
        break;
    case PLACE_NOWHERE:
        stat_count(&mmio->stats[STAT_WINDOW], true);
        break;
    }
}

static const MemoryRegionOps mmio_ops = {
    .read = mmio_read,
    .write = mmio_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* The function */

static bool mmio_config_read(UncoreFunction *f, uint32_t reg, uint32_t *value)
{
    Mmio *mmio = MMIO(f);
    bool whole = mmio_window(mmio)->whole;

    if (reg == (whole ? CFG_WHOLE : CFG_BASE)) {
        *value = mmio->base;
        return true;
    }
    if (!whole && reg >= CFG_MEM(0) && reg < CFG_MEM(MEM_REGISTERS)) {
        *value = mmio->mem[(reg - CFG_MEM(0)) / 4];
        return true;
    }
    return false;
}

enum { KEY_BASE = MEM_REGISTERS };

static uint32_t *mmio_register(PmuModel *model, unsigned arg)
{
    Mmio *mmio = mmio_of(model);

    return arg == KEY_BASE ? &mmio->base : &mmio->mem[arg];
}

static uint64_t get_register(PmuModel *model, unsigned arg)
{
    return *mmio_register(model, arg);
}

static bool set_register(PmuModel *model, unsigned arg, uint64_t value,
                         Error **errp)
{
    *mmio_register(model, arg) = value;
    return true;
}

#define REGISTER_KEY(name, arg) \
    { name, "what the register of the address holds; the memory stays where " \
      "it is", UINT32_MAX, arg, get_register, set_register }

static const PmuKey mmio_keys[] = {
    REGISTER_KEY("base", KEY_BASE),
    REGISTER_KEY("mem0", 0), REGISTER_KEY("mem1", 1),
    REGISTER_KEY("mem2", 2), REGISTER_KEY("mem3", 3),
    UNCORE_KEY_GONE,
};

static void mmio_start_channel(Mmio *mmio, unsigned controller, unsigned n,
                               Error **errp)
{
    const IntelImcRegisters *regs = mmio_gen(mmio)->registers;
    MmioChannel *ch = &mmio->channel[controller][n];
    unsigned i;

    ch->mmio = mmio;
    ch->controller = controller;
    model_clock_init(&ch->counters.clk, INTEL_IMC_DCLK_HZ, false);
    ch->counters.fixed_shift = 1;
    ch->counters.no_enable = regs->no_enable;
    if (regs->half_clock) {
        ch->counters.clock = &intel_imc_event_dclk;
        ch->counters.half_clock = &intel_imc_event_hclk;
    }
    for (i = 0; i < CHANNEL_NSTATS; i++) {
        ch->stats[i].name = channel_stat_names[i];
    }
    ch->model = (PmuModel) {
        .name = g_strdup_printf("imc%u@%u",
                                controller * mmio_window(mmio)->numbers + n,
                                UNCORE_FUNCTION(mmio)->socket),
        .description = "memory channel",
        .keys = channel_keys,
        .nkeys = ARRAY_SIZE(channel_keys),
        .stats = ch->stats,
        .nstats = CHANNEL_NSTATS,
        .list_events = channel_list_events,
        .add = channel_add,
    };
    pmu_registry_add(&ch->model, errp);
}

/* Has a controller free-running counters? They all have the clock. */
static bool mmio_has_free(Mmio *mmio)
{
    return mmio_window(mmio)->free[INTEL_IMC_FREE_DCLK];
}

/* Faults and what counts all the time are not the reset's. */
static void mmio_reset_hold(Object *obj, ResetType type)
{
    Mmio *mmio = MMIO(obj);
    const IntelImcRegisters *regs = mmio_gen(mmio)->registers;
    unsigned i, n;

    for (i = 0; i < mmio_window(mmio)->controllers; i++) {
        for (n = 0; n < mmio_channels(mmio, i); n++) {
            MmioChannel *ch = &mmio->channel[i][n];
            uint64_t reserved = ch->reserved;

            channel_write_box_ctl(ch, regs->box_rst_ctrs | regs->box_rst_ctrl);
            ch->reserved = reserved;
        }
    }
}

static void mmio_realize(PCIDevice *pci, Error **errp)
{
    Mmio *mmio = MMIO(pci);
    const IntelImcWindow *window = mmio_window(mmio);
    UncoreFunction *f = UNCORE_FUNCTION(pci);
    uint64_t base = INTEL_IMC_WINDOW_BASE(f->socket);
    unsigned i, n;

    mmio->base = CFG_BASE_OTHER | base >> 23;
    for (i = 0; i < MEM_REGISTERS; i++) {
        mmio->mem[i] = CFG_MEM_OTHER |
                       (i < window->controllers ?
                        (window->first + i * window->stride) >> 12 : 0);
    }
    mmio->stats[STAT_PHANTOM].name = "phantom";
    mmio->stats[STAT_WINDOW].name = "window";
    f->model = (PmuModel) {
        .description = "where the memory controllers' registers are",
        .keys = mmio_keys,
        .nkeys = ARRAY_SIZE(mmio_keys),
        .stats = mmio->stats,
        .nstats = MMIO_NSTATS,
    };
    if (!uncore_function_start(f, &mmio_gen(mmio)->mmio,
                               g_strdup_printf("mmio@%u", f->socket), errp)) {
        return;
    }
    for (i = 0; i < window->controllers; i++) {
        for (n = 0; n < mmio_channels(mmio, i); n++) {
            mmio_start_channel(mmio, i, n, &error_abort);
        }
        if (mmio_has_free(mmio)) {
            intel_imc_free_start(&mmio->free[i], window, i, f->socket,
                                 &error_abort);
        }
    }
    memory_region_init_io(&mmio->window, OBJECT(mmio), &mmio_ops, mmio,
                          TYPE_INTEL_IMC_MMIO, INTEL_IMC_WINDOW_SIZE);
    memory_region_add_subregion_overlap(get_system_memory(), base,
                                        &mmio->window, 1);
}

static void (*function_exit)(PCIDevice *pci);

static void mmio_exit(PCIDevice *pci)
{
    Mmio *mmio = MMIO(pci);
    unsigned i, n;

    memory_region_del_subregion(get_system_memory(), &mmio->window);
    for (i = 0; i < mmio_window(mmio)->controllers; i++) {
        for (n = 0; n < mmio_channels(mmio, i); n++) {
            pmu_registry_remove(&mmio->channel[i][n].model);
            g_free(mmio->channel[i][n].model.name);
        }
        if (mmio_has_free(mmio)) {
            pmu_registry_remove(&mmio->free[i].model);
            g_free(mmio->free[i].model.name);
        }
    }
    function_exit(pci);
}

static const Property mmio_properties[] = {
    DEFINE_PROP_UINT32("socket", Mmio, parent_obj.socket, 0),
    DEFINE_PROP_UINT16("device-id", Mmio, parent_obj.id, 0),
    DEFINE_PROP_UINT32("third", Mmio, third, 0),
};

static void mmio_class_init(ObjectClass *klass, ClassInitData *data)
{
    UncoreFunctionClass *fc = UNCORE_FUNCTION_CLASS(klass);

    fc->read = mmio_config_read;
    PCI_DEVICE_CLASS(klass)->realize = mmio_realize;
    function_exit = PCI_DEVICE_CLASS(klass)->exit;
    PCI_DEVICE_CLASS(klass)->exit = mmio_exit;
    RESETTABLE_CLASS(klass)->phases.hold = mmio_reset_hold;
    DEVICE_CLASS(klass)->desc = "memory channels in memory space";
    device_class_set_props(DEVICE_CLASS(klass), mmio_properties);
}

static const TypeInfo mmio_type = {
    .name = TYPE_INTEL_IMC_MMIO,
    .parent = TYPE_UNCORE_FUNCTION,
    .instance_size = sizeof(Mmio),
    .class_init = mmio_class_init,
    .abstract = true,
};

static void mmio_register_types(void)
{
    type_register_static(&mmio_type);
}

type_init(mmio_register_types)
