// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmn: a mesh whose registers record what they are used for, as a PMU of the core: what the core
 * asks of it when perf reads one event, or a group.
 */
#include <kunit/test.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/smp.h>

#include "../perf_open.h"
#include "regfile.h"

#define PMU_NAME	"arm_cmn_kunit"

static struct cmn_regfile *registered;
static struct device *device;

static struct cmn_regfile *register_mesh(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);

	registered = file;
	KUNIT_ASSERT_EQ(test, cmn_events_build(&file->cmn), 0);
	cmn_desc_init(&file->cmn);
	file->cmn.desc.owner = THIS_MODULE;
	device = root_device_register("cmn_kunit_group");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, device);
	KUNIT_ASSERT_EQ(test, devm_pmu_box_register(device, &file->cmn.desc, PMU_NAME, 0,
						    &file->cmn), 0);
	return file;
}

/* A root device has no driver: what devm holds goes with the device itself. */
static void unregister_mesh(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(device))
		root_device_unregister(device);
	device = NULL;
	pmu_unregister_all(THIS_MODULE);
	if (registered)
		cmn_events_free(&registered->cmn);
	registered = NULL;
}

/*
 * Read a group of @nr events as perf does, with interrupts off. @clock leads the group unless it is
 * NULL. If there is an event @beside, it stops and starts meanwhile, and a DTC interrupts.
 */
struct reading {
	struct perf_event *clock;
	struct perf_event *event[2], *beside;
	int nr;
	bool served;
};

/* As on another CPU. */
static void disturb(struct reading *reading)
{
	struct pmu *pmu = reading->beside->pmu;

	reading->served = cmn_overflow(&registered->cmn, 1);
	pmu->pmu_disable(pmu);
	pmu->stop(reading->beside, PERF_EF_UPDATE);
	pmu->start(reading->beside, 0);
	pmu->pmu_enable(pmu);
}

/* Make the events a group for the time of the read: kernel code cannot open a group. */
static void read_group(void *data)
{
	struct reading *reading = data;
	struct perf_event *leader = reading->clock ?: reading->event[0];
	struct pmu *pmu = reading->event[0]->pmu;
	int i;

	for (i = 0; i < reading->nr; i++) {
		if (reading->event[i] == leader)
			continue;
		reading->event[i]->group_leader = leader;
		list_add_tail(&reading->event[i]->sibling_list, &leader->sibling_list);
		leader->nr_siblings++;
	}
	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	for (i = 0; i < reading->nr; i++) {
		pmu->read(reading->event[i]);
		if (reading->beside && !i)
			disturb(reading);
	}
	pmu->commit_txn(pmu);
	for (i = 0; i < reading->nr; i++) {
		if (reading->event[i] == leader)
			continue;
		reading->event[i]->group_leader = reading->event[i];
		list_del_init(&reading->event[i]->sibling_list);
		leader->nr_siblings--;
	}
}

static void read_single(void *data)
{
	const struct reading *reading = data;

	reading->event[0]->pmu->read(reading->event[0]);
}

static void open_both(struct kunit *test, struct cmn_regfile *file, struct reading *reading)
{
	/* Of one HN-F. */
	static const u64 config[] = { 0x2480010005, 0x2480020005 };

	for (int i = 0; i < ARRAY_SIZE(config); i++) {
		reading->event[i] = perf_open(PMU_NAME, config[i], 0, NULL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, reading->event[i]);
	}
	KUNIT_ASSERT_FALSE(test, file->cmn.stopped);
	cmn_regfile_forget(file);
}

static void read_on_owner(struct kunit *test, struct reading *reading, smp_call_func_t read)
{
	KUNIT_ASSERT_EQ(test, smp_call_function_single(reading->event[0]->cpu, read, reading, 1),
			0);
}

static void close_both(const struct reading *reading)
{
	perf_event_release_kernel(reading->event[1]);
	perf_event_release_kernel(reading->event[0]);
}

/*
 * A group of several holds the mesh: a stop, read back, all reads, and a start. One of its counters
 * and the letters are read three times, to see what has been under way.
 */
static void a_group_holds_the_mesh(struct kunit *test)
{
	struct cmn_regfile *file = register_mesh(test);
	struct reading reading = { .nr = 2 };
	u32 dtc0 = file->node[3];
	const struct cmn_access *stop = &file->log[2 + 1];
	unsigned int last;

	open_both(test, file, &reading);
	cmn_regfile_set(file, file->xp[1] + PMEVCNT, 0x00070005);
	read_on_owner(test, &reading, read_group);
	KUNIT_EXPECT_EQ(test, file->writes, 2U);
	KUNIT_EXPECT_EQ(test, stop[0].offset, dtc0 + PMCR);
	KUNIT_EXPECT_TRUE(test, stop[0].write);
	KUNIT_EXPECT_EQ(test, stop[0].value, 0ULL);
	KUNIT_EXPECT_EQ(test, stop[1].offset, dtc0 + PMCR);
	KUNIT_EXPECT_FALSE(test, stop[1].write);
	/* Letters A and B of two DTCs, one register each, and the DTM's counters. */
	KUNIT_EXPECT_EQ(test, file->reads, 1 + 3 * (2 + 1U));
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, dtc0 + PMEVCNT_AB), 3U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->xp[1] + PMEVCNT), 3U);
	last = file->reads + file->writes - 1;
	KUNIT_EXPECT_EQ(test, file->log[last].offset, dtc0 + PMCR);
	KUNIT_EXPECT_TRUE(test, file->log[last].write);
	KUNIT_EXPECT_EQ(test, file->log[last].value, 0x41ULL);
	KUNIT_EXPECT_EQ(test, local64_read(&reading.event[0]->count), 5LL);
	KUNIT_EXPECT_EQ(test, local64_read(&reading.event[1]->count), 7LL);
	close_both(&reading);
}

/*
 * Until all of a group is read the mesh stands still, though an event starts or an interrupt comes
 * on another CPU. The interrupt is served when it comes again.
 */
static void nothing_runs_a_mesh_that_is_held(struct kunit *test)
{
	struct cmn_regfile *file = register_mesh(test);
	struct reading reading = { .nr = 2 };
	u32 dtc0 = file->node[3];

	open_both(test, file, &reading);
	reading.beside = perf_open(PMU_NAME, 0x2480030005, 0, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, reading.beside);
	cmn_regfile_set(file, dtc0 + PMOVSR, 0x1);
	cmn_regfile_set(file, dtc0 + PMOVSR_CLR, 0);
	cmn_regfile_forget(file);
	read_on_owner(test, &reading, read_group);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, true, dtc0 + PMCR), 2U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMCR), 0x41ULL);
	KUNIT_EXPECT_TRUE(test, reading.served);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, true, dtc0 + PMOVSR_CLR), 0U);
	KUNIT_EXPECT_TRUE(test, cmn_overflow(&file->cmn, 1));
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMOVSR_CLR), 0x1ULL);
	KUNIT_EXPECT_FALSE(test, file->cmn.stopped);
	perf_event_release_kernel(reading.beside);
	close_both(&reading);
}

/* A read of one event, alone or in a group of one, writes nothing. */
static void one_event_holds_nothing(struct kunit *test)
{
	struct cmn_regfile *file = register_mesh(test);
	struct reading reading = { .nr = 1 };

	open_both(test, file, &reading);
	cmn_regfile_set(file, file->xp[1] + PMEVCNT, 0x00070005);
	read_on_owner(test, &reading, read_single);
	read_on_owner(test, &reading, read_group);
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, false, file->node[3] + PMCR), 0U);
	KUNIT_EXPECT_EQ(test, local64_read(&reading.event[0]->count), 5LL);
	close_both(&reading);
}

/*
 * Events of other PMUs do not count here: one event of the mesh beside them does not stop the mesh,
 * two do.
 */
static void what_others_count_holds_nothing(struct kunit *test)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .size = sizeof(attr),
	};
	struct cmn_regfile *file = register_mesh(test);
	struct reading reading = { .nr = 1 };

	open_both(test, file, &reading);
	reading.clock = perf_event_create_kernel_counter(&attr, reading.event[0]->cpu, NULL, NULL,
							 NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, reading.clock);
	read_on_owner(test, &reading, read_group);
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	reading.nr = 2;
	read_on_owner(test, &reading, read_group);
	KUNIT_EXPECT_EQ(test, file->writes, 2U);
	perf_event_release_kernel(reading.clock);
	close_both(&reading);
}

/* An event that is switched off needs no count of the same moment. */
static void who_does_not_count_holds_nothing(struct kunit *test)
{
	struct cmn_regfile *file = register_mesh(test);
	struct reading reading = { .nr = 2 };

	open_both(test, file, &reading);
	perf_event_disable(reading.event[1]);
	cmn_regfile_forget(file);
	read_on_owner(test, &reading, read_group);
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	close_both(&reading);
}

/* A close stops the mesh once for the event; nothing is written for it but that. */
static void a_close_is_a_stop(struct kunit *test)
{
	struct cmn_regfile *file = register_mesh(test);
	struct reading reading = { .nr = 2 };
	u32 dtc0 = file->node[3];

	open_both(test, file, &reading);
	perf_event_release_kernel(reading.event[1]);
	KUNIT_EXPECT_EQ(test, file->writes, 2U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_count(file, true, dtc0 + PMCR), 2U);
	KUNIT_EXPECT_EQ(test, file->reads, 1 + 3 * (2 + 1U));
	cmn_regfile_forget(file);
	perf_event_release_kernel(reading.event[0]);
	KUNIT_EXPECT_EQ(test, file->writes, 1U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, dtc0 + PMCR), 0ULL);
	/* Although nothing lets the mesh run again, it is looked at once more. */
	KUNIT_EXPECT_EQ(test, file->reads, 1 + 3 * (2 + 1U));
}

/* Halves of a pair, at port 0 of all XPs: opened one after the other, and switched off. */
static void open_halves(struct kunit *test, struct perf_event **half)
{
	static const u64 config[] = { 0x08007770, 0x0100000008007770 };

	for (int i = 0; i < 2; i++) {
		struct perf_event_attr attr = { .config = config[i], .disabled = 1 };

		half[i] = perf_open_attr(PMU_NAME, attr, 0, NULL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, half[i]);
	}
}

/* The first counts the pair, which the even watchpoint does; the second has the odd one, at every XP. */
static void expect_roles(struct kunit *test, struct perf_event * const *half)
{
	for (unsigned int i = 0; i < 2; i++) {
		const struct cmn_event *ce = pmu_event_of(half[i])->priv;

		KUNIT_EXPECT_EQ(test, half[i]->state, PERF_EVENT_STATE_ACTIVE);
		KUNIT_EXPECT_TRUE(test, ce->paired);
		for (unsigned int m = 0; m < ce->nr; m++)
			KUNIT_EXPECT_EQ_MSG(test, ce->member[m].wp, i, "half %u at XP %u", i, m);
	}
}

static void close_halves(struct perf_event * const *half)
{
	perf_event_release_kernel(half[1]);
	perf_event_release_kernel(half[0]);
}

/* Whichever half perf schedules first: the one that was opened first counts the pair. */
static void the_half_opened_first_counts_the_pair(struct kunit *test)
{
	struct perf_event *half[2];

	register_mesh(test);
	open_halves(test, half);
	perf_event_enable(half[1]);
	perf_event_enable(half[0]);
	expect_roles(test, half);
	close_halves(half);
}

/* A half that found no place at one XP of many is the same half everywhere once it has one. */
static void a_half_that_failed_keeps_its_role(struct kunit *test)
{
	/* Different events of one XP, so that they share nothing. */
	static const u64 config[] = { 0x4080110006, 0x4080120006, 0x4080510006 };
	struct perf_event *half[2], *other[3];

	register_mesh(test);
	open_halves(test, half);
	/* Each has been scheduled alone. */
	for (int i = 0; i < ARRAY_SIZE(half); i++) {
		perf_event_enable(half[i]);
		perf_event_disable(half[i]);
	}
	for (int i = 0; i < ARRAY_SIZE(other); i++) {
		struct perf_event_attr attr = { .config = config[i], .pinned = 1 };

		other[i] = perf_open_attr(PMU_NAME, attr, 0, NULL);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other[i]);
	}
	perf_event_enable(half[0]);
	perf_event_enable(half[1]);
	KUNIT_EXPECT_NE(test, half[0]->state == PERF_EVENT_STATE_ACTIVE,
			half[1]->state == PERF_EVENT_STATE_ACTIVE);
	perf_event_disable(half[1]);
	perf_event_disable(half[0]);
	for (int i = 0; i < ARRAY_SIZE(other); i++)
		perf_event_release_kernel(other[i]);
	perf_event_enable(half[1]);
	perf_event_enable(half[0]);
	expect_roles(test, half);
	close_halves(half);
}

/*
 * One half is closed and opened again. The older half counts the pair, whichever is scheduled
 * first.
 */
static void a_half_that_was_replaced(struct kunit *test)
{
	struct perf_event_attr attr = { .config = 0x0100000008007770, .disabled = 1 };
	struct perf_event *half[2], *second;

	register_mesh(test);
	open_halves(test, half);
	second = half[1];
	half[1] = perf_open_attr(PMU_NAME, attr, 0, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, half[1]);
	perf_event_release_kernel(second);
	perf_event_enable(half[1]);
	perf_event_enable(half[0]);
	expect_roles(test, half);
	close_halves(half);
}

static struct kunit_case cmn_group_cases[] = {
	KUNIT_CASE(a_group_holds_the_mesh),
	KUNIT_CASE(nothing_runs_a_mesh_that_is_held),
	KUNIT_CASE(one_event_holds_nothing),
	KUNIT_CASE(what_others_count_holds_nothing),
	KUNIT_CASE(who_does_not_count_holds_nothing),
	KUNIT_CASE(a_close_is_a_stop),
	KUNIT_CASE(the_half_opened_first_counts_the_pair),
	KUNIT_CASE(a_half_that_failed_keeps_its_role),
	KUNIT_CASE(a_half_that_was_replaced),
	{ }
};

struct kunit_suite cmn_group_suite = {
	.name = "cmn_group",
	.exit = unregister_mesh,
	.test_cases = cmn_group_cases,
};
