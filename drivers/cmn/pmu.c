// SPDX-License-Identifier: GPL-2.0-only
/* A mesh for pmu_core: formats, identifier and verbs. */
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/export.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pid.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/timekeeping.h>

#include "cmn.h"

/*
 * Values have 64 bits. The hardware has 48 of them, or 40 for cycles, and interrupts after half of
 * that range. In case an interrupt is lost, events are polled four times in that time. The core
 * polls twice while 64 bits wrap, so at these rates they wrap in half of that time. What can be
 * counted between two polls (bound) is then less than what another program's write to a counter
 * adds.
 */
#define CMN_EVENT_RATE		(CMN_MAX_CLOCK << 18)
#define CMN_CYCLES_RATE		(CMN_MAX_CLOCK << (66 - CMN_PMCCNTR_WIDTH))

#define CMN_FORMAT(_word, _mask, _name) { .name = _name, .mask = _mask, .word = _word }
#define CMN_ALIAS(_mask, _name)	{ .name = _name, .mask = _mask, .word = PMU_CONFIG, .alias = true }

static const struct pmu_format cmn_formats[CMN_FORMATS] = {
	[CMN_FORMAT_TYPE] = CMN_FORMAT(PMU_CONFIG, CMN_CONFIG_TYPE, "type"),
	[CMN_FORMAT_EVENTID] = CMN_FORMAT(PMU_CONFIG, CMN_CONFIG_EVENTID, "eventid"),
	[CMN_FORMAT_OCCUPID] = CMN_FORMAT(PMU_CONFIG, CMN_CONFIG_OCCUPID, "occupid"),
	/* The name is that of the in-tree driver of 7.3. */
	[CMN_FORMAT_FILTER] = CMN_ALIAS(CMN_CONFIG_OCCUPID, "filter"),
	[CMN_FORMAT_FILTER2] = CMN_ALIAS(CMN_CONFIG_FILTER2, "filter2"),
	[CMN_FORMAT_BYNODEID] = CMN_FORMAT(PMU_CONFIG, CMN_CONFIG_BYNODEID, "bynodeid"),
	[CMN_FORMAT_NODEID] = CMN_FORMAT(PMU_CONFIG, CMN_CONFIG_NODEID, "nodeid"),
	[CMN_FORMAT_WP_DEV_SEL] = CMN_FORMAT(PMU_CONFIG, CMN_CONFIG_WP_DEV_SEL, "wp_dev_sel"),
	[CMN_FORMAT_WP_CHN_SEL] = CMN_FORMAT(PMU_CONFIG, CMN_CONFIG_WP_CHN_SEL, "wp_chn_sel"),
	[CMN_FORMAT_WP_CHN_NUM] = CMN_FORMAT(PMU_CONFIG, CMN_CONFIG_WP_CHN_NUM, "wp_chn_num"),
	[CMN_FORMAT_WP_GRP] = CMN_FORMAT(PMU_CONFIG, CMN_CONFIG_WP_GRP, "wp_grp"),
	[CMN_FORMAT_WP_EXCLUSIVE] = CMN_FORMAT(PMU_CONFIG, CMN_CONFIG_WP_EXCLUSIVE,
					       "wp_exclusive"),
	[CMN_FORMAT_WP_COMBINE] = CMN_ALIAS(CMN_CONFIG_WP_COMBINE, "wp_combine"),
	[CMN_FORMAT_WP_VAL] = CMN_FORMAT(PMU_CONFIG1, ~0ULL, "wp_val"),
	[CMN_FORMAT_WP_MASK] = CMN_FORMAT(PMU_CONFIG2, ~0ULL, "wp_mask"),
};

/* Halves of pairs that are open, of all meshes, in the order of opening. */
static LIST_HEAD(cmn_halves);
static DEFINE_MUTEX(cmn_halves_mutex);

/* Leaders are only compared, never looked into. */
static bool cmn_same_group(const struct cmn_event *one, const struct cmn_event *other)
{
	return READ_ONCE(one->event->group_leader) == READ_ONCE(other->event->group_leader);
}

/*
 * Find the half that an event makes a pair with: one in its group, even if that has a mate
 * elsewhere; otherwise one of the same process that has no mate.
 */
static struct cmn_event *cmn_find_mate(const struct cmn_event *ce)
{
	struct cmn_event *other, *found = NULL;

	list_for_each_entry(other, &cmn_halves, open) {
		if (other->event->pmu != ce->event->pmu || !cmn_wp_makes_pair(other, ce))
			continue;
		if (cmn_same_group(other, ce))
			return other;
		if (!found && !other->mate && other->opener == ce->opener)
			found = other;
	}
	return found;
}

/*
 * The half that was opened first counts the pair, whichever perf schedules first. Outside of
 * groups a half that was the second of another pair remains a second one.
 */
static void cmn_half_join(struct cmn_event *ce)
{
	struct cmn_event *mate = cmn_find_mate(ce), *first, *last;

	if (!mate)
		return;
	if (mate->mate)
		mate->mate->mate = NULL;
	mate->mate = ce;
	ce->mate = mate;
	first = mate->serial < ce->serial ? mate : ce;
	last = first->mate;
	if (cmn_same_group(first, last))
		WRITE_ONCE(first->second, false);
	WRITE_ONCE(last->second, !first->second);
}

/**
 * cmn_half_open() - half a pair is opened: look for the other half.
 * @ce: the half
 * @event: its perf event
 *
 * Context: event_init; takes cmn_halves_mutex.
 */
void cmn_half_open(struct cmn_event *ce, const struct perf_event *event)
{
	static u64 opened;

	ce->event = event;
	ce->opener = get_task_pid(current, PIDTYPE_TGID);
	mutex_lock(&cmn_halves_mutex);
	ce->serial = opened++;
	cmn_half_join(ce);
	list_add_tail(&ce->open, &cmn_halves);
	mutex_unlock(&cmn_halves_mutex);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_half_open);

/**
 * cmn_half_close() - half a pair is closed: the other half may make a pair with another one.
 * @ce: the half
 *
 * Context: event_free; takes cmn_halves_mutex.
 */
void cmn_half_close(struct cmn_event *ce)
{
	mutex_lock(&cmn_halves_mutex);
	list_del(&ce->open);
	if (ce->mate) {
		ce->mate->mate = NULL;
		cmn_half_join(ce->mate);
	}
	mutex_unlock(&cmn_halves_mutex);
	put_pid(ce->opener);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_half_close);

static int cmn_op_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	const struct cmn *cmn = container_of(desc, struct cmn, desc);
	const struct perf_event_attr *attr = &ev->event->attr;
	const u64 config[] = {
		[PMU_CONFIG] = attr->config,
		[PMU_CONFIG1] = attr->config1,
		[PMU_CONFIG2] = attr->config2,
	};
	struct cmn_event *ce = cmn_event_create(cmn, config);

	if (IS_ERR(ce))
		return PTR_ERR(ce);
	ce->may_log = pmu_may_log();
	if (ce->wp.tag) {
		cmn_half_open(ce, ev->event);
		/* A half may get another partner when the group changes. */
		ev->claims_anew = true;
	}
	if (ce->type == CMN_TYPE_DTC) {
		ev->poll_rate = CMN_CYCLES_RATE;
		ev->bound = CMN_MAX_CLOCK;
	} else {
		ev->poll_rate = CMN_EVENT_RATE * ce->nr;
		ev->bound = CMN_MAX_CLOCK * ce->nr;
	}
	ev->priv = ce;
	return 0;
}

/*
 * The halves of a pair are opened one by one, so it is known only at the end that a half never had
 * a partner. A second half has counted the flits that it matches alone.
 */
static void cmn_op_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	const struct cmn *cmn = container_of(desc, struct cmn, desc);
	struct cmn_event *ce = ev->priv;

	/* The device may be gone, so use the name that the mesh keeps. */
	if (ce->wp.tag && ce->counted && !ce->paired && !ce->odd && ce->may_log)
		pr_notice_ratelimited("%s: event has counted nothing: wp_combine=%u: no other watchpoint fits to it\n",
				      cmn->name, ce->wp.tag);
	if (ce->wp.tag)
		cmn_half_close(ce);
	kvfree(ce);
}

static void cmn_op_owner_changed(struct pmu_box *box, int cpu)
{
	struct cmn *cmn = pmu_box_priv(box);

	cmn->box = box;
	cmn_irq_move(cmn, cpu);
}

/* An event that is off, or in error state, is not scheduled with its group. */
static bool cmn_is_partner(const struct perf_event *event, const struct perf_event *other)
{
	const struct pmu_event *ev = pmu_event_of(event), *its;

	if (other->pmu != event->pmu || other->state < PERF_EVENT_STATE_INACTIVE)
		return false;
	its = pmu_event_of(other);
	return cmn_wp_makes_pair(ev->priv, its->priv);
}

/*
 * Which halves of pairs belong together: those of a group, if the other half is in it, or else
 * those of a process. Two users may have chosen the same number.
 */
static const void *cmn_party(const struct perf_event *event, const struct cmn_event *ce)
{
	const struct perf_event *leader = event->group_leader, *sibling;

	if (cmn_is_partner(event, leader))
		return leader;
	for_each_sibling_event(sibling, leader)
		if (cmn_is_partner(event, sibling))
			return leader;
	return ce->opener;
}

static int cmn_op_claim(struct pmu_box *box, struct pmu_event *ev, void *state, bool trial)
{
	const struct cmn *cmn = pmu_box_priv(box);
	struct cmn_event *ce = ev->priv;
	const char *why;

	if (!trial && ce->wp.tag) {
		ce->party = cmn_party(ev->event, ce);
		/* Read once, so that it is the same for all XPs. */
		ce->odd = READ_ONCE(ce->second);
	}
	why = cmn_claim(cmn, state, ce, trial);
	if (why && trial)
		cmn_refuse(cmn, "its group cannot count at the same time: %s", why);
	return why ? -EAGAIN : 0;
}

static void cmn_op_unclaim(struct pmu_box *box, struct pmu_event *ev, void *state)
{
	struct cmn_event *ce = ev->priv;

	/* If the device is gone, it was not stopped. */
	list_del_init(&ce->fresh);
	cmn_unclaim(pmu_box_priv(box), state, ce);
}

/* Let an event count once the mesh runs again; it is stopped. Until then its value is 0. */
void cmn_event_start(struct cmn *cmn, struct cmn_event *ce)
{
	ce->base = 0;
	if (ce->type == CMN_TYPE_DTC) {
		cmn_cycles_start(&cmn->dtc[ce->cycles]);
		return;
	}
	for (unsigned int i = 0; i < ce->nr; i++)
		cmn_member_start(cmn, ce, &ce->member[i]);
	list_move_tail(&ce->fresh, &cmn->fresh);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_event_start);

void cmn_event_stop(struct cmn *cmn, struct cmn_event *ce)
{
	list_del_init(&ce->fresh);
	if (ce->type == CMN_TYPE_DTC)
		cmn_cycles_stop(&cmn->dtc[ce->cycles]);
	else
		for (unsigned int i = 0; i < ce->nr; i++)
			cmn_member_stop(cmn, ce, &ce->member[i]);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_event_stop);

/*
 * Returns what an event has counted since it started; of cycles, an offset more.
 *
 * If a local counter is smaller than at the last read, it has wrapped at least once. Its carry may
 * be in flight, and may even have left after the letters were read, since these are read first. To
 * keep that order, each event is read in a pass of its own while the mesh runs. Otherwise its
 * letters might be read after local counters that were read for another event.
 *
 * So the wraps that were seen are a lower bound for the wraps until now, and so are the carries
 * that have come. The larger of the two is taken: the number known before plus the wraps since, or
 * the letters. So the value is never more than was counted, and never less than before. A later
 * read adds what is missing, which are wraps of counters that wrap more than once between two
 * reads. In a mesh that is stopped all carries have come, and the value is exact.
 */
u64 cmn_event_value(struct cmn *cmn, struct cmn_event *ce)
{
	u64 carries, locals = 0;

	if (ce->type == CMN_TYPE_DTC)
		return cmn_cycles_read(cmn, &cmn->dtc[ce->cycles]);
	if (!list_empty(&ce->fresh))
		return 0;
	if (!cmn->stopped)
		cmn->pass++;
	carries = cmn_carries_read(cmn, ce->letter, ce->dtcs);
	for (unsigned int i = 0; i < ce->nr; i++) {
		struct cmn_member *m = &ce->member[i];
		u16 now = cmn_member_read(cmn, m);

		ce->carries += now < m->last;
		m->last = now;
		locals += now;
	}
	if (cmn->stopped && !cmn->gone && carries < ce->carries)
		carries = cmn_carries_await(cmn, ce->letter, ce->dtcs, ce->carries);
	ce->carries = max(ce->carries, carries);
	return (ce->carries << 16) + locals - ce->base;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_event_value);

/**
 * cmn_events_begin() - write what has to be written, and note what new events begin with.
 * @cmn: the mesh, stopped
 *
 * The counters of events that start are read only now: no source says whether a counter keeps its
 * count when PMU_CONFIG gives it another input.
 *
 * Context: the box's lock. The accesses of cmn_flush(), and the reads of
 * cmn_event_value() for each event that starts.
 */
void cmn_events_begin(struct cmn *cmn)
{
	struct cmn_event *ce, *next;

	cmn_flush(cmn);
	/* What was read since the mesh stopped may have changed, and that tells nothing. */
	cmn->stop_pass = ++cmn->pass;
	list_for_each_entry_safe(ce, next, &cmn->fresh, fresh) {
		list_del_init(&ce->fresh);
		/* Forget what was known of its counters: it has counted nothing yet. */
		ce->carries = 0;
		for (unsigned int i = 0; i < ce->nr; i++)
			ce->member[i].last = 0;
		ce->base = cmn_event_value(cmn, ce);
	}
}
EXPORT_SYMBOL_IF_KUNIT(cmn_events_begin);

/* Read the local counters of an event, and note when. */
static void cmn_event_look(struct cmn *cmn, struct cmn_event *ce)
{
	cmn->pass++;
	for (unsigned int i = 0; i < ce->nr; i++) {
		struct cmn_member *m = &ce->member[i];
		struct cmn_dtm *dtm = &cmn->dtms[m->dtm];
		u16 now;

		if (dtm->pass != cmn->pass)
			dtm->looked_ns = ktime_get_mono_fast_ns();
		now = cmn_member_read(cmn, m);
		ce->carries += now < m->last;
		m->last = now;
	}
}

/*
 * Read the local counters again. Returns false if one of them may have wrapped since the first
 * look. Sets @locals to their sum.
 */
static bool cmn_event_look_again(struct cmn *cmn, struct cmn_event *ce, u64 *locals)
{
	bool quiet = true;

	*locals = 0;
	for (unsigned int i = 0; i < ce->nr; i++) {
		struct cmn_member *m = &ce->member[i];
		u16 now = cmn_member_read(cmn, m);

		if (now < m->last) {
			ce->carries++;
			quiet = false;
		}
		if (ktime_get_mono_fast_ns() - cmn->dtms[m->dtm].looked_ns >= cmn->wrap_ns)
			quiet = false;
		m->last = now;
		*locals += now;
	}
	return quiet;
}

/**
 * cmn_event_value_exact() - the exact count of an event while the mesh runs.
 * @cmn: the mesh
 * @ce: an event that counts
 * @value: set to the value
 *
 * A carry takes at most carry_ns. So letters that are read that long after the local counters
 * include all of their earlier carries. They include no later carry if no counter wraps before it
 * is read again. In less time than a full round, a counter cannot wrap without reading lower.
 *
 * Context: the box's lock. No write; twice the reads of cmn_event_value(), or only
 * those of the letters if it is clear then that the counters would take too long to read.
 * Return: 0; -EAGAIN if a counter wrapped meanwhile, or may have.
 */
int cmn_event_value_exact(struct cmn *cmn, struct cmn_event *ce, u64 *value)
{
	u64 begin = ktime_get_mono_fast_ns(), read_ns, carries, locals;

	if (ce->type == CMN_TYPE_DTC) {
		*value = cmn_cycles_read(cmn, &cmn->dtc[ce->cycles]);
		return 0;
	}
	cmn->pass++;
	cmn_carries_read(cmn, ce->letter, ce->dtcs);
	/* Estimate the time from one look at a counter to the next by the time of one read. */
	read_ns = div_u64(ktime_get_mono_fast_ns() - begin, hweight8(ce->dtcs) ?: 1);
	if (cmn->loses_carries || ce->nr * read_ns + cmn->carry_ns >= cmn->wrap_ns)
		return -EAGAIN;
	cmn_event_look(cmn, ce);
	cmn_wait(cmn->carry_ns);
	cmn->pass++;
	carries = cmn_carries_read(cmn, ce->letter, ce->dtcs);
	if (!cmn_event_look_again(cmn, ce, &locals) || carries < ce->carries) {
		ce->carries = max(ce->carries, carries);
		return -EAGAIN;
	}
	ce->carries = carries;
	*value = (carries << 16) + locals - ce->base;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_event_value_exact);

/*
 * Hand what an event has claimed, and what is known of its counters, to an equal event. Equal
 * events have the same members in the same order.
 */
void cmn_event_hand(struct cmn_event *from, struct cmn_event *to)
{
	if (!list_empty(&from->fresh))
		list_replace_init(&from->fresh, &to->fresh);
	memcpy(to->letter, from->letter, sizeof(to->letter));
	to->cycles = from->cycles;
	to->base = from->base;
	to->carries = from->carries;
	for (unsigned int i = 0; i < to->nr; i++)
		to->member[i] = from->member[i];
}
EXPORT_SYMBOL_IF_KUNIT(cmn_event_hand);

static void cmn_op_hand(struct pmu_box *box, struct pmu_event *from, struct pmu_event *to)
{
	cmn_event_hand(from->priv, to->priv);
}

static u64 cmn_op_start(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct cmn *cmn = pmu_box_priv(box);

	cmn_event_start(cmn, ev->priv);
	return cmn_event_value(cmn, ev->priv);
}

static void cmn_op_stop(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct cmn *cmn = pmu_box_priv(box);

	cmn_event_stop(cmn, ev->priv);
	/* Nothing counts any more, so a thaw, which would look at the stop, may never come. */
	if (!cmn_is_counting(cmn))
		cmn_stood(cmn);
}

static void cmn_op_begin_read(struct pmu_box *box)
{
	struct cmn *cmn = pmu_box_priv(box);

	if (!cmn->stopped)
		cmn->pass++;
}

static void cmn_op_hold(struct pmu_box *box)
{
	struct cmn *cmn = pmu_box_priv(box);

	cmn->held = true;
	cmn_stand(cmn);
}

static int cmn_op_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	struct cmn *cmn = pmu_box_priv(box);

	if (cmn->withheld)
		return -EACCES;
	*value = cmn_event_value(cmn, ev->priv);
	return cmn->gone ? -ENODEV : 0;
}

static int cmn_op_read_exact(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	struct cmn *cmn = pmu_box_priv(box);
	int err;

	if (cmn->withheld)
		return -EACCES;
	err = cmn_event_value_exact(cmn, ev->priv, value);
	return cmn->gone ? -ENODEV : err;
}

static void cmn_op_end_read(struct pmu_box *box)
{
	struct cmn *cmn = pmu_box_priv(box);

	cmn->held = false;
	if (cmn->stopped && !cmn->frozen) {
		cmn_stood(cmn);
		cmn_mesh_run(cmn, true);
	}
}

static void cmn_op_freeze(struct pmu_box *box)
{
	struct cmn *cmn = pmu_box_priv(box);

	cmn->frozen = true;
	cmn_stand(cmn);
}

/* If another CPU reads a group, the mesh runs when it has done so. */
static void cmn_op_thaw(struct pmu_box *box)
{
	struct cmn *cmn = pmu_box_priv(box);

	cmn->frozen = false;
	cmn_stood(cmn);
	cmn_events_begin(cmn);
	if (!cmn->held)
		cmn_mesh_run(cmn, true);
}

static const struct pmu_box_ops cmn_ops = {
	.event_init = cmn_op_event_init,
	.event_free = cmn_op_event_free,
	.owner_changed = cmn_op_owner_changed,
	.claim = cmn_op_claim,
	.unclaim = cmn_op_unclaim,
	.hand = cmn_op_hand,
	.start = cmn_op_start,
	.stop = cmn_op_stop,
	.begin_read = cmn_op_begin_read,
	.hold = cmn_op_hold,
	.end_read = cmn_op_end_read,
	.read = cmn_op_read,
	.read_exact = cmn_op_read_exact,
	.freeze = cmn_op_freeze,
	.thaw = cmn_op_thaw,
};

/* Part and revision, for perf's tables of events. */
static ssize_t identifier_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	const struct cmn *cmn = container_of(attr, struct cmn, identifier);

	return sysfs_emit(buf, "%03x%02x\n", cmn->part->number, cmn->code);
}

/* Fill in all of the PMU's description but the events. */
void cmn_desc_init(struct cmn *cmn)
{
	cmn->identifier = (struct device_attribute)__ATTR_RO(identifier);
	sysfs_attr_init(&cmn->identifier.attr);
	cmn->attrs[0] = &cmn->identifier.attr;
	cmn->group.attrs = cmn->attrs;
	cmn->groups[0] = &cmn->group;

	cmn->desc.owner = THIS_MODULE;
	cmn->desc.ops = &cmn_ops;
	cmn->desc.parent = cmn->dev;
	cmn->desc.scope = PMU_SCOPE_SYSTEM;
	cmn->desc.width = 64;
	cmn->desc.state_size = cmn_claims_size(cmn);
	cmn->desc.formats = cmn_formats;
	cmn->desc.nr_formats = CMN_FORMATS;
	cmn->desc.groups = cmn->groups;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_desc_init);
