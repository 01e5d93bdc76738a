// SPDX-License-Identifier: GPL-2.0-only
/*
 * intel_imc, what the self-test decides: each answer of a channel that no source gives, and what follows from it. Numbers
 * are those of Documentation/hardware/intel_imc.md, 12.
 */
#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/irq_work.h>

#include "regfile.h"
#include "suites.h"

#define FOUND(what)	BIT(INTEL_IMC_FOUND_##what)

static int call_step(struct intel_imc_channel *ch, intel_imc_step_t step)
{
	return step(ch);
}

static void quiet(void *file)
{
	irq_work_sync(&((struct intel_imc_regfile *)file)->ch.complaint);
}

/* A channel as everybody assumes: Sandy Bridge's registers */
static struct intel_imc_regfile *a_channel(struct kunit *test, struct intel_imc_kind *kind)
{
	struct intel_imc_regfile *file = kunit_kzalloc(test, sizeof(*file), GFP_KERNEL);
	struct intel_imc_part *part = kunit_kzalloc(test, sizeof(*part), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, file);
	KUNIT_ASSERT_NOT_NULL(test, part);
	part->kind = kunit_kzalloc(test, sizeof(*kind), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, part->kind);
	*part->kind = *kind;
	/* The guest's channels were asked before. */
	part->kind->clock_unsure = kind == &intel_imc_snbep_kind;
	intel_imc_regfile_init(file);
	file->ch.part = part;
	file->general = true;
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, quiet, file), 0);
	return file;
}

/* What a self-test says; afterwards nothing is selected, all counters are 0, and the channel is frozen. */
static void expect(struct kunit *test, struct intel_imc_regfile *file, int err, u8 found,
		   const char *fault)
{
	struct intel_imc_channel *ch = &file->ch;

	KUNIT_EXPECT_EQ(test, intel_imc_channel_selftest(ch, call_step), err);
	KUNIT_EXPECT_EQ(test, ch->found, found);
	if (fault)
		KUNIT_EXPECT_STREQ(test, ch->fault ?: "no fault", fault);
	else
		KUNIT_EXPECT_PTR_EQ(test, ch->fault, NULL);
	if (err == -ENODEV)
		return;
	for (unsigned int idx = 0; idx < INTEL_IMC_COUNTERS; idx++) {
		KUNIT_EXPECT_EQ(test, file->regs[0xd8 / 4 + idx + idx / 4 * 2], 0U);
		KUNIT_EXPECT_EQ(test, intel_imc_regfile_counter(file, idx), 0ULL);
	}
	KUNIT_EXPECT_TRUE(test, ch->frozen);
}

static void as_assumed(struct kunit *test)
{
	struct intel_imc_regfile *file = a_channel(test, &intel_imc_snbep_kind);

	expect(test, file, 0, 0, NULL);
	KUNIT_EXPECT_LT(test, file->reads + file->writes, 260);
	KUNIT_EXPECT_FALSE(test, file->ch.part->kind->clock_unsure);
}

/* 9: reads that come meanwhile tell it of the machine; without any it stays open. */
static void umasks(struct kunit *test)
{
	struct intel_imc_regfile *file = a_channel(test, &intel_imc_snbep_kind);
	const struct intel_imc_kind *kind = file->ch.part->kind;

	expect(test, file, 0, 0, NULL);
	KUNIT_EXPECT_EQ(test, kind->umask, INTEL_IMC_UMASK_UNSURE);
	file->reads_come = true;
	expect(test, file, 0, 0, NULL);
	KUNIT_EXPECT_EQ(test, kind->umask, INTEL_IMC_UMASK_SURE);
	file = a_channel(test, &intel_imc_snbep_kind);
	file->reads_come = true;
	file->needs_umask = true;
	expect(test, file, 0, FOUND(UMASK), NULL);
	KUNIT_EXPECT_EQ(test, file->ch.part->kind->umask, INTEL_IMC_UMASK_NEEDED);
}

/* 2: whatever goes on in a frozen channel. */
static void counters_that_go_on(struct kunit *test)
{
	struct intel_imc_regfile *file = a_channel(test, &intel_imc_snbep_kind);

	file->creeps = true;
	expect(test, file, -EBUSY, 0, "freezing does not stop all counters");
	file->creeps = false;
	file->never_freezes = true;
	expect(test, file, -EBUSY, 0, "freezing does not stop the fixed counter");
}

/* 14: the second write, bits that an event can do without, and others. */
static void controls(struct kunit *test)
{
	struct intel_imc_regfile *file = a_channel(test, &intel_imc_snbep_kind);

	file->twice = true;
	expect(test, file, 0, FOUND(TWICE), NULL);
	file->twice = false;
	for (unsigned int bit = 23; bit < 32; bit++) {
		file->drops = BIT(bit);
		/* A threshold of 2 is none then. */
		expect(test, file, 0, FOUND(NO_FIELDS) | (bit == 25 ? FOUND(NO_THRESHOLD) : 0), NULL);
		KUNIT_EXPECT_EQ(test, file->ch.lacks, file->drops);
	}
	for (unsigned int bit = 0; bit < 16; bit++) {
		file->drops = BIT(bit);
		expect(test, file, -EBUSY, 0, "a control does not keep what is written to it");
	}
	/* Where there is no inv, it is not asked for. */
	file = a_channel(test, &intel_imc_ivbep_kind);
	file->drops = BIT(23);
	expect(test, file, 0, 0, NULL);
}

/* 4: a device that is gone reads as ones there, too, and is still noticed. */
static void bits_above_the_width(struct kunit *test)
{
	struct intel_imc_regfile *file = a_channel(test, &intel_imc_snbep_kind);
	u64 value;

	file->high = 0x8000;
	expect(test, file, 0, FOUND(TOP), NULL);
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0ULL);
	file->gone = true;
	KUNIT_EXPECT_EQ(test, intel_imc_counter_read(&file->ch, 0, &value), -ENODEV);
	expect(test, file, -ENODEV, 0, NULL);
}

/* 5: swapped where the control has both directions. */
static void thresholds(struct kunit *test)
{
	struct intel_imc_regfile *file = a_channel(test, &intel_imc_snbep_kind);

	file->exceeds = true;
	expect(test, file, 0, FOUND(NO_THRESHOLD), NULL);
	file->exceeds = false;
	file->below = true;
	expect(test, file, 0, FOUND(BELOW), NULL);
	intel_imc_counter_start(&file->ch, 0, 0x01400000, U64_MAX);
	KUNIT_EXPECT_EQ(test, file->regs[0xd8 / 4], 0x01c00000U);
	intel_imc_counter_start(&file->ch, 1, 0x00400000, U64_MAX);
	KUNIT_EXPECT_EQ(test, file->regs[0xdc / 4], 0x00400000U);
	file->drops = BIT(23);
	expect(test, file, 0, FOUND(NO_FIELDS) | FOUND(BELOW_ONLY), NULL);
	file = a_channel(test, &intel_imc_ivbep_kind);
	file->below = true;
	expect(test, file, 0, FOUND(BELOW_ONLY), NULL);
}

/* 8, 9: a channel without memory, a single counter, and Sandy Bridge, of which no source has the event. */
static void clocks(struct kunit *test)
{
	struct intel_imc_regfile *file = a_channel(test, &intel_imc_ivbep_kind);

	file->stuck = BIT(2);
	expect(test, file, -EBUSY, 0, "a counter does not count the clock");
	file->stuck = GENMASK(3, 0);
	expect(test, file, -EIO, 0, "only the fixed counter advances");
	/* Without any clock that is all there is to say, whatever its controls keep. */
	file->drops = 0xffff;
	file->clock = 0;
	expect(test, file, -EIO, 0, NULL);
	file = a_channel(test, &intel_imc_snbep_kind);
	file->stuck = GENMASK(3, 0);
	expect(test, file, 0, FOUND(NO_CLOCK), NULL);
	file->stuck = BIT(0);
	expect(test, file, -EBUSY, 0, "a counter does not count the clock");
	/* Once a channel has shown it, one that lacks it is as on other processors. */
	file->stuck = 0;
	expect(test, file, 0, 0, NULL);
	file->stuck = GENMASK(3, 0);
	expect(test, file, -EIO, 0, "only the fixed counter advances");
}

/*
 * Another program undoes a write, each in turn: the channel is tried again, or is as it would be
 * without, but that controls may be written twice. Nothing unexpected is learned of the machine.
 */
static void disturbed(struct kunit *test)
{
	unsigned int tried_again = 0;

	for (unsigned int lost = 1; ; lost++) {
		struct intel_imc_regfile *file = a_channel(test, &intel_imc_snbep_kind);
		const struct intel_imc_kind *kind = file->ch.part->kind;
		int err;

		file->reads_come = true;
		file->lost = lost;
		err = intel_imc_channel_selftest(&file->ch, call_step);
		if (file->lost)
			break;
		tried_again += !!err;
		if (!err)
			KUNIT_EXPECT_EQ_MSG(test, file->ch.found & ~FOUND(TWICE), 0UL, "write %u",
					    lost);
		KUNIT_EXPECT_FALSE_MSG(test, kind->no_clock, "write %u", lost);
		KUNIT_EXPECT_NE_MSG(test, kind->umask, INTEL_IMC_UMASK_NEEDED, "write %u", lost);
	}
	KUNIT_EXPECT_GT(test, tried_again, 10U);
}

/*
 * Another program has all counters count, after each write in turn, where there is no clock or a
 * umask is needed: that makes nobody believe that it is otherwise.
 */
static void intrude(struct kunit *test, u8 odd)
{
	for (unsigned int lost = 1; ; lost++) {
		struct intel_imc_regfile *file = a_channel(test, &intel_imc_snbep_kind);
		const struct intel_imc_kind *kind = file->ch.part->kind;
		int err;

		file->stuck = odd & FOUND(NO_CLOCK) ? GENMASK(3, 0) : 0;
		file->reads_come = true;
		file->needs_umask = odd & FOUND(UMASK);
		file->lost = lost;
		file->intruder = 0x00400110;
		err = intel_imc_channel_selftest(&file->ch, call_step);
		if (file->lost)
			break;
		if (!err)
			KUNIT_EXPECT_EQ_MSG(test, file->ch.found & ~FOUND(TWICE), odd, "write %u",
					    lost);
		if (odd & FOUND(NO_CLOCK))
			KUNIT_EXPECT_TRUE_MSG(test, kind->clock_unsure, "write %u", lost);
		if (odd & FOUND(UMASK))
			KUNIT_EXPECT_NE_MSG(test, kind->umask, INTEL_IMC_UMASK_SURE, "write %u",
					    lost);
	}
}

static void intruded(struct kunit *test)
{
	intrude(test, FOUND(NO_CLOCK));
	intrude(test, FOUND(UMASK));
	intrude(test, FOUND(NO_CLOCK) | FOUND(UMASK));
}

static struct kunit_case intel_imc_selftest_cases[] = {
	KUNIT_CASE(as_assumed),
	KUNIT_CASE(umasks),
	KUNIT_CASE(counters_that_go_on),
	KUNIT_CASE(controls),
	KUNIT_CASE(bits_above_the_width),
	KUNIT_CASE(thresholds),
	KUNIT_CASE(clocks),
	KUNIT_CASE(disturbed),
	KUNIT_CASE(intruded),
	{ }
};

struct kunit_suite intel_imc_selftest_suite = {
	.name = "intel_imc_selftest",
	.test_cases = intel_imc_selftest_cases,
};
