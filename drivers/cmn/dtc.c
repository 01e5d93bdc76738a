// SPDX-License-Identifier: GPL-2.0-only
/*
 * DTCs: the 32-bit counters that DTMs carry into, called A to H in the manuals and letters
 * here, the cycle counter, overflow, and the switch of the whole mesh.
 *
 * An event's value is the sum of its 16-bit local counters and, 16 bits up, of one
 * letter for each DTC; both are wanted as of one moment, since a local counter that wraps
 * between would be off by 2^16. So a pass of reads stops the mesh.
 *
 * Letters are extended to 64 bits here. They begin in the middle of their range, and are put
 * back there when they have wrapped: so 2^31 wraps of local counters, 2^47 events, pass before
 * the interrupt, and as many until it would be too late to serve it.
 */
#include <linux/export.h>

#include "cmn.h"

#define CMN_LETTER_START	BIT(31)
#define CMN_CYCLES_START	BIT_ULL(CMN_PMCCNTR_WIDTH - 1)
#define CMN_CYCLES_MASK		GENMASK_ULL(CMN_PMCCNTR_WIDTH - 1, 0)

#define CMN_PMCR_RUN		(CMN_PMCR_PMU_EN | CMN_PMCR_OVFL_INTR_EN)

static void __iomem *cmn_letter_reg(const struct cmn_dtc *dtc, unsigned int letter)
{
	return dtc->pmu + CMN_DTC_PMEVCNT(letter / 2) + 4 * (letter % 2);
}

/**
 * cmn_dtc_reset() - take over a DTC, with whatever a previous kernel left behind.
 * @dtc: the DTC
 *
 * An overflow can be cleared only while the PMU is enabled; and the counters may be running.
 *
 * Context: probe. 8 writes. Leaves it enabled.
 */
void cmn_dtc_reset(struct cmn_dtc *dtc)
{
	cmn_write32(CMN_DTC_CTL_DT_EN, dtc->base + CMN_DTC_CTL);
	cmn_write32(CMN_PMCR_RUN, dtc->pmu + CMN_DTC_PMCR);
	for (unsigned int i = 0; i < CMN_DTC_COUNTERS / 2; i++)
		cmn_write64(0, dtc->pmu + CMN_DTC_PMEVCNT(i));
	cmn_write64(0, dtc->pmu + CMN_DTC_PMCCNTR);
	cmn_write32(CMN_PMOVSR_ALL, dtc->pmu + CMN_DTC_PMOVSR_CLR);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_dtc_reset);

/* As after a reset of the machine. */
void cmn_dtc_quiesce(struct cmn_dtc *dtc)
{
	cmn_write32(0, dtc->pmu + CMN_DTC_PMCR);
	cmn_write32(0, dtc->base + CMN_DTC_CTL);
}

/**
 * cmn_mesh_run() - let all counters of the mesh count, or stop them.
 * @cmn: the mesh
 * @run: which
 *
 * DTC 0 does it for all.
 *
 * Context: the owner CPU, interrupts off. 1 write.
 */
void cmn_mesh_run(struct cmn *cmn, bool run)
{
	cmn_write32(run ? CMN_PMCR_RUN : 0, cmn->dtc[0].pmu + CMN_DTC_PMCR);
	cmn->stopped = !run;
	/* What was read is no longer so. */
	if (run)
		cmn->pass++;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_mesh_run);

static void cmn_letter_put(struct cmn_dtc *dtc, unsigned int letter, u32 value)
{
	unsigned int shift = 32 * (letter % 2);
	u64 *pair = &dtc->pair[letter / 2];

	cmn_write32(value, cmn_letter_reg(dtc, letter));
	dtc->last[letter] = value;
	*pair = (*pair & ~(GENMASK_ULL(31, 0) << shift)) | (u64)value << shift;
}

/**
 * cmn_letter_start() - prepare a letter for an event.
 * @dtc: the DTC
 * @letter: which, 0 to 7
 *
 * Context: the owner CPU, interrupts off; the mesh is stopped. 1 write.
 */
void cmn_letter_start(struct cmn_dtc *dtc, unsigned int letter)
{
	cmn_letter_put(dtc, letter, CMN_LETTER_START);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_letter_start);

/**
 * cmn_letter_read() - what a letter has counted.
 * @cmn: the mesh, stopped
 * @dtc: the DTC
 * @letter: which, 0 to 7
 *
 * Context: the owner CPU, interrupts off. 1 read in a pass for two letters; 1 write if it has
 * wrapped.
 * Return: carries of local counters, 64 bits.
 */
u64 cmn_letter_read(struct cmn *cmn, struct cmn_dtc *dtc, unsigned int letter)
{
	unsigned int pair = letter / 2;
	u32 now;

	if (dtc->pass[pair] != cmn->pass) {
		dtc->pair[pair] = cmn_read64(dtc->pmu + CMN_DTC_PMEVCNT(pair));
		dtc->pass[pair] = cmn->pass;
	}
	now = dtc->pair[pair] >> (32 * (letter % 2));
	dtc->total[letter] += (u32)(now - dtc->last[letter]);
	dtc->last[letter] = now;
	if (now < CMN_LETTER_START)
		cmn_letter_put(dtc, letter, CMN_LETTER_START);
	return dtc->total[letter];
}
EXPORT_SYMBOL_IF_KUNIT(cmn_letter_read);

/**
 * cmn_cycles_start() - let the cycle counter count.
 * @dtc: the DTC
 *
 * It counts while the DTC is clocked, which only without clock gating is always.
 *
 * Context: the owner CPU, interrupts off. 2 writes.
 */
void cmn_cycles_start(struct cmn_dtc *dtc)
{
	cmn_write32(CMN_DTC_CTL_DT_EN | CMN_DTC_CTL_CG_DISABLE, dtc->base + CMN_DTC_CTL);
	cmn_write64(CMN_CYCLES_START, dtc->pmu + CMN_DTC_PMCCNTR);
	dtc->cycles_last = CMN_CYCLES_START;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_cycles_start);

/* Gate the clock again. 1 write. */
void cmn_cycles_stop(struct cmn_dtc *dtc)
{
	cmn_write32(CMN_DTC_CTL_DT_EN, dtc->base + CMN_DTC_CTL);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_cycles_stop);

/**
 * cmn_cycles_read() - what the cycle counter has counted.
 * @dtc: the DTC
 *
 * It is one register, so the mesh need not be stopped for it.
 *
 * Context: the owner CPU, interrupts off. 1 read; 1 write if it has wrapped.
 * Return: cycles, 64 bits.
 */
u64 cmn_cycles_read(struct cmn_dtc *dtc)
{
	u64 now = cmn_read64(dtc->pmu + CMN_DTC_PMCCNTR) & CMN_CYCLES_MASK;

	dtc->cycles_total += (now - dtc->cycles_last) & CMN_CYCLES_MASK;
	dtc->cycles_last = now;
	if (now < CMN_CYCLES_START) {
		cmn_write64(CMN_CYCLES_START, dtc->pmu + CMN_DTC_PMCCNTR);
		dtc->cycles_last = CMN_CYCLES_START;
	}
	return dtc->cycles_total;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_cycles_read);

/**
 * cmn_overflow() - serve the overflow of DTCs.
 * @cmn: the mesh
 * @dtcs: bit per DTC
 *
 * Reading a letter, or the cycle counter, that has wrapped puts it back to the middle of
 * its range, so it is enough to bring all events up to date. A mesh that is stopped has
 * none, but it has to run for the flags to be seen and cleared.
 *
 * Context: the owner CPU, interrupts off. 1 read for each DTC, 1 write for each that has
 * overflowed, and those of the events.
 * Return: whether any had.
 */
bool cmn_overflow(struct cmn *cmn, u8 dtcs)
{
	bool stopped = cmn->stopped, any = false;
	u32 flags[CMN_MAX_DTCS] = { };

	if (stopped)
		cmn_mesh_run(cmn, true);
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++) {
		if (dtcs & BIT(i))
			flags[i] = cmn_read32(cmn->dtc[i].pmu + CMN_DTC_PMOVSR) & CMN_PMOVSR_ALL;
		any |= flags[i];
	}
	if (any && !stopped && cmn->box)
		pmu_box_fold(cmn->box);
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++)
		if (flags[i])
			cmn_write32(flags[i], cmn->dtc[i].pmu + CMN_DTC_PMOVSR_CLR);
	if (stopped)
		cmn_mesh_run(cmn, false);
	return any;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_overflow);
