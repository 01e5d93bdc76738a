// SPDX-License-Identifier: GPL-2.0-only
// A counter of the DTC is set back after it has been read, and a carry in between is lost. So leave it alone, and take the
// difference from what was read last: arm-cmn-wrap-between-reads.md.
//
//	spatch --smpl-spacing --sp-file arm-cmn-lost-carry.cocci --in-place drivers/perf/arm-cmn.c
@member@
@@
 struct arm_cmn_dtc {
 	...
 	struct perf_event *counters[CMN_DT_NUM_COUNTERS];
+	u32 last[CMN_DT_NUM_COUNTERS];
 	...
 };

@read depends on member@
identifier d, n, val, reg;
@@
 static u32 arm_cmn_read_counter(struct arm_cmn_dtc *d, int n)
 {
 	...
 	u32 val = readl_relaxed(reg);
+	u32 last = d->last[n];

-	writel_relaxed(CMN_COUNTER_INIT, reg);
-	return val - CMN_COUNTER_INIT;
+	d->last[n] = val;
+	return val - last;
 }

@start depends on read@
expression cmn, i, idx, event;
@@
 writel_relaxed(CMN_COUNTER_INIT, CMN_DT_PMEVCNT(&cmn->dtc[i], idx));
+cmn->dtc[i].last[idx] = CMN_COUNTER_INIT;
 cmn->dtc[i].counters[idx] = event;
