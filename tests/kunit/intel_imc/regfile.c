// SPDX-License-Identifier: GPL-2.0-only
/*
 * Offsets and bits are written out here, from the manual: a slip in the driver's
 * headers must not cancel itself.
 */
#include <linux/processor.h>
#include <linux/string.h>
#include <asm/msr.h>

#include "regfile.h"

#define FIXED_CTR	0xd0
#define CTL		0xd8
#define FIXED_CTL	0xf0
#define BOX_CTL		0xf4
#define ENABLE		0x00400000
#define INVERT		0x00800000
#define FROZEN		0x00010100

static const unsigned int counter_reg[] = { 0xa0, 0xa8, 0xb0, 0xb8, FIXED_CTR };

static struct intel_imc_regfile *of(struct intel_imc_channel *ch)
{
	return container_of(ch, struct intel_imc_regfile, ch);
}

static void record(struct intel_imc_regfile *file, bool write, unsigned int reg, u32 value)
{
	unsigned int n = file->reads + file->writes;

	if (n < REGFILE_LOG)
		file->log[n] = (struct intel_imc_access){ write, reg, value };
	if (write)
		file->writes++;
	else
		file->reads++;
}

static void advance(struct intel_imc_regfile *file, unsigned int reg, u64 events)
{
	u64 value = (u64)file->regs[reg / 4 + 1] << 32 | file->regs[reg / 4];

	value = (value + events) & GENMASK_ULL(47, 0);
	file->regs[reg / 4] = value;
	file->regs[reg / 4 + 1] = value >> 32;
}

/* Does a general counter count the clock, whose increment is 1? */
static bool counts_clock(struct intel_imc_regfile *file, unsigned int idx)
{
	u32 ctl = file->regs[CTL / 4 + idx], thresh = ctl >> 24;
	bool reached = file->exceeds ? thresh < 1 : thresh <= 1;

	if (ctl & ENABLE && (ctl & 0xfe) == 0x10)	/* reads, not the clock */
		return file->reads_come && (ctl & 0xff00 || !file->needs_umask);
	if (!(ctl & ENABLE) || ctl & 0xffff || file->stuck & BIT(idx))
		return false;
	return !thresh || (reached != file->below) != !!(ctl & INVERT);
}

/* DRAM clocks pass with every access while the fixed counter is enabled and not frozen. */
static void pass_time(struct intel_imc_regfile *file)
{
	bool frozen = (file->regs[BOX_CTL / 4] & FROZEN) == FROZEN && !file->never_freezes;

	if (!frozen && file->regs[FIXED_CTL / 4] & ENABLE)
		advance(file, FIXED_CTR, file->clock);
	for (unsigned int idx = 0; file->general && idx < INTEL_IMC_GENERAL_COUNTERS; idx++)
		if ((!frozen || file->creeps) && counts_clock(file, idx))
			advance(file, counter_reg[idx], file->clock);
}

static bool is_high_half(unsigned int reg)
{
	return reg == FIXED_CTR + 4 || (reg >= counter_reg[0] && reg < 0xc0 && reg & 4);
}

/* A general counter's control */
static void write_ctl(struct intel_imc_regfile *file, unsigned int reg, u32 value)
{
	u32 *written = &file->written[(reg - CTL) / 4];

	if (!file->twice || *written == value)
		file->regs[reg / 4] = value & ~file->drops;
	*written = value;
}

static u32 regfile_read(struct intel_imc_channel *ch, unsigned int reg)
{
	struct intel_imc_regfile *file = of(ch);
	u64 begin = rdtsc_ordered();
	u32 value;

	while (rdtsc_ordered() - begin < file->ticks)
		cpu_relax();
	pass_time(file);
	value = file->gone ? ~0U : file->regs[reg / 4];
	if (is_high_half(reg))
		value |= file->high << 16;
	record(file, false, reg, value);
	if (file->tear && reg == file->tear_reg && file->tear_skip) {
		file->tear_skip--;
	} else if (file->tear && reg == file->tear_reg) {
		advance(file, reg & ~7U, file->tear);
		file->tear = 0;
	}
	return value;
}

static void regfile_write(struct intel_imc_channel *ch, unsigned int reg, u32 value)
{
	struct intel_imc_regfile *file = of(ch);

	pass_time(file);
	record(file, true, reg, value);
	if (file->lost && !--file->lost && !file->intruder)
		return;
	if (!file->gone && reg >= CTL && reg < CTL + 4 * INTEL_IMC_GENERAL_COUNTERS)
		write_ctl(file, reg, value);
	else if (!file->gone)
		file->regs[reg / 4] = value;
	for (unsigned int i = 0; file->intruder && !file->lost && i < INTEL_IMC_GENERAL_COUNTERS; i++)
		file->regs[CTL / 4 + i] = file->intruder;
	if (!file->lost)
		file->intruder = 0;
}

static const struct intel_imc_io regfile_io = { .read = regfile_read, .write = regfile_write };

/* A channel taken over, with nothing recorded yet. */
void intel_imc_regfile_init(struct intel_imc_regfile *file)
{
	file->ch.io = &regfile_io;
	file->ch.layout = &intel_imc_config_layout;
	file->ch.pdev = &file->pdev;
	file->ch.dev = &file->pdev.dev;
	file->clock = 1000;
	intel_imc_channel_init(&file->ch);
	intel_imc_channel_reset(&file->ch);
	intel_imc_regfile_forget(file);
}

void intel_imc_regfile_forget(struct intel_imc_regfile *file)
{
	memset(file->log, 0, sizeof(file->log));
	file->reads = 0;
	file->writes = 0;
}

u64 intel_imc_regfile_counter(struct intel_imc_regfile *file, unsigned int idx)
{
	return (u64)file->regs[counter_reg[idx] / 4 + 1] << 32 | file->regs[counter_reg[idx] / 4];
}

void intel_imc_regfile_set_counter(struct intel_imc_regfile *file, unsigned int idx, u64 value)
{
	file->regs[counter_reg[idx] / 4] = value;
	file->regs[counter_reg[idx] / 4 + 1] = value >> 32;
}
