// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel Xeon integrated memory controller PMU: the PCI driver.
 *
 * Each DRAM channel is a PCI function with a performance monitor in its configuration
 * space. Channel N of all sockets is one PMU, uncore_imc_N, with a box per socket.
 */
#include <linux/module.h>
#include <linux/pci.h>
#include <asm/processor.h>

#include "intel_imc.h"

enum intel_imc_part_id {
	INTEL_IMC_SNBEP, INTEL_IMC_IVBEP, INTEL_IMC_HSWEP,
	INTEL_IMC_BDXEP, INTEL_IMC_SKX, INTEL_IMC_CLX,
};

/* The ids are the same in both controllers. */
static const struct intel_imc_slot intel_imc_skx_slots[] = {
	{ PCI_DEVFN(10, 2), 0 }, { PCI_DEVFN(10, 6), 1 }, { PCI_DEVFN(11, 2), 2 },
	{ PCI_DEVFN(12, 2), 3 }, { PCI_DEVFN(12, 6), 4 }, { PCI_DEVFN(13, 2), 5 },
	{ }
};

static const struct intel_imc_part intel_imc_parts[] = {
	[INTEL_IMC_SNBEP] = {
		.name = "Sandy Bridge-EP", .kind = &intel_imc_snbep_kind,
		.ubox = 0x3ce0, .ubox_nodeid = 0x40, .ubox_map = 0x54,
	},
	[INTEL_IMC_IVBEP] = {
		.name = "Ivy Bridge-EP", .kind = &intel_imc_ivbep_kind,
		.box_ones = INTEL_IMC_BOX_CTL_V2_ONES,
		.ubox = 0x0e1e, .ubox_nodeid = 0x40, .ubox_map = 0x54,
	},
	[INTEL_IMC_HSWEP] = {
		.name = "Haswell-EP", .kind = &intel_imc_hswep_kind,
		.box_ones = INTEL_IMC_BOX_CTL_V2_ONES,
		.ubox = 0x2f1e, .ubox_nodeid = 0x40, .ubox_map = 0x54,
	},
	[INTEL_IMC_BDXEP] = {
		.name = "Broadwell-EP", .kind = &intel_imc_hswep_kind,
		.box_ones = INTEL_IMC_BOX_CTL_V2_ONES,
		.ubox = 0x6f1e, .ubox_nodeid = 0x40, .ubox_map = 0x54,
	},
	[INTEL_IMC_SKX] = {
		.name = "Skylake-SP", .kind = &intel_imc_skx_kind,
		.box_ones = INTEL_IMC_BOX_CTL_V2_ONES,
		.ubox = 0x2014, .ubox_nodeid = 0xc0, .ubox_map = 0xd4, .ubox_below = true,
		.slots = intel_imc_skx_slots,
	},
	[INTEL_IMC_CLX] = {
		.name = "Cascade Lake-SP", .kind = &intel_imc_clx_kind,
		.box_ones = INTEL_IMC_BOX_CTL_V2_ONES,
		.ubox = 0x2014, .ubox_nodeid = 0xc0, .ubox_map = 0xd4, .ubox_below = true,
		.slots = intel_imc_skx_slots,
	},
};

#define INTEL_IMC_DATA(part, channel)	((part) << 8 | (channel))
#define INTEL_IMC_DATA_PART(data)	((data) >> 8)
#define INTEL_IMC_DATA_CHANNEL(data)	((data) & 0xff)

#define INTEL_IMC_ID(device, part, channel) \
	{ PCI_VDEVICE(INTEL, device), .driver_data = INTEL_IMC_DATA(part, channel) }

static const struct pci_device_id intel_imc_ids[] = {
	INTEL_IMC_ID(0x3cb0, INTEL_IMC_SNBEP, 0), INTEL_IMC_ID(0x3cb1, INTEL_IMC_SNBEP, 1),
	INTEL_IMC_ID(0x3cb4, INTEL_IMC_SNBEP, 2), INTEL_IMC_ID(0x3cb5, INTEL_IMC_SNBEP, 3),
	INTEL_IMC_ID(0x0eb4, INTEL_IMC_IVBEP, 0), INTEL_IMC_ID(0x0eb5, INTEL_IMC_IVBEP, 1),
	INTEL_IMC_ID(0x0eb0, INTEL_IMC_IVBEP, 2), INTEL_IMC_ID(0x0eb1, INTEL_IMC_IVBEP, 3),
	INTEL_IMC_ID(0x0ef4, INTEL_IMC_IVBEP, 4), INTEL_IMC_ID(0x0ef5, INTEL_IMC_IVBEP, 5),
	INTEL_IMC_ID(0x0ef0, INTEL_IMC_IVBEP, 6), INTEL_IMC_ID(0x0ef1, INTEL_IMC_IVBEP, 7),
	INTEL_IMC_ID(0x2fb0, INTEL_IMC_HSWEP, 0), INTEL_IMC_ID(0x2fb1, INTEL_IMC_HSWEP, 1),
	INTEL_IMC_ID(0x2fb4, INTEL_IMC_HSWEP, 2), INTEL_IMC_ID(0x2fb5, INTEL_IMC_HSWEP, 3),
	INTEL_IMC_ID(0x2fd0, INTEL_IMC_HSWEP, 4), INTEL_IMC_ID(0x2fd1, INTEL_IMC_HSWEP, 5),
	INTEL_IMC_ID(0x2fd4, INTEL_IMC_HSWEP, 6), INTEL_IMC_ID(0x2fd5, INTEL_IMC_HSWEP, 7),
	INTEL_IMC_ID(0x6fb0, INTEL_IMC_BDXEP, 0), INTEL_IMC_ID(0x6fb1, INTEL_IMC_BDXEP, 1),
	INTEL_IMC_ID(0x6fb4, INTEL_IMC_BDXEP, 2), INTEL_IMC_ID(0x6fb5, INTEL_IMC_BDXEP, 3),
	INTEL_IMC_ID(0x6fd0, INTEL_IMC_BDXEP, 4), INTEL_IMC_ID(0x6fd1, INTEL_IMC_BDXEP, 5),
	INTEL_IMC_ID(0x6fd4, INTEL_IMC_BDXEP, 6), INTEL_IMC_ID(0x6fd5, INTEL_IMC_BDXEP, 7),
	/* The function tells the channel, the processor's stepping the generation. */
	INTEL_IMC_ID(0x2042, INTEL_IMC_SKX, 0), INTEL_IMC_ID(0x2046, INTEL_IMC_SKX, 0),
	INTEL_IMC_ID(0x204a, INTEL_IMC_SKX, 0),
	{ }
};
MODULE_DEVICE_TABLE(pci, intel_imc_ids);

/* Skylake and Cascade Lake (stepping 5 on) are one CPU model and share their PCI ids. */
#define INTEL_IMC_CLX_FIRST_STEPPING	5

static const struct intel_imc_part *intel_imc_part_of(const struct pci_device_id *id)
{
	enum intel_imc_part_id part = INTEL_IMC_DATA_PART(id->driver_data);

	if (part == INTEL_IMC_SKX && boot_cpu_data.x86_stepping >= INTEL_IMC_CLX_FIRST_STEPPING)
		part = INTEL_IMC_CLX;
	return &intel_imc_parts[part];
}

/* The channel's number, or -ENODEV for a function with a channel's id that is none. */
static int intel_imc_channel_number(struct pci_dev *pdev, const struct intel_imc_part *part,
				    const struct pci_device_id *id)
{
	const struct intel_imc_slot *slot;

	if (!part->slots)
		return INTEL_IMC_DATA_CHANNEL(id->driver_data);
	for (slot = part->slots; slot->devfn; slot++)
		if (slot->devfn == pdev->devfn)
			return slot->channel;
	return -ENODEV;
}

static void intel_imc_quiesce(void *data)
{
	intel_imc_channel_quiesce(data);
}

static int intel_imc_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct intel_imc_part *part = intel_imc_part_of(id);
	int number = intel_imc_channel_number(pdev, part, id);
	struct intel_imc_channel *ch;
	char name[32];
	int socket, err;

	if (number < 0)
		return number;
	socket = intel_imc_socket_of(pdev, part);
	if (socket < 0)
		return socket;

	ch = devm_kzalloc(&pdev->dev, sizeof(*ch), GFP_KERNEL);
	if (!ch)
		return -ENOMEM;
	ch->pdev = pdev;
	ch->box_ones = part->box_ones;
	err = intel_imc_io_setup(ch);
	if (err)
		return err;
	intel_imc_channel_reset(ch);
	err = devm_add_action_or_reset(&pdev->dev, intel_imc_quiesce, ch);
	if (err)
		return err;
	err = intel_imc_channel_check(ch);
	if (err == -EIO)
		return dev_err_probe(&pdev->dev, err,
			"the fixed counter does not advance: a channel without memory? It gets no PMU\n");
	if (err)
		return dev_err_probe(&pdev->dev, err,
			"the counters do not work: no PMU for this channel\n");

	snprintf(name, sizeof(name), "uncore_imc_%d", number);
	err = devm_pmu_box_register(&pdev->dev, &part->kind->desc, name, socket, ch);
	if (err)
		return err;
	pci_info(pdev, "%s channel counters of socket %d: %s, by %s\n", part->name, socket, name,
		 ch->ecam ? "ECAM" : "the PCI core");
	return 0;
}

static struct pci_driver intel_imc_driver = {
	.name = "intel_imc_pmu",
	.id_table = intel_imc_ids,
	.probe = intel_imc_probe,
};

/*
 * How many functions with a channel's id there are, how many we have, and how many
 * another driver has, which is named. The rest were refused by intel_imc_probe(), with a reason.
 */
static void intel_imc_survey(unsigned int *present, unsigned int *bound, unsigned int *taken)
{
	struct pci_dev *pdev = NULL;

	*present = *bound = *taken = 0;
	for_each_pci_dev(pdev) {
		struct pci_driver *driver;

		if (!pci_match_id(intel_imc_ids, pdev))
			continue;
		++*present;
		driver = pci_dev_driver(pdev);
		if (driver == &intel_imc_driver) {
			++*bound;
		} else if (driver) {
			++*taken;
			pci_err(pdev, "%s has this memory channel; to use intel_imc_pmu unload %s, or unbind the device from it: echo %s > /sys/bus/pci/drivers/%s/unbind\n",
				driver->name, driver->name, pci_name(pdev), driver->name);
		}
	}
}

static void intel_imc_unregister(void)
{
	pci_unregister_driver(&intel_imc_driver);
	pmu_unregister_all(THIS_MODULE);
}

static int __init intel_imc_init(void)
{
	unsigned int present, bound, taken;
	int err = intel_imc_io_check_parameter();

	if (err)
		return err;
	err = pci_register_driver(&intel_imc_driver);
	if (err)
		return err;
	intel_imc_survey(&present, &bound, &taken);
	if (bound)
		return 0;
	if (!present)
		pr_err("intel_imc_pmu: no memory channel of a supported processor on the PCI bus (supported: Xeon from Sandy Bridge-EP to Cascade Lake)\n");
	else if (!taken)
		pr_err("intel_imc_pmu: %u memory channels found, none of which counts\n", present);
	intel_imc_unregister();
	return taken ? -EBUSY : -ENODEV;
}
module_init(intel_imc_init);

static void __exit intel_imc_exit(void)
{
	intel_imc_unregister();
}
module_exit(intel_imc_exit);

MODULE_DESCRIPTION("Intel Xeon integrated memory controller PMU");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(PMU_CORE_NS);
