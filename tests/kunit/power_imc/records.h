/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace records: the worked ones of Documentation/hardware/power_imc.md, 11.5, and any other. */
#ifndef POWER_IMC_TEST_RECORDS_H
#define POWER_IMC_TEST_RECORDS_H

#include <asm/byteorder.h>

#include <power_imc/ring.h>

#define R1_TB	0x000004d2a1b2c3d4ULL
#define R2_TB	0x000004d2a1b2d374ULL	/* 4000 ticks later */
#define LOW42	0x000003ffffffffffULL

static inline struct power_imc_record record_of(u64 tb, u64 ip, u64 state)
{
	return (struct power_imc_record){
		.tb = cpu_to_be64(tb), .ip = cpu_to_be64(ip), .state = cpu_to_be64(state),
		.tb_low = cpu_to_be64(tb & LOW42),
	};
}

#endif /* POWER_IMC_TEST_RECORDS_H */
