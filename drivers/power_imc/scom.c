// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines by their registers: the SCOM writes that the firmware's calls make, and the
 * command in the nest's control block. For kernels that let nobody look up the calls.
 *
 * Unlike the firmware this cannot have the registers restored after a core slept deeply,
 * so they are written at each start.
 */
#include <linux/bitfield.h>
#include <linux/export.h>
#include <asm/opal.h>

#include "power_imc.h"
#include "scom.h"

/* Ports of the registers that belong to a quad of cores, by a core's place in the quad. */
static const u32 power_imc_p9_pdbar[] = { 0x1001220b, 0x1001230b, 0x1001260b, 0x1001270b };
static const u32 power_imc_p9_htm[] = { 0x10012200, 0x10012300, 0x10012600, 0x10012700 };
static const u32 power_imc_p10_pdbar[] = { 0x2001868b, 0x2001468b, 0x2001268b, 0x2001168b };
static const u32 power_imc_p10_htm[] = { 0x20018680, 0x20014680, 0x20012680, 0x20011680 };

/* Registers of one core. */
#define POWER_IMC_P9_EVENT_MASK	0x20010aa8
#define POWER_IMC_P9_TRACE	0x20010aa9
#define POWER_IMC_P10_EVENT_MASK	0x20020400
#define POWER_IMC_P10_TRACE	0x20020401

static u32 power_imc_p9_address(enum power_imc_scom which, unsigned int core)
{
	u32 quad = (core & 0x1c) << 22, own = (core & 0x1f) << 24;

	switch (which) {
	case POWER_IMC_SCOM_PDBAR:
		return power_imc_p9_pdbar[core % 4] + quad;
	case POWER_IMC_SCOM_HTM:
		return power_imc_p9_htm[core % 4] + quad;
	case POWER_IMC_SCOM_EVENT_MASK:
		return POWER_IMC_P9_EVENT_MASK + own;
	case POWER_IMC_SCOM_TRACE:
		return POWER_IMC_P9_TRACE + own;
	}
	return 0;
}

static u32 power_imc_p10_address(enum power_imc_scom which, unsigned int core)
{
	u32 quad = (core / 4) << 24, own = quad | BIT(3 - core % 4) << 12;

	switch (which) {
	case POWER_IMC_SCOM_PDBAR:
		return power_imc_p10_pdbar[core % 4] + quad;
	case POWER_IMC_SCOM_HTM:
		return power_imc_p10_htm[core % 4] + quad;
	case POWER_IMC_SCOM_EVENT_MASK:
		return POWER_IMC_P10_EVENT_MASK | own;
	case POWER_IMC_SCOM_TRACE:
		return POWER_IMC_P10_TRACE | own;
	}
	return 0;
}

/**
 * power_imc_scom_address() - the address of a core's register.
 * @generation: the processor's
 * @which: the register
 * @core: number in its chip
 */
u32 power_imc_scom_address(enum power_imc_generation generation, enum power_imc_scom which,
			   unsigned int core)
{
	return generation == POWER_IMC_P9 ? power_imc_p9_address(which, core) :
	       power_imc_p10_address(which, core);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_scom_address);

/**
 * power_imc_scom_core() - the number of a core in its chip, for power_imc_scom_address().
 * @pir: of a thread
 * @fused: is it in one of two that are fused? The number is that half's.
 */
unsigned int power_imc_scom_core(u32 pir, bool fused)
{
	return fused ? FIELD_GET(POWER_IMC_PIR_FUSED, pir) << 1 |
		       FIELD_GET(POWER_IMC_PIR_FUSED_HALF, pir) :
		       FIELD_GET(POWER_IMC_PIR_CORE, pir);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_scom_core);

static u32 power_imc_scom_address_of(u32 pir, enum power_imc_scom which)
{
	return power_imc_scom_address(power_imc_generation(), which,
				      power_imc_scom_core(pir, power_imc_halves() > 1));
}

static int power_imc_scom_write(u32 pir, enum power_imc_scom which, u64 value)
{
	u32 address = power_imc_scom_address_of(pir, which);

	return opal_xscom_write(FIELD_GET(POWER_IMC_PIR_CHIP, pir), address, value) ? -EIO : 0;
}

static int power_imc_scom_switch(u32 pir, bool on)
{
	return power_imc_scom_write(pir, POWER_IMC_SCOM_HTM,
				    on ? POWER_IMC_HTM_ON : POWER_IMC_HTM_OFF);
}

static int power_imc_scom_init_core(u32 pir, u64 page)
{
	return power_imc_scom_write(pir, POWER_IMC_SCOM_PDBAR, page & POWER_IMC_BAR_ADDRESS) ?:
	       power_imc_scom_write(pir, POWER_IMC_SCOM_EVENT_MASK, POWER_IMC_EVENT_MASK) ?:
	       power_imc_scom_switch(pir, false);
}

static int power_imc_scom_init_trace(u32 pir)
{
	u64 scom = power_imc_generation() == POWER_IMC_P9 ? POWER_IMC_TRACE_SCOM_P9 :
							    POWER_IMC_TRACE_SCOM_P10;

	return power_imc_scom_switch(pir, false) ?:
	       power_imc_scom_write(pir, POWER_IMC_SCOM_TRACE, scom);
}

/* power_imc_firmware.running, whoever switches the engine. */
int power_imc_scom_running(u32 pir, __be64 *answer)
{
	u32 address = power_imc_scom_address_of(pir, POWER_IMC_SCOM_HTM);

	if (power_imc_generation() == POWER_IMC_UNKNOWN)
		return -EOPNOTSUPP;
	if (opal_xscom_read(FIELD_GET(POWER_IMC_PIR_CHIP, pir), address, (__be64 *)__pa(answer)))
		return -EIO;
	return !!(be64_to_cpu(READ_ONCE(*answer)) & POWER_IMC_HTM_START);
}

static int power_imc_scom_nest(struct power_imc_chip *chip, u32 pir, bool on)
{
	__be64 *command = chip->control + POWER_IMC_NEST_CB_COMMAND;

	WRITE_ONCE(*command, cpu_to_be64(on ? POWER_IMC_NEST_RESUME : POWER_IMC_NEST_PAUSE));
	return 0;
}

static const struct power_imc_firmware power_imc_scom = {
	.name = "registers",
	.init_core = power_imc_scom_init_core,
	.init_trace = power_imc_scom_init_trace,
	.core = power_imc_scom_switch,
	.trace = power_imc_scom_switch,
	.running = power_imc_scom_running,
	.nest = power_imc_scom_nest,
};

/* The registers, or NULL if they are not known. */
const struct power_imc_firmware *power_imc_scom_find(void)
{
	if (power_imc_generation() == POWER_IMC_UNKNOWN)
		return NULL;
	return &power_imc_scom;
}
