/* SPDX-License-Identifier: GPL-2.0-only */
/* A thread's ring of trace records, and reading it. */
#ifndef POWER_IMC_RING_H
#define POWER_IMC_RING_H

#include <linux/bits.h>
#include <linux/types.h>

/* What the hardware writes, in address order, the last doubleword last. */
struct power_imc_record {
	__be64 tb;			/* timebase */
	__be64 ip;
	__be64 state;			/* on POWER10 MSR bits at the top, then the process */
	__be64 cpmc[4];
	__be64 tb_low;			/* the timebase's low 42 bits: the record is whole */
};

#define POWER_IMC_RECORD_TB_LOW	GENMASK_ULL(41, 0)
#define POWER_IMC_RECORD_HV	BIT_ULL(63)	/* POWER10 */
#define POWER_IMC_RECORD_PR	BIT_ULL(62)	/* POWER10 */

/**
 * struct power_imc_ring - the state of reading a ring.
 * @base: slot 0
 * @slots: number of slots, a power of two
 * @limit: no record's timebase can be beyond this one; set before records are taken
 * @taken: records taken so far
 * @lost: records that are lost: overwritten before they were taken, by their timebase, or corrupt,
 *	or behind more corrupt ones than are passed over
 * @corrupt: records that were damaged, or overwritten while they were read
 * @laps: how often the writer was found to have passed the reader
 *
 * The other members belong to ring.c.
 */
struct power_imc_ring {
	struct power_imc_record *base;
	u32 slots;
	u64 limit;
	u64 taken, lost, corrupt, laps;
	/* private: */
	u32 next;			/* the slot to be read */
	u32 left_off;			/* where the writer was before the restart, if fresh */
	u64 restarted;			/* timebase of that */
	u32 behind;			/* slots of the writer's last lap still to be read, or 0 */
	__be64 mark;			/* raw timebase of the slot before next, unless lapped */
	u64 newest;			/* timebase: only later records are wanted */
	u64 horizon;			/* timebase of the lap's newest record */
	u64 interval;			/* between records, in timebase ticks, in the lap */
	bool fresh;			/* where the writer began is not known yet */
	bool gap;			/* records were lost before the next one */
};

void power_imc_ring_restart(struct power_imc_ring *ring, u64 now);
bool power_imc_ring_pass(struct power_imc_ring *ring, u64 now);
bool power_imc_ring_take(struct power_imc_ring *ring, struct power_imc_record *record, u64 *lost,
			 u32 *budget);
bool power_imc_ring_is_quiet(const struct power_imc_ring *ring);

#endif /* POWER_IMC_RING_H */
