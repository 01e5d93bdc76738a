// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nest units as perf sees them: real perf, the driver's own boxes, a nest area in plain
 * memory. The tests play the microcode.
 */
#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/topology.h>

#include "perf_open.h"
#include "suites.h"

#define NEST_UNITS	2
#define NEST_SIZE	0x40000
#define NEST_CONTROL	0x3fc00
/* The area ends HOMER, so no more than that is mapped: what is behind it in memory may be none. */
#define NEST_OFFSET	(POWER_IMC_HOMER_SIZE - NEST_SIZE)

static const char * const nest_names[NEST_UNITS] = { "power_imc_kunit_nest_a", "power_imc_kunit_nest_b" };

static const struct pmu_format event_format = {
	.name = "event", .mask = POWER_IMC_CONFIG_EVENT, .always = true,
};

static struct power_imc *imc;
static void *area;
static u32 chip_id;
static u64 homer;

static void free_area(void *pages)
{
	free_pages_exact(pages, NEST_SIZE);
}

static __be64 *word(u32 offset)
{
	return area + offset;
}

static void unit_describe(struct power_imc_unit *unit, const char *name)
{
	*unit = (struct power_imc_unit){
		.imc = imc, .name = name, .type = POWER_IMC_TYPE_NEST, .size = NEST_SIZE,
		.area_offset = NEST_OFFSET, .control_offset = NEST_CONTROL,
		.nr_chips = 1, .chip_ids = &chip_id, .homers = &homer,
		.desc = {
			.owner = THIS_MODULE, .width = 64,
			.formats = &event_format, .nr_formats = 1,
		},
	};
}

static int nest_test_init(struct kunit *test)
{
	firmware_forget();
	imc = kunit_kzalloc(test, sizeof(*imc), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, imc);
	imc->dev = kunit_device_register(test, "power_imc_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, imc->dev);
	imc->firmware = &firmware_fake;
	INIT_LIST_HEAD(&imc->chips);
	area = alloc_pages_exact(NEST_SIZE, GFP_KERNEL | __GFP_ZERO);
	KUNIT_ASSERT_NOT_NULL(test, area);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_area, area), 0);
	chip_id = topology_physical_package_id(0);
	homer = __pa(area) - NEST_OFFSET;
	imc->units = kunit_kcalloc(test, NEST_UNITS, sizeof(*imc->units), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, imc->units);
	imc->nr_units = NEST_UNITS;
	for (int i = 0; i < NEST_UNITS; i++)
		unit_describe(&imc->units[i], nest_names[i]);
	*word(NEST_CONTROL) = cpu_to_be64(2);	/* paused */
	return 0;
}

/* Find the chip, and register the units. */
static void nest_register(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, power_imc_chips_create(imc), 0);
	for (int i = 0; i < NEST_UNITS; i++)
		KUNIT_ASSERT_EQ(test, power_imc_nest_register(&imc->units[i]), 0);
}

static void nest_test_exit(struct kunit *test)
{
	if (!IS_ERR_OR_NULL(imc->dev))
		kunit_device_unregister(test, imc->dev);
	pmu_unregister_all(THIS_MODULE);
	KUNIT_EXPECT_EQ(test, firmware_log.misuse, 0U);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
}

static struct power_imc_chip *chip(void)
{
	return list_first_entry_or_null(&imc->chips, struct power_imc_chip, node);
}

static struct perf_event *open_nest(struct kunit *test, int unit, u64 config)
{
	struct perf_event *event = perf_open(nest_names[unit], config, 0, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

/* An event is what its word in the area says, from when it was opened, in a group or not. */
static void counts_its_word(struct kunit *test)
{
	struct perf_event *grouped, *last;

	nest_register(test);
	*word(0xd0) = cpu_to_be64(~0ULL - 9);
	grouped = open_nest(test, 0, 0xd0);
	last = open_nest(test, 0, NEST_CONTROL - 8);
	be64_add_cpu(word(0xd0), 0x20);
	be64_add_cpu(word(NEST_CONTROL - 8), 7);
	KUNIT_EXPECT_EQ(test, perf_open_count(grouped), 0x20ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(last), 7ULL);
	perf_event_release_kernel(grouped);
	perf_event_release_kernel(last);
}

/* A microcode that is restarted begins at 0: what it counts from there is counted, and not 2^64. */
static void counts_on_after_a_restart(struct kunit *test)
{
	struct perf_event *framed, *free, *still;

	nest_register(test);
	*word(0xd0) = cpu_to_be64(1000);
	*word(0x778) = cpu_to_be64(1000);
	*word(0xd8) = cpu_to_be64(1000);
	framed = open_nest(test, 0, 0xd0);
	free = open_nest(test, 0, 0x778);
	still = open_nest(test, 0, 0xd8);
	be64_add_cpu(word(0xd0), 5);
	be64_add_cpu(word(0x778), 5);
	KUNIT_EXPECT_EQ(test, perf_open_count(framed), 5ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(free), 5ULL);
	*word(0xd0) = cpu_to_be64(7);
	*word(0x778) = 0;
	KUNIT_EXPECT_EQ(test, perf_open_count(framed), 12ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(free), 5ULL);
	be64_add_cpu(word(0xd0), 3);
	be64_add_cpu(word(0x778), 3);
	KUNIT_EXPECT_EQ(test, perf_open_count(framed), 15ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(free), 8ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(still), 0ULL);
	perf_event_release_kernel(framed);
	perf_event_release_kernel(free);
	perf_event_release_kernel(still);
}

/* A chip's units share its microcode: the first event resumes it, the last pauses it. */
static void units_share_the_microcode(struct kunit *test)
{
	struct perf_event *a, *b;

	nest_register(test);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_NEST_ON], 0U);
	a = open_nest(test, 0, 0xd0);
	b = open_nest(test, 1, 0xd8);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_NEST_ON], 1U);
	KUNIT_EXPECT_EQ(test, chip()->users, 2U);
	perf_event_release_kernel(a);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(chip()->users) == 1));
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_NEST_OFF], 0U);
	perf_event_release_kernel(b);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(chip()->users) == 0));
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_NEST_OFF], 1U);
}

/* What a pause has counted, if it counts, is posted soon after it. No event has it. */
static void a_pause_is_posted_first(struct kunit *test)
{
	u64 ready, begun = ktime_get_ns();
	struct perf_event *a, *b;

	*word(NEST_CONTROL + POWER_IMC_NEST_CB_SPEED) = cpu_to_be64(2);
	nest_register(test);
	a = open_nest(test, 0, 0xd0);
	KUNIT_EXPECT_GE(test, ktime_get_ns() - begun, 80ULL * NSEC_PER_MSEC);
	/* The next one has nothing to wait for. */
	ready = chip()->ready;
	KUNIT_EXPECT_GE(test, ktime_get_ns(), ready);
	b = open_nest(test, 1, 0xd8);
	KUNIT_EXPECT_EQ(test, chip()->ready, ready);
	perf_event_release_kernel(b);
	perf_event_release_kernel(a);
}

/* Microcode that is not resumed: perf_event_open() says why, and nothing is in use. */
static void microcode_that_does_not_resume(struct kunit *test)
{
	nest_register(test);
	firmware_log.error[CALL_NEST_ON] = -EIO;
	KUNIT_EXPECT_EQ(test, perf_open_error(nest_names[0], 0xd0, 0, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, chip()->users, 0U);
	firmware_log.error[CALL_NEST_ON] = 0;
	KUNIT_EXPECT_EQ(test, perf_open_error(nest_names[0], 0xd0, 0, NULL), 0);
}

/*
 * The control block is no counter, nor is memory beyond the area. The words beside the block are.
 */
static void refusals(struct kunit *test)
{
	static const struct { u64 config; int error; } rows[] = {
		{ NEST_CONTROL - 8, 0 }, { NEST_CONTROL - 4, -EINVAL }, { NEST_CONTROL, -EINVAL },
		{ NEST_CONTROL + 8, -EINVAL }, { NEST_CONTROL + 0x28, -EINVAL },
		{ NEST_CONTROL + 0x30, 0 }, { NEST_SIZE - 8, 0 }, { NEST_SIZE, -EINVAL },
		{ BIT_ULL(32) | 0xd0, -EINVAL }, { BIT_ULL(62) | 0xd0, -EINVAL },
	};

	nest_register(test);
	for (int i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, perf_open_error(nest_names[0], rows[i].config, 0, NULL),
				    rows[i].error, "%#llx", rows[i].config);
	KUNIT_EXPECT_EQ(test, perf_open_error(nest_names[0], 0xd0, -1, current), -EINVAL);
}

struct group_read {
	struct perf_event *a, *b;
};

/* Read a group as perf does: on the owner CPU, interrupts off. */
static void read_group(void *data)
{
	struct group_read *group = data;
	struct pmu *pmu = group->a->pmu;

	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	pmu->read(group->a);
	pmu->read(group->b);
	pmu->commit_txn(pmu);
}

/*
 * An update that is under way: a read waits for its end, but not for ever; then it says
 * what there is, and it is known how often that was. Counters in no group do not wait.
 */
static void waits_for_an_update(struct kunit *test)
{
	struct group_read group;
	struct perf_event *free;

	if (power_imc_generation() != POWER_IMC_P9)
		kunit_skip(test, "needs a POWER9: no other processor's groups are known");
	nest_register(test);
	group.a = open_nest(test, 0, 0xd0);
	group.b = open_nest(test, 0, 0xd8);
	free = open_nest(test, 0, 0x778);
	KUNIT_EXPECT_EQ(test, atomic_read(&chip()->torn), 0);

	*word(0x000) = cpu_to_be64(7);		/* updates begun */
	*word(0x108) = cpu_to_be64(6);		/* updates done */
	be64_add_cpu(word(0xd0), 3);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(group.a->cpu, read_group, &group, 1), 0);
	KUNIT_EXPECT_EQ(test, local64_read(&group.a->count), 3LL);
	KUNIT_EXPECT_EQ(test, local64_read(&group.b->count), 0LL);
	/* Both are of one group, and one pass: it was waited for once. */
	KUNIT_EXPECT_EQ(test, atomic_read(&chip()->torn), 1);
	perf_open_count(free);
	KUNIT_EXPECT_EQ(test, atomic_read(&chip()->torn), 1);

	be64_add_cpu(word(0xd8), 3);
	*word(0x108) = cpu_to_be64(7);
	KUNIT_EXPECT_EQ(test, perf_open_count(group.b), 3ULL);
	KUNIT_EXPECT_EQ(test, atomic_read(&chip()->torn), 1);
	perf_event_release_kernel(group.a);
	perf_event_release_kernel(group.b);
	perf_event_release_kernel(free);
}

/* The microcode, on another CPU: it waits for the update's begin, and ends it. */
static struct { atomic_t ready, ended; } microcode;

static void end_update(void *unused)
{
	atomic_inc(&microcode.ready);
	while (!READ_ONCE(*word(0x000)))
		cpu_relax();
	be64_add_cpu(word(0xd8), 5);
	smp_wmb();
	WRITE_ONCE(*word(0x108), READ_ONCE(*word(0x000)));
	atomic_inc(&microcode.ended);
}

/* Begin it, and read at once. */
static void read_in_update(void *group)
{
	WRITE_ONCE(*word(0x000), cpu_to_be64(8));
	smp_wmb();
	be64_add_cpu(word(0xd0), 5);
	read_group(group);
}

/*
 * What is read together is of the same update, though one comes in between each time. That is
 * seen where the reader need not give up: on a busy host the other CPU may stand still for long.
 */
static void group_is_of_one_update(struct kunit *test)
{
	int owner = 0, other = cpumask_any_but(cpu_online_mask, owner), whole = 0;
	struct group_read group;

	if (power_imc_generation() != POWER_IMC_P9 || other >= nr_cpu_ids)
		kunit_skip(test, "needs a POWER9 with two CPUs");
	nest_register(test);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(owner)), 0);
	group.a = open_nest(test, 0, 0xd0);
	group.b = open_nest(test, 0, 0xd8);
	atomic_set(&microcode.ready, 0);
	atomic_set(&microcode.ended, 0);
	for (int i = 1; i <= 10000 && whole < 25; i++) {
		int torn = atomic_read(&chip()->torn);

		cond_resched();
		*word(0x000) = 0;
		*word(0x108) = 0;
		smp_call_function_single(other, end_update, NULL, 0);
		while (atomic_read(&microcode.ready) < i)
			cpu_relax();
		smp_call_function_single(owner, read_in_update, &group, 1);
		while (atomic_read(&microcode.ended) < i)
			cpu_relax();
		if (atomic_read(&chip()->torn) != torn)
			continue;
		whole++;
		KUNIT_EXPECT_EQ(test, local64_read(&group.a->count), 5LL * i);
		KUNIT_EXPECT_EQ(test, local64_read(&group.b->count), 5LL * i);
	}
	KUNIT_EXPECT_GT(test, whole, 0);
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	perf_event_release_kernel(group.a);
	perf_event_release_kernel(group.b);
}

/* Microcode that does not work, by its state: there is no PMU, and nothing is called. */
static void states_of_the_microcode(struct kunit *test)
{
	const struct { u64 state; bool works; u64 speed; } rows[] = {
		{ 0, false },	/* initialising */
		{ 1, true },	/* running */
		{ 1, true, 3 }, { 1, power_imc_generation() == POWER_IMC_P10, 4 },	/* with other scales */
		{ 2, true },	/* paused */
		{ 3, false },	/* bad speed */
		{ 4, false },	/* bad mode */
		{ 5, false }, { ~0ULL, false }, { 0x0100000000000000, false },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		if (i) {
			nest_test_exit(test);
			nest_test_init(test);
		}
		*word(NEST_CONTROL) = cpu_to_be64(rows[i].state);
		*word(NEST_CONTROL + POWER_IMC_NEST_CB_SPEED) = cpu_to_be64(rows[i].speed);
		nest_register(test);
		KUNIT_EXPECT_EQ_MSG(test, perf_open_type(nest_names[0]) >= 0, rows[i].works,
				    "state %llu, speed %llu", rows[i].state, rows[i].speed);
	}
}

/* A unit that says the chip's area is elsewhere is left out, and the others stay. */
static void one_area_for_a_chip(struct kunit *test)
{
	imc->units[1].control_offset -= 0x100;
	nest_register(test);
	KUNIT_EXPECT_GE(test, perf_open_type(nest_names[0]), 0);
	KUNIT_EXPECT_EQ(test, perf_open_type(nest_names[1]), -1);
}

/* So is one that comes to the area from another HOMER: what is mapped may end before that. */
static void one_homer_for_an_area(struct kunit *test)
{
	static u64 other;

	other = homer + imc->units[1].area_offset - 0x1000;
	imc->units[1].homers = &other;
	imc->units[1].area_offset = 0x1000;
	nest_register(test);
	KUNIT_EXPECT_GE(test, perf_open_type(nest_names[0]), 0);
	KUNIT_EXPECT_EQ(test, perf_open_type(nest_names[1]), -1);
}

/* A wrong one is not in the way if it comes first, and no microcode is where it says. */
static void a_wrong_control_block_comes_first(struct kunit *test)
{
	struct perf_event *event;

	imc->units[0].control_offset -= 0x100;
	nest_register(test);
	KUNIT_EXPECT_EQ(test, perf_open_type(nest_names[0]), -1);
	event = open_nest(test, 1, 0xd0);
	be64_add_cpu(word(0xd0), 5);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	perf_event_release_kernel(event);
}

/* Units may say different sizes of the same area, in any order. Each counts up to where its own ends. */
static void areas_of_two_sizes(struct kunit *test)
{
	for (int small = 0; small < NEST_UNITS; small++) {
		struct perf_event *event;

		if (small) {
			nest_test_exit(test);
			nest_test_init(test);
		}
		imc->units[small].size = NEST_CONTROL + POWER_IMC_NEST_CB_SIZE;
		nest_register(test);
		KUNIT_EXPECT_EQ(test, perf_open_error(nest_names[small], 0xd0, 0, NULL), 0);
		KUNIT_EXPECT_EQ(test, perf_open_error(nest_names[small], NEST_SIZE - 8, 0, NULL), -EINVAL);
		event = open_nest(test, !small, NEST_SIZE - 8);
		be64_add_cpu(word(NEST_SIZE - 8), 5);
		KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
		perf_event_release_kernel(event);
	}
}

/* A chip that is named twice is counted once, and those behind it are counted. */
static void a_chip_is_named_twice(struct kunit *test)
{
	static u32 ids[3];
	static u64 homers[ARRAY_SIZE(ids)];

	for (int i = 0; i < ARRAY_SIZE(ids); i++) {
		ids[i] = i < 2 ? chip_id + 1 : chip_id;
		homers[i] = homer;
	}
	for (int i = 0; i < NEST_UNITS; i++) {
		imc->units[i].nr_chips = ARRAY_SIZE(ids);
		imc->units[i].chip_ids = ids;
		imc->units[i].homers = homers;
	}
	nest_register(test);
	for (int i = 0; i < NEST_UNITS; i++)
		KUNIT_EXPECT_EQ(test, perf_open_error(nest_names[i], 0xd0, 0, NULL), 0);
}

/* An address where there can be no memory is not touched. */
static void addresses_that_cannot_be(struct kunit *test)
{
	static const u64 rows[] = { ~0ULL - 7, 0xfff0000000000000, 0x7fffffffffff0000, 4 };

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		if (i) {
			nest_test_exit(test);
			nest_test_init(test);
		}
		homer = rows[i] - NEST_OFFSET;
		nest_register(test);
		KUNIT_EXPECT_EQ_MSG(test, perf_open_type(nest_names[0]), -1, "%#llx", rows[i]);
	}
}

/* Nor is one to which firmware comes by a sum that wraps. */
static void addresses_that_wrap(struct kunit *test)
{
	const u32 offset = 0xfff00000;

	homer = __pa(area) - (u64)offset;
	if (homer < __pa(area))
		kunit_skip(test, "the area is above the offset");
	for (int i = 0; i < NEST_UNITS; i++)
		imc->units[i].area_offset = offset;
	nest_register(test);
	KUNIT_EXPECT_EQ(test, perf_open_type(nest_names[0]), -1);
}

static struct kunit_case nest_cases[] = {
	KUNIT_CASE(counts_its_word),
	KUNIT_CASE(counts_on_after_a_restart),
	KUNIT_CASE(units_share_the_microcode),
	KUNIT_CASE(a_pause_is_posted_first),
	KUNIT_CASE(microcode_that_does_not_resume),
	KUNIT_CASE(refusals),
	KUNIT_CASE(waits_for_an_update),
	KUNIT_CASE(group_is_of_one_update),
	KUNIT_CASE(states_of_the_microcode),
	KUNIT_CASE(one_area_for_a_chip),
	KUNIT_CASE(one_homer_for_an_area),
	KUNIT_CASE(a_wrong_control_block_comes_first),
	KUNIT_CASE(areas_of_two_sizes),
	KUNIT_CASE(a_chip_is_named_twice),
	KUNIT_CASE(addresses_that_cannot_be),
	KUNIT_CASE(addresses_that_wrap),
	{ }
};

struct kunit_suite power_imc_nest_suite = {
	.name = "power_imc_nest",
	.init = nest_test_init,
	.exit = nest_test_exit,
	.test_cases = nest_cases,
};
