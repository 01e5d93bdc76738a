/* SPDX-License-Identifier: GPL-2.0-only */
/* Included first in all files of the suites, for a kernel that was built without KUnit. */
#ifndef PMU_STOCK_SUITES_H
#define PMU_STOCK_SUITES_H

#include "kunit.h"

#include <kunit/test.h>

/* The kernel's macro puts the suites into a section that this kernel's module loader ignores. */
#undef kunit_test_suites
#define kunit_test_suites(suites...)							\
static struct kunit_suite *kunit_suites_here[] = { suites };				\
											\
static struct kunit_module kunit_module_here = {					\
	.kunit_suites = kunit_suites_here,						\
	.num_kunit_suites = ARRAY_SIZE(kunit_suites_here),				\
};											\
											\
static int __init kunit_module_begin(void)						\
{											\
	blocking_notifier_call_chain(&kunit_module_chain, MODULE_STATE_LIVE,		\
				     &kunit_module_here);				\
	return 0;									\
}											\
module_init(kunit_module_begin);							\
											\
static void __exit kunit_module_end(void)						\
{											\
	blocking_notifier_call_chain(&kunit_module_chain, MODULE_STATE_GOING,		\
				     &kunit_module_here);				\
}											\
module_exit(kunit_module_end)

#endif /* PMU_STOCK_SUITES_H */
