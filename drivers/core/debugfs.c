// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/pmu_core/counters: which events share a counter. Only root may read it, since
 * lines name processes of all users.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/smp.h>

#include <pmu/loans.h>

#include "core.h"

static struct dentry *pmu_debugfs;

static void pmu_show_event(struct seq_file *m, const struct pmu_event *ev)
{
	seq_printf(m, " %d", pmu_event_pid(ev->event));
	if (ev->event->hw.state & PERF_HES_STOPPED)
		seq_puts(m, " (off)");
}

static void pmu_show_bearer(struct seq_file *m, struct pmu_event *bearer)
{
	const struct perf_event_attr *attr = &bearer->event->attr;
	struct pmu_event *ev;

	seq_printf(m, "%s scope %d: config=%#llx", bearer->box->pd->name, bearer->box->scope_id,
		   attr->config);
	if (attr->config1)
		seq_printf(m, ",config1=%#llx", attr->config1);
	if (attr->config2)
		seq_printf(m, ",config2=%#llx", attr->config2);
	seq_puts(m, ": opened by");
	pmu_show_event(m, bearer);
	list_for_each_entry(ev, &bearer->sharing, sharing)
		pmu_show_event(m, ev);
	seq_putc(m, '\n');
}

static void pmu_show_box(struct seq_file *m, struct pmu_box *box)
{
	unsigned long flags = pmu_box_lock(box);
	struct pmu_event *bearer;

	list_for_each_entry(bearer, &box->bearers, bearing)
		pmu_show_bearer(m, bearer);
	pmu_box_unlock(box, flags);
}

static int counters_show(struct seq_file *m, void *unused)
{
	struct pmu_dev *pd;
	struct pmu_box *box;

	mutex_lock(&pmu_boxes_mutex);
	list_for_each_entry(pd, &pmu_devs, node)
		list_for_each_entry(box, &pd->boxes, node)
			pmu_show_box(m, box);
	mutex_unlock(&pmu_boxes_mutex);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(counters);

void pmu_debugfs_init(void)
{
	pmu_debugfs = debugfs_create_dir("pmu_core", NULL);
	debugfs_create_file("counters", 0400, pmu_debugfs, NULL, &counters_fops);
}

void pmu_debugfs_exit(void)
{
	debugfs_remove_recursive(pmu_debugfs);
}
