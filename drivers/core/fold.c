// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folding: from raw values that wrap to 64-bit counts that do not.
 *
 * Passes of reads, and when a box is frozen; the arithmetic; how an event's count is brought up to
 * date; which differences are impossible and not counted; and the timer that folds before a counter
 * wraps. All of this but the arithmetic runs under the box's lock.
 */
#include <linux/device.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/timekeeping.h>

#include "core.h"

/* What is read from now on is of another moment. */
void pmu_box_begin_pass(struct pmu_box *box)
{
	box->pass++;
	pmu_box_do(box, box_ops(box)->begin_read);
}

/* While perf reads a group on one CPU, another may read as well: the last one ends the pass. */
void pmu_box_begin_read(struct pmu_box *box)
{
	box->reading++;
	pmu_box_begin_pass(box);
}

void pmu_box_end_read(struct pmu_box *box)
{
	if (!--box->reading)
		pmu_box_do(box, box_ops(box)->end_read);
}

/* All reads of a frozen box are of one moment, so they are one pass. */
void pmu_box_freeze(struct pmu_box *box)
{
	if (box->frozen)
		return;
	pmu_box_do(box, box_ops(box)->freeze);
	box->frozen = true;
	pmu_box_begin_pass(box);
}

/* Poll with this period, which begins now, or no more. pmu_box_unlock() sets the timer. */
void pmu_box_poll_every(struct pmu_box *box, u64 poll_ns)
{
	WRITE_ONCE(box->poll_ns, poll_ns);
	box->timer_due = true;
}

void pmu_box_thaw(struct pmu_box *box)
{
	if (box->disabled)
		return;
	if (pmu_box_is_idle(box)) {
		/* Nothing counts until perf starts an event, so wake no CPU. */
		if (box->poll_ns)
			pmu_box_poll_every(box, 0);
		/* perf holds locks here under which a verb must not write to the log. */
		if (box->leaving && box->engaged)
			irq_work_queue(&box->left);
		return;
	}
	if (pmu_box_absent(box) || !box->frozen)
		return;
	pmu_box_do(box, box_ops(box)->thaw);
	box->frozen = false;
}

static bool pmu_bounded = true;
module_param_named(bound, pmu_bounded, bool, 0644);
MODULE_PARM_DESC(bound, "do not count what is impossible in the time since the last read (Y)");

/*
 * This is added to the time that has passed. A count may reach its counter late, for example where
 * hardware writes counts to memory. Also, the clock and the counter are not read in the same
 * moment.
 */
#define PMU_LATE_NS	BIT_ULL(27)

/*
 * The most counts by which a counter can have advanced in @ns; U64_MAX if that needs more than 64
 * bits, or if @ns is negative because the clock went back. This is generous: 1.86 (10^9 / 2^29)
 * times @bound, the most counts per second, and 134 ms more than @ns.
 */
VISIBLE_IF_KUNIT u64 pmu_most_counts(u64 bound, u64 ns)
{
	if ((s64)ns < 0)
		return U64_MAX;
	ns += PMU_LATE_NS;
	if (fls64(bound) + fls64(ns) > 64 + 29)
		return U64_MAX;
	return mul_u64_u64_shr(bound, ns, 29);
}
EXPORT_SYMBOL_IF_KUNIT(pmu_most_counts);

/*
 * Can a counter of @width bits have moved by @delta in @ns? If not, the counter was written, or
 * reset with its device, or its value was read wrongly. A 64-bit counter does not wrap: a
 * difference of 2^63 or more means that it went back. @bound is the most counts per second, or 0 if
 * that is not known.
 */
VISIBLE_IF_KUNIT bool pmu_delta_is_possible(u64 delta, unsigned int width, u64 bound, u64 ns)
{
	if (width == 64 && (s64)delta < 0)
		return false;
	return !bound || delta <= pmu_most_counts(bound, ns);
}
EXPORT_SYMBOL_IF_KUNIT(pmu_delta_is_possible);

/*
 * How often a counter has to be folded so that no wrap is missed, in ns; 0 if it cannot wrap
 * within the kernel's time (292 years). Folding is exact up to 2^@width / @max_rate; the period is
 * half of that, rounded down, so that a timer may be late by as much again. A @max_rate of 0 means
 * that the counter does not count.
 *
 * mul_u64_u64_div_u64() cannot be used: the generic version of 6.1 returns 0 for such numbers.
 */
u64 pmu_poll_period_ns(unsigned int width, u64 max_rate)
{
	/* 34 bits of the rest, times the 30 bits of NSEC_PER_SEC, fit into 64. */
	unsigned int shift = max(fls64(max_rate), 34) - 34;
	u64 seconds, rest;

	if (!max_rate)
		return 0;
	seconds = div64_u64_rem(BIT_ULL(width - 1), max_rate, &rest);
	if (seconds >= KTIME_SEC_MAX)
		return 0;
	rest = div64_u64((rest >> shift) * NSEC_PER_SEC, (max_rate >> shift) + !!shift);
	/* 0 would mean that no timer is needed. */
	return max(seconds * NSEC_PER_SEC + rest, 1ULL);
}
EXPORT_SYMBOL_IF_KUNIT(pmu_poll_period_ns);

/* Add what the event's counter has counted since the last call, if the event counted meanwhile. */
void pmu_event_credit(struct pmu_event *ev)
{
	struct perf_event *event = ev->event;
	u64 total = ev->bearer->counter.total;

	if (!(event->hw.state & PERF_HES_STOPPED))
		local64_add(total - local64_read(&event->hw.prev_count), &event->count);
	local64_set(&event->hw.prev_count, total);
}

/* The device is gone: fail the bearer and all events that share with it. */
static void pmu_bearer_fail(struct pmu_event *bearer)
{
	struct pmu_event *ev;

	pmu_event_fail(bearer);
	list_for_each_entry(ev, &bearer->sharing, sharing)
		pmu_event_fail(ev);
}

static void pmu_box_complain(struct irq_work *work)
{
	struct pmu_box *box = container_of(work, struct pmu_box, complaint);

	dev_warn_ratelimited(box->dev, "%s: the counter of event config=%#llx moved by %lld, more than it can have counted since the last read: another program wrote to it, or the device was reset; this difference is not counted\n",
			     box->pd->name, box->doubt_config, box->doubt_delta);
}

/*
 * This is logged once, and again only after the box has counted without it. An irq_work logs it:
 * perf may hold the scheduler's locks here, and printk wakes up tasks.
 */
static void pmu_event_doubt(const struct pmu_event *ev, u64 delta)
{
	struct pmu_box *box = ev->box;

	if (!box->doubted && !box->doubted_before) {
		box->doubt_config = ev->event->attr.config;
		box->doubt_delta = delta;
		irq_work_queue(&box->complaint);
	}
	box->doubted = true;
}

/* The time, by a clock that may be read in an NMI; 0 if the event has no bound and needs none. */
static u64 pmu_event_clock(const struct pmu_event *ev)
{
	return ev->bound ? ktime_get_mono_fast_ns() : 0;
}

/*
 * Can the bearer's counter have moved by @delta since its last read, which began at @since? The
 * time up to the beginning of this read says so, unless the CPU was held up since.
 */
static bool pmu_bearer_may_have_moved(const struct pmu_event *ev, u64 delta, u64 since)
{
	unsigned int width = ev->box->pd->desc->width;
	u64 bound = READ_ONCE(pmu_bounded) ? ev->bound : 0;

	return pmu_delta_is_possible(delta, width, bound, ev->counter.folded_ns - since) ||
	       (bound && pmu_delta_is_possible(delta, width, bound, pmu_event_clock(ev) - since));
}

/* Read a bearer's counter by a verb, and fold it. Returns what the verb does. */
static int pmu_bearer_read(struct pmu_event *ev,
			   int (*read)(struct pmu_box *box, struct pmu_event *ev, int idx,
				       u64 *value))
{
	const struct pmu_box_ops *ops = box_ops(ev->box);
	u64 clock = pmu_event_clock(ev), since = ev->counter.folded_ns, now, delta;
	int err = read(ev->box, ev, ev->event->hw.idx, &now);

	if (err)
		return err;
	delta = pmu_delta(ev->counter.prev, now, ev->box->pd->desc->width);
	ev->counter.prev = now;
	ev->counter.folded_ns = clock;
	ev->counter.folded_pass = ev->box->pass;
	if (ops->restarted && (s64)delta < 0) {
		ops->restarted(ev->box, ev);
		delta = now;
	} else if (!pmu_bearer_may_have_moved(ev, delta, since)) {
		pmu_event_doubt(ev, delta);
		return 0;
	}
	ev->counter.total += delta;
	return 0;
}

static bool pmu_bearer_is_gone(const struct pmu_event *ev)
{
	return ev->failed || pmu_box_absent(ev->box);
}

/* The counter of events that share is read once in a pass. */
static void pmu_bearer_fold(struct pmu_event *bearer)
{
	if (pmu_bearer_is_gone(bearer) ||
	    (pmu_event_is_shared(bearer) && bearer->counter.folded_pass == bearer->box->pass))
		return;
	if (pmu_bearer_read(bearer, box_ops(bearer->box)->read))
		pmu_bearer_fail(bearer);
}

/* Bring event->count up to date. */
void pmu_event_update(struct pmu_event *ev)
{
	pmu_bearer_fold(ev->bearer);
	pmu_event_credit(ev);
}

/* Events of a group that share are level when its read ends, whoever else reads meanwhile. */
void pmu_group_update(struct pmu_event *ev)
{
	struct pmu_event *bearer = ev->bearer, *other;

	pmu_event_update(ev);
	if (bearer->event->group_leader == ev->event->group_leader)
		pmu_event_credit(bearer);
	list_for_each_entry(other, &bearer->sharing, sharing)
		if (other->event->group_leader == ev->event->group_leader)
			pmu_event_credit(other);
}

/*
 * The same, exactly, in a running box whose driver's read may miss counts. Returns whether that was
 * possible.
 */
bool pmu_event_update_exactly(struct pmu_event *ev)
{
	if (pmu_bearer_is_gone(ev->bearer))
		return false;
	pmu_box_begin_pass(ev->box);
	if (pmu_bearer_read(ev->bearer, box_ops(ev->box)->read_exact))
		return false;
	pmu_event_credit(ev);
	return true;
}

/* Returns the raw value from which the bearer's next difference is taken. */
static u64 pmu_bearer_start_value(struct pmu_box *box, struct pmu_event *ev)
{
	u64 value = 0;

	/* pmu_box_restart() does this when the device wakes up. */
	if (box->asleep)
		return 0;
	/* If nothing counted, the pass that began when the box was frozen is out of date. */
	if (pmu_box_is_idle(box))
		pmu_box_begin_pass(box);
	ev->counter.folded_ns = pmu_event_clock(ev);
	if (box_ops(box)->start)
		return box_ops(box)->start(box, ev, ev->event->hw.idx);
	if (box_ops(box)->read(box, ev, ev->event->hw.idx, &value))
		pmu_bearer_fail(ev);
	return value;
}

/* Let a bearer's hardware count. */
void pmu_event_begin(struct pmu_event *bearer)
{
	struct pmu_box *box = bearer->box;

	bearer->counter.prev = pmu_bearer_start_value(box, bearer);
	/* In a frozen box the value does not change before the next pass. */
	if (box->frozen)
		bearer->counter.folded_pass = box->pass;
}

/**
 * pmu_box_fold() - read the counters of a box's events.
 * @box: the box
 *
 * For a driver whose hardware has an interrupt for counters that wrap. No event->count changes:
 * perf may be about to copy those of a group, which are of one moment.
 *
 * Context: pmu_box_lock().
 */
void pmu_box_fold(struct pmu_box *box)
{
	struct pmu_event *ev;

	lockdep_assert_held(&box->lock);
	pmu_box_begin_read(box);
	list_for_each_entry(ev, &box->active, active)
		pmu_bearer_fold(ev->bearer);
	pmu_box_end_read(box);
}
EXPORT_SYMBOL_PMU_CORE(pmu_box_fold);

static enum hrtimer_restart pmu_box_poll(struct hrtimer *timer)
{
	struct pmu_box *box = container_of(timer, struct pmu_box, timer);
	unsigned long flags = pmu_box_lock(box);
	u64 poll_ns;

	if (!pmu_box_is_idle(box))
		pmu_box_fold(box);
	pmu_box_unlock(box, flags);
	raw_spin_lock(&box->timer_lock);
	poll_ns = READ_ONCE(box->poll_ns);
	/* Another CPU may have just started it anew. */
	if (hrtimer_is_queued(timer))
		poll_ns = 0;
	if (poll_ns)
		hrtimer_forward_now(timer, ns_to_ktime(poll_ns));
	raw_spin_unlock(&box->timer_lock);
	return poll_ns ? HRTIMER_RESTART : HRTIMER_NORESTART;
}

/* On the CPU that owns the box from now on; the timer was cancelled. */
void pmu_box_poll_here(void *data)
{
	struct pmu_box *box = data;
	unsigned long flags = pmu_box_lock(box);

	if (!pmu_box_is_idle(box))
		pmu_box_fold(box);
	pmu_box_poll_every(box, box->poll_ns);
	pmu_box_unlock(box, flags);
}

/*
 * Poll with the shortest period of the events that started since the box was last idle. A shorter
 * one begins with a fold, so that no event waits for longer than its own.
 */
void pmu_box_poll_for(struct pmu_box *box, const struct pmu_event *ev)
{
	u64 poll_ns = pmu_poll_period_ns(box->pd->desc->width, ev->poll_rate);

	if (!poll_ns || (box->poll_ns && box->poll_ns <= poll_ns))
		return;
	if (box->poll_ns)
		pmu_box_fold(box);
	pmu_box_poll_every(box, poll_ns);
}

void pmu_box_init_folding(struct pmu_box *box, bool sampling)
{
	static struct lock_class_key samples;

	raw_spin_lock_init(&box->lock);
	raw_spin_lock_init(&box->timer_lock);
	if (sampling)
		lockdep_set_class(&box->lock, &samples);
	INIT_LIST_HEAD(&box->active);
	INIT_LIST_HEAD(&box->bearers);
	init_irq_work(&box->complaint, pmu_box_complain);
	hrtimer_setup(&box->timer, pmu_box_poll, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}
