// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the hardware writes: pages of cores and threads, buffers of records. It is
 * freed when nothing can be written there any more, all at once; if an engine cannot be
 * stopped, never.
 */
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/kmemleak.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "power_imc.h"

struct power_imc_memory {
	struct list_head node;		/* imc.memory */
	void *address;
};

/**
 * power_imc_memory_settle() - wait until what the engines had begun to write is written.
 *
 * Context: may sleep.
 */
void power_imc_memory_settle(void)
{
	msleep(POWER_IMC_SETTLE_MS);
}

/**
 * power_imc_memory_alloc() - memory that the hardware may write, while the device is bound.
 * @imc: the device
 * @size: in bytes, a power of two; it is aligned to that
 * @cpu: on whose node, if there is memory
 *
 * Context: may sleep.
 * Return: the memory, zeroed, in the linear map; NULL if there is none.
 */
void *power_imc_memory_alloc(struct power_imc *imc, size_t size, int cpu)
{
	struct power_imc_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL);

	if (!memory)
		return NULL;
	/* There are ways to do without: no reason to kill for it. */
	memory->address = kmalloc_node(size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
				       __GFP_RETRY_MAYFAIL, cpu_to_node(cpu));
	if (!memory->address) {
		kfree(memory);
		return NULL;
	}
	mutex_lock(&imc->memory_lock);
	list_add(&memory->node, &imc->memory);
	mutex_unlock(&imc->memory_lock);
	return memory->address;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_memory_alloc);

static void power_imc_memory_free(struct power_imc *imc, bool written)
{
	struct power_imc_memory *memory, *next;

	list_for_each_entry_safe(memory, next, &imc->memory, node) {
		if (written)
			kmemleak_ignore(memory->address);
		else
			kfree(memory->address);
		kfree(memory);
	}
}

/* The device goes, and nobody uses the engines any more: stop them all, and then free. */
static void power_imc_memory_release(void *data)
{
	struct power_imc *imc = data;
	int err = power_imc_engines_quiesce(imc);

	power_imc_memory_settle();
	if (err || imc->written)
		dev_err(imc->dev, "memory that an engine may still write is kept for good\n");
	/* Under an engine that runs a thread had better trace on, into what is kept. */
	if (!err)
		power_imc_ldbar_clear();
	power_imc_memory_free(imc, err || imc->written);
}

/**
 * power_imc_memory_init() - make ready for power_imc_memory_alloc().
 * @imc: the device, with its firmware found
 *
 * What is to be undone before the memory is freed has to be a later action of the device.
 *
 * Return: 0 or -ENOMEM.
 */
int power_imc_memory_init(struct power_imc *imc)
{
	mutex_init(&imc->memory_lock);
	INIT_LIST_HEAD(&imc->memory);
	return devm_add_action_or_reset(imc->dev, power_imc_memory_release, imc);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_memory_init);
