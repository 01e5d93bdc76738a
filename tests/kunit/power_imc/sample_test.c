// SPDX-License-Identifier: GPL-2.0-only
/*
 * What becomes of a trace record: whose samples it makes, and by which clock. Numbers are the worked
 * records of Documentation/hardware/power_imc.md, 11.5.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/perf_event.h>
#include <asm/reg.h>
#include <asm/time.h>

#include <pmu/core.h>

#include "power_imc/trace.h"
#include "records.h"
#include "suites.h"

static void expect_mode(struct kunit *test, enum power_imc_generation generation,
			const struct power_imc_record *record, bool has_user, bool user, bool guest)
{
	struct power_imc_mode mode = power_imc_record_mode(generation, record, has_user);

	KUNIT_EXPECT_EQ_MSG(test, mode.user, user, "%#llx", be64_to_cpu(record->ip));
	KUNIT_EXPECT_EQ_MSG(test, mode.guest, guest, "%#llx", be64_to_cpu(record->ip));
}

/* The worked records: on POWER9 the address tells, on POWER10 the record's top bits. */
static void modes_of_the_worked_records(struct kunit *test)
{
	static const struct { u64 ip, state; bool user, guest; } rows[] = {
		{ 0xc00000000001a2b4, 0x8000000000000000, false, false },
		{ 0x0000000010001000, 0xc000000000000000, true, false },
		{ 0xc000000000300000, 0x0000000000000000, false, true },
		{ 0x000000007fff8000, 0x4000000000000000, true, true },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		struct power_imc_record record = record_of(R1_TB, rows[i].ip, rows[i].state);

		expect_mode(test, POWER_IMC_P9, &record, true, rows[i].user, false);
		expect_mode(test, POWER_IMC_P10, &record, true, rows[i].user, rows[i].guest);
	}
}

/* On POWER9 low addresses are real ones where no program can be. POWER10 says so itself. */
static void real_mode_is_the_kernels(struct kunit *test)
{
	struct power_imc_record vector = record_of(R1_TB, 0x500, 0xc000000000000000);
	struct power_imc_record low = record_of(R1_TB, 0x10000, 0xc000000000000000);
	struct power_imc_record opal = record_of(R1_TB, 0x30001234, 0xc000000000000000);

	expect_mode(test, POWER_IMC_P9, &vector, true, false, false);
	expect_mode(test, POWER_IMC_P9, &low, true, true, false);
	expect_mode(test, POWER_IMC_P9, &opal, true, true, false);
	expect_mode(test, POWER_IMC_P9, &opal, false, false, false);
	expect_mode(test, POWER_IMC_P10, &vector, false, true, false);
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

	for (unsigned int i = 0; i < 4 * ARRAY_SIZE(rows); i++) {
		struct power_imc_mode mode = { .user = !(i % 2), .guest = i % 4 / 2 };

		KUNIT_EXPECT_EQ_MSG(test, power_imc_sample_wanted(rows[i / 4].attr, mode),
				    rows[i / 4].wanted[i % 4], "%u", i);
	}
}

/* What a fake handler got of a sample. */
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
	written.ip = regs->nip;
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
	struct power_imc_trace_event te = { .event = event, .period = 250 };
	struct pmu_event ev = { .event = event, .priv = &te };

	KUNIT_ASSERT_NOT_NULL(test, sample);
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->clock = some_clock;
	event->overflow_handler = write_sample;
	event->pmu_private = &ev;
	event->attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD;
	memset(&written, 0, sizeof(written));
	written.untouched = true;
	power_imc_sample_attach(&te, NULL);
	power_imc_sample_begin(&te, sample);
	for (unsigned int i = 0; i < 3; i++) {
		struct perf_sample_data data = { .period = 250 };

		/* As perf_tp_event() does in the end. */
		sample->time = R1_TB + i;
		sample->regs.nip = i % 2 ? 0x10001000 : 0xc000000000300000;
		sample->regs.msr = MSR_SF | MSR_LE | (i % 2 ? MSR_PR : MSR_HV);
		event->overflow_handler(event, &data, &sample->regs);
		KUNIT_EXPECT_EQ(test, written.ip, sample->regs.nip);
		KUNIT_EXPECT_EQ(test, written.user, i % 2);
		KUNIT_EXPECT_EQ(test, written.period, 250ULL);
		KUNIT_EXPECT_EQ(test, written.time, R1_TB + i);
	}
	KUNIT_EXPECT_EQ(test, written.samples, 3U);
	KUNIT_EXPECT_TRUE(test, written.untouched);
}

/* A clock that is 1 ms behind the timebase, and that somebody stops the CPU before, so often. */
static unsigned int clock_stops;

static u64 clock_that_stops(void)
{
	if (clock_stops && clock_stops--)
		mdelay(5);
	return tb_to_ns(get_tb()) - NSEC_PER_MSEC;
}

/* A CPU that is stopped while clocks are compared does not make samples late. */
static void clocks_are_compared_in_a_moment(struct kunit *test)
{
	struct power_imc_sample *sample = kunit_kzalloc(test, sizeof(*sample), GFP_KERNEL);
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct power_imc_trace_event te = { .event = event, .period = 250 };

	KUNIT_ASSERT_NOT_NULL(test, sample);
	KUNIT_ASSERT_NOT_NULL(test, event);
	event->clock = clock_that_stops;
	for (unsigned int stops = 0; stops < 3; stops++) {
		s64 late;

		clock_stops = stops;
		local_irq_disable();
		power_imc_sample_begin(&te, sample);
		local_irq_enable();
		late = (s64)te.clock_offset + NSEC_PER_MSEC;
		KUNIT_EXPECT_LT_MSG(test, abs(late), 2 * NSEC_PER_MSEC, "%u stops", stops);
	}
}

static struct kunit_case sample_cases[] = {
	KUNIT_CASE(modes_of_the_worked_records),
	KUNIT_CASE(real_mode_is_the_kernels),
	KUNIT_CASE(exclusion_is_by_mode),
	KUNIT_CASE(an_event_is_left_as_it_is),
	KUNIT_CASE(clocks_are_compared_in_a_moment),
	{ }
};

struct kunit_suite power_imc_sample_suite = {
	.name = "power_imc_sample", .test_cases = sample_cases,
};
