// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The free-running counters of a memory controller: of its traffic, which
 * mmio.c tells of, and of the memory's clock. Nobody can write them. That a
 * block stands still, or does not answer, was seen on no machine.
 */
#include "qemu/osdep.h"
#include "free.h"

static IntelImcFreeRunning *free_of(PmuModel *model)
{
    return container_of(model, IntelImcFreeRunning, model);
}

static uint64_t free_counter(IntelImcFreeRunning *free, unsigned i)
{
    uint64_t value = i == INTEL_IMC_FREE_DCLK ?
                     model_clock_ticks(&free->clk) + free->dclk :
                     free->value[i];

    return value & INTEL_IMC_COUNTER_MASK;
}

/* The counter at an offset in a controller's registers; -1: there is none */
int intel_imc_free_at(const IntelImcWindow *window, hwaddr at)
{
    int i;

    for (i = 0; i < INTEL_IMC_NFREE; i++) {
        if (window->free[i] && at >= window->free[i] &&
            at - window->free[i] < 8) {
            return i;
        }
    }
    return -1;
}

uint64_t intel_imc_free_read(IntelImcFreeRunning *free, unsigned i,
                             unsigned byte)
{
    uint64_t value = free->gone ? UINT64_MAX : free_counter(free, i);

    free->stat.reads++;
    if (free->dead && !--free->dead) {
        model_clock_set_stopped(&free->clk, false);
    }
    return value >> 8 * byte;
}

/* What the free-running counters of Ice Lake count, of what is on a channel */
static int free_of_event(const IntelImcEvent *event)
{
    switch (event->code) {
    case 0x04:
        return event->umask & 0x0f ? INTEL_IMC_FREE_READ : INTEL_IMC_FREE_WRITE;
    case 0xe3:
        return INTEL_IMC_FREE_PMM_READ;
    case 0xe7:
        return INTEL_IMC_FREE_PMM_WRITE;
    default:
        return -1;
    }
}

void intel_imc_free_event(IntelImcFreeRunning *free,
                          const IntelImcWindow *window,
                          const IntelImcEvent *event, uint64_t n)
{
    int i = free_of_event(event);

    if (i >= 0 && window->free[i] && !free->dead) {
        free->value[i] += n;
    }
}

static uint64_t get_free(PmuModel *model, unsigned arg)
{
    return free_counter(free_of(model), arg);
}

static bool set_free(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp)
{
    IntelImcFreeRunning *free = free_of(model);

    if (arg == INTEL_IMC_FREE_DCLK) {
        free->dclk = value - model_clock_ticks(&free->clk);
    } else {
        free->value[arg] = value;
    }
    return true;
}

static uint64_t get_dead(PmuModel *model, unsigned arg)
{
    return free_of(model)->dead;
}

static bool set_dead(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp)
{
    free_of(model)->dead = value;
    model_clock_set_stopped(&free_of(model)->clk, value);
    return true;
}

static uint64_t get_gone(PmuModel *model, unsigned arg)
{
    return free_of(model)->gone;
}

static bool set_gone(PmuModel *model, unsigned arg, uint64_t value,
                     Error **errp)
{
    free_of(model)->gone = value;
    return true;
}

#define FAULT_KEYS \
    { "dead", "so many more reads find all counters standing still", \
      UINT64_MAX, 0, get_dead, set_dead }, \
    { "gone", "1: nobody answers: all counters read ones", 1, 0, get_gone, \
      set_gone }

#define FREE_KEY(name, what, arg) \
    { name, what ", 48 bits", INTEL_IMC_COUNTER_MASK, arg, get_free, set_free }

/* Those of Ice Lake, and those of later ones */
static const PmuKey free_keys[] = {
    FREE_KEY("read", "lines read", INTEL_IMC_FREE_READ),
    FREE_KEY("write", "lines written", INTEL_IMC_FREE_WRITE),
    FREE_KEY("pmm_read", "lines read from persistent memory",
             INTEL_IMC_FREE_PMM_READ),
    FREE_KEY("pmm_write", "lines written to persistent memory",
             INTEL_IMC_FREE_PMM_WRITE),
    FREE_KEY("dclk", "clocks of the memory", INTEL_IMC_FREE_DCLK),
    FAULT_KEYS,
}, free_queue_keys[] = {
    FREE_KEY("rpq_cycles", "cycles of the read queue",
             INTEL_IMC_FREE_RPQ_CYCLES),
    FREE_KEY("wpq_cycles", "cycles of the write queue",
             INTEL_IMC_FREE_WPQ_CYCLES),
    FREE_KEY("dclk", "clocks of the memory", INTEL_IMC_FREE_DCLK),
    FAULT_KEYS,
};

void intel_imc_free_start(IntelImcFreeRunning *free,
                          const IntelImcWindow *window,
                          unsigned controller, unsigned socket, Error **errp)
{
    bool lines = window->free[INTEL_IMC_FREE_READ];

    model_clock_init(&free->clk, INTEL_IMC_DCLK_HZ, false);
    free->stat.name = "free";
    free->model = (PmuModel) {
        .name = g_strdup_printf("free%u@%u", controller, socket),
        .description = "free-running counters of a memory controller",
        .keys = lines ? free_keys : free_queue_keys,
        .nkeys = lines ? ARRAY_SIZE(free_keys) : ARRAY_SIZE(free_queue_keys),
        .stats = &free->stat,
        .nstats = 1,
    };
    pmu_registry_add(&free->model, errp);
}
