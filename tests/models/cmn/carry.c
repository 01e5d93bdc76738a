// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * No source says how long a carry takes, so a test sets it. All carries take
 * equally long, so they arrive in the order in which they left.
 */
#include "carry.h"

typedef struct Carry {
    int64_t arrives;
    unsigned index;
    uint64_t n;
} Carry;

static gint by_arrival(gconstpointer one, gconstpointer other, gpointer data)
{
    const Carry *a = one, *b = other;

    return a->arrives < b->arrives ? -1 : a->arrives > b->arrives;
}

static void wait_for_first(CmnCarries *carries)
{
    const Carry *first = g_queue_peek_head(&carries->under_way);

    if (first) {
        timer_mod(carries->arrival, first->arrives);
    } else {
        timer_del(carries->arrival);
    }
}

void cmn_carries_sync(CmnCarries *carries)
{
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    Carry *carry;

    while ((carry = g_queue_peek_head(&carries->under_way)) &&
           carry->arrives <= now) {
        g_queue_pop_head(&carries->under_way);
        carries->arrive(carries->opaque, carry->index, carry->n);
        g_free(carry);
    }
    wait_for_first(carries);
}

void cmn_carries_send(CmnCarries *carries, unsigned index, uint64_t n,
                      int64_t when)
{
    Carry *carry;

    if (!n) {
        return;
    }
    if (when + carries->delay <= qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL)) {
        carries->arrive(carries->opaque, index, n);
        return;
    }
    carry = g_new(Carry, 1);
    *carry = (Carry) { when + carries->delay, index, n };
    g_queue_insert_sorted(&carries->under_way, carry, by_arrival, NULL);
    wait_for_first(carries);
}

uint64_t cmn_carries_pending(const CmnCarries *carries)
{
    uint64_t n = 0;
    GList *item;

    for (item = carries->under_way.head; item; item = item->next) {
        n += ((const Carry *)item->data)->n;
    }
    return n;
}

void cmn_carries_reset(CmnCarries *carries)
{
    g_queue_clear_full(&carries->under_way, g_free);
    wait_for_first(carries);
}

static void carry_arrives(void *opaque)
{
    cmn_carries_sync(opaque);
}

void cmn_carries_init(CmnCarries *carries,
                      void (*arrive)(void *opaque, unsigned index, uint64_t n),
                      void *opaque)
{
    g_queue_init(&carries->under_way);
    carries->arrive = arrive;
    carries->opaque = opaque;
    carries->arrival = timer_new_ns(QEMU_CLOCK_VIRTUAL, carry_arrives,
                                    carries);
}
