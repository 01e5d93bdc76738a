/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * pmu_core: what the PMU drivers of this suite share.
 *
 * A driver describes a kind of PMU by tables and a few hardware verbs (struct pmu_desc)
 * and registers each set of counters it finds as a box (devm_pmu_box_register()). The
 * core does the rest: perf's callbacks, sysfs, folding, owners and hotplug, polling.
 *
 * Where hardware is touched: under the box's lock, with interrupts off, on any CPU of the scope:
 * by perf's callbacks, the poll timer, hotplug, sleep and removal. So verbs must not sleep.
 * The exceptions are named at struct pmu_box_ops.
 */
#ifndef PMU_CORE_H
#define PMU_CORE_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include <pmu/compat.h>

struct attribute_group;
struct device;
struct module;
struct pmu_box;
struct pmu_desc;
struct pmu_dev;

/** enum pmu_config_word - the attr.config* word that a format field is part of. */
enum pmu_config_word { PMU_CONFIG, PMU_CONFIG1, PMU_CONFIG2, PMU_CONFIG_WORDS };

/**
 * struct pmu_format - one field of the user ABI, a file in format/.
 * @name: the term, as in "event=0x04"
 * @mask: the field's bits; FIELD_GET() in the driver and the text in sysfs both use it
 * @word: the config word that @mask is of
 * @digits: least number of hex digits when the core writes the field, as in "0x04"
 * @always: write the field in an event's text even if it is 0
 * @alias: another name for bits of other fields; an event's text has it instead of those fields if
 *	the event's @shown has this field's bit
 *
 * A bit of config, config1 or config2 that no format claims is reserved, as are all bits of the
 * words after these: events that set one are refused with -EINVAL.
 */
struct pmu_format {
	const char *name;
	u64 mask;
	enum pmu_config_word word;
	u8 digits;
	bool always;
	bool alias;
};

/**
 * struct pmu_named_event - one named event, a file in events/.
 * @name: file name
 * @config: the config words that the name stands for; the text is made from the formats
 * @scale: content of NAME.scale, the factor from counts to @unit, or NULL
 * @unit: content of NAME.unit, or NULL
 * @shown: bit n: field n of the formats is written even if it is 0
 * @asked: bit n: the user has to give field n of the formats; it is written as "name=?"
 */
struct pmu_named_event {
	const char *name;
	u64 config[PMU_CONFIG_WORDS];
	const char *scale;
	const char *unit;
	u32 shown;
	u32 asked;
};

/** enum pmu_scope - which CPUs share a box. One of them owns it. */
enum pmu_scope {
	PMU_SCOPE_SYSTEM,	/* all */
	PMU_SCOPE_PACKAGE,	/* scope id: topology_physical_package_id() */
	PMU_SCOPE_DIE,		/* scope id: topology_logical_die_id() */
	PMU_SCOPE_CORE,		/* scope id: PMU_CORE_ID(package, core) */
	PMU_SCOPE_CPU,		/* scope id: the CPU's number */
};

/* On many processors the cores of each package are numbered from 0. */
#define PMU_CORE_ID(package, core)	((package) << 16 | (core))

/**
 * enum pmu_tasks - may an event belong to a task? Then it counts in the box of whichever
 * CPU the task runs on, so the scope has to be PMU_SCOPE_CPU.
 * @PMU_TASKS_NEVER: no; all events are for the system
 * @PMU_TASKS_TOO: events may be for the system or for a task
 * @PMU_TASKS_ONLY: all events are for tasks
 */
enum pmu_tasks { PMU_TASKS_NEVER, PMU_TASKS_TOO, PMU_TASKS_ONLY };

/* What is known of a counter that events share. */
struct pmu_counter {
	u64 total;			/* sum of what was folded; events are credited with parts */
	u64 prev;			/* raw value at the last fold */
	u64 folded_ns;			/* time shortly before that value was read */
	u64 folded_pass;		/* the pass in which it was read: pmu_box.pass */
	unsigned int sharers;		/* number of events beside the bearer that have it */
	unsigned int counting;		/* number of events that count with it */
};

/**
 * struct pmu_event - the core's part of a perf_event, from event_init to destruction.
 * @poll_rate: most counts per second that the counter can advance by; set by
 *	pmu_box_ops.event_init, decides how often it is polled. 0: never wraps
 * @bound: most counts per second that are possible for the event; set by
 *	pmu_box_ops.event_init. A difference beyond it is not counted. 0: not known
 * @priv: for the driver: pmu_desc.event_size bytes, initially zero; or if that is 0, set by
 *	pmu_box_ops.event_init and freed by event_free
 * @claims_anew: what the event claims depends on the claims of other events; set by
 *	pmu_box_ops.event_init. Whenever perf adds another event, it is stopped and unclaimed, and
 *	claims again. Without this an event keeps what it has claimed
 * @event: the perf event
 *
 * The other members belong to the core.
 */
struct pmu_event {
	u64 poll_rate;
	u64 bound;
	void *priv;
	bool claims_anew;
	struct perf_event *event;
	/* private: */
	struct pmu_box *box;		/* a task's event has one only while it is scheduled */
	struct list_head active;	/* in pmu_box.active while it counts */
	struct pmu_event *bearer;	/* has the hardware: itself, or an equal one */
	struct list_head sharing;	/* a bearer's list of the others, or their node */
	struct list_head bearing;	/* a bearer's node in pmu_box.bearers */
	struct pmu_counter counter;	/* of a bearer */
	int out;			/* CPU + 1 where perf took it out, to put it back; or 0 */
	bool pinned;			/* its leader is, or was when the event was last added */
	bool exclusive;
	bool failed;			/* the device is gone: the event never counts again */
	struct list_head failing;	/* on the list of events that are put into error state */
};

/** pmu_event_of() - the core's part of @event, for a driver's verbs. */
static inline struct pmu_event *pmu_event_of(const struct perf_event *event)
{
	return event->pmu_private;
}

/**
 * pmu_may_log() - may the log say why an event of the current task is refused?
 *
 * If every user could cause messages, any user could fill the log. Other users get only the errno.
 * The check itself is not recorded by audit.
 *
 * Context: event_init.
 * Return: true for users who may profile the system.
 */
static inline bool pmu_may_log(void)
{
	return ns_capable_noaudit(&init_user_ns, CAP_PERFMON) ||
	       ns_capable_noaudit(&init_user_ns, CAP_SYS_ADMIN);
}

/**
 * struct pmu_box_ops - the hardware verbs of one kind of box.
 *
 * event_init, event_free and counters get the kind of PMU and no box, since the device may be
 * removed while they run. owner_changed may sleep. claim is also called when a group is tried, on
 * any CPU with interrupts on. engage and disengage are called on the owner CPU with interrupts off;
 * if pmu_desc.engage_at_start, the first start and the last close call them under the box's lock.
 * All others are called under the box's lock, on any CPU of the scope. Except for unclaim and hand,
 * no verb is called after the device is gone.
 *
 * Every driver needs event_init and read. Counters in memory that always run, and that any
 * number of events may read, need nothing else.
 */
struct pmu_box_ops {
	/**
	 * @event_init: check the event's config and set poll_rate; config words hold no
	 * reserved bit. May sleep, unless the event is inherited (event->parent): then
	 * perf holds a context's lock. Returns 0 or a negative errno for
	 * perf_event_open().
	 */
	int (*event_init)(const struct pmu_desc *desc, struct pmu_event *ev);
	/** @event_free: undo event_init. perf may hold a context's lock. */
	void (*event_free)(const struct pmu_desc *desc, struct pmu_event *ev);
	/**
	 * @engage: the first event was opened: make the box ready to count; but see
	 * pmu_desc.engage_at_start. Returns 0, or a
	 * negative errno for perf_event_open(). The open of a task's event fails only if no
	 * box of the PMU can be engaged, so the driver logs each box that cannot.
	 */
	int (*engage)(struct pmu_box *box);
	/** @disengage: the last event was closed, or the last CPU of the scope goes offline. */
	void (*disengage)(struct pmu_box *box);
	/**
	 * @owner_changed: @cpu owns the box from now on. Events count throughout, on the old owner
	 * or on @cpu. Holds cpu_hotplug_lock.
	 */
	void (*owner_changed)(struct pmu_box *box, int cpu);
	/**
	 * @counters: a mask of the counters, 0 to 63, that can count the event; not 0:
	 * event_init refuses what none can count. Any context.
	 */
	u64 (*counters)(const struct pmu_desc *desc, const struct pmu_event *ev);
	/**
	 * @claim: used instead of counters if an event needs more than a single counter: reserve
	 * what it needs in @state, which has pmu_desc.state_size bytes, initially zero. If @trial,
	 * change nothing else: the core only checks whether a group fits. Otherwise @state is the
	 * box's own, and @ev->priv may record what was taken. Returns 0; or -EAGAIN, and then
	 * @state of the box is as before.
	 */
	int (*claim)(struct pmu_box *box, struct pmu_event *ev, void *state, bool trial);
	/**
	 * @unclaim: release in @state what claim took for the event; never called for a trial. Also
	 * called after the device is gone.
	 */
	void (*unclaim)(struct pmu_box *box, struct pmu_event *ev, void *state);
	/**
	 * @hand: equal events share what one of them, the bearer, has claimed; the other verbs are
	 * called only with the bearer. From now on the bearer is @to instead of @from. The hardware
	 * may keep counting. Also called after the device is gone. NULL: if there is a claim verb,
	 * events do not share.
	 */
	void (*hand)(struct pmu_box *box, struct pmu_event *from, struct pmu_event *to);
	/**
	 * @start: make counter @idx count the event once the box is thawed. The box is frozen, but
	 * see pmu_desc.live. Returns the raw value from which counting continues. NULL: the core
	 * gets that value from read.
	 */
	u64 (*start)(struct pmu_box *box, struct pmu_event *ev, int idx);
	/**
	 * @stop: counter @idx is no longer needed. The box is frozen, but see pmu_desc.live.
	 */
	void (*stop)(struct pmu_box *box, struct pmu_event *ev, int idx);
	/**
	 * @begin_read: a pass of reads begins. All reads up to the next begin_read should give
	 * values of one moment, so they may share register accesses. Starts and stops may come
	 * in between.
	 */
	void (*begin_read)(struct pmu_box *box);
	/**
	 * @hold: several events of the box are read in this pass as a group. If reads can be of
	 * one moment only while the counters are stopped, stop them until end_read, even if freeze
	 * and thaw come in between, on another CPU. May be called more than once in a pass. NULL:
	 * the counters need not be stopped.
	 */
	void (*hold)(struct pmu_box *box);
	/**
	 * @end_read: ends what begin_read began, on whichever CPU reads last. The box may be
	 * frozen. The pass that begins with a freeze ends with thaw instead.
	 */
	void (*end_read)(struct pmu_box *box);
	/**
	 * @read: the raw value of counter @idx, pmu_desc.width bits, running or frozen.
	 * Returns 0, or -ENODEV when the device is gone: the event goes to error state.
	 * If the driver has neither start nor begin_read, this is also called in an NMI. Then it
	 * may only load from memory.
	 */
	int (*read)(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value);
	/**
	 * @read_exact: in a running box, read may miss counts that have not reached the counter
	 * yet. This sets @value to the value that includes them. Returns 0, or an error if that
	 * needs a freeze. NULL: it always needs a freeze, or read is exact; see pmu_desc.live.
	 */
	int (*read_exact)(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value);
	/**
	 * @restarted: the event's counter is too wide to wrap, but its value is less than at the
	 * last read: it has restarted at 0. The core adds what it has counted since. May be in an
	 * NMI. NULL: a smaller value means that the counter has wrapped.
	 */
	void (*restarted)(struct pmu_box *box, struct pmu_event *ev);
	/** @freeze: stop all counters of the box together. */
	void (*freeze)(struct pmu_box *box);
	/** @thaw: let the started counters count, together. */
	void (*thaw)(struct pmu_box *box);
};

/**
 * struct pmu_desc - a kind of PMU. Has to live as long as the driver's module.
 * @owner: the driver's module; pinned while an event is open
 * @ops: hardware verbs
 * @parent: the device, if the PMU is of one device, or NULL. The PMU is below it in sysfs, on
 *	kernels that can do so, and has a link "device" to it on all kernels; CPUs of its NUMA node
 *	are preferred as owners
 * @scope: which CPUs share a box
 * @tasks: whether events may belong to tasks; if so there is no cpumask
 * @sampling: events sample, by the driver's own means; an event that only counts is refused with
 *	-ENOENT, so that perf stat reports it as not supported. If false, events count and cannot
 *	sample
 * @excludes: the driver's event_init looks at attr.exclude_*; otherwise events that set
 *	one are refused
 * @live: start and stop are also called in a running box, for an event that starts or stops on its
 *	own: start then makes it count at once, and the last read comes after stop
 * @engage_at_start: engage is called when the first event starts, under the box's lock, and not
 *	when it is opened. It writes nothing to the log
 * @settle_ms: an event that is opened on a box waits so long after engage, in ms, so that what was
 *	before is in the counters when it starts
 * @privileged: events are only for users with CAP_PERFMON; others get -EACCES. If there is an
 *	engage, this holds for events of tasks anyway, since they engage all boxes
 * @width: width of the counters in bits, 1 to 64
 * @state_size: for pmu_box_ops.claim, in bytes
 * @event_size: size of pmu_event.priv, in bytes. It is part of the event's allocation, so that a
 *	fork allocates once for each event that it inherits
 * @formats: user ABI
 * @nr_formats: length of @formats
 * @events: named events
 * @nr_events: length of @events
 * @groups: further groups of files in the PMU's sysfs directory, NULL-terminated, or NULL
 */
struct pmu_desc {
	struct module *owner;
	const struct pmu_box_ops *ops;
	struct device *parent;
	enum pmu_scope scope;
	enum pmu_tasks tasks;
	bool sampling;
	bool excludes;
	bool live;
	bool engage_at_start;
	unsigned int settle_ms;
	bool privileged;
	unsigned int width;
	size_t state_size;
	size_t event_size;
	const struct pmu_format *formats;
	unsigned int nr_formats;
	const struct pmu_named_event *events;
	unsigned int nr_events;
	const struct attribute_group * const *groups;
};

/* attr.c */
const struct pmu_desc *pmu_desc_of(struct device *dev);
const struct cpumask *pmu_owners_of(struct device *dev);

/* faults.c */
void pmu_unregister_all(struct module *owner);

/* fold.c */
unsigned long pmu_box_lock(struct pmu_box *box);
void pmu_box_unlock(struct pmu_box *box, unsigned long flags);
void pmu_box_fold(struct pmu_box *box);

/* hotplug.c */
bool pmu_cpu_is_isolated(int cpu);
int pmu_boxes_suspend(struct device *dev);
int pmu_boxes_resume(struct device *dev);

/* register.c */
int devm_pmu_box_register(struct device *dev, const struct pmu_desc *desc,
			  const char *name, int scope_id, void *priv);
void *pmu_box_priv(const struct pmu_box *box);
bool pmu_is_of_another(const char *name);
struct device *pmu_always_there(void);

#endif /* PMU_CORE_H */
