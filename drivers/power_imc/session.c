// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session: what has to happen while one kind of unit has the engines. LDBAR of a thread may act
 * late, so the next kind begins a little after the one before. From when an event is opened until
 * the engines are off:
 *
 *  - CPUs are kept from deep idle states. In deep sleep a core loses the registers of its engine,
 *    and the firmware restores all of them except the one that starts it.
 *  - Each engine is looked at now and then, and started again if it is off. A user may let CPUs
 *    sleep deeply all the same, or another program may stop an engine.
 *
 * At all times, a CPU that comes online gets a clean LDBAR: if it was offline when the module was
 * loaded, LDBAR has what a predecessor left. The engine of its core is off until LDBAR is cleared.
 */
#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
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

#define POWER_IMC_NO_LIMIT	(-1)

/* How often engines are looked at. After a deep sleep, counts of twice this time may be missing. */
#define POWER_IMC_LOOK_MS	250

/* The device: there is one. Callbacks of hotplug and work items have no argument for it. */
static struct power_imc *power_imc_session_imc;

static struct pm_qos_request power_imc_session_request;
static s32 power_imc_session_limit;			/* for the request, in us */
/* Held while a session begins or ends: */
static DEFINE_MUTEX(power_imc_session_mutex);
static enum power_imc_type power_imc_session_settled;	/* the kind that may start engines */
static int power_imc_prepare_state, power_imc_online_state;

static void power_imc_session_run(struct work_struct *work);
static DECLARE_DELAYED_WORK(power_imc_session_work, power_imc_session_run);

/* On any CPU, rather than on the one that opened an event, which may be isolated. */
static void power_imc_session_run_in(unsigned int ms)
{
	queue_delayed_work(system_dfl_wq, &power_imc_session_work, msecs_to_jiffies(ms));
}

/*
 * The longest exit latency, in us, of idle states that keep the registers: less than that of each
 * state that loses them, by its OPAL_PM_* flags and latency in ns. 0 allows no sleep at all.
 */
VISIBLE_IF_KUNIT s32 power_imc_idle_limit(const u32 *flags, const u32 *latencies,
					  unsigned int states)
{
	u32 least = U32_MAX;

	for (unsigned int i = 0; i < states; i++)
		if (flags[i] & OPAL_PM_LOSE_FULL_CONTEXT)
			least = min(least, latencies[i]);
	if (least == U32_MAX)
		return POWER_IMC_NO_LIMIT;
	/* cpuidle goes by whole microseconds. */
	return max_t(u32, least / NSEC_PER_USEC, 1) - 1;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_idle_limit);

static s32 power_imc_idle_limit_here(void)
{
	struct device_node *np = of_find_node_by_path("/ibm,opal/power-mgt");
	int states = of_property_count_u32_elems(np, "ibm,cpu-idle-state-flags");
	u32 *values = states > 0 ? kcalloc(2 * states, sizeof(*values), GFP_KERNEL) : NULL;
	s32 limit = POWER_IMC_NO_LIMIT;

	if (values &&
	    !of_property_read_u32_array(np, "ibm,cpu-idle-state-flags", values, states) &&
	    !of_property_read_u32_array(np, "ibm,cpu-idle-state-latencies-ns", values + states,
					states))
		limit = power_imc_idle_limit(values, values + states, states);
	kfree(values);
	of_node_put(np);
	return limit;
}

static void power_imc_idle_hold(bool hold)
{
	lockdep_assert_held(&power_imc_session_mutex);
	if (cpu_latency_qos_request_active(&power_imc_session_request))
		cpu_latency_qos_update_request(&power_imc_session_request,
					       hold ? power_imc_session_limit :
						      PM_QOS_DEFAULT_VALUE);
}

/*
 * No engine is used. LDBAR of traces is left until the engines are certainly off, and then cleared,
 * which may act late. Otherwise each CPU that goes offline later would have to stop the engine of
 * its core for that.
 */
static void power_imc_session_settle(void)
{
	lockdep_assert_held(&power_imc_session_mutex);
	power_imc_sleep_until(power_imc_session_left() + POWER_IMC_LINGER_MS * NSEC_PER_MSEC);
	if (power_imc_ldbar_untrace())
		power_imc_engines_wait();
}

static void power_imc_session_run(struct work_struct *work)
{
	struct power_imc *imc = power_imc_session_imc;
	bool used;

	mutex_lock(&power_imc_session_mutex);
	/*
	 * Check only once: if the last engine goes off after this, nothing else queues this work
	 * again. Whoever opens an event from here on waits for the mutex before an engine starts.
	 */
	used = power_imc_session_add_holders(0);
	if (!used) {
		power_imc_idle_hold(false);
		power_imc_session_settle();
	}
	mutex_unlock(&power_imc_session_mutex);
	if (!used)
		return;
	/* KUnit suites have sessions without a device. */
	if (imc)
		power_imc_engines_look(imc->cores, imc->nr_cores);
	power_imc_session_run_in(POWER_IMC_LOOK_MS);
}

/*
 * An event is opened: claim the engines for its kind of unit. May sleep, for some times
 * POWER_IMC_LINGER_MS. Returns -EBUSY while another kind has the engines.
 */
int power_imc_session_open(enum power_imc_type type)
{
	int err = power_imc_session_hold(type);

	if (err)
		return err;
	mutex_lock(&power_imc_session_mutex);
	if (power_imc_session_settled != type)
		power_imc_session_settle();
	power_imc_session_settled = type;
	power_imc_idle_hold(true);
	mutex_unlock(&power_imc_session_mutex);
	power_imc_session_run_in(POWER_IMC_LOOK_MS);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_session_open);

/* An event is closed. Some time after the last event the session ends. Any context. */
void power_imc_session_close(void)
{
	if (!power_imc_session_add_holders(-1))
		mod_delayed_work(system_dfl_wq, &power_imc_session_work,
				 msecs_to_jiffies(POWER_IMC_LINGER_MS));
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_session_close);

/* Events may be opened after this, once there are cores. May sleep. */
void power_imc_session_begin(struct power_imc *imc)
{
	power_imc_session_imc = imc;
	power_imc_session_limit = max_latency < 0 ? power_imc_idle_limit_here() :
				  max_latency ?: POWER_IMC_NO_LIMIT;
	if (power_imc_session_limit != POWER_IMC_NO_LIMIT)
		cpu_latency_qos_add_request(&power_imc_session_request, PM_QOS_DEFAULT_VALUE);
}

/* All events are closed, or there was no session. May sleep. */
void power_imc_session_end(void)
{
	flush_delayed_work(&power_imc_session_work);
	/* The work queues itself again as long as an engine is on. */
	cancel_delayed_work_sync(&power_imc_session_work);
	if (cpu_latency_qos_request_active(&power_imc_session_request))
		cpu_latency_qos_remove_request(&power_imc_session_request);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_session_end);

/* Runs on another CPU, before @cpu executes anything. */
static int power_imc_cpu_prepare(unsigned int cpu)
{
	struct power_imc *imc = power_imc_session_imc;
	struct power_imc_core *core = power_imc_core_of(imc, cpu);
	int err;

	if (power_imc_ldbar_is_clean(cpu))
		return 0;
	err = power_imc_engine_pause(core);
	if (err) {
		dev_warn(imc->dev, "CPU %u cannot come online: the engine of its core could not be stopped (%pe)\n",
			 cpu, ERR_PTR(err));
		return err;
	}
	if (READ_ONCE(core->users))
		dev_notice(imc->dev, "CPU %u comes online for the first time: the engine of its core is off for 100 ms, and what its other CPUs count lacks that\n",
			   cpu);
	power_imc_engines_wait();
	return 0;
}

/* The CPU failed to come online, or is now offline. */
static int power_imc_cpu_dead(unsigned int cpu)
{
	power_imc_engine_resume(power_imc_core_of(power_imc_session_imc, cpu));
	return 0;
}

/* On @cpu. Its boxes may have been engaged already; then their engine is started only now. */
static int power_imc_cpu_online(unsigned int cpu)
{
	struct power_imc_core *core = power_imc_core_of(power_imc_session_imc, cpu);
	unsigned long flags;

	local_irq_save(flags);
	power_imc_ldbar_clean_up();
	local_irq_restore(flags);
	/*
	 * LDBAR was not clean. It may have been cleared only just now, when a box was engaged: wait
	 * until that has taken effect.
	 */
	if (core->paused)
		power_imc_engines_wait();
	power_imc_engine_resume(core);
	return 0;
}

static void power_imc_cpus_unwatch(void *unused)
{
	cpuhp_remove_state_nocalls(power_imc_prepare_state);
	cpuhp_remove_state_nocalls(power_imc_online_state);
}

/* Clear LDBAR of every CPU that comes online, until the device is removed. */
int power_imc_session_watch_cpus(struct power_imc *imc)
{
	int state;

	if (!power_imc_ldbar_is_ours())
		return 0;
	/* A CPU that comes in between must not pause an engine that it does not resume. */
	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "perf/power_imc:online",
					  power_imc_cpu_online, NULL);
	if (state < 0)
		return state;
	power_imc_online_state = state;
	state = cpuhp_setup_state_nocalls(CPUHP_BP_PREPARE_DYN, "perf/power_imc:prepare",
					  power_imc_cpu_prepare, power_imc_cpu_dead);
	if (state < 0) {
		cpuhp_remove_state_nocalls(power_imc_online_state);
		return state;
	}
	power_imc_prepare_state = state;
	return devm_add_action_or_reset(imc->dev, power_imc_cpus_unwatch, NULL);
}
