// SPDX-License-Identifier: GPL-2.0-only
/*
 * The texts in sysfs: made from the masks that the drivers decode with.
 */
#include <kunit/test.h>
#include <linux/device.h>
#include <linux/mm.h>

#include <core/core.h>

#include "suites.h"
#include "memory.h"

static char *page(struct kunit *test)
{
	/* sysfs_emit() insists on a page, aligned like one. */
	char *buf = kunit_kzalloc(test, PAGE_SIZE * 2, GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, buf);
	return PTR_ALIGN(buf, PAGE_SIZE);
}

/* One run, one bit, several runs, both ends of the word, other words. */
static void format_text(struct kunit *test)
{
	static const struct { struct pmu_format format; const char *text; } rows[] = {
		{ { .mask = GENMASK_ULL(7, 0) }, "config:0-7\n" },
		{ { .mask = BIT_ULL(18) }, "config:18\n" },
		{ { .mask = GENMASK_ULL(31, 24) }, "config:24-31\n" },
		{ { .mask = GENMASK_ULL(7, 0) | BIT_ULL(21) }, "config:0-7,21\n" },
		{ { .mask = BIT_ULL(0) | BIT_ULL(2) | GENMASK_ULL(63, 60) }, "config:0,2,60-63\n" },
		{ { .mask = ~0ULL, .word = PMU_CONFIG1 }, "config1:0-63\n" },
		{ { .mask = BIT_ULL(63), .word = PMU_CONFIG2 }, "config2:63\n" },
	};
	char *buf = page(test);

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		ssize_t len = pmu_format_text(buf, &rows[i].format);

		KUNIT_EXPECT_STREQ(test, buf, rows[i].text);
		KUNIT_EXPECT_EQ(test, len, (ssize_t)strlen(rows[i].text));
	}
}

static const struct pmu_format formats[] = {
	{ .name = "event", .mask = GENMASK_ULL(7, 0), .digits = 2, .always = true },
	{ .name = "umask", .mask = GENMASK_ULL(15, 8), .digits = 2, .always = true },
	{ .name = "edge", .mask = BIT_ULL(18) },
	{ .name = "wide", .mask = GENMASK_ULL(63, 0), .word = PMU_CONFIG1 },
	{ .name = "split", .mask = GENMASK_ULL(3, 0) | GENMASK_ULL(35, 32), .word = PMU_CONFIG2 },
};

static const struct pmu_desc desc = { .formats = formats, .nr_formats = ARRAY_SIZE(formats) };

/* Fields in the order of the formats; those that are 0 only where that is wanted. */
static void event_text(struct kunit *test)
{
	static const struct { struct pmu_named_event event; const char *text; } rows[] = {
		{ { .config = { 0x0304 } }, "event=0x04,umask=0x03\n" },
		{ { .config = { 0xff } }, "event=0xff,umask=0x00\n" },
		{ { .config = { 0x40011 } }, "event=0x11,umask=0x00,edge=0x1\n" },
		{ { .config = { 0, ~0ULL } }, "event=0x00,umask=0x00,wide=0xffffffffffffffff\n" },
		{ { .config = { 0, 0, 0x500000003 } }, "event=0x00,umask=0x00,split=0x53\n" },
	};
	char *buf = page(test);

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		pmu_event_text(buf, &desc, &rows[i].event);
		KUNIT_EXPECT_STREQ(test, buf, rows[i].text);
	}
}

/*
 * An alias is a name for bits of another format: claimed, and written where the event asks for it,
 * which is then instead of what else has these bits.
 */
static void aliases_are_written_on_demand(struct kunit *test)
{
	static const struct pmu_format aliased[] = {
		{ .name = "event", .mask = GENMASK_ULL(31, 0), .always = true },
		{ .name = "offset", .mask = GENMASK_ULL(15, 0), .alias = true },
		{ .name = "mode", .mask = GENMASK_ULL(47, 40), .alias = true, .always = true },
	};
	static const struct pmu_desc with = { .formats = aliased, .nr_formats = ARRAY_SIZE(aliased) };
	struct pmu_named_event event = { .config = { 0x1000200000d0 } };
	char *buf = page(test);

	pmu_event_text(buf, &with, &event);
	KUNIT_EXPECT_STREQ(test, buf, "event=0x200000d0\n");
	event.shown = BIT(2);
	pmu_event_text(buf, &with, &event);
	KUNIT_EXPECT_STREQ(test, buf, "event=0x200000d0,mode=0x10\n");
	event.shown = BIT(1);
	pmu_event_text(buf, &with, &event);
	KUNIT_EXPECT_STREQ(test, buf, "offset=0xd0\n");
	pmu_format_text(buf, &aliased[1]);
	KUNIT_EXPECT_STREQ(test, buf, "config:0-15\n");
	KUNIT_EXPECT_EQ(test, pmu_reserved_bits(&with, PMU_CONFIG), 0xffff00ff00000000ULL);
}

static ssize_t extra_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "of the driver\n");
}
static DEVICE_ATTR_RO(extra);

static struct attribute *more_attrs[] = { &dev_attr_extra.attr, NULL };
static const struct attribute_group more_group = { .name = "more", .attrs = more_attrs };
static const struct attribute_group plain_group = { .attrs = more_attrs };
static const struct attribute_group *more_groups[] = { &more_group, &plain_group, NULL };

static void expect_file(struct kunit *test, const char *name, const char *expected)
{
	char text[64];

	if (expected) {
		KUNIT_EXPECT_GT_MSG(test, perf_open_file(MEMORY_PMU, name, text, sizeof(text)), 0,
				    "%s", name);
		KUNIT_EXPECT_STREQ(test, text, expected);
	} else {
		KUNIT_EXPECT_EQ_MSG(test, perf_open_file(MEMORY_PMU, name, text, sizeof(text)),
				    -ENOENT, "%s", name);
	}
}

/* A driver's own groups stand beside ours. */
static void further_groups(struct kunit *test)
{
	struct memory *memory = memory_create(test, PMU_SCOPE_SYSTEM);

	memory->desc.groups = more_groups;
	memory_plug(test, memory);
	expect_file(test, "more/extra", "of the driver\n");
	expect_file(test, "extra", "of the driver\n");
	expect_file(test, "format/event", "config:0-7\n");
	expect_file(test, "cpumask", "0\n");
	memory_destroy(test, memory);
}

/* perf opens events on the CPUs of a cpumask: what tasks can use has none, all else must. */
static void cpumask_tells_of_tasks(struct kunit *test)
{
	static const enum pmu_tasks tasks[] = { PMU_TASKS_NEVER, PMU_TASKS_TOO, PMU_TASKS_ONLY };

	for (int i = 0; i < ARRAY_SIZE(tasks); i++) {
		struct memory *memory = memory_create(test, PMU_SCOPE_CPU);

		memory->desc.tasks = tasks[i];
		memory_plug_box(test, memory, 0);
		expect_file(test, "cpumask", tasks[i] == PMU_TASKS_NEVER ? "0\n" : NULL);
		memory_destroy(test, memory);
	}
}

/* Exactly the bits that no format has, per word. */
static void reserved_bits(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, pmu_reserved_bits(&desc, PMU_CONFIG), ~0x4ffffULL);
	KUNIT_EXPECT_EQ(test, pmu_reserved_bits(&desc, PMU_CONFIG1), 0ULL);
	KUNIT_EXPECT_EQ(test, pmu_reserved_bits(&desc, PMU_CONFIG2), 0xfffffff0fffffff0ULL);
}

static struct kunit_case attr_cases[] = {
	KUNIT_CASE(format_text),
	KUNIT_CASE(event_text),
	KUNIT_CASE(aliases_are_written_on_demand),
	KUNIT_CASE(further_groups),
	KUNIT_CASE(cpumask_tells_of_tasks),
	KUNIT_CASE(reserved_bits),
	{ }
};

struct kunit_suite pmu_attr_suite = {
	.name = "pmu_core_attr",
	.test_cases = attr_cases,
};
