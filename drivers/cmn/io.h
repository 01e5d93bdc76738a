/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access to registers.
 *
 * KUnit suites replace the hardware by a register file. Modules that are built without suites
 * access the hardware directly.
 */
#ifndef CMN_IO_H
#define CMN_IO_H

#include <linux/bitops.h>
#include <linux/compiler.h>
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/types.h>

struct cmn_bus {
	u64 (*read)(const void __iomem *reg, unsigned int bytes);
	void (*write)(void __iomem *reg, unsigned int bytes, u64 value);
};

#if IS_ENABLED(CONFIG_PMU_SUITE_KUNIT_TEST)
extern const struct cmn_bus *cmn_kunit_bus;
#define cmn_bus()	READ_ONCE(cmn_kunit_bus)
#else
#define cmn_bus()	((const struct cmn_bus *)NULL)
#endif

static inline u64 cmn_read64(const void __iomem *reg)
{
	return cmn_bus() ? cmn_bus()->read(reg, 8) : readq_relaxed(reg);
}

static inline u32 cmn_read32(const void __iomem *reg)
{
	return cmn_bus() ? cmn_bus()->read(reg, 4) : readl_relaxed(reg);
}

static inline void cmn_write64(u64 value, void __iomem *reg)
{
	if (cmn_bus())
		cmn_bus()->write(reg, 8, value);
	else
		writeq_relaxed(value, reg);
}

static inline void cmn_write32(u32 value, void __iomem *reg)
{
	if (cmn_bus())
		cmn_bus()->write(reg, 4, value);
	else
		writel_relaxed(value, reg);
}

static inline void cmn_wait(unsigned int ns)
{
	/* After all values that were read have come: a relaxed read does not order a delay. */
	rmb();
	ndelay(ns);
}

/* FIELD_GET() for a mask that is not constant; 0 for a mask of 0. */
static inline u64 cmn_field(u64 value, u64 mask)
{
	return mask ? (value & mask) >> __ffs64(mask) : 0;
}

#endif /* CMN_IO_H */
