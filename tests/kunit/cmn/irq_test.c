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
#define BUSY_MS		200

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

/* A mesh whose registers are slow, with an interrupt, and two CPUs to own it. */
struct irq_test {
	struct cmn_regfile *file;
	struct device *dev;
	struct platform_device *pdev;
	int irq, from, to;
};

static void begin(struct kunit *test, struct irq_test *on)
{
	on->from = cpumask_first(cpu_online_mask);
	on->to = cpumask_next(on->from, cpu_online_mask);
	if (on->to >= nr_cpu_ids)
		kunit_skip(test, "a move takes two CPUs");
	on->file = cmn_regfile_ready(test, &cmn_fake_600);
	on->dev = on->file->cmn.dev;
	on->pdev = with_interrupt(test, on->file, &on->irq);
	fast_bus = cmn_kunit_bus;
	cmn_kunit_bus = &slow_bus;
	served_by = -1;
}

/* A driver that waits for nothing may still be called. */
static void end(struct irq_test *on)
{
	while (atomic_read(&on->file->cmn.line[0].forwarded))
		cpu_relax();
	set_cpus_allowed_ptr(current, cpu_possible_mask);
	cmn_kunit_bus = fast_bus;
	on->file->cmn.dev = on->dev;
	platform_device_unregister(on->pdev);
	irq_free_desc(on->irq);
}

/*
 * When the new owner begins, the old one is done: an interrupt that it serves stops the mesh, and
 * lets it run, under whatever the new owner does with it.
 */
static void a_move_waits_for_what_is_served(struct kunit *test)
{
	struct irq_test on;
	struct cmn *cmn;

	begin(test, &on);
	cmn = &on.file->cmn;
	cmn_irq_move(cmn, on.from);
	cmn_irq_enable(cmn);
	KUNIT_EXPECT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(on.to)), 0);

	KUNIT_ASSERT_EQ(test, smp_call_function_single(on.from, fire, &on.irq, 0), 0);
	while (!READ_ONCE(serving))
		cpu_relax();
	cmn_irq_move(cmn, on.to);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(serving));
	KUNIT_EXPECT_EQ(test, served_by, on.from);
	/* An interrupt that still comes to the old owner is served by the new one. */
	KUNIT_ASSERT_EQ(test, smp_call_function_single(on.from, fire, &on.irq, 1), 0);
	cmn_irq_disable(cmn);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(serving));
	KUNIT_EXPECT_EQ(test, served_by, on.to);
	end(&on);
}

static bool busy;

static void be_busy(void *data)
{
	WRITE_ONCE(busy, true);
	mdelay(BUSY_MS);
}

/*
 * A move does not end before the old owner has served a forwarded interrupt: the old owner touches
 * the mesh when it does.
 */
static void a_move_waits_for_what_was_forwarded(struct kunit *test)
{
	struct irq_test on;
	struct cmn *cmn;

	begin(test, &on);
	cmn = &on.file->cmn;
	cmn_irq_move(cmn, on.to);
	cmn_irq_enable(cmn);
	KUNIT_EXPECT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(on.from)), 0);

	WRITE_ONCE(busy, false);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(on.to, be_busy, NULL, 0), 0);
	while (!READ_ONCE(busy))
		cpu_relax();
	KUNIT_ASSERT_EQ(test, smp_call_function_single(on.from, fire, &on.irq, 1), 0);
	KUNIT_EXPECT_EQ(test, READ_ONCE(served_by), -1);
	cmn_irq_move(cmn, on.from);
	KUNIT_EXPECT_EQ(test, READ_ONCE(served_by), on.to);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(serving));
	/* The line is as it was: the next one is served. Fired from afar it is an interrupt. */
	KUNIT_EXPECT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(on.to)), 0);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(on.from, fire, &on.irq, 1), 0);
	KUNIT_EXPECT_EQ(test, served_by, on.from);
	cmn_irq_disable(cmn);
	end(&on);
}

/* A mesh without an interrupt is refused: an overflow of a letter would not be noticed. */
static void needs_an_interrupt(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct platform_device *pdev;
	struct device *dev = file->cmn.dev;

	pdev = platform_device_register_simple("cmn_kunit_irq", PLATFORM_DEVID_NONE, NULL, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pdev);
	file->cmn.dev = &pdev->dev;
	KUNIT_EXPECT_EQ(test, cmn_irq_init(&file->cmn, pdev), -ENXIO);
	KUNIT_EXPECT_EQ(test, file->cmn.nr_lines, 0);
	file->cmn.dev = dev;
	platform_device_unregister(pdev);
}

static struct kunit_case cmn_irq_cases[] = {
	KUNIT_CASE(a_move_waits_for_what_is_served),
	KUNIT_CASE(a_move_waits_for_what_was_forwarded),
	KUNIT_CASE(needs_an_interrupt),
	{ }
};

struct kunit_suite cmn_irq_suite = {
	.name = "cmn_irq",
	.test_cases = cmn_irq_cases,
};
