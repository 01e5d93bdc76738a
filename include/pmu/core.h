/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pmu_core: what the PMU drivers of this suite share.
 *
 * A driver describes a kind of PMU by tables and a few hardware verbs (struct pmu_desc)
 * and registers each set of counters it finds as a box (devm_pmu_box_register()). The
 * core does the rest: perf's callbacks, sysfs, folding, owners and hotplug, polling.
 *
 * Where hardware is touched: only on the box's owner CPU and with interrupts off, by
 * perf's callbacks, the poll timer, and the calls that hotplug and removal make there.
 * So a box needs no lock, and verbs must not sleep. The exception is named at
 * pmu_box_ops.event_init.
 */
#ifndef PMU_CORE_H
#define PMU_CORE_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/irq_work.h>
#include <linux/perf_event.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include <pmu/compat.h>

struct device;
struct module;
struct pmu_box;
struct pmu_desc;

/** enum pmu_config_word - the attr.config* word that a format field is part of. */
enum pmu_config_word { PMU_CONFIG, PMU_CONFIG1, PMU_CONFIG2, PMU_CONFIG_WORDS };

/**
 * struct pmu_format - one field of the user ABI, a file in format/.
 * @name: the term, as in "event=0x04"
 * @mask: the field's bits; FIELD_GET() in the driver and the text in sysfs both use it
 * @word: which config word the bits are of
 * @digits: least number of hex digits when the core writes the field, as in "0x04"
 * @always: write the field in an event's text even if it is 0
 *
 * A bit of config, config1 or config2 that no format claims is reserved: events that
 * set one are refused with -EINVAL.
 */
struct pmu_format {
	const char *name;
	u64 mask;
	enum pmu_config_word word;
	u8 digits;
	bool always;
};

/**
 * struct pmu_named_event - one named event, a file in events/.
 * @name: file name
 * @config: the config words that the name stands for; the text is made from the formats
 * @scale: content of NAME.scale, the factor from counts to @unit, or NULL
 * @unit: content of NAME.unit, or NULL
 */
struct pmu_named_event {
	const char *name;
	u64 config[PMU_CONFIG_WORDS];
	const char *scale;
	const char *unit;
};

/** enum pmu_scope - which CPUs share a box. One of them owns it. */
enum pmu_scope {
	PMU_SCOPE_SYSTEM,	/* all */
	PMU_SCOPE_PACKAGE,	/* scope id: topology_physical_package_id() */
	PMU_SCOPE_DIE,		/* scope id: PMU_DIE_ID(package, die) */
	PMU_SCOPE_NODE,		/* scope id: cpu_to_node() */
};

/* A die's number counts from 0 in each package. */
#define PMU_DIE_ID(package, die)	((package) << 8 | (die))

/**
 * struct pmu_event - the core's part of a perf_event, from event_init to destruction.
 * @max_rate: most counts per second that the event can reach; set by
 *	pmu_box_ops.event_init, decides how often the counter is polled. 0: never wraps
 * @event: the perf event
 *
 * The other members belong to the core.
 */
struct pmu_event {
	u64 max_rate;
	struct perf_event *event;
	/* private: */
	struct pmu_box *box;
	struct list_head active;	/* in pmu_box.active while it counts */
	struct list_head to_read;	/* in pmu_box.to_read while perf reads its group */
	atomic64_t prev;		/* raw value at the last fold */
	u64 poll_ns;
	int last_idx;			/* the counter it had, to get the same again */
	bool parked;			/* counts on while its context moves to another CPU */
	bool failed;			/* the device is gone */
	struct irq_work fail_irq;
	struct work_struct fail_work;
};

/** pmu_event_of() - the core's part of @event, for a driver's verbs. */
static inline struct pmu_event *pmu_event_of(const struct perf_event *event)
{
	return event->pmu_private;
}

/**
 * struct pmu_box_ops - the hardware verbs of one kind of box.
 *
 * The first two know no box, only the kind of PMU: they are called from
 * perf_event_open(), when the device may be going. The others are called on the owner
 * CPU with interrupts off, and not any more once the device has gone.
 */
struct pmu_box_ops {
	/**
	 * @event_init: check the event's config and set max_rate; config words hold no
	 * reserved bit. May sleep. Returns 0 or a negative errno for perf_event_open().
	 */
	int (*event_init)(const struct pmu_desc *desc, struct pmu_event *ev);
	/**
	 * @counters: the counters (bits 0 to 63) of which any one can count the event.
	 * Any context.
	 */
	u64 (*counters)(const struct pmu_desc *desc, const struct pmu_event *ev);
	/**
	 * @start: let counter @idx count the event once the box is thawed; the box is
	 * frozen. Returns the raw value that counting goes on from.
	 */
	u64 (*start)(struct pmu_box *box, struct pmu_event *ev, int idx);
	/** @stop: counter @idx need not count any more; the box is frozen. */
	void (*stop)(struct pmu_box *box, struct pmu_event *ev, int idx);
	/**
	 * @read: the raw value of counter @idx, pmu_desc.width bits, running or frozen.
	 * Returns 0, or -ENODEV when the device is gone: the event goes to error state.
	 */
	int (*read)(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value);
	/** @freeze: stop all counters of the box together. */
	void (*freeze)(struct pmu_box *box);
	/** @thaw: let the started counters count, together. */
	void (*thaw)(struct pmu_box *box);
};

/**
 * struct pmu_desc - a kind of PMU. Static data of the driver.
 * @owner: the driver's module; pinned while an event is open
 * @ops: hardware verbs
 * @scope: which CPUs share a box
 * @width: width of the counters in bits, 1 to 64
 * @formats: user ABI
 * @nr_formats: length of @formats
 * @events: named events
 * @nr_events: length of @events
 */
struct pmu_desc {
	struct module *owner;
	const struct pmu_box_ops *ops;
	enum pmu_scope scope;
	unsigned int width;
	const struct pmu_format *formats;
	unsigned int nr_formats;
	const struct pmu_named_event *events;
	unsigned int nr_events;
};

/* box.c */
int devm_pmu_box_register(struct device *dev, const struct pmu_desc *desc,
			  const char *name, int scope_id, void *priv);
void *pmu_box_priv(const struct pmu_box *box);
void pmu_unregister_all(struct module *owner);

/* fold.c */
u64 pmu_delta(u64 prev, u64 now, unsigned int width);
int pmu_fold(atomic64_t *prev, unsigned int width,
	     int (*read)(void *context, u64 *now), void *context, u64 *delta);
u64 pmu_poll_period_ns(unsigned int width, u64 max_rate);

#endif /* PMU_CORE_H */
