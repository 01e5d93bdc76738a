// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The debug and trace monitor. It counts while its pmu_en is set and DTC 0 is
 * enabled, whatever dtm_enable says. A paired counter that wraps sends one
 * increment to the global counter of its domain's DTC.
 *
 * Where the sources leave it open: of combined counters only the highest can
 * be paired.
 *
 * Left out: snapshots, trace (the FIFO stays empty, packets are not made),
 * sampling.
 */
#include "qemu/osdep.h"
#include "dtm.h"
#include "watchpoint.h"

/* By offset in the PMU block of DTM 0 */
#define DTM_CONTROL         0x100
#define   DTM_CONTROL_WRITABLE  0xf
#define DTM_WP_FIRST        0x1a0
#define DTM_WP_LAST         0x1f8
#define   DTM_WP_STRIDE         0x18    /* CONFIG, VAL, MASK */
#define PMSICR              0x200
#define   PMSICR_WRITABLE       0xffffffff
#define PMSIRR              0x208
#define   PMSIRR_WRITABLE       0xffffff00
#define PMU_CONFIG          0x210
#define   PMU_CONFIG_PMU_EN     (1ull << 0)
#define   PMU_CONFIG_01         (1ull << 1)
#define   PMU_CONFIG_23         (1ull << 2)
#define   PMU_CONFIG_ALL        (1ull << 3)
#define   PMU_CONFIG_PAIRED(k)  (1ull << (4 + (k)))
#define   PMU_CONFIG_GLOBAL(k)  (16 + 4 * (k))  /* 3 bits from there */
#define   PMU_CONFIG_INPUT(k)   (32 + 8 * (k))  /* 8 bits from there */
#define PMEVCNT             0x220

#define COUNTER_BITS        16

static bool dtm_counts(const CmnDtm *dtm)
{
    return dtm->config & PMU_CONFIG_PMU_EN && cmn_dtc_enabled(dtm->first);
}

/* Does counter @k pass its carry on to the next one? */
static bool is_chained(const CmnDtm *dtm, unsigned k)
{
    if (dtm->config & PMU_CONFIG_ALL) {
        return k < 3;
    }
    return (k == 0 && dtm->config & PMU_CONFIG_01) ||
           (k == 2 && dtm->config & PMU_CONFIG_23);
}

/* Nothing else comes to one that takes another's carries. */
static bool has_input(const CmnDtm *dtm, unsigned k)
{
    return k == 0 || !is_chained(dtm, k - 1);
}

static void counter_add(CmnDtm *dtm, unsigned k, uint64_t n)
{
    uint64_t sum, carry;

    for (carry = n; carry; k++) {
        sum = extract64(dtm->count, COUNTER_BITS * k, COUNTER_BITS) + carry;
        dtm->count = deposit64(dtm->count, COUNTER_BITS * k, COUNTER_BITS,
                               sum);
        carry = sum >> COUNTER_BITS;
        if (!is_chained(dtm, k)) {
            break;
        }
    }
    if (carry && dtm->config & PMU_CONFIG_PAIRED(k)) {
        cmn_dtc_count(dtm->dtc,
                      extract64(dtm->config, PMU_CONFIG_GLOBAL(k), 3), carry);
    }
}

void cmn_dtm_count(CmnDtm *dtm, unsigned source, uint64_t n)
{
    unsigned k;

    for (k = 0; dtm_counts(dtm) && k < CMN_DTM_NCOUNTERS; k++) {
        if (has_input(dtm, k) &&
            extract64(dtm->config, PMU_CONFIG_INPUT(k), 8) == source) {
            counter_add(dtm, k, n);
        }
    }
}

bool cmn_dtm_bump(CmnDtm *dtm, uint64_t n)
{
    bool any = false;
    unsigned k;

    for (k = 0; dtm_counts(dtm) && k < CMN_DTM_NCOUNTERS; k++) {
        if (has_input(dtm, k) && dtm->config & PMU_CONFIG_PAIRED(k)) {
            counter_add(dtm, k, n);
            any = true;
        }
    }
    return any;
}

void cmn_dtm_flits(CmnDtm *dtm, const CmnFlit *flit, uint64_t n)
{
    unsigned wp;

    for (wp = 0; wp < CMN_DTM_NWPS; wp++) {
        if (cmn_watchpoint_hits(dtm, wp, flit)) {
            cmn_dtm_count(dtm, CMN_SOURCE_WP(wp), n);
        }
    }
}

/* The register at @offset, and which of its bits can be written */
static uint64_t *wp_register(CmnDtm *dtm, uint32_t offset, uint64_t *writable)
{
    unsigned index = (offset - DTM_WP_FIRST) / DTM_WP_STRIDE;
    CmnWatchpoint *wp = &dtm->wp[index];

    *writable = UINT64_MAX;
    switch ((offset - DTM_WP_FIRST) % DTM_WP_STRIDE) {
    case 0:
        *writable = dtm->layout->wp->writable;
        if (index % 2) {
            *writable &= ~(uint64_t)dtm->layout->wp->combine;
        }
        return &wp->config;
    case 8:
        return &wp->val;
    default:
        return &wp->mask;
    }
}

static uint64_t *dtm_register(CmnDtm *dtm, uint32_t offset, uint64_t *writable)
{
    *writable = UINT64_MAX;
    switch (offset) {
    case DTM_CONTROL:
        *writable = DTM_CONTROL_WRITABLE;
        return &dtm->control;
    case DTM_WP_FIRST ... DTM_WP_LAST:
        return wp_register(dtm, offset, writable);
    case PMSICR:
        *writable = PMSICR_WRITABLE;
        return &dtm->sample_count;
    case PMSIRR:
        *writable = PMSIRR_WRITABLE;
        return &dtm->sample_reload;
    case PMU_CONFIG:
        *writable = dtm->product->pmu_config;
        return &dtm->config;
    case PMEVCNT:
        return &dtm->count;
    default:
        return NULL;
    }
}

uint64_t cmn_dtm_read(CmnDtm *dtm, uint32_t offset)
{
    uint64_t writable;
    const uint64_t *reg = dtm_register(dtm, offset, &writable);

    return reg ? *reg : 0;
}

void cmn_dtm_write(CmnDtm *dtm, uint32_t offset, uint64_t mask,
                   uint64_t value)
{
    uint64_t writable;
    uint64_t *reg = dtm_register(dtm, offset, &writable);

    if (reg) {
        mask &= writable;
        *reg = (*reg & ~mask) | (value & mask);
    }
}

CmnDtmGroup cmn_dtm_group(uint32_t offset)
{
    switch (offset) {
    case DTM_WP_FIRST ... DTM_WP_LAST + 7:
        return CMN_DTM_WATCHPOINT;
    case PMU_CONFIG ... PMU_CONFIG + 7:
        return CMN_DTM_CONFIG;
    case PMEVCNT ... PMEVCNT + 7:
        return CMN_DTM_COUNT;
    default:
        return CMN_DTM_OTHER;
    }
}

void cmn_dtm_reset(CmnDtm *dtm)
{
    dtm->control = 0;
    memset(dtm->wp, 0, sizeof(dtm->wp));
    dtm->sample_count = 0;
    dtm->sample_reload = 0;
    dtm->config = 0;
    dtm->count = 0;
}

void cmn_dtm_make_dirty(CmnDtm *dtm)
{
    unsigned k;

    dtm->config = PMU_CONFIG_PMU_EN;
    for (k = 0; k < CMN_DTM_NCOUNTERS; k++) {
        dtm->config |= PMU_CONFIG_PAIRED(k) |
                       (uint64_t)k << PMU_CONFIG_GLOBAL(k) |
                       (uint64_t)CMN_SOURCE_WP(k) << PMU_CONFIG_INPUT(k);
        dtm->wp[k].mask = UINT64_MAX;
    }
    dtm->count = 0xfff0fff0fff0fff0;
}
