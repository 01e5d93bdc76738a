// SPDX-License-Identifier: GPL-2.0-only
/*
 * How engines are switched: by calls of the firmware, or by writing the registers that
 * those calls write.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <asm/cputable.h>
#include <asm/cputhreads.h>
#include <asm/reg.h>

#include "power_imc.h"

static char *firmware = "auto";
module_param(firmware, charp, 0444);
MODULE_PARM_DESC(firmware, "how engines are switched: opal (firmware calls), scom (registers), or auto (opal, else scom)");

/**
 * power_imc_generation_of() - a processor's generation.
 * @pvr: its version register
 *
 * Return: the generation, or POWER_IMC_UNKNOWN.
 */
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

/* That of this machine. */
enum power_imc_generation power_imc_generation(void)
{
	return power_imc_generation_of(mfspr(SPRN_PVR));
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_generation);

/* In how many halves is what the kernel takes for a core? Two if they are fused. */
unsigned int power_imc_halves(void)
{
	return threads_per_core > POWER_IMC_HALF_THREADS ? 2 : 1;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_halves);

/**
 * power_imc_unit_is_ours() - may a unit be counted on this machine?
 * @unit: the unit; those of the nest have nothing to do with engines
 *
 * Context: any.
 */
bool power_imc_unit_is_ours(const struct power_imc_unit *unit)
{
	return unit->type == POWER_IMC_TYPE_NEST || power_imc_ldbar_is_ours();
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_unit_is_ours);

/**
 * power_imc_firmware_find() - choose how engines are switched.
 * @dev: for messages
 *
 * Context: may sleep.
 * Return: the way; or NULL if there is none, which has been reported.
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
	if (!found && (any || sysfs_streq(firmware, "scom")))
		found = power_imc_scom_find();
	if (!found)
		dev_err(dev, "firmware=%s: %s\n", firmware,
			any ? "no calls can be looked up, and the registers are not known" :
			sysfs_streq(firmware, "opal") ? "no calls can be looked up: try scom" :
			"the registers are not known: try opal");
	return found;
}
