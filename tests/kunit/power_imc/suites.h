/* SPDX-License-Identifier: GPL-2.0-only */
/* What the suites of power_imc_pmu share: firmware that records what it is told. */
#ifndef POWER_IMC_TEST_H
#define POWER_IMC_TEST_H

#include <kunit/test.h>

#include <power_imc/power_imc.h>

enum firmware_call {
	CALL_INIT_CORE, CALL_INIT_TRACE, CALL_CORE_ON, CALL_CORE_OFF, CALL_TRACE_ON,
	CALL_TRACE_OFF, CALL_NEST_ON, CALL_NEST_OFF, FIRMWARE_CALLS,
};

/* The calls so far. */
struct firmware_log {
	unsigned int calls[FIRMWARE_CALLS];
	enum firmware_call last;
	u32 pir;			/* of the last call */
	u64 page;			/* of the last CALL_INIT_CORE */
	u64 scom;			/* of the last CALL_INIT_TRACE */
	int error[FIRMWARE_CALLS];	/* what a call is to return */
	unsigned int misuse;		/* started without being set up, or twice, and so on */
	unsigned int on;		/* engines and microcodes that run */
};

extern struct firmware_log firmware_log;
extern const struct power_imc_firmware firmware_fake;

void firmware_forget(void);

extern struct kunit_suite power_imc_numbers_suite;
extern struct kunit_suite power_imc_catalog_suite;
extern struct kunit_suite power_imc_bad_catalog_suite;
extern struct kunit_suite power_imc_engine_suite;
extern struct kunit_suite power_imc_units_suite;
extern struct kunit_suite power_imc_nest_suite;

#endif /* POWER_IMC_TEST_H */
