/* SPDX-License-Identifier: GPL-2.0-only */
/* From trace records to perf's samples. */
#ifndef IMC_SAMPLE_H
#define IMC_SAMPLE_H

#include <linux/list.h>
#include <linux/types.h>

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
	u64 period;			/* of a record, in counts of what triggers records */
};

/* Where a record was made. */
enum imc_mode { IMC_HOST_USER, IMC_HOST_KERNEL, IMC_GUEST_USER, IMC_GUEST_KERNEL };

u64 imc_thinning(u64 wanted, bool freq, u64 period, u64 rate);
u64 imc_thin(struct imc_trace_event *te, u64 records);
enum imc_mode imc_record_mode(enum imc_generation generation, const struct imc_record *record);
bool imc_sample_wanted(const struct perf_event_attr *attr, enum imc_mode mode);
bool imc_sample_deliver(struct imc_trace_event *te, const struct imc_record *record,
			enum imc_mode mode);

#endif /* IMC_SAMPLE_H */
