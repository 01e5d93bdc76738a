// SPDX-License-Identifier: GPL-2.0-only
/*
 * intel_imc, channels in memory: addresses, and sequences of accesses. Sections named here are those of
 * Documentation/hardware/intel_imc.md, from which the numbers are.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/irq_work.h>
#include <linux/string.h>

#include "suites.h"

#include <intel_imc/intel_imc.h>

#define LOG	64
#define ENABLE	0x00400000

/* 14.3, in the order of counters */
static const u8 ctr[] = { 0x08, 0x10, 0x18, 0x20, 0x38 };
static const u8 ctl[] = { 0x40, 0x44, 0x48, 0x4c, 0x54 };

struct access {
	char kind;			/* r, w: a dword; c: a counter */
	unsigned int reg;
	u32 value;
};

/* A block that records how it is used. A counter cannot be written. */
struct block {
	struct intel_imc_channel ch;
	struct pci_dev pdev;
	u32 regs[24];			/* by dword */
	u64 counter[INTEL_IMC_COUNTERS];
	struct access log[LOG];
	unsigned int n;
	u64 clock;			/* of the fixed counter, for each access */
	bool keeps_fixed;		/* the reset does not clear it */
	bool gone;
	bool phantom;			/* ignores writes */
	bool twice;			/* a control takes the second write */
	u32 written;
	u32 drops;			/* bits that controls do not keep */
	bool deaf_once;			/* the next counter is read as all ones */
	bool spr;			/* the bits of Sapphire Rapids */
};

static struct block *of(struct intel_imc_channel *ch)
{
	return container_of(ch, struct block, ch);
}

static void record(struct block *block, char kind, unsigned int reg, u32 value)
{
	bool frozen = block->regs[0] & (block->spr ? 1 : 0x100);

	if (!frozen && block->regs[0x54 / 4] & ENABLE)
		block->counter[INTEL_IMC_FIXED] += block->clock;
	if (block->n < LOG)
		block->log[block->n] = (struct access){ kind, reg, value };
	block->n++;
}

static u32 block_read(struct intel_imc_channel *ch, unsigned int reg)
{
	record(of(ch), 'r', reg, 0);
	return of(ch)->gone ? ~0U : of(ch)->regs[reg / 4];
}

static void block_write(struct intel_imc_channel *ch, unsigned int reg, u32 value)
{
	struct block *block = of(ch);

	record(block, 'w', reg, value);
	if (block->gone || block->phantom)
		return;
	if (!reg && value & (block->spr ? 0x200 : 2))
		memset(block->counter, 0, (block->keeps_fixed ? 4 : 5) * sizeof(u64));
	if (!reg)
		value &= block->spr ? 1 : ~3U;
	if (reg && block->twice && block->written != value) {
		block->written = value;
		return;
	}
	block->regs[reg / 4] = reg ? value & ~block->drops : value;
}

static u64 block_read_counter(struct intel_imc_channel *ch, unsigned int reg)
{
	record(of(ch), 'c', reg, 0);
	if (of(ch)->gone || of(ch)->deaf_once) {
		of(ch)->deaf_once = false;
		return ~0ULL;
	}
	for (int i = 0; i < ARRAY_SIZE(ctr); i++)
		if (ctr[i] == reg)
			return of(ch)->counter[i];
	return ~0ULL;
}

static const struct intel_imc_io block_io = {
	.read = block_read, .write = block_write, .read_counter = block_read_counter,
};

static void quiet(void *block)
{
	irq_work_sync(&((struct block *)block)->ch.complaint);
}

/* A channel taken over, with nothing recorded yet */
static struct block *a_block_of(struct kunit *test, const struct intel_imc_layout *layout)
{
	struct block *block = kunit_kzalloc(test, sizeof(*block), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, block);
	block->ch.io = &block_io;
	block->ch.layout = layout;
	block->spr = layout == &intel_imc_spr_layout;
	block->ch.pdev = &block->pdev;
	block->clock = 1000;
	intel_imc_channel_init(&block->ch);
	intel_imc_channel_reset(&block->ch);
	block->n = 0;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, quiet, block), 0);
	return block;
}

static struct block *a_block(struct kunit *test)
{
	return a_block_of(test, &intel_imc_icx_layout);
}

static void expect_log(struct kunit *test, struct block *block, const struct access *expected,
		       unsigned int n)
{
	KUNIT_EXPECT_EQ(test, block->n, n);
	for (unsigned int i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ_MSG(test, block->log[i].kind, expected[i].kind, "access %u", i);
		KUNIT_EXPECT_EQ_MSG(test, block->log[i].reg, expected[i].reg, "access %u", i);
		KUNIT_EXPECT_EQ_MSG(test, block->log[i].value, expected[i].value, "access %u", i);
	}
}

/* 14.2: d0 has bits 51:23, d8 and so on 22:12, and what else they hold does not matter. */
static void address_of_a_controller(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, intel_imc_controller_address(0x1a0, 0x40), 0xd0040000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_controller_address(0x200001a0, 0x00200040), 0xd0040000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_controller_address(0xe00001a0, 0xfffff840), 0xd0040000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_controller_address(1, 0x7ff), 0x0fff000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_controller_address(0x1ffffffe, 1), 0xfffffff001000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_icx_blocks.offset, 0x22800U);
	KUNIT_EXPECT_EQ(test, intel_imc_icx_blocks.stride, 0x4000U);
}

/* Nothing that a register holds leads to an address outside of 52 bits, and 0 and all ones to none. */
static void addresses_that_are_none(struct kunit *test)
{
	static const u32 none[] = { 0, ~0U };

	for (int i = 0; i < ARRAY_SIZE(none); i++) {
		KUNIT_EXPECT_EQ(test, intel_imc_controller_address(none[i], 0x40), 0ULL);
		KUNIT_EXPECT_EQ(test, intel_imc_controller_address(0x1a0, none[i]), 0ULL);
	}
	/* Only bits that are no part of the address */
	KUNIT_EXPECT_EQ(test, intel_imc_controller_address(0x20000000, 0x40), 0ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_controller_address(0x1a0, 0xfffff800), 0ULL);
	for (u32 base = 1; base; base <<= 1) {
		for (u32 mem = 1; mem; mem <<= 1) {
			u64 address = intel_imc_controller_address(base, mem);

			KUNIT_EXPECT_EQ(test, !address, !(base & 0x1fffffff) || !(mem & 0x7ff));
			KUNIT_EXPECT_EQ(test, address >> 52, 0ULL);
		}
	}
}

/* 14.2: 4 controllers, 2 channels in each, and on some machines a third one: 2, 5, 8 and 11. */
static void channels_of_a_socket(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, intel_imc_icx_blocks.controllers, 4);
	KUNIT_EXPECT_EQ(test, intel_imc_icx_blocks.channels, 3);
	for (unsigned int number = 0; number < 12; number++) {
		KUNIT_EXPECT_EQ(test, intel_imc_mmio_is_certain(&intel_imc_icx_blocks, number),
				number != 2 && number != 5 && number != 8 && number != 11);
		/* What a table lists is there. */
		KUNIT_EXPECT_TRUE(test, intel_imc_mmio_is_certain(&intel_imc_spr_blocks, number));
		KUNIT_EXPECT_TRUE(test, intel_imc_mmio_is_certain(&intel_imc_gnr_blocks, number));
	}
}

/* 14.2: a channel that is not active ignores writes and reads 0. Nothing is enabled to find out. */
static void keeps_what_is_written(struct kunit *test)
{
	static const struct access expected[] = {
		{ 'w', 0x40, 0xffff }, { 'r', 0x40, 0 }, { 'w', 0x40, 0 },
	};
	struct block *block = a_block(test);

	KUNIT_EXPECT_TRUE(test, intel_imc_channel_keeps(&block->ch));
	expect_log(test, block, expected, ARRAY_SIZE(expected));
	KUNIT_EXPECT_EQ(test, block->regs[0x40 / 4], 0U);
	block->phantom = true;
	KUNIT_EXPECT_FALSE(test, intel_imc_channel_keeps(&block->ch));
	block->regs[0x40 / 4] = 0xff;
	KUNIT_EXPECT_FALSE(test, intel_imc_channel_keeps(&block->ch));
	block->phantom = false;
	block->gone = true;
	KUNIT_EXPECT_FALSE(test, intel_imc_channel_keeps(&block->ch));
}

/* One that is there may take the second write, or keep some bits: that is for the self-test to say. */
static void keeps_otherwise(struct kunit *test)
{
	struct block *block = a_block(test);

	block->drops = 0x80;
	KUNIT_EXPECT_TRUE(test, intel_imc_channel_keeps(&block->ch));
	KUNIT_EXPECT_EQ(test, block->ch.found, 0);
	block->drops = 0;
	block->twice = true;
	KUNIT_EXPECT_TRUE(test, intel_imc_channel_keeps(&block->ch));
	KUNIT_EXPECT_EQ(test, block->ch.found, BIT(INTEL_IMC_FOUND_TWICE));
	KUNIT_EXPECT_EQ(test, block->regs[0x40 / 4], 0U);
}

/* Taking over: freeze, clear all counters together, select nothing, see what the counters have. */
static void takes_over(struct kunit *test)
{
	static const struct access expected[] = {
		{ 'w', 0x00, 0x00010000 }, { 'w', 0x00, 0x00010100 },
		{ 'w', 0x00, 0x00010102 }, { 'w', 0x00, 0x00010100 },
		{ 'w', 0x40, 0 }, { 'c', 0x08, 0 }, { 'w', 0x44, 0 }, { 'c', 0x10, 0 },
		{ 'w', 0x48, 0 }, { 'c', 0x18, 0 }, { 'w', 0x4c, 0 }, { 'c', 0x20, 0 },
		{ 'w', 0x54, 0 }, { 'c', 0x38, 0 }, { 'r', 0x00, 0 },
	};
	struct block *block = a_block(test);

	intel_imc_channel_reset(&block->ch);
	expect_log(test, block, expected, ARRAY_SIZE(expected));
}

/* A count that the reset leaves is not counted. */
static void starts_from_what_is_there(struct kunit *test)
{
	struct block *block = a_block(test);

	block->keeps_fixed = true;
	block->counter[INTEL_IMC_FIXED] = 0x123456789abc;
	block->counter[0] = 5;
	intel_imc_channel_reset(&block->ch);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_start(&block->ch, 0, ENABLE | 0xf04, 1), 0ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_start(&block->ch, INTEL_IMC_FIXED, ENABLE, 1),
			0x123456789abcULL);
}

/* N events: N + 1 writes to start, 1 read each, 1 write and 1 read each to stop, 1 write to start again. */
static void accesses(struct kunit *test)
{
	struct block *block = a_block(test);
	u64 value;

	for (int i = 0; i < INTEL_IMC_COUNTERS; i++)
		intel_imc_counter_start(&block->ch, i, ENABLE | (i < 4 ? i : 0), U64_MAX);
	intel_imc_channel_thaw(&block->ch);
	KUNIT_EXPECT_EQ(test, block->n, 6U);
	for (int i = 0; i < INTEL_IMC_COUNTERS; i++) {
		KUNIT_EXPECT_EQ(test, block->log[i].reg, (unsigned int)ctl[i]);
		block->n = 0;
		KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&block->ch, i, &value), 0);
		KUNIT_EXPECT_EQ(test, block->n, 1U);
		KUNIT_EXPECT_EQ(test, block->log[0].kind, 'c');
		KUNIT_EXPECT_EQ(test, block->log[0].reg, (unsigned int)ctr[i]);
	}
	block->n = 0;
	intel_imc_channel_freeze(&block->ch);
	for (int i = 0; i < INTEL_IMC_COUNTERS; i++) {
		intel_imc_counter_read(&block->ch, i, &value);
		intel_imc_counter_stop(&block->ch, i);
	}
	KUNIT_EXPECT_EQ(test, block->n, 6U);
	KUNIT_EXPECT_EQ(test, block->log[0].value, 0x00010100U);
	block->n = 0;
	for (int i = 0; i < INTEL_IMC_COUNTERS; i++)
		intel_imc_counter_start(&block->ch, i, ENABLE | (i < 4 ? i : 0), U64_MAX);
	intel_imc_channel_thaw(&block->ch);
	KUNIT_EXPECT_EQ(test, block->n, 1U);
}

/* All 48 bits, by one access, wherever the low half is; beyond them is all ones, or nothing that counts. */
static void reads_at_once(struct kunit *test)
{
	static const u64 values[] = { 0, 0xffffffff, 0x100000000, 0xffffffffffff };
	struct block *block = a_block(test);
	u64 value;

	for (int i = 0; i < ARRAY_SIZE(values); i++) {
		block->counter[1] = values[i];
		KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&block->ch, 1, &value), 0);
		KUNIT_EXPECT_EQ(test, value, values[i]);
	}
	KUNIT_EXPECT_EQ(test, block->n, (unsigned int)ARRAY_SIZE(values));
	block->counter[1] = BIT_ULL(48);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&block->ch, 1, &value), -ENODEV);
	block->gone = true;
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&block->ch, 0, &value), -ENODEV);
	KUNIT_EXPECT_TRUE(test, block->ch.suspect);
}

static int call_step(struct intel_imc_channel *ch, intel_imc_step_t step)
{
	return step(ch);
}

/* A clock; no clock; a clock that does not stop; no answer. */
static void checks_that_it_counts(struct kunit *test)
{
	struct block *block = a_block(test);

	KUNIT_EXPECT_EQ(test, intel_imc_channel_check(&block->ch, call_step), 0);
	KUNIT_EXPECT_EQ(test, block->regs[0x54 / 4], 0U);
	block->clock = 0;
	KUNIT_EXPECT_EQ(test, intel_imc_channel_check(&block->ch, call_step), -EIO);
	block->gone = true;
	KUNIT_EXPECT_EQ(test, intel_imc_channel_check(&block->ch, call_step), -ENODEV);
}

/* As reset leaves it */
static void gives_up(struct kunit *test)
{
	static const struct access expected[] = {
		{ 'w', 0x40, 0 }, { 'w', 0x44, 0 }, { 'w', 0x48, 0 }, { 'w', 0x4c, 0 },
		{ 'w', 0x54, 0 }, { 'w', 0x00, 0 },
	};
	struct block *block = a_block(test);

	intel_imc_channel_quiesce(&block->ch);
	expect_log(test, block, expected, ARRAY_SIZE(expected));
}

/* The fixed counter is a config of its own, and no event has a published rate but the clock. */
static void rates(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, intel_imc_config_max_rate(&intel_imc_icx_kind, 0x00), 1600000000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_config_max_rate(&intel_imc_icx_kind, 0xff), 1600000000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_config_max_rate(&intel_imc_icx_kind, 0xf04),
			255 * 1600000000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_icx_kind.refused, 0ULL);
	/* DDR5 is faster, and event 1 is its clock. */
	KUNIT_EXPECT_EQ(test, intel_imc_config_max_rate(&intel_imc_spr_kind, 0x101), 5000000000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_config_max_rate(&intel_imc_gnr_kind, 0xcf05),
			255 * 5000000000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_spr_kind.refused, 0x00ffffff00000000ULL);
	KUNIT_EXPECT_EQ(test, intel_imc_gnr_kind.refused, 0x00ffffff00000000ULL);
}

/* 15.3: other bits of BOX_CTL, and nothing enables a counter but the fixed one. */
static void sapphire_rapids(struct kunit *test)
{
	static const struct access took[] = {
		{ 'w', 0x00, 0 }, { 'w', 0x00, 1 }, { 'w', 0x00, 0x201 }, { 'w', 0x00, 1 },
		{ 'w', 0x40, 0 }, { 'c', 0x08, 0 }, { 'w', 0x44, 0 }, { 'c', 0x10, 0 },
		{ 'w', 0x48, 0 }, { 'c', 0x18, 0 }, { 'w', 0x4c, 0 }, { 'c', 0x20, 0 },
		{ 'w', 0x54, 0 }, { 'c', 0x38, 0 }, { 'r', 0x00, 0 },
	};
	static const struct access counted[] = {
		{ 'w', 0x40, 0xcf05 }, { 'w', 0x54, ENABLE }, { 'w', 0x00, 0 },
		{ 'w', 0x00, 1 }, { 'c', 0x08, 0 }, { 'c', 0x38, 0 },
		/* The one that stopped must not move with the other. */
		{ 'w', 0x40, 0 }, { 'w', 0x00, 0 },
	};
	static const struct access again[] = { { 'w', 0x40, 0xcf05 }, { 'c', 0x08, 0 } };
	struct block *block = a_block_of(test, &intel_imc_spr_layout);
	struct intel_imc_channel *ch = &block->ch;
	u64 value;

	intel_imc_channel_reset(ch);
	expect_log(test, block, took, ARRAY_SIZE(took));
	block->n = 0;
	intel_imc_counter_start(ch, 0, ENABLE | 0xcf05, U64_MAX);
	intel_imc_counter_start(ch, INTEL_IMC_FIXED, ENABLE, U64_MAX);
	intel_imc_channel_thaw(ch);
	intel_imc_channel_freeze(ch);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(ch, INTEL_IMC_FIXED, &value), 0);
	intel_imc_counter_stop(ch, 0);
	intel_imc_channel_thaw(ch);
	expect_log(test, block, counted, ARRAY_SIZE(counted));
	KUNIT_EXPECT_FALSE(test, ch->suspect);
	/* Event 0 has moved it since, perhaps: it goes on from what is there. */
	block->counter[0] += 5;
	block->n = 0;
	KUNIT_EXPECT_EQ(test, intel_imc_counter_start(ch, 0, ENABLE | 0xcf05, U64_MAX), 5ULL);
	expect_log(test, block, again, ARRAY_SIZE(again));
	intel_imc_channel_inspect(ch);
	KUNIT_EXPECT_FALSE(test, ch->suspect);
	KUNIT_EXPECT_EQ(test, intel_imc_channel_check(ch, call_step), 0);
}

/* A counter that read all ones when the channel was taken over is read again at its start. */
static void begins_with_all_ones(struct kunit *test)
{
	struct block *block = a_block(test);
	struct intel_imc_channel *ch = &block->ch;
	u64 value;

	block->deaf_once = true;
	intel_imc_channel_reset(ch);
	KUNIT_EXPECT_FALSE(test, block->deaf_once);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_start(ch, 0, ENABLE | 0x304, U64_MAX), 0ULL);
	block->counter[0] = 3;
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 3ULL);
	/* This ends when the channel is taken over again. */
	intel_imc_channel_reset(ch);
	KUNIT_EXPECT_FALSE(test, ch->suspect);
}

/* One or two counters of those that are free, the same as last time if these are; or nothing. */
static void pairs_of_counters(struct kunit *test)
{
	struct intel_imc_pair a = { }, b = { }, c = { };
	u8 used = 0;

	KUNIT_EXPECT_EQ(test, intel_imc_pair_claim(&used, &a, 0x0f, 2), 0);
	KUNIT_EXPECT_EQ(test, intel_imc_pair_claim(&used, &b, 0x0f, 1), 0);
	KUNIT_EXPECT_EQ(test, used, 0x07);
	KUNIT_EXPECT_EQ(test, intel_imc_pair_claim(&used, &c, 0x0f, 2), -EAGAIN);
	KUNIT_EXPECT_EQ(test, used, 0x07);
	KUNIT_EXPECT_EQ(test, c.nr, 0);
	KUNIT_EXPECT_EQ(test, intel_imc_pair_claim(&used, &c, 0x10, 1), 0);
	KUNIT_EXPECT_EQ(test, used, 0x17);
	KUNIT_EXPECT_EQ(test, c.idx[0], 4);

	/* Back again: its own. With one of them taken: the other, and a new one. */
	used = 0;
	KUNIT_EXPECT_EQ(test, intel_imc_pair_claim(&used, &b, 0x0f, 1), 0);
	KUNIT_EXPECT_EQ(test, b.idx[0], 2);
	used |= BIT(0);
	KUNIT_EXPECT_EQ(test, intel_imc_pair_claim(&used, &a, 0x0f, 2), 0);
	KUNIT_EXPECT_EQ(test, a.idx[0], 1);
	KUNIT_EXPECT_EQ(test, a.idx[1], 3);
	KUNIT_EXPECT_EQ(test, used, 0x0f);
}

static struct kunit_case intel_imc_mmio_cases[] = {
	KUNIT_CASE(address_of_a_controller),
	KUNIT_CASE(addresses_that_are_none),
	KUNIT_CASE(channels_of_a_socket),
	KUNIT_CASE(keeps_what_is_written),
	KUNIT_CASE(keeps_otherwise),
	KUNIT_CASE(takes_over),
	KUNIT_CASE(starts_from_what_is_there),
	KUNIT_CASE(accesses),
	KUNIT_CASE(reads_at_once),
	KUNIT_CASE(checks_that_it_counts),
	KUNIT_CASE(gives_up),
	KUNIT_CASE(rates),
	KUNIT_CASE(sapphire_rapids),
	KUNIT_CASE(begins_with_all_ones),
	KUNIT_CASE(pairs_of_counters),
	{ }
};

struct kunit_suite intel_imc_mmio_suite = {
	.name = "intel_imc_mmio",
	.test_cases = intel_imc_mmio_cases,
};
