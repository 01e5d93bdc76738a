/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Registers of Arm's coherent mesh networks, as far as counting goes: CMN-600, CMN-650, CMN-700 and
 * CMN S3 Technical Reference Manuals. CI-700 is assumed to be like these. What differs between
 * products is in part.c. All are 64 bits wide; each half can be accessed separately. Facts with
 * their sources: Documentation/hardware/cmn.md.
 */
#ifndef CMN_REGS_H
#define CMN_REGS_H

#include <linux/bits.h>

/* The largest mesh of any product is of 12x12, but Graviton5 has one with 14 rows. */
#define CMN_MAX_COLUMNS		14	/* and rows */
#define CMN_MAX_XPS		(CMN_MAX_COLUMNS * CMN_MAX_COLUMNS)
#define CMN_MAX_PORTS		8	/* of an XP */
#define CMN_MAX_DTCS		4
#define CMN_MAX_CHILDREN	128	/* of an XP: 32, but only one source says so */

/* Frames are no closer together than this, bytes. */
#define CMN_FRAME_ALIGN		0x4000

/* Every node. */
#define CMN_NODE_INFO		0x0000
#define CMN_NODE_INFO_TYPE	GENMASK_ULL(15, 0)
#define CMN_NODE_INFO_ID	GENMASK_ULL(31, 16)
#define CMN_NODE_INFO_LOGICAL	GENMASK_ULL(47, 32)
#define CMN_NODE_INFO_DOMAIN	GENMASK_ULL(33, 32)	/* of a DTC, except on CMN-600 */
#define CMN_NODE_INFO_PORTS	GENMASK_ULL(51, 48)	/* of an XP, on CMN-700 and S3 */

/* Root and XPs: how many children, and where in the node's frame the pointers to them are. */
#define CMN_CHILD_INFO		0x0080
#define CMN_CHILD_INFO_COUNT	GENMASK_ULL(15, 0)
#define CMN_CHILD_INFO_ARRAY	GENMASK_ULL(31, 16)
#define CMN_CHILD_SIZE		8

/* A pointer: the offset of the child's frame from the start of the region. */
#define CMN_CHILD_EXTERNAL	BIT(31)	/* outside of the mesh's power and clock domain */
#define CMN_CHILD_ISOLATED	BIT(30)	/* S3 r2p0 and later; touching it hangs the system */

/* Root: what part, and what is configured. */
#define CMN_PERIPH_ID_01	0x0008
#define CMN_PERIPH_ID_01_PART_LOW	GENMASK_ULL(7, 0)
#define CMN_PERIPH_ID_01_PART_HIGH	GENMASK_ULL(35, 32)
#define CMN_PERIPH_ID_23	0x0010
#define CMN_PERIPH_ID_23_REVISION	GENMASK_ULL(7, 4)
#define CMN_INFO_GLOBAL		0x0900
#define CMN_INFO_GLOBAL_1	0x0908

/* XP: what is connected to a port. 0: nothing. */
#define CMN_CONNECT_TYPE	GENMASK(5, 0)
#define CMN_CONNECT_CAL		BIT(7)

/* XP: in which DTC's domain a DTM is. */
#define CMN_UNIT_INFO_DOMAIN	GENMASK(1, 0)

/* Selector of a node's events, at the start of its PMU block. Field e drives line e. */
#define CMN_EVENT_SEL		0x000
#define CMN_EVENT_SEL_2		0x008	/* the second set of HN-P, CCLA and CCLA_RNI */
#define CMN_EVENT_SEL_LANE	8	/* bits of an event id */
#define CMN_EVENT_SEL_LANE_WIDE	16	/* the same for XPs of CMN-700 and S3 */

/* DTM, relative to the XP's PMU block; DTM d of an XP is d strides further on. */
#define CMN_DTM_STRIDE		0x200
#define CMN_DTM_CONTROL		0x100
#define   CMN_DTM_CONTROL_ENABLE		BIT_ULL(0)
#define CMN_DTM_COUNTERS	4
#define CMN_DTM_WPS		4	/* 0 and 1 upload, from the device; 2 and 3 download */
#define CMN_DTM_WP_STRIDE	0x18
#define CMN_DTM_WP_CONFIG	0x1a0
#define CMN_WP_CONFIG_DEV_SEL	BIT(0)
#define CMN_WP_CONFIG_CHN_SEL	GENMASK(3, 1)
#define CMN_WP_CONFIG_GRP	GENMASK(5, 4)		/* CMN-600: 4 */
#define CMN_WP_CONFIG_EXCLUSIVE_600	BIT(5)
#define CMN_WP_CONFIG_COMBINE_600	BIT(6)		/* WP 0 and 2 */
#define CMN_WP_CONFIG_EXCLUSIVE	BIT(8)
#define CMN_WP_CONFIG_COMBINE	BIT(9)
#define CMN_WP_CONFIG_DEV_SEL2	GENMASK(18, 17)		/* where one DTM has all ports */
#define CMN_WP_CONFIG_CHN_NUM	GENMASK(20, 19)
#define CMN_DTM_WP_VAL		0x1a8
#define CMN_DTM_WP_MASK		0x1b0			/* 1: do not compare the bit */
#define CMN_DTM_PMU_CONFIG	0x210
#define CMN_PMU_CONFIG_EN	BIT_ULL(0)
#define CMN_PMU_CONFIG_PAIRED(k)	BIT_ULL(4 + (k))
#define CMN_PMU_CONFIG_PAIRED_ALL	GENMASK_ULL(7, 4)
#define CMN_PMU_CONFIG_GLOBAL_SHIFT(k)	(16 + 4 * (k))
#define CMN_PMU_CONFIG_GLOBAL(k)	(7ULL << CMN_PMU_CONFIG_GLOBAL_SHIFT(k))
#define CMN_PMU_CONFIG_INPUT_SHIFT(k)	(32 + 8 * (k))
#define CMN_PMU_CONFIG_INPUT(k)	(0xffULL << CMN_PMU_CONFIG_INPUT_SHIFT(k))
#define CMN_INPUT_WP(wp)	(wp)
#define CMN_INPUT_XP(line)	(0x04 + (line))
#define CMN_INPUT_DEVICE(port, dev, line)	(0x10 + ((port) << 4) + ((dev) << 2) + (line))
#define CMN_DTM_PMEVCNT		0x220			/* counter k in bits 16k + 15 to 16k */

/* DTC, in its frame. */
#define CMN_DTC_CTL		0xa00
#define CMN_DTC_CTL_DT_EN	BIT(0)
#define CMN_DTC_CTL_CG_DISABLE	BIT(10)

#define CMN_DTC_TRACE_CONTROL	0xa30			/* periodic packets */
/* DTC, where part.h says. Of each: 2 off, 3 on, 0 not told. */
#define CMN_AUTHSTATUS_NSNID	GENMASK(3, 2)		/* NIDEN: anything is counted */
#define CMN_AUTHSTATUS_SNID	GENMASK(7, 6)		/* SPNIDEN: secure traffic, too */
#define CMN_AUTHSTATUS_OFF	2

/* DTC, relative to its PMU block. Counters A to H, two in a register. */
#define CMN_DTC_COUNTERS	8
#define CMN_DTC_PMEVCNT(pair)	(0x10 * (pair))
#define CMN_DTC_PMCCNTR		0x040
#define CMN_PMCCNTR_WIDTH	40
#define CMN_DTC_PMCR		0x100
#define CMN_PMCR_PMU_EN		BIT(0)			/* DTC 0: of the whole mesh */
#define CMN_PMCR_OVFL_INTR_EN	BIT(6)
#define CMN_PMCR_RUN		(CMN_PMCR_PMU_EN | CMN_PMCR_OVFL_INTR_EN)
#define CMN_DTC_PMOVSR		0x118
#define CMN_DTC_PMOVSR_CLR	0x120			/* only with dt_en and pmu_en set */
#define CMN_PMOVSR_ALL		GENMASK(8, 0)		/* 8: the cycle counter */

#endif /* CMN_REGS_H */
