// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The register frame of a node. What does not exist reads 0, and nobody
 * answers for a node that is outside the mesh or isolated: software must not
 * even try, so that is counted apart.
 */
#include "qemu/osdep.h"
#include "frame.h"
#include "info.h"

const char *const cmn_regclass_names[CMN_NREGCLASSES] = {
    [CMN_REG_DISCOVERY] = "discovery",
    [CMN_REG_SELECTOR] = "selector",
    [CMN_REG_DTM_CONFIG] = "dtm_config",
    [CMN_REG_DTM_WATCHPOINT] = "dtm_watchpoint",
    [CMN_REG_DTM_COUNT] = "dtm_count",
    [CMN_REG_DTM_OTHER] = "dtm_other",
    [CMN_REG_DTC_CONTROL] = "dtc_control",
    [CMN_REG_DTC_COUNT] = "dtc_count",
    [CMN_REG_DTC_OVERFLOW] = "dtc_overflow",
    [CMN_REG_DTC_OTHER] = "dtc_other",
    [CMN_REG_EXTERNAL] = "external",
    [CMN_REG_ISOLATED] = "isolated",
    [CMN_REG_HOLE] = "hole",
};

static uint32_t pmu_block(const CmnMesh *mesh, const CmnNode *node)
{
    return node->type == CMN_NODE_XP ? mesh->layout->xp_pmu :
           mesh->layout->pmu;
}

/* The selector whose doubleword @offset is in, or NULL */
static CmnSelector *frame_selector(const CmnMesh *mesh, CmnNode *node,
                                   uint32_t offset)
{
    uint32_t index = (offset - pmu_block(mesh, node)) / 8;

    return offset >= pmu_block(mesh, node) && index < 2 &&
           node->sel[index].type ? &node->sel[index] : NULL;
}

static uint32_t dtm_offset(const CmnMesh *mesh, const CmnNode *node,
                           uint32_t offset)
{
    return offset - pmu_block(mesh, node) - CMN_DTM_FIRST;
}

CmnDtm *cmn_frame_dtm(const CmnMesh *mesh, CmnNode *node, uint32_t offset)
{
    uint32_t index = dtm_offset(mesh, node, offset) / CMN_DTM_STRIDE;

    return node->type == CMN_NODE_XP && index < node->xp->ndtms ?
           &node->xp->dtm[index] : NULL;
}

/* As the DTM counts: the same for every DTM of an XP */
static uint32_t within_dtm(const CmnMesh *mesh, const CmnNode *node,
                           uint32_t offset)
{
    return CMN_DTM_FIRST + dtm_offset(mesh, node, offset) % CMN_DTM_STRIDE;
}

static CmnRegClass dtm_class(uint32_t offset)
{
    switch (cmn_dtm_group(offset)) {
    case CMN_DTM_CONFIG:
        return CMN_REG_DTM_CONFIG;
    case CMN_DTM_WATCHPOINT:
        return CMN_REG_DTM_WATCHPOINT;
    case CMN_DTM_COUNT:
        return CMN_REG_DTM_COUNT;
    default:
        return CMN_REG_DTM_OTHER;
    }
}

static CmnRegClass dtc_class(const CmnDtc *dtc, uint32_t offset)
{
    switch (cmn_dtc_group(dtc, offset)) {
    case CMN_DTC_CONTROL:
        return CMN_REG_DTC_CONTROL;
    case CMN_DTC_COUNT:
        return CMN_REG_DTC_COUNT;
    case CMN_DTC_OVERFLOW:
        return CMN_REG_DTC_OVERFLOW;
    case CMN_DTC_OTHER:
        return CMN_REG_DTC_OTHER;
    default:
        return CMN_REG_DISCOVERY;
    }
}

CmnRegClass cmn_frame_regclass(const CmnMesh *mesh, CmnNode *node,
                               uint32_t offset)
{
    if (!node) {
        return CMN_REG_HOLE;
    }
    if (node->external) {
        return CMN_REG_EXTERNAL;
    }
    if (node->isolated) {
        return CMN_REG_ISOLATED;
    }
    if (frame_selector(mesh, node, offset)) {
        return CMN_REG_SELECTOR;
    }
    if (cmn_frame_dtm(mesh, node, offset)) {
        return dtm_class(within_dtm(mesh, node, offset));
    }
    return node->dtc ? dtc_class(node->dtc, offset) : CMN_REG_DISCOVERY;
}

uint64_t cmn_frame_read(CmnMesh *mesh, CmnNode *node, uint32_t offset)
{
    CmnSelector *sel = frame_selector(mesh, node, offset);
    CmnDtm *dtm = cmn_frame_dtm(mesh, node, offset);

    if (node->external || node->isolated) {
        return UINT64_MAX;
    }
    if (sel) {
        return sel->value;
    }
    if (dtm) {
        cmn_mesh_sync(mesh);
        return cmn_dtm_read(dtm, within_dtm(mesh, node, offset));
    }
    if (node->dtc && cmn_dtc_group(node->dtc, offset) != CMN_DTC_NONE) {
        cmn_mesh_sync(mesh);
        return cmn_dtc_read(node->dtc, offset);
    }
    return cmn_info_read(mesh, node, offset);
}

/* DTC 0 may start or stop the cycle counters of all. */
static void write_dtc(CmnMesh *mesh, CmnDtc *dtc, uint32_t offset,
                      uint64_t mask, uint64_t value)
{
    unsigned i;

    cmn_mesh_sync(mesh);
    cmn_dtc_write(dtc, offset, mask, value);
    for (i = 0; i < mesh->ndtcs; i++) {
        cmn_dtc_update(&mesh->dtc[i]);
    }
}

void cmn_frame_write(CmnMesh *mesh, CmnNode *node, uint32_t offset,
                     uint64_t mask, uint64_t value)
{
    CmnSelector *sel = frame_selector(mesh, node, offset);
    CmnDtm *dtm = cmn_frame_dtm(mesh, node, offset);

    if (node->external || node->isolated) {
        return;
    }
    if (sel) {
        cmn_selector_write(sel, mask, value);
    } else if (dtm) {
        cmn_mesh_sync(mesh);
        cmn_dtm_write(dtm, within_dtm(mesh, node, offset), mask, value);
    } else if (node->dtc) {
        write_dtc(mesh, node->dtc, offset, mask, value);
    }
}
