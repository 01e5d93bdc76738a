// SPDX-License-Identifier: GPL-2.0-only
/*
 * Moves: another CPU takes over a box and its events, and perf does what it likes with these
 * meanwhile. This needs two CPUs of a package, the first of which can go offline.
 */
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/cpu.h>
#include <linux/device.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/topology.h>
#include <linux/workqueue.h>

#include <pmu/loans.h>

#include "suites.h"
#include "memory.h"

static struct memory *memory;

static int move_test_init(struct kunit *test)
{
	memory = NULL;
	return 0;
}

static void move_test_exit(struct kunit *test)
{
	memory_destroy(test, memory);
}

static struct perf_event *open_one(struct kunit *test, int cpu)
{
	struct perf_event *event = memory_open(cpu, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

/* The first online CPU of a package but @but, or -1. */
static int first_of_package(int package, int but)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (cpu != but && topology_physical_package_id(cpu) == package)
			return cpu;
	return -1;
}

/* A box that two CPUs may own, and the event that is open on it: on the first of them. */
struct pair {
	int owner, heir;
	struct memory_box *box;
	struct perf_event *event;
};

static struct pair open_on_a_pair(struct kunit *test)
{
	int package = topology_physical_package_id(cpumask_last(cpu_online_mask));
	struct pair pair = { .owner = first_of_package(package, -1) };

	pair.heir = first_of_package(package, pair.owner);
	if (pair.heir < 0 || !cpu_is_hotpluggable(pair.owner))
		kunit_skip(test, "needs a package of two CPUs, the first hotpluggable");
	memory = memory_create(test, PMU_SCOPE_PACKAGE);
	memory_with_power(memory);
	/* Folded every 50 ms */
	memory->desc.width = 32;
	memory->max_rate = (1ULL << 32) * 10;
	memory_plug_box(test, memory, package);
	pair.box = &memory->boxes[package];
	pair.event = open_one(test, pair.owner);
	KUNIT_EXPECT_EQ(test, pair.event->cpu, pair.owner);
	return pair;
}

/*
 * Another CPU of the scope takes over. The box stays engaged, events count on, and counts during
 * the move are not lost.
 */
static void heir_counts_on(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);
	struct perf_event *event = pair.event;
	struct memory_box *box = pair.box;

	box->raw += 5;
	box->between = 70;
	take_offline(test, pair.owner);
	KUNIT_EXPECT_EQ(test, event->cpu, pair.heir);
	box->raw += 600;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 675ULL);
	bring_back(test, pair.owner);
	box->raw += 8000;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 8675ULL);
	KUNIT_EXPECT_EQ(test, box->on, 1U);
	KUNIT_EXPECT_EQ(test, box->off, 0U);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(box->off) == 1));
}

/* The new owner folds the counter before it wraps. */
static void heir_polls(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);
	unsigned int reads;

	take_offline(test, pair.owner);
	reads = READ_ONCE(pair.box->reads);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(pair.box->reads) >= reads + 2));
	perf_event_release_kernel(pair.event);
}

/* An event, and as a group of one, read in the midst of a move: on the CPU that it is to leave. */
static struct {
	struct perf_event *event;
	int owner;
	u64 count[2];
} midst;

static void read_as_group(void *data)
{
	struct pmu *pmu = midst.event->pmu;

	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	pmu->read(midst.event);
	pmu->commit_txn(pmu);
}

static void read_in_the_midst(struct memory_box *box)
{
	box->raw += 70;
	/* perf's lock of the context may not be waited for here. */
	smp_call_function_single(midst.owner, perf_open_read_here, midst.event, 1);
	midst.count[0] = local64_read(&midst.event->count);
	box->raw += 600;
	smp_call_function_single(midst.owner, read_as_group, NULL, 1);
	midst.count[1] = local64_read(&midst.event->count);
}

/* A read on the CPU that the box leaves has all that was counted up to then. */
static void exact_in_the_midst(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);

	midst.event = pair.event;
	midst.owner = pair.owner;
	local_irq_disable();
	pair.box->raw += 5;
	local_irq_enable();
	pair.box->moving = read_in_the_midst;
	take_offline(test, pair.owner);
	KUNIT_EXPECT_EQ(test, midst.count[0], 75ULL);
	KUNIT_EXPECT_EQ(test, midst.count[1], 675ULL);
	pair.box->moving = NULL;
	pair.box->raw += 8000;
	KUNIT_EXPECT_EQ(test, perf_open_count(pair.event), 8675ULL);
	perf_event_release_kernel(pair.event);
}

/* Whoever reads on another CPU of the package need not interrupt the owner. */
static void read_interrupts_nobody(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);

	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpumask_of(pair.heir)), 0);
	pair.box->raw += 5;
	KUNIT_EXPECT_EQ(test, perf_open_count(pair.event), 5ULL);
	KUNIT_EXPECT_EQ(test, pair.box->reader, pair.heir);
	KUNIT_ASSERT_EQ(test, set_cpus_allowed_ptr(current, cpu_possible_mask), 0);
	perf_event_release_kernel(pair.event);
}

static unsigned int stops;

static void count_stop(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	stops++;
}

/* To put one event beside the other on the new CPU perf takes that out and puts it back. */
static void heir_stops_nothing(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);
	struct perf_event *second = open_one(test, pair.owner);

	stops = 0;
	memory->ops.stop = count_stop;
	pair.box->between = 70;
	take_offline(test, pair.owner);
	KUNIT_EXPECT_EQ(test, stops, 0U);
	pair.box->raw += 600;
	KUNIT_EXPECT_EQ(test, perf_open_count(pair.event), 670ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(second), 670ULL);
	perf_event_release_kernel(second);
	perf_event_release_kernel(pair.event);
	KUNIT_EXPECT_EQ(test, stops, 2U);
}

/* Events of a device that is gone, still open when it is back, do not keep the new from moving. */
static void moves_behind_the_dead(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);
	struct perf_event *dead = open_one(test, pair.owner), *event;

	memory_unplug(memory);
	KUNIT_EXPECT_TRUE(test, perf_open_fails_soon(pair.event));
	KUNIT_EXPECT_TRUE(test, perf_open_fails_soon(dead));
	memory_plug_box(test, memory, pair.box - memory->boxes);
	event = open_one(test, pair.owner);
	pair.box->raw += 5;
	take_offline(test, pair.owner);
	KUNIT_EXPECT_EQ(test, event->cpu, pair.heir);
	pair.box->raw += 70;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 75ULL);
	perf_event_release_kernel(event);
	perf_event_release_kernel(dead);
	perf_event_release_kernel(pair.event);
}

static u64 one_counter(const struct pmu_desc *desc, const struct pmu_event *ev)
{
	return 1;
}

/*
 * perf lets events take turns so seldom that none does during a test. Its timer fires at multiples of
 * the interval since the machine started, the first of which is 23 days away.
 */
static void take_no_turns(struct kunit *test, struct pmu *pmu)
{
	struct attribute **attr = pmu->dev->bus->dev_groups[0]->attrs;
	struct device_attribute *interval;

	while (*attr && strcmp((*attr)->name, "perf_event_mux_interval_ms"))
		attr++;
	KUNIT_ASSERT_NOT_NULL(test, *attr);
	interval = container_of(*attr, struct device_attribute, attr);
	KUNIT_ASSERT_GT(test, interval->store(pmu->dev, interval, "2000000000", 10), (ssize_t)0);
}

/* An event that a user switches on after the box has left its CPU and before its events have. */
static struct {
	struct perf_event *event;
	struct completion enabled;
	bool timely;
} on_the_way;

static void enable_on_the_way(struct work_struct *work)
{
	perf_event_enable(on_the_way.event);
	complete(&on_the_way.enabled);
}

static DECLARE_WORK(enabling_on_the_way, enable_on_the_way);

static void enable_before_they_move(struct memory_box *box)
{
	queue_work(system_unbound_wq, &enabling_on_the_way);
	on_the_way.timely = wait_for_completion_timeout(&on_the_way.enabled, 10 * HZ);
}

/*
 * A move of a box with one counter: of the event that has it, and of one that is switched on while
 * they are on the way. Either may be pinned. Returns the first.
 */
static struct perf_event *move_with_one_counter(struct kunit *test, struct pair *pair,
						bool has_pinned, bool wants_pinned)
{
	struct perf_event_attr has = { .pinned = has_pinned };
	struct perf_event_attr wants = { .pinned = wants_pinned, .disabled = 1, .config = 1 };
	struct perf_event *event;

	*pair = open_on_a_pair(test);
	take_no_turns(test, pair->event->pmu);
	perf_event_release_kernel(pair->event);
	memory->ops.counters = one_counter;
	/* perf moves events in this order, but those that are pinned first. */
	on_the_way.event = perf_open_attr(MEMORY_PMU, wants, pair->owner, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, on_the_way.event);
	event = perf_open_attr(MEMORY_PMU, has, pair->owner, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	init_completion(&on_the_way.enabled);
	local_irq_disable();
	pair->box->raw += 5;
	local_irq_enable();
	pair->box->moving = enable_before_they_move;
	take_offline(test, pair->owner);
	pair->box->moving = NULL;
	flush_work(&enabling_on_the_way);
	KUNIT_EXPECT_TRUE(test, on_the_way.timely);
	pair->box->raw += 600;
	return event;
}

/* It comes to the new owner before the event that has the counter, and takes it. */
static void pinned_event_gets_its_counter(struct kunit *test)
{
	struct pair pair;
	struct perf_event *event = move_with_one_counter(test, &pair, false, true);

	KUNIT_EXPECT_EQ(test, (int)on_the_way.event->state, (int)PERF_EVENT_STATE_ACTIVE);
	KUNIT_EXPECT_EQ(test, (int)event->state, (int)PERF_EVENT_STATE_INACTIVE);
	KUNIT_EXPECT_EQ(test, perf_open_count(on_the_way.event), 600ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	perf_event_release_kernel(on_the_way.event);
	perf_event_release_kernel(event);
}

/* If both are pinned, the order of perf's context decides, as it does without a move. */
static void pinned_event_takes_a_pinned_ones_counter(struct kunit *test)
{
	struct pair pair;
	struct perf_event *event = move_with_one_counter(test, &pair, true, true);

	KUNIT_EXPECT_EQ(test, (int)on_the_way.event->state, (int)PERF_EVENT_STATE_ACTIVE);
	KUNIT_EXPECT_EQ(test, (int)event->state, (int)PERF_EVENT_STATE_ERROR);
	KUNIT_EXPECT_EQ(test, perf_open_count(on_the_way.event), 600ULL);
	perf_event_release_kernel(on_the_way.event);
	perf_event_release_kernel(event);
}

/* The same if neither is: the other one waits for its turn, and keeps what it has counted. */
static void unscheduled_event_stops(struct kunit *test)
{
	struct pair pair;
	struct perf_event *event = move_with_one_counter(test, &pair, false, false);

	KUNIT_EXPECT_EQ(test, (int)on_the_way.event->state, (int)PERF_EVENT_STATE_ACTIVE);
	KUNIT_EXPECT_EQ(test, (int)event->state, (int)PERF_EVENT_STATE_INACTIVE);
	KUNIT_EXPECT_EQ(test, perf_open_count(on_the_way.event), 600ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	perf_event_release_kernel(on_the_way.event);
	/* The counter is free again. */
	perf_event_disable(event);
	perf_event_enable(event);
	pair.box->raw += 70;
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 75ULL);
	perf_event_release_kernel(event);
}

/* An event that is opened as a sibling of another PMU's, for which perf locks their context. */
static struct {
	struct perf_event *event;
	struct completion opened;
	int err;
} sibling;

static void open_the_sibling(struct work_struct *work)
{
	sibling.err = sibling.event->pmu->event_init(sibling.event);
	complete(&sibling.opened);
}

static DECLARE_WORK(opening_the_sibling, open_the_sibling);

static int leaving_cpu;

static void leave(struct work_struct *work)
{
	remove_cpu(leaving_cpu);
}

static DECLARE_WORK(leaving, leave);

/* A move that waits for a context does not block whoever holds the context from opening events. */
static void sibling_does_not_wait_for_a_move(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);
	struct perf_event *leader = perf_open("software", PERF_COUNT_SW_CPU_CLOCK, 0, NULL);
	struct mutex *lock = &pair.event->ctx->mutex;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, leader);
	sibling.event = kunit_kzalloc(test, sizeof(*sibling.event), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, sibling.event);
	sibling.event->pmu = pair.event->pmu;
	sibling.event->attr.type = pair.event->attr.type;
	sibling.event->cpu = pair.heir;
	sibling.event->group_leader = leader;
	init_completion(&sibling.opened);
	leaving_cpu = pair.owner;

	mutex_lock(lock);
	queue_work(system_unbound_wq, &leaving);
	/* The box has gone ahead of its events, which wait for the lock. */
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(pair.box->cpu) == pair.heir));
	schedule_work_on(pair.heir, &opening_the_sibling);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&sibling.opened, 10 * HZ), 0UL);
	mutex_unlock(lock);
	flush_work(&opening_the_sibling);
	flush_work(&leaving);
	KUNIT_EXPECT_EQ(test, sibling.err, 0);
	if (!sibling.err)
		sibling.event->destroy(sibling.event);
	KUNIT_EXPECT_EQ(test, pair.event->cpu, pair.heir);
	perf_event_release_kernel(leader);
	perf_event_release_kernel(pair.event);
}

/*
 * Events that a move parks and that perf does not put on the new CPU, as siblings that somebody
 * closes. They are in no context here.
 */
static void do_here(struct perf_event *event, void (*what)(struct perf_event *event, int flags))
{
	struct pmu *pmu = event->pmu;

	pmu->pmu_disable(pmu);
	what(event, PERF_EF_START);
	pmu->pmu_enable(pmu);
}

static void add(struct perf_event *event, int flags)
{
	event->pmu->add(event, flags);
}

static void add_here(void *data)
{
	do_here(data, add);
}

static struct perf_event *open_to_park(struct kunit *test, const struct pair *pair)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, event);
	INIT_LIST_HEAD(&event->sibling_list);
	event->pmu = pair->event->pmu;
	event->attr.type = pair->event->attr.type;
	event->cpu = pair->owner;
	event->group_leader = event;
	event->state = PERF_EVENT_STATE_ACTIVE;
	KUNIT_ASSERT_EQ(test, event->pmu->event_init(event), 0);
	smp_call_function_single(pair->owner, add_here, event, 1);
	KUNIT_EXPECT_FALSE(test, event->hw.state & PERF_HES_STOPPED);
	return event;
}

static void take_out(struct perf_event *event, int flags)
{
	event->pmu->del(event, 0);
}

static void park(void *data)
{
	do_here(data, take_out);
}

/* The owner begins to leave. The box goes ahead of its events, which wait for their context's lock. */
static void leave_with_the_lock(struct kunit *test, const struct pair *pair)
{
	leaving_cpu = pair->owner;
	mutex_lock(&pair->event->ctx->mutex);
	queue_work(system_unbound_wq, &leaving);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(pair->box->cpu) == pair->heir));
}

static void leave_without_it(const struct pair *pair)
{
	mutex_unlock(&pair->event->ctx->mutex);
	flush_work(&leaving);
}

static struct {
	struct perf_event *event;
	struct completion freed;
} parked;

static void free_the_parked(struct work_struct *work)
{
	parked.event->destroy(parked.event);
	complete(&parked.freed);
}

static DECLARE_WORK(freeing_the_parked, free_the_parked);

/* perf may hold a user's mmap_lock when it frees an event, so this does not wait for the move. */
static void parked_event_is_freed_during_the_move(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);

	parked.event = open_to_park(test, &pair);
	stops = 0;
	memory->ops.stop = count_stop;
	init_completion(&parked.freed);

	leave_with_the_lock(test, &pair);
	smp_call_function_single(pair.owner, park, parked.event, 1);
	KUNIT_EXPECT_EQ(test, stops, 0U);
	pair.box->raw += 5;
	schedule_work_on(pair.owner, &freeing_the_parked);
	KUNIT_EXPECT_NE(test, wait_for_completion_timeout(&parked.freed, 10 * HZ), 0UL);
	KUNIT_EXPECT_EQ(test, stops, 1U);
	KUNIT_EXPECT_EQ(test, local64_read(&parked.event->count), 5LL);
	leave_without_it(&pair);
	flush_work(&freeing_the_parked);
	pair.box->raw += 70;
	KUNIT_EXPECT_EQ(test, perf_open_count(pair.event), 75ULL);
	perf_event_release_kernel(pair.event);
}

/* What perf has taken out and not put back counts until the end of the move. */
static void what_is_out_stops_at_the_end(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);
	struct perf_event *event = open_to_park(test, &pair);

	stops = 0;
	memory->ops.stop = count_stop;
	leave_with_the_lock(test, &pair);
	smp_call_function_single(pair.owner, park, event, 1);
	pair.box->raw += 5;
	KUNIT_EXPECT_EQ(test, stops, 0U);
	leave_without_it(&pair);
	KUNIT_EXPECT_EQ(test, stops, 1U);
	pair.box->raw += 70;
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 5LL);
	KUNIT_EXPECT_EQ(test, perf_open_count(pair.event), 75ULL);
	event->destroy(event);
	perf_event_release_kernel(pair.event);
}

static void nothing(struct perf_event *event, int flags)
{
}

static void reschedule(void *data)
{
	do_here(data, nothing);
}

/*
 * perf puts siblings on the new CPU before their leader, with which it adds them. What it does there
 * in between, as with another group that moves, stops none.
 */
static void sibling_counts_until_its_leader_comes(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);
	struct perf_event *event = open_to_park(test, &pair);

	stops = 0;
	memory->ops.stop = count_stop;
	leave_with_the_lock(test, &pair);
	smp_call_function_single(pair.owner, park, event, 1);
	event->cpu = pair.heir;
	smp_call_function_single(pair.heir, reschedule, event, 1);
	KUNIT_EXPECT_EQ(test, stops, 0U);
	pair.box->raw += 5;
	smp_call_function_single(pair.heir, add_here, event, 1);
	leave_without_it(&pair);
	pair.box->raw += 70;
	/* Taken out where it is now, it is stopped at once. */
	smp_call_function_single(pair.heir, park, event, 1);
	KUNIT_EXPECT_EQ(test, stops, 1U);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 75LL);
	event->destroy(event);
	perf_event_release_kernel(pair.event);
}

/* An event that perf did not move in time ends visibly, and takes its counter from nobody. */
static void straggler_fails(struct kunit *test)
{
	struct pair pair = open_on_a_pair(test);
	struct perf_event *event = open_to_park(test, &pair);

	stops = 0;
	memory->ops.stop = count_stop;
	take_offline(test, pair.owner);
	bring_back(test, pair.owner);
	KUNIT_EXPECT_EQ(test, pair.event->cpu, pair.heir);
	smp_call_function_single(pair.owner, park, event, 1);
	KUNIT_EXPECT_EQ(test, stops, 1U);
	smp_call_function_single(pair.owner, add_here, event, 1);
	KUNIT_EXPECT_TRUE(test, pmu_event_of(event)->failed);
	event->destroy(event);
	perf_event_release_kernel(pair.event);
}

static struct kunit_case move_cases[] = {
	KUNIT_CASE_SLOW(heir_counts_on),
	KUNIT_CASE_SLOW(heir_polls),
	KUNIT_CASE_SLOW(exact_in_the_midst),
	KUNIT_CASE_SLOW(read_interrupts_nobody),
	KUNIT_CASE_SLOW(heir_stops_nothing),
	KUNIT_CASE_SLOW(moves_behind_the_dead),
	KUNIT_CASE_SLOW(pinned_event_gets_its_counter),
	KUNIT_CASE_SLOW(pinned_event_takes_a_pinned_ones_counter),
	KUNIT_CASE_SLOW(unscheduled_event_stops),
	KUNIT_CASE_SLOW(sibling_does_not_wait_for_a_move),
	KUNIT_CASE_SLOW(parked_event_is_freed_during_the_move),
	KUNIT_CASE_SLOW(what_is_out_stops_at_the_end),
	KUNIT_CASE_SLOW(sibling_counts_until_its_leader_comes),
	KUNIT_CASE_SLOW(straggler_fails),
	{ }
};

struct kunit_suite pmu_move_suite = {
	.name = "pmu_core_move",
	.init = move_test_init,
	.exit = move_test_exit,
	.test_cases = move_cases,
};
