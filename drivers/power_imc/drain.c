// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draining a thread's ring: before the hardware laps it, and before somebody else's task
 * runs. There is no interrupt of the counters; a timer per CPU that traces does it.
 *
 * At the fastest rate that firmware sets up a record comes each 7.8 us, and a ring of 4096
 * is lapped in 32 ms. A drain each millisecond finds 128. The timer looks at no more than
 * POWER_IMC_DRAIN_MOST slots at a time and comes back soon for the rest, which bounds the time
 * with interrupts off. Where a task goes, all of its records have to be taken, a ring at most.
 *
 * perf sorts samples by time, within a window: none may come much later than the others. So all
 * CPUs drain at the same moments, and what perf finds of one is as new as what it finds of another.
 * And the timer comes more seldom, up to a quarter of a lap, only while its CPU idles and makes no
 * records, and is set anew where a task ends the idling. It is left armed when events come and go,
 * and ends by itself when there are none.
 */
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <asm/time.h>

#include <pmu/compat.h>

#include "sample.h"
#include "trace.h"

/* No multiple of the time between records, or the drain would be in step with them. */
#define POWER_IMC_DRAIN_NS	(1009 * NSEC_PER_USEC)
#define POWER_IMC_DRAIN_SOON_NS	(50 * NSEC_PER_USEC)
#define POWER_IMC_DRAIN_SELDOM_NS	(8 * NSEC_PER_MSEC)
#define POWER_IMC_DRAIN_MOST	256
/* What is made during a drain is newer than its beginning, but not by so much. */
#define POWER_IMC_DRAIN_AHEAD_MS	100

static void power_imc_drain_miss(struct power_imc_trace_event *te, u64 samples)
{
	/* perf record asks the event that was opened, not its children. */
	struct perf_event *event = te->event->parent ?: te->event;

	pmu_event_lost(event, samples);
}

/* Nobody knows of which mode they were: events that exclude one may be told of too many. */
static void power_imc_drain_lost(struct power_imc_trace *trace, u64 lost)
{
	struct power_imc_trace_event *te;

	if (!lost)
		return;
	list_for_each_entry(te, &trace->events, node)
		power_imc_drain_miss(te, power_imc_thin_many(te, lost));
}

static void power_imc_drain_deliver(struct power_imc_trace *trace, struct power_imc_sample *sample,
				    enum power_imc_generation generation)
{
	enum power_imc_mode mode = power_imc_record_mode(generation, &sample->raw.record,
							 !(current->flags & PF_KTHREAD));
	struct power_imc_trace_event *te;

	list_for_each_entry(te, &trace->events, node) {
		if (!(te->modes & BIT(mode)) || !power_imc_thin_one(te))
			continue;
		if (power_imc_sample_deliver(te, mode))
			trace->samples++;
		else
			power_imc_drain_miss(te, 1);
	}
}

static bool power_imc_drain_take(struct power_imc_trace *trace, struct power_imc_record *record,
				 u32 *budget)
{
	u64 lost;
	bool any = power_imc_ring_take(&trace->ring, record, &lost, budget);

	power_imc_drain_lost(trace, lost);
	return any;
}

/* Records come in numbers: what is the same for all is made once. */
static void power_imc_drain_rest(struct power_imc_trace *trace, struct power_imc_sample *sample,
				 u32 *budget)
{
	enum power_imc_generation generation = power_imc_generation();
	struct power_imc_trace_event *te;

	power_imc_sample_init(sample);
	list_for_each_entry(te, &trace->events, node)
		power_imc_sample_begin(te, sample);
	do {
		power_imc_drain_deliver(trace, sample, generation);
	} while (power_imc_drain_take(trace, &sample->raw.record, budget));
	list_for_each_entry(te, &trace->events, node)
		power_imc_sample_end(te);
}

/* No record that is made now is of a later time. Returns now. */
static u64 power_imc_drain_limit(struct power_imc_trace *trace)
{
	u64 now = get_tb();

	trace->ring.limit = now + tb_ticks_per_sec / MSEC_PER_SEC * POWER_IMC_DRAIN_AHEAD_MS;
	return now;
}

/* Look at up to @budget slots; how many is left of that, 0 if there may be more records. */
static u32 power_imc_drain_some(struct power_imc_trace *trace, u32 budget)
{
	struct power_imc_sample sample;

	power_imc_drain_limit(trace);
	trace->drains++;
	if (power_imc_drain_take(trace, &sample.raw.record, &budget))
		power_imc_drain_rest(trace, &sample, &budget);
	return budget;
}

/**
 * power_imc_drain() - take all records that there are.
 * @trace: of this CPU
 *
 * Context: interrupts off, as long as it takes to make a ring of samples.
 */
void power_imc_drain(struct power_imc_trace *trace)
{
	/* Twice round: every slot may have to be passed, and be lapped meanwhile. */
	if (!power_imc_ring_is_quiet(&trace->ring))
		power_imc_drain_some(trace, 2 * trace->ring.slots);
}

/**
 * power_imc_drain_when() - the moment when the timer comes, in ns of CLOCK_MONOTONIC.
 * @now: the time
 * @interval_ns: from then
 *
 * Return: the last moment up to then at which all CPUs drain; of what comes sooner, exactly then.
 */
VISIBLE_IF_KUNIT u64 power_imc_drain_when(u64 now, u64 interval_ns)
{
	u64 then = now + interval_ns;

	return interval_ns < POWER_IMC_DRAIN_NS ? then : then - then % POWER_IMC_DRAIN_NS;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_drain_when);

static ktime_t power_imc_drain_expires(const struct power_imc_trace *trace)
{
	return ns_to_ktime(power_imc_drain_when(ktime_get_ns(), trace->interval_ns));
}

static void power_imc_drain_arm(struct power_imc_trace *trace)
{
	trace->interval_ns = POWER_IMC_DRAIN_NS;
	hrtimer_start(&trace->timer, power_imc_drain_expires(trace), HRTIMER_MODE_ABS_PINNED_HARD);
}

/**
 * power_imc_drain_switched() - the current task goes: take what is its own.
 * @trace: of this CPU, which traces
 *
 * Context: interrupts off; perhaps with the run queue's lock.
 */
void power_imc_drain_switched(struct power_imc_trace *trace)
{
	power_imc_drain(trace);
	if (trace->interval_ns > POWER_IMC_DRAIN_NS)
		power_imc_drain_arm(trace);
}

/**
 * power_imc_drain_next() - when the timer comes again, in ns.
 * @interval_ns: when it came the last time
 * @all: there are no more records
 * @any: there were some
 * @idle: nothing runs
 */
VISIBLE_IF_KUNIT u64 power_imc_drain_next(u64 interval_ns, bool all, bool any, bool idle)
{
	if (!all)
		return POWER_IMC_DRAIN_SOON_NS;
	if (any || !idle)
		return POWER_IMC_DRAIN_NS;
	return clamp_t(u64, 2 * interval_ns, POWER_IMC_DRAIN_NS, POWER_IMC_DRAIN_SELDOM_NS);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_drain_next);

static enum hrtimer_restart power_imc_drain_timer(struct hrtimer *timer)
{
	struct power_imc_trace *trace = container_of(timer, struct power_imc_trace, timer);
	u64 taken = trace->ring.taken;
	bool all;

	if (list_empty(&trace->events)) {
		trace->interval_ns = 0;
		return HRTIMER_NORESTART;
	}
	trace->timers++;
	all = power_imc_drain_some(trace, POWER_IMC_DRAIN_MOST);
	trace->interval_ns = power_imc_drain_next(trace->interval_ns, all,
						  trace->ring.taken != taken,
						  is_idle_task(current));
	hrtimer_set_expires(timer, power_imc_drain_expires(trace));
	return HRTIMER_RESTART;
}

/* What has been written up to now is of no event. With interrupts off. */
void power_imc_drain_pass(struct power_imc_trace *trace)
{
	u64 now = power_imc_drain_limit(trace);

	power_imc_ring_pass(&trace->ring, now);
}

/**
 * power_imc_drain_start() - the first event starts.
 * @trace: of this CPU
 *
 * Context: interrupts off.
 */
void power_imc_drain_start(struct power_imc_trace *trace)
{
	/* Most often it is still armed for the task that had this CPU before. */
	if (!trace->interval_ns || trace->interval_ns > POWER_IMC_DRAIN_NS)
		power_imc_drain_arm(trace);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_drain_start);

/*
 * No event will start. On the timer's own CPU with interrupts off, so it is not running. Nobody has
 * looked at the last records, and the writer may go on behind them.
 */
void power_imc_drain_end(struct power_imc_trace *trace)
{
	power_imc_drain_pass(trace);
	hrtimer_try_to_cancel(&trace->timer);
	trace->interval_ns = 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_drain_end);

void power_imc_drain_init(struct power_imc_trace *trace)
{
	INIT_LIST_HEAD(&trace->events);
	hrtimer_setup(&trace->timer, power_imc_drain_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_PINNED_HARD);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_drain_init);
