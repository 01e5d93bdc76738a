// SPDX-License-Identifier: GPL-2.0-only
// An event reads 8 bytes at its offset, so these have to be in the unit's memory, and at a multiple of 8: imc-offset-check.md.
//
//	spatch --smpl-spacing --sp-file imc-offset-check.cocci --in-place arch/powerpc/perf/imc-pmu.c
@check@
expression config, pmu;
@@
-((config & IMC_EVENT_OFFSET_MASK) > pmu->counter_mem_size)
+!imc_offset_fits(pmu, config & IMC_EVENT_OFFSET_MASK)

@depends on check@
typedef bool, u32, u64;
identifier event;
@@
+/* An event reads 8 bytes at its offset into the memory of its unit. */
+static bool imc_offset_fits(struct imc_pmu *pmu, u32 offset)
+{
+	return IS_ALIGNED(offset, 8) && (u64)offset + 8 <= pmu->counter_mem_size;
+}
+
 static int nest_imc_event_init(struct perf_event *event)
 {
 	...
 }
