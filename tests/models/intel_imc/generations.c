// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The uncore PCI functions that matter for memory counters, of Intel Xeon
 * processors: the UBOX of a socket, and the channels, or where these are in
 * memory space the functions that lead there. What they do is in ubox.c,
 * channel.c, mmio.c and discovery.c; here is in what the generations differ. A
 * channel's index in its table is its number in names, on a machine with all of
 * them or not: gaps stay gaps.
 *
 * Left out: every other uncore function of the parts, except as far as
 * dummy.c stands in for them.
 *
 * QEMU interface: devices "NAME-imc" or "NAME-mmio", "NAME-ubox" and
 * "NAME-discovery", NAME of a row.
 */
#include "function.h"
#include "qemu/module.h"

/*
 * Reserved bits of CTLn are those that have to be written as 0; others that
 * do nothing are ignored by the hardware.
 */
static const IntelImcRegisters snbep_registers = {
    .frz_needs_frz_en = true,
    .box_reserved = 0xfffefeff,
    .ctl_mask = 0xffc4ffff,
    .ctl_reserved = 0x003b0000,
};

static const IntelImcRegisters ivbep_registers = {
    .box_resets = true,
    .box_wanted = 0x00030000,
    .ctl_mask = 0xff54ffff,     /* without invert, with ov_en */
    .ctl_reserved = 0x00a10000,
};

static const IntelImcRegisters hswep_registers = {
    .box_resets = true,
    .box_wanted = 0x00030000,
    .ctl_mask = 0xffd4ffff,
    .ctl_reserved = 0x00210000,
};

static const IntelImcRegisters skx_registers = {
    .box_resets = true,
    .box_ones = 0x00030000,
    .box_reserved = 0xfffcfefc,
    .ctl_mask = 0xffd4ffff,
    .ctl_reserved = 0x00210000,
};

/* The enable of the freeze is kept, and the freeze does without. */
static const IntelImcRegisters icx_registers = {
    .box_resets = true,
    .box_reserved = 0xfffefefc,
    .ctl_mask = 0xffc4ffff,
    .ctl_reserved = 0x003b0000,
    .box_frz = 1u << 8,
    .box_rst_ctrs = 1u << 1,
    .box_rst_ctrl = 1u << 0,
    .box_kept = 1u << 16 | 1u << 8,
};

/* No bit enables a counter or the freeze. */
static const IntelImcRegisters spr_registers = {
    .box_resets = true,
    .box_reserved = 0xfffffcfe,
    .ctl_mask = 0xff84ffff,
    .ctl_reserved = 0x007b0000,
    .box_frz = 1u << 0,
    .box_rst_ctrs = 1u << 9,
    .box_rst_ctrl = 1u << 8,
    .box_kept = 1u << 0,
    .no_enable = true,
    .half_clock = true,
};

/* Ice Lake has the number of a third channel in each controller. */
#define ICX_WINDOW(n) { \
    .controllers = n, .channels = 2, .numbers = 3, \
    .first = 0x40000, .stride = 0x80000, \
    .block = 0x22800, .block_stride = 0x4000, \
    .free = { \
        [INTEL_IMC_FREE_READ] = 0x2290, [INTEL_IMC_FREE_WRITE] = 0x2298, \
        [INTEL_IMC_FREE_PMM_READ] = 0x22a0, [INTEL_IMC_FREE_PMM_WRITE] = 0x22a8, \
        [INTEL_IMC_FREE_DCLK] = 0x22b0, \
    } }
static const IntelImcWindow icx_window = ICX_WINDOW(4);

/* Fewer: how many is an invention, and so are those of Snow Ridge. */
static const IntelImcWindow icxd_window = ICX_WINDOW(2);

static const IntelImcWindow snr_window = {
    .controllers = 1, .channels = 2, .numbers = 2,
    .first = 0x40000, .stride = 0x80000,
    .block = 0x22800, .block_stride = 0x4000,
};

static const IntelImcWindow spr_window = {
    .controllers = 4, .channels = 2, .numbers = 2,
    .first = 0x40000, .stride = 0x80000,
    .block = 0x22800, .block_stride = 0x4000,
    .free = {
        [INTEL_IMC_FREE_DCLK] = 0x22b0,
        [INTEL_IMC_FREE_RPQ_CYCLES] = 0x2318,
        [INTEL_IMC_FREE_WPQ_CYCLES] = 0x2320,
    },
    .record = 32,
};

/* All channels are in a row, so each of them is described as a controller. */
static const IntelImcWindow gnr_window = {
    .controllers = 12, .channels = 1, .numbers = 1,
    .stride = 0x4000, .block = 0x24e800,
    .whole = true, .record = 64,
};

/* Processors with a table: the numbers of channels are inventions. */
#define TABLE_WINDOW(n) { \
    .controllers = n, .channels = 1, .numbers = 1, \
    .stride = 0x4000, .block = 0x24e800, .whole = true, .record = 32 }
static const IntelImcWindow srf_window = TABLE_WINDOW(8);
static const IntelImcWindow gnrd_window = TABLE_WINDOW(4);
static const IntelImcWindow unlisted_window = TABLE_WINDOW(5);

#define SLOT(id, device, function) { id, PCI_DEVFN(device, function) }

/* Haswell and Broadwell: the same slots, and ids that differ in one digit */
#define HSWEP_CHANNELS(base) { \
    SLOT(base + 0xb0, 0x14, 0), SLOT(base + 0xb1, 0x14, 1), \
    SLOT(base + 0xb4, 0x15, 0), SLOT(base + 0xb5, 0x15, 1), \
    SLOT(base + 0xd0, 0x17, 0), SLOT(base + 0xd1, 0x17, 1), \
    SLOT(base + 0xd4, 0x18, 0), SLOT(base + 0xd5, 0x18, 1) }

/* Both memory controllers have the same ids. */
#define SKX_CHANNELS { \
    SLOT(0x2042, 0x0a, 2), SLOT(0x2046, 0x0a, 6), SLOT(0x204a, 0x0b, 2), \
    SLOT(0x2042, 0x0c, 2), SLOT(0x2046, 0x0c, 6), SLOT(0x204a, 0x0d, 2) }

/* Up to Broadwell and from Skylake on: where the UBOX has its two registers */
#define OLD_UBOX(slot) \
    .ubox = slot, .ubox_nodeid = 0x40, .ubox_gidnidmap = 0x54
#define NEW_UBOX(slot) \
    .ubox = slot, .ubox_nodeid = 0xc0, .ubox_gidnidmap = 0xd4

#define HSWEP_GENERATION(_name, base, _events) { \
    .name = _name, OLD_UBOX(SLOT(base + 0x1e, 0x10, 5)), \
    .channel = HSWEP_CHANNELS(base), .nchannels = 8, \
    .events = _events, .registers = &hswep_registers }
#define SKX_GENERATION(_name, _events) { \
    .name = _name, NEW_UBOX(SLOT(0x2014, 0x08, 0)), \
    .channel = SKX_CHANNELS, .nchannels = 6, \
    .events = _events, .registers = &skx_registers }
#define ICX_GENERATION(_name, ubox, _window) { \
    .name = _name, NEW_UBOX(SLOT(ubox, 0x00, 0)), \
    .mmio = SLOT(0x3451, 0x00, 1), .window = _window, \
    .events = INTEL_IMC_EVENTS_ICX, .registers = &icx_registers }
#define TABLE_GENERATION(_name, _window, _events) { \
    .name = _name, NEW_UBOX(SLOT(0x3250, 0x00, 0)), \
    .mmio = SLOT(0x3251, 0x00, 1), .window = _window, \
    .events = _events, .registers = &spr_registers }

static const UncoreGeneration generations[] = {
    {
        .name = "snbep",
        OLD_UBOX(SLOT(0x3ce0, 0x0b, 0)),
        .channel = {
            SLOT(0x3cb0, 0x10, 0), SLOT(0x3cb1, 0x10, 1),
            SLOT(0x3cb4, 0x10, 4), SLOT(0x3cb5, 0x10, 5),
        },
        .nchannels = 4,
        .events = INTEL_IMC_EVENTS_SNBEP,
        .registers = &snbep_registers,
    },
    {
        .name = "ivbep",
        OLD_UBOX(SLOT(0x0e1e, 0x0b, 0)),
        .channel = {
            SLOT(0x0eb4, 0x10, 4), SLOT(0x0eb5, 0x10, 5),
            SLOT(0x0eb0, 0x10, 0), SLOT(0x0eb1, 0x10, 1),
            SLOT(0x0ef4, 0x1e, 4), SLOT(0x0ef5, 0x1e, 5),
            SLOT(0x0ef0, 0x1e, 0), SLOT(0x0ef1, 0x1e, 1),
        },
        .nchannels = 8,
        .events = INTEL_IMC_EVENTS_IVBEP,
        .registers = &ivbep_registers,
    },
    HSWEP_GENERATION("hswep", 0x2f00, INTEL_IMC_EVENTS_HSWEP),
    HSWEP_GENERATION("bdxep", 0x6f00, INTEL_IMC_EVENTS_BDXEP),
    HSWEP_GENERATION("bdxde", 0x6f00, INTEL_IMC_EVENTS_BDXDE),
    SKX_GENERATION("skx", INTEL_IMC_EVENTS_SKX),
    SKX_GENERATION("clx", INTEL_IMC_EVENTS_CLX),
    ICX_GENERATION("icx", 0x3450, &icx_window),
    TABLE_GENERATION("spr", &spr_window, INTEL_IMC_EVENTS_SPR),
    TABLE_GENERATION("emr", &spr_window, INTEL_IMC_EVENTS_SPR),
    TABLE_GENERATION("gnr", &gnr_window, INTEL_IMC_EVENTS_GNR),
    TABLE_GENERATION("srf", &srf_window, INTEL_IMC_EVENTS_GNR),
    TABLE_GENERATION("gnrd", &gnrd_window, INTEL_IMC_EVENTS_GNR),
    TABLE_GENERATION("unlisted", &unlisted_window, INTEL_IMC_EVENTS_GNR),
    ICX_GENERATION("icxd", 0x3450, &icxd_window),
    ICX_GENERATION("snr", 0x3460, &snr_window),
};

static void generation_class_init(ObjectClass *klass, ClassInitData *data)
{
    UNCORE_FUNCTION_CLASS(klass)->gen = data;
}

static void register_generation(const UncoreGeneration *gen,
                                const char *suffix, const char *parent)
{
    g_autofree char *name = g_strdup_printf("%s-%s", gen->name, suffix);
    TypeInfo type = {
        .name = name,
        .parent = parent,
        .class_init = generation_class_init,
        .class_data = (void *)gen,
    };

    type_register_static(&type);
}

static void generations_register(void)
{
    size_t i;

    for (i = 0; i < ARRAY_SIZE(generations); i++) {
        if (generations[i].nchannels) {
            register_generation(&generations[i], "imc", TYPE_INTEL_IMC_CHANNEL);
        }
        if (generations[i].mmio.id) {
            register_generation(&generations[i], "mmio", TYPE_INTEL_IMC_MMIO);
            if (generations[i].window->record) {
                register_generation(&generations[i], "discovery",
                                    TYPE_INTEL_IMC_DISCOVERY);
            }
        }
        register_generation(&generations[i], "ubox", TYPE_UNCORE_UBOX);
    }
}

type_init(generations_register)
