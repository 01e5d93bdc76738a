// SPDX-License-Identifier: GPL-2.0-only
/*
 * Core and thread units as perf sees them: real perf, the driver's own boxes and pages,
 * firmware that only records. The tests play the engine: they write to the pages.
 */
#include <kunit/device.h>
#include <kunit/test.h>
#include <linux/cpu.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <asm/cputable.h>
#include <asm/cputhreads.h>
#include <asm/firmware.h>
#include <asm/reg.h>

#include "perf_open.h"
#include "suites.h"

#define CORE_PMU	"power_imc_kunit_core"
#define THREAD_PMU	"power_imc_kunit_thread"
#define CCYC		0x98

static const struct pmu_format event_format = {
	.name = "event", .mask = POWER_IMC_CONFIG_EVENT, .always = true,
};

static struct power_imc *imc;
static struct power_imc_unit *units;	/* live as long as the module: PMUs do */
static cpumask_t away;			/* CPUs that are offline */

static void unit_describe(struct power_imc_unit *unit, const char *name, enum power_imc_type type)
{
	*unit = (struct power_imc_unit){
		.imc = imc, .name = name, .type = type, .size = POWER_IMC_PAGE_SIZE,
		.desc = {
			.owner = THIS_MODULE, .width = 64,
			.formats = &event_format, .nr_formats = 1,
		},
	};
}

static int units_test_init(struct kunit *test)
{
	firmware_forget();
	cpumask_clear(&away);
	imc = kunit_kzalloc(test, sizeof(*imc), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, imc);
	units = kunit_kcalloc(test, 2, sizeof(*units), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, units);
	imc->dev = kunit_device_register(test, "power_imc_kunit");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, imc->dev);
	imc->firmware = &firmware_fake;
	KUNIT_ASSERT_EQ(test, power_imc_memory_init(imc), 0);
	KUNIT_ASSERT_EQ(test, power_imc_engines_create(imc), 0);
	KUNIT_ASSERT_EQ(test, power_imc_threads_create(imc), 0);
	unit_describe(&units[0], CORE_PMU, POWER_IMC_TYPE_CORE);
	KUNIT_ASSERT_EQ(test, power_imc_core_register(&units[0]), 0);
	/* LDBAR is the hypervisor's. */
	if (!cpu_has_feature(CPU_FTR_HVMODE))
		return 0;
	unit_describe(&units[1], THREAD_PMU, POWER_IMC_TYPE_THREAD);
	KUNIT_ASSERT_EQ(test, power_imc_thread_register(&units[1]), 0);
	return 0;
}

static void leave(struct kunit *test, int cpu)
{
	KUNIT_ASSERT_EQ(test, remove_cpu(cpu), 0);
	cpumask_set_cpu(cpu, &away);
}

static void come_back(struct kunit *test)
{
	int cpu;

	for_each_cpu(cpu, &away) {
		cpumask_clear_cpu(cpu, &away);
		KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
	}
}

static void units_test_exit(struct kunit *test)
{
	come_back(test);
	power_imc_session_end();
	if (!IS_ERR_OR_NULL(imc->dev))
		kunit_device_unregister(test, imc->dev);
	pmu_unregister_all(THIS_MODULE);
	KUNIT_EXPECT_EQ(test, firmware_log.misuse, 0U);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
}

/* So many events are counted to a page. */
static void count(void *page, u64 config, u64 events)
{
	be64_add_cpu(page + config, events);
}

static struct power_imc_core *core_of(int cpu)
{
	return &imc->cores[cpu_core_index_of_thread(cpu)];
}

static struct perf_event *open_core(struct kunit *test, u64 config, int cpu)
{
	struct perf_event *event = perf_open(CORE_PMU, config, cpu, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

static struct perf_event *open_thread(struct kunit *test, u64 config)
{
	struct perf_event *event;

	if (!cpu_has_feature(CPU_FTR_HVMODE))
		kunit_skip(test, "needs a kernel that is the hypervisor");
	event = perf_open(THREAD_PMU, config, -1, current);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

/* An online CPU of the core of @cpu other than itself, or, if not @same, of another core. */
static int other_cpu(int cpu, bool same)
{
	int other;

	for_each_online_cpu(other)
		if (other != cpu && (core_of(other) == core_of(cpu)) == same)
			return other;
	return -1;
}

/* Pages are as the hardware needs them: 8 KiB, aligned to that, zero, one for each. */
static void pages_fit_the_hardware(struct kunit *test)
{
	int cpu, other;

	for_each_present_cpu(cpu) {
		void *page = imc->threads[cpu].page;

		KUNIT_EXPECT_TRUE(test, IS_ALIGNED(__pa(page), 0x2000));
		KUNIT_EXPECT_TRUE(test, IS_ALIGNED(__pa(core_of(cpu)->page), 0x2000));
		KUNIT_EXPECT_NULL(test, memchr_inv(page, 0, 0x2000));
		KUNIT_EXPECT_NULL(test, memchr_inv(core_of(cpu)->page, 0, 0x2000));
		KUNIT_EXPECT_PTR_EQ(test, imc->threads[cpu].core, core_of(cpu));
		for_each_present_cpu(other)
			KUNIT_EXPECT_TRUE(test, other == cpu || imc->threads[other].page != page);
	}
}

/* A core's event is what its page says at the config's offset, from when it was opened. */
static void core_counts_its_page(struct kunit *test)
{
	struct power_imc_core *core = core_of(0);
	struct perf_event *event, *last;

	count(core->page, CCYC, ~0ULL - 9);
	event = open_core(test, CCYC, 0);
	last = open_core(test, 0x1ff8, 0);
	count(core->page, CCYC, 0x20);
	count(core->page, 0x1ff8, 7);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 0x20ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(last), 7ULL);
	perf_event_release_kernel(event);
	perf_event_release_kernel(last);
}

/* The engine runs from the first event's opening to the last one's close. */
static void engine_runs_while_used(struct kunit *test)
{
	struct perf_event *a = open_core(test, CCYC, 0), *b;

	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.page, (u64)__pa(core_of(0)->page));
	b = open_core(test, CCYC, 0);
	perf_event_release_kernel(a);
	perf_event_disable(b);
	KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, CCYC, 0, NULL), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 0U);
	perf_event_release_kernel(b);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(firmware_log.calls[CALL_CORE_OFF]) == 1));
}

/* Offsets that are no counter are refused, and so are events of tasks. */
static void core_refuses(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, 0x2000, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, 0x1ff9, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, BIT_ULL(32) | CCYC, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, BIT_ULL(62) | CCYC, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, CCYC, -1, current), -EINVAL);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 0U);
}

/* An engine that cannot be started: perf_event_open() fails, and the system is free again. */
static void core_that_does_not_start(struct kunit *test)
{
	firmware_log.error[CALL_CORE_ON] = -EIO;
	KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, CCYC, 0, NULL), -EIO);
	KUNIT_EXPECT_EQ(test, power_imc_session_hold(POWER_IMC_TYPE_TRACE), 0);
	KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, CCYC, 0, NULL), -EBUSY);
	power_imc_session_add_holders(-1);
	firmware_log.error[CALL_CORE_ON] = 0;
	KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, CCYC, 0, NULL), 0);
}

/* Cores and threads keep each other out, and whoever is left may come at once. */
static void core_or_thread(struct kunit *test)
{
	struct perf_event *thread = open_thread(test, CCYC), *core;

	KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, CCYC, 0, NULL), -EBUSY);
	perf_event_release_kernel(thread);
	core = open_core(test, CCYC, 0);
	KUNIT_EXPECT_EQ(test, perf_open_error(THREAD_PMU, CCYC, -1, current), -EBUSY);
	perf_event_release_kernel(core);
	perf_event_release_kernel(open_thread(test, CCYC));
}

/* A thread's event starts every core's engine, whichever CPU its task is on. */
static void thread_runs_every_engine(struct kunit *test)
{
	struct perf_event *event = open_thread(test, CCYC);
	unsigned int running = 0;
	int cpu;

	for (unsigned int i = 0; i < imc->nr_cores; i++)
		running += imc->cores[i].users > 0;
	for_each_online_cpu(cpu)
		KUNIT_EXPECT_GT(test, core_of(cpu)->users, 0U);
	KUNIT_EXPECT_EQ(test, firmware_log.on, running);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(firmware_log.on) == 0));
}

/* While its task runs a thread counts to its CPU's page, and LDBAR says so; else it does not. */
static void thread_counts_while_on(struct kunit *test)
{
	struct perf_event *event = open_thread(test, CCYC);
	int cpu;

	for_each_online_cpu(cpu) {
		u64 bar = 0x8000000000000000ULL | __pa(imc->threads[cpu].page), before;

		KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(cpu)), 0);
		before = perf_open_count(event);
		KUNIT_EXPECT_EQ(test, mfspr(SPRN_LDBAR), bar);
		count(imc->threads[cpu].page, CCYC, 5 + cpu);
		KUNIT_EXPECT_EQ(test, perf_open_count(event), before + 5 + cpu);
		perf_event_disable(event);
		KUNIT_EXPECT_FALSE(test, mfspr(SPRN_LDBAR) & 0xc000000000000000ULL);
		count(imc->threads[cpu].page, CCYC, 1000);
		perf_event_enable(event);
		KUNIT_EXPECT_EQ(test, mfspr(SPRN_LDBAR), bar);
		KUNIT_EXPECT_EQ(test, perf_open_count(event), before + 5 + cpu);
	}
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_FALSE(test, mfspr(SPRN_LDBAR) & 0xc000000000000000ULL);
}

/* A core's owner goes: another thread of it owns the box, and the engine does not stop. */
static void core_keeps_counting(struct kunit *test)
{
	int owner = cpumask_first(cpu_online_mask), heir = other_cpu(owner, true);
	struct power_imc_core *core = core_of(owner);
	struct perf_event *event;

	if (heir < 0 || !cpu_is_hotpluggable(owner))
		kunit_skip(test, "needs two threads of a core, the first hotpluggable");
	event = open_core(test, CCYC, owner);
	count(core->page, CCYC, 5);
	leave(test, owner);
	count(core->page, CCYC, 70);
	KUNIT_EXPECT_EQ(test, event->cpu, heir);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 75ULL);
	come_back(test);
	count(core->page, CCYC, 600);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 675ULL);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 0U);
	perf_event_release_kernel(event);
}

/* A core that loses its last thread: its engine stops, and the others' do not. */
static void engine_goes_with_the_core(struct kunit *test)
{
	int cpu = other_cpu(cpumask_first(cpu_online_mask), false);
	struct power_imc_core *core = cpu < 0 ? NULL : core_of(cpu);
	struct perf_event *event;
	unsigned int threads = 0, offs;

	if (!core)
		kunit_skip(test, "needs a second core");
	event = open_thread(test, CCYC);
	/* It was off for each thread that joined. */
	offs = firmware_log.calls[CALL_CORE_OFF];
	for_each_present_cpu(cpu)
		threads += core_of(cpu) == core;
	KUNIT_EXPECT_EQ(test, core->users, threads);
	for_each_present_cpu(cpu) {
		if (core_of(cpu) != core)
			continue;
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], offs);
		leave(test, cpu);
	}
	KUNIT_EXPECT_EQ(test, core->users, 0U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], offs + 1);
	come_back(test);
	KUNIT_EXPECT_EQ(test, core->users, threads);
	KUNIT_EXPECT_TRUE(test, firmware_log.engines[core->pir] == ENGINE_ON);
	perf_event_release_kernel(event);
}

/* A thread that goes offline gives back its part of the engine, and gets it again. */
static void thread_gives_back(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);
	struct perf_event *event;
	unsigned int users;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	event = open_thread(test, CCYC);
	users = core_of(cpu)->users;
	leave(test, cpu);
	KUNIT_EXPECT_EQ(test, core_of(cpu)->users, users - 1);
	come_back(test);
	KUNIT_EXPECT_EQ(test, core_of(cpu)->users, users);
	perf_event_release_kernel(event);
}

/* Whatever goes offline, the system stays with whom it was given to as long as events are open. */
static void offline_frees_nobody(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);
	struct perf_event *event;

	if (num_online_cpus() < 2)
		kunit_skip(test, "needs two CPUs");
	event = open_thread(test, CCYC);
	for (int i = 0; i < 3; i++) {
		leave(test, cpu);
		KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, CCYC, 0, NULL), -EBUSY);
		come_back(test);
		KUNIT_EXPECT_EQ(test, perf_open_error(CORE_PMU, CCYC, 0, NULL), -EBUSY);
	}
	perf_event_release_kernel(event);
	perf_event_release_kernel(open_core(test, CCYC, 0));
}

#define SOMEWHERE	0x12340000ULL

static void ldbar_set(void *value)
{
	mtspr(SPRN_LDBAR, *(u64 *)value);
}

static void ldbar_get(void *value)
{
	*(u64 *)value = mfspr(SPRN_LDBAR);
}

/* What one says of it is left alone, but nothing is enabled. */
static void an_ultravisor_keeps_ldbar(struct kunit *test)
{
	struct power_imc_unit nest = { .type = POWER_IMC_TYPE_NEST };
	unsigned long features = powerpc_firmware_features;
	int threads = threads_per_core;
	u64 value = SOMEWHERE;

	if (!cpu_has_feature(CPU_FTR_HVMODE))
		kunit_skip(test, "needs LDBAR, which is the hypervisor's");
	if (firmware_has_feature(FW_FEATURE_ULTRAVISOR))
		kunit_skip(test, "there is an ultravisor");
	KUNIT_EXPECT_NULL(test, power_imc_unit_is_not_ours(&nest));
	KUNIT_EXPECT_NULL(test, power_imc_unit_is_not_ours(&units[0]));
	KUNIT_EXPECT_NULL(test, power_imc_unit_is_not_ours(&units[1]));
	smp_call_function_single(0, ldbar_set, &value, 1);
	powerpc_firmware_features |= FW_FEATURE_ULTRAVISOR;
	KUNIT_EXPECT_NULL(test, power_imc_unit_is_not_ours(&nest));
	KUNIT_EXPECT_NOT_NULL(test, power_imc_unit_is_not_ours(&units[0]));
	KUNIT_EXPECT_NOT_NULL(test, power_imc_unit_is_not_ours(&units[1]));
	power_imc_ldbar_clear();
	powerpc_firmware_features = features;
	threads_per_core = 8;
	KUNIT_EXPECT_NULL(test, power_imc_unit_is_not_ours(&nest));
	KUNIT_EXPECT_NOT_NULL(test, power_imc_unit_is_not_ours(&units[0]));
	threads_per_core = threads;
	smp_call_function_single(0, ldbar_get, &value, 1);
	KUNIT_EXPECT_EQ(test, value, SOMEWHERE);
	power_imc_ldbar_clear();
	smp_call_function_single(0, ldbar_get, &value, 1);
	KUNIT_EXPECT_EQ(test, value, 0ULL);
}

static struct kunit_case units_cases[] = {
	KUNIT_CASE(pages_fit_the_hardware),
	KUNIT_CASE(core_counts_its_page),
	KUNIT_CASE(engine_runs_while_used),
	KUNIT_CASE(core_refuses),
	KUNIT_CASE(core_that_does_not_start),
	KUNIT_CASE(core_or_thread),
	KUNIT_CASE(thread_runs_every_engine),
	KUNIT_CASE(thread_counts_while_on),
	KUNIT_CASE(an_ultravisor_keeps_ldbar),
	KUNIT_CASE_SLOW(core_keeps_counting),
	KUNIT_CASE_SLOW(engine_goes_with_the_core),
	KUNIT_CASE_SLOW(thread_gives_back),
	KUNIT_CASE_SLOW(offline_frees_nobody),
	{ }
};

struct kunit_suite power_imc_units_suite = {
	.name = "power_imc_units",
	.init = units_test_init,
	.exit = units_test_exit,
	.test_cases = units_cases,
};
