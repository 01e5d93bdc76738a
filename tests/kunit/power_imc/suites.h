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

/* What became of an engine: by its thread's PIR, of which the lowest bits are looked at. */
enum firmware_engine { ENGINE_OFF, ENGINE_SET_UP, ENGINE_SET_UP_TO_TRACE, ENGINE_ON, ENGINE_UNKNOWN };

#define FIRMWARE_ENGINES	256
#define FIRMWARE_KEPT		32

/* The calls so far. */
struct firmware_log {
	unsigned int calls[FIRMWARE_CALLS];
	struct { enum firmware_call call; u32 pir; } kept[FIRMWARE_KEPT];	/* the first */
	unsigned int nr_kept;
	enum firmware_call last;
	u32 pir;			/* of the last call */
	enum firmware_engine engines[FIRMWARE_ENGINES];
	bool nest;			/* a microcode runs */
	u64 page;			/* of the last CALL_INIT_CORE */
	u64 ldbar;			/* of the CPU that called, at the last start */
	int error[FIRMWARE_CALLS];	/* what a call is to return, */
	unsigned int fail_at;		/* so many calls from now one fails, whatever it is, */
	int fail_error;			/* with this */
	bool mute;			/* running() always says no */
	unsigned int asleep;		/* so many of its calls get no answer */
	unsigned int misuse;		/* started without being set up, or paused twice */
	unsigned int cut_off;		/* set up while it was on */
	unsigned int on;		/* engines and microcodes that run */
};

extern struct firmware_log firmware_log;
extern const struct power_imc_firmware firmware_fake;

void firmware_forget(void);

extern struct kunit_suite power_imc_numbers_suite;
extern struct kunit_suite power_imc_catalog_suite;
extern struct kunit_suite power_imc_bad_catalog_suite;
extern struct kunit_suite power_imc_engine_suite;
extern struct kunit_suite power_imc_ldbar_suite;
extern struct kunit_suite power_imc_units_suite;
extern struct kunit_suite power_imc_nest_suite;
/* Of power_imc_trace_test: */
extern struct kunit_suite power_imc_race_suite;
extern struct kunit_suite power_imc_sample_suite;
extern struct kunit_suite power_imc_thin_suite;
extern struct kunit_suite power_imc_drain_suite;

#endif /* POWER_IMC_TEST_H */
