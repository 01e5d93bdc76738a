// SPDX-License-Identifier: GPL-2.0-only
/*
 * Firmware that switches nothing, but records what it is told, and whether the order
 * makes sense.
 */
#include <asm/reg.h>

#include "suites.h"

struct firmware_log firmware_log;

void firmware_forget(void)
{
	memset(&firmware_log, 0, sizeof(firmware_log));
}

static int firmware_called(enum firmware_call call, u32 pir)
{
	if (firmware_log.nr_kept < FIRMWARE_KEPT) {
		firmware_log.kept[firmware_log.nr_kept].call = call;
		firmware_log.kept[firmware_log.nr_kept].pir = pir;
		firmware_log.nr_kept++;
	}
	firmware_log.calls[call]++;
	firmware_log.last = call;
	firmware_log.pir = pir;
	if (firmware_log.fail_at && !--firmware_log.fail_at)
		return firmware_log.fail_error;
	return firmware_log.error[call];
}

static enum firmware_engine *firmware_engine(u32 pir)
{
	return &firmware_log.engines[pir % FIRMWARE_ENGINES];
}

static int firmware_set_up(enum firmware_call call, u32 pir, enum firmware_engine now)
{
	int err = firmware_called(call, pir);

	/* That switches it off, and loses what it counts. */
	firmware_log.cut_off += *firmware_engine(pir) == ENGINE_ON;
	firmware_log.on -= *firmware_engine(pir) == ENGINE_ON;
	*firmware_engine(pir) = err ? ENGINE_UNKNOWN : now;
	return err;
}

/* Whoever stops what is off already does no harm. */
static int firmware_switched(enum firmware_call call, u32 pir, enum firmware_engine before, bool on)
{
	enum firmware_engine *engine = firmware_engine(pir);
	int err = firmware_called(call, pir);

	if (on) {
		firmware_log.misuse += *engine != before;
		firmware_log.ldbar = mfspr(SPRN_LDBAR);
	}
	if (err)
		return err;
	firmware_log.on += on - (*engine == ENGINE_ON);
	*engine = on ? ENGINE_ON : ENGINE_OFF;
	return 0;
}

static int fake_init(enum power_imc_type type, u32 pir, u64 page)
{
	if (type == POWER_IMC_TYPE_TRACE) {
		firmware_log.misuse += *firmware_engine(pir) != ENGINE_SET_UP;
		return firmware_set_up(CALL_INIT_TRACE, pir, ENGINE_SET_UP_TO_TRACE);
	}
	firmware_log.page = page;
	return firmware_set_up(CALL_INIT_CORE, pir, ENGINE_SET_UP);
}

static int fake_set(enum power_imc_type type, u32 pir, bool on)
{
	if (type == POWER_IMC_TYPE_TRACE)
		return firmware_switched(on ? CALL_TRACE_ON : CALL_TRACE_OFF, pir, ENGINE_SET_UP_TO_TRACE, on);
	return firmware_switched(on ? CALL_CORE_ON : CALL_CORE_OFF, pir, ENGINE_SET_UP, on);
}

static int fake_running(u32 pir, __be64 *answer)
{
	if (firmware_log.asleep) {
		firmware_log.asleep--;
		return -EIO;
	}
	return !firmware_log.mute && *firmware_engine(pir) == ENGINE_ON;
}

static int fake_nest(const struct power_imc_chip *chip, bool on)
{
	int err = firmware_called(on ? CALL_NEST_ON : CALL_NEST_OFF, chip->pir);

	if (err)
		return err;
	firmware_log.misuse += firmware_log.nest == on;
	firmware_log.on += on - firmware_log.nest;
	firmware_log.nest = on;
	return 0;
}

const struct power_imc_firmware firmware_fake = {
	.name = "nothing",
	.init = fake_init,
	.set = fake_set,
	.running = fake_running,
	.nest = fake_nest,
};
