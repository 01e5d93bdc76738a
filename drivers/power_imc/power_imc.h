/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * POWER in-memory collection: what the driver's files share.
 *
 * The firmware hands over a catalog of units (catalog.c). Each becomes a PMU: nest units (nest.c)
 * are counted by a microcode per chip; core and thread units (count.c) by an engine in each core
 * (engine.c), which writes to memory (memory.c) on its own. Both are started and stopped through
 * the firmware (firmware.c).
 *
 * Trace units (trace.c) are the same engine in another mode: its records (ring.c) are drained,
 * thinned out (thin.c), and become perf's samples (sample.c).
 *
 * Each file uses only files below it: main.c; debugfs.c; catalog.c, nest.c, trace.c; count.c;
 * session.c; engine.c; firmware.c, memory.c, ring.c, thin.c, sample.c.
 *
 * Locks: Documentation/hacking.md. All may be taken in event_init, so what waits for hotplug is
 * left to a work item (session.c).
 */
#ifndef POWER_IMC_H
#define POWER_IMC_H

#include <linux/atomic.h>
#include <linux/device.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <pmu/core.h>

#include "regs.h"

/*
 * How long the hardware may go on writing after STOP or a write of LDBAR. No source says, so this
 * is deliberately generous.
 */
#define POWER_IMC_LINGER_MS	50

/* How often a core should post what it has counted, at least. No source says that either. */
#define POWER_IMC_POST_MS	10

struct device_node;
struct power_imc;

/* What the catalog calls a unit's type. */
enum power_imc_type {
	POWER_IMC_TYPE_THREAD = 0x1,
	POWER_IMC_TYPE_TRACE = 0x2,
	POWER_IMC_TYPE_CORE = 0x4,
	POWER_IMC_TYPE_NEST = 0x10,
};

/* A processor's generation: it decides SCOM addresses and the nest area's layout. */
enum power_imc_generation { POWER_IMC_UNKNOWN, POWER_IMC_P9, POWER_IMC_P10 };

/* A core's registers that are reached by SCOM. */
enum power_imc_scom {
	POWER_IMC_SCOM_PDBAR,		/* real address of the page that the core writes */
	POWER_IMC_SCOM_HTM,		/* starts and stops the engine */
	POWER_IMC_SCOM_EVENT_MASK,
	POWER_IMC_SCOM_TRACE,		/* what triggers a trace record */
};

/* User ABI: an event's config is the offset of its counter. */
#define POWER_IMC_CONFIG_EVENT	GENMASK_ULL(61, 0)
#define POWER_IMC_CONFIG_OFFSET	GENMASK_ULL(31, 0)
#define POWER_IMC_CONFIG_RVALUE	BIT_ULL(32)
#define POWER_IMC_CONFIG_MODE	GENMASK_ULL(40, 33)

/* User ABI of trace events. */
#define POWER_IMC_CONFIG_CPMC_RESERVED	GENMASK_ULL(19, 0)
#define POWER_IMC_CONFIG_CPMC_EVENT	GENMASK_ULL(27, 20)
#define POWER_IMC_CONFIG_CPMC_SAMPLESEL	GENMASK_ULL(29, 28)
#define POWER_IMC_CONFIG_CPMC_LOAD	GENMASK_ULL(61, 30)

/* A chip's nest: the part of its HOMER that is used here. */
struct power_imc_chip {
	struct list_head node;		/* imc.chips */
	struct power_imc *imc;
	u32 id;
	u64 address;			/* real, of the nest area */
	u32 area_offset;		/* of it in HOMER */
	u32 control_offset;		/* of the control block in the area */
	void *area;			/* the nest area: counters and control block */
	void *control;			/* the control block */
	raw_spinlock_t lock;
	u32 pir;			/* of a thread of the chip, if it has any */
	unsigned int users;		/* open events: then the microcode runs; under lock */
	u64 ready;			/* when it has posted what was before, ns */
	atomic_t torn;			/* snapshots that were of two updates */
};

/* A unit of the catalog; one PMU. */
struct power_imc_unit {
	struct pmu_desc desc;
	struct power_imc *imc;
	const char *name;		/* the PMU's */
	enum power_imc_type type;
	u32 size;			/* offsets end here, in bytes */
	u32 base;			/* added to the offset of each event of the catalog */
	const char **about;		/* what the catalog says of each of desc.events, or NULL */
	/* Of a nest unit: */
	u32 area_offset;		/* of the nest area in HOMER */
	u32 control_offset;		/* of the control block in the area */
	unsigned int nr_chips;
	u32 *chip_ids;
	u64 *homers;			/* real addresses, one per chip */
};

/*
 * A way to start and stop engines. Called on any CPU, in any context, with the hardware number of a
 * thread of the core or chip. All return 0 or a negative errno.
 */
struct power_imc_firmware {
	const char *name;				/* for messages */
	/* A core counts to a page, at a real address, or traces; engine off. */
	int (*init)(enum power_imc_type type, u32 pir, u64 page);
	int (*set)(enum power_imc_type type, u32 pir, bool on);	/* its engine */
	/* Or 1 if an engine is on. The answer is memory in the linear map. */
	int (*running)(u32 pir, __be64 *answer);
	int (*nest)(const struct power_imc_chip *chip, bool on);	/* its microcode */
};

/* A core and its engine. */
struct power_imc_core {
	raw_spinlock_t lock;
	unsigned int users;		/* engaged boxes; under lock, as is what follows */
	enum power_imc_type type;	/* the kind of unit that uses it, if users > 0 or stuck */
	bool paused;			/* kept off, whether it has users or not */
	int pause_error;		/* of the last pause */
	bool failed;			/* could not be started again, which has been reported */
	bool stuck;			/* could not be stopped: may be on without users */
	bool tells;			/* power_imc_firmware.running can be relied on */
	unsigned int starts;		/* number of times that it was started */
	unsigned int restarts;		/* number of times that the engine was found off */
	unsigned int misses;		/* how many of these were in a row */
	bool missing;			/* it was off at the last look, and not started since */
	bool posts;			/* it had posted since the look before */
	u64 posted;			/* power_imc_page_sum() then */
	__be64 answer;			/* for power_imc_firmware.running */
	void *page;			/* POWER_IMC_PAGE_SIZE; the core writes its counts there */
	u32 pir;			/* of the first thread */
	int first_cpu;
	struct power_imc *imc;
};

/* A hardware thread. */
struct power_imc_thread {
	struct power_imc_core *core;
	void *page;			/* POWER_IMC_PAGE_SIZE, where it counts to */
	u64 ldbar;			/* the value of LDBAR that counts there */
	bool lost;			/* LDBAR was not what was written, and the log says so */
	u64 since;			/* timebase when it last began to count, or 0 */
	bool trying;			/* a read is to look whether the end posted anything */
	u64 before;			/* power_imc_page_sum() before the end */
	u8 trials, misses;		/* times that it was looked at, and had not changed */
};

/* The device. */
struct power_imc {
	struct device *dev;
	const struct power_imc_firmware *firmware;
	struct power_imc_unit *units;
	unsigned int nr_units;
	struct list_head chips;
	struct power_imc_core *cores;	/* by cpu_core_index_of_thread() */
	unsigned int nr_cores;
	struct power_imc_thread *threads;	/* by CPU number */
	struct list_head memory;	/* memory that the hardware may write */
	struct work_struct posts_work;	/* finds out how often cores post */
	bool posts_known;		/* it has */
	u64 step;			/* power_imc_ring.known, of all rings */
	bool halted;			/* no engine or microcode is started any more */
	bool written;			/* an engine may still write the memory: it is not freed */
};

static inline struct power_imc_unit *to_imc_unit(const struct pmu_desc *desc)
{
	return container_of(desc, struct power_imc_unit, desc);
}

/* catalog.c */
int power_imc_catalog_read(struct power_imc *imc, struct device_node *top);

/* count.c */
extern const struct pmu_format power_imc_formats[];
extern const unsigned int power_imc_nr_formats;
int power_imc_offset_check(const struct power_imc_unit *unit, u64 config);
int power_imc_counter_read(const void *base, const struct pmu_event *ev, u64 *value);
void power_imc_counter_restarted(struct pmu_box *box, struct pmu_event *ev);
void power_imc_counter_exit(void);
void power_imc_event_free(const struct pmu_desc *desc, struct pmu_event *ev);
int power_imc_core_register(struct power_imc_unit *unit);
int power_imc_threads_create(struct power_imc *imc);
int power_imc_thread_register(struct power_imc_unit *unit);

/* debugfs.c */
void power_imc_debugfs_create(struct power_imc *imc);

/* engine.c */
u64 power_imc_ldbar(u64 address, u64 mode);
void power_imc_ldbar_write(const struct power_imc *imc, u64 value);
void power_imc_ldbar_clear(void);
bool power_imc_ldbar_untrace(void);
bool power_imc_ldbar_is_clean(int cpu);
void power_imc_ldbar_clean_up(void);
struct power_imc_core *power_imc_core_of(struct power_imc *imc, int cpu);
int power_imc_session_hold(enum power_imc_type type);
unsigned int power_imc_session_add_holders(int more);
u64 power_imc_session_left(void);
int power_imc_engine_get(struct power_imc_core *core, enum power_imc_type type, u64 ldbar);
int power_imc_engine_point(struct power_imc_core *core, u64 ldbar);
void power_imc_engine_put(struct power_imc_core *core);
int power_imc_engine_pause(struct power_imc_core *core);
void power_imc_engine_resume(struct power_imc_core *core);
bool power_imc_engine_is_on(struct power_imc_core *core);
u64 power_imc_page_sum(const __be64 *page);
void power_imc_engines_look(struct power_imc_core *cores, unsigned int nr);
int power_imc_engines_create(struct power_imc *imc);
int power_imc_engines_quiesce(struct power_imc *imc);
void power_imc_sleep_until(u64 when);
void power_imc_engines_wait(void);
void power_imc_engines_halt(struct power_imc *imc);
void power_imc_engines_end(void *data);

/* firmware.c */
const struct power_imc_firmware *power_imc_firmware_find(struct device *dev);
enum power_imc_generation power_imc_generation_of(u32 pvr);
enum power_imc_generation power_imc_generation(void);
bool power_imc_ldbar_is_ours(void);
const char *power_imc_unit_is_not_ours(const struct power_imc_unit *unit);
u32 power_imc_scom_address(enum power_imc_generation generation, enum power_imc_scom which,
			   unsigned int core);

/* memory.c */
int power_imc_memory_init(struct power_imc *imc);
void *power_imc_memory_alloc(struct power_imc *imc, size_t size, int cpu);

/* nest.c */
u64 power_imc_control_word(const struct power_imc_chip *chip, unsigned int offset);
int power_imc_chips_create(struct power_imc *imc);
int power_imc_nest_register(struct power_imc_unit *unit);
void power_imc_nests_quiesce(void *data);
void power_imc_nests_halt(struct power_imc *imc);
bool power_imc_nest_has(enum power_imc_generation generation, const char *name, u64 available);
int power_imc_nest_group(enum power_imc_generation generation, u32 offset, u64 size);

/* session.c */
int power_imc_session_open(enum power_imc_type type);
void power_imc_session_close(void);
void power_imc_session_begin(struct power_imc *imc);
void power_imc_session_end(void);
int power_imc_session_watch_cpus(struct power_imc *imc);
#if IS_ENABLED(CONFIG_PMU_SUITE_KUNIT_TEST)
s32 power_imc_idle_limit(const u32 *flags, const u32 *latencies, unsigned int states);
#endif

/* trace.c */
int power_imc_trace_register(struct power_imc_unit *unit);

#endif /* POWER_IMC_H */
