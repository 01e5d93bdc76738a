/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one place for kernel differences. Drivers are written as for the newest kernel;
 * what an older one lacks is supplied here. HAVE_ macros come from scripts/conftest.sh,
 * which compiles a snippet per feature: versions are never compared. The versions in comments are
 * upstream's: distributions have features earlier, and sometimes half of one. So a function that is
 * supplied has a name of its own.
 */
#ifndef PMU_COMPAT_H
#define PMU_COMPAT_H

#include <linux/bitfield.h>
#include <linux/capability.h>
#include <linux/dev_printk.h>
#include <linux/err.h>
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/pci-ecam.h>
#include <linux/pci.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/pm.h>
#include <linux/sched/isolation.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include "pmu_conftest.h"

/*
 * 6.13 ("module: Convert symbol namespace to string literal"). Until 5.17 ("module.h: allow #define
 * strings to work with MODULE_IMPORT_NS") the import did not expand its argument while the export
 * did, so the name itself must not be a macro.
 */
#ifdef HAVE_BARE_NAMESPACES
#define PMU_IMPORT_NS(ns)		MODULE_IMPORT_NS(ns)
#define EXPORT_SYMBOL_PMU_CORE(symbol)	EXPORT_SYMBOL_NS_GPL(symbol, PMU_CORE)
#else
#define PMU_IMPORT_NS(ns)		MODULE_IMPORT_NS(#ns)
#define EXPORT_SYMBOL_PMU_CORE(symbol)	EXPORT_SYMBOL_NS_GPL(symbol, "PMU_CORE")
#endif

/* 6.3 ("bitfield: add FIELD_PREP_CONST()"): FIELD_PREP() for initialisers of static data. */
#ifndef FIELD_PREP_CONST
#define FIELD_PREP_CONST(mask, value)	(((typeof(mask))(value) << __bf_shf(mask)) & (mask))
#endif

/* 6.12 ("dev_printk: Add dev_err_ptr_probe()"). */
#ifndef dev_err_ptr_probe
#define dev_err_ptr_probe(dev, err, ...)	ERR_PTR(dev_err_probe(dev, err, __VA_ARGS__))
#endif

/* 5.11 ("PCI: Unify ECAM constants in native PCI Express drivers"). */
#ifndef PCIE_ECAM_OFFSET
#define PCIE_ECAM_OFFSET(bus, devfn, where)	((bus) << 20 | (devfn) << 12 | (where))
#endif

/* 5.17 ("PCI: Add PCI_ERROR_RESPONSE and related definitions"). */
#ifndef PCI_POSSIBLE_ERROR
#define PCI_POSSIBLE_ERROR(value)	((value) == (typeof(value))~0ULL)
#endif

/* 5.11 ("irq_work: Cleanup"). */
#ifndef IRQ_WORK_INIT_HARD
#define IRQ_WORK_INIT_HARD(function) \
	((struct irq_work){ .node = { .u_flags = IRQ_WORK_HARD_IRQ }, .func = (function) })
#endif

/*
 * 5.14 ("genirq: Export affinity setter for modules"); conftest.sh looks for
 * irq_set_affinity_and_hint(), which came with 5.17. Before, set a hint, which also sets the
 * affinity, and is all that modules could do before 5.14. The hint is cleared at once, since
 * freeing an interrupt that has one warns.
 */
#ifndef HAVE_IRQ_SET_AFFINITY
static inline int pmu_irq_set_affinity(unsigned int irq, const struct cpumask *cpus)
{
	int err = irq_set_affinity_hint(irq, cpus);

	irq_set_affinity_hint(irq, NULL);
	return err;
}

#define irq_set_affinity	pmu_irq_set_affinity
#endif

/* 6.13 ("hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()"). */
#ifndef HAVE_HRTIMER_SETUP
static inline void pmu_hrtimer_setup(struct hrtimer *timer,
				     enum hrtimer_restart (*function)(struct hrtimer *),
				     clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}

#define hrtimer_setup	pmu_hrtimer_setup
#endif

/* 6.7 ("perf: Support PMUs with parents"): older kernels cannot place a PMU below a device. */
#ifdef HAVE_PMU_PARENT
#define pmu_set_parent(pmu, device)	((pmu)->parent = (device))
#else
#define pmu_set_parent(pmu, device)	((void)(pmu), (void)(device))
#endif

/* 5.17 ("PM: core: Redefine pm_ptr() macro" and following). */
#ifndef DEFINE_SIMPLE_DEV_PM_OPS
#define DEFINE_SIMPLE_DEV_PM_OPS(name, suspend_fn, resume_fn) \
	const struct dev_pm_ops name = { SYSTEM_SLEEP_PM_OPS(suspend_fn, resume_fn) }
#endif
#ifndef SYSTEM_SLEEP_PM_OPS
#define SYSTEM_SLEEP_PM_OPS(suspend_fn, resume_fn) \
	.suspend = suspend_fn, .resume = resume_fn, .freeze = suspend_fn, \
	.thaw = resume_fn, .poweroff = suspend_fn, .restore = resume_fn,
#endif
#ifndef pm_sleep_ptr
#define pm_sleep_ptr(ptr)	(IS_ENABLED(CONFIG_PM_SLEEP) ? (ptr) : NULL)
#endif

/* Only x86 numbers dies across packages. */
#ifndef topology_logical_die_id
#define topology_logical_die_id(cpu)	topology_die_id(cpu)
#endif

/* 6.9 ("x86/topology: Rename topology_max_die_per_package()"). */
#ifndef HAVE_TOPOLOGY_MAX_DIES
#define topology_max_dies_per_package()	topology_max_die_per_package()
#endif

/*
 * 6.1 ("perf: Add sample_flags to indicate the PMU-filled sample data"). Older kernels overwrite
 * what the driver has filled in, such as the time: see PMU_SAMPLES_OF_THE_PAST.
 */
#ifdef HAVE_SAMPLE_FLAGS
#define pmu_sample_flags(data)	((data)->sample_flags)
#else
#define pmu_sample_flags(data)	((u64) { 0 })
#endif

/*
 * 6.3 ("perf/core: Save the dynamic parts of sample data size"): older kernels compute the size
 * themselves.
 */
#ifdef HAVE_SAMPLE_DYN_SIZE
#define pmu_sample_grow(data, bytes)	((data)->dyn_size += (bytes))
#else
#define pmu_sample_grow(data, bytes)	((void)(data), (void)(bytes))
#endif

/* 7.x exports perf_allow_cpu(). <pmu/loans.h> has a replacement for older kernels. */
#ifdef HAVE_PERF_ALLOW_CPU
#define pmu_allow_cpu(locked)	perf_allow_cpu()
#endif

/* 5.18 ("sched/isolation: Use single feature type while referring to housekeeping cpumask"). */
#ifndef HAVE_HK_TYPE
#define HK_TYPE_DOMAIN	HK_FLAG_DOMAIN
#define HK_TYPE_TICK	HK_FLAG_TICK
#endif

/* 6.4 ("sched/isolation: Add cpu_is_isolated() API"). */
#ifndef HAVE_CPU_IS_ISOLATED
#define cpu_is_isolated(cpu)	(!housekeeping_test_cpu(cpu, HK_TYPE_DOMAIN))
#endif

/* 5.11 ("PCI: Add defines for Designated Vendor-Specific Extended Capability"). */
#ifndef PCI_EXT_CAP_ID_DVSEC
#define PCI_EXT_CAP_ID_DVSEC	0x23
#endif

/* 6.17 ("workqueue: Add system_percpu_wq and system_dfl_wq"); 7.2 warns of the old name. */
#ifndef HAVE_SYSTEM_DFL_WQ
#define system_dfl_wq	system_unbound_wq
#endif

/*
 * The arguments of a tracepoint probe after the first, on kernels that have sample_flags: 6.16
 * ("exit: move and extend sched_process_exit() tracepoint").
 */
#ifdef HAVE_SCHED_SWITCH
#define PMU_SCHED_SWITCH_ARGS	bool preempt, struct task_struct *prev, struct task_struct *next, \
				unsigned int prev_state
#endif

#if defined(HAVE_SCHED_EXIT_GROUP_DEAD)
#define PMU_SCHED_EXIT_ARGS	struct task_struct *task, bool group_dead
#elif defined(HAVE_SCHED_EXIT)
#define PMU_SCHED_EXIT_ARGS	struct task_struct *task
#endif

/*
 * Can a driver make a sample of an earlier moment and of the task that ran then? If not, the code
 * for that is still compiled, but must not run.
 */
#if defined(HAVE_SAMPLE_FLAGS) && defined(PMU_SCHED_SWITCH_ARGS) && defined(PMU_SCHED_EXIT_ARGS)
#define PMU_SAMPLES_OF_THE_PAST	true
/* The compiler compares the arguments with the kernel's. */
#define pmu_check_sched_probes(switched, ended) \
	(check_trace_callback_type_sched_switch(switched), \
	 check_trace_callback_type_sched_process_exit(ended))
#else
#define PMU_SAMPLES_OF_THE_PAST	false
#define pmu_check_sched_probes(switched, ended)	((void)0)
#endif

#ifndef PMU_SCHED_SWITCH_ARGS
#define PMU_SCHED_SWITCH_ARGS	void *unknown
#endif
#ifndef PMU_SCHED_EXIT_ARGS
#define PMU_SCHED_EXIT_ARGS	void *unknown
#endif

/* 6.0 ("perf/core: Add a new read format to get a number of lost samples"). */
#ifdef HAVE_LOST_SAMPLES
#define pmu_add_lost_samples(event, samples)	atomic64_add(samples, &(event)->lost_samples)
#else
#define pmu_add_lost_samples(event, samples)	((void)(event), (void)(samples))
#endif

/* 5.13 ("perf: Add support for SIGTRAP on perf events"). */
#ifdef HAVE_ATTR_SIGTRAP
#define pmu_attr_sigtrap(attr)	((attr)->sigtrap)
#else
#define pmu_attr_sigtrap(attr)	((void)(attr), false)
#endif

/*
 * The config words in which no PMU of this suite has a field: 6.3 ("perf: Add
 * perf_event_attr::config3"), and config4 still newer.
 */
static inline u64 pmu_attr_further_config(const struct perf_event_attr *attr)
{
	u64 config = 0;

#ifdef HAVE_ATTR_CONFIG3
	config |= attr->config3;
#endif
#ifdef HAVE_ATTR_CONFIG4
	config |= attr->config4;
#endif
	return config;
}

/*
 * perf's context of a PMU's events on a CPU, not those of tasks, for <pmu/loans.h>. 6.2 ("perf:
 * Rewrite core context handling") and 6.15 ("perf/core: Detach 'struct perf_cpu_pmu_context' and
 * 'struct pmu' lifetimes") changed it.
 */
#if defined(HAVE_CPU_PMU_CONTEXT_POINTER)
#define pmu_cpu_context_of(pmu, cpu)	(*per_cpu_ptr((pmu)->cpu_pmu_context, cpu))
#elif defined(HAVE_CPU_PMU_CONTEXT)
#define pmu_cpu_context_of(pmu, cpu)	per_cpu_ptr((pmu)->cpu_pmu_context, cpu)
#else
#define pmu_cpu_context_of(pmu, cpu)	per_cpu_ptr((pmu)->pmu_cpu_context, cpu)
#endif

#if defined(HAVE_CPU_PMU_CONTEXT_POINTER) || defined(HAVE_CPU_PMU_CONTEXT)
#define pmu_context_of(pmu, cpu)	(&pmu_cpu_context_of(pmu, cpu)->epc)
#define pmu_event_context(event)	((event)->pmu_ctx)
#define pmu_contexts_are_shared(pmu)	false
/* Since 6.15, a context that was ever used keeps one reference for its PMU. */
#ifdef HAVE_CPU_PMU_CONTEXT_POINTER
#define pmu_context_own_refs		1
#else
#define pmu_context_own_refs		0
#endif
#define pmu_context_ref_count(context) \
	(READ_ONCE((context)->ctx) ? atomic_read(&(context)->refcount) - pmu_context_own_refs : 0)
#else
#define pmu_context_of(pmu, cpu)	(&pmu_cpu_context_of(pmu, cpu)->ctx)
#define pmu_event_context(event)	((event)->ctx)
/* One reference is the context's own. */
#define pmu_context_ref_count(context)	((int)refcount_read(&(context)->refcount) - 1)
#define pmu_contexts_are_shared(pmu)	((pmu)->task_ctx_nr != perf_invalid_context)
#endif

/*
 * Before 6.2 a task has a context for the events of all PMUs of a kind. It refers to one of these.
 */
#ifdef HAVE_TASK_CONTEXTS
#define pmu_task_context(pmu, task)	READ_ONCE((task)->perf_event_ctxp[(pmu)->task_ctx_nr])
#define pmu_context_pmu(ctx)		((ctx)->pmu)
#endif

/*
 * Functions that only KUnit suites call from outside: static, unless the suites are built. As in
 * <kunit/visibility.h>, which goes by the kernel's CONFIG_KUNIT: distributions may set it where no
 * suites are built, and the suites are also built for kernels without it.
 */
#if !IS_ENABLED(CONFIG_PMU_SUITE_KUNIT_TEST)
#define VISIBLE_IF_KUNIT	static
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#else
#define VISIBLE_IF_KUNIT
#ifdef HAVE_BARE_NAMESPACES
#define EXPORT_SYMBOL_IF_KUNIT(symbol)	EXPORT_SYMBOL_NS(symbol, EXPORTED_FOR_KUNIT_TESTING)
#else
#define EXPORT_SYMBOL_IF_KUNIT(symbol)	EXPORT_SYMBOL_NS(symbol, "EXPORTED_FOR_KUNIT_TESTING")
#endif
#endif

#endif /* PMU_COMPAT_H */
