// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A memory channel of an Intel Xeon processor, as a PCI function with four
 * general performance counters and one for the DRAM clock.
 *
 * Modelled: the control and counter registers between 0xA0 and 0xF4, 48-bit
 * counting of DRAM clocks by virtual time and of events that a test adds,
 * thresholds, inversion, edges, freezing, and faults. The halves of a counter
 * are two registers and nothing is latched between. Writes that a manual
 * forbids have no effect, and are remembered (key "reserved").
 *
 * Left out, since no driver uses it: overflow flags (BOX_STATUS, 0xF8) and
 * interrupts; the bits of CTLn and FIXED_CTL that clear a counter. Also the
 * fifth counter (0xC0, 0xE8), which only a datasheet lists; everything of a
 * memory controller that is not counting; migration.
 *
 * QEMU interface (devices "NAME-imc", NAME of a generation, see generations.c):
 *  + property "socket": number of the socket, part of the model's name; of
 *    processors with several dies it is the die's, over all sockets
 *  + property "channel": its number in the generation's table, over all memory
 *    controllers; the function must sit at that channel's slot
 *  + configuration registers: see REG_* below
 *  + control keys: see channel_keys below
 * Wants "multifunction=on", which all functions of a real uncore have.
 */
#include "function.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "counter.h"
#include "common/fault.h"

/* Configuration registers of a channel */
#define REG_CTR(n)          (0xa0 + 8 * (n))    /* low; high follows */
#define REG_FIXED_CTR       0xd0
#define REG_CTL(n)          (0xd8 + 4 * (n))
#define REG_FIXED_CTL       0xf0
#define REG_BOX_CTL         0xf4
#define   BOX_CTL_BIT17         (1u << 17)      /* without effect */
#define   BOX_CTL_FRZ_EN        (1u << 16)
#define   BOX_CTL_FRZ           (1u << 8)
#define   BOX_CTL_RST_CTRS      (1u << 1)
#define   BOX_CTL_RST_CTRL      (1u << 0)

#define FIXED_CTL_RST       (1u << 19)          /* without effect */

#define RPQ_INSERTS         0x10                /* event code */
#define DCLK_HZ             800000000           /* DDR3-1600 */

typedef enum ChannelStat {
    STAT_CTL, STAT_CTR, STAT_FIXED_CTL, STAT_FIXED_CTR, STAT_BOX_CTL,
    STAT_NARROW, STAT_CONFIG, CHANNEL_NSTATS
} ChannelStat;

static const char *const channel_stat_names[CHANNEL_NSTATS] = {
    "ctl", "ctr", "fixed_ctl", "fixed_ctr", "box_ctl", "narrow", "config",
};

/* When a tear happens: after the next read of which half */
enum { TEAR_LOW, TEAR_HIGH, TEAR_NHALVES };

typedef struct Channel {
    UncoreFunction parent_obj;

    uint32_t channel;
    IntelImcCounters counters;
    uint32_t box_ctl;
    uint64_t tear[TEAR_NHALVES];
    uint64_t lose;          /* number of writes that will be lost */
    bool dead;
    bool doze;              /* no clock while the socket sleeps */
    uint64_t high;          /* bits 63:48 of each counter, as they read */
    bool latches;           /* the low half that is read keeps the high one */
    uint32_t latched[INTEL_IMC_NCOUNTERS];
    bool twice;             /* a control takes what is written twice */
    uint32_t written[INTEL_IMC_NGENERAL];
    uint32_t drops;         /* bits that a control does not keep */
    bool unbounded;         /* add takes larger increments than published */
    bool arrives;           /* a read comes while somebody counts reads */
    uint64_t reserved;      /* first forbidden write: register, wrong bits */
    PmuStat stats[CHANNEL_NSTATS];
} Channel;

DECLARE_INSTANCE_CHECKER(Channel, CHANNEL, TYPE_INTEL_IMC_CHANNEL)

static const UncoreGeneration *channel_gen(Channel *ch)
{
    return UNCORE_FUNCTION_GET_CLASS(ch)->gen;
}

static const IntelImcRegisters *channel_registers(Channel *ch)
{
    return channel_gen(ch)->registers;
}

static ChannelStat channel_stat(uint32_t reg)
{
    switch (reg) {
    case REG_CTR(0) ... REG_CTR(INTEL_IMC_NGENERAL) - 1:
        return STAT_CTR;
    case REG_FIXED_CTR ... REG_FIXED_CTR + 7:
        return STAT_FIXED_CTR;
    case REG_CTL(0) ... REG_CTL(INTEL_IMC_NGENERAL) - 1:
        return STAT_CTL;
    case REG_FIXED_CTL:
        return STAT_FIXED_CTL;
    case REG_BOX_CTL:
        return STAT_BOX_CTL;
    default:
        return STAT_CONFIG;
    }
}

static PmuStat *channel_access_stat(UncoreFunction *f, uint32_t addr, int len)
{
    ChannelStat class = channel_stat(addr & ~3);

    if (class != STAT_CONFIG && (len != 4 || addr & 3)) {
        class = STAT_NARROW;
    }
    return &CHANNEL(f)->stats[class];
}

static bool is_counter(uint32_t reg, unsigned *index, bool *high)
{
    ChannelStat class = channel_stat(reg);

    if (class != STAT_CTR && class != STAT_FIXED_CTR) {
        return false;
    }
    *index = class == STAT_CTR ? (reg - REG_CTR(0)) / 8 : INTEL_IMC_FIXED;
    *high = reg & 4;
    return true;
}

/*
 * Move the counter between this access and the next, as may happen on hardware.
 * A stopped counter cannot move: then the tear waits.
 */
static void channel_tear(Channel *ch, unsigned index, bool high)
{
    uint64_t *tear = &ch->tear[high ? TEAR_HIGH : TEAR_LOW];

    if (!ch->counters.clk.stopped &&
        intel_imc_counter_runs(&ch->counters, index)) {
        intel_imc_counter_bump(&ch->counters, index, *tear);
        *tear = 0;
    }
}

/* Bring the counters up to the present time, then stop or start the clock. */
static void channel_set_clock(Channel *ch)
{
    intel_imc_counters_sync(&ch->counters);
    model_clock_set_stopped(&ch->counters.clk, ch->dead ||
                            (ch->doze &&
                             !uncore_socket_awake(UNCORE_FUNCTION(ch)->socket)));
}

/* The value of a register as it is now, without the effects of a read */
static bool channel_peek(Channel *ch, uint32_t reg, uint32_t *value)
{
    unsigned index;
    bool high;

    channel_set_clock(ch);
    if (is_counter(reg, &index, &high)) {
        *value = (ch->counters.value[index] | ch->high << 48) >>
                 (high ? 32 : 0);
        return true;
    }
    switch (channel_stat(reg)) {
    case STAT_CTL:
        *value = ch->counters.ctl[(reg - REG_CTL(0)) / 4];
        return true;
    case STAT_FIXED_CTL:
        *value = ch->counters.ctl[INTEL_IMC_FIXED];
        return true;
    case STAT_BOX_CTL:
        *value = ch->box_ctl;
        return true;
    default:
        return false;
    }
}

static bool channel_read(UncoreFunction *f, uint32_t reg, uint32_t *value)
{
    Channel *ch = CHANNEL(f);
    unsigned index;
    bool high;

    if (!channel_peek(ch, reg, value)) {
        return false;
    }
    if (is_counter(reg, &index, &high)) {
        if (!high) {
            ch->latched[index] = ch->counters.value[index] >> 32;
        } else if (ch->latches) {
            *value = ch->latched[index];
        }
        channel_tear(ch, index, high);
    }
    return true;
}

/* @zero has to be written as 0, @one as 1. */
static void channel_reserved(Channel *ch, uint32_t reg, uint32_t zero,
                             uint32_t one, uint32_t value)
{
    uint32_t wrong = (value & zero) | (~value & one);

    if (wrong && !ch->reserved) {
        ch->reserved = (uint64_t)reg << 32 | wrong;
    }
}

static void channel_write_counter(Channel *ch, uint32_t reg, unsigned index,
                                  bool high, uint32_t value)
{
    uint64_t now = ch->counters.value[index];

    if (high) {
        channel_reserved(ch, reg, 0xffff0000, 0, value);
        now = deposit64(now, 32, 16, value);
    } else {
        now = deposit64(now, 0, 32, value);
    }
    intel_imc_counter_set(&ch->counters, index, now);
}

/* A read that comes by itself, if a counter looks: the last before a write. */
static void channel_arrive(Channel *ch)
{
    unsigned i;

    for (i = 0; ch->arrives && i < INTEL_IMC_NGENERAL; i++) {
        if (intel_imc_counter_runs(&ch->counters, i) &&
            INTEL_IMC_CTL_EVENT(ch->counters.ctl[i]) == RPQ_INSERTS) {
            ch->arrives = false;
            intel_imc_counters_event(&ch->counters,
                intel_imc_event_find(channel_gen(ch)->events, "rpq_inserts",
                                     &error_abort), 1, 1);
        }
    }
}

static void channel_write_box_ctl(Channel *ch, uint32_t value)
{
    const IntelImcRegisters *regs = channel_registers(ch);
    unsigned i;

    channel_reserved(ch, REG_BOX_CTL, regs->box_reserved, regs->box_wanted,
                     value);
    channel_arrive(ch);
    for (i = 0; regs->box_resets && i < INTEL_IMC_NCOUNTERS; i++) {
        if (value & BOX_CTL_RST_CTRS) {
            intel_imc_counter_set(&ch->counters, i, 0);
        }
        if (value & BOX_CTL_RST_CTRL) {
            intel_imc_counter_set_ctl(&ch->counters, i, 0);
        }
    }
    ch->box_ctl = (value & (BOX_CTL_BIT17 | BOX_CTL_FRZ_EN | BOX_CTL_FRZ)) |
                  regs->box_ones;
    intel_imc_counters_set_frozen(&ch->counters, value & BOX_CTL_FRZ &&
                                  (value & BOX_CTL_FRZ_EN ||
                                   !regs->frz_needs_frz_en));
}

static void channel_write_fixed_ctl(Channel *ch, uint32_t value)
{
    uint32_t mask = channel_registers(ch)->ctl_mask &
                    (INTEL_IMC_CTL_EN | INTEL_IMC_CTL_OV_EN);

    channel_reserved(ch, REG_FIXED_CTL, ~(mask | FIXED_CTL_RST), 0, value);
    intel_imc_counter_set_ctl(&ch->counters, INTEL_IMC_FIXED, value & mask);
}

static void channel_write_ctl(Channel *ch, uint32_t reg, uint32_t value)
{
    const IntelImcRegisters *regs = channel_registers(ch);
    unsigned index = (reg - REG_CTL(0)) / 4;

    channel_reserved(ch, reg, regs->ctl_reserved, 0, value);
    if (ch->twice && ch->written[index] != value) {
        ch->written[index] = value;
        return;
    }
    intel_imc_counter_set_ctl(&ch->counters, index,
                              value & regs->ctl_mask & ~ch->drops);
}

static bool channel_write(UncoreFunction *f, uint32_t reg, uint32_t mask,
                          uint32_t value)
{
    Channel *ch = CHANNEL(f);
    unsigned index;
    uint32_t old;
    bool high;

    if (!channel_peek(ch, reg, &old)) {
        return false;
    }
    if (!pmu_fault_write(&f->model)) {
        return true;
    }
    if (ch->lose) {
        ch->lose--;
        return true;
    }
    value |= old & ~mask;
    if (is_counter(reg, &index, &high)) {
        channel_write_counter(ch, reg, index, high, value);
    } else if (reg == REG_FIXED_CTL) {
        channel_write_fixed_ctl(ch, value);
    } else if (reg == REG_BOX_CTL) {
        channel_write_box_ctl(ch, value);
    } else {
        channel_write_ctl(ch, reg, value);
    }
    return true;
}

static void channel_list_events(PmuModel *model, GString *out)
{
    Channel *ch = CHANNEL(uncore_function(model));
    const IntelImcEvent *e = NULL;

    while ((e = intel_imc_event_next(channel_gen(ch)->events, e))) {
        g_string_append_printf(out, "event %s %s code=0x%02x umask=0x%02x "
                               "max=%u\n", e->name, e->alias ?: "-", e->code,
                               e->umask, e->max_inc);
    }
}

static bool channel_add(PmuModel *model, const char *name, uint64_t n,
                        uint64_t inc, Error **errp)
{
    Channel *ch = CHANNEL(uncore_function(model));
    const IntelImcEvent *event =
        intel_imc_event_find(channel_gen(ch)->events, name, errp);

    if (!event) {
        return false;
    }
    if (inc < 1 || inc > (ch->unbounded ? UINT8_MAX : event->max_inc)) {
        error_setg(errp, "%s counts 1 to %u in a clock, not %" PRIu64,
                   event->name, event->max_inc, inc);
        return false;
    }
    if (ch->dead) {
        error_setg(errp, "%s is dead: nothing can happen on it", model->name);
        return false;
    }
    intel_imc_counters_event(&ch->counters, event, n, inc);
    return true;
}

static uint64_t get_counter(PmuModel *model, unsigned index)
{
    Channel *ch = CHANNEL(uncore_function(model));

    intel_imc_counters_sync(&ch->counters);
    return ch->counters.value[index];
}

static bool set_counter(PmuModel *model, unsigned index, uint64_t value,
                        Error **errp)
{
    intel_imc_counter_set(&CHANNEL(uncore_function(model))->counters, index,
                          value);
    return true;
}

static uint64_t get_tear(PmuModel *model, unsigned half)
{
    return CHANNEL(uncore_function(model))->tear[half];
}

static bool set_tear(PmuModel *model, unsigned half, uint64_t value,
                     Error **errp)
{
    CHANNEL(uncore_function(model))->tear[half] = value;
    return true;
}

static uint64_t get_reserved(PmuModel *model, unsigned arg)
{
    return CHANNEL(uncore_function(model))->reserved;
}

static bool set_reserved(PmuModel *model, unsigned arg, uint64_t value,
                         Error **errp)
{
    CHANNEL(uncore_function(model))->reserved = value;
    return true;
}

static uint64_t get_lose(PmuModel *model, unsigned arg)
{
    return CHANNEL(uncore_function(model))->lose;
}

static bool set_lose(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp)
{
    CHANNEL(uncore_function(model))->lose = value;
    return true;
}

static uint64_t get_dead(PmuModel *model, unsigned arg)
{
    return CHANNEL(uncore_function(model))->dead;
}

static bool set_dead(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp)
{
    Channel *ch = CHANNEL(uncore_function(model));

    ch->dead = value;
    channel_set_clock(ch);
    return true;
}

static uint64_t get_doze(PmuModel *model, unsigned arg)
{
    return CHANNEL(uncore_function(model))->doze;
}

static bool set_doze(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp)
{
    Channel *ch = CHANNEL(uncore_function(model));

    ch->doze = value;
    channel_set_clock(ch);
    return true;
}

static uint64_t get_answer(PmuModel *model, unsigned answer)
{
    return CHANNEL(uncore_function(model))->counters.answer[answer];
}

static bool set_answer(PmuModel *model, unsigned answer, uint64_t value,
                       Error **errp)
{
    Channel *ch = CHANNEL(uncore_function(model));

    intel_imc_counters_sync(&ch->counters);
    ch->counters.answer[answer] = value;
    return true;
}

/* Answers about registers, which are a channel's and not its counters' */
enum {
    ANSWER_HIGH, ANSWER_LATCHES, ANSWER_TWICE, ANSWER_DROPS, ANSWER_UNBOUNDED,
    ANSWER_ARRIVES,
};

static uint64_t get_of_registers(PmuModel *model, unsigned answer)
{
    Channel *ch = CHANNEL(uncore_function(model));

    return answer == ANSWER_HIGH ? ch->high :
           answer == ANSWER_LATCHES ? ch->latches :
           answer == ANSWER_TWICE ? ch->twice :
           answer == ANSWER_DROPS ? ch->drops :
           answer == ANSWER_ARRIVES ? ch->arrives : ch->unbounded;
}

static bool set_of_registers(PmuModel *model, unsigned answer, uint64_t value,
                             Error **errp)
{
    Channel *ch = CHANNEL(uncore_function(model));

    switch (answer) {
    case ANSWER_HIGH:
        ch->high = value;
        break;
    case ANSWER_LATCHES:
        ch->latches = value;
        break;
    case ANSWER_TWICE:
        ch->twice = value;
        break;
    case ANSWER_DROPS:
        ch->drops = value;
        break;
    case ANSWER_ARRIVES:
        ch->arrives = value;
        break;
    default:
        ch->unbounded = value;
        break;
    }
    return true;
}

#define COUNTER_KEY(name, index) \
    { name, "value of the counter, 48 bits", INTEL_IMC_COUNTER_MASK, index, \
      get_counter, set_counter }

static const PmuKey channel_keys[] = {
    COUNTER_KEY("ctr0", 0), COUNTER_KEY("ctr1", 1), COUNTER_KEY("ctr2", 2),
    COUNTER_KEY("ctr3", 3), COUNTER_KEY("fixed", INTEL_IMC_FIXED),
    { "tear", "counts between the next read of a running counter's low half "
      "and the next access, once; 0: none in wait", PMU_ADD_MAX, TEAR_LOW,
      get_tear, set_tear },
    { "tearhigh", "the same after the next read of a high half", PMU_ADD_MAX,
      TEAR_HIGH, get_tear, set_tear },
    { "dead", "1: the clock stands still and nothing happens (phantom channel)",
      1, 0, get_dead, set_dead },
    { "doze", "1: from an access on the clock runs only if a CPU of the socket "
      "is awake then (package sleep)", 1, 0, get_doze, set_doze },
    { "runs_frozen", "1: the fixed counter runs on in a channel that is frozen; "
      "2: the general ones do", 2, INTEL_IMC_RUNS_FROZEN, get_answer,
      set_answer },
    { "exceeds", "1: an increment has to be more than the threshold", 1,
      INTEL_IMC_EXCEEDS, get_answer, set_answer },
    { "below", "1: a threshold counts increments that do not reach it", 1,
      INTEL_IMC_BELOW, get_answer, set_answer },
    { "edge_alone", "without a threshold edge 1: counts nothing, 2: does nothing",
      2, INTEL_IMC_EDGE_ALONE, get_answer, set_answer },
    { "inv_alone", "1: without a threshold what is inverted counts nothing", 1,
      INTEL_IMC_INV_ALONE, get_answer, set_answer },
    { "begins_at", "how many were in a queue when its occupancy was selected, "
      "which begins at 0", UINT8_MAX, INTEL_IMC_BEGINS_AT, get_answer,
      set_answer },
    { "needs_umask", "1: events without sub-events need bit 0 of the umask", 1,
      INTEL_IMC_NEEDS_UMASK, get_answer, set_answer },
    { "no_event_0", "1: no event is the clock", 1, INTEL_IMC_NO_EVENT_0,
      get_answer, set_answer },
    { "high", "what bits 63:48 of a counter read", UINT16_MAX, ANSWER_HIGH,
      get_of_registers, set_of_registers },
    { "latches", "1: a read of a low half keeps the high one for the next read",
      1, ANSWER_LATCHES, get_of_registers, set_of_registers },
    { "twice", "1: a control takes only what is written twice in a row", 1,
      ANSWER_TWICE, get_of_registers, set_of_registers },
    { "drops", "bits that a general counter's control does not keep",
      UINT32_MAX, ANSWER_DROPS, get_of_registers, set_of_registers },
    { "unbounded", "1: increments may be larger than what is published", 1,
      ANSWER_UNBOUNDED, get_of_registers, set_of_registers },
    { "arrives", "1: a read comes by itself once a counter counts rpq_inserts",
      1, ANSWER_ARRIVES, get_of_registers, set_of_registers },
    UNCORE_KEY_GONE,
    PMU_FAULT_KEYS,
    { "lose", "so many of the next writes do not arrive", UINT32_MAX, 0,
      get_lose, set_lose },
    { "reserved", "the first write that a manual forbids, register << 32 | "
      "bits that were wrong; 0: none", 0, 0, get_reserved, set_reserved },
};

/* Reset value of every field is 0; faults are not the hardware's to reset. */
static void channel_reset_hold(Object *obj, ResetType type)
{
    Channel *ch = CHANNEL(obj);
    unsigned i;

    for (i = 0; i < INTEL_IMC_NCOUNTERS; i++) {
        intel_imc_counter_set_ctl(&ch->counters, i, 0);
        intel_imc_counter_set(&ch->counters, i, 0);
    }
    ch->box_ctl = channel_registers(ch)->box_ones;
    intel_imc_counters_set_frozen(&ch->counters, false);
}

static void channel_realize(PCIDevice *pci, Error **errp)
{
    Channel *ch = CHANNEL(pci);
    UncoreFunction *f = UNCORE_FUNCTION(pci);
    const UncoreGeneration *gen = channel_gen(ch);
    unsigned i;

    if (ch->channel >= gen->nchannels) {
        error_setg(errp, "%s has channels 0 to %u, not %u", gen->name,
                   gen->nchannels - 1, ch->channel);
        return;
    }
    model_clock_init(&ch->counters.clk, DCLK_HZ, false);
    for (i = 0; i < CHANNEL_NSTATS; i++) {
        ch->stats[i].name = channel_stat_names[i];
    }
    f->model = (PmuModel) {
        .description = "memory channel",
        .keys = channel_keys,
        .nkeys = ARRAY_SIZE(channel_keys),
        .stats = ch->stats,
        .nstats = CHANNEL_NSTATS,
        .list_events = channel_list_events,
        .add = channel_add,
    };
    uncore_function_start(f, &gen->channel[ch->channel],
                          g_strdup_printf("imc%u@%u", ch->channel, f->socket),
                          errp);
}

static const Property channel_properties[] = {
    DEFINE_PROP_UINT32("socket", Channel, parent_obj.socket, 0),
    DEFINE_PROP_UINT32("channel", Channel, channel, 0),
};

static void channel_class_init(ObjectClass *klass, ClassInitData *data)
{
    UncoreFunctionClass *fc = UNCORE_FUNCTION_CLASS(klass);

    fc->read = channel_read;
    fc->write = channel_write;
    fc->stat = channel_access_stat;
    PCI_DEVICE_CLASS(klass)->realize = channel_realize;
    RESETTABLE_CLASS(klass)->phases.hold = channel_reset_hold;
    DEVICE_CLASS(klass)->desc = "memory channel with performance counters";
    device_class_set_props(DEVICE_CLASS(klass), channel_properties);
}

static const TypeInfo channel_type = {
    .name = TYPE_INTEL_IMC_CHANNEL,
    .parent = TYPE_UNCORE_FUNCTION,
    .instance_size = sizeof(Channel),
    .class_init = channel_class_init,
    .abstract = true,
};

static void channel_register(void)
{
    type_register_static(&channel_type);
}

type_init(channel_register)
