// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The function that tells where the counters of a socket are, from Sapphire
 * Rapids on: a PCI Express function with a capability that leads to a table in
 * its memory. The table lists units of all kinds; those of the memory channels
 * are where mmio.c has them.
 *
 * Modelled: three capabilities of the kind, of which the last is the table's,
 * and below the second; the table, with the channels among other units that have registers of
 * other kinds, with records that are none, and with more room than it needs.
 * Tests can change each word of it, and of the capabilities.
 *
 * Decided here, since no source says: the slot; the base address register; the
 * size of records; the order of the units; the addresses of all but the
 * channels. Nobody answers there.
 *
 * Left out: what else the function has, which belongs to another driver;
 * the global control; migration.
 *
 * QEMU interface (devices "NAME-discovery", NAME of a row of generations.c):
 *  + property "socket": number of the socket, part of the model's name
 *  + property "device-id": another one than 09a7
 *  + model "discovery@S", with the keys below
 * Wants "multifunction=on", and to be on a PCI Express bus.
 */
#include "function.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "hw/pci/pcie.h"

#define DEVICE_ID           0x09a7
#define DEVFN               PCI_DEVFN(0x00, 1)

#define BAR_SIZE            0x2000
#define TABLE_WORDS         (BAR_SIZE / 8)

/* Capabilities */
#define CAP_EXPRESS         0x40
#define CAP_OTHER           0x100
#define CAP_BEHIND          0x180
#define CAP_PMON            0x140
#define CAP_SIZE            0x10
#define   CAP_DVSEC             0x23
#define   CAP_ENTRY             0x08    /* what the entry is of: 15:0 */
#define     CAP_ENTRY_OTHER         2
#define     CAP_ENTRY_PMON          1
#define   CAP_BIR               0x0c    /* which base address register: 2:0 */

/* A record has three words; the first record is of the socket. */
#define RECORD_WORDS        3
#define GLOBAL(stride, units) \
    ((uint64_t)(stride) << 8 | (uint64_t)(units) << 16)
#define UNIT(registers, ctl, width, ctr, status, access) \
    ((uint64_t)(access) << 62 | (uint64_t)(status) << 32 | \
     (uint64_t)(ctr) << 24 | (uint64_t)(width) << 16 | \
     (uint64_t)(ctl) << 8 | (registers))
#define KIND(type, id)      ((uint64_t)(id) << 16 | (type))

enum { ACCESS_MSR, ACCESS_MMIO, ACCESS_PCI };

typedef struct Discovery {
    UncoreFunction parent_obj;

    MemoryRegion bar;
    uint64_t table[TABLE_WORDS];
    uint32_t at;                /* the word that the key "word" is of */
    PmuStat stat;
} Discovery;

DECLARE_INSTANCE_CHECKER(Discovery, DISCOVERY, TYPE_INTEL_IMC_DISCOVERY)

static const UncoreGeneration *discovery_gen(Discovery *d)
{
    return UNCORE_FUNCTION_GET_CLASS(d)->gen;
}

/* Units that are no channels: here that there are several kinds matters. */
static const struct {
    uint8_t type, units, access;
    uint64_t control;
    uint64_t stride;
} others[] = {
    { 4, 1, ACCESS_MSR, 0x2fc0, 0 },
    { 7, 4, ACCESS_PCI, 0x0007e438, 0x8000 },
    { 8, 3, ACCESS_PCI, 0x0007e138, 0x8000 },
    { 1, 2, ACCESS_MSR, 0x3000, 0x10 },
    { 5, 1, ACCESS_MSR, 0x2fd0, 0 },
};

static void table_put(Discovery *d, unsigned *record, uint64_t a, uint64_t b,
                      uint64_t c)
{
    unsigned at = ++*record * discovery_gen(d)->window->record / 8;

    d->table[at] = a;
    d->table[at + 1] = b;
    d->table[at + 2] = c;
}

static void table_put_others(Discovery *d, unsigned *record, unsigned kind)
{
    unsigned i;

    for (i = 0; i < others[kind].units; i++) {
        table_put(d, record,
                  UNIT(4, others[kind].access == ACCESS_MSR ? 2 : 0x18, 48,
                       others[kind].access == ACCESS_MSR ? 8 : 0x38, 1,
                       others[kind].access),
                  others[kind].control + i * others[kind].stride,
                  KIND(others[kind].type, i));
    }
}

/* Every third channel is followed by other units, and by one that is none. */
static void table_fill(Discovery *d)
{
    const IntelImcWindow *window = discovery_gen(d)->window;
    unsigned record = 0, kind = 0, i, n;

    memset(d->table, 0, sizeof(d->table));
    for (i = 0; i < window->controllers; i++) {
        for (n = 0; n < window->channels; n++) {
            if ((i * window->channels + n) % 3 == 2 &&
                kind < ARRAY_SIZE(others)) {
                table_put_others(d, &record, kind++);
                table_put(d, &record, 0, 0, 0);
            }
            table_put(d, &record, UNIT(4, 0x40, 48, 0x08, 0x5c, ACCESS_MMIO),
                      intel_imc_block_address(window,
                                              UNCORE_FUNCTION(d)->socket, i, n),
                      KIND(6, i * window->numbers + n));
        }
    }
    while (kind < ARRAY_SIZE(others)) {
        table_put_others(d, &record, kind++);
    }
    d->table[0] = GLOBAL(window->record / 8, record + 4);
    d->table[1] = 0x2ff0;
    d->table[2] = 0x202;
}

static uint64_t bar_read(void *opaque, hwaddr at, unsigned size)
{
    Discovery *d = opaque;

    d->stat.reads++;
    if (UNCORE_FUNCTION(d)->gone) {
        return UINT64_MAX;
    }
    return d->table[at / 8] >> 8 * (at % 8);
}

static void bar_write(void *opaque, hwaddr at, uint64_t value, unsigned size)
{
    DISCOVERY(opaque)->stat.writes++;
}

static const MemoryRegionOps bar_ops = {
    .read = bar_read,
    .write = bar_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8 },
    .impl = { .min_access_size = 1, .max_access_size = 8 },
};

static bool discovery_config_read(UncoreFunction *f, uint32_t reg,
                                  uint32_t *value)
{
    return false;
}

enum { KEY_AT, KEY_WORD };

static uint64_t get_table(PmuModel *model, unsigned arg)
{
    Discovery *d = DISCOVERY(uncore_function(model));

    return arg == KEY_AT ? d->at : d->table[d->at / 8];
}

static bool set_table(PmuModel *model, unsigned arg, uint64_t value,
                      Error **errp)
{
    Discovery *d = DISCOVERY(uncore_function(model));

    if (arg == KEY_WORD) {
        d->table[d->at / 8] = value;
    } else if (value % 8) {
        error_setg(errp, "a word's offset is a multiple of 8");
        return false;
    } else {
        d->at = value;
    }
    return true;
}

/* A dword of configuration space, by its offset */
static uint64_t get_cap(PmuModel *model, unsigned arg)
{
    return pci_get_long(PCI_DEVICE(uncore_function(model))->config + arg);
}

static bool set_cap(PmuModel *model, unsigned arg, uint64_t value,
                    Error **errp)
{
    pci_set_long(PCI_DEVICE(uncore_function(model))->config + arg, value);
    return true;
}

static uint64_t get_whole(PmuModel *model, unsigned arg)
{
    return 0;
}

static bool set_whole(PmuModel *model, unsigned arg, uint64_t value,
                      Error **errp)
{
    table_fill(DISCOVERY(uncore_function(model)));
    return true;
}

static const PmuKey discovery_keys[] = {
    { "at", "offset in the table of the word that \"word\" is",
      BAR_SIZE - 8, KEY_AT, get_table, set_table },
    { "word", "that word", UINT64_MAX, KEY_WORD, get_table, set_table },
    { "whole", "1: the table as it was at first", 1, 0, get_whole, set_whole },
    { "header", "of the table's capability: its kind, and where the next is",
      UINT32_MAX, CAP_PMON, get_cap, set_cap },
    { "owner", "of that capability: who says what it is", UINT32_MAX,
      CAP_PMON + 4, get_cap, set_cap },
    { "entry", "of that capability: what it is of", UINT32_MAX,
      CAP_PMON + CAP_ENTRY, get_cap, set_cap },
    { "bir", "of that capability: which base address register",
      UINT32_MAX, CAP_PMON + CAP_BIR, get_cap, set_cap },
    UNCORE_KEY_GONE,
};

static void discovery_add_capability(PCIDevice *pci, uint16_t at,
                                     uint32_t entry)
{
    pcie_add_capability(pci, CAP_DVSEC, 1, at, CAP_SIZE);
    pci_set_long(pci->config + at + 4, CAP_SIZE << 20 | PCI_VENDOR_ID_INTEL);
    pci_set_long(pci->config + at + CAP_ENTRY, entry);
}

static void discovery_realize(PCIDevice *pci, Error **errp)
{
    static const UncoreSlot slot = { DEVICE_ID, DEVFN };
    Discovery *d = DISCOVERY(pci);
    UncoreFunction *f = UNCORE_FUNCTION(pci);

    if (!pci_bus_is_express(pci_get_bus(pci))) {
        error_setg(errp, "%s wants a PCI Express bus",
                   object_get_typename(OBJECT(pci)));
        return;
    }
    d->stat.name = "table";
    f->model = (PmuModel) {
        .description = "the table of the socket's counters",
        .keys = discovery_keys,
        .nkeys = ARRAY_SIZE(discovery_keys),
        .stats = &d->stat,
        .nstats = 1,
    };
    if (!uncore_function_start(f, &slot,
                               g_strdup_printf("discovery@%u", f->socket),
                               errp)) {
        return;
    }
    table_fill(d);
    memory_region_init_io(&d->bar, OBJECT(d), &bar_ops, d,
                          TYPE_INTEL_IMC_DISCOVERY, BAR_SIZE);
    pci_register_bar(pci, 0, PCI_BASE_ADDRESS_MEM_TYPE_64, &d->bar);
    pcie_endpoint_cap_init(pci, CAP_EXPRESS);
    discovery_add_capability(pci, CAP_OTHER, CAP_ENTRY_OTHER);
    discovery_add_capability(pci, CAP_BEHIND, CAP_ENTRY_OTHER);
    discovery_add_capability(pci, CAP_PMON, CAP_ENTRY_PMON);
}

static void discovery_instance_init(Object *obj)
{
    /* The parent's type is of PCI devices of both kinds. */
    PCI_DEVICE(obj)->cap_present |= QEMU_PCI_CAP_EXPRESS;
}

static const Property discovery_properties[] = {
    DEFINE_PROP_UINT32("socket", Discovery, parent_obj.socket, 0),
    DEFINE_PROP_UINT16("device-id", Discovery, parent_obj.id, 0),
};

static void discovery_class_init(ObjectClass *klass, ClassInitData *data)
{
    UNCORE_FUNCTION_CLASS(klass)->read = discovery_config_read;
    PCI_DEVICE_CLASS(klass)->realize = discovery_realize;
    DEVICE_CLASS(klass)->desc = "table of the socket's counters";
    device_class_set_props(DEVICE_CLASS(klass), discovery_properties);
}

static InterfaceInfo discovery_interfaces[] = {
    { INTERFACE_PCIE_DEVICE },
    { },
};

static const TypeInfo discovery_type = {
    .name = TYPE_INTEL_IMC_DISCOVERY,
    .parent = TYPE_UNCORE_FUNCTION,
    .instance_size = sizeof(Discovery),
    .instance_init = discovery_instance_init,
    .class_init = discovery_class_init,
    .abstract = true,
    .interfaces = discovery_interfaces,
};

static void discovery_register(void)
{
    type_register_static(&discovery_type);
}

type_init(discovery_register)
