// SPDX-License-Identifier: GPL-2.0-only
// A move takes each event out of its context, which switches it off. So note before which were on, and switch on only these:
// perf-off-events-count.md. (From 6.2 on.)
//
//	spatch --smpl-spacing --sp-file perf-off-events-count.cocci --in-place kernel/events/core.c
@remove@
typedef bool;
identifier event, ctx, pmu, events;
@@
 static void __perf_pmu_remove(struct perf_event_context *ctx, struct pmu *pmu, struct list_head *events)
 {
+	bool was_on;
 	<...
+	was_on = event->state > PERF_EVENT_STATE_OFF;
 	perf_remove_from_context(event, 0);
+	if (was_on)
+		event->state = PERF_EVENT_STATE_INACTIVE;
 	...>
 }

@depends on remove@
identifier event;
@@
 __perf_pmu_install_event(...)
 {
 	...
-	if (event->state >= PERF_EVENT_STATE_OFF)
-		event->state = PERF_EVENT_STATE_INACTIVE;
 	...
 }
