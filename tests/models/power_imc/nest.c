// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The nest of a chip: microcode that posts the counts of the units outside the
 * cores to HOMER, and takes commands in a control block there.
 *
 * Modelled: the states of the microcode, its commands, speed and modes; groups
 * of counters between a head and a tail update count; posts of which half is
 * late, by some time (slow) or until it is ended (half), so that a reader can
 * meet one. Reading is reading memory; writes to the control block are seen and
 * counted.
 *
 * Left out: which counters a unit that is not in the availability vector does
 * not have; debug modes beyond their acceptance; hardware counters, which here
 * are what a test adds and, if it wants, an even stream (traffic).
 */
#include "device.h"
#include "qapi/error.h"

/* From HOMER */
#define NEST_COUNTERS   0x180000
#define NEST_CB         0x1bfc00
#define NEST_CB_PAGE    (NEST_CB & ~0xfffULL)

/* Control block */
enum {
    CB_STATUS = 0x00, CB_COMMAND = 0x08, CB_SPEED = 0x10, CB_UAV = 0x18,
    CB_MODE = 0x20, CB_MODE_STATE = 0x28
};

enum {
    STATUS_INITIALISING, STATUS_RUNNING, STATUS_PAUSED, STATUS_BAD_SPEED,
    STATUS_BAD_MODE
};

enum { COMMAND_NOP, COMMAND_RESUME, COMMAND_PAUSE, COMMAND_CLEAR };

#define SPEED_MAX       0xb     /* 2^11 posting periods */
#define MODE_MAX        1
#define SLOT_NS         500000  /* the microcode's turn */
#define STARTUP_SLOTS   4
#define CLEAR_SIZE      (238 * 8)

typedef enum NestStat {
    STAT_STATUS, STAT_COMMAND, STAT_SPEED, STAT_UAV, STAT_MODE, STAT_OTHER,
    STAT_NEST_POST, NEST_NSTATS
} NestStat;

static const char *const stat_names[NEST_NSTATS] = {
    "status", "command", "speed", "uav", "mode", "other", "post",
};

struct PowerImcNest {
    PmuModel model;
    PowerImc *imc;
    hwaddr counters;        /* real address */
    MemoryRegion page;      /* with the control block */
    uint8_t *cb;
    QEMUTimer slot_timer;
    QEMUTimer post_timer;
    QEMUTimer end_timer;
    int64_t due;
    unsigned startup;       /* slots until the microcode is initialised */
    uint64_t posts;
    unsigned open;          /* bit n: group n has a head without its tail */
    uint64_t added[POWER_IMC_NEST_SIZE / 8];
    int64_t traffic_ns[POWER_IMC_MAX_GROUPS];
    uint64_t traffic_rest[POWER_IMC_MAX_GROUPS];
    uint64_t traffic;
    bool through;               /* it counts during a pause, too */
    bool stalled;               /* its controller does not run it */
    bool agree;                 /* every group counts at its own head */
    uint64_t slow;
    bool half;              /* no posts: one is halfway */
    uint64_t starts;
    uint64_t stops;
    PmuStat stats[NEST_NSTATS];
};

static uint64_t cb_get(const PowerImcNest *nest, unsigned field)
{
    return ldq_be_p(nest->cb + field);
}

static void cb_set(PowerImcNest *nest, unsigned field, uint64_t value)
{
    stq_be_p(nest->cb + field, value);
    memory_region_flush_rom_device(&nest->page,
                                   NEST_CB - NEST_CB_PAGE + field, 8);
}

static const PowerImcGroup *nest_group(const PowerImcNest *nest, unsigned i)
{
    const PowerImcGroup *group = &nest->imc->gen->groups[i];

    return i < POWER_IMC_MAX_GROUPS && group->name ? group : NULL;
}

/* A framed group's counters are those between the update counts. */
static unsigned first_counter(const PowerImcGroup *group)
{
    return group->start + (group->framed ? 8 : 0);
}

static unsigned counters_end(const PowerImcGroup *group)
{
    return group->end - (group->framed ? 8 : 0);
}

static unsigned middle(const PowerImcGroup *group)
{
    return QEMU_ALIGN_DOWN((first_counter(group) + counters_end(group)) / 2, 8);
}

static void nest_add_traffic(PowerImcNest *nest, unsigned i)
{
    const PowerImcGroup *group = nest_group(nest, i);
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    unsigned __int128 events = nest->traffic_rest[i];
    unsigned offset;

    if (nest->through || cb_get(nest, CB_STATUS) == STATUS_RUNNING) {
        events += (unsigned __int128)(now - nest->traffic_ns[i]) *
                  nest->traffic;
    }
    nest->traffic_rest[i] = events % NANOSECONDS_PER_SECOND;
    nest->traffic_ns[i] = now;
    events /= NANOSECONDS_PER_SECOND;
    for (offset = first_counter(group); events && offset < counters_end(group);
         offset += 8) {
        nest->added[offset / 8] += events;
    }
}

static void nest_write(PowerImcNest *nest, unsigned from, unsigned to)
{
    for (; from < to; from += 8) {
        if (nest->added[from / 8]) {
            power_imc_add(nest->counters + from, nest->added[from / 8]);
            nest->added[from / 8] = 0;
        }
    }
}

static void nest_open_group(PowerImcNest *nest, unsigned i)
{
    const PowerImcGroup *group = nest_group(nest, i);

    nest_add_traffic(nest, i);
    if (group->framed) {
        power_imc_add(nest->counters + (nest->agree || !group->begun ?
                                        group->start : group->begun), 1);
    }
    nest_write(nest, first_counter(group), middle(group));
    nest->open |= 1 << i;
}

static void nest_close(void *opaque)
{
    PowerImcNest *nest = opaque;
    const PowerImcGroup *group;
    unsigned i;

    timer_del(&nest->end_timer);
    for (i = 0; (group = nest_group(nest, i)); i++) {
        if (!(nest->open & 1 << i)) {
            continue;
        }
        nest_write(nest, middle(group), counters_end(group));
        if (group->framed) {
            power_imc_add(nest->counters + group->end - 8, 1);
        }
    }
    nest->open = 0;
    nest->half = false;
}

/* Groups with one post in eight take turns, two posts apart. */
static bool group_is_due(const PowerImcNest *nest, unsigned i)
{
    unsigned every = nest_group(nest, i)->every;

    return nest->posts % every == (every > 1 ? 2 * i % every : 0);
}

static void nest_post(PowerImcNest *nest, bool all)
{
    unsigned i;

    nest_close(nest);
    for (i = 0; nest_group(nest, i); i++) {
        if (all || group_is_due(nest, i)) {
            nest_open_group(nest, i);
        }
    }
    nest->posts++;
    nest->stats[STAT_NEST_POST].writes++;
    if (nest->slow && !all) {
        timer_mod_ns(&nest->end_timer,
                     qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + nest->slow);
    } else {
        nest_close(nest);
    }
}

static uint64_t nest_period(const PowerImcNest *nest)
{
    return (uint64_t)POWER_IMC_POST_NS << cb_get(nest, CB_SPEED);
}

static void nest_tick(void *opaque)
{
    PowerImcNest *nest = opaque;

    if (!nest->half) {
        nest_post(nest, false);
    }
    nest->due = power_imc_next(nest->due, nest_period(nest));
    timer_mod_ns(&nest->post_timer, nest->due);
}

static void nest_set_status(PowerImcNest *nest, uint64_t status)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    unsigned i;

    nest_close(nest);
    timer_del(&nest->post_timer);
    cb_set(nest, CB_STATUS, status);
    if (status == STATUS_RUNNING) {
        for (i = 0; !nest->through && i < POWER_IMC_MAX_GROUPS; i++) {
            nest->traffic_ns[i] = now;
        }
        nest->due = now + nest_period(nest);
        timer_mod_ns(&nest->post_timer, nest->due);
    }
}

/* Commands and a start-up proceed by slots; with neither there are none. */
static void nest_want_slot(PowerImcNest *nest)
{
    if (!nest->stalled && !timer_pending(&nest->slot_timer)) {
        timer_mod_ns(&nest->slot_timer,
                     qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + SLOT_NS);
    }
}

static void nest_initialise(PowerImcNest *nest)
{
    nest_set_status(nest, STATUS_INITIALISING);
    nest->startup = STARTUP_SLOTS;
    nest_want_slot(nest);
}

static void nest_start_up(PowerImcNest *nest)
{
    uint64_t mode = cb_get(nest, CB_MODE);

    nest->startup--;
    if (nest->startup) {
        return;
    }
    cb_set(nest, CB_MODE_STATE, mode);
    if (cb_get(nest, CB_SPEED) > SPEED_MAX) {
        nest_set_status(nest, STATUS_BAD_SPEED);
    } else if (mode > MODE_MAX) {
        nest_set_status(nest, STATUS_BAD_MODE);
    } else {
        nest_set_status(nest, STATUS_RUNNING);
    }
}

static void nest_clear(PowerImcNest *nest)
{
    static const uint8_t zeros[CLEAR_SIZE];

    nest_initialise(nest);
    memset(nest->added, 0, sizeof(nest->added));
    address_space_write(&address_space_memory, nest->counters,
                        MEMTXATTRS_UNSPECIFIED, zeros, sizeof(zeros));
}

/* An error state ends with what caused it, not by a command. */
static void nest_command(PowerImcNest *nest)
{
    uint64_t status = cb_get(nest, CB_STATUS);
    bool sound = status == STATUS_RUNNING || status == STATUS_PAUSED;

    switch (cb_get(nest, CB_COMMAND)) {
    case COMMAND_RESUME:
        nest->starts++;
        if (sound) {
            nest_set_status(nest, STATUS_RUNNING);
        }
        break;
    case COMMAND_PAUSE:
        nest->stops++;
        if (sound) {
            nest_set_status(nest, STATUS_PAUSED);
        }
        break;
    case COMMAND_CLEAR:
        nest_clear(nest);
        break;
    default:
        break;
    }
    cb_set(nest, CB_COMMAND, COMMAND_NOP);
}

static void nest_slot(void *opaque)
{
    PowerImcNest *nest = opaque;

    if (nest->startup) {
        nest_start_up(nest);
    } else {
        nest_command(nest);
    }
    if (nest->startup || cb_get(nest, CB_COMMAND) != COMMAND_NOP) {
        nest_want_slot(nest);
    }
}

static NestStat cb_stat(hwaddr offset)
{
    switch (offset & ~7) {
    case NEST_CB - NEST_CB_PAGE + CB_STATUS:
    case NEST_CB - NEST_CB_PAGE + CB_MODE_STATE:
        return STAT_STATUS;
    case NEST_CB - NEST_CB_PAGE + CB_COMMAND:
        return STAT_COMMAND;
    case NEST_CB - NEST_CB_PAGE + CB_SPEED:
        return STAT_SPEED;
    case NEST_CB - NEST_CB_PAGE + CB_UAV:
        return STAT_UAV;
    case NEST_CB - NEST_CB_PAGE + CB_MODE:
        return STAT_MODE;
    default:
        return STAT_OTHER;
    }
}

/*
 * The control block is memory: a write is stored first and acted on afterwards.
 */
static void cb_page_write(void *opaque, hwaddr offset, uint64_t value,
                          unsigned size)
{
    PowerImcNest *nest = opaque;
    NestStat class = cb_stat(offset);
    uint8_t *p = nest->cb - (NEST_CB - NEST_CB_PAGE) + offset;
    g_autofree void *before = g_memdup2(p, size);

    stn_be_p(p, size, value);
    memory_region_flush_rom_device(&nest->page, offset, size);
    nest->stats[class].writes++;
    switch (class) {
    case STAT_COMMAND:
        nest_want_slot(nest);
        break;
    case STAT_SPEED:
        if (memcmp(before, p, size)) {
            nest_clear(nest);
        }
        break;
    case STAT_UAV:
    case STAT_MODE:
        if (memcmp(before, p, size)) {
            nest_initialise(nest);
        }
        break;
    default:
        break;
    }
}

static const MemoryRegionOps cb_page_ops = {
    .write = cb_page_write,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
    .endianness = DEVICE_BIG_ENDIAN,
};

static PowerImcNest *nest_of(PmuModel *model)
{
    return container_of(model, PowerImcNest, model);
}

static void nest_list_events(PmuModel *model, GString *out)
{
    PowerImcNest *nest = nest_of(model);
    const PowerImcGroup *group;
    unsigned i;

    for (i = 0; (group = nest_group(nest, i)); i++) {
        g_string_append_printf(out, "event 0x%x to 0x%x any counter, in steps "
                               "of 8, of group %s\n", first_counter(group),
                               counters_end(group) - 8, group->name);
    }
}

static bool is_counter(const PowerImcNest *nest, uint64_t offset)
{
    const PowerImcGroup *group;
    unsigned i;

    for (i = 0; offset % 8 == 0 && (group = nest_group(nest, i)); i++) {
        if (offset >= first_counter(group) && offset < counters_end(group)) {
            return true;
        }
    }
    return false;
}

static bool nest_refuses(const PowerImcNest *nest, Error **errp)
{
    static const char *const why[] = {
        [STATUS_INITIALISING] = "initialising", [STATUS_PAUSED] = "paused",
        [STATUS_BAD_SPEED] = "in error, by its speed",
        [STATUS_BAD_MODE] = "in error, by its mode",
    };
    uint64_t status = cb_get(nest, CB_STATUS);

    if (status == STATUS_RUNNING) {
        return false;
    }
    error_setg(errp, "%s counts nothing: its microcode is %s",
               nest->model.name, status < ARRAY_SIZE(why) ? why[status] :
               "in a state that does not exist");
    return true;
}

static bool nest_add(PmuModel *model, const char *event, uint64_t n,
                     uint64_t inc, Error **errp)
{
    PowerImcNest *nest = nest_of(model);
    uint64_t offset;

    if (!power_imc_parse_offset(nest->imc, event, false, &offset, errp)) {
        return false;
    }
    if (!is_counter(nest, offset)) {
        error_setg(errp, "there is no counter at 0x%" PRIx64 ": list %s "
                   "tells where they are", offset, model->name);
        return false;
    }
    if (nest_refuses(nest, errp)) {
        return false;
    }
    nest->added[offset / 8] += n * inc;
    return true;
}

enum { KEY_UAV, KEY_SPEED, KEY_STARTS, KEY_STOPS, KEY_SLOW, KEY_TRAFFIC,
       KEY_THROUGH, KEY_AGREE, KEY_STALLED, KEY_HALF, KEY_FLUSH };

static uint64_t get_cb(PmuModel *model, unsigned field)
{
    return cb_get(nest_of(model), field);
}

static uint64_t get_nest(PmuModel *model, unsigned key)
{
    PowerImcNest *nest = nest_of(model);

    switch (key) {
    case KEY_UAV:
        return cb_get(nest, CB_UAV);
    case KEY_SPEED:
        return cb_get(nest, CB_SPEED);
    case KEY_STARTS:
        return nest->starts;
    case KEY_STOPS:
        return nest->stops;
    case KEY_SLOW:
        return nest->slow;
    case KEY_TRAFFIC:
        return nest->traffic;
    case KEY_THROUGH:
        return nest->through;
    case KEY_STALLED:
        return nest->stalled;
    case KEY_AGREE:
        return nest->agree;
    case KEY_HALF:
        return nest->half;
    default:
        return 0;
    }
}

/* Finish what the microcode still has to do for a command. */
static bool set_flush(PowerImcNest *nest, Error **errp)
{
    while (timer_pending(&nest->slot_timer)) {
        timer_del(&nest->slot_timer);
        nest_slot(nest);
    }
    if (nest_refuses(nest, errp)) {
        return false;
    }
    nest_post(nest, true);
    return true;
}

static bool set_half(PowerImcNest *nest, uint64_t value, Error **errp)
{
    unsigned i;

    if (nest_refuses(nest, errp)) {
        return false;
    }
    nest_close(nest);
    nest->half = value;
    for (i = 0; value && nest_group(nest, i); i++) {
        nest_open_group(nest, i);
    }
    return true;
}

static void set_traffic(PowerImcNest *nest, uint64_t value)
{
    unsigned i;

    for (i = 0; nest_group(nest, i); i++) {
        nest_add_traffic(nest, i);
    }
    nest->traffic = value;
}

static bool set_nest(PmuModel *model, unsigned key, uint64_t value,
                     Error **errp)
{
    PowerImcNest *nest = nest_of(model);

    switch (key) {
    case KEY_FLUSH:
        return set_flush(nest, errp);
    case KEY_HALF:
        return set_half(nest, value, errp);
    case KEY_SLOW:
        nest->slow = value;
        return true;
    case KEY_UAV:
        cb_set(nest, CB_UAV, value);
        return true;
    case KEY_THROUGH:
        nest->through = value;
        return true;
    case KEY_STALLED:
        nest->stalled = value;
        nest_want_slot(nest);
        return true;
    case KEY_AGREE:
        nest->agree = value;
        return true;
    case KEY_SPEED:
        if (value != cb_get(nest, CB_SPEED)) {
            cb_set(nest, CB_SPEED, value);
            nest_clear(nest);
        }
        return true;
    default:
        set_traffic(nest, value);
        return true;
    }
}

static const PmuKey nest_keys[] = {
    { "status", "0 initialising, 1 running, 2 paused, 3 bad speed, 4 bad mode",
      0, CB_STATUS, get_cb, NULL },
    { "speed", "the posting period times 2^speed; a change zeroes the counters",
      UINT64_MAX, KEY_SPEED, get_nest, set_nest },
    { "uav", "units that are there, as found before the microcode ran",
      UINT64_MAX, KEY_UAV, get_nest, set_nest },
    { "mode", "run mode", 0, CB_MODE, get_cb, NULL },
    { "starts", "resume commands", 0, KEY_STARTS, get_nest, NULL },
    { "stops", "pause commands", 0, KEY_STOPS, get_nest, NULL },
    { "slow", "ns between the halves of a post", INT64_MAX / 2, KEY_SLOW,
      get_nest, set_nest },
    { "traffic", "events a second of every counter, beside those added",
      PMU_ADD_MAX, KEY_TRAFFIC, get_nest, set_nest },
    { "through", "1: traffic of a pause is counted, and posted after it", 1,
      KEY_THROUGH, get_nest, set_nest },
    { "stalled", "1: the controller runs the microcode no more: commands stay", 1,
      KEY_STALLED, get_nest, set_nest },
    { "agree", "1: posts of G7 count up its own head", 1, KEY_AGREE, get_nest,
      set_nest },
    { "half", "1: begin an update of all groups and no other; 0: end it", 1,
      KEY_HALF, get_nest, set_nest },
    { "flush", "post all groups now, after what a command still has to do", 1,
      KEY_FLUSH, get_nest, set_nest },
};

/* Microcode and control block are loaded anew, and find all units there. */
void power_imc_nest_reset(PowerImcNest *nest)
{
    memset(nest->cb, 0, CB_MODE_STATE + 8);
    nest->starts = nest->stops = 0;
    nest->open = 0;
    nest->half = false;
    memset(nest->added, 0, sizeof(nest->added));
    cb_set(nest, CB_UAV, nest->imc->gen->uav);
    timer_del(&nest->slot_timer);
    nest_initialise(nest);
}

/* Memory that tells when it is written lies over HOMER's. */
static bool nest_map(PowerImcNest *nest, hwaddr homer, Error **errp)
{
    g_autofree char *name = g_strdup_printf("power-imc.%s", nest->model.name);

    if (!memory_region_init_rom_device_nomigrate(
            &nest->page, OBJECT(nest->imc), &cb_page_ops, nest, name, 0x1000,
            errp)) {
        return false;
    }
    memory_region_add_subregion_overlap(get_system_memory(),
                                        homer + NEST_CB_PAGE, &nest->page, 1);
    nest->cb = (uint8_t *)memory_region_get_ram_ptr(&nest->page) +
               (NEST_CB - NEST_CB_PAGE);
    nest->counters = homer + NEST_COUNTERS;
    return true;
}

PowerImcNest *power_imc_nest_new(PowerImc *imc, PnvChip *chip, Error **errp)
{
    PowerImcNest *nest = g_new0(PowerImcNest, 1);
    unsigned i;

    nest->imc = imc;
    timer_init_ns(&nest->slot_timer, QEMU_CLOCK_VIRTUAL, nest_slot, nest);
    timer_init_ns(&nest->post_timer, QEMU_CLOCK_VIRTUAL, nest_tick, nest);
    timer_init_ns(&nest->end_timer, QEMU_CLOCK_VIRTUAL, nest_close, nest);
    for (i = 0; i < NEST_NSTATS; i++) {
        nest->stats[i].name = stat_names[i];
    }
    nest->model = (PmuModel) {
        .name = g_strdup_printf("nest@%u", chip->chip_id),
        .description = "in-memory collection of a chip's nest",
        .keys = nest_keys,
        .nkeys = ARRAY_SIZE(nest_keys),
        .stats = nest->stats,
        .nstats = NEST_NSTATS,
        .list_events = nest_list_events,
        .add = nest_add,
    };
    if (!nest_map(nest, imc->gen->homer(chip), errp) ||
        !pmu_registry_add(&nest->model, errp)) {
        return NULL;
    }
    return nest;
}
