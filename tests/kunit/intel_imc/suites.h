/* SPDX-License-Identifier: GPL-2.0-only */
/* The suites of intel_imc_pmu. */
#ifndef INTEL_IMC_SUITES_H
#define INTEL_IMC_SUITES_H

#include <kunit/test.h>

extern struct kunit_suite intel_imc_suite;
extern struct kunit_suite intel_imc_mmio_suite;
extern struct kunit_suite intel_imc_discovery_suite;
extern struct kunit_suite intel_imc_place_suite;
extern struct kunit_suite intel_imc_selftest_suite;

#endif /* INTEL_IMC_SUITES_H */
