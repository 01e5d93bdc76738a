// SPDX-License-Identifier: GPL-2.0-only
/*
 * Channels whose registers are in memory: from Ice Lake-SP on. One PCI function of a socket says
 * in its configuration space where the registers of its memory controllers are.
 *
 * The function is bound like any other, since no other driver binds it. All channels that it leads
 * to come and go with it: Documentation/intel_imc.md, "Channels in memory space".
 */
#include <linux/bitfield.h>
#include <linux/export.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/ioport.h>
#include <linux/pci.h>

#include "intel_imc.h"

/*
 * A controller has two channels, and on some machines a third one: hardware/intel_imc.md, 14.2. The
 * in-tree driver has three PMUs for each, so every third one usually counts nothing. Our names have
 * the same numbers.
 */
const struct intel_imc_blocks intel_imc_icx_blocks = {
	.controllers = 4, .channels = 3, .certain = 2,
	.offset = 0x22800, .stride = 0x4000,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_icx_blocks);

/*
 * Fewer controllers, and channels, than Ice Lake-SP; how many is up to the machine. A controller
 * that is not there has no address, or channels that do not keep what is written.
 */
const struct intel_imc_blocks intel_imc_icx_d_blocks = {
	.controllers = 4, .channels = 3,
	.offset = 0x22800, .stride = 0x4000,
};

const struct intel_imc_blocks intel_imc_snr_blocks = {
	.controllers = 1, .channels = 2,
	.offset = 0x22800, .stride = 0x4000,
};

/*
 * The discovery table says how many channels there are. These numbers are those of Intel's event
 * lists.
 */
const struct intel_imc_blocks intel_imc_spr_blocks = {
	.controllers = 4, .channels = 2, .certain = 2, .table = true,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_spr_blocks);

const struct intel_imc_blocks intel_imc_gnr_blocks = {
	.controllers = 12, .channels = 1, .certain = 1, .table = true,
};
EXPORT_SYMBOL_IF_KUNIT(intel_imc_gnr_blocks);

/* No source says how many channels these have. */
const struct intel_imc_blocks intel_imc_table_blocks = {
	.controllers = 1, .channels = 1, .certain = 1, .table = true,
};

static u32 intel_imc_mmio_read(struct intel_imc_channel *ch, unsigned int reg)
{
	return readl(ch->regs + reg);
}

static void intel_imc_mmio_write(struct intel_imc_channel *ch, unsigned int reg, u32 value)
{
	writel(value, ch->regs + reg);
}

static u64 intel_imc_mmio_read_counter(struct intel_imc_channel *ch, unsigned int reg)
{
	return readq(ch->regs + reg);
}

const struct intel_imc_io intel_imc_mmio_io = {
	.read = intel_imc_mmio_read, .write = intel_imc_mmio_write,
	.read_counter = intel_imc_mmio_read_counter,
};

/**
 * intel_imc_controller_address() - where a memory controller's registers are.
 * @base: register of the socket's base address
 * @mem: register of the controller's offset
 *
 * Context: any.
 * Return: the physical address; 0 if a register holds 0, as it may if the controller is off, or all
 * ones, as it does if the function does not answer.
 */
phys_addr_t intel_imc_controller_address(u32 base, u32 mem)
{
	u64 address = FIELD_GET(INTEL_IMC_MMIO_BASE_ADDRESS, base);
	u64 offset = FIELD_GET(INTEL_IMC_MMIO_MEM_OFFSET, mem);

	if (!address || !offset || PCI_POSSIBLE_ERROR(base) || PCI_POSSIBLE_ERROR(mem))
		return 0;
	return address << INTEL_IMC_MMIO_BASE_SHIFT | offset << INTEL_IMC_MMIO_MEM_SHIFT;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_controller_address);

/**
 * intel_imc_mmio_find() - find the registers of a controller that a function leads to.
 * @pdev: the function
 * @controller: of the socket
 * @base: set to what the register of the base address holds
 * @mem: set to what the register of the controller's offset holds
 *
 * Context: may sleep.
 * Return: the physical address, or 0.
 */
phys_addr_t intel_imc_mmio_find(struct pci_dev *pdev, unsigned int controller, u32 *base, u32 *mem)
{
	if (pci_read_config_dword(pdev, INTEL_IMC_MMIO_BASE, base))
		*base = ~0U;
	if (pci_read_config_dword(pdev, INTEL_IMC_MMIO_MEM(controller), mem))
		*mem = ~0U;
	return intel_imc_controller_address(*base, *mem);
}

/**
 * intel_imc_mmio_is_certain() - does every machine have a channel?
 * @blocks: of the generation
 * @number: of the channel, as in the PMU's name
 *
 * Context: any.
 * Return: true if it does; false if the channel has to be asked.
 */
bool intel_imc_mmio_is_certain(const struct intel_imc_blocks *blocks, unsigned int number)
{
	return blocks->table || number % blocks->channels < blocks->certain;
}
EXPORT_SYMBOL_IF_KUNIT(intel_imc_mmio_is_certain);

/* The block of a channel, where no table lists the blocks; or 0 */
static phys_addr_t intel_imc_mmio_block(struct intel_imc_channel *ch, u32 *base, u32 *mem)
{
	const struct intel_imc_blocks *blocks = ch->part->blocks;
	phys_addr_t controller =
		intel_imc_mmio_find(ch->pdev, ch->number / blocks->channels, base, mem);

	return !controller ? 0 :
	       controller + blocks->offset + ch->number % blocks->channels * blocks->stride;
}

/* Is a channel there that not every machine has? */
static int intel_imc_mmio_ask(struct intel_imc_channel *ch)
{
	bool there = !PCI_POSSIBLE_ERROR(intel_imc_mmio_read(ch, ch->layout->box_ctl)) &&
		     intel_imc_channel_keeps(ch);

	return there ? 0 : -ENODEV;
}

/* The same of a channel that every machine has. Nothing is written to ask it. */
static int intel_imc_mmio_expect(struct intel_imc_channel *ch)
{
	if (!PCI_POSSIBLE_ERROR(intel_imc_mmio_read(ch, ch->layout->box_ctl)))
		return 0;
	return dev_err_probe(ch->dev, -ENODEV,
		"uncore_imc_%d: nothing answers at %pa: no PMU for this channel\n",
		ch->number, &ch->block);
}

/**
 * intel_imc_mmio_setup() - map a channel's registers.
 * @ch: the channel; this sets its io and regs, and its block unless a table has
 * @call: calls a step that accesses registers, on a CPU of the socket, so that this does not sleep
 *
 * Nothing is written to a channel that every machine has, since a wrong address may belong to any
 * device. The kernel refuses RAM, devices in use, and addresses that the processor cannot reach. An
 * address at which no device answers reads as all ones.
 *
 * If a channel is absent that not every machine has, nothing is logged and its memory is released.
 * If another driver has a PMU of its name, it is left to that driver.
 *
 * Context: may sleep.
 * Return: 0; -ENODEV, -EBUSY or -ENOMEM, with a message, except as above.
 */
int intel_imc_mmio_setup(struct intel_imc_channel *ch,
			 int (*call)(struct intel_imc_channel *ch, intel_imc_step_t step))
{
	const struct intel_imc_blocks *blocks = ch->part->blocks;
	bool certain = intel_imc_mmio_is_certain(blocks, ch->number);
	struct device *dev = ch->dev;
	u32 base, mem;
	int err;

	ch->io = &intel_imc_mmio_io;
	if (!certain && intel_imc_mmio_is_taken(ch->number))
		return -EBUSY;
	if (!blocks->table)
		ch->block = intel_imc_mmio_block(ch, &base, &mem);
	if (!ch->block)
		return !certain ? -ENODEV : dev_err_probe(dev, -ENODEV,
			"uncore_imc_%d: registers %02x and %02x hold %08x and %08x, which is no address: no PMU for this channel\n",
			ch->number, INTEL_IMC_MMIO_BASE,
			INTEL_IMC_MMIO_MEM(ch->number / blocks->channels), base, mem);
	/* Of a controller's third channel the others say the same. */
	if (!devm_request_mem_region(dev, ch->block, INTEL_IMC_BLOCK_SIZE, "intel_imc_pmu"))
		return !certain && blocks->certain ? -EBUSY : dev_err_probe(dev, -EBUSY,
			"uncore_imc_%d: its registers should be at %pa, where there is something else: no PMU for this channel\n",
			ch->number, &ch->block);
	ch->regs = devm_ioremap(dev, ch->block, INTEL_IMC_BLOCK_SIZE);
	if (!ch->regs)
		return -ENOMEM;
	err = certain ? intel_imc_mmio_expect(ch) : call(ch, intel_imc_mmio_ask);
	if (err && !certain) {
		devm_iounmap(dev, ch->regs);
		ch->regs = NULL;
		devm_release_mem_region(dev, ch->block, INTEL_IMC_BLOCK_SIZE);
	}
	return err;
}

/**
 * intel_imc_mmio_is_taken() - does another driver have the PMU of a channel in memory?
 * @number: of the channel
 *
 * On a processor that it does not know, the in-tree driver calls the channels units of type 6. If
 * there is only one, its name has no number.
 *
 * Context: may sleep.
 * Return: true if one has.
 */
bool intel_imc_mmio_is_taken(unsigned int number)
{
	static const char * const types[] = { "uncore_imc", "uncore_type_6" };
	char name[32];

	for (unsigned int i = 0; i < ARRAY_SIZE(types); i++) {
		snprintf(name, sizeof(name), "%s_%u", types[i], number);
		if (pmu_is_of_another(name) || pmu_is_of_another(types[i]))
			return true;
	}
	return false;
}

/**
 * intel_imc_mmio_check_owner() - may this driver have the channels that a function leads to?
 * @dev: the function, or the device that stands for a table
 * @number: of a channel
 *
 * The in-tree driver does not bind the function, so only its PMUs show whether it uses the
 * channels; it has PMUs of all channels or of none. This is checked before anything is written.
 *
 * Context: may sleep.
 * Return: 0; -EBUSY, with a message.
 */
int intel_imc_mmio_check_owner(struct device *dev, unsigned int number)
{
	if (!intel_imc_mmio_is_taken(number))
		return 0;
	return dev_err_probe(dev, -EBUSY,
		"another driver has PMUs of these memory channels: to use intel_imc_pmu unload that driver (intel_uncore)\n");
}
