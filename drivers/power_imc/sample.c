// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a trace record to a perf sample.
 *
 * What would write samples directly is not exported. perf_tp_event(), which tracepoints
 * use, is: with a list of just our event it makes an ordinary PERF_RECORD_SAMPLE.
 */
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched/clock.h>
#include <linux/timekeeping.h>
#include <asm/ptrace.h>
#include <asm/reg.h>
#include <asm/time.h>

#include "sample.h"

/* Where the kernel's half of addresses begins. */
#define POWER_IMC_KERNEL_ADDRESS	0xc000000000000000ULL

/* The time of the sample that this CPU is making, or 0. */
static DEFINE_PER_CPU(u64, power_imc_sample_time);

/*
 * The clocks that an event can have, while its samples are made: the time is the record's.
 * Whoever asks another CPU's event meanwhile gets that clock's time, as always.
 */
#define POWER_IMC_SAMPLE_CLOCK(_name, _now)					\
static u64 power_imc_sample_##_name(void)					\
{										\
	return this_cpu_read(power_imc_sample_time) ?: _now();			\
}

POWER_IMC_SAMPLE_CLOCK(perf, local_clock)
POWER_IMC_SAMPLE_CLOCK(monotonic, ktime_get_mono_fast_ns)
POWER_IMC_SAMPLE_CLOCK(raw, ktime_get_raw_fast_ns)

/* perf refuses other clocks, which are not safe in an NMI. */
static u64 (*power_imc_sample_clock(const struct perf_event_attr *attr))(void)
{
	if (!attr->use_clockid)
		return power_imc_sample_perf;
	return attr->clockid == CLOCK_MONOTONIC ? power_imc_sample_monotonic : power_imc_sample_raw;
}

/**
 * power_imc_thinning() - how many records make a sample.
 * @wanted: attr.sample_period, or attr.sample_freq in samples per second
 * @freq: which of the two
 * @period: of a record, in counts
 * @rate: records per second
 *
 * Return: the number that comes closest, at least 1.
 */
u64 power_imc_thinning(u64 wanted, bool freq, u64 period, u64 rate)
{
	u64 every = freq ? DIV64_U64_ROUND_CLOSEST(rate, wanted) :
			   div64_u64(wanted, period) + (wanted % period >= period - period / 2);

	return max(every, 1ULL);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thinning);

/**
 * power_imc_thin() - how many samples some records are to an event.
 * @te: the event; its position moves on
 * @records: number of records
 */
u64 power_imc_thin(struct power_imc_trace_event *te, u64 records)
{
	u64 samples;

	/* What most often is asked needs no division. */
	if (records == 1) {
		if (--te->left)
			return 0;
		te->left = te->every;
		return 1;
	}
	if (records < te->left) {
		te->left -= records;
		return 0;
	}
	records -= te->left;
	samples = div64_u64(records, te->every);
	te->left = te->every - (records - samples * te->every);
	return samples + 1;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thin);

/**
 * power_imc_record_mode() - in which mode was the thread?
 * @generation: POWER10 says so in the record; before, the address has to tell, and a guest's
 *	records are not told from the host's
 * @record: the record
 */
enum power_imc_mode power_imc_record_mode(enum power_imc_generation generation,
					  const struct power_imc_record *record)
{
	u64 state = be64_to_cpu(record->state);

	if (generation != POWER_IMC_P10)
		return be64_to_cpu(record->ip) < POWER_IMC_KERNEL_ADDRESS ? POWER_IMC_HOST_USER :
								      POWER_IMC_HOST_KERNEL;
	if (state & POWER_IMC_RECORD_HV)
		return state & POWER_IMC_RECORD_PR ? POWER_IMC_HOST_USER : POWER_IMC_HOST_KERNEL;
	return state & POWER_IMC_RECORD_PR ? POWER_IMC_GUEST_USER : POWER_IMC_GUEST_KERNEL;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_record_mode);

/**
 * power_imc_sample_wanted() - does an event want records of a mode?
 * @attr: of the event. The host's kernel is the hypervisor, so exclude_hv means nothing
 * @mode: of the record
 */
bool power_imc_sample_wanted(const struct perf_event_attr *attr, enum power_imc_mode mode)
{
	switch (mode) {
	case POWER_IMC_HOST_USER:
		return !attr->exclude_host && !attr->exclude_user;
	case POWER_IMC_HOST_KERNEL:
		return !attr->exclude_host && !attr->exclude_kernel;
	case POWER_IMC_GUEST_USER:
		return !attr->exclude_guest && !attr->exclude_user;
	case POWER_IMC_GUEST_KERNEL:
		return !attr->exclude_guest && !attr->exclude_kernel;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_sample_wanted);

/* Before the first record. */
void power_imc_sample_init(struct power_imc_sample *sample)
{
	memset(sample, 0, sizeof(*sample));
}

/**
 * power_imc_sample_begin() - samples of an event are going to be made.
 * @te: the event; it is scheduled on this CPU
 *
 * Context: interrupts off up to power_imc_sample_end().
 */
void power_imc_sample_begin(struct power_imc_trace_event *te)
{
	struct perf_event *event = te->event;

	te->clock = event->clock;
	te->clock_offset = te->clock() - tb_to_ns(get_tb());
	te->no_user_chain = event->attr.exclude_callchain_user;
	INIT_HLIST_HEAD(&te->only);
	hlist_add_head(&event->hlist_entry, &te->only);
	WRITE_ONCE(event->clock, power_imc_sample_clock(&event->attr));
}

/* Undo power_imc_sample_begin(). */
void power_imc_sample_end(struct power_imc_trace_event *te)
{
	struct perf_event *event = te->event;

	WRITE_ONCE(event->clock, te->clock);
	hlist_del_init(&event->hlist_entry);
	event->attr.exclude_callchain_user = te->no_user_chain;
}

/**
 * power_imc_sample_deliver() - make a sample.
 * @te: the event
 * @sample: the record is in it
 * @mode: power_imc_record_mode(); perf_tp_event() cannot say that it was a guest's
 *
 * It is a sample of the current task, of the record's time, with a call chain of one and
 * the record, behind 8 bytes, as raw data. All that its registers have is what is known of
 * the record's moment.
 *
 * Context: interrupts off, between power_imc_sample_begin() and power_imc_sample_end().
 * Return: false if this CPU is in the middle of making another software event's sample.
 */
bool power_imc_sample_deliver(struct power_imc_trace_event *te, struct power_imc_sample *sample,
			      enum power_imc_mode mode)
{
	const struct power_imc_record *record = &sample->raw.record;
	struct perf_event *event = te->event;
	bool user = mode == POWER_IMC_HOST_USER || mode == POWER_IMC_GUEST_USER;
	int rctx = perf_swevent_get_recursion_context();

	if (rctx < 0)
		return false;
	sample->regs.nip = be64_to_cpu(record->ip);
	sample->regs.msr = MSR_SF | MSR_LE | (user ? MSR_PR : MSR_HV);
	/* The user's stack is that of now, so it has no business in a sample of the kernel. */
	event->attr.exclude_callchain_user = te->no_user_chain || !user;
	this_cpu_write(power_imc_sample_time, tb_to_ns(be64_to_cpu(record->tb)) + te->clock_offset);
	/* With a period in the sample the count is that period, else it counts samples. */
	perf_tp_event(0, event->attr.sample_type & PERF_SAMPLE_PERIOD ? te->period : 1,
		      &sample->raw, sizeof(sample->raw), &sample->regs, &te->only, rctx, NULL);
	this_cpu_write(power_imc_sample_time, 0);
	return true;
}
