/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The registers by which software discovers a mesh. */
#ifndef PMU_MODELS_CMN_INFO_H
#define PMU_MODELS_CMN_INFO_H

#include "mesh.h"

/* In every frame */
#define CMN_NODE_INFO       0x0000
#define CMN_CHILD_INFO      0x0080
#define CMN_CHILD_ARRAY     0x0100
#define CMN_CHILD(n)        (CMN_CHILD_ARRAY + 8 * (n))

/* In the root's */
#define CMN_PERIPH_ID_01    0x0008
#define CMN_PERIPH_ID_23    0x0010

/* The doubleword at @offset in the frame of @node; what does not exist is 0 */
uint64_t cmn_info_read(const CmnMesh *mesh, const CmnNode *node,
                       uint32_t offset);

#endif
