// SPDX-License-Identifier: GPL-2.0-only
/*
 * The registers of one channel: start, stop, freeze and read, at the fewest accesses.
 *
 * The driver owns the registers, so it never reads one to change it, and it relies on
 * this: a counter does not move while the channel is frozen, nor while its enable bit is
 * clear. Then starting N counters takes N + 1 writes, starting them again 1, stopping
 * them all 1, and nothing has to be read to start.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <asm/msr.h>

#include "imc.h"

/*
 * An upper bound on counts per tick of the TSC: a counter adds at most 255 per DRAM
 * clock, which is at most 1.6 GHz in any part, and no Xeon's TSC is slower than 0.8 GHz;
 * 255 * 1.6 / 0.8 = 510.
 */
#define IMC_COUNTS_PER_TSC_TICK_SHIFT	9

static unsigned int imc_ctr(unsigned int idx)
{
	return idx == IMC_FIXED ? IMC_FIXED_CTR : IMC_CTR0 + idx * IMC_CTR_STRIDE;
}

static unsigned int imc_ctl(unsigned int idx)
{
	return idx == IMC_FIXED ? IMC_FIXED_CTL : IMC_CTL0 + idx * IMC_CTL_STRIDE;
}

static u32 imc_read(struct imc_channel *ch, unsigned int reg)
{
	return ch->io->read(ch, reg);
}

static void imc_write(struct imc_channel *ch, unsigned int reg, u32 value)
{
	ch->io->write(ch, reg, value);
}

static void imc_write_ctl(struct imc_channel *ch, unsigned int idx, u32 value)
{
	imc_write(ch, imc_ctl(idx), value);
	ch->ctl[idx] = value;
}

static void imc_clear_counter(struct imc_channel *ch, unsigned int idx)
{
	imc_write(ch, imc_ctr(idx), 0);
	imc_write(ch, imc_ctr(idx) + IMC_CTR_HIGH, 0);
	ch->value[idx] = 0;
}

/**
 * imc_channel_freeze() - stop all counters of a channel together.
 * @ch: the channel
 *
 * Context: any. 1 write.
 */
void imc_channel_freeze(struct imc_channel *ch)
{
	imc_write(ch, IMC_BOX_CTL, ch->box_ctl | IMC_BOX_CTL_FREEZE);
	ch->frozen = true;
}
EXPORT_SYMBOL_IF_KUNIT(imc_channel_freeze);

/**
 * imc_channel_thaw() - let the started counters count, together.
 * @ch: the channel, frozen
 *
 * A stopped counter whose enable bit was left set, since freezing stopped it just as
 * well, is disabled first: it must not move.
 *
 * Context: any. 1 write, and 1 for each such counter.
 */
void imc_channel_thaw(struct imc_channel *ch)
{
	for (unsigned int idx = 0; idx < IMC_COUNTERS; idx++)
		if (ch->ctl[idx] & IMC_CTL_ENABLE && !(ch->active & BIT(idx)))
			imc_write_ctl(ch, idx, 0);
	imc_write(ch, IMC_BOX_CTL, ch->box_ctl);
	ch->frozen = false;
}
EXPORT_SYMBOL_IF_KUNIT(imc_channel_thaw);

/**
 * imc_channel_reset() - take over a channel: frozen, nothing selected, all counters 0.
 * @ch: the channel
 *
 * In the order of the guide's "enable to freeze, freeze, program". The counters are
 * cleared by writing 0, which works everywhere; the first generation documents no reset
 * bits, and of the others' it is not known whether they reach the fixed counter.
 *
 * Context: any. 17 writes.
 */
void imc_channel_reset(struct imc_channel *ch)
{
	imc_write(ch, IMC_BOX_CTL, ch->box_ctl);
	imc_channel_freeze(ch);
	for (unsigned int idx = 0; idx < IMC_COUNTERS; idx++) {
		imc_write_ctl(ch, idx, 0);
		imc_clear_counter(ch, idx);
	}
	ch->active = 0;
}
EXPORT_SYMBOL_IF_KUNIT(imc_channel_reset);

/**
 * imc_channel_check() - does the channel count at all?
 * @ch: the channel, after imc_channel_reset(); left like that
 *
 * Firmware hides some channels and leaves others behind that answer but are dead, so
 * nothing but counting proves a channel. The DRAM clock is at least 400 MHz: in 1 ms the
 * fixed counter advances 400,000 times.
 *
 * Context: may sleep, 1 to 2 ms.
 * Return: 0; -ENODEV if the device is gone; -EIO if the clock does not advance; -EBUSY if
 * it does not stop when frozen, as starting a counter without reading it relies on.
 */
int imc_channel_check(struct imc_channel *ch)
{
	u64 first = 0, last = 0, frozen = 0;
	int err;

	imc_counter_start(ch, IMC_FIXED, IMC_CTL_ENABLE);
	imc_channel_thaw(ch);
	err = imc_counter_read(ch, IMC_FIXED, &first);
	usleep_range(1000, 2000);
	imc_channel_freeze(ch);
	err = err ?: imc_counter_read(ch, IMC_FIXED, &last);
	err = err ?: imc_counter_read(ch, IMC_FIXED, &frozen);
	imc_counter_stop(ch, IMC_FIXED);
	imc_write_ctl(ch, IMC_FIXED, 0);
	imc_clear_counter(ch, IMC_FIXED);

	if (err)
		return err;
	if (first == last)
		return -EIO;
	return last == frozen ? 0 : -EBUSY;
}
EXPORT_SYMBOL_IF_KUNIT(imc_channel_check);

/**
 * imc_channel_quiesce() - leave a channel as the machine's reset does.
 * @ch: the channel
 *
 * Context: any. 6 writes.
 */
void imc_channel_quiesce(struct imc_channel *ch)
{
	for (unsigned int idx = 0; idx < IMC_COUNTERS; idx++)
		imc_write_ctl(ch, idx, 0);
	imc_write(ch, IMC_BOX_CTL, 0);
}
EXPORT_SYMBOL_IF_KUNIT(imc_channel_quiesce);

/**
 * imc_counter_start() - let a counter count once the channel is thawed.
 * @ch: the channel, frozen
 * @idx: 0 to 3, or IMC_FIXED
 * @ctl: content of the control register, with IMC_CTL_ENABLE
 *
 * Context: any. At most 1 write; none if the counter last counted the same.
 * Return: the raw value, 48 bits, that counting goes on from.
 */
u64 imc_counter_start(struct imc_channel *ch, unsigned int idx, u32 ctl)
{
	if (ch->ctl[idx] != ctl)
		imc_write_ctl(ch, idx, ctl);
	ch->active |= BIT(idx);
	return ch->value[idx];
}
EXPORT_SYMBOL_IF_KUNIT(imc_counter_start);

/**
 * imc_counter_stop() - a counter need not count any more.
 * @ch: the channel, frozen; it was read with imc_counter_read() since
 * @idx: 0 to 3, or IMC_FIXED
 *
 * Context: any. No access: see imc_channel_thaw().
 */
void imc_counter_stop(struct imc_channel *ch, unsigned int idx)
{
	ch->active &= ~BIT(idx);
}
EXPORT_SYMBOL_IF_KUNIT(imc_counter_stop);

/**
 * imc_counter_read() - read a counter, never torn.
 * @ch: the channel, running or frozen
 * @idx: 0 to 3, or IMC_FIXED
 * @value: set to the raw value, 48 bits
 *
 * A carry from the low to the high half between the two reads would be off by 2^32, and
 * by 2^48 after the next fold. There was none if the low half was further from its end
 * than the counter can have moved in the time that the two reads took; that is measured,
 * and covers interrupts of any kind in between. Otherwise the low half is read again: if
 * it became smaller the carry has happened, and the high half is read after it. The next
 * carry is 2^32 counts away, over 10 ms at the highest rate there is.
 *
 * Context: any, one caller at a time. 2 reads; rarely 3 or 4.
 * Return: 0; -ENODEV if the device is gone, which answers all ones where 0 is due.
 */
int imc_counter_read(struct imc_channel *ch, unsigned int idx, u64 *value)
{
	u64 begin = rdtsc_ordered(), moved;
	u32 low = imc_read(ch, imc_ctr(idx));
	u32 high = imc_read(ch, imc_ctr(idx) + IMC_CTR_HIGH);

	if (!ch->frozen) {
		moved = (rdtsc_ordered() - begin) << IMC_COUNTS_PER_TSC_TICK_SHIFT;
		if (low + moved > U32_MAX) {
			u32 again = imc_read(ch, imc_ctr(idx));

			if (again < low)
				high = imc_read(ch, imc_ctr(idx) + IMC_CTR_HIGH);
			low = again;
		}
	}
	if (high & ~IMC_CTR_HIGH_VALUE)
		return -ENODEV;
	*value = (u64)high << 32 | low;
	ch->value[idx] = *value;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(imc_counter_read);
