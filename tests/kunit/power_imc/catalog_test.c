// SPDX-License-Identifier: GPL-2.0-only
/*
 * A good catalog, as firmware hands it over: two nest units, a core, a thread and a trace
 * unit. Documentation/hardware/power_imc.md, 1.5.
 */
#include <kunit/device.h>
#include <linux/device.h>

#include "catalog.h"
#include "suites.h"

enum { PHANDLE_NEST = 1, PHANDLE_CORE, PHANDLE_TRACE };

static const struct {
	const char *unit, *name;
	u64 config;
	const char *scale, *text;
} catalog_events[] = {
	{ NEST_UNIT, "PM_DEMO_RD", 0xc8, "256", "MiB" },
	{ NEST_UNIT, "PM_DEMO_WR", 0xd0, "0.5", "KiB" },
	{ OTHER_UNIT, "PM_XLINK0_RD", 0x118, NULL, NULL },
	{ OTHER_UNIT, "PM_XLINK0_WR", 0x120, "0.5", "KiB" },
	{ CORE_UNIT, "CPM_NON_IDLE_INST", 0x28, "512", NULL },
	{ CORE_UNIT, "CPM_CCYC", 0x98, "512", NULL },
	{ CORE_UNIT, "CPM_32MHZ_CYC", 0xa0, "512", NULL },
	{ CORE_UNIT, "CPM_LAST", 0x1ff8, "512", NULL },
	{ THREAD_UNIT, "CPM_NON_IDLE_INST", 0x28, "512", NULL },
	{ THREAD_UNIT, "CPM_CCYC", 0x98, "512", NULL },
	{ THREAD_UNIT, "CPM_32MHZ_CYC", 0xa0, "512", NULL },
	{ THREAD_UNIT, "CPM_LAST", 0x1ff8, "512", NULL },
	{ TRACE_UNIT, "trace_cycles", 0x10200000, NULL, NULL },
};

static const struct { const char *name; enum power_imc_type type; u32 size; } catalog_units[] = {
	{ NEST_UNIT, POWER_IMC_TYPE_NEST, 0x40000 },
	{ OTHER_UNIT, POWER_IMC_TYPE_NEST, 0x40000 },
	{ CORE_UNIT, POWER_IMC_TYPE_CORE, 0x2000 },
	{ THREAD_UNIT, POWER_IMC_TYPE_THREAD, 0x2000 },
	{ TRACE_UNIT, POWER_IMC_TYPE_TRACE, 0x40000 },
};

static void put_list(struct fdt *fdt, const char *node, u32 phandle)
{
	fdt_begin(fdt, node);
	fdt_u32(fdt, "#address-cells", 1);
	fdt_u32(fdt, "#size-cells", 1);
	fdt_u32(fdt, "phandle", phandle);
}

static void begin_event(struct fdt *fdt, const char *node, const char *name, u32 offset)
{
	fdt_begin(fdt, node);
	fdt_text(fdt, "event-name", name);
	fdt_cells(fdt, "reg", offset, 8);
}

static void put_event(struct fdt *fdt, const char *node, const char *name, u32 offset)
{
	begin_event(fdt, node, name, offset);
	fdt_end(fdt);
}

static void put_lists(struct fdt *fdt)
{
	put_list(fdt, "nest-list", PHANDLE_NEST);
	put_event(fdt, "event@0", "RD", 0x0);
	begin_event(fdt, "event@8", "WR", 0x8);
	fdt_text(fdt, "scale", "0.5");
	fdt_text(fdt, "unit", "KiB");
	fdt_text(fdt, "desc", "Data that was written");
	fdt_end(fdt);
	fdt_end(fdt);

	put_list(fdt, "core-list", PHANDLE_CORE);
	put_event(fdt, "event@10", "NON_IDLE_INST", 0x10);
	put_event(fdt, "event@80", "CCYC", 0x80);
	put_event(fdt, "event@88", "32MHZ_CYC", 0x88);
	put_event(fdt, "event@1fe0", "LAST", 0x1fe0);
	fdt_end(fdt);

	put_list(fdt, "trace-list", PHANDLE_TRACE);
	put_event(fdt, "event@10200000", "cycles", 0x10200000);
	fdt_end(fdt);
}

static void begin_unit(struct fdt *fdt, const char *node, enum power_imc_type type, u32 base, u32 size)
{
	fdt_begin(fdt, node);
	fdt_text(fdt, "compatible", "ibm,imc-counters");
	fdt_u32(fdt, "type", type);
	fdt_cells(fdt, "reg", base, 8);
	fdt_u32(fdt, "size", size);
}

static void put_events(struct fdt *fdt, const char *prefix, u32 phandle)
{
	fdt_text(fdt, "events-prefix", prefix);
	fdt_u32(fdt, "events", phandle);
}

static void put_nest(struct fdt *fdt, const char *node, u32 base, const char *prefix)
{
	begin_unit(fdt, node, POWER_IMC_TYPE_NEST, base, 0x40000);
	put_events(fdt, prefix, PHANDLE_NEST);
	fdt_u32(fdt, "offset", 0x180000);
	fdt_u32(fdt, "cb_offset", 0x3fc00);
	fdt_u64(fdt, "base-addr", 0x203ffd800000);
	fdt_u32(fdt, "chip-id", 0);
}

/* The catalog, with @edits made. Still open: nodes may be added. */
struct fdt *catalog_create(struct kunit *test, const struct fdt_edit *edits, unsigned int nr_edits)
{
	struct fdt *fdt = fdt_create(test, edits, nr_edits);

	fdt_text(fdt, "compatible", "ibm,opal-in-memory-counters");
	fdt_u32(fdt, "version-id", 1);
	put_lists(fdt);
	put_nest(fdt, NEST_NODE, 0xc8, "PM_DEMO_");
	fdt_text(fdt, "scale", "256");
	fdt_text(fdt, "unit", "MiB");
	fdt_end(fdt);
	put_nest(fdt, "xlink0@118", 0x118, "PM_XLINK0_");
	fdt_end(fdt);
	begin_unit(fdt, CORE_NODE, POWER_IMC_TYPE_CORE, 0x18, 0x2000);
	put_events(fdt, "CPM_", PHANDLE_CORE);
	fdt_text(fdt, "scale", "512");
	fdt_end(fdt);
	begin_unit(fdt, THREAD_NODE, POWER_IMC_TYPE_THREAD, 0x18, 0x2000);
	put_events(fdt, "CPM_", PHANDLE_CORE);
	fdt_text(fdt, "scale", "512");
	fdt_end(fdt);
	begin_unit(fdt, TRACE_NODE, POWER_IMC_TYPE_TRACE, 0, 0x40000);
	put_events(fdt, "trace_", PHANDLE_TRACE);
	fdt_end(fdt);
	return fdt;
}

/* What the driver reads from it. */
struct power_imc *catalog_read(struct kunit *test, struct fdt *fdt)
{
	struct power_imc *imc = kunit_kzalloc(test, sizeof(*imc), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, imc);
	imc->dev = kunit_device_register(test, "power_imc_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, imc->dev);
	INIT_LIST_HEAD(&imc->chips);
	KUNIT_ASSERT_EQ(test, power_imc_catalog_read(imc, fdt_tree(fdt)), 0);
	return imc;
}

const struct power_imc_unit *catalog_unit(const struct power_imc *imc, const char *name)
{
	for (unsigned int i = 0; i < imc->nr_units; i++)
		if (!strcmp(imc->units[i].name, name))
			return &imc->units[i];
	return NULL;
}

static const struct pmu_named_event *unit_event(const struct power_imc_unit *unit, const char *name)
{
	for (unsigned int i = 0; i < unit->desc.nr_events; i++)
		if (!strcmp(unit->desc.events[i].name, name))
			return &unit->desc.events[i];
	return NULL;
}

/* KUNIT_EXPECT_STREQ takes no NULL. */
static void expect_text(struct kunit *test, const char *text, const char *expected)
{
	KUNIT_EXPECT_STREQ(test, text ?: "(none)", expected ?: "(none)");
}

static bool is_lost(enum catalog_loss loss, const char *lost, const char *unit, const char *event)
{
	if (loss != LOSS_EVENT)
		return loss && !strcmp(unit, lost);
	return strlen(event) >= strlen(lost) && !strcmp(event + strlen(event) - strlen(lost), lost);
}

/* The events of a unit: all that it is to have, as they are to be, and no other. */
static void expect_events(struct kunit *test, const struct power_imc_unit *unit, enum catalog_loss loss,
			  const char *name)
{
	unsigned int count = 0;

	for (int i = 0; i < ARRAY_SIZE(catalog_events); i++) {
		const struct pmu_named_event *event;

		if (strcmp(catalog_events[i].unit, unit->name) ||
		    is_lost(loss, name, unit->name, catalog_events[i].name))
			continue;
		count++;
		event = unit_event(unit, catalog_events[i].name);
		KUNIT_EXPECT_NOT_NULL_MSG(test, event, "%s of %s", catalog_events[i].name,
					  unit->name);
		if (!event)
			continue;
		KUNIT_EXPECT_EQ(test, event->config[PMU_CONFIG], catalog_events[i].config);
		expect_text(test, event->scale, catalog_events[i].scale);
		expect_text(test, event->unit, catalog_events[i].text);
	}
	KUNIT_EXPECT_EQ_MSG(test, unit->desc.nr_events, count, "of %s", unit->name);
}

/* All of the catalog is there but what is lost. */
void catalog_expect(struct kunit *test, const struct power_imc *imc, enum catalog_loss loss,
		    const char *name)
{
	unsigned int count = 0;

	for (int i = 0; i < ARRAY_SIZE(catalog_units); i++) {
		const struct power_imc_unit *unit = catalog_unit(imc, catalog_units[i].name);

		if (loss == LOSS_UNIT && !strcmp(catalog_units[i].name, name)) {
			KUNIT_EXPECT_NULL_MSG(test, unit, "%s", name);
			continue;
		}
		count++;
		KUNIT_EXPECT_NOT_NULL_MSG(test, unit, "%s", catalog_units[i].name);
		if (!unit)
			continue;
		KUNIT_EXPECT_EQ(test, unit->type, catalog_units[i].type);
		expect_events(test, unit, loss, name);
	}
	KUNIT_EXPECT_EQ(test, imc->nr_units, count);
}

/* A good catalog is read wholly, with what its events inherit. */
static void reads_a_good_one(struct kunit *test)
{
	struct power_imc *imc = catalog_read(test, catalog_create(test, NULL, 0));

	catalog_expect(test, imc, LOSS_NOTHING, NULL);
	for (int i = 0; i < ARRAY_SIZE(catalog_units); i++)
		KUNIT_EXPECT_EQ(test, catalog_unit(imc, catalog_units[i].name)->size,
				catalog_units[i].size);
}

/* A nest unit says where its counters are, on each chip; what it does not say is usual. */
static void reads_where_the_nest_is(struct kunit *test)
{
	static const struct fdt_edit edits[] = {
		FDT_SET(NEST_NODE, "base-addr", "\0\0\x20\x3f\xfd\x80\0\0" "\0\0\x20\x3f\xfd\xc0\0\0"),
		FDT_SET(NEST_NODE, "chip-id", "\0\0\0\0" "\0\0\0\x8"),
		FDT_CUT(NEST_NODE, "cb_offset"),
	};
	struct power_imc *imc = catalog_read(test, catalog_create(test, edits, ARRAY_SIZE(edits)));
	const struct power_imc_unit *unit = catalog_unit(imc, NEST_UNIT);

	KUNIT_ASSERT_NOT_NULL(test, unit);
	KUNIT_EXPECT_EQ(test, unit->area_offset, 0x180000U);
	KUNIT_EXPECT_EQ(test, unit->control_offset, 0x3fc00U);
	KUNIT_ASSERT_EQ(test, unit->nr_chips, 2U);
	KUNIT_EXPECT_EQ(test, unit->chip_ids[0], 0U);
	KUNIT_EXPECT_EQ(test, unit->chip_ids[1], 8U);
	KUNIT_EXPECT_EQ(test, unit->homers[0], 0x203ffd800000ULL);
	KUNIT_EXPECT_EQ(test, unit->homers[1], 0x203ffdc00000ULL);
}

/* What the catalog says of an event in words is kept beside it. */
static void keeps_what_is_said(struct kunit *test)
{
	struct power_imc *imc = catalog_read(test, catalog_create(test, NULL, 0));
	const struct power_imc_unit *unit = catalog_unit(imc, NEST_UNIT);

	KUNIT_ASSERT_NOT_NULL(test, unit);
	KUNIT_ASSERT_EQ(test, unit->desc.nr_events, 2U);
	expect_text(test, unit->about[0], NULL);
	expect_text(test, unit->about[1], "Data that was written");
}

/* A node that is no unit, and one of a kind that is not known yet, are not in the way. */
static void other_nodes_are_passed_over(struct kunit *test)
{
	struct fdt *fdt = catalog_create(test, NULL, 0);

	fdt_begin(fdt, "something");
	fdt_text(fdt, "compatible", "ibm,else");
	fdt_u32(fdt, "type", POWER_IMC_TYPE_CORE);
	fdt_end(fdt);
	catalog_expect(test, catalog_read(test, fdt), LOSS_NOTHING, NULL);
}

/* Two nest units of one name and area, as in the published 81E00612.800100, are one PMU with the events of both. */
static void units_of_one_name_are_one_pmu(struct kunit *test)
{
	struct fdt *fdt = catalog_create(test, NULL, 0);
	const struct power_imc_unit *unit;

	put_nest(fdt, "mcs01@148", 0x148, "PM_OTHER_");
	fdt_end(fdt);
	/* Nor is one left out that has the same events: only those are. */
	put_nest(fdt, "xlink0@158", 0x158, "PM_XLINK0_");
	fdt_end(fdt);
	unit = catalog_unit(catalog_read(test, fdt), NEST_UNIT);
	KUNIT_ASSERT_NOT_NULL(test, unit);
	KUNIT_EXPECT_EQ(test, unit->imc->nr_units, (unsigned int)ARRAY_SIZE(catalog_units));
	KUNIT_ASSERT_EQ(test, unit->desc.nr_events, 4U);
	KUNIT_EXPECT_STREQ(test, unit->desc.events[3].name, "PM_OTHER_WR");
	KUNIT_EXPECT_EQ(test, unit->desc.events[1].config[PMU_CONFIG], 0xd0ULL);
	KUNIT_EXPECT_EQ(test, unit->desc.events[3].config[PMU_CONFIG], 0x150ULL);
	expect_text(test, unit->about[1], "Data that was written");
	expect_text(test, unit->about[3], "Data that was written");
	unit = catalog_unit(unit->imc, OTHER_UNIT);
	KUNIT_ASSERT_NOT_NULL(test, unit);
	KUNIT_EXPECT_EQ(test, unit->desc.nr_events, 2U);
}

/* Firmware may have nothing to tell. */
static void reads_an_empty_one(struct kunit *test)
{
	struct power_imc *imc = catalog_read(test, fdt_create(test, NULL, 0));

	KUNIT_EXPECT_EQ(test, imc->nr_units, 0U);
}

/* However many events there are, each is there once. */
static void reads_a_long_list(struct kunit *test)
{
	struct fdt *fdt = catalog_create(test, NULL, 0);
	const struct power_imc_unit *unit;

	begin_unit(fdt, "long@0", POWER_IMC_TYPE_CORE, 0, 0x2000);
	put_events(fdt, "L_", 99);
	fdt_end(fdt);
	put_list(fdt, "long-list", 99);
	for (unsigned int i = 0; i < 1024; i++) {
		char name[16];

		snprintf(name, sizeof(name), "e%u", i);
		/* 1024 fit; as many again have a name that is taken, and as many are outside. */
		put_event(fdt, "event", name, 8 * i);
		put_event(fdt, "event", name, 8 * i);
		snprintf(name, sizeof(name), "f%u", i);
		put_event(fdt, "event", name, 0x2000 + 8 * i);
	}
	fdt_end(fdt);
	unit = catalog_unit(catalog_read(test, fdt), "long_imc");
	KUNIT_ASSERT_NOT_NULL(test, unit);
	KUNIT_EXPECT_EQ(test, unit->desc.nr_events, 1024U);
	KUNIT_EXPECT_EQ(test, unit->desc.events[1023].config[PMU_CONFIG], 0x1ff8ULL);
}

static u32 spoilt_ones(u32 word)
{
	return ~0U;
}

static u32 spoilt_zeroes(u32 word)
{
	return 0;
}

static u32 spoilt_bits(u32 word)
{
	return ~word;
}

/* In each of 32 words in a row another bit is wrong. */
static unsigned int spoilt_bit;

static u32 spoilt_one_bit(u32 word)
{
	return word ^ BIT(spoilt_bit++ % 32);
}

/* Whatever the catalog says: names are files, each once, and counters are inside of their unit. */
static void expect_sane(struct kunit *test, const struct power_imc *imc, unsigned int word)
{
	unsigned int events = 0;

	KUNIT_EXPECT_GE_MSG(test, imc->nr_units + 1, (unsigned int)ARRAY_SIZE(catalog_units), "word %u", word);
	for (unsigned int i = 0; i < imc->nr_units; i++) {
		const struct power_imc_unit *unit = &imc->units[i];

		KUNIT_EXPECT_PTR_EQ_MSG(test, catalog_unit(imc, unit->name), unit, "word %u", word);
		KUNIT_EXPECT_NULL(test, strpbrk(unit->name, "/\n "));
		for (unsigned int j = 0; j < unit->desc.nr_events; j++) {
			const struct pmu_named_event *event = &unit->desc.events[j];

			events++;
			KUNIT_EXPECT_PTR_EQ_MSG(test, unit_event(unit, event->name), event, "word %u", word);
			KUNIT_EXPECT_NULL(test, strpbrk(event->name, "/\n "));
			if (unit->type != POWER_IMC_TYPE_TRACE)
				KUNIT_EXPECT_EQ_MSG(test, power_imc_offset_check(unit, event->config[PMU_CONFIG]), 0,
						    "word %u", word);
		}
	}
	/* The events of one list at most are lost, which two units have; a unit may have got another's list. */
	KUNIT_EXPECT_GE_MSG(test, events + 8, (unsigned int)ARRAY_SIZE(catalog_events), "word %u", word);
}

/* Each word of a catalog's values is wrong once, in several ways. */
static void each_word_is_spoilt(struct kunit *test)
{
	u32 (* const ways[])(u32 word) = { spoilt_ones, spoilt_zeroes, spoilt_bits, spoilt_one_bit };
	struct power_imc *imc = catalog_read(test, catalog_create(test, NULL, 0));
	unsigned int words = 0;

	for (int i = 0; i < ARRAY_SIZE(ways); i++) {
		for (unsigned int word = 0; ; word++) {
			struct fdt *fdt = catalog_create(test, NULL, 0);

			if (!fdt_spoil(fdt, word, ways[i]))
				break;
			imc->nr_units = 0;
			KUNIT_ASSERT_EQ(test, power_imc_catalog_read(imc, fdt_tree(fdt)), 0);
			expect_sane(test, imc, word);
			words++;
		}
	}
	KUNIT_EXPECT_GT(test, words, 400U);
	kunit_info(test, "%u words were spoilt\n", words);
}

static struct kunit_case catalog_cases[] = {
	KUNIT_CASE(reads_a_good_one),
	KUNIT_CASE(reads_where_the_nest_is),
	KUNIT_CASE(keeps_what_is_said),
	KUNIT_CASE(other_nodes_are_passed_over),
	KUNIT_CASE(units_of_one_name_are_one_pmu),
	KUNIT_CASE(reads_an_empty_one),
	KUNIT_CASE_SLOW(reads_a_long_list),
	KUNIT_CASE_SLOW(each_word_is_spoilt),
	{ }
};

struct kunit_suite power_imc_catalog_suite = {
	.name = "power_imc_catalog",
	.test_cases = catalog_cases,
};
