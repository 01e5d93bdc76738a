// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmn: interrupts of a mesh whose owner changes. The interrupt is the test's own; it is fired on
 * any CPU, and takes as long to serve as it takes to read a register that is slow.
 */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/platform_device.h>
#include <linux/sched.h>
#include <linux/smp.h>

#include "regfile.h"

#define PMOVSR		0x2118
#define SERVING_MS	50

static const struct cmn_bus *fast_bus;
static bool serving;
static int served_by;

static u64 slow_read(const void __iomem *reg, unsigned int bytes)
{
	if (((unsigned long)reg & 0x3fff) == PMOVSR && in_hardirq()) {
		served_by = smp_processor_id();
		WRITE_ONCE(serving, true);
		mdelay(SERVING_MS);
		WRITE_ONCE(serving, false);
	}
	return fast_bus->read(reg, bytes);
}

static void slow_write(void __iomem *reg, unsigned int bytes, u64 value)
{
	fast_bus->write(reg, bytes, value);
}

static const struct cmn_bus slow_bus = { .read = slow_read, .write = slow_write };

static int set_affinity(struct irq_data *data, const struct cpumask *mask, bool force)
{
	return IRQ_SET_MASK_OK;
}

static void nothing(struct irq_data *data)
{
}

static struct irq_chip chip = {
	.name = "cmn_kunit", .irq_mask = nothing, .irq_unmask = nothing,
	.irq_set_affinity = set_affinity,
};

static void fire(void *irq)
{
	generic_handle_irq(*(int *)irq);
}

/* An interrupt for all DTCs of @file, requested and disabled. */
static struct platform_device *with_interrupt(struct kunit *test, struct cmn_regfile *file,
					      int *irq)
{
	struct resource lines[CMN_MAX_DTCS];
	struct platform_device *pdev;

	*irq = irq_alloc_desc(0);
	KUNIT_ASSERT_GT(test, *irq, 0);
	irq_set_chip_and_handler(*irq, &chip, handle_simple_irq);
	irq_clear_status_flags(*irq, IRQ_NOREQUEST);
	for (unsigned int i = 0; i < CMN_MAX_DTCS; i++)
		lines[i] = DEFINE_RES_IRQ(*irq);
	pdev = platform_device_register_simple("cmn_kunit_irq", PLATFORM_DEVID_NONE, lines,
					       file->cmn.nr_dtcs);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pdev);
	file->cmn.dev = &pdev->dev;
	KUNIT_ASSERT_EQ(test, cmn_irq_init(&file->cmn, pdev), 0);
	KUNIT_EXPECT_EQ(test, file->cmn.nr_lines, 1);
	return pdev;
}

/*
 * When the new owner begins, the old one is done: an interrupt that it serves stops the mesh, and
 * lets it run, under whatever the new owner does with it.
 */
static void a_move_waits_for_what_is_served(struct kunit *test)
{
	int from = cpumask_first(cpu_online_mask), to = cpumask_next(from, cpu_online_mask), irq;
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct device *dev = file->cmn.dev;
	struct platform_device *pdev;

	if (to >= nr_cpu_ids)
		kunit_skip(test, "a move takes two CPUs");
	pdev = with_interrupt(test, file, &irq);
	fast_bus = cmn_kunit_bus;
	cmn_kunit_bus = &slow_bus;
	cmn_irq_move(&file->cmn, from);
	cmn_irq_enable(&file->cmn);
	KUNIT_EXPECT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(to)), 0);

	KUNIT_ASSERT_EQ(test, smp_call_function_single(from, fire, &irq, 0), 0);
	while (!READ_ONCE(serving))
		cpu_relax();
	cmn_irq_move(&file->cmn, to);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(serving));
	KUNIT_EXPECT_EQ(test, served_by, from);
	/* One that comes to the old owner all the same is served by the new one. */
	KUNIT_ASSERT_EQ(test, smp_call_function_single(from, fire, &irq, 1), 0);
	cmn_irq_disable(&file->cmn);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(serving));
	KUNIT_EXPECT_EQ(test, served_by, to);

	set_cpus_allowed_ptr(current, cpu_possible_mask);
	cmn_kunit_bus = fast_bus;
	file->cmn.dev = dev;
	platform_device_unregister(pdev);
	irq_free_desc(irq);
}

static struct kunit_case cmn_irq_cases[] = {
	KUNIT_CASE(a_move_waits_for_what_is_served),
	{ }
};

struct kunit_suite cmn_irq_suite = {
	.name = "cmn_irq",
	.test_cases = cmn_irq_cases,
};
