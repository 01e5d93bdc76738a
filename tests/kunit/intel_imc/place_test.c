// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which cluster a channel belongs to. Facts: Documentation/hardware/intel_imc.md, 16.
 */
#include <kunit/test.h>

#include <intel_imc/intel_imc.h>

#include "suites.h"

/* The numbers of section 16, channel by channel. */
static void clusters_of_channels(struct kunit *test)
{
	static const struct {
		const struct intel_imc_kind *kind;
		unsigned int clusters, channels;
		u8 cluster[12];
	} wanted[] = {
		{ &intel_imc_spr_kind, 2, 8, { 0, 0, 1, 1, 0, 0, 1, 1 } },
		{ &intel_imc_gnr_kind, 2, 8, { 1, 1, 0, 0, 1, 1, 0, 0 } },
		{ &intel_imc_gnr_kind, 3, 12, { 1, 1, 0, 0, 2, 2, 1, 1, 0, 0, 2, 2 } },
	};

	for (int i = 0; i < ARRAY_SIZE(wanted); i++)
		for (unsigned int n = 0; n < wanted[i].channels; n++)
			KUNIT_EXPECT_EQ_MSG(test,
					    intel_imc_cluster_of(wanted[i].kind, n,
								 wanted[i].clusters),
					    wanted[i].cluster[n], "row %d, channel %u", i, n);
}

/* A socket that is one node has all channels there. What no source tells is not guessed. */
static void what_is_not_told(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, intel_imc_cluster_of(&intel_imc_gnr_kind, 11, 1), 0);
	KUNIT_EXPECT_EQ(test, intel_imc_cluster_of(&intel_imc_icx_kind, 10, 1), 0);
	KUNIT_EXPECT_EQ(test, intel_imc_cluster_of(&intel_imc_gnr_kind, 0, 4), -1);
	KUNIT_EXPECT_EQ(test, intel_imc_cluster_of(&intel_imc_gnr_kind, 0, 0), -1);
	KUNIT_EXPECT_EQ(test, intel_imc_cluster_of(&intel_imc_spr_kind, 0, 3), -1);
	KUNIT_EXPECT_EQ(test, intel_imc_cluster_of(&intel_imc_spr_kind, 0, 4), -1);
	KUNIT_EXPECT_EQ(test, intel_imc_cluster_of(&intel_imc_icx_kind, 0, 2), -1);
}

static struct kunit_case intel_imc_place_cases[] = {
	KUNIT_CASE(clusters_of_channels),
	KUNIT_CASE(what_is_not_told),
	{ }
};

struct kunit_suite intel_imc_place_suite = {
	.name = "intel_imc_place",
	.test_cases = intel_imc_place_cases,
};
