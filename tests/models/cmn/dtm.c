// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The debug and trace monitor. It counts while its pmu_en is set and DTC 0 is
 * enabled, whatever dtm_enable says. A paired counter that wraps sends one
 * increment to the global counter of its domain's DTC.
 *
 * Where the sources leave it open: of combined counters only the highest can
 * be paired; registers can be written while dtm_enable is set, and a counter
 * keeps its count when it gets another input, unless a test says otherwise.
 *
 * Left out: snapshots, sampling, and of trace all but the number of packets
 * that watchpoints make while the domain's DTC has dt_en. The FIFO stays empty.
 */
#include "qemu/osdep.h"
#include "dtm.h"
#include "watchpoint.h"

/* By offset in the PMU block of DTM 0 */
#define DTM_CONTROL         0x100
#define   DTM_CONTROL_ENABLE    (1ull << 0)
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

static int64_t now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* Does it count at this very moment? */
static bool dtm_counts(const CmnDtm *dtm)
{
    int64_t now = now_ns(), until;

    return dtm->config & PMU_CONFIG_PMU_EN &&
           cmn_dtc_span(dtm->first, now, now + 1, &until) == now &&
           until > now;
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

static void carry_out(CmnDtm *dtm, unsigned k, uint64_t n, int64_t when)
{
    cmn_dtc_carry(dtm->dtc, extract64(dtm->config, PMU_CONFIG_GLOBAL(k), 3), n,
                  when);
}

static void counter_add(CmnDtm *dtm, unsigned k, uint64_t n)
{
    uint64_t sum, carry;

    if (dtm->config & PMU_CONFIG_PAIRED(k)) {
        dtm->total += n;
    }
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
        carry_out(dtm, k, carry, now_ns());
    }
}

/*
 * @n counts, one every 1/traffic of a second of virtual time from @from to
 * @until. What has come until now has its carries in one; each of the others
 * has its time.
 */
static void counter_flow(CmnDtm *dtm, unsigned k, uint64_t n, int64_t from,
                         int64_t until)
{
    uint64_t old = extract64(dtm->count, COUNTER_BITS * k, COUNTER_BITS);
    uint64_t carries = (old + n) >> COUNTER_BITS;
    int64_t past = now_ns() - dtm->dtc->carries.delay - from;
    uint64_t arrived = 0, i;

    dtm->total += n;
    dtm->count = deposit64(dtm->count, COUNTER_BITS * k, COUNTER_BITS, old + n);
    if (past > 0) {
        arrived = MIN((old + muldiv64(past, dtm->traffic,
                                      NANOSECONDS_PER_SECOND)) >> COUNTER_BITS,
                      carries);
        carry_out(dtm, k, arrived, from);
    }
    for (i = arrived + 1; i <= carries; i++) {
        /*
         * A fraction of a count that was left over makes this sooner by less
         * than a count.
         */
        carry_out(dtm, k, 1,
                  MIN(until, from + muldiv64((i << COUNTER_BITS) - old,
                                             NANOSECONDS_PER_SECOND,
                                             dtm->traffic)));
    }
}

void cmn_dtm_sync(CmnDtm *dtm, int64_t now)
{
    int64_t until;
    int64_t from = cmn_dtc_span(dtm->first, dtm->synced, now, &until);
    unsigned __int128 flow;
    unsigned k;

    dtm->synced = now;
    if (!dtm->traffic || !(dtm->config & PMU_CONFIG_PMU_EN)) {
        return;
    }
    flow = (unsigned __int128)(until - from) * dtm->traffic + dtm->rest;
    dtm->rest = flow % NANOSECONDS_PER_SECOND;
    for (k = 0; k < CMN_DTM_NCOUNTERS; k++) {
        if (has_input(dtm, k) && !is_chained(dtm, k) &&
            dtm->config & PMU_CONFIG_PAIRED(k)) {
            counter_flow(dtm, k, flow / NANOSECONDS_PER_SECOND, from,
                         until);
        }
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
            if (dtm->wp[wp].config & dtm->layout->wp->pkt_gen &&
                cmn_dtc_is_on(dtm->dtc)) {
                dtm->packets += n;
            }
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

    /* Another program comes after us. */
    if (dtm->locks > 1 && offset == PMEVCNT) {
        dtm->control |= DTM_CONTROL_ENABLE;
    }
    return reg ? *reg : 0;
}

/* Clear the counters whose pairing, letter or input is among @bits. */
static void clear_changed(CmnDtm *dtm, uint64_t bits)
{
    unsigned k;

    for (k = 0; k < CMN_DTM_NCOUNTERS; k++) {
        if (bits & PMU_CONFIG_PAIRED(k) ||
            extract64(bits, PMU_CONFIG_GLOBAL(k), 3) ||
            extract64(bits, PMU_CONFIG_INPUT(k), 8)) {
            dtm->count = deposit64(dtm->count, COUNTER_BITS * k, COUNTER_BITS,
                                   0);
        }
    }
}

void cmn_dtm_write(CmnDtm *dtm, uint32_t offset, uint64_t mask,
                   uint64_t value)
{
    uint64_t writable;
    uint64_t *reg = dtm_register(dtm, offset, &writable);

    if (reg && (offset == DTM_CONTROL || !dtm->locks ||
                !(dtm->control & DTM_CONTROL_ENABLE))) {
        uint64_t old = *reg;

        mask &= writable;
        *reg = (*reg & ~mask) | (value & mask);
        if (reg == &dtm->config && dtm->clears) {
            clear_changed(dtm, old ^ *reg);
        }
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
    dtm->rest = 0;
    dtm->synced = now_ns();
}

void cmn_dtm_make_dirty(CmnDtm *dtm)
{
    unsigned k;

    dtm->control = DTM_CONTROL_ENABLE;
    dtm->config = PMU_CONFIG_PMU_EN;
    for (k = 0; k < CMN_DTM_NCOUNTERS; k++) {
        dtm->config |= PMU_CONFIG_PAIRED(k) |
                       (uint64_t)k << PMU_CONFIG_GLOBAL(k) |
                       (uint64_t)CMN_SOURCE_WP(k) << PMU_CONFIG_INPUT(k);
        dtm->wp[k].mask = UINT64_MAX;
    }
    dtm->count = 0xfff0fff0fff0fff0;
}

void cmn_dtm_make_trace(CmnDtm *dtm)
{
    unsigned k;

    dtm->control = DTM_CONTROL_ENABLE;
    for (k = 0; k < CMN_DTM_NWPS; k++) {
        dtm->wp[k] = (CmnWatchpoint) {
            .config = dtm->layout->wp->pkt_gen,
            .mask = UINT64_MAX,
        };
    }
}
