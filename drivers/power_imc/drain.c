// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draining a thread's ring: before the hardware laps it, and before somebody else's task
 * runs. There is no interrupt of the counters; a timer per CPU that traces does it.
 *
 * At the fastest rate that firmware sets up a record comes each 7.8 us, and a ring of 4096
 * is lapped in 32 ms. A drain each millisecond finds 128. The timer looks at no more than
 * POWER_IMC_DRAIN_MOST slots at a time and comes back soon for the rest, which bounds the time
 * with interrupts off; an empty ring lets it come more seldom, up to a quarter of a lap.
 * Where a task goes, all of its records have to be taken, a ring at most.
 */
#include <linux/percpu.h>
#include <linux/perf_event.h>

#include "sample.h"
#include "trace.h"

/* No multiple of the time between records, or the drain would be in step with them. */
#define POWER_IMC_DRAIN_NS	(1009 * NSEC_PER_USEC)
#define POWER_IMC_DRAIN_SOON_NS	(50 * NSEC_PER_USEC)
#define POWER_IMC_DRAIN_SELDOM_NS	(8 * NSEC_PER_MSEC)
#define POWER_IMC_DRAIN_MOST	256

static void power_imc_drain_miss(struct power_imc_trace_event *te, u64 samples)
{
	/* perf record asks the event that was opened, not its children. */
	struct perf_event *event = te->event->parent ?: te->event;

	atomic64_add(samples, &event->lost_samples);
}

/* Nobody knows of which mode they were: events that exclude one may be told of too many. */
static void power_imc_drain_lost(struct power_imc_trace *trace, u64 lost)
{
	struct power_imc_trace_event *te;

	if (!lost)
		return;
	list_for_each_entry(te, &trace->events, node)
		power_imc_drain_miss(te, power_imc_thin(te, lost));
}

static void power_imc_drain_deliver(struct power_imc_trace *trace, struct power_imc_sample *sample,
				    enum power_imc_generation generation)
{
	enum power_imc_mode mode = power_imc_record_mode(generation, &sample->raw.record);
	struct power_imc_trace_event *te;

	list_for_each_entry(te, &trace->events, node) {
		if (!power_imc_sample_wanted(&te->event->attr, mode) || !power_imc_thin(te, 1))
			continue;
		if (power_imc_sample_deliver(te, sample, mode))
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

	list_for_each_entry(te, &trace->events, node)
		power_imc_sample_begin(te);
	do {
		power_imc_drain_deliver(trace, sample, generation);
	} while (power_imc_drain_take(trace, &sample->raw.record, budget));
	list_for_each_entry(te, &trace->events, node)
		power_imc_sample_end(te);
}

/* Look at up to @budget slots; how many is left of that, 0 if there may be more records. */
static u32 power_imc_drain_some(struct power_imc_trace *trace, u32 budget)
{
	struct power_imc_sample sample;

	trace->drains++;
	power_imc_sample_init(&sample);
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
	power_imc_drain_some(trace, 2 * trace->ring.slots);
}

static enum hrtimer_restart power_imc_drain_timer(struct hrtimer *timer)
{
	struct power_imc_trace *trace = container_of(timer, struct power_imc_trace, timer);
	u64 taken = trace->ring.taken;

	trace->timers++;
	if (!power_imc_drain_some(trace, POWER_IMC_DRAIN_MOST))
		trace->interval_ns = POWER_IMC_DRAIN_SOON_NS;
	else if (trace->ring.taken != taken)
		trace->interval_ns = POWER_IMC_DRAIN_NS;
	else
		trace->interval_ns = min_t(u64, 2 * trace->interval_ns, POWER_IMC_DRAIN_SELDOM_NS);
	hrtimer_forward_now(timer, ns_to_ktime(trace->interval_ns));
	return HRTIMER_RESTART;
}

void power_imc_drain_start(struct power_imc_trace *trace)
{
	trace->interval_ns = POWER_IMC_DRAIN_NS;
	hrtimer_start(&trace->timer, ns_to_ktime(trace->interval_ns),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

/* On the timer's own CPU with interrupts off, so it is not running. */
void power_imc_drain_stop(struct power_imc_trace *trace)
{
	hrtimer_try_to_cancel(&trace->timer);
}

void power_imc_drain_init(struct power_imc_trace *trace)
{
	INIT_LIST_HEAD(&trace->events);
	hrtimer_setup(&trace->timer, power_imc_drain_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
}
