// SPDX-License-Identifier: GPL-2.0-only
// A ring that the hardware has gone round begins behind the newest record, and what lay there before is lost: take all that is
// in the ring, in the order of time, count what is not by the records' own clock, and clear what was looked at:
// imc-trace-laps.md.
//
//	spatch --smpl-spacing --sp-file imc-trace-laps.cocci --in-place arch/powerpc/perf/imc-pmu.c
@take@
identifier mem, i, ret, prev_tb, event, data, header, handle;
expression n;
typedef u64;
@@
+/* The record that is @slot further than the first of this CPU's ring. */
+static struct trace_imc_data *trace_imc_slot(int slot)
+{
+	struct trace_imc_data *ring = (struct trace_imc_data *)get_trace_imc_event_base_addr();
+
+	return &ring[slot % (trace_imc_mem_size / sizeof(*ring))];
+}
+
+static u64 trace_imc_time(int slot)
+{
+	return be64_to_cpu(READ_ONCE(trace_imc_slot(slot)->tb1));
+}
+
+/*
+ * Where to begin. A record that was taken is cleared. So if the last slot has one, the hardware has gone round since the last
+ * time: the oldest record is the first that is older than the one before it, and may be written just now. What was there is
+ * missing since the event began, as many as fit into that time.
+ */
+static int trace_imc_begin(struct perf_event *event, int slots)
+{
+	u64 oldest;
+	u64 step;
+	int slot;
+
+	if (!trace_imc_time(slots - 1))
+		return 0;
+	for (slot = 1; slot < slots; slot++)
+		if (trace_imc_time(slot) < trace_imc_time(slot - 1))
+			break;
+	slot++;
+	oldest = trace_imc_time(slot);
+	step = max((trace_imc_time(slot + slots - 2) - oldest) / (slots - 2), 1ULL);
+	perf_log_lost_samples(event, (oldest - min(oldest, (u64)local64_read(&event->hw.prev_count))) / step);
+	return slot;
+}
+
 static void dump_trace_imc_data(struct perf_event *event)
 {
 	struct trace_imc_data *mem;
+	int first = trace_imc_begin(event, trace_imc_mem_size / sizeof(struct trace_imc_data));
 	...
-	mem = (struct trace_imc_data *)get_trace_imc_event_base_addr();
-	for (i = 0; i < n; i++, mem++)
+	for (i = 0; i < n; i++)
 	{
 		struct perf_sample_data data;
 		struct perf_event_header header;
 
+		mem = trace_imc_slot(first + i);
 		ret = trace_imc_prepare_sample(mem, &data, &prev_tb, &header, event);
 		if (ret) break;
 		else {
 			struct perf_output_handle handle;
 
+			WRITE_ONCE(mem->tb1, 0);
 			if (perf_output_begin(&handle, &data, event, header.size))
-				return;
+				continue;
 			...
 		}
 	}
+	if (first)
+		memset(trace_imc_slot(0), 0, trace_imc_mem_size);
 }

@depends on take@
identifier event, ldbar_value;
@@
 static int trace_imc_event_add(struct perf_event *event, ...)
 {
 	...
+	local64_set(&event->hw.prev_count, mftb());
 	mtspr(SPRN_LDBAR, ldbar_value);
 	...
 }
