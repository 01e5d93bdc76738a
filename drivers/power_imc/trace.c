// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_imc: the hardware records where a thread executes, without interrupting it, and perf gets
 * samples. A box per CPU, each with a ring of 256 KiB.
 *
 * The ring is drained before the hardware laps it, and before another task runs: a sample is of the
 * current task. The counters do not interrupt, so a timer on each CPU that traces does it. perf
 * reports neither task switches nor exits to modules, but tracepoints do.
 *
 * A record comes each 7.8 us, or, if its counter is prescaled as the others are, each 4 ms. In the
 * first case a ring of 4096 is lapped in 32 ms. perf sorts samples by time, within a window, so
 * none may come much later than the others: the timer comes more seldom only while its CPU idles
 * and makes no records. It stays armed when events come and go, and stops when there are none.
 */
#include <linux/cpuhotplug.h>
#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/topology.h>
#include <linux/tracepoint.h>
#include <asm/reg.h>
#include <asm/time.h>
#include <trace/events/sched.h>

#include <pmu/compat.h>
#include <pmu/loans.h>

#include "trace.h"

static const struct pmu_format power_imc_trace_formats[] = {
	{ .name = "event", .mask = POWER_IMC_CONFIG_EVENT, .always = true },
	{ .name = "cpmc_reserved", .mask = POWER_IMC_CONFIG_CPMC_RESERVED, .alias = true },
	{ .name = "cpmc_event", .mask = POWER_IMC_CONFIG_CPMC_EVENT, .alias = true },
	{ .name = "cpmc_samplesel", .mask = POWER_IMC_CONFIG_CPMC_SAMPLESEL, .alias = true },
	{ .name = "cpmc_load", .mask = POWER_IMC_CONFIG_CPMC_LOAD, .alias = true },
};

/* Parts of a sample that describe its moment and are in no record. */
#define POWER_IMC_TRACE_CANNOT	(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR | \
				 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK)

/* No multiple of the time between records, or the drain would be in step with them. */
#define POWER_IMC_DRAIN_NS	(1009 * NSEC_PER_USEC)
#define POWER_IMC_DRAIN_SELDOM_NS	(8 * NSEC_PER_MSEC)

static DEFINE_PER_CPU(struct power_imc_trace *, power_imc_trace_of);
static int power_imc_trace_state;		/* state of CPU hotplug */
static bool power_imc_foreign_told;		/* since a profile began */
static unsigned long power_imc_opened;		/* its last event; in jiffies */

/* perf record asks the event that was opened, not its children. */
static void power_imc_drain_miss(struct power_imc_trace_event *te, u64 samples)
{
	pmu_add_lost_samples(te->event->parent ?: te->event, samples);
}

/*
 * The modes of lost records are not known, so an event that excludes one may report too many lost
 * samples.
 */
static void power_imc_drain_lost(struct power_imc_trace *trace, u64 lost)
{
	struct power_imc_trace_event *te;

	if (!lost)
		return;
	list_for_each_entry(te, &trace->events, node)
		power_imc_drain_miss(te, power_imc_thin_many(te, lost));
}

static void power_imc_drain_deliver(struct power_imc_trace *trace, struct power_imc_sample *sample)
{
	struct power_imc_mode mode = power_imc_record_mode(power_imc_generation(),
							   &sample->raw.record,
							   !(current->flags & PF_KTHREAD));
	struct power_imc_trace_event *te;

	list_for_each_entry(te, &trace->events, node) {
		if (te->over || !power_imc_sample_wanted(&te->event->attr, mode) ||
		    !power_imc_thin_one(te, &trace->random))
			continue;
		if (power_imc_sample_deliver(te, mode.user))
			trace->samples++;
		else
			power_imc_drain_miss(te, 1);
	}
}

/* Before the first record of a drain; and before each, while their distance is not known. */
static void power_imc_drain_begin(struct power_imc_trace *trace, struct power_imc_sample *sample,
				  bool first)
{
	struct power_imc_trace_event *te;

	list_for_each_entry(te, &trace->events, node) {
		if (first)
			power_imc_sample_begin(te, sample);
		power_imc_thin_set(te, &trace->ring);
	}
}

/* Take all records. Interrupts are off for as long as it takes to make samples of them. */
static noinline void power_imc_drain_all(struct power_imc_trace *trace)
{
	/* Zeroed: perf fills struct trace_entry, but not the bytes between it and the record. */
	struct power_imc_sample sample = {};
	u64 lost, now = get_tb();
	bool early, first = true, measured = trace->ring.step;

	for (u32 most = 2 * trace->ring.slots; most; most--) {
		bool any;

		/* Those of interrupts in idle, too, have idle time in between. */
		trace->ring.gaps |= is_idle_task(current);
		any = power_imc_ring_take(&trace->ring, &sample.raw.record, now, &lost);

		power_imc_drain_lost(trace, lost);
		if (!any)
			return;
		sample.tb = be64_to_cpu(sample.raw.record.tb);
		/* Made before the events began and written after that, it belongs to none. */
		early = sample.tb < trace->from && trace->from - sample.tb < trace->ring.second;
		trace->from = 0;
		if (early) {
			trace->ring.stats.taken--;
			continue;
		}
		if (power_imc_ring_is_foreign(&trace->ring, sample.tb, now))
			sample.tb = now;
		if (first || !measured)
			power_imc_drain_begin(trace, &sample, first);
		first = false;
		power_imc_drain_deliver(trace, &sample);
	}
}

/* Tests trace this function and power_imc_drain_task_switched() by their names. */
static noinline void power_imc_drain(struct power_imc_trace *trace)
{
	if (!power_imc_ring_is_quiet(&trace->ring))
		power_imc_drain_all(trace);
}

static void power_imc_drain_arm(struct power_imc_trace *trace)
{
	trace->interval_ns = POWER_IMC_DRAIN_NS;
	hrtimer_start(&trace->timer, ns_to_ktime(trace->interval_ns), HRTIMER_MODE_REL_PINNED_HARD);
}

/*
 * The current task is switched out or exits. Called with interrupts off, perhaps with the run
 * queue's lock.
 */
static noinline void power_imc_drain_task_switched(struct power_imc_trace *trace)
{
	power_imc_drain(trace);
	if (trace->interval_ns > POWER_IMC_DRAIN_NS)
		power_imc_drain_arm(trace);
}

/*
 * Does LDBAR name this CPU's ring? LDBAR may have been lost in deep sleep, and if the threads of a
 * core share it, another one may have written it.
 */
static bool power_imc_trace_is_on(const struct power_imc_trace *trace)
{
	return mfspr(SPRN_LDBAR) == trace->ldbar;
}

/* LDBAR of an engaged box was lost. Interrupts are off; this may print. */
static int power_imc_trace_again(struct power_imc_trace *trace)
{
	power_imc_ring_clear(&trace->ring, get_tb());
	return power_imc_engine_point(trace->core, trace->ldbar);
}

/*
 * There was no record. If that is because LDBAR was lost, write it again. If another thread has
 * written it, or it does not keep what is written now, say so.
 */
static void power_imc_drain_look(struct power_imc_trace *trace)
{
	int err = 0;

	if (trace->leaving || trace->refused || READ_ONCE(trace->core->imc->halted) ||
	    power_imc_trace_is_on(trace))
		return;
	if (!mfspr(SPRN_LDBAR))
		err = power_imc_trace_again(trace);
	trace->refused = !power_imc_trace_is_on(trace);
	if (trace->refused && err)
		dev_warn(trace->core->imc->dev, "LDBAR of CPU %d was lost, and the engine of its core could not be stopped (%pe) to write it again: the CPU is not traced\n",
			 trace->cpu, ERR_PTR(err));
	else if (trace->refused)
		dev_warn(trace->core->imc->dev, "LDBAR of CPU %d does not keep what is written to it (is it the whole core's?): the CPU is not traced\n",
			 trace->cpu);
}

static enum hrtimer_restart power_imc_drain_timer(struct hrtimer *timer)
{
	struct power_imc_trace *trace = container_of(timer, struct power_imc_trace, timer);
	u64 taken = trace->ring.stats.taken;
	bool any;

	if (list_empty(&trace->events)) {
		trace->interval_ns = 0;
		return HRTIMER_NORESTART;
	}
	trace->timers++;
	power_imc_drain(trace);
	any = trace->ring.stats.taken != taken;
	if (!any)
		power_imc_drain_look(trace);
	if (trace->ring.stats.foreign != trace->foreign && !xchg(&power_imc_foreign_told, true))
		dev_notice(trace->core->imc->dev, "records have another clock than CPU %d (a guest's?): their samples have the time when they are read, and how many are lost may be wrong; if there are no others each record is a sample\n",
			   trace->cpu);
	trace->foreign = trace->ring.stats.foreign;
	trace->interval_ns = any || !is_idle_task(current) ? POWER_IMC_DRAIN_NS :
							     POWER_IMC_DRAIN_SELDOM_NS;
	hrtimer_forward_now(timer, ns_to_ktime(trace->interval_ns));
	return HRTIMER_RESTART;
}

/* The first event starts. With interrupts off. */
VISIBLE_IF_KUNIT void power_imc_drain_start(struct power_imc_trace *trace)
{
	/* The timer is usually still armed for the task that ran on this CPU before. */
	if (!trace->interval_ns || trace->interval_ns > POWER_IMC_DRAIN_NS)
		power_imc_drain_arm(trace);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_drain_start);

/*
 * No event will start. This is the timer's own CPU with interrupts off, so the timer is not
 * running. The last records are passed over, since the hardware may go on writing after them.
 */
VISIBLE_IF_KUNIT void power_imc_drain_end(struct power_imc_trace *trace)
{
	power_imc_ring_pass(&trace->ring, get_tb());
	hrtimer_try_to_cancel(&trace->timer);
	trace->interval_ns = 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_drain_end);

VISIBLE_IF_KUNIT void power_imc_drain_init(struct power_imc_trace *trace)
{
	INIT_LIST_HEAD(&trace->events);
	hrtimer_setup(&trace->timer, power_imc_drain_timer, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_PINNED_HARD);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_drain_init);

/*
 * Firmware sets up what makes a record, so an event of any other config would get something else.
 */
static bool power_imc_trace_is_named(const struct pmu_desc *desc, u64 config)
{
	for (unsigned int i = 0; i < desc->nr_events; i++)
		if (desc->events[i].config[PMU_CONFIG] == config)
			return true;
	return false;
}

/* With interrupts off; the outgoing task is current. */
static void power_imc_task_switched(void)
{
	struct power_imc_trace *trace = this_cpu_read(power_imc_trace_of);

	if (!list_empty(&trace->events))
		power_imc_drain_task_switched(trace);
	if (is_idle_task(current))
		trace->ring.gaps = true;
}

static void power_imc_sched_switch(void *data, PMU_SCHED_SWITCH_ARGS)
{
	power_imc_task_switched();
}

/* A task that ends has no pid left at its last switch. Runs in the task. */
static void power_imc_sched_process_exit(void *data, PMU_SCHED_EXIT_ARGS)
{
	unsigned long flags;

	local_irq_save(flags);
	power_imc_task_switched();
	local_irq_restore(flags);
}

static struct {
	const char *name;
	void *probe;
	struct tracepoint *tracepoint;	/* where the probe is registered, or NULL */
} power_imc_probes[] = {
	{ "sched_switch", power_imc_sched_switch },
	{ "sched_process_exit", power_imc_sched_process_exit },
};

static void power_imc_switches_match(struct tracepoint *tracepoint, void *registered)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(power_imc_probes); i++)
		if (!strcmp(tracepoint->name, power_imc_probes[i].name) &&
		    !tracepoint_probe_register(tracepoint, power_imc_probes[i].probe, NULL)) {
			power_imc_probes[i].tracepoint = tracepoint;
			++*(unsigned int *)registered;
		}
}

static void power_imc_switches_unwatch(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(power_imc_probes); i++)
		if (power_imc_probes[i].tracepoint)
			tracepoint_probe_unregister(power_imc_probes[i].tracepoint,
						    power_imc_probes[i].probe, NULL);
	tracepoint_synchronize_unregister();
}

/*
 * Drain when a CPU switches tasks, or one ends. This waits for hotplug, which an open must not do
 * (drivers/core/core.h). So it is done once.
 */
static bool power_imc_switches_watch(void)
{
	unsigned int registered = 0;

	pmu_check_sched_probes(power_imc_sched_switch, power_imc_sched_process_exit);
	for_each_kernel_tracepoint(power_imc_switches_match, &registered);
	return registered == ARRAY_SIZE(power_imc_probes);
}

/* A record does not say whether the CPU was idle, nor, on POWER9, whether a guest ran. */
static bool power_imc_trace_can_exclude(const struct perf_event_attr *attr)
{
	return !attr->exclude_idle &&
	       !(attr->exclude_host && power_imc_generation() != POWER_IMC_P10);
}

/*
 * perf's own period is bypassed: thin.c chooses the records that become samples. This runs in each
 * fork, for each event that is inherited.
 */
static void power_imc_trace_attach(struct pmu_event *ev, const struct power_imc_trace_event *parent)
{
	struct power_imc_trace_event *te = ev->priv;

	INIT_LIST_HEAD(&te->node);
	te->event = ev->event;
	te->freq = parent ? parent->freq : te->event->attr.freq;
	te->wanted = parent ? parent->wanted : te->event->attr.sample_period;
	te->chance = POWER_IMC_THIN_ALL;
	power_imc_sample_attach(te, parent);
	pmu_bypass_period(te->event, power_imc_thin_wanted(te->wanted, te->freq));
}

static int power_imc_trace_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	struct perf_event *event = ev->event;
	int err;

	if (event->parent) {
		power_imc_trace_attach(ev, pmu_event_of(event->parent)->priv);
		return 0;
	}
	if (!power_imc_trace_can_exclude(&event->attr) ||
	    !power_imc_trace_is_named(desc, event->attr.config))
		return -EINVAL;
	/* A signal for each sample would come only when the ring is drained. */
	if (event->attr.sample_type & POWER_IMC_TRACE_CANNOT || pmu_attr_sigtrap(&event->attr))
		return -EOPNOTSUPP;
	/* Inherited events share this session: each of them ends before its parent. */
	err = power_imc_session_open(POWER_IMC_TYPE_TRACE);
	if (err)
		return err;
	power_imc_trace_attach(ev, NULL);
	/* Not for each of a profile's events. */
	if (time_after(jiffies, READ_ONCE(power_imc_opened) + HZ))
		WRITE_ONCE(power_imc_foreign_told, false);
	WRITE_ONCE(power_imc_opened, jiffies);
	return 0;
}

static int power_imc_trace_engage(struct pmu_box *box)
{
	struct power_imc_trace *trace = pmu_box_priv(box);
	int err;

	if (!power_imc_trace_is_on(trace))
		power_imc_ring_clear(&trace->ring, get_tb());
	err = power_imc_engine_get(trace->core, POWER_IMC_TYPE_TRACE,
				   trace->leaving ? 0 : trace->ldbar);
	trace->engaged = !err;
	trace->refused = false;
	return err;
}

static void power_imc_trace_disengage(struct pmu_box *box)
{
	struct power_imc_trace *trace = pmu_box_priv(box);

	trace->engaged = false;
	power_imc_engine_put(trace->core);
	power_imc_drain_end(trace);
}

static u64 power_imc_trace_start(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct power_imc_trace *trace = pmu_box_priv(box);
	struct power_imc_trace_event *te = ev->priv;

	te->over = false;
	/* Records that were written before this event started do not belong to it. */
	if (list_empty(&trace->events)) {
		power_imc_ring_pass(&trace->ring, get_tb());
		trace->from = get_tb();
		power_imc_drain_start(trace);
	} else {
		power_imc_drain(trace);
	}
	list_add_tail(&te->node, &trace->events);
	return 0;
}

/*
 * LDBAR keeps its value, and records are still written: clearing it under a running engine may stop
 * the machine, and it is not known how long after a stop an engine is off. The session clears it.
 */
static void power_imc_trace_stop(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct power_imc_trace *trace = pmu_box_priv(box);
	struct power_imc_trace_event *te = ev->priv;

	power_imc_drain(trace);
	list_del_init(&te->node);
}

/* Each sample adds to the count when it is made. */
static int power_imc_trace_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	*value = 0;
	return 0;
}

static const struct pmu_box_ops power_imc_trace_ops = {
	.event_init = power_imc_trace_event_init,
	.event_free = power_imc_event_free,
	.engage = power_imc_trace_engage,
	.disengage = power_imc_trace_disengage,
	.start = power_imc_trace_start,
	.stop = power_imc_trace_stop,
	.read = power_imc_trace_read,
};

/*
 * This CPU goes offline: it must stop tracing, since its LDBAR cannot be cleared later. The engine
 * has to be off from before LDBAR is cleared until that has taken effect. If the firmware cannot
 * stop it, the CPU has to stay online.
 */
VISIBLE_IF_KUNIT int power_imc_trace_leave(struct power_imc_trace *trace)
{
	unsigned long flags;
	bool on;
	int err;

	local_irq_save(flags);
	on = power_imc_trace_is_on(trace);
	trace->leaving = true;
	local_irq_restore(flags);
	if (!on)
		return 0;
	err = power_imc_engine_pause(trace->core);
	if (err) {
		trace->leaving = false;
		dev_warn(trace->core->imc->dev, "CPU %d cannot go offline: it traces, and the engine of its core could not be stopped (%pe)\n",
			 trace->cpu, ERR_PTR(err));
		return err;
	}
	power_imc_engines_wait();
	local_irq_save(flags);
	power_imc_drain(trace);
	/* Events of tasks are still scheduled on this CPU. */
	if (power_imc_trace_is_on(trace))
		power_imc_ldbar_write(trace->core->imc, 0);
	local_irq_restore(flags);
	power_imc_engines_wait();
	power_imc_engine_resume(trace->core);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_trace_leave);

/* This CPU has come online, or its offline was refused. Events may have started there already. */
VISIBLE_IF_KUNIT void power_imc_trace_arrive(struct power_imc_trace *trace)
{
	unsigned long flags;

	local_irq_save(flags);
	trace->leaving = false;
	if (trace->engaged && !power_imc_trace_is_on(trace))
		power_imc_trace_again(trace);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_trace_arrive);

static int power_imc_trace_cpu_online(unsigned int cpu)
{
	power_imc_trace_arrive(per_cpu(power_imc_trace_of, cpu));
	return 0;
}

static int power_imc_trace_cpu_offline(unsigned int cpu)
{
	return power_imc_trace_leave(per_cpu(power_imc_trace_of, cpu));
}

/*
 * Remove the hotplug state last: a CPU that goes offline before its LDBAR is clear needs its
 * callback.
 */
static void power_imc_trace_unwatch(void *imc)
{
	power_imc_engines_end(imc);
	cpuhp_remove_state_nocalls(power_imc_trace_state);
	power_imc_switches_unwatch();
}

static int power_imc_trace_watch(struct power_imc *imc)
{
	int state = -EOPNOTSUPP, err;

	if (power_imc_switches_watch())
		state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "perf/power_imc:trace",
					  power_imc_trace_cpu_online, power_imc_trace_cpu_offline);
	err = state < 0 ? state : devm_add_action(imc->dev, power_imc_trace_unwatch, imc);
	if (!err) {
		power_imc_trace_state = state;
		return 0;
	}
	/* Go on without this unit: the others may be used. */
	if (state >= 0)
		cpuhp_remove_state_nocalls(state);
	power_imc_switches_unwatch();
	return err;
}

static struct power_imc_trace *power_imc_trace_create(struct power_imc *imc, int cpu)
{
	struct power_imc_trace *trace = devm_kzalloc(imc->dev, sizeof(*trace), GFP_KERNEL);

	if (!trace)
		return NULL;
	/* A ring is aligned to its size. It is from another node if the CPU's has no memory. */
	trace->ring.base = power_imc_memory_alloc(imc, POWER_IMC_TRACE_SIZE, cpu);
	if (!trace->ring.base)
		return NULL;
	trace->ldbar = power_imc_ldbar(__pa(trace->ring.base), POWER_IMC_LDBAR_TRACE);
	trace->core = power_imc_core_of(imc, cpu);
	trace->cpu = cpu;
	/* The CPU counts as leaving until hotplug watches it. */
	trace->leaving = true;
	trace->ring.slots = POWER_IMC_TRACE_SIZE / sizeof(struct power_imc_record);
	trace->ring.second = tb_ticks_per_sec;
	trace->ring.known = &imc->step;
	prandom_seed_state(&trace->random, get_random_u64());
	power_imc_drain_init(trace);
	return trace;
}

int power_imc_trace_register(struct power_imc_unit *unit)
{
	struct power_imc *imc = unit->imc;
	int cpu, err;

	unit->desc.ops = &power_imc_trace_ops;
	unit->desc.scope = PMU_SCOPE_CPU;
	unit->desc.tasks = PMU_TASKS_TOO;
	unit->desc.privileged = true;
	unit->desc.sampling = true;
	unit->desc.excludes = true;
	unit->desc.event_size = sizeof(struct power_imc_trace_event);
	unit->desc.formats = power_imc_trace_formats;
	unit->desc.nr_formats = ARRAY_SIZE(power_imc_trace_formats);
	for_each_present_cpu(cpu) {
		per_cpu(power_imc_trace_of, cpu) = power_imc_trace_create(imc, cpu);
		if (!per_cpu(power_imc_trace_of, cpu))
			return -ENOMEM;
	}
	err = power_imc_trace_watch(imc);
	if (err)
		return err;
	for_each_present_cpu(cpu) {
		err = devm_pmu_box_register(imc->dev, &unit->desc, unit->name, cpu,
					    per_cpu(power_imc_trace_of, cpu));
		if (err)
			break;
	}
	return err;
}

/* For debugfs. NULL if there is no trace unit, or it could not be registered. */
const struct power_imc_trace *power_imc_trace_peek(int cpu)
{
	return power_imc_trace_state ? per_cpu(power_imc_trace_of, cpu) : NULL;
}
