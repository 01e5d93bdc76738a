// SPDX-License-Identifier: GPL-2.0-only
/*
 * POWER in-memory collection: the platform driver.
 *
 * The kernel's built-in driver of these counters has to be disabled at boot, since its PMUs stay
 * even if it is unbound: Documentation/hardware/power_imc.md, 8.2.
 */
#include <linux/crash_dump.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>

#include <pmu/version.h>

#include "power_imc.h"

/* No alias for these: without the boot parameter the built-in driver has them. */
static const struct of_device_id power_imc_ids[] = {
	{ .compatible = "ibm,opal-in-memory-counters" },
	{ }
};

/* If a unit cannot be registered, go on with the others. */
static void power_imc_register(struct power_imc_unit *unit)
{
	const char *why = power_imc_unit_is_not_ours(unit);
	int err = 0;

	if (why) {
		dev_notice_once(unit->imc->dev, "%s: there are no units but those of the nest\n",
				why);
		return;
	}

	switch (unit->type) {
	case POWER_IMC_TYPE_NEST:
		err = power_imc_nest_register(unit);
		break;
	case POWER_IMC_TYPE_CORE:
		err = power_imc_core_register(unit);
		break;
	case POWER_IMC_TYPE_THREAD:
		err = power_imc_thread_register(unit);
		break;
	case POWER_IMC_TYPE_TRACE:
		err = power_imc_trace_register(unit);
		break;
	}
	if (err)
		dev_warn(unit->imc->dev, "%s: could not be registered wholly (%pe)\n",
			 unit->name, ERR_PTR(err));
}

static bool power_imc_probed;
static struct power_imc *power_imc_found;

static int power_imc_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct power_imc *imc = devm_kzalloc(dev, sizeof(*imc), GFP_KERNEL);
	int err;

	power_imc_probed = true;
	if (!imc)
		return -ENOMEM;
	imc->dev = dev;
	INIT_LIST_HEAD(&imc->chips);
	platform_set_drvdata(pdev, imc);
	power_imc_session_begin(imc);
	imc->firmware = power_imc_firmware_find(dev);
	if (!imc->firmware)
		return -EOPNOTSUPP;
	err = power_imc_memory_init(imc) ?: power_imc_engines_create(imc) ?:
	      power_imc_catalog_read(imc, dev->of_node) ?: power_imc_chips_create(imc) ?:
	      devm_add_action_or_reset(dev, power_imc_nests_quiesce, imc) ?:
	      power_imc_threads_create(imc) ?: power_imc_session_watch_cpus(imc);
	if (err)
		return err;

	/* A kernel before this one may have left engines on, not only after kexec. */
	power_imc_engines_quiesce(imc);
	power_imc_engines_wait();
	power_imc_ldbar_clear();
	/* The first engine is started only after that has taken effect. */
	power_imc_engines_wait();
	power_imc_nests_quiesce(imc);
	if (is_kdump_kernel()) {
		dev_info(dev, "stopped all collection; there are no PMUs in a kdump kernel\n");
		return -ENODEV;
	}
	power_imc_found = imc;
	return 0;
}

/* No step may fail from here on: as soon as a PMU is registered, its events may be open. */
static void power_imc_register_all(struct power_imc *imc)
{
	for (unsigned int i = 0; i < imc->nr_units; i++)
		power_imc_register(&imc->units[i]);
	power_imc_debugfs_create(imc);
	dev_info(imc->dev, "%u units, engines switched by %s\n", imc->nr_units,
		 imc->firmware->name);
}

/*
 * Before kexec and power-off: the next kernel uses the memory for something else. Tasks still run,
 * and kexec wakes CPUs that are offline.
 */
static void power_imc_shutdown(struct platform_device *pdev)
{
	struct power_imc *imc = platform_get_drvdata(pdev);

	power_imc_engines_halt(imc);
	power_imc_nests_halt(imc);
	power_imc_engines_wait();
}

static struct platform_driver power_imc_driver = {
	.shutdown = power_imc_shutdown,
	.driver = {
		.name = "power_imc_pmu",
		.of_match_table = power_imc_ids,
	},
};

static int __init power_imc_init(void)
{
	struct device_node *np = of_find_matching_node(NULL, power_imc_ids);
	int err;

	if (!np) {
		pr_err("power_imc_pmu: the firmware publishes no in-memory counters (no catalog for this processor?)\n");
		return -ENODEV;
	}
	of_node_put(np);
	/*
	 * The device is there from the start or never, and cannot be unbound while the module is
	 * loaded.
	 */
	err = platform_driver_probe(&power_imc_driver, power_imc_probe);
	if (err && !power_imc_probed)
		pr_err("power_imc_pmu: the kernel's built-in driver has the counters: boot with initcall_blacklist=opal_imc_driver_init\n");
	if (err) {
		power_imc_session_end();
		return err;
	}
	/* Not in the probe: Linux's driver core may fail after it, and would unbind the device. */
	power_imc_register_all(power_imc_found);
	return 0;
}
module_init(power_imc_init);

static void __exit power_imc_exit(void)
{
	power_imc_session_end();
	power_imc_counter_exit();
	platform_driver_unregister(&power_imc_driver);
	pmu_unregister_all(THIS_MODULE);
}
module_exit(power_imc_exit);

MODULE_DESCRIPTION("POWER9 to POWER11 in-memory collection counters");
MODULE_LICENSE("GPL");
MODULE_VERSION(PMU_SUITE_VERSION);
PMU_IMPORT_NS(PMU_CORE);
