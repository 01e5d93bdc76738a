// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may use the engines: one kind of unit at a time in the whole system; and a core's engine, which
 * runs while anybody uses it. Each case ends with nothing in use, or the next one would find it.
 */
#include <kunit/test.h>
#include <linux/ktime.h>
#include <linux/smp.h>
#include <asm/io.h>
#include <asm/reg.h>
#include <asm/smp.h>

#include "suites.h"
#include <power_imc/trace.h>

/* Of a thread that traces; nothing does so for it here. */
#define LDBAR		0x4000000012340000ULL
#define LDBAR_COUNTS	0x8000000012340000ULL

/* The kinds of use of engines, of which only one is possible at a time. */
static const enum power_imc_type uses[] = {
	POWER_IMC_TYPE_CORE, POWER_IMC_TYPE_THREAD, POWER_IMC_TYPE_TRACE,
};

#define BOTH_HALVES	(BIT(0) | BIT(1))
#define ENGINE_CORES	3
/* Of the cores' first threads. */
static const u32 engine_pirs[ENGINE_CORES] = { 0x08, 0x10, 0x58 };

static struct power_imc *imc;

static int engine_test_init(struct kunit *test)
{
	firmware_forget();
	imc = kunit_kzalloc(test, sizeof(*imc), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, imc);
	imc->firmware = &firmware_fake;
	imc->cores = kunit_kcalloc(test, ENGINE_CORES, sizeof(*imc->cores), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, imc->cores);
	imc->nr_cores = ENGINE_CORES;
	for (int i = 0; i < ENGINE_CORES; i++) {
		raw_spin_lock_init(&imc->cores[i].lock);
		imc->cores[i].imc = imc;
		imc->cores[i].pir = engine_pirs[i];
		imc->cores[i].halves = 1;
		imc->cores[i].awake = BOTH_HALVES;
		imc->cores[i].page = kunit_kzalloc(test, POWER_IMC_PAGE_SIZE, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, imc->cores[i].page);
	}
	return 0;
}

/* Each of them may have it, or, unless 0, @only may. */
static void expect_free_for(struct kunit *test, enum power_imc_type only)
{
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		bool may = !only || only == uses[i];
		int err = power_imc_session_hold(uses[i]);

		KUNIT_EXPECT_EQ_MSG(test, err, may ? 0 : -EBUSY, "use %d", i);
		if (!err)
			power_imc_session_add_holders(-1);
	}
}

static void expect_all_free(struct kunit *test)
{
	expect_free_for(test, 0);
}

static void expect_only(struct kunit *test, enum power_imc_type use)
{
	expect_free_for(test, use);
}

static void engine_test_exit(struct kunit *test)
{
	power_imc_session_end();
	expect_all_free(test);
	KUNIT_EXPECT_EQ(test, firmware_log.misuse, 0U);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
}

static int get(unsigned int core, enum power_imc_type use)
{
	int err;

	/* The lock of a core is taken with interrupts off. */
	local_irq_disable();
	err = power_imc_session_power_on(&imc->cores[core], use);
	local_irq_enable();
	return err;
}

static void put(unsigned int core)
{
	local_irq_disable();
	power_imc_session_power_off(&imc->cores[core]);
	local_irq_enable();
}

/* Whichever kind comes first keeps the others out, until its last user is gone. */
static void one_kind_at_a_time(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		for (int users = 0; users < 3; users++)
			KUNIT_ASSERT_EQ(test, power_imc_session_hold(uses[i]), 0);
		for (int users = 3; users > 0; users--) {
			expect_only(test, uses[i]);
			power_imc_session_add_holders(-1);
		}
		expect_all_free(test);
	}
}

/* An engine that is on keeps the other kinds out, also when no event is open any more. */
static void an_engine_outlives_its_event(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, power_imc_session_hold(POWER_IMC_TYPE_TRACE), 0);
	KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_TRACE), 0);
	power_imc_session_add_holders(-1);
	expect_only(test, POWER_IMC_TYPE_TRACE);
	put(0);
}

/* An event that is refused has claimed nothing and does not hinder the others. */
static void refusal_takes_nothing(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, power_imc_session_hold(POWER_IMC_TYPE_TRACE), 0);
	for (int i = 0; i < 10; i++)
		KUNIT_EXPECT_EQ(test, power_imc_session_hold(POWER_IMC_TYPE_CORE), -EBUSY);
	power_imc_session_add_holders(-1);
	expect_all_free(test);
}

static void switched(int cpu)
{
}

/* LDBAR may act late, so another kind waits for 50 ms after the last user of the one before. */
static void the_next_kind_waits_for_ldbar(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		for (int j = 0; j < ARRAY_SIZE(uses); j++) {
			bool trace = uses[j] == POWER_IMC_TYPE_TRACE;
			u64 start = ktime_get_ns();

			if (uses[i] == uses[j])
				continue;
			KUNIT_ASSERT_EQ(test, power_imc_session_hold(uses[i]), 0);
			power_imc_session_add_holders(-1);
			KUNIT_ASSERT_EQ(test, power_imc_session_open(uses[j], trace ? switched : NULL), 0);
			KUNIT_EXPECT_GE(test, ktime_get_ns() - start, 50ULL * NSEC_PER_MSEC);
			power_imc_session_close();
		}
	}
}

/* The first user of a core sets its page up and starts it, and the last stops it. */
static void first_starts_last_stops(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.page, (u64)__pa(imc->cores[0].page));
	KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_CORE), 0);
	put(0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 0U);
	expect_only(test, POWER_IMC_TYPE_CORE);
	put(0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 1U);
}

/* Threads count by the core's engine in the core's mode, and need its page as well. */
static void threads_use_the_core(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, get(1, POWER_IMC_TYPE_THREAD), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.page, (u64)__pa(imc->cores[1].page));
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_TRACE_ON], 0U);
	put(1);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 1U);
}

/* Tracing is set up and switched by calls of its own; the core has its page all the same. */
static void trace_has_its_own_calls(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_TRACE), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.page, (u64)__pa(imc->cores[0].page));
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_TRACE], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_TRACE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 0U);
	put(0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_TRACE_OFF], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 0U);
}

static void get_locally(void *err)
{
	*(int *)err = power_imc_session_power_on(&imc->cores[2], POWER_IMC_TYPE_CORE);
}

static void put_locally(void *unused)
{
	power_imc_session_power_off(&imc->cores[2]);
}

/* The first calls since the last firmware_forget(). */
static void expect_calls(struct kunit *test, const struct firmware_log *wanted)
{
	KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, wanted->nr_kept);
	for (int i = 0; i < wanted->nr_kept; i++) {
		KUNIT_EXPECT_EQ_MSG(test, firmware_log.kept[i].call, wanted->kept[i].call, "call %d", i);
		KUNIT_EXPECT_EQ_MSG(test, firmware_log.kept[i].pir, wanted->kept[i].pir, "call %d", i);
	}
}

/* Whichever CPU starts the engine and whichever stops it, firmware is told the same thread. */
static void firmware_is_told_the_same_thread(struct kunit *test)
{
	static const struct firmware_log wanted = {
		.kept = { { CALL_INIT_CORE, 0x58 }, { CALL_CORE_ON, 0x58 }, { CALL_CORE_OFF, 0x58 } },
		.nr_kept = 3,
	};
	int err;

	KUNIT_ASSERT_EQ(test, smp_call_function_single(cpumask_last(cpu_online_mask), get_locally, &err, 1), 0);
	KUNIT_ASSERT_EQ(test, err, 0);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(cpumask_first(cpu_online_mask), put_locally, NULL, 1), 0);
	expect_calls(test, &wanted);
}

/* A fused core has two engines: both are set up before one is on, and both are stopped. */
static void both_halves_of_a_fused_core(struct kunit *test)
{
	static const struct firmware_log cores = {
		.kept = {
			{ CALL_INIT_CORE, 0x10 }, { CALL_INIT_CORE, 0x11 }, { CALL_CORE_ON, 0x10 },
			{ CALL_CORE_ON, 0x11 }, { CALL_CORE_OFF, 0x10 }, { CALL_CORE_OFF, 0x11 },
		},
		.nr_kept = 6,
	};
	static const struct firmware_log traces = {
		.kept = {
			{ CALL_INIT_CORE, 0x10 }, { CALL_INIT_CORE, 0x11 }, { CALL_INIT_TRACE, 0x10 },
			{ CALL_INIT_TRACE, 0x11 }, { CALL_TRACE_ON, 0x10 }, { CALL_TRACE_ON, 0x11 },
			{ CALL_TRACE_OFF, 0x10 }, { CALL_TRACE_OFF, 0x11 },
		},
		.nr_kept = 8,
	};

	imc->cores[1].halves = 2;
	KUNIT_EXPECT_EQ(test, get(1, POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_EQ(test, get(1, POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
	put(1);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
	put(1);
	expect_calls(test, &cores);
	KUNIT_EXPECT_EQ(test, firmware_log.misuse, 0U);
	firmware_forget();
	KUNIT_EXPECT_EQ(test, get(1, POWER_IMC_TYPE_TRACE), 0);
	put(1);
	expect_calls(test, &traces);
}

/* The second half cannot be started: then the first one is stopped, too. */
static void half_of_a_fused_core_does_not_start(struct kunit *test)
{
	imc->cores[1].halves = 2;
	firmware_log.error_pir = 0x11;
	firmware_log.error[CALL_CORE_ON] = -EIO;
	KUNIT_EXPECT_EQ(test, get(1, POWER_IMC_TYPE_CORE), -EIO);
	KUNIT_EXPECT_EQ(test, firmware_log.engines[0x10], ENGINE_OFF);
	KUNIT_EXPECT_EQ(test, firmware_log.engines[0x11], ENGINE_OFF);
	expect_all_free(test);
}

/* A half without a CPU online sleeps and does not answer, and nobody needs its engine. */
static void half_without_cpu_is_not_needed(struct kunit *test)
{
	struct power_imc_core *core = &imc->cores[1];

	core->halves = 2;
	for (int i = 0; i < ARRAY_SIZE(uses) * 2; i++) {
		u32 silent = core->pir ^ (i % 2);

		firmware_forget();
		core->awake = BOTH_HALVES & ~BIT(i % 2);
		firmware_log.error_pir = silent;
		for (int call = 0; call < FIRMWARE_CALLS; call++)
			firmware_log.error[call] = -EIO;
		KUNIT_EXPECT_EQ(test, get(1, uses[i / 2]), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		power_imc_engine_look(core);
		KUNIT_EXPECT_EQ(test, core->restarts, 0U);
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		put(1);
		KUNIT_EXPECT_FALSE(test, core->stuck);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		expect_all_free(test);
	}
}

/* On CPU 0: CPUs 0 and 1 as the two halves of a core, of which the second has no CPU online. */
static struct power_imc_core *fused_here(struct kunit *test)
{
	struct power_imc_core *core = &imc->cores[0];

	KUNIT_ASSERT_GE(test, num_online_cpus(), 2U);
	KUNIT_ASSERT_EQ(test, get_hard_smp_processor_id(0) ^ get_hard_smp_processor_id(1), 1);
	/* A test's task ends with it. */
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(0)), 0);
	core->pir = get_hard_smp_processor_id(0);
	core->halves = 2;
	core->awake = BIT(0);
	return core;
}

struct on_cpu {
	enum power_imc_type use;
	int err;
};

static void get_on_cpu(void *data)
{
	struct on_cpu *on = data;

	on->err = power_imc_session_power_on(&imc->cores[0], on->use);
}

static void put_on_cpu(void *unused)
{
	power_imc_session_power_off(&imc->cores[0]);
}

static int get_on(int cpu, enum power_imc_type use)
{
	struct on_cpu on = { .use = use };

	return smp_call_function_single(cpu, get_on_cpu, &on, true) ?: on.err;
}

static void put_on(int cpu)
{
	smp_call_function_single(cpu, put_on_cpu, NULL, true);
}

static void arrive(void *core)
{
	power_imc_engine_arrive(core);
}

static void leave(void *core)
{
	power_imc_engine_leave(core, smp_processor_id());
}

/* The half of a CPU that comes is started where the other one is used, and nowhere else. */
static void half_is_started_by_its_first_cpu(struct kunit *test)
{
	struct power_imc_core *core = fused_here(test);

	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		unsigned int calls;

		firmware_forget();
		core->awake = BIT(0);
		smp_call_function_single(1, arrive, core, true);
		KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, 0U);
		KUNIT_EXPECT_EQ(test, core->awake, (unsigned int)BOTH_HALVES);
		core->awake = BIT(0);
		KUNIT_EXPECT_EQ(test, get_on(0, uses[i]), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		smp_call_function_single(1, arrive, core, true);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
		KUNIT_EXPECT_EQ(test, firmware_log.cut_off, 0U);
		calls = firmware_log.nr_kept;
		/* Another CPU of a half that has one. */
		smp_call_function_single(1, arrive, core, true);
		power_imc_engine_look(core);
		KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, calls);
		KUNIT_EXPECT_EQ(test, core->restarts, 0U);
		put_on(0);
		expect_all_free(test);
	}
}

/* Its first box may be powered before anybody says that the CPU is online. */
static void half_is_started_by_its_first_box(struct kunit *test)
{
	struct power_imc_core *core = fused_here(test);
	unsigned int calls;

	KUNIT_EXPECT_EQ(test, get_on(0, POWER_IMC_TYPE_THREAD), 0);
	KUNIT_EXPECT_EQ(test, get_on(1, POWER_IMC_TYPE_THREAD), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
	calls = firmware_log.nr_kept;
	smp_call_function_single(1, arrive, core, true);
	KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, calls);
	put_on(1);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
	put_on(0);
}

/* While the engines are paused it waits as the other half does, and when all is off it stays off. */
static void half_that_comes_meanwhile(struct kunit *test)
{
	struct power_imc_core *core = fused_here(test);

	KUNIT_EXPECT_EQ(test, get_on(0, POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
	smp_call_function_single(1, arrive, core, true);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
	power_imc_engine_resume(core);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
	core->awake = BIT(0);
	imc->halted = true;
	firmware_forget();
	smp_call_function_single(1, arrive, core, true);
	KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, 0U);
	put_on(0);
}

/* Its last CPU goes, and it falls asleep and loses its switch; when that is back it is started anew. */
static void half_without_its_last_cpu(struct kunit *test)
{
	struct power_imc_core *core = fused_here(test);
	u32 second = core->pir ^ 1;

	core->awake = BOTH_HALVES;
	KUNIT_EXPECT_EQ(test, get_on(0, POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
	core->awake = BIT(0);
	firmware_log.engines[second] = ENGINE_UNKNOWN;
	firmware_log.on--;
	firmware_log.error_pir = second;
	firmware_log.error[CALL_CORE_OFF] = -EIO;
	power_imc_engine_look(core);
	KUNIT_EXPECT_EQ(test, core->restarts, 0U);
	firmware_log.error[CALL_CORE_OFF] = 0;
	smp_call_function_single(1, arrive, core, true);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
	core->awake = BIT(0);
	firmware_log.engines[second] = ENGINE_UNKNOWN;
	firmware_log.on--;
	firmware_log.error[CALL_CORE_OFF] = -EIO;
	put_on(0);
	KUNIT_EXPECT_FALSE(test, core->stuck);
	expect_all_free(test);
}

/* A core that has another CPU stays awake, and what the last one says on its way out is the truth. */
static void last_cpu_of_a_core_answers(struct kunit *test)
{
	struct power_imc_core *core = fused_here(test);

	core->halves = 1;
	smp_call_function_single(1, leave, core, true);
	KUNIT_EXPECT_EQ(test, core->awake, (unsigned int)BIT(0));
	core->awake = 0;
	firmware_log.error[CALL_CORE_OFF] = -EIO;
	KUNIT_EXPECT_EQ(test, get_on(0, POWER_IMC_TYPE_CORE), 0);
	put_on(0);
	KUNIT_EXPECT_TRUE(test, core->stuck);
	firmware_log.error[CALL_CORE_OFF] = 0;
	KUNIT_EXPECT_EQ(test, get_on(0, POWER_IMC_TYPE_CORE), 0);
	put_on(0);
	KUNIT_EXPECT_FALSE(test, core->stuck);
}

/* While a CPU of the core comes its engine is off, and then on again as it was, if anybody uses it. */
static void paused_while_a_cpu_comes(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		struct power_imc_core *core = &imc->cores[0];

		firmware_forget();
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, 0U);
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		power_imc_engine_resume(core);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		/* Boxes that are powered while the engine is paused do not start it. */
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		put(0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		put(0);
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		/* An engine without users is not started again. */
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		put(0);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
	}
}

/* Half of a fused core may sleep deeply. Then it answers a CPU of its own alone, which wakes up for that. */
static void each_half_is_paused_by_its_own_cpu(struct kunit *test)
{
	struct power_imc_core *core = &imc->cores[0];

	KUNIT_ASSERT_GE(test, num_online_cpus(), 2U);
	KUNIT_ASSERT_EQ(test, get_hard_smp_processor_id(0) ^ get_hard_smp_processor_id(1), 1);
	core->pir = get_hard_smp_processor_id(0);
	core->halves = 2;
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		firmware_forget();
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		firmware_log.deaf = true;
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		firmware_log.deaf = false;
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
		put(0);
	}
}

/* If one half cannot be stopped, both are on, as they were. */
static void half_of_a_fused_core_is_not_paused(struct kunit *test)
{
	struct power_imc_core *core = &imc->cores[0];

	/* That of CPU 1 is stopped second, then first. */
	for (int cpu = 0; cpu < 2; cpu++) {
		firmware_forget();
		core->pir = get_hard_smp_processor_id(cpu);
		core->halves = 2;
		KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_CORE), 0);
		firmware_log.error_pir = get_hard_smp_processor_id(1);
		firmware_log.error[CALL_CORE_OFF] = -EIO;
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), -EIO);
		KUNIT_EXPECT_FALSE(test, core->paused);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
		/* The one that was on all the time. */
		KUNIT_EXPECT_EQ(test, firmware_log.cut_off, 1U);
		firmware_log.error[CALL_CORE_OFF] = 0;
		put(0);
	}
}

/* An engine that somebody else has switched off is found, and started again as it was; no other is touched. */
static void started_again_where_it_is_off(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		struct power_imc_core *core = &imc->cores[0];

		firmware_forget();
		power_imc_engine_look(core);
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		power_imc_engine_look(core);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 1U);
		firmware_log.engines[0x08] = ENGINE_UNKNOWN;
		firmware_log.on--;
		power_imc_engine_look(core);
		power_imc_engine_look(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 2U);
		KUNIT_EXPECT_EQ(test, core->restarts, i + 1U);
		put(0);
	}
}

/* Half of a fused core is lost, and does not start at first: nothing is set up that is on. */
static void half_of_a_fused_core_is_lost(struct kunit *test)
{
	struct power_imc_core *core = &imc->cores[1];

	core->halves = 2;
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		firmware_forget();
		KUNIT_EXPECT_EQ(test, get(1, uses[i]), 0);
		firmware_log.engines[0x11] = ENGINE_UNKNOWN;
		firmware_log.on--;
		firmware_log.error_pir = 0x11;
		firmware_log.error[CALL_CORE_ON] = -EIO;
		firmware_log.error[CALL_TRACE_ON] = -EIO;
		power_imc_engine_look(core);
		power_imc_engine_look(core);
		firmware_log.error[CALL_CORE_ON] = 0;
		firmware_log.error[CALL_TRACE_ON] = 0;
		power_imc_engine_look(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
		KUNIT_EXPECT_EQ(test, firmware_log.misuse, 0U);
		KUNIT_EXPECT_EQ(test, firmware_log.cut_off, 0U);
		put(1);
	}
}

/* A switch that does not read as it was written tells nothing: its engine is left alone. */
static void left_alone_where_the_switch_does_not_tell(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		struct power_imc_core *core = &imc->cores[0];

		firmware_forget();
		firmware_log.mute = true;
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		power_imc_engine_look(core);
		power_imc_engine_look(core);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 1U);
		put(0);
		/* The next start may find that it does. */
		firmware_log.mute = false;
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		firmware_log.engines[0x08] = ENGINE_UNKNOWN;
		firmware_log.on--;
		power_imc_engine_look(core);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 3U);
		KUNIT_EXPECT_EQ(test, core->restarts, i + 1U);
		put(0);
	}
}

/*
 * An engine that could not be started after a pause is tried again, even if its register never told
 * whether it is on.
 */
static void tried_again_behind_a_pause(struct kunit *test)
{
	struct power_imc_core *core = &imc->cores[0];

	KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
	KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_CORE), 0);
	firmware_log.error[CALL_CORE_ON] = -EIO;
	power_imc_engine_resume(core);
	power_imc_engine_look(core);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 2U);
	firmware_log.error[CALL_CORE_ON] = 0;
	power_imc_engine_look(core);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
	power_imc_engine_look(core);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 3U);
	put(0);
}

/* When all is off for good nothing starts, and nothing starts again; what is used can be given back. */
static void nothing_starts_when_halted(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_EQ(test, power_imc_engine_pause(&imc->cores[0]), 0);
	imc->halted = true;
	firmware_forget();
	KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_CORE), -ENODEV);
	KUNIT_EXPECT_EQ(test, get(1, POWER_IMC_TYPE_CORE), -ENODEV);
	power_imc_engine_resume(&imc->cores[0]);
	KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, 0U);
	put(0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 1U);
}

/* Each core has its own engine, and they may be given back in any order. */
static void cores_in_any_order(struct kunit *test)
{
	static const u8 orders[][ENGINE_CORES] = {
		{ 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 }, { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 },
	};

	for (int i = 0; i < ARRAY_SIZE(orders); i++) {
		firmware_forget();
		for (int core = 0; core < ENGINE_CORES; core++)
			KUNIT_EXPECT_EQ(test, get(core, POWER_IMC_TYPE_CORE), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, (unsigned int)ENGINE_CORES);
		for (int j = 0; j < ENGINE_CORES; j++) {
			expect_only(test, POWER_IMC_TYPE_CORE);
			put(orders[i][j]);
			KUNIT_EXPECT_EQ(test, firmware_log.on, (unsigned int)ENGINE_CORES - 1 - j);
			KUNIT_EXPECT_EQ(test, imc->cores[orders[i][j]].users, 0U);
		}
		expect_all_free(test);
	}
}

/* The system is one kind's on all cores, not only where it is used. */
static void exclusion_is_system_wide(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		for (int j = 0; j < ARRAY_SIZE(uses); j++) {
			if (j == i)
				continue;
			KUNIT_EXPECT_EQ(test, get(0, uses[j]), -EBUSY);
			KUNIT_EXPECT_EQ(test, get(1, uses[j]), -EBUSY);
		}
		KUNIT_EXPECT_EQ(test, imc->cores[0].users, 1U);
		KUNIT_EXPECT_EQ(test, imc->cores[1].users, 0U);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		put(0);
	}
}

/* Firmware that refuses: its error is passed on, and nothing is taken, nor started. */
static void failure_takes_nothing(struct kunit *test)
{
	static const struct { enum power_imc_type use; enum firmware_call call; } rows[] = {
		{ POWER_IMC_TYPE_CORE, CALL_INIT_CORE }, { POWER_IMC_TYPE_CORE, CALL_CORE_ON },
		{ POWER_IMC_TYPE_THREAD, CALL_INIT_CORE }, { POWER_IMC_TYPE_THREAD, CALL_CORE_ON },
		{ POWER_IMC_TYPE_TRACE, CALL_INIT_CORE }, { POWER_IMC_TYPE_TRACE, CALL_INIT_TRACE },
		{ POWER_IMC_TYPE_TRACE, CALL_TRACE_ON },
	};

	for (int i = 0; i < ARRAY_SIZE(rows); i++) {
		firmware_forget();
		firmware_log.error[rows[i].call] = -EIO;
		KUNIT_EXPECT_EQ(test, get(0, rows[i].use), -EIO);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[rows[i].call], 1U);
		KUNIT_EXPECT_EQ(test, firmware_log.engines[0x08], ENGINE_OFF);
		KUNIT_EXPECT_EQ(test, imc->cores[0].users, 0U);
		expect_all_free(test);
		/* The next attempt may succeed. */
		firmware_log.error[rows[i].call] = 0;
		KUNIT_EXPECT_EQ(test, get(0, rows[i].use), 0);
		put(0);
	}
}

/* One core that cannot be started does not take the system from those that run. */
static void failure_spares_the_others(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_THREAD), 0);
	firmware_log.error[CALL_CORE_ON] = -EIO;
	KUNIT_EXPECT_EQ(test, get(1, POWER_IMC_TYPE_THREAD), -EIO);
	/* Where it runs nothing has to be started. */
	KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_THREAD), 0);
	expect_only(test, POWER_IMC_TYPE_THREAD);
	put(0);
	expect_only(test, POWER_IMC_TYPE_THREAD);
	put(0);
}

static const enum firmware_call offs[] = { CALL_CORE_OFF, CALL_CORE_OFF, CALL_TRACE_OFF };
static const enum firmware_call ons[] = { CALL_CORE_ON, CALL_CORE_ON, CALL_TRACE_ON };

/*
 * An engine that could not be stopped may still write. No other kind may start before this one is
 * stopped.
 */
static void failure_to_stop_keeps_the_others_out(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		firmware_forget();
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		firmware_log.error[offs[i]] = -EIO;
		put(0);
		expect_only(test, uses[i]);
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		put(0);
		expect_only(test, uses[i]);
		KUNIT_EXPECT_TRUE(test, imc->cores[0].stuck);
		firmware_log.error[offs[i]] = 0;
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		put(0);
		expect_all_free(test);
		KUNIT_EXPECT_FALSE(test, imc->cores[0].stuck);
	}
}

/* The same where starting failed, but perhaps not wholly, and nor does stopping work. */
static void failure_to_start_and_to_stop(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(uses); i++) {
		firmware_forget();
		firmware_log.error[ons[i]] = -EIO;
		firmware_log.error[offs[i]] = -EIO;
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), -EIO);
		expect_only(test, uses[i]);
		firmware_log.error[ons[i]] = 0;
		firmware_log.error[offs[i]] = 0;
		KUNIT_EXPECT_EQ(test, get(0, uses[i]), 0);
		put(0);
		expect_all_free(test);
	}
}

static void ldbar_write(u64 value)
{
	local_irq_disable();
	power_imc_ldbar_write(imc, value);
	local_irq_enable();
}

static u64 ldbar_take(void)
{
	u64 value = mfspr(SPRN_LDBAR);

	power_imc_ldbar_clear();
	return value;
}

/* A trace ends when another kind begins: the engine has been off for 50 ms, and LDBAR has 50 ms to act. */
static void ldbar_stays_until_another_kind_begins(struct kunit *test)
{
	u64 start;

	migrate_disable();
	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_TRACE, switched), 0);
	ldbar_write(LDBAR);
	power_imc_session_close();
	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_TRACE, switched), 0);
	KUNIT_EXPECT_EQ(test, mfspr(SPRN_LDBAR), LDBAR);
	power_imc_session_close();
	start = ktime_get_ns();
	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_CORE, NULL), 0);
	KUNIT_EXPECT_GE(test, ktime_get_ns() - start, 95ULL * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, ldbar_take(), 0ULL);
	/* A thread that counts writes its own LDBAR, and does not wait for others of its kind. */
	ldbar_write(LDBAR_COUNTS);
	start = ktime_get_ns();
	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_CORE, NULL), 0);
	KUNIT_EXPECT_LT(test, ktime_get_ns() - start, 50ULL * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, ldbar_take(), LDBAR_COUNTS);
	power_imc_session_close();
	power_imc_session_close();
	migrate_enable();
}

#define SLOTS	64

/* What traces on this CPU, with a ring; LDBAR is ours. */
static struct power_imc_trace *trace_here(struct kunit *test)
{
	struct power_imc_trace *trace = kunit_kzalloc(test, sizeof(*trace), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, trace);
	trace->ring.base = kunit_kzalloc(test, SLOTS * sizeof(*trace->ring.base), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, trace->ring.base);
	trace->ring.slots = SLOTS;
	trace->core = &imc->cores[0];
	trace->ldbar = LDBAR;
	power_imc_drain_init(trace);
	ldbar_write(LDBAR);
	return trace;
}

/* LDBAR is cleared. Whoever else uses the engine has it again. */
static void ldbar_of_a_cpu_that_leaves(struct kunit *test)
{
	for (unsigned int users = 0; users < 3; users++) {
		struct power_imc_trace *trace;

		firmware_forget();
		for (unsigned int i = 0; i < users; i++)
			KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_TRACE), 0);
		migrate_disable();
		trace = trace_here(test);
		KUNIT_EXPECT_EQ(test, power_imc_trace_leave(trace), 0);
		KUNIT_EXPECT_EQ(test, mfspr(SPRN_LDBAR), 0ULL);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_TRACE_OFF], users ? 1U : 0U);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_TRACE_ON], users ? 2U : 0U);
		/* Nothing is on there when it comes back, or stays. */
		power_imc_trace_arrive(trace);
		KUNIT_EXPECT_EQ(test, ldbar_take(), 0ULL);
		migrate_enable();
		for (unsigned int i = 0; i < users; i++)
			put(0);
		expect_all_free(test);
	}
}

/* A CPU that stays after all, or has just come, traces what is on there already. */
static void ldbar_of_a_cpu_that_arrives(struct kunit *test)
{
	struct power_imc_trace *trace;
	struct list_head event;

	migrate_disable();
	trace = trace_here(test);
	list_add(&event, &trace->events);
	KUNIT_EXPECT_EQ(test, power_imc_trace_leave(trace), 0);
	KUNIT_EXPECT_EQ(test, mfspr(SPRN_LDBAR), 0ULL);
	trace->ring.next = 7;
	power_imc_trace_arrive(trace);
	KUNIT_EXPECT_EQ(test, ldbar_take(), LDBAR);
	KUNIT_EXPECT_EQ(test, trace->ring.next, 0U);
	/* It has not left since. */
	power_imc_trace_arrive(trace);
	KUNIT_EXPECT_EQ(test, ldbar_take(), 0ULL);
	migrate_enable();
}

/* The threads of a core may share it: then it is the other's. */
static void ldbar_of_another_is_left_alone(struct kunit *test)
{
	struct power_imc_trace *trace;

	migrate_disable();
	trace = trace_here(test);
	ldbar_write(LDBAR + POWER_IMC_TRACE_SIZE);
	KUNIT_EXPECT_EQ(test, power_imc_trace_leave(trace), 0);
	KUNIT_EXPECT_EQ(test, ldbar_take(), LDBAR + POWER_IMC_TRACE_SIZE);
	migrate_enable();
}

/* While the engine cannot be stopped the CPU has to stay, and traces on. */
static void ldbar_stays_where_the_engine_does_not_stop(struct kunit *test)
{
	struct power_imc_trace *trace;

	migrate_disable();
	trace = trace_here(test);
	imc->cores[0].pir = get_hard_smp_processor_id(smp_processor_id());
	KUNIT_EXPECT_EQ(test, get(0, POWER_IMC_TYPE_TRACE), 0);
	firmware_log.error[CALL_TRACE_OFF] = -EIO;
	KUNIT_EXPECT_EQ(test, power_imc_trace_leave(trace), -EIO);
	KUNIT_EXPECT_EQ(test, ldbar_take(), LDBAR);
	KUNIT_EXPECT_FALSE(test, trace->leaving);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
	firmware_log.error[CALL_TRACE_OFF] = 0;
	put(0);
	migrate_enable();
}

/* Its engine is switched off behind the driver's back. */
static void lose(unsigned int core)
{
	for (unsigned int half = 0; half < imc->cores[core].halves; half++) {
		enum firmware_engine *engine = &firmware_log.engines[engine_pirs[core] ^ half];

		firmware_log.on -= *engine == ENGINE_ON;
		*engine = ENGINE_OFF;
	}
}

/* Calls of the firmware while events count or trace. After a refusal nothing is given back. */
static void live(struct kunit *test, enum power_imc_type use)
{
	int errors[] = { get(0, use), get(0, use), get(1, use) };

	if (firmware_log.on)
		expect_only(test, use);
	power_imc_engine_pause(&imc->cores[0]);
	power_imc_engine_resume(&imc->cores[0]);
	lose(0);
	power_imc_engine_look(&imc->cores[0]);
	power_imc_engine_look(&imc->cores[0]);
	if (firmware_log.on)
		expect_only(test, use);
	for (int i = 0; i < ARRAY_SIZE(errors); i++)
		if (!errors[i])
			put(i / 2);
}

/*
 * Each call of the firmware fails once, with each error. Afterwards no engine is on unknown to the
 * driver, and everything works again.
 */
static void each_call_fails_once(struct kunit *test)
{
	static const int errors[] = { -EINVAL, -EOPNOTSUPP, -EIO };
	unsigned int lives = 0, n;

	for (int i = 0; i < ARRAY_SIZE(uses) * 2 * ARRAY_SIZE(errors); i++) {
		enum power_imc_type use = uses[i % 3];
		int err = errors[i / 6];

		imc->cores[0].halves = 1 + i / 3 % 2;
		for (n = 1; ; n++) {
			bool failed;

			firmware_forget();
			firmware_log.fail_at = n;
			firmware_log.fail_error = err;
			live(test, use);
			failed = !firmware_log.fail_at;
			firmware_log.fail_at = 0;
			/*
			 * The next user of the same kind stops the engine that could not be
			 * stopped.
			 */
			for (int core = 0; core < 2; core++) {
				KUNIT_EXPECT_EQ(test, get(core, use), 0);
				put(core);
				KUNIT_EXPECT_EQ(test, imc->cores[core].users, 0U);
				KUNIT_EXPECT_FALSE(test, imc->cores[core].stuck);
			}
			expect_all_free(test);
			KUNIT_EXPECT_EQ_MSG(test, firmware_log.on, 0U, "call %u, use %d", n, use);
			KUNIT_EXPECT_EQ_MSG(test, firmware_log.misuse, 0U, "call %u, use %d", n, use);
			if (!failed)
				break;
		}
		/* At least: set up and start two, stop and start again, stop two. */
		KUNIT_EXPECT_GE(test, n, 10U);
		lives += n - 1;
	}
	kunit_info(test, "%u calls failed\n", lives);
}

static struct kunit_case engine_cases[] = {
	KUNIT_CASE(one_kind_at_a_time),
	KUNIT_CASE(an_engine_outlives_its_event),
	KUNIT_CASE(refusal_takes_nothing),
	KUNIT_CASE(the_next_kind_waits_for_ldbar),
	KUNIT_CASE(first_starts_last_stops),
	KUNIT_CASE(threads_use_the_core),
	KUNIT_CASE(trace_has_its_own_calls),
	KUNIT_CASE(firmware_is_told_the_same_thread),
	KUNIT_CASE(both_halves_of_a_fused_core),
	KUNIT_CASE(half_of_a_fused_core_does_not_start),
	KUNIT_CASE(half_without_cpu_is_not_needed),
	KUNIT_CASE(half_is_started_by_its_first_cpu),
	KUNIT_CASE(half_is_started_by_its_first_box),
	KUNIT_CASE(half_that_comes_meanwhile),
	KUNIT_CASE(half_without_its_last_cpu),
	KUNIT_CASE(last_cpu_of_a_core_answers),
	KUNIT_CASE(paused_while_a_cpu_comes),
	KUNIT_CASE(each_half_is_paused_by_its_own_cpu),
	KUNIT_CASE(half_of_a_fused_core_is_not_paused),
	KUNIT_CASE(started_again_where_it_is_off),
	KUNIT_CASE(half_of_a_fused_core_is_lost),
	KUNIT_CASE(left_alone_where_the_switch_does_not_tell),
	KUNIT_CASE(tried_again_behind_a_pause),
	KUNIT_CASE(nothing_starts_when_halted),
	KUNIT_CASE(cores_in_any_order),
	KUNIT_CASE(exclusion_is_system_wide),
	KUNIT_CASE(failure_takes_nothing),
	KUNIT_CASE(failure_spares_the_others),
	KUNIT_CASE(failure_to_stop_keeps_the_others_out),
	KUNIT_CASE(failure_to_start_and_to_stop),
	KUNIT_CASE(ldbar_stays_until_another_kind_begins),
	KUNIT_CASE(ldbar_of_a_cpu_that_leaves),
	KUNIT_CASE(ldbar_of_a_cpu_that_arrives),
	KUNIT_CASE(ldbar_of_another_is_left_alone),
	KUNIT_CASE(ldbar_stays_where_the_engine_does_not_stop),
	KUNIT_CASE_SLOW(each_call_fails_once),
	{ }
};

struct kunit_suite power_imc_engine_suite = {
	.name = "power_imc_engine",
	.init = engine_test_init,
	.exit = engine_test_exit,
	.test_cases = engine_cases,
};
