// SPDX-License-Identifier: GPL-2.0-only
/*
 * intel_imc: configs to registers, sequences and numbers of accesses, torn reads. Sections
 * named here are those of Documentation/hardware/intel_imc.md.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/irq_work.h>
#include <linux/irqflags.h>
#include <linux/timekeeping.h>
#include <asm/msr.h>

#include "regfile.h"
#include "suites.h"

/* 9.1, by row. 0 in @ctl: refused for its reserved bits. */
static const struct { u64 config; u32 ctl; const char *what; } encodings[] = {
	{ 0x0304, 0x00400304, "1: event=0x04,umask=0x03" },
	{ 0x0c04, 0x00400c04, "2: event=0x04,umask=0x0c" },
	{ 0x0f04, 0x00400f04, "3: event=0x04,umask=0x0f" },
	{ 0x0101, 0x00400101, "4: event=0x01,umask=0x01" },
	{ 0x0102, 0x00400102, "5: event=0x02,umask=0x01" },
	{ 0x0207, 0x00400207, "6: event=0x07,umask=0x02" },
	{ 0x0000, 0x00400000, "7: event=0x00" },
	{ 0x01040011, 0x01440011, "8: event=0x11,edge=1,thresh=1" },
	{ 0x01000080, 0x01400080, "9: event=0x80,thresh=1" },
	{ 0x04800080, 0x04c00080, "10: event=0x80,inv=1,thresh=4" },
	{ 0x04000080, 0x04400080, "11: event=0x80,thresh=4" },
	{ 0x16000080, 0x16400080, "12: event=0x80,thresh=22" },
	{ 0x10b0, 0x004010b0, "13: event=0xb0,umask=0x10" },
	{ 0x08b0, 0x004008b0, "14: event=0xb0,umask=0x08" },
	{ 0x8083, 0x00408083, "15: event=0x83,umask=0x80" },
	{ 0xff840081, 0xffc40081, "16: event=0x81,edge=1,inv=1,thresh=255" },
	{ 0xff, 0x00400000, "17: the fixed counter" },
	{ 0xffffffff, 0, "18: every bit, reserved ones too" },
	{ 0x00300304, 0, "19: stray bits 20 and 21" },
	{ 0x00030304, 0, "19: stray bits 16 and 17" },
	{ 0x00040011, 0x01440011, "21: event=0x11,edge=1" },
	{ 0x00100304, 0, "20: overflow enable, which v1 does not have" },
	{ 0x00020304, 0, "20: counter reset, likewise" },
	{ 0x00400304, 0, "the enable bit is not the user's" },
	{ BIT_ULL(32) | 4, 0, "beyond the register" },
};

static u64 reserved_bits(u64 config)
{
	for (unsigned int i = 0; i < intel_imc_snbep_kind.desc.nr_formats; i++)
		config &= ~intel_imc_snbep_kind.desc.formats[i].mask;
	return config;
}

/* Every example becomes the register value of 9.1, or is refused as a whole. */
static void config_to_register(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(encodings); i++) {
		u64 config = encodings[i].config;
		u32 ctl = encodings[i].ctl;

		KUNIT_EXPECT_EQ_MSG(test, !reserved_bits(config), !!ctl, "%s", encodings[i].what);
		if (ctl)
			KUNIT_EXPECT_EQ_MSG(test, intel_imc_config_to_ctl(config), ctl, "%s",
					    encodings[i].what);
	}
	KUNIT_EXPECT_TRUE(test, intel_imc_config_is_fixed(0xff));
	KUNIT_EXPECT_FALSE(test, intel_imc_config_is_fixed(0x1ff));
	KUNIT_EXPECT_FALSE(test, intel_imc_config_is_fixed(0x00));
}

/*
 * The highest rates, in counts per clock: 8 bits unless the event's own bound is published. That of
 * 0x80 differs between v1 and v2.
 */
static void config_to_rate(struct kunit *test)
{
	static const struct { bool v2; u64 config, counts; } rates[] = {
		{ false, 0x04, 1 }, { false, 0xff, 1 }, { false, 0x80, 22 }, { false, 0x81, 32 },
		{ false, 0x83, 16 }, { false, 0x85, 4 }, { false, 0x33, 255 },
		{ false, 0x05000080, 1 }, { false, 0x00040080, 1 },
		{ true, 0x80, 255 }, { true, 0x91, 32 }, { true, 0xb7, 1 },
	};

	for (int i = 0; i < ARRAY_SIZE(rates); i++)
		KUNIT_EXPECT_EQ_MSG(test, intel_imc_config_max_rate(rates[i].v2 ? &intel_imc_ivbep_kind :
					  &intel_imc_snbep_kind, rates[i].config),
				    rates[i].counts * 1600000000, "config %#llx", rates[i].config);
}

/* Ivy Bridge has no invert bit: refused there, and there alone. */
static void inv_is_refused(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, intel_imc_ivbep_kind.refused, 0x00800000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_snbep_kind.refused, 0ULL);
}

static void quiet(void *file)
{
	irq_work_sync(&((struct intel_imc_regfile *)file)->ch.complaint);
}

static struct intel_imc_regfile *channel(struct kunit *test)
{
	struct intel_imc_regfile *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, file);
	intel_imc_regfile_init(file);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, quiet, file), 0);
	return file;
}

/* A counter of which no rate is known: both halves of it are read. */
static u64 start(struct intel_imc_regfile *file, unsigned int idx, u32 ctl)
{
	return intel_imc_counter_start(&file->ch, idx, ctl, U64_MAX);
}

/* A counter of 1.6 GHz, the low half of which is enough however long the host lets this take. */
static u64 start_short(struct intel_imc_regfile *file, unsigned int idx, u32 ctl)
{
	u64 value = intel_imc_counter_start(&file->ch, idx, ctl, 1600000000);

	file->ch.low_half_ns[idx] = S64_MAX;
	return value;
}

/* The most accesses that a step of intel_imc_channel_check() has made */
static unsigned int longest_step;

static int call_step(struct intel_imc_channel *ch, intel_imc_step_t step)
{
	struct intel_imc_regfile *file = container_of(ch, struct intel_imc_regfile, ch);
	unsigned int before = file->reads + file->writes;
	int err = step(ch);

	longest_step = max(longest_step, file->reads + file->writes - before);
	return err;
}

static void expect_log(struct kunit *test, struct intel_imc_regfile *file,
		       const struct intel_imc_access *expected, unsigned int n)
{
	KUNIT_EXPECT_EQ(test, file->reads + file->writes, n);
	for (unsigned int i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ_MSG(test, file->log[i].write, expected[i].write, "access %u", i);
		KUNIT_EXPECT_EQ_MSG(test, file->log[i].reg, expected[i].reg, "access %u", i);
		if (expected[i].write)
			KUNIT_EXPECT_EQ_MSG(test, file->log[i].value, expected[i].value,
					    "access %u", i);
	}
}

/* Taking over: allow freezing, freeze, select nothing, clear all counters by writing 0; is anybody there? */
static void takes_over(struct kunit *test)
{
	static const struct intel_imc_access expected[] = {
		{ true, 0xf4, 0x00010000 }, { true, 0xf4, 0x00010100 },
		{ true, 0xd8, 0 }, { true, 0xa0, 0 }, { true, 0xa4, 0 },
		{ true, 0xdc, 0 }, { true, 0xa8, 0 }, { true, 0xac, 0 },
		{ true, 0xe0, 0 }, { true, 0xb0, 0 }, { true, 0xb4, 0 },
		{ true, 0xe4, 0 }, { true, 0xb8, 0 }, { true, 0xbc, 0 },
		{ true, 0xf0, 0 }, { true, 0xd0, 0 }, { true, 0xd4, 0 },
		{ false, 0xf4 },
	};
	struct intel_imc_regfile *file = channel(test);

	intel_imc_channel_reset(&file->ch);
	expect_log(test, file, expected, ARRAY_SIZE(expected));
}

/* From v2 on bits 17 and 16 of the box control have to be written 1, frozen or not. */
static void freezes_later_ones(struct kunit *test)
{
	static const struct intel_imc_access expected[] = {
		{ true, 0xf4, 0x00030000 }, { true, 0xf4, 0x00030100 },
	};
	struct intel_imc_regfile *file = channel(test);

	file->ch.box_ones = 0x00030000;
	intel_imc_channel_thaw(&file->ch);
	intel_imc_channel_freeze(&file->ch);
	expect_log(test, file, expected, ARRAY_SIZE(expected));
}

/* N events from idle: N + 1 writes, no read, thawed last. */
static void starts_at_n_plus_1(struct kunit *test)
{
	static const struct intel_imc_access expected[] = {
		{ true, 0xd8, 0x00400304 }, { true, 0xdc, 0x00400c04 }, { true, 0xe0, 0x00400101 },
		{ true, 0xe4, 0x00400010 }, { true, 0xf0, 0x00400000 }, { true, 0xf4, 0x00010000 },
	};
	struct intel_imc_regfile *file = channel(test);

	start(file, 0, 0x00400304);
	start(file, 1, 0x00400c04);
	start(file, 2, 0x00400101);
	start(file, 3, 0x00400010);
	start(file, INTEL_IMC_FIXED, 0x00400000);
	intel_imc_channel_thaw(&file->ch);
	expect_log(test, file, expected, ARRAY_SIZE(expected));
}

/* Stopping N: one write, two reads each. The same N again: one write. */
static void stops_at_1_and_restarts_at_1(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);
	u64 value;

	start(file, 0, 0x00400304);
	start(file, 1, 0x00400c04);
	intel_imc_channel_thaw(&file->ch);
	intel_imc_regfile_set_counter(file, 0, 0x123456789abc);
	intel_imc_regfile_forget(file);

	intel_imc_channel_freeze(&file->ch);
	for (int i = 0; i < 2; i++) {
		KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, i, &value), 0);
		intel_imc_counter_stop(&file->ch, i);
	}
	KUNIT_EXPECT_EQ(test, file->writes, 1U);
	KUNIT_EXPECT_EQ(test, file->reads, 4U);
	KUNIT_EXPECT_EQ(test, file->log[0].value, 0x00010100U);

	intel_imc_regfile_forget(file);
	/* The counter goes on from where it stopped, without being read. */
	KUNIT_EXPECT_EQ(test, start(file, 0, 0x00400304), 0x123456789abcULL);
	start(file, 1, 0x00400c04);
	intel_imc_channel_thaw(&file->ch);
	KUNIT_EXPECT_EQ(test, file->writes, 1U);
	KUNIT_EXPECT_EQ(test, file->reads, 0U);
}

/* A stopped counter is disabled before the channel thaws for the others: it must not move. */
static void disables_what_stopped(struct kunit *test)
{
	static const struct intel_imc_access expected[] = {
		{ true, 0xf4, 0x00010100 }, { true, 0xd8, 0 }, { true, 0xf4, 0x00010000 },
	};
	struct intel_imc_regfile *file = channel(test);

	start(file, 0, 0x00400304);
	start(file, 1, 0x00400c04);
	intel_imc_channel_thaw(&file->ch);
	intel_imc_regfile_forget(file);
	intel_imc_channel_freeze(&file->ch);
	intel_imc_counter_stop(&file->ch, 0);
	intel_imc_channel_thaw(&file->ch);
	expect_log(test, file, expected, ARRAY_SIZE(expected));
}

/*
 * To start or stop a counter beside others takes one write of its control. The others count on:
 * none of the clocks that pass with each access is lost.
 */
static void starts_and_stops_beside_at_1(struct kunit *test)
{
	static const struct intel_imc_access expected[] = {
		{ true, 0xdc, 0x00400c04 }, { true, 0xdc, 0 }, { false, 0xa8 }, { false, 0xac },
		{ true, 0xdc, 0x00400c04 },
	};
	struct intel_imc_regfile *file = channel(test);
	u64 before, value;

	start(file, INTEL_IMC_FIXED, 0x00400000);
	intel_imc_channel_thaw(&file->ch);
	intel_imc_regfile_forget(file);
	before = intel_imc_regfile_counter(file, INTEL_IMC_FIXED);
	start(file, 1, 0x00400c04);
	/* The low half cannot carry soon, so the high half need not be read again. */
	intel_imc_regfile_set_counter(file, 1, 0xffffffff);
	intel_imc_counter_stop(&file->ch, 1);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 1, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0xffffffffULL);
	KUNIT_EXPECT_EQ(test, start(file, 1, 0x00400c04), 0xffffffffULL);
	expect_log(test, file, expected, ARRAY_SIZE(expected));
	KUNIT_EXPECT_EQ(test, intel_imc_regfile_counter(file, INTEL_IMC_FIXED) - before, 5000ULL);
}

/* Short after a read the low half is enough: over its end, and over that of all 48 bits. */
static void reads_at_1(struct kunit *test)
{
	static const u64 values[] = {
		0x3fffffff, 0x7ffffffe, 0xbffffffd, 0xfffffffc, 0x100000030, 0x100000030,
	};
	struct intel_imc_regfile *file = channel(test);
	u64 value;

	start_short(file, 3, 0x00400304);
	intel_imc_channel_thaw(&file->ch);
	for (int i = 0; i < ARRAY_SIZE(values); i++) {
		intel_imc_regfile_set_counter(file, 3, values[i]);
		intel_imc_regfile_forget(file);
		KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 3, &value), 0);
		KUNIT_EXPECT_EQ_MSG(test, value, values[i], "read %d", i);
		KUNIT_EXPECT_EQ_MSG(test, file->reads, 1U, "read %d", i);
	}
	file->ch.value[3] = 0xfffffffffff0;
	intel_imc_regfile_set_counter(file, 3, 0x20);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 3, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0x20ULL);
	KUNIT_EXPECT_EQ(test, file->reads, 2U);
}

/* For so long: a quarter of 2^32 at the event's highest rate; and that since the last read, not the start. */
static void low_half_for_so_long(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);
	u64 value;

	intel_imc_counter_start(&file->ch, 0, 0x00400304, 1600000000);
	KUNIT_EXPECT_EQ(test, file->ch.low_half_ns[0], 671088640ULL);
	intel_imc_counter_start(&file->ch, 1, 0x00400033, 255 * 1600000000ULL);
	KUNIT_EXPECT_EQ(test, file->ch.low_half_ns[1], 2631720ULL);
	intel_imc_channel_thaw(&file->ch);
	intel_imc_regfile_forget(file);

	/* After this time the low half may have wrapped unnoticed. */
	file->ch.read_ns[0] -= 671088640;
	intel_imc_regfile_set_counter(file, 0, 0x200000005);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0x200000005ULL);
	KUNIT_EXPECT_GE(test, file->reads, 2U);
	KUNIT_EXPECT_LT(test, ktime_get_mono_fast_ns() - file->ch.read_ns[0], 671088640ULL);
	/* Stopped for a while it has not: what counts is the time since it started. */
	intel_imc_counter_stop(&file->ch, 0);
	file->ch.read_ns[0] -= 671088640;
	start_short(file, 0, 0x00400304);
	intel_imc_regfile_set_counter(file, 0, 0x200000009);
	intel_imc_regfile_forget(file);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0x200000009ULL);
	KUNIT_EXPECT_EQ(test, file->reads, 1U);
}

/* An impossible value of the low half is not believed, nor any in a suspect channel. */
static void low_half_is_not_enough(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);
	u64 value;

	start_short(file, 0, 0x00400304);
	intel_imc_channel_thaw(&file->ch);
	intel_imc_regfile_set_counter(file, 0, 0x140000001);
	intel_imc_regfile_forget(file);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0x140000001ULL);
	KUNIT_EXPECT_GE(test, file->reads, 2U);

	file->ch.suspect = true;
	intel_imc_regfile_set_counter(file, 0, 0x240000001);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0x240000001ULL);
	file->ch.suspect = false;

	/* Gone just when the counter was near its end: all ones are near, too. */
	intel_imc_regfile_set_counter(file, 0, 0x2fffffff0);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0x2fffffff0ULL);
	file->gone = true;
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), -ENODEV);
	file->gone = false;
	file->ch.suspect = false;
	intel_imc_regfile_set_counter(file, 0, 0x2ffffffff);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0x2ffffffffULL);
}

/*
 * Away from the low half's end a running counter costs two reads, low first. A third is due if
 * so much time passed between them that it could have got there, as when the host ran something
 * else; so the case is made of a read that took too little time for that.
 */
static void reads_at_2(struct kunit *test)
{
	static const struct intel_imc_access expected[] = { { false, 0xa8 }, { false, 0xac } };
	const u64 enough = (U32_MAX - 0x1234) / 512;	/* ticks of the TSC, at most 512 counts each */
	struct intel_imc_regfile *file = channel(test);
	u64 value, begin, ticks;
	int tries = 0;

	start(file, 1, 0x00400304);
	intel_imc_channel_thaw(&file->ch);
	intel_imc_regfile_set_counter(file, 1, 0xffff00001234);
	do {
		intel_imc_regfile_forget(file);
		begin = rdtsc_ordered();
		KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 1, &value), 0);
		ticks = rdtsc_ordered() - begin;
		KUNIT_EXPECT_EQ(test, value, 0xffff00001234ULL);
	} while (ticks >= enough && ++tries < 10000);
	expect_log(test, file, expected, ARRAY_SIZE(expected));
}

/*
 * A carry between any two of the reads, on every counter: the value is one that the
 * counter had while it was read. Low then high, as the in-tree driver reads, would give
 * 0x1fffffff8 for the example of 9.2, 2^32 too much.
 */
static void never_torn(struct kunit *test)
{
	static const unsigned int low_reg[] = { 0xa0, 0xa8, 0xb0, 0xb8, 0xd0 };

	for (unsigned int idx = 0; idx < INTEL_IMC_COUNTERS; idx++) {
		for (unsigned int half = 0; half < 2; half++) {
			struct intel_imc_regfile *file = channel(test);
			u64 before = 0xfffffff8, events = 0x28, value = 0;

			file->clock = 0;
			start(file, idx, 0x00400304);
			intel_imc_channel_thaw(&file->ch);
			intel_imc_regfile_set_counter(file, idx, before);
			intel_imc_regfile_forget(file);
			file->tear_reg = low_reg[idx] + 4 * half;
			file->tear = events;
			KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, idx, &value), 0);
			KUNIT_EXPECT_TRUE_MSG(test, value == before || value == before + events,
					      "counter %u: %#llx", idx, value);
			KUNIT_EXPECT_LE(test, file->reads, 4U);
		}
	}
}

/* Near the end without a carry: one more read, and the right value. */
static void near_the_end(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);
	u64 value;

	start(file, 0, 0x00400304);
	intel_imc_channel_thaw(&file->ch);
	intel_imc_regfile_set_counter(file, 0, 0x5ffffffff);
	intel_imc_regfile_forget(file);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0x5ffffffffULL);
	KUNIT_EXPECT_EQ(test, file->reads, 3U);
	/* Frozen, no carry can come: two. */
	intel_imc_channel_freeze(&file->ch);
	intel_imc_regfile_forget(file);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, file->reads, 2U);
}

/*
 * How near is near: 510 counts for each tick of the TSC that the two reads took. Here they take
 * 2^21 ticks at least, so a counter that is one count nearer than 510 times that may have carried,
 * and has. Were the bound lower by far, the two reads would have to take that much longer by
 * themselves for it to be seen.
 */
static void bound_decides(struct kunit *test)
{
	const u64 before = BIT_ULL(32) - 510ULL * (1 << 21) + 1, events = 510ULL * (1 << 21);
	struct intel_imc_regfile *file = channel(test);
	u64 value;

	file->ticks = 1 << 20;
	start(file, 2, 0x00400304);
	intel_imc_channel_thaw(&file->ch);
	intel_imc_regfile_set_counter(file, 2, before);
	intel_imc_regfile_forget(file);
	file->tear_reg = 0xb0;
	file->tear = events;
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 2, &value), 0);
	KUNIT_EXPECT_EQ(test, value, before + events);
	KUNIT_EXPECT_EQ(test, file->reads, 4U);
}

/* A function that is gone answers all ones, which no counter can: 63:48 read 0. */
static void all_ones(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);
	u64 value = 42;

	start(file, 0, 0x00400304);
	intel_imc_channel_thaw(&file->ch);
	file->gone = true;
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), -ENODEV);
	KUNIT_EXPECT_EQ(test, value, 42ULL);
	file->gone = false;
	intel_imc_regfile_set_counter(file, 0, GENMASK_ULL(47, 0));
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, value, GENMASK_ULL(47, 0));
}

/* Only a channel whose clock advances, and stops when frozen, gets a PMU. */
static void checks_that_it_counts(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);

	KUNIT_EXPECT_EQ(test, intel_imc_channel_check(&file->ch, call_step), 0);
	/* The channel is as before: frozen, nothing enabled, cleared. */
	KUNIT_EXPECT_EQ(test, file->regs[0xf4 / 4], 0x00010100U);
	KUNIT_EXPECT_EQ(test, file->regs[0xf0 / 4], 0U);
	KUNIT_EXPECT_EQ(test, intel_imc_regfile_counter(file, INTEL_IMC_FIXED), 0ULL);

	file->clock = 0;
	KUNIT_EXPECT_EQ(test, intel_imc_channel_check(&file->ch, call_step), -EIO);
	file->clock = 1000;
	file->never_freezes = true;
	KUNIT_EXPECT_EQ(test, intel_imc_channel_check(&file->ch, call_step), -EBUSY);
	file->gone = true;
	KUNIT_EXPECT_EQ(test, intel_imc_channel_check(&file->ch, call_step), -ENODEV);
}

/* Each control in use is read once, and nothing else is. If all are right, nothing happens. */
static void inspects_what_is_in_use(struct kunit *test)
{
	static const struct intel_imc_access expected[] = { { false, 0xd8 }, { false, 0xf0 } };
	struct intel_imc_regfile *file = channel(test);

	start(file, 0, 0x00400304);
	start(file, INTEL_IMC_FIXED, 0x00400000);
	intel_imc_regfile_forget(file);
	intel_imc_channel_inspect(&file->ch);
	expect_log(test, file, expected, ARRAY_SIZE(expected));
	KUNIT_EXPECT_FALSE(test, file->ch.suspect);
	KUNIT_EXPECT_FALSE(test, file->ch.told);
}

/* Between passes of reads, the controls and the freeze bit are checked every 10 s at most. */
static void inspects_every_10_s(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);

	start(file, 0, 0x00400304);
	intel_imc_regfile_forget(file);
	intel_imc_channel_inspect_sometimes(&file->ch);
	KUNIT_EXPECT_EQ(test, file->reads, 0U);
	file->ch.next_inspection -= 10 * HZ;
	for (int i = 0; i < 3; i++)
		intel_imc_channel_inspect_sometimes(&file->ch);
	KUNIT_EXPECT_EQ(test, file->reads, 6U);
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	KUNIT_EXPECT_FALSE(test, file->ch.suspect);
}

/* 10 s have passed. */
static void inspect_now(struct intel_imc_regfile *file)
{
	file->ch.next_inspection = jiffies;
	intel_imc_channel_inspect_sometimes(&file->ch);
}

/* A counter in use is put right and counts on. An unused one is disabled when the channel thaws. */
static void counts_on_when_found_wrong(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);

	start(file, 0, 0x00400304);
	intel_imc_channel_thaw(&file->ch);
	file->regs[0xd8 / 4] = 0;
	file->regs[0xdc / 4] = 0x00400c04;
	inspect_now(file);
	KUNIT_EXPECT_EQ(test, file->regs[0xd8 / 4], 0x00400304U);
	KUNIT_EXPECT_EQ(test, file->regs[0xdc / 4], 0x00400c04U);
	KUNIT_EXPECT_TRUE(test, file->ch.told);
	intel_imc_channel_freeze(&file->ch);
	intel_imc_channel_thaw(&file->ch);
	KUNIT_EXPECT_EQ(test, file->regs[0xdc / 4], 0U);
	/* The counter's value is not believed either. */
	intel_imc_regfile_set_counter(file, 1, 77);
	KUNIT_EXPECT_EQ(test, start(file, 1, 0x00400c04), 77ULL);
}

/* The controls tell neither a lost thaw nor another program's freeze. */
static void thaws_when_found_frozen(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);

	start(file, 0, 0x00400304);
	intel_imc_channel_thaw(&file->ch);
	file->regs[0xf4 / 4] = 0x00010100;
	inspect_now(file);
	KUNIT_EXPECT_EQ(test, file->regs[0xf4 / 4], 0x00010000U);
	KUNIT_EXPECT_TRUE(test, file->ch.told);

	/* If the freeze bit never reads 1, it tells nothing. */
	file->ch.told = false;
	file->ch.freeze_reads = false;
	file->regs[0xf4 / 4] = 0x00010100;
	inspect_now(file);
	KUNIT_EXPECT_FALSE(test, file->ch.told);
}

/* Bits that are no fields may read as anything. */
static void other_bits_are_nobodys(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);

	start(file, 0, 0x00400304);
	start(file, INTEL_IMC_FIXED, 0x00400000);
	file->regs[0xd8 / 4] |= 0x003b0000;
	file->regs[0xf0 / 4] |= 0xff04ffff;
	inspect_now(file);
	intel_imc_channel_inspect(&file->ch);
	KUNIT_EXPECT_FALSE(test, file->ch.suspect);
}

/* perf may hold the scheduler's locks where this is called: nothing is printed there. */
static void complains_later(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);
	bool busy;

	start(file, 0, 0x00400304);
	file->regs[0xd8 / 4] = 0;
	local_irq_disable();
	intel_imc_channel_inspect(&file->ch);
	busy = irq_work_is_busy(&file->ch.complaint);
	local_irq_enable();
	KUNIT_EXPECT_TRUE(test, busy);
}

/* The log says it once, and again only after a session without a fault. */
static void complains_again(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);

	for (int session = 0; session < 4; session++) {
		intel_imc_channel_reset(&file->ch);
		start(file, 0, 0x00400304);
		if (session != 2)
			file->regs[0xd8 / 4] = 0;
		file->ch.odd_reg = 0;
		intel_imc_channel_inspect(&file->ch);
		KUNIT_EXPECT_EQ_MSG(test, file->ch.odd_reg, session == 0 || session == 3 ? 0xd8U : 0U,
				    "session %d", session);
		irq_work_sync(&file->ch.complaint);
	}
}

/* Nothing of a take-over has arrived: what starts then is not believed to be 0. */
static void gone_while_taken_over(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);

	intel_imc_regfile_set_counter(file, 0, 12345);
	file->gone = true;
	intel_imc_channel_reset(&file->ch);
	file->gone = false;
	KUNIT_EXPECT_TRUE(test, file->ch.suspect);
	KUNIT_EXPECT_EQ(test, start(file, 0, 0x00400304), 12345ULL);
}

/*
 * Another program has written both registers of a stopped counter. Until the channel is taken over
 * anew, each start writes the control and reads the counter.
 */
static void believes_nothing_then(struct kunit *test)
{
	static const struct intel_imc_access expected[] = {
		{ true, 0xd8, 0x00400304 }, { false, 0xa0 }, { false, 0xa4 },
	};
	struct intel_imc_regfile *file = channel(test);

	start(file, 0, 0x00400304);
	intel_imc_counter_stop(&file->ch, 0);
	file->regs[0xd8 / 4] = 0x00400c04;
	intel_imc_regfile_set_counter(file, 0, 0x123456789abc);
	intel_imc_channel_inspect(&file->ch);
	KUNIT_EXPECT_TRUE(test, file->ch.told);
	for (int i = 0; i < 2; i++) {
		intel_imc_regfile_forget(file);
		KUNIT_EXPECT_EQ(test, start(file, 0, 0x00400304),
				0x123456789abcULL);
		expect_log(test, file, expected, ARRAY_SIZE(expected));
		intel_imc_counter_stop(&file->ch, 0);
	}
	intel_imc_channel_reset(&file->ch);
	intel_imc_regfile_forget(file);
	KUNIT_EXPECT_EQ(test, start(file, 0, 0x00400304), 0ULL);
	expect_log(test, file, expected, 1);
}

/* Writes are lost while the function does not answer. No other program is blamed for this. */
static void gone_is_suspect(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);
	u64 value;

	start(file, 0, 0x00400304);
	intel_imc_channel_thaw(&file->ch);
	file->gone = true;
	intel_imc_channel_inspect(&file->ch);
	KUNIT_EXPECT_FALSE(test, file->ch.told);
	KUNIT_EXPECT_TRUE(test, file->ch.suspect);
	file->ch.suspect = false;
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), -ENODEV);
	KUNIT_EXPECT_TRUE(test, file->ch.suspect);
}

/* However long it takes to see that there is no clock, no step keeps a CPU from its interrupts for long. */
static void checks_in_short_steps(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);

	file->clock = 0;
	longest_step = 0;
	KUNIT_EXPECT_EQ(test, intel_imc_channel_check(&file->ch, call_step), -EIO);
	/* To take over is the longest: 18 accesses, then a control, the thaw, and a read. */
	KUNIT_EXPECT_LE(test, longest_step, 23U);
}

/*
 * A clock that starts late within the millisecond is accepted. The check does not sleep meanwhile.
 * The host may stop everything for that long, so there are several tries.
 */
static void waits_for_the_clock(struct kunit *test)
{
	struct intel_imc_regfile *file = channel(test);
	int err, tries = 0;

	file->clock = 0;
	file->tear_reg = 0xd0;
	do {
		file->tear_skip = 3;
		file->tear = 1;
		err = intel_imc_channel_check(&file->ch, call_step);
	} while (err == -EIO && ++tries < 100);
	KUNIT_EXPECT_EQ(test, err, 0);
}

/* Giving up: nothing enabled, the box control as after reset but for what must be 1. */
static void gives_up(struct kunit *test)
{
	static const u32 box_ones[] = { 0, 0x00030000 };

	for (int i = 0; i < ARRAY_SIZE(box_ones); i++) {
		const struct intel_imc_access expected[] = {
			{ true, 0xd8, 0 }, { true, 0xdc, 0 }, { true, 0xe0, 0 }, { true, 0xe4, 0 },
			{ true, 0xf0, 0 }, { true, 0xf4, box_ones[i] },
		};
		struct intel_imc_regfile *file = channel(test);

		file->ch.box_ones = box_ones[i];
		intel_imc_channel_quiesce(&file->ch);
		expect_log(test, file, expected, ARRAY_SIZE(expected));
	}
}

/* The map's field that holds the node's id is the package: 1.4 and 9.3. */
static void socket_of_a_node(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, intel_imc_socket_from_map(2, 0x00fac688), 2);
	KUNIT_EXPECT_EQ(test, intel_imc_socket_from_map(5, 0x00fac688), 5);
	KUNIT_EXPECT_EQ(test, intel_imc_socket_from_map(0, 0), 0);
	/* The first match wins; bits above the id are somebody else's. */
	KUNIT_EXPECT_EQ(test, intel_imc_socket_from_map(0xfffffff8 | 1, 0x249249 << 3), 1);
	/* Swapped sockets; and a node that the map does not have. */
	KUNIT_EXPECT_EQ(test, intel_imc_socket_from_map(0, 0001), 1);
	KUNIT_EXPECT_EQ(test, intel_imc_socket_from_map(7, 0), -ENXIO);
}

/* ACPI's table MCFG: 44 bytes of head, and 16 for each region. Firmware may cut it anywhere. */
static void regions_of_a_cut_table(struct kunit *test)
{
	static const struct { u32 length; unsigned int regions; } rows[] = {
		{ 0, 0 }, { 36, 0 }, { 43, 0 }, { 44, 0 }, { 59, 0 }, { 60, 1 }, { 75, 1 }, { 76, 2 },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ(test, intel_imc_mcfg_entries(rows[i].length), rows[i].regions);
}

static struct kunit_case intel_imc_cases[] = {
	KUNIT_CASE(regions_of_a_cut_table),
	KUNIT_CASE(config_to_register),
	KUNIT_CASE(config_to_rate),
	KUNIT_CASE(inv_is_refused),
	KUNIT_CASE(takes_over),
	KUNIT_CASE(freezes_later_ones),
	KUNIT_CASE(starts_at_n_plus_1),
	KUNIT_CASE(stops_at_1_and_restarts_at_1),
	KUNIT_CASE(disables_what_stopped),
	KUNIT_CASE(starts_and_stops_beside_at_1),
	KUNIT_CASE(reads_at_1),
	KUNIT_CASE(low_half_for_so_long),
	KUNIT_CASE(low_half_is_not_enough),
	KUNIT_CASE(reads_at_2),
	KUNIT_CASE(never_torn),
	KUNIT_CASE(near_the_end),
	KUNIT_CASE(bound_decides),
	KUNIT_CASE(all_ones),
	KUNIT_CASE(checks_that_it_counts),
	KUNIT_CASE(checks_in_short_steps),
	KUNIT_CASE(waits_for_the_clock),
	KUNIT_CASE(inspects_what_is_in_use),
	KUNIT_CASE(inspects_every_10_s),
	KUNIT_CASE(counts_on_when_found_wrong),
	KUNIT_CASE(thaws_when_found_frozen),
	KUNIT_CASE(other_bits_are_nobodys),
	KUNIT_CASE(complains_later),
	KUNIT_CASE(complains_again),
	KUNIT_CASE(believes_nothing_then),
	KUNIT_CASE(gone_while_taken_over),
	KUNIT_CASE(gone_is_suspect),
	KUNIT_CASE(gives_up),
	KUNIT_CASE(socket_of_a_node),
	{ }
};

struct kunit_suite intel_imc_suite = {
	.name = "intel_imc",
	.test_cases = intel_imc_cases,
};
