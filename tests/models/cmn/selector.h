/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A node's pmu_event_sel: which events drive the four event lines that go to
 * the DTMs, and the filters that all four share.
 */
#ifndef PMU_MODELS_CMN_SELECTOR_H
#define PMU_MODELS_CMN_SELECTOR_H

#include "event.h"

#define CMN_NLINES 4

typedef struct CmnSelector {
    uint16_t type;          /* whose events; 0: there is no selector */
    CmnColumn column;
    bool filters_all;       /* fields act on events without a filter, too */
    uint64_t value;
} CmnSelector;

/*
 * Give a node of @type its selectors, the one at offset 0 of the PMU block
 * and the one at offset 8, with their reset values.
 */
void cmn_selectors_init(CmnSelector sel[2], uint16_t type, CmnColumn column);
void cmn_selector_reset(CmnSelector *sel);

/* As a kernel leaves it that does not clean up: filters that pass nothing */
void cmn_selector_make_dirty(CmnSelector *sel);

/* Bits outside @mask are not written. */
void cmn_selector_write(CmnSelector *sel, uint64_t mask, uint64_t value);

/* The lines on which @event shows, bit e for line e */
unsigned cmn_selector_lines(const CmnSelector *sel, const CmnEvent *event);

#endif
