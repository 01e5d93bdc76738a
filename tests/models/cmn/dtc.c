// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The debug and trace controller.
 *
 * Counters advance while dt_en and pmu_en are set, here and in DTC 0. The
 * cycle counter moreover needs cg_disable: with clock gating on it advances
 * only while somebody asks for the clock, which nobody does here. Overflow
 * flags can be cleared only while the DTC is enabled.
 *
 * Where the sources leave it open: in a pair of counters that forms one of 64
 * bits the even one's increments count, and it overflows as the odd one. How
 * long carries take, and how long the DTMs take to learn that DTC 0 has
 * stopped them, is what a test says, at first no time; a carry that arrives
 * while the DTC is stopped still counts, unless a test says that it is
 * dropped. From a DTC whose dt_en is off it is lost in any case.
 *
 * Without NIDEN nothing counts; AUTHSTATUS says so, and whether SPNIDEN is on.
 *
 * Left out: snapshots, trace, triggers, and what only secure accesses reach.
 */
#include "qemu/osdep.h"
#include "dtc.h"

/* Control group, by offset in the frame */
#define DTC_CTL             0xa00
#define   DTC_CTL_DT_EN         (1u << 0)
#define   DTC_CTL_CG_DISABLE    (1u << 10)
#define   DTC_CTL_WRITABLE      0x7ff
#define DTC_TRACE_CONTROL   0xa30
#define   TRACE_CONTROL_WRITABLE 0x1ff
#define DTC_TRACEID         0xa48
#define   TRACEID_WRITABLE      0x7f
#define DTC_CONTROL_FIRST   0x980
#define DTC_CONTROL_LAST    DTC_TRACEID

/* CoreSight management registers, by offset in their block */
#define CORESIGHT_CLAIM     0x00
#define CORESIGHT_AUTHSTATUS 0x18
#define   AUTHSTATUS_PRESENT    (1ull << 52)    /* of the other half */
#define   AUTHSTATUS_NSNID(on)  ((on) ? 3u << 2 : 2u << 2)
#define   AUTHSTATUS_SNID(on)   ((on) ? 3u << 6 : 2u << 6)
#define CORESIGHT_DEVTYPE   0x28
#define   DEVTYPE               (0x43ull << 32)
#define CORESIGHT_SIZE      0x60

/* Counter group, by offset in the PMU block */
#define PMEVCNT_AB          0x000   /* CD, EF and GH follow at 0x10 each */
#define PMEVCNT_GH          0x030
#define PMCCNTR             0x040
#define PMCR                0x100
#define   PMCR_PMU_EN           (1u << 0)
#define   PMCR_CNTCFG(pair)     (1u << (1 + (pair)))
#define   PMCR_OVFL_INTR_EN     (1u << 6)
#define   PMCR_WRITABLE         0x7f
#define PMOVSR              0x118
#define PMOVSR_CLR          0x120
#define PMU_SIZE            0x138

#define CYCLES_MASK         MAKE_64BIT_MASK(0, 40)

bool cmn_dtc_is_on(const CmnDtc *dtc)
{
    return dtc->control & DTC_CTL_DT_EN;
}

bool cmn_dtc_enabled(const CmnDtc *dtc)
{
    return dtc->control & DTC_CTL_DT_EN && dtc->pmcr & PMCR_PMU_EN &&
           dtc->niden;
}

static bool dtc_counts(const CmnDtc *dtc)
{
    return cmn_dtc_enabled(dtc) && cmn_dtc_enabled(dtc->first);
}

static int64_t now_ns(void)
{
    return qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

int64_t cmn_dtc_span(const CmnDtc *dtc, int64_t from, int64_t to,
                     int64_t *until)
{
    int64_t known = MIN(MAX(dtc->changed + dtc->stop_delay, from), to);
    bool after = cmn_dtc_enabled(dtc);

    *until = after ? to : known;
    return dtc->before ? from : after ? known : *until;
}

/*
 * DTMs go on by the state that they know now until they learn of the new one.
 * "Now" is the time until which traffic has come: traffic between that time and
 * a stop would have its carries arrive after the stop.
 */
static void tell_dtms(CmnDtc *dtc, bool was)
{
    if (dtc->synced >= dtc->changed + dtc->stop_delay) {
        dtc->before = was;
    }
    dtc->changed = dtc->synced;
}

bool cmn_dtc_interrupts(const CmnDtc *dtc)
{
    return dtc->overflowed && dtc->pmcr & PMCR_OVFL_INTR_EN;
}

static void set_overflowed(CmnDtc *dtc, unsigned index)
{
    dtc->overflowed |= 1u << index;
    dtc->update_irq(dtc->opaque);
}

static void count_pair(CmnDtc *dtc, unsigned even, uint64_t n)
{
    uint32_t *low = &dtc->counter[even], *high = &dtc->counter[even + 1];
    uint64_t old = (uint64_t)*high << 32 | *low;
    uint64_t sum = old + n;

    *low = sum;
    *high = sum >> 32;
    if (sum < old) {
        set_overflowed(dtc, even + 1);
    }
}

static void carry_arrived(void *opaque, unsigned index, uint64_t n)
{
    CmnDtc *dtc = opaque;
    uint64_t sum;

    if (!dtc_counts(dtc) &&
        (dtc->drops || !dtc->carries.delay ||
         !(dtc->control & DTC_CTL_DT_EN))) {
        dtc->dropped += n;
        return;
    }
    if (dtc->pmcr & PMCR_CNTCFG(index / 2)) {
        if (index % 2 == 0) {
            count_pair(dtc, index, n);
        }
        return;
    }
    sum = dtc->counter[index] + n;
    dtc->counter[index] = sum;
    if (sum >> 32) {
        set_overflowed(dtc, index);
    }
}

void cmn_dtc_carry(CmnDtc *dtc, unsigned index, uint64_t n, int64_t when)
{
    cmn_carries_send(&dtc->carries, index, n, when);
}

/* ns until the cycle counter wraps, rounded up; at a slow clock: a long time */
static int64_t time_to_wrap(const CmnDtc *dtc)
{
    unsigned __int128 ticks = CYCLES_MASK + 1 - dtc->cycles;

    return MIN((ticks * NANOSECONDS_PER_SECOND + dtc->clk.hz - 1) / dtc->clk.hz,
               INT64_MAX / 2);
}

void cmn_dtc_sync(CmnDtc *dtc)
{
    uint64_t now = model_clock_ticks(&dtc->clk);

    cmn_carries_sync(&dtc->carries);
    if (dtc->cycles_run) {
        dtc->cycles += now - dtc->last_tick;
        if (dtc->cycles > CYCLES_MASK) {
            dtc->cycles &= CYCLES_MASK;
            set_overflowed(dtc, CMN_DTC_CYCLES);
        }
    }
    dtc->last_tick = now;
}

void cmn_dtc_update(CmnDtc *dtc)
{
    dtc->cycles_run = dtc_counts(dtc) && dtc->control & DTC_CTL_CG_DISABLE;
    if (dtc->cycles_run) {
        timer_mod(dtc->wrap, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) +
                  time_to_wrap(dtc));
    } else {
        timer_del(dtc->wrap);
    }
}

static void dtc_wraps(void *opaque)
{
    cmn_dtc_sync(opaque);
    cmn_dtc_update(opaque);
}

void cmn_dtc_set_hz(CmnDtc *dtc, uint64_t hz)
{
    cmn_dtc_sync(dtc);
    model_clock_set_hz(&dtc->clk, hz);
    cmn_dtc_update(dtc);
}

static uint64_t pair_of(const uint32_t *counters, uint32_t offset)
{
    const uint32_t *even = &counters[offset / 0x10 * 2];

    return offset % 0x10 ? 0 : even[0] | (uint64_t)even[1] << 32;
}

static void set_pair(uint32_t *counters, uint32_t offset, uint64_t mask,
                     uint64_t value)
{
    uint32_t *even = &counters[offset / 0x10 * 2];

    if (offset % 0x10 == 0) {
        even[0] = (even[0] & ~mask) | (value & mask);
        even[1] = (even[1] & ~(mask >> 32)) | (value & mask) >> 32;
    }
}

static void set_field(uint32_t *field, uint64_t mask, uint64_t value,
                      uint32_t writable)
{
    mask &= writable;
    *field = (*field & ~mask) | (value & mask);
}

static void set_cycles(uint64_t *cycles, uint64_t mask, uint64_t value)
{
    mask &= CYCLES_MASK;
    *cycles = (*cycles & ~mask) | (value & mask);
}

static uint64_t pmu_read(CmnDtc *dtc, uint32_t offset)
{
    switch (offset) {
    case PMEVCNT_AB ... PMEVCNT_GH:
        return pair_of(dtc->counter, offset - PMEVCNT_AB);
    case PMCCNTR:
        return dtc->cycles;
    case PMCR:
        return dtc->pmcr;
    case PMOVSR:
        return dtc->hide_overflows && !cmn_dtc_enabled(dtc) ? 0 :
               dtc->overflowed;
    default:
        return 0;
    }
}

static void pmu_write(CmnDtc *dtc, uint32_t offset, uint64_t mask,
                      uint64_t value)
{
    switch (offset) {
    case PMEVCNT_AB ... PMEVCNT_GH:
        set_pair(dtc->counter, offset - PMEVCNT_AB, mask, value);
        break;
    case PMCCNTR:
        set_cycles(&dtc->cycles, mask, value);
        break;
    case PMCR:
        if (!dtc->pm_disabled) {
            set_field(&dtc->pmcr, mask, value, PMCR_WRITABLE);
            dtc->pmcr |= dtc->kept_on ? PMCR_PMU_EN : 0;
        }
        break;
    case PMOVSR_CLR:
        if (cmn_dtc_enabled(dtc)) {
            dtc->overflowed &= ~(value & mask);
        }
        break;
    }
}

static uint64_t coresight_read(const CmnDtc *dtc, uint32_t offset)
{
    switch (offset) {
    case CORESIGHT_CLAIM:       /* which tags there are, which are set */
        return UINT32_MAX | (uint64_t)dtc->claim << 32;
    case CORESIGHT_AUTHSTATUS:
        return AUTHSTATUS_PRESENT | AUTHSTATUS_NSNID(dtc->niden) |
               AUTHSTATUS_SNID(dtc->spniden);
    case CORESIGHT_DEVTYPE:
        return DEVTYPE;
    default:
        return 0;
    }
}

uint64_t cmn_dtc_read(CmnDtc *dtc, uint32_t offset)
{
    switch (offset) {
    case DTC_CTL:
        return dtc->control;
    case DTC_TRACE_CONTROL:
        return dtc->trace_control;
    case DTC_TRACEID:
        return dtc->traceid;
    }
    if (offset >= dtc->layout->pmu && offset < dtc->layout->pmu + PMU_SIZE) {
        return pmu_read(dtc, offset - dtc->layout->pmu);
    }
    return coresight_read(dtc, offset - dtc->product->coresight);
}

void cmn_dtc_write(CmnDtc *dtc, uint32_t offset, uint64_t mask,
                   uint64_t value)
{
    bool was = cmn_dtc_enabled(dtc);

    if (offset == DTC_CTL && dtc->dt_disabled) {
        return;
    }
    if (offset == DTC_CTL) {
        set_field(&dtc->control, mask, value, DTC_CTL_WRITABLE);
    } else if (offset == DTC_TRACE_CONTROL) {
        set_field(&dtc->trace_control, mask, value, TRACE_CONTROL_WRITABLE);
    } else if (offset == DTC_TRACEID) {
        set_field(&dtc->traceid, mask, value, TRACEID_WRITABLE);
    } else if (offset >= dtc->layout->pmu &&
               offset < dtc->layout->pmu + PMU_SIZE) {
        pmu_write(dtc, offset - dtc->layout->pmu, mask, value);
    } else if (offset == dtc->product->coresight + CORESIGHT_CLAIM) {
        dtc->claim |= value & mask;
        dtc->claim &= ~((value & mask) >> 32);
    }
    if (was != cmn_dtc_enabled(dtc)) {
        tell_dtms(dtc, was);
    }
    dtc->update_irq(dtc->opaque);
}

static CmnDtcGroup pmu_group(uint32_t offset)
{
    switch (offset) {
    case PMEVCNT_AB ... PMCCNTR + 7:
        return CMN_DTC_COUNT;
    case PMCR ... PMCR + 7:
        return CMN_DTC_CONTROL;
    case PMOVSR ... PMOVSR_CLR + 7:
        return CMN_DTC_OVERFLOW;
    default:
        return CMN_DTC_OTHER;
    }
}

CmnDtcGroup cmn_dtc_group(const CmnDtc *dtc, uint32_t offset)
{
    uint32_t coresight = dtc->product->coresight;

    if (offset >= DTC_CTL && offset < DTC_CTL + 8) {
        return CMN_DTC_CONTROL;
    }
    if (offset >= DTC_CONTROL_FIRST && offset < DTC_CONTROL_LAST + 8) {
        return CMN_DTC_OTHER;
    }
    if (offset >= dtc->layout->pmu && offset < dtc->layout->pmu + PMU_SIZE) {
        return pmu_group(offset - dtc->layout->pmu);
    }
    return offset >= coresight && offset < coresight + CORESIGHT_SIZE ?
           CMN_DTC_OTHER : CMN_DTC_NONE;
}

void cmn_dtc_reset(CmnDtc *dtc)
{
    cmn_carries_reset(&dtc->carries);
    cmn_dtc_sync(dtc);
    dtc->before = false;
    dtc->changed = now_ns() - dtc->stop_delay;
    dtc->control = 0;
    dtc->pmcr = 0;
    dtc->overflowed = 0;
    memset(dtc->counter, 0, sizeof(dtc->counter));
    dtc->cycles = 0;
    dtc->trace_control = 0;
    dtc->traceid = 0;
    dtc->claim = 0;
    cmn_dtc_update(dtc);
}

void cmn_dtc_make_dirty(CmnDtc *dtc)
{
    dtc->before = true;
    dtc->control = DTC_CTL_DT_EN | DTC_CTL_CG_DISABLE;
    dtc->pmcr = PMCR_PMU_EN | PMCR_OVFL_INTR_EN;
    dtc->overflowed = MAKE_64BIT_MASK(0, CMN_DTC_CYCLES + 1);
    memset(dtc->counter, 0x80, sizeof(dtc->counter));
    cmn_dtc_update(dtc);
}

void cmn_dtc_init(CmnDtc *dtc, CmnDtc *first, const CmnProduct *product,
                  const CmnLayout *layout, uint64_t hz)
{
    dtc->first = first;
    dtc->product = product;
    dtc->layout = layout;
    model_clock_init(&dtc->clk, hz, false);
    dtc->wrap = timer_new_ns(QEMU_CLOCK_VIRTUAL, dtc_wraps, dtc);
    cmn_carries_init(&dtc->carries, carry_arrived, dtc);
}
