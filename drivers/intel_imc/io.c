// SPDX-License-Identifier: GPL-2.0-only
/*
 * How configuration space is reached.
 *
 * For the first 256 bytes the PCI core uses ports 0xCF8 and 0xCFC: two accesses under one
 * lock for the whole machine. If there is memory-mapped configuration space (ECAM), the
 * function's own page is mapped instead: one access, no lock. Accesses are dwords in
 * either case, since wider ones are undefined.
 */
#include <linux/acpi.h>
#include <linux/io.h>
#include <linux/moduleparam.h>
#include <linux/pci.h>
#include <linux/pci-ecam.h>

#include "intel_imc.h"

static char *access = "auto";
module_param(access, charp, 0444);
MODULE_PARM_DESC(access, "how to reach configuration space: ecam, pci (the PCI core), or auto (ecam where there is one; the default)");

static u32 intel_imc_pci_read(struct intel_imc_channel *ch, unsigned int reg)
{
	u32 value;

	return pci_read_config_dword(ch->pdev, reg, &value) ? ~0U : value;
}

static void intel_imc_pci_write(struct intel_imc_channel *ch, unsigned int reg, u32 value)
{
	pci_write_config_dword(ch->pdev, reg, value);
}

static const struct intel_imc_io intel_imc_pci_io = {
	.read = intel_imc_pci_read, .write = intel_imc_pci_write,
};

static u32 intel_imc_ecam_read(struct intel_imc_channel *ch, unsigned int reg)
{
	return readl(ch->regs + reg);
}

static void intel_imc_ecam_write(struct intel_imc_channel *ch, unsigned int reg, u32 value)
{
	writel(value, ch->regs + reg);
}

static const struct intel_imc_io intel_imc_ecam_io = {
	.read = intel_imc_ecam_read, .write = intel_imc_ecam_write,
};

/**
 * intel_imc_mcfg_entries() - how many regions a table MCFG lists.
 * @length: of the table in bytes, as its header has it: firmware may give anything
 *
 * Return: their number; 0 for a truncated table.
 */
unsigned int intel_imc_mcfg_entries(u32 length)
{
	const u32 head = sizeof(struct acpi_table_mcfg);

	return length < head ? 0 : (length - head) / sizeof(struct acpi_mcfg_allocation);
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_mcfg_entries);

/* The physical address of a function's page as ACPI's MCFG table has it, or 0. */
static phys_addr_t intel_imc_ecam_address(struct pci_dev *pdev)
{
	struct acpi_table_header *header;
	struct acpi_mcfg_allocation *entry;
	phys_addr_t found = 0;
	unsigned int n;

	if (ACPI_FAILURE(acpi_get_table(ACPI_SIG_MCFG, 0, &header)))
		return 0;
	entry = (void *)header + sizeof(struct acpi_table_mcfg);
	n = intel_imc_mcfg_entries(header->length);
	for (; n; n--, entry++) {
		if (entry->pci_segment != pci_domain_nr(pdev->bus) ||
		    pdev->bus->number < entry->start_bus_number ||
		    pdev->bus->number > entry->end_bus_number)
			continue;
		found = entry->address + PCIE_ECAM_OFFSET(pdev->bus->number, pdev->devfn, 0);
		break;
	}
	acpi_put_table(header);
	return found;
}

/*
 * Map the page. Firmware's table can be wrong. It is used only if the kernel, which checks
 * it, uses it as well, and if both ways show the same function.
 */
static int intel_imc_ecam_map(struct intel_imc_channel *ch)
{
	phys_addr_t address = intel_imc_ecam_address(ch->pdev);
	u32 beyond, id;

	if (!address || pci_read_config_dword(ch->pdev, PCI_CFG_SPACE_SIZE, &beyond) ||
	    pci_read_config_dword(ch->pdev, PCI_VENDOR_ID, &id))
		return -ENODEV;
	ch->regs = devm_ioremap(&ch->pdev->dev, address, PCI_CFG_SPACE_EXP_SIZE);
	if (!ch->regs)
		return -ENOMEM;
	return readl(ch->regs + PCI_VENDOR_ID) == id ? 0 : -ENODEV;
}

/**
 * intel_imc_io_resume() - is a channel still reached the same way after the machine slept?
 * @ch: the channel
 *
 * Firmware has to enable memory-mapped configuration space again, and some does not.
 *
 * Context: any.
 */
void intel_imc_io_resume(struct intel_imc_channel *ch)
{
	u32 id;

	if (ch->io != &intel_imc_ecam_io || pci_read_config_dword(ch->pdev, PCI_VENDOR_ID, &id) ||
	    readl(ch->regs + PCI_VENDOR_ID) == id)
		return;
	pci_warn(ch->pdev, "firmware has lost the memory-mapped configuration space: this channel is reached by the PCI core from now on\n");
	ch->io = &intel_imc_pci_io;
}

/**
 * intel_imc_io_name() - how a channel is reached, for messages.
 * @ch: the channel
 *
 * Return: a word or two.
 */
const char *intel_imc_io_name(const struct intel_imc_channel *ch)
{
	if (ch->block)
		return "memory";
	return ch->io == &intel_imc_ecam_io ? "ECAM" : "the PCI core";
}

/**
 * intel_imc_io_check_parameter() - is the module parameter one of its words?
 *
 * Return: 0, or -EINVAL with a message.
 */
int intel_imc_io_check_parameter(void)
{
	if (!strcmp(access, "auto") || !strcmp(access, "ecam") || !strcmp(access, "pci"))
		return 0;
	pr_err("intel_imc_pmu: access=%s must be auto, ecam or pci\n", access);
	return -EINVAL;
}

/**
 * intel_imc_io_setup() - choose how a channel's registers are reached.
 * @ch: the channel; its io and regs are set
 *
 * Context: may sleep.
 * Return: 0; -ENODEV or -ENOMEM, with a message, if ECAM is demanded but not possible.
 */
int intel_imc_io_setup(struct intel_imc_channel *ch)
{
	int err;

	ch->io = &intel_imc_pci_io;
	if (!strcmp(access, "pci"))
		return 0;
	err = intel_imc_ecam_map(ch);
	if (!err)
		ch->io = &intel_imc_ecam_io;
	else if (!strcmp(access, "ecam"))
		return dev_err_probe(&ch->pdev->dev, err,
			"access=ecam, but this function has no memory-mapped configuration space; use access=auto\n");
	return 0;
}
