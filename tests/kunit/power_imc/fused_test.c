// SPDX-License-Identifier: GPL-2.0-only
/*
 * Fused cores: the kernel sees one where the hardware has two halves, each with an engine, of which one may sleep.
 */
#include <linux/smp.h>
#include <asm/smp.h>

#include "engines.h"

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

	engine_imc->cores[1].halves = 2;
	KUNIT_EXPECT_EQ(test, engine_get(1, POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_EQ(test, engine_get(1, POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
	engine_put(1);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
	engine_put(1);
	expect_calls(test, &cores);
	KUNIT_EXPECT_EQ(test, firmware_log.misuse, 0U);
	firmware_forget();
	KUNIT_EXPECT_EQ(test, engine_get(1, POWER_IMC_TYPE_TRACE), 0);
	engine_put(1);
	expect_calls(test, &traces);
}

/* The second half cannot be started: then the first one is stopped, too. */
static void half_of_a_fused_core_does_not_start(struct kunit *test)
{
	engine_imc->cores[1].halves = 2;
	firmware_log.error_pir = 0x11;
	firmware_log.error[CALL_CORE_ON] = -EIO;
	KUNIT_EXPECT_EQ(test, engine_get(1, POWER_IMC_TYPE_CORE), -EIO);
	KUNIT_EXPECT_EQ(test, firmware_log.engines[0x10], ENGINE_OFF);
	KUNIT_EXPECT_EQ(test, firmware_log.engines[0x11], ENGINE_OFF);
	expect_all_free(test);
}

/* A half without a CPU online sleeps and does not answer, and nobody needs its engine. */
static void half_without_cpu_is_not_needed(struct kunit *test)
{
	struct power_imc_core *core = &engine_imc->cores[1];

	core->halves = 2;
	for (int i = 0; i < ARRAY_SIZE(engine_uses) * 2; i++) {
		u32 silent = core->pir ^ (i % 2);

		firmware_forget();
		core->awake = BOTH_HALVES & ~BIT(i % 2);
		firmware_log.error_pir = silent;
		for (int call = 0; call < FIRMWARE_CALLS; call++)
			firmware_log.error[call] = -EIO;
		KUNIT_EXPECT_EQ(test, engine_get(1, engine_uses[i / 2]), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		power_imc_engine_look(core);
		KUNIT_EXPECT_EQ(test, core->restarts, 0U);
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		engine_put(1);
		KUNIT_EXPECT_FALSE(test, core->stuck);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		expect_all_free(test);
	}
}

/* On CPU 0: CPUs 0 and 1 as the two halves of a core, of which the second has no CPU online. */
static struct power_imc_core *fused_here(struct kunit *test)
{
	struct power_imc_core *core = &engine_imc->cores[0];

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

	on->err = power_imc_session_acquire(&engine_imc->cores[0], on->use);
}

static void put_on_cpu(void *unused)
{
	power_imc_session_release(&engine_imc->cores[0]);
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

	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		unsigned int calls;

		firmware_forget();
		core->awake = BIT(0);
		smp_call_function_single(1, arrive, core, true);
		KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, 0U);
		KUNIT_EXPECT_EQ(test, core->awake, (unsigned int)BOTH_HALVES);
		core->awake = BIT(0);
		KUNIT_EXPECT_EQ(test, get_on(0, engine_uses[i]), 0);
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

/* Its first box may be engaged before anybody says that the CPU is online. */
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
	engine_imc->halted = true;
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

/* Half of a fused core may sleep deeply. Then it answers a CPU of its own alone, which wakes up for that. */
static void each_half_is_paused_by_its_own_cpu(struct kunit *test)
{
	struct power_imc_core *core = &engine_imc->cores[0];

	KUNIT_ASSERT_GE(test, num_online_cpus(), 2U);
	KUNIT_ASSERT_EQ(test, get_hard_smp_processor_id(0) ^ get_hard_smp_processor_id(1), 1);
	core->pir = get_hard_smp_processor_id(0);
	core->halves = 2;
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		firmware_forget();
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		firmware_log.deaf = true;
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		firmware_log.deaf = false;
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
		engine_put(0);
	}
}

/* If one half cannot be stopped, both are on, as they were. */
static void half_of_a_fused_core_is_not_paused(struct kunit *test)
{
	struct power_imc_core *core = &engine_imc->cores[0];

	/* That of CPU 1 is stopped second, then first. */
	for (int cpu = 0; cpu < 2; cpu++) {
		firmware_forget();
		core->pir = get_hard_smp_processor_id(cpu);
		core->halves = 2;
		KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_CORE), 0);
		firmware_log.error_pir = get_hard_smp_processor_id(1);
		firmware_log.error[CALL_CORE_OFF] = -EIO;
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), -EIO);
		KUNIT_EXPECT_FALSE(test, core->paused);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 2U);
		/* The one that was on all the time. */
		KUNIT_EXPECT_EQ(test, firmware_log.cut_off, 1U);
		firmware_log.error[CALL_CORE_OFF] = 0;
		engine_put(0);
	}
}

/* Half of a fused core is lost, and does not start at first: nothing is set up that is on. */
static void half_of_a_fused_core_is_lost(struct kunit *test)
{
	struct power_imc_core *core = &engine_imc->cores[1];

	core->halves = 2;
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		firmware_forget();
		KUNIT_EXPECT_EQ(test, engine_get(1, engine_uses[i]), 0);
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
		engine_put(1);
	}
}

static struct kunit_case fused_cases[] = {
	KUNIT_CASE(both_halves_of_a_fused_core),
	KUNIT_CASE(half_of_a_fused_core_does_not_start),
	KUNIT_CASE(half_without_cpu_is_not_needed),
	KUNIT_CASE(half_is_started_by_its_first_cpu),
	KUNIT_CASE(half_is_started_by_its_first_box),
	KUNIT_CASE(half_that_comes_meanwhile),
	KUNIT_CASE(half_without_its_last_cpu),
	KUNIT_CASE(last_cpu_of_a_core_answers),
	KUNIT_CASE(each_half_is_paused_by_its_own_cpu),
	KUNIT_CASE(half_of_a_fused_core_is_not_paused),
	KUNIT_CASE(half_of_a_fused_core_is_lost),
	{ }
};

struct kunit_suite power_imc_fused_suite = {
	.name = "power_imc_fused",
	.init = engine_test_init,
	.exit = engine_test_exit,
	.test_cases = fused_cases,
};
