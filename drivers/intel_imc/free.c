// SPDX-License-Identifier: GPL-2.0-only
/*
 * Free-running counters of a memory controller: lines read and written, and the clock. They always
 * count, any number of events may read them, and no register is written. The PMU
 * uncore_imc_free_running_N has controller N of all sockets, as in the in-tree driver.
 */
#include <linux/bitfield.h>
#include <linux/io.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/iopoll.h>
#include <linux/ioport.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/smp.h>

#include "intel_imc.h"

#define INTEL_IMC_FREE_WIDTH	48

/* The event code of all these counters; the umask selects one. */
#define INTEL_IMC_FREE_EVENT	0xff

/* How long a clock may stand, and the pause between looks at it */
#define INTEL_IMC_FREE_CHECK_US	(200 * USEC_PER_MSEC)
#define INTEL_IMC_FREE_LOOK_US	(10 * USEC_PER_MSEC)

/* A generation's free-running counters. Registers are in the order of the events: dclk first. */
struct intel_imc_free_kind {
	struct pmu_desc desc;
	const u8 *registers;
	u16 offset, size;		/* offset in a controller's registers */
};

/* The counters of one controller */
struct intel_imc_free {
	void __iomem *regs;
	void __iomem *dclk;
	u64 clocks;			/* as of the last look at dclk */
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

static const struct pmu_named_event intel_imc_icx_free_events[] = {
	{ .name = "dclk", .config = { INTEL_IMC_FREE_CONFIG(0x10) } },
	INTEL_IMC_FREE_LINES("read", 0x20),
	INTEL_IMC_FREE_LINES("write", 0x21),
	INTEL_IMC_FREE_LINES("ddrt_read", 0x30),
	INTEL_IMC_FREE_LINES("ddrt_write", 0x31),
};

static const u8 intel_imc_icx_free_registers[] = { 0x20, 0x00, 0x08, 0x10, 0x18 };

/* Sapphire and Emerald Rapids have the clock, and cycles of the queues. */
static const struct pmu_named_event intel_imc_spr_free_events[] = {
	{ .name = "dclk", .config = { INTEL_IMC_FREE_CONFIG(0x10) } },
	{ .name = "rpq_cycles", .config = { INTEL_IMC_FREE_CONFIG(0x20) } },
	{ .name = "wpq_cycles", .config = { INTEL_IMC_FREE_CONFIG(0x21) } },
};

static const u8 intel_imc_spr_free_registers[] = { 0x00, 0x68, 0x70 };

/*
 * A controller has two channels, or three with slower memory. Each moves at most one line per
 * clock, and counts no more than that.
 */
#define INTEL_IMC_FREE_MAX_RATE	(2 * INTEL_IMC_DDR5_CLOCK_HZ)

/* Returns the register of the counter that a config asks for, or -EINVAL if there is none. */
static int intel_imc_free_register(const struct intel_imc_free_kind *kind, u64 config)
{
	for (int i = 0; i < kind->desc.nr_events; i++)
		if (kind->desc.events[i].config[PMU_CONFIG] == config)
			return kind->registers[i];
	return -EINVAL;
}

/*
 * The counters may restart at 0 at any time, for example after a sleep. Then the difference is
 * larger than the bound, and is not counted.
 */
static int intel_imc_free_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	const struct intel_imc_free_kind *kind =
		container_of(desc, struct intel_imc_free_kind, desc);
	int reg = intel_imc_free_register(kind, ev->event->attr.config);

	ev->poll_rate = INTEL_IMC_FREE_MAX_RATE;
	ev->bound = INTEL_IMC_FREE_MAX_RATE;
	ev->priv = (void *)(uintptr_t)max(reg, 0);
	return min(reg, 0);
}

/* One load, also in an NMI. Sources disagree about the bits above the width. */
static int intel_imc_free_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	struct intel_imc_free *free = pmu_box_priv(box);
	u64 whole = readq(free->regs + (uintptr_t)ev->priv);

	*value = whole & GENMASK_ULL(INTEL_IMC_FREE_WIDTH - 1, 0);
	return whole == U64_MAX ? -ENODEV : 0;
}

static const struct pmu_box_ops intel_imc_free_ops = {
	.event_init = intel_imc_free_event_init,
	.read = intel_imc_free_read,
};

#define INTEL_IMC_FREE_DESC(_events) {					\
	.owner = THIS_MODULE,						\
	.ops = &intel_imc_free_ops,					\
	.width = INTEL_IMC_FREE_WIDTH,					\
	.formats = intel_imc_free_formats,				\
	.nr_formats = ARRAY_SIZE(intel_imc_free_formats),		\
	.events = _events,						\
	.nr_events = ARRAY_SIZE(_events),				\
}

struct intel_imc_free_kind intel_imc_icx_free = {
	.desc = INTEL_IMC_FREE_DESC(intel_imc_icx_free_events),
	.registers = intel_imc_icx_free_registers,
	.offset = 0x2290, .size = 0x28,
};

struct intel_imc_free_kind intel_imc_spr_free = {
	.desc = INTEL_IMC_FREE_DESC(intel_imc_spr_free_events),
	.registers = intel_imc_spr_free_registers,
	.offset = 0x22b0, .size = 0x78,
};

/**
 * intel_imc_free_init() - set the scope of the PMUs; call this before any function is bound.
 *
 * Context: module init.
 */
void intel_imc_free_init(void)
{
	enum pmu_scope scope = intel_imc_sockets_are_dies() ? PMU_SCOPE_DIE : PMU_SCOPE_PACKAGE;

	intel_imc_icx_free.desc.scope = scope;
	intel_imc_spr_free.desc.scope = scope;
}

static void intel_imc_free_look(void *data)
{
	struct intel_imc_free *free = data;

	free->clocks = readq(free->dclk);
}

/* Look on a CPU of the socket, so that the socket does not sleep; if none is online, on any. */
static u64 intel_imc_free_clocks(struct intel_imc_free *free, int socket)
{
	int cpu = intel_imc_socket_cpu(socket);

	if (cpu < 0 || smp_call_function_single(cpu, intel_imc_free_look, free, true))
		intel_imc_free_look(free);
	return free->clocks;
}

/*
 * Map a controller's counters. Returns false, with a message, if there are none, or if their clock
 * stands still, unless that may be since the socket has no CPU.
 */
static bool intel_imc_free_map(struct intel_imc_free *free, struct pci_dev *pdev,
			       const struct intel_imc_free_kind *kind, unsigned int controller,
			       int socket)
{
	u32 base, mem;
	phys_addr_t address = intel_imc_mmio_find(pdev, controller, &base, &mem);
	u64 first, clocks;

	if (!address) {
		pci_err(pdev, "uncore_imc_free_running_%u: registers %02x and %02x hold %08x and %08x, which is no address: it lacks this socket\n",
			controller, INTEL_IMC_MMIO_BASE, INTEL_IMC_MMIO_MEM(controller), base, mem);
		return false;
	}
	address += kind->offset;
	if (!devm_request_mem_region(&pdev->dev, address, kind->size, "intel_imc_pmu")) {
		pci_err(pdev, "uncore_imc_free_running_%u: its registers should be at %pa, where there is something else: it lacks this socket\n",
			controller, &address);
		return false;
	}
	free->regs = devm_ioremap(&pdev->dev, address, kind->size);
	if (!free->regs)
		return false;
	free->dclk = free->regs + kind->registers[0];
	first = intel_imc_free_clocks(free, socket);
	if (first == U64_MAX) {
		pci_err(pdev, "uncore_imc_free_running_%u: nothing answers at %pa: it lacks this socket\n",
			controller, &address);
		return false;
	}
	if (read_poll_timeout(intel_imc_free_clocks, clocks, clocks != first,
			      INTEL_IMC_FREE_LOOK_US, INTEL_IMC_FREE_CHECK_US, false, free,
			      socket) && intel_imc_socket_cpu(socket) >= 0) {
		pci_err(pdev, "uncore_imc_free_running_%u: its clock stands still at %pa (no memory there?): it lacks this socket until this module is loaded again\n",
			controller, &address);
		return false;
	}
	return true;
}

/**
 * intel_imc_free_setup() - the PMU of a controller's free-running counters.
 * @pdev: the function that leads to the controller
 * @kind: which counters there are
 * @controller: of the socket
 * @socket: as intel_imc_socket_of() returned it
 *
 * If this fails, the channels still get their PMUs.
 *
 * Context: may sleep, for 200 ms if the clock stands still.
 */
void intel_imc_free_setup(struct pci_dev *pdev, struct intel_imc_free_kind *kind,
			  unsigned int controller, int socket)
{
	struct intel_imc_free *free = devm_kzalloc(&pdev->dev, sizeof(*free), GFP_KERNEL);
	char name[32];

	if (!free)
		return;
	if (!intel_imc_free_map(free, pdev, kind, controller, socket))
		return;
	snprintf(name, sizeof(name), "uncore_imc_free_running_%u", controller);
	if (devm_pmu_box_register(&pdev->dev, &kind->desc, name, socket, free))
		pci_err(pdev, "%s lacks this socket\n", name);
}
