/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace mode: a thread's ring, who wants its records, and when it is drained. */
#ifndef IMC_TRACE_H
#define IMC_TRACE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/types.h>

#include "imc.h"
#include "ring.h"

/* A thread that can trace. Touched on its CPU with interrupts off. */
struct imc_trace {
	struct imc *imc;
	struct imc_core *core;
	u64 ldbar;
	struct imc_ring ring;
	struct list_head events;	/* imc_trace_event.node */
	struct hrtimer timer;
	u64 interval_ns;		/* of the timer */
	u64 drains, timers, samples;	/* timers: drains by the timer, an interrupt each */
};

/* drain.c */
void imc_drain_start(struct imc_trace *trace);
void imc_drain_stop(struct imc_trace *trace);
void imc_drain(struct imc_trace *trace);
void imc_drain_init(struct imc_trace *trace);

/* switch.c */
int imc_switch_watch(void (*probe)(int cpu));
void imc_switch_unwatch(void);
void imc_switch_exit(void);

#endif /* IMC_TRACE_H */
