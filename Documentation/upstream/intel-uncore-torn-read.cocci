// SPDX-License-Identifier: GPL-2.0-only
// A counter of 48 bits is two registers. The low half may carry between the reads of the two, so read the high half until it
// is the same before and after: intel-uncore-torn-read.md.
//
//	spatch --smpl-spacing --sp-file intel-uncore-torn-read.cocci --in-place arch/x86/events/intel/uncore_snbep.c
@@
typedef u32, u64;
identifier box, event, count, dev, hwc;
@@
 static u64 snbep_uncore_pci_read_counter(struct intel_uncore_box *box, struct perf_event *event)
 {
 	...
-	u64 count = 0;
+	u32 low;
+	u32 high;
+	u32 again;
 	...
-	pci_read_config_dword(dev, hwc->event_base, (u32 *)&count);
-	pci_read_config_dword(dev, hwc->event_base + 4, (u32 *)&count + 1);
+	pci_read_config_dword(dev, hwc->event_base + 4, &again);
+	do {
+		high = again;
+		pci_read_config_dword(dev, hwc->event_base, &low);
+		pci_read_config_dword(dev, hwc->event_base + 4, &again);
+	} while (high != again);
 	...
-	return count;
+	return (u64)high << 32 | low;
 }
