// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which records become samples: the statistics of a profile. In most cases a record is 250 counts of
 * 32 MHz, so 128 records are a millisecond.
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
#define SECOND		512000000ULL	/* ticks of the timebase */
#define STEP		4000		/* ticks between records */
#define COUNTS_PER_MS	32000
#define TRIES		2

static unsigned long seed;
module_param(seed, ulong, 0444);
MODULE_PARM_DESC(seed, "of what is random; 0: another one each time, which is printed");

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

static void thin_set(struct power_imc_trace_event *te, u64 step, u64 apart)
{
	const struct power_imc_ring ring = { .step = step, .apart = apart, .second = SECOND };

	power_imc_thin_set(te, &ring);
}

static struct power_imc_trace_event event_of(u64 period)
{
	struct power_imc_trace_event te = { .wanted = period };

	thin_set(&te, STEP, STEP);
	return te;
}

/* Of so many that each have the chance @part / @of. */
static bool within_sigmas(u64 got, u64 all, u64 part, u64 of, u64 sigmas)
{
	u64 off = max(got * of, all * part) - min(got * of, all * part);

	return off * off <= sigmas * sigmas * all * part * (of - part);
}

/* A period is as it was asked for, but no less than a record, and the chance is that of it. */
static void a_period_is_what_was_asked_for(struct kunit *test)
{
	static const struct { u64 step, wanted, period, chance; } rows[] = {
		{ STEP, 1, 250, POWER_IMC_THIN_ALL }, { STEP, 250, 250, POWER_IMC_THIN_ALL },
		{ STEP, 375, 375, (250ULL << 32) / 375 }, { STEP, 1000, 1000, 1ULL << 30 },
		{ STEP, 32000, 32000, (250ULL << 32) / 32000 },
		{ STEP, 250ULL << 50, 250ULL << 50, 0 },
		/* The rate that the kernel's document suggests. */
		{ 512 * STEP, 8000, 128000, POWER_IMC_THIN_ALL },
		{ 512 * STEP, 256000, 256000, 1ULL << 31 },
		/* A burst: hardware's records are no closer than 250 counts. */
		{ 1, 32000, 32000, (250ULL << 32) / 32000 }, { 8, 250, 250, POWER_IMC_THIN_ALL },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct power_imc_trace_event te = { .wanted = rows[i].wanted };

		thin_set(&te, rows[i].step, STEP);
		KUNIT_EXPECT_EQ_MSG(test, te.period, rows[i].period, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, te.chance, rows[i].chance, "row %u", i);
	}
}

/* As long as that is not known each record is a sample, and has the time since the one before, up to 4 ms. */
static void what_is_not_known_is_not_thinned(struct kunit *test)
{
	static const struct { u64 apart, period; } rows[] = {
		{ 0, 250 }, { 1, 250 }, { STEP, 250 }, { 2 * STEP, 500 }, { 512 * STEP, 128000 },
		{ 513 * STEP, 128000 }, { 1ULL << 63, 128000 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct power_imc_trace_event te = event_of(32000);

		thin_set(&te, 0, rows[i].apart);
		KUNIT_EXPECT_EQ_MSG(test, te.period, rows[i].period, "row %u", i);
		KUNIT_EXPECT_EQ_MSG(test, te.chance, POWER_IMC_THIN_ALL, "row %u", i);
	}
}

/* However often records come, there are no fewer samples in a second than were asked for, and hardly more. */
static void a_frequency_is_never_thinned_below(struct kunit *test)
{
	static const u64 steps[] = { STEP, 64 * STEP, 512 * STEP, 512 * STEP + 7 };
	static const u64 frequencies[] = { 1, 99, 250, 997, 1000, 4000, 100000, 128000, 1000000000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(steps) * ARRAY_SIZE(frequencies); i++) {
		u64 step = steps[i / ARRAY_SIZE(frequencies)], f = frequencies[i % ARRAY_SIZE(frequencies)];
		struct power_imc_trace_event te = { .wanted = f, .freq = true };
		u64 records = 1000 * SECOND / step, samples;

		thin_set(&te, step, STEP);
		samples = power_imc_thin_many(&te, records);
		KUNIT_EXPECT_GE_MSG(test, samples, min(1000 * f, records), "%llu, %llu Hz", step, f);
		KUNIT_EXPECT_LE_MSG(test, samples, 1080 * f, "%llu, %llu Hz", step, f);
		/* What a sample stands for follows. */
		KUNIT_EXPECT_LE_MSG(test, abs((s64)(samples * te.period - 32000000000ULL)), 640000000LL,
				    "%llu, %llu Hz", step, f);
	}
}

#define RECORDS		200000

/* Each record has the same chance, however short the task is, and so in all it is that. */
static void chances_are_as_asked_for(struct kunit *test)
{
	static const u64 periods[] = { 375, 500, 1300, 8000, 32000 };

	for (unsigned int i = 0; i < ARRAY_SIZE(periods); i++) {
		struct power_imc_trace_event te = event_of(periods[i]);
		u64 samples = 0;

		for (unsigned int n = 0; n < RECORDS; n++)
			samples += power_imc_thin_one(&te, &random);
		KUNIT_EXPECT_TRUE_MSG(test, within_sigmas(samples, RECORDS, RECORD, periods[i], 5),
				      "period %llu: %llu", periods[i], samples);
	}
}

#define SAMPLES		1000

/* How many samples a function has that is there for @part of each @of counts. */
static u64 samples_of_a_part(u64 period, u64 part, u64 of)
{
	struct power_imc_trace_event te = event_of(period);
	u64 at = random_below(of), samples = 0, hits = 0;

	while (samples < SAMPLES) {
		bool sample = power_imc_thin_one(&te, &random);

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

static struct kunit_case thin_cases[] = {
	KUNIT_CASE(a_period_is_what_was_asked_for),
	KUNIT_CASE(what_is_not_known_is_not_thinned),
	KUNIT_CASE(a_frequency_is_never_thinned_below),
	KUNIT_CASE(chances_are_as_asked_for),
	KUNIT_CASE(shares_are_right_in_lockstep),
	{ }
};

struct kunit_suite power_imc_thin_suite = {
	.name = "power_imc_thin", .init = thin_test_init, .test_cases = thin_cases,
};
