/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the suites of engines share: three cores, and who has them. Each case ends with nothing in use, or the next one
 * would find it.
 */
#ifndef POWER_IMC_TEST_ENGINES_H
#define POWER_IMC_TEST_ENGINES_H

#include "suites.h"

#define ENGINE_USES	3
#define ENGINE_CORES	3

/* The kinds of use of engines, of which only one is possible at a time. */
extern const enum power_imc_type engine_uses[ENGINE_USES];
extern struct power_imc *engine_imc;

/* Of each suite; the exit expects that nobody uses an engine. */
int engine_test_init(struct kunit *test);
void engine_test_exit(struct kunit *test);

/* Each kind may have the engines, or @use alone. */
void expect_all_free(struct kunit *test);
void expect_only(struct kunit *test, enum power_imc_type use);

/* The firmware's calls since the last firmware_forget() */
void expect_calls(struct kunit *test, const struct firmware_log *wanted);

/* A box of a core is engaged, or is so no more. */
int engine_get(unsigned int core, enum power_imc_type use);
int engine_get_at(unsigned int core, enum power_imc_type use, u64 ldbar);
void engine_put(unsigned int core);

/* A core's engine is switched off behind the driver's back. */
void engine_lose(unsigned int core);

#endif /* POWER_IMC_TEST_ENGINES_H */
