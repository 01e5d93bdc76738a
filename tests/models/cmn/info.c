// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Discovery: which product this is, the XPs, and their devices.
 *
 * Left out: connect info of the links between XPs, credits, logical device
 * ids, and of INFO_GLOBAL what software does not have to know about a mesh.
 */
#include "qemu/osdep.h"
#include "info.h"

#define PERIPH_ID_45        0x0018
#define COMPONENT_ID_01     0x0028
#define COMPONENT_ID_23     0x0030
#define INFO_GLOBAL         0x0900
#define INFO_GLOBAL_1       0x0908
#define INFO_GLOBAL_2       0x0910

#define POINTER_EXTERNAL    (1u << 31)
#define POINTER_ISOLATED    (1u << 30)
#define CONNECT_CAL         (1u << 7)

/* @value in the field that @mask is; no field, no value */
static uint64_t in_field(uint64_t mask, uint64_t value)
{
    return mask ? value << ctz64(mask) & mask : 0;
}

static uint64_t node_info(const CmnMesh *mesh, const CmnNode *node)
{
    uint64_t info = node->type | (uint64_t)node->id << 16 |
                    (uint64_t)node->logical << 32;

    if (mesh->quartered && node->type == CMN_NODE_DTC) {
        info &= ~MAKE_64BIT_MASK(32, 16);
    }
    if (node->type == CMN_NODE_XP && mesh->product->xp->counts_ports) {
        info |= (uint64_t)node->xp->nports << 48;
    }
    return info;
}

static unsigned nchildren(const CmnMesh *mesh, const CmnNode *node)
{
    switch (node->type) {
    case CMN_NODE_CFG:
        return mesh->nxps;
    case CMN_NODE_XP:
        return node->xp->nchildren;
    default:
        return 0;
    }
}

static uint64_t child_info(const CmnMesh *mesh, const CmnNode *node)
{
    bool leaf = node->type != CMN_NODE_CFG && node->type != CMN_NODE_XP;

    return nchildren(mesh, node) | (leaf ? 0 : CMN_CHILD_ARRAY << 16);
}

static uint64_t child_pointer(const CmnMesh *mesh, const CmnNode *node,
                              unsigned index)
{
    const CmnNode *child = node->type == CMN_NODE_CFG ?
                           &mesh->xps[index].node : node->xp->child[index];
    uint64_t pointer = child->frame;

    if (child->external) {
        pointer |= POINTER_EXTERNAL;
    }
    if (child->isolated && mesh->layout->isolated_pointers) {
        pointer |= POINTER_ISOLATED;
    }
    return pointer;
}

static uint64_t info_global(const CmnMesh *mesh)
{
    const CmnGlobalLayout *global = mesh->layout->global;

    return global->info | in_field(global->multi_dtm, mesh->multi_dtm) |
           in_field(global->isolation, mesh->isolation) |
           in_field(global->dat_vcs, mesh->vcs[CMN_DAT]) |
           in_field(global->rsp_vcs, mesh->vcs[CMN_RSP]);
}

static uint64_t info_global_1(const CmnMesh *mesh)
{
    const CmnGlobalLayout *global = mesh->layout->global;

    return global->info_1 | in_field(global->req_vcs_1, mesh->vcs[CMN_REQ]) |
           in_field(global->snp_vcs_1, mesh->vcs[CMN_SNP]) |
           in_field(global->dat_vcs_1, mesh->vcs[CMN_DAT]) |
           in_field(global->rsp_vcs_1, mesh->vcs[CMN_RSP]);
}

static uint64_t root_read(const CmnMesh *mesh, uint32_t offset)
{
    uint16_t part = mesh->product->part;

    switch (offset) {
    case CMN_PERIPH_ID_01:      /* and Arm's JEP106 code, 0xb */
        return (part & 0xff) | (uint64_t)(part >> 8 | 0xb0) << 32;
    case CMN_PERIPH_ID_23:
        return mesh->rev << 4 | 0xb;
    case PERIPH_ID_45:
        return 0xc4;
    case COMPONENT_ID_01:
        return 0x000000f00000000d;
    case COMPONENT_ID_23:
        return 0x000000b100000005;
    case INFO_GLOBAL:
        return info_global(mesh);
    case INFO_GLOBAL_1:
        return info_global_1(mesh);
    case INFO_GLOBAL_2:
        return mesh->layout->global->has_info_2 ?
               mesh->columns | mesh->rows << 4 : 0;
    default:
        return 0;
    }
}

static uint64_t connect_info(const CmnMesh *mesh, const CmnPort *port)
{
    if (!port->ndevs) {
        return 0;
    }
    return cmn_device_connect(mesh->product, port->kind) |
           (port->cal ? CONNECT_CAL : 0);
}

static uint64_t port_vcs(const CmnMesh *mesh)
{
    return mesh->vcs[CMN_REQ] | mesh->vcs[CMN_RSP] << 4 |
           mesh->vcs[CMN_SNP] << 8 | mesh->vcs[CMN_DAT] << 12;
}

static uint64_t xp_read(const CmnMesh *mesh, const CmnXp *xp, uint32_t offset)
{
    const CmnXpLayout *layout = mesh->product->xp;
    unsigned i;

    for (i = 0; i < xp->nports; i++) {
        if (offset == layout->connect[i]) {
            return connect_info(mesh, &xp->port[i]);
        }
        if (offset == layout->port_info[i]) {
            return xp->port[i].ndevs;
        }
        if (layout->has_port_vcs && offset == layout->port_info[i] + 8u) {
            return port_vcs(mesh);
        }
    }
    for (i = 0; layout->unit_info && i < xp->ndtms; i++) {
        if (offset == layout->unit_info + 8 * i) {
            return mesh->quartered ? 0 : xp->domain;
        }
    }
    return 0;
}

uint64_t cmn_info_read(const CmnMesh *mesh, const CmnNode *node,
                       uint32_t offset)
{
    if (offset == CMN_NODE_INFO) {
        return node_info(mesh, node);
    }
    if (offset == CMN_CHILD_INFO) {
        return child_info(mesh, node);
    }
    if (offset >= CMN_CHILD_ARRAY &&
        offset < CMN_CHILD(nchildren(mesh, node))) {
        return child_pointer(mesh, node, (offset - CMN_CHILD_ARRAY) / 8);
    }
    switch (node->type) {
    case CMN_NODE_CFG:
        return root_read(mesh, offset);
    case CMN_NODE_XP:
        return xp_read(mesh, node->xp, offset);
    default:
        return 0;
    }
}
