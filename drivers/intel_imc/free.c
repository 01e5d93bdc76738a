// SPDX-License-Identifier: GPL-2.0-only
/*
 * Free-running counters of a memory controller: lines read and written, and the clock. They always
 * count, for whoever reads them; nothing is written. The PMU uncore_imc_free_running_N has
 * controller N of all sockets, as in the in-tree driver.
 */
#include <linux/bitfield.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "intel_imc.h"

#define INTEL_IMC_FREE		0x2290			/* in a controller's registers */
#define INTEL_IMC_FREE_SIZE	0x28
#define INTEL_IMC_FREE_WIDTH	48

/* The event code of all of them; the umask tells which. */
#define INTEL_IMC_FREE_EVENT	0xff

/* The counters of one controller */
struct intel_imc_free {
	void __iomem *regs;
};

static const struct pmu_format intel_imc_free_formats[] = {
	{ .name = "event", .mask = INTEL_IMC_CONFIG_EVENT, .digits = 2, .always = true },
	{ .name = "umask", .mask = INTEL_IMC_CONFIG_UMASK, .digits = 2, .always = true },
};

#define INTEL_IMC_FREE_CONFIG(umask) \
	(INTEL_IMC_FREE_EVENT | FIELD_PREP_CONST(INTEL_IMC_CONFIG_UMASK, umask))

#define INTEL_IMC_FREE_LINES(_name, _umask) {				\
	.name = _name, .config = { INTEL_IMC_FREE_CONFIG(_umask) },	\
	.scale = "6.103515625e-5", .unit = "MiB",			\
}

/* In the order of intel_imc_free_registers */
static const struct pmu_named_event intel_imc_free_events[] = {
	{ .name = "dclk", .config = { INTEL_IMC_FREE_CONFIG(0x10) } },
	INTEL_IMC_FREE_LINES("read", 0x20),
	INTEL_IMC_FREE_LINES("write", 0x21),
	INTEL_IMC_FREE_LINES("ddrt_read", 0x30),
	INTEL_IMC_FREE_LINES("ddrt_write", 0x31),
};

static const u8 intel_imc_free_registers[] = { 0x20, 0x00, 0x08, 0x10, 0x18 };

/* Two channels, of which none moves more than a line in a clock of at most 1.6 GHz */
#define INTEL_IMC_FREE_MAX_RATE	3200000000ULL

/* A counter of a controller: where it is, or -EINVAL for a config that is none. */
static int intel_imc_free_register(u64 config)
{
	for (int i = 0; i < ARRAY_SIZE(intel_imc_free_events); i++)
		if (intel_imc_free_events[i].config[PMU_CONFIG] == config)
			return intel_imc_free_registers[i];
	return -EINVAL;
}

static int intel_imc_free_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	int reg = intel_imc_free_register(ev->event->attr.config);

	ev->max_rate = INTEL_IMC_FREE_MAX_RATE;
	ev->bounded = true;
	return min(reg, 0);
}

/* One look at memory, in an NMI as well. Sources disagree about the bits above the width. */
static int intel_imc_free_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	struct intel_imc_free *free = pmu_box_priv(box);
	u64 whole = readq(free->regs + intel_imc_free_register(ev->event->attr.config));

	*value = whole & GENMASK_ULL(INTEL_IMC_FREE_WIDTH - 1, 0);
	return whole == U64_MAX ? -ENODEV : 0;
}

static const struct pmu_box_ops intel_imc_free_ops = {
	.event_init = intel_imc_free_event_init,
	.read = intel_imc_free_read,
};

static struct pmu_desc intel_imc_free_desc = {
	.owner = THIS_MODULE,
	.ops = &intel_imc_free_ops,
	.width = INTEL_IMC_FREE_WIDTH,
	.formats = intel_imc_free_formats,
	.nr_formats = ARRAY_SIZE(intel_imc_free_formats),
	.events = intel_imc_free_events,
	.nr_events = ARRAY_SIZE(intel_imc_free_events),
};

/**
 * intel_imc_free_init() - before any function is bound.
 *
 * Context: module init.
 */
void intel_imc_free_init(void)
{
	intel_imc_free_desc.scope = intel_imc_sockets_are_dies() ? PMU_SCOPE_DIE :
								   PMU_SCOPE_PACKAGE;
}

/**
 * intel_imc_free_setup() - the PMU of a controller's free-running counters.
 * @pdev: the function that leads to the controller
 * @controller: of the socket
 * @socket: as intel_imc_socket_of() returned it
 *
 * Without them the channels are served all the same. Those have told of a wrong address.
 *
 * Context: may sleep.
 */
void intel_imc_free_setup(struct pci_dev *pdev, unsigned int controller, int socket)
{
	u32 base, mem;
	phys_addr_t address = intel_imc_mmio_find(pdev, controller, &base, &mem);
	struct intel_imc_free *free;
	char name[32];

	if (!address)
		return;
	free = devm_kzalloc(&pdev->dev, sizeof(*free), GFP_KERNEL);
	if (!free)
		return;
	address += INTEL_IMC_FREE;
	snprintf(name, sizeof(name), "uncore_imc_free_running_%u", controller);
	if (!devm_request_mem_region(&pdev->dev, address, INTEL_IMC_FREE_SIZE, "intel_imc_pmu")) {
		pci_err(pdev, "%s: its registers should be at %pa, where there is something else\n",
			name, &address);
		return;
	}
	free->regs = devm_ioremap(&pdev->dev, address, INTEL_IMC_FREE_SIZE);
	if (!free->regs || readq(free->regs) == U64_MAX)
		return;
	if (devm_pmu_box_register(&pdev->dev, &intel_imc_free_desc, name, socket, free))
		pci_err(pdev, "%s lacks this socket\n", name);
}
