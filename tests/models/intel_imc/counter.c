// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The counters of a memory channel.
 *
 * Each clock a counter looks at the increment of its event. Threshold 0 adds
 * it; a threshold adds 1 if the increment reaches it, or with invert if it
 * does not; edge detection adds 1 when that comparison becomes true. Between
 * the events that a test adds, every event's increment is 0 - except the
 * clock's own, which is always 1.
 *
 * Decided here, since no source says: invert needs a threshold; edge without
 * one looks at the increment itself if the event is one bit wide, else there
 * is nothing to detect; several added events never share a clock; programming
 * a counter is not an edge.
 */
#include "qemu/osdep.h"
#include "counter.h"

bool intel_imc_counter_runs(const IntelImcCounters *c, unsigned index)
{
    bool fixed = index == INTEL_IMC_FIXED;

    return (!c->frozen || c->answer[INTEL_IMC_RUNS_FROZEN] == 2 - fixed) &&
           (c->ctl[index] & INTEL_IMC_CTL_EN || (c->no_enable && !fixed));
}

void intel_imc_counter_bump(IntelImcCounters *c, unsigned index,
                            uint64_t counts)
{
    c->value[index] = (c->value[index] + counts) & INTEL_IMC_COUNTER_MASK;
}

static bool sees(const IntelImcCounters *c, const IntelImcEvent *event,
                 uint32_t ctl)
{
    bool clock = event == &intel_imc_event_clock ||
                 event == &intel_imc_event_dclk ||
                 event == &intel_imc_event_hclk;

    if (clock ? c->answer[INTEL_IMC_NO_EVENT_0] :
        c->answer[INTEL_IMC_NEEDS_UMASK] && !INTEL_IMC_CTL_UMASK(ctl)) {
        return false;
    }
    if (!INTEL_IMC_CTL_THRESH(ctl) &&
        ((ctl & INTEL_IMC_CTL_INV && c->answer[INTEL_IMC_INV_ALONE]) ||
         (ctl & INTEL_IMC_CTL_EDGE && c->answer[INTEL_IMC_EDGE_ALONE] == 1))) {
        return false;
    }
    return intel_imc_event_seen(event, INTEL_IMC_CTL_EVENT(ctl),
                                INTEL_IMC_CTL_UMASK(ctl));
}

/* What a threshold counts from below is what invert counts elsewhere. */
static uint32_t ctl_of(const IntelImcCounters *c, unsigned index)
{
    uint32_t ctl = c->ctl[index];

    if (INTEL_IMC_CTL_THRESH(ctl)) {
        return c->answer[INTEL_IMC_BELOW] ? ctl ^ INTEL_IMC_CTL_INV : ctl;
    }
    return c->answer[INTEL_IMC_EDGE_ALONE] == 2 ? ctl & ~INTEL_IMC_CTL_EDGE :
                                                  ctl;
}

/* The increment from which on a threshold counts; 0: there is none */
static unsigned needed(const IntelImcCounters *c, uint32_t ctl)
{
    unsigned thresh = INTEL_IMC_CTL_THRESH(ctl);

    return thresh && c->answer[INTEL_IMC_EXCEEDS] ? thresh + 1 : thresh;
}

/* The counts that a running general counter gets by clocks alone */
static uint64_t count_idle_clocks(const IntelImcCounters *c, uint32_t ctl,
                                  uint64_t from, uint64_t to)
{
    bool clock = sees(c, c->clock ?: &intel_imc_event_clock, ctl);
    bool half = !clock && c->half_clock && sees(c, c->half_clock, ctl);
    uint64_t clocks = to - from, ones = clock ? clocks : 0;
    unsigned thresh = needed(c, ctl);

    if (half) {
        ones = (to >> 1) - (from >> 1);
    }
    /* From one idle clock to the next nothing changes. */
    if (ctl & INTEL_IMC_CTL_EDGE) {
        return 0;
    }
    if (!thresh) {
        return ones;
    }
    if (thresh > 1) {
        ones = 0;
    }
    return ctl & INTEL_IMC_CTL_INV ? clocks - ones : ones;
}

void intel_imc_counters_sync(IntelImcCounters *c)
{
    uint64_t now = model_clock_ticks(&c->clk);
    unsigned i;

    for (i = 0; i < INTEL_IMC_NGENERAL; i++) {
        uint64_t from = MAX(c->synced, MIN(c->busy_until[i], now));

        if (intel_imc_counter_runs(c, i)) {
            intel_imc_counter_bump(c, i,
                                   count_idle_clocks(c, ctl_of(c, i), from, now));
        }
    }
    if (intel_imc_counter_runs(c, INTEL_IMC_FIXED)) {
        intel_imc_counter_bump(c, INTEL_IMC_FIXED, (now >> c->fixed_shift) -
                               (c->synced >> c->fixed_shift));
    }
    c->synced = now;
}

void intel_imc_counters_set_frozen(IntelImcCounters *c, bool frozen)
{
    intel_imc_counters_sync(c);
    c->frozen = frozen;
}

void intel_imc_counter_set_ctl(IntelImcCounters *c, unsigned index,
                               uint32_t ctl)
{
    uint32_t written = c->written[index];

    intel_imc_counters_sync(c);
    c->written[index] = ctl;
    if (c->answer[INTEL_IMC_TWICE] && written != ctl) {
        return;
    }
    if (index < INTEL_IMC_NGENERAL) {
        ctl &= ~c->answer[INTEL_IMC_DROPS];
    }
    if (index < INTEL_IMC_NGENERAL &&
        (c->ctl[index] ^ ctl) & ~INTEL_IMC_CTL_EN) {
        c->busy_until[index] = 0;
    }
    c->ctl[index] = ctl;
}

void intel_imc_counter_set(IntelImcCounters *c, unsigned index, uint64_t value)
{
    intel_imc_counters_sync(c);
    c->value[index] = value & INTEL_IMC_COUNTER_MASK;
}

static void counter_event(IntelImcCounters *c, unsigned i,
                          const IntelImcEvent *event, uint64_t n, uint8_t inc)
{
    uint32_t ctl = ctl_of(c, i);
    unsigned thresh = needed(c, ctl);

    if (strstr(event->name, "occupancy")) {
        inc -= MIN(inc, c->answer[INTEL_IMC_BEGINS_AT]);
    }
    if (!thresh) {
        if (!(ctl & INTEL_IMC_CTL_EDGE)) {
            intel_imc_counter_bump(c, i, n * inc);
        } else if (event->max_inc == 1) {
            intel_imc_counter_bump(c, i, n);
        }
    } else if (inc >= thresh) {
        /*
         * A clock apart, each event makes the comparison change twice: one
         * rising edge, one falling. What an inverted counter without edge
         * detection sees is the rest of the time, in intel_imc_counters_sync().
         */
        if (ctl & INTEL_IMC_CTL_EDGE || !(ctl & INTEL_IMC_CTL_INV)) {
            intel_imc_counter_bump(c, i, n);
        } else {
            c->busy_until[i] = MAX(c->busy_until[i], c->synced) + n;
        }
    }
}

void intel_imc_counters_event(IntelImcCounters *c, const IntelImcEvent *event,
                              uint64_t n, uint8_t inc)
{
    unsigned i;

    intel_imc_counters_sync(c);
    for (i = 0; i < INTEL_IMC_NGENERAL; i++) {
        if (intel_imc_counter_runs(c, i) && sees(c, event, c->ctl[i])) {
            counter_event(c, i, event, n, inc);
        }
    }
}
