/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The register frame of a node: which register is where. */
#ifndef PMU_MODELS_CMN_FRAME_H
#define PMU_MODELS_CMN_FRAME_H

#include "mesh.h"

/* Classes of registers, for statistics */
typedef enum CmnRegClass {
    CMN_REG_DISCOVERY, CMN_REG_SELECTOR, CMN_REG_DTM_CONFIG,
    CMN_REG_DTM_WATCHPOINT, CMN_REG_DTM_COUNT, CMN_REG_DTM_OTHER,
    CMN_REG_DTC_CONTROL, CMN_REG_DTC_COUNT, CMN_REG_DTC_OVERFLOW,
    CMN_REG_DTC_OTHER, CMN_REG_EXTERNAL, CMN_REG_ISOLATED,
    CMN_REG_HOLE, CMN_NREGCLASSES
} CmnRegClass;

extern const char *const cmn_regclass_names[CMN_NREGCLASSES];

/* @node may be NULL: no frame. */
CmnRegClass cmn_frame_regclass(const CmnMesh *mesh, CmnNode *node,
                               uint32_t offset);

/* The DTM whose register is at @offset in the frame of an XP, or NULL */
CmnDtm *cmn_frame_dtm(const CmnMesh *mesh, CmnNode *node, uint32_t offset);

/* Doublewords; bits outside @mask are not written. */
uint64_t cmn_frame_read(CmnMesh *mesh, CmnNode *node, uint32_t offset);
void cmn_frame_write(CmnMesh *mesh, CmnNode *node, uint32_t offset,
                     uint64_t mask, uint64_t value);

#endif
