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

#include "imc.h"

enum imc_part_id { IMC_SNBEP, IMC_IVBEP, IMC_HSWEP, IMC_BDXEP, IMC_SKX, IMC_CLX };

/* The ids are the same in both controllers. */
static const struct imc_slot imc_skx_slots[] = {
	{ PCI_DEVFN(10, 2), 0 }, { PCI_DEVFN(10, 6), 1 }, { PCI_DEVFN(11, 2), 2 },
	{ PCI_DEVFN(12, 2), 3 }, { PCI_DEVFN(12, 6), 4 }, { PCI_DEVFN(13, 2), 5 },
	{ }
};

static const struct imc_part imc_parts[] = {
	[IMC_SNBEP] = {
		.name = "Sandy Bridge-EP", .kind = &imc_snbep_kind, .box_ctl = IMC_BOX_CTL_V1,
		.ubox = 0x3ce0, .ubox_nodeid = 0x40, .ubox_map = 0x54,
	},
	[IMC_IVBEP] = {
		.name = "Ivy Bridge-EP", .kind = &imc_ivbep_kind, .box_ctl = IMC_BOX_CTL_V2,
		.ubox = 0x0e1e, .ubox_nodeid = 0x40, .ubox_map = 0x54,
	},
	[IMC_HSWEP] = {
		.name = "Haswell-EP", .kind = &imc_hswep_kind, .box_ctl = IMC_BOX_CTL_V2,
		.ubox = 0x2f1e, .ubox_nodeid = 0x40, .ubox_map = 0x54,
	},
	[IMC_BDXEP] = {
		.name = "Broadwell-EP", .kind = &imc_hswep_kind, .box_ctl = IMC_BOX_CTL_V2,
		.ubox = 0x6f1e, .ubox_nodeid = 0x40, .ubox_map = 0x54,
	},
	[IMC_SKX] = {
		.name = "Skylake-SP", .kind = &imc_skx_kind, .box_ctl = IMC_BOX_CTL_V2,
		.ubox = 0x2014, .ubox_nodeid = 0xc0, .ubox_map = 0xd4, .ubox_below = true,
		.slots = imc_skx_slots,
	},
	[IMC_CLX] = {
		.name = "Cascade Lake-SP", .kind = &imc_clx_kind, .box_ctl = IMC_BOX_CTL_V2,
		.ubox = 0x2014, .ubox_nodeid = 0xc0, .ubox_map = 0xd4, .ubox_below = true,
		.slots = imc_skx_slots,
	},
};

#define IMC_DATA(part, channel)	((part) << 8 | (channel))
#define IMC_DATA_PART(data)	((data) >> 8)
#define IMC_DATA_CHANNEL(data)	((data) & 0xff)

#define IMC_ID(device, part, channel) \
	{ PCI_VDEVICE(INTEL, device), .driver_data = IMC_DATA(part, channel) }

static const struct pci_device_id imc_ids[] = {
	IMC_ID(0x3cb0, IMC_SNBEP, 0), IMC_ID(0x3cb1, IMC_SNBEP, 1),
	IMC_ID(0x3cb4, IMC_SNBEP, 2), IMC_ID(0x3cb5, IMC_SNBEP, 3),
	IMC_ID(0x0eb4, IMC_IVBEP, 0), IMC_ID(0x0eb5, IMC_IVBEP, 1),
	IMC_ID(0x0eb0, IMC_IVBEP, 2), IMC_ID(0x0eb1, IMC_IVBEP, 3),
	IMC_ID(0x0ef4, IMC_IVBEP, 4), IMC_ID(0x0ef5, IMC_IVBEP, 5),
	IMC_ID(0x0ef0, IMC_IVBEP, 6), IMC_ID(0x0ef1, IMC_IVBEP, 7),
	IMC_ID(0x2fb0, IMC_HSWEP, 0), IMC_ID(0x2fb1, IMC_HSWEP, 1),
	IMC_ID(0x2fb4, IMC_HSWEP, 2), IMC_ID(0x2fb5, IMC_HSWEP, 3),
	IMC_ID(0x2fd0, IMC_HSWEP, 4), IMC_ID(0x2fd1, IMC_HSWEP, 5),
	IMC_ID(0x2fd4, IMC_HSWEP, 6), IMC_ID(0x2fd5, IMC_HSWEP, 7),
	IMC_ID(0x6fb0, IMC_BDXEP, 0), IMC_ID(0x6fb1, IMC_BDXEP, 1),
	IMC_ID(0x6fb4, IMC_BDXEP, 2), IMC_ID(0x6fb5, IMC_BDXEP, 3),
	IMC_ID(0x6fd0, IMC_BDXEP, 4), IMC_ID(0x6fd1, IMC_BDXEP, 5),
	IMC_ID(0x6fd4, IMC_BDXEP, 6), IMC_ID(0x6fd5, IMC_BDXEP, 7),
	/* The function tells the channel, the processor's stepping the generation. */
	IMC_ID(0x2042, IMC_SKX, 0), IMC_ID(0x2046, IMC_SKX, 0), IMC_ID(0x204a, IMC_SKX, 0),
	{ }
};
MODULE_DEVICE_TABLE(pci, imc_ids);

/* Skylake and Cascade Lake (stepping 5 on) are one CPU model and share their PCI ids. */
#define IMC_CLX_FIRST_STEPPING	5

static const struct imc_part *imc_part_of(const struct pci_device_id *id)
{
	enum imc_part_id part = IMC_DATA_PART(id->driver_data);

	if (part == IMC_SKX && boot_cpu_data.x86_stepping >= IMC_CLX_FIRST_STEPPING)
		part = IMC_CLX;
	return &imc_parts[part];
}

/* The channel's number, or -ENODEV for a function with a channel's id that is none. */
static int imc_channel_number(struct pci_dev *pdev, const struct imc_part *part,
			      const struct pci_device_id *id)
{
	const struct imc_slot *slot;

	if (!part->slots)
		return IMC_DATA_CHANNEL(id->driver_data);
	for (slot = part->slots; slot->devfn; slot++)
		if (slot->devfn == pdev->devfn)
			return slot->channel;
	return -ENODEV;
}

static void imc_quiesce(void *data)
{
	imc_channel_quiesce(data);
}

static int imc_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct imc_part *part = imc_part_of(id);
	int number = imc_channel_number(pdev, part, id);
	struct imc_channel *ch;
	char name[32];
	int socket, err;

	if (number < 0)
		return number;
	socket = imc_socket_of(pdev, part);
	if (socket < 0)
		return socket;

	ch = devm_kzalloc(&pdev->dev, sizeof(*ch), GFP_KERNEL);
	if (!ch)
		return -ENOMEM;
	ch->pdev = pdev;
	ch->box_ctl = part->box_ctl;
	err = imc_io_setup(ch);
	if (err)
		return err;
	imc_channel_reset(ch);
	err = devm_add_action_or_reset(&pdev->dev, imc_quiesce, ch);
	if (err)
		return err;
	err = imc_channel_check(ch);
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

static struct pci_driver imc_driver = {
	.name = "intel_imc_pmu",
	.id_table = imc_ids,
	.probe = imc_probe,
};

/*
 * How many functions with a channel's id there are, how many we have, and how many
 * another driver has, which is named. The rest were refused by imc_probe(), with a reason.
 */
static void imc_survey(unsigned int *present, unsigned int *bound, unsigned int *taken)
{
	struct pci_dev *pdev = NULL;

	*present = *bound = *taken = 0;
	for_each_pci_dev(pdev) {
		struct pci_driver *driver;

		if (!pci_match_id(imc_ids, pdev))
			continue;
		++*present;
		driver = pci_dev_driver(pdev);
		if (driver == &imc_driver) {
			++*bound;
		} else if (driver) {
			++*taken;
			pci_err(pdev, "%s has this memory channel; to use intel_imc_pmu unload %s, or unbind the device from it: echo %s > /sys/bus/pci/drivers/%s/unbind\n",
				driver->name, driver->name, pci_name(pdev), driver->name);
		}
	}
}

static void imc_unregister(void)
{
	pci_unregister_driver(&imc_driver);
	pmu_unregister_all(THIS_MODULE);
}

static int __init imc_init(void)
{
	unsigned int present, bound, taken;
	int err = imc_io_check_parameter();

	if (err)
		return err;
	err = pci_register_driver(&imc_driver);
	if (err)
		return err;
	imc_survey(&present, &bound, &taken);
	if (bound)
		return 0;
	if (!present)
		pr_err("intel_imc_pmu: no memory channel of a supported processor on the PCI bus (supported: Xeon from Sandy Bridge-EP to Cascade Lake)\n");
	else if (!taken)
		pr_err("intel_imc_pmu: %u memory channels found, none of which counts\n", present);
	imc_unregister();
	return taken ? -EBUSY : -ENODEV;
}
module_init(imc_init);

static void __exit imc_exit(void)
{
	imc_unregister();
}
module_exit(imc_exit);

MODULE_DESCRIPTION("Intel Xeon integrated memory controller PMU");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(PMU_CORE_NS);
