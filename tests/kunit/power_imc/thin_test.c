// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which records become samples: the statistics of a profile. A record is 250 counts of 32 MHz, so
 * 128 records are a millisecond.
 *
 * What is random differs in each run, and the seed is printed. Shares have to be within three sigma.
 * That fails by chance in one of 370 cases, so a share that is beyond is looked at again with other
 * random numbers, and must not be beyond twice: one in 137,000.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/random.h>

#include "power_imc/trace.h"
#include "suites.h"

#define RECORD		250
#define COUNTS_PER_S	32000000
#define COUNTS_PER_MS	32000
#define TRIES		2

static unsigned long seed;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of what is random; 0: another one each time, which is printed");

/* Whole numbers of records and others; some that are less than two. */
static const u64 periods[] = { 250, 375, 500, 1000, 1300, 8000, 32000, 32096 };

static struct rnd_state random;

static int thin_test_init(struct kunit *test)
{
	unsigned long this_seed = seed ?: get_random_u32();

	kunit_info(test, "seed=%lu\n", this_seed);
	prandom_seed_state(&random, this_seed);
	return 0;
}

static u64 random_below(u64 limit)
{
	return prandom_u32_state(&random) % limit;
}

static struct power_imc_trace_event event_of(u64 period)
{
	struct power_imc_trace_event te = { .period = period, .record = RECORD };

	power_imc_thin_begin(&te, prandom_u32_state(&random));
	return te;
}

static u64 sample_some(struct power_imc_trace_event *te, u64 records)
{
	u64 samples = 0;

	while (records--)
		samples += power_imc_thin_one(te);
	return samples;
}

/* Of so many that each have the chance @part / @of. */
static bool within_sigmas(u64 got, u64 all, u64 part, u64 of, u64 sigmas)
{
	u64 off = max(got * of, all * part) - min(got * of, all * part);

	return off * off <= sigmas * sigmas * all * part * (of - part);
}

/* A frequency is not that of a whole number of records, nor is a period. None is less than a record. */
static void the_period_is_what_was_asked_for(struct kunit *test)
{
	static const struct { u64 wanted; bool freq; u64 period; } rows[] = {
		{ 1, false, 250 }, { 250, false, 250 }, { 374, false, 374 }, { 1300, false, 1300 },
		{ 250ULL << 50, false, 250ULL << 50 }, { 1000000, true, 250 }, { 128000, true, 250 },
		{ 64000, true, 500 }, { 4000, true, 8000 }, { 1000, true, 32000 }, { 999, true, 32032 },
		{ 997, true, 32096 }, { 1, true, 32000000 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, power_imc_thin_period(rows[i].wanted, rows[i].freq, RECORD, COUNTS_PER_S),
				    rows[i].period, "%llu", rows[i].wanted);
}

/* After any number of records the samples' periods are the records' counts, to within one period. */
static void periods_sum_up_to_the_counts(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(periods); i++) {
		struct power_imc_trace_event te = event_of(periods[i]);
		u64 counted = 0, wrong = 0;

		for (u64 counts = RECORD; counts < 20 * COUNTS_PER_MS; counts += RECORD) {
			counted += power_imc_thin_one(&te) * te.period;
			wrong += counted + te.period <= counts || counted >= counts + te.period;
		}
		KUNIT_EXPECT_EQ_MSG(test, wrong, 0ULL, "period %llu", periods[i]);
	}
}

/* The same where they come in numbers, as those do that are lost, and be they very large. */
static void many_are_as_many_as_one_by_one(struct kunit *test)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(periods); i++) {
		struct power_imc_trace_event te = event_of(periods[i]);
		u64 records = 0, samples = 0, wrong = 0;

		for (unsigned int n = 0; n < 1000; n++) {
			u64 some = n % 100 ? random_below(1000) : 1ULL << 36;

			if (n % 2)
				samples += power_imc_thin_many(&te, some);
			else
				samples += sample_some(&te, some %= 1000);
			records += some;
			wrong += (samples + 1) * te.period <= records * RECORD ||
				 samples * te.period >= records * RECORD + te.period;
		}
		KUNIT_EXPECT_EQ_MSG(test, wrong, 0ULL, "period %llu", periods[i]);
	}
}

/* As many lost records as there can be. */
static void any_number_may_be_lost(struct kunit *test)
{
	struct power_imc_trace_event te = event_of(1300);
	u64 samples = power_imc_thin_many(&te, U64_MAX), expected = U64_MAX / 26 * 5;

	KUNIT_EXPECT_LE(test, expected - 1, samples);
	KUNIT_EXPECT_LE(test, samples, expected + 6);
}

#define STARTS		2000
#define LOOKS		100
#define MOST_RECORDS	32

/* Each record has the same chance, from the first one on, and after some were lost: all are within six sigma. */
static void chances_are_even(struct kunit *test)
{
	unsigned int *hits = kunit_kcalloc(test, LOOKS, sizeof(*hits), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hits);
	for (unsigned int i = 0; i < 2 * ARRAY_SIZE(periods); i++) {
		u64 period = periods[i / 2], lost = i % 2 ? 1001 : 0;

		if (period > MOST_RECORDS * RECORD)
			break;
		memset(hits, 0, LOOKS * sizeof(*hits));
		for (unsigned int n = 0; n < STARTS; n++) {
			struct power_imc_trace_event te = event_of(period);

			power_imc_thin_many(&te, lost);
			for (unsigned int k = 0; k < LOOKS; k++)
				hits[k] += power_imc_thin_one(&te);
		}
		for (unsigned int k = 0; k < LOOKS; k++)
			KUNIT_EXPECT_TRUE_MSG(test, within_sigmas(hits[k], STARTS, RECORD, period, 6),
					      "period %llu, record %llu: %u of %u", period, lost + k, hits[k],
					      STARTS);
	}
}

#define SAMPLES		1000

/* How many samples a function has that is there for @part of each @of counts. */
static u64 samples_of_a_part(u64 period, u64 part, u64 of)
{
	struct power_imc_trace_event te = event_of(period);
	u64 at = random_below(of), samples = 0, hits = 0;

	while (samples < SAMPLES) {
		bool sample = power_imc_thin_one(&te);

		samples += sample;
		hits += sample && at % of < part;
		at += RECORD;
	}
	return hits;
}

/*
 * A program that does the same again and again has its profile, whatever the time of a round: a
 * function with an eighth of it, one that runs in bursts, and one with an eighth of each burst of a
 * task that is traced only while it runs.
 */
static void shares_are_right_in_lockstep(struct kunit *test)
{
	static const struct { const char *what; u64 part, of; } rows[] = {
		{ "an eighth of 1 ms", COUNTS_PER_MS / 8, COUNTS_PER_MS },
		{ "an eighth of 4 ms", COUNTS_PER_MS / 2, 4 * COUNTS_PER_MS },
		{ "an eighth of 10 ms", 10 * COUNTS_PER_MS / 8, 10 * COUNTS_PER_MS },
		{ "200 us of 1 ms", COUNTS_PER_MS / 5, COUNTS_PER_MS },
		{ "2 ms of 10 ms", 2 * COUNTS_PER_MS, 10 * COUNTS_PER_MS },
		{ "an eighth of bursts of 200 us", COUNTS_PER_MS / 40, COUNTS_PER_MS / 5 },
		{ "an eighth of bursts of 2 ms", COUNTS_PER_MS / 4, 2 * COUNTS_PER_MS },
	};
	static const u64 thinned[] = { 1300, 8000, COUNTS_PER_MS, 32096 };

	for (unsigned int i = 0; i < ARRAY_SIZE(rows) * ARRAY_SIZE(thinned); i++) {
		u64 part = rows[i / ARRAY_SIZE(thinned)].part, of = rows[i / ARRAY_SIZE(thinned)].of;
		u64 period = thinned[i % ARRAY_SIZE(thinned)], hits;
		unsigned int tries = 0;

		do {
			hits = samples_of_a_part(period, part, of);
		} while (!within_sigmas(hits, SAMPLES, part, of, 3) && ++tries < TRIES);
		KUNIT_EXPECT_LT_MSG(test, tries, (unsigned int)TRIES, "%s, period %llu: %llu of %u",
				    rows[i / ARRAY_SIZE(thinned)].what, period, hits, SAMPLES);
	}
}

/* All samples of a task that has so many records on each CPU, where an event of its own waits for it. */
static u64 samples_of_a_journey(unsigned int cpus, u64 records, u64 period)
{
	u64 samples = 0;

	while (cpus--) {
		struct power_imc_trace_event te = event_of(period);

		samples += sample_some(&te, records);
	}
	return samples;
}

/*
 * A task that moves has its samples, although it is nowhere for as long as a period: here there is
 * one sample for 128 records. On each CPU it has one or none.
 */
static void tasks_that_move_are_seen(struct kunit *test)
{
	static const struct { unsigned int cpus; u64 records; } rows[] = { { 2, 120 }, { 176, 20 }, { 176, 1 } };
	const unsigned int journeys = 100;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned int tries = 0;
		u64 samples;

		do {
			samples = 0;
			for (unsigned int n = 0; n < journeys; n++)
				samples += samples_of_a_journey(rows[i].cpus, rows[i].records, COUNTS_PER_MS);
		} while (!within_sigmas(samples, journeys * rows[i].cpus, rows[i].records, 128, 3) &&
			 ++tries < TRIES);
		KUNIT_EXPECT_LT_MSG(test, tries, (unsigned int)TRIES,
				    "%u CPUs, %llu records each: %llu",
				    rows[i].cpus, rows[i].records, samples);
	}
}

static struct kunit_case thin_cases[] = {
	KUNIT_CASE(the_period_is_what_was_asked_for),
	KUNIT_CASE(periods_sum_up_to_the_counts),
	KUNIT_CASE(many_are_as_many_as_one_by_one),
	KUNIT_CASE(any_number_may_be_lost),
	KUNIT_CASE(chances_are_even),
	KUNIT_CASE(shares_are_right_in_lockstep),
	KUNIT_CASE(tasks_that_move_are_seen),
	{ }
};

struct kunit_suite power_imc_thin_suite = {
	.name = "power_imc_thin", .init = thin_test_init, .test_cases = thin_cases,
};
