// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The uncore PCI functions of Intel's Sandy Bridge-EP that matter for memory
 * counters: four channels and the UBOX of a socket. What they do is in
 * imc-channel.c and ubox.c; here is what is particular to the generation.
 * Later ones with the same registers are further rows.
 *
 * Left out: every other uncore function of the part.
 *
 * QEMU interface: devices "snbep-imc" and "snbep-ubox".
 */
#include "uncore-function.h"
#include "qemu/module.h"

static const UncoreGeneration generations[] = {
    {
        .name = "snbep",
        .ubox = { 0x3ce0, PCI_DEVFN(0x0b, 0) },
        .channel = {
            { 0x3cb0, PCI_DEVFN(0x10, 0) },
            { 0x3cb1, PCI_DEVFN(0x10, 1) },
            { 0x3cb4, PCI_DEVFN(0x10, 4) },
            { 0x3cb5, PCI_DEVFN(0x10, 5) },
        },
        .nchannels = 4,
        .events = &imc_events_snbep,
        /* Bit 8 of BOX_CTL alone does not stop the counters. */
        .frz_needs_frz_en = true,
        .ctl_mask = 0xffc4ffff,
        .box_reserved = 0xfffefeff,
    },
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

static void snbep_register(void)
{
    size_t i;

    for (i = 0; i < ARRAY_SIZE(generations); i++) {
        register_generation(&generations[i], "imc", TYPE_IMC_CHANNEL);
        register_generation(&generations[i], "ubox", TYPE_UNCORE_UBOX);
    }
}

type_init(snbep_register)
