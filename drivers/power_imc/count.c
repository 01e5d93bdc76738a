// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that count: what a config means, and how counters in memory are read, the nest's included.
 *
 * core_imc: what a core counts, all its threads together. A box per core.
 *
 * thread_imc: what a task's thread counts, on any CPU where it runs. A box per CPU, which counts
 * while the task of one of its events is scheduled: then LDBAR says so.
 */
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/export.h>
#include <linux/irq_work.h>
#include <linux/ktime.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/workqueue.h>
#include <asm/reg.h>
#include <asm/time.h>

#include "power_imc.h"

/*
 * Of a thread's counting that has ended, after so long at least, these are looked at; if so many
 * are not in its page, none is.
 */
#define POWER_IMC_RUN_US	100
#define POWER_IMC_TRIALS	8
#define POWER_IMC_MISSES	3
/* What is posted within this time anyway is not missed. */
#define POWER_IMC_SOON_US	2

/* If so many times a core posts nothing for POWER_IMC_POST_MS, the log says so. */
#define POWER_IMC_SLOW_POSTS	3

/* Names of the in-tree driver. All but event are other names for bits of it. */
const struct pmu_format power_imc_formats[] = {
	{ .name = "event", .mask = POWER_IMC_CONFIG_EVENT, .always = true },
	{ .name = "offset", .mask = POWER_IMC_CONFIG_OFFSET, .alias = true },
	{ .name = "rvalue", .mask = POWER_IMC_CONFIG_RVALUE, .alias = true },
	{ .name = "mode", .mask = POWER_IMC_CONFIG_MODE, .alias = true },
};

const unsigned int power_imc_nr_formats = ARRAY_SIZE(power_imc_formats);

/*
 * Can a config's counter be read? Its 8 bytes have to lie on a multiple of 8, wholly inside of the
 * unit, and not in the control block of the microcode. The meaning of rvalue and mode is not
 * published, so they have to be 0.
 */
int power_imc_offset_check(const struct power_imc_unit *unit, u64 config)
{
	if (config % sizeof(u64) || config + sizeof(u64) > unit->size)
		return -EINVAL;
	if (unit->type == POWER_IMC_TYPE_NEST && config >= unit->control_offset &&
	    config < unit->control_offset + POWER_IMC_NEST_CB_SIZE)
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_offset_check);

/* The hardware stores whole doublewords, so a reader never sees half of one. Any context. */
int power_imc_counter_read(const void *base, const struct pmu_event *ev, u64 *value)
{
	const __be64 *counter = base + ev->event->attr.config;

	*value = be64_to_cpu(READ_ONCE(*counter));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_counter_read);

/* Runs in an irq_work: the caller that reads a counter may hold locks that printing needs. */
static void power_imc_restart_tell(struct irq_work *work)
{
	static DEFINE_RATELIMIT_STATE(limit, 60 * HZ, 1);

	if (__ratelimit(&limit))
		pr_warn("power_imc_pmu: counters in memory have begun anew at 0, as when a chip's microcode is restarted: what they had counted since they were last read is lost\n");
}

static DEFINE_IRQ_WORK(power_imc_restart_work, power_imc_restart_tell);

/*
 * Counters in memory have 64 bits and never wrap, so a smaller value means that the microcode has
 * restarted. The limit of reports is there since a microcode has many counters.
 */
void power_imc_counter_restarted(struct pmu_box *box, struct pmu_event *ev)
{
	irq_work_queue(&power_imc_restart_work);
}

static atomic_t power_imc_unposted_told = ATOMIC_INIT(0);
static struct power_imc_core *power_imc_unposted_core;	/* of who tells */

/* Counts are not missed at the end of counting if the engine is off, which is told elsewhere. */
static void power_imc_unposted_tell(struct irq_work *work)
{
	if (!power_imc_engine_is_on(power_imc_unposted_core)) {
		atomic_set_release(&power_imc_unposted_told, 0);
		return;
	}
	pr_warn("power_imc_pmu: a thread's last counts are not in its page when LDBAR ends its counting: each time that a task of a thread event stops running they are missing, or come with the next task\n");
}

static DEFINE_IRQ_WORK(power_imc_unposted_work, power_imc_unposted_tell);

/* On the CPU, which may hold locks of the scheduler when it finds out. */
static void power_imc_lost_tell(struct irq_work *work)
{
	pr_warn_ratelimited("power_imc_pmu: LDBAR of CPU %d does not keep what is written to it (is it the whole core's?): counts of thread events are missing, or another's\n",
			    raw_smp_processor_id());
}

static DEFINE_IRQ_WORK(power_imc_lost_work, power_imc_lost_tell);

/* No event is open any more, and the device is still there. May sleep. */
void power_imc_counter_exit(void)
{
	irq_work_sync(&power_imc_lost_work);
	irq_work_sync(&power_imc_restart_work);
	irq_work_sync(&power_imc_unposted_work);
}

/* An inherited event uses the session of its parent, which is freed later. */
static int power_imc_counter_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	const struct power_imc_unit *unit = to_imc_unit(desc);

	if (ev->event->parent)
		return 0;
	return power_imc_offset_check(unit, ev->event->attr.config) ?:
	       power_imc_session_open(unit->type);
}

/* Of trace events, too. */
void power_imc_event_free(const struct pmu_desc *desc, struct pmu_event *ev)
{
	if (!ev->event->parent)
		power_imc_session_close();
}

/*
 * No source says how often a core posts what it has counted. So the first one that counts is
 * watched until two posts follow each other soon, or several times none does. This wakes one of its
 * CPUs so often that there is something to post.
 */
static void power_imc_core_watch(struct work_struct *work)
{
	struct power_imc *imc = container_of(work, struct power_imc, posts_work);
	struct power_imc_core *core = power_imc_core_of(imc, raw_smp_processor_id());
	unsigned int starts = READ_ONCE(core->starts), posts = 0, slow = 0;
	u64 now, more, sum = power_imc_page_sum(core->page), last = ktime_get_ns();

	while (posts < 2 && slow < POWER_IMC_SLOW_POSTS) {
		usleep_range(100, 200);
		now = ktime_get_ns();
		more = power_imc_page_sum(core->page);
		/*
		 * If the work has gone to another core, since this CPU is offline, or the engine is
		 * off, or was, or traces, the next one that starts is watched.
		 */
		if (core != power_imc_core_of(imc, raw_smp_processor_id()) ||
		    !power_imc_engine_is_on(core) || READ_ONCE(core->starts) != starts ||
		    READ_ONCE(core->type) != POWER_IMC_TYPE_CORE || READ_ONCE(imc->posts_known))
			return;
		if (more != sum) {
			posts++;
			sum = more;
			last = ktime_get_ns();
		} else if (now - last >= POWER_IMC_POST_MS * NSEC_PER_MSEC) {
			slow++;
			posts = 0;
			last = now;
		}
	}
	WRITE_ONCE(imc->posts_known, true);
	if (posts < 2)
		dev_warn(imc->dev, "cores write their counts less often than each %u ms: what core events have counted last is missing when they are read\n",
			 POWER_IMC_POST_MS);
}

static void power_imc_core_unwatch(void *imc)
{
	cancel_work_sync(&((struct power_imc *)imc)->posts_work);
}

static int power_imc_core_engage(struct pmu_box *box)
{
	struct power_imc_core *core = pmu_box_priv(box);
	int err = power_imc_engine_get(core, POWER_IMC_TYPE_CORE, 0);

	if (!err && !READ_ONCE(core->imc->posts_known))
		schedule_work(&core->imc->posts_work);
	return err;
}

static void power_imc_core_disengage(struct pmu_box *box)
{
	power_imc_engine_put(pmu_box_priv(box));
}

static int power_imc_core_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	const struct power_imc_core *core = pmu_box_priv(box);

	return power_imc_counter_read(core->page, ev, value);
}

static const struct pmu_box_ops power_imc_core_ops = {
	.event_init = power_imc_counter_event_init,
	.event_free = power_imc_event_free,
	.engage = power_imc_core_engage,
	.disengage = power_imc_core_disengage,
	.read = power_imc_core_read,
	.restarted = power_imc_counter_restarted,
};

/* Register a unit that counts per core. */
int power_imc_core_register(struct power_imc_unit *unit)
{
	struct power_imc *imc = unit->imc;
	int err = 0;

	if (!imc->posts_work.func) {
		err = devm_add_action(imc->dev, power_imc_core_unwatch, imc);
		if (err)
			return err;
		INIT_WORK(&imc->posts_work, power_imc_core_watch);
	}
	dev_notice(imc->dev, "%s: if the hardware counts what guests of KVM do, so do its events\n",
		   unit->name);
	unit->desc.ops = &power_imc_core_ops;
	unit->desc.scope = PMU_SCOPE_CORE;
	/* No source says that a core counts nothing while its engine is off. */
	unit->desc.settle_ms = POWER_IMC_POST_MS;
	for (unsigned int i = 0; i < imc->nr_cores && !err; i++) {
		struct power_imc_core *core = &imc->cores[i];
		int cpu = core->first_cpu;

		if (core->page)
			err = devm_pmu_box_register(imc->dev, &unit->desc, unit->name,
						    PMU_CORE_ID(topology_physical_package_id(cpu),
								topology_core_id(cpu)), core);
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_core_register);

static int power_imc_thread_engage(struct pmu_box *box)
{
	struct power_imc_thread *thread = pmu_box_priv(box);

	thread->lost = false;
	return power_imc_engine_get(thread->core, POWER_IMC_TYPE_THREAD,
				    thread->ldbar & ~POWER_IMC_LDBAR_ENABLE);
}

static void power_imc_thread_disengage(struct pmu_box *box)
{
	const struct power_imc_thread *thread = pmu_box_priv(box);

	power_imc_engine_put(thread->core);
}

/*
 * No source says that the last counts are in the page when LDBAR has been written. So the first
 * times that a CPU ends counting, the page is read before that and where events are read. By chance
 * a post may fall in between, and a task may have done nothing that is counted.
 */
static void power_imc_thread_try(struct power_imc_thread *thread)
{
	bool missed = power_imc_page_sum(thread->page) == thread->before;

	thread->trying = false;
	thread->trials++;
	thread->misses += missed;
	if (missed && thread->misses == POWER_IMC_MISSES &&
	    !atomic_xchg(&power_imc_unposted_told, 1)) {
		power_imc_unposted_core = thread->core;
		irq_work_queue(&power_imc_unposted_work);
	}
}

static int power_imc_thread_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	struct power_imc_thread *thread = pmu_box_priv(box);
	int err = power_imc_counter_read(thread->page, ev, value);

	/* After the read, which would have the time that this takes to be right. */
	if (thread->trying && !in_nmi())
		power_imc_thread_try(thread);
	return err;
}

/*
 * Does LDBAR not name the page? It may have been lost in deep sleep, another program may write it,
 * or the threads of a core share it. No source says whether its other bits can be read. The log
 * says so once while the box is engaged.
 */
static bool power_imc_thread_is_lost(struct power_imc_thread *thread)
{
	if (!((mfspr(SPRN_LDBAR) ^ thread->ldbar) & POWER_IMC_BAR_ADDRESS) ||
	    READ_ONCE(thread->core->imc->halted))
		return false;
	thread->lost = thread->lost || irq_work_queue(&power_imc_lost_work);
	return true;
}

/*
 * The in-tree driver does the same for each event that starts or stops. Without it, a read would
 * miss what has been counted since the page was last written.
 */
static void power_imc_thread_freeze(struct pmu_box *box)
{
	struct power_imc_thread *thread = pmu_box_priv(box);

	/* What is frozen first has not counted. */
	if (!power_imc_thread_is_lost(thread) && thread->since &&
	    thread->trials < POWER_IMC_TRIALS &&
	    get_tb() - thread->since > POWER_IMC_RUN_US * tb_ticks_per_usec) {
		thread->before = power_imc_page_sum(thread->page);
		udelay(POWER_IMC_SOON_US);
		thread->trying = power_imc_page_sum(thread->page) == thread->before;
		thread->trials += !thread->trying;
	}
	power_imc_ldbar_write(thread->core->imc, thread->ldbar & ~POWER_IMC_LDBAR_ENABLE);
}

static void power_imc_thread_thaw(struct pmu_box *box)
{
	struct power_imc_thread *thread = pmu_box_priv(box);

	thread->trying = false;
	thread->since = get_tb();
	power_imc_ldbar_write(thread->core->imc, thread->ldbar);
}

static const struct pmu_box_ops power_imc_thread_ops = {
	.event_init = power_imc_counter_event_init,
	.event_free = power_imc_event_free,
	.engage = power_imc_thread_engage,
	.disengage = power_imc_thread_disengage,
	.read = power_imc_thread_read,
	.restarted = power_imc_counter_restarted,
	.freeze = power_imc_thread_freeze,
	.thaw = power_imc_thread_thaw,
};

/* Give every present CPU a page, and compute the LDBAR value with which it counts there. */
int power_imc_threads_create(struct power_imc *imc)
{
	int cpu;

	imc->threads = devm_kcalloc(imc->dev, nr_cpu_ids, sizeof(*imc->threads), GFP_KERNEL);
	if (!imc->threads)
		return -ENOMEM;
	for_each_present_cpu(cpu) {
		struct power_imc_thread *thread = &imc->threads[cpu];

		thread->core = power_imc_core_of(imc, cpu);
		thread->page = power_imc_memory_alloc(imc, POWER_IMC_PAGE_SIZE, cpu);
		if (!thread->page)
			return -ENOMEM;
		thread->ldbar = power_imc_ldbar(__pa(thread->page), POWER_IMC_LDBAR_ENABLE);
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_threads_create);

/* Register a unit that counts per thread. */
int power_imc_thread_register(struct power_imc_unit *unit)
{
	struct power_imc *imc = unit->imc;
	int cpu, err = 0;

	unit->desc.ops = &power_imc_thread_ops;
	unit->desc.scope = PMU_SCOPE_CPU;
	unit->desc.tasks = PMU_TASKS_ONLY;
	unit->desc.privileged = true;
	for_each_present_cpu(cpu) {
		err = devm_pmu_box_register(imc->dev, &unit->desc, unit->name, cpu,
					    &imc->threads[cpu]);
		if (err)
			break;
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_thread_register);
