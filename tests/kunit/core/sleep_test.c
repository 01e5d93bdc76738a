// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleep: between pmu_boxes_suspend() and pmu_boxes_resume() no verb is called, whatever perf, users and CPUs
 * do, and behind it counts go on. memory.c asserts the first. The hardware of this suite forgets
 * all when it sleeps.
 */
#include <kunit/test.h>

#include <core/core.h>

#include "suites.h"
#include "memory.h"

static struct memory *memory;

static int sleep_test_init(struct kunit *test)
{
	memory = NULL;
	return 0;
}

static void sleep_test_exit(struct kunit *test)
{
	if (memory)
		memory->asleep = false;
	memory_destroy(test, memory);
}

static struct memory_box *sleep_create(struct kunit *test, enum pmu_scope scope)
{
	memory = memory_create(test, scope);
	memory_with_power(memory);
	memory_plug(test, memory);
	return &memory->boxes[0];
}

static struct perf_event *open_one(struct kunit *test, int cpu)
{
	struct perf_event *event = memory_open(cpu, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

static void fall_asleep(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, pmu_boxes_suspend(memory->dev), 0);
	memory->asleep = true;
	for (unsigned int i = 0; i < nr_cpu_ids; i++)
		memory->boxes[i].raw = 0;
}

static void wake(struct kunit *test)
{
	memory->asleep = false;
	KUNIT_ASSERT_EQ(test, pmu_boxes_resume(memory->dev), 0);
}

/*
 * Counts from before the sleep are kept, and later ones are added. The box is switched off and on.
 */
static void counts_go_on(struct kunit *test)
{
	struct memory_box *box = sleep_create(test, PMU_SCOPE_SYSTEM);
	struct perf_event *event = open_one(test, 0);

	box->raw = 5;
	fall_asleep(test);
	KUNIT_EXPECT_EQ(test, box->off, 1U);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	wake(test);
	KUNIT_EXPECT_EQ(test, box->on, 2U);
	box->raw = 7;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 12ULL);
	perf_event_release_kernel(event);
}

/* A box without events is not switched on. */
static void idle_stays_off(struct kunit *test)
{
	struct memory_box *box = sleep_create(test, PMU_SCOPE_SYSTEM);

	fall_asleep(test);
	wake(test);
	KUNIT_EXPECT_EQ(test, box->on, 0U);
	KUNIT_EXPECT_EQ(test, box->off, 0U);
}

/* Drivers' devices wake up one by one, and tasks of the kernel run all the time. */
static void opened_while_asleep(struct kunit *test)
{
	struct memory_box *box = sleep_create(test, PMU_SCOPE_SYSTEM);
	struct perf_event *event;

	fall_asleep(test);
	event = open_one(test, 0);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 0ULL);
	KUNIT_EXPECT_EQ(test, box->on, 0U);
	box->raw = 100;
	wake(test);
	KUNIT_EXPECT_EQ(test, box->on, 1U);
	box->raw = 103;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 3ULL);
	perf_event_release_kernel(event);
}

static void closed_while_asleep(struct kunit *test)
{
	struct memory_box *box = sleep_create(test, PMU_SCOPE_SYSTEM);
	struct perf_event *event = open_one(test, 0);

	fall_asleep(test);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(!READ_ONCE(box->box->engaged)));
	wake(test);
	KUNIT_EXPECT_EQ(test, box->on, 1U);
	KUNIT_EXPECT_EQ(test, box->off, 1U);
}

/*
 * An event that is stopped and started during the sleep, as when events take turns, counts from the
 * moment of waking up.
 */
static void disabled_while_asleep(struct kunit *test)
{
	struct memory_box *box = sleep_create(test, PMU_SCOPE_SYSTEM);
	struct perf_event *event = open_one(test, 0), *other = open_one(test, 0);

	box->raw = 5;
	fall_asleep(test);
	perf_event_disable(event);
	perf_event_enable(event);
	perf_event_disable(other);
	wake(test);
	box->raw = 7;
	perf_event_enable(other);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 12ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 5ULL);
	perf_event_release_kernel(event);
	perf_event_release_kernel(other);
}

/*
 * If a box cannot be switched on again, its events fail with an error. A later open tries it again.
 */
static void power_fails_behind_it(struct kunit *test)
{
	struct memory_box *box = sleep_create(test, PMU_SCOPE_SYSTEM);
	struct perf_event *event = open_one(test, 0);

	box->raw = 5;
	fall_asleep(test);
	box->power_error = -EIO;
	wake(test);
	KUNIT_EXPECT_TRUE(test, perf_open_fails_soon(event));
	box->power_error = 0;
	KUNIT_EXPECT_EQ(test, perf_open_error(MEMORY_PMU, 0, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, box->on, 2U);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(box->off) == 2));
}

/* The device goes: what was counted before it slept is what there is. */
static void unplugged_while_asleep(struct kunit *test)
{
	struct memory_box *box = sleep_create(test, PMU_SCOPE_SYSTEM);
	struct perf_event *event = open_one(test, 0);

	box->raw = 5;
	fall_asleep(test);
	memory_unplug(memory);
	KUNIT_EXPECT_TRUE(test, perf_open_fails_soon(event));
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	KUNIT_EXPECT_EQ(test, box->off, 1U);
	perf_event_release_kernel(event);
}

/* The CPU that counts goes offline and comes back, as all but the first do when a machine sleeps. */
static void cpu_away_while_asleep(struct kunit *test)
{
	int cpu = memory_second_cpu();
	struct perf_event *event;
	struct memory_box *box;

	if (cpu < 0)
		kunit_skip(test, "needs two CPUs");
	sleep_create(test, PMU_SCOPE_CPU);
	box = &memory->boxes[cpu];
	event = open_one(test, cpu);
	box->raw = 5;
	fall_asleep(test);
	take_offline(test, cpu);
	bring_back(test, cpu);
	KUNIT_EXPECT_EQ(test, box->on, 1U);
	wake(test);
	KUNIT_EXPECT_EQ(test, box->on, 2U);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	perf_event_release_kernel(event);
}

static struct kunit_case sleep_cases[] = {
	KUNIT_CASE(counts_go_on),
	KUNIT_CASE(idle_stays_off),
	KUNIT_CASE(opened_while_asleep),
	KUNIT_CASE(closed_while_asleep),
	KUNIT_CASE(disabled_while_asleep),
	KUNIT_CASE(power_fails_behind_it),
	KUNIT_CASE(unplugged_while_asleep),
	KUNIT_CASE(cpu_away_while_asleep),
	{ }
};

struct kunit_suite pmu_sleep_suite = {
	.name = "pmu_core_sleep",
	.init = sleep_test_init,
	.exit = sleep_test_exit,
	.test_cases = sleep_cases,
};
