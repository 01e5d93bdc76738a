// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The ways in which discovery can be broken, one row each. Those that are not
 * the root's befall the second XP of the mesh, its first child, or all DTCs.
 */
#include "qemu/osdep.h"
#include "qapi/error.h"
#include "corrupt.h"
#include "info.h"

typedef enum CorruptTarget {
    AT_ROOT, AT_XP, AT_ALL_XPS, AT_CHILD, AT_DTC,
} CorruptTarget;

typedef enum CorruptValue {
    VALUE,              /* as it is */
    OWN_FRAME,          /* the address of the target's frame */
    ROOT_FRAME,
    OUT_OF_RANGE,       /* the last frame that a pointer can name */
    PREVIOUS_CHILD,     /* the address of the child before */
    ONE_LESS, TWO_MORE, /* than there are */
} CorruptValue;

#define ISOLATED        (1u << 30)  /* though the part has no isolation */
#define LOW16           MAKE_64BIT_MASK(0, 16)
#define FIELD16(shift)  MAKE_64BIT_MASK(shift, 16)
#define POINTER         MAKE_64BIT_MASK(0, 32)
#define CONNECT_P0      0x08        /* of all products */
#define ANY_UNIT_INFO   UINT32_MAX      /* it moves from product to product */
#define ANY_UNIT_INFO_1 (UINT32_MAX - 1)        /* that of the second DTM */

static const struct {
    const char *name;
    CorruptTarget target;
    uint32_t offset;
    uint64_t mask;
    CorruptValue how;
    uint64_t value;
} corruptions[] = {
    { "loop", AT_XP, CMN_CHILD(0), POINTER, OWN_FRAME, 0 },
    { "xp-loop", AT_ROOT, CMN_CHILD(0), POINTER, ROOT_FRAME, 0 },
    { "range", AT_XP, CMN_CHILD(0), POINTER, OUT_OF_RANGE, 0 },
    { "xp-range", AT_ROOT, CMN_CHILD(0), POINTER, OUT_OF_RANGE, 0 },
    { "count", AT_XP, CMN_CHILD_INFO, LOW16, VALUE, 0xffff },
    { "array", AT_XP, CMN_CHILD_INFO, FIELD16(16), VALUE, 0xfff8ull << 16 },
    { "zero", AT_XP, CMN_CHILD_INFO, LOW16, TWO_MORE, 0 },
    { "hidden", AT_XP, CMN_CHILD_INFO, LOW16, ONE_LESS, 0 },
    { "isolated", AT_XP, CMN_CHILD(0), ISOLATED, VALUE, ISOLATED },
    { "crowd", AT_XP, CMN_CHILD_INFO, LOW16, VALUE, 40 },
    { "twice", AT_XP, CMN_CHILD(1), POINTER, PREVIOUS_CHILD, 0 },
    { "xp-twice", AT_ROOT, CMN_CHILD(1), POINTER, PREVIOUS_CHILD, 0 },
    { "type", AT_CHILD, CMN_NODE_INFO, LOW16, VALUE, 0x0abc },
    { "xp-type", AT_XP, CMN_NODE_INFO, LOW16, VALUE, CMN_NODE_HNF },
    { "id", AT_CHILD, CMN_NODE_INFO, FIELD16(16), VALUE, 0xfff8ull << 16 },
    { "connect", AT_XP, CONNECT_P0, 0x3f, VALUE, 0x0d },
    { "logical", AT_XP, CMN_NODE_INFO, FIELD16(32), VALUE, 0x1ffull << 32 },
    { "dtc", AT_DTC, CMN_NODE_INFO, FIELD16(32), VALUE, 3ull << 32 },
    { "xp-id", AT_XP, CMN_NODE_INFO, FIELD16(16), VALUE, 0x3f8ull << 16 },
    { "domain", AT_XP, ANY_UNIT_INFO, LOW16, VALUE, CMN_MAX_DTCS - 1 },
    { "other-domain", AT_XP, ANY_UNIT_INFO, LOW16, VALUE, 1 },
    { "other-part", AT_ROOT, CMN_PERIPH_ID_01, MAKE_64BIT_MASK(0, 8), VALUE, 0x3a },
    { "dtm-domain", AT_ALL_XPS, ANY_UNIT_INFO_1, LOW16, VALUE, 0 },
};

QEMU_BUILD_BUG_ON(ARRAY_SIZE(corruptions) > 32);

static bool parse_one(const char *name, CmnCorruptions *set)
{
    size_t i;

    for (i = 0; i < ARRAY_SIZE(corruptions); i++) {
        if (!strcmp(name, corruptions[i].name)) {
            *set |= 1u << i;
            return true;
        }
    }
    return false;
}

bool cmn_corrupt_parse(const char *text, CmnCorruptions *set, Error **errp)
{
    g_auto(GStrv) names = g_strsplit(text, "+", -1);
    g_autoptr(GString) known = g_string_new(NULL);
    char **name;
    size_t i;

    *set = 0;
    for (name = names; *name; name++) {
        if (parse_one(*name, set)) {
            continue;
        }
        for (i = 0; i < ARRAY_SIZE(corruptions); i++) {
            g_string_append_printf(known, " %s", corruptions[i].name);
        }
        error_setg(errp, "corrupt=%s: there are%s, several joined by +", *name,
                   known->str);
        return false;
    }
    return true;
}

static bool is_target(const CmnMesh *mesh, CorruptTarget target,
                      const CmnNode *node)
{
    const CmnXp *victim = &mesh->xps[MIN(1, mesh->nxps - 1)];

    switch (target) {
    case AT_ROOT:
        return node == mesh->root;
    case AT_XP:
        return node == &victim->node;
    case AT_ALL_XPS:
        return node->type == CMN_NODE_XP;
    case AT_DTC:
        return node->type == CMN_NODE_DTC;
    default:
        return victim->nchildren && node == victim->child[0];
    }
}

static bool is_offset(const CmnMesh *mesh, uint32_t at, uint32_t offset)
{
    uint32_t unit_info = mesh->product->xp->unit_info;

    if (at == ANY_UNIT_INFO || at == ANY_UNIT_INFO_1) {
        return unit_info && offset == unit_info + (at == ANY_UNIT_INFO ? 0 : 8);
    }
    return offset == at;
}

static uint64_t new_value(const CmnMesh *mesh, size_t row,
                          const CmnNode *node, uint64_t old)
{
    switch (corruptions[row].how) {
    case OWN_FRAME:
        return node->frame;
    case ROOT_FRAME:
        return mesh->root->frame;
    case OUT_OF_RANGE:
        return mesh->product->pointer_mask &
               ~MAKE_64BIT_MASK(0, mesh->product->frame_shift);
    case PREVIOUS_CHILD:
        return cmn_info_read(mesh, node, corruptions[row].offset - 8);
    case ONE_LESS:
        return old - 1;
    case TWO_MORE:
        return old + 2;
    default:
        return corruptions[row].value;
    }
}

uint64_t cmn_corrupt_read(const CmnMesh *mesh, CmnCorruptions set,
                          const CmnNode *node, uint32_t offset,
                          uint64_t value)
{
    uint64_t mask;
    size_t i;

    for (i = 0; set && i < ARRAY_SIZE(corruptions); i++) {
        if (set & 1u << i && is_target(mesh, corruptions[i].target, node) &&
            is_offset(mesh, corruptions[i].offset, offset)) {
            mask = corruptions[i].mask;
            value = (value & ~mask) | (new_value(mesh, i, node, value) & mask);
        }
    }
    return value;
}
