// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/power_imc_pmu: what sysfs has no place for.
 *
 *	events/PMU	each event's name and config, and what the catalog says of it
 *	nest		each chip's microcode
 *	engines		each core's engine
 *	trace		each CPU's ring: records taken, lost and so on, since the module is loaded
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>

#include "power_imc.h"
#include "trace.h"

static int power_imc_events_show(struct seq_file *file, void *unused)
{
	const struct power_imc_unit *unit = file->private;

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
DEFINE_SHOW_ATTRIBUTE(power_imc_events);

static int power_imc_nest_show(struct seq_file *file, void *unused)
{
	static const char * const status[] = {
		[POWER_IMC_NEST_INITIALISING] = "initialising",
		[POWER_IMC_NEST_RUNNING] = "running",
		[POWER_IMC_NEST_PAUSED] = "paused",
		[POWER_IMC_NEST_BAD_SPEED] = "bad speed",
		[POWER_IMC_NEST_BAD_MODE] = "bad mode",
	};
	const struct power_imc *imc = file->private;
	const struct power_imc_chip *chip;

	list_for_each_entry(chip, &imc->chips, node) {
		u64 now;

		if (!chip->area)
			continue;
		now = power_imc_control_word(chip, POWER_IMC_NEST_CB_STATUS);
		seq_printf(file, "chip %u at %#llx: %s, speed %llu, mode %llu, available %#llx, users %u, torn %u\n",
			   chip->id, chip->address,
			   now < ARRAY_SIZE(status) ? status[now] : "unknown",
			   power_imc_control_word(chip, POWER_IMC_NEST_CB_SPEED),
			   power_imc_control_word(chip, POWER_IMC_NEST_CB_MODE),
			   power_imc_control_word(chip, POWER_IMC_NEST_CB_AVAILABLE),
			   READ_ONCE(chip->users), atomic_read(&chip->torn));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(power_imc_nest);

static int power_imc_engines_show(struct seq_file *file, void *unused)
{
	const struct power_imc *imc = file->private;

	for (unsigned int i = 0; i < imc->nr_cores; i++) {
		const struct power_imc_core *core = &imc->cores[i];

		if (core->page)
			seq_printf(file, "core of cpu %d: users %u restarts %u\n", core->first_cpu,
				   READ_ONCE(core->users), READ_ONCE(core->restarts));
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(power_imc_engines);

static int power_imc_trace_show(struct seq_file *file, void *unused)
{
	int cpu;

	for_each_present_cpu(cpu) {
		const struct power_imc_trace *trace = power_imc_trace_peek(cpu);

		if (trace)
			seq_printf(file, "cpu %d: taken %llu lost %llu corrupt %llu laps %llu foreign %llu step %llu timers %llu samples %llu\n",
				   cpu, trace->ring.stats.taken, trace->ring.stats.lost,
				   trace->ring.stats.corrupt, trace->ring.stats.laps,
				   trace->ring.stats.foreign, trace->ring.step, trace->timers,
				   trace->samples);
	}
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(power_imc_trace);

static void power_imc_debugfs_remove(void *root)
{
	debugfs_remove_recursive(root);
}

/* A failure is not reported, as everywhere with debugfs. */
void power_imc_debugfs_create(struct power_imc *imc)
{
	struct dentry *root = debugfs_create_dir("power_imc_pmu", NULL);
	struct dentry *events = debugfs_create_dir("events", root);

	for (unsigned int i = 0; i < imc->nr_units; i++)
		debugfs_create_file(imc->units[i].name, 0444, events, &imc->units[i],
				    &power_imc_events_fops);
	debugfs_create_file("nest", 0444, root, imc, &power_imc_nest_fops);
	debugfs_create_file("engines", 0444, root, imc, &power_imc_engines_fops);
	debugfs_create_file("trace", 0444, root, imc, &power_imc_trace_fops);
	devm_add_action_or_reset(imc->dev, power_imc_debugfs_remove, root);
}
