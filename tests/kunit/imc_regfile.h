/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A channel's configuration space that records how it is used: a register file with the
 * little life that the driver's code can see, and no knowledge of perf.
 */
#ifndef IMC_REGFILE_H
#define IMC_REGFILE_H

#include <intel_imc/imc.h>

#define REGFILE_LOG	64

struct imc_access {
	bool write;
	unsigned int reg;
	u32 value;
};

struct imc_regfile {
	struct imc_channel ch;
	u32 regs[64];			/* by dword */
	struct imc_access log[REGFILE_LOG];
	unsigned int reads, writes;
	u64 clock;			/* DRAM clocks per access */
	bool never_freezes;
	bool gone;			/* all ones */
	unsigned int tear_reg;		/* after the next read of this register ... */
	u64 tear;			/* ... its 64-bit counter gets so many events */
};

void imc_regfile_init(struct imc_regfile *file);
void imc_regfile_forget(struct imc_regfile *file);
u64 imc_regfile_counter(struct imc_regfile *file, unsigned int idx);
void imc_regfile_set_counter(struct imc_regfile *file, unsigned int idx, u64 value);

#endif /* IMC_REGFILE_H */
