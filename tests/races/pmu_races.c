// SPDX-License-Identifier: GPL-2.0-only
/*
 * Data races of our modules, for any kernel: what KCSAN does, for accesses of modules that are built with
 * -fsanitize=thread. Now and then an access waits for a moment, and whoever else accesses the same memory
 * meanwhile, on another CPU or in an interrupt, races with it: unless both read, or both are marked
 * (READ_ONCE(), WRITE_ONCE(); atomic operations are in assembly and not seen). A race is a line "BUG:".
 *
 * The kernel's own accesses are not seen. A value that one of these has changed is told without a complaint.
 */
#include <linux/delay.h>
#include <linux/irq_work.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/timekeeping.h>

static unsigned int often = 100;
module_param(often, uint, 0444);
MODULE_PARM_DESC(often, "one of so many accesses waits");

#define WATCHED_MAX 8
#define RACES_MAX 32
#define DEPTH 14

struct side {
	unsigned long ip;
	const char *what;
	unsigned long stack[DEPTH];
	unsigned int depth;
};

/* The one that waited is the first side. The kernel's own is not known. */
struct race {
	struct side sides[2];
	size_t size;
	bool complete, told;
};

static struct watched {
	unsigned long address, ip;
	size_t size;
	bool write, met;
	struct race *race;
} watched[WATCHED_MAX];

static DEFINE_RAW_SPINLOCK(lock);
static unsigned int nr_watched, nr_races;
static struct race races[RACES_MAX];
static atomic_t waits = ATOMIC_INIT(0);
static DEFINE_PER_CPU(int, skip);

static const char *kind(bool write, bool marked)
{
	return write ? (marked ? "marked write" : "write") : marked ? "marked read" : "read";
}

static void tell_side(const struct side *side)
{
	pr_info("  %s in %pS, of\n", side->what, (void *)side->ip);
	for (unsigned int i = 0; i < side->depth; i++)
		pr_info("    %pS\n", (void *)side->stack[i]);
}

/* Accesses are made under locks that printk() may need. */
static void tell(struct irq_work *work)
{
	for (unsigned int i = 0; i < READ_ONCE(nr_races); i++) {
		struct race *race = &races[i];

		if (!smp_load_acquire(&race->complete) || race->told)
			continue;
		race->told = true;
		if (race->sides[1].ip)
			pr_err("BUG: data race for %zu bytes: %ps and %ps\n", race->size,
			       (void *)race->sides[0].ip, (void *)race->sides[1].ip);
		else
			pr_info("changed by the kernel, %zu bytes: %ps\n", race->size,
				(void *)race->sides[0].ip);
		tell_side(&race->sides[0]);
		if (race->sides[1].ip)
			tell_side(&race->sides[1]);
	}
}

static DEFINE_IRQ_WORK(telling, tell);

/* NULL if there was such a race before. */
static struct race *new_race(unsigned long first, unsigned long second, size_t size)
{
	for (unsigned int i = 0; i < nr_races; i++)
		if (races[i].sides[0].ip == first && races[i].sides[1].ip == second)
			return NULL;
	if (nr_races == RACES_MAX)
		return NULL;
	races[nr_races].size = size;
	races[nr_races].sides[0].ip = first;
	races[nr_races].sides[1].ip = second;
	return &races[nr_races++];
}

static void fill(struct side *side, bool write, bool marked)
{
	side->what = kind(write, marked);
	side->depth = stack_trace_save(side->stack, DEPTH, 2);
}

static void meet(unsigned long address, size_t size, bool write, bool marked, unsigned long ip)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&lock, flags);
	for (unsigned int i = 0; i < WATCHED_MAX; i++) {
		struct watched *other = &watched[i];

		if (!other->size || other->met || address + size <= other->address ||
		    other->address + other->size <= address || !(write || other->write))
			continue;
		other->met = true;
		other->race = new_race(other->ip, ip, size);
		if (other->race)
			fill(&other->race->sides[1], write, marked);
	}
	raw_spin_unlock_irqrestore(&lock, flags);
}

static u64 value(unsigned long address, size_t size)
{
	switch (size) {
	case 1: return READ_ONCE(*(u8 *)address);
	case 2: return READ_ONCE(*(u16 *)address);
	case 4: return READ_ONCE(*(u32 *)address);
	case 8: return READ_ONCE(*(u64 *)address);
	}
	return 0;
}

static void watch(unsigned long address, size_t size, bool write, unsigned long ip)
{
	struct watched *mine = NULL;
	struct race *race = NULL;
	unsigned long flags;
	u64 before;

	raw_spin_lock_irqsave(&lock, flags);
	for (unsigned int i = 0; i < WATCHED_MAX; i++)
		if (!watched[i].size) {
			mine = &watched[i];
			*mine = (struct watched) {
				.address = address, .size = size, .write = write, .ip = ip
			};
			WRITE_ONCE(nr_watched, nr_watched + 1);
			break;
		}
	raw_spin_unlock_irqrestore(&lock, flags);
	if (!mine)
		return;
	before = value(address, size);
	atomic_inc(&waits);
	udelay(irqs_disabled() ? 50 : 200);
	raw_spin_lock_irqsave(&lock, flags);
	if (mine->met)
		race = mine->race;
	else if (value(address, size) != before)
		race = new_race(ip, 0, size);
	if (race) {
		fill(&race->sides[0], write, false);
		smp_store_release(&race->complete, true);
	}
	mine->size = 0;
	WRITE_ONCE(nr_watched, nr_watched - 1);
	raw_spin_unlock_irqrestore(&lock, flags);
	if (race)
		irq_work_queue(&telling);
}

static noinline void seen(void *pointer, size_t size, bool write, bool marked, unsigned long ip)
{
	unsigned long address = (unsigned long)pointer;

	/* An address that is an offset into per-CPU memory is not shared. */
	if (in_nmi() || (long)address >= 0)
		return;
	if (READ_ONCE(nr_watched))
		meet(address, size, write, marked, ip);
	if (marked || this_cpu_dec_return(skip) >= 0)
		return;
	this_cpu_write(skip, often / 2 + (ktime_get_mono_fast_ns() >> 4) % often);
	watch(address, size, write, ip);
}

#define ACCESS(name, size, write, marked)					\
void __tsan_##name(void *pointer);						\
void __tsan_##name(void *pointer)						\
{										\
	seen(pointer, size, write, marked, _RET_IP_);				\
}										\
EXPORT_SYMBOL_GPL(__tsan_##name)

#define ACCESSES(size)								\
	ACCESS(read##size, size, false, false);					\
	ACCESS(write##size, size, true, false);					\
	ACCESS(unaligned_read##size, size, false, false);			\
	ACCESS(unaligned_write##size, size, true, false);			\
	ACCESS(volatile_read##size, size, false, true);				\
	ACCESS(volatile_write##size, size, true, true)

ACCESSES(1);
ACCESSES(2);
ACCESSES(4);
ACCESSES(8);
ACCESSES(16);

#define RANGE(name, write)							\
void __tsan_##name##_range(void *pointer, size_t size);				\
void __tsan_##name##_range(void *pointer, size_t size)				\
{										\
	seen(pointer, size, write, false, _RET_IP_);				\
}										\
EXPORT_SYMBOL_GPL(__tsan_##name##_range)

RANGE(read, false);
RANGE(write, true);

/* Each file has a constructor that calls it, where the kernel runs any. */
void __tsan_init(void);
void __tsan_init(void)
{
}
EXPORT_SYMBOL_GPL(__tsan_init);

static int waits_get(char *buffer, const struct kernel_param *param)
{
	return sysfs_emit(buffer, "%d\n", atomic_read(&waits));
}

static const struct kernel_param_ops waits_ops = { .get = waits_get };
module_param_cb(waits, &waits_ops, NULL, 0444);
MODULE_PARM_DESC(waits, "how many have waited");

/* There is no exit: it stays as long as the guest runs. */
static int __init pmu_races_init(void)
{
	return 0;
}
module_init(pmu_races_init);

MODULE_DESCRIPTION("Data races of pmu-suite's modules");
MODULE_LICENSE("GPL");
