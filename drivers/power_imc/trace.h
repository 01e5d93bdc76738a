/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace mode: a thread's ring, who wants its records, and when it is drained. */
#ifndef POWER_IMC_TRACE_H
#define POWER_IMC_TRACE_H

#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/types.h>

#include "power_imc.h"
#include "ring.h"

/* A thread that can trace. Touched on its CPU with interrupts off. */
struct power_imc_trace {
	struct power_imc_core *core;
	u64 ldbar;
	struct power_imc_ring ring;
	struct list_head events;	/* power_imc_trace_event.node */
	struct hrtimer timer;
	u64 interval_ns;		/* of the timer */
	u64 drains, timers, samples;	/* timers: drains by the timer, an interrupt each */
};

/* drain.c */
void power_imc_drain_start(struct power_imc_trace *trace);
void power_imc_drain_stop(struct power_imc_trace *trace);
void power_imc_drain(struct power_imc_trace *trace);
void power_imc_drain_init(struct power_imc_trace *trace);

/* switch.c */
int power_imc_switch_watch(void (*probe)(int cpu));
void power_imc_switch_unwatch(void);
void power_imc_switch_exit(void);

#endif /* POWER_IMC_TRACE_H */
