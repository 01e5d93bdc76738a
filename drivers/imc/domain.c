// SPDX-License-Identifier: GPL-2.0-only
/*
 * Core, thread and trace units share each core's engine. To let one thread accumulate
 * while another traces can stop a machine for good (checkstop), so the whole system is
 * given to one of the three at a time: to the one that has events open or an engine on.
 */
#include <linux/errno.h>
#include <linux/export.h>

#include "imc.h"

static DEFINE_SPINLOCK(imc_domain_lock);
static enum imc_type imc_domain_type;
static unsigned int imc_domain_users;

/**
 * imc_domain_get() - use the engines for a type of unit.
 * @type: IMC_TYPE_CORE, IMC_TYPE_THREAD or IMC_TYPE_TRACE
 *
 * Context: any.
 * Return: 0, or -EBUSY while another type has them.
 */
int imc_domain_get(enum imc_type type)
{
	unsigned long flags;
	int err = 0;

	spin_lock_irqsave(&imc_domain_lock, flags);
	if (imc_domain_users && imc_domain_type != type) {
		err = -EBUSY;
	} else {
		imc_domain_type = type;
		imc_domain_users++;
	}
	spin_unlock_irqrestore(&imc_domain_lock, flags);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(imc_domain_get);

/**
 * imc_domain_put() - one user less.
 * @type: as imc_domain_get() was given
 *
 * Context: any.
 */
void imc_domain_put(enum imc_type type)
{
	unsigned long flags;

	spin_lock_irqsave(&imc_domain_lock, flags);
	if (!WARN_ON_ONCE(!imc_domain_users || imc_domain_type != type))
		imc_domain_users--;
	spin_unlock_irqrestore(&imc_domain_lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(imc_domain_put);
