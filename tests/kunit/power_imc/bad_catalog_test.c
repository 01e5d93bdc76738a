// SPDX-License-Identifier: GPL-2.0-only
/*
 * Catalogs that are wrong in one place: what is wrong is left out, all else is read.
 */
#include <kunit/test.h>

#include "catalog.h"
#include "suites.h"

#define TEN		"0123456789"
#define HUNDRED		TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define THREE_HUNDRED	HUNDRED HUNDRED HUNDRED

struct bad {
	const char *what;
	struct fdt_edit edits[2];
	enum catalog_loss loss;
	const char *name;
};

#define NO_CORE		LOSS_UNIT, CORE_UNIT
#define NO_NEST		LOSS_UNIT, NEST_UNIT
#define NO_CORE_EVENTS	LOSS_EVENTS, CORE_UNIT
#define NO_CCYC		LOSS_EVENT, "_CCYC"
#define NO_WR		LOSS_EVENT, "_WR"

/* Of all units: what every one must say of itself. */
static const struct bad bad_units[] = {
	{ "no compatible", { FDT_CUT(CORE_NODE, "compatible") }, NO_CORE },
	{ "another compatible", { FDT_TEXT(CORE_NODE, "compatible", "ibm,imc") }, NO_CORE },
	{ "no type", { FDT_CUT(CORE_NODE, "type") }, NO_CORE },
	{ "an empty type", { FDT_SET(CORE_NODE, "type", "") }, NO_CORE },
	{ "a short type", { FDT_SET(CORE_NODE, "type", "\0\0\4") }, NO_CORE },
	{ "type 0", { FDT_SET(CORE_NODE, "type", "\0\0\0\0") }, NO_CORE },
	{ "two types at once", { FDT_SET(CORE_NODE, "type", "\0\0\0\5") }, NO_CORE },
	{ "a type that is not known", { FDT_SET(CORE_NODE, "type", "\0\0\0\x20") }, NO_CORE },
	{ "a type with high bits", { FDT_SET(CORE_NODE, "type", "\x80\0\0\4") }, NO_CORE },
	{ "no size", { FDT_CUT(CORE_NODE, "size") }, NO_CORE },
	{ "a short size", { FDT_SET(CORE_NODE, "size", "\x20\0") }, NO_CORE },
	{ "larger than a page", { FDT_SET(CORE_NODE, "size", "\0\0\x20\x08") }, NO_CORE },
	{ "as large as can be", { FDT_SET(CORE_NODE, "size", "\xff\xff\xff\xff") }, NO_CORE },
	{ "a trace buffer of another size", { FDT_SET(TRACE_NODE, "size", "\0\x08\0\0") },
	  LOSS_UNIT, TRACE_UNIT },
	{ "size 0", { FDT_SET(CORE_NODE, "size", "\0\0\0\0") }, NO_CORE_EVENTS },
	{ "no reg", { FDT_CUT(CORE_NODE, "reg") }, NO_CORE },
	{ "a short reg", { FDT_SET(CORE_NODE, "reg", "\0\0\x18") }, NO_CORE },
	{ "a base outside", { FDT_SET(CORE_NODE, "reg", "\0\0\x20\0\0\0\0\x08") }, NO_CORE_EVENTS },
	{ "a base that overflows", { FDT_SET(CORE_NODE, "reg", "\xff\xff\xff\xf8\0\0\0\x08") },
	  NO_CORE_EVENTS },
	{ "a base that is not aligned", { FDT_SET(CORE_NODE, "reg", "\0\0\0\x1c\0\0\0\x08") },
	  NO_CORE_EVENTS },
	{ "a name with a slash", { FDT_NAME(CORE_NODE, "a/core@18") }, LOSS_NOTHING },
	{ "a name that goes up", { FDT_NAME(CORE_NODE, "../core@18") }, LOSS_NOTHING },
	{ "a hidden name", { FDT_NAME(CORE_NODE, ".core@18") }, NO_CORE },
	{ "a name with a newline", { FDT_NAME(CORE_NODE, "co\nre@18") }, NO_CORE },
	{ "a name with a space", { FDT_NAME(CORE_NODE, "co re@18") }, NO_CORE },
	{ "a name that is no ASCII", { FDT_NAME(CORE_NODE, "c\xf6re@18") }, NO_CORE },
	{ "a name too long", { FDT_NAME(CORE_NODE, THREE_HUNDRED) }, NO_CORE },
	{ "a name that is taken", { FDT_NAME(THREAD_NODE, "core@20") }, LOSS_UNIT, THREAD_UNIT },
	{ "another name inside", { FDT_TEXT(CORE_NODE, "name", "../../core") }, LOSS_NOTHING },
	{ "a scale that is no number", { FDT_TEXT(CORE_NODE, "scale", "many") }, NO_CORE },
	{ "a scale without end", { FDT_SET(CORE_NODE, "scale", "512") }, NO_CORE },
	{ "an empty scale", { FDT_TEXT(CORE_NODE, "scale", "") }, NO_CORE },
	{ "a scale of no length", { FDT_SET(CORE_NODE, "scale", "") }, NO_CORE },
	{ "a scale of signs", { FDT_TEXT(CORE_NODE, "scale", "+-e.") }, NO_CORE },
	{ "a scale too long", { FDT_TEXT(CORE_NODE, "scale", HUNDRED) }, NO_CORE },
	{ "a unit with a newline", { FDT_TEXT(CORE_NODE, "unit", "Mi\nB") }, NO_CORE },
	{ "an empty unit", { FDT_TEXT(CORE_NODE, "unit", "") }, NO_CORE },
	{ "a unit too long", { FDT_TEXT(CORE_NODE, "unit", HUNDRED) }, NO_CORE },
	{ "a unit without end", { FDT_SET(CORE_NODE, "unit", "MiB") }, NO_CORE },
};

/* Of nest units: where they are. */
static const struct bad bad_nests[] = {
	{ "no offset", { FDT_CUT(NEST_NODE, "offset") }, NO_NEST },
	{ "a short offset", { FDT_SET(NEST_NODE, "offset", "\x18\0\0") }, NO_NEST },
	{ "an offset that is not aligned", { FDT_SET(NEST_NODE, "offset", "\0\x18\0\4") }, NO_NEST },
	{ "partly outside of HOMER", { FDT_SET(NEST_NODE, "offset", "\0\x3c\0\x08") }, NO_NEST },
	{ "outside of HOMER", { FDT_SET(NEST_NODE, "offset", "\0\x40\0\0") }, NO_NEST },
	{ "an offset that overflows", { FDT_SET(NEST_NODE, "offset", "\xff\xff\xff\xf8") }, NO_NEST },
	{ "larger than HOMER", { FDT_SET(NEST_NODE, "size", "\0\x40\0\x08"),
				 FDT_SET(NEST_NODE, "offset", "\0\0\0\0") }, NO_NEST },
	{ "no room for the control block", { FDT_SET(NEST_NODE, "size", "\0\0\0\x28"),
					     FDT_SET(NEST_NODE, "cb_offset", "\0\0\0\0") }, NO_NEST },
	{ "of size 0", { FDT_SET(NEST_NODE, "size", "\0\0\0\0") }, NO_NEST },
	{ "control block partly outside", { FDT_SET(NEST_NODE, "cb_offset", "\0\3\xff\xd8") },
	  NO_NEST },
	{ "control block outside", { FDT_SET(NEST_NODE, "cb_offset", "\0\4\0\0") }, NO_NEST },
	{ "control block overflows", { FDT_SET(NEST_NODE, "cb_offset", "\xff\xff\xff\xf8") }, NO_NEST },
	{ "control block not aligned", { FDT_SET(NEST_NODE, "cb_offset", "\0\3\xfc\4") }, NO_NEST },
	{ "no chip", { FDT_CUT(NEST_NODE, "base-addr"), FDT_CUT(NEST_NODE, "chip-id") }, NO_NEST },
	{ "no base-addr", { FDT_CUT(NEST_NODE, "base-addr") }, NO_NEST },
	{ "no chip-id", { FDT_CUT(NEST_NODE, "chip-id") }, NO_NEST },
	{ "of no length", { FDT_SET(NEST_NODE, "base-addr", ""), FDT_SET(NEST_NODE, "chip-id", "") },
	  NO_NEST },
	{ "a base-addr of one cell", { FDT_SET(NEST_NODE, "base-addr", "\xfd\x80\0\0") }, NO_NEST },
	{ "a base-addr and a half", { FDT_SET(NEST_NODE, "base-addr", "\0\0\0\0\xfd\x80\0\0\0\0\0\0") },
	  NO_NEST },
	{ "a chip-id of 3 bytes", { FDT_SET(NEST_NODE, "chip-id", "\0\0\0") }, NO_NEST },
	{ "more chips than addresses", { FDT_SET(NEST_NODE, "chip-id", "\0\0\0\0\0\0\0\1") }, NO_NEST },
	{ "more addresses than chips",
	  { FDT_SET(NEST_NODE, "base-addr", "\0\0\0\0\xfd\x80\0\0\0\0\0\0\xfd\xc0\0\0") }, NO_NEST },
};

/* The list of a unit: without it the unit stays, and offsets can be counted. */
static const struct bad bad_lists[] = {
	{ "no prefix", { FDT_CUT(CORE_NODE, "events-prefix") }, NO_CORE_EVENTS },
	{ "a prefix without end", { FDT_SET(CORE_NODE, "events-prefix", "CPM_") }, NO_CORE_EVENTS },
	{ "a prefix with a slash", { FDT_TEXT(CORE_NODE, "events-prefix", "C/") }, NO_CORE_EVENTS },
	{ "no list", { FDT_CUT(CORE_NODE, "events") }, NO_CORE_EVENTS },
	{ "phandle 0", { FDT_SET(CORE_NODE, "events", "\0\0\0\0") }, NO_CORE_EVENTS },
	{ "a short phandle", { FDT_SET(CORE_NODE, "events", "\0\2") }, NO_CORE_EVENTS },
	{ "a dangling phandle", { FDT_SET(CORE_NODE, "events", "\0\0\x12\x34") }, NO_CORE_EVENTS },
	{ "phandle -1", { FDT_SET(CORE_NODE, "events", "\xff\xff\xff\xff") }, NO_CORE_EVENTS },
	{ "a phandle to itself", { FDT_SET(CORE_NODE, "phandle", "\0\0\0\x77"),
				   FDT_SET(CORE_NODE, "events", "\0\0\0\x77") }, NO_CORE_EVENTS },
	{ "a phandle to another unit", { FDT_SET(THREAD_NODE, "phandle", "\0\0\0\x77"),
					 FDT_SET(CORE_NODE, "events", "\0\0\0\x77") }, NO_CORE_EVENTS },
	{ "a phandle to an event", { FDT_SET("event@80", "phandle", "\0\0\0\x77"),
				     FDT_SET(CORE_NODE, "events", "\0\0\0\x77") }, NO_CORE_EVENTS },
	{ "a phandle to the catalog", { FDT_SET("", "phandle", "\0\0\0\x77"),
					FDT_SET(CORE_NODE, "events", "\0\0\0\x77") }, NO_CORE_EVENTS },
};

/* One event: the others of its list stay. */
static const struct bad bad_events[] = {
	{ "no event-name", { FDT_CUT("event@80", "event-name") }, NO_CCYC },
	{ "a name without end", { FDT_SET("event@80", "event-name", "CCYC") }, NO_CCYC },
	{ "a name with a slash", { FDT_TEXT("event@80", "event-name", "C/CYC") }, NO_CCYC },
	{ "a name with a comma", { FDT_TEXT("event@80", "event-name", "C,CYC") }, NO_CCYC },
	{ "a name with a newline", { FDT_TEXT("event@80", "event-name", "CCYC\n") }, NO_CCYC },
	{ "a name that is no ASCII", { FDT_TEXT("event@80", "event-name", "\xffYC") }, NO_CCYC },
	{ "a name too long", { FDT_TEXT("event@80", "event-name", THREE_HUNDRED) }, NO_CCYC },
	{ "a name that is taken", { FDT_TEXT("event@80", "event-name", "NON_IDLE_INST") }, NO_CCYC },
	{ "a name of a scale", { FDT_TEXT("event@80", "event-name", "32MHZ_CYC.scale") }, NO_CCYC },
	{ "a name of a unit", { FDT_TEXT("event@80", "event-name", "LAST.unit") }, NO_CCYC },
	{ "an empty name", { FDT_TEXT("event@80", "event-name", "") }, NO_CCYC },
	{ "an empty name in all", { FDT_TEXT("event@10200000", "event-name", ""),
				    FDT_TEXT(TRACE_NODE, "events-prefix", "") }, LOSS_EVENTS, TRACE_UNIT },
	{ "no reg", { FDT_CUT("event@80", "reg") }, NO_CCYC },
	{ "a short reg", { FDT_SET("event@80", "reg", "\0\x80") }, NO_CCYC },
	{ "not aligned", { FDT_SET("event@80", "reg", "\0\0\0\x84\0\0\0\x08") }, NO_CCYC },
	{ "just outside", { FDT_SET("event@80", "reg", "\0\0\x1f\xe8\0\0\0\x08") }, NO_CCYC },
	{ "partly outside", { FDT_SET("event@80", "reg", "\0\0\x1f\xe4\0\0\0\x08") }, NO_CCYC },
	{ "far outside", { FDT_SET("event@80", "reg", "\0\1\0\0\0\0\0\x08") }, NO_CCYC },
	{ "overflows to the first", { FDT_SET("event@80", "reg", "\xff\xff\xff\xe8\0\0\0\x08") },
	  NO_CCYC },
	{ "outside of the nest", { FDT_SET("event@8", "reg", "\0\3\xff\x38\0\0\0\x08") }, NO_WR },
	{ "a scale that is no number", { FDT_TEXT("event@80", "scale", "0x10") }, NO_CCYC },
	{ "a scale of two lines", { FDT_TEXT("event@80", "scale", "1\n2") }, NO_CCYC },
	{ "a scale without end", { FDT_SET("event@80", "scale", "1") }, NO_CCYC },
	{ "an empty scale", { FDT_TEXT("event@80", "scale", "") }, NO_CCYC },
	{ "a unit of another bell", { FDT_TEXT("event@80", "unit", "\a") }, NO_CCYC },
	{ "a unit without end", { FDT_SET("event@80", "unit", "B") }, NO_CCYC },
};

static void describe_bad(const struct bad *row, char *text)
{
	strscpy(text, row->what, KUNIT_PARAM_DESC_SIZE);
}
KUNIT_ARRAY_PARAM(bad_units, bad_units, describe_bad);
KUNIT_ARRAY_PARAM(bad_nests, bad_nests, describe_bad);
KUNIT_ARRAY_PARAM(bad_lists, bad_lists, describe_bad);
KUNIT_ARRAY_PARAM(bad_events, bad_events, describe_bad);

/* Wrong units and events are left out, and nothing else. */
static void leaves_out(struct kunit *test)
{
	const struct bad *row = test->param_value;
	unsigned int edits = row->edits[1].node ? 2 : 1;

	catalog_expect(test, catalog_read(test, catalog_create(test, row->edits, edits)),
		       row->loss, row->name);
}

static unsigned int units_of_type(struct kunit *test, const struct fdt_edit *edits,
				  unsigned int nr_edits, enum power_imc_type type)
{
	const struct power_imc *imc = catalog_read(test, catalog_create(test, edits, nr_edits));
	unsigned int found = 0;

	for (unsigned int i = 0; i < imc->nr_units; i++)
		found += imc->units[i].type == type;
	return found;
}

/* A thread writes to one place, in one way. */
static void a_second_unit_of_threads_is_left_out(struct kunit *test)
{
	const struct fdt_edit edits[] = { FDT_SET(CORE_NODE, "type", "\0\0\0\1") };

	KUNIT_EXPECT_EQ(test, units_of_type(test, edits, 1, POWER_IMC_TYPE_THREAD), 1U);
}

static void a_second_unit_that_traces_is_left_out(struct kunit *test)
{
	const struct fdt_edit edits[] = { FDT_SET(THREAD_NODE, "type", "\0\0\0\2"),
					  FDT_SET(THREAD_NODE, "size", "\0\4\0\0") };

	KUNIT_EXPECT_EQ(test, units_of_type(test, edits, 2, POWER_IMC_TYPE_TRACE), 1U);
}

#define BAD_CASE(rows)	{ .name = #rows, .run_case = leaves_out, .module_name = KBUILD_MODNAME, \
			  .generate_params = rows##_gen_params }

static struct kunit_case bad_catalog_cases[] = {
	KUNIT_CASE(a_second_unit_of_threads_is_left_out),
	KUNIT_CASE(a_second_unit_that_traces_is_left_out),
	BAD_CASE(bad_units),
	BAD_CASE(bad_nests),
	BAD_CASE(bad_lists),
	BAD_CASE(bad_events),
	{ }
};

struct kunit_suite power_imc_bad_catalog_suite = {
	.name = "power_imc_bad_catalog",
	.test_cases = bad_catalog_cases,
};
