// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel Xeon integrated memory controller PMU: the PCI driver.
 *
 * Each DRAM channel has a performance monitor: in the configuration space of its PCI function, or
 * from Ice Lake on in memory, where one function of the socket tells the address. Channel N of all
 * sockets is one PMU, uncore_imc_N, with a box per socket.
 */
#include <linux/delay.h>
#include <linux/minmax.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/platform_device.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <asm/processor.h>

#include <pmu/version.h>

#include "intel_imc.h"

static bool selftest = true;
module_param(selftest, bool, 0444);
MODULE_PARM_DESC(selftest, "ask each channel what no manual says before anybody counts (default: on)");

enum intel_imc_part_id {
	INTEL_IMC_SNBEP, INTEL_IMC_IVBEP, INTEL_IMC_HSWEP,
	INTEL_IMC_BDXEP, INTEL_IMC_SKX, INTEL_IMC_CLX, INTEL_IMC_ICX,
	INTEL_IMC_ICX_D, INTEL_IMC_SNR,
	INTEL_IMC_SPR, INTEL_IMC_EMR, INTEL_IMC_GNR, INTEL_IMC_GNR_D, INTEL_IMC_SRF,
	INTEL_IMC_GRR, INTEL_IMC_CWF, INTEL_IMC_TABLE,
};

/* The ids are the same in both controllers. */
static const struct intel_imc_slot intel_imc_skx_slots[] = {
	{ PCI_DEVFN(10, 2), 0 }, { PCI_DEVFN(10, 6), 1 }, { PCI_DEVFN(11, 2), 2 },
	{ PCI_DEVFN(12, 2), 3 }, { PCI_DEVFN(12, 6), 4 }, { PCI_DEVFN(13, 2), 5 },
	{ }
};

/* What rows have in common: registers, and how the UBOX is found and asked */
#define INTEL_IMC_V1							\
	.layout = &intel_imc_config_layout, .ubox_nodeid = 0x40, .ubox_map = 0x54
#define INTEL_IMC_V2							\
	.box_ones = INTEL_IMC_BOX_CTL_V2_ONES,				\
	.layout = &intel_imc_config_layout, .ubox_nodeid = 0x40, .ubox_map = 0x54
#define INTEL_IMC_SP							\
	.box_ones = INTEL_IMC_BOX_CTL_V2_ONES, .slots = intel_imc_skx_slots, .ubox_below = true, \
	.layout = &intel_imc_config_layout, .ubox_nodeid = 0xc0, .ubox_map = 0xd4
#define INTEL_IMC_MMIO(_registers)					\
	.layout = &intel_imc_##_registers##_layout, .ubox_nodeid = 0xc0, .ubox_map = 0xd4

static const struct intel_imc_part intel_imc_parts[] = {
	[INTEL_IMC_SNBEP] = {
		.name = "Sandy Bridge-EP", .models = { 0x2d }, .kind = &intel_imc_snbep_kind,
		.ubox = 0x3ce0, INTEL_IMC_V1,
	},
	[INTEL_IMC_IVBEP] = {
		.name = "Ivy Bridge-EP", .models = { 0x3e }, .kind = &intel_imc_ivbep_kind,
		.ubox = 0x0e1e, INTEL_IMC_V2,
	},
	[INTEL_IMC_HSWEP] = {
		.name = "Haswell-EP", .models = { 0x3f }, .kind = &intel_imc_hswep_kind,
		.ubox = 0x2f1e, INTEL_IMC_V2,
	},
	[INTEL_IMC_BDXEP] = {
		.name = "Broadwell-EP", .models = { 0x4f, 0x56 }, .kind = &intel_imc_hswep_kind,
		.ubox = 0x6f1e, INTEL_IMC_V2,
	},
	[INTEL_IMC_SKX] = {
		.name = "Skylake-SP", .models = { 0x55 }, .kind = &intel_imc_skx_kind,
		.ubox = 0x2014, INTEL_IMC_SP,
	},
	[INTEL_IMC_CLX] = {
		.name = "Cascade Lake-SP", .models = { 0x55 }, .kind = &intel_imc_clx_kind,
		.ubox = 0x2014, INTEL_IMC_SP,
	},
	[INTEL_IMC_ICX] = {
		.name = "Ice Lake-SP", .models = { 0x6a }, .kind = &intel_imc_icx_kind,
		.blocks = &intel_imc_icx_blocks, .free = &intel_imc_icx_free,
		.ubox = 0x3450, INTEL_IMC_MMIO(icx),
	},
	[INTEL_IMC_ICX_D] = {
		.name = "Ice Lake-D", .models = { 0x6c }, .kind = &intel_imc_icx_kind,
		.blocks = &intel_imc_icx_d_blocks, .free = &intel_imc_icx_free,
		.ubox = 0x3450, INTEL_IMC_MMIO(icx),
	},
	[INTEL_IMC_SNR] = {
		.name = "Snow Ridge", .models = { 0x86 }, .kind = &intel_imc_snr_kind,
		.blocks = &intel_imc_snr_blocks, .ubox_above = true,
		.ubox = 0x3460, INTEL_IMC_MMIO(icx),
	},
	[INTEL_IMC_SPR] = {
		.name = "Sapphire Rapids", .models = { 0x8f }, .kind = &intel_imc_spr_kind,
		.blocks = &intel_imc_spr_blocks, .free = &intel_imc_spr_free,
		.ubox = 0x3250, INTEL_IMC_MMIO(spr),
	},
	[INTEL_IMC_EMR] = {
		.name = "Emerald Rapids", .models = { 0xcf }, .kind = &intel_imc_spr_kind,
		.blocks = &intel_imc_spr_blocks, .free = &intel_imc_spr_free,
		.ubox = 0x3250, INTEL_IMC_MMIO(spr),
	},
	[INTEL_IMC_GNR] = {
		.name = "Granite Rapids", .models = { 0xad }, .kind = &intel_imc_gnr_kind,
		.blocks = &intel_imc_gnr_blocks, .ubox = 0x3250, INTEL_IMC_MMIO(spr),
	},
	[INTEL_IMC_GNR_D] = {
		.name = "Granite Rapids-D", .models = { 0xae }, .kind = &intel_imc_gnr_like_kind,
		.blocks = &intel_imc_table_blocks, .ubox = 0x3250, INTEL_IMC_MMIO(spr),
	},
	[INTEL_IMC_SRF] = {
		.name = "Sierra Forest", .models = { 0xaf }, .kind = &intel_imc_gnr_like_kind,
		.blocks = &intel_imc_table_blocks, .ubox = 0x3250, INTEL_IMC_MMIO(spr),
	},
	[INTEL_IMC_GRR] = {
		.name = "Grand Ridge", .models = { 0xb6 }, .kind = &intel_imc_gnr_like_kind,
		.blocks = &intel_imc_table_blocks, .ubox = 0x3250, INTEL_IMC_MMIO(spr),
	},
	[INTEL_IMC_CWF] = {
		.name = "Clearwater Forest", .models = { 0xdd }, .kind = &intel_imc_gnr_like_kind,
		.blocks = &intel_imc_table_blocks, .ubox = 0x3250, INTEL_IMC_MMIO(spr),
	},
	/* Any other model */
	[INTEL_IMC_TABLE] = {
		.name = "unlisted Xeon", .models = { 0 }, .kind = &intel_imc_table_kind,
		.blocks = &intel_imc_table_blocks, .ubox = 0x3250, INTEL_IMC_MMIO(spr),
	},
};

#define INTEL_IMC_DATA(part, channel)	((part) << 8 | (channel))
#define INTEL_IMC_DATA_PART(data)	((data) >> 8)
#define INTEL_IMC_DATA_CHANNEL(data)	((data) & 0xff)

#define INTEL_IMC_ID(device, part, channel) \
	{ PCI_VDEVICE(INTEL, device), .driver_data = INTEL_IMC_DATA(part, channel) }

/*
 * No module of this suite has aliases for its devices. The kernel's own drivers are loaded for the
 * same machines, and which of the two is first at boot would be left to chance. The administrator
 * chooses the driver: see Documentation/install.md.
 */
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
	/* The PCI slot and function say the channel, the processor's stepping the generation. */
	INTEL_IMC_ID(0x2042, INTEL_IMC_SKX, 0), INTEL_IMC_ID(0x2046, INTEL_IMC_SKX, 0),
	INTEL_IMC_ID(0x204a, INTEL_IMC_SKX, 0),
	/*
	 * These functions lead to channels. Processors of other kinds have functions with the same
	 * ids, so the CPU's model decides.
	 */
	INTEL_IMC_ID(0x3451, INTEL_IMC_ICX, 0), INTEL_IMC_ID(0x3251, INTEL_IMC_SPR, 0),
	{ }
};

/* Skylake and Cascade Lake (stepping 5 on) are one CPU model and share their PCI ids. */
#define INTEL_IMC_CLX_FIRST_STEPPING	5

/*
 * A channel without a clock is tried again after 1, 2, 4 and so on seconds, finally every hour.
 * While no CPU of its socket is online to keep the socket awake, it is tried every minute. While
 * another driver has a PMU of its name, this is looked at every minute.
 */
#define INTEL_IMC_MAX_RETRY_S		3600U
#define INTEL_IMC_MAX_RETRY_SOON_S	60U

/* How often a channel is tried that does not work, and pauses longer than a program's reads */
#define INTEL_IMC_TRIES			4
#define INTEL_IMC_TRY_PAUSE_MS		50

/*
 * The generation of a function with this id, or NULL if the driver does not serve it. Where a table
 * says which channels there are, the list of models only names them.
 */
static const struct intel_imc_part *intel_imc_part_of(const struct pci_device_id *id)
{
	const struct intel_imc_part *first = &intel_imc_parts[INTEL_IMC_DATA_PART(id->driver_data)];

	if (first == &intel_imc_parts[INTEL_IMC_SKX] &&
	    boot_cpu_data.x86_stepping >= INTEL_IMC_CLX_FIRST_STEPPING)
		return &intel_imc_parts[INTEL_IMC_CLX];
	if (!first->blocks)
		return first;
	for (int i = 0; i < ARRAY_SIZE(intel_imc_parts); i++) {
		const struct intel_imc_blocks *blocks = intel_imc_parts[i].blocks;

		if (blocks && blocks->table == first->blocks->table && boot_cpu_data.x86 == 6 &&
		    boot_cpu_data.x86_model == intel_imc_parts[i].models[0])
			return &intel_imc_parts[i];
	}
	return first->blocks->table ? &intel_imc_parts[INTEL_IMC_TABLE] : NULL;
}

/* The least number of channels that a function of a generation is, or leads to on every machine. */
static unsigned int intel_imc_channels_of(const struct intel_imc_part *part)
{
	return part->blocks ? max(part->blocks->controllers * part->blocks->certain, 1) : 1;
}

/* One more than the highest number of a channel in memory, if no table tells it */
static unsigned int intel_imc_numbers_of(const struct intel_imc_blocks *blocks)
{
	return blocks->controllers * blocks->channels;
}

/*
 * The number of a function's first channel, or -ENODEV for a function that has a channel's id but
 * is not a channel.
 */
static int intel_imc_channel_number(struct pci_dev *pdev, const struct intel_imc_part *part,
				    const struct pci_device_id *id)
{
	const struct intel_imc_slot *slot;

	if (part->blocks)
		return 0;
	if (!part->slots)
		return INTEL_IMC_DATA_CHANNEL(id->driver_data);
	for (slot = part->slots; slot->devfn; slot++)
		if (slot->devfn == pdev->devfn)
			return slot->channel;
	return -ENODEV;
}

/* What messages call the number from the UBOX. */
static const char *intel_imc_socket_word(void)
{
	return intel_imc_sockets_are_dies() ? "die" : "socket";
}

struct intel_imc_trial {
	struct intel_imc_channel *ch;
	intel_imc_step_t step;
	int err;
};

static void intel_imc_try_step(void *data)
{
	struct intel_imc_trial *trial = data;

	trial->err = trial->step(trial->ch);
}

/*
 * A step of the check, on a CPU of the channel's socket, so that the socket does not sleep; if none
 * is online, any CPU will do. It runs in an interrupt, since a task of real-time priority may keep
 * a work item waiting for ever.
 */
static int intel_imc_try_on_socket(struct intel_imc_channel *ch, intel_imc_step_t step)
{
	struct intel_imc_trial trial = { .ch = ch, .step = step };
	int cpu = intel_imc_socket_cpu(ch->socket);

	cond_resched();
	if (cpu < 0 || smp_call_function_single(cpu, intel_imc_try_step, &trial, true))
		intel_imc_try_step(&trial);
	return trial.err;
}

/* What is in memory belongs to another driver that has a PMU of its name. */
static bool intel_imc_is_taken(const struct intel_imc_channel *ch)
{
	return ch->part->blocks && intel_imc_mmio_is_taken(ch->number);
}

/*
 * Take over the channel and see whether it counts, and how. Another program that writes its
 * registers meanwhile makes it look broken.
 */
static int intel_imc_try(struct intel_imc_channel *ch)
{
	int err;

	for (unsigned int tries = 1; ; tries++) {
		err = selftest ? intel_imc_channel_selftest(ch, intel_imc_try_on_socket) :
				 intel_imc_channel_check(ch, intel_imc_try_on_socket);
		if (err != -EBUSY || tries == INTEL_IMC_TRIES)
			return err;
		msleep(INTEL_IMC_TRY_PAUSE_MS);
		if (intel_imc_is_taken(ch))
			return err;
	}
}

static int intel_imc_register(struct intel_imc_channel *ch)
{
	char name[32];
	int err;

	snprintf(name, sizeof(name), "uncore_imc_%d", ch->number);
	err = devm_pmu_box_register(ch->dev, &ch->part->kind->desc, name, ch->socket, ch);
	if (err) {
		dev_err(ch->dev, "%s lacks %s %d\n", name, intel_imc_socket_word(), ch->socket);
		return err;
	}
	dev_info(ch->dev, "%s channel counters of %s %d: %s, by %s\n", ch->part->name,
		 intel_imc_socket_word(), ch->socket, name, intel_imc_io_name(ch));
	intel_imc_selftest_say(ch);
	return 0;
}

static void intel_imc_retry_later(struct intel_imc_channel *ch, bool taken)
{
	bool soon = taken || intel_imc_socket_cpu(ch->socket) < 0;

	ch->retry_s = min(ch->retry_s, soon ? INTEL_IMC_MAX_RETRY_SOON_S : INTEL_IMC_MAX_RETRY_S);
	/* Do not touch registers while the machine goes to sleep. */
	queue_delayed_work(system_freezable_wq, &ch->retry, ch->retry_s * HZ);
	ch->retry_s *= 2;
}

#define INTEL_IMC_BUSY_HINT \
	"; if another program such as PCM used them, end it and load this module again"

/* Say why a channel has no PMU, nor will get one. */
static int intel_imc_refuse(struct intel_imc_channel *ch, int err)
{
	if (ch->fault)
		dev_err(ch->dev, "uncore_imc_%d: self-test: %s\n", ch->number, ch->fault);
	return dev_err_probe(ch->dev, err,
		"uncore_imc_%d: the counters do not work: no PMU for this channel%s\n", ch->number,
		err == -EBUSY ? INTEL_IMC_BUSY_HINT : "");
}

static void intel_imc_retry(struct work_struct *work)
{
	struct intel_imc_channel *ch =
		container_of(to_delayed_work(work), struct intel_imc_channel, retry);
	bool taken = intel_imc_is_taken(ch);
	int err = taken ? -EAGAIN : intel_imc_try(ch);

	if (err == -EBUSY) {
		intel_imc_refuse(ch, err);
		return;
	}
	/* Try again later: the function may answer then. */
	if (err || intel_imc_register(ch) == -ENOMEM)
		intel_imc_retry_later(ch, taken);
}

static void intel_imc_quiesce(void *data)
{
	struct intel_imc_channel *ch = data;

	/* Another driver may have taken it while it had no PMU here. */
	if (!intel_imc_is_taken(ch))
		intel_imc_channel_quiesce(ch);
	irq_work_sync(&ch->complaint);
}

/* Take over the channel; it gets its PMU at once, or when it has a clock. */
static int intel_imc_add_channel(struct intel_imc_channel *ch)
{
	int err = devm_add_action(ch->dev, intel_imc_quiesce, ch);

	if (err)
		return err;
	err = intel_imc_try(ch);
	if (!err)
		return intel_imc_register(ch);
	if (err != -EIO)
		return intel_imc_refuse(ch, err);
	dev_warn(ch->dev, "%s: a channel without memory? uncore_imc_%d lacks %s %d until that changes, which is looked for now and then\n",
		 ch->fault ?: "the fixed counter does not advance", ch->number,
		 intel_imc_socket_word(), ch->socket);
	intel_imc_retry_later(ch, false);
	return 0;
}

static void intel_imc_init_channel(struct intel_imc_channel *ch, struct device *dev,
				   struct pci_dev *pdev, const struct intel_imc_part *part,
				   const struct intel_imc_unit *unit, int socket)
{
	ch->dev = dev;
	ch->pdev = pdev;
	ch->part = part;
	ch->layout = part->layout;
	ch->number = unit->number;
	ch->block = unit->block;
	ch->socket = socket;
	ch->box_ones = part->box_ones;
	intel_imc_channel_init(ch);
	INIT_DELAYED_WORK(&ch->retry, intel_imc_retry);
	ch->retry_s = 1;
}

static int intel_imc_setup_channel(struct intel_imc_channel *ch)
{
	return ch->part->blocks ? intel_imc_mmio_setup(ch, intel_imc_try_on_socket) :
				  intel_imc_io_setup(ch);
}

/*
 * The channels of a function, or those it leads to. If these are in memory, the in-tree driver may
 * have them.
 */
static int intel_imc_find_channels(struct device *dev, const struct intel_imc_part *part,
				   int number, int socket, struct intel_imc_units *units)
{
	int err = 0;

	if (part->blocks && part->blocks->table) {
		intel_imc_discover(part, socket, units);
		if (!units->nr)
			return dev_err_probe(dev, -ENODEV,
				"no table of counters lists a memory channel of %s %d\n",
				intel_imc_socket_word(), socket);
	} else if (part->blocks) {
		for (; units->nr < intel_imc_numbers_of(part->blocks); units->nr++)
			units->unit[units->nr].number = units->nr;
	} else {
		units->unit[units->nr++].number = number;
	}
	for (unsigned int i = 0; part->blocks && i < units->nr && !err; i++)
		if (intel_imc_mmio_is_certain(part->blocks, units->unit[i].number) ||
		    !part->blocks->certain)
			err = intel_imc_mmio_check_owner(dev, units->unit[i].number);
	return err;
}

/* Has a controller a channel, on a generation whose controllers are not all there? */
static bool intel_imc_has_controller(const struct intel_imc_function *fn, unsigned int controller)
{
	for (unsigned int i = 0; i < fn->nr; i++)
		if (fn->channels[i].regs &&
		    fn->channels[i].number / fn->channels[i].part->blocks->channels == controller)
			return true;
	return false;
}

/*
 * Bring up the channels that come and go with @dev: @pdev, or if that is NULL what stands for
 * tables. A channel that does not work does not affect the others.
 */
static int intel_imc_bring_up(struct device *dev, struct pci_dev *pdev,
			      const struct intel_imc_part *part, int number, int socket)
{
	struct intel_imc_units *units = devm_kzalloc(dev, sizeof(*units), GFP_KERNEL);
	struct intel_imc_function *fn;
	unsigned int nr, added = 0;
	int err, first = 0;

	if (!units)
		return -ENOMEM;
	err = intel_imc_find_channels(dev, part, number, socket, units);
	if (err)
		return err;

	nr = units->nr;
	fn = devm_kzalloc(dev, struct_size(fn, channels, nr), GFP_KERNEL);
	if (!fn)
		return -ENOMEM;
	fn->nr = nr;
	dev_set_drvdata(dev, fn);
	for (unsigned int i = 0; i < nr; i++)
		intel_imc_init_channel(&fn->channels[i], dev, pdev, part, &units->unit[i], socket);
	devm_kfree(dev, units);
	for (unsigned int i = 0; i < nr; i++) {
		err = intel_imc_setup_channel(&fn->channels[i]) ?:
		      intel_imc_add_channel(&fn->channels[i]);
		added += !err;
		first = first ?: err;
	}
	if (!added && part->blocks && !part->blocks->certain)
		dev_err(dev, "no memory channel of %s %d answers\n", intel_imc_socket_word(),
			socket);
	if (!added)
		return first;
	/* A table has no free-running counters. */
	for (unsigned int i = 0; part->free && pdev && i < part->blocks->controllers; i++)
		if (part->blocks->certain || intel_imc_has_controller(fn, i))
			intel_imc_free_setup(pdev, part->free, i, socket);
	return 0;
}

static int intel_imc_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	const struct intel_imc_part *part = intel_imc_part_of(id);
	int number, socket;

	if (!part)
		return -ENODEV;
	number = intel_imc_channel_number(pdev, part, id);
	if (number < 0)
		return number;
	socket = intel_imc_socket_of(pdev, part);
	if (socket < 0)
		return socket;
	part->kind->sockets = intel_imc_sockets(part);
	return intel_imc_bring_up(&pdev->dev, pdev, part, number, socket);
}

static void intel_imc_cancel(struct device *dev)
{
	struct intel_imc_function *fn = dev_get_drvdata(dev);

	for (unsigned int i = 0; i < fn->nr; i++)
		cancel_delayed_work_sync(&fn->channels[i].retry);
}

static void intel_imc_remove(struct pci_dev *pdev)
{
	intel_imc_cancel(&pdev->dev);
}

static int intel_imc_resume(struct device *dev)
{
	struct intel_imc_function *fn = dev_get_drvdata(dev);

	for (unsigned int i = 0; i < fn->nr; i++)
		intel_imc_io_resume(&fn->channels[i]);
	return pmu_boxes_resume(dev);
}

static DEFINE_SIMPLE_DEV_PM_OPS(intel_imc_pm_ops, pmu_boxes_suspend, intel_imc_resume);

static struct pci_driver intel_imc_driver = {
	.name = "intel_imc_pmu",
	.id_table = intel_imc_ids,
	.probe = intel_imc_probe,
	.remove = intel_imc_remove,
	.driver.pm = pm_sleep_ptr(&intel_imc_pm_ops),
	/* intel_imc_init() looks at what was bound. */
	.driver.probe_type = PROBE_FORCE_SYNCHRONOUS,
};

/* If both drivers are loaded, each may have some functions: say what this does to a PMU. */
static void intel_imc_say_lacks(struct pci_dev *pdev, const struct pci_device_id *id,
				const char *driver)
{
	const struct intel_imc_part *part = intel_imc_part_of(id);
	int number = intel_imc_channel_number(pdev, part, id);
	int socket = intel_imc_socket_of(pdev, part);
	char lacks[64] = "";

	if (number >= 0 && socket >= 0 && !part->blocks)
		snprintf(lacks, sizeof(lacks), ", so uncore_imc_%d of this driver lacks %s %d",
			 number, intel_imc_socket_word(), socket);
	pci_err(pdev, "%s has this memory channel%s; to use intel_imc_pmu unload %s, or unbind the device from it: echo %s > /sys/bus/pci/drivers/%s/unbind\n",
		driver, lacks, driver, pci_name(pdev), driver);
}

enum intel_imc_user { INTEL_IMC_NOBODY, INTEL_IMC_US, INTEL_IMC_ANOTHER, INTEL_IMC_USERS };

/* Which driver has a function? @name gets the name of another driver, which may go at any time. */
static enum intel_imc_user intel_imc_user(struct pci_dev *pdev, char *name, size_t size)
{
	enum intel_imc_user user = INTEL_IMC_ANOTHER;
	struct pci_driver *driver;

	device_lock(&pdev->dev);
	driver = pci_dev_driver(pdev);
	if (!driver)
		user = INTEL_IMC_NOBODY;
	else if (driver == &intel_imc_driver)
		user = INTEL_IMC_US;
	else
		strscpy(name, driver->name, size);
	device_unlock(&pdev->dev);
	return user;
}

/* The generation of a function of memory channels, or NULL if it is none or is not served. */
static const struct intel_imc_part *intel_imc_part_of_function(struct pci_dev *pdev)
{
	const struct pci_device_id *id = pci_match_id(intel_imc_ids, pdev);

	return id ? intel_imc_part_of(id) : NULL;
}

/*
 * Does another driver have the PMUs of channels in memory? That driver does not bind their
 * function. intel_imc_probe() has then refused the function, with a message.
 */
static bool intel_imc_are_taken(const struct intel_imc_part *part)
{
	unsigned int nr = !part->blocks ? 0 : part->blocks->table ? INTEL_IMC_MAX_NUMBER + 1 :
			  intel_imc_numbers_of(part->blocks);

	for (unsigned int number = 0; number < nr; number++)
		if ((intel_imc_mmio_is_certain(part->blocks, number) || !part->blocks->certain) &&
		    intel_imc_mmio_is_taken(number))
			return true;
	return false;
}

/* Functions that one other driver has, for a line of the log. */
struct intel_imc_list {
	char driver[32];
	char functions[640];
	size_t used;
};

static void intel_imc_list_say(struct intel_imc_list *list)
{
	if (list->used)
		pr_err("intel_imc_pmu: %s has the memory channels; to use intel_imc_pmu unload %s, or unbind them from it: echo NAME > /sys/bus/pci/drivers/%s/unbind for%s\n",
		       list->driver, list->driver, list->driver, list->functions);
	list->used = 0;
}

static void intel_imc_list_add(struct intel_imc_list *list, struct pci_dev *pdev,
			       const char *driver)
{
	if (strcmp(driver, list->driver) ||
	    list->used + strlen(pci_name(pdev)) + 2 > sizeof(list->functions))
		intel_imc_list_say(list);
	strscpy(list->driver, driver, sizeof(list->driver));
	list->used += scnprintf(list->functions + list->used, sizeof(list->functions) - list->used,
				" %s", pci_name(pdev));
}

/*
 * Count the drivers that have the channels in @found, by enum intel_imc_user. Functions without a
 * driver were refused by intel_imc_probe(), with a reason.
 *
 * The log says which functions another driver has. If we have some as well, PMUs are split, and
 * each function gets a line. Otherwise there are few lines, since udev tries to load this module
 * once for each function.
 */
static void intel_imc_survey(unsigned int *found)
{
	struct intel_imc_list list = { };
	const struct intel_imc_part *part;
	struct pci_dev *pdev = NULL;
	enum intel_imc_user user;
	char driver[32];

	for_each_pci_dev(pdev) {
		part = intel_imc_part_of_function(pdev);
		if (!part)
			continue;
		user = intel_imc_user(pdev, driver, sizeof(driver));
		if (user == INTEL_IMC_NOBODY && intel_imc_are_taken(part))
			user = INTEL_IMC_ANOTHER;
		found[user] += intel_imc_channels_of(part);
	}
	for_each_pci_dev(pdev) {
		if (!intel_imc_part_of_function(pdev) ||
		    intel_imc_user(pdev, driver, sizeof(driver)) != INTEL_IMC_ANOTHER)
			continue;
		if (found[INTEL_IMC_US])
			intel_imc_say_lacks(pdev, pci_match_id(intel_imc_ids, pdev), driver);
		else
			intel_imc_list_add(&list, pdev, driver);
	}
	intel_imc_list_say(&list);
}

/*
 * Where no function of a known id leads to the channels, a table of any function of Intel may list
 * them. That function is another driver's, or will be, so each socket gets a device of our own. It
 * is not below the function, which may be removed first. pmu-driver(8) goes by the driver's name.
 */
static const struct pci_device_id intel_imc_table_id = { .driver_data =
	INTEL_IMC_DATA(INTEL_IMC_SPR, 0) };

static struct platform_device *intel_imc_tables[64];	/* by socket */
static bool intel_imc_has_tables;

static int intel_imc_table_probe(struct platform_device *table)
{
	return intel_imc_bring_up(&table->dev, NULL, intel_imc_part_of(&intel_imc_table_id), 0,
				  table->id);
}

static struct platform_driver intel_imc_table_driver = {
	.probe = intel_imc_table_probe,
	.driver = {
		.name = "intel_imc_pmu",
		.pm = pm_sleep_ptr(&intel_imc_pm_ops),
		/* Bound and unbound here alone */
		.probe_type = PROBE_FORCE_SYNCHRONOUS,
		.suppress_bind_attrs = true,
	},
};

static void intel_imc_remove_tables(void)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(intel_imc_tables); i++) {
		if (!intel_imc_tables[i])
			continue;
		if (intel_imc_tables[i]->dev.driver)
			intel_imc_cancel(&intel_imc_tables[i]->dev);
		platform_device_unregister(intel_imc_tables[i]);
		intel_imc_tables[i] = NULL;
	}
	platform_driver_unregister(&intel_imc_table_driver);
}

/* Returns an error if nothing counts; then the driver is not registered. */
static int intel_imc_add_tables(void)
{
	const struct intel_imc_part *part = intel_imc_part_of(&intel_imc_table_id);
	struct platform_device *table;
	struct pci_dev *pdev = NULL;
	bool bound = false;
	int err, socket;

	/* What a card of Intel has in another machine is no such table. */
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return -ENODEV;
	err = platform_driver_register(&intel_imc_table_driver);
	if (err)
		return err;
	part->kind->sockets = 0;
	while ((pdev = intel_imc_next_table(pdev))) {
		socket = intel_imc_table_socket(pdev, part);
		if (socket < 0 || socket >= ARRAY_SIZE(intel_imc_tables)) {
			pci_err(pdev, "table of counters: its socket is unknown: no PMU for the memory channels in it\n");
			continue;
		}
		if (intel_imc_tables[socket])
			continue;
		table = platform_device_register_simple("intel_imc_pmu", socket, NULL, 0);
		if (IS_ERR(table))
			continue;
		intel_imc_tables[socket] = table;
		part->kind->sockets++;
		bound = bound || table->dev.driver;
	}
	intel_imc_has_tables = bound;
	if (bound)
		return 0;
	intel_imc_remove_tables();
	/* Without a table a PMU of such a name is of other channels, as those of a Core. */
	return part->kind->sockets && intel_imc_are_taken(part) ? -EBUSY : -ENODEV;
}

static void intel_imc_unregister(void)
{
	if (intel_imc_has_tables)
		intel_imc_remove_tables();
	pci_unregister_driver(&intel_imc_driver);
	pmu_unregister_all(THIS_MODULE);
	bus_unregister_notifier(pmu_always_there()->bus, &intel_imc_pmus_changed);
}

static int __init intel_imc_init(void)
{
	unsigned int found[INTEL_IMC_USERS] = { };
	int err = intel_imc_io_check_parameter();

	if (err)
		return err;
	for (int i = 0; i < ARRAY_SIZE(intel_imc_parts); i++) {
		intel_imc_parts[i].kind->desc.scope = intel_imc_sockets_are_dies() ?
						      PMU_SCOPE_DIE : PMU_SCOPE_PACKAGE;
		intel_imc_find_occupancies(intel_imc_parts[i].kind);
	}
	intel_imc_free_init();
	err = bus_register_notifier(pmu_always_there()->bus, &intel_imc_pmus_changed);
	if (err)
		return err;
	err = pci_register_driver(&intel_imc_driver);
	if (err) {
		bus_unregister_notifier(pmu_always_there()->bus, &intel_imc_pmus_changed);
		return err;
	}
	intel_imc_survey(found);
	if (found[INTEL_IMC_US] && intel_imc_sockets_are_dies())
		pr_notice("intel_imc_pmu: dies may be numbered otherwise than here, which one source tells: pmu-check --probe sockets\n");
	if (found[INTEL_IMC_US])
		return 0;
	if (!found[INTEL_IMC_ANOTHER] && !found[INTEL_IMC_NOBODY]) {
		err = intel_imc_add_tables();
		if (!err)
			return 0;
	}
	intel_imc_unregister();
	if (found[INTEL_IMC_ANOTHER] || err == -EBUSY)
		return -EBUSY;
	if (found[INTEL_IMC_NOBODY])
		pr_err("intel_imc_pmu: %u memory channels found, none of which counts\n",
		       found[INTEL_IMC_NOBODY]);
	else
		pr_err("intel_imc_pmu: no memory channel of a supported processor on the PCI bus (supported: Xeon from Sandy Bridge-EP to Cascade Lake, Ice Lake, Snow Ridge, and those with a table of counters, from Sapphire Rapids on)\n");
	return -ENODEV;
}
module_init(intel_imc_init);
module_exit(intel_imc_unregister);

MODULE_DESCRIPTION("Intel Xeon integrated memory controller PMU");
MODULE_LICENSE("GPL");
MODULE_VERSION(PMU_SUITE_VERSION);
PMU_IMPORT_NS(PMU_CORE);
