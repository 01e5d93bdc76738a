// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Event selectors: where ids and filters are, which differs from one product
 * to the next, and which lines an event drives.
 *
 * Left out: the selectors of MPAM events and their partition masks.
 */
#include "qemu/osdep.h"
#include "device.h"
#include "selector.h"

typedef struct SelectorField {
    uint8_t shift;
    uint8_t length;         /* 0: there is no such field */
} SelectorField;

typedef struct SelectorFields {
    SelectorField filter[CMN_NFILTERS];
    uint64_t reset;
} SelectorFields;

static const SelectorFields no_fields;

static const SelectorFields hnf_fields = {
    .filter[CMN_FILTER_OCCUP1] = { 32, 3 },
};

static const SelectorFields hnf_700_fields = {
    .filter[CMN_FILTER_OCCUP1] = { 32, 3 },
    .filter[CMN_FILTER_CLASS] = { 35, 2 },
    .filter[CMN_FILTER_SN_THROTTLE] = { 42, 3 },
};

static const SelectorFields hns_fields = {
    .filter[CMN_FILTER_OCCUP1] = { 32, 3 },
    .filter[CMN_FILTER_CLASS] = { 35, 2 },
    .filter[CMN_FILTER_HBT_LBT] = { 37, 2 },
    .filter[CMN_FILTER_SN_HOME] = { 39, 2 },
    .filter[CMN_FILTER_SN_THROTTLE] = { 42, 3 },
};

static const SelectorFields hns_s3_r2_fields = {
    .filter[CMN_FILTER_OCCUP1] = { 32, 4 },
    .filter[CMN_FILTER_CLASS] = { 36, 2 },
    .filter[CMN_FILTER_HBT_LBT] = { 38, 2 },
    .filter[CMN_FILTER_SN_HOME] = { 40, 2 },
    .filter[CMN_FILTER_SN_THROTTLE] = { 42, 4 },
    .filter[CMN_FILTER_SNP_VC] = { 46, 2 },
    .filter[CMN_FILTER_SOURCE] = { 48, 4 },
    .filter[CMN_FILTER_EVICT_STATE] = { 52, 3 },
    .reset = 1ull << 47,
};

/* DN, and the agents of chip to chip links */
static const SelectorFields occup1_fields = {
    .filter[CMN_FILTER_OCCUP1] = { 32, 4 },
};

/* By the type of the events, and the width of ids in each column */
static const struct {
    uint16_t type;
    uint8_t id_bits[CMN_NCOLUMNS];
    const SelectorFields *fields;
} selectors[] = {
    { CMN_NODE_XP, { 8, 8, 8, 9, 9, 9, 10 }, &no_fields },
    { CMN_NODE_HNF, { 5, 6, 6, 6, 6, 6, 6 }, &hnf_fields },
    { CMN_NODE_HNS, { 6, 6, 6, 6, 6, 6, 7 }, &hns_fields },
    { CMN_NODE_RNI, { 5, 5, 5, 6, 6, 6, 7 }, &no_fields },
    { CMN_NODE_HNI, { 6, 6, 6, 6, 6, 6, 6 }, &no_fields },
    { CMN_NODE_HNP, { 6, 6, 6, 6, 6, 6, 6 }, &no_fields },
    { CMN_NODE_SBSX, { 6, 6, 6, 6, 6, 6, 6 }, &no_fields },
    { CMN_NODE_MTSX, { 6, 6, 6, 6, 6, 6, 6 }, &no_fields },
    { CMN_NODE_DN, { 6, 6, 6, 6, 6, 6, 6 }, &occup1_fields },
    { CMN_NODE_CXRA, { 6, 6, 6, 6, 6, 6, 6 }, &occup1_fields },
    { CMN_NODE_CXHA, { 6, 6, 6, 6, 6, 6, 6 }, &occup1_fields },
    { CMN_NODE_CCRA, { 7, 7, 7, 7, 8, 8, 8 }, &occup1_fields },
    { CMN_NODE_CCHA, { 7, 7, 7, 7, 8, 8, 8 }, &occup1_fields },
    { CMN_NODE_CCLA, { 7, 7, 7, 7, 8, 8, 8 }, &no_fields },
};

/* Nodes whose events are not, or not only, of their own type at offset 0 */
static const struct {
    uint16_t type;
    uint16_t events[2];
} unusual[] = {
    { CMN_NODE_RND, { CMN_NODE_RNI } },
    { CMN_NODE_HNP, { CMN_NODE_HNI, CMN_NODE_HNP } },
    { CMN_NODE_CCLA, { 0, CMN_NODE_CCLA } },
    { CMN_NODE_CCLA_RNI, { CMN_NODE_RNI, CMN_NODE_CCLA } },
};

static int selector_row(uint16_t type)
{
    size_t i;

    for (i = 0; i < ARRAY_SIZE(selectors); i++) {
        if (selectors[i].type == type) {
            return i;
        }
    }
    return -1;
}

static const SelectorFields *selector_fields(const CmnSelector *sel)
{
    const SelectorFields *fields = selectors[selector_row(sel->type)].fields;

    if (fields == &hnf_fields && sel->column >= CMN_COL_700_R1) {
        return &hnf_700_fields;
    }
    if (fields == &hns_fields && sel->column == CMN_COL_S3_R2) {
        return &hns_s3_r2_fields;
    }
    return fields;
}

static unsigned id_bits(const CmnSelector *sel)
{
    return selectors[selector_row(sel->type)].id_bits[sel->column];
}

/* An XP's ids of more than 8 bits are spread over both halves. */
static unsigned id_stride(const CmnSelector *sel)
{
    return sel->type == CMN_NODE_XP && id_bits(sel) > 8 ? 16 : 8;
}

static uint64_t selector_writable(const CmnSelector *sel)
{
    const SelectorFields *fields = selector_fields(sel);
    uint64_t writable = 0;
    unsigned i;

    for (i = 0; i < CMN_NLINES; i++) {
        writable |= MAKE_64BIT_MASK(i * id_stride(sel), id_bits(sel));
    }
    for (i = 0; i < CMN_NFILTERS; i++) {
        if (fields->filter[i].length) {
            writable |= MAKE_64BIT_MASK(fields->filter[i].shift,
                                        fields->filter[i].length);
        }
    }
    return writable;
}

static void selector_init(CmnSelector *sel, uint16_t type, CmnColumn column)
{
    *sel = (CmnSelector) {
        .type = selector_row(type) < 0 ? 0 : type,
        .column = column,
    };
    cmn_selector_reset(sel);
}

void cmn_selectors_init(CmnSelector sel[2], uint16_t type, CmnColumn column)
{
    uint16_t events[2] = { type };
    size_t i;

    for (i = 0; i < ARRAY_SIZE(unusual); i++) {
        if (unusual[i].type == type) {
            memcpy(events, unusual[i].events, sizeof(events));
        }
    }
    for (i = 0; i < 2; i++) {
        selector_init(&sel[i], events[i], column);
    }
}

void cmn_selector_reset(CmnSelector *sel)
{
    sel->value = sel->type ? selector_fields(sel)->reset : 0;
}

void cmn_selector_make_dirty(CmnSelector *sel)
{
    unsigned i;

    for (i = 0; sel->type && i < CMN_NFILTERS; i++) {
        SelectorField field = selector_fields(sel)->filter[i];

        if (field.length) {
            sel->value = deposit64(sel->value, field.shift, field.length, 1);
        }
    }
}

void cmn_selector_write(CmnSelector *sel, uint64_t mask, uint64_t value)
{
    if (sel->type) {
        mask &= selector_writable(sel);
        sel->value = (sel->value & ~mask) | (value & mask);
    }
}

static unsigned filter_in(const CmnSelector *sel, uint64_t value,
                          CmnFilter filter)
{
    SelectorField field;

    if (filter == CMN_FILTER_NONE) {
        return 0;
    }
    field = selector_fields(sel)->filter[filter];
    return field.length ? extract64(value, field.shift, field.length) : 0;
}

static unsigned selected_filter(const CmnSelector *sel, CmnFilter filter)
{
    return filter_in(sel, sel->value, filter);
}

/*
 * Does a field that the event does not use differ from its value after a reset,
 * so that it filters?
 */
static bool other_filter(const CmnSelector *sel, const CmnEvent *event)
{
    uint64_t reset = selector_fields(sel)->reset;
    CmnFilter filter;

    for (filter = 0; sel->filters_all && filter < CMN_NFILTERS; filter++) {
        if (filter != event->filter &&
            !(event->evicts && filter == CMN_FILTER_EVICT_STATE) &&
            selected_filter(sel, filter) != filter_in(sel, reset, filter)) {
            return true;
        }
    }
    return false;
}

unsigned cmn_selector_lines(const CmnSelector *sel, const CmnEvent *event)
{
    unsigned line, lines = 0;

    if (sel->type != event->type || other_filter(sel, event) ||
        !cmn_event_passes(event, selected_filter(sel, event->filter),
                          selected_filter(sel, CMN_FILTER_EVICT_STATE))) {
        return 0;
    }
    for (line = 0; line < CMN_NLINES; line++) {
        if (extract64(sel->value, line * id_stride(sel), id_bits(sel)) ==
            event->id) {
            lines |= 1u << line;
        }
    }
    return lines;
}
