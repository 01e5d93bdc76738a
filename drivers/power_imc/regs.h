/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In-memory collection: registers and layouts in memory. IBM counts bits from the most
 * significant; here they are counted from the least significant one, as in the kernel.
 * All that is in memory is big-endian. Facts with their sources:
 * Documentation/hardware/power_imc.md.
 */
#ifndef POWER_IMC_REGS_H
#define POWER_IMC_REGS_H

#include <linux/bits.h>
#include <linux/types.h>

/* Of POWER11, which has the registers of POWER10; older kernels have no name for it. */
#define POWER_IMC_PVR_POWER11		0x0082

/* LDBAR, SPR 850, one per hardware thread: where the thread's counts or records go. */
#define POWER_IMC_LDBAR_ENABLE		BIT_ULL(63)	/* accumulate; must be 0 in trace mode */
#define POWER_IMC_LDBAR_TRACE		BIT_ULL(62)
#define POWER_IMC_BAR_ADDRESS		GENMASK_ULL(49, 13)	/* of PDBAR as well */

/* The page of a core (PDBAR) or of a thread (LDBAR): 128 lines of 64 bytes. */
#define POWER_IMC_PAGE_SIZE		0x2000
/* The doublewords of a line, and which of them are counters: events are at no others. */
#define POWER_IMC_LINE_WORDS		8
#define POWER_IMC_LINE_FIRST		3
#define POWER_IMC_LINE_LAST		6

/* SCOM of a core, HTM mode: starts and stops the engine. */
#define POWER_IMC_HTM_OFF		0xe000000000000000ULL
#define POWER_IMC_HTM_ON		0xe800000000000000ULL
#define POWER_IMC_HTM_START		BIT_ULL(59)

/* SCOM of a core: in which states it counts and how often it posts; as firmware sets it. */
#define POWER_IMC_EVENT_MASK		0x0402010000000000ULL

/*
 * SCOM of a core, TRACE_IMC, as firmware sets it: a record each 250 counts of a clock. Events count
 * in ticks of 32 MHz, of which a count may be one, or 512.
 */
#define POWER_IMC_TRACE_SCOM_P9		0x7fffffc142020000ULL
#define POWER_IMC_TRACE_SCOM_P10	0x3fffffc142020000ULL
#define POWER_IMC_TRACE_CLOCK_HZ	32000000
#define POWER_IMC_TRACE_LOAD		250ULL
#define POWER_IMC_TRACE_PRESCALE	512

/* A thread's buffer of trace records, with BUFFERSIZE 0. */
#define POWER_IMC_TRACE_SIZE		0x40000

/* PIR, a hardware thread's number. */
#define POWER_IMC_PIR_CHIP		GENMASK(14, 8)
#define POWER_IMC_PIR_CORE		GENMASK(7, 2)
#define POWER_IMC_CORE_THREADS		4	/* numbers that a core has */

/*
 * A chip's nest area is part of its HOMER, 4 MiB of memory. The microcode adds to the
 * counters; at the area's end is the control block by which it is commanded.
 */
#define POWER_IMC_HOMER_SIZE		0x400000
#define POWER_IMC_NEST_CB_OFFSET	0x3fc00		/* where the catalog does not say */

#define POWER_IMC_NEST_CB_STATUS	0x00
#define POWER_IMC_NEST_CB_COMMAND	0x08
#define POWER_IMC_NEST_CB_SPEED		0x10
#define POWER_IMC_NEST_CB_AVAILABLE	0x18
#define POWER_IMC_NEST_CB_MODE		0x20
#define POWER_IMC_NEST_CB_SIZE		0x30

enum power_imc_nest_status {
	POWER_IMC_NEST_INITIALISING, POWER_IMC_NEST_RUNNING, POWER_IMC_NEST_PAUSED,
	POWER_IMC_NEST_BAD_SPEED, POWER_IMC_NEST_BAD_MODE,
};

enum power_imc_nest_command {
	POWER_IMC_NEST_RESUME = 1, POWER_IMC_NEST_PAUSE,
};

/* A bit of the control block's availability per unit, from the most significant one. */
#define POWER_IMC_NEST_HAS(bit)	BIT_ULL(63 - (bit))
/* POWER10: three bits for each of eight links say what it is. */
#define POWER_IMC_NEST_LINK(available, link)	((available) >> (29 + 3 * (7 - (link))) & 7)

/*
 * POWER9's microcode posts counters in groups. Each begins with a count of updates begun and ends
 * with one of updates done: they differ while it posts. In the two groups after these, G6 and G7,
 * they always differ: a post of G7 increments the count at the beginning of G6.
 */
#define POWER_IMC_NEST_GROUP_SIZE	0x110
#define POWER_IMC_NEST_GROUPS		5
#define POWER_IMC_NEST_GROUP_TAIL	(POWER_IMC_NEST_GROUP_SIZE - sizeof(u64))

#endif /* POWER_IMC_REGS_H */
