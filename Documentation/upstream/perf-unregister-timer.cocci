// SPDX-License-Identifier: GPL-2.0-only
// The timer for multiplexing may be queued until its interval ends, also without events. So end it before its memory goes:
// perf-unregister-timer.md. A software PMU has none. (From 6.2 to 6.14.)
//
//	spatch --smpl-spacing --sp-file perf-unregister-timer.cocci --in-place kernel/events/core.c
@@
identifier pmu;
iterator name for_each_possible_cpu;
@@
 static void free_pmu_context(struct pmu *pmu)
 {
+	int cpu;
+
+	if (pmu->task_ctx_nr != perf_sw_context)
+		for_each_possible_cpu(cpu)
+			hrtimer_cancel(&per_cpu_ptr(pmu->cpu_pmu_context, cpu)->hrtimer);
 	free_percpu(pmu->cpu_pmu_context);
 }
