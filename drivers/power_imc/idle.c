// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deep sleep: a core that sleeps deeply loses the registers of its engine, and of those the
 * firmware has all restored but the switch. So while engines are used CPUs are kept from
 * such states; and since somebody else may lead them there, or switch an engine off, each
 * engine is looked at now and then, and started again.
 */
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/pm_qos.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <asm/opal-api.h>

#include <pmu/compat.h>

#include "power_imc.h"

static int max_latency = -1;
module_param(max_latency, int, 0444);
MODULE_PARM_DESC(max_latency, "longest exit latency (us) of idle states that CPUs may use while engines are used; 0: no limit, -1: of those that keep the registers (default)");

/* How often engines are looked at: so long a deep sleep may cost. */
#define POWER_IMC_IDLE_LOOK_MS	500

#define POWER_IMC_IDLE_NO_LIMIT	(-1)

static DEFINE_MUTEX(power_imc_idle_mutex);
static atomic_t power_imc_idle_users = ATOMIC_INIT(0);
static bool power_imc_idle_held;	/* under power_imc_idle_mutex, as is what follows */
static struct pm_qos_request power_imc_idle_request;
static struct power_imc *power_imc_idle_imc;

/**
 * power_imc_idle_limit() - the longest exit latency of idle states that keep the registers.
 * @flags: of each state, OPAL_PM_*
 * @latencies: of each state, in ns
 * @states: their number
 *
 * Return: in us, below that of every state that does not, which may be 0: only what does not
 * sleep at all; POWER_IMC_IDLE_NO_LIMIT if all states do.
 */
s32 power_imc_idle_limit(const u32 *flags, const u32 *latencies, unsigned int states)
{
	u32 least = U32_MAX;

	for (unsigned int i = 0; i < states; i++)
		if (flags[i] & OPAL_PM_LOSE_FULL_CONTEXT)
			least = min(least, latencies[i]);
	if (least == U32_MAX)
		return POWER_IMC_IDLE_NO_LIMIT;
	/* cpuidle goes by whole microseconds. */
	return max_t(u32, least / NSEC_PER_USEC, 1) - 1;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_idle_limit);

static s32 power_imc_idle_limit_here(void)
{
	struct device_node *np = of_find_node_by_path("/ibm,opal/power-mgt");
	int states = of_property_count_u32_elems(np, "ibm,cpu-idle-state-flags");
	u32 *values = states > 0 ? kcalloc(2 * states, sizeof(*values), GFP_KERNEL) : NULL;
	s32 limit = POWER_IMC_IDLE_NO_LIMIT;

	if (values &&
	    !of_property_read_u32_array(np, "ibm,cpu-idle-state-flags", values, states) &&
	    !of_property_read_u32_array(np, "ibm,cpu-idle-state-latencies-ns", values + states,
					states))
		limit = power_imc_idle_limit(values, values + states, states);
	kfree(values);
	of_node_put(np);
	return limit;
}

static void power_imc_idle_look(struct work_struct *work);
static DECLARE_DELAYED_WORK(power_imc_idle_look_work, power_imc_idle_look);

/* On any CPU: not on that which happened to open an event, perhaps an isolated one. */
static void power_imc_idle_look_later(void)
{
	queue_delayed_work(system_dfl_wq, &power_imc_idle_look_work,
			   msecs_to_jiffies(POWER_IMC_IDLE_LOOK_MS));
}

static void power_imc_idle_look(struct work_struct *work)
{
	struct power_imc *imc = power_imc_idle_imc;

	for (unsigned int i = 0; i < imc->nr_cores; i++)
		if (imc->cores[i].page)
			power_imc_engine_look(&imc->cores[i]);
	power_imc_idle_look_later();
}

static s32 power_imc_idle_limit_wanted(void)
{
	if (max_latency < 0)
		return power_imc_idle_limit_here();
	return max_latency ?: POWER_IMC_IDLE_NO_LIMIT;
}

static void power_imc_idle_begin(void)
{
	s32 limit = power_imc_idle_limit_wanted();

	if (limit != POWER_IMC_IDLE_NO_LIMIT)
		cpu_latency_qos_add_request(&power_imc_idle_request, limit);
	power_imc_idle_look_later();
	power_imc_idle_held = true;
}

static void power_imc_idle_end(void)
{
	cancel_delayed_work_sync(&power_imc_idle_look_work);
	if (cpu_latency_qos_request_active(&power_imc_idle_request))
		cpu_latency_qos_remove_request(&power_imc_idle_request);
	power_imc_idle_held = false;
}

static void power_imc_idle_drop(struct work_struct *work)
{
	mutex_lock(&power_imc_idle_mutex);
	if (power_imc_idle_held && !atomic_read(&power_imc_idle_users))
		power_imc_idle_end();
	mutex_unlock(&power_imc_idle_mutex);
}

static DECLARE_WORK(power_imc_idle_drop_work, power_imc_idle_drop);

/**
 * power_imc_idle_hold() - keep cores from losing their engines.
 * @imc: the device
 *
 * Context: may sleep.
 */
void power_imc_idle_hold(struct power_imc *imc)
{
	mutex_lock(&power_imc_idle_mutex);
	atomic_inc(&power_imc_idle_users);
	power_imc_idle_imc = imc;
	if (!power_imc_idle_held)
		power_imc_idle_begin();
	mutex_unlock(&power_imc_idle_mutex);
}

/* Undo one power_imc_idle_hold(), a little later. Any context. */
void power_imc_idle_release(void)
{
	if (atomic_dec_and_test(&power_imc_idle_users))
		schedule_work(&power_imc_idle_drop_work);
}

/* The module goes, and nobody holds anything. May sleep. */
void power_imc_idle_exit(void)
{
	flush_work(&power_imc_idle_drop_work);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_idle_exit);
