// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event is opened and closed: refusals, rights, its box.
 *
 * Both may sleep, and perf holds locks: core.h says which, and what may be waited for.
 */
#include <linux/ratelimit.h>
#include <linux/slab.h>

#include <pmu/loans.h>

#include "core.h"

/* The driver has read the period in event_init, and thins out samples by it. */
static int pmu_event_check_period(struct perf_event *event, u64 period)
{
	return -EINVAL;
}

static void pmu_event_discard(struct pmu_event *ev)
{
	ev->event->pmu_private = NULL;
	if (ev->box)
		pmu_box_put(ev->box);
	kfree(ev);
}

/* Undo the driver's event_init. */
static void pmu_event_release(struct pmu_event *ev)
{
	const struct pmu_desc *desc = pmu_dev_of(ev)->desc;

	if (desc->ops->event_free)
		desc->ops->event_free(desc, ev);
	pmu_event_discard(ev);
}

static void pmu_event_destroy(struct perf_event *event)
{
	struct pmu_event *ev = pmu_event_of(event);

	/*
	 * perf may hold a context's mutex here, or a user's mmap_lock, for which the mutex's holder
	 * may wait. So this must not wait for a move, nor for an event that fails.
	 */
	pmu_event_settle(ev);
	pmu_event_end_failing(ev);
	/* perf drops the event's references on its context and on the module after this. */
	pmu_leave_context(event->pmu, event->ctx);
	pmu_keep(pmu_dev_of(ev), event);
	/* An inherited event is freed before its parent, which uses the box for both. */
	if (!event->parent)
		pmu_unuse(pmu_dev_of(ev), ev->box);
	pmu_event_release(ev);
}

static __printf(2, 3) int pmu_refuse(const struct pmu_dev *pd, const char *fmt, ...)
{
	struct va_format vaf = { .fmt = fmt };
	va_list args;

	va_start(args, fmt);
	vaf.va = &args;
	if (pmu_may_log())
		pr_notice_ratelimited("%s: event refused: %pV\n", pd->name, &vaf);
	va_end(args);
	return -EINVAL;
}

/*
 * May the event engage boxes? perf checks the user only after event_init. But a user who will be
 * refused must not engage anything, even for a moment, nor be in the way of a user who may. (One
 * whom a security module refuses can, on PREEMPT_RT: pmu_allow_cpu().)
 */
static int pmu_event_check_engage(const struct pmu_desc *desc, struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader;

	if (!desc->ops->engage || desc->engage_at_start)
		return 0;
	/* This would engage all boxes. */
	if (pmu_event_is_task(event))
		return perfmon_capable() ? 0 : -EACCES;
	if (leader != event && pmu_event_is_task(leader))
		return -EINVAL;
	/* A leader of the same PMU keeps the box engaged, or pmu_event_check_leader() refuses. */
	if (leader != event && leader->pmu == event->pmu)
		return 0;
	/* Another leader may have been passed by a user who had the right. */
	return pmu_allow_cpu(leader != event);
}

/*
 * perf takes events out of the context of a CPU that goes offline, for good, but still lets others
 * join them. Such a sibling would move to another CPU without its leader. perf holds the mutex of
 * the leader's context, except for a sibling on a PMU of tasks. Events of such a PMU do not move.
 */
static bool pmu_event_leader_has_left(const struct perf_event *event)
{
	const struct perf_event *leader = event->group_leader;

	return leader != event && !pmu_event_is_task(leader) &&
	       !pmu_is_in_context(leader, leader->ctx);
}

static int pmu_event_check(const struct pmu_dev *pd, struct perf_event *event)
{
	const struct pmu_desc *desc = pd->desc;
	const struct perf_event_attr *attr = &event->attr;

	if (attr->type != pd->pmu.type)
		return -ENOENT;
	/*
	 * An inherited event has the rights of the user who opened the first one, not of the task
	 * that forks.
	 */
	if (event->parent)
		return 0;
	if (desc->privileged && !perfmon_capable())
		return -EACCES;
	/* perf would refuse it, too, but only after event_init. */
	if (!desc->excludes && event_has_any_exclude_flag(event))
		return -EINVAL;
	if (desc->sampling && !is_sampling_event(event))
		return -ENOENT;
	if (!desc->sampling && is_sampling_event(event))
		return pmu_refuse(pd, "it cannot sample; count instead");
	if (desc->tasks == (pmu_event_is_task(event) ? PMU_TASKS_NEVER : PMU_TASKS_ONLY))
		return pmu_refuse(pd, desc->tasks ? "it counts for tasks alone" :
				  "it counts for the system, not for a task");
	if ((attr->config & pd->reserved[PMU_CONFIG]) ||
	    (attr->config1 & pd->reserved[PMU_CONFIG1]) ||
	    (attr->config2 & pd->reserved[PMU_CONFIG2]) || pmu_attr_further_config(attr))
		return pmu_refuse(pd, "the config has bits that no format describes");
	if (pmu_event_leader_has_left(event))
		return pmu_refuse(pd, "the leader of its group left with its CPU; open all again");
	return pmu_event_check_engage(desc, event);
}

/*
 * The box that an event on a CPU counts in, with a reference; NULL for one of a task, which
 * has none until it is scheduled.
 */
static struct pmu_box *pmu_event_find_box(struct pmu_dev *pd, struct perf_event *event)
{
	struct pmu_box *box;
	int owner, heir;

	/* An inherited event finds its box, if there is one, when its task runs. */
	if (event->parent)
		return NULL;
	if (pmu_event_is_task(event))
		return pmu_dev_has_box(pd) ? NULL : ERR_PTR(-ENODEV);
	box = cpu_online(event->cpu) ? pmu_box_get(pd, event->cpu) : NULL;
	if (!box)
		return ERR_PTR(-ENODEV);
	owner = READ_ONCE(box->cpu);
	/*
	 * A sibling is opened on the CPU of its leader. A user who may be refused moves nothing:
	 * perf looks at the rights later.
	 */
	if (owner >= 0 && event->group_leader == event && kref_read(&box->kref) == 2 &&
	    pmu_cpu_is_isolated(owner) && pmu_may_log()) {
		pmu_box_relieve(box);
		heir = READ_ONCE(box->cpu);
		/* There is none if the last CPU of the scope goes offline. */
		if (event->cpu == owner && heir >= 0)
			event->cpu = heir;
	}
	return box;
}

static struct pmu_event *pmu_event_create(struct pmu_dev *pd, struct perf_event *event)
{
	struct pmu_box *box = pmu_event_find_box(pd, event);
	struct pmu_event *ev;

	if (IS_ERR(box))
		return ERR_CAST(box);
	ev = kzalloc(sizeof(*ev) + pd->desc->event_size, GFP_KERNEL);
	if (!ev) {
		if (box)
			pmu_box_put(box);
		return ERR_PTR(-ENOMEM);
	}
	ev->event = event;
	ev->box = box;
	ev->bearer = ev;
	pmu_event_note_leader(ev);
	INIT_LIST_HEAD(&ev->sharing);
	INIT_LIST_HEAD(&ev->bearing);
	ev->priv = pd->desc->event_size ? ev + 1 : NULL;
	INIT_LIST_HEAD(&ev->failing);
	event->hw.idx = -1;
	/* perf says that an event is on its CPU before it adds it; an NMI may read in between. */
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	event->pmu_private = ev;
	return ev;
}

/*
 * perf would refuse the event, too, but without a word, and after event_init: the leader may be
 * another user's, and its box is engaged, but not this one.
 */
static int pmu_event_check_leader(const struct pmu_event *ev)
{
	const struct perf_event *leader = ev->event->group_leader;
	int cpu = ev->box ? READ_ONCE(ev->box->cpu) : -1;

	if (!ev->box || leader == ev->event || leader->cpu == cpu || pmu_event_is_task(leader))
		return 0;
	/* A leader of the same box, or of another PMU, may be about to follow the box. */
	if ((cpu < 0 || READ_ONCE(ev->box->moving)) &&
	    (leader->pmu != ev->event->pmu || pmu_event_of(leader)->box == ev->box))
		return 0;
	return pmu_refuse(pmu_dev_of(ev),
			  "its group is led by an event on CPU %d, and it counts on CPU %d: open the group there (perf's -C %d)",
			  leader->cpu, cpu, cpu);
}

/*
 * perf adds up what it opens on several CPUs, and each of these events counts all of the box. An
 * isolated CPU may be the owner that was relieved after perf had read cpumask.
 */
static void pmu_event_tell_cpu(const struct pmu_event *ev, int asked)
{
	static DEFINE_RATELIMIT_STATE(limit, 5 * HZ, 1);

	if (asked != ev->event->cpu && !pmu_cpu_is_isolated(asked) && pmu_may_log() &&
	    __ratelimit(&limit))
		pr_notice("%s: an event for CPU %d counts the same as one for CPU %d, so their sum counts it twice: use perf's -a instead of -C\n",
			  pmu_dev_of(ev)->name, asked, ev->event->cpu);
}

/* The driver has accepted the event. Does its group fit, and can its box be engaged? */
static int pmu_event_finish_init(struct pmu_event *ev)
{
	struct perf_event *event = ev->event;
	struct pmu_dev *pd = pmu_dev_of(ev);
	int err = 0, asked = event->cpu;

	/* An event alone gets a counter, if that is all it needs. */
	if (ev->box && (event->group_leader != event || pd->desc->ops->claim))
		err = pmu_group_check(ev->box, event);
	if (!err && !event->parent)
		err = pmu_use(pd, ev->box, event);
	if (err || !ev->box)
		return err;
	/* The box may have moved while the event waited for it to be engaged. */
	event->cpu = READ_ONCE(ev->box->cpu);
	if (event->cpu >= 0) {
		/* perf reads on the CPU of the reader, if both are of one package. */
		if (pd->desc->scope <= PMU_SCOPE_PACKAGE)
			event->event_caps |= PERF_EV_CAP_READ_ACTIVE_PKG;
		pmu_event_tell_cpu(ev, asked);
		return 0;
	}
	pmu_unuse(pd, ev->box);
	return -ENODEV;
}

/* Create the driver's event. Its PMU cannot go meanwhile. */
static int pmu_event_set_up(struct pmu_dev *pd, struct perf_event *event)
{
	const struct pmu_box_ops *ops = pd->desc->ops;
	struct pmu_event *ev = pmu_event_create(pd, event);
	int err;

	if (IS_ERR(ev))
		return PTR_ERR(ev);
	err = pmu_event_check_leader(ev) ?: ops->event_init(pd->desc, ev);
	if (err) {
		pmu_event_discard(ev);
		return err;
	}
	err = pmu_event_finish_init(ev);
	if (err)
		pmu_event_release(ev);
	return err;
}

static int pmu_event_init(struct perf_event *event)
{
	struct pmu_dev *pd = to_pmu_dev(event->pmu);
	int err;

	err = pmu_event_check(pd, event);
	if (err)
		return err;
	/* Boxes whose events were just closed may still be engaged, and block this event. */
	if (pd->desc->ops->engage && !pd->desc->engage_at_start && !event->parent)
		pmu_use_catch_up(NULL);
	/* Before its box is looked up: pmu_dev_has_box(). */
	atomic_inc(&pd->events);
	err = pmu_event_set_up(pd, event);
	if (err) {
		pmu_keep(pd, event);
		return err;
	}
	event->destroy = pmu_event_destroy;
	return 0;
}

/* The callbacks, the capabilities that all PMUs share, and what a config may have. */
void pmu_perf_init(struct pmu_dev *pd)
{
	struct pmu *pmu = &pd->pmu;

	for (int word = 0; word < PMU_CONFIG_WORDS; word++)
		pd->reserved[word] = pmu_reserved_bits(pd->desc, word);
	pmu->capabilities = pd->desc->excludes ? 0 : PERF_PMU_CAP_NO_EXCLUDE;
	/* perf_hw_context is only for the CPU's own PMU. */
	pmu->task_ctx_nr = pd->desc->tasks ? perf_sw_context : perf_invalid_context;
	pmu->event_init = pmu_event_init;
	pmu_event_init_callbacks(pmu);
	if (pd->desc->sampling)
		pmu->check_period = pmu_event_check_period;
}
