/* SPDX-License-Identifier: GPL-2.0-only */
/* The version of the suite: whatever else says one is made from this, or compared with it. */
#ifndef PMU_VERSION_H
#define PMU_VERSION_H

#define PMU_SUITE_VERSION "0.2"

#endif
