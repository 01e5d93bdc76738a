// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The control device: a PCI function through which a program in the guest
 * talks to the models. No hardware looks like this; it exists so that a test
 * can say "exactly a million reads happen now" from the inside.
 *
 * The protocol is text and every register is made of bytes, so neither the
 * guest's byte order nor the width of its accesses matters. It is synchronous:
 * a store to DOORBELL runs the command, under the BQL, before the guest's
 * next instruction; then STATUS, LENGTH and ANSWER can be read.
 *
 * Left out: interrupts (nothing here takes time), migration.
 *
 * QEMU interface:
 *  + no properties; PCI 1b36:50c7, class "other", one 16 KiB memory BAR
 *  + BAR 0:
 *      0x0000  MAGIC      "pmu-ctl1", read only
 *      0x0008  DOORBELL   write any byte: run the line in COMMAND
 *      0x0009  STATUS     0 done, 1 failed (ANSWER says why)
 *      0x000c  LENGTH     bytes in ANSWER, four bytes, lowest first
 *      0x0010  LEFT       bytes that did not fit, four bytes, lowest first;
 *                         the command "more" brings them
 *      0x1000  COMMAND    4 KiB, a line that ends in a NUL
 *      0x2000  ANSWER     8 KiB, read only
 */
#include "compat.h"
#include "qemu/module.h"
#include "hw/pci/pci_device.h"
#include "migration/vmstate.h"
#include "qapi/error.h"
#include "qapi/qapi-commands-control.h"
#include "command.h"

#define TYPE_PMU_CTL "pmu-ctl"
OBJECT_DECLARE_SIMPLE_TYPE(PmuCtl, PMU_CTL)

#define PMU_CTL_DEVICE_ID 0x50c7

#define CTL_BAR_SIZE    0x4000
#define CTL_MAGIC       0x0000
#define CTL_DOORBELL    0x0008
#define CTL_STATUS      0x0009
#define CTL_LENGTH      0x000c
#define CTL_LEFT        0x0010
#define CTL_COMMAND     0x1000
#define CTL_COMMAND_SIZE 0x1000
#define CTL_ANSWER      0x2000
#define CTL_ANSWER_SIZE 0x2000

static const char ctl_magic[8] = "pmu-ctl1";

struct PmuCtl {
    PCIDevice parent_obj;

    MemoryRegion bar;
    char command[CTL_COMMAND_SIZE];
    GString *answer;
    size_t shown;       /* offset in the answer of what ANSWER shows */
    bool failed;
};

static uint32_t ctl_length(const PmuCtl *s)
{
    return MIN(s->answer->len - s->shown, CTL_ANSWER_SIZE);
}

static uint32_t ctl_left(const PmuCtl *s)
{
    return s->answer->len - s->shown - ctl_length(s);
}

static void ctl_run(PmuCtl *s)
{
    if (!memchr(s->command, 0, sizeof(s->command))) {
        g_string_printf(s->answer, "the command is longer than %d bytes\n",
                        CTL_COMMAND_SIZE - 1);
        s->shown = 0;
        s->failed = true;
        return;
    }
    if (!strcmp(s->command, "more")) {
        s->shown += ctl_length(s);
        s->failed = false;
        return;
    }
    g_string_truncate(s->answer, 0);
    s->shown = 0;
    s->failed = !pmu_command(s->command, s->answer);
}

static uint8_t byte_of(uint32_t value, hwaddr index)
{
    return value >> (8 * index);
}

static uint64_t ctl_read(void *opaque, hwaddr addr, unsigned size)
{
    PmuCtl *s = opaque;

    switch (addr) {
    case CTL_MAGIC ... CTL_MAGIC + sizeof(ctl_magic) - 1:
        return (uint8_t)ctl_magic[addr - CTL_MAGIC];
    case CTL_STATUS:
        return s->failed;
    case CTL_LENGTH ... CTL_LENGTH + 3:
        return byte_of(ctl_length(s), addr - CTL_LENGTH);
    case CTL_LEFT ... CTL_LEFT + 3:
        return byte_of(ctl_left(s), addr - CTL_LEFT);
    case CTL_COMMAND ... CTL_COMMAND + CTL_COMMAND_SIZE - 1:
        return (uint8_t)s->command[addr - CTL_COMMAND];
    case CTL_ANSWER ... CTL_ANSWER + CTL_ANSWER_SIZE - 1:
        if (addr - CTL_ANSWER < ctl_length(s)) {
            return (uint8_t)s->answer->str[s->shown + addr - CTL_ANSWER];
        }
        return 0;
    default:
        return 0;
    }
}

static void ctl_write(void *opaque, hwaddr addr, uint64_t value, unsigned size)
{
    PmuCtl *s = opaque;

    if (addr == CTL_DOORBELL) {
        ctl_run(s);
    } else if (addr >= CTL_COMMAND && addr < CTL_COMMAND + CTL_COMMAND_SIZE) {
        s->command[addr - CTL_COMMAND] = value;
    }
}

/* Wider accesses arrive here as bytes, lowest address first. */
static const MemoryRegionOps ctl_ops = {
    .read = ctl_read,
    .write = ctl_write,
    .endianness = DEVICE_LITTLE_ENDIAN,
    .valid = { .min_access_size = 1, .max_access_size = 8, .unaligned = true },
    .impl = { .min_access_size = 1, .max_access_size = 1 },
};

/*
 * The models share structures with QEMU by layout. Every machine with models
 * has this device, so here is where another version is found out.
 */
static bool ctl_version_fits(Error **errp)
{
    VersionInfo *info = qmp_query_version(NULL);
    bool fits = info->qemu->major == QEMU_VERSION_MAJOR &&
                info->qemu->minor == QEMU_VERSION_MINOR;

    if (!fits) {
        error_setg(errp, "the models are built for QEMU %d.%d, this is %"
                   PRId64 ".%" PRId64 ": build them against its headers",
                   QEMU_VERSION_MAJOR, QEMU_VERSION_MINOR, info->qemu->major,
                   info->qemu->minor);
    }
    qapi_free_VersionInfo(info);
    return fits;
}

static void ctl_realize(PCIDevice *pci, Error **errp)
{
    PmuCtl *s = PMU_CTL(pci);

    if (!ctl_version_fits(errp)) {
        return;
    }
    s->answer = g_string_new(NULL);
    memory_region_init_io(&s->bar, OBJECT(s), &ctl_ops, s, TYPE_PMU_CTL,
                          CTL_BAR_SIZE);
    pci_register_bar(pci, 0, PCI_BASE_ADDRESS_SPACE_MEMORY, &s->bar);
}

static void ctl_exit(PCIDevice *pci)
{
    g_string_free(PMU_CTL(pci)->answer, true);
}

static const VMStateDescription ctl_vmstate = {
    .name = TYPE_PMU_CTL,
    .unmigratable = 1,
};

static void ctl_class_init(ObjectClass *klass, ClassInitData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *k = PCI_DEVICE_CLASS(klass);

    k->realize = ctl_realize;
    k->exit = ctl_exit;
    k->vendor_id = PCI_VENDOR_ID_REDHAT;
    k->device_id = PMU_CTL_DEVICE_ID;
    k->class_id = PCI_CLASS_OTHERS;
    dc->desc = "control of the PMU models from inside the guest";
    dc->vmsd = &ctl_vmstate;
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static InterfaceInfo ctl_interfaces[] = {
    { INTERFACE_CONVENTIONAL_PCI_DEVICE },
    { },
};

static const TypeInfo ctl_type = {
    .name = TYPE_PMU_CTL,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(PmuCtl),
    .class_init = ctl_class_init,
    .interfaces = ctl_interfaces,
};

static void ctl_register(void)
{
    type_register_static(&ctl_type);
}

type_init(ctl_register)
