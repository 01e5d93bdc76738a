// SPDX-License-Identifier: GPL-2.0-only
/*
 * The suites of intel_imc_pmu: one file each, registered here.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <pmu/compat.h>

#include "suites.h"

kunit_test_suites(&intel_imc_suite, &intel_imc_mmio_suite, &intel_imc_discovery_suite,
		  &intel_imc_place_suite, &intel_imc_selftest_suite);

MODULE_DESCRIPTION("KUnit suites of intel_imc_pmu");
MODULE_LICENSE("GPL");
PMU_IMPORT_NS(PMU_CORE);
PMU_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
