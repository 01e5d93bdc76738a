// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * How tests reach a mesh: its name, what can happen in it, its keys.
 *
 * EVENT of "add" is NAME or NAME@ID, NAME as perf has it and ID that of the
 * node (of the XP for its own events); without ID it happens at every node
 * that has such events. A flit is "flit@ID,port=1,dir=up,chn=req,g0=0x...",
 * see flit.h. "list" shows the nodes first, then what can happen, and last
 * the accesses that the key "record" keeps, by node and offset in its frame.
 */
#include "cmn.h"
#include "qapi/error.h"
#include "qemu/cutils.h"
#include "common/fault.h"

#define MAX_MESHES 16   /* as there are interrupts for */
#define MAX_SLEEP_MS 3600000

static Cmn *cmn_of(PmuModel *model)
{
    return container_of(model, Cmn, model);
}

static bool has_events(const CmnNode *node, uint16_t type)
{
    return !node->external && !node->isolated &&
           (node->sel[0].type == type || node->sel[1].type == type);
}

static void list_node(const Cmn *s, const CmnNode *node, GString *out)
{
    g_string_append_printf(out, "node %s 0x%x logical=%u", cmn_node_name(
                           node->type), node->id, node->logical);
    if (node->type != CMN_NODE_XP) {
        g_string_append_printf(out, " xp=0x%x port=%u dev=%u",
                               node->xp->node.id, node->port, node->dev);
    }
    g_string_append_printf(out, " dtc=%u frame=0x%x%s%s\n", node->xp->domain,
                           node->frame, node->external ? " external" : "",
                           node->isolated ? " isolated" : "");
}

/* The ports of all XPs together, which is what event names know */
static CmnXpPorts all_ports(Cmn *s)
{
    CmnXpPorts ports = cmn_mesh_xp_ports(&s->mesh, &s->mesh.xps[0]);
    unsigned i;

    for (i = 0; i < s->mesh.nxps; i++) {
        ports.nports = MAX(ports.nports, s->mesh.xps[i].nports);
    }
    return ports;
}

static bool is_listed(const uint16_t *types, unsigned ntypes, uint16_t type)
{
    while (ntypes--) {
        if (types[ntypes] == type) {
            return true;
        }
    }
    return false;
}

static void list_accesses(Cmn *s, GString *out)
{
    g_autoptr(GList) all = g_hash_table_get_keys(s->accesses);
    GList *item;

    for (item = all; item; item = item->next) {
        gsize access = GPOINTER_TO_SIZE(item->data);
        const CmnNode *node = cmn_mesh_node(&s->mesh, access >> 2);

        g_string_append_printf(out, "access %s 0x%x 0x%" PRIx64 " %s %u %zu\n",
                               node ? cmn_node_name(node->type) : "hole",
                               node ? node->id : 0,
                               (access >> 2) - (node ? node->frame : 0),
                               access & 1 ? "write" : "read",
                               access & 2 ? 64 : 32, GPOINTER_TO_SIZE(
                               g_hash_table_lookup(s->accesses, item->data)));
    }
}

static void cmn_list(PmuModel *model, GString *out)
{
    Cmn *s = cmn_of(model);
    CmnXpPorts ports = all_ports(s);
    uint16_t types[64] = { CMN_NODE_XP };
    unsigned i, ntypes = 1;
    CmnNode *node;

    for (node = cmn_mesh_next(&s->mesh, NULL); node;
         node = cmn_mesh_next(&s->mesh, node)) {
        list_node(s, node, out);
        for (i = 0; i < ARRAY_SIZE(node->sel); i++) {
            uint16_t type = node->sel[i].type;

            if (type && !is_listed(types, ntypes, type) &&
                has_events(node, type)) {
                types[ntypes++] = type;
            }
        }
    }
    cmn_xp_event_list(&ports, out);
    for (i = 1; i < ntypes; i++) {
        cmn_event_list(s->mesh.layout->events, types[i], out);
    }
    if (s->accesses) {
        list_accesses(s, out);
    }
}

/* What an "add" is about */
typedef struct CmnAdd {
    bool everywhere;
    uint16_t id;
    bool is_flit;
    CmnFlit flit;
    CmnEvent event;
} CmnAdd;

static bool parse_id(char *name, CmnAdd *add, Error **errp)
{
    char *at = strchr(name, '@');
    unsigned id = 0;

    add->everywhere = !at;
    if (at) {
        *at++ = '\0';
        if (!g_ascii_isdigit(*at) || qemu_strtoui(at, NULL, 0, &id) ||
            id > UINT16_MAX) {
            error_setg(errp, "'%s' is not the id of a node", at);
            return false;
        }
    }
    add->id = id;
    return true;
}

static bool parse_add(Cmn *s, const char *text, CmnAdd *add, Error **errp)
{
    g_auto(GStrv) parts = g_strsplit(text, ",", 2);
    CmnXpPorts ports = all_ports(s);

    if (!parts[0]) {
        error_setg(errp, "an event is NAME or NAME@ID");
        return false;
    }
    if (!parse_id(parts[0], add, errp)) {
        return false;
    }
    add->is_flit = !strcmp(parts[0], "flit");
    if (add->is_flit) {
        add->event.type = CMN_NODE_XP;
        return cmn_flit_parse(parts[1] ?: "", &add->flit, errp);
    }
    if (!parts[1] &&
        (cmn_xp_event_parse(&ports, parts[0], &add->event) ||
         cmn_event_parse(s->mesh.layout->events, parts[0], &add->event))) {
        return true;
    }
    error_setg(errp, "there is no event '%s': 'list %s' shows those there are",
               text, s->model.name);
    return false;
}

/* An XP may have fewer ports than others: what happens needs one of its own. */
static bool can_happen(Cmn *s, const CmnNode *node, const CmnAdd *add)
{
    g_autoptr(GString) names = g_string_new(NULL);
    g_autofree char *code = NULL;
    CmnXpPorts ports;

    if (add->is_flit) {
        return add->flit.port < node->xp->nports;
    }
    if (node->type != CMN_NODE_XP) {
        return true;
    }
    ports = cmn_mesh_xp_ports(&s->mesh, node->xp);
    cmn_xp_event_list(&ports, names);
    code = g_strdup_printf(" eventid=0x%x\n", add->event.id);
    return strstr(names->str, code) != NULL;
}

static bool happen(Cmn *s, CmnNode *node, const CmnAdd *add, uint64_t n)
{
    if (!has_events(node, add->event.type) ||
        (!add->everywhere && node->id != add->id) ||
        !can_happen(s, node, add)) {
        return false;
    }
    if (add->is_flit) {
        cmn_mesh_flits(&s->mesh, node->xp, &add->flit, n);
    } else {
        cmn_mesh_event(&s->mesh, node, &add->event, n);
    }
    return true;
}

static bool cmn_add(PmuModel *model, const char *text, uint64_t n,
                    uint64_t inc, Error **errp)
{
    Cmn *s = cmn_of(model);
    CmnAdd add = { };
    CmnNode *node;
    bool done = false;

    if (inc != 1) {
        error_setg(errp, "a line counts 1 in a cycle, not %" PRIu64, inc);
        return false;
    }
    if (s->gone || s->unpowered) {
        error_setg(errp, "%s is %s: nothing can happen in it", model->name,
                   s->gone ? "gone" : "without power");
        return false;
    }
    cmn_bus_arrive(&s->bus);
    cmn_mesh_sync(&s->mesh);
    if (!parse_add(s, text, &add, errp)) {
        return false;
    }
    for (node = cmn_mesh_next(&s->mesh, NULL); node;
         node = cmn_mesh_next(&s->mesh, node)) {
        done |= happen(s, node, &add, n);
    }
    if (!done) {
        error_setg(errp, "no node can have '%s': 'list %s' shows the nodes, "
                   "their ids and ports", text, model->name);
    }
    return done;
}

/* With this the cycle counter overflows in a second; 2^64 ticks last 213 days. */
#define CLOCK_HZ_MAX    1000000000000ULL

/* Keys of the mesh */
enum { KEY_GONE, KEY_CLOCK, KEY_HIDE, KEY_DIRTY, KEY_TEAR_DTM, KEY_TEAR_DTC,
       KEY_ADDRESS, KEY_WORD, KEY_CARRY, KEY_DROPS, KEY_DROPPED, KEY_PENDING,
       KEY_STOP, KEY_POSTED, KEY_IRQ, KEY_NO_PM, KEY_LOCKS, KEY_FILTERS,
       KEY_TRAFFIC, KEY_TOTAL, KEY_SLEEP, KEY_STANDS, KEY_STAND_NS,
       KEY_STAND_ACCESSES, KEY_CLEARS, KEY_TRACE, KEY_PACKETS, KEY_VC,
       KEY_PAIR, KEY_NO_DT, KEY_ON, KEY_LINES };

static uint64_t sum_dtcs(const Cmn *s, unsigned arg)
{
    uint64_t sum = 0;
    unsigned i;

    for (i = 0; i < s->mesh.ndtcs; i++) {
        sum += arg == KEY_DROPPED ? s->mesh.dtc[i].dropped :
               cmn_carries_pending(&s->mesh.dtc[i].carries);
    }
    return sum;
}

static uint64_t sum_dtms(const Cmn *s, unsigned arg)
{
    uint64_t sum = 0;
    unsigned i, j;

    for (i = 0; i < s->mesh.nxps; i++) {
        for (j = 0; j < s->mesh.xps[i].ndtms; j++) {
            const CmnDtm *dtm = &s->mesh.xps[i].dtm[j];

            sum += arg == KEY_PACKETS ? dtm->packets : dtm->total;
        }
    }
    return sum;
}

/* What the first XP answers, as all do */
static uint64_t get_xp(const CmnXp *xp, unsigned arg)
{
    switch (arg) {
    case KEY_LOCKS:
        return xp->dtm[0].locks;
    case KEY_FILTERS:
        return xp->node.sel[0].filters_all;
    case KEY_CLEARS:
        return xp->dtm[0].clears;
    case KEY_VC:
        return xp->dtm[0].any_vc;
    default:
        return xp->dtm[0].inverts_pair;
    }
}

static uint64_t get_stand(const Cmn *s, unsigned arg)
{
    return arg == KEY_STANDS ? s->stand.times :
           arg == KEY_STAND_NS ? s->stand.ns : s->stand.accesses;
}

/* Set for all DTCs alike: set_dtcs() */
static uint64_t get_dtcs(const CmnDtc *dtc, unsigned arg)
{
    switch (arg) {
    case KEY_CARRY:
        return dtc->carries.delay;
    case KEY_DROPS:
        return dtc->drops;
    case KEY_STOP:
        return dtc->stop_delay;
    case KEY_NO_PM:
        return dtc->pm_disabled;
    case KEY_NO_DT:
        return dtc->dt_disabled;
    case KEY_ON:
        return dtc->kept_on;
    case KEY_CLOCK:
        return dtc->clk.hz;
    default:
        return dtc->hide_overflows;
    }
}

static uint64_t get_mesh(PmuModel *model, unsigned arg)
{
    Cmn *s = cmn_of(model);

    cmn_mesh_sync(&s->mesh);
    switch (arg) {
    case KEY_CARRY:
    case KEY_DROPS:
    case KEY_STOP:
    case KEY_NO_PM:
    case KEY_NO_DT:
    case KEY_ON:
    case KEY_CLOCK:
    case KEY_HIDE:
        return get_dtcs(&s->mesh.dtc[0], arg);
    case KEY_DROPPED:
    case KEY_PENDING:
        return sum_dtcs(s, arg);
    case KEY_POSTED:
        return s->bus.delay;
    case KEY_IRQ:
        return s->irq_delay;
    case KEY_LINES:
        return s->mesh.lone_lines;
    case KEY_TRAFFIC:
        return s->mesh.traffic;
    case KEY_TOTAL:
    case KEY_PACKETS:
        return sum_dtms(s, arg);
    case KEY_LOCKS:
    case KEY_FILTERS:
    case KEY_CLEARS:
    case KEY_VC:
    case KEY_PAIR:
        return get_xp(&s->mesh.xps[0], arg);
    case KEY_GONE:
        return s->gone;
    case KEY_SLEEP:
        return s->sleep / SCALE_MS;
    case KEY_STANDS:
    case KEY_STAND_NS:
    case KEY_STAND_ACCESSES:
        return get_stand(s, arg);
    case KEY_DIRTY:
    case KEY_TRACE:
        return 0;
    case KEY_TEAR_DTM:
        return s->tear_dtm;
    case KEY_TEAR_DTC:
        return s->tear_dtc;
    case KEY_ADDRESS:
        return s->address;
    default:
        return cmn_peek(s, s->address);
    }
}

static void set_dtcs(Cmn *s, unsigned arg, uint64_t value)
{
    unsigned i;

    for (i = 0; i < s->mesh.ndtcs; i++) {
        CmnDtc *dtc = &s->mesh.dtc[i];

        switch (arg) {
        case KEY_CLOCK:
            cmn_dtc_set_hz(dtc, value);
            break;
        case KEY_CARRY:
            dtc->carries.delay = value;
            break;
        case KEY_DROPS:
            dtc->drops = value;
            break;
        case KEY_DROPPED:
            dtc->dropped = value;
            break;
        case KEY_STOP:
            dtc->stop_delay = value;
            break;
        case KEY_NO_PM:
            dtc->pm_disabled = value;
            dtc->pmcr = value ? 0 : dtc->pmcr;
            break;
        case KEY_ON:
            dtc->kept_on = value;
            break;
        case KEY_NO_DT:
            dtc->dt_disabled = value;
            dtc->control = value ? 0 : dtc->control;
            break;
        default:
            dtc->hide_overflows = value;
            break;
        }
    }
}

static void set_dtms(Cmn *s, unsigned arg, uint64_t value)
{
    unsigned i, j;

    for (i = 0; i < s->mesh.nxps; i++) {
        for (j = 0; j < s->mesh.xps[i].ndtms; j++) {
            CmnDtm *dtm = &s->mesh.xps[i].dtm[j];

            switch (arg) {
            case KEY_LOCKS:
                dtm->locks = value;
                break;
            case KEY_CLEARS:
                dtm->clears = value;
                break;
            case KEY_VC:
                dtm->any_vc = value;
                break;
            case KEY_PAIR:
                dtm->inverts_pair = value;
                break;
            case KEY_TRACE:
                if (value) {
                    cmn_dtm_make_trace(dtm);
                }
                break;
            case KEY_PACKETS:
                dtm->packets = value;
                break;
            default:
                dtm->total = value;
                break;
            }
        }
    }
}

/* How nodes see filters and lines that they share. */
static void set_nodes(Cmn *s, unsigned arg, bool all)
{
    CmnNode *node;

    if (arg == KEY_LINES) {
        s->mesh.lone_lines = all;
        return;
    }
    for (node = cmn_mesh_next(&s->mesh, NULL); node;
         node = cmn_mesh_next(&s->mesh, node)) {
        node->sel[0].filters_all = all;
        node->sel[1].filters_all = all;
    }
}

static bool set_address(Cmn *s, uint64_t value, Error **errp)
{
    if (value % 8 || value >= s->mesh.size) {
        error_setg(errp, "address is a multiple of 8, below 0x%" PRIx64,
                   s->mesh.size);
        return false;
    }
    s->address = value;
    return true;
}

static bool set_clock(Cmn *s, uint64_t value, Error **errp)
{
    if (!value) {
        error_setg(errp, "clock is at least 1 Hz");
        return false;
    }
    set_dtcs(s, KEY_CLOCK, value);
    return true;
}

static uint64_t get_record(PmuModel *model, unsigned arg)
{
    return cmn_of(model)->accesses != NULL;
}

static bool set_record(PmuModel *model, unsigned arg, uint64_t value,
                       Error **errp)
{
    Cmn *s = cmn_of(model);

    g_clear_pointer(&s->accesses, g_hash_table_unref);
    if (value) {
        s->accesses = g_hash_table_new(NULL, NULL);
    }
    return true;
}

static bool set_mesh(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp)
{
    Cmn *s = cmn_of(model);

    cmn_mesh_sync(&s->mesh);
    switch (arg) {
    case KEY_GONE:
        s->gone = value;
        return true;
    case KEY_SLEEP:
        cmn_sleep(s, value * SCALE_MS);
        return true;
    case KEY_STANDS:
        cmn_stand_reset(s);
        return true;
    case KEY_POSTED:
        s->bus.delay = value;
        return true;
    case KEY_IRQ:
        s->irq_delay = value;
        return true;
    case KEY_LOCKS:
    case KEY_CLEARS:
    case KEY_VC:
    case KEY_PAIR:
    case KEY_TOTAL:
    case KEY_TRACE:
    case KEY_PACKETS:
        set_dtms(s, arg, value);
        return true;
    case KEY_FILTERS:
    case KEY_LINES:
        set_nodes(s, arg, value);
        return true;
    case KEY_TRAFFIC:
        cmn_mesh_set_traffic(&s->mesh, value);
        return true;
    case KEY_DIRTY:
        if (value) {
            cmn_make_dirty(s);
        }
        return true;
    case KEY_TEAR_DTM:
    case KEY_TEAR_DTC:
        *(arg == KEY_TEAR_DTM ? &s->tear_dtm : &s->tear_dtc) = value;
        return true;
    case KEY_ADDRESS:
        return set_address(s, value, errp);
    case KEY_WORD:
        cmn_poke(s, s->address, UINT64_MAX, value);
        return true;
    case KEY_CLOCK:
        return set_clock(s, value, errp);
    default:
        set_dtcs(s, arg, value);
        return true;
    }
}

static const PmuKey mesh_keys[] = {
    { "gone", "1: all-ones to every read, no write arrives", 1, KEY_GONE,
      get_mesh, set_mesh },
    { "sleep", "in so many ms it has no power, and for as many: all-ones to "
      "every read, registers then as after a reset; 0: that is over",
      MAX_SLEEP_MS, KEY_SLEEP, get_mesh, set_mesh },
    { "clock", "of the DTCs, in Hz", CLOCK_HZ_MAX, KEY_CLOCK,
      get_mesh, set_mesh },
    { "hide_overflow", "1: PMOVSR reads 0 while a DTC is not enabled", 1,
      KEY_HIDE, get_mesh, set_mesh },
    { "dirty", "1: counters run and have overflowed, as after kexec", 1,
      KEY_DIRTY, get_mesh, set_mesh },
    { "tear_dtm", "counts in each paired counter of a DTM after the next read "
      "of its counters, once; 0: none in wait", PMU_ADD_MAX, KEY_TEAR_DTM,
      get_mesh, set_mesh },
    { "tear_dtc", "the same in all DTMs after the next read of a DTC's "
      "counters", PMU_ADD_MAX, KEY_TEAR_DTC, get_mesh, set_mesh },
    { "carry_delay", "ns that a carry takes from a DTM to its DTC",
      NANOSECONDS_PER_SECOND, KEY_CARRY, get_mesh, set_mesh },
    { "carry_drop", "1: carries that arrive while DTCs are stopped are lost",
      1, KEY_DROPS, get_mesh, set_mesh },
    { "dropped", "carries that were lost", 0, KEY_DROPPED, get_mesh,
      set_mesh },
    { "carries", "under way", 0, KEY_PENDING, get_mesh, NULL },
    { "stop_delay", "ns until the DTMs have stopped, or started, with DTC 0",
      NANOSECONDS_PER_SECOND, KEY_STOP, get_mesh, set_mesh },
    { "posted", "ns until a write takes effect, unless a read comes before",
      NANOSECONDS_PER_SECOND, KEY_POSTED, get_mesh, set_mesh },
    { "irq_delay", "ns until an overflow flag raises the interrupt's line",
      NANOSECONDS_PER_SECOND, KEY_IRQ, get_mesh, set_mesh },
    { "pm_disable", "1: PMCR keeps nothing, as without the right to it", 1,
      KEY_NO_PM, get_mesh, set_mesh },
    { "dt_disable", "1: DTC_CTL keeps nothing, as with dt_disable of a secure "
      "register", 1, KEY_NO_DT, get_mesh, set_mesh },
    { "pm_on", "1: a write to PMCR leaves pmu_en set, as another program does "
      "that keeps the mesh running", 1, KEY_ON, get_mesh, set_mesh },
    { "dtm_lock", "1: with dtm_enable set a DTM's registers keep what they "
      "have; 2: and another program sets it when counters are read", 2,
      KEY_LOCKS, get_mesh, set_mesh },
    { "lone_lines", "1: of the nodes of a device only the first drives its "
      "lines", 1, KEY_LINES, get_mesh, set_mesh },
    { "config_clear", "1: a counter begins at 0 when PMU_CONFIG gives it "
      "another input, letter or pairing", 1, KEY_CLEARS, get_mesh, set_mesh },
    { "any_vc", "1: a watchpoint sees both virtual channels of its channel, "
      "whatever chn_num is", 1, KEY_VC, get_mesh, set_mesh },
    { "invert_pair", "1: exclusive of a pair's first watchpoint turns the "
      "match of both around, that of the second nothing", 1, KEY_PAIR,
      get_mesh, set_mesh },
    { "trace", "1: now every watchpoint makes a packet of each flit, as a "
      "tracing tool leaves it", 1, KEY_TRACE, get_mesh, set_mesh },
    { "packets", "that watchpoints have made for a trace; 0: from now on", 0,
      KEY_PACKETS, get_mesh, set_mesh },
    { "filter_all", "1: a filter acts on all events of its node", 1,
      KEY_FILTERS, get_mesh, set_mesh },
    { "traffic", "counts in a second, in each paired counter of a DTM that "
      "counts", MODEL_CLOCK_HZ_MAX, KEY_TRAFFIC, get_mesh, set_mesh },
    { "total", "counts in all paired counters of DTMs; 0: from now on", 0,
      KEY_TOTAL, get_mesh, set_mesh },
    { "stands", "how often the mesh was stopped and went on; 0: from now on",
      0, KEY_STANDS, get_mesh, set_mesh },
    { "stand_ns", "for how long, in all", 0, KEY_STAND_NS, get_mesh, NULL },
    { "stand_accesses", "and how many accesses were made meanwhile", 0,
      KEY_STAND_ACCESSES, get_mesh, NULL },
    { "record", "1: keep which registers are accessed from now on, for list", 1,
      0, get_record, set_record },
    { "address", "offset of a doubleword, for word", UINT64_MAX, KEY_ADDRESS,
      get_mesh, set_mesh },
    { "word", "the doubleword at address, without an access being counted",
      UINT64_MAX, KEY_WORD, get_mesh, set_mesh },
    PMU_FAULT_KEYS,
};

/* Keys of a DTC: counters by their number, and these */
enum { KEY_CYCLES = CMN_DTC_NCOUNTERS, KEY_OVERFLOW, KEY_CONTROL, KEY_PMCR,
       KEY_INTERRUPT, KEY_TICKS, NDTC_KEYS };

#define DTC_KEY(dtc, key)   ((dtc) * NDTC_KEYS + (key))

static uint64_t get_dtc(PmuModel *model, unsigned arg)
{
    CmnDtc *dtc = &cmn_of(model)->mesh.dtc[arg / NDTC_KEYS];

    cmn_mesh_sync(&cmn_of(model)->mesh);
    switch (arg % NDTC_KEYS) {
    case KEY_CYCLES:
        return dtc->cycles;
    case KEY_OVERFLOW:
        return dtc->overflowed;
    case KEY_CONTROL:
        return dtc->control;
    case KEY_PMCR:
        return dtc->pmcr;
    case KEY_INTERRUPT:
        return cmn_dtc_interrupts(dtc);
    case KEY_TICKS:
        return model_clock_ticks(&dtc->clk);
    default:
        return dtc->counter[arg % NDTC_KEYS];
    }
}

static bool set_dtc(PmuModel *model, unsigned arg, uint64_t value,
                    Error **errp)
{
    CmnDtc *dtc = &cmn_of(model)->mesh.dtc[arg / NDTC_KEYS];

    cmn_mesh_sync(&cmn_of(model)->mesh);
    if (arg % NDTC_KEYS == KEY_CYCLES) {
        dtc->cycles = value;
        cmn_dtc_update(dtc);
    } else {
        dtc->counter[arg % NDTC_KEYS] = value;
    }
    return true;
}

static const PmuKey dtc_keys[NDTC_KEYS] = {
    { "a", "counter A", UINT32_MAX, 0, get_dtc, set_dtc },
    { "b", "counter B", UINT32_MAX, 1, get_dtc, set_dtc },
    { "c", "counter C", UINT32_MAX, 2, get_dtc, set_dtc },
    { "d", "counter D", UINT32_MAX, 3, get_dtc, set_dtc },
    { "e", "counter E", UINT32_MAX, 4, get_dtc, set_dtc },
    { "f", "counter F", UINT32_MAX, 5, get_dtc, set_dtc },
    { "g", "counter G", UINT32_MAX, 6, get_dtc, set_dtc },
    { "h", "counter H", UINT32_MAX, 7, get_dtc, set_dtc },
    { "cycles", "cycle counter", MAKE_64BIT_MASK(0, 40), KEY_CYCLES,
      get_dtc, set_dtc },
    { "overflow", "overflow flags", 0, KEY_OVERFLOW, get_dtc, NULL },
    { "control", "DTC_CTL", 0, KEY_CONTROL, get_dtc, NULL },
    { "pmcr", "PMCR", 0, KEY_PMCR, get_dtc, NULL },
    { "interrupt", "does it interrupt?", 0, KEY_INTERRUPT, get_dtc, NULL },
    { "ticks", "of its clock, since ever", 0, KEY_TICKS, get_dtc, NULL },
};

static void make_keys(Cmn *s)
{
    size_t n = ARRAY_SIZE(mesh_keys);
    unsigned i, j;

    s->keys = g_new(PmuKey, n + s->mesh.ndtcs * NDTC_KEYS);
    memcpy(s->keys, mesh_keys, sizeof(mesh_keys));
    for (i = 0; i < s->mesh.ndtcs; i++) {
        for (j = 0; j < NDTC_KEYS; j++) {
            s->keys[n] = dtc_keys[j];
            s->keys[n].name = g_strdup_printf("dtc%u_%s", i, dtc_keys[j].name);
            s->keys[n++].arg = DTC_KEY(i, dtc_keys[j].arg);
        }
    }
    s->model.keys = s->keys;
    s->model.nkeys = n;
}

static void make_stats(Cmn *s)
{
    unsigned i;

    for (i = 0; i < CMN_NREGCLASSES; i++) {
        const char *name = cmn_regclass_names[i];

        s->stats[2 * i].name = g_strdup_printf("%s64", name);
        s->stats[2 * i + 1].name = g_strdup_printf("%s32", name);
    }
    s->stats[CMN_STAT_NARROW].name = "narrow";
    s->stats[CMN_STAT_UNPOWERED].name = "unpowered";
    s->model.stats = s->stats;
    s->model.nstats = CMN_NSTATS;
}

bool cmn_control_start(Cmn *s, Error **errp)
{
    unsigned i;

    s->model = (PmuModel) {
        .description = s->mesh.product->title,
        .list_events = cmn_list,
        .add = cmn_add,
    };
    make_keys(s);
    make_stats(s);
    for (i = 0; i < MAX_MESHES; i++) {
        s->model.name = g_strdup_printf("cmn%u", i);
        if (pmu_registry_add(&s->model, NULL)) {
            return true;
        }
        g_free(s->model.name);
    }
    error_setg(errp, "more than %u meshes", MAX_MESHES);
    return false;
}
