// SPDX-License-Identifier: GPL-2.0-only
/*
 * The overflow interrupts: one for each DTC, or one for several.
 *
 * Only the owner CPU touches the counters, so the interrupts follow it. One that comes
 * in elsewhere while they move is masked, since it is level-triggered, and the owner is
 * called.
 */
#include <linux/device.h>
#include <linux/export.h>
#include <linux/interrupt.h>
#include <linux/platform_device.h>

#include "cmn.h"

static void cmn_line_call_owner(struct cmn_line *line)
{
	/* The owner cannot be on its way out: its successor is the owner before that. */
	if (smp_call_function_single_async(READ_ONCE(line->cmn->cpu), &line->csd)) {
		enable_irq(line->irq);
		WRITE_ONCE(line->forwarded, false);
	}
}

static void cmn_line_called(void *data)
{
	struct cmn_line *line = data;

	if (smp_processor_id() != READ_ONCE(line->cmn->cpu)) {
		cmn_line_call_owner(line);
		return;
	}
	cmn_overflow(line->cmn, line->dtcs);
	enable_irq(line->irq);
	WRITE_ONCE(line->forwarded, false);
}

static irqreturn_t cmn_line_interrupt(int irq, void *data)
{
	struct cmn_line *line = data;

	if (smp_processor_id() == READ_ONCE(line->cmn->cpu))
		return cmn_overflow(line->cmn, line->dtcs) ? IRQ_HANDLED : IRQ_NONE;
	WRITE_ONCE(line->forwarded, true);
	disable_irq_nosync(irq);
	cmn_line_call_owner(line);
	return IRQ_HANDLED;
}

static struct cmn_line *cmn_line_of(struct cmn *cmn, int irq)
{
	for (unsigned int i = 0; i < cmn->nr_lines; i++)
		if (cmn->line[i].irq == irq)
			return &cmn->line[i];
	return NULL;
}

static int cmn_line_add(struct cmn *cmn, int irq, unsigned int dtc)
{
	struct cmn_line *line = cmn_line_of(cmn, irq);
	int err;

	if (line) {
		line->dtcs |= BIT(dtc);
		return 0;
	}
	line = &cmn->line[cmn->nr_lines++];
	line->cmn = cmn;
	line->irq = irq;
	line->dtcs = BIT(dtc);
	INIT_CSD(&line->csd, cmn_line_called, line);
	err = devm_request_irq(cmn->dev, irq, cmn_line_interrupt,
			       IRQF_NOBALANCING | IRQF_NO_THREAD | IRQF_NO_AUTOEN,
			       dev_name(cmn->dev), line);
	return err ? dev_err_probe(cmn->dev, err, "cannot have interrupt %d of DTC %u\n",
				   irq, dtc) : 0;
}

/**
 * cmn_irq_init() - request the interrupts of all DTCs, disabled.
 * @cmn: the mesh, discovered
 * @pdev: its device
 *
 * Context: probe.
 * Return: 0, or a negative errno with a message.
 */
int cmn_irq_init(struct cmn *cmn, struct platform_device *pdev)
{
	for (unsigned int i = 0; i < cmn->nr_dtcs; i++) {
		int irq = platform_get_irq_optional(pdev, i), err;

		if (irq < 0)
			return dev_err_probe(cmn->dev, irq,
				"DTC %u has no interrupt: firmware has to describe one for each of the %u\n",
				i, cmn->nr_dtcs);
		err = cmn_line_add(cmn, irq, i);
		if (err)
			return err;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cmn_irq_init);

/**
 * cmn_irq_disable() - no interrupt comes any more, and none is being served.
 * @cmn: the mesh
 *
 * Context: may sleep.
 */
void cmn_irq_disable(struct cmn *cmn)
{
	for (unsigned int i = 0; i < cmn->nr_lines; i++) {
		disable_irq(cmn->line[i].irq);
		while (READ_ONCE(cmn->line[i].forwarded))
			cpu_relax();
	}
}

/**
 * cmn_irq_enable() - let interrupts come.
 * @cmn: the mesh, registered with the core: it is still so when the last one has come
 *
 * Context: any.
 */
void cmn_irq_enable(struct cmn *cmn)
{
	for (unsigned int i = 0; i < cmn->nr_lines; i++)
		enable_irq(cmn->line[i].irq);
}

/* The interrupts are for @cpu from now on. */
void cmn_irq_move(struct cmn *cmn, int cpu)
{
	WRITE_ONCE(cmn->cpu, cpu);
	for (unsigned int i = 0; i < cmn->nr_lines; i++)
		if (irq_set_affinity(cmn->line[i].irq, cpumask_of(cpu)))
			dev_warn_once(cmn->dev, "interrupt %d cannot be moved to CPU %d\n",
				      cmn->line[i].irq, cpu);
}
