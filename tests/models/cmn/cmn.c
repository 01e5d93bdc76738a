// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Arm's Coherent Mesh Network as software sees its performance counters: the
 * configuration space of a mesh, with everything that discovery reads, event
 * selectors, watchpoints, the DTMs' and DTCs' counters and interrupts.
 *
 * Nothing happens in the mesh but what a test adds, or the traffic that it
 * asks for. The cycle counters alone run by themselves, by virtual time.
 *
 * Left out: all registers without a part in discovery or counting, the
 * private counters of CXLAs, trace, security but for what watchpoints may
 * see, migration.
 *
 * QEMU interface (devices "cmn600", "cmn650", "ci700", "cmn700", "cmns3", on
 * machine "virt"):
 *  + properties "mesh", "ports", "dtc", "isolated", and "hnf", "rni" and so
 *    on for every kind of device: the mesh, see build.c and place.c;
 *    without any of them, the product's own of product.c
 *  + property "rev": revision code in PERIPH_ID_23
 *  + property "multi-dtm": a DTM for every two ports (as the product)
 *  + properties "req-vcs", "rsp-vcs", "snp-vcs", "dat-vcs": virtual channels
 *    of each channel (2)
 *  + property "base": physical address (4 GiB, 8 GiB, ... in the order of
 *    devices), of a region whose size is the product's and the mesh's
 *  + properties "spi", "shared-irq": interrupt of DTC 0, and whether the
 *    others have the same one or the next ones (192, 196, ...)
 *  + property "node": NUMA node, for the device tree (it does not say)
 *  + property "isolation": device isolation is configured (off)
 *  + property "graviton5": a mesh of 10x14 as in that, which does not tell
 *    the domains of XPs and DTCs (off)
 *  + property "ids-by-use": node ids go by the ports of an XP that are in use,
 *    not by all that it has (off)
 *  + properties "niden", "spniden": debug is allowed, and secure debug (on):
 *    without the first nothing counts
 *  + property "secure-disable": watchpoints see secure flits only with SPNIDEN,
 *    as R has it of secure_debug_disable, and T of all meshes (on)
 *  + property "carry-delay": ns from a DTM to its DTC (0)
 *  + property "corrupt": how discovery is broken, see corrupt.c
 *  + control keys: see control.c
 */
#include "cmn.h"
#include "common/fault.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "qemu/units.h"
#include "system/reset.h"

#define BASE_STEP       (4 * GiB)   /* above any RAM that tests give */
#define FIRST_SPI       192         /* those below have owners on "virt" */
#define CLOCK_HZ        2000000000  /* of the DTCs, until told otherwise */
#define DEFAULT_REV     UINT32_MAX  /* the product's row says which */

uint64_t cmn_peek(Cmn *s, uint64_t addr)
{
    CmnNode *node = cmn_mesh_node(&s->mesh, addr);
    uint32_t offset;

    if (!node) {
        return 0;
    }
    offset = addr - node->frame;
    return cmn_corrupt_read(&s->mesh, s->corruptions, node, offset,
                            cmn_frame_read(&s->mesh, node, offset));
}

void cmn_poke(Cmn *s, uint64_t addr, uint64_t mask, uint64_t value)
{
    CmnNode *node = cmn_mesh_node(&s->mesh, addr);

    if (node) {
        cmn_frame_write(&s->mesh, node, addr - node->frame, mask, value);
    }
}

static PmuStat *cmn_stat(Cmn *s, uint64_t addr, unsigned size)
{
    CmnNode *node = cmn_mesh_node(&s->mesh, addr);
    CmnRegClass class;

    if (s->unpowered) {
        return &s->stats[CMN_STAT_UNPOWERED];
    }
    if (size < 4) {
        return &s->stats[CMN_STAT_NARROW];
    }
    class = cmn_frame_regclass(&s->mesh, node, node ? addr - node->frame : 0);
    return &s->stats[2 * class + (size == 4)];
}

static void cmn_note(Cmn *s, uint64_t addr, unsigned size, bool write)
{
    gpointer access = cmn_access(addr, size, write);

    if (s->accesses) {
        gsize n = GPOINTER_TO_SIZE(g_hash_table_lookup(s->accesses, access));

        g_hash_table_insert(s->accesses, access, GSIZE_TO_POINTER(n + 1));
    }
}

static bool bump_all(Cmn *s, uint64_t n)
{
    bool any = false;
    unsigned i, j;

    for (i = 0; i < s->mesh.nxps; i++) {
        for (j = 0; j < s->mesh.xps[i].ndtms; j++) {
            any |= cmn_dtm_bump(&s->mesh.xps[i].dtm[j], n);
        }
    }
    return any;
}

/*
 * Add the events that a test has planned between this access and the next, as
 * they may come on hardware. They wait while nothing counts.
 */
static void cmn_tear(Cmn *s, uint64_t addr)
{
    CmnNode *node = cmn_mesh_node(&s->mesh, addr);

    switch (cmn_frame_regclass(&s->mesh, node, node ? addr - node->frame : 0)) {
    case CMN_REG_DTM_COUNT:
        if (s->tear_dtm &&
            cmn_dtm_bump(cmn_frame_dtm(&s->mesh, node, addr - node->frame),
                         s->tear_dtm)) {
            s->tear_dtm = 0;
        }
        break;
    case CMN_REG_DTC_COUNT:
        if (s->tear_dtc && bump_all(s, s->tear_dtc)) {
            s->tear_dtc = 0;
        }
        break;
    default:
        break;
    }
}

/* DTC 0 was written. */
static void cmn_stand_changes(Cmn *s, bool ran)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    if (ran) {
        s->stand.since = now;
        s->stand.accesses_since = 0;
    } else {
        s->stand.times++;
        s->stand.ns += now - s->stand.since;
        s->stand.accesses += s->stand.accesses_since;
    }
}

void cmn_stand_reset(Cmn *s)
{
    s->stand = (CmnStand) { .since = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) };
}

static uint64_t cmn_read(void *opaque, hwaddr addr, unsigned size)
{
    Cmn *s = opaque;
    uint64_t value;

    cmn_stat(s, addr, size)->reads++;
    cmn_note(s, addr, size, false);
    if (s->gone || s->unpowered) {
        return UINT64_MAX;
    }
    cmn_bus_push(&s->bus);
    s->stand.accesses_since++;
    value = cmn_peek(s, addr & ~7ull) >> (8 * (addr & 7));
    cmn_tear(s, addr);
    return pmu_fault_read(&s->model, value, size);
}

static void cmn_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    Cmn *s = opaque;
    unsigned shift = 8 * (addr & 7);

    cmn_stat(s, addr, size)->writes++;
    cmn_note(s, addr, size, true);
    if (!s->gone && !s->unpowered && pmu_fault_write(&s->model)) {
        cmn_bus_write(&s->bus, addr & ~7ull, MAKE_64BIT_MASK(shift, 8 * size),
                      value << shift);
    }
}

static void cmn_write_arrives(void *opaque, uint64_t addr, uint64_t mask,
                              uint64_t value)
{
    Cmn *s = opaque;
    bool ran = cmn_dtc_enabled(&s->mesh.dtc[0]);

    cmn_poke(s, addr, mask, value);
    if (ran != cmn_dtc_enabled(&s->mesh.dtc[0])) {
        cmn_stand_changes(s, ran);
    } else {
        s->stand.accesses_since++;
    }
}

static const MemoryRegionOps cmn_ops = {
    .read = cmn_read,
    .write = cmn_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

/* Lines fall at once. Those that should be high rise, or may do so later. */
static bool set_irqs(Cmn *s, bool rise)
{
    bool any = false;
    unsigned i;

    for (i = 0; i < s->mesh.ndtcs; i++) {
        bool level = cmn_dtc_interrupts(&s->mesh.dtc[i]);

        any |= level;
        if (!s->shared_irq && (rise || !level)) {
            qemu_set_irq(s->irq[i], level);
        }
    }
    if (s->shared_irq && (rise || !any)) {
        qemu_set_irq(s->irq[0], any);
    }
    return any;
}

static void cmn_set_irqs(void *opaque)
{
    set_irqs(opaque, true);
}

/* A flag that is gone before the line was to follow is never seen. */
static void cmn_update_irqs(void *opaque)
{
    Cmn *s = opaque;

    if (set_irqs(s, !s->irq_delay) && s->irq_delay &&
        !timer_pending(s->irq_change)) {
        timer_mod(s->irq_change,
                  qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + s->irq_delay);
    }
}

void cmn_make_dirty(Cmn *s)
{
    CmnNode *node;
    unsigned i, j;

    for (i = 0; i < s->mesh.ndtcs; i++) {
        cmn_dtc_make_dirty(&s->mesh.dtc[i]);
    }
    for (i = 0; i < s->mesh.nxps; i++) {
        for (j = 0; j < s->mesh.xps[i].ndtms; j++) {
            cmn_dtm_make_dirty(&s->mesh.xps[i].dtm[j]);
        }
    }
    for (node = cmn_mesh_next(&s->mesh, NULL); node;
         node = cmn_mesh_next(&s->mesh, node)) {
        for (i = 0; i < ARRAY_SIZE(node->sel); i++) {
            cmn_selector_make_dirty(&node->sel[i]);
        }
    }
    cmn_update_irqs(s);
}

static void cmn_clear_registers(Cmn *s)
{
    cmn_bus_push(&s->bus);
    cmn_mesh_reset(&s->mesh);
    cmn_stand_reset(s);
}

static void cmn_power_changes(void *opaque)
{
    Cmn *s = opaque;

    s->unpowered = !s->unpowered;
    if (!s->unpowered) {
        s->sleep = 0;
        return;
    }
    cmn_clear_registers(s);
    cmn_set_irqs(s);
    timer_mod(s->power_change,
              qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + s->sleep);
}

void cmn_sleep(Cmn *s, int64_t ns)
{
    s->sleep = ns;
    s->unpowered = false;
    if (ns) {
        timer_mod(s->power_change, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + ns);
    } else {
        timer_del(s->power_change);
    }
}

static void cmn_reset_hold(Object *obj, ResetType type)
{
    cmn_clear_registers(CMN(obj));
}

/*
 * Runs after the interrupt controller has been reset, since a line may stay
 * high.
 */
static void cmn_reset_exit(Object *obj, ResetType type)
{
    cmn_set_irqs(CMN(obj));
}

static bool check_properties(Cmn *s, Error **errp)
{
    const CmnProduct *product = s->mesh.product;
    unsigned i;

    if (s->rev == DEFAULT_REV) {
        s->rev = product->default_rev;
    }
    if (s->rev > CMN_MAX_REV) {
        error_setg(errp, "%s has revision codes 0 to %u, not %u",
                   product->title, CMN_MAX_REV, s->rev);
        return false;
    }
    s->mesh.rev = s->rev;
    s->mesh.layout = cmn_product_layout(product, s->rev);
    s->mesh.multi_dtm = s->multi_dtm == ON_OFF_AUTO_ON ||
                        (s->multi_dtm == ON_OFF_AUTO_AUTO &&
                         product->multi_dtm);
    if ((s->mesh.multi_dtm && !s->mesh.layout->global->multi_dtm) ||
        (s->isolation && !s->mesh.layout->global->isolation)) {
        error_setg(errp, "%s has no multi-dtm, or no isolation",
                   product->title);
        return false;
    }
    if (s->graviton5 && strcmp(product->name, "cmns3")) {
        error_setg(errp, "graviton5=on is of cmns3");
        return false;
    }
    for (i = 0; i < CMN_NCHANNELS; i++) {
        if (s->vcs[i] < 1 || s->vcs[i] > 2) {
            error_setg(errp, "%s-vcs is 1 or 2", cmn_channel_names[i]);
            return false;
        }
        s->mesh.vcs[i] = s->vcs[i];
    }
    return !s->corrupt || cmn_corrupt_parse(s->corrupt, &s->corruptions, errp);
}

/*
 * A product whose registers cannot tell of a second virtual channel has only
 * one.
 */
static void limit_vcs(Cmn *s)
{
    const CmnGlobalLayout *global = s->mesh.layout->global;

    if (!global->req_vcs_1) {
        s->mesh.vcs[CMN_REQ] = 1;
        s->mesh.vcs[CMN_SNP] = 1;
    }
    if (!global->rsp_vcs && !global->rsp_vcs_1) {
        s->mesh.vcs[CMN_RSP] = 1;
        s->mesh.vcs[CMN_DAT] = 1;
    }
}

static void start_dtcs(Cmn *s)
{
    unsigned i, j;

    for (i = 0; i < s->mesh.ndtcs; i++) {
        CmnDtc *dtc = &s->mesh.dtc[i];

        cmn_dtc_init(dtc, &s->mesh.dtc[0], s->mesh.product, s->mesh.layout,
                     CLOCK_HZ);
        dtc->update_irq = cmn_update_irqs;
        dtc->opaque = s;
        dtc->carries.delay = s->carry_delay;
        dtc->niden = s->niden;
        dtc->spniden = s->spniden;
    }
    for (i = 0; i < s->mesh.nxps; i++) {
        for (j = 0; j < s->mesh.xps[i].ndtms; j++) {
            s->mesh.xps[i].dtm[j].sees_secure = s->spniden ||
                                                  !s->secure_disable;
        }
    }
}

static bool connect_irqs(Cmn *s, Error **errp)
{
    Object *gic = object_resolve_path_type("", "arm-gicv3-common", NULL);
    unsigned i;

    if (!gic) {
        error_setg(errp, "there is no GIC: this wants -M virt,gic-version=3");
        return false;
    }
    for (i = 0; i < s->mesh.ndtcs; i++) {
        s->irq[i] = qdev_get_gpio_in(DEVICE(gic), cmn_spi(s, i));
    }
    return true;
}

static bool map_region(Cmn *s, Error **errp)
{
    MemoryRegionSection there;

    memory_region_init_io(&s->mmio, OBJECT(s), &cmn_ops, s, s->model.name,
                          s->mesh.size);
    there = memory_region_find(get_system_memory(), s->base, s->mesh.size);
    if (there.mr) {
        error_setg(errp, "%s is at 0x%" PRIx64 " already",
                   memory_region_name(there.mr), s->base);
        memory_region_unref(there.mr);
        return false;
    }
    memory_region_add_subregion(get_system_memory(), s->base, &s->mmio);
    return true;
}

/* A place for the n-th mesh of the machine, unless it has been given one */
static void choose_place(Cmn *s)
{
    unsigned index = atoi(s->model.name + strlen("cmn"));

    if (!s->base) {
        s->base = BASE_STEP * (index + 1);
    }
    if (!s->spi) {
        s->spi = FIRST_SPI + CMN_MAX_DTCS * index;
    }
}

static void cmn_realize(DeviceState *dev, Error **errp)
{
    Cmn *s = CMN(dev);

    s->mesh.product = CMN_GET_CLASS(s)->product;
    s->mesh.isolation = s->isolation;
    s->mesh.quartered = s->graviton5;
    s->mesh.ids_by_use = s->ids_by_use;
    if (!check_properties(s, errp)) {
        return;
    }
    limit_vcs(s);
    if (!cmn_mesh_build(&s->mesh, &s->description, errp)) {
        return;
    }
    if (!cmn_control_start(s, errp)) {
        cmn_mesh_free(&s->mesh);
        return;
    }
    choose_place(s);
    cmn_bus_init(&s->bus, cmn_write_arrives, s);
    s->irq_change = timer_new_ns(QEMU_CLOCK_VIRTUAL, cmn_set_irqs, s);
    s->power_change = timer_new_ns(QEMU_CLOCK_VIRTUAL, cmn_power_changes, s);
    start_dtcs(s);
    if (!connect_irqs(s, errp) || !map_region(s, errp)) {
        return;     /* the machine does not start */
    }
    cmn_fdt_add(s);
    qemu_register_resettable(OBJECT(s));
}

static const VMStateDescription cmn_vmstate = {
    .name = TYPE_CMN,
    .unmigratable = 1,
};

#define DEVICE_PROPERTY(name, kind) \
    DEFINE_PROP_STRING(name, Cmn, description.devices[CMN_DEV_##kind])

static const Property cmn_properties[] = {
    DEFINE_PROP_STRING("mesh", Cmn, description.mesh),
    DEFINE_PROP_STRING("ports", Cmn, description.ports),
    DEFINE_PROP_UINT32("dtc", Cmn, description.ndtcs, 0),
    DEFINE_PROP_STRING("isolated", Cmn, description.isolated),
    DEVICE_PROPERTY("hnd", HND), DEVICE_PROPERTY("hnt", HNT),
    DEVICE_PROPERTY("hnf", HNF), DEVICE_PROPERTY("hns", HNS),
    DEVICE_PROPERTY("rni", RNI), DEVICE_PROPERTY("rnd", RND),
    DEVICE_PROPERTY("sbsx", SBSX), DEVICE_PROPERTY("hni", HNI),
    DEVICE_PROPERTY("hnv", HNV), DEVICE_PROPERTY("hnp", HNP),
    DEVICE_PROPERTY("mtsx", MTSX), DEVICE_PROPERTY("cxra", CXRA),
    DEVICE_PROPERTY("cxha", CXHA), DEVICE_PROPERTY("cxg", CXG),
    DEVICE_PROPERTY("ccg", CCG), DEVICE_PROPERTY("ccgrni", CCGRNI),
    DEVICE_PROPERTY("rnf", RNF), DEVICE_PROPERTY("snf", SNF),
    DEFINE_PROP_UINT64("base", Cmn, base, 0),
    DEFINE_PROP_UINT32("spi", Cmn, spi, 0),
    DEFINE_PROP_BOOL("shared-irq", Cmn, shared_irq, false),
    DEFINE_PROP_INT32("node", Cmn, node, -1),
    DEFINE_PROP_UINT32("rev", Cmn, rev, DEFAULT_REV),
    DEFINE_PROP_ON_OFF_AUTO("multi-dtm", Cmn, multi_dtm, ON_OFF_AUTO_AUTO),
    DEFINE_PROP_UINT32("req-vcs", Cmn, vcs[CMN_REQ], 2),
    DEFINE_PROP_UINT32("rsp-vcs", Cmn, vcs[CMN_RSP], 2),
    DEFINE_PROP_UINT32("snp-vcs", Cmn, vcs[CMN_SNP], 2),
    DEFINE_PROP_UINT32("dat-vcs", Cmn, vcs[CMN_DAT], 2),
    DEFINE_PROP_BOOL("isolation", Cmn, isolation, false),
    DEFINE_PROP_BOOL("graviton5", Cmn, graviton5, false),
    DEFINE_PROP_BOOL("ids-by-use", Cmn, ids_by_use, false),
    DEFINE_PROP_BOOL("niden", Cmn, niden, true),
    DEFINE_PROP_BOOL("spniden", Cmn, spniden, true),
    DEFINE_PROP_BOOL("secure-disable", Cmn, secure_disable, true),
    DEFINE_PROP_UINT64("carry-delay", Cmn, carry_delay, 0),
    DEFINE_PROP_STRING("corrupt", Cmn, corrupt),
};

static void cmn_class_init(ObjectClass *klass, ClassInitData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    ResettableClass *rc = RESETTABLE_CLASS(klass);

    rc->phases.hold = cmn_reset_hold;
    rc->phases.exit = cmn_reset_exit;
    dc->realize = cmn_realize;
    dc->desc = "coherent mesh network";
    dc->vmsd = &cmn_vmstate;
    dc->hotpluggable = false;
    dc->user_creatable = true;
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
    device_class_set_props(dc, cmn_properties);
}

static void product_class_init(ObjectClass *klass, ClassInitData *data)
{
    CMN_CLASS(klass)->product = data;
}

static const TypeInfo cmn_type = {
    .name = TYPE_CMN,
    .parent = TYPE_DEVICE,
    .instance_size = sizeof(Cmn),
    .class_size = sizeof(CmnClass),
    .class_init = cmn_class_init,
    .abstract = true,
};

static void cmn_register(void)
{
    const CmnProduct *product = NULL;

    type_register_static(&cmn_type);
    while ((product = cmn_product_next(product))) {
        TypeInfo type = {
            .name = product->name,
            .parent = TYPE_CMN,
            .class_init = product_class_init,
            .class_data = (void *)product,
        };

        type_register_static(&type);
    }
}

type_init(cmn_register)
