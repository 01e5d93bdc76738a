// SPDX-License-Identifier: GPL-2.0-only
/*
 * The suites of power_imc_pmu: one file each, registered here.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <pmu/compat.h>

#include "suites.h"

kunit_test_suites(&power_imc_numbers_suite, &power_imc_catalog_suite,
		  &power_imc_bad_catalog_suite, &power_imc_engine_suite,
		  &power_imc_ldbar_suite, &power_imc_units_suite, &power_imc_nest_suite);

MODULE_DESCRIPTION("KUnit suites of power_imc_pmu");
MODULE_LICENSE("GPL");
PMU_IMPORT_NS(PMU_CORE);
PMU_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
