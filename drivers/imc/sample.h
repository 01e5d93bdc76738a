/* SPDX-License-Identifier: GPL-2.0-only */
/* From trace records to perf's samples. */
#ifndef IMC_SAMPLE_H
#define IMC_SAMPLE_H

#include <linux/list.h>
#include <linux/types.h>
#include <asm/ptrace.h>

#include "imc.h"
#include "ring.h"

struct perf_event;
struct perf_event_attr;

/* A trace event: it wants one record of so many. */
struct imc_trace_event {
	struct list_head node;		/* imc_trace.events, while it is scheduled */
	struct perf_event *event;
	u64 every;			/* records to a sample */
	u64 left;			/* records until the next one */
	u64 period;			/* of a sample, in counts of what triggers records */
	/* While its samples are made, from imc_sample_begin() to imc_sample_end(): */
	struct hlist_head only;		/* the event, and no other */
	u64 (*clock)(void);		/* the event's own */
	u64 clock_offset;		/* from the timebase, in ns, to that */
	bool no_user_chain;		/* as the user wants it */
};

/* What is given to perf of a record, made once for many. */
struct imc_sample {
	struct pt_regs regs;
	struct {
		u64 skipped;		/* perf_tp_event() wants a header there */
		struct imc_record record;
	} raw;
};

/* Where a record was made. */
enum imc_mode { IMC_HOST_USER, IMC_HOST_KERNEL, IMC_GUEST_USER, IMC_GUEST_KERNEL };

u64 imc_thinning(u64 wanted, bool freq, u64 period, u64 rate);
u64 imc_thin(struct imc_trace_event *te, u64 records);
enum imc_mode imc_record_mode(enum imc_generation generation, const struct imc_record *record);
bool imc_sample_wanted(const struct perf_event_attr *attr, enum imc_mode mode);
void imc_sample_init(struct imc_sample *sample);
void imc_sample_begin(struct imc_trace_event *te);
bool imc_sample_deliver(struct imc_trace_event *te, struct imc_sample *sample,
			enum imc_mode mode);
void imc_sample_end(struct imc_trace_event *te);

#endif /* IMC_SAMPLE_H */
