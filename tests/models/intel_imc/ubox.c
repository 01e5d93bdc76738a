// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The UBOX of an Intel Xeon processor, as far as it tells which socket its
 * bus belongs to: the node id of this socket, and the map from packages to
 * node ids. Both are read only. Everything else of a UBOX is left out.
 *
 * QEMU interface (devices "NAME-ubox", NAME of a generation, see
 * generations.c, which also says where the registers are):
 *  + property "socket": number of the socket, part of the model's name, and
 *    at first the node id; the map is the identity. Of processors with several
 *    dies it is the die's, over all sockets
 *  + control keys: see ubox_keys below
 * Wants "multifunction=on", which all functions of a real uncore have.
 */
#include "function.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "common/fault.h"

#define GIDNIDMAP_IDENTITY  0x00fac688
#define GIDNIDMAP_MASK      0x00ffffff

typedef struct Ubox {
    UncoreFunction parent_obj;

    uint32_t nodeid;
    uint32_t gidnidmap;
} Ubox;

DECLARE_INSTANCE_CHECKER(Ubox, UBOX, TYPE_UNCORE_UBOX)

static bool ubox_read(UncoreFunction *f, uint32_t reg, uint32_t *value)
{
    const UncoreGeneration *gen = UNCORE_FUNCTION_GET_CLASS(f)->gen;

    if (reg != gen->ubox_nodeid && reg != gen->ubox_gidnidmap) {
        return false;
    }
    *value = reg == gen->ubox_nodeid ? UBOX(f)->nodeid : UBOX(f)->gidnidmap;
    return true;
}

enum { UBOX_KEY_NODEID, UBOX_KEY_MAP };

static uint32_t *ubox_field(PmuModel *model, unsigned arg)
{
    Ubox *u = UBOX(uncore_function(model));

    return arg == UBOX_KEY_NODEID ? &u->nodeid : &u->gidnidmap;
}

static uint64_t get_ubox(PmuModel *model, unsigned arg)
{
    return *ubox_field(model, arg);
}

static bool set_ubox(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp)
{
    *ubox_field(model, arg) = value;
    return true;
}

static const PmuKey ubox_keys[] = {
    { "nodeid", "node id of this socket", 7, UBOX_KEY_NODEID,
      get_ubox, set_ubox },
    { "gidnidmap", "bits 3i+2:3i are the node id of package i",
      GIDNIDMAP_MASK, UBOX_KEY_MAP, get_ubox, set_ubox },
    UNCORE_KEY_GONE,
    PMU_FAULT_KEYS,
};

static void ubox_realize(PCIDevice *pci, Error **errp)
{
    Ubox *u = UBOX(pci);
    UncoreFunction *f = UNCORE_FUNCTION(pci);

    u->nodeid = f->socket;
    u->gidnidmap = GIDNIDMAP_IDENTITY;
    f->model = (PmuModel) {
        .description = "which socket a bus belongs to",
        .keys = ubox_keys,
        .nkeys = ARRAY_SIZE(ubox_keys),
    };
    uncore_function_start(f, &UNCORE_FUNCTION_GET_CLASS(f)->gen->ubox,
                          g_strdup_printf("ubox@%u", f->socket), errp);
}

static const Property ubox_properties[] = {
    DEFINE_PROP_UINT32("socket", Ubox, parent_obj.socket, 0),
};

static void ubox_class_init(ObjectClass *klass, ClassInitData *data)
{
    UncoreFunctionClass *fc = UNCORE_FUNCTION_CLASS(klass);

    fc->read = ubox_read;
    PCI_DEVICE_CLASS(klass)->realize = ubox_realize;
    DEVICE_CLASS(klass)->desc = "bus to socket mapping";
    device_class_set_props(DEVICE_CLASS(klass), ubox_properties);
}

static const TypeInfo ubox_type = {
    .name = TYPE_UNCORE_UBOX,
    .parent = TYPE_UNCORE_FUNCTION,
    .instance_size = sizeof(Ubox),
    .class_init = ubox_class_init,
    .abstract = true,
};

static void ubox_register(void)
{
    type_register_static(&ubox_type);
}

type_init(ubox_register)
