// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace records of POWER in-memory collection: the hardware begins to write at each load of the reader in turn, an
 * eighth of a record a load, or one, or two. Each record is taken, or told as lost.
 *
 * The reader is the driver's own code, compiled once more under other names: here a load lets the hardware write.
 */
#define power_imc_ring_clear		raced_clear
#define power_imc_ring_is_foreign	raced_is_foreign
#define power_imc_ring_pass		raced_pass
#define power_imc_ring_take		raced_take
#define power_imc_ring_is_quiet		raced_is_quiet

#include <kunit/test.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <asm/barrier.h>
#include <asm/byteorder.h>

#include <pmu/compat.h>

#include "power_imc/ring.h"
#include "records.h"
#include "suites.h"

#define SLOTS			16
#define DOUBLEWORDS		(sizeof(struct power_imc_record) / sizeof(__be64))
#define LOADS			100	/* of a drain: those after them are of the same kinds */

/* What a drain finds when it begins, and what is written while it goes on. */
struct race {
	bool back;			/* the hardware has gone back to slot 0 before */
	unsigned int before;		/* how many records it has written since the last drain */
	unsigned int first;		/* the load at which it begins to write more */
	unsigned int at_a_load;		/* how many doublewords it writes at each load */
	unsigned int records;		/* how many records it writes in all */
};

static struct hardware {
	struct writer *w;
	struct power_imc_record record;	/* the one that it is writing */
	unsigned int part;		/* how many doublewords of that are written */
	unsigned int loads;		/* how many there were in this drain */
	unsigned int first, at_a_load;	/* of the race */
	unsigned int doublewords;	/* still to be written in this drain */
} hardware;

static void write_doublewords(unsigned int count)
{
	struct writer *w = hardware.w;

	while (count--) {
		unsigned int slot = w->head % SLOTS;

		if (!hardware.part) {
			w->tb += w->step;
			hardware.record = record_of(w->tb, w->tb, 0);
		}
		((__be64 *)&w->slots[slot])[hardware.part] = ((__be64 *)&hardware.record)[hardware.part];
		hardware.part = (hardware.part + 1) % DOUBLEWORDS;
		w->head += !hardware.part;
	}
}

static void a_load(void)
{
	unsigned int count = min(hardware.doublewords, hardware.at_a_load);

	if (hardware.loads++ < hardware.first || !count)
		return;
	hardware.doublewords -= count;
	write_doublewords(count);
}

#undef EXPORT_SYMBOL_IF_KUNIT
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#undef READ_ONCE
#define READ_ONCE(x)	({ a_load(); __READ_ONCE(x); })
#include "power_imc/ring.c"

/* Take all there is; w->lost is the sum so far. */
static unsigned int drain(struct kunit *test, struct writer *w)
{
	struct power_imc_record record;
	unsigned int taken = 0;
	u64 last = 0, lost;

	for (; power_imc_ring_take(&w->ring, &record, w->tb, &lost); taken++) {
		KUNIT_EXPECT_GT(test, be64_to_cpu(record.tb), last);
		KUNIT_EXPECT_EQ(test, be64_to_cpu(record.ip), be64_to_cpu(record.tb));
		last = be64_to_cpu(record.tb);
		w->lost += lost;
	}
	w->lost += lost;
	return taken;
}

/* One race. Returns whether the drain had a load that the hardware was to begin at. */
static bool run(struct kunit *test, struct writer *w, const struct race *race)
{
	unsigned int taken = 0;
	u64 made, told;

	memset(w->slots, 0, SLOTS * sizeof(*w->slots));
	w->ring = (struct power_imc_ring){ .base = w->slots, .slots = SLOTS, .second = SECOND };
	w->head = 0;
	w->tb = R1_TB;
	w->lost = 0;
	hardware = (struct hardware){ .w = w };

	write_doublewords(5 * DOUBLEWORDS);
	taken += drain(test, w);
	if (race->back)
		w->head = 0;
	write_doublewords(race->before * DOUBLEWORDS);

	hardware.loads = 0;
	hardware.first = race->first;
	hardware.at_a_load = race->at_a_load;
	hardware.doublewords = race->records * DOUBLEWORDS;
	taken += drain(test, w);
	if (hardware.loads <= race->first)
		return false;

	write_doublewords(hardware.doublewords);
	hardware.doublewords = 0;
	for (unsigned int i = 0; i < 4; i++) {
		taken += drain(test, w);
		write_doublewords(SLOTS / 2 * DOUBLEWORDS);
	}
	taken += drain(test, w);

	made = (w->tb - R1_TB) / w->step;
	told = taken + w->lost;
	/* What was found half written, and then lost in a lap, may be told twice. */
	if (told < made || told > made + w->ring.stats.corrupt)
		KUNIT_FAIL(test, "%u, then %u from load %u by %u: %llu made, %u taken, %llu lost",
			   race->before, race->records, race->first, race->at_a_load, made,
			   taken, w->lost);
	return true;
}

/* Each way to write, after so many records before. */
static void run_at_each_load(struct kunit *test, bool back, const unsigned int (*before)[3])
{
	static const unsigned int records[] = { 1, 3, 8 };
	static const unsigned int at_a_load[] = { 1, DOUBLEWORDS, 2 * DOUBLEWORDS };
	struct writer *w;
	unsigned int runs = 0;

	hardware = (struct hardware){ };	/* of the last test, whose ring is gone */
	w = writer_of(test, SLOTS);
	for (unsigned int i = 0; i < 27; i++) {
		struct race race = {
			.back = back, .before = (*before)[i / 9],
			.records = records[i / 3 % 3], .at_a_load = at_a_load[i % 3],
		};

		while (race.first < LOADS && run(test, w, &race))
			race.first++;
		runs += race.first;
	}
	KUNIT_EXPECT_GT(test, runs, 27U * 10);
}

/* It comes by the ring's end: all but full, full, and over what was not taken. */
static void the_hardware_laps_the_reader(struct kunit *test)
{
	static const unsigned int before[] = { SLOTS - 1, SLOTS, SLOTS + 7 };

	run_at_each_load(test, false, &before);
}

/* It comes from slot 0, up to the reader and past it. */
static void the_hardware_comes_past_the_reader(struct kunit *test)
{
	static const unsigned int before[] = { 0, 3, 6 };

	run_at_each_load(test, true, &before);
}

/* It is at the reader's place, or a few records ahead. */
static void the_hardware_is_ahead(struct kunit *test)
{
	static const unsigned int before[] = { 0, 3, 6 };

	run_at_each_load(test, false, &before);
}

static struct kunit_case race_cases[] = {
	KUNIT_CASE(the_hardware_laps_the_reader),
	KUNIT_CASE(the_hardware_comes_past_the_reader),
	KUNIT_CASE(the_hardware_is_ahead),
	{ }
};

struct kunit_suite power_imc_race_suite = {
	.name = "power_imc_race", .test_cases = race_cases,
};
