// SPDX-License-Identifier: GPL-2.0-only
/* KUnit's test.c, which uses the members that the kernel lacks, with what takes their place. */
#include <linux/mm.h>
#include <linux/sched/debug.h>

struct kunit_task kunit_task;
EXPORT_SYMBOL_GPL(kunit_task);

BLOCKING_NOTIFIER_HEAD(kunit_module_chain);
EXPORT_SYMBOL_GPL(kunit_module_chain);

#undef current
#define current				(&kunit_task)
#define module				kunit_module
#define register_module_notifier(nb)	blocking_notifier_chain_register(&kunit_module_chain, nb)
#define unregister_module_notifier(nb)	blocking_notifier_chain_unregister(&kunit_module_chain, nb)

#include "test.c"
