// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace records of POWER in-memory collection: reading a ring. Registers the suites of a ring that is
 * written meanwhile (race_test.c), which records become samples (thin_test.c), what becomes of one
 * (sample_test.c) and when (drain_test.c), too.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <pmu/compat.h>

#include "power_imc/ring.h"
#include "records.h"
#include "suites.h"

#define SLOTS	16

static void write_one(struct writer *w)
{
	write_at(w, w->tb + w->step);
}

static void write_some(struct writer *w, unsigned int records)
{
	while (records--)
		write_one(w);
}

/* Take all there is: how many, each newer than the one before. */
static unsigned int drain(struct kunit *test, struct writer *w)
{
	struct power_imc_record record;
	unsigned int taken = 0;
	u64 last = 0, lost;
	bool any;

	w->lost = 0;
	do {
		any = power_imc_ring_take(&w->ring, &record, w->now ?: w->tb, &lost);
		w->lost += lost;
		if (any) {
			KUNIT_EXPECT_GT(test, be64_to_cpu(record.tb), last);
			KUNIT_EXPECT_EQ(test, be64_to_cpu(record.ip), be64_to_cpu(record.tb));
			last = be64_to_cpu(record.tb);
			taken++;
		}
	} while (any);
	return taken;
}

static int ring_test_init(struct kunit *test)
{
	test->priv = writer_of(test, SLOTS);
	return 0;
}

/* All zero is the end of the data. */
static void an_empty_ring_has_nothing(struct kunit *test)
{
	struct writer *w = test->priv;

	KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
	KUNIT_EXPECT_EQ(test, w->lost, 0ULL);
}

/* Each record once, over the wrap and again over the wrap, none lost. */
static void the_wrap_is_no_end(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int i = 0; i < 5 * SLOTS; i++) {
		unsigned int records = i % SLOTS;

		write_some(w, records);
		KUNIT_EXPECT_EQ(test, drain(test, w), records);
		KUNIT_EXPECT_EQ(test, w->lost, 0ULL);
	}
	KUNIT_EXPECT_EQ(test, w->ring.stats.laps, 0ULL);
}

/* Whatever the records' clock: ahead of the CPU's, behind it, slower, or with its low bits at 0. All are taken. */
static void any_clock_will_do(struct kunit *test)
{
	static const struct { u64 tb, step; } clocks[] = {
		{ R1_TB + (1ULL << 50), 4000 }, { 1, 4000 }, { 1, 1 }, { R1_TB, 250 }, { LOW42 - 100, 64 },
		{ 1ULL << 60, 1ULL << 42 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(clocks); i++) {
		struct writer *w = writer_of(test, SLOTS);

		w->tb = clocks[i].tb;
		w->step = clocks[i].step;
		w->now = R1_TB;
		for (unsigned int records = 1; records < 3 * SLOTS; records++) {
			w->now += SECOND;
			write_some(w, records % SLOTS);
			KUNIT_EXPECT_EQ_MSG(test, drain(test, w), records % SLOTS, "clock %u", i);
		}
		KUNIT_EXPECT_GT_MSG(test, w->ring.stats.foreign, 100ULL, "clock %u", i);
		KUNIT_EXPECT_EQ_MSG(test, w->ring.stats.lost, 0ULL, "clock %u", i);
		/* How often such records come is not known. */
		KUNIT_EXPECT_EQ_MSG(test, w->ring.step, 0ULL, "clock %u", i);
		/* A lap is told by the records' own clock. */
		write_some(w, 100);
		KUNIT_EXPECT_EQ_MSG(test, drain(test, w), 0U, "clock %u", i);
		KUNIT_EXPECT_EQ_MSG(test, w->lost, 100ULL, "clock %u", i);
	}
}

/* The distance is measured, whatever firmware has set up, and in spite of gaps, but for a thirtieth. */
static void the_distance_is_measured(struct kunit *test)
{
	static const u64 steps[] = { 4000, 4016, 4000 * 64, 4000 * 512 };

	for (unsigned int i = 0; i < ARRAY_SIZE(steps); i++) {
		struct writer *w = writer_of(test, SLOTS);

		w->step = steps[i];
		for (unsigned int n = 0; n < 200; n++) {
			/* One is late, and some are missing. */
			w->tb += n % 10 ? 0 : w->step / 2;
			write_one(w);
			w->tb -= n % 10 ? 0 : w->step / 2;
			w->tb += n % 50 ? 0 : 100 * w->step;
			drain(test, w);
		}
		KUNIT_EXPECT_GE(test, w->ring.step, steps[i] - steps[i] / 30);
		KUNIT_EXPECT_LE(test, w->ring.step, steps[i] + steps[i] / 8);
	}
}

/* Idle time between records says nothing of how often they are made; another CPU's may. */
static void idle_time_is_no_distance(struct kunit *test)
{
	struct writer *w = test->priv;
	u64 known = 0;

	w->ring.known = &known;
	/* Bursts of four, a hundred in a second */
	for (unsigned int n = 0; n < 100; n++) {
		write_some(w, 4);
		drain(test, w);
		w->ring.gaps = true;
		w->tb += SECOND / 100;
	}
	KUNIT_EXPECT_EQ(test, power_imc_ring_step(&w->ring), 0ULL);
	KUNIT_EXPECT_EQ(test, w->ring.apart, w->step);
	/* Another CPU was busy. */
	known = 2 * w->step;
	KUNIT_EXPECT_EQ(test, power_imc_ring_step(&w->ring), 2 * w->step);
	/* So is this one now. */
	for (unsigned int n = 0; n < 40; n++) {
		write_one(w);
		drain(test, w);
	}
	KUNIT_EXPECT_EQ(test, power_imc_ring_step(&w->ring), w->step);
	KUNIT_EXPECT_EQ(test, known, w->step);
	/* What is passed over may have idle time in between, or not. */
	w->ring.step = 0;
	for (unsigned int n = 0; n < 40; n++) {
		write_one(w);
		power_imc_ring_pass(&w->ring, w->tb);
	}
	KUNIT_EXPECT_EQ(test, w->ring.step, w->step);
	w->ring.step = 0;
	w->ring.gaps = true;
	for (unsigned int n = 0; n < 100; n++) {
		w->tb += SECOND / 100;
		write_one(w);
		power_imc_ring_pass(&w->ring, w->tb);
	}
	KUNIT_EXPECT_EQ(test, w->ring.step, 0ULL);
}

/* The fewest ticks between a record and the one before it, if that was taken. */
static void records_are_apart(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int i = 0; i < 2 * SLOTS; i++) {
		write_one(w);
		KUNIT_EXPECT_EQ(test, drain(test, w), 1U);
		KUNIT_EXPECT_EQ_MSG(test, w->ring.apart, i ? w->step : 0ULL, "%u", i);
	}
}

/* One slot less than all may be full. */
static void a_full_ring_is_all_there(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 3);
	drain(test, w);
	write_some(w, SLOTS - 1);
	KUNIT_EXPECT_EQ(test, drain(test, w), SLOTS - 1U);
	KUNIT_EXPECT_EQ(test, w->lost, 0ULL);
}

/* Lapped: the reader goes on behind the newest record, and what is gone is known by the timebase. */
static void a_lap_is_counted(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int extra = 0; extra < 3 * SLOTS; extra++) {
		write_some(w, 1 + extra % 7);
		drain(test, w);
		write_some(w, SLOTS + extra);
		KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
		KUNIT_EXPECT_EQ(test, w->lost, SLOTS + (u64)extra);
	}
	KUNIT_EXPECT_EQ(test, w->ring.stats.laps, 3ULL * SLOTS);
}

/* A lap before anything was taken: it is not known how many records came before. */
static void a_lap_at_once_is_counted(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 2 * SLOTS + 5);
	KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
	KUNIT_EXPECT_EQ(test, w->lost, (u64)SLOTS);
}

/* Half written: not yet, and once it is whole it is there. */
static void a_torn_record_waits(struct kunit *test)
{
	struct writer *w = test->priv;
	__be64 low;

	write_some(w, 2);
	low = w->slots[1].tb_low;
	w->slots[1].tb_low = 0;
	KUNIT_EXPECT_EQ(test, drain(test, w), 1U);
	KUNIT_EXPECT_EQ(test, w->lost, 0ULL);
	w->slots[1].tb_low = low;
	KUNIT_EXPECT_EQ(test, drain(test, w), 1U);
}

/* The whole timebase where its low 42 bits have to be: no good, in any slot, and passed over. */
static void a_corrupt_record_is_passed(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int i = 1; i <= 2 * SLOTS; i++) {
		write_some(w, 4);
		w->slots[(w->head - 3) % SLOTS].tb_low = w->slots[(w->head - 3) % SLOTS].tb;
		w->slots[(w->head - 2) % SLOTS].tb_low = 0;
		KUNIT_EXPECT_EQ(test, drain(test, w), 2U);
		KUNIT_EXPECT_EQ(test, w->lost, 2ULL);
		KUNIT_EXPECT_EQ(test, w->ring.stats.corrupt, 2ULL * i);
	}
}

/* Hardware that goes on where it left off, instead of at the ring's beginning. */
static void the_writer_may_go_on(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int records = 1; records < SLOTS; records++) {
		write_some(w, records);
		KUNIT_EXPECT_EQ(test, drain(test, w), records);
		/* Nobody takes these. */
		write_some(w, records / 3);
		power_imc_ring_clear(&w->ring, w->tb);
		KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
	}
	KUNIT_EXPECT_EQ(test, w->ring.stats.lost, 0ULL);
}

/* LDBAR is written: the writer goes back to slot 0. As long as it does not come past the reader nothing is lost. */
static void the_writer_may_go_back(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int before = 1; before < SLOTS; before++) {
		for (unsigned int after = 1; after <= before; after++) {
			power_imc_ring_clear(&w->ring, w->tb);
			w->head = 0;
			write_some(w, before);
			KUNIT_EXPECT_EQ(test, drain(test, w), before);
			w->head = 0;
			write_some(w, after);
			KUNIT_EXPECT_EQ_MSG(test, drain(test, w), after, "%u, %u", before, after);
			write_some(w, SLOTS / 2);
			KUNIT_EXPECT_EQ_MSG(test, drain(test, w), SLOTS / 2U, "%u, %u", before, after);
		}
	}
	KUNIT_EXPECT_EQ(test, w->ring.stats.lost, 0ULL);
	KUNIT_EXPECT_EQ(test, w->ring.stats.laps, 0ULL);
	KUNIT_EXPECT_EQ(test, w->ring.stats.corrupt, 0ULL);
}

/* What was not taken when the writer went back is taken first, or, once the writer has come past it, told. */
static void what_was_not_taken_before_it_went_back(struct kunit *test)
{
	for (unsigned int after = 1; after < SLOTS - 1; after++) {
		struct writer *w = writer_of(test, SLOTS);

		write_some(w, 8);
		KUNIT_EXPECT_EQ(test, drain(test, w), 8U);
		write_some(w, 4);
		w->head = 0;
		write_some(w, after);
		KUNIT_EXPECT_EQ_MSG(test, drain(test, w), after < 8 ? 4 + after : 0, "%u", after);
		KUNIT_EXPECT_EQ_MSG(test, w->lost, after < 8 ? 0ULL : 4ULL + after, "%u", after);
		write_some(w, 5);
		KUNIT_EXPECT_EQ_MSG(test, drain(test, w), 5U, "%u", after);
	}
}

/* It went back in the middle of a record, which is never completed. */
static void a_record_that_was_left_halfway(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 5);
	w->slots[4].tb_low = 0;
	w->head = 0;
	KUNIT_EXPECT_EQ(test, drain(test, w), 4U);
	write_some(w, 2);
	KUNIT_EXPECT_EQ(test, drain(test, w), 2U);
	KUNIT_EXPECT_EQ(test, w->lost, 1ULL);
}

/* The engine stopped in the middle of a record, which is never completed, and goes on behind it. In any slot. */
static void a_slot_that_was_left_empty(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int i = 0; i < 3 * SLOTS; i++) {
		write_some(w, 3);
		w->slots[(w->head - 1) % SLOTS].tb = 0;
		KUNIT_EXPECT_EQ_MSG(test, drain(test, w), 2U, "%u", i);
		write_some(w, 2);
		KUNIT_EXPECT_EQ_MSG(test, drain(test, w), 2U, "%u", i);
	}
	KUNIT_EXPECT_EQ(test, w->ring.stats.lost, 0ULL);
	KUNIT_EXPECT_EQ(test, w->ring.stats.laps, 0ULL);
}

/* The same of slot 0 after a new start, wherever the reader was. */
static void the_first_slot_was_left_empty(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int i = 0; i < 2 * SLOTS; i++) {
		write_some(w, i % SLOTS);
		drain(test, w);
		power_imc_ring_clear(&w->ring, w->tb);
		w->head = 0;
		write_some(w, 3);
		w->slots[0].tb = 0;
		KUNIT_EXPECT_FALSE_MSG(test, power_imc_ring_is_quiet(&w->ring), "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, drain(test, w), 2U, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, w->lost, 0ULL, "%u", i);
	}
}

/* All that is written from then on is taken, and nothing else, and nothing is said to be lost. */
static void expect_later_ones(struct kunit *test, struct writer *w, unsigned int records, unsigned int passed)
{
	u64 lost = w->ring.stats.lost, laps = w->ring.stats.laps;

	KUNIT_EXPECT_EQ_MSG(test, drain(test, w), 0U, "%u passed", passed);
	write_some(w, records);
	KUNIT_EXPECT_EQ_MSG(test, drain(test, w), records, "%u passed", passed);
	KUNIT_EXPECT_EQ_MSG(test, w->ring.stats.lost, lost, "%u passed", passed);
	KUNIT_EXPECT_EQ_MSG(test, w->ring.stats.laps, laps, "%u passed", passed);
}

/* Records that are written while no event is on are passed over, however often the writer laps, and good or not. */
static void others_records_are_passed(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int passed = 0; passed < 4 * SLOTS; passed++) {
		for (unsigned int records = 0; records < SLOTS; records += 5) {
			write_some(w, passed);
			if (passed > 2)
				w->slots[(w->head - 2) % SLOTS].tb_low = 0;
			power_imc_ring_pass(&w->ring, w->tb);
			expect_later_ones(test, w, records, passed);
		}
	}
	KUNIT_EXPECT_EQ(test, w->ring.stats.corrupt, 0ULL);
}

/* The kernel writes LDBAR meanwhile, so the writer goes back to slot 0. */
static void others_records_begin_again(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int before = 1; before < SLOTS - 3; before++) {
		for (unsigned int after = 1; after < SLOTS; after++) {
			power_imc_ring_clear(&w->ring, w->tb);
			w->head = 0;
			write_some(w, 3);
			KUNIT_EXPECT_EQ(test, drain(test, w), 3U);
			write_some(w, before);
			w->head = 0;
			write_some(w, after);
			power_imc_ring_pass(&w->ring, w->tb);
			expect_later_ones(test, w, 2, before);
		}
	}
}

/* The bytes of 11.5: R1 then R2 are records. */
static void bytes_of_the_worked_records(struct kunit *test)
{
	static const u8 r1[] = {
		0x00, 0x00, 0x04, 0xd2, 0xa1, 0xb2, 0xc3, 0xd4,
		0xc0, 0x00, 0x00, 0x00, 0x00, 0x01, 0xa2, 0xb4,
		0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0xff, 0x05,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x22,
		0x00, 0x00, 0x00, 0xd2, 0xa1, 0xb2, 0xc3, 0xd4,
	};
	static const u8 r2[] = {
		0x00, 0x00, 0x04, 0xd2, 0xa1, 0xb2, 0xd3, 0x74,
		0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x10, 0x00,
		0xc0, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03,
		0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x04,
		0x00, 0x00, 0x00, 0xd2, 0xa1, 0xb2, 0xd3, 0x74,
	};
	struct writer *w = test->priv;
	struct power_imc_record record;
	u64 lost;

	BUILD_BUG_ON(sizeof(r1) != sizeof(record) || sizeof(r2) != sizeof(record));
	memcpy(&w->slots[0], r1, sizeof(r1));
	memcpy(&w->slots[1], r2, sizeof(r2));
	KUNIT_ASSERT_TRUE(test, power_imc_ring_take(&w->ring, &record, R2_TB, &lost));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(record.tb), R1_TB);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(record.ip), 0xc00000000001a2b4ULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(record.cpmc[1]), 0xffffff05ULL);
	KUNIT_ASSERT_TRUE(test, power_imc_ring_take(&w->ring, &record, R2_TB, &lost));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(record.tb), R2_TB);
	KUNIT_EXPECT_FALSE(test, power_imc_ring_take(&w->ring, &record, R2_TB, &lost));
	KUNIT_EXPECT_EQ(test, lost, 0ULL);
}

/* A ring of the hardware's size is drained across its end, from the last slot to the first. */
static void the_real_ring_wraps(struct kunit *test)
{
	struct writer *w = writer_of(test, REAL_SLOTS);

	write_some(w, REAL_SLOTS - 1);
	KUNIT_EXPECT_EQ(test, drain(test, w), REAL_SLOTS - 1U);
	write_some(w, 2);
	KUNIT_EXPECT_EQ(test, drain(test, w), 2U);
	write_some(w, REAL_SLOTS + 7);
	KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
	KUNIT_EXPECT_EQ(test, w->lost, REAL_SLOTS + 7ULL);
	write_some(w, 9);
	KUNIT_EXPECT_EQ(test, drain(test, w), 9U);
	KUNIT_EXPECT_EQ(test, w->ring.stats.laps, 1ULL);
}

/* One look at timebases tells whether there may be records, also where the writer has gone back, or left a slot empty. */
static void a_glance_tells(struct kunit *test)
{
	struct writer *w = test->priv;

	KUNIT_EXPECT_TRUE(test, power_imc_ring_is_quiet(&w->ring));
	for (unsigned int i = 0; i < 2 * SLOTS; i++) {
		if (i == SLOTS + 5)
			w->head = 0;
		write_one(w);
		KUNIT_EXPECT_FALSE_MSG(test, power_imc_ring_is_quiet(&w->ring), "%u", i);
		KUNIT_EXPECT_EQ(test, drain(test, w), 1U);
		KUNIT_EXPECT_TRUE_MSG(test, power_imc_ring_is_quiet(&w->ring), "%u", i);
	}
	write_some(w, 2);
	w->slots[(w->head - 2) % SLOTS].tb = 0;
	KUNIT_EXPECT_FALSE(test, power_imc_ring_is_quiet(&w->ring));
	KUNIT_EXPECT_EQ(test, drain(test, w), 1U);
	KUNIT_EXPECT_TRUE(test, power_imc_ring_is_quiet(&w->ring));
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(an_empty_ring_has_nothing),
	KUNIT_CASE(the_wrap_is_no_end),
	KUNIT_CASE(any_clock_will_do),
	KUNIT_CASE(the_distance_is_measured),
	KUNIT_CASE(idle_time_is_no_distance),
	KUNIT_CASE(records_are_apart),
	KUNIT_CASE(a_full_ring_is_all_there),
	KUNIT_CASE(a_lap_is_counted),
	KUNIT_CASE(a_lap_at_once_is_counted),
	KUNIT_CASE(a_torn_record_waits),
	KUNIT_CASE(a_corrupt_record_is_passed),
	KUNIT_CASE(the_writer_may_go_on),
	KUNIT_CASE(the_writer_may_go_back),
	KUNIT_CASE(what_was_not_taken_before_it_went_back),
	KUNIT_CASE(a_record_that_was_left_halfway),
	KUNIT_CASE(a_slot_that_was_left_empty),
	KUNIT_CASE(the_first_slot_was_left_empty),
	KUNIT_CASE(others_records_are_passed),
	KUNIT_CASE(others_records_begin_again),
	KUNIT_CASE(bytes_of_the_worked_records),
	KUNIT_CASE(the_real_ring_wraps),
	KUNIT_CASE(a_glance_tells),
	{ }
};

static struct kunit_suite ring_suite = {
	.name = "power_imc_ring", .init = ring_test_init, .test_cases = ring_cases,
};

kunit_test_suites(&ring_suite, &power_imc_race_suite,
		  &power_imc_sample_suite, &power_imc_thin_suite, &power_imc_drain_suite);

MODULE_DESCRIPTION("KUnit suites of power_imc_pmu's trace mode");
MODULE_LICENSE("GPL");
PMU_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
