// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace records of POWER in-memory collection: reading a ring. Registers the suites of a ring that is
 * written meanwhile (race_test.c), of whose the records are (attribution_test.c), which become samples
 * (thin_test.c), what becomes of one (sample_test.c) and when (drain_test.c), and of task switches
 * (switch_test.c), too.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <pmu/compat.h>

#include "power_imc/ring.h"
#include "records.h"
#include "suites.h"

#define SLOTS	16
/* Where the writer goes back, and which slots tell a lap from that. */
#define GO_BACK_SLOTS	32
#define GO_BACK_LAST	8

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
		u32 budget = 2 * w->ring.slots;

		any = power_imc_ring_take(&w->ring, &record, &lost, &budget);
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
	KUNIT_EXPECT_EQ(test, w->ring.laps, 0ULL);
}

/* Exactly full is not lapped: everything is there. */
static void a_full_ring_is_all_there(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 3);
	drain(test, w);
	write_some(w, SLOTS);
	KUNIT_EXPECT_EQ(test, drain(test, w), (unsigned int)SLOTS);
	KUNIT_EXPECT_EQ(test, w->lost, 0ULL);
}

/* Lapped: the newest ring full comes in order, and what is gone is known by the timebase. */
static void a_lap_is_counted(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int extra = 1; extra < 3 * SLOTS; extra++) {
		write_some(w, extra % 7);
		drain(test, w);
		write_some(w, SLOTS + extra);
		KUNIT_EXPECT_EQ(test, drain(test, w), (unsigned int)SLOTS);
		KUNIT_EXPECT_EQ(test, w->lost, (u64)extra);
	}
}

/* A lap before anything was taken. */
static void a_lap_at_once_is_counted(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 2 * SLOTS + 5);
	KUNIT_EXPECT_EQ(test, drain(test, w), (unsigned int)SLOTS);
	KUNIT_EXPECT_EQ(test, w->lost, SLOTS + 5ULL);
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

/* The whole timebase where its low 42 bits have to be: no good, and passed over. */
static void a_corrupt_record_is_passed(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 3);
	w->slots[1].tb_low = w->slots[1].tb;
	KUNIT_EXPECT_EQ(test, drain(test, w), 2U);
	KUNIT_EXPECT_EQ(test, w->lost, 1ULL);
	KUNIT_EXPECT_EQ(test, w->ring.corrupt, 1ULL);
}

/* The first one, in slot 0. */
static void a_corrupt_record_is_told_once(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 2);
	w->slots[0].tb_low = 0;
	KUNIT_EXPECT_EQ(test, drain(test, w), 1U);
	KUNIT_EXPECT_EQ(test, w->lost, 1ULL);
	KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
	KUNIT_EXPECT_EQ(test, w->ring.corrupt, 1ULL);
}

/*
 * Records that are ahead of the clock, as guests' may be, in each place of the ring: told, and those
 * of the clock behind them are taken. They are not found again when the writer comes round.
 */
static void records_ahead_of_the_clock_are_passed(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int i = 0; i < 3 * SLOTS; i++) {
		unsigned int some = i % 5, ahead = 1 + i % 3;
		u64 corrupt = w->ring.corrupt;

		write_some(w, some);
		for (unsigned int j = 0; j < ahead; j++)
			w->slots[w->head++ % SLOTS] = record_of(w->tb + (1ULL << 40) + j, 0, 0);
		write_some(w, some);
		w->ring.limit = w->tb + w->step / 2;
		KUNIT_EXPECT_EQ_MSG(test, drain(test, w), 2 * some, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, w->lost, (u64)ahead, "%u", i);
		KUNIT_EXPECT_EQ_MSG(test, w->ring.corrupt - corrupt, (u64)ahead, "%u", i);
		KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
	}
	KUNIT_EXPECT_EQ(test, w->ring.laps, 0ULL);
}

/* Records of an earlier run, or out of order, are not taken. */
static void old_records_stay_old(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 9);
	KUNIT_EXPECT_EQ(test, drain(test, w), 9U);
	power_imc_ring_restart(&w->ring, w->tb);
	KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
	w->head = 0;
	write_some(w, 4);
	KUNIT_EXPECT_EQ(test, drain(test, w), 4U);
	KUNIT_EXPECT_EQ(test, w->lost, 0ULL);
}

/* Hardware that goes on where it left off, instead of at the ring's beginning. */
static void the_writer_may_go_on(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int records = 1; records <= SLOTS; records++) {
		write_some(w, records);
		KUNIT_EXPECT_EQ(test, drain(test, w), records);
		power_imc_ring_restart(&w->ring, w->tb);
	}
	KUNIT_EXPECT_EQ(test, w->ring.lost, 0ULL);
}

/* The clock, a little later than the newest record. */
static void pass(struct writer *w)
{
	w->ring.limit = w->tb + 100 * w->step;
	power_imc_ring_pass(&w->ring, w->tb + w->step / 4);
}

/* All that is written from then on is taken, and nothing else, and nothing is said to be lost. */
static void expect_later_ones(struct kunit *test, struct writer *w, unsigned int records, unsigned int passed)
{
	u64 lost = w->ring.lost, laps = w->ring.laps;

	KUNIT_EXPECT_EQ_MSG(test, drain(test, w), 0U, "%u passed", passed);
	write_some(w, records);
	w->ring.limit = w->tb + 100 * w->step;
	KUNIT_EXPECT_EQ_MSG(test, drain(test, w), records, "%u passed", passed);
	KUNIT_EXPECT_EQ_MSG(test, w->ring.lost, lost, "%u passed", passed);
	KUNIT_EXPECT_EQ_MSG(test, w->ring.laps, laps, "%u passed", passed);
}

/* Records that are written while no event is on are passed over, however often the writer laps. */
static void others_records_are_passed(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int passed = 0; passed < 4 * SLOTS; passed++) {
		for (unsigned int records = 0; records <= SLOTS; records += 5) {
			write_some(w, passed);
			pass(w);
			expect_later_ones(test, w, records, passed);
		}
	}
}

/* Likewise before the first event, from slot 0 or from where the writer had left off. */
static void others_records_come_first(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int passed = 0; passed < 4 * SLOTS; passed++) {
		power_imc_ring_restart(&w->ring, w->tb);
		if (passed % 2)
			w->head = 0;
		write_some(w, passed);
		pass(w);
		expect_later_ones(test, w, 3, passed);
	}
}

/* Among them are some that are ahead of the clock, or no good: they are not found again, nor told. */
static void others_bad_records_are_passed(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int i = 0; i < 5 * SLOTS; i++) {
		unsigned int before = i % 7, bad = 1 + i % 3, behind = i % 4;

		write_some(w, before);
		for (unsigned int j = 0; j < bad; j++)
			w->slots[w->head++ % SLOTS] = record_of(w->tb + (1ULL << 40) + j, 0, 0);
		write_some(w, 1);
		w->slots[(w->head - 1) % SLOTS].tb_low = 0;
		write_some(w, behind);
		pass(w);
		expect_later_ones(test, w, SLOTS / 2, i);
	}
}

/* The kernel writes LDBAR meanwhile, so the writer goes back to slot 0. */
static void others_records_begin_again(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int before = 1; before < SLOTS; before++) {
		for (unsigned int after = 1; after < SLOTS; after++) {
			write_some(w, before);
			w->head = 0;
			write_some(w, after);
			pass(w);
			expect_later_ones(test, w, 2, before);
		}
	}
}

/*
 * A record from before the start of the event that is complete only afterwards is neither a sample
 * nor lost.
 */
static void a_record_under_way_at_a_start_is_passed(struct kunit *test)
{
	struct writer *w = test->priv;
	__be64 low;

	for (unsigned int i = 0; i < 2 * SLOTS; i++) {
		write_some(w, 1 + i % 3);
		low = w->slots[(w->head - 1) % SLOTS].tb_low;
		w->slots[(w->head - 1) % SLOTS] = record_of(w->tb - SLOTS * w->step, 0, 0);
		pass(w);
		w->slots[(w->head - 1) % SLOTS] = record_of(w->tb, w->tb, 0);
		KUNIT_EXPECT_TRUE(test, w->slots[(w->head - 1) % SLOTS].tb_low == low);
		expect_later_ones(test, w, 2, i);
	}
	KUNIT_EXPECT_EQ(test, w->ring.corrupt, 0ULL);
}

/* The bytes of 11.5: R1 then R2 are records, R1 behind R2 is not taken, nor is it lost. */
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
	u32 budget = SLOTS;
	u64 lost;

	BUILD_BUG_ON(sizeof(r1) != sizeof(record) || sizeof(r2) != sizeof(record));
	power_imc_ring_restart(&w->ring, R1_TB - 1);
	memcpy(&w->slots[0], r1, sizeof(r1));
	memcpy(&w->slots[1], r2, sizeof(r2));
	memcpy(&w->slots[2], r1, sizeof(r1));
	KUNIT_ASSERT_TRUE(test, power_imc_ring_take(&w->ring, &record, &lost, &budget));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(record.tb), R1_TB);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(record.ip), 0xc00000000001a2b4ULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(record.cpmc[1]), 0xffffff05ULL);
	KUNIT_ASSERT_TRUE(test, power_imc_ring_take(&w->ring, &record, &lost, &budget));
	KUNIT_EXPECT_EQ(test, be64_to_cpu(record.tb), R2_TB);
	KUNIT_EXPECT_FALSE(test, power_imc_ring_take(&w->ring, &record, &lost, &budget));
	KUNIT_EXPECT_EQ(test, lost, 0ULL);
	KUNIT_EXPECT_EQ(test, budget, (u32)SLOTS - 3);
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
	KUNIT_EXPECT_EQ(test, drain(test, w), (unsigned int)REAL_SLOTS);
	KUNIT_EXPECT_EQ(test, w->lost, 7ULL);
	KUNIT_EXPECT_EQ(test, w->ring.laps, 1ULL);
}

/*
 * LDBAR is written while it traces: the writer goes back to slot 0, and nothing is lost. Nor is it a
 * lap if it comes past the reader again, unless it comes as far as the last slots.
 */
static void the_writer_may_go_back(struct kunit *test)
{
	struct writer *w = writer_of(test, GO_BACK_SLOTS);

	for (unsigned int before = 1; before < GO_BACK_SLOTS; before++) {
		for (unsigned int after = 1; after <= GO_BACK_SLOTS - GO_BACK_LAST; after++) {
			power_imc_ring_restart(&w->ring, w->tb);
			w->head = 0;
			write_some(w, before);
			KUNIT_EXPECT_EQ(test, drain(test, w), before);
			w->head = 0;
			write_some(w, after);
			KUNIT_EXPECT_EQ_MSG(test, drain(test, w), after, "%u, %u", before, after);
			write_some(w, GO_BACK_SLOTS / 2);
			KUNIT_EXPECT_EQ_MSG(test, drain(test, w), GO_BACK_SLOTS / 2U, "%u, %u",
					    before, after);
		}
	}
	KUNIT_EXPECT_EQ(test, w->ring.lost, 0ULL);
	KUNIT_EXPECT_EQ(test, w->ring.laps, 0ULL);
	KUNIT_EXPECT_EQ(test, w->ring.corrupt, 0ULL);
}

/* The reader has come by the ring's end, too, so that the last slots have records. */
static void the_writer_may_go_back_after_a_wrap(struct kunit *test)
{
	struct writer *w = writer_of(test, GO_BACK_SLOTS);

	write_some(w, 1);
	KUNIT_EXPECT_EQ(test, drain(test, w), 1U);
	for (unsigned int after = 1; after <= GO_BACK_SLOTS - GO_BACK_LAST; after++) {
		write_some(w, GO_BACK_SLOTS - w->head % GO_BACK_SLOTS);
		drain(test, w);
		write_some(w, 3);
		KUNIT_EXPECT_EQ(test, drain(test, w), 3U);
		w->head = 0;
		write_some(w, after);
		KUNIT_EXPECT_EQ_MSG(test, drain(test, w), after, "%u", after);
		KUNIT_EXPECT_EQ_MSG(test, w->lost, 0ULL, "%u", after);
	}
	KUNIT_EXPECT_EQ(test, w->ring.laps, 0ULL);
	/* A lap is still one: all slots are new. */
	write_some(w, GO_BACK_SLOTS + 2);
	KUNIT_EXPECT_EQ(test, drain(test, w), (unsigned int)GO_BACK_SLOTS);
	KUNIT_EXPECT_EQ(test, w->lost, 2ULL);
	KUNIT_EXPECT_EQ(test, w->ring.laps, 1ULL);
}

/* Records that were made before the writer went back, and not taken by then, are told, if one is left. */
static void what_was_not_taken_before_it_went_back_is_lost(struct kunit *test)
{
	for (unsigned int after = 1; after < 15; after++) {
		struct writer *w = writer_of(test, GO_BACK_SLOTS);

		write_some(w, 10);
		KUNIT_EXPECT_EQ(test, drain(test, w), 10U);
		write_some(w, 5);
		w->head = 0;
		write_some(w, after);
		/* Unless the writer has come up to the reader, they are taken first. */
		KUNIT_EXPECT_EQ_MSG(test, drain(test, w), after < 10 ? 5 + after : after, "%u", after);
		KUNIT_EXPECT_EQ_MSG(test, w->ring.lost, after < 10 ? 0ULL : 5ULL, "%u", after);
		KUNIT_EXPECT_EQ_MSG(test, w->ring.laps, 0ULL, "%u", after);
	}
}

/* The writer is at the end of the ring by the time the reader goes back: that is a lap, and all is taken. */
static void it_may_be_at_the_end_again(struct kunit *test)
{
	struct writer *w = writer_of(test, GO_BACK_SLOTS);

	write_some(w, 10);
	KUNIT_EXPECT_EQ(test, drain(test, w), 10U);
	w->head = 0;
	write_some(w, 5);
	w->head = GO_BACK_SLOTS - GO_BACK_LAST;
	write_some(w, GO_BACK_LAST);
	KUNIT_EXPECT_EQ(test, drain(test, w), 5U + GO_BACK_LAST);
	KUNIT_EXPECT_GT(test, w->ring.laps, 0ULL);
}

/* Records ahead of the clock that were written after the writer went back have their turn. */
static void records_ahead_are_told_once_after_it_went_back(struct kunit *test)
{
	struct writer *w = writer_of(test, REAL_SLOTS);

	write_some(w, 10);
	KUNIT_EXPECT_EQ(test, drain(test, w), 10U);
	w->head = 0;
	write_some(w, 20);
	for (unsigned int i = 0; i < 9; i++)
		w->slots[w->head++] = record_of(w->tb + (1ULL << 40) + i, 0, 0);
	write_some(w, 100);
	w->ring.limit = w->tb;
	KUNIT_EXPECT_EQ(test, drain(test, w), 120U);
	KUNIT_EXPECT_EQ(test, w->ring.corrupt, 9ULL);
	KUNIT_EXPECT_EQ(test, w->ring.lost, 9ULL);
	KUNIT_EXPECT_EQ(test, w->ring.laps, 0ULL);
}

/* A ring of which some records are taken. Behind them are bad ones, of long ago, as a guest's may be. */
static struct writer *writer_behind_bad_ones(struct kunit *test, unsigned int bad)
{
	struct writer *w = writer_of(test, REAL_SLOTS);

	write_some(w, 100);
	KUNIT_EXPECT_EQ(test, drain(test, w), 100U);
	for (unsigned int i = 0; i < bad; i++)
		w->slots[w->head++] = record_of(R1_TB / 2 + i, 0, 0);
	return w;
}

/* Go to the ring's end and beyond. It is told how many records were not seen, and later ones are taken. */
static void expect_lost_behind_bad_ones(struct kunit *test, struct writer *w, u64 lost)
{
	write_some(w, REAL_SLOTS - w->head);
	KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
	KUNIT_EXPECT_EQ(test, w->lost, 0ULL);
	write_some(w, 3);
	KUNIT_EXPECT_EQ(test, drain(test, w), 3U);
	KUNIT_EXPECT_EQ(test, w->lost, lost);
	write_some(w, REAL_SLOTS + 100);
	KUNIT_EXPECT_EQ(test, drain(test, w), (unsigned int)REAL_SLOTS);
	KUNIT_EXPECT_EQ(test, w->lost, 100ULL);
	KUNIT_EXPECT_EQ(test, w->ring.laps, 1ULL);
}

/* More bad records in a row than are passed over: those behind them are not seen, but told. */
static void many_bad_records_hide_others(struct kunit *test)
{
	struct writer *w = writer_behind_bad_ones(test, 20);

	write_some(w, 1000);
	KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
	expect_lost_behind_bad_ones(test, w, REAL_SLOTS - 120);
	KUNIT_EXPECT_EQ(test, w->ring.corrupt, 0ULL);
}

/* Those of before an event's start are nobody's. */
static void hidden_records_of_others_are_not_lost(struct kunit *test)
{
	struct writer *w = writer_behind_bad_ones(test, 20);

	write_some(w, 1000);
	pass(w);
	w->ring.limit = U64_MAX;
	expect_lost_behind_bad_ones(test, w, REAL_SLOTS - 1120);
}

/* One of them is ahead of the clock: it is not found again when the clock is there. */
static void hidden_records_ahead_are_cleared(struct kunit *test)
{
	struct writer *w = writer_behind_bad_ones(test, 20);
	unsigned int ahead = REAL_SLOTS - 10;

	write_some(w, ahead - w->head);
	w->slots[w->head++] = record_of(w->tb + (1ULL << 40), 0, 0);
	w->ring.limit = w->tb + REAL_SLOTS * w->step;
	write_some(w, REAL_SLOTS - w->head + 3);
	KUNIT_EXPECT_EQ(test, drain(test, w), 3U);
	KUNIT_EXPECT_EQ(test, w->lost, REAL_SLOTS - 120ULL);
	KUNIT_EXPECT_EQ(test, w->ring.corrupt, 1ULL);
	w->ring.limit = U64_MAX;
	write_some(w, ahead - 3);
	KUNIT_EXPECT_EQ(test, drain(test, w), ahead - 3);
	KUNIT_EXPECT_EQ(test, w->lost, 0ULL);
	write_some(w, 20);
	KUNIT_EXPECT_EQ(test, drain(test, w), 20U);
	KUNIT_EXPECT_EQ(test, w->lost, 0ULL);
}

/* LDBAR is written: all that is between the reader and slot 0 was taken a lap before. */
static void a_lap_before_is_not_lost(struct kunit *test)
{
	struct writer *w = writer_of(test, REAL_SLOTS);

	write_some(w, REAL_SLOTS - 1);
	KUNIT_EXPECT_EQ(test, drain(test, w), REAL_SLOTS - 1U);
	write_some(w, REAL_SLOTS / 2);
	KUNIT_EXPECT_EQ(test, drain(test, w), REAL_SLOTS / 2U);
	w->head = 0;
	write_some(w, 3);
	KUNIT_EXPECT_EQ(test, drain(test, w), 3U);
	write_some(w, REAL_SLOTS - 1);
	KUNIT_EXPECT_EQ(test, drain(test, w), REAL_SLOTS - 1U);
	KUNIT_EXPECT_EQ(test, w->ring.lost, 0ULL);
	KUNIT_EXPECT_EQ(test, w->ring.laps, 0ULL);
}

/* A bad record in the last slot is passed over, although slot 0 is new. */
static void a_corrupt_last_slot_is_passed(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, SLOTS - 1);
	drain(test, w);
	write_some(w, 3);
	w->slots[SLOTS - 1].tb_low = 0;
	KUNIT_EXPECT_EQ(test, drain(test, w), 2U);
	KUNIT_EXPECT_EQ(test, w->lost, 1ULL);
	KUNIT_EXPECT_EQ(test, w->ring.corrupt, 1ULL);
}

/* One look at timebases tells whether there may be records. */
static void a_glance_tells(struct kunit *test)
{
	struct writer *w = test->priv;

	KUNIT_EXPECT_TRUE(test, power_imc_ring_is_quiet(&w->ring));
	for (unsigned int i = 0; i < 2 * SLOTS; i++) {
		write_one(w);
		KUNIT_EXPECT_FALSE_MSG(test, power_imc_ring_is_quiet(&w->ring), "%u", i);
		KUNIT_EXPECT_EQ(test, drain(test, w), 1U);
		KUNIT_EXPECT_TRUE_MSG(test, power_imc_ring_is_quiet(&w->ring), "%u", i);
	}
}

/* A record that is no good does not hide the next; two do, until there is a look. */
static void a_glance_goes_behind_a_corrupt_record(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 3);
	drain(test, w);
	write_some(w, 2);
	w->slots[3].tb = 0;
	KUNIT_EXPECT_FALSE(test, power_imc_ring_is_quiet(&w->ring));
	w->slots[4].tb = 0;
	write_one(w);
	KUNIT_EXPECT_TRUE(test, power_imc_ring_is_quiet(&w->ring));
	KUNIT_EXPECT_EQ(test, drain(test, w), 1U);
	KUNIT_EXPECT_EQ(test, w->lost, 2ULL);
}

/* The writer may have gone back to slot 0, or, since a restart, go on where it left off. */
static void a_glance_finds_the_writer(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 5);
	drain(test, w);
	w->head = 0;
	write_one(w);
	KUNIT_EXPECT_FALSE(test, power_imc_ring_is_quiet(&w->ring));
	drain(test, w);
	power_imc_ring_restart(&w->ring, w->tb);
	KUNIT_EXPECT_TRUE(test, power_imc_ring_is_quiet(&w->ring));
	write_one(w);
	KUNIT_EXPECT_FALSE(test, power_imc_ring_is_quiet(&w->ring));
	KUNIT_EXPECT_EQ(test, drain(test, w), 1U);
}

/* A drain looks at a limited number of slots, whatever is in them, and loses nothing by that. */
static void a_budget_bounds_a_drain(struct kunit *test)
{
	struct writer *w = test->priv;
	struct power_imc_record record;
	unsigned int taken = 0;
	u64 lost, all = 0;

	write_some(w, SLOTS + 3);
	w->slots[7].tb_low = 0;
	w->slots[8].tb_low = 0;
	for (unsigned int calls = 0; calls < 2 * SLOTS; calls++) {
		u32 budget = 1;

		taken += power_imc_ring_take(&w->ring, &record, &lost, &budget);
		all += lost;
		KUNIT_EXPECT_EQ(test, budget, 0U);
	}
	KUNIT_EXPECT_EQ(test, taken, SLOTS - 2U);
	KUNIT_EXPECT_EQ(test, all, 3ULL + 2);
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(an_empty_ring_has_nothing),
	KUNIT_CASE(the_wrap_is_no_end),
	KUNIT_CASE(a_full_ring_is_all_there),
	KUNIT_CASE(a_lap_is_counted),
	KUNIT_CASE(a_lap_at_once_is_counted),
	KUNIT_CASE(a_torn_record_waits),
	KUNIT_CASE(a_corrupt_record_is_passed),
	KUNIT_CASE(a_corrupt_record_is_told_once),
	KUNIT_CASE(records_ahead_of_the_clock_are_passed),
	KUNIT_CASE(old_records_stay_old),
	KUNIT_CASE(the_writer_may_go_on),
	KUNIT_CASE(the_writer_may_go_back),
	KUNIT_CASE(the_writer_may_go_back_after_a_wrap),
	KUNIT_CASE(what_was_not_taken_before_it_went_back_is_lost),
	KUNIT_CASE(it_may_be_at_the_end_again),
	KUNIT_CASE(records_ahead_are_told_once_after_it_went_back),
	KUNIT_CASE(others_records_are_passed),
	KUNIT_CASE(others_records_come_first),
	KUNIT_CASE(others_bad_records_are_passed),
	KUNIT_CASE(others_records_begin_again),
	KUNIT_CASE(a_record_under_way_at_a_start_is_passed),
	KUNIT_CASE(bytes_of_the_worked_records),
	KUNIT_CASE(the_real_ring_wraps),
	KUNIT_CASE(many_bad_records_hide_others),
	KUNIT_CASE(hidden_records_of_others_are_not_lost),
	KUNIT_CASE(hidden_records_ahead_are_cleared),
	KUNIT_CASE(a_lap_before_is_not_lost),
	KUNIT_CASE(a_corrupt_last_slot_is_passed),
	KUNIT_CASE(a_glance_tells),
	KUNIT_CASE(a_glance_goes_behind_a_corrupt_record),
	KUNIT_CASE(a_glance_finds_the_writer),
	KUNIT_CASE(a_budget_bounds_a_drain),
	{ }
};

static struct kunit_suite ring_suite = {
	.name = "power_imc_ring", .init = ring_test_init, .test_cases = ring_cases,
};

kunit_test_suites(&ring_suite, &power_imc_race_suite, &power_imc_attribution_suite,
		  &power_imc_sample_suite, &power_imc_thin_suite, &power_imc_drain_suite,
		  &power_imc_switch_suite);

MODULE_DESCRIPTION("KUnit suites of power_imc_pmu's trace mode");
MODULE_LICENSE("GPL");
PMU_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
