// SPDX-License-Identifier: GPL-2.0-only
/*
 * thread_imc: what a task's thread counts, wherever it runs. A box per CPU, which counts
 * while one of its events' tasks is scheduled: then LDBAR says so.
 */
#include <linux/export.h>
#include <linux/slab.h>
#include <asm/reg.h>

#include "imc.h"

/**
 * imc_ldbar() - LDBAR's value.
 * @address: of a thread's page or buffer, real or in the linear map
 * @mode: IMC_LDBAR_ENABLE to accumulate, IMC_LDBAR_TRACE to trace, 0 for neither
 */
u64 imc_ldbar(u64 address, u64 mode)
{
	return (address & IMC_BAR_ADDRESS) | mode;
}
EXPORT_SYMBOL_IF_KUNIT(imc_ldbar);

static int imc_thread_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	return imc_offset_check(to_imc_unit(desc), ev->event->attr.config) ?:
	       imc_domain_get(IMC_TYPE_THREAD);
}

static void imc_thread_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	imc_domain_put(IMC_TYPE_THREAD);
}

static int imc_thread_power_on(struct pmu_box *box)
{
	const struct imc_thread *thread = pmu_box_priv(box);

	return imc_engine_get(thread->core, IMC_TYPE_THREAD);
}

static void imc_thread_power_off(struct pmu_box *box)
{
	const struct imc_thread *thread = pmu_box_priv(box);

	imc_engine_put(thread->core);
}

static int imc_thread_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	const struct imc_thread *thread = pmu_box_priv(box);

	return imc_counter_read(thread->page, ev, value);
}

static void imc_thread_freeze(struct pmu_box *box)
{
	const struct imc_thread *thread = pmu_box_priv(box);

	mtspr(SPRN_LDBAR, thread->ldbar & ~IMC_LDBAR_ENABLE);
}

static void imc_thread_thaw(struct pmu_box *box)
{
	const struct imc_thread *thread = pmu_box_priv(box);

	mtspr(SPRN_LDBAR, thread->ldbar);
}

static const struct pmu_box_ops imc_thread_ops = {
	.event_init = imc_thread_event_init,
	.event_free = imc_thread_event_free,
	.power_on = imc_thread_power_on,
	.power_off = imc_thread_power_off,
	.read = imc_thread_read,
	.freeze = imc_thread_freeze,
	.thaw = imc_thread_thaw,
};

/* Every CPU that may come online has a page, and LDBAR's value to count there. */
int imc_threads_create(struct imc *imc)
{
	int cpu;

	imc->threads = devm_kcalloc(imc->dev, nr_cpu_ids, sizeof(*imc->threads), GFP_KERNEL);
	if (!imc->threads)
		return -ENOMEM;
	for_each_present_cpu(cpu) {
		struct imc_thread *thread = &imc->threads[cpu];

		thread->core = imc_core_of(imc, cpu);
		thread->page = imc_page_alloc(imc->dev, cpu);
		if (!thread->page)
			return -ENOMEM;
		thread->ldbar = imc_ldbar(__pa(thread->page), IMC_LDBAR_ENABLE);
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(imc_threads_create);

/* Register a unit that counts per thread. */
int imc_thread_register(struct imc_unit *unit)
{
	struct imc *imc = unit->imc;
	int cpu, err = 0;

	unit->desc.ops = &imc_thread_ops;
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
EXPORT_SYMBOL_IF_KUNIT(imc_thread_register);
