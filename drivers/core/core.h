/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of pmu_core share; drivers see only <pmu/core.h>.
 *
 * Lock order, outermost first:
 *
 *	pmu_register_mutex	registering and unregistering with perf
 *	cpu_hotplug_lock	held around pmu_core_mutex where owners change
 *	pmu_core_mutex		held throughout a move
 *	perf's ctx->mutex	taken by perf_pmu_migrate_context()
 *	pmu_boxes_mutex		the PMUs, whether they move or are kept, their boxes, owners,
 *				engaged boxes
 *	perf's ctx->lock	held in perf's callbacks
 *	pmu_box.lock		the box's hardware, and the events that count there; raw. One at a
 *				time, but one of a PMU that samples may be outside of another
 *	pmu_failing_lock	the events that are put into error state; raw
 *	pmu_box.timer_lock	the box's poll timer; raw. Not together with pmu_box.lock, but a
 *				sample of timer:hrtimer_start takes that within
 *
 * PMUs, boxes and owners are written under both mutexes, so either is enough to read them.
 *
 * event_init takes pmu_boxes_mutex, and waits for work items that take it. If the event is a
 * sibling, perf holds its leader's ctx->mutex meanwhile. When perf frees an event it may hold that
 * mutex, or a user's mmap_lock, for which a reader with that mutex may wait. perf calls event_init
 * in an SRCU section that perf_pmu_unregister() waits for, on some kernels with a lock held that
 * hotplug and registration need. So code that holds pmu_boxes_mutex must not wait for any of these,
 * nor call a function that moves events. Registering and unregistering with perf take only
 * pmu_register_mutex.
 */
#ifndef PMU_CORE_INTERNAL_H
#define PMU_CORE_INTERNAL_H

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>

#include <pmu/core.h>

struct pmu_attrs;

/* What a CPU knows of a PMU. perf's callbacks write @disabled and @reading, with interrupts off. */
struct pmu_here {
	struct pmu_box *box;		/* the one of this CPU's scope, or NULL */
	struct pmu_box *disabled;	/* that, between perf's pmu_disable and pmu_enable */
	struct pmu_box *reading;	/* that, while perf reads a group here */
};

/* A PMU as perf and sysfs know it. Exists while it has a box or an open event. */
struct pmu_dev {
	struct pmu pmu;
	const struct pmu_desc *desc;
	struct list_head node;		/* on the list of all PMUs, pmu_devs */
	struct list_head boxes;
	cpumask_t owners;
	atomic_t users;			/* open events of tasks, which may use any box */
	struct pmu_here __percpu *here;
	atomic_t events;		/* open events, also of tasks, and opens under way */
	bool moving;			/* some of its events may be on no CPU */
	bool kept;			/* with a reference on the driver's module: faults.c */
	struct pmu_attrs *attrs;
	u64 reserved[PMU_CONFIG_WORDS];	/* bits that no format claims */
	char name[];
};

/* A set of counters that is frozen, owned and moved together. */
struct pmu_box {
	struct kref kref;		/* one reference for the device, one for each open event */
	struct rcu_head rcu;
	struct pmu_dev *pd;
	struct device *dev;		/* the device that registered it */
	struct list_head node;		/* on the list pmu_dev.boxes */
	int scope_id;
	void *priv;			/* the driver's data; not touched once dead */
	atomic_t users;			/* number of open events */
	u64 settled;			/* from when on, in ns, an event may start: settle_ms */
	struct irq_work left;		/* the last event on the CPU that is leaving has stopped */
	struct irq_work complaint;
	raw_spinlock_t timer_lock;
	struct hrtimer timer;
	raw_spinlock_t lock;

	/* Under the lock: */
	int cpu;			/* the owner or -1; written under pmu_boxes_mutex, too */
	bool engaged;			/* or written under that, or by a CPU that leaves */
	struct list_head active;	/* events that count, first those that are out */
	struct list_head bearers;	/* events that others may share with: pmu_event.bearing */
	u64 pass;			/* number of passes of reads that have begun */
	unsigned int disabled;		/* CPUs between perf's pmu_disable and pmu_enable */
	unsigned int reading;		/* passes of reads that have not ended */
	unsigned int out;		/* number of events that are out */
	bool frozen;
	bool moving;			/* perf takes its events from one CPU to another */
	bool leaving;			/* its last CPU goes offline */
	bool dead;			/* the device was removed: no verb is called any more */
	bool asleep;			/* the device is suspended: no verb is called meanwhile */
	bool doubted;			/* an impossible difference since the box was idle */
	bool doubted_before;		/* so had the session before: do not log it again */
	u64 doubt_config;
	s64 doubt_delta;
	u64 poll_ns;			/* period of the timer, or 0; read under timer_lock, too */
	bool timer_due;			/* pmu_box_unlock() has to set the timer by that */
	u64 state[];			/* of the claim verb, or a bit per claimed counter */
};

/* Each file uses only those above it in Documentation/design.md: scripts/check holds that. */

/* attr.c */
struct pmu_attrs *pmu_attrs_create(const struct pmu_desc *desc,
				   const struct attribute_group ***groups);
void pmu_attrs_free(struct pmu_attrs *attrs);
u64 pmu_reserved_bits(const struct pmu_desc *desc, enum pmu_config_word word);

/* box.c */
extern struct mutex pmu_core_mutex;
extern struct mutex pmu_boxes_mutex;
extern struct list_head pmu_devs;
void pmu_devs_lock(void);
void pmu_devs_unlock(void);
int pmu_scope_id(enum pmu_scope scope, int cpu);
bool pmu_dev_has_box(struct pmu_dev *pd);
unsigned long pmu_quiet_lock(raw_spinlock_t *lock);
void pmu_quiet_unlock(raw_spinlock_t *lock, unsigned long flags);
struct pmu_box *pmu_box_get(struct pmu_dev *pd, int cpu);
void pmu_box_put(struct pmu_box *box);
bool pmu_box_wanted(const struct pmu_box *box);
int pmu_box_set_engaged(struct pmu_box *box, bool on);
int pmu_use(struct pmu_dev *pd, struct pmu_box *box, const struct perf_event *event);
void pmu_unuse(struct pmu_dev *pd, struct pmu_box *box);
void pmu_use_catch_up(struct work_struct *unused);
void pmu_use_exit(void);

/* faults.c */
extern struct mutex pmu_register_mutex;
void pmu_event_fail(struct pmu_event *ev);
void pmu_event_end_failing(struct pmu_event *ev);
void pmu_faults_exit(void);
void pmu_keep(struct pmu_dev *pd, const struct perf_event *event);
void pmu_dev_free(struct pmu_dev *pd);
void pmu_devs_let_go(unsigned long delay);

/* fold.c */
bool pmu_lock_is_held_here(void);
void pmu_box_begin_pass(struct pmu_box *box);
void pmu_box_begin_read(struct pmu_box *box);
void pmu_box_end_read(struct pmu_box *box);
void pmu_box_freeze(struct pmu_box *box);
void pmu_box_thaw(struct pmu_box *box);
void pmu_box_init_folding(struct pmu_box *box, bool sampling);
void pmu_box_poll_every(struct pmu_box *box, u64 poll_ns);
void pmu_box_poll_here(void *box);
void pmu_box_poll_for(struct pmu_box *box, const struct pmu_event *ev);
void pmu_event_credit(struct pmu_event *ev);
void pmu_event_update(struct pmu_event *ev);
void pmu_group_update(struct pmu_event *ev);
bool pmu_event_update_exactly(struct pmu_event *ev);
u64 pmu_poll_period_ns(unsigned int width, u64 poll_rate);
void pmu_event_begin(struct pmu_event *bearer);

/* claim.c */
int pmu_event_claim(struct pmu_box *box, struct pmu_event *ev);
void pmu_event_unclaim(struct pmu_box *box, struct pmu_event *ev);
int pmu_group_check(struct pmu_box *box, struct perf_event *event);

/* event.c */
void pmu_event_init_callbacks(struct pmu *pmu);
void pmu_event_settle(struct pmu_event *ev);
void pmu_box_end_move(struct pmu_box *box);

/* hotplug.c */
int pmu_hotplug_init(void);
void pmu_hotplug_exit(void);
void pmu_box_left(struct irq_work *work);
int pmu_box_pick_cpu(const struct pmu_box *box, int leaving);
void pmu_box_own(struct pmu_box *box, int cpu);
void pmu_box_relieve(struct pmu_box *box);
void pmu_box_show_cpus(struct pmu_box *box, bool there);
void pmu_box_kill(struct pmu_box *box);

/* open.c */
void pmu_perf_init(struct pmu_dev *pd);

static inline struct pmu_dev *to_pmu_dev(struct pmu *pmu)
{
	return container_of(pmu, struct pmu_dev, pmu);
}

static inline struct pmu_dev *pmu_dev_of(const struct pmu_event *ev)
{
	return to_pmu_dev(ev->event->pmu);
}

/* The length of pmu_box.state: at least one word, of claimed counters. */
static inline size_t pmu_state_words(const struct pmu_desc *desc)
{
	return max_t(size_t, DIV_ROUND_UP(desc->state_size, sizeof(u64)), 1);
}

static inline bool pmu_event_is_task(const struct perf_event *event)
{
	return event->attach_state & PERF_ATTACH_TASK;
}

/*
 * Note what the event's leader asks for. perf does not tell a sibling that is being closed that its
 * leader is gone, so the leader is looked at only when the event is opened and when it is added.
 */
static inline void pmu_event_note_leader(struct pmu_event *ev)
{
	ev->pinned = ev->event->group_leader->attr.pinned;
	ev->exclusive = ev->event->group_leader->attr.exclusive;
}

/* The verbs that touch the box. */
static inline const struct pmu_box_ops *box_ops(const struct pmu_box *box)
{
	lockdep_assert_held(&box->lock);
	return box->pd->desc->ops;
}

/* Do other events count with this bearer's counter, or will they when they start? */
static inline bool pmu_event_is_shared(const struct pmu_event *bearer)
{
	return !list_empty(&bearer->sharing);
}

/* The device is gone or asleep: no verb may be called. */
static inline bool pmu_box_absent(const struct pmu_box *box)
{
	return box->dead || box->asleep;
}

/* Call a verb that a driver need not have. */
static inline void pmu_box_do(struct pmu_box *box, void (*verb)(struct pmu_box *box))
{
	if (verb && !pmu_box_absent(box))
		verb(box);
}

/* Does no event count in the box? */
static inline bool pmu_box_is_idle(const struct pmu_box *box)
{
	return list_empty(&box->active);
}

/*
 * The number of counts between two raw values of a counter of @width bits (1 to 64). It is exact as
 * long as the counter has advanced by fewer than 2^@width.
 */
static inline u64 pmu_delta(u64 prev, u64 now, unsigned int width)
{
	return (now - prev) & GENMASK_ULL(width - 1, 0);
}

#if IS_ENABLED(CONFIG_PMU_SUITE_KUNIT_TEST)
void pmu_fail_flush(void);
u64 pmu_most_counts(u64 bound, u64 ns);
bool pmu_delta_is_possible(u64 delta, unsigned int width, u64 bound, u64 ns);
ssize_t pmu_format_text(char *buf, const struct pmu_format *format);
ssize_t pmu_event_text(char *buf, const struct pmu_desc *desc, const struct pmu_named_event *event);
#endif

#endif /* PMU_CORE_INTERNAL_H */
