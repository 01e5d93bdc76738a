// SPDX-License-Identifier: GPL-2.0-only
/*
 * Arm CMN interconnect PMU: the platform driver. Each mesh is a PMU, arm_cmn_N.
 */
#include <linux/acpi.h>
#include <linux/debugfs.h>
#include <linux/export.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/mod_devicetable.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/property.h>
#include <linux/slab.h>

#include <pmu/version.h>

#include "cmn.h"

#if IS_ENABLED(CONFIG_PMU_SUITE_KUNIT_TEST)
const struct cmn_bus *cmn_kunit_bus;
EXPORT_SYMBOL_IF_KUNIT(cmn_kunit_bus);
#endif

/* Firmware's names of a device, and the number of the part. */
#define CMN_IS_600	0x434
#define CMN_IS_650	0x436
#define CMN_IS_CI700	0x43a
#define CMN_IS_700	0x43c
#define CMN_IS_S3	0x43e
#define CMN_IS_PART	GENMASK(11, 0)
#define CMN_IS_QUARTERED	BIT(12)	/* see cmn.quartered */

/* All meshes whose PMUs were registered, even if the device is gone: see struct cmn. */
static LIST_HEAD(cmn_all);
static DEFINE_MUTEX(cmn_mutex);
static atomic_t cmn_number = ATOMIC_INIT(0);

static void cmn_free(struct cmn *cmn)
{
	cmn_events_free(cmn);
	cmn_undiscover(cmn);
	put_device(cmn->dev);
	kfree(cmn);
}

/* The device is removed. Its PMU may stay registered while events are open, and uses @data then. */
static void cmn_drop(void *data)
{
	struct cmn *cmn = data;

	if (list_empty(&cmn->list))
		cmn_free(cmn);
}

/* Is a root node at the start of a region? */
static bool cmn_begins_with_root(const struct resource *region)
{
	void __iomem *info;
	bool begins;

	if (region->start % CMN_FRAME_ALIGN)
		return false;
	info = ioremap(region->start + CMN_NODE_INFO, sizeof(u64));
	if (!info)
		return false;
	begins = FIELD_GET(CMN_NODE_INFO_TYPE, cmn_read64(info)) == CMN_TYPE_CFG;
	iounmap(info);
	return begins;
}

/*
 * The region and the root's place in it. For CMN-600 ACPI has a second resource within the first
 * one for that place. Other parts have been seen with two as well, one in the other. Their
 * registers begin with the root, so if the inner region does, what is before it is not the mesh's,
 * and must not be touched.
 */
static int cmn_find_region(struct cmn *cmn, struct platform_device *pdev, bool rooted)
{
	struct resource *region = platform_get_resource(pdev, IORESOURCE_MEM, 0);
	struct resource *inner = platform_get_resource(pdev, IORESOURCE_MEM, 1);

	if (!region)
		return dev_err_probe(cmn->dev, -EINVAL, "firmware gives no region of registers\n");
	if (inner && resource_contains(inner, region))
		swap(inner, region);
	cmn->start = region->start;
	if (!rooted && inner && inner->start != region->start &&
	    resource_contains(region, inner) && cmn_begins_with_root(inner))
		cmn->start = inner->start;
	cmn->size = region->end + 1 - cmn->start;
	if (!rooted)
		return 0;
	if (!has_acpi_companion(cmn->dev)) {
		int err = device_property_read_u32(cmn->dev, "arm,root-node", &cmn->root);

		if (err)
			dev_err(cmn->dev, "the device tree does not say arm,root-node, which this part needs\n");
		return err;
	}
	if (!inner || !resource_contains(region, inner))
		return dev_err_probe(cmn->dev, -EINVAL,
			"ACPI gives no second region, that of the root node, within the first one\n");
	cmn->root = inner->start - region->start;
	return 0;
}

/*
 * The region is mapped but not claimed, since it is not the PMU's alone: firmware may describe
 * parts of it as other devices. The DTCs are ours.
 */
static int cmn_claim_dtcs(struct cmn *cmn)
{
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++)
		if (!devm_request_mem_region(cmn->dev, cmn->start + cmn->dtc[i].offset,
					     cmn->part->frame, dev_name(cmn->dev)))
			return dev_err_probe(cmn->dev, -EBUSY,
				"another driver has the registers of DTC %u: unload it first\n",
				i);
	return 0;
}

/* Does a register of a DTC keep what was written to it? */
static int cmn_check_kept(struct cmn *cmn, unsigned int dtc, const char *name, u32 written,
			  u32 needed, u32 kept)
{
	if (!dtc && !(kept & needed)) {
		cmn_quiesce(cmn);
		return dev_err_probe(cmn->dev, -EACCES,
			"the PMU of DTC 0 stays off: 0x%x was written to %s and 0x%x is read; firmware has to let non-secure software use it\n",
			written, name, kept);
	}
	/* No source says whether the bits that the register does not keep matter. */
	if (kept != written) {
		cmn->unsure_dtcs |= BIT(dtc);
		dev_warn(cmn->dev, "0x%x was written to %s of DTC %u and 0x%x is read: counts may lack what wraps there\n",
			 written, name, dtc, kept);
	}
	return 0;
}

/**
 * cmn_reset() - take over a mesh: nothing selected, no overflow, stopped.
 * @cmn: the mesh, discovered
 *
 * By the time a DTC's overflow is cleared, no counter may carry into it.
 *
 * Context: probe, and after a sleep.
 * Return: 0; -EACCES, with a message, if the PMU cannot be enabled.
 */
int cmn_reset(struct cmn *cmn)
{
	/* What will be read has nothing to do with what was read. */
	cmn->stop_pass = U64_MAX;
	/* Which domain a node of Graviton5 is in is a guess. */
	cmn->unsure_dtcs = cmn->quartered && cmn->known_domains ? U8_MAX : 0;
	for (unsigned int i = 0; i < cmn->nr_dtms; i++)
		cmn_dtm_reset(&cmn->dtms[i]);
	for (unsigned int i = 0; i < cmn->nr_nodes; i++)
		cmn_node_reset(cmn, &cmn->nodes[i]);
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++) {
		struct cmn_dtc *dtc = &cmn->dtc[i];
		int err;

		cmn_dtc_reset(dtc);
		err = cmn_check_kept(cmn, i, "DTC_CTL", CMN_DTC_CTL_DT_EN, CMN_DTC_CTL_DT_EN,
				     cmn_read32(dtc->base + CMN_DTC_CTL));
		err = err ?: cmn_check_kept(cmn, i, "PMCR", CMN_PMCR_RUN, CMN_PMCR_PMU_EN,
					    cmn_read32(dtc->pmu + CMN_DTC_PMCR));
		if (err)
			return err;
	}
	cmn_mesh_run(cmn, false);
	cmn->frozen = true;
	cmn->held = false;
	cmn_flush_none(cmn);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_reset);

/**
 * cmn_quiesce() - leave a mesh: nothing selected, nothing enabled.
 * @cmn: the mesh, reset
 *
 * The last events are still selected, since a stop leaves that to the next start.
 *
 * Context: any, when no event can count any more.
 */
void cmn_quiesce(struct cmn *cmn)
{
	for (unsigned int i = 0; i < cmn->nr_nodes; i++)
		cmn_node_quiesce(cmn, &cmn->nodes[i]);
	for (unsigned int i = 0; i < cmn->nr_dtms; i++)
		cmn_dtm_quiesce(&cmn->dtms[i]);
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++)
		cmn_dtc_quiesce(&cmn->dtc[i]);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_quiesce);

static void cmn_quiesce_device(void *data)
{
	struct cmn *cmn = data;

	cmn_quiesce(cmn);
	irq_work_sync(&cmn->complaint);
}

static void cmn_hide_device(void *data)
{
	struct cmn *cmn = data;

	debugfs_remove(cmn->drawing);
	debugfs_remove(cmn->map);
	cmn_irq_disable(cmn);
}

static int cmn_register(struct cmn *cmn)
{
	int err = cmn_events_build(cmn);

	if (err)
		return err;
	cmn->number = atomic_fetch_inc(&cmn_number);
	snprintf(cmn->name, sizeof(cmn->name), "arm_cmn_%d", cmn->number);
	cmn_desc_init(cmn);
	mutex_lock(&cmn_mutex);
	list_add_tail(&cmn->list, &cmn_all);
	mutex_unlock(&cmn_mutex);
	err = devm_pmu_box_register(cmn->dev, &cmn->desc, cmn->name, 0, cmn);
	if (err)
		return err;
	cmn_irq_enable(cmn);
	cmn_map_create(cmn);
	cmn_drawing_create(cmn);
	return devm_add_action_or_reset(cmn->dev, cmn_hide_device, cmn);
}

static int cmn_set_up(struct cmn *cmn, struct platform_device *pdev, unsigned int expected)
{
	int err = cmn_discover(cmn);

	if (err)
		return err;
	if (cmn->part->number != expected)
		dev_warn(cmn->dev, "firmware says that this is part 0x%03x, the hardware 0x%03x\n",
			 expected, cmn->part->number);
	err = cmn_claim_dtcs(cmn);
	err = err ?: cmn_irq_init(cmn, pdev);
	err = err ?: cmn_reset(cmn);
	if (err)
		return err;
	err = devm_add_action_or_reset(cmn->dev, cmn_quiesce_device, cmn);
	err = err ?: cmn_register(cmn);
	if (err)
		return err;
	dev_info(cmn->dev, "%s %s, %ux%u XPs, %u DTCs: %s\n", cmn->part->name,
		 cmn_revision_name(cmn), cmn->width, cmn->height, cmn->nr_dtcs, cmn->name);
	if (cmn->nr_xps == 1)
		dev_info(cmn->dev, "%s: one XP alone: mxp_p0 to mxp_p5 are its ports, and mxp_e, _w, _n, _s ports 0 to 3\n",
			 cmn->name);
	return 0;
}

static int cmn_probe(struct platform_device *pdev)
{
	unsigned int is = (uintptr_t)device_get_match_data(&pdev->dev), expected = is & CMN_IS_PART;
	struct cmn *cmn = kzalloc(sizeof(*cmn), GFP_KERNEL);
	int err;

	if (!cmn)
		return -ENOMEM;
	INIT_LIST_HEAD(&cmn->list);
	cmn_carries_init(cmn);
	/* An open that is under way may still log the device's name after it was removed. */
	cmn->dev = get_device(&pdev->dev);
	cmn->quartered = is & CMN_IS_QUARTERED;
	platform_set_drvdata(pdev, cmn);
	err = devm_add_action_or_reset(&pdev->dev, cmn_drop, cmn);
	err = err ?: cmn_find_region(cmn, pdev, expected == CMN_IS_600);
	if (err)
		return err;
	cmn->base = devm_ioremap(&pdev->dev, cmn->start, cmn->size);
	if (!cmn->base)
		return dev_err_probe(&pdev->dev, -ENOMEM, "cannot map 0x%llx bytes of registers\n",
				     (u64)cmn->size);
	return cmn_set_up(cmn, pdev, expected);
}

/*
 * While events count and the mesh stands an interrupt does nothing, and comes again. So none may
 * come once they are suspended.
 */
static int cmn_suspend(struct device *dev)
{
	struct cmn *cmn = dev_get_drvdata(dev);

	cmn_irq_disable(cmn);
	pmu_boxes_suspend(dev);
	cmn_quiesce(cmn);
	return 0;
}

/*
 * Registers may be as after a reset, or as the kernel that restored a hibernation image left them.
 * If firmware does not let us access the PMU any more, this has been reported, and events fail when
 * they are read.
 */
static int cmn_resume(struct device *dev)
{
	struct cmn *cmn = dev_get_drvdata(dev);

	cmn->gone = false;
	cmn->withheld = cmn_reset(cmn);
	pmu_boxes_resume(dev);
	cmn_irq_enable(cmn);
	return 0;
}

static DEFINE_SIMPLE_DEV_PM_OPS(cmn_pm_ops, cmn_suspend, cmn_resume);

/*
 * No module aliases for these: which of this driver and the kernel's own is loaded at boot would be
 * left to chance.
 */
static const struct of_device_id cmn_of_ids[] = {
	{ .compatible = "arm,cmn-600", .data = (void *)CMN_IS_600 },
	{ .compatible = "arm,cmn-650", .data = (void *)CMN_IS_650 },
	{ .compatible = "arm,cmn-700", .data = (void *)CMN_IS_700 },
	{ .compatible = "arm,cmn-s3", .data = (void *)CMN_IS_S3 },
	{ .compatible = "arm,ci-700", .data = (void *)CMN_IS_CI700 },
	{ }
};

static const struct acpi_device_id cmn_acpi_ids[] = {
	{ "ARMHC600", CMN_IS_600 },
	{ "ARMHC650", CMN_IS_650 },
	{ "ARMHC700", CMN_IS_700 },
	{ "ARMHC003", CMN_IS_S3 },
	{ "AMZN0070", CMN_IS_S3 | CMN_IS_QUARTERED },
	{ }
};

static struct platform_driver cmn_driver = {
	.driver = {
		.name = "cmn_pmu",
		.of_match_table = cmn_of_ids,
		.acpi_match_table = cmn_acpi_ids,
		.pm = pm_sleep_ptr(&cmn_pm_ops),
	},
	.probe = cmn_probe,
};

static void cmn_leave(void)
{
	struct cmn *cmn, *next;

	pmu_unregister_all(THIS_MODULE);
	list_for_each_entry_safe(cmn, next, &cmn_all, list)
		cmn_free(cmn);
	cmn_drawing_exit();
	cmn_map_exit();
}

static int __init cmn_init(void)
{
	int err;

	cmn_map_init();
	cmn_drawing_init();
	err = platform_driver_register(&cmn_driver);
	if (err)
		cmn_leave();
	return err;
}
module_init(cmn_init);

static void __exit cmn_exit(void)
{
	platform_driver_unregister(&cmn_driver);
	cmn_leave();
}
module_exit(cmn_exit);

MODULE_DESCRIPTION("Arm CMN-600, CMN-650, CI-700, CMN-700, CMN S3 PMU driver");
MODULE_LICENSE("GPL");
MODULE_VERSION(PMU_SUITE_VERSION);
PMU_IMPORT_NS(PMU_CORE);
