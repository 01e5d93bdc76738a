// SPDX-License-Identifier: GPL-2.0-only
/*
 * LDBAR of a thread that traced: until when it stays, and who clears it.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/ktime.h>
#include <linux/smp.h>
#include <asm/reg.h>
#include <asm/smp.h>

#include "engines.h"
#include <power_imc/trace.h>

/* Of a thread that traces; nothing does so for it here. */
#define LDBAR		0x4000000012340000ULL
#define LDBAR_COUNTS	0x8000000012340000ULL

static void ldbar_write(u64 value)
{
	local_irq_disable();
	power_imc_ldbar_write(engine_imc, value);
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
	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_TRACE), 0);
	ldbar_write(LDBAR);
	power_imc_session_close();
	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_TRACE), 0);
	KUNIT_EXPECT_EQ(test, mfspr(SPRN_LDBAR), LDBAR);
	power_imc_session_close();
	start = ktime_get_ns();
	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_GE(test, ktime_get_ns() - start, 95ULL * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, ldbar_take(), 0ULL);
	/* A thread that counts writes its own LDBAR, and does not wait for others of its kind. */
	ldbar_write(LDBAR_COUNTS);
	start = ktime_get_ns();
	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_LT(test, ktime_get_ns() - start, 50ULL * NSEC_PER_MSEC);
	KUNIT_EXPECT_EQ(test, ldbar_take(), LDBAR_COUNTS);
	power_imc_session_close();
	power_imc_session_close();
	migrate_enable();
}

/* After the last trace LDBAR is cleared, though nobody opens anything. */
static void ldbar_is_cleared_after_the_last_trace(struct kunit *test)
{
	unsigned int waits = 0;

	migrate_disable();
	KUNIT_ASSERT_EQ(test, power_imc_session_open(POWER_IMC_TYPE_TRACE), 0);
	ldbar_write(LDBAR);
	msleep(200);
	KUNIT_EXPECT_EQ(test, mfspr(SPRN_LDBAR), LDBAR);
	power_imc_session_close();
	while (mfspr(SPRN_LDBAR) && waits++ < 100)
		msleep(20);
	KUNIT_EXPECT_EQ(test, ldbar_take(), 0ULL);
	migrate_enable();
}

/*
 * LDBAR is written before the engine starts. Where the core's other threads use it, it is stopped for
 * that, unless LDBAR names that already.
 */
static void ldbar_comes_first(struct kunit *test)
{
	static const struct firmware_log wanted = {
		.kept = {
			{ CALL_INIT_CORE, 0x08 }, { CALL_INIT_TRACE, 0x08 }, { CALL_TRACE_ON, 0x08 },
			{ CALL_TRACE_OFF, 0x08 }, { CALL_INIT_CORE, 0x08 }, { CALL_INIT_TRACE, 0x08 },
			{ CALL_TRACE_ON, 0x08 },
		},
		.nr_kept = 7,
	};

	migrate_disable();
	KUNIT_EXPECT_EQ(test, engine_get_at(0, POWER_IMC_TYPE_TRACE, LDBAR), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.ldbar, LDBAR);
	KUNIT_EXPECT_EQ(test, engine_get_at(0, POWER_IMC_TYPE_TRACE, LDBAR), 0);
	/* Another thread of the core. */
	KUNIT_EXPECT_EQ(test, engine_get_at(0, POWER_IMC_TYPE_TRACE, LDBAR + POWER_IMC_TRACE_SIZE), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.ldbar, LDBAR + POWER_IMC_TRACE_SIZE);
	expect_calls(test, &wanted);
	/* An engine that does not stop is left as it is, and so is LDBAR. */
	firmware_log.error[CALL_TRACE_OFF] = -EIO;
	KUNIT_EXPECT_EQ(test, engine_get_at(0, POWER_IMC_TYPE_TRACE, LDBAR), -EIO);
	KUNIT_EXPECT_EQ(test, mfspr(SPRN_LDBAR), LDBAR + POWER_IMC_TRACE_SIZE);
	firmware_log.error[CALL_TRACE_OFF] = 0;
	for (unsigned int users = 3; users; users--)
		engine_put(0);
	ldbar_take();
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
	trace->core = &engine_imc->cores[0];
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
			KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_TRACE), 0);
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
			engine_put(0);
		expect_all_free(test);
	}
}

/* A CPU that stays after all, or has just come, traces what is on there already. */
static void ldbar_of_a_cpu_that_arrives(struct kunit *test)
{
	struct power_imc_trace *trace;

	migrate_disable();
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_TRACE), 0);
	trace = trace_here(test);
	trace->engaged = true;
	KUNIT_EXPECT_EQ(test, power_imc_trace_leave(trace), 0);
	KUNIT_EXPECT_EQ(test, mfspr(SPRN_LDBAR), 0ULL);
	power_imc_trace_arrive(trace);
	KUNIT_EXPECT_EQ(test, firmware_log.ldbar, LDBAR);
	KUNIT_EXPECT_EQ(test, ldbar_take(), LDBAR);
	engine_put(0);
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

static void ldbar_write_and_lose(void *unused)
{
	power_imc_ldbar_write(engine_imc, LDBAR);
	mtspr(SPRN_LDBAR, 0);
}

/* Sessions do not wait for a CPU that has gone offline after its LDBAR was lost. */
static void ldbar_that_was_lost_is_forgotten(struct kunit *test)
{
	int cpu = cpumask_last(cpu_online_mask);

	if (!cpu)
		kunit_skip(test, "the only CPU cannot go offline");
	KUNIT_ASSERT_EQ(test, smp_call_function_single(cpu, ldbar_write_and_lose, NULL, 1), 0);
	KUNIT_ASSERT_EQ(test, remove_cpu(cpu), 0);
	KUNIT_EXPECT_TRUE(test, power_imc_ldbar_untrace());
	KUNIT_EXPECT_FALSE(test, power_imc_ldbar_untrace());
	KUNIT_EXPECT_EQ(test, add_cpu(cpu), 0);
}

/* While the engine cannot be stopped the CPU has to stay, and traces on. */
static void ldbar_stays_where_the_engine_does_not_stop(struct kunit *test)
{
	struct power_imc_trace *trace;

	migrate_disable();
	trace = trace_here(test);
	engine_imc->cores[0].pir = get_hard_smp_processor_id(smp_processor_id());
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_TRACE), 0);
	firmware_log.error[CALL_TRACE_OFF] = -EIO;
	KUNIT_EXPECT_EQ(test, power_imc_trace_leave(trace), -EIO);
	KUNIT_EXPECT_EQ(test, ldbar_take(), LDBAR);
	KUNIT_EXPECT_FALSE(test, trace->leaving);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
	firmware_log.error[CALL_TRACE_OFF] = 0;
	engine_put(0);
	migrate_enable();
}

static struct kunit_case ldbar_cases[] = {
	KUNIT_CASE(ldbar_stays_until_another_kind_begins),
	KUNIT_CASE(ldbar_is_cleared_after_the_last_trace),
	KUNIT_CASE(ldbar_comes_first),
	KUNIT_CASE(ldbar_of_a_cpu_that_leaves),
	KUNIT_CASE(ldbar_of_a_cpu_that_arrives),
	KUNIT_CASE(ldbar_of_another_is_left_alone),
	KUNIT_CASE(ldbar_that_was_lost_is_forgotten),
	KUNIT_CASE(ldbar_stays_where_the_engine_does_not_stop),
	{ }
};

struct kunit_suite power_imc_ldbar_suite = {
	.name = "power_imc_ldbar",
	.init = engine_test_init,
	.exit = engine_test_exit,
	.test_cases = ldbar_cases,
};
