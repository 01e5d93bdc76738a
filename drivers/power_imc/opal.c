// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines by the firmware's own calls. The kernel does not export them, so they are
 * looked up with a kprobe, which is the interface that is left for that.
 */
#include <linux/kprobes.h>
#include <asm/opal.h>

#include "power_imc.h"
#include "scom.h"

typedef int64_t (*power_imc_opal_init_fn)(u32 type, u64 address, u64 pir);
typedef int64_t (*power_imc_opal_switch_fn)(u32 type, u64 pir);

static power_imc_opal_init_fn power_imc_opal_init;
static power_imc_opal_switch_fn power_imc_opal_start, power_imc_opal_stop;

/* A function's global entry begins with addis r2,r12,X: r12 holds the entry's address. */
#define POWER_IMC_ADDIS_R2_R12	0x3c4c0000
#define POWER_IMC_ADDIS_MASK	0xffff0000
/* A kprobe on a function is put behind the entry, where ftrace has its call. */
#define POWER_IMC_ENTRY_DISTANCE	5

static void *power_imc_opal_lookup(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	const u32 *entry;

	if (!IS_ENABLED(CONFIG_KPROBES) || register_kprobe(&probe))
		return NULL;
	entry = (const u32 *)probe.addr;
	unregister_kprobe(&probe);
	for (int i = 0; i < POWER_IMC_ENTRY_DISTANCE; i++, entry--)
		if ((*entry & POWER_IMC_ADDIS_MASK) == POWER_IMC_ADDIS_R2_R12)
			return (void *)entry;
	return NULL;
}

static int power_imc_opal_errno(int64_t rc)
{
	switch (rc) {
	case OPAL_SUCCESS:
		return 0;
	case OPAL_PARAMETER:
		return -EINVAL;
	case OPAL_UNSUPPORTED:
		return -EOPNOTSUPP;
	}
	return -EIO;
}

static int power_imc_opal_init_core(u32 pir, u64 page)
{
	return power_imc_opal_errno(power_imc_opal_init(OPAL_IMC_COUNTERS_CORE, page, pir));
}

static int power_imc_opal_init_trace(u32 pir)
{
	/* The address is not looked at: each thread's LDBAR has it. */
	return power_imc_opal_errno(power_imc_opal_init(OPAL_IMC_COUNTERS_TRACE, 0, pir));
}

static int power_imc_opal_switch(u32 type, u32 pir, bool on)
{
	return power_imc_opal_errno(on ? power_imc_opal_start(type, pir) :
					 power_imc_opal_stop(type, pir));
}

static int power_imc_opal_core(u32 pir, bool on)
{
	return power_imc_opal_switch(OPAL_IMC_COUNTERS_CORE, pir, on);
}

static int power_imc_opal_trace(u32 pir, bool on)
{
	return power_imc_opal_switch(OPAL_IMC_COUNTERS_TRACE, pir, on);
}

static int power_imc_opal_nest(struct power_imc_chip *chip, u32 pir, bool on)
{
	return power_imc_opal_switch(OPAL_IMC_COUNTERS_NEST, pir, on);
}

static const struct power_imc_firmware power_imc_opal = {
	.name = "firmware calls",
	.init_core = power_imc_opal_init_core,
	.init_trace = power_imc_opal_init_trace,
	.core = power_imc_opal_core,
	.trace = power_imc_opal_trace,
	/* There is no call for it. */
	.running = power_imc_scom_running,
	.nest = power_imc_opal_nest,
};

/* The firmware's calls, or NULL if they cannot be looked up. May sleep. */
const struct power_imc_firmware *power_imc_opal_find(void)
{
	power_imc_opal_init = power_imc_opal_lookup("opal_imc_counters_init");
	power_imc_opal_start = power_imc_opal_lookup("opal_imc_counters_start");
	power_imc_opal_stop = power_imc_opal_lookup("opal_imc_counters_stop");
	if (!power_imc_opal_init || !power_imc_opal_start || !power_imc_opal_stop)
		return NULL;
	return &power_imc_opal;
}
