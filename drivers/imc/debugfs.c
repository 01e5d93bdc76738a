// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/imc_pmu: what sysfs has no place for.
 *
 *	events/PMU	each event's name and config, and what the catalog says of it
 *	nest		each chip's microcode
 *	engines		each core's engine
 *	trace		each CPU's ring: records taken, lost and so on, since the module is loaded
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "imc.h"
#include "trace.h"

static int imc_events_show(struct seq_file *file, void *unused)
{
	const struct imc_unit *unit = file->private;

	for (unsigned int i = 0; i < unit->desc.nr_events; i++) {
		const struct pmu_named_event *event = &unit->desc.events[i];

		seq_printf(file, "%s event=%#llx", event->name, event->config[PMU_CONFIG]);
		if (event->scale)
			seq_printf(file, " scale=%s", event->scale);
		if (event->unit)
			seq_printf(file, " unit=%s", event->unit);
		if (unit->about[i])
			seq_printf(file, ": %s", unit->about[i]);
		seq_putc(file, '\n');
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(imc_events);

static u64 imc_control_word(const struct imc_chip *chip, unsigned int offset)
{
	const __be64 *word = chip->control + offset;

	return be64_to_cpu(READ_ONCE(*word));
}

static int imc_nest_show(struct seq_file *file, void *unused)
{
	static const char * const status[] = {
		[IMC_NEST_INITIALISING] = "initialising", [IMC_NEST_RUNNING] = "running",
		[IMC_NEST_PAUSED] = "paused", [IMC_NEST_BAD_SPEED] = "bad speed",
		[IMC_NEST_BAD_MODE] = "bad mode",
	};
	const struct imc *imc = file->private;
	const struct imc_chip *chip;

	list_for_each_entry(chip, &imc->chips, node) {
		u64 now;

		if (!chip->area)
			continue;
		now = imc_control_word(chip, IMC_NEST_CB_STATUS);
		seq_printf(file, "chip %u at %#llx: %s, speed %llu, mode %llu, available %#llx, users %u, torn %u\n",
			   chip->id, chip->address,
			   now < ARRAY_SIZE(status) ? status[now] : "unknown",
			   imc_control_word(chip, IMC_NEST_CB_SPEED),
			   imc_control_word(chip, IMC_NEST_CB_MODE),
			   imc_control_word(chip, IMC_NEST_CB_AVAILABLE),
			   READ_ONCE(chip->users), atomic_read(&chip->torn));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(imc_nest);

static int imc_engines_show(struct seq_file *file, void *unused)
{
	const struct imc *imc = file->private;

	for (unsigned int i = 0; i < imc->nr_cores; i++) {
		const struct imc_core *core = &imc->cores[i];

		if (core->page)
			seq_printf(file, "core of cpu %d: users %u\n", core->first_cpu,
				   READ_ONCE(core->users));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(imc_engines);

static int imc_trace_show(struct seq_file *file, void *unused)
{
	int cpu;

	for_each_present_cpu(cpu) {
		const struct imc_trace *trace = imc_trace_peek(cpu);

		if (trace)
			seq_printf(file, "cpu %d: taken %llu lost %llu corrupt %llu laps %llu drains %llu timers %llu samples %llu\n",
				   cpu, trace->ring.taken, trace->ring.lost, trace->ring.corrupt,
				   trace->ring.laps, trace->drains, trace->timers, trace->samples);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(imc_trace);

static void imc_debugfs_remove(void *root)
{
	debugfs_remove_recursive(root);
}

/* As everywhere with debugfs, that something is missing there is no error. */
void imc_debugfs_create(struct imc *imc)
{
	struct dentry *root = debugfs_create_dir("imc_pmu", NULL);
	struct dentry *events = debugfs_create_dir("events", root);

	for (unsigned int i = 0; i < imc->nr_units; i++)
		debugfs_create_file(imc->units[i].name, 0444, events, &imc->units[i],
				    &imc_events_fops);
	debugfs_create_file("nest", 0444, root, imc, &imc_nest_fops);
	debugfs_create_file("engines", 0444, root, imc, &imc_engines_fops);
	debugfs_create_file("trace", 0444, root, imc, &imc_trace_fops);
	devm_add_action_or_reset(imc->dev, imc_debugfs_remove, root);
}
