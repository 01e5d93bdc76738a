// SPDX-License-Identifier: GPL-2.0-only
/*
 * The suites of pmu_core: one file each, registered here.
 */
#include <kunit/test.h>
#include <linux/module.h>

#include <pmu/compat.h>

#include "suites.h"

kunit_test_suites(&pmu_attr_suite, &pmu_fold_suite, &pmu_event_suite, &pmu_fail_suite,
		  &pmu_memory_suite, &pmu_claim_suite, &pmu_use_suite, &pmu_task_suite,
		  &pmu_hotplug_suite, &pmu_move_suite, &pmu_sleep_suite, &pmu_share_suite);

MODULE_DESCRIPTION("KUnit suites of pmu_core");
MODULE_LICENSE("GPL");
PMU_IMPORT_NS(PMU_CORE);
PMU_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
