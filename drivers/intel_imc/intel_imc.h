/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of intel_imc_pmu share.
 */
#ifndef INTEL_IMC_H
#define INTEL_IMC_H

#include <linux/irq_work.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <pmu/core.h>

#include "regs.h"

struct intel_imc_channel;
struct pci_dev;

/*
 * How to reach a channel's registers: one dword per call, callable with interrupts off.
 * A device that is gone reads as all ones.
 */
struct intel_imc_io {
	u32 (*read)(struct intel_imc_channel *ch, unsigned int reg);
	void (*write)(struct intel_imc_channel *ch, unsigned int reg, u32 value);
	/* A counter in one access; NULL: in two halves. Writes never need this. */
	u64 (*read_counter)(struct intel_imc_channel *ch, unsigned int reg);
};

/* Where the registers are, and which bits of BOX_CTL do what. */
struct intel_imc_layout {
	u8 ctr0, fixed_ctr, ctl0, fixed_ctl, box_ctl;
	u32 run;			/* BOX_CTL of a channel in use */
	u32 freeze;
	u32 reset_counters;		/* 0: they are cleared by writing 0 */
	bool no_enable;			/* the general counters always count what they select */
};

/* In what a channel may differ from the assumptions of hardware/intel_imc.md, 12 */
enum intel_imc_found {
	INTEL_IMC_FOUND_TWICE, INTEL_IMC_FOUND_NO_FIELDS, INTEL_IMC_FOUND_TOP,
	INTEL_IMC_FOUND_BELOW, INTEL_IMC_FOUND_BELOW_ONLY, INTEL_IMC_FOUND_NO_THRESHOLD,
	INTEL_IMC_FOUND_NO_CLOCK, INTEL_IMC_FOUND_UMASK,
};

/* Do events without sub-events need bit 0 of the umask? */
enum intel_imc_umask { INTEL_IMC_UMASK_SURE, INTEL_IMC_UMASK_UNSURE, INTEL_IMC_UMASK_NEEDED };

/* One channel's counters, and the content of their registers as far as it is known. */
struct intel_imc_channel {
	const struct intel_imc_io *io;
	const struct intel_imc_layout *layout;
	struct pci_dev *pdev;		/* the channel, or what leads to it; NULL: a table */
	struct device *dev;		/* with which the channel goes: pdev, or one of its own */
	void __iomem *regs;		/* the function's page or the block; NULL: neither */
	phys_addr_t block;		/* of the block; 0: registers are in configuration space */
	u32 box_ones;			/* bits of BOX_CTL that must be written 1 */
	u32 ctl[INTEL_IMC_COUNTERS];	/* control registers */
	u64 value[INTEL_IMC_COUNTERS];	/* counters at the last read; exact for stopped ones */
	u64 read_ns[INTEL_IMC_COUNTERS];	/* time shortly before that read */
	u64 low_half_ns[INTEL_IMC_COUNTERS];	/* how long the low half is enough after a read */
	u8 active;			/* bit per counter in use */
	u8 adrift;			/* bit per counter that may have moved without an event */
	bool frozen;
	bool freeze_reads;		/* the freeze bit reads as it was written */
	bool suspect;			/* see intel_imc_channel_inspect() */
	bool told;			/* logged, or complaint is about to log it */
	struct irq_work complaint;
	unsigned int odd_reg;
	u32 odd_found, odd_wanted;
	unsigned long next_inspection;	/* in jiffies */
	u8 found;			/* bit per enum intel_imc_found */
	enum intel_imc_umask umask;	/* as its reads have shown */
	u32 lacks;			/* bits that a control does not keep */
	const char *fault;		/* why the self-test refused the channel */

	/* For main.c: */
	const struct intel_imc_part *part;
	int number, socket;
	struct delayed_work retry;	/* armed while the channel does not count */
	unsigned int retry_s;
};

/*
 * config, as in the in-tree driver. The fields lie where the control register has them,
 * which is what intel_imc_config_to_ctl() relies on.
 */
#define INTEL_IMC_CONFIG_EVENT	((u64)INTEL_IMC_CTL_EVENT)
#define INTEL_IMC_CONFIG_UMASK	((u64)INTEL_IMC_CTL_UMASK)
#define INTEL_IMC_CONFIG_EDGE	((u64)INTEL_IMC_CTL_EDGE)
#define INTEL_IMC_CONFIG_INV	((u64)INTEL_IMC_CTL_INVERT)
#define INTEL_IMC_CONFIG_THRESH	((u64)INTEL_IMC_CTL_THRESHOLD)
#define INTEL_IMC_FORMATS	5

/* In the in-tree driver's umask from Sapphire Rapids on; no channel's control has these bits */
#define INTEL_IMC_CONFIG_UMASK_MORE	GENMASK_ULL(55, 32)

/* config1 on Granite Rapids: count in the other sub-channel as well. */
#define INTEL_IMC_CONFIG1_BOTH	BIT_ULL(0)

/* Not an event of the hardware: this config, with no other bit set, is the fixed counter. */
#define INTEL_IMC_CONFIG_FIXED	0xff

/*
 * The clusters of a socket's pairs of channels, on a socket with @nr clusters: @order has those of
 * the first @nr pairs, and repeats.
 */
struct intel_imc_clusters {
	u8 nr;
	u8 order[3];
};

/* The events of a processor generation. */
struct intel_imc_kind {
	struct pmu_desc desc;
	u8 numbers;			/* of a controller's channels, in the names of PMUs */
	const struct intel_imc_clusters *clusters;	/* ends with nr 0; NULL: not known */
	u32 clock;			/* the clock as a general counter's control has it */
	bool clock_unsure;		/* no source says that there is such an event */
	bool no_clock;			/* a channel of this machine has shown that there is none */
	enum intel_imc_umask umask;	/* of this machine, as soon as a channel has shown it */
	DECLARE_BITMAP(occupancies, U8_MAX + 1);	/* bit per event code that is one */
	const u8 *increments;		/* most counts per clock by event code; 0: not published */
	u64 refused;			/* fields that the generation's registers do not have */
	u64 clock_hz;			/* the memory's clock at most; 0: that of DDR4 */
	unsigned int sockets;		/* of this machine; set when a function is bound */
};

/* The slot of a channel, on processors whose device ids are not enough to identify channels. */
struct intel_imc_slot {
	u8 devfn;
	u8 channel;
};

/* DDR5 of 8800 MT/s, faster than any of these parts runs; half the transfer rate, and some more. */
#define INTEL_IMC_DDR5_CLOCK_HZ	5000000000ULL

/* The counters of an event that may take two of them. */
struct intel_imc_pair {
	u8 idx[2];
	u8 nr;				/* 0: it had none yet */
};

/* The blocks of registers in memory that one function leads to. */
struct intel_imc_blocks {
	u8 controllers;
	u8 channels;			/* channels of a controller, as PMU names count them */
	u8 certain;			/* channels that every controller has; 0: ask each */
	u32 offset, stride;		/* of channels' blocks, among a controller's registers */
	bool table;			/* a table says how many blocks there are, and where */
};

/* More channels than any socket has */
#define INTEL_IMC_MAX_UNITS	32

/* The number in a table is part of the PMU's name, which is the in-tree driver's. */
#define INTEL_IMC_MAX_NUMBER	99

/* A memory channel, as a table has it */
struct intel_imc_unit {
	phys_addr_t block;
	unsigned int number;		/* the number in the PMU's name */
};

struct intel_imc_units {
	unsigned int nr;
	struct intel_imc_unit unit[INTEL_IMC_MAX_UNITS];
};

/* A table of units, wherever it is: 64-bit words */
struct intel_imc_table {
	size_t words;
	u64 (*word)(const struct intel_imc_table *table, size_t n);
	/* Report a bad record of a memory channel, or, if @record is 0, a bad table. */
	void (*complain)(const struct intel_imc_table *table, unsigned int record, const char *why);
};

/* The channels of a function, or those it leads to. */
struct intel_imc_function {
	unsigned int nr;
	struct intel_imc_channel channels[];
};

/* A processor generation. */
struct intel_imc_part {
	const char *name;
	u8 models[2];			/* of CPUs of family 6; 0: any. Tools go by them, too */
	const struct intel_imc_layout *layout;
	const struct intel_imc_blocks *blocks;	/* NULL: the function itself is a channel */
	u16 ubox;			/* PCI device that maps buses to sockets */
	u8 ubox_nodeid;			/* its registers */
	u8 ubox_map;
	bool ubox_below;		/* the UBOX is on a lower bus than the channels */
	bool ubox_above;		/* or may be on a higher one */
	u32 box_ones;			/* bits of BOX_CTL that must be written 1 */
	const struct intel_imc_slot *slots;	/* ends with devfn 0; NULL: the id says which */
	struct intel_imc_kind *kind;
	struct intel_imc_free_kind *free;	/* NULL: there are no free-running counters */
};

/* A step of intel_imc_channel_check(), to be called on a certain CPU. */
typedef int (*intel_imc_step_t)(struct intel_imc_channel *ch);

/* channel.c */
extern const struct intel_imc_layout intel_imc_config_layout, intel_imc_icx_layout,
	intel_imc_spr_layout;
void intel_imc_channel_init(struct intel_imc_channel *ch);
bool intel_imc_channel_keeps(struct intel_imc_channel *ch);
void intel_imc_channel_reset(struct intel_imc_channel *ch);
int intel_imc_channel_check(struct intel_imc_channel *ch,
			    int (*call)(struct intel_imc_channel *ch, intel_imc_step_t step));
void intel_imc_channel_inspect(struct intel_imc_channel *ch);
void intel_imc_channel_inspect_sometimes(struct intel_imc_channel *ch);
void intel_imc_channel_quiesce(struct intel_imc_channel *ch);
void intel_imc_channel_freeze(struct intel_imc_channel *ch);
void intel_imc_channel_thaw(struct intel_imc_channel *ch);
u64 intel_imc_counter_start(struct intel_imc_channel *ch, unsigned int idx, u32 ctl, u64 max_rate);
void intel_imc_counter_stop(struct intel_imc_channel *ch, unsigned int idx);
int intel_imc_counter_read(struct intel_imc_channel *ch, unsigned int idx, u64 *value);

/* discovery.c */
void intel_imc_table_parse(const struct intel_imc_table *table, struct intel_imc_units *units);
struct pci_dev *intel_imc_next_table(struct pci_dev *pdev);
int intel_imc_table_socket(struct pci_dev *pdev, const struct intel_imc_part *part);
void intel_imc_discover(const struct intel_imc_part *part, int socket,
			struct intel_imc_units *units);

/* selftest.c */
int intel_imc_channel_selftest(struct intel_imc_channel *ch,
			       int (*call)(struct intel_imc_channel *ch, intel_imc_step_t step));
void intel_imc_selftest_say(const struct intel_imc_channel *ch);

/* place.c */
extern const struct attribute_group * const intel_imc_place_groups[];
extern const struct attribute_group * const intel_imc_place_alias_groups[];
int intel_imc_cluster_of(const struct intel_imc_kind *kind, unsigned int number, unsigned int nr);

/* pmu.c */
bool intel_imc_has_rivals(void);
extern const struct pmu_format intel_imc_formats[INTEL_IMC_FORMATS];
extern const struct pmu_format intel_imc_spr_formats[INTEL_IMC_FORMATS + 1];
extern const struct pmu_box_ops intel_imc_box_ops, intel_imc_pair_ops;
extern struct notifier_block intel_imc_pmus_changed;
int intel_imc_pair_claim(u8 *used, struct intel_imc_pair *pair, u8 usable, unsigned int nr);
void intel_imc_find_occupancies(struct intel_imc_kind *kind);
bool intel_imc_config_is_fixed(u64 config);
u32 intel_imc_config_to_ctl(u64 config);
u64 intel_imc_config_max_rate(const struct intel_imc_kind *kind, u64 config);

/* events.c */
extern struct intel_imc_kind intel_imc_snbep_kind, intel_imc_ivbep_kind, intel_imc_hswep_kind,
	intel_imc_skx_kind, intel_imc_clx_kind, intel_imc_icx_kind, intel_imc_spr_kind,
	intel_imc_gnr_kind, intel_imc_snr_kind, intel_imc_gnr_like_kind, intel_imc_table_kind;

/* free.c */
extern struct intel_imc_free_kind intel_imc_icx_free, intel_imc_spr_free;
void intel_imc_free_init(void);
void intel_imc_free_setup(struct pci_dev *pdev, struct intel_imc_free_kind *kind,
			  unsigned int controller, int socket);

/* io.c */
int intel_imc_io_check_parameter(void);
int intel_imc_io_setup(struct intel_imc_channel *ch);
unsigned int intel_imc_mcfg_entries(u32 length);
const char *intel_imc_io_name(const struct intel_imc_channel *ch);
void intel_imc_io_resume(struct intel_imc_channel *ch);

/* mmio.c */
extern const struct intel_imc_blocks intel_imc_icx_blocks, intel_imc_icx_d_blocks,
	intel_imc_snr_blocks, intel_imc_spr_blocks, intel_imc_gnr_blocks, intel_imc_table_blocks;
extern const struct intel_imc_io intel_imc_mmio_io;
phys_addr_t intel_imc_controller_address(u32 base, u32 mem);
phys_addr_t intel_imc_mmio_find(struct pci_dev *pdev, unsigned int controller, u32 *base, u32 *mem);
bool intel_imc_mmio_is_certain(const struct intel_imc_blocks *blocks, unsigned int number);
int intel_imc_mmio_setup(struct intel_imc_channel *ch,
			 int (*call)(struct intel_imc_channel *ch, intel_imc_step_t step));
bool intel_imc_mmio_is_taken(unsigned int number);
int intel_imc_mmio_check_owner(struct device *dev, unsigned int number);

/* socket.c */
bool intel_imc_sockets_are_dies(void);
unsigned int intel_imc_sockets(const struct intel_imc_part *part);
int intel_imc_socket_of(struct pci_dev *pdev, const struct intel_imc_part *part);
int intel_imc_socket_of_table(struct pci_dev *pdev, const struct intel_imc_part *part, bool alone);
int intel_imc_socket_from_map(u32 nodeid, u32 map);
int intel_imc_cpu_socket(int cpu);
int intel_imc_socket_cpu(int socket);

#endif /* INTEL_IMC_H */
