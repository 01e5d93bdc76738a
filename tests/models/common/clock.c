// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A clock driven by QEMU's virtual time.
 */
#include "qemu/osdep.h"
#include "qemu/timer.h"
#include "clock.h"

static uint64_t ticks_and_rest(const ModelClock *clk, int64_t now,
                               uint64_t *rest)
{
    /* ns * Hz needs more than 64 bits after 11 s at 1600 MHz. */
    unsigned __int128 product = clk->base_rest;

    if (!clk->stopped) {
        product += (unsigned __int128)(now - clk->base_ns) * clk->hz;
    }
    *rest = product % NANOSECONDS_PER_SECOND;
    return clk->base_ticks + (uint64_t)(product / NANOSECONDS_PER_SECOND);
}

uint64_t model_clock_ticks(const ModelClock *clk)
{
    uint64_t rest;

    return ticks_and_rest(clk, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL), &rest);
}

static void rebase(ModelClock *clk)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    clk->base_ticks = ticks_and_rest(clk, now, &clk->base_rest);
    clk->base_ns = now;
}

void model_clock_init(ModelClock *clk, uint64_t hz, bool stopped)
{
    *clk = (ModelClock) { .hz = hz, .stopped = stopped };
}

void model_clock_set_hz(ModelClock *clk, uint64_t hz)
{
    rebase(clk);
    clk->hz = hz;
}

void model_clock_set_stopped(ModelClock *clk, bool stopped)
{
    rebase(clk);
    clk->stopped = stopped;
}
