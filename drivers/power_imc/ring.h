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

struct power_imc_ring_stats {
	u64 taken;			/* records */
	u64 lost;			/* overwritten before, by their timebase, or damaged */
	u64 corrupt;			/* damaged */
	u64 laps;			/* how often the writer had come past the reader */
	u64 foreign;			/* records more than a second from this CPU's timebase */
};

struct power_imc_ring {
	struct power_imc_record *base;	/* slot 0 */
	u32 slots;			/* a power of two */
	u64 second;			/* timebase ticks in a second */
	u64 step;			/* ticks between records, as measured; 0: not known */
	u64 apart;			/* the fewest ticks between two, or 0: not known */
	u64 *known;			/* the step that any ring has measured last; or NULL */
	bool gaps;			/* idle time lies between records yet to be taken */
	struct power_imc_ring_stats stats;
	/* Of ring.c: */
	u32 next;			/* the slot to be read */
	u32 measured;			/* records of the present measurement */
	u64 since;			/* timebase of its first record */
	u64 last;			/* timebase of the record taken last, or 0 */
};

u64 power_imc_ring_step(const struct power_imc_ring *ring);
bool power_imc_ring_is_foreign(const struct power_imc_ring *ring, u64 tb, u64 now);
bool power_imc_ring_take(struct power_imc_ring *ring, struct power_imc_record *record, u64 now,
			 u64 *lost);
void power_imc_ring_pass(struct power_imc_ring *ring, u64 now);
void power_imc_ring_clear(struct power_imc_ring *ring, u64 now);
bool power_imc_ring_is_quiet(const struct power_imc_ring *ring);

#endif /* POWER_IMC_RING_H */
