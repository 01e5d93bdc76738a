// SPDX-License-Identifier: GPL-2.0-only
/*
 * Addresses, images of registers, configs: Documentation/hardware/power_imc.md, 11. Sections
 * named below are of that page.
 */
#include <kunit/test.h>
#include <linux/bitfield.h>
#include <linux/perf_event.h>

#include "suites.h"

#define DESCRIBE(row, text)	strscpy(text, (row)->what, KUNIT_PARAM_DESC_SIZE)

/* 11.1: what LDBAR is set to for a page, in each mode, and PDBAR. */
struct bar {
	const char *what;
	u64 address, thread, trace, pdbar;
};

static const struct bar bars[] = {
	{ "the lowest", 0x2000, 0x8000000000002000, 0x4000000000002000, 0x2000 },
	{ "real", 0x12340000, 0x8000000012340000, 0x4000000012340000, 0x12340000 },
	{ "real, 8 KiB", 0x123456000, 0x8000000123456000, 0x4000000123456000, 0x123456000 },
	{ "in the linear map", 0xc000000012340000, 0x8000000012340000, 0x4000000012340000,
	  0x12340000 },
	{ "not aligned", 0xc0000007fe013abc, 0x80000007fe012000, 0x40000007fe012000, 0x7fe012000 },
	{ "all bits below 14", 0x0001ffffffffe000, 0x8001ffffffffe000, 0x4001ffffffffe000,
	  0x0001ffffffffe000 },
	{ "bit 14 is kept", 0x00020000c0ffe000, 0x80020000c0ffe000, 0x40020000c0ffe000,
	  0x00020000c0ffe000 },
	{ "bit 13 is lost", 0x00040000c0ffe000, 0x80000000c0ffe000, 0x40000000c0ffe000, 0xc0ffe000 },
};

static void describe_bar(const struct bar *row, char *text)
{
	DESCRIBE(row, text);
}
KUNIT_ARRAY_PARAM(bars, bars, describe_bar);

static void ldbar_and_pdbar(struct kunit *test)
{
	const struct bar *row = test->param_value;

	KUNIT_EXPECT_EQ(test, power_imc_ldbar(row->address, POWER_IMC_LDBAR_ENABLE), row->thread);
	KUNIT_EXPECT_EQ(test, power_imc_ldbar(row->address, POWER_IMC_LDBAR_TRACE), row->trace);
	KUNIT_EXPECT_EQ(test, power_imc_ldbar(row->address, 0), row->pdbar);
	KUNIT_EXPECT_EQ(test, row->address & POWER_IMC_BAR_ADDRESS, row->pdbar);
}

/* 11.2: where a core's registers are. */
struct scom {
	const char *what;
	enum power_imc_generation generation;
	unsigned int core;
	u32 pdbar, htm, event_mask, trace;
};

static const struct scom scoms[] = {
	{ "POWER9 core 0", POWER_IMC_P9, 0, 0x1001220b, 0x10012200, 0x20010aa8, 0x20010aa9 },
	{ "POWER9 core 1", POWER_IMC_P9, 1, 0x1001230b, 0x10012300, 0x21010aa8, 0x21010aa9 },
	{ "POWER9 core 2", POWER_IMC_P9, 2, 0x1001260b, 0x10012600, 0x22010aa8, 0x22010aa9 },
	{ "POWER9 core 3", POWER_IMC_P9, 3, 0x1001270b, 0x10012700, 0x23010aa8, 0x23010aa9 },
	{ "POWER9 core 4", POWER_IMC_P9, 4, 0x1101220b, 0x11012200, 0x24010aa8, 0x24010aa9 },
	{ "POWER9 core 23", POWER_IMC_P9, 23, 0x1501270b, 0x15012700, 0x37010aa8, 0x37010aa9 },
	{ "POWER10 core 0", POWER_IMC_P10, 0, 0x2001868b, 0x20018680, 0x20028400, 0x20028401 },
	{ "POWER10 core 1", POWER_IMC_P10, 1, 0x2001468b, 0x20014680, 0x20024400, 0x20024401 },
	{ "POWER10 core 5", POWER_IMC_P10, 5, 0x2101468b, 0x21014680, 0x21024400, 0x21024401 },
	{ "POWER10 core 31", POWER_IMC_P10, 31, 0x2701168b, 0x27011680, 0x27021400, 0x27021401 },
};

static void describe_scom(const struct scom *row, char *text)
{
	DESCRIBE(row, text);
}
KUNIT_ARRAY_PARAM(scoms, scoms, describe_scom);

static void scom_addresses(struct kunit *test)
{
	const struct scom *row = test->param_value;

	KUNIT_EXPECT_EQ(test, power_imc_scom_address(row->generation, POWER_IMC_SCOM_PDBAR, row->core),
			row->pdbar);
	KUNIT_EXPECT_EQ(test, power_imc_scom_address(row->generation, POWER_IMC_SCOM_HTM, row->core), row->htm);
	KUNIT_EXPECT_EQ(test, power_imc_scom_address(row->generation, POWER_IMC_SCOM_EVENT_MASK, row->core),
			row->event_mask);
	KUNIT_EXPECT_EQ(test, power_imc_scom_address(row->generation, POWER_IMC_SCOM_TRACE, row->core),
			row->trace);
}

/* 11.2: the parts of a hardware thread's number. */
static void pir_fields(struct kunit *test)
{
	static const struct { u32 pir, chip, core; } rows[] = {
		{ 0x000, 0, 0 }, { 0x007, 0, 1 }, { 0x05d, 0, 23 }, { 0x104, 1, 1 }, { 0x85c, 8, 23 },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ(test, FIELD_GET(POWER_IMC_PIR_CHIP, rows[i].pir), rows[i].chip);
		KUNIT_EXPECT_EQ(test, FIELD_GET(POWER_IMC_PIR_CORE, rows[i].pir), rows[i].core);
	}
}

/* 2.5: which units a chip has. The first rows are a POWER9 without mcs0, mcs1 and mcs2. */
static void units_of_a_chip(struct kunit *test)
{
	static const struct {
		enum power_imc_generation generation;
		const char *name;
		u64 available;
		bool has;
	} rows[] = {
		{ POWER_IMC_P9, "nest_mcs01_imc", 0x8ffffffdffffe000, false },
		{ POWER_IMC_P9, "nest_mcs23_imc", 0x8ffffffdffffe000, true },
		{ POWER_IMC_P9, "nest_mcs2_imc", 0x8ffffffdffffe000, false },
		{ POWER_IMC_P9, "nest_mcs_imc", 0x8ffffffdffffe000, true },
		{ POWER_IMC_P9, "nest_phb4_imc", 0x8ffffff7ffffe000, true },
		{ POWER_IMC_P9, "nest_powerbus0_imc", 0x8000000000000000, true },
		{ POWER_IMC_P9, "nest_powerbus0_imc", 0x7fffffffffffe000, false },
		{ POWER_IMC_P9, "nest_nx_imc", 0x0000000008000000, true },
		{ POWER_IMC_P9, "nest_nx_imc", ~0x0000000008000000, false },
		{ POWER_IMC_P9, "nest_mcs01_imc", 0, true },
		{ POWER_IMC_P9, "nest_new0_imc", 1, true },
		{ POWER_IMC_P9, "nest_mcs01b_imc", 1, true },
		{ POWER_IMC_P10, "nest_mcs01_imc", 0x6000000000000000, true },
		{ POWER_IMC_UNKNOWN, "nest_mcs01_imc", 0x8000000000000000, true },
		{ POWER_IMC_P10, "nest_mcs_imc", 0x8000000000000000, false },
		{ POWER_IMC_P10, "nest_pb_imc", 0x8000000000000000, true },
		{ POWER_IMC_P10, "nest_pau_imc", 1, true },
		{ POWER_IMC_P10, "nest_xlink0_imc", 5ULL << 50, true },
		{ POWER_IMC_P10, "nest_xlink7_imc", 5ULL << 29, true },
		{ POWER_IMC_P10, "nest_xlink0_imc", 6ULL << 50, false },
		{ POWER_IMC_P10, "nest_alink0_imc", 6ULL << 50, true },
		{ POWER_IMC_P10, "nest_otl1_imc", 7ULL << 50, false },
		{ POWER_IMC_P10, "nest_phb0_imc", BIT_ULL(63 - 35), true },
		{ POWER_IMC_P10, "nest_phb0_2_imc", BIT_ULL(63 - 37), true },
		{ POWER_IMC_P10, "nest_phb0_2_imc", BIT_ULL(63 - 35), false },
		{ POWER_IMC_P10, "nest_phb1_0_imc", BIT_ULL(63 - 38), true },
		{ POWER_IMC_P10, "nest_phb1_0_imc", BIT_ULL(63 - 36), false },
		{ POWER_IMC_P10, "nest_phb_imc", BIT_ULL(63 - 40), true },
		{ POWER_IMC_P10, "nest_ocmb10_imc", BIT_ULL(63 - 51), true },
		{ POWER_IMC_P10, "nest_ocmb10_imc", BIT_ULL(63 - 41), false },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++)
		KUNIT_EXPECT_EQ_MSG(test, power_imc_nest_has(rows[i].generation, rows[i].name,
							     rows[i].available),
				    rows[i].has, "%s, %#llx", rows[i].name, rows[i].available);
}

/* 10.2: states that lose a core's registers are held off, by the latency of the quickest. */
static void idle_states(struct kunit *test)
{
	/* stop0_lite, stop1, stop2, stop4, stop11: flags and ns as skiboot has them for POWER9. */
	static const u32 flags[] = { 0x100000, 0x101000, 0x101000, 0x205000, 0x205000 };
	static const u32 latencies[] = { 1000, 5000, 10000, 100000, 10000000 };
	static const u32 others[] = { 1000, 5000, 10000, 900, 100000 };

	KUNIT_EXPECT_EQ(test, power_imc_idle_limit(flags, latencies, 0), -1);
	KUNIT_EXPECT_EQ(test, power_imc_idle_limit(flags, latencies, 3), -1);
	KUNIT_EXPECT_EQ(test, power_imc_idle_limit(flags, latencies, 4), 99);
	KUNIT_EXPECT_EQ(test, power_imc_idle_limit(flags, latencies, 5), 99);
	/*
	 * An idle state with a latency of 1 us or less can be avoided only by not sleeping at all.
	 */
	KUNIT_EXPECT_EQ(test, power_imc_idle_limit(flags, others, 5), 0);
	KUNIT_EXPECT_EQ(test, power_imc_idle_limit(flags + 3, latencies, 1), 0);
	KUNIT_EXPECT_EQ(test, power_imc_idle_limit(flags + 3, latencies + 1, 1), 4);
}

/* 11.4: which configs are counters of a unit. */
struct config {
	const char *what;
	u32 size;
	u64 config;
	int error;
};

static const struct config configs[] = {
	{ "MCS01 128B_RD_DISP_PORT01", 0x40000, 0xd0, 0 },
	{ "CPM_CCYC", 0x2000, 0x98, 0 },
	{ "CPM_32MHZ_CYC", 0x2000, 0xa0, 0 },
	{ "CPM_NON_IDLE_INST", 0x2000, 0x28, 0 },
	{ "CPM_NON_IDLE_PCYC", 0x2000, 0x30, 0 },
	{ "the first", 0x2000, 0, 0 },
	{ "the catalog's last", 0x2000, 0x1fd8, 0 },
	{ "the page's last", 0x2000, 0x1ff8, 0 },
	{ "one byte beyond the last", 0x2000, 0x1ff9, -EINVAL },
	{ "one byte in the page", 0x2000, 0x1fff, -EINVAL },
	{ "where the page ends", 0x2000, 0x2000, -EINVAL },
	{ "behind the page, odd", 0x2000, 0x2001, -EINVAL },
	{ "behind the page", 0x2000, 0x2008, -EINVAL },
	{ "not aligned", 0x2000, 0x9c, -EINVAL },
	{ "half of it outside", 0x2004, 0x2000, -EINVAL },
	{ "bit 32", 0x2000, 0x100000098, -EINVAL },
	{ "bit 33", 0x2000, 0x200000098, -EINVAL },
	{ "bit 61", 0x2000, 0x2000000000000098, -EINVAL },
	{ "a unit of nothing", 0, 0, -EINVAL },
	{ "a unit of half a counter", 4, 0, -EINVAL },
	{ "the nest's last", 0x40000, 0x3fff8, 0 },
	{ "where the nest ends", 0x40000, 0x40000, -EINVAL },
};

static void describe_config(const struct config *row, char *text)
{
	DESCRIBE(row, text);
}
KUNIT_ARRAY_PARAM(configs, configs, describe_config);

static void config_is_a_counter(struct kunit *test)
{
	const struct config *row = test->param_value;
	const struct power_imc_unit unit = { .size = row->size };

	KUNIT_EXPECT_EQ(test, power_imc_offset_check(&unit, row->config), row->error);
}

/* Memory is big-endian, whatever the kernel is; the counter is at the config's offset. */
static void counters_are_big_endian(struct kunit *test)
{
	static const u8 memory[32] __aligned(8) = {
		[7] = 0x07, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0xff,
	};
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct pmu_event ev = { .event = event };
	u64 value = 0;

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_EXPECT_EQ(test, power_imc_counter_read(memory, &ev, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 7ULL);
	event->attr.config = 8;
	KUNIT_EXPECT_EQ(test, power_imc_counter_read(memory, &ev, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0x0102030405060708ULL);
	event->attr.config = 16;
	KUNIT_EXPECT_EQ(test, power_imc_counter_read(memory, &ev, &value), 0);
	KUNIT_EXPECT_EQ(test, value, 0xff00000000000000ULL);
}

/* 3.2: the groups of POWER9's microcode, by their first and last words. */
static void nest_groups(struct kunit *test)
{
	static const struct { u32 head, tail; } rows[] = {
		{ 0x000, 0x108 }, { 0x110, 0x218 }, { 0x220, 0x328 }, { 0x330, 0x438 },
		{ 0x440, 0x548 },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P9, rows[i].head, SZ_4K), -1);
		KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P9, rows[i].head + 8, SZ_4K), i);
		KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P9, rows[i].tail - 8, SZ_4K), i);
		KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P9, rows[i].tail, SZ_4K), -1);
		KUNIT_EXPECT_EQ(test, POWER_IMC_NEST_GROUP_SIZE * i, rows[i].head);
	}
	/* G6 and G7 have counts that never agree, and what is behind them has none. */
	for (u32 offset = 0x550; offset < 0x1000; offset += 8)
		KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P9, offset, SZ_4K), -1);
	/* Of a group that the catalog's size cuts there is no snapshot. */
	KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P9, 0x118, 0x130), -1);
	KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P9, 0x118, 0x21f), -1);
	KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P9, 0x118, 0x220), 1);
	KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P9, 0x3fff8, SZ_4K), -1);
	KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P9, 0xfffffff8, SZ_4K), -1);
}

/* POWER10's groups (3.2) are not guarded yet. */
static void nest_groups_of_others(struct kunit *test)
{
	for (u32 offset = 0; offset < 0x800; offset += 8) {
		KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_P10, offset, SZ_4K), -1);
		KUNIT_EXPECT_EQ(test, power_imc_nest_group(POWER_IMC_UNKNOWN, offset, SZ_4K), -1);
	}
}

/* By the version, whatever the revision. POWER11 has the registers and the catalog of POWER10. */
static void generations_of_processors(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, power_imc_generation_of(0x004e1202), POWER_IMC_P9);
	KUNIT_EXPECT_EQ(test, power_imc_generation_of(0x00801200), POWER_IMC_P10);
	KUNIT_EXPECT_EQ(test, power_imc_generation_of(0x00800200), POWER_IMC_P10);
	KUNIT_EXPECT_EQ(test, power_imc_generation_of(0x00820200), POWER_IMC_P10);
	KUNIT_EXPECT_EQ(test, power_imc_generation_of(0x004d0200), POWER_IMC_UNKNOWN);
}

static struct kunit_case numbers_cases[] = {
	KUNIT_CASE(generations_of_processors),
	KUNIT_CASE_PARAM(ldbar_and_pdbar, bars_gen_params),
	KUNIT_CASE_PARAM(scom_addresses, scoms_gen_params),
	KUNIT_CASE(pir_fields),
	KUNIT_CASE(units_of_a_chip),
	KUNIT_CASE(idle_states),
	KUNIT_CASE_PARAM(config_is_a_counter, configs_gen_params),
	KUNIT_CASE(counters_are_big_endian),
	KUNIT_CASE(nest_groups),
	KUNIT_CASE(nest_groups_of_others),
	{ }
};

struct kunit_suite power_imc_numbers_suite = {
	.name = "power_imc_numbers",
	.test_cases = numbers_cases,
};
