// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a ring that the hardware writes on its own. It wraps silently, without a write pointer.
 *
 * A slot whose timebase is not 0 has a new record, whatever its clock: the ring is cleared before
 * the hardware writes to it, and so is the timebase of each record that is taken. If the slot
 * before the next one is not 0, the writer has come past the reader. Then the reader goes on behind
 * the newest record, and the records' own clock tells how many are lost.
 *
 * The writer goes back to slot 0 when LDBAR is written: then slot 0 is new, and the next one is
 * not. It goes on while no event needs records. These are passed over when the next event starts.
 */
#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#include <pmu/compat.h>

#include "ring.h"

/* The distance of records is measured over so many. */
#define POWER_IMC_RING_MEASURE	32

static struct power_imc_record *power_imc_ring_slot(const struct power_imc_ring *ring, u32 slot)
{
	return &ring->base[slot & (ring->slots - 1)];
}

static u64 power_imc_ring_tb(const struct power_imc_ring *ring, u32 slot)
{
	return be64_to_cpu(READ_ONCE(power_imc_ring_slot(ring, slot)->tb));
}

/*
 * Copy a slot. Returns whether it is a whole record. The last word is read first and the first one
 * last: if they belong together, nothing in between has changed meanwhile.
 */
static bool power_imc_ring_copy(const struct power_imc_ring *ring, u32 slot,
				struct power_imc_record *record)
{
	const struct power_imc_record *from = power_imc_ring_slot(ring, slot);

	record->tb_low = READ_ONCE(from->tb_low);
	dma_rmb();	/* pairs with the order in which the hardware writes */
	record->ip = READ_ONCE(from->ip);
	record->state = READ_ONCE(from->state);
	for (unsigned int i = 0; i < ARRAY_SIZE(record->cpmc); i++)
		record->cpmc[i] = READ_ONCE(from->cpmc[i]);
	dma_rmb();	/* likewise */
	record->tb = READ_ONCE(from->tb);
	return record->tb &&
	       (be64_to_cpu(record->tb) & POWER_IMC_RECORD_TB_LOW) == be64_to_cpu(record->tb_low);
}

/* Mark a slot as read, unless the hardware has just written it again. */
static bool power_imc_ring_free(const struct power_imc_ring *ring, u32 slot, __be64 tb)
{
	u64 old = (__force u64)tb;

	return cmpxchg_relaxed((__force u64 *)&power_imc_ring_slot(ring, slot)->tb, old, 0) == old;
}

/* Is a record of another clock: is it more than a second from this CPU's? */
bool power_imc_ring_is_foreign(const struct power_imc_ring *ring, u64 tb, u64 now)
{
	return now - tb + ring->second > 2 * ring->second;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ring_is_foreign);

/* Ticks between records, as this ring has measured them, or any other; 0: not known. */
u64 power_imc_ring_step(const struct power_imc_ring *ring)
{
	return ring->step ?: ring->known ? READ_ONCE(*ring->known) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ring_step);

/*
 * The distance of records is a mean, since it varies with an emulator. So a smaller one is believed
 * at once, and a larger one little by little. In idle there may be none, so that ends it.
 */
static void power_imc_ring_measure(struct power_imc_ring *ring, u64 tb, bool foreign)
{
	u64 step;

	if (!ring->measured || ring->gaps || tb <= ring->last || foreign) {
		ring->gaps = false;
		ring->since = tb;
		ring->measured = !foreign;
		return;
	}
	if (++ring->measured <= POWER_IMC_RING_MEASURE)
		return;
	step = clamp((tb - ring->since) / POWER_IMC_RING_MEASURE, 1ULL, ring->second);
	ring->step = ring->step ? min(step, ring->step + ring->step / 8 + 1) : step;
	/* All CPUs share it, so it is written only when it is off. */
	if (ring->known && READ_ONCE(*ring->known) - ring->step + ring->step / 8 > ring->step / 4)
		WRITE_ONCE(*ring->known, ring->step);
	ring->since = tb;
	ring->measured = 1;
}

/* Has the writer come past the reader, before or after the next slot was copied? */
static bool power_imc_ring_lapped(const struct power_imc_ring *ring)
{
	dma_rmb();	/* in a lap, the slot before the next one is overwritten first */
	return power_imc_ring_tb(ring, ring->next - 1);
}

/* Go on behind the newest record. Returns how many are lost, if records come evenly. */
static u64 power_imc_ring_skip(struct power_imc_ring *ring)
{
	u64 tb, before = 0, newest = 0, step = U64_MAX, lost = ring->slots;
	u32 at = 0;

	for (u32 slot = 0; slot < ring->slots; slot++, before = tb) {
		tb = power_imc_ring_tb(ring, slot);
		if (before && tb > before)
			step = min(step, tb - before);
		if (tb > newest) {
			newest = tb;
			at = slot;
		}
	}
	/* What is newer was written meanwhile, and comes next. */
	for (u32 i = 1; i <= ring->slots; i++) {
		tb = power_imc_ring_tb(ring, at + i);
		if (tb <= newest)
			power_imc_ring_free(ring, at + i, cpu_to_be64(tb));
	}
	if (ring->last && newest > ring->last && step != U64_MAX)
		lost = div64_u64(newest - ring->last + step / 2, step);
	ring->next = (at + 1) & (ring->slots - 1);
	ring->last = newest;
	ring->measured = 0;
	ring->stats.laps++;
	return lost;
}

/*
 * The next slot has no whole record: is there one elsewhere? @sure: the slot was looked at once
 * more after that one was seen. Returns false if the next slot has yet to be written.
 *
 * A record that was under way when the engine stopped may never be completed, and the writer may go
 * on behind it. If its timebase would have been written last, the slot is still empty.
 */
static bool power_imc_ring_go_on(struct power_imc_ring *ring, __be64 tb, bool sure, u64 *lost)
{
	bool behind = power_imc_ring_tb(ring, ring->next + 1);
	bool back = ring->next && power_imc_ring_tb(ring, 0);

	if (!behind && !back)
		return false;
	dma_rmb();	/* the writer came to that one later than to the next slot */
	if (!sure)
		return true;
	if (tb) {
		power_imc_ring_free(ring, ring->next, tb);
		ring->stats.corrupt++;
		(*lost)++;
	}
	ring->next = behind ? (ring->next + 1) & (ring->slots - 1) : 0;
	ring->measured = 0;
	return true;
}

/*
 * Take the next record. Each comes once, in the order in which they were written. @now is this
 * CPU's timebase; @lost is set to the number of lost records before it, also if there is none. Any
 * context, one caller at a time; the writer may be writing.
 */
bool power_imc_ring_take(struct power_imc_ring *ring, struct power_imc_record *record, u64 now,
			 u64 *lost)
{
	u64 tb, first = ring->last ? 0 : power_imc_ring_tb(ring, 0) ?: power_imc_ring_tb(ring, 1);
	bool whole, foreign, sure = false;

	*lost = 0;
	/* The ring was cleared: the writer began at slot 0, or came to it from the next one. */
	if (first && power_imc_ring_tb(ring, ring->next) - 1 >= first)
		ring->next = 0;
	do {
		whole = power_imc_ring_copy(ring, ring->next, record);
		if ((record->tb && power_imc_ring_lapped(ring)) ||
		    (whole && !power_imc_ring_free(ring, ring->next, record->tb))) {
			*lost += power_imc_ring_skip(ring);
			whole = false;
			sure = false;
		} else if (!whole) {
			if (!power_imc_ring_go_on(ring, record->tb, sure, lost))
				break;
			sure = !sure;
		}
	} while (!whole);
	ring->stats.lost += *lost;
	if (!whole)
		return false;
	tb = be64_to_cpu(record->tb);
	foreign = power_imc_ring_is_foreign(ring, tb, now);
	power_imc_ring_measure(ring, tb, foreign);
	if (ring->last && tb > ring->last && !foreign)
		ring->apart = min_not_zero(ring->apart, tb - ring->last);
	ring->last = tb;
	ring->next = (ring->next + 1) & (ring->slots - 1);
	ring->stats.taken++;
	ring->stats.foreign += foreign;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ring_take);

/*
 * Pass over all records that were made up to now; they are not in the statistics. May take as long
 * as a whole ring does.
 */
void power_imc_ring_pass(struct power_imc_ring *ring, u64 now)
{
	const struct power_imc_ring_stats stats = ring->stats;
	struct power_imc_record record;
	bool gaps = ring->gaps;
	u64 lost;

	while (!power_imc_ring_is_quiet(ring) && power_imc_ring_take(ring, &record, now, &lost))
		ring->gaps = gaps;
	ring->stats = stats;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ring_pass);

/*
 * Begin with an empty ring. The writer, which must not be writing yet, may begin at slot 0 or go on
 * where it left off.
 */
void power_imc_ring_clear(struct power_imc_ring *ring, u64 now)
{
	struct power_imc_record *end = ring->base + ring->slots;

	power_imc_ring_pass(ring, now);
	for (struct power_imc_record *slot = ring->base; slot < end; slot++)
		slot->tb = 0;
	ring->step = 0;
	ring->apart = 0;
	ring->measured = 0;
	ring->last = 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ring_clear);

/*
 * Is there no new record, it seems? Loads timebases without a barrier: of the next slot, of slot 0,
 * to which the writer may have gone back, and of those behind, since either may have been left
 * empty. If they are 0, power_imc_ring_take() finds nothing and changes nothing.
 */
bool power_imc_ring_is_quiet(const struct power_imc_ring *ring)
{
	return !power_imc_ring_tb(ring, ring->next) && !power_imc_ring_tb(ring, ring->next + 1) &&
	       !power_imc_ring_tb(ring, 0) && (ring->last || !power_imc_ring_tb(ring, 1));
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ring_is_quiet);
