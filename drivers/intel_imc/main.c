// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel Xeon integrated memory controller PMU: the PCI driver.
 *
 * Each DRAM channel is a PCI function with a performance monitor in its configuration
 * space. Channel N of all sockets is one PMU, uncore_imc_N, with a box per socket.
 */
#include <linux/module.h>
#include <linux/pci.h>

#include "imc.h"

enum imc_part_id { IMC_SNBEP };

static const struct imc_part imc_parts[] = {
	[IMC_SNBEP] = {
		.name = "Sandy Bridge-EP",
		.ubox = 0x3ce0, .nodeid_reg = 0x40, .map_reg = 0x54,
		.desc = &imc_snbep_desc,
	},
};

#define IMC_DATA(part, channel)	((part) << 8 | (channel))
#define IMC_DATA_PART(data)	((data) >> 8)
#define IMC_DATA_CHANNEL(data)	((data) & 0xff)

static const struct pci_device_id imc_ids[] = {
	{ PCI_VDEVICE(INTEL, 0x3cb0), IMC_DATA(IMC_SNBEP, 0) },
	{ PCI_VDEVICE(INTEL, 0x3cb1), IMC_DATA(IMC_SNBEP, 1) },
	{ PCI_VDEVICE(INTEL, 0x3cb4), IMC_DATA(IMC_SNBEP, 2) },
	{ PCI_VDEVICE(INTEL, 0x3cb5), IMC_DATA(IMC_SNBEP, 3) },
	{ }
};
MODULE_DEVICE_TABLE(pci, imc_ids);

static u32 imc_pci_read(struct imc_channel *ch, unsigned int reg)
{
	u32 value;

	return pci_read_config_dword(ch->pdev, reg, &value) ? ~0U : value;
}

static void imc_pci_write(struct imc_channel *ch, unsigned int reg, u32 value)
{
	pci_write_config_dword(ch->pdev, reg, value);
}

static const struct imc_io imc_pci_io = { .read = imc_pci_read, .write = imc_pci_write };

static void imc_quiesce(void *data)
{
	imc_channel_quiesce(data);
}

static int imc_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct imc_part *part = &imc_parts[IMC_DATA_PART(id->driver_data)];
	struct imc_channel *ch;
	char name[32];
	int socket, err;

	socket = imc_socket_of(pdev, part);
	if (socket < 0)
		return socket;

	ch = devm_kzalloc(&pdev->dev, sizeof(*ch), GFP_KERNEL);
	if (!ch)
		return -ENOMEM;
	ch->io = &imc_pci_io;
	ch->pdev = pdev;
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

	snprintf(name, sizeof(name), "uncore_imc_%lu", IMC_DATA_CHANNEL(id->driver_data));
	err = devm_pmu_box_register(&pdev->dev, part->desc, name, socket, ch);
	if (err)
		return err;
	pci_info(pdev, "%s channel counters of socket %d: %s\n", part->name, socket, name);
	return 0;
}

static struct pci_driver imc_driver = {
	.name = "intel_imc_pmu",
	.id_table = imc_ids,
	.probe = imc_probe,
};

/*
 * How many functions we know are there (@present), and how many another driver has
 * (@taken), which is named; the rest, unless we have them, were refused by imc_probe().
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

static int __init imc_init(void)
{
	unsigned int present, bound, taken;
	int err = pci_register_driver(&imc_driver);

	if (err)
		return err;
	imc_survey(&present, &bound, &taken);
	if (bound)
		return 0;
	if (!present)
		pr_err("intel_imc_pmu: no memory channel of a supported processor on the PCI bus (supported: Xeon E5-2600, Sandy Bridge-EP)\n");
	else if (!taken)
		pr_err("intel_imc_pmu: %u memory channels found, none of which counts\n", present);
	pci_unregister_driver(&imc_driver);
	return taken ? -EBUSY : -ENODEV;
}
module_init(imc_init);

static void __exit imc_exit(void)
{
	pci_unregister_driver(&imc_driver);
	pmu_unregister_all(THIS_MODULE);
}
module_exit(imc_exit);

MODULE_DESCRIPTION("Intel Xeon integrated memory controller PMU");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(PMU_CORE_NS);
