/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf events as a suite uses them: opened on a PMU by its name, from inside the kernel.
 */
#ifndef PERF_OPEN_H
#define PERF_OPEN_H

#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/fs.h>
#include <linux/perf_event.h>

#include <pmu/core.h>

#define PERF_OPEN_DEVICES	"/sys/bus/event_source/devices/"

/* Read a file of a PMU where users read it; its length, or a negative errno. */
static inline ssize_t perf_open_file(const char *pmu, const char *name, char *text, size_t size)
{
	char *path = kasprintf(GFP_KERNEL, PERF_OPEN_DEVICES "%s/%s", pmu, name);
	struct file *file = path ? filp_open(path, O_RDONLY, 0) : ERR_PTR(-ENOMEM);
	loff_t start = 0;
	ssize_t len;

	kfree(path);
	if (IS_ERR(file))
		return PTR_ERR(file);
	len = kernel_read(file, text, size - 1, &start);
	text[max(len, 0)] = '\0';
	filp_close(file, NULL);
	return len;
}

/* The PMU's number, which perf gives at registration, or -1. */
static inline int perf_open_type(const char *pmu)
{
	char text[16];
	int type;

	if (perf_open_file(pmu, "type", text, sizeof(text)) <= 0 || kstrtoint(text, 10, &type))
		return -1;
	return type;
}

static inline struct perf_event *perf_open_attr(const char *pmu, struct perf_event_attr attr,
						int cpu, struct task_struct *task)
{
	attr.size = sizeof(attr);
	attr.type = perf_open_type(pmu);
	return perf_event_create_kernel_counter(&attr, cpu, task, NULL, NULL);
}

/* Like perf_open_attr(), also for children that the task will have. */
static inline struct perf_event *perf_open_inherit(const char *pmu, u64 config,
						   struct task_struct *task)
{
	struct perf_event_attr attr = { .config = config, .inherit = 1 };

	return perf_open_attr(pmu, attr, -1, task);
}

static inline struct perf_event *perf_open(const char *pmu, u64 config, int cpu,
					   struct task_struct *task)
{
	return perf_open_attr(pmu, (struct perf_event_attr){ .config = config }, cpu, task);
}

/* 0 if an event can be opened, or the error. */
static inline int perf_open_error(const char *pmu, u64 config, int cpu, struct task_struct *task)
{
	struct perf_event *event = perf_open(pmu, config, cpu, task);

	if (IS_ERR(event))
		return PTR_ERR(event);
	perf_event_release_kernel(event);
	return 0;
}

static inline u64 perf_open_count(struct perf_event *event)
{
	u64 enabled, running;

	return perf_event_read_value(event, &enabled, &running);
}

/* The counters of an event's box are folded, as for a poll. */
static inline void perf_open_fold_here(void *event)
{
	struct pmu_box *box = pmu_event_of(event)->box;
	unsigned long flags = pmu_box_lock(box);

	pmu_box_fold(box);
	pmu_box_unlock(box, flags);
}

/* The event is read as perf reads it on a CPU, called there with interrupts off. */
static inline void perf_open_read_here(void *event)
{
	((struct perf_event *)event)->pmu->read(event);
}

/* The same in an NMI, as far as the code that runs there can tell. */
static inline void perf_open_read_in_nmi(void *event)
{
	__preempt_count_add(NMI_OFFSET);
	perf_open_read_here(event);
	__preempt_count_sub(NMI_OFFSET);
}

/* A guest may be slow, so wait until the work item has run rather than for a time. */
#define perf_open_soon(condition)			\
({							\
	for (int _i = 0; _i < 100 && !(condition); _i++)	\
		msleep(20);				\
	(condition);					\
})

static inline bool perf_open_fails_soon(const struct perf_event *event)
{
	return perf_open_soon(READ_ONCE(event->state) == PERF_EVENT_STATE_ERROR);
}

#endif /* PERF_OPEN_H */
