/* SPDX-License-Identifier: GPL-2.0-only */
/* Registers of a core's engine that are reached by SCOM. */
#ifndef IMC_SCOM_H
#define IMC_SCOM_H

#include "imc.h"

enum imc_scom {
	IMC_SCOM_PDBAR,			/* where the core counts to, a real address */
	IMC_SCOM_HTM,			/* the engine's switch */
	IMC_SCOM_EVENT_MASK,
	IMC_SCOM_TRACE,			/* what triggers a trace record */
};

u32 imc_scom_address(enum imc_generation generation, enum imc_scom which, unsigned int core);

#endif /* IMC_SCOM_H */
