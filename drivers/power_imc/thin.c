// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which records become samples, for an event that is to have fewer than all: each by chance. Every
 * Nth record would be in step with a program that does the same thing again and again: the records,
 * the timebase and so the kernel's timers come from one oscillator.
 *
 * No source says for certain how often records come, so the chance follows from their distance as
 * it was measured. Until that is known, all records are samples.
 */
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/prandom.h>

#include <pmu/compat.h>

#include "trace.h"

/* The period that an event asks for, in counts: attr.sample_period, or by attr.sample_freq. */
u64 power_imc_thin_wanted(u64 wanted, bool freq)
{
	return max(freq ? div64_u64(POWER_IMC_TRACE_CLOCK_HZ, wanted) : wanted, 1ULL);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_wanted);

/**
 * power_imc_thin_set() - set an event's chance and period by the distance of records.
 * @te: the event; wanted and freq are set
 * @step: ticks between records, or 0: not known
 * @second: ticks in a second
 *
 * A measurement may be a little too small. So an event with a frequency gets a sixteenth more than
 * it asks for, rather than less.
 */
void power_imc_thin_set(struct power_imc_trace_event *te, u64 step, u64 second)
{
	u64 record = div64_u64(step * POWER_IMC_TRACE_CLOCK_HZ + second / 2, second);
	u64 wanted = power_imc_thin_wanted(te->wanted, te->freq);

	if (te->freq)
		wanted -= wanted / 16;
	te->period = max(wanted, record);
	te->chance = record && record < wanted ? div64_u64(record << 32, wanted) :
						 POWER_IMC_THIN_ALL;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_set);

/* Is the next record a sample of the event? */
bool power_imc_thin_one(const struct power_imc_trace_event *te, struct rnd_state *random)
{
	return te->chance >= POWER_IMC_THIN_ALL || prandom_u32_state(random) < te->chance;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_one);

/* How many of some records that are lost would have been samples? */
u64 power_imc_thin_many(const struct power_imc_trace_event *te, u64 records)
{
	return mul_u64_u64_shr(records, te->chance, 32);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_many);
