// SPDX-License-Identifier: GPL-2.0-only
/*
 * What no source says of a channel's registers, and what the channel itself can answer: it is asked
 * on its own clock before anybody counts. The driver goes by the answer where it can, and refuses
 * the channel where counts would be wrong: Documentation/hardware/intel_imc.md, 12.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/pci.h>

#include "intel_imc.h"

/* What every control has to keep, and what it may lack; a frozen channel counts nothing by it. */
#define SELFTEST_EVENT	(INTEL_IMC_CTL_EVENT | INTEL_IMC_CTL_UMASK)
#define SELFTEST_FIELDS	(INTEL_IMC_CTL_EDGE | INTEL_IMC_CTL_INVERT | INTEL_IMC_CTL_THRESHOLD)

#define SELFTEST_THRESHOLD(n)	((u32)(n) << 24)

/* Where the driver does what is right either way */
#define SELFTEST_HARMLESS \
	((u8)(BIT(INTEL_IMC_FOUND_TWICE) | BIT(INTEL_IMC_FOUND_TOP)))

/* A read takes longer than hundreds of clocks. */
#define SELFTEST_READS		16

static const char * const intel_imc_found[] = {
	[INTEL_IMC_FOUND_TWICE] = "a control has to be written twice, which this driver does",
	[INTEL_IMC_FOUND_NO_FIELDS] =
		"a control does not keep all bits of edge, inv and thresh: do not rely on them",
	[INTEL_IMC_FOUND_TOP] = "bits 63:48 of the counters are not 0, and are ignored",
	[INTEL_IMC_FOUND_BELOW] =
		"thresholds count what does not reach them: the driver swaps thresh and inv",
	[INTEL_IMC_FOUND_BELOW_ONLY] =
		"thresholds count what does not reach them, and there is no inv to swap",
	[INTEL_IMC_FOUND_NO_THRESHOLD] =
		"a threshold of 1 and one of 2 count the clock alike: do not rely on thresh, nor on edge",
	[INTEL_IMC_FOUND_NO_CLOCK] = "no event counts the clock, which the fixed counter has",
	[INTEL_IMC_FOUND_UMASK] =
		"events without sub-events need a umask: those with a name get one",
};

/* Does a control keep what is written, and if not at once, then when it is written again? */
static void intel_imc_ask_control(struct intel_imc_channel *ch, unsigned int reg)
{
	u32 all = SELFTEST_EVENT | (SELFTEST_FIELDS & ~ch->part->kind->refused);
	u32 first = 0, kept = 0;

	for (int i = 0; i < 2 && kept != all; i++) {
		first = kept;
		ch->io->write(ch, reg, all);
		kept = ch->io->read(ch, reg) & all;
		if (i && kept != first)
			ch->found |= BIT(INTEL_IMC_FOUND_TWICE);
	}
	ch->lacks |= all & ~kept;
	if (SELFTEST_EVENT & ~kept)
		ch->fault = "a control does not keep what is written to it";
	else if (kept != all)
		ch->found |= BIT(INTEL_IMC_FOUND_NO_FIELDS);
	for (int i = 0; i < 2; i++)
		ch->io->write(ch, reg, 0);
}

/*
 * The registers of a frozen channel. A channel without memory may fail here, too, so a clock is
 * looked for before this counts as a fault.
 */
static int intel_imc_ask_registers(struct intel_imc_channel *ch)
{
	u32 high;

	ch->found = 0;
	ch->umask = INTEL_IMC_UMASK_UNSURE;
	ch->lacks = 0;
	ch->fault = NULL;
	intel_imc_channel_freeze(ch);
	if (PCI_POSSIBLE_ERROR(ch->io->read(ch, ch->layout->box_ctl)))
		return -ENODEV;
	for (unsigned int idx = 0; idx < INTEL_IMC_COUNTERS; idx++) {
		unsigned int ctr = idx == INTEL_IMC_FIXED ? ch->layout->fixed_ctr :
				   ch->layout->ctr0 + idx * INTEL_IMC_CTR_STRIDE;

		high = ch->io->read_counter ? upper_32_bits(ch->io->read_counter(ch, ctr)) :
		       ch->io->read(ch, ctr + INTEL_IMC_CTR_HIGH);
		if (high & ~INTEL_IMC_CTR_HIGH_VALUE)
			ch->found |= BIT(INTEL_IMC_FOUND_TOP);
		/* The fixed counter's has nothing to select, and is not asked. */
		if (idx != INTEL_IMC_FIXED)
			intel_imc_ask_control(ch, ch->layout->ctl0 + idx * INTEL_IMC_CTL_STRIDE);
	}
	return 0;
}

/* Start the clock on the fixed counter, and events on general ones, together. */
static void intel_imc_begin(struct intel_imc_channel *ch, unsigned int nr, const u32 *events)
{
	intel_imc_channel_reset(ch);
	for (unsigned int idx = 0; idx < nr; idx++)
		intel_imc_counter_start(ch, idx, INTEL_IMC_CTL_ENABLE | events[idx], U64_MAX);
	intel_imc_counter_start(ch, INTEL_IMC_FIXED, INTEL_IMC_CTL_ENABLE, U64_MAX);
	intel_imc_channel_thaw(ch);
}

/* Let them count some clocks, and freeze. -EIO: there is no clock any more. */
static int intel_imc_end_clocks(struct intel_imc_channel *ch)
{
	u64 first, value;
	int err = intel_imc_counter_read(ch, INTEL_IMC_FIXED, &first);

	for (int i = 0; !err && i < SELFTEST_READS; i++) {
		err = intel_imc_counter_read(ch, INTEL_IMC_FIXED, &value);
		if (!err && value != first)
			break;
		err = err ?: i == SELFTEST_READS - 1 ? -EIO : 0;
	}
	intel_imc_channel_freeze(ch);
	return err;
}

/* Which of the general counters have moved since they were read, and do some still move? */
static int intel_imc_moved(struct intel_imc_channel *ch, unsigned int nr, u8 *moved, bool *creeps)
{
	*moved = 0;
	for (unsigned int idx = 0; idx < nr; idx++) {
		u64 before = ch->value[idx], stopped, again;
		int err = intel_imc_counter_read(ch, idx, &stopped) ?:
			  intel_imc_counter_read(ch, idx, &again);

		if (err)
			return err;
		if (stopped != before)
			*moved |= BIT(idx);
		if (stopped != again)
			*creeps = true;
	}
	return 0;
}

/* Do all general counters count the clock, and does freezing stop all of them? */
static int intel_imc_ask_freeze(struct intel_imc_channel *ch)
{
	u32 clock = ch->part->kind->clock;
	bool creeps = false;
	u8 moved;
	int err;

	intel_imc_begin(ch, INTEL_IMC_GENERAL_COUNTERS, (u32[]){ clock, clock, clock, clock });
	err = intel_imc_end_clocks(ch) ?:
	      intel_imc_moved(ch, INTEL_IMC_GENERAL_COUNTERS, &moved, &creeps);
	if (err)
		return err;
	if (creeps)
		ch->fault = "freezing does not stop all counters";
	else if (!moved && ch->part->kind->clock_unsure)
		ch->found |= BIT(INTEL_IMC_FOUND_NO_CLOCK);
	else if (moved != GENMASK(INTEL_IMC_GENERAL_COUNTERS - 1, 0))
		ch->fault = moved ? "a counter does not count the clock" :
				    "only the fixed counter advances";
	if (!ch->fault)
		return 0;
	return creeps || moved ? -EBUSY : -EIO;	/* -EIO: it may be without memory */
}

/* Which way does the threshold compare? The clock's increment is 1. */
static int intel_imc_ask_threshold(struct intel_imc_channel *ch)
{
	u32 clock = ch->part->kind->clock;
	u32 thresholds[] = { clock | SELFTEST_THRESHOLD(1), clock | SELFTEST_THRESHOLD(2) };
	bool creeps;
	u8 moved;
	int err;

	if (ch->found & BIT(INTEL_IMC_FOUND_NO_CLOCK))
		return 0;
	intel_imc_begin(ch, 2, thresholds);
	err = intel_imc_end_clocks(ch) ?: intel_imc_moved(ch, 2, &moved, &creeps);
	if (err || moved == BIT(0))
		return err;
	if (moved != BIT(1))
		ch->found |= BIT(INTEL_IMC_FOUND_NO_THRESHOLD);
	else if ((ch->part->kind->refused | ch->lacks) & INTEL_IMC_CONFIG_INV)
		ch->found |= BIT(INTEL_IMC_FOUND_BELOW_ONLY);
	else
		ch->found |= BIT(INTEL_IMC_FOUND_BELOW);
	return 0;
}

/*
 * Do events without sub-events need a umask? Reads that arrive tell, by RPQ_INSERTS and
 * RPQ_CYCLES_NE, each without and with one. They do so of all channels of the machine.
 */
static int intel_imc_ask_umask(struct intel_imc_channel *ch)
{
	intel_imc_begin(ch, 4, (u32[]){ 0x0010, 0x0011, 0x0110, 0x0111 });
	return 0;
}

static int intel_imc_umask_answer(struct intel_imc_channel *ch)
{
	bool creeps;
	u8 moved;
	int err;

	intel_imc_channel_freeze(ch);
	err = intel_imc_moved(ch, 4, &moved, &creeps);
	if (err || !moved)
		return err;
	ch->umask = moved & GENMASK(1, 0) ? INTEL_IMC_UMASK_SURE : INTEL_IMC_UMASK_NEEDED;
	return 0;
}

static int intel_imc_ask_end(struct intel_imc_channel *ch)
{
	intel_imc_channel_reset(ch);
	return 0;
}

static int intel_imc_ask(struct intel_imc_channel *ch,
			 int (*call)(struct intel_imc_channel *ch, intel_imc_step_t step))
{
	int err = call(ch, intel_imc_ask_registers) ?: intel_imc_channel_check(ch, call);

	if (err == -EIO)
		ch->fault = NULL;
	if (err == -EBUSY)
		ch->fault = "freezing does not stop the fixed counter";
	if (!err && ch->fault)
		err = -EBUSY;
	err = err ?: call(ch, intel_imc_ask_freeze) ?: call(ch, intel_imc_ask_threshold);
	if (!err && ch->part->kind->umask == INTEL_IMC_UMASK_UNSURE) {
		err = call(ch, intel_imc_ask_umask);
		usleep_range(1000, 1100);
		err = err ?: call(ch, intel_imc_umask_answer);
	}
	if (err != -ENODEV)
		call(ch, intel_imc_ask_end);
	return err;
}

/* What a channel has shown of the whole machine, since an event is checked before it has one */
static void intel_imc_learn(struct intel_imc_channel *ch)
{
	/*
	 * A channel that lacks the event after another has shown it is refused itself; so this errs
	 * only to the side of refusing, and the fixed counter has the clock.
	 */
	if (ch->found & BIT(INTEL_IMC_FOUND_NO_CLOCK))
		ch->part->kind->no_clock = true;
	else
		ch->part->kind->clock_unsure = false;
	if (ch->umask != INTEL_IMC_UMASK_UNSURE)
		ch->part->kind->umask = ch->umask;
	if (ch->umask == INTEL_IMC_UMASK_NEEDED)
		ch->found |= BIT(INTEL_IMC_FOUND_UMASK);
}

/**
 * intel_imc_channel_selftest() - take over a channel, see whether it counts, and how.
 * @ch: the channel; afterwards it is as after intel_imc_channel_reset(), and found has the answers
 * @call: as that of intel_imc_channel_check()
 *
 * Each step is short, since it runs with interrupts off. An answer may be another program's doing,
 * which writes the registers meanwhile. So one that matters has to come twice: what is not as
 * assumed, and whether umasks are needed. Two steps need the clock.
 *
 * Context: that of @call, may sleep. Some 200 accesses, or twice as many.
 * Return: as intel_imc_channel_check(); -EBUSY also if the counters cannot be relied on, with fault
 * set to the reason; -EIO also if only the fixed counter has a clock, which fault then says.
 */
int intel_imc_channel_selftest(struct intel_imc_channel *ch,
			       int (*call)(struct intel_imc_channel *ch, intel_imc_step_t step))
{
	int err = intel_imc_ask(ch, call);
	enum intel_imc_umask umask = ch->umask;
	u8 first = ch->found;

	if (!err && (first & ~SELFTEST_HARMLESS || umask != INTEL_IMC_UMASK_UNSURE))
		err = intel_imc_ask(ch, call);
	if (err)
		return err;
	/* If reads came only one of the times, that one holds. */
	if (ch->umask == INTEL_IMC_UMASK_UNSURE)
		ch->umask = umask;
	if ((ch->found ^ first) & ~SELFTEST_HARMLESS ||
	    (umask != INTEL_IMC_UMASK_UNSURE && ch->umask != umask)) {
		ch->fault = "it answers otherwise the second time";
		return -EBUSY;
	}
	ch->found |= first;
	intel_imc_learn(ch);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_channel_selftest);

/**
 * intel_imc_selftest_say() - log where a channel is not as everybody assumes.
 * @ch: the channel, after a self-test
 *
 * Context: may sleep.
 */
void intel_imc_selftest_say(const struct intel_imc_channel *ch)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(intel_imc_found); i++)
		if (ch->found & BIT(i))
			dev_warn(ch->dev, "uncore_imc_%d: self-test: %s\n", ch->number,
				 intel_imc_found[i]);
}
