// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that the hardware writes: pages of cores and threads, buffers of records. All of it is
 * freed together, after the engines have been stopped (engine.c). If an engine could not be
 * stopped, none of it is freed.
 */
#include <linux/export.h>
#include <linux/kmemleak.h>
#include <linux/slab.h>
#include <linux/topology.h>

#include "power_imc.h"

struct power_imc_memory {
	struct list_head node;		/* imc.memory */
	void *address;
};

/*
 * Allocate zeroed memory in the linear map that the hardware may write while the device is bound: a
 * power of two of bytes, aligned to that, on the node of @cpu if that has memory. May sleep.
 */
void *power_imc_memory_alloc(struct power_imc *imc, size_t size, int cpu)
{
	struct power_imc_memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL);
	bool far;

	if (!memory)
		return NULL;
	/* The driver can do without this memory, so no task should be killed for it. */
	memory->address = kmalloc_node(size, GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN |
				       __GFP_RETRY_MAYFAIL, cpu_to_node(cpu));
	/* No source says that the hardware has more bits of an address. */
	far = memory->address && __pa(memory->address) & ~POWER_IMC_BAR_ADDRESS;
	if (far)
		dev_err(imc->dev, "memory at %#lx is not used: the hardware may not reach it\n",
			__pa(memory->address));
	if (far || !memory->address) {
		kfree(memory->address);
		kfree(memory);
		return NULL;
	}
	list_add(&memory->node, &imc->memory);
	return memory->address;
}

static void power_imc_memory_free(void *data)
{
	struct power_imc *imc = data;
	struct power_imc_memory *memory, *next;

	list_for_each_entry_safe(memory, next, &imc->memory, node) {
		if (imc->written)
			kmemleak_ignore(memory->address);
		else
			kfree(memory->address);
		kfree(memory);
	}
}

/*
 * Make ready for power_imc_memory_alloc(). The memory is freed when the device is removed: what has
 * to end before that, such as the engines, has to be a later action of the device.
 */
int power_imc_memory_init(struct power_imc *imc)
{
	INIT_LIST_HEAD(&imc->memory);
	return devm_add_action_or_reset(imc->dev, power_imc_memory_free, imc);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_memory_init);
