// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * In-memory collection of a POWER9 or POWER10 machine: one device for all of
 * its chips, cores and threads, which it finds when it is created.
 *
 * What is modelled and what is left out is at the head of each part:
 * nest.c, core.c, thread.c, page.c and trace.c.
 *
 * QEMU interface: a device without a bus, for powernv9 and powernv10
 *  + property "generation": p9 or p10
 *  + SCOM registers of each core, in place of what QEMU has there
 *  + the page of the nest's control block, in place of that of QEMU's HOMER
 *  + SPR LDBAR of each thread, which stays QEMU's
 *  + models "nest@C", "coreN@C" and "threadN@C" for chip C, cores and threads
 *    numbered from 0 on each chip; their control keys are in their files
 */
#include "device.h"
#include "qapi/error.h"
#include "qemu/module.h"
#include "migration/vmstate.h"
#include "system/reset.h"
#include "system/runstate.h"
#include "target/ppc/cpu-qom.h"

bool power_imc_add(hwaddr addr, uint64_t units)
{
    MemTxResult result;
    uint64_t value;

    value = address_space_ldq_be(&address_space_memory, addr,
                                 MEMTXATTRS_UNSPECIFIED, &result);
    if (result != MEMTX_OK) {
        return false;
    }
    address_space_stq_be(&address_space_memory, addr, value + units,
                         MEMTXATTRS_UNSPECIFIED, &result);
    return result == MEMTX_OK;
}

int64_t power_imc_next(int64_t last, uint64_t period)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    return last + period * (MAX(now - last, 0) / period + 1);
}

static void power_imc_end(PowerImc *imc)
{
    unsigned i;

    for (i = 0; i < imc->cores->len; i++) {
        power_imc_core_end(g_ptr_array_index(imc->cores, i));
    }
}

/* Power-off, and a reset where QEMU ends instead. */
static void power_imc_shutdown(Notifier *notifier, void *cause)
{
    power_imc_end(container_of(notifier, PowerImc, shutdown));
}

static void power_imc_reset(void *opaque)
{
    PowerImc *imc = opaque;
    unsigned i;

    power_imc_end(imc);
    for (i = 0; i < imc->nests->len; i++) {
        power_imc_nest_reset(g_ptr_array_index(imc->nests, i));
    }
    for (i = 0; i < imc->cores->len; i++) {
        power_imc_core_reset(g_ptr_array_index(imc->cores, i));
    }
}

static bool power_imc_find_chip(PowerImc *imc, PnvChip *chip, Error **errp)
{
    PowerImcNest *nest;
    unsigned i;

    if (!object_dynamic_cast(OBJECT(chip), imc->gen->chip_type)) {
        error_setg(errp, "generation %s is not that of the machine, whose "
                   "chips are %s", imc->gen->name,
                   object_get_typename(OBJECT(chip)));
        return false;
    }
    nest = power_imc_nest_new(imc, chip, errp);
    if (!nest) {
        return false;
    }
    g_ptr_array_add(imc->nests, nest);
    for (i = 0; i < chip->nr_cores; i++) {
        PowerImcCore *core = power_imc_core_new(imc, chip, chip->cores[i], i,
                                                errp);
        if (!core) {
            return false;
        }
        g_ptr_array_add(imc->cores, core);
    }
    return true;
}

/* The models share structures with QEMU by layout: PVR tells of a CPU's. */
static bool power_imc_layout_fits(PnvChip *chip, Error **errp)
{
    PowerPCCPU *cpu = chip->cores[0]->threads[0];
    uint64_t pvr = POWERPC_CPU_GET_CLASS(cpu)->pvr;

    if (cpu->env.spr[SPR_PVR] != pvr ||
        cpu->env.spr_cb[SPR_PVR].default_value != pvr) {
        error_setg(errp, "the models are built for another QEMU than this: "
                   "its CPUs have another structure");
        return false;
    }
    return true;
}

static void power_imc_realize(DeviceState *dev, Error **errp)
{
    PowerImc *imc = POWER_IMC(dev);
    PnvMachineState *machine = (PnvMachineState *)object_dynamic_cast(
        qdev_get_machine(), TYPE_PNV_MACHINE);
    unsigned i;

    imc->gen = power_imc_generation(imc->generation, errp);
    if (!imc->gen) {
        return;
    }
    if (!machine) {
        error_setg(errp, "in-memory collection is for machines powernv9 and "
                   "powernv10");
        return;
    }
    imc->nests = g_ptr_array_new();
    imc->cores = g_ptr_array_new();
    if (!power_imc_layout_fits(machine->chips[0], errp)) {
        return;
    }
    for (i = 0; i < machine->num_chips; i++) {
        if (!power_imc_find_chip(imc, machine->chips[i], errp)) {
            return;
        }
    }
    qemu_register_reset(power_imc_reset, imc);
    imc->shutdown.notify = power_imc_shutdown;
    qemu_register_shutdown_notifier(&imc->shutdown);
}

static const Property power_imc_properties[] = {
    DEFINE_PROP_STRING("generation", PowerImc, generation),
};

static const VMStateDescription power_imc_vmstate = {
    .name = TYPE_POWER_IMC,
    .unmigratable = 1,
};

static void power_imc_class_init(ObjectClass *klass, ClassInitData *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    dc->realize = power_imc_realize;
    dc->desc = "in-memory collection of POWER9 and POWER10";
    dc->vmsd = &power_imc_vmstate;
    dc->hotpluggable = false;
    device_class_set_props(dc, power_imc_properties);
    set_bit(DEVICE_CATEGORY_MISC, dc->categories);
}

static const TypeInfo power_imc_type = {
    .name = TYPE_POWER_IMC,
    .parent = TYPE_DEVICE,
    .instance_size = sizeof(PowerImc),
    .class_init = power_imc_class_init,
};

static void power_imc_register(void)
{
    type_register_static(&power_imc_type);
}

type_init(power_imc_register)
