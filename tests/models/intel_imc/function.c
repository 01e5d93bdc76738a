// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A PCI function of Intel's uncore: configuration space whose registers
 * belong to a model, and the fault of no longer being there.
 *
 * QEMU interface: an abstract type, see channel.c, mmio.c and ubox.c.
 */
#include "function.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "common/fault.h"
#include "hw/boards.h"
#include "hw/core/cpu.h"
#include "migration/vmstate.h"

static void function_count(UncoreFunction *f, uint32_t addr, int len,
                           bool write)
{
    UncoreFunctionClass *fc = UNCORE_FUNCTION_GET_CLASS(f);
    PmuStat *stat = fc->stat ? fc->stat(f, addr, len) : NULL;

    if (stat && write) {
        stat->writes++;
    } else if (stat) {
        stat->reads++;
    }
}

/* A function that is gone does not answer, but the access is counted. */
static uint32_t function_config_read(PCIDevice *pci, uint32_t addr, int len)
{
    UncoreFunction *f = UNCORE_FUNCTION(pci);
    UncoreFunctionClass *fc = UNCORE_FUNCTION_GET_CLASS(f);
    uint32_t dword;

    function_count(f, addr, len, false);
    if (f->gone || pmu_fault_gone(&f->model)) {
        return MAKE_64BIT_MASK(0, 8 * len);
    }
    if ((addr & 3) + len <= 4 && fc->read(f, addr & ~3, &dword)) {
        dword = extract32(dword, 8 * (addr & 3), 8 * len);
        return pmu_fault_read(&f->model, dword, len) &
               MAKE_64BIT_MASK(0, 8 * len);
    }
    return pci_default_read_config(pci, addr, len);
}

static void function_config_write(PCIDevice *pci, uint32_t addr, uint32_t value,
                                  int len)
{
    UncoreFunction *f = UNCORE_FUNCTION(pci);
    UncoreFunctionClass *fc = UNCORE_FUNCTION_GET_CLASS(f);
    unsigned shift = 8 * (addr & 3);
    uint32_t mask = (uint32_t)MAKE_64BIT_MASK(0, 8 * len) << shift;

    function_count(f, addr, len, true);
    if (f->gone || pmu_fault_gone(&f->model)) {
        return;
    }
    if (!fc->write || (addr & 3) + len > 4 ||
        !fc->write(f, addr & ~3, mask, (value << shift) & mask)) {
        pci_default_write_config(pci, addr, value, len);
    }
}

bool uncore_function_start(UncoreFunction *f, const UncoreSlot *slot,
                           char *name, Error **errp)
{
    PCIDevice *pci = PCI_DEVICE(f);

    f->model.name = name;
    /* The slot decides nothing in QEMU, but drivers know it by heart. */
    if (pci->devfn != slot->devfn) {
        error_setg(errp, "%s with id 8086:%04x belongs at addr=%02x.%x",
                   object_get_typename(OBJECT(pci)), slot->id,
                   PCI_SLOT(slot->devfn), PCI_FUNC(slot->devfn));
    } else if (pmu_registry_add(&f->model, errp)) {
        pci_set_word(pci->config + PCI_DEVICE_ID, f->id ?: slot->id);
        /* QEMU lets the guest write what a device does not claim. */
        memset(pci->wmask + PCI_CONFIG_HEADER_SIZE, 0,
               pci_config_size(pci) - PCI_CONFIG_HEADER_SIZE);
        return true;
    }
    g_free(name);
    return false;
}

static void function_exit(PCIDevice *pci)
{
    UncoreFunction *f = UNCORE_FUNCTION(pci);

    pmu_registry_remove(&f->model);
    g_free(f->model.name);
}

bool uncore_socket_awake(uint32_t socket)
{
    CPUState *cpu;

    CPU_FOREACH(cpu) {
        Object *object = OBJECT(cpu);
        int64_t package = object_property_get_int(object, "socket-id", NULL);
        int64_t die = object_property_get_int(object, "die-id", NULL);

        if (package * current_machine->smp.dies + die == socket &&
            !cpu->halted) {
            return true;
        }
    }
    return false;
}

uint64_t uncore_get_gone(PmuModel *model, unsigned arg)
{
    return uncore_function(model)->gone;
}

bool uncore_set_gone(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp)
{
    uncore_function(model)->gone = value;
    return true;
}

static const VMStateDescription function_vmstate = {
    .name = TYPE_UNCORE_FUNCTION,
    .unmigratable = 1,
};

static void function_class_init(ObjectClass *klass, ClassInitData *data)
{
    PCIDeviceClass *k = PCI_DEVICE_CLASS(klass);

    k->exit = function_exit;
    k->config_read = function_config_read;
    k->config_write = function_config_write;
    k->vendor_id = PCI_VENDOR_ID_INTEL;
    k->class_id = PCI_CLASS_SYSTEM_OTHER;
    DEVICE_CLASS(klass)->vmsd = &function_vmstate;
    set_bit(DEVICE_CATEGORY_MISC, DEVICE_CLASS(klass)->categories);
}

static InterfaceInfo function_interfaces[] = {
    { INTERFACE_CONVENTIONAL_PCI_DEVICE },
    { },
};

static const TypeInfo function_type = {
    .name = TYPE_UNCORE_FUNCTION,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(UncoreFunction),
    .class_size = sizeof(UncoreFunctionClass),
    .class_init = function_class_init,
    .abstract = true,
    .interfaces = function_interfaces,
};

static void function_register(void)
{
    type_register_static(&function_type);
}

type_init(function_register)
