// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine of a core: it writes what the core and its threads count, or trace, to memory. The
 * first engaged box of the core starts it and the last stops it.
 *
 * This file also writes LDBAR, which says where a thread's counts or records go, and in which mode.
 * It points only to memory of this driver.
 *
 * Core, thread and trace units share the engines. If one thread accumulates while another traces,
 * the machine can checkstop. So all engines belong to one of the three kinds at a time: to the kind
 * that has events open or an engine on.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/export.h>
#include <linux/kernel.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <asm/cputhreads.h>
#include <asm/reg.h>
#include <asm/smp.h>
#include <asm/synch.h>

#include "power_imc.h"

/* CPUs whose LDBAR this driver has cleared since it was loaded, and those whose LDBAR traces. */
static struct cpumask power_imc_ldbar_clean, power_imc_ldbar_tracing;

/* Firmware that sets up a core changes a table of its quad, without a lock of its own. */
static DEFINE_RAW_SPINLOCK(power_imc_set_up_lock);

/* An engine that is found off so many times in a row is not looked at any more. */
#define POWER_IMC_LOOKS	3

static DEFINE_RAW_SPINLOCK(power_imc_session_lock);	/* taken in IPIs */
/* Under power_imc_session_lock: */
static enum power_imc_type power_imc_session_type;	/* the kind that has or last had them */
static unsigned int power_imc_session_holders;		/* open events, boxes, stuck engines */
static u64 power_imc_session_since;			/* when they became 0, ns */

/* Claim the engines for one more holder of a kind. Any context. */
int power_imc_session_hold(enum power_imc_type type)
{
	unsigned long flags;
	int err = 0;

	raw_spin_lock_irqsave(&power_imc_session_lock, flags);
	if (power_imc_session_holders && power_imc_session_type != type) {
		err = -EBUSY;
	} else {
		power_imc_session_type = type;
		power_imc_session_holders++;
	}
	raw_spin_unlock_irqrestore(&power_imc_session_lock, flags);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_session_hold);

/* Add @more holders; a negative number removes some. Returns how many there are. Any context. */
unsigned int power_imc_session_add_holders(int more)
{
	unsigned long flags;
	unsigned int now;

	raw_spin_lock_irqsave(&power_imc_session_lock, flags);
	if (!WARN_ON_ONCE((int)power_imc_session_holders + more < 0))
		power_imc_session_holders += more;
	now = power_imc_session_holders;
	if (more && !now)
		WRITE_ONCE(power_imc_session_since, ktime_get_ns());
	raw_spin_unlock_irqrestore(&power_imc_session_lock, flags);
	return now;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_session_add_holders);

/* When the engines had their last holder, in ns. */
u64 power_imc_session_left(void)
{
	return READ_ONCE(power_imc_session_since);
}

/*
 * LDBAR's content for a page or buffer, whose address is real or in the linear map. @mode is
 * POWER_IMC_LDBAR_ENABLE to accumulate, POWER_IMC_LDBAR_TRACE to trace, or 0.
 */
u64 power_imc_ldbar(u64 address, u64 mode)
{
	return (address & POWER_IMC_BAR_ADDRESS) | mode;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ldbar);

static void power_imc_ldbar_set(u64 value)
{
	int cpu = smp_processor_id();

	mtspr(SPRN_LDBAR, value);
	/* What is read of a page after this is not read before it. */
	isync();
	if (value & POWER_IMC_LDBAR_TRACE)
		cpumask_set_cpu(cpu, &power_imc_ldbar_tracing);
	else if (cpumask_test_cpu(cpu, &power_imc_ldbar_tracing))
		cpumask_clear_cpu(cpu, &power_imc_ldbar_tracing);
}

/* Set this CPU's LDBAR; once the engines are halted, to 0. Interrupts are off. */
void power_imc_ldbar_write(const struct power_imc *imc, u64 value)
{
	power_imc_ldbar_set(READ_ONCE(imc->halted) ? 0 : value);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ldbar_write);

/* Runs with the engine of this CPU's core off, unless that could not be stopped. */
static void power_imc_ldbar_clear_here(void *unused)
{
	power_imc_ldbar_set(0);
	cpumask_set_cpu(smp_processor_id(), &power_imc_ldbar_clean);
}

/* Clear LDBAR of every online CPU. May sleep. */
void power_imc_ldbar_clear(void)
{
	if (power_imc_ldbar_is_ours())
		on_each_cpu(power_imc_ldbar_clear_here, NULL, 1);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ldbar_clear);

/*
 * Stop all online threads from tracing. No trace is open, and the engines have been off for
 * POWER_IMC_LINGER_MS. Returns whether any traced: LDBAR may act late. May sleep.
 */
bool power_imc_ldbar_untrace(void)
{
	bool any = !cpumask_empty(&power_imc_ldbar_tracing);

	on_each_cpu_mask(&power_imc_ldbar_tracing, power_imc_ldbar_clear_here, NULL, 1);
	/* A CPU that has lost its LDBAR may have gone offline since. */
	cpumask_clear(&power_imc_ldbar_tracing);
	return any;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_ldbar_untrace);

/* Was LDBAR of a CPU written by this driver, and not by a kernel before? */
bool power_imc_ldbar_is_clean(int cpu)
{
	return cpumask_test_cpu(cpu, &power_imc_ldbar_clean);
}

/* Leave nothing of a predecessor in this CPU's LDBAR. Interrupts are off. */
void power_imc_ldbar_clean_up(void)
{
	if (!power_imc_ldbar_is_clean(smp_processor_id()))
		power_imc_ldbar_clear_here(NULL);
}

struct power_imc_core *power_imc_core_of(struct power_imc *imc, int cpu)
{
	return &imc->cores[cpu_core_index_of_thread(cpu)];
}

static bool power_imc_core_has(u32 pir, int cpu)
{
	return get_hard_smp_processor_id(cpu) / POWER_IMC_CORE_THREADS ==
	       pir / POWER_IMC_CORE_THREADS;
}

/*
 * Registers may be lost in deep sleep while the engine is off, so they are always set. The page is
 * set for a trace as well, since the core may count there all the same.
 */
static int power_imc_engine_set_up(const struct power_imc_core *core)
{
	const struct power_imc_firmware *firmware = core->imc->firmware;
	int err;

	raw_spin_lock(&power_imc_set_up_lock);
	err = firmware->init(POWER_IMC_TYPE_CORE, core->pir, __pa(core->page));
	/* Of a trace it has no address: each thread's LDBAR has it. */
	if (!err && core->type == POWER_IMC_TYPE_TRACE)
		err = firmware->init(POWER_IMC_TYPE_TRACE, core->pir, 0);
	raw_spin_unlock(&power_imc_set_up_lock);
	return err;
}

static int power_imc_engine_switch(const struct power_imc_core *core, bool on)
{
	return core->imc->firmware->set(core->type, core->pir, on);
}

static bool power_imc_engine_is_off(struct power_imc_core *core)
{
	return !core->imc->firmware->running(core->pir, &core->answer);
}

/*
 * No source says that the register which starts an engine can be read. If it reads as off right
 * after the start, it says nothing later either, and the engine would be restarted over and over.
 */
static int power_imc_engine_start(struct power_imc_core *core)
{
	int err = power_imc_engine_set_up(core) ?: power_imc_engine_switch(core, true);

	if (err)
		return err;
	core->starts++;
	core->failed = false;
	core->missing = false;
	core->tells = !power_imc_engine_is_off(core);
	if (!core->tells)
		dev_notice_once(core->imc->dev, "the engine of CPU %d's core reads as off right after its start: it is not checked later\n",
				core->first_cpu);
	return 0;
}

/*
 * An engine that does not stop may go on writing to memory. So the memory, the module and the
 * session are kept until it can be stopped. Called with core->lock. Returns the change in the
 * number of the session's holders.
 */
static int power_imc_engine_stop(struct power_imc_core *core)
{
	int err = power_imc_engine_switch(core, false);

	if (!err && core->stuck) {
		core->stuck = false;
		module_put(THIS_MODULE);
		return -1;
	}
	/*
	 * A module that is being unloaded cannot be kept. power_imc_engines_end() reports what
	 * happens to the memory.
	 */
	if (!err || core->stuck || !try_module_get(THIS_MODULE))
		return 0;
	core->stuck = true;
	dev_warn(core->imc->dev, "the engine of CPU %d's core could not be stopped (%pe): the module stays, and no other kind of unit can be used, until an event of this kind is closed and it can\n",
		 core->first_cpu, ERR_PTR(err));
	return 1;
}

/*
 * Call @func on a CPU of a core. A core in deep sleep does not answer other CPUs; this call wakes
 * it. Returns false if none of its CPUs is online: then @func is called on this CPU, and if the
 * core does not answer its engine is off. With interrupts off, call this only on a CPU of the core.
 */
static bool power_imc_core_call(struct power_imc_core *core, smp_call_func_t func)
{
	int cpu, here = get_cpu();

	/* A CPU that goes offline in between is not found again. */
	if (!power_imc_core_has(core->pir, here))
		for_each_online_cpu(cpu)
			if (power_imc_core_has(core->pir, cpu) &&
			    !smp_call_function_single(cpu, func, core, true)) {
				put_cpu();
				return true;
			}
	func(core);
	put_cpu();
	return power_imc_core_has(core->pir, here);
}

/* Called with core->lock. A failure is reported once, though there may be many attempts. */
static void power_imc_engine_restart(struct power_imc_core *core)
{
	int err = core->imc->halted ? 0 : power_imc_engine_start(core);

	if (!err || core->failed)
		return;
	core->failed = true;
	dev_warn(core->imc->dev, "the engine of CPU %d's core could not be started again (%pe): events do not count there\n",
		 core->first_cpu, ERR_PTR(err));
}

/*
 * A box is engaged, and the engine is on after this unless it is paused. No source says that LDBAR
 * may begin to name something under an engine that is on. So it is written first, and if the core's
 * other threads use the engine it is off meanwhile. Called with core->lock.
 */
static int power_imc_engine_join(struct power_imc_core *core, u64 ldbar)
{
	bool point = ldbar && (mfspr(SPRN_LDBAR) ^ ldbar) & ~POWER_IMC_LDBAR_ENABLE;
	int err = 0;

	if (point && (core->stuck || (core->users && !core->paused)))
		err = power_imc_engine_switch(core, false);
	if (err)
		return err;
	if (point)
		power_imc_ldbar_write(core->imc, ldbar);
	if (core->paused || (core->users && !point))
		return 0;
	if (!core->users)
		return power_imc_engine_start(core);
	power_imc_engine_restart(core);
	return core->failed ? -EIO : 0;
}

/*
 * A box is engaged on this CPU of @core: use the engine for a kind of unit. LDBAR has to name
 * @ldbar, or nothing if that is 0; POWER_IMC_LDBAR_ENABLE is not looked at. Interrupts are off.
 * Returns -EBUSY while another kind has the engines, -ENODEV when they are off for good, or the
 * firmware's error.
 */
int power_imc_engine_get(struct power_imc_core *core, enum power_imc_type type, u64 ldbar)
{
	int more = -1, err = power_imc_session_hold(type);

	if (err)
		return err;
	err = -ENODEV;
	raw_spin_lock(&core->lock);
	power_imc_ldbar_clean_up();
	if (!core->imc->halted) {
		if (!core->users) {
			core->type = type;
			core->misses = 0;
		}
		err = power_imc_engine_join(core, ldbar);
		/* The firmware may have done a part of what it was asked for. */
		if (err && !core->users)
			more += power_imc_engine_stop(core);
		if (err)
			dev_warn_ratelimited(core->imc->dev, "the engine of CPU %d's core could not be started (%pe): events do not count there\n",
					     core->first_cpu, ERR_PTR(err));
	}
	core->users += !err;
	raw_spin_unlock(&core->lock);
	if (err)
		power_imc_session_add_holders(more);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engine_get);

/*
 * Have LDBAR name something again, while this CPU's box is engaged. The engine is off meanwhile.
 * Interrupts are off, where printing is allowed. Returns 0, or the firmware's error: the engine did
 * not stop, and LDBAR is as it was.
 */
int power_imc_engine_point(struct power_imc_core *core, u64 ldbar)
{
	int err = 0;

	raw_spin_lock(&core->lock);
	if (core->users && !core->imc->halted)
		err = power_imc_engine_join(core, ldbar);
	raw_spin_unlock(&core->lock);
	return err;
}

/*
 * A box is disengaged on this CPU of @core. An engine that does not stop holds the session until it
 * does, since it may still be on. Interrupts are off.
 */
void power_imc_engine_put(struct power_imc_core *core)
{
	int more = -1;

	raw_spin_lock(&core->lock);
	if (!--core->users) {
		core->failed = false;
		more += power_imc_engine_stop(core);
	}
	raw_spin_unlock(&core->lock);
	power_imc_session_add_holders(more);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engine_put);

static void power_imc_engine_pause_here(void *data)
{
	struct power_imc_core *core = data;
	unsigned long flags;

	raw_spin_lock_irqsave(&core->lock, flags);
	/* From here on no code starts the engine. */
	core->paused = true;
	core->pause_error = 0;
	/* An engine without users may be on if it could not be stopped. */
	if (core->users || core->stuck)
		core->pause_error = power_imc_engine_switch(core, false);
	raw_spin_unlock_irqrestore(&core->lock, flags);
}

/*
 * Turn a core's engine off until power_imc_engine_resume(). A box that is engaged meanwhile, on
 * another CPU of the core, gets the engine then. Hotplug is held off, so that one CPU at a time
 * does this; otherwise as power_imc_core_call(). If the firmware cannot stop the engine, returns
 * its error, and the engine is not paused.
 */
int power_imc_engine_pause(struct power_imc_core *core)
{
	/* If none of its CPUs is online it is asleep, whatever the firmware says. */
	if (!power_imc_core_call(core, power_imc_engine_pause_here))
		return 0;
	if (core->pause_error)
		power_imc_engine_resume(core);
	return core->pause_error;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engine_pause);

static void power_imc_engine_resume_here(void *data)
{
	struct power_imc_core *core = data;
	unsigned long flags;

	raw_spin_lock_irqsave(&core->lock, flags);
	if (core->paused && core->users)
		power_imc_engine_restart(core);
	core->paused = false;
	raw_spin_unlock_irqrestore(&core->lock, flags);
}

/* Nothing happens unless the engine is paused. Context: as power_imc_core_call(). */
void power_imc_engine_resume(struct power_imc_core *core)
{
	power_imc_core_call(core, power_imc_engine_resume_here);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engine_resume);

/*
 * Is the engine off although it should be on? A core that does not answer is asleep. Called with
 * core->lock.
 */
static bool power_imc_engine_is_missing(struct power_imc_core *core)
{
	return core->users && !core->paused && !core->imc->halted &&
	       (core->failed || (core->tells && power_imc_engine_is_off(core)));
}

/*
 * Is a core's engine on, as far as that is known? Not in an NMI, nor under locks of the scheduler:
 * others print with the core's lock.
 */
bool power_imc_engine_is_on(struct power_imc_core *core)
{
	unsigned long flags;
	bool on;

	raw_spin_lock_irqsave(&core->lock, flags);
	on = core->users && !core->paused && !core->imc->halted &&
	     !power_imc_engine_is_missing(core);
	raw_spin_unlock_irqrestore(&core->lock, flags);
	return on;
}

/*
 * What a core or thread has posted: it changes with each post in which anything has counted. What
 * is between the counters of lines is not published.
 */
u64 power_imc_page_sum(const __be64 *page)
{
	u64 sum = 0;

	for (const __be64 *line = page; line < page + POWER_IMC_PAGE_SIZE / sizeof(*page);
	     line += POWER_IMC_LINE_WORDS)
		for (unsigned int i = POWER_IMC_LINE_FIRST; i <= POWER_IMC_LINE_LAST; i++)
			sum += be64_to_cpu(READ_ONCE(line[i]));
	return sum;
}

static void power_imc_engine_look_here(void *data)
{
	struct power_imc_core *core = data;
	unsigned long flags;
	bool missing, posts, again = false, last;

	raw_spin_lock_irqsave(&core->lock, flags);
	missing = power_imc_engine_is_missing(core);
	/* One that could not be started is tried again, even if it did not stop before that. */
	posts = core->posts && !core->failed;
	if (missing)
		core->restarts++;
	if (missing && !posts) {
		/* If the register does not tell the truth, the engine is on. */
		power_imc_engine_switch(core, false);
		power_imc_engine_restart(core);
		again = !core->failed;
	}
	last = (missing && posts) || (again && ++core->misses >= POWER_IMC_LOOKS);
	if (last)
		core->tells = false;
	raw_spin_unlock_irqrestore(&core->lock, flags);
	if (again)
		dev_warn_ratelimited(core->imc->dev, "the engine of CPU %d's core was off, as after a deep sleep, and is started again: counts are missing\n",
				     core->first_cpu);
	if (last)
		dev_warn(core->imc->dev, "the engine of CPU %d's core reads as off, but may be on: it is not checked any more, and counts may be missing\n",
			 core->first_cpu);
}

/*
 * Start engines again that should be on, but are off at two looks. At the second one the core is
 * woken up: asleep, it does not answer. One that has posted in between is on. In process context.
 */
void power_imc_engines_look(struct power_imc_core *cores, unsigned int nr)
{
	for (struct power_imc_core *core = cores; core < cores + nr; core++) {
		unsigned long flags;
		bool missing, again;
		u64 sum;

		if (!core->page)
			continue;
		raw_spin_lock_irqsave(&core->lock, flags);
		missing = power_imc_engine_is_missing(core);
		again = core->missing;
		core->missing = missing && !again;
		if (!missing && !again)
			core->misses = 0;
		raw_spin_unlock_irqrestore(&core->lock, flags);
		sum = missing || again ? power_imc_page_sum(core->page) : 0;
		core->posts = sum != core->posted;
		core->posted = sum;
		if (again)
			power_imc_core_call(core, power_imc_engine_look_here);
	}
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engines_look);

static void power_imc_engine_quiesce_here(void *data)
{
	struct power_imc_core *core = data;

	core->pause_error = power_imc_engine_switch(core, false);
}

/*
 * Stop the engines of the whole machine, also of cores that only another kernel has used. If none
 * of a core's CPUs is online, and it does not answer, it is asleep and its engine is off. May
 * sleep. Returns the firmware's error, which has been reported: an engine may be on.
 */
int power_imc_engines_quiesce(struct power_imc *imc)
{
	struct power_imc_core core = { .imc = imc, .type = POWER_IMC_TYPE_CORE };
	struct device_node *np;
	int first = 0;

	for_each_of_cpu_node(np) {
		if (of_property_read_u32(np, "ibm,ppc-interrupt-server#s", &core.pir) ||
		    !power_imc_core_call(&core, power_imc_engine_quiesce_here) || !core.pause_error)
			continue;
		dev_err(imc->dev, "the engine of the core with PIR %#x could not be stopped (%pe): it may go on writing to memory\n",
			core.pir, ERR_PTR(core.pause_error));
		first = first ?: core.pause_error;
	}
	return first;
}

/*
 * Sleep until a time of ktime_get_ns(). msleep() counts jiffies: where these lag behind, as after
 * interrupts were off for long, it ends too early.
 */
void power_imc_sleep_until(u64 when)
{
	u64 now;

	while ((now = ktime_get_ns()) < when)
		msleep(DIV_ROUND_UP_ULL(when - now, NSEC_PER_MSEC));
}

/* Wait until the last writes of the engines have arrived in memory. */
void power_imc_engines_wait(void)
{
	power_imc_sleep_until(ktime_get_ns() + POWER_IMC_LINGER_MS * NSEC_PER_MSEC);
}

/* Stop every engine for good. Returns the firmware's error, which was reported. May sleep. */
static int power_imc_engines_off(struct power_imc *imc)
{
	unsigned long flags;
	int err;

	WRITE_ONCE(imc->halted, true);
	/*
	 * A CPU that read halted earlier may still be starting its engine: taking its lock waits
	 * for that. LDBAR needs no wait: it is written with interrupts off, so the IPI that clears
	 * it comes later.
	 */
	for (unsigned int i = 0; i < imc->nr_cores; i++) {
		if (!imc->cores[i].page)
			continue;
		raw_spin_lock_irqsave(&imc->cores[i].lock, flags);
		raw_spin_unlock_irqrestore(&imc->cores[i].lock, flags);
	}
	err = power_imc_engines_quiesce(imc);
	power_imc_engines_wait();
	return err;
}

/*
 * Stop every engine for good, and have no thread point to memory. After this nothing starts any
 * more: not for CPUs that come online, tasks that are scheduled, or events that are opened. May
 * sleep.
 */
void power_imc_engines_halt(struct power_imc *imc)
{
	power_imc_engines_off(imc);
	/* Do this even if an engine does not stop: it would write to memory of the next kernel. */
	power_imc_ldbar_clear();
}

/*
 * The device is removed. Clearing LDBAR under a running engine may stop the machine: threads trace
 * on, into memory that is kept.
 */
void power_imc_engines_end(void *data)
{
	struct power_imc *imc = data;

	if (!power_imc_engines_off(imc)) {
		power_imc_ldbar_clear();
	} else if (!imc->written) {
		imc->written = true;
		dev_err(imc->dev, "memory that an engine may still write is kept for good\n");
	}
}

/*
 * Make every core that may come online ready. Each has a whole page, whatever the catalog says of a
 * unit's size. All engines are stopped when the device is removed, even if this fails.
 */
int power_imc_engines_create(struct power_imc *imc)
{
	unsigned int nr = cpu_core_index_of_thread(nr_cpu_ids - 1) + 1;
	int cpu, err;

	/*
	 * Allocate the cores before adding the action that uses them, so that they are freed after
	 * it.
	 */
	imc->cores = devm_kcalloc(imc->dev, nr, sizeof(*imc->cores), GFP_KERNEL);
	imc->nr_cores = imc->cores ? nr : 0;
	err = devm_add_action_or_reset(imc->dev, power_imc_engines_end, imc);
	if (err || !imc->cores)
		return err ?: -ENOMEM;
	for_each_present_cpu(cpu) {
		struct power_imc_core *core = power_imc_core_of(imc, cpu);

		if (core->page)
			continue;
		raw_spin_lock_init(&core->lock);
		core->imc = imc;
		core->first_cpu = cpu;
		core->pir = get_hard_smp_processor_id(cpu);
		core->page = power_imc_memory_alloc(imc, POWER_IMC_PAGE_SIZE, cpu);
		if (!core->page)
			return -ENOMEM;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engines_create);
