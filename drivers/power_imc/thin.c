// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which records become samples, for an event that is to have fewer than all: each by chance. Every
 * Nth record would be in step with a program that does the same thing again and again: the records,
 * the timebase and so the kernel's timers come from one oscillator.
 *
 * No source says for certain how often records come, so the chance follows from their distance as
 * it was measured. Until that is known, all records are samples, each of the time since the one
 * before: otherwise the beginning of a profile would have a weight of its own.
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
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_wanted);

static u64 power_imc_thin_counts(u64 ticks, u64 second)
{
	return div64_u64(ticks * POWER_IMC_TRACE_CLOCK_HZ + second / 2, second);
}

/*
 * Set an event's chance and period by the distance of records: @step ticks, or 0 if that is not
 * known. @second is the number of ticks in a second. A measurement may be a little too small, so an
 * event with a frequency gets a sixteenth more than it asks for, rather than less. Records of a
 * burst may be closer to each other than hardware's, which does not make those after them any
 * fewer.
 */
void power_imc_thin_set(struct power_imc_trace_event *te, u64 step, u64 second)
{
	u64 record = step ? max(power_imc_thin_counts(step, second), POWER_IMC_TRACE_LOAD) : 0;
	u64 wanted = power_imc_thin_wanted(te->wanted, te->freq);

	if (te->freq)
		wanted -= wanted / 16;
	te->period = max(wanted, record);
	te->chance = record && record < wanted ? div64_u64(record << 32, wanted) :
						 POWER_IMC_THIN_ALL;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_set);

/*
 * While the distance of records is not known each is a sample, of @apart ticks since the one
 * before.
 */
void power_imc_thin_none(struct power_imc_trace_event *te, u64 apart, u64 second)
{
	te->period = clamp(power_imc_thin_counts(min(apart, second), second), POWER_IMC_TRACE_LOAD,
			   POWER_IMC_TRACE_LOAD * POWER_IMC_TRACE_PRESCALE);
	te->chance = POWER_IMC_THIN_ALL;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_none);

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
