// SPDX-License-Identifier: GPL-2.0-only
/*
 * The two ways to start and stop engines and microcodes: by calls of the firmware, or by the
 * registers (SCOM) that these calls write. And what kind of machine this is, as far as that
 * matters.
 */
#include <linux/bitfield.h>
#include <linux/export.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <asm/cputable.h>
#include <asm/cputhreads.h>
#include <asm/firmware.h>
#include <asm/opal.h>
#include <asm/reg.h>

#include "power_imc.h"

static char *firmware = "auto";
module_param(firmware, charp, 0444);
MODULE_PARM_DESC(firmware, "how engines are switched: opal (firmware calls), scom (registers), or auto (opal, else scom)");

enum power_imc_generation power_imc_generation_of(u32 pvr)
{
	switch (PVR_VER(pvr)) {
	case PVR_POWER9:
		return POWER_IMC_P9;
	case PVR_POWER10:
	case POWER_IMC_PVR_POWER11:
		return POWER_IMC_P10;
	}
	return POWER_IMC_UNKNOWN;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_generation_of);

enum power_imc_generation power_imc_generation(void)
{
	return power_imc_generation_of(mfspr(SPRN_PVR));
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_generation);

/* An ultravisor keeps LDBAR for itself, and interrupts a hypervisor that touches it. */
bool power_imc_ldbar_is_ours(void)
{
	return !firmware_has_feature(FW_FEATURE_ULTRAVISOR);
}

/* Why can a unit not be counted on this machine? NULL: it can, as units of the nest always. */
const char *power_imc_unit_is_not_ours(const struct power_imc_unit *unit)
{
	if (unit->type == POWER_IMC_TYPE_NEST)
		return NULL;
	if (!power_imc_ldbar_is_ours())
		return "an ultravisor has LDBAR, by which engines are told where to count";
	/* The hardware has two engines there. No machine on sale has such cores. */
	return threads_per_core > POWER_IMC_CORE_THREADS ?
	       "the cores are fused, two to one of eight threads" : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_unit_is_not_ours);

/*
 * Registers, for kernels in which the calls cannot be looked up. Unlike the firmware, the driver
 * cannot have registers restored after a core slept deeply, so they are written at each start.
 *
 * Ports of PDBAR and HTM, which belong to a quad of cores, by a core's place in the quad, and the
 * first of EVENT_MASK and TRACE, which belong to one core:
 */
static const u32 power_imc_p9_ports[][4] = {
	[POWER_IMC_SCOM_PDBAR] = { 0x1001220b, 0x1001230b, 0x1001260b, 0x1001270b },
	[POWER_IMC_SCOM_HTM] = { 0x10012200, 0x10012300, 0x10012600, 0x10012700 },
};

static const u32 power_imc_p10_ports[][4] = {
	[POWER_IMC_SCOM_PDBAR] = { 0x2001868b, 0x2001468b, 0x2001268b, 0x2001168b },
	[POWER_IMC_SCOM_HTM] = { 0x20018680, 0x20014680, 0x20012680, 0x20011680 },
};

#define POWER_IMC_P9_CORE	0x20010aa8
#define POWER_IMC_P10_CORE	0x20020400

/* The SCOM address of a register, by the number of the core in its chip. */
u32 power_imc_scom_address(enum power_imc_generation generation, enum power_imc_scom which,
			   unsigned int core)
{
	bool p9 = generation == POWER_IMC_P9;
	u32 quad = p9 ? (core & 0x1c) << 22 : (core / 4) << 24;

	if (which <= POWER_IMC_SCOM_HTM)
		return (p9 ? power_imc_p9_ports : power_imc_p10_ports)[which][core % 4] + quad;
	which -= POWER_IMC_SCOM_EVENT_MASK;
	return p9 ? POWER_IMC_P9_CORE + which + ((core & 0x1f) << 24) :
		    (POWER_IMC_P10_CORE + which) | quad | BIT(3 - core % 4) << 12;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_scom_address);

static u32 power_imc_scom_address_of(u32 pir, enum power_imc_scom which)
{
	return power_imc_scom_address(power_imc_generation(), which,
				      FIELD_GET(POWER_IMC_PIR_CORE, pir));
}

static int power_imc_scom_write(u32 pir, enum power_imc_scom which, u64 value)
{
	u32 address = power_imc_scom_address_of(pir, which);

	return opal_xscom_write(FIELD_GET(POWER_IMC_PIR_CHIP, pir), address, value) ? -EIO : 0;
}

static int power_imc_scom_set(enum power_imc_type type, u32 pir, bool on)
{
	return power_imc_scom_write(pir, POWER_IMC_SCOM_HTM,
				    on ? POWER_IMC_HTM_ON : POWER_IMC_HTM_OFF);
}

static int power_imc_scom_init(enum power_imc_type type, u32 pir, u64 page)
{
	if (type == POWER_IMC_TYPE_TRACE)
		return power_imc_scom_set(type, pir, false) ?:
		       power_imc_scom_write(pir, POWER_IMC_SCOM_TRACE,
					    power_imc_generation() == POWER_IMC_P9 ?
					    POWER_IMC_TRACE_SCOM_P9 : POWER_IMC_TRACE_SCOM_P10);
	return power_imc_scom_write(pir, POWER_IMC_SCOM_PDBAR, page & POWER_IMC_BAR_ADDRESS) ?:
	       power_imc_scom_write(pir, POWER_IMC_SCOM_EVENT_MASK, POWER_IMC_EVENT_MASK) ?:
	       power_imc_scom_set(type, pir, false);
}

/*
 * This register is read even if firmware calls start and stop the engines: no call says whether one
 * is on.
 */
static int power_imc_scom_running(u32 pir, __be64 *answer)
{
	u32 address = power_imc_scom_address_of(pir, POWER_IMC_SCOM_HTM);

	if (power_imc_generation() == POWER_IMC_UNKNOWN)
		return -EOPNOTSUPP;
	if (opal_xscom_read(FIELD_GET(POWER_IMC_PIR_CHIP, pir), address, (__be64 *)__pa(answer)))
		return -EIO;
	return !!(be64_to_cpu(READ_ONCE(*answer)) & POWER_IMC_HTM_START);
}

static int power_imc_scom_nest(const struct power_imc_chip *chip, bool on)
{
	__be64 *command = chip->control + POWER_IMC_NEST_CB_COMMAND;

	WRITE_ONCE(*command, cpu_to_be64(on ? POWER_IMC_NEST_RESUME : POWER_IMC_NEST_PAUSE));
	return 0;
}

static const struct power_imc_firmware power_imc_scom = {
	.name = "registers",
	.init = power_imc_scom_init,
	.set = power_imc_scom_set,
	.running = power_imc_scom_running,
	.nest = power_imc_scom_nest,
};

/* The firmware's calls. The kernel does not export them, but a kprobe finds their addresses. */
typedef int64_t (*power_imc_opal_init_fn)(u32 type, u64 address, u64 pir);
typedef int64_t (*power_imc_opal_set_fn)(u32 type, u64 pir);

static power_imc_opal_init_fn power_imc_opal_init;
static power_imc_opal_set_fn power_imc_opal_start, power_imc_opal_stop;

/* A function's global entry begins with addis r2,r12,X: r12 holds the entry's address. */
#define POWER_IMC_ADDIS_R2_R12	0x3c4c0000
#define POWER_IMC_ADDIS_MASK	0xffff0000
/* A kprobe is put where ftrace has its call: at most so many instructions after the entry. */
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
	if (rc == OPAL_PARAMETER)
		return -EINVAL;
	if (rc == OPAL_UNSUPPORTED)
		return -EOPNOTSUPP;
	return rc == OPAL_SUCCESS ? 0 : -EIO;
}

static u32 power_imc_opal_type(enum power_imc_type type)
{
	if (type == POWER_IMC_TYPE_NEST)
		return OPAL_IMC_COUNTERS_NEST;
	return type == POWER_IMC_TYPE_TRACE ? OPAL_IMC_COUNTERS_TRACE : OPAL_IMC_COUNTERS_CORE;
}

static int power_imc_opal_set_up(enum power_imc_type type, u32 pir, u64 page)
{
	return power_imc_opal_errno(power_imc_opal_init(power_imc_opal_type(type), page, pir));
}

static int power_imc_opal_set(enum power_imc_type type, u32 pir, bool on)
{
	power_imc_opal_set_fn set = on ? power_imc_opal_start : power_imc_opal_stop;

	return power_imc_opal_errno(set(power_imc_opal_type(type), pir));
}

static int power_imc_opal_nest(const struct power_imc_chip *chip, bool on)
{
	return power_imc_opal_set(POWER_IMC_TYPE_NEST, chip->pir, on);
}

static const struct power_imc_firmware power_imc_opal = {
	.name = "firmware calls",
	.init = power_imc_opal_set_up,
	.set = power_imc_opal_set,
	.running = power_imc_scom_running,
	.nest = power_imc_opal_nest,
};

/* NULL if the calls cannot be looked up. May sleep. */
static const struct power_imc_firmware *power_imc_opal_find(void)
{
	power_imc_opal_init = power_imc_opal_lookup("opal_imc_counters_init");
	power_imc_opal_start = power_imc_opal_lookup("opal_imc_counters_start");
	power_imc_opal_stop = power_imc_opal_lookup("opal_imc_counters_stop");
	if (!power_imc_opal_init || !power_imc_opal_start || !power_imc_opal_stop)
		return NULL;
	return &power_imc_opal;
}

/*
 * Choose how engines are switched. Returns NULL if there is no way, which has been reported. May
 * sleep.
 */
const struct power_imc_firmware *power_imc_firmware_find(struct device *dev)
{
	const struct power_imc_firmware *found = NULL;
	bool any = sysfs_streq(firmware, "auto");

	if (!any && !sysfs_streq(firmware, "opal") && !sysfs_streq(firmware, "scom")) {
		dev_err(dev, "firmware=%s is not known: it may be opal, scom or auto\n", firmware);
		return NULL;
	}
	if (any || sysfs_streq(firmware, "opal"))
		found = power_imc_opal_find();
	if (!found && (any || sysfs_streq(firmware, "scom")) &&
	    power_imc_generation() != POWER_IMC_UNKNOWN)
		found = &power_imc_scom;
	if (!found)
		dev_err(dev, "firmware=%s: %s\n", firmware,
			any ? "no calls can be looked up, and the registers are not known" :
			sysfs_streq(firmware, "opal") ? "no calls can be looked up: try scom" :
			"the registers are not known: try opal");
	return found;
}
