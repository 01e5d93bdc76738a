// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the built-in driver of POWER's counters calls and the kernel does not export, so that the driver can be a module:
 * functions of the same names, which call what a kprobe has found.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <asm/opal.h>

/* A function begins with addis r2,r12,X at its global entry; a kprobe is put some instructions behind it. */
static void *find(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	const u32 *entry;

	if (register_kprobe(&probe))
		return NULL;
	entry = (const u32 *)probe.addr;
	unregister_kprobe(&probe);
	for (int i = 0; i < 5; i++, entry--)
		if (*entry >> 16 == 0x3c4c)
			return (void *)entry;
	return NULL;
}

#define FORWARD(type, name, parameters, arguments)			\
	static type (*real_##name) parameters;				\
	type name parameters { return real_##name arguments; }		\
	EXPORT_SYMBOL_GPL(name)

FORWARD(int64_t, opal_imc_counters_init, (u32 type, u64 address, u64 pir), (type, address, pir));
FORWARD(int64_t, opal_imc_counters_start, (u32 type, u64 pir), (type, pir));
FORWARD(int64_t, opal_imc_counters_stop, (u32 type, u64 pir), (type, pir));
FORWARD(void, perf_pmu_enable, (struct pmu *pmu), (pmu));
FORWARD(void, perf_pmu_disable, (struct pmu *pmu), (pmu));
FORWARD(int, perf_output_begin, (struct perf_output_handle *handle, struct perf_sample_data *data, struct perf_event *event,
				 unsigned int size), (handle, data, event, size));
FORWARD(void, perf_output_sample, (struct perf_output_handle *handle, struct perf_event_header *header,
				   struct perf_sample_data *data, struct perf_event *event), (handle, header, data, event));
FORWARD(void, perf_log_lost_samples, (struct perf_event *event, u64 lost), (event, lost));
FORWARD(void, perf_output_end, (struct perf_output_handle *handle), (handle));
FORWARD(void, perf_event_header__init_id, (struct perf_event_header *header, struct perf_sample_data *data,
					   struct perf_event *event), (header, data, event));

#define FIND(name) (real_##name = find(#name))

static int __init imc_symbols_init(void)
{
	if (FIND(opal_imc_counters_init) && FIND(opal_imc_counters_start) && FIND(opal_imc_counters_stop) &&
	    FIND(perf_pmu_enable) && FIND(perf_pmu_disable) && FIND(perf_output_begin) && FIND(perf_output_sample) &&
	    FIND(perf_log_lost_samples) && FIND(perf_output_end) && FIND(perf_event_header__init_id))
		return 0;
	return -ENOENT;
}
module_init(imc_symbols_init);
MODULE_DESCRIPTION("What the built-in driver of POWER's counters calls and the kernel does not export");
MODULE_LICENSE("GPL");
