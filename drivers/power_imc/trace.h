/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace mode: a thread's ring and when it is drained (trace.c), which records become samples
 * (thin.c), and what becomes of them (sample.c).
 */
#ifndef POWER_IMC_TRACE_H
#define POWER_IMC_TRACE_H

#include <linux/hrtimer.h>
#include <linux/kernel.h>
#include <linux/list.h>
#include <linux/perf_event.h>
#include <linux/prandom.h>
#include <linux/trace_events.h>
#include <linux/types.h>
#include <asm/ptrace.h>

#include "power_imc.h"
#include "ring.h"

/* A thread that can trace. Touched on its CPU with interrupts off. */
struct power_imc_trace {
	struct power_imc_core *core;
	int cpu;
	u64 ldbar;			/* the value of LDBAR that records there */
	bool leaving;			/* its CPU goes offline, or is not online yet */
	bool engaged;			/* its LDBAR names the ring, unless that was lost */
	bool refused;			/* it did not when that was written again */
	struct power_imc_ring ring;
	u64 foreign;			/* ring.stats.foreign at the last timer */
	u64 from;			/* timebase when its events began, until a record comes */
	struct list_head events;	/* power_imc_trace_event.node */
	struct rnd_state random;
	struct hrtimer timer;
	u64 interval_ns;		/* of the timer, or 0: it is not armed */
	u64 timers, samples;		/* timers: an interrupt each */
};

/* All records are samples; otherwise the chance of one is less than this. */
#define POWER_IMC_THIN_ALL	BIT_ULL(32)

struct power_imc_sample;

/* A trace event. Its counts are those of the clock that triggers records. */
struct power_imc_trace_event {
	struct list_head node;		/* power_imc_trace.events, while it is scheduled */
	struct perf_event *event;
	u64 wanted;			/* attr.sample_period, or attr.sample_freq */
	bool freq;			/* which of the two */
	u64 period;			/* counts per sample; at least those of a record */
	u64 chance;			/* of a record to become a sample */
	perf_overflow_handler_t output;	/* writes a sample, as perf chose it */
	struct hlist_head only;		/* the event, and no other */
	/* While its samples are made, from power_imc_sample_begin() on: */
	struct power_imc_sample *sample;
	u64 clock_offset;		/* the event's clock minus the timebase, in ns */
	bool over;			/* the event has reached its limit, until it starts again */
};

/* What perf gets for a record. */
struct power_imc_sample {
	struct pt_regs regs;
	u64 tb;				/* the record's, or when it was read */
	u64 time;
	bool user;
	struct {
		/* For perf_tp_event()'s struct trace_entry: 8 bytes upstream, more on RHEL 9. */
		u64 skipped[DIV_ROUND_UP(sizeof(struct trace_entry), sizeof(u64))];
		struct power_imc_record record;
	} raw;
	struct {
		u64 nr, context, ip;
	} chain;			/* a struct perf_callchain_entry */
};

/* Where a record was made: in a program or the kernel, of the host or a guest. */
struct power_imc_mode {
	bool user, guest;
};

/* thin.c */
u64 power_imc_thin_wanted(u64 wanted, bool freq);
void power_imc_thin_set(struct power_imc_trace_event *te, const struct power_imc_ring *ring);
bool power_imc_thin_one(const struct power_imc_trace_event *te, struct rnd_state *random);
u64 power_imc_thin_many(const struct power_imc_trace_event *te, u64 records);

/* sample.c */
struct power_imc_mode power_imc_record_mode(enum power_imc_generation generation,
					    const struct power_imc_record *record, bool has_user);
bool power_imc_sample_wanted(const struct perf_event_attr *attr, struct power_imc_mode mode);
void power_imc_sample_attach(struct power_imc_trace_event *te,
			     const struct power_imc_trace_event *parent);
void power_imc_sample_begin(struct power_imc_trace_event *te, struct power_imc_sample *sample);
bool power_imc_sample_deliver(struct power_imc_trace_event *te, bool user);

/* trace.c */
const struct power_imc_trace *power_imc_trace_peek(int cpu);
#if IS_ENABLED(CONFIG_PMU_SUITE_KUNIT_TEST)
int power_imc_trace_leave(struct power_imc_trace *trace);
void power_imc_trace_arrive(struct power_imc_trace *trace);
void power_imc_drain_init(struct power_imc_trace *trace);
void power_imc_drain_start(struct power_imc_trace *trace);
void power_imc_drain_end(struct power_imc_trace *trace);
#endif

#endif /* POWER_IMC_TRACE_H */
