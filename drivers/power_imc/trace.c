// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_imc: the hardware writes where a thread is, by itself and without interrupting it,
 * and perf gets samples. A box per CPU, with a ring of 256 KiB once somebody wants its records.
 */
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/random.h>
#include <linux/topology.h>
#include <asm/reg.h>
#include <asm/time.h>

#include <pmu/compat.h>

#include "sample.h"
#include "trace.h"

static const struct pmu_format power_imc_trace_formats[] = {
	{ .name = "event", .mask = POWER_IMC_CONFIG_EVENT, .always = true },
	{ .name = "cpmc_reserved", .mask = POWER_IMC_CONFIG_CPMC_RESERVED, .alias = true },
	{ .name = "cpmc_event", .mask = POWER_IMC_CONFIG_CPMC_EVENT, .alias = true },
	{ .name = "cpmc_samplesel", .mask = POWER_IMC_CONFIG_CPMC_SAMPLESEL, .alias = true },
	{ .name = "cpmc_load", .mask = POWER_IMC_CONFIG_CPMC_LOAD, .alias = true },
};

/* What a sample would need of the moment that no record tells. */
#define POWER_IMC_TRACE_CANNOT	(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR | \
				 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK)

static DEFINE_PER_CPU(struct power_imc_trace *, power_imc_trace_of);
static DEFINE_MUTEX(power_imc_trace_mutex);	/* who allocates rings */

/*
 * Firmware sets up one trigger of records. An event of another config would be told that it has what it
 * asks for, and get something else.
 */
static bool power_imc_trace_is_named(const struct pmu_desc *desc, u64 config)
{
	for (unsigned int i = 0; i < desc->nr_events; i++)
		if (desc->events[i].config[PMU_CONFIG] == config)
			return true;
	return false;
}

static void power_imc_trace_switched(int cpu)
{
	struct power_imc_trace *trace = per_cpu(power_imc_trace_of, cpu);

	if (!list_empty(&trace->events))
		power_imc_drain_switched(trace);
}

/*
 * perf's own period logic is for counters that interrupt: it would restart the event for
 * a frequency, and hold back samples for a period. Here each sample is one of its own.
 */
static void power_imc_trace_bypass_period(struct perf_event *event)
{
	event->hw.sample_period = 1;
	event->hw.last_period = 1;
	local64_set(&event->hw.period_left, 1);
}

static void power_imc_trace_set_window(struct power_imc_trace_event *te, u64 record, u64 period)
{
	te->record = record;
	te->period = period;
	if (period > record)
		power_imc_thin_begin(te, get_random_u64());
	power_imc_trace_bypass_period(te->event);
}

static void power_imc_trace_set_period(struct power_imc_trace_event *te)
{
	struct perf_event_attr *attr = &te->event->attr;

	attr->sample_period = power_imc_thin_period(attr->sample_period, attr->freq,
						    POWER_IMC_TRACE_LOAD, POWER_IMC_TRACE_CLOCK_HZ);
	attr->freq = 0;
	power_imc_trace_set_window(te, POWER_IMC_TRACE_LOAD, attr->sample_period);
}

/* Idle is not in the record, nor on POWER9 whether it is a guest's. */
static bool power_imc_trace_can_exclude(const struct perf_event_attr *attr)
{
	return !attr->exclude_idle &&
	       !(attr->exclude_host && power_imc_generation() != POWER_IMC_P10);
}

/* A CPU's ring: as large as it is aligned. From another node where its own has no memory. */
static int power_imc_trace_allocate(struct power_imc_trace *trace)
{
	void *base;

	lockdep_assert_held(&power_imc_trace_mutex);
	if (trace->ldbar)
		return 0;
	base = power_imc_memory_alloc(trace->core->imc, POWER_IMC_TRACE_SIZE, trace->cpu);
	if (!base)
		return -ENOMEM;
	trace->ring.base = base;
	/* Whoever is powered meanwhile sees it when all is there, or is refused. */
	smp_store_release(&trace->ldbar,
			  power_imc_ldbar(__pa(base), POWER_IMC_LDBAR_TRACE));
	return 0;
}

/*
 * Rings are had when they are first used, and then kept: by an event on a CPU its own, by a task's
 * those of all CPUs, as it powers all boxes. Who lacks one is told when the box is powered.
 */
static void power_imc_trace_prepare(const struct perf_event *event)
{
	bool task = event->attach_state & PERF_ATTACH_TASK;
	int cpu;

	mutex_lock(&power_imc_trace_mutex);
	for_each_present_cpu(cpu) {
		struct power_imc_trace *trace = per_cpu(power_imc_trace_of, cpu);

		if (!task && event->cpu != cpu)
			continue;
		if (power_imc_trace_allocate(trace) && task)
			dev_warn_ratelimited(trace->core->imc->dev, "no memory for the records of CPU %d: tasks are not traced there\n",
					     cpu);
	}
	mutex_unlock(&power_imc_trace_mutex);
}

/*
 * What is claimed for an event is its children's too: each of them ends before it. Events of tasks
 * need switches as well: between tasks whose events are inherited from the same ones perf schedules
 * nothing.
 */
static int power_imc_trace_claim(struct power_imc *imc, const struct perf_event *event)
{
	int err = power_imc_domain_open(imc, POWER_IMC_TYPE_TRACE);

	if (err)
		return err;
	power_imc_trace_prepare(event);
	err = power_imc_switch_watch(power_imc_trace_switched);
	if (err)
		power_imc_domain_close(POWER_IMC_TYPE_TRACE);
	return err;
}

static void power_imc_trace_attach(struct pmu_event *ev, const struct power_imc_trace_event *parent)
{
	struct power_imc_trace_event *te = ev->priv;

	INIT_LIST_HEAD(&te->node);
	te->event = ev->event;
	power_imc_sample_attach(te, parent);
}

/* In each fork, for each event: nothing is checked, claimed or computed again. */
static int power_imc_trace_inherit(struct pmu_event *ev)
{
	const struct power_imc_trace_event *parent = pmu_event_of(ev->event->parent)->priv;

	power_imc_trace_attach(ev, parent);
	power_imc_trace_set_window(ev->priv, parent->record, parent->period);
	return 0;
}

static int power_imc_trace_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	struct perf_event *event = ev->event;
	int err;

	if (event->parent)
		return power_imc_trace_inherit(ev);

	if (!power_imc_trace_can_exclude(&event->attr) ||
	    !power_imc_trace_is_named(desc, event->attr.config))
		return -EINVAL;
	/* A signal for each sample would come where the ring is drained. */
	if (event->attr.sample_type & POWER_IMC_TRACE_CANNOT || pmu_attr_sigtrap(&event->attr))
		return -EOPNOTSUPP;
	err = power_imc_trace_claim(to_imc_unit(desc)->imc, event);
	if (err)
		return err;
	power_imc_trace_attach(ev, NULL);
	power_imc_trace_set_period(ev->priv);
	return 0;
}

static void power_imc_trace_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	if (!ev->event->parent) {
		power_imc_switch_unwatch();
		power_imc_domain_close(POWER_IMC_TYPE_TRACE);
	}
}

/*
 * Does LDBAR have this CPU's records written, once its engine is on? It may have been lost in deep
 * sleep. Where the threads of a core share it, another one may have written it.
 */
static bool power_imc_trace_is_on(const struct power_imc_trace *trace)
{
	return mfspr(SPRN_LDBAR) == trace->ldbar;
}

static int power_imc_trace_power_on(struct pmu_box *box)
{
	struct power_imc_trace *trace = pmu_box_priv(box);

	/* With who allocates: the ring is there. */
	if (!smp_load_acquire(&trace->ldbar))
		return -ENOMEM;
	if (trace->kept)
		return 0;
	return power_imc_engine_get(trace->core, POWER_IMC_TYPE_TRACE);
}

static void power_imc_trace_power_off(struct pmu_box *box)
{
	struct power_imc_trace *trace = pmu_box_priv(box);
	int err = power_imc_engine_put(trace->core, power_imc_trace_is_on(trace));

	power_imc_drain_end(trace);
	trace->kept = power_imc_engine_kept(trace->core, trace->kept, err);
	/* When the module goes, this CPU may be offline, and LDBAR as it is. */
	if (err && !trace->kept)
		trace->core->imc->written = true;
}

static u64 power_imc_trace_start(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct power_imc_trace *trace = pmu_box_priv(box);
	struct power_imc_trace_event *te = ev->priv;

	te->over = false;
	if (list_empty(&trace->events)) {
		if (power_imc_trace_is_on(trace)) {
			power_imc_drain_pass(trace);
		} else {
			power_imc_ring_restart(&trace->ring, get_tb());
			power_imc_ldbar_write(trace->core->imc, trace->ldbar);
		}
		power_imc_drain_start(trace);
	} else {
		/* What was written before this event started is none of its own. */
		power_imc_drain(trace);
	}
	list_add_tail(&te->node, &trace->events);
	return 0;
}

/*
 * LDBAR stays, and records are still written: to take it back from an engine that is on may stop a
 * machine.
 */
static void power_imc_trace_stop(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct power_imc_trace *trace = pmu_box_priv(box);
	struct power_imc_trace_event *te = ev->priv;

	power_imc_drain(trace);
	list_del_init(&te->node);
}

/* Samples count themselves. */
static int power_imc_trace_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	*value = 0;
	return 0;
}

static const struct pmu_box_ops power_imc_trace_ops = {
	.event_init = power_imc_trace_event_init,
	.event_free = power_imc_trace_event_free,
	.power_on = power_imc_trace_power_on,
	.power_off = power_imc_trace_power_off,
	.start = power_imc_trace_start,
	.stop = power_imc_trace_stop,
	.read = power_imc_trace_read,
};

static struct power_imc_trace *power_imc_trace_create(struct power_imc *imc, int cpu)
{
	struct power_imc_trace *trace = devm_kzalloc(imc->dev, sizeof(*trace), GFP_KERNEL);

	if (!trace)
		return NULL;
	trace->core = power_imc_core_of(imc, cpu);
	trace->cpu = cpu;
	trace->ring.slots = POWER_IMC_TRACE_SIZE / sizeof(struct power_imc_record);
	power_imc_drain_init(trace);
	return trace;
}

/* Register a trace unit. */
int power_imc_trace_register(struct power_imc_unit *unit)
{
	struct power_imc *imc = unit->imc;
	int cpu, err = 0;

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
	for_each_present_cpu(cpu) {
		err = devm_pmu_box_register(imc->dev, &unit->desc, unit->name, cpu,
					    per_cpu(power_imc_trace_of, cpu));
		if (err)
			break;
	}
	return err;
}

/* What a CPU's ring has seen, for debugfs; NULL if there is none. */
const struct power_imc_trace *power_imc_trace_peek(int cpu)
{
	return per_cpu(power_imc_trace_of, cpu);
}
