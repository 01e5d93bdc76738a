// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A PCI function that is only there: software that enumerates a slot looks no
 * further than function 0 unless that one exists and says that there are more.
 * On hardware it is some other uncore function, none of whose registers beyond
 * the header are modelled.
 *
 * QEMU interface:
 *  + property "device-id": with vendor 8086
 * Wants "multifunction=on", which is what it is for.
 */
#include "common/compat.h"
#include "qemu/module.h"
#include "hw/pci/pci_device.h"
#include "migration/vmstate.h"

#define TYPE_UNCORE_DUMMY "uncore-dummy"
OBJECT_DECLARE_SIMPLE_TYPE(UncoreDummy, UNCORE_DUMMY)

struct UncoreDummy {
    PCIDevice parent_obj;

    uint16_t id;
};

static void dummy_realize(PCIDevice *pci, Error **errp)
{
    pci_set_word(pci->config + PCI_DEVICE_ID, UNCORE_DUMMY(pci)->id);
}

static const Property dummy_properties[] = {
    DEFINE_PROP_UINT16("device-id", UncoreDummy, id, 0),
};

static const VMStateDescription dummy_vmstate = {
    .name = TYPE_UNCORE_DUMMY,
    .unmigratable = 1,
};

static void dummy_class_init(ObjectClass *klass, ClassInitData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);
    PCIDeviceClass *k = PCI_DEVICE_CLASS(klass);

    k->realize = dummy_realize;
    k->vendor_id = PCI_VENDOR_ID_INTEL;
    k->class_id = PCI_CLASS_SYSTEM_OTHER;
    dc->desc = "function 0 of a slot whose other functions matter";
    dc->vmsd = &dummy_vmstate;
    device_class_set_props(dc, dummy_properties);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static InterfaceInfo dummy_interfaces[] = {
    { INTERFACE_CONVENTIONAL_PCI_DEVICE },
    { },
};

static const TypeInfo dummy_type = {
    .name = TYPE_UNCORE_DUMMY,
    .parent = TYPE_PCI_DEVICE,
    .instance_size = sizeof(UncoreDummy),
    .class_init = dummy_class_init,
    .interfaces = dummy_interfaces,
};

static void dummy_register(void)
{
    type_register_static(&dummy_type);
}

type_init(dummy_register)
