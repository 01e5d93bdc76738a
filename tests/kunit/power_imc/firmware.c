// SPDX-License-Identifier: GPL-2.0-only
/*
 * Firmware that switches nothing, but records what it is told, and whether the order
 * makes sense.
 */
#include "suites.h"

struct firmware_log firmware_log;

void firmware_forget(void)
{
	memset(&firmware_log, 0, sizeof(firmware_log));
}

static int firmware_called(enum firmware_call call, u32 pir)
{
	firmware_log.calls[call]++;
	firmware_log.last = call;
	firmware_log.pir = pir;
	return firmware_log.error[call];
}

/* A switch that was thrown: what was off is on, or the other way round. */
static int firmware_switched(enum firmware_call call, u32 pir, bool on)
{
	int err = firmware_called(call, pir);

	if (err)
		return err;
	if (on)
		firmware_log.on++;
	else
		firmware_log.misuse += !firmware_log.on--;
	return 0;
}

static int fake_init_core(u32 pir, u64 page)
{
	firmware_log.page = page;
	return firmware_called(CALL_INIT_CORE, pir);
}

static int fake_init_trace(u32 pir, u64 scom)
{
	firmware_log.scom = scom;
	return firmware_called(CALL_INIT_TRACE, pir);
}

static int fake_core(u32 pir, bool on)
{
	if (on)
		firmware_log.misuse += firmware_log.last != CALL_INIT_CORE;
	return firmware_switched(on ? CALL_CORE_ON : CALL_CORE_OFF, pir, on);
}

static int fake_trace(u32 pir, bool on)
{
	if (on)
		firmware_log.misuse += firmware_log.last != CALL_INIT_TRACE;
	return firmware_switched(on ? CALL_TRACE_ON : CALL_TRACE_OFF, pir, on);
}

static int fake_nest(struct power_imc_chip *chip, u32 pir, bool on)
{
	return firmware_switched(on ? CALL_NEST_ON : CALL_NEST_OFF, pir, on);
}

const struct power_imc_firmware firmware_fake = {
	.name = "nothing",
	.init_core = fake_init_core,
	.init_trace = fake_init_trace,
	.core = fake_core,
	.trace = fake_trace,
	.nest = fake_nest,
};
