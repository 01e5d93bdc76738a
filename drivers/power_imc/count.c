// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that count: what a config means, and how counters in memory are read, the nest's included.
 *
 * core_imc: what a core counts, all its threads together. A box per core.
 *
 * thread_imc: what a task's thread counts, on any CPU where it runs. A box per CPU, which counts
 * while the task of one of its events is scheduled: then LDBAR says so.
 */
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/preempt.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "power_imc.h"

/* Names of the in-tree driver. All but event are other names for bits of it. */
const struct pmu_format power_imc_formats[] = {
	{ .name = "event", .mask = POWER_IMC_CONFIG_EVENT, .always = true },
	{ .name = "offset", .mask = POWER_IMC_CONFIG_OFFSET, .alias = true },
	{ .name = "rvalue", .mask = POWER_IMC_CONFIG_RVALUE, .alias = true },
	{ .name = "mode", .mask = POWER_IMC_CONFIG_MODE, .alias = true },
};

const unsigned int power_imc_nr_formats = ARRAY_SIZE(power_imc_formats);

/**
 * power_imc_offset_check() - can a config's counter be read?
 * @unit: the unit
 * @config: attr.config
 *
 * The counter, 8 bytes, has to lie on a multiple of 8 and wholly inside of the unit. The control
 * block of the microcode, on a multiple of 8 as well, is no counter. The meaning of rvalue and
 * mode is not published, so they have to be 0.
 *
 * Return: 0 or -EINVAL.
 */
int power_imc_offset_check(const struct power_imc_unit *unit, u64 config)
{
	if (config % sizeof(u64) || config + sizeof(u64) > unit->size)
		return -EINVAL;
	if (unit->type == POWER_IMC_TYPE_NEST && config >= unit->control_offset &&
	    config < unit->control_offset + POWER_IMC_NEST_CB_SIZE)
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_offset_check);

/**
 * power_imc_counter_read() - the value of an event's counter.
 * @base: where offset 0 is
 * @ev: the event, whose config was checked
 * @value: set to the value, 64 bits
 *
 * The hardware stores whole doublewords, so a reader never sees half of one.
 *
 * Context: any.
 * Return: 0.
 */
int power_imc_counter_read(const void *base, const struct pmu_event *ev, u64 *value)
{
	const __be64 *counter = base + ev->event->attr.config;

	*value = be64_to_cpu(READ_ONCE(*counter));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_counter_read);

/* Runs in an irq_work: the caller that reads a counter may hold locks that printing needs. */
static void power_imc_restart_tell(struct irq_work *work)
{
	pr_warn("power_imc_pmu: counters in memory have begun anew at 0, as when a chip's microcode is restarted: what they had counted since they were last read is lost\n");
}

static DEFINE_IRQ_WORK(power_imc_restart_work, power_imc_restart_tell);
static atomic_t power_imc_restart_told = ATOMIC_INIT(0);

/*
 * Counters in memory have 64 bits and never wrap, so a smaller value means that the microcode has
 * restarted. This is reported once, since a microcode has many counters.
 */
void power_imc_counter_restarted(struct pmu_box *box, struct pmu_event *ev)
{
	if (!atomic_xchg(&power_imc_restart_told, 1))
		irq_work_queue(&power_imc_restart_work);
}

static void power_imc_late_tell(struct irq_work *work)
{
	pr_warn("power_imc_pmu: a thread's page is written after LDBAR has ended its counting: the last counts are missing, each time that a task of a thread event stops running\n");
}

static DEFINE_IRQ_WORK(power_imc_late_work, power_imc_late_tell);
static atomic_t power_imc_late_told = ATOMIC_INIT(0);

/* The module is unloaded and no event is open. May sleep. */
void power_imc_counter_exit(void)
{
	irq_work_sync(&power_imc_restart_work);
	irq_work_sync(&power_imc_late_work);
}

static int power_imc_core_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	return power_imc_offset_check(to_imc_unit(desc), ev->event->attr.config) ?:
	       power_imc_session_open(POWER_IMC_TYPE_CORE);
}

static void power_imc_core_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	power_imc_session_close();
}

static int power_imc_core_engage(struct pmu_box *box)
{
	return power_imc_session_acquire(pmu_box_priv(box), POWER_IMC_TYPE_CORE, 0);
}

static void power_imc_core_disengage(struct pmu_box *box)
{
	power_imc_session_release(pmu_box_priv(box));
}

static int power_imc_core_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	const struct power_imc_core *core = pmu_box_priv(box);

	return power_imc_counter_read(core->page, ev, value);
}

static const struct pmu_box_ops power_imc_core_ops = {
	.event_init = power_imc_core_event_init,
	.event_free = power_imc_core_event_free,
	.engage = power_imc_core_engage,
	.disengage = power_imc_core_disengage,
	.read = power_imc_core_read,
	.restarted = power_imc_counter_restarted,
};

/* Register a unit that counts per core. */
int power_imc_core_register(struct power_imc_unit *unit)
{
	struct power_imc *imc = unit->imc;
	int err = 0;

	unit->desc.ops = &power_imc_core_ops;
	unit->desc.scope = PMU_SCOPE_CORE;
	for (unsigned int i = 0; i < imc->nr_cores && !err; i++) {
		struct power_imc_core *core = &imc->cores[i];
		int cpu = core->first_cpu;

		if (core->page)
			err = devm_pmu_box_register(imc->dev, &unit->desc, unit->name,
						    PMU_CORE_ID(topology_physical_package_id(cpu),
								topology_core_id(cpu)), core);
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_core_register);

/* An inherited event uses the session of its parent, which is freed later. */
static int power_imc_thread_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	if (ev->event->parent)
		return 0;
	return power_imc_offset_check(to_imc_unit(desc), ev->event->attr.config) ?:
	       power_imc_session_open(POWER_IMC_TYPE_THREAD);
}

static void power_imc_thread_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	if (!ev->event->parent)
		power_imc_session_close();
}

static int power_imc_thread_engage(struct pmu_box *box)
{
	const struct power_imc_thread *thread = pmu_box_priv(box);

	return power_imc_session_acquire(thread->core, POWER_IMC_TYPE_THREAD,
					 thread->ldbar & ~POWER_IMC_LDBAR_ENABLE);
}

static void power_imc_thread_disengage(struct pmu_box *box)
{
	const struct power_imc_thread *thread = pmu_box_priv(box);

	power_imc_session_release(thread->core);
}

/* No source says that the last counts are in the page when LDBAR has been written. */
static int power_imc_thread_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	struct power_imc_thread *thread = pmu_box_priv(box);

	power_imc_counter_read(thread->page, ev, value);
	if (!thread->frozen || in_nmi())
		return 0;
	if (!thread->seen) {
		thread->seen = thread->page + ev->event->attr.config;
		thread->value = *value;
	} else if (thread->seen == thread->page + ev->event->attr.config &&
		   thread->value != *value && !atomic_xchg(&power_imc_late_told, 1)) {
		irq_work_queue(&power_imc_late_work);
	}
	return 0;
}

/*
 * The in-tree driver does the same for each event that starts or stops. Without it, a read would
 * miss what has been counted since the page was last written.
 */
static void power_imc_thread_freeze(struct pmu_box *box)
{
	struct power_imc_thread *thread = pmu_box_priv(box);

	power_imc_ldbar_write(thread->core->imc, thread->ldbar & ~POWER_IMC_LDBAR_ENABLE);
	thread->seen = NULL;
	thread->frozen = true;
}

static void power_imc_thread_thaw(struct pmu_box *box)
{
	struct power_imc_thread *thread = pmu_box_priv(box);

	thread->frozen = false;
	power_imc_ldbar_write(thread->core->imc, thread->ldbar);
}

static const struct pmu_box_ops power_imc_thread_ops = {
	.event_init = power_imc_thread_event_init,
	.event_free = power_imc_thread_event_free,
	.engage = power_imc_thread_engage,
	.disengage = power_imc_thread_disengage,
	.read = power_imc_thread_read,
	.restarted = power_imc_counter_restarted,
	.freeze = power_imc_thread_freeze,
	.thaw = power_imc_thread_thaw,
};

/* Give every present CPU a page, and compute the LDBAR value with which it counts there. */
int power_imc_threads_create(struct power_imc *imc)
{
	int cpu;

	imc->threads = devm_kcalloc(imc->dev, nr_cpu_ids, sizeof(*imc->threads), GFP_KERNEL);
	if (!imc->threads)
		return -ENOMEM;
	for_each_present_cpu(cpu) {
		struct power_imc_thread *thread = &imc->threads[cpu];

		thread->core = power_imc_core_of(imc, cpu);
		thread->page = power_imc_memory_alloc(imc, POWER_IMC_PAGE_SIZE, cpu);
		if (!thread->page)
			return -ENOMEM;
		thread->ldbar = power_imc_ldbar(__pa(thread->page), POWER_IMC_LDBAR_ENABLE);
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_threads_create);

/* Register a unit that counts per thread. */
int power_imc_thread_register(struct power_imc_unit *unit)
{
	struct power_imc *imc = unit->imc;
	int cpu, err = 0;

	unit->desc.ops = &power_imc_thread_ops;
	unit->desc.scope = PMU_SCOPE_CPU;
	unit->desc.tasks = PMU_TASKS_ONLY;
	unit->desc.privileged = true;
	for_each_present_cpu(cpu) {
		err = devm_pmu_box_register(imc->dev, &unit->desc, unit->name, cpu,
					    &imc->threads[cpu]);
		if (err)
			break;
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thread_register);
