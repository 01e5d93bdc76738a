// SPDX-License-Identifier: GPL-2.0-only
/*
 * Engines by the firmware's own calls. The kernel does not export them, so they are
 * looked up with a kprobe, which is the interface that is left for that.
 */
#include <linux/kprobes.h>
#include <asm/opal.h>

#include "imc.h"

typedef int64_t (*imc_opal_init_fn)(u32 type, u64 address, u64 pir);
typedef int64_t (*imc_opal_switch_fn)(u32 type, u64 pir);

static imc_opal_init_fn imc_opal_init;
static imc_opal_switch_fn imc_opal_start, imc_opal_stop;

/* A function's global entry begins with addis r2,r12,X: r12 holds the entry's address. */
#define IMC_ADDIS_R2_R12	0x3c4c0000
#define IMC_ADDIS_MASK		0xffff0000
/* A kprobe on a function is put behind the entry, where ftrace has its call. */
#define IMC_ENTRY_DISTANCE	5

static void *imc_opal_lookup(const char *name)
{
	struct kprobe probe = { .symbol_name = name };
	const u32 *entry;

	if (!IS_ENABLED(CONFIG_KPROBES) || register_kprobe(&probe))
		return NULL;
	entry = (const u32 *)probe.addr;
	unregister_kprobe(&probe);
	for (int i = 0; i < IMC_ENTRY_DISTANCE; i++, entry--)
		if ((*entry & IMC_ADDIS_MASK) == IMC_ADDIS_R2_R12)
			return (void *)entry;
	return NULL;
}

static int imc_opal_errno(int64_t rc)
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

static int imc_opal_init_core(u32 pir, u64 page)
{
	return imc_opal_errno(imc_opal_init(OPAL_IMC_COUNTERS_CORE, page, pir));
}

static int imc_opal_init_trace(u32 pir, u64 scom)
{
	/* The address is not looked at: each thread's LDBAR has it. */
	return imc_opal_errno(imc_opal_init(OPAL_IMC_COUNTERS_TRACE, 0, pir));
}

static int imc_opal_switch(u32 type, u32 pir, bool on)
{
	return imc_opal_errno(on ? imc_opal_start(type, pir) : imc_opal_stop(type, pir));
}

static int imc_opal_core(u32 pir, bool on)
{
	return imc_opal_switch(OPAL_IMC_COUNTERS_CORE, pir, on);
}

static int imc_opal_trace(u32 pir, bool on)
{
	return imc_opal_switch(OPAL_IMC_COUNTERS_TRACE, pir, on);
}

static int imc_opal_nest(struct imc_chip *chip, u32 pir, bool on)
{
	return imc_opal_switch(OPAL_IMC_COUNTERS_NEST, pir, on);
}

static const struct imc_firmware imc_opal = {
	.name = "firmware calls",
	.init_core = imc_opal_init_core,
	.init_trace = imc_opal_init_trace,
	.core = imc_opal_core,
	.trace = imc_opal_trace,
	.nest = imc_opal_nest,
};

/* The firmware's calls, or NULL if they cannot be looked up. May sleep. */
const struct imc_firmware *imc_opal_find(void)
{
	imc_opal_init = imc_opal_lookup("opal_imc_counters_init");
	imc_opal_start = imc_opal_lookup("opal_imc_counters_start");
	imc_opal_stop = imc_opal_lookup("opal_imc_counters_stop");
	return imc_opal_init && imc_opal_start && imc_opal_stop ? &imc_opal : NULL;
}
