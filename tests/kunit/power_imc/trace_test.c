// SPDX-License-Identifier: GPL-2.0-only
/*
 * Trace records of POWER in-memory collection: reading a ring that is written meanwhile,
 * what becomes of a record, and whose it is. Numbers are the worked
 * records of Documentation/hardware/power_imc.md, 11.5.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/sched.h>
#include <asm/time.h>

#include <pmu/compat.h>

#include "power_imc/ring.h"
#include "power_imc/sample.h"
#include "power_imc/trace.h"
#include "suites.h"

#define SLOTS	16
#define REAL_SLOTS	4096

/* The worked records. */
#define R1_TB	0x000004d2a1b2c3d4ULL
#define R2_TB	0x000004d2a1b2d374ULL	/* 4000 ticks later */
#define LOW42	0x000003ffffffffffULL

struct writer {
	struct power_imc_record *slots;
	struct power_imc_ring ring;
	unsigned int head;
	u64 tb, step;
	u64 lost;			/* as reported by the last drain() */
};

static struct power_imc_record record_of(u64 tb, u64 ip, u64 state)
{
	return (struct power_imc_record){
		.tb = cpu_to_be64(tb), .ip = cpu_to_be64(ip), .state = cpu_to_be64(state),
		.tb_low = cpu_to_be64(tb & LOW42),
	};
}

static void write_at(struct writer *w, u64 ip)
{
	w->tb += w->step;
	w->slots[w->head++ % w->ring.slots] = record_of(w->tb, ip, 0);
}

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

/* A ring of so many slots, empty, and who writes it. */
static struct writer *writer_of(struct kunit *test, unsigned int slots)
{
	struct writer *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, w);
	w->slots = kunit_kcalloc(test, slots, sizeof(*w->slots), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, w->slots);
	w->tb = R1_TB;
	w->step = R2_TB - R1_TB;
	w->ring.base = w->slots;
	w->ring.slots = slots;
	w->ring.limit = U64_MAX;
	power_imc_ring_restart(&w->ring, w->tb);
	return w;
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

/* The last one, behind which nothing will come. */
static void a_corrupt_end_is_told(struct kunit *test)
{
	struct writer *w = test->priv;

	write_some(w, 3);
	w->slots[2].tb_low = 0;
	KUNIT_EXPECT_EQ(test, drain(test, w), 2U);
	KUNIT_EXPECT_EQ(test, w->lost, 0ULL);
	w->ring.stopped = true;
	KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
	KUNIT_EXPECT_EQ(test, w->lost, 1ULL);
}

/* The only one, in slot 0. */
static void a_corrupt_record_is_told_once(struct kunit *test)
{
	struct writer *w = test->priv;

	write_one(w);
	w->slots[0].tb_low = 0;
	w->ring.stopped = true;
	KUNIT_EXPECT_EQ(test, drain(test, w), 0U);
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

/* What stands there from an earlier run, or out of order, is not taken again. */
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

/* As large as the hardware's, and drained where it wraps: from the last slot to the first. */
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
 * LDBAR is written while it traces: the writer goes back to slot 0, and nothing is lost. Where it
 * comes up to the reader again that is a lap, as far as can be seen, of which one may seem lost.
 */
static void the_writer_may_go_back(struct kunit *test)
{
	struct writer *w = test->priv;

	for (unsigned int before = 1; before < SLOTS; before++) {
		for (unsigned int after = 1; after < SLOTS; after++) {
			power_imc_ring_restart(&w->ring, w->tb);
			w->head = 0;
			write_some(w, before);
			KUNIT_EXPECT_EQ(test, drain(test, w), before);
			w->head = 0;
			write_some(w, after);
			KUNIT_EXPECT_EQ_MSG(test, drain(test, w), after, "%u, %u", before, after);
			KUNIT_EXPECT_LE_MSG(test, w->lost, after < before ? 0ULL : 1ULL, "%u, %u",
					    before, after);
			write_some(w, SLOTS / 2);
			KUNIT_EXPECT_EQ_MSG(test, drain(test, w), SLOTS / 2U, "%u, %u", before, after);
		}
	}
	KUNIT_EXPECT_EQ(test, w->ring.corrupt, 0ULL);
}

/* No good in the last slot: passed, though slot 0 is new. */
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

/* A record that is no good does not hide the next; several do, until nobody writes any more. */
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
	w->ring.stopped = true;
	KUNIT_EXPECT_FALSE(test, power_imc_ring_is_quiet(&w->ring));
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

/* A drain looks at so many slots and no more, whatever is in them, and loses nothing by it. */
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
	KUNIT_CASE(a_corrupt_end_is_told),
	KUNIT_CASE(a_corrupt_record_is_told_once),
	KUNIT_CASE(records_ahead_of_the_clock_are_passed),
	KUNIT_CASE(old_records_stay_old),
	KUNIT_CASE(the_writer_may_go_on),
	KUNIT_CASE(the_writer_may_go_back),
	KUNIT_CASE(bytes_of_the_worked_records),
	KUNIT_CASE(the_real_ring_wraps),
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

/* The worked records: on POWER9 the address tells, on POWER10 the record's top bits. */
static void modes_of_the_worked_records(struct kunit *test)
{
	static const struct {
		u64 ip, state;
		enum power_imc_mode p9, p10;
	} rows[] = {
		{ 0xc00000000001a2b4, 0x8000000000000000, POWER_IMC_HOST_KERNEL, POWER_IMC_HOST_KERNEL },
		{ 0x0000000010001000, 0xc000000000000000, POWER_IMC_HOST_USER, POWER_IMC_HOST_USER },
		{ 0xc000000000300000, 0x0000000000000000, POWER_IMC_HOST_KERNEL, POWER_IMC_GUEST_KERNEL },
		{ 0x000000007fff8000, 0x4000000000000000, POWER_IMC_HOST_USER, POWER_IMC_GUEST_USER },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct power_imc_record record = record_of(R1_TB, rows[i].ip, rows[i].state);

		KUNIT_EXPECT_EQ(test, power_imc_record_mode(POWER_IMC_P9, &record, true), rows[i].p9);
		KUNIT_EXPECT_EQ(test, power_imc_record_mode(POWER_IMC_P10, &record, true), rows[i].p10);
	}
}

/* On POWER9 low addresses are real ones where no program can be. POWER10 says so itself. */
static void real_mode_is_the_kernels(struct kunit *test)
{
	struct power_imc_record vector = record_of(R1_TB, 0x500, 0xc000000000000000);
	struct power_imc_record low = record_of(R1_TB, 0x10000, 0xc000000000000000);
	struct power_imc_record opal = record_of(R1_TB, 0x30001234, 0xc000000000000000);

	KUNIT_EXPECT_EQ(test, power_imc_record_mode(POWER_IMC_P9, &vector, true), POWER_IMC_HOST_KERNEL);
	KUNIT_EXPECT_EQ(test, power_imc_record_mode(POWER_IMC_P9, &low, true), POWER_IMC_HOST_USER);
	KUNIT_EXPECT_EQ(test, power_imc_record_mode(POWER_IMC_P9, &opal, true), POWER_IMC_HOST_USER);
	KUNIT_EXPECT_EQ(test, power_imc_record_mode(POWER_IMC_P9, &opal, false), POWER_IMC_HOST_KERNEL);
	KUNIT_EXPECT_EQ(test, power_imc_record_mode(POWER_IMC_P10, &vector, false), POWER_IMC_HOST_USER);
}

static void exclusion_is_by_mode(struct kunit *test)
{
	const struct perf_event_attr all = { }, user = { .exclude_kernel = 1, .exclude_hv = 1 },
		kernel = { .exclude_user = 1, .exclude_hv = 1 }, host = { .exclude_guest = 1 },
		guest = { .exclude_host = 1 };
	const struct { const struct perf_event_attr *attr; bool wanted[4]; } rows[] = {
		/* host user, host kernel, guest user, guest kernel */
		{ &all, { true, true, true, true } }, { &user, { true, false, true, false } },
		{ &kernel, { false, true, false, true } }, { &host, { true, true, false, false } },
		{ &guest, { false, false, true, true } },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		for (unsigned int mode = 0; mode < 4; mode++)
			KUNIT_EXPECT_EQ(test, power_imc_sample_wanted(rows[i].attr, mode), rows[i].wanted[mode]);
}

/* The nearest multiple of the hardware's period or, for a frequency, of its rate's parts. */
static void thinning_is_to_the_nearest(struct kunit *test)
{
	static const struct { u64 wanted; bool freq; u64 every; } rows[] = {
		{ 1, false, 1 }, { 250, false, 1 }, { 374, false, 1 }, { 375, false, 2 }, { 500, false, 2 },
		{ 1300, false, 5 }, { 2500, false, 10 }, { 250ULL << 50, false, 1ULL << 50 },
		{ 128000, true, 1 }, { 1000000, true, 1 }, { 64000, true, 2 }, { 4000, true, 32 },
		{ 1000, true, 128 }, { 1, true, 128000 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, power_imc_thinning(rows[i].wanted, rows[i].freq, 250, 128000),
				    rows[i].every, "%llu", rows[i].wanted);
}

/* A millisecond, at once again for more, and seldom only where nothing runs that could make records. */
static void the_timer_is_seldom_in_idle_alone(struct kunit *test)
{
	u64 often = 1009000, seldom = 8000000, interval = often;

	KUNIT_EXPECT_EQ(test, power_imc_drain_next(often, false, true, false), 50000ULL);
	KUNIT_EXPECT_EQ(test, power_imc_drain_next(seldom, true, true, true), often);
	for (unsigned int i = 0; i < 5; i++) {
		KUNIT_EXPECT_EQ(test, power_imc_drain_next(interval, true, false, false), often);
		interval = power_imc_drain_next(interval, true, false, true);
	}
	KUNIT_EXPECT_EQ(test, interval, seldom);
	KUNIT_EXPECT_EQ(test, power_imc_drain_next(50000, true, false, true), often);
}

/* CPUs that start at any time drain at the same moments; what is left over is drained at once. */
static void all_cpus_drain_at_the_same_time(struct kunit *test)
{
	u64 often = 1009000, start = 5 * often;

	for (u64 late = 0; late < often; late += 1000) {
		KUNIT_EXPECT_EQ(test, power_imc_drain_when(start + late, often), start + often);
		KUNIT_EXPECT_EQ(test, power_imc_drain_when(start + late, 2 * often),
				start + 2 * often);
		KUNIT_EXPECT_EQ(test, power_imc_drain_when(start + late, 50000),
				start + late + 50000);
	}
}

/* What perf's handler is given of a sample, by a fake one. */
static struct {
	unsigned int samples;
	u64 time, ip, period;
	bool user, untouched;
} written;

static u64 some_clock(void)
{
	return 1000000;
}

static void write_sample(struct perf_event *event, struct perf_sample_data *data,
			 struct pt_regs *regs)
{
	written.samples++;
	written.time = data->time;
	written.ip = data->ip;
	written.period = data->period;
	written.user = user_mode(regs);
	written.untouched &= event->clock == some_clock && !event->attr.exclude_callchain_user &&
			     data->sample_flags & PERF_SAMPLE_TIME;
}

/* A fork may copy an event at any time, so what is true of a sample alone is not told by way of it. */
static void an_event_is_left_as_it_is(struct kunit *test)
{
	struct power_imc_sample *sample = kunit_kzalloc(test, sizeof(*sample), GFP_KERNEL);
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct power_imc_trace_event te = { .event = event, .every = 1, .left = 1, .period = 250 };
	u64 earlier = 512;	/* ticks: 1000 ns */

	KUNIT_ASSERT_NOT_NULL(test, sample);
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->clock = some_clock;
	event->overflow_handler = write_sample;
	event->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	memset(&written, 0, sizeof(written));
	written.untouched = true;
	power_imc_sample_attach(&te, NULL);
	power_imc_sample_init(sample);
	power_imc_sample_begin(&te, sample);
	for (unsigned int i = 0; i < 3; i++) {
		u64 ip = i % 2 ? 0x10001000 : 0xc000000000300000;

		sample->raw.record = record_of(R1_TB + i * earlier, ip, 0);
		KUNIT_EXPECT_TRUE(test, power_imc_sample_deliver(&te, i % 2 ? POWER_IMC_HOST_USER :
									      POWER_IMC_HOST_KERNEL));
		KUNIT_EXPECT_EQ(test, written.ip, ip);
		KUNIT_EXPECT_EQ(test, written.user, i % 2);
		KUNIT_EXPECT_EQ(test, written.period, 250ULL);
		KUNIT_EXPECT_EQ(test, written.time,
				tb_to_ns(R1_TB + i * earlier) + te.clock_offset);
	}
	power_imc_sample_end(&te);
	KUNIT_EXPECT_EQ(test, written.samples, 3U);
	KUNIT_EXPECT_TRUE(test, written.untouched);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 750LL);
}

/* A clock that is 1 ms behind the timebase, and that somebody stops the CPU at, so often. */
static unsigned int clock_stops;

static u64 clock_that_stops(void)
{
	u64 now = tb_to_ns(get_tb()) - NSEC_PER_MSEC;

	if (clock_stops && clock_stops--)
		mdelay(5);
	return now;
}

/* A CPU that is stopped while clocks are compared does not make samples early. */
static void clocks_are_compared_in_a_moment(struct kunit *test)
{
	struct power_imc_sample *sample = kunit_kzalloc(test, sizeof(*sample), GFP_KERNEL);
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct power_imc_trace_event te = { .event = event, .every = 1, .left = 1, .period = 250 };

	KUNIT_ASSERT_NOT_NULL(test, sample);
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->clock = clock_that_stops;
	for (unsigned int stops = 0; stops < 3; stops++) {
		s64 early;

		clock_stops = stops;
		local_irq_disable();
		power_imc_sample_begin(&te, sample);
		local_irq_enable();
		early = -(s64)te.clock_offset - NSEC_PER_MSEC;
		KUNIT_EXPECT_LT_MSG(test, abs(early), 2 * NSEC_PER_MSEC, "%u stops", stops);
	}
}

/* One of so many, however they come; and many at a time are as many as one by one. */
static void thinning_keeps_count(struct kunit *test)
{
	struct power_imc_trace_event one = { .every = 7, .left = 7 }, many = one;
	u64 samples = 0, bulk = 0, records = 0;

	for (u64 n = 0; n < 40; n++) {
		bulk += power_imc_thin(&many, n);
		records += n;
		for (u64 i = 0; i < n; i++)
			samples += power_imc_thin(&one, 1);
		KUNIT_EXPECT_EQ(test, bulk, samples);
		KUNIT_EXPECT_EQ(test, many.left, one.left);
	}
	KUNIT_EXPECT_EQ(test, samples, records / 7);
}

/* What the firmware sets is what its own config stands for; and the other images of 11.3. */
static void scoms_of_configs(struct kunit *test)
{
	static const struct { enum power_imc_generation generation; u64 config, scom; } rows[] = {
		{ POWER_IMC_P9, 0x3e90200000, 0x7fffffc142020000 },	/* CPMC2 counts event 2, 250 of them */
		{ POWER_IMC_P9, 0x3e80400000, 0x3fffffc142020000 },	/* CPMC1 counts event 4 */
		{ POWER_IMC_P10, 0x3e80400000, 0x3fffffc142020000 },
		{ POWER_IMC_P9, (32000ULL << 30) | 0x10200000, 0x7fffe0bfc2020000 },	/* a millisecond */
	};
	static const u64 bad[] = {
		0, 0x10200000,			/* at once */
		(99ULL << 30) | 0x10200000,	/* too often */
		0x3e90200001,			/* cpmc_reserved */
		0x3ea0200000, 0x3eb0200000,	/* CPMC3 and 4 */
		0x3e98000000,			/* event 0x80: a selector has 7 bits */
	};
	u64 scom;

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ(test, power_imc_trace_scom(rows[i].generation, rows[i].config, &scom), 0);
		KUNIT_EXPECT_EQ(test, scom, rows[i].scom);
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ_MSG(test, power_imc_trace_scom(POWER_IMC_P9, bad[i], &scom), -EINVAL, "%#llx", bad[i]);
}

static struct kunit_case sample_cases[] = {
	KUNIT_CASE(modes_of_the_worked_records),
	KUNIT_CASE(real_mode_is_the_kernels),
	KUNIT_CASE(exclusion_is_by_mode),
	KUNIT_CASE(thinning_is_to_the_nearest),
	KUNIT_CASE(thinning_keeps_count),
	KUNIT_CASE(the_timer_is_seldom_in_idle_alone),
	KUNIT_CASE(all_cpus_drain_at_the_same_time),
	KUNIT_CASE(an_event_is_left_as_it_is),
	KUNIT_CASE(clocks_are_compared_in_a_moment),
	KUNIT_CASE(scoms_of_configs),
	{ }
};

static struct kunit_suite sample_suite = { .name = "power_imc_sample", .test_cases = sample_cases };

/*
 * Whose a record is. The hardware is whoever runs, and writes its own number where the address is;
 * what the driver drains by has to find the records while that task is the current one.
 */
#define TURNS		300
#define MOST_AT_A_TIME	5
#define SHORT_LIVES	100

static struct {
	struct writer *writer;
	int cpu;
	pid_t last;
	unsigned int taken, wrong, changes, with_interrupts;
} attribution;

static void attribute(int cpu)
{
	struct power_imc_ring *ring = &attribution.writer->ring;
	u32 budget = 2 * ring->slots;
	struct power_imc_record record;
	pid_t pid;
	u64 lost;

	if (cpu != attribution.cpu)
		return;
	/* As perf finds it: none at the last switch of a task, which has ended before. */
	pid = task_pid_nr_ns(current, &init_pid_ns);
	attribution.with_interrupts += !irqs_disabled() || smp_processor_id() != cpu;
	while (power_imc_ring_take(ring, &record, &lost, &budget)) {
		attribution.wrong += be64_to_cpu(record.ip) != pid;
		attribution.changes += pid != attribution.last;
		attribution.last = pid;
		WRITE_ONCE(attribution.taken, attribution.taken + 1);
	}
}

struct traced {
	unsigned int turns, written;
	struct traced *other;
	struct completion turn, done;
};

/* Some records, then it is the other one's turn; the last records are followed by the end. */
static int traced_thread(void *data)
{
	struct traced *traced = data;
	unsigned long flags;

	for (unsigned int turn = 0; turn < traced->turns; turn++) {
		wait_for_completion(&traced->turn);
		for (unsigned int i = 0; i <= turn % MOST_AT_A_TIME; i++) {
			local_irq_save(flags);
			write_at(attribution.writer, current->pid);
			local_irq_restore(flags);
			traced->written++;
		}
		complete(&traced->other->turn);
	}
	kthread_complete_and_exit(&traced->done, 0);
}

static void traced_start(struct kunit *test, struct traced *traced)
{
	struct task_struct *task = kthread_create(traced_thread, traced, "traced");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, task);
	kthread_bind(task, attribution.cpu);
	wake_up_process(task);
}

static void traced_init(struct traced *traced, unsigned int turns, struct traced *other)
{
	*traced = (struct traced){ .turns = turns, .other = other };
	init_completion(&traced->turn);
	init_completion(&traced->done);
}

static int attribution_test_init(struct kunit *test)
{
	memset(&attribution, 0, sizeof(attribution));
	attribution.writer = writer_of(test, REAL_SLOTS);
	attribution.cpu = cpumask_last(cpu_online_mask);
	return power_imc_switch_watch(attribute);
}

static void attribution_test_exit(struct kunit *test)
{
	power_imc_switch_unwatch();
	power_imc_switch_exit();
}

/* A thread's last records are taken when it ends, which is a little after it has said so. */
static void attribution_check(struct kunit *test, unsigned int written)
{
	for (unsigned int i = 0; i < 500 && READ_ONCE(attribution.taken) < written; i++)
		msleep(20);
	KUNIT_EXPECT_EQ(test, attribution.taken, written);
	KUNIT_EXPECT_EQ(test, attribution.wrong, 0U);
	KUNIT_EXPECT_EQ(test, attribution.with_interrupts, 0U);
	KUNIT_EXPECT_EQ(test, attribution.writer->ring.lost, 0ULL);
}

static void two_tasks_take_turns(struct kunit *test)
{
	static struct traced one, two;

	traced_init(&one, TURNS, &two);
	traced_init(&two, TURNS, &one);
	complete(&one.turn);
	traced_start(test, &one);
	traced_start(test, &two);
	wait_for_completion(&one.done);
	wait_for_completion(&two.done);
	attribution_check(test, one.written + two.written);
	KUNIT_EXPECT_EQ(test, attribution.changes, 2U * TURNS);
}

/* Tasks that are never switched away from but to end. */
static void short_lives_count(struct kunit *test)
{
	unsigned int written = 0;
	static struct traced one;

	for (unsigned int i = 0; i < SHORT_LIVES; i++) {
		traced_init(&one, 1, &one);
		complete(&one.turn);
		traced_start(test, &one);
		wait_for_completion(&one.done);
		written += one.written;
	}
	attribution_check(test, written);
	KUNIT_EXPECT_EQ(test, attribution.changes, (unsigned int)SHORT_LIVES);
}

static struct kunit_case attribution_cases[] = {
	KUNIT_CASE(two_tasks_take_turns),
	KUNIT_CASE(short_lives_count),
	{ }
};

static struct kunit_suite attribution_suite = {
	.name = "power_imc_attribution", .init = attribution_test_init, .exit = attribution_test_exit,
	.test_cases = attribution_cases,
};

kunit_test_suites(&ring_suite, &sample_suite, &attribution_suite, &power_imc_switch_suite);

MODULE_DESCRIPTION("KUnit suites of power_imc_pmu's trace mode");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(PMU_KUNIT_NS);
