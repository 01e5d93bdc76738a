/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A PMU whose counters are words in memory that always run, as they are where hardware
 * writes counts to memory by itself. Records what the core asks of it, and whether it
 * may at that time.
 */
#ifndef MEMORY_H
#define MEMORY_H

#include <kunit/test.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/threads.h>

#include <pmu/core.h>

#include "perf_open.h"

#define MEMORY_PMU	"pmu_core_kunit_memory"

/* A box: of a CPU, or, in other scopes, the one there is. */
struct memory_box {
	struct memory *memory;
	struct pmu_box *box;		/* once a verb was called */
	int cpu;			/* of the owner; -1 if it is not to be asserted */
	u64 raw;			/* what its only counter says */
	bool engaged;
	int power_error, read_error;	/* that the verbs return */
	unsigned int off_ms;		/* how long disengage takes */
	unsigned int on, off;		/* calls that took effect */
	unsigned int begins, reads, ends;
	int reader;			/* the CPU of the last read */
	void (*reading)(struct memory_box *box);	/* what happens in the midst of a read */
	unsigned int owners;		/* calls of owner_changed */
	unsigned int between;		/* events that happen while the owner changes, and */
	void (*moving)(struct memory_box *box);	/* what else does then */
	void (*engaging)(void);	/* what engage does, too, */
	void (*disengaging)(void);	/* and disengage */
};

struct memory {
	struct device *dev;
	struct pmu_box_ops ops;
	struct pmu_desc desc;
	struct memory_box *boxes;	/* by scope id */
	int init_error;			/* that event_init returns */
	atomic_t inits, frees;
	unsigned int free_ms;		/* how long event_free takes */
	u64 max_rate;
	unsigned int engaged_at_init;	/* boxes that were on when an event came */
	struct cpumask online;		/* CPUs that were, and are again after memory_destroy() */
	bool gone;
	bool asleep;
	unsigned int misuse;		/* verbs called when they must not be */
};

struct memory *memory_create(struct kunit *test, enum pmu_scope scope);
void memory_with_power(struct memory *memory);
void memory_plug(struct kunit *test, struct memory *memory);
void memory_plug_box(struct kunit *test, struct memory *memory, int scope_id);
void memory_unplug(struct memory *memory);
void memory_destroy(struct kunit *test, struct memory *memory);

static inline struct perf_event *memory_open(int cpu, struct task_struct *task)
{
	return perf_open(MEMORY_PMU, 0, cpu, task);
}

/* An online CPU that is not the first, and that a suite may take offline; or -1. */
int memory_second_cpu(void);

static inline void take_offline(struct kunit *test, int cpu)
{
	KUNIT_ASSERT_EQ(test, remove_cpu(cpu), 0);
}

static inline void bring_back(struct kunit *test, int cpu)
{
	KUNIT_ASSERT_EQ(test, add_cpu(cpu), 0);
}

#endif /* MEMORY_H */
