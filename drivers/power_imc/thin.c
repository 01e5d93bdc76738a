// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which records become samples, for an event that is to have fewer than all.
 *
 * Every Nth record would be in step with a program that does the same thing again and again: the
 * records, the timebase and so the kernel's timers come from one oscillator. So an event's counts
 * are cut into windows of a period, one count of each window is drawn at random, and the record
 * that has this count is the window's sample. All records have the same chance, from the first one
 * on. After any number of records, the periods of the samples are the counts to within a window.
 *
 * A period need not be a whole number of records, so a window may begin inside a record. Such a
 * record has a part of its chance in each of two windows, but is never a sample of both.
 */
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/prandom.h>

#include <pmu/compat.h>

#include "trace.h"

/**
 * power_imc_thin_period() - the period of an event's samples, in counts.
 * @wanted: attr.sample_period, or attr.sample_freq in samples per second
 * @freq: which of the two
 * @record: counts to a record
 * @rate: counts per second
 *
 * Return: what is wanted, but no less than a record.
 */
u64 power_imc_thin_period(u64 wanted, bool freq, u64 record, u64 rate)
{
	return max(freq ? DIV64_U64_ROUND_CLOSEST(rate, wanted) : wanted, record);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_period);

static u64 power_imc_thin_below(struct power_imc_trace_event *te, u64 limit)
{
	u64 random = (u64)prandom_u32_state(&te->random) << 32 | prandom_u32_state(&te->random);

	return mul_u64_u64_shr(random, limit, 64);
}

/*
 * Draw a count of the next window. The window begins te->rest counts after the record that was
 * looked at last, and the result is counted from there as well. If te->rest is negative, the
 * window begins in that record, which is the sample of the window before, and so has no chance any
 * more.
 *
 * Of the record in which the window begins, @before counts belong to the window before, and @part
 * to this one. So its chance to be drawn here has to be part / period in all. It can be drawn only
 * if the window before did not, with a chance of 1 - before / period. The quotient of the two,
 * part / (period - before), is its chance then.
 */
static u64 power_imc_thin_draw(struct power_imc_trace_event *te)
{
	u64 before, part;

	if (te->rest < 0)
		return power_imc_thin_below(te, te->period + te->rest);
	before = te->rest % te->record;
	part = te->record - before;
	if (power_imc_thin_below(te, te->period - before) < part)
		return te->rest;
	return te->rest + part + power_imc_thin_below(te, te->period - part);
}

/* The record that has a count, as power_imc_thin_draw() returns it, is the next sample. */
static void power_imc_thin_set(struct power_imc_trace_event *te, u64 count)
{
	te->skip = count / te->record;
	te->rest += te->period - (te->skip + 1) * te->record;
}

/* Draw the sample of the next window. */
void power_imc_thin_next(struct power_imc_trace_event *te)
{
	power_imc_thin_set(te, power_imc_thin_draw(te));
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_next);

/**
 * power_imc_thin_begin() - start thinning: the next record is an event's first one.
 * @te: the event; its period and record are set
 * @seed: for the random numbers
 *
 * Context: any, like the other functions here; one caller for an event at a time.
 */
void power_imc_thin_begin(struct power_imc_trace_event *te, u64 seed)
{
	te->rest = 0;
	prandom_seed_state(&te->random, seed);
	power_imc_thin_next(te);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_begin);

/*
 * After a sample, skip all windows that end within some records, and draw from the next window.
 * Returns the number of windows, and sets @records to what is left. The record in which the next
 * window begins is among those that are skipped, so it does not matter that it may be drawn twice.
 */
static u64 power_imc_thin_pass(struct power_imc_trace_event *te, u64 *records)
{
	s64 counts = min(*records, S64_MAX / te->record - 1) * te->record;
	u64 windows = counts < te->rest ? 0 : (counts - te->rest) / te->period, passed;

	if (!windows) {
		power_imc_thin_next(te);
		return 0;
	}
	te->rest += windows * te->period;
	passed = te->rest / te->record;
	te->rest -= passed * te->record;
	*records -= passed;
	power_imc_thin_set(te, te->rest + power_imc_thin_below(te, te->period));
	return windows;
}

/**
 * power_imc_thin_many() - pass over some records of an event.
 * @te: the event; its position moves on
 * @records: number of records
 *
 * This does what power_imc_thin_one() does for each of them, in a time that does not depend on
 * their number.
 *
 * Return: how many of the records are samples.
 */
u64 power_imc_thin_many(struct power_imc_trace_event *te, u64 records)
{
	u64 samples = 0;

	while (records > te->skip) {
		records -= te->skip + 1;
		samples += 1 + power_imc_thin_pass(te, &records);
	}
	te->skip -= records;
	return samples;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin_many);
