// SPDX-License-Identifier: GPL-2.0-only
/*
 * The overflow interrupts: one for each DTC, or one for several. They follow the owner, to disturb
 * no other CPU. One that comes in elsewhere while they move is served there: the box's lock is
 * enough.
 */
#include <linux/device.h>
#include <linux/export.h>
#include <linux/interrupt.h>
#include <linux/platform_device.h>

#include "cmn.h"

static irqreturn_t cmn_line_interrupt(int irq, void *data)
{
	const struct cmn_line *line = data;

	return cmn_overflow(line->cmn, line->dtcs) ? IRQ_HANDLED : IRQ_NONE;
}

/* If the DTCs' numbers are a guess, an interrupt may belong to another DTC, so look at all. */
static u8 cmn_line_dtcs(const struct cmn *cmn, unsigned int dtc)
{
	return cmn->quartered && !cmn->known_domains ? BIT(cmn->nr_dtcs) - 1 : BIT(dtc);
}

static int cmn_line_add(struct cmn *cmn, int irq, unsigned int dtc)
{
	struct cmn_line *line = cmn->line, *end = line + cmn->nr_lines;
	int err;

	while (line < end && line->irq != irq)
		line++;
	line->dtcs |= cmn_line_dtcs(cmn, dtc);
	if (line < end)
		return 0;
	cmn->nr_lines++;
	line->cmn = cmn;
	line->irq = irq;
	err = devm_request_irq(cmn->dev, irq, cmn_line_interrupt,
			       IRQF_NOBALANCING | IRQF_NO_THREAD | IRQF_NO_AUTOEN,
			       dev_name(cmn->dev), line);
	return err ? dev_err_probe(cmn->dev, err, "cannot request interrupt %d of DTC %u\n",
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
 * cmn_irq_disable() - disable the interrupts, and wait for those being served.
 * @cmn: the mesh
 *
 * Context: may sleep.
 */
void cmn_irq_disable(struct cmn *cmn)
{
	for (unsigned int i = 0; i < cmn->nr_lines; i++)
		disable_irq(cmn->line[i].irq);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_irq_disable);

/**
 * cmn_irq_enable() - let interrupts come.
 * @cmn: the mesh, registered with the core until the last interrupt has come
 *
 * Context: any.
 */
void cmn_irq_enable(struct cmn *cmn)
{
	for (unsigned int i = 0; i < cmn->nr_lines; i++)
		enable_irq(cmn->line[i].irq);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_irq_enable);

/* Direct the interrupts to @cpu. */
void cmn_irq_move(struct cmn *cmn, int cpu)
{
	for (unsigned int i = 0; i < cmn->nr_lines; i++)
		if (irq_set_affinity(cmn->line[i].irq, cpumask_of(cpu)))
			dev_warn_once(cmn->dev, "interrupt %d cannot be moved to CPU %d\n",
				      cmn->line[i].irq, cpu);
}
EXPORT_SYMBOL_IF_KUNIT(cmn_irq_move);
