/* SPDX-License-Identifier: GPL-2.0-only */
/* From trace records to perf's samples. */
#ifndef IMC_SAMPLE_H
#define IMC_SAMPLE_H

#include <linux/list.h>
#include <linux/types.h>

#include "imc.h"
#include "ring.h"

struct perf_event;

/* A trace event: it wants one record of so many. */
struct imc_trace_event {
	struct list_head node;		/* imc_trace.events, while it is scheduled */
	struct perf_event *event;
	u64 every;			/* records to a sample */
	u64 left;			/* records until the next one */
	u64 period;			/* of a record, in counts of what triggers records */
};

u64 imc_thinning(u64 wanted, bool freq, u64 period, u64 rate);
u64 imc_thin(struct imc_trace_event *te, u64 records);
bool imc_record_is_user(enum imc_generation generation, const struct imc_record *record);
bool imc_sample_deliver(struct imc_trace_event *te, const struct imc_record *record, bool user);

#endif /* IMC_SAMPLE_H */
