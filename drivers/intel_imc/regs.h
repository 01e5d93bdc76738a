/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of a memory channel's performance monitor, up to Cascade Lake in the PCI configuration
 * space of the channel's function. Intel 327043-001, "Xeon E5-2600 Uncore Performance Monitoring
 * Guide", 2.5; the same up to Cascade Lake, except as noted here. Each is read and
 * written as one dword; wider accesses are undefined. Facts with their sources:
 * Documentation/hardware/intel_imc.md, 2.
 */
#ifndef INTEL_IMC_REGS_H
#define INTEL_IMC_REGS_H

#include <linux/bits.h>

#define INTEL_IMC_GENERAL_COUNTERS	4
#define INTEL_IMC_COUNTERS	(INTEL_IMC_GENERAL_COUNTERS + 1)
#define INTEL_IMC_FIXED		INTEL_IMC_GENERAL_COUNTERS	/* the fixed counter: DRAM clocks */
#define INTEL_IMC_COUNTER_WIDTH	48

/* CTR0..CTR3, FIXED_CTR: 48 bits in two dwords, low first. */
#define INTEL_IMC_CTR0		0xa0
#define INTEL_IMC_FIXED_CTR	0xd0
#define INTEL_IMC_CTR_STRIDE	8
#define INTEL_IMC_CTR_HIGH	4			/* offset of the high dword */
#define INTEL_IMC_CTR_HIGH_VALUE	GENMASK(15, 0)	/* the rest reads 0 */

/* CTL0..CTL3, FIXED_CTL. The fixed one has only the enable bit. */
#define INTEL_IMC_CTL0		0xd8
#define INTEL_IMC_FIXED_CTL	0xf0
#define INTEL_IMC_CTL_STRIDE	4
#define INTEL_IMC_CTL_EVENT	GENMASK(7, 0)
#define INTEL_IMC_CTL_UMASK	GENMASK(15, 8)
#define INTEL_IMC_CTL_EDGE	BIT(18)			/* count 0 to 1 changes of the comparison */
#define INTEL_IMC_CTL_ENABLE	BIT(22)
#define INTEL_IMC_CTL_INVERT	BIT(23)			/* increment < threshold, not >= */
#define INTEL_IMC_CTL_THRESHOLD	GENMASK(31, 24)		/* 0: add the increment itself */

#define INTEL_IMC_BOX_CTL	0xf4
#define INTEL_IMC_BOX_CTL_FREEZE	BIT(8)
/*
 * Sandy Bridge-EP: bit 16 has to be set for the freeze bit to work; bit 17 is reserved.
 * Later parts: both are reserved and "must be written 1", even if nothing counts.
 */
#define INTEL_IMC_BOX_CTL_FREEZE_ENABLE	BIT(16)
#define INTEL_IMC_BOX_CTL_V2_ONES	GENMASK(17, 16)

/*
 * Ice Lake-SP: in memory, offsets from the block's first register; hardware/intel_imc.md, 14.
 * Counters are read at once, by 64 bits. Controls are as above.
 */
#define INTEL_IMC_ICX_BOX_CTL	0x00
#define INTEL_IMC_ICX_BOX_CTL_RESET_COUNTERS	BIT(1)
#define INTEL_IMC_ICX_CTR0	0x08
#define INTEL_IMC_ICX_FIXED_CTR	0x38			/* half the DRAM clock */
#define INTEL_IMC_ICX_CTL0	0x40
#define INTEL_IMC_ICX_FIXED_CTL	0x54
#define INTEL_IMC_BLOCK_SIZE	0x58

/* Sapphire Rapids and later: the same offsets. Only the fixed counter has an enable bit. */
#define INTEL_IMC_SPR_BOX_CTL_FREEZE	BIT(0)
#define INTEL_IMC_SPR_BOX_CTL_RESET_COUNTERS	BIT(9)

/* The clock on a general counter: event 01, umask 01. Up to Ice Lake it is event 00. */
#define INTEL_IMC_SPR_CLOCK	0x0101

/* Granite Rapids: what happens on the first of a channel's sub-channels, and on the second */
#define INTEL_IMC_CAS_SCH0	0x05
#define INTEL_IMC_CAS_SCH1	0x06

/* In the configuration space of the function that leads to the blocks of a socket */
#define INTEL_IMC_MMIO_BASE	0xd0
#define INTEL_IMC_MMIO_BASE_ADDRESS	GENMASK(28, 0)	/* bits 51:23 */
#define INTEL_IMC_MMIO_BASE_SHIFT	23
#define INTEL_IMC_MMIO_MEM(controller)	(0xd8 + 4 * (controller))
#define INTEL_IMC_MMIO_MEM_OFFSET	GENMASK(10, 0)	/* bits 22:12 */
#define INTEL_IMC_MMIO_MEM_SHIFT	12

#endif /* INTEL_IMC_REGS_H */
