/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Broken discovery: what a driver must survive. Software cannot tell a part
 * with such registers from one whose power or address is wrong.
 */
#ifndef PMU_MODELS_CMN_CORRUPT_H
#define PMU_MODELS_CMN_CORRUPT_H

#include "mesh.h"

typedef uint32_t CmnCorruptions;    /* a set of them */

/* Names joined by "+" */
bool cmn_corrupt_parse(const char *text, CmnCorruptions *set, Error **errp);

/* The value that a read of @node at @offset gives instead of @value */
uint64_t cmn_corrupt_read(const CmnMesh *mesh, CmnCorruptions set,
                          const CmnNode *node, uint32_t offset,
                          uint64_t value);

#endif
