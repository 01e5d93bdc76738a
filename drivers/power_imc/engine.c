// SPDX-License-Identifier: GPL-2.0-only
/*
 * The engine of a core: it writes what the core and its threads count, or trace, to
 * memory. The first powered box of the core starts it and the last stops it. Of fused
 * cores the kernel sees one where the hardware has two halves, each with an engine.
 */
#include <linux/export.h>
#include <linux/module.h>
#include <linux/of.h>
#include <linux/smp.h>
#include <asm/cputhreads.h>
#include <asm/smp.h>

#include "power_imc.h"

struct power_imc_core *power_imc_core_of(struct power_imc *imc, int cpu)
{
	return &imc->cores[cpu_core_index_of_thread(cpu)];
}

/*
 * Registers may be lost in deep sleep while the engine is off, so they are always set. The
 * page too when tracing: the core may count there all the same.
 */
static int power_imc_engine_set_up(const struct power_imc_core *core)
{
	const struct power_imc_firmware *firmware = core->imc->firmware;
	int err = 0;

	/* Where firmware sets up both halves for one it does so twice, while both are off. */
	for (unsigned int i = 0; i < core->halves && !err; i++)
		err = firmware->init_core(core->pir ^ i, __pa(core->page));
	for (unsigned int i = 0; i < core->halves && !err; i++)
		if (core->type == POWER_IMC_TYPE_TRACE)
			err = firmware->init_trace(core->pir ^ i);
	return err;
}

static int power_imc_engine_switch_half(const struct power_imc_core *core, u32 pir, bool on)
{
	const struct power_imc_firmware *firmware = core->imc->firmware;

	return core->type == POWER_IMC_TYPE_TRACE ? firmware->trace(pir, on) :
						    firmware->core(pir, on);
}

/* All halves, whatever becomes of one: the first error. */
static int power_imc_engine_stop(const struct power_imc_core *core)
{
	int first = 0;

	for (unsigned int i = 0; i < core->halves; i++) {
		int err = power_imc_engine_switch_half(core, core->pir ^ i, false);

		first = first ?: err;
	}
	return first;
}

static bool power_imc_engine_is_off(struct power_imc_core *core)
{
	for (unsigned int i = 0; i < core->halves; i++)
		if (!core->imc->firmware->running(core->pir ^ i, &core->answer))
			return true;
	return false;
}

/*
 * No source says that a switch reads as it was written. One that reads off right after it was
 * switched on tells nothing later either, and would be started again and again.
 */
static int power_imc_engine_start(struct power_imc_core *core)
{
	int err = power_imc_engine_set_up(core);

	for (unsigned int i = 0; i < core->halves && !err; i++)
		err = power_imc_engine_switch_half(core, core->pir ^ i, true);
	if (err)
		return err;
	core->failed = false;
	core->tells = !power_imc_engine_is_off(core);
	if (!core->tells)
		dev_notice_once(core->imc->dev, "the engine of CPU %d's core reads as off right after its start: nobody looks whether it stays on\n",
				core->first_cpu);
	return 0;
}

/**
 * power_imc_engine_kept() - keep the module while an engine that could not be stopped may write.
 * @core: the core
 * @kept: what this returned the last time
 * @err: what the firmware said when the engine was stopped now, or 0
 *
 * Context: any.
 * Return: whether the module is kept.
 */
bool power_imc_engine_kept(struct power_imc_core *core, bool kept, int err)
{
	if (!err) {
		if (kept)
			module_put(THIS_MODULE);
		return false;
	}
	if (kept)
		return true;
	/* A module that goes cannot be kept: what becomes of the memory its end says. */
	if (!try_module_get(THIS_MODULE))
		return false;
	dev_warn(core->imc->dev, "the engine of CPU %d's core could not be stopped (%pe): the module stays, and no other kind of unit can be used, until an event of this kind is closed and it can\n",
		 core->first_cpu, ERR_PTR(err));
	return true;
}

/*
 * An engine that does not stop may go on writing to the core's page: that, the module that
 * knows of it, and the domain are kept, until it could be stopped. Called with core->lock;
 * returns how many users of the domain are to be put.
 */
static unsigned int power_imc_engine_stopped(struct power_imc_core *core, int err)
{
	bool was_stuck = core->stuck;

	core->stuck = power_imc_engine_kept(core, was_stuck, err);
	return 1 + was_stuck - core->stuck;
}

static void power_imc_domain_put_all(enum power_imc_type type, unsigned int users)
{
	while (users--)
		power_imc_domain_put(type);
}

/* Is a CPU in the core of @pir? */
static bool power_imc_core_has(u32 pir, int cpu)
{
	u32 threads = power_imc_halves() * POWER_IMC_HALF_THREADS;

	return get_hard_smp_processor_id(cpu) / threads == pir / threads;
}

/*
 * Call @func on a CPU of a core: one that sleeps deeply answers nobody else, and wakes up for this.
 * False if none is online; then it is called here, and who does not answer is off. Not with
 * interrupts off, unless on a CPU of the core.
 */
static bool power_imc_core_call(u32 pir, smp_call_func_t func, void *data)
{
	int cpu, here = get_cpu();

	/* One that goes in between is not found again. */
	if (!power_imc_core_has(pir, here))
		for_each_online_cpu(cpu)
			if (power_imc_core_has(pir, cpu) &&
			    !smp_call_function_single(cpu, func, data, true)) {
				put_cpu();
				return true;
			}
	func(data);
	put_cpu();
	return power_imc_core_has(pir, here);
}

/**
 * power_imc_engine_get() - use the engine of a core.
 * @core: the core; this runs on one of its CPUs
 * @type: what for, POWER_IMC_TYPE_CORE, POWER_IMC_TYPE_THREAD or POWER_IMC_TYPE_TRACE
 *
 * Context: interrupts off.
 * Return: 0; -EBUSY while the system uses its engines for something else; -ENODEV when
 * they are off for good; what the firmware says.
 */
int power_imc_engine_get(struct power_imc_core *core, enum power_imc_type type)
{
	int err = power_imc_domain_get(type);
	unsigned int puts = 0;

	if (err)
		return err;
	raw_spin_lock(&core->lock);
	power_imc_ldbar_clean_up();
	if (core->imc->halted) {
		err = -ENODEV;
		puts = 1;
	} else if (!core->users) {
		core->type = type;
		/* One that is paused is started when it is resumed. */
		err = core->paused ? 0 : power_imc_engine_start(core);
		/* The firmware may have done a part of it. */
		if (err) {
			puts = power_imc_engine_stopped(core, power_imc_engine_stop(core));
			dev_warn_ratelimited(core->imc->dev, "the engine of CPU %d's core could not be started (%pe): events do not count there\n",
					     core->first_cpu, ERR_PTR(err));
		}
	}
	if (!err)
		core->users++;
	raw_spin_unlock(&core->lock);
	power_imc_domain_put_all(type, puts);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engine_get);

/* Called with core->lock. It may be tried again and again, and is told once. */
static void power_imc_engine_restart(struct power_imc_core *core)
{
	int err = core->imc->halted ? 0 : power_imc_engine_start(core);

	if (!err || core->failed)
		return;
	core->failed = true;
	dev_warn(core->imc->dev, "the engine of CPU %d's core could not be started again (%pe): events do not count there\n",
		 core->first_cpu, ERR_PTR(err));
}

/* Called with core->lock. @traces: LDBAR of this CPU has been taken back, so the engine is off. */
static unsigned int power_imc_engine_put_one(struct power_imc_core *core, bool traces)
{
	if (--core->users) {
		if (traces && !core->paused)
			power_imc_engine_restart(core);
		return 1;
	}
	core->failed = false;
	return power_imc_engine_stopped(core, traces ? 0 : power_imc_engine_stop(core));
}

/**
 * power_imc_engine_put() - one user of a core's engine less.
 * @core: the core; this runs on one of its CPUs
 * @traces: LDBAR of this CPU traces, and is to be cleared
 *
 * To clear it while the engine is on may stop a machine, so the engine is off meanwhile, whoever
 * else uses it. If it does not stop, LDBAR stays, and so does the user.
 *
 * Else an engine that does not stop stays a user of its domain until it does: it may still be on.
 *
 * Context: interrupts off.
 * Return: 0; if @traces, what the firmware says: then this is to be called again.
 */
int power_imc_engine_put(struct power_imc_core *core, bool traces)
{
	enum power_imc_type type = core->type;
	unsigned int puts = 0;
	int err = 0;

	raw_spin_lock(&core->lock);
	if (traces)
		err = power_imc_engine_stop(core);
	if (!err) {
		if (traces)
			power_imc_ldbar_clear_here();
		puts = power_imc_engine_put_one(core, traces);
	}
	raw_spin_unlock(&core->lock);
	power_imc_domain_put_all(type, puts);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engine_put);

static void power_imc_engine_pause_here(void *data)
{
	struct power_imc_core *core = data;
	unsigned long flags;
	int err = 0;

	raw_spin_lock_irqsave(&core->lock, flags);
	/* One that nobody uses may be on if it could not be stopped. */
	if (core->users || core->stuck)
		err = power_imc_engine_stop(core);
	core->paused = !err;
	core->pause_error = err;
	/* A half of it may be off. */
	if (core->users && err)
		power_imc_engine_restart(core);
	raw_spin_unlock_irqrestore(&core->lock, flags);
}

/**
 * power_imc_engine_pause() - have the engine of a core off, up to power_imc_engine_resume().
 * @core: the core
 *
 * Whoever uses it meanwhile, on another CPU of the core, has it started by that.
 *
 * Context: as power_imc_core_call(); with hotplug held off, so that one CPU at a time does this.
 * Return: 0, or what the firmware says: then it is on, or may be, and not paused.
 */
int power_imc_engine_pause(struct power_imc_core *core)
{
	power_imc_core_call(core->pir, power_imc_engine_pause_here, core);
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

/**
 * power_imc_engine_resume() - the opposite of power_imc_engine_pause().
 * @core: the core; nothing happens unless it is paused
 *
 * Context: as power_imc_core_call().
 */
void power_imc_engine_resume(struct power_imc_core *core)
{
	power_imc_core_call(core->pir, power_imc_engine_resume_here, core);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engine_resume);

/* Should the engine be on, and is not? One that does not answer sleeps. Called with core->lock. */
static bool power_imc_engine_is_missing(struct power_imc_core *core)
{
	return core->users && !core->paused && !core->imc->halted &&
	       (core->failed || (core->tells && power_imc_engine_is_off(core)));
}

static void power_imc_engine_look_here(void *data)
{
	struct power_imc_core *core = data;
	unsigned long flags;
	bool again;

	raw_spin_lock_irqsave(&core->lock, flags);
	again = power_imc_engine_is_missing(core);
	if (again) {
		core->restarts++;
		/* Only what is off is set up, and a half of it may be on. */
		power_imc_engine_stop(core);
		power_imc_engine_restart(core);
		again = !core->failed;
	}
	raw_spin_unlock_irqrestore(&core->lock, flags);
	if (again)
		dev_notice_ratelimited(core->imc->dev, "the engine of CPU %d's core was off, as after a deep sleep, and is started again: counts are missing\n",
				       core->first_cpu);
}

/**
 * power_imc_engine_look() - start an engine again that should be on, and is not.
 * @core: the core; it is not woken up unless there is something to start
 *
 * Context: process.
 */
void power_imc_engine_look(struct power_imc_core *core)
{
	unsigned long flags;
	bool missing;

	raw_spin_lock_irqsave(&core->lock, flags);
	missing = power_imc_engine_is_missing(core);
	raw_spin_unlock_irqrestore(&core->lock, flags);
	if (missing)
		power_imc_core_call(core->pir, power_imc_engine_look_here, core);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_engine_look);

struct power_imc_quiesce {
	const struct power_imc_firmware *firmware;
	u32 pir;
	int err;
};

static void power_imc_engine_quiesce_here(void *data)
{
	struct power_imc_quiesce *quiesce = data;

	for (unsigned int i = 0; i < power_imc_halves(); i++) {
		int err = quiesce->firmware->core(quiesce->pir ^ i, false);

		quiesce->err = quiesce->err ?: err;
	}
}

static int power_imc_engine_quiesce(struct power_imc *imc, u32 pir)
{
	struct power_imc_quiesce quiesce = { .firmware = imc->firmware, .pir = pir };
	bool online = power_imc_core_call(pir, power_imc_engine_quiesce_here, &quiesce);

	if (!quiesce.err || !online)
		return 0;
	dev_err(imc->dev, "the engine of the core with PIR %#x could not be stopped (%pe): it may go on writing to memory\n",
		pir, ERR_PTR(quiesce.err));
	return quiesce.err;
}

/**
 * power_imc_engines_quiesce() - stop every engine, whoever started it.
 * @imc: the device
 *
 * All cores that the machine has, not only those that this kernel runs on. A core without a
 * CPU that is online, and that does not answer, is asleep, and its engine with it.
 *
 * Context: may sleep.
 * Return: 0, or what the firmware says, which has been reported: an engine may be on.
 */
int power_imc_engines_quiesce(struct power_imc *imc)
{
	struct device_node *np;
	int first = 0;
	u32 pir;

	for_each_of_cpu_node(np) {
		int err = of_property_read_u32(np, "ibm,ppc-interrupt-server#s", &pir) ? 0 :
			  power_imc_engine_quiesce(imc, pir);

		first = first ?: err;
	}
	return first;
}

/**
 * power_imc_engines_halt() - stop every engine for good, and have no thread point to memory.
 * @imc: the device
 *
 * Nothing is started any more, whoever wants it: CPUs that come online, tasks that are
 * scheduled, events that are opened.
 *
 * Context: may sleep.
 */
void power_imc_engines_halt(struct power_imc *imc)
{
	unsigned long flags;

	WRITE_ONCE(imc->halted, true);
	/* Who has seen it unset has started by now. LDBAR is written with interrupts off. */
	for (unsigned int i = 0; i < imc->nr_cores; i++) {
		if (!imc->cores[i].page)
			continue;
		raw_spin_lock_irqsave(&imc->cores[i].lock, flags);
		raw_spin_unlock_irqrestore(&imc->cores[i].lock, flags);
	}
	power_imc_engines_quiesce(imc);
	power_imc_memory_settle();
	/* Also where an engine does not stop: it would write to memory of the next kernel's. */
	power_imc_ldbar_clear();
}
