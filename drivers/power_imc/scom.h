/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers of a core's engine that are reached by SCOM. */
#ifndef POWER_IMC_SCOM_H
#define POWER_IMC_SCOM_H

#include "power_imc.h"

enum power_imc_scom {
	POWER_IMC_SCOM_PDBAR,		/* where the core counts to, a real address */
	POWER_IMC_SCOM_HTM,		/* the engine's switch */
	POWER_IMC_SCOM_EVENT_MASK,
	POWER_IMC_SCOM_TRACE,		/* what triggers a trace record */
};

u32 power_imc_scom_address(enum power_imc_generation generation, enum power_imc_scom which,
			   unsigned int core);
unsigned int power_imc_scom_core(u32 pir, bool fused);
int power_imc_scom_running(u32 pir, __be64 *answer);

#endif /* POWER_IMC_SCOM_H */
