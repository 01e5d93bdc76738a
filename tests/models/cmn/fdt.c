// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A mesh in the machine's device tree, as the binding wants it.
 */
#include "cmn.h"
#include "hw/boards.h"
#include "system/device_tree.h"

#define FDT_SPI         0
#define FDT_LEVEL_HIGH  4
#define SPI_CELLS       3

void cmn_fdt_add(const Cmn *s)
{
    void *fdt = MACHINE(qdev_get_machine())->fdt;
    const CmnProduct *product = s->mesh.product;
    uint32_t interrupts[SPI_CELLS * CMN_MAX_DTCS];
    g_autofree char *node = g_strdup_printf("/pmu@%" PRIx64, s->base);
    unsigned i;

    if (!fdt) {
        return;
    }
    qemu_fdt_add_subnode(fdt, node);
    qemu_fdt_setprop_string(fdt, node, "compatible", product->compatible);
    qemu_fdt_setprop_sized_cells(fdt, node, "reg", 2, s->base,
                                 2, s->mesh.size);
    for (i = 0; i < s->mesh.ndtcs; i++) {
        interrupts[SPI_CELLS * i] = cpu_to_be32(FDT_SPI);
        interrupts[SPI_CELLS * i + 1] = cpu_to_be32(cmn_spi(s, i));
        interrupts[SPI_CELLS * i + 2] = cpu_to_be32(FDT_LEVEL_HIGH);
    }
    qemu_fdt_setprop(fdt, node, "interrupts", interrupts,
                     s->mesh.ndtcs * SPI_CELLS * sizeof(uint32_t));
    if (s->node >= 0) {
        qemu_fdt_setprop_cell(fdt, node, "numa-node-id", s->node);
    }
    if (product->has_root_node) {
        qemu_fdt_setprop_cell(fdt, node, "arm,root-node",
                              s->mesh.root->frame);
    }
}
