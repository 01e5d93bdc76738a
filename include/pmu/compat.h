/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one place for kernel differences. Drivers are written as for the newest kernel;
 * what an older one lacks is supplied here. HAVE_ macros come from scripts/conftest.sh,
 * which compiles a snippet per feature: versions are never compared.
 */
#ifndef PMU_COMPAT_H
#define PMU_COMPAT_H

#include <linux/bitfield.h>
#include <linux/hrtimer.h>

#include "pmu_conftest.h"

/* 6.13 ("module: Convert symbol namespace to string literal"). */
#ifdef HAVE_BARE_NAMESPACES
#define PMU_CORE_NS	PMU_CORE
#define PMU_KUNIT_NS	EXPORTED_FOR_KUNIT_TESTING
#else
#define PMU_CORE_NS	"PMU_CORE"
#define PMU_KUNIT_NS	"EXPORTED_FOR_KUNIT_TESTING"
#endif

/* 6.3 ("bitfield: add FIELD_PREP_CONST()"): FIELD_PREP() for initialisers of static data. */
#ifndef FIELD_PREP_CONST
#define FIELD_PREP_CONST(mask, value)	(((typeof(mask))(value) << __bf_shf(mask)) & (mask))
#endif

/* 6.13 ("hrtimers: Introduce hrtimer_setup() to replace hrtimer_init()"). */
#ifndef HAVE_HRTIMER_SETUP
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* 6.7 ("perf: Support PMUs with parents"): before, a PMU is below no device. */
#ifdef HAVE_PMU_PARENT
#define pmu_set_parent(pmu, device)	((pmu)->parent = (device))
#else
#define pmu_set_parent(pmu, device)	((void)(pmu), (void)(device))
#endif

/*
 * Functions that only KUnit suites call from outside: static, unless the suites are built.
 * The kernel's header asks whether the kernel has KUnit, as those of distributions may.
 */
#if IS_ENABLED(CONFIG_PMU_SUITE_KUNIT_TEST)
#include <kunit/visibility.h>
#else
#define VISIBLE_IF_KUNIT	static
#define EXPORT_SYMBOL_IF_KUNIT(symbol)
#endif

#endif /* PMU_COMPAT_H */
