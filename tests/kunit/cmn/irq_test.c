// SPDX-License-Identifier: GPL-2.0-only
/* cmn: interrupts. The interrupt is the test's own; it is fired on any CPU. */
#include <kunit/test.h>
#include <linux/cpumask.h>
#include <linux/interrupt.h>
#include <linux/irq.h>
#include <linux/platform_device.h>
#include <linux/smp.h>

#include "regfile.h"

static int directed_to;

static int set_affinity(struct irq_data *data, const struct cpumask *mask, bool force)
{
	directed_to = cpumask_first(mask);
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

/* It is directed to the owner. Wherever it comes, all DTCs are served there, unless it is disabled. */
static void an_interrupt_is_served_where_it_comes(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct device *dev = file->cmn.dev;
	unsigned int cpu;
	int irq;
	struct platform_device *pdev = with_interrupt(test, file, &irq);

	cmn_irq_enable(&file->cmn);
	for_each_online_cpu(cpu) {
		cmn_irq_move(&file->cmn, cpu);
		KUNIT_EXPECT_EQ(test, directed_to, cpu);
	}
	for_each_online_cpu(cpu) {
		for (unsigned int i = 0; i < 2; i++) {
			cmn_regfile_set(file, file->node[3 + i] + PMOVSR, 1 << i);
			cmn_regfile_set(file, file->node[3 + i] + PMOVSR_CLR, 0);
		}
		KUNIT_ASSERT_EQ(test, smp_call_function_single(cpu, fire, &irq, 1), 0);
		for (unsigned int i = 0; i < 2; i++)
			KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[3 + i] + PMOVSR_CLR),
					1ULL << i);
	}
	cmn_irq_disable(&file->cmn);
	cmn_regfile_forget(file);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, fire, &irq, 1), 0);
	KUNIT_EXPECT_EQ(test, file->reads + file->writes, 0U);
	file->cmn.dev = dev;
	platform_device_unregister(pdev);
	irq_free_desc(irq);
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
	KUNIT_CASE(an_interrupt_is_served_where_it_comes),
	KUNIT_CASE(needs_an_interrupt),
	{ }
};

struct kunit_suite cmn_irq_suite = {
	.name = "cmn_irq",
	.test_cases = cmn_irq_cases,
};
