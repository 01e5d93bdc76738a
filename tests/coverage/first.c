// SPDX-License-Identifier: GPL-2.0-only
/* The first object of a module: where its table of counters begins, said by a parameter. */
#include <linux/moduleparam.h>

static const void *first __used __section(".gcov_info");
static const struct kernel_param_ops ops;

module_param_cb(pmu_gcov, &ops, &first, 0);
