// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes arrive in their order. How long they may take no manual says.
 */
#include "bus.h"

typedef struct PostedWrite {
    int64_t arrives;
    uint64_t addr;
    uint64_t mask;
    uint64_t value;
} PostedWrite;

/* Let the posted writes arrive that are due by @time */
static void arrive_until(CmnBus *bus, int64_t time)
{
    PostedWrite *first;

    while ((first = g_queue_peek_head(&bus->posted)) &&
           first->arrives <= time) {
        g_queue_pop_head(&bus->posted);
        bus->write(bus->opaque, first->addr, first->mask, first->value);
        g_free(first);
    }
    if (first) {
        timer_mod(bus->arrival, first->arrives);
    } else {
        timer_del(bus->arrival);
    }
}

void cmn_bus_push(CmnBus *bus)
{
    arrive_until(bus, INT64_MAX);
}

void cmn_bus_write(CmnBus *bus, uint64_t addr, uint64_t mask, uint64_t value)
{
    PostedWrite *posted;

    if (!bus->delay) {
        cmn_bus_push(bus);
        bus->write(bus->opaque, addr, mask, value);
        return;
    }
    posted = g_new(PostedWrite, 1);
    *posted = (PostedWrite) {
        qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + bus->delay, addr, mask, value,
    };
    g_queue_push_tail(&bus->posted, posted);
    arrive_until(bus, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
}

void cmn_bus_arrive(CmnBus *bus)
{
    arrive_until(bus, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
}

static void write_arrives(void *opaque)
{
    cmn_bus_arrive(opaque);
}

void cmn_bus_init(CmnBus *bus, void (*write)(void *opaque, uint64_t addr,
                                             uint64_t mask, uint64_t value),
                  void *opaque)
{
    g_queue_init(&bus->posted);
    bus->write = write;
    bus->opaque = opaque;
    bus->arrival = timer_new_ns(QEMU_CLOCK_VIRTUAL, write_arrives, bus);
}
