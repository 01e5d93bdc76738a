// SPDX-License-Identifier: GPL-2.0-only
/*
 * Core, thread and trace units share each core's engine. To let one thread accumulate
 * while another traces can stop a machine for good (checkstop), so the whole system is
 * given to one of the three at a time: to the one that has events open or an engine on.
 *
 * LDBAR of a thread may act late. So the next kind begins a little after the one before.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/ktime.h>

#include "power_imc.h"

static DEFINE_RAW_SPINLOCK(power_imc_domain_lock);	/* taken in IPIs */
static enum power_imc_type power_imc_domain_type;
static unsigned int power_imc_domain_users;	/* open events, and users of engines */
static u64 power_imc_domain_left;		/* when the last of them left, in ns */
static u64 power_imc_domain_ready;		/* and when LDBAR has acted, for another kind */

/**
 * power_imc_domain_get() - use the engines for a type of unit.
 * @type: POWER_IMC_TYPE_CORE, POWER_IMC_TYPE_THREAD or POWER_IMC_TYPE_TRACE
 *
 * Context: any.
 * Return: 0, or -EBUSY while another type has them.
 */
int power_imc_domain_get(enum power_imc_type type)
{
	unsigned long flags;
	int err = 0;

	raw_spin_lock_irqsave(&power_imc_domain_lock, flags);
	if (power_imc_domain_users && power_imc_domain_type != type) {
		err = -EBUSY;
	} else {
		if (power_imc_domain_type != type)
			WRITE_ONCE(power_imc_domain_ready, power_imc_domain_left +
				   POWER_IMC_SETTLE_MS * NSEC_PER_MSEC);
		power_imc_domain_type = type;
		power_imc_domain_users++;
	}
	raw_spin_unlock_irqrestore(&power_imc_domain_lock, flags);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_domain_get);

static void power_imc_domain_settle(void)
{
	u64 ready = READ_ONCE(power_imc_domain_ready), now = ktime_get_ns();

	if (now < ready)
		msleep(DIV_ROUND_UP_ULL(ready - now, NSEC_PER_MSEC));
}

/**
 * power_imc_domain_open() - an event of a type of unit is opened: use the engines.
 * @imc: the device
 * @type: as for power_imc_domain_get()
 *
 * Context: may sleep.
 * Return: as power_imc_domain_get().
 */
int power_imc_domain_open(struct power_imc *imc, enum power_imc_type type)
{
	int err = power_imc_domain_get(type);

	if (err)
		return err;
	power_imc_domain_settle();
	power_imc_idle_hold(imc);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_domain_open);

/* The opposite, in any context. */
void power_imc_domain_close(enum power_imc_type type)
{
	power_imc_idle_release();
	power_imc_domain_put(type);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_domain_close);

/**
 * power_imc_domain_put() - one user less.
 * @type: as power_imc_domain_get() was given
 *
 * Context: any.
 */
void power_imc_domain_put(enum power_imc_type type)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&power_imc_domain_lock, flags);
	if (!WARN_ON_ONCE(!power_imc_domain_users || power_imc_domain_type != type) &&
	    !--power_imc_domain_users)
		power_imc_domain_left = ktime_get_ns();
	raw_spin_unlock_irqrestore(&power_imc_domain_lock, flags);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_domain_put);
