/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The suite's version. Every other place that states it is generated from this or checked against
 * it.
 */
#ifndef PMU_VERSION_H
#define PMU_VERSION_H

#define PMU_SUITE_VERSION "0.2"

#endif
