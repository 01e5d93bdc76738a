// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folding: from raw values that wrap to 64-bit counts that do not.
 *
 * The arithmetic comes first. Then: how an event's count is brought up to date, which
 * differences are impossible and not counted, and the timer that folds before a counter wraps.
 */
#include <linux/device.h>
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/moduleparam.h>
#include <linux/timekeeping.h>

#include "core.h"

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

static void pmu_event_credit(struct pmu_event *ev, u64 delta)
{
	if (!(ev->event->hw.state & PERF_HES_STOPPED))
		local64_add(delta, &ev->event->count);
}

/* Add what the bearer's counter has counted to every event that counts with it. */
static void pmu_bearer_credit(struct pmu_event *bearer, u64 delta)
{
	struct pmu_event *ev;

	pmu_event_credit(bearer, delta);
	list_for_each_entry(ev, &bearer->sharing, sharing)
		pmu_event_credit(ev, delta);
}

/* The device is gone: fail the bearer and all events that share with it. */
static void pmu_bearer_fail(struct pmu_event *bearer)
{
	struct pmu_event *ev;

	pmu_event_fail(bearer);
	list_for_each_entry(ev, &bearer->sharing, sharing)
		pmu_event_fail(ev);
}

static int pmu_event_read_raw(struct pmu_event *ev, u64 *now)
{
	return box_ops(ev->box)->read(ev->box, ev, ev->event->hw.idx, now);
}

static void pmu_box_complain(struct irq_work *work)
{
	struct pmu_box *box = container_of(work, struct pmu_box, complaint);

	dev_warn_ratelimited(box->dev, "%s: the counter of event config=%#llx moved by %lld, more than it can have counted since the last read: another program wrote to it, or the device was reset; this difference is not counted\n",
			     box->pd->name, box->odd_config, box->odd_delta);
}

/*
 * This is logged once, and again only after the box has counted without it. An irq_work logs it:
 * perf may hold the scheduler's locks here, and printk wakes up tasks.
 */
static void pmu_event_doubt(const struct pmu_event *ev, u64 delta)
{
	struct pmu_box *box = ev->box;

	if (!box->odd && !box->told) {
		box->odd_config = ev->event->attr.config;
		box->odd_delta = delta;
		irq_work_queue(&box->complaint);
	}
	box->odd = true;
}

/* The time, by a clock that may be read in an NMI; 0 if the event has no bound and needs none. */
static u64 pmu_event_clock(const struct pmu_event *ev)
{
	return ev->bound ? ktime_get_mono_fast_ns() : 0;
}

/* Credit what the bearer's counter has counted from @prev to @now, in @ns. */
static void pmu_bearer_fold(struct pmu_event *ev, u64 prev, u64 now, u64 ns)
{
	u64 delta = pmu_delta(prev, now, ev->box->pd->desc->width);
	const struct pmu_box_ops *ops = box_ops(ev->box);

	ev->folded_pass = ev->box->pass;
	if (ops->restarted && (s64)delta < 0) {
		ops->restarted(ev->box, ev);
		delta = now;
	} else if (!pmu_delta_is_possible(delta, ev->box->pd->desc->width,
					  READ_ONCE(pmu_bounded) ? ev->bound : 0, ns)) {
		pmu_event_doubt(ev, delta);
		return;
	}
	pmu_bearer_credit(ev, delta);
}

/*
 * Bring a bearer's counts up to date. If the box has left this CPU, pmu_box_leave() has done so.
 *
 * An NMI may come between the read and the exchange, and fold the same counter in memory. Then the
 * value that was read is older than prev and would look like a wrap, so it is read again.
 *
 * The time since the last fold is never underestimated: it begins before the last fold's read and
 * ends after this one. If an NMI folds in between, it begins with the fold before the NMI's.
 */
static void pmu_bearer_update(struct pmu_event *ev)
{
	u64 since = READ_ONCE(ev->folded_ns), clock, now;
	s64 prev = atomic64_read(&ev->prev);
	struct pmu_box *box = ev->box;

	if (ev->failed || box->asleep || !pmu_box_is_here(box))
		return;
	clock = pmu_event_clock(ev);
	do {
		if (pmu_event_read_raw(ev, &now)) {
			pmu_bearer_fail(ev);
			return;
		}
	} while (!atomic64_try_cmpxchg(&ev->prev, &prev, now));
	WRITE_ONCE(ev->folded_ns, clock);
	pmu_bearer_fold(ev, prev, now, pmu_event_clock(ev) - since);
}

/* Bring event->count up to date, and that of the events that share with it: once in a pass. */
void pmu_event_update(struct pmu_event *ev)
{
	struct pmu_event *bearer = ev->bearer;

	if (!pmu_event_is_shared(bearer) || bearer->folded_pass != ev->box->pass)
		pmu_bearer_update(bearer);
}

/*
 * The same, exactly, in a running box whose driver's read may miss counts. Returns whether that was
 * possible.
 */
bool pmu_event_update_exactly(struct pmu_event *ev)
{
	struct pmu_event *bearer = ev->bearer;
	struct pmu_box *box = ev->box;
	u64 clock, now;

	if (bearer->failed || pmu_box_absent(box) || !pmu_box_is_here(box))
		return false;
	clock = pmu_event_clock(bearer);
	pmu_box_begin_read(box);
	if (box_ops(box)->read_exact(box, bearer, bearer->event->hw.idx, &now))
		return false;
	pmu_bearer_fold(bearer, atomic64_xchg(&bearer->prev, now), now,
			pmu_event_clock(bearer) - bearer->folded_ns);
	WRITE_ONCE(bearer->folded_ns, clock);
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
		pmu_box_begin_read(box);
	WRITE_ONCE(ev->folded_ns, pmu_event_clock(ev));
	if (box_ops(box)->start)
		return box_ops(box)->start(box, ev, ev->event->hw.idx);
	if (pmu_event_read_raw(ev, &value))
		pmu_bearer_fail(ev);
	return value;
}

/* Let a bearer's hardware count. */
void pmu_event_begin(struct pmu_event *bearer)
{
	struct pmu_box *box = bearer->box;

	atomic64_set(&bearer->prev, pmu_bearer_start_value(box, bearer));
	/* In a frozen box the value does not change before the next pass. */
	if (box->frozen)
		bearer->folded_pass = box->pass;
}

/**
 * pmu_box_fold() - bring the counts of a box's events up to date.
 * @box: the box
 *
 * For a driver whose hardware has an interrupt for counters that wrap.
 *
 * Context: the owner CPU, interrupts off.
 */
void pmu_box_fold(struct pmu_box *box)
{
	struct pmu_event *ev;

	pmu_box_begin_read(box);
	list_for_each_entry(ev, &box->active, active)
		pmu_event_update(ev);
	pmu_box_end_read(box);
}
EXPORT_SYMBOL_PMU_CORE(pmu_box_fold);

static enum hrtimer_restart pmu_box_poll(struct hrtimer *timer)
{
	struct pmu_box *box = container_of(timer, struct pmu_box, timer);

	if (pmu_box_is_idle(box)) {
		box->poll_ns = 0;
		return HRTIMER_NORESTART;
	}
	pmu_box_fold(box);
	hrtimer_forward_now(timer, ns_to_ktime(box->poll_ns));
	return HRTIMER_RESTART;
}

/* Poll with the shortest period of the events that started since the box was last idle. */
void pmu_box_poll_for(struct pmu_box *box, const struct pmu_event *ev)
{
	if (!ev->poll_ns || (box->poll_ns && box->poll_ns <= ev->poll_ns))
		return;
	box->poll_ns = ev->poll_ns;
	hrtimer_start(&box->timer, ns_to_ktime(box->poll_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

void pmu_box_init_folding(struct pmu_box *box)
{
	INIT_LIST_HEAD(&box->active);
	INIT_LIST_HEAD(&box->bearers);
	init_irq_work(&box->complaint, pmu_box_complain);
	hrtimer_setup(&box->timer, pmu_box_poll, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}
