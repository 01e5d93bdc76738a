// SPDX-License-Identifier: GPL-2.0-only
/* The last object of a module: where its table of counters ends. */
#include <linux/compiler.h>

static const void *last __used __section(".gcov_info");
