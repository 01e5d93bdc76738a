/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef PMU_CORE_TEST_H
#define PMU_CORE_TEST_H

struct kunit_suite;

extern struct kunit_suite pmu_attr_suite;
extern struct kunit_suite pmu_fold_suite;
extern struct kunit_suite pmu_event_suite;
extern struct kunit_suite pmu_fail_suite;
extern struct kunit_suite pmu_memory_suite;
extern struct kunit_suite pmu_claim_suite;
extern struct kunit_suite pmu_use_suite;
extern struct kunit_suite pmu_task_suite;
extern struct kunit_suite pmu_hotplug_suite;
extern struct kunit_suite pmu_move_suite;
extern struct kunit_suite pmu_sleep_suite;
extern struct kunit_suite pmu_share_suite;

#endif /* PMU_CORE_TEST_H */
