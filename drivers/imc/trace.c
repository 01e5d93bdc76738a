// SPDX-License-Identifier: GPL-2.0-only
/*
 * trace_imc: the hardware writes where a thread is, by itself and without interrupting it,
 * and perf gets samples. A box per CPU.
 */
#include <linux/bitfield.h>
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <asm/reg.h>
#include <asm/time.h>

#include "sample.h"
#include "trace.h"

static bool trace_config;
module_param(trace_config, bool, 0444);
MODULE_PARM_DESC(trace_config, "let trace events choose what triggers records, by cpmc_*; needs firmware=scom (default: as firmware sets it up)");

static const struct pmu_format imc_trace_formats[] = {
	{ .name = "event", .mask = IMC_CONFIG_EVENT, .always = true },
	{ .name = "cpmc_reserved", .mask = IMC_CONFIG_CPMC_RESERVED, .alias = true },
	{ .name = "cpmc_event", .mask = IMC_CONFIG_CPMC_EVENT, .alias = true },
	{ .name = "cpmc_samplesel", .mask = IMC_CONFIG_CPMC_SAMPLESEL, .alias = true },
	{ .name = "cpmc_load", .mask = IMC_CONFIG_CPMC_LOAD, .alias = true },
};

/* What a sample would need of the moment that no record tells. */
#define IMC_TRACE_CANNOT	(PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR | \
				 PERF_SAMPLE_STACK_USER | PERF_SAMPLE_BRANCH_STACK)

static DEFINE_PER_CPU(struct imc_trace *, imc_trace_of);

/**
 * imc_trace_scom() - the register that makes records as a config says.
 * @generation: the processor's
 * @config: attr.config
 * @value: set to the register's value
 *
 * Return: 0; -EINVAL if the config makes no sense: what triggers has to be an event of
 * CPMC1 or CPMC2, and each IMC_TRACE_LEAST_LOAD of them at most.
 */
int imc_trace_scom(enum imc_generation generation, u64 config, u64 *value)
{
	u64 load = FIELD_GET(IMC_CONFIG_CPMC_LOAD, config);
	u64 event = FIELD_GET(IMC_CONFIG_CPMC_EVENT, config);
	u64 select = FIELD_GET(IMC_CONFIG_CPMC_SAMPLESEL, config);
	u64 scom = generation == IMC_P9 ? IMC_TRACE_SCOM_P9 : IMC_TRACE_SCOM_P10;

	if (load < IMC_TRACE_LEAST_LOAD || select > 1 || config & IMC_CONFIG_CPMC_RESERVED ||
	    event > FIELD_MAX(IMC_TRACE_CPMC1SEL))
		return -EINVAL;
	scom &= ~(IMC_TRACE_SAMPSEL | IMC_TRACE_CPMC_LOAD);
	scom |= FIELD_PREP(IMC_TRACE_SAMPSEL, select);
	scom |= FIELD_PREP(IMC_TRACE_CPMC_LOAD, U32_MAX - load);
	if (select)
		scom = (scom & ~IMC_TRACE_CPMC2SEL) | FIELD_PREP(IMC_TRACE_CPMC2SEL, event);
	else
		scom = (scom & ~IMC_TRACE_CPMC1SEL) | FIELD_PREP(IMC_TRACE_CPMC1SEL, event);
	*value = scom;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(imc_trace_scom);

/* What a config asks for: the register's value and how many counts make a record. */
static int imc_trace_decode(const struct imc_unit *unit, u64 config, u64 *scom, u64 *period)
{
	const struct pmu_desc *desc = &unit->desc;

	*scom = imc_generation() == IMC_P9 ? IMC_TRACE_SCOM_P9 : IMC_TRACE_SCOM_P10;
	*period = IMC_TRACE_LOAD;
	for (unsigned int i = 0; i < desc->nr_events; i++)
		if (desc->events[i].config[PMU_CONFIG] == config)
			return 0;
	/* Firmware calls set up what they always set up. */
	if (!trace_config || unit->imc->firmware != imc_scom_find())
		return -EINVAL;
	*period = FIELD_GET(IMC_CONFIG_CPMC_LOAD, config);
	return imc_trace_scom(imc_generation(), config, scom);
}

/* All threads of a core share the register, so all open events have to agree on it. */
static int imc_trace_claim(struct imc *imc, u64 scom)
{
	int err = imc_domain_get(IMC_TYPE_TRACE);

	if (err)
		return err;
	spin_lock(&imc->trace_lock);
	/* An engine may still be on for an event that is closed. */
	if (imc->trace_scom != scom &&
	    (imc->trace_users || atomic_read(&imc->trace_engines))) {
		err = -EBUSY;
	} else {
		imc->trace_scom = scom;
		imc->trace_users++;
	}
	spin_unlock(&imc->trace_lock);
	if (err)
		imc_domain_put(IMC_TYPE_TRACE);
	return err;
}

static void imc_trace_unclaim(struct imc *imc)
{
	spin_lock(&imc->trace_lock);
	imc->trace_users--;
	spin_unlock(&imc->trace_lock);
	imc_domain_put(IMC_TYPE_TRACE);
}

static void imc_trace_switched(int cpu)
{
	struct imc_trace *trace = per_cpu(imc_trace_of, cpu);

	if (!list_empty(&trace->events))
		imc_drain(trace);
}

/*
 * perf's own period logic is for counters that interrupt: it would restart the event for
 * a frequency, and hold back samples for a period. Here each sample is one of its own.
 */
static void imc_trace_set_period(struct imc_trace_event *te, u64 period)
{
	struct perf_event *event = te->event;

	te->every = imc_thinning(event->attr.sample_period, event->attr.freq, period,
				 IMC_TRACE_CLOCK_HZ / period);
	te->left = te->every;
	te->period = te->every * period;
	event->attr.freq = 0;
	event->attr.sample_period = te->period;
	event->hw.sample_period = 1;
	event->hw.last_period = 1;
	local64_set(&event->hw.period_left, 1);
}

/* Idle is not in the record, nor on POWER9 whether it is a guest's. */
static bool imc_trace_can_exclude(const struct perf_event_attr *attr)
{
	return !attr->exclude_idle && !(attr->exclude_host && imc_generation() != IMC_P10);
}

static int imc_trace_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	struct imc_unit *unit = to_imc_unit(desc);
	struct perf_event *event = ev->event;
	struct imc_trace_event *te;
	u64 scom, period;
	int err;

	if (!imc_trace_can_exclude(&event->attr))
		return -EINVAL;
	if (event->attr.sample_type & IMC_TRACE_CANNOT)
		return -EOPNOTSUPP;
	err = imc_trace_decode(unit, event->attr.config, &scom, &period);
	if (err)
		return err;
	te = kzalloc(sizeof(*te), GFP_KERNEL);
	if (!te)
		return -ENOMEM;
	err = imc_trace_claim(unit->imc, scom);
	/*
	 * Events of tasks need it too: between tasks whose events are inherited from the same
	 * ones perf schedules nothing. An inherited one relies on that which was opened.
	 */
	if (!err && !event->parent) {
		err = imc_switch_watch(imc_trace_switched);
		if (err)
			imc_trace_unclaim(unit->imc);
	}
	if (err) {
		kfree(te);
		return err;
	}
	te->event = event;
	imc_trace_set_period(te, period);
	ev->priv = te;
	return 0;
}

static void imc_trace_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	if (!ev->event->parent)
		imc_switch_unwatch();
	imc_trace_unclaim(to_imc_unit(desc)->imc);
	kfree(ev->priv);
}

static int imc_trace_power_on(struct pmu_box *box)
{
	const struct imc_trace *trace = pmu_box_priv(box);
	int err;

	atomic_inc(&trace->imc->trace_engines);
	err = imc_engine_get(trace->core, IMC_TYPE_TRACE);
	if (err)
		atomic_dec(&trace->imc->trace_engines);
	return err;
}

static void imc_trace_power_off(struct pmu_box *box)
{
	const struct imc_trace *trace = pmu_box_priv(box);

	imc_engine_put(trace->core);
	atomic_dec(&trace->imc->trace_engines);
}

static u64 imc_trace_start(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct imc_trace *trace = pmu_box_priv(box);
	struct imc_trace_event *te = ev->priv;

	if (list_empty(&trace->events)) {
		imc_ring_restart(&trace->ring, get_tb());
		mtspr(SPRN_LDBAR, trace->ldbar);
		imc_drain_start(trace);
	} else {
		/* What was written before this event started is none of its own. */
		imc_drain(trace);
	}
	list_add_tail(&te->node, &trace->events);
	return 0;
}

static void imc_trace_stop(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	struct imc_trace *trace = pmu_box_priv(box);
	struct imc_trace_event *te = ev->priv;
	bool last = list_is_singular(&trace->events);

	if (last) {
		imc_drain_stop(trace);
		mtspr(SPRN_LDBAR, 0);
		trace->ring.stopped = true;
	}
	imc_drain(trace);
	list_del(&te->node);
}

/* Samples count themselves. */
static int imc_trace_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	*value = 0;
	return 0;
}

static const struct pmu_box_ops imc_trace_ops = {
	.event_init = imc_trace_event_init,
	.event_free = imc_trace_event_free,
	.power_on = imc_trace_power_on,
	.power_off = imc_trace_power_off,
	.start = imc_trace_start,
	.stop = imc_trace_stop,
	.read = imc_trace_read,
};

static void imc_trace_buffer_free(void *buffer)
{
	free_pages((unsigned long)buffer, get_order(IMC_TRACE_SIZE));
}

static struct imc_trace *imc_trace_create(struct imc *imc, int cpu)
{
	struct imc_trace *trace = devm_kzalloc(imc->dev, sizeof(*trace), GFP_KERNEL);
	struct page *buffer;

	if (!trace)
		return NULL;
	/* As large as it is aligned. From another node where this one has no memory. */
	buffer = alloc_pages_node(cpu_to_node(cpu), GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN,
				  get_order(IMC_TRACE_SIZE));
	if (!buffer)
		return NULL;
	trace->ring.base = page_address(buffer);
	if (devm_add_action_or_reset(imc->dev, imc_trace_buffer_free, trace->ring.base))
		return NULL;
	trace->imc = imc;
	trace->core = imc_core_of(imc, cpu);
	trace->ring.slots = IMC_TRACE_SIZE / sizeof(struct imc_record);
	trace->ldbar = imc_ldbar(__pa(trace->ring.base), IMC_LDBAR_TRACE);
	imc_drain_init(trace);
	return trace;
}

/* Register a trace unit. */
int imc_trace_register(struct imc_unit *unit)
{
	struct imc *imc = unit->imc;
	int cpu, err = 0;

	unit->desc.ops = &imc_trace_ops;
	unit->desc.scope = PMU_SCOPE_CPU;
	unit->desc.tasks = PMU_TASKS_TOO;
	unit->desc.privileged = true;
	unit->desc.sampling = true;
	unit->desc.excludes = true;
	unit->desc.formats = imc_trace_formats;
	unit->desc.nr_formats = ARRAY_SIZE(imc_trace_formats);
	for_each_present_cpu(cpu) {
		per_cpu(imc_trace_of, cpu) = imc_trace_create(imc, cpu);
		if (!per_cpu(imc_trace_of, cpu))
			return -ENOMEM;
	}
	for_each_present_cpu(cpu) {
		err = devm_pmu_box_register(imc->dev, &unit->desc, unit->name, cpu,
					    per_cpu(imc_trace_of, cpu));
		if (err)
			break;
	}
	return err;
}

/* What a CPU's ring has seen, for debugfs; NULL if there is none. */
const struct imc_trace *imc_trace_peek(int cpu)
{
	return per_cpu(imc_trace_of, cpu);
}
