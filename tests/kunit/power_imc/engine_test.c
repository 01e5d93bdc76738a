// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who may use the engines: one kind of unit at a time in the whole system; and a core's engine, which
 * runs while anybody uses it.
 */
#include <linux/ktime.h>
#include <linux/smp.h>
#include <asm/smp.h>

#include "engines.h"

/* Whichever kind comes first keeps the others out, until its last user is gone. */
static void one_kind_at_a_time(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		for (int users = 0; users < 3; users++)
			KUNIT_ASSERT_EQ(test, power_imc_session_hold(engine_uses[i]), 0);
		for (int users = 3; users > 0; users--) {
			expect_only(test, engine_uses[i]);
			power_imc_session_add_holders(-1);
		}
		expect_all_free(test);
	}
}

/* An engine that is on keeps the other kinds out, also when no event is open any more. */
static void an_engine_outlives_its_event(struct kunit *test)
{
	KUNIT_ASSERT_EQ(test, power_imc_session_hold(POWER_IMC_TYPE_TRACE), 0);
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_TRACE), 0);
	power_imc_session_add_holders(-1);
	expect_only(test, POWER_IMC_TYPE_TRACE);
	engine_put(0);
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

/* LDBAR may act late, so another kind waits for 50 ms after the last user of the one before. */
static void the_next_kind_waits_for_ldbar(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		for (int j = 0; j < ARRAY_SIZE(engine_uses); j++) {
			u64 start = ktime_get_ns();

			if (engine_uses[i] == engine_uses[j])
				continue;
			KUNIT_ASSERT_EQ(test, power_imc_session_hold(engine_uses[i]), 0);
			power_imc_session_add_holders(-1);
			KUNIT_ASSERT_EQ(test, power_imc_session_open(engine_uses[j]), 0);
			KUNIT_EXPECT_GE(test, ktime_get_ns() - start, 50ULL * NSEC_PER_MSEC);
			power_imc_session_close();
		}
	}
}

/* The first user of a core sets its page up and starts it, and the last stops it. */
static void first_starts_last_stops(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.page, (u64)__pa(engine_imc->cores[0].page));
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_CORE), 0);
	engine_put(0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 0U);
	expect_only(test, POWER_IMC_TYPE_CORE);
	engine_put(0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 1U);
}

/* Threads count by the core's engine in the core's mode, and need its page as well. */
static void threads_use_the_core(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, engine_get(1, POWER_IMC_TYPE_THREAD), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.page, (u64)__pa(engine_imc->cores[1].page));
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_TRACE_ON], 0U);
	engine_put(1);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 1U);
}

/* Tracing is set up and switched by calls of its own; the core has its page all the same. */
static void trace_has_its_own_calls(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_TRACE), 0);
	KUNIT_EXPECT_EQ(test, firmware_log.page, (u64)__pa(engine_imc->cores[0].page));
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_TRACE], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_TRACE_ON], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 0U);
	engine_put(0);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_TRACE_OFF], 1U);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_OFF], 0U);
}

static void get_locally(void *err)
{
	*(int *)err = power_imc_engine_get(&engine_imc->cores[2], POWER_IMC_TYPE_CORE, 0);
}

static void put_locally(void *unused)
{
	power_imc_engine_put(&engine_imc->cores[2]);
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

/* While a CPU of the core comes its engine is off, and then on again as it was, if anybody uses it. */
static void paused_while_a_cpu_comes(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		struct power_imc_core *core = &engine_imc->cores[0];

		firmware_forget();
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, 0U);
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		power_imc_engine_resume(core);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		/* Boxes that are engaged while the engine is paused do not start it. */
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		engine_put(0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		engine_put(0);
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		/* An engine without users is not started again. */
		KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
		engine_put(0);
		power_imc_engine_resume(core);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
	}
}

/* An engine that somebody else has switched off is found, and started again as it was; no other is touched. */
static void started_again_where_it_is_off(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		struct power_imc_core *core = &engine_imc->cores[0];

		firmware_forget();
		power_imc_engines_look(core, 1);
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		power_imc_engines_look(core, 1);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 1U);
		firmware_log.engines[0x08] = ENGINE_UNKNOWN;
		firmware_log.on--;
		power_imc_engines_look(core, 1);
		power_imc_engines_look(core, 1);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 2U);
		KUNIT_EXPECT_EQ(test, core->restarts, i + 1U);
		engine_put(0);
	}
}

/* A switch that does not read as it was written tells nothing: its engine is left alone. */
static void left_alone_where_the_switch_does_not_tell(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		struct power_imc_core *core = &engine_imc->cores[0];

		firmware_forget();
		firmware_log.mute = true;
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		power_imc_engines_look(core, 1);
		power_imc_engines_look(core, 1);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 1U);
		engine_put(0);
		/* The next start may find that it does. */
		firmware_log.mute = false;
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		firmware_log.engines[0x08] = ENGINE_UNKNOWN;
		firmware_log.on--;
		power_imc_engines_look(core, 1);
		power_imc_engines_look(core, 1);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_INIT_CORE], 3U);
		KUNIT_EXPECT_EQ(test, core->restarts, i + 1U);
		engine_put(0);
	}
}

/* One that reads as off again and again is left alone as well, until its first user comes. */
static void left_alone_where_the_switch_drops(struct kunit *test)
{
	struct power_imc_core *core = &engine_imc->cores[0];

	for (unsigned int i = 1; i <= 2; i++) {
		KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_CORE), 0);
		engine_lose(0);
		power_imc_engines_look(core, 1);
		power_imc_engines_look(core, 1);
		for (unsigned int looks = 0; looks < 10; looks++) {
			engine_lose(0);
			power_imc_engines_look(core, 1);
		}
		KUNIT_EXPECT_EQ(test, core->restarts, 3U * i);
		engine_put(0);
	}
}

/* A core that was found off may be asleep at the next look: it is woken up, and started again. */
static void started_again_where_it_sleeps(struct kunit *test)
{
	struct power_imc_core *core = &engine_imc->cores[0];

	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_CORE), 0);
	for (unsigned int i = 1; i <= 2; i++) {
		engine_lose(0);
		power_imc_engines_look(core, 1);
		firmware_log.asleep = 1;
		power_imc_engines_look(core, 1);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		KUNIT_EXPECT_EQ(test, core->restarts, i);
	}
	engine_put(0);
}

/* What an engine has posted that was started between two looks says nothing of it when it is off again. */
static void posts_before_it_was_lost_again(struct kunit *test)
{
	struct power_imc_core *core = &engine_imc->cores[0];

	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_CORE), 0);
	engine_lose(0);
	power_imc_engines_look(core, 1);
	KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
	power_imc_engine_resume(core);
	*(__be64 *)(core->page + 0x18) = cpu_to_be64(1);
	engine_lose(0);
	power_imc_engines_look(core, 1);
	power_imc_engines_look(core, 1);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
	KUNIT_EXPECT_TRUE(test, core->tells);
	engine_put(0);
}

/*
 * An engine that could not be started after a pause is tried again, even if its register never told
 * whether it is on.
 */
static void tried_again_behind_a_pause(struct kunit *test)
{
	struct power_imc_core *core = &engine_imc->cores[0];

	KUNIT_EXPECT_EQ(test, power_imc_engine_pause(core), 0);
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_CORE), 0);
	firmware_log.error[CALL_CORE_ON] = -EIO;
	power_imc_engine_resume(core);
	power_imc_engines_look(core, 1);
	power_imc_engines_look(core, 1);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 2U);
	firmware_log.error[CALL_CORE_ON] = 0;
	power_imc_engines_look(core, 1);
	power_imc_engines_look(core, 1);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
	power_imc_engines_look(core, 1);
	power_imc_engines_look(core, 1);
	KUNIT_EXPECT_EQ(test, firmware_log.calls[CALL_CORE_ON], 3U);
	engine_put(0);
}

/* When all is off for good nothing starts, and nothing starts again; what is used can be given back. */
static void nothing_starts_when_halted(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_CORE), 0);
	KUNIT_EXPECT_EQ(test, power_imc_engine_pause(&engine_imc->cores[0]), 0);
	engine_imc->halted = true;
	firmware_forget();
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_CORE), -ENODEV);
	KUNIT_EXPECT_EQ(test, engine_get(1, POWER_IMC_TYPE_CORE), -ENODEV);
	power_imc_engine_resume(&engine_imc->cores[0]);
	KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, 0U);
	engine_put(0);
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
			KUNIT_EXPECT_EQ(test, engine_get(core, POWER_IMC_TYPE_CORE), 0);
		KUNIT_EXPECT_EQ(test, firmware_log.on, (unsigned int)ENGINE_CORES);
		for (int j = 0; j < ENGINE_CORES; j++) {
			expect_only(test, POWER_IMC_TYPE_CORE);
			engine_put(orders[i][j]);
			KUNIT_EXPECT_EQ(test, firmware_log.on, (unsigned int)ENGINE_CORES - 1 - j);
			KUNIT_EXPECT_EQ(test, engine_imc->cores[orders[i][j]].users, 0U);
		}
		expect_all_free(test);
	}
}

/* The system is one kind's on all cores, not only where it is used. */
static void exclusion_is_system_wide(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		for (int j = 0; j < ARRAY_SIZE(engine_uses); j++) {
			if (j == i)
				continue;
			KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[j]), -EBUSY);
			KUNIT_EXPECT_EQ(test, engine_get(1, engine_uses[j]), -EBUSY);
		}
		KUNIT_EXPECT_EQ(test, engine_imc->cores[0].users, 1U);
		KUNIT_EXPECT_EQ(test, engine_imc->cores[1].users, 0U);
		KUNIT_EXPECT_EQ(test, firmware_log.on, 1U);
		engine_put(0);
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
		KUNIT_EXPECT_EQ(test, engine_get(0, rows[i].use), -EIO);
		KUNIT_EXPECT_EQ(test, firmware_log.calls[rows[i].call], 1U);
		KUNIT_EXPECT_EQ(test, firmware_log.engines[0x08], ENGINE_OFF);
		KUNIT_EXPECT_EQ(test, engine_imc->cores[0].users, 0U);
		expect_all_free(test);
		/* The next attempt may succeed. */
		firmware_log.error[rows[i].call] = 0;
		KUNIT_EXPECT_EQ(test, engine_get(0, rows[i].use), 0);
		engine_put(0);
	}
}

/* One core that cannot be started does not take the system from those that run. */
static void failure_spares_the_others(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_THREAD), 0);
	firmware_log.error[CALL_CORE_ON] = -EIO;
	KUNIT_EXPECT_EQ(test, engine_get(1, POWER_IMC_TYPE_THREAD), -EIO);
	/* Where it runs nothing has to be started. */
	KUNIT_EXPECT_EQ(test, engine_get(0, POWER_IMC_TYPE_THREAD), 0);
	expect_only(test, POWER_IMC_TYPE_THREAD);
	engine_put(0);
	expect_only(test, POWER_IMC_TYPE_THREAD);
	engine_put(0);
}

static const enum firmware_call offs[] = { CALL_CORE_OFF, CALL_CORE_OFF, CALL_TRACE_OFF };
static const enum firmware_call ons[] = { CALL_CORE_ON, CALL_CORE_ON, CALL_TRACE_ON };

/*
 * An engine that could not be stopped may still write. No other kind may start before this one is
 * stopped.
 */
static void failure_to_stop_keeps_the_others_out(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		firmware_forget();
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		firmware_log.error[offs[i]] = -EIO;
		engine_put(0);
		expect_only(test, engine_uses[i]);
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		engine_put(0);
		expect_only(test, engine_uses[i]);
		KUNIT_EXPECT_TRUE(test, engine_imc->cores[0].stuck);
		firmware_log.error[offs[i]] = 0;
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		engine_put(0);
		expect_all_free(test);
		KUNIT_EXPECT_FALSE(test, engine_imc->cores[0].stuck);
	}
}

/* The same where starting failed, but perhaps not wholly, and nor does stopping work. */
static void failure_to_start_and_to_stop(struct kunit *test)
{
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		firmware_forget();
		firmware_log.error[ons[i]] = -EIO;
		firmware_log.error[offs[i]] = -EIO;
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), -EIO);
		expect_only(test, engine_uses[i]);
		firmware_log.error[ons[i]] = 0;
		firmware_log.error[offs[i]] = 0;
		KUNIT_EXPECT_EQ(test, engine_get(0, engine_uses[i]), 0);
		engine_put(0);
		expect_all_free(test);
	}
}

/* Calls of the firmware while events count or trace. After a refusal nothing is given back. */
static void live(struct kunit *test, enum power_imc_type use)
{
	int errors[] = { engine_get(0, use), engine_get(0, use), engine_get(1, use) };

	if (firmware_log.on)
		expect_only(test, use);
	power_imc_engine_pause(&engine_imc->cores[0]);
	power_imc_engine_resume(&engine_imc->cores[0]);
	engine_lose(0);
	power_imc_engines_look(&engine_imc->cores[0], 1);
	power_imc_engines_look(&engine_imc->cores[0], 1);
	if (firmware_log.on)
		expect_only(test, use);
	for (int i = 0; i < ARRAY_SIZE(errors); i++)
		if (!errors[i])
			engine_put(i / 2);
}

/*
 * Each call of the firmware fails once, with each error. Afterwards no engine is on unknown to the
 * driver, and everything works again.
 */
static void each_call_fails_once(struct kunit *test)
{
	static const int errors[] = { -EINVAL, -EOPNOTSUPP, -EIO };
	unsigned int lives = 0, n;

	for (int i = 0; i < ARRAY_SIZE(engine_uses) * ARRAY_SIZE(errors); i++) {
		enum power_imc_type use = engine_uses[i % 3];
		int err = errors[i / 3];

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
				KUNIT_EXPECT_EQ(test, engine_get(core, use), 0);
				engine_put(core);
				KUNIT_EXPECT_EQ(test, engine_imc->cores[core].users, 0U);
				KUNIT_EXPECT_FALSE(test, engine_imc->cores[core].stuck);
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
	KUNIT_CASE(paused_while_a_cpu_comes),
	KUNIT_CASE(started_again_where_it_is_off),
	KUNIT_CASE(left_alone_where_the_switch_does_not_tell),
	KUNIT_CASE(left_alone_where_the_switch_drops),
	KUNIT_CASE(started_again_where_it_sleeps),
	KUNIT_CASE(posts_before_it_was_lost_again),
	KUNIT_CASE(tried_again_behind_a_pause),
	KUNIT_CASE(nothing_starts_when_halted),
	KUNIT_CASE(cores_in_any_order),
	KUNIT_CASE(exclusion_is_system_wide),
	KUNIT_CASE(failure_takes_nothing),
	KUNIT_CASE(failure_spares_the_others),
	KUNIT_CASE(failure_to_stop_keeps_the_others_out),
	KUNIT_CASE(failure_to_start_and_to_stop),
	KUNIT_CASE_SLOW(each_call_fails_once),
	{ }
};

struct kunit_suite power_imc_engine_suite = {
	.name = "power_imc_engine",
	.init = engine_test_init,
	.exit = engine_test_exit,
	.test_cases = engine_cases,
};
