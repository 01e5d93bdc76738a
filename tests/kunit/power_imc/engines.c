// SPDX-License-Identifier: GPL-2.0-only
/*
 * Three cores with engines, for the suites that use them.
 */
#include "engines.h"

const enum power_imc_type engine_uses[ENGINE_USES] = {
	POWER_IMC_TYPE_CORE, POWER_IMC_TYPE_THREAD, POWER_IMC_TYPE_TRACE,
};

/* Of the cores' first threads. */
static const u32 engine_pirs[ENGINE_CORES] = { 0x08, 0x10, 0x58 };

struct power_imc *engine_imc;

int engine_test_init(struct kunit *test)
{
	firmware_forget();
	engine_imc = kunit_kzalloc(test, sizeof(*engine_imc), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, engine_imc);
	engine_imc->firmware = &firmware_fake;
	engine_imc->cores = kunit_kcalloc(test, ENGINE_CORES, sizeof(*engine_imc->cores), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, engine_imc->cores);
	engine_imc->nr_cores = ENGINE_CORES;
	for (int i = 0; i < ENGINE_CORES; i++) {
		raw_spin_lock_init(&engine_imc->cores[i].lock);
		engine_imc->cores[i].imc = engine_imc;
		engine_imc->cores[i].pir = engine_pirs[i];
		engine_imc->cores[i].page = kunit_kzalloc(test, POWER_IMC_PAGE_SIZE, GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, engine_imc->cores[i].page);
	}
	return 0;
}

/* Each of them may have it, or, unless 0, @only may. */
static void expect_free_for(struct kunit *test, enum power_imc_type only)
{
	for (int i = 0; i < ARRAY_SIZE(engine_uses); i++) {
		bool may = !only || only == engine_uses[i];
		int err = power_imc_session_hold(engine_uses[i]);

		KUNIT_EXPECT_EQ_MSG(test, err, may ? 0 : -EBUSY, "use %d", i);
		if (!err)
			power_imc_session_add_holders(-1);
	}
}

void expect_all_free(struct kunit *test)
{
	expect_free_for(test, 0);
}

void expect_only(struct kunit *test, enum power_imc_type use)
{
	expect_free_for(test, use);
}

void engine_test_exit(struct kunit *test)
{
	power_imc_session_end();
	expect_all_free(test);
	KUNIT_EXPECT_EQ(test, firmware_log.misuse, 0U);
	KUNIT_EXPECT_EQ(test, firmware_log.on, 0U);
}

int engine_get_at(unsigned int core, enum power_imc_type use, u64 ldbar)
{
	int err;

	/* The lock of a core is taken with interrupts off. */
	local_irq_disable();
	err = power_imc_engine_get(&engine_imc->cores[core], use, ldbar);
	local_irq_enable();
	return err;
}

int engine_get(unsigned int core, enum power_imc_type use)
{
	return engine_get_at(core, use, 0);
}

void engine_put(unsigned int core)
{
	local_irq_disable();
	power_imc_engine_put(&engine_imc->cores[core]);
	local_irq_enable();
}

void expect_calls(struct kunit *test, const struct firmware_log *wanted)
{
	KUNIT_EXPECT_EQ(test, firmware_log.nr_kept, wanted->nr_kept);
	for (int i = 0; i < wanted->nr_kept; i++) {
		KUNIT_EXPECT_EQ_MSG(test, firmware_log.kept[i].call, wanted->kept[i].call, "call %d", i);
		KUNIT_EXPECT_EQ_MSG(test, firmware_log.kept[i].pir, wanted->kept[i].pir, "call %d", i);
	}
}

void engine_lose(unsigned int core)
{
	enum firmware_engine *engine = &firmware_log.engines[engine_pirs[core]];

	firmware_log.on -= *engine == ENGINE_ON;
	*engine = ENGINE_OFF;
}
