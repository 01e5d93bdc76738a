// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of one channel: start, stop, freeze and read, with as few accesses as possible.
 *
 * The driver owns the registers from the start of the first event until the last is closed, so it
 * never reads one to change it. It relies on this: a counter does not move while the channel is
 * frozen, nor while its enable bit is clear. So starting N counters takes N + 1 writes, starting
 * them again 1, stopping them all 1, and nothing has to be read to start. To start or stop one
 * while others count takes 1 write, and does not disturb the others.
 *
 * Other programs may still write the registers, so the driver checks them now and then.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/pci.h>
#include <linux/timekeeping.h>
#include <asm/msr.h>

#include "intel_imc.h"

/*
 * An upper bound on counts per tick of the TSC: a counter adds at most 255 per DRAM
 * clock, which is at most 1.6 GHz in any part, and no Xeon's TSC is slower than 0.8 GHz;
 * 255 * 1.6 / 0.8 = 510.
 */
#define INTEL_IMC_COUNTS_PER_TSC_TICK_SHIFT	9

/*
 * How far a counter may have moved since it was read if only its low half is read: a quarter of the
 * low half's range, in case an event comes more often than its highest rate says.
 */
#define INTEL_IMC_LOW_HALF_COUNTS	BIT_ULL(30)

/* Far more than 400,000 clocks: see intel_imc_channel_check(). */
#define INTEL_IMC_CHECK_NS	(1 * NSEC_PER_MSEC)

/*
 * Only the fields of a control register that are written are compared. How other bits read is not
 * known for every part.
 */
#define INTEL_IMC_CTL_FIELDS \
	(INTEL_IMC_CTL_EVENT | INTEL_IMC_CTL_UMASK | INTEL_IMC_CTL_EDGE | INTEL_IMC_CTL_ENABLE | \
	 INTEL_IMC_CTL_INVERT | INTEL_IMC_CTL_THRESHOLD)
#define INTEL_IMC_FIXED_CTL_FIELDS	INTEL_IMC_CTL_ENABLE

/* The least time between two checks: on a channel that is read often they add few accesses. */
#define INTEL_IMC_INSPECTION_PERIOD	(10 * HZ)

const struct intel_imc_layout intel_imc_config_layout = {
	.ctr0 = INTEL_IMC_CTR0, .fixed_ctr = INTEL_IMC_FIXED_CTR,
	.ctl0 = INTEL_IMC_CTL0, .fixed_ctl = INTEL_IMC_FIXED_CTL,
	.box_ctl = INTEL_IMC_BOX_CTL,
	.run = INTEL_IMC_BOX_CTL_FREEZE_ENABLE, .freeze = INTEL_IMC_BOX_CTL_FREEZE,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_config_layout);

const struct intel_imc_layout intel_imc_icx_layout = {
	.ctr0 = INTEL_IMC_ICX_CTR0, .fixed_ctr = INTEL_IMC_ICX_FIXED_CTR,
	.ctl0 = INTEL_IMC_ICX_CTL0, .fixed_ctl = INTEL_IMC_ICX_FIXED_CTL,
	.box_ctl = INTEL_IMC_ICX_BOX_CTL,
	.run = INTEL_IMC_BOX_CTL_FREEZE_ENABLE, .freeze = INTEL_IMC_BOX_CTL_FREEZE,
	.reset_counters = INTEL_IMC_ICX_BOX_CTL_RESET_COUNTERS,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_icx_layout);

const struct intel_imc_layout intel_imc_spr_layout = {
	.ctr0 = INTEL_IMC_ICX_CTR0, .fixed_ctr = INTEL_IMC_ICX_FIXED_CTR,
	.ctl0 = INTEL_IMC_ICX_CTL0, .fixed_ctl = INTEL_IMC_ICX_FIXED_CTL,
	.box_ctl = INTEL_IMC_ICX_BOX_CTL,
	.freeze = INTEL_IMC_SPR_BOX_CTL_FREEZE,
	.reset_counters = INTEL_IMC_SPR_BOX_CTL_RESET_COUNTERS,
	.no_enable = true,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_spr_layout);

static unsigned int intel_imc_ctr(const struct intel_imc_channel *ch, unsigned int idx)
{
	return idx == INTEL_IMC_FIXED ? ch->layout->fixed_ctr :
	       ch->layout->ctr0 + idx * INTEL_IMC_CTR_STRIDE;
}

static unsigned int intel_imc_ctl(const struct intel_imc_channel *ch, unsigned int idx)
{
	return idx == INTEL_IMC_FIXED ? ch->layout->fixed_ctl :
	       ch->layout->ctl0 + idx * INTEL_IMC_CTL_STRIDE;
}

static u32 intel_imc_read(struct intel_imc_channel *ch, unsigned int reg)
{
	return ch->io->read(ch, reg);
}

static void intel_imc_write(struct intel_imc_channel *ch, unsigned int reg, u32 value)
{
	ch->io->write(ch, reg, value);
}

static void intel_imc_write_ctl(struct intel_imc_channel *ch, unsigned int idx, u32 value)
{
	intel_imc_write(ch, intel_imc_ctl(ch, idx), value);
	if (ch->found & BIT(INTEL_IMC_FOUND_TWICE))
		intel_imc_write(ch, intel_imc_ctl(ch, idx), value);
	ch->ctl[idx] = value;
}

/*
 * Will a counter count once the channel is thawed? A counter without an enable bit always counts
 * what it selects.
 */
static bool intel_imc_would_count(const struct intel_imc_channel *ch, unsigned int idx)
{
	return ch->layout->no_enable ? ch->ctl[idx] : ch->ctl[idx] & INTEL_IMC_CTL_ENABLE;
}

/* BOX_CTL of a channel in use, except the freeze bit. */
static u32 intel_imc_box_ctl(const struct intel_imc_channel *ch)
{
	return ch->box_ones | ch->layout->run;
}

/* Clear all counters of a frozen channel, if one bit does so. */
static void intel_imc_reset_counters(struct intel_imc_channel *ch)
{
	u32 frozen = intel_imc_box_ctl(ch) | ch->layout->freeze;

	if (!ch->layout->reset_counters)
		return;
	intel_imc_write(ch, ch->layout->box_ctl, frozen | ch->layout->reset_counters);
	intel_imc_write(ch, ch->layout->box_ctl, frozen);
}

/* Did the device not answer, by the high half of a counter? Bits 63:48 are then 1, and else 0. */
static bool intel_imc_is_gone(struct intel_imc_channel *ch, u32 high)
{
	if (!(high & ~INTEL_IMC_CTR_HIGH_VALUE))
		return false;
	return !(ch->found & BIT(INTEL_IMC_FOUND_TOP)) ||
	       PCI_POSSIBLE_ERROR(intel_imc_read(ch, ch->layout->box_ctl));
}

/* Call this after intel_imc_reset_counters(), which may leave the fixed counter as it was. */
static void intel_imc_clear_counter(struct intel_imc_channel *ch, unsigned int idx)
{
	if (ch->io->read_counter) {
		u64 whole = ch->io->read_counter(ch, intel_imc_ctr(ch, idx));

		/* The device did not answer. The next start reads the counter again. */
		if (intel_imc_is_gone(ch, upper_32_bits(whole)))
			ch->suspect = true;
		ch->value[idx] = whole & GENMASK_ULL(INTEL_IMC_COUNTER_WIDTH - 1, 0);
		return;
	}
	intel_imc_write(ch, intel_imc_ctr(ch, idx), 0);
	intel_imc_write(ch, intel_imc_ctr(ch, idx) + INTEL_IMC_CTR_HIGH, 0);
	ch->value[idx] = 0;
}

static void intel_imc_complain(struct irq_work *work)
{
	struct intel_imc_channel *ch = container_of(work, struct intel_imc_channel, complaint);

	dev_warn(ch->dev, "register %02llx holds %08x, not %08x: another program writes to this channel, or a write was lost; what was counted is wrong\n",
		 (u64)ch->block + ch->odd_reg, ch->odd_found, ch->odd_wanted);
}

/**
 * intel_imc_channel_init() - prepare a channel; call this before anything else.
 * @ch: the channel
 *
 * Context: any.
 */
void intel_imc_channel_init(struct intel_imc_channel *ch)
{
	init_irq_work(&ch->complaint, intel_imc_complain);
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_channel_init);

/**
 * intel_imc_channel_freeze() - stop all counters of a channel together.
 * @ch: the channel
 *
 * Context: any. 1 write.
 */
void intel_imc_channel_freeze(struct intel_imc_channel *ch)
{
	intel_imc_write(ch, ch->layout->box_ctl, intel_imc_box_ctl(ch) | ch->layout->freeze);
	ch->frozen = true;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_channel_freeze);

/**
 * intel_imc_channel_thaw() - let the started counters count, together.
 * @ch: the channel, frozen
 *
 * The enable bit of a stopped counter may still be set, since freezing was enough to stop
 * it. Such a counter is disabled first: it must not move.
 *
 * Context: any. 1 write, and 1 for each such counter.
 */
void intel_imc_channel_thaw(struct intel_imc_channel *ch)
{
	for (unsigned int idx = 0; idx < INTEL_IMC_COUNTERS; idx++)
		if (intel_imc_would_count(ch, idx) && !(ch->active & BIT(idx)))
			intel_imc_write_ctl(ch, idx, 0);
	intel_imc_write(ch, ch->layout->box_ctl, intel_imc_box_ctl(ch));
	ch->frozen = false;
	if (ch->layout->no_enable)
		ch->adrift |= GENMASK(INTEL_IMC_GENERAL_COUNTERS - 1, 0) & ~ch->active;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_channel_thaw);

/**
 * intel_imc_channel_reset() - take over a channel: frozen, nothing selected, all counters 0.
 * @ch: the channel
 *
 * In the order of the guide's "enable to freeze, freeze, program". In configuration space the
 * counters are cleared by writing 0, which works everywhere. The first generation documents no
 * reset bits, and it is not known whether those of the others clear the fixed counter. In memory
 * counters are cleared by the reset bit, and read.
 *
 * A function that does not answer may have lost all these writes. Then the channel is suspect.
 *
 * Context: any. 17 writes and 1 read; in memory 9 writes and 6 reads.
 */
void intel_imc_channel_reset(struct intel_imc_channel *ch)
{
	u32 box;

	ch->suspect = false;
	intel_imc_write(ch, ch->layout->box_ctl, intel_imc_box_ctl(ch));
	intel_imc_channel_freeze(ch);
	intel_imc_reset_counters(ch);
	for (unsigned int idx = 0; idx < INTEL_IMC_COUNTERS; idx++) {
		intel_imc_write_ctl(ch, idx, 0);
		intel_imc_clear_counter(ch, idx);
	}
	ch->active = 0;
	ch->adrift = 0;
	box = intel_imc_read(ch, ch->layout->box_ctl);
	if (PCI_POSSIBLE_ERROR(box))
		ch->suspect = true;
	ch->freeze_reads = !PCI_POSSIBLE_ERROR(box) && box & ch->layout->freeze;
	ch->next_inspection = jiffies + INTEL_IMC_INSPECTION_PERIOD;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_channel_reset);

/*
 * Do the @fields of a register still have their last written value? If the device does not answer,
 * no other program has written it, and a read of a counter will notice.
 */
static bool intel_imc_as_written(struct intel_imc_channel *ch, unsigned int reg, u32 found,
				 u32 wanted, u32 fields)
{
	if (PCI_POSSIBLE_ERROR(found)) {
		ch->suspect = true;
		return true;
	}
	if (!((found ^ wanted) & fields))
		return true;
	ch->suspect = true;
	if (!ch->told) {
		ch->told = true;
		ch->odd_reg = reg;
		ch->odd_found = found;
		ch->odd_wanted = wanted;
		/* perf may hold the scheduler's locks here, and printk wakes up tasks. */
		irq_work_queue(&ch->complaint);
	}
	return false;
}

static void intel_imc_inspect_ctl(struct intel_imc_channel *ch, unsigned int idx)
{
	u32 fields = idx == INTEL_IMC_FIXED ? INTEL_IMC_FIXED_CTL_FIELDS : INTEL_IMC_CTL_FIELDS;
	u32 found = intel_imc_read(ch, intel_imc_ctl(ch, idx));

	if (ch->layout->no_enable && idx != INTEL_IMC_FIXED)
		fields &= ~INTEL_IMC_CTL_ENABLE;
	fields &= ~ch->lacks;
	if (intel_imc_as_written(ch, intel_imc_ctl(ch, idx), found, ch->ctl[idx], fields))
		return;
	/* A counter in use has to keep counting. Any other is disabled before the channel thaws. */
	if (ch->active & BIT(idx))
		intel_imc_write_ctl(ch, idx, ch->ctl[idx]);
	else
		ch->ctl[idx] = found;
}

/**
 * intel_imc_channel_inspect() - do the controls in use hold what was written?
 * @ch: the channel
 *
 * If not, another program writes them, or a write was lost while the function did not answer. This
 * is logged, and then not again until a session has ended without it. The controls in use are
 * written again. From then on, until the channel is taken over again, a counter that starts is not
 * trusted: its control is written and it is read.
 *
 * Context: any, at the end of a session. 1 read for each counter in use.
 */
void intel_imc_channel_inspect(struct intel_imc_channel *ch)
{
	for (unsigned int idx = 0; idx < INTEL_IMC_COUNTERS; idx++)
		if (ch->ctl[idx])
			intel_imc_inspect_ctl(ch, idx);
	if (!ch->suspect)
		ch->told = false;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_channel_inspect);

/**
 * intel_imc_channel_inspect_sometimes() - the same for all controls, every 10 s at most.
 * @ch: the channel
 *
 * Context: any. Nearly always no access, else 6 reads.
 */
void intel_imc_channel_inspect_sometimes(struct intel_imc_channel *ch)
{
	u32 box = intel_imc_box_ctl(ch) | (ch->frozen ? ch->layout->freeze : 0);
	u32 found;

	if (time_before(jiffies, ch->next_inspection))
		return;
	ch->next_inspection = jiffies + INTEL_IMC_INSPECTION_PERIOD;
	for (unsigned int idx = 0; idx < INTEL_IMC_COUNTERS; idx++)
		intel_imc_inspect_ctl(ch, idx);
	if (!ch->freeze_reads)
		return;
	found = intel_imc_read(ch, ch->layout->box_ctl);
	if (!intel_imc_as_written(ch, ch->layout->box_ctl, found, box, ch->layout->freeze))
		intel_imc_write(ch, ch->layout->box_ctl, box);
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_channel_inspect_sometimes);

/**
 * intel_imc_channel_keeps() - does a channel's control keep what is written?
 * @ch: the channel
 *
 * One that is not active may ignore writes and read as 0 (hardware/intel_imc.md, 14.2). The value
 * that is written here does not enable the counter, if there is a bit for that.
 *
 * Context: any. 2 writes and 1 read; at most 4 and 3 if the first write does not take.
 * Return: true if it does, at once, at the second write, or in part, which the self-test refuses.
 */
bool intel_imc_channel_keeps(struct intel_imc_channel *ch)
{
	u32 wanted = INTEL_IMC_CTL_EVENT | INTEL_IMC_CTL_UMASK, found = 0;
	bool keeps = false;

	for (int i = 0; i < 2 && !keeps; i++) {
		intel_imc_write_ctl(ch, 0, wanted);
		found = intel_imc_read(ch, intel_imc_ctl(ch, 0));
		keeps = (found & INTEL_IMC_CTL_FIELDS) == wanted;
		if (i && keeps)
			ch->found |= BIT(INTEL_IMC_FOUND_TWICE);
	}
	intel_imc_write_ctl(ch, 0, 0);
	return keeps || intel_imc_read(ch, intel_imc_ctl(ch, 0)) != found;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_channel_keeps);

/* The steps of intel_imc_channel_check(), each of few accesses. */
static int intel_imc_check_begin(struct intel_imc_channel *ch)
{
	u64 value;

	intel_imc_channel_reset(ch);
	/* This may not be a counter at all, so do not trust a highest rate: read both halves. */
	intel_imc_counter_start(ch, INTEL_IMC_FIXED, INTEL_IMC_CTL_ENABLE, U64_MAX);
	intel_imc_channel_thaw(ch);
	return intel_imc_counter_read(ch, INTEL_IMC_FIXED, &value);
}

/*
 * Compare twice, since the socket may have slept before the first read. A read takes longer than
 * hundreds of clocks.
 */
static int intel_imc_check_clock(struct intel_imc_channel *ch)
{
	for (int i = 0; i < 2; i++) {
		u64 before = ch->value[INTEL_IMC_FIXED], value;
		int err = intel_imc_counter_read(ch, INTEL_IMC_FIXED, &value);

		if (err || value != before)
			return err;
	}
	return -EIO;
}

static int intel_imc_check_end(struct intel_imc_channel *ch)
{
	u64 last = 0, frozen = 0;
	int err;

	intel_imc_channel_freeze(ch);
	err = intel_imc_counter_read(ch, INTEL_IMC_FIXED, &last);
	err = err ?: intel_imc_counter_read(ch, INTEL_IMC_FIXED, &frozen);
	intel_imc_counter_stop(ch, INTEL_IMC_FIXED);
	intel_imc_write_ctl(ch, INTEL_IMC_FIXED, 0);
	intel_imc_reset_counters(ch);
	intel_imc_clear_counter(ch, INTEL_IMC_FIXED);
	if (err)
		return err;
	return last == frozen ? 0 : -EBUSY;
}

/**
 * intel_imc_channel_check() - take over a channel; does it count at all?
 * @ch: the channel; afterwards it is as after intel_imc_channel_reset()
 * @call: calls a step with the channel, with interrupts off; preferably on a CPU of the socket
 *
 * Firmware hides some channels and leaves others behind that answer but are dead. So only counting
 * proves that a channel works. The DRAM clock is at least 400 MHz: in 1 ms the fixed counter
 * advances 400,000 times. A socket in package sleep may have no clock. So this function keeps
 * looking: while it runs on a CPU of the socket, the socket has a clock. Each step is short, since
 * it runs with interrupts off.
 *
 * Context: that of @call. Takes 1 ms if nothing counts, else as long as three reads.
 * Return: 0; -ENODEV if the device is gone; -EIO if the clock does not advance; -EBUSY if
 * it does not stop when frozen, since counters are started without being read.
 */
int intel_imc_channel_check(struct intel_imc_channel *ch,
			    int (*call)(struct intel_imc_channel *ch, intel_imc_step_t step))
{
	int err = call(ch, intel_imc_check_begin), at_end;
	u64 end = ktime_get_ns() + INTEL_IMC_CHECK_NS;

	do {
		err = err && err != -EIO ? err : call(ch, intel_imc_check_clock);
	} while (err == -EIO && ktime_get_ns() < end);
	at_end = call(ch, intel_imc_check_end);
	return err ?: at_end;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_channel_check);

/**
 * intel_imc_channel_quiesce() - leave a channel as a reset of the machine does.
 * @ch: the channel
 *
 * Only the bits of BOX_CTL that must be written 1 stay: no manual allows writing 0 again.
 *
 * Context: any. 6 writes.
 */
void intel_imc_channel_quiesce(struct intel_imc_channel *ch)
{
	for (unsigned int idx = 0; idx < INTEL_IMC_COUNTERS; idx++)
		intel_imc_write_ctl(ch, idx, 0);
	intel_imc_write(ch, ch->layout->box_ctl, ch->box_ones);
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_channel_quiesce);

/**
 * intel_imc_counter_start() - let a counter count: at once, or once the channel is thawed.
 * @ch: the channel
 * @idx: 0 to 3, or INTEL_IMC_FIXED
 * @ctl: content of the control register, with INTEL_IMC_CTL_ENABLE even if there is no such bit
 * @max_rate: most counts per second
 *
 * Context: any. At most 1 write; none in a frozen channel if the counter last counted the same. In
 * a channel that is suspect 1 write and 2 reads. 1 read more if counters have no enable bit and the
 * channel has run meanwhile: no source says that event 0 counts nothing.
 * Return: the raw value, 48 bits, from which counting continues.
 */
u64 intel_imc_counter_start(struct intel_imc_channel *ch, unsigned int idx, u32 ctl, u64 max_rate)
{
	u64 value;

	if (ch->layout->no_enable && idx != INTEL_IMC_FIXED)
		ctl &= ~INTEL_IMC_CTL_ENABLE;
	if (ch->found & BIT(INTEL_IMC_FOUND_BELOW) && ctl & INTEL_IMC_CTL_THRESHOLD)
		ctl ^= INTEL_IMC_CTL_INVERT;
	ch->low_half_ns[idx] = div64_u64(INTEL_IMC_LOW_HALF_COUNTS * NSEC_PER_SEC, max_rate);
	ch->read_ns[idx] = ktime_get_mono_fast_ns();
	ch->active |= BIT(idx);
	if (ch->ctl[idx] != ctl || ch->suspect)
		intel_imc_write_ctl(ch, idx, ctl);
	/* If this read fails, so does the next one, which reports it. */
	if (ch->suspect || ch->adrift & BIT(idx))
		intel_imc_counter_read(ch, idx, &value);
	ch->adrift &= ~BIT(idx);
	return ch->value[idx];
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_counter_start);

/**
 * intel_imc_counter_stop() - a counter need not count any more.
 * @ch: the channel
 * @idx: 0 to 3, or INTEL_IMC_FIXED
 *
 * It has to be read with intel_imc_counter_read() before it starts again: after this call, or in a
 * frozen channel before it.
 *
 * Context: any. 1 write; no access in a frozen channel: see intel_imc_channel_thaw().
 */
void intel_imc_counter_stop(struct intel_imc_channel *ch, unsigned int idx)
{
	ch->active &= ~BIT(idx);
	if (ch->frozen)
		return;
	intel_imc_write_ctl(ch, idx, 0);
	if (ch->layout->no_enable && idx != INTEL_IMC_FIXED)
		ch->adrift |= BIT(idx);
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_counter_stop);

/*
 * Is the low half, read at @ns or before, enough to know the value? Only if it cannot have wrapped
 * since the last read. An impossible value needs the high half, and so do all ones, which a device
 * that is gone reads as.
 */
static bool intel_imc_low_half_is_enough(const struct intel_imc_channel *ch, unsigned int idx,
					 u32 low, u64 ns)
{
	return !ch->suspect && low != U32_MAX &&
	       low - lower_32_bits(ch->value[idx]) <= INTEL_IMC_LOW_HALF_COUNTS &&
	       ns - ch->read_ns[idx] < ch->low_half_ns[idx];
}

/*
 * Both halves of a counter, the low one of which was just read: @low, since @begin.
 *
 * If a carry from the low to the high half came between the two reads, the value would be
 * off by 2^32, and by 2^48 after the next fold. There was no carry if the low half was
 * further from its end than the counter can have moved during the two reads. Their time is
 * measured, so this covers interrupts of any kind in between. Otherwise the low half is
 * read again. If it became smaller the carry has happened, and the high half is read after
 * it. The next carry is 2^32 counts away, over 10 ms at the highest possible rate.
 */
static int intel_imc_read_both_halves(struct intel_imc_channel *ch, unsigned int idx, u64 begin,
				      u32 low, u64 *value)
{
	unsigned int high_reg = intel_imc_ctr(ch, idx) + INTEL_IMC_CTR_HIGH;
	u32 high = intel_imc_read(ch, high_reg);
	u64 moved;

	if (!ch->frozen && ch->active & BIT(idx)) {
		moved = (rdtsc_ordered() - begin) << INTEL_IMC_COUNTS_PER_TSC_TICK_SHIFT;
		if (low + moved > U32_MAX) {
			u32 again = intel_imc_read(ch, intel_imc_ctr(ch, idx));

			if (again < low)
				high = intel_imc_read(ch, high_reg);
			low = again;
		}
	}
	if (intel_imc_is_gone(ch, high)) {
		ch->suspect = true;
		return -ENODEV;
	}
	*value = (u64)(high & INTEL_IMC_CTR_HIGH_VALUE) << 32 | low;
	return 0;
}

/* Read a counter in one 64-bit access. */
static int intel_imc_read_whole(struct intel_imc_channel *ch, unsigned int idx, u64 *value)
{
	u64 whole = ch->io->read_counter(ch, intel_imc_ctr(ch, idx));

	if (intel_imc_is_gone(ch, upper_32_bits(whole))) {
		ch->suspect = true;
		return -ENODEV;
	}
	*value = whole & GENMASK_ULL(INTEL_IMC_COUNTER_WIDTH - 1, 0);
	ch->value[idx] = *value;
	return 0;
}

/**
 * intel_imc_counter_read() - read a counter, never torn.
 * @ch: the channel, running or frozen
 * @idx: 0 to 3, or INTEL_IMC_FIXED
 * @value: set to the raw value, 48 bits
 *
 * Context: any, one caller at a time. 1 read soon after the last one, else 2; rarely 3 or 4.
 * In memory always 1.
 * Return: 0; -ENODEV if the device is gone: bits that are always 0 then read as 1.
 */
int intel_imc_counter_read(struct intel_imc_channel *ch, unsigned int idx, u64 *value)
{
	u64 now, begin;
	u32 low;
	int err;

	if (ch->io->read_counter)
		return intel_imc_read_whole(ch, idx, value);
	begin = rdtsc_ordered();
	now = ktime_get_mono_fast_ns();
	low = intel_imc_read(ch, intel_imc_ctr(ch, idx));
	/* A tick of the TSC takes less than 2 ns, and is quicker to get than the time. */
	if (intel_imc_low_half_is_enough(ch, idx, low, now + 2 * (rdtsc_ordered() - begin))) {
		*value = ch->value[idx] + (u32)(low - lower_32_bits(ch->value[idx]));
		*value &= GENMASK_ULL(INTEL_IMC_COUNTER_WIDTH - 1, 0);
	} else {
		err = intel_imc_read_both_halves(ch, idx, begin, low, value);
		if (err)
			return err;
	}
	ch->value[idx] = *value;
	ch->read_ns[idx] = now;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_counter_read);
