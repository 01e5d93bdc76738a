/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Included first in all files of KUnit and of the suites, for a kernel without CONFIG_KUNIT.
 *
 * The structures of such a kernel lack KUnit's members. So these headers are included while
 * CONFIG_KUNIT is not set, and what takes the members' place is here.
 */
#ifndef PMU_STOCK_KUNIT_H
#define PMU_STOCK_KUNIT_H

#include <linux/module.h>
#include <linux/notifier.h>
#include <linux/sched.h>

#define CONFIG_KUNIT_MODULE		1
#define CONFIG_KUNIT_DEBUGFS		1
#define CONFIG_KUNIT_DEFAULT_ENABLED	1

/* For task_struct's: the test of whatever task runs one. There is one at a time. */
struct kunit_task {
	struct kunit *kunit_test;
};

extern struct kunit_task kunit_task;

/* For those of struct module: the suites of a module. */
struct kunit_module {
	struct kunit_suite **kunit_suites;
	int num_kunit_suites;
	struct kunit_suite **kunit_init_suites;
	int num_kunit_init_suites;
};

/* For the kernel's notifiers of modules: called by modules with suites, with their kunit_module. */
extern struct blocking_notifier_head kunit_module_chain;

/* The one header of KUnit that looks at the task. Sparse knows no push_macro. */
#undef current
#define current	(&kunit_task)
#include <kunit/test-bug.h>
#undef current
#define current	get_current()

#endif /* PMU_STOCK_KUNIT_H */
