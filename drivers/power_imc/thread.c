// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread_imc: what a task's thread counts, wherever it runs. A box per CPU, which counts
 * while one of its events' tasks is scheduled: then LDBAR says so.
 */
#include <linux/export.h>
#include <linux/slab.h>

#include "power_imc.h"

/* What is claimed for an event is its children's too: each of them ends before it. */
static int power_imc_thread_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	if (ev->event->parent)
		return 0;
	return power_imc_offset_check(to_imc_unit(desc), ev->event->attr.config) ?:
	       power_imc_domain_open(to_imc_unit(desc)->imc, POWER_IMC_TYPE_THREAD);
}

static void power_imc_thread_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	if (!ev->event->parent)
		power_imc_domain_close(POWER_IMC_TYPE_THREAD);
}

static int power_imc_thread_power_on(struct pmu_box *box)
{
	const struct power_imc_thread *thread = pmu_box_priv(box);

	return power_imc_engine_get(thread->core, POWER_IMC_TYPE_THREAD);
}

static void power_imc_thread_power_off(struct pmu_box *box)
{
	const struct power_imc_thread *thread = pmu_box_priv(box);

	power_imc_engine_put(thread->core, false);
}

static int power_imc_thread_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	const struct power_imc_thread *thread = pmu_box_priv(box);

	return power_imc_counter_read(thread->page, ev, value);
}

static void power_imc_thread_freeze(struct pmu_box *box)
{
	const struct power_imc_thread *thread = pmu_box_priv(box);

	power_imc_ldbar_write(thread->core->imc, thread->ldbar & ~POWER_IMC_LDBAR_ENABLE);
}

static void power_imc_thread_thaw(struct pmu_box *box)
{
	const struct power_imc_thread *thread = pmu_box_priv(box);

	power_imc_ldbar_write(thread->core->imc, thread->ldbar);
}

static const struct pmu_box_ops power_imc_thread_ops = {
	.event_init = power_imc_thread_event_init,
	.event_free = power_imc_thread_event_free,
	.power_on = power_imc_thread_power_on,
	.power_off = power_imc_thread_power_off,
	.read = power_imc_thread_read,
	.restarted = power_imc_counter_restarted,
	.freeze = power_imc_thread_freeze,
	.thaw = power_imc_thread_thaw,
};

/* Every CPU that may come online has a page, and LDBAR's value to count there. */
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
