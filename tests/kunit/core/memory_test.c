// SPDX-License-Identifier: GPL-2.0-only
/*
 * Boxes that nothing can start, stop or freeze: counters in memory, read in passes.
 */
#include <kunit/test.h>
#include <linux/smp.h>

#include "suites.h"
#include "memory.h"

#define MANY	100

static struct memory *memory;
static struct memory_box *box;

static int memory_test_init(struct kunit *test)
{
	memory = memory_create(test, PMU_SCOPE_SYSTEM);
	box = &memory->boxes[0];
	memory_plug(test, memory);
	return 0;
}

static void memory_test_exit(struct kunit *test)
{
	memory_destroy(test, memory);
}

static struct perf_event *open_one(struct kunit *test)
{
	struct perf_event *event = memory_open(0, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

/* The counter runs since ever: an event counts from where it stood when the event came. */
static void counts_from_where_it_stands(struct kunit *test)
{
	struct perf_event *first, *second;

	box->raw = 0xfffffffffffffff0;
	first = open_one(test);
	KUNIT_EXPECT_EQ(test, perf_open_count(first), 0ULL);
	box->raw += 0x20;
	KUNIT_EXPECT_EQ(test, perf_open_count(first), 0x20ULL);
	second = open_one(test);
	box->raw += 5;
	KUNIT_EXPECT_EQ(test, perf_open_count(first), 0x25ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(second), 5ULL);
	perf_event_release_kernel(first);
	perf_event_release_kernel(second);
}

/* A disabled event gets no counts, although the counter runs on. */
static void counts_while_enabled(struct kunit *test)
{
	struct perf_event *event = open_one(test);

	box->raw += 3;
	perf_event_disable(event);
	box->raw += 1000;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 3ULL);
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 3ULL);
	box->raw += 4;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 7ULL);
	perf_event_release_kernel(event);
}

/* Nothing is allocated, so any number of events counts, all the time. */
static void counters_never_run_out(struct kunit *test)
{
	struct perf_event *event[MANY];

	for (int i = 0; i < MANY; i++) {
		event[i] = open_one(test);
		box->raw++;
	}
	for (int i = 0; i < MANY; i++) {
		KUNIT_EXPECT_EQ(test, perf_open_count(event[i]), (u64)(MANY - i));
		perf_event_release_kernel(event[i]);
	}
}

/* Two events of a box that are read as perf reads a group: on the owner CPU, interrupts off. */
struct group_read {
	struct perf_event *a, *b;
	unsigned int begins, reads, ends;	/* before the end of it */
};

static void read_group(void *data)
{
	struct group_read *group = data;
	struct pmu *pmu = group->a->pmu;

	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	pmu->read(group->a);
	pmu->read(group->b);
	group->begins = box->begins;
	group->reads = box->reads;
	group->ends = box->ends;
	pmu->commit_txn(pmu);
}

/* A group is a pass: one begin_read, a read for each member when it is asked for, one end_read. */
static void group_is_one_pass(struct kunit *test)
{
	struct group_read group = { open_one(test), open_one(test) };
	unsigned int begins = box->begins, reads = box->reads, ends = box->ends;

	box->raw += 3;
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, read_group, &group, 1), 0);
	KUNIT_EXPECT_EQ(test, group.begins, begins + 1);
	KUNIT_EXPECT_EQ(test, group.reads, reads + 2);
	KUNIT_EXPECT_EQ(test, group.ends, ends);
	KUNIT_EXPECT_EQ(test, box->begins, begins + 1);
	KUNIT_EXPECT_EQ(test, box->reads, reads + 2);
	KUNIT_EXPECT_EQ(test, box->ends, ends + 1);
	KUNIT_EXPECT_EQ(test, local64_read(&group.a->count), 3LL);
	KUNIT_EXPECT_EQ(test, local64_read(&group.b->count), 3LL);
	perf_event_release_kernel(group.a);
	perf_event_release_kernel(group.b);
}

/* A single read is a pass of its own, each time. */
static void read_is_a_pass(struct kunit *test)
{
	struct perf_event *event = open_one(test);
	unsigned int begins = box->begins, reads = box->reads, ends = box->ends;

	perf_open_count(event);
	perf_open_count(event);
	KUNIT_EXPECT_EQ(test, box->begins, begins + 2);
	KUNIT_EXPECT_EQ(test, box->reads, reads + 2);
	KUNIT_EXPECT_EQ(test, box->ends, ends + 2);
	perf_event_release_kernel(event);
}

/* A start after long idleness is a pass: nothing is taken for fresh that was read before. */
static void first_start_is_a_pass(struct kunit *test)
{
	struct perf_event *event = open_one(test);
	unsigned int begins;

	KUNIT_EXPECT_EQ(test, box->begins, 1U);
	KUNIT_EXPECT_EQ(test, box->reads, 1U);
	perf_event_disable(event);
	begins = box->begins;
	perf_event_enable(event);
	KUNIT_EXPECT_EQ(test, box->begins, begins + 1);
	perf_event_release_kernel(event);
}

/*
 * The driver may have all of a box folded: one pass, after which nobody is credited until he reads,
 * since perf may be copying the counts of a group.
 */
static void fold_is_one_pass(struct kunit *test)
{
	struct perf_event *a = open_one(test), *b = open_one(test);
	unsigned int begins = box->begins, reads = box->reads;

	box->raw += 11;
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, perf_open_fold_here, a, 1), 0);
	KUNIT_EXPECT_EQ(test, box->begins, begins + 1);
	KUNIT_EXPECT_EQ(test, box->reads, reads + 2);
	KUNIT_EXPECT_EQ(test, local64_read(&a->count), 0LL);
	KUNIT_EXPECT_EQ(test, pmu_event_of(a)->counter.total, 11ULL);
	KUNIT_EXPECT_EQ(test, pmu_event_of(b)->counter.total, 11ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(a), 11ULL);
	perf_event_release_kernel(a);
	perf_event_release_kernel(b);
}

/* Memory is read in an NMI, too; but not where that has a pass, which the NMI may have interrupted. */
static void only_memory_is_read_in_an_nmi(struct kunit *test)
{
	struct perf_event *event = open_one(test);

	box->raw += 3;
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, perf_open_read_in_nmi, event, 1), 0);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 0LL);
	memory->ops.begin_read = NULL;
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, perf_open_read_in_nmi, event, 1), 0);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 3LL);
	perf_event_release_kernel(event);
}

static struct perf_event *interrupted;

static void interrupt(struct memory_box *mb)
{
	mb->reading = NULL;
	mb->raw += 5;
	perf_open_read_in_nmi(interrupted);
}

/* An NMI in the midst of a fold reads nothing, and waits for nobody: the next read has what it missed. */
static void locked_box_is_not_read_in_an_nmi(struct kunit *test)
{
	unsigned int reads;

	memory->ops.begin_read = NULL;
	interrupted = open_one(test);
	reads = box->reads;
	box->raw += 3;
	box->reading = interrupt;
	KUNIT_EXPECT_EQ(test, perf_open_count(interrupted), 3ULL);
	KUNIT_EXPECT_EQ(test, box->reads, reads + 1);
	KUNIT_EXPECT_EQ(test, perf_open_count(interrupted), 8ULL);
	perf_event_release_kernel(interrupted);
}

static void trace(struct memory_box *mb)
{
	mb->reading = NULL;
	mb->raw += 5;
	perf_open_read_here(interrupted);
}

/*
 * A tracepoint, as of a register access, may have a sample that reads an event of the box whose lock
 * is held where it fires.
 */
static void locked_box_is_not_read_by_a_sample(struct kunit *test)
{
	unsigned int reads;

	interrupted = open_one(test);
	reads = box->reads;
	box->raw += 3;
	box->reading = trace;
	KUNIT_EXPECT_EQ(test, perf_open_count(interrupted), 3ULL);
	KUNIT_EXPECT_EQ(test, box->reads, reads + 1);
	KUNIT_EXPECT_EQ(test, perf_open_count(interrupted), 8ULL);
	perf_event_release_kernel(interrupted);
}

/* A counter that cannot be read when its event starts fails the event. */
static void start_errors(struct kunit *test)
{
	struct perf_event *event;

	box->read_error = -ENODEV;
	event = open_one(test);
	KUNIT_EXPECT_TRUE(test, perf_open_fails_soon(event));
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 0LL);
	perf_event_release_kernel(event);
}

/* The driver is not asked to free an event that it has refused. */
static void refused_by_the_driver(struct kunit *test)
{
	memory->init_error = -EINVAL;
	KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, 0, NULL), -EINVAL);
	memory->init_error = -EBUSY;
	KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, 0, NULL), -EBUSY);
	KUNIT_EXPECT_EQ(test, atomic_read(&memory->frees), 0);
	memory->init_error = 0;
	KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, atomic_read(&memory->frees), 1);
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE(counts_from_where_it_stands),
	KUNIT_CASE(counts_while_enabled),
	KUNIT_CASE(counters_never_run_out),
	KUNIT_CASE(group_is_one_pass),
	KUNIT_CASE(read_is_a_pass),
	KUNIT_CASE(first_start_is_a_pass),
	KUNIT_CASE(fold_is_one_pass),
	KUNIT_CASE(only_memory_is_read_in_an_nmi),
	KUNIT_CASE(locked_box_is_not_read_in_an_nmi),
	KUNIT_CASE(locked_box_is_not_read_by_a_sample),
	KUNIT_CASE(start_errors),
	KUNIT_CASE(refused_by_the_driver),
	{ }
};

struct kunit_suite pmu_memory_suite = {
	.name = "pmu_core_memory",
	.init = memory_test_init,
	.exit = memory_test_exit,
	.test_cases = memory_cases,
};
