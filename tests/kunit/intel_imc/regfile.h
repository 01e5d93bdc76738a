/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A channel's configuration space that records how it is used: a register file with the
 * little life that the driver's code can see, and no knowledge of perf.
 */
#ifndef INTEL_IMC_REGFILE_H
#define INTEL_IMC_REGFILE_H

#include <linux/pci.h>

#include <intel_imc/intel_imc.h>

#define REGFILE_LOG	64

struct intel_imc_access {
	bool write;
	unsigned int reg;
	u32 value;
};

struct intel_imc_regfile {
	struct intel_imc_channel ch;
	struct pci_dev pdev;		/* to be named in messages */
	u32 regs[64];			/* by dword */
	struct intel_imc_access log[REGFILE_LOG];
	unsigned int reads, writes;
	u64 clock;			/* DRAM clocks per access */
	bool never_freezes;
	bool general;			/* event 0 counts the clock on the general counters */
	bool creeps;			/* freezing does not stop these */
	bool below, exceeds;		/* how thresholds compare otherwise */
	bool reads_come, needs_umask;	/* reads are inserted in the queue; how they are counted */
	u8 stuck;			/* bit per general counter that does not count */
	bool twice;			/* a general counter's control takes the second write */
	u32 drops;			/* bits that it does not keep */
	u32 high;			/* what bits 31:16 of the high halves read */
	u32 written[INTEL_IMC_GENERAL_COUNTERS];
	bool gone;			/* all ones; what is written is lost */
	unsigned int lost;		/* the write that another program's undoes, from 1 on; */
	u32 intruder;			/* or after which that writes this to all controls */
	unsigned int tear_reg;		/* after the next read of this register ... */
	unsigned int tear_skip;		/* ... but for so many ... */
	u64 tear;			/* ... its 64-bit counter gets so many events */
	u64 ticks;			/* that an access takes at least, of the TSC */
};

void intel_imc_regfile_init(struct intel_imc_regfile *file);
void intel_imc_regfile_forget(struct intel_imc_regfile *file);
u64 intel_imc_regfile_counter(struct intel_imc_regfile *file, unsigned int idx);
void intel_imc_regfile_set_counter(struct intel_imc_regfile *file, unsigned int idx, u64 value);

#endif /* INTEL_IMC_REGFILE_H */
