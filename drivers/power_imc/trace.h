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
	int cpu;
	u64 ldbar;			/* 0: there is no ring yet */
	bool kept;			/* its engine could not be stopped: it is a user */
	struct power_imc_ring ring;
	struct list_head events;	/* power_imc_trace_event.node */
	struct hrtimer timer;
	u64 interval_ns;		/* of the timer, or 0: it is not armed */
	u64 drains, timers, samples;	/* timers: drains by the timer, an interrupt each */
};

/* drain.c */
void power_imc_drain_start(struct power_imc_trace *trace);
void power_imc_drain_end(struct power_imc_trace *trace);
void power_imc_drain(struct power_imc_trace *trace);
void power_imc_drain_pass(struct power_imc_trace *trace);
void power_imc_drain_switched(struct power_imc_trace *trace);
void power_imc_drain_init(struct power_imc_trace *trace);
#if IS_ENABLED(CONFIG_PMU_SUITE_KUNIT_TEST)
u64 power_imc_drain_when(u64 now, u64 interval_ns);
u64 power_imc_drain_next(u64 interval_ns, bool all, bool any, bool idle);
#endif

/* switch.c */
int power_imc_switch_watch(void (*probe)(int cpu));
void power_imc_switch_unwatch(void);
void power_imc_switch_exit(void);

#endif /* POWER_IMC_TRACE_H */
