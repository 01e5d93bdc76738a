// SPDX-License-Identifier: GPL-2.0-only
/*
 * POWER in-memory collection: the platform driver.
 *
 * The kernel's built-in driver of these counters has to be told to stay away, since it
 * cannot be unbound without leaving its PMUs behind: see Documentation/imc.md.
 */
#include <linux/crash_dump.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/platform_device.h>

#include "imc.h"
#include "trace.h"

static const struct of_device_id imc_ids[] = {
	{ .compatible = "ibm,opal-in-memory-counters" },
	{ }
};
MODULE_DEVICE_TABLE(of, imc_ids);

/* A unit that cannot be registered says why, and the others go on. */
static void imc_register(struct imc_unit *unit)
{
	int err = 0;

	switch (unit->type) {
	case IMC_TYPE_NEST:
		err = imc_nest_register(unit);
		break;
	case IMC_TYPE_CORE:
		err = imc_core_register(unit);
		break;
	case IMC_TYPE_THREAD:
		err = imc_thread_register(unit);
		break;
	case IMC_TYPE_TRACE:
		err = imc_trace_register(unit);
		break;
	}
	if (err)
		dev_warn(unit->imc->dev, "%s: could not be registered wholly (%pe)\n",
			 unit->name, ERR_PTR(err));
}

/* Nothing writes to memory any more, whoever had it switched on. */
static void imc_quiesce(struct imc *imc)
{
	imc_engines_quiesce(imc);
	imc_nests_quiesce(imc);
}

static bool imc_probed;

static int imc_probe(struct platform_device *pdev)
{
	struct device *dev = &pdev->dev;
	struct imc *imc = devm_kzalloc(dev, sizeof(*imc), GFP_KERNEL);
	int err;

	imc_probed = true;
	if (!imc)
		return -ENOMEM;
	imc->dev = dev;
	INIT_LIST_HEAD(&imc->chips);
	spin_lock_init(&imc->trace_lock);
	platform_set_drvdata(pdev, imc);
	imc->firmware = imc_firmware_find(dev);
	if (!imc->firmware)
		return -EOPNOTSUPP;
	err = imc_catalog_read(imc, dev->of_node) ?: imc_chips_create(imc) ?:
	      imc_cores_create(imc) ?: imc_threads_create(imc);
	if (err)
		return err;

	/* The kernel before this one may have left engines on, and not by kexec alone. */
	imc_quiesce(imc);
	if (is_kdump_kernel()) {
		dev_info(dev, "stopped all collection; there are no PMUs in a kdump kernel\n");
		return -ENODEV;
	}
	/* From here on nothing may fail: events may be open as soon as there is one PMU. */
	for (unsigned int i = 0; i < imc->nr_units; i++)
		imc_register(&imc->units[i]);
	imc_debugfs_create(imc);
	dev_info(dev, "%u units, engines switched by %s\n", imc->nr_units, imc->firmware->name);
	return 0;
}

/* Before kexec and power-off: what the next kernel does with the memory is its own affair. */
static void imc_shutdown(struct platform_device *pdev)
{
	imc_quiesce(platform_get_drvdata(pdev));
}

static struct platform_driver imc_driver = {
	.shutdown = imc_shutdown,
	.driver = {
		.name = "imc_pmu",
		.of_match_table = imc_ids,
	},
};

static int __init imc_init(void)
{
	struct device_node *np = of_find_matching_node(NULL, imc_ids);
	int err;

	if (!np) {
		pr_err("imc_pmu: the firmware publishes no in-memory counters (no catalog for this processor?)\n");
		return -ENODEV;
	}
	of_node_put(np);
	/* The device is there from the start or never, and cannot be unbound while we live. */
	err = platform_driver_probe(&imc_driver, imc_probe);
	if (err && !imc_probed)
		pr_err("imc_pmu: the kernel's built-in driver has the counters: boot with initcall_blacklist=opal_imc_driver_init\n");
	if (err)
		pmu_unregister_all(THIS_MODULE);
	return err;
}
module_init(imc_init);

static void __exit imc_exit(void)
{
	imc_switch_exit();
	platform_driver_unregister(&imc_driver);
	pmu_unregister_all(THIS_MODULE);
}
module_exit(imc_exit);

MODULE_DESCRIPTION("POWER9 and POWER10 in-memory collection counters");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(PMU_CORE_NS);
