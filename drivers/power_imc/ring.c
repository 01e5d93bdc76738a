// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a ring that the hardware writes on its own. It wraps silently, without a write pointer.
 *
 * The slot before the one to be read next has the record that was taken last: as long as its
 * timebase is still there, the writer has not lapped the reader, and the next slot holds the next
 * record or has not been written yet. After a lap every slot holds a record that was not taken, and
 * the oldest is where the timebase steps back.
 *
 * A record whose timebase is ahead of the clock, as a guest's may be, would make all later records
 * look old. So it is taken for a bad one. Its slot is cleared, or it would be found again a lap
 * later.
 *
 * The writer goes back to slot 0 when LDBAR is written, which the kernel does after a deep sleep
 * of POWER9: then slot 0 is new while the next one is not. If it has come past the reader since,
 * that is no lap: the last slots are not new.
 *
 * Slot 0 is new, too, if more bad records in a row than are passed over hid the good ones after
 * them, up to the end of the ring. By then other tasks may have run, so these are no samples, but
 * lost, if no event started meanwhile.
 *
 * The writer goes on while no event needs records. These are passed over when the next event
 * starts.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#include <pmu/compat.h>

#include "ring.h"

/* So many bad records in a row are passed over, if there is a good one after them. */
#define POWER_IMC_RING_LOOKAHEAD	8

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
static __always_inline bool power_imc_ring_copy(const struct power_imc_ring *ring, u32 slot,
						struct power_imc_record *record)
{
	const struct power_imc_record *from = power_imc_ring_slot(ring, slot);

	record->tb_low = READ_ONCE(from->tb_low);
	dma_rmb();	/* pairs with the order in which the hardware writes */
	record->ip = READ_ONCE(from->ip);
	record->state = READ_ONCE(from->state);
	record->cpmc[0] = READ_ONCE(from->cpmc[0]);
	record->cpmc[1] = READ_ONCE(from->cpmc[1]);
	record->cpmc[2] = READ_ONCE(from->cpmc[2]);
	record->cpmc[3] = READ_ONCE(from->cpmc[3]);
	dma_rmb();	/* likewise */
	record->tb = READ_ONCE(from->tb);
	return (be64_to_cpu(record->tb) & POWER_IMC_RECORD_TB_LOW) == be64_to_cpu(record->tb_low);
}

/**
 * power_imc_ring_restart() - begin with an empty ring.
 * @ring: base, slots and the statistics are kept
 * @now: the timebase; records that were made earlier are ignored
 *
 * The writer is expected at slot 0, or where it left off. It must not be writing yet.
 *
 * Context: any.
 */
void power_imc_ring_restart(struct power_imc_ring *ring, u64 now)
{
	if (!ring->fresh)
		ring->left_off = ring->next;
	ring->next = 0;
	ring->behind = 0;
	ring->mark = 0;
	ring->newest = now;
	ring->restarted = now;
	ring->fresh = true;
	ring->gap = false;
	power_imc_ring_slot(ring, ring->left_off - 1)->tb = 0;
	power_imc_ring_slot(ring, ring->next - 1)->tb = 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ring_restart);

static void power_imc_ring_advance(struct power_imc_ring *ring, __be64 tb)
{
	ring->mark = tb;
	ring->next = (ring->next + 1) & (ring->slots - 1);
	if (ring->behind)
		ring->behind--;
}

/* Has the writer lapped the reader, before or after the next slot was copied? */
static bool power_imc_ring_lapped(const struct power_imc_ring *ring)
{
	dma_rmb();	/* in a lap, the slot before the next one is overwritten first */
	return !ring->behind &&
	       READ_ONCE(power_imc_ring_slot(ring, ring->next - 1)->tb) != ring->mark;
}

/* The oldest record of a full ring: from there on the timebase only rises. */
static u32 power_imc_ring_oldest(const struct power_imc_ring *ring)
{
	u64 first = power_imc_ring_tb(ring, ring->next);
	u32 low = 0, high = ring->slots;

	while (low + 1 < high) {
		u32 middle = (low + high) / 2;

		if (power_imc_ring_tb(ring, ring->next + middle) >= first)
			low = middle;
		else
			high = middle;
	}
	return (ring->next + high) & (ring->slots - 1);
}

/* The writer has come round: go on with the oldest record. */
static void power_imc_ring_recover(struct power_imc_ring *ring)
{
	u32 oldest = power_imc_ring_oldest(ring);
	u64 from = power_imc_ring_tb(ring, oldest);
	u64 end = power_imc_ring_tb(ring, oldest - 1), horizon = end;

	/* By now the writer may be past it: what it has overwritten is newer than the end. */
	for (u32 i = 0; i < ring->slots && from > end; i++) {
		horizon = from;
		from = power_imc_ring_tb(ring, ++oldest);
	}
	ring->next = oldest & (ring->slots - 1);
	ring->behind = ring->slots;
	ring->horizon = horizon;
	ring->interval = max((horizon - from) / (ring->slots - 1), 1ULL);
	ring->gap = true;
	ring->laps++;
}

/* How many records are missing before the one of @tb, by their distance. */
static u64 power_imc_ring_missing(const struct power_imc_ring *ring, u64 tb)
{
	u64 steps = div64_u64(tb - ring->newest + ring->interval / 2, ring->interval);

	return steps ? steps - 1 : 0;
}

/* The next slot has no good record. Is there one soon after it, before slot 0? */
static bool power_imc_ring_goes_on(const struct power_imc_ring *ring)
{
	u32 end = min(ring->next + 1 + POWER_IMC_RING_LOOKAHEAD, ring->slots);
	struct power_imc_record record;

	for (u32 slot = ring->next + 1; slot < end; slot++)
		if (power_imc_ring_copy(ring, slot, &record) &&
		    be64_to_cpu(record.tb) > ring->newest)
			return true;
	return false;
}

/*
 * After a restart the writer begins at slot 0, or goes on where it left off. Find which of the two
 * it wrote first. Returns false if it has written neither.
 */
static bool power_imc_ring_find_start(struct power_imc_ring *ring)
{
	u64 first, other = power_imc_ring_tb(ring, ring->left_off);

	/* A writer that began at slot 0 wrote that before it came to the other one. */
	dma_rmb();
	first = power_imc_ring_tb(ring, 0);
	if (first <= ring->restarted && other <= ring->restarted)
		return false;
	if (first <= ring->restarted || (other > ring->restarted && other < first))
		ring->next = ring->left_off;
	ring->fresh = false;
	return true;
}

/* Is slot 0 new? A bad record there that was passed over is not. */
static bool power_imc_ring_begins_again(const struct power_imc_ring *ring)
{
	struct power_imc_record record;

	return ring->next && power_imc_ring_copy(ring, 0, &record) &&
	       be64_to_cpu(record.tb) > ring->newest;
}

/* Did the writer come past the reader from slot 0, to which it went back, not by the ring's end? */
static bool power_imc_ring_went_back(const struct power_imc_ring *ring)
{
	dma_rmb();	/* in a lap, the last slots are overwritten before the mark */
	for (u32 slot = ring->slots - POWER_IMC_RING_LOOKAHEAD; slot < ring->slots; slot++)
		if (power_imc_ring_tb(ring, slot) > ring->newest)
			return false;
	return power_imc_ring_begins_again(ring);
}

/*
 * The writer has gone back to slot 0: so does the reader. What it has not taken up to the ring's
 * end is lost: if the writer came to slot 0 by that end, the good records on the way; otherwise the
 * last ones of before it went back, also those that it has overwritten since. Returns how many.
 *
 * From the end down, since the writer comes up: what it has written since slot 0 is no loss.
 */
static u64 power_imc_ring_go_back(struct power_imc_ring *ring)
{
	u64 first = power_imc_ring_tb(ring, 0), lost = 0;
	bool missed = false;
	u32 slot = ring->slots;

	/* If the writer is at the end already, that is told as a lap: the mark differs. */
	ring->mark = READ_ONCE(power_imc_ring_slot(ring, slot - 1)->tb);
	if (be64_to_cpu(ring->mark) >= first)
		ring->mark = 0;
	while (slot-- > ring->next) {
		u64 tb = power_imc_ring_tb(ring, slot);

		if (tb > ring->limit) {
			/* Or it would be found a lap later. */
			power_imc_ring_slot(ring, slot)->tb = 0;
			ring->corrupt++;
			lost++;
			continue;
		}
		if (tb >= first) {
			if (missed)
				lost += slot + 1 - ring->next;
			break;
		}
		missed = tb > ring->newest;
		lost += missed;
	}
	ring->next = 0;
	/* In a gap it is told by the timebase. */
	return ring->gap ? 0 : lost;
}

/*
 * Go past all records that are newer than @last, and a few bad ones among them. If the writer has
 * come round, the newest record may be anywhere. Records ahead of the clock are cleared, or they
 * would be found a lap later. Returns the newest timebase, or @last if none is newer.
 */
static u64 power_imc_ring_skip(struct power_imc_ring *ring, u64 last)
{
	bool round = ring->behind || power_imc_ring_lapped(ring);
	u32 start = ring->next, bad = 0;

	for (u32 i = 0; i < ring->slots && (round || bad <= POWER_IMC_RING_LOOKAHEAD); i++) {
		u64 tb = power_imc_ring_tb(ring, start + i);

		if (tb > ring->limit) {
			power_imc_ring_slot(ring, start + i)->tb = 0;
			/* Where all slots are records this one may be older than the newest. */
			if (round)
				continue;
		} else if (tb > last) {
			last = tb;
		} else {
			bad++;
			continue;
		}
		ring->next = (start + i + 1) & (ring->slots - 1);
		bad = 0;
	}
	return last;
}

/**
 * power_imc_ring_pass() - pass over all records that were made up to now.
 * @ring: the ring, with its limit set
 * @now: the timebase; records that are made later are taken
 *
 * A record that was made before, but is written only after this, is passed over when its turn
 * comes. This looks at the slots that were written since the last look and at a few more, or at
 * all slots if the writer has come round.
 *
 * Context: as power_imc_ring_take().
 * Return: whether there were any. If so, this may have taken long.
 */
bool power_imc_ring_pass(struct power_imc_ring *ring, u64 now)
{
	bool any = !power_imc_ring_is_quiet(ring) &&
		   (!ring->fresh || power_imc_ring_find_start(ring));
	u64 first, last = ring->newest;

	if (any) {
		last = power_imc_ring_skip(ring, last);
		first = power_imc_ring_tb(ring, 0);
		/* The writer may have gone back to slot 0 since. */
		if (first > last && first <= ring->limit) {
			ring->next = 0;
			ring->behind = 0;
			last = power_imc_ring_skip(ring, last);
		}
		ring->mark = READ_ONCE(power_imc_ring_slot(ring, ring->next - 1)->tb);
		ring->behind = 0;
	}
	ring->gap = false;
	ring->newest = max(now, last);
	return any;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ring_pass);

/* What the slot that is to be read next holds. */
enum power_imc_slot {
	POWER_IMC_SLOT_EMPTY, POWER_IMC_SLOT_RECORD, POWER_IMC_SLOT_AHEAD,
	POWER_IMC_SLOT_CORRUPT, POWER_IMC_SLOT_STALE, POWER_IMC_SLOT_MOVED,
	POWER_IMC_SLOT_BACK,		/* the writer has gone back to slot 0 */
};

/* Judge a whole record that was not taken yet. */
static enum power_imc_slot power_imc_ring_judge(const struct power_imc_ring *ring, u64 tb)
{
	return tb > ring->limit ? POWER_IMC_SLOT_AHEAD : POWER_IMC_SLOT_RECORD;
}

static enum power_imc_slot power_imc_ring_look(struct power_imc_ring *ring,
					       struct power_imc_record *record)
{
	bool whole = power_imc_ring_copy(ring, ring->next, record);
	u64 tb = be64_to_cpu(record->tb);
	bool on, again;

	if (power_imc_ring_lapped(ring) || (ring->behind && whole && tb > ring->horizon)) {
		if (!ring->behind && power_imc_ring_went_back(ring))
			return POWER_IMC_SLOT_BACK;
		power_imc_ring_recover(ring);
		return POWER_IMC_SLOT_MOVED;
	}
	if (whole && tb > ring->newest)
		return power_imc_ring_judge(ring, tb);
	if (ring->behind)
		return tb > ring->newest ? POWER_IMC_SLOT_CORRUPT : POWER_IMC_SLOT_STALE;
	on = power_imc_ring_goes_on(ring);
	again = power_imc_ring_begins_again(ring);
	if (on || again) {
		/* The slot may have been written after it was copied, and before those. */
		dma_rmb();
		whole = power_imc_ring_copy(ring, ring->next, record);
		tb = be64_to_cpu(record->tb);
		/* If the writer has come past meanwhile, those before it were not taken. */
		if (power_imc_ring_lapped(ring))
			return POWER_IMC_SLOT_MOVED;
		if (whole && tb > ring->newest)
			return power_imc_ring_judge(ring, tb);
	}
	/* The record was made before the event started, and written after that. */
	if (on && whole && tb > be64_to_cpu(ring->mark))
		return POWER_IMC_SLOT_STALE;
	if (on || (tb > ring->newest && again))
		return POWER_IMC_SLOT_CORRUPT;
	if (!again)
		return POWER_IMC_SLOT_EMPTY;
	return POWER_IMC_SLOT_BACK;
}

static void power_imc_ring_took(struct power_imc_ring *ring, const struct power_imc_record *record)
{
	ring->newest = be64_to_cpu(record->tb);
	ring->taken++;
	power_imc_ring_advance(ring, record->tb);
}

/*
 * Take the next slot's record in the usual case: the writer is ahead and has not come round, and
 * the record is whole and new. In any other case nothing is changed.
 */
static bool power_imc_ring_take_plain(struct power_imc_ring *ring, struct power_imc_record *record)
{
	if (ring->fresh || ring->behind || ring->gap ||
	    !power_imc_ring_copy(ring, ring->next, record) ||
	    be64_to_cpu(record->tb) <= ring->newest || be64_to_cpu(record->tb) > ring->limit ||
	    power_imc_ring_lapped(ring))
		return false;
	power_imc_ring_took(ring, record);
	return true;
}

static noinline bool power_imc_ring_take_any(struct power_imc_ring *ring,
					     struct power_imc_record *record, u64 *lost,
					     u32 *budget)
{
	enum power_imc_slot slot = POWER_IMC_SLOT_MOVED;

	if (ring->fresh && !power_imc_ring_find_start(ring))
		return false;
	while (*budget && slot != POWER_IMC_SLOT_RECORD && slot != POWER_IMC_SLOT_EMPTY) {
		(*budget)--;
		slot = power_imc_ring_look(ring, record);
		if (slot == POWER_IMC_SLOT_BACK)
			*lost += power_imc_ring_go_back(ring);
		if (slot == POWER_IMC_SLOT_AHEAD) {
			power_imc_ring_slot(ring, ring->next)->tb = 0;
			record->tb = 0;
			slot = POWER_IMC_SLOT_CORRUPT;
		}
		if (slot == POWER_IMC_SLOT_CORRUPT) {
			ring->corrupt++;
			if (!ring->gap)
				(*lost)++;
		}
		if (slot == POWER_IMC_SLOT_CORRUPT || slot == POWER_IMC_SLOT_STALE)
			power_imc_ring_advance(ring, record->tb);
	}
	if (slot == POWER_IMC_SLOT_RECORD) {
		if (ring->gap)
			*lost += power_imc_ring_missing(ring, be64_to_cpu(record->tb));
		ring->gap = false;
		power_imc_ring_took(ring, record);
	}
	ring->lost += *lost;
	return slot == POWER_IMC_SLOT_RECORD;
}

/**
 * power_imc_ring_take() - the next record.
 * @ring: the ring
 * @record: set to the record
 * @lost: set to the number of records before it that are lost: overwritten, which is estimated by
 *	the timebase, or corrupt, or hidden by many corrupt ones
 * @budget: how many slots to look at, at most; the slots looked at are subtracted, but not
 *	those up to the ring's end, if the writer has gone back to slot 0
 *
 * Records come in the order of their timebase, each once.
 *
 * Context: any, one caller at a time; the writer may be writing.
 * Return: whether there is a record. If not, @lost is set all the same, and if no @budget is left
 * there may be more records.
 */
bool power_imc_ring_take(struct power_imc_ring *ring, struct power_imc_record *record, u64 *lost,
			 u32 *budget)
{
	*lost = 0;
	if (*budget && power_imc_ring_take_plain(ring, record)) {
		(*budget)--;
		return true;
	}
	return power_imc_ring_take_any(ring, record, lost, budget);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ring_take);

/**
 * power_imc_ring_is_quiet() - a cheap check whether a ring has a new record.
 * @ring: the ring
 *
 * This loads three timebases without a barrier: of the next slot; of the slot after it, in case the
 * next one is corrupt; and of slot 0, to which the writer may have gone back.
 *
 * Context: as power_imc_ring_take().
 * Return: true if there seems to be none.
 */
bool power_imc_ring_is_quiet(const struct power_imc_ring *ring)
{
	return !ring->behind &&
	       power_imc_ring_tb(ring, ring->fresh ? ring->left_off : 0) <= ring->newest &&
	       power_imc_ring_tb(ring, ring->next) <= ring->newest &&
	       power_imc_ring_tb(ring, ring->next + 1) <= ring->newest;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ring_is_quiet);
