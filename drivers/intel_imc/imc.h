/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of intel_imc_pmu share.
 */
#ifndef INTEL_IMC_H
#define INTEL_IMC_H

#include <linux/types.h>

#include <pmu/core.h>

#include "regs.h"

struct imc_channel;
struct pci_dev;

/*
 * How to reach a channel's registers: one dword per call, callable with interrupts off.
 * A device that is gone reads as all ones.
 */
struct imc_io {
	u32 (*read)(struct imc_channel *ch, unsigned int reg);
	void (*write)(struct imc_channel *ch, unsigned int reg, u32 value);
};

/* One channel's counters, and what their registers are known to hold. */
struct imc_channel {
	const struct imc_io *io;
	struct pci_dev *pdev;
	u32 ctl[IMC_COUNTERS];		/* control registers */
	u64 value[IMC_COUNTERS];	/* counters, as of the last read; true of stopped ones */
	u8 active;			/* bit per counter that counts for somebody */
	bool frozen;
};

/* A processor generation. */
struct imc_part {
	const char *name;
	u16 ubox;			/* PCI device that maps buses to sockets */
	u8 nodeid_reg;
	u8 map_reg;
	const struct pmu_desc *desc;
};

/* channel.c */
void imc_channel_reset(struct imc_channel *ch);
int imc_channel_check(struct imc_channel *ch);
void imc_channel_quiesce(struct imc_channel *ch);
void imc_channel_freeze(struct imc_channel *ch);
void imc_channel_thaw(struct imc_channel *ch);
u64 imc_counter_start(struct imc_channel *ch, unsigned int idx, u32 ctl);
void imc_counter_stop(struct imc_channel *ch, unsigned int idx);
int imc_counter_read(struct imc_channel *ch, unsigned int idx, u64 *value);

/* events.c */
extern const struct pmu_desc imc_snbep_desc;
bool imc_config_is_fixed(u64 config);
u32 imc_config_to_ctl(u64 config);
u64 imc_config_max_rate(u64 config);

/* socket.c */
int imc_socket_of(struct pci_dev *pdev, const struct imc_part *part);
int imc_socket_from_map(u32 nodeid, u32 map);

#endif /* INTEL_IMC_H */
