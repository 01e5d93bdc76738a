// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which records become samples, for an event that is to have fewer than all: each by chance. Every
 * Nth one would be in step with a program that does the same thing again and again: records and the
 * kernel's timers come from one oscillator. The chance follows from the measured distance of
 * records. Until that is known each is a sample, of the shortest time between two: otherwise the
 * beginning of a profile would have a weight of its own, or idle time that of work.
 */
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/prandom.h>

#include <pmu/compat.h>

#include "trace.h"

/* The period in counts that attr.sample_period, or attr.sample_freq, asks for. */
u64 power_imc_thin_wanted(u64 wanted, bool freq)
{
	return max(freq ? div64_u64(POWER_IMC_TRACE_CLOCK_HZ, wanted) : wanted, 1ULL);
}

/*
 * Set an event's chance and period by the distance of a ring's records, of which one was taken. A
 * measurement may be a little too small, so an event with a frequency gets a sixteenth more than it
 * asks for, rather than less. Records of a burst may be closer to each other than hardware's, which
 * does not make those after them any fewer.
 */
void power_imc_thin_set(struct power_imc_trace_event *te, const struct power_imc_ring *ring)
{
	u64 step = power_imc_ring_step(ring), ticks = step ?: min(ring->apart, ring->second);
	u64 wanted = power_imc_thin_wanted(te->wanted, te->freq);
	u64 record = max(div64_u64(ticks * POWER_IMC_TRACE_CLOCK_HZ + ring->second / 2,
				   ring->second), POWER_IMC_TRACE_LOAD);

	if (te->freq)
		wanted -= wanted / 16;
	if (!step) {
		record = min(record, POWER_IMC_TRACE_LOAD * POWER_IMC_TRACE_PRESCALE);
		wanted = record;
	}
	te->period = max(wanted, record);
	te->chance = record < wanted ? div64_u64(record << 32, wanted) : POWER_IMC_THIN_ALL;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_set);

/* Is the next record a sample of an event? Interrupts are off. */
bool power_imc_thin_one(const struct power_imc_trace_event *te, struct rnd_state *random)
{
	return te->chance >= POWER_IMC_THIN_ALL || prandom_u32_state(random) < te->chance;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_one);

/* How many of some lost records would have been samples? Rounded down. */
u64 power_imc_thin_many(const struct power_imc_trace_event *te, u64 records)
{
	return mul_u64_u64_shr(records, te->chance, 32);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_many);
