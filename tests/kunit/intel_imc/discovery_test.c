// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of units, as firmware may write them: good ones, each kind of bad one, and such as nobody
 * would write. Facts: Documentation/hardware/intel_imc.md, 15.2.
 */
#include <kunit/test.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/string.h>

#include <intel_imc/intel_imc.h>

#include "suites.h"

#define WORDS		256
#define STRIDE		4
#define RECORDS		12

#define REGISTERS	0x4000005c08304004ULL	/* 4 counters, in memory, as in 15.2 */
#define CHANNEL(n)	((u64)(n) << 16 | 6)
#define BLOCK(n)	(0xd0062800ULL + 0x4000 * (n))

/* A table that knows whether somebody looked beyond its end */
struct paper {
	struct intel_imc_table table;
	u64 word[WORDS];
	unsigned int beyond, complaints, last_record;
	const char *why;
	struct intel_imc_units units;
};

static struct paper *paper_of(const struct intel_imc_table *table)
{
	return (struct paper *)container_of(table, struct paper, table);
}

static u64 paper_word(const struct intel_imc_table *table, size_t n)
{
	if (n < table->words)
		return paper_of(table)->word[n];
	paper_of(table)->beyond++;
	return 0;
}

static void paper_complain(const struct intel_imc_table *table, unsigned int record,
			   const char *why)
{
	paper_of(table)->complaints++;
	paper_of(table)->last_record = record;
	paper_of(table)->why = why;
}

static void put(struct paper *paper, unsigned int record, u64 registers, u64 address, u64 kind)
{
	u64 *word = paper->word + record * STRIDE;

	word[0] = registers;
	word[1] = address;
	word[2] = kind;
}

/* Eight channels, 1 to 8 in the table, between other units. */
static struct paper *a_table(struct kunit *test)
{
	struct paper *paper = kunit_kzalloc(test, sizeof(*paper), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, paper);
	paper->table = (struct intel_imc_table){
		.words = WORDS, .word = paper_word, .complain = paper_complain,
	};
	put(paper, 0, RECORDS << 16 | STRIDE << 8, 0x2ff0, 0x202);
	for (unsigned int i = 0; i < 8; i++)
		put(paper, 1 + i, REGISTERS, BLOCK(i), CHANNEL(i));
	put(paper, 9, 0x0000000108300204ULL, 0x3000, 0x10001);
	put(paper, 10, ~0ULL, ~0ULL, ~0ULL);
	put(paper, 11, 0, 0, 0);
	put(paper, 12, 0x8000000138301804ULL, 0x7e438, 0x20007);
	return paper;
}

static void parse(struct paper *paper)
{
	paper->beyond = 0;
	paper->complaints = 0;
	paper->why = NULL;
	memset(&paper->units, 0, sizeof(paper->units));
	intel_imc_table_parse(&paper->table, &paper->units);
}

static void good_table(struct kunit *test)
{
	struct paper *paper = a_table(test);

	parse(paper);
	KUNIT_EXPECT_EQ(test, paper->complaints, 0U);
	KUNIT_ASSERT_EQ(test, paper->units.nr, 8U);
	for (unsigned int i = 0; i < 8; i++) {
		KUNIT_EXPECT_EQ(test, paper->units.unit[i].number, i);
		KUNIT_EXPECT_EQ(test, (u64)paper->units.unit[i].block, BLOCK(i));
	}
}

/* A wrong record costs its own channel and a line of the log, and no other channel. */
static void one_record_lies(struct kunit *test)
{
	static const struct {
		u64 registers, address, kind;
		const char *why;
	} lies[] = {
		{ REGISTERS & ~(3ULL << 62), BLOCK(2), CHANNEL(2), "not in memory" },
		{ REGISTERS | 1ULL << 63, BLOCK(2), CHANNEL(2), "not in memory" },
		{ (REGISTERS & ~(3ULL << 62)) | 2ULL << 62, BLOCK(2), CHANNEL(2), "not in memory" },
		{ REGISTERS + 1, BLOCK(2), CHANNEL(2), "not those of a channel" },
		{ REGISTERS - 4, BLOCK(2), CHANNEL(2), "not those of a channel" },
		{ REGISTERS ^ 0x0800, BLOCK(2), CHANNEL(2), "not those of a channel" },
		{ REGISTERS ^ 0x100000, BLOCK(2), CHANNEL(2), "not those of a channel" },
		{ REGISTERS ^ 0xff000000, BLOCK(2), CHANNEL(2), "not those of a channel" },
		{ 0, BLOCK(2), CHANNEL(2), "not in memory" },
		{ ~0ULL, BLOCK(2), CHANNEL(2), "not in memory" },
		{ REGISTERS, 0, CHANNEL(2), "address cannot be right" },
		{ REGISTERS, ~0ULL, CHANNEL(2), "address cannot be right" },
		{ REGISTERS, BLOCK(2) + 4, CHANNEL(2), "address cannot be right" },
		{ REGISTERS, 1ULL << 52, CHANNEL(2), "address cannot be right" },
		{ REGISTERS, (1ULL << 52) - 8, CHANNEL(2), "address cannot be right" },
		{ REGISTERS, BLOCK(1), CHANNEL(2), "has its address" },
		{ REGISTERS, BLOCK(1) + 0x50, CHANNEL(2), "has its address" },
		{ REGISTERS, BLOCK(1) - 0x50, CHANNEL(2), "has its address" },
		{ REGISTERS, BLOCK(2), CHANNEL(1), "has its number" },
		{ REGISTERS, BLOCK(2), CHANNEL(100), "number is too large" },
		{ REGISTERS, BLOCK(2), CHANNEL(0xffff), "number is too large" },
	};
	struct paper *paper = a_table(test);

	for (int i = 0; i < ARRAY_SIZE(lies); i++) {
		put(paper, 3, lies[i].registers, lies[i].address, lies[i].kind);
		parse(paper);
		KUNIT_EXPECT_EQ_MSG(test, paper->units.nr, 7U, "lie %d", i);
		KUNIT_EXPECT_EQ_MSG(test, paper->complaints, 1U, "lie %d", i);
		KUNIT_EXPECT_EQ_MSG(test, paper->last_record, 3U, "lie %d", i);
		KUNIT_ASSERT_NOT_NULL_MSG(test, paper->why, "lie %d", i);
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(paper->why, lies[i].why), "lie %d: %s", i,
					  paper->why);
		KUNIT_EXPECT_EQ(test, paper->units.unit[2].number, 3U);
	}
	/* Right beside each other is right. */
	put(paper, 3, REGISTERS, BLOCK(1) + 0x58, CHANNEL(99));
	parse(paper);
	KUNIT_EXPECT_EQ(test, paper->units.nr, 8U);
	KUNIT_EXPECT_EQ(test, paper->complaints, 0U);
}

/* The first record is of the table: none, records too small, more of them than there is memory. */
static void the_table_lies(struct kunit *test)
{
	static const struct {
		u64 first;
		size_t words;
		unsigned int units, complaints;
	} lies[] = {
		{ 0, WORDS, 0, 1 },
		{ ~0ULL, WORDS, 0, 1 },
		{ RECORDS << 16, WORDS, 0, 1 },
		{ RECORDS << 16 | 1 << 8, WORDS, 0, 1 },
		{ RECORDS << 16 | 2 << 8, WORDS, 0, 1 },
		{ STRIDE << 8, WORDS, 0, 0 },
		{ 3 << 16 | STRIDE << 8, WORDS, 3, 0 },
		{ 0x3ff << 16 | STRIDE << 8, WORDS, 8, 1 },
		{ RECORDS << 16 | STRIDE << 8, 0, 0, 1 },
		{ RECORDS << 16 | STRIDE << 8, 2, 0, 1 },
		{ RECORDS << 16 | STRIDE << 8, 3, 0, 1 },
		{ RECORDS << 16 | STRIDE << 8, 5 * STRIDE + 2, 4, 1 },
		{ RECORDS << 16 | STRIDE << 8, 5 * STRIDE + 3, 5, 1 },
		{ 0x3ff << 16 | 0xff << 8, WORDS, 0, 1 },
	};
	struct paper *paper = a_table(test);

	for (int i = 0; i < ARRAY_SIZE(lies); i++) {
		paper->word[0] = lies[i].first;
		paper->table.words = lies[i].words;
		parse(paper);
		KUNIT_EXPECT_EQ_MSG(test, paper->units.nr, lies[i].units, "lie %d", i);
		KUNIT_EXPECT_EQ_MSG(test, paper->complaints, lies[i].complaints, "lie %d", i);
		KUNIT_EXPECT_EQ_MSG(test, paper->beyond, 0U, "lie %d", i);
	}
}

/* A second table of the socket, or the same again: no channel is there twice. */
static void two_tables(struct kunit *test)
{
	struct paper *paper = a_table(test);

	parse(paper);
	intel_imc_table_parse(&paper->table, &paper->units);
	KUNIT_EXPECT_EQ(test, paper->units.nr, 8U);
	KUNIT_EXPECT_EQ(test, paper->complaints, 8U);
}

static void too_many_channels(struct kunit *test)
{
	struct paper *paper = a_table(test);

	paper->word[0] = 40 << 16 | STRIDE << 8;
	for (unsigned int i = 0; i < 40; i++)
		put(paper, 1 + i, REGISTERS, BLOCK(i), CHANNEL(i));
	parse(paper);
	KUNIT_EXPECT_EQ(test, paper->units.nr, (unsigned int)INTEL_IMC_MAX_UNITS);
	KUNIT_EXPECT_EQ(test, paper->complaints, 40U - INTEL_IMC_MAX_UNITS);
}

/* The log gets a line for each of the first, and one good record is served among all the others. */
static void nothing_but_lies(struct kunit *test)
{
	struct paper *paper = a_table(test);

	paper->word[0] = 60 << 16 | STRIDE << 8;
	for (unsigned int i = 0; i < 60; i++)
		put(paper, 1 + i, REGISTERS, 0, CHANNEL(i));
	put(paper, 60, REGISTERS, BLOCK(5), CHANNEL(5));
	parse(paper);
	KUNIT_EXPECT_EQ(test, paper->units.nr, 1U);
	KUNIT_EXPECT_EQ(test, paper->units.unit[0].number, 5U);
	KUNIT_EXPECT_EQ(test, paper->complaints, (unsigned int)INTEL_IMC_MAX_UNITS);
	KUNIT_EXPECT_EQ(test, paper->last_record, (unsigned int)INTEL_IMC_MAX_UNITS);
	KUNIT_EXPECT_NOT_NULL(test, strstr(paper->why, "no more is said"));
}

/* Whatever was taken is a record of the table, and none clashes with another. */
static void expect_sane(struct kunit *test, struct paper *paper, int round)
{
	size_t stride = paper->word[0] >> 8 & 0xff, records = paper->word[0] >> 16 & 0x3ff;
	unsigned int channels = 0;

	KUNIT_EXPECT_EQ_MSG(test, paper->beyond, 0U, "round %d", round);
	for (size_t n = 1; stride >= 3 && n <= records &&
	     n * stride + 3 <= paper->table.words; n++)
		channels += (paper->word[n * stride + 2] & 0xffff) == 6;
	KUNIT_EXPECT_LE_MSG(test, paper->units.nr, channels, "round %d", round);
	KUNIT_EXPECT_GE_MSG(test, paper->units.nr + paper->complaints, channels, "round %d", round);
	for (unsigned int i = 0; i < paper->units.nr; i++) {
		struct intel_imc_unit *unit = &paper->units.unit[i];

		KUNIT_EXPECT_LE_MSG(test, unit->number, 99U, "round %d", round);
		KUNIT_EXPECT_EQ_MSG(test, (u64)unit->block & 7, 0ULL, "round %d", round);
		KUNIT_EXPECT_NE_MSG(test, (u64)unit->block, 0ULL, "round %d", round);
		KUNIT_EXPECT_EQ_MSG(test, ((u64)unit->block + 0x57) >> 52, 0ULL, "round %d", round);
		for (unsigned int j = 0; j < i; j++) {
			u64 a = unit->block, b = paper->units.unit[j].block;

			KUNIT_EXPECT_NE_MSG(test, unit->number, paper->units.unit[j].number,
					    "round %d", round);
			KUNIT_EXPECT_GE_MSG(test, a > b ? a - b : b - a, 0x58ULL, "round %d", round);
		}
	}
}

/* Good tables in which some bits, words or sizes are others, and such as are but noise. */
static void generated_tables(struct kunit *test)
{
	struct paper *paper = a_table(test), *good = a_table(test);
	struct rnd_state rnd;
	unsigned int taken = 0;

	prandom_seed_state(&rnd, 28);
	for (int round = 0; round < 400; round++) {
		unsigned int changes = prandom_u32_state(&rnd) % 8;

		memcpy(paper->word, good->word, sizeof(good->word));
		paper->table.words = WORDS;
		for (unsigned int i = 0; i < changes; i++) {
			u64 *word = &paper->word[prandom_u32_state(&rnd) % 52];

			switch (prandom_u32_state(&rnd) % 4) {
			case 0:
				*word ^= 1ULL << prandom_u32_state(&rnd) % 64;
				break;
			case 1:
				*word = good->word[prandom_u32_state(&rnd) % 52];
				break;
			case 2:
				*word = (u64)prandom_u32_state(&rnd) << 32 | prandom_u32_state(&rnd);
				break;
			default:
				paper->table.words = prandom_u32_state(&rnd) % WORDS;
			}
		}
		if (round % 8 == 7)
			prandom_bytes_state(&rnd, paper->word + 1, sizeof(good->word) - sizeof(u64));
		parse(paper);
		expect_sane(test, paper, round);
		taken += paper->units.nr;
	}
	/* Most records were left as they were. */
	KUNIT_EXPECT_GT(test, taken, 1000U);
}

static struct kunit_case intel_imc_discovery_cases[] = {
	KUNIT_CASE(good_table),
	KUNIT_CASE(one_record_lies),
	KUNIT_CASE(the_table_lies),
	KUNIT_CASE(two_tables),
	KUNIT_CASE(too_many_channels),
	KUNIT_CASE(nothing_but_lies),
	KUNIT_CASE(generated_tables),
	{ }
};

struct kunit_suite intel_imc_discovery_suite = {
	.name = "intel_imc_discovery",
	.test_cases = intel_imc_discovery_cases,
};
