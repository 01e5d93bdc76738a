// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf events on a box of fake counters: real perf, real core, no hardware.
 */
#include <kunit/test.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>

#include <core/core.h>

#include "suites.h"
#include "perf_open.h"

#define FAKE_PMU	"pmu_core_kunit"
#define FAKE_COUNTERS	3	/* two general ones and, for configs 0xfe and 0xff, a fixed one */
#define FAKE_WIDTH	16

/* The counters, and what was asked of them. */
struct fake {
	struct device *dev;
	u64 raw[FAKE_COUNTERS];
	bool on[FAKE_COUNTERS];
	bool frozen, gone;
	u64 max_rate;
	u64 bound;
	unsigned int freezes, thaws, starts, stops, reads;
	unsigned int misuse;		/* verbs called when they must not be */
};

static struct fake *fake;
static struct pmu_desc fake_desc;

static int fake_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	ev->poll_rate = fake->max_rate;
	ev->bound = fake->bound;
	return 0;
}

static u64 fake_counters(const struct pmu_desc *desc, const struct pmu_event *ev)
{
	return ev->event->attr.config >= 0xfe ? BIT_ULL(2) : GENMASK_ULL(1, 0);
}

static u64 fake_start(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	fake->misuse += (!fake->frozen && !fake_desc.live) || fake->on[idx] || !irqs_disabled();
	fake->starts++;
	fake->on[idx] = true;
	return fake->raw[idx];
}

static void fake_stop(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	fake->misuse += (!fake->frozen && !fake_desc.live) || !fake->on[idx] || !irqs_disabled();
	fake->stops++;
	fake->on[idx] = false;
}

static int fake_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	fake->reads++;
	/* A counter that stopped beside others holds still. */
	fake->misuse += (!fake->on[idx] && !(fake_desc.live && !fake->frozen)) || !irqs_disabled();
	*value = fake->raw[idx];
	return fake->gone ? -ENODEV : 0;
}

static void fake_freeze(struct pmu_box *box)
{
	fake->freezes++;
	fake->misuse += fake->frozen || !irqs_disabled();
	fake->frozen = true;
}

static void fake_thaw(struct pmu_box *box)
{
	fake->thaws++;
	fake->misuse += !fake->frozen || !irqs_disabled();
	fake->frozen = false;
}

static const struct pmu_box_ops fake_ops = {
	.event_init = fake_event_init,
	.counters = fake_counters,
	.start = fake_start,
	.stop = fake_stop,
	.read = fake_read,
	.freeze = fake_freeze,
	.thaw = fake_thaw,
};

static const struct pmu_format fake_formats[] = {
	{ .name = "event", .mask = GENMASK_ULL(7, 0) },
};

static struct pmu_desc fake_desc = {
	.owner = THIS_MODULE,
	.ops = &fake_ops,
	.scope = PMU_SCOPE_SYSTEM,
	.width = FAKE_WIDTH,
	.formats = fake_formats,
	.nr_formats = ARRAY_SIZE(fake_formats),
};

/* Events that every running counter counts. */
static void happen(unsigned int events)
{
	for (int i = 0; i < FAKE_COUNTERS; i++)
		if (fake->on[i] && !fake->frozen)
			fake->raw[i] = (fake->raw[i] + events) & GENMASK(FAKE_WIDTH - 1, 0);
}

static struct perf_event *open_event(u64 config)
{
	return perf_open(FAKE_PMU, config, 0, NULL);
}

static int fake_plug(struct kunit *test)
{
	fake->dev = root_device_register("pmu_core_kunit_device");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, fake->dev);
	fake->frozen = true;
	return devm_pmu_box_register(fake->dev, &fake_desc, FAKE_PMU, 0, fake);
}

static void fake_unplug(void)
{
	/* A root device has no driver: what devm holds goes with the device itself. */
	root_device_unregister(fake->dev);
	fake->dev = NULL;
}

static int event_test_init(struct kunit *test)
{
	fake = kunit_kzalloc(test, sizeof(*fake), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fake);
	fake_desc.live = false;
	return fake_plug(test);
}

static void event_test_exit(struct kunit *test)
{
	if (fake->dev)
		fake_unplug();
	KUNIT_EXPECT_EQ(test, fake->misuse, 0U);
	pmu_unregister_all(THIS_MODULE);
}

/* Counts are exact over the 16-bit wrap and from whatever value the counter stood at. */
static void counts_over_wraps(struct kunit *test)
{
	struct perf_event *event;
	u64 truth = 0;

	fake->raw[0] = 65000;
	event = open_event(1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 0ULL);
	for (int i = 0; i < 5; i++) {
		happen(50000);
		truth += 50000;
		KUNIT_EXPECT_EQ(test, perf_open_count(event), truth);
	}
	perf_event_release_kernel(event);
}

/* Events between disable and enable are not counted, and the last read before is not lost. */
static void stops_when_disabled(struct kunit *test)
{
	struct perf_event *event = open_event(1);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	happen(7);
	perf_event_disable(event);
	fake->raw[0] += 1000;		/* somebody else's */
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 7ULL);
	perf_event_enable(event);
	happen(3);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 10ULL);
	perf_event_release_kernel(event);
}

/* An idle box is frozen and untouched; it is thawed once for a start, frozen once for a stop. */
static void freezes_when_idle(struct kunit *test)
{
	struct perf_event *event;

	KUNIT_EXPECT_EQ(test, fake->freezes + fake->thaws + fake->reads, 0U);
	event = open_event(1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	KUNIT_EXPECT_FALSE(test, fake->frozen);
	KUNIT_EXPECT_EQ(test, fake->thaws, 1U);
	KUNIT_EXPECT_EQ(test, fake->freezes, 0U);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_TRUE(test, fake->frozen);
	KUNIT_EXPECT_EQ(test, fake->thaws, 1U);
	KUNIT_EXPECT_EQ(test, fake->freezes, 1U);
	KUNIT_EXPECT_EQ(test, fake->reads, 1U);
}

/* General counters run out, the fixed one is apart; a late event waits, and gets its turn. */
static void counters_run_out(struct kunit *test)
{
	struct perf_event *event[4];

	for (int i = 0; i < 3; i++) {
		event[i] = open_event(1 + i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event[i]);
	}
	event[3] = open_event(0xff);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event[3]);
	KUNIT_EXPECT_TRUE(test, fake->on[0] && fake->on[1]);
	/* With only as many as fit left, all count without a rotation. */
	perf_event_release_kernel(event[0]);
	msleep(100);
	KUNIT_EXPECT_TRUE(test, fake->on[0] && fake->on[1] && fake->on[2]);
	for (int i = 1; i < 4; i++)
		perf_event_release_kernel(event[i]);
	KUNIT_EXPECT_FALSE(test, fake->on[0] || fake->on[1] || fake->on[2]);
}

/* perf takes an event out to put another beside it: what counts is not touched, but frozen once. */
static void undisturbed_by_another(struct kunit *test)
{
	struct perf_event *event = open_event(1), *other;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	happen(5);
	other = open_event(2);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	KUNIT_EXPECT_EQ(test, fake->stops, 0U);
	KUNIT_EXPECT_EQ(test, fake->starts, 2U);
	KUNIT_EXPECT_EQ(test, fake->freezes, 1U);
	KUNIT_EXPECT_EQ(test, fake->reads, 0U);
	happen(70);
	perf_event_release_kernel(other);
	KUNIT_EXPECT_EQ(test, fake->stops, 1U);
	KUNIT_EXPECT_EQ(test, fake->freezes, 2U);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 75ULL);
	perf_event_release_kernel(event);
}

/* If the driver is able to, an event that starts or stops by itself does not freeze the box. */
static void undisturbed_at_all(struct kunit *test)
{
	struct perf_event *event, *other;

	fake_desc.live = true;
	event = open_event(1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	KUNIT_EXPECT_EQ(test, fake->thaws, 1U);
	other = open_event(2);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	happen(5);
	perf_event_disable(other);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 5ULL);
	happen(70);
	perf_event_enable(other);
	happen(600);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 605ULL);
	perf_event_release_kernel(other);
	KUNIT_EXPECT_EQ(test, fake->freezes, 0U);
	KUNIT_EXPECT_EQ(test, fake->thaws, 1U);
	KUNIT_EXPECT_EQ(test, fake->starts, 3U);
	KUNIT_EXPECT_EQ(test, fake->stops, 2U);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 675ULL);
	/* The last one leaves the box frozen. */
	perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, fake->freezes, 1U);
	KUNIT_EXPECT_TRUE(test, fake->frozen);
}

/* Two events that take turns on a counter, beside one that stays: no turn stops that. */
static void turns_disturb_nobody(struct kunit *test)
{
	struct perf_event *event[4];
	unsigned int stops;

	fake_desc.live = true;
	event[0] = open_event(0xff);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event[0]);
	for (int i = 1; i < 4; i++) {
		event[i] = open_event(i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event[i]);
	}
	stops = READ_ONCE(fake->stops);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(fake->stops) - stops > 4));
	KUNIT_EXPECT_EQ(test, READ_ONCE(fake->freezes), 0U);
	for (int i = 3; i >= 0; i--)
		perf_event_release_kernel(event[i]);
}

/* But one that perf prefers gets the counter: pinned, it would go to error state without. */
static void gives_way_to_a_pinned_one(struct kunit *test)
{
	struct perf_event_attr pinned = { .config = 0xfe, .pinned = 1 };
	struct perf_event *event = open_event(0xff), *other;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	happen(5);
	other = perf_open_attr(FAKE_PMU, pinned, 0, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	KUNIT_EXPECT_EQ(test, other->state, PERF_EVENT_STATE_ACTIVE);
	happen(70);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 70ULL);
	perf_event_release_kernel(other);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(event->state) == PERF_EVENT_STATE_ACTIVE));
	happen(600);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 605ULL);
	perf_event_release_kernel(event);
}

/* Two events that perf reads as a group: on the owner CPU, interrupts off. */
struct group_read {
	struct perf_event *leader, *other;
};

static void read_group(void *data)
{
	struct group_read *group = data;
	struct pmu *pmu = group->leader->pmu;

	happen(3);
	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	pmu->read(group->leader);
	pmu->read(group->other);
	happen(4);
	pmu->commit_txn(pmu);
}

static void read_equals(void *data)
{
	struct group_read *group = data;
	struct pmu *pmu = group->leader->pmu;

	group->other->group_leader = group->leader;
	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	pmu->read(group->leader);
	happen(5);
	perf_open_fold_here(group->leader);
	pmu->read(group->other);
	pmu->commit_txn(pmu);
	group->other->group_leader = group->other;
}

/* Two equal events of a group are level, though another reader comes between them; others wait. */
static void equals_of_a_group_are_level(struct kunit *test)
{
	struct perf_event *event[3] = { open_event(1), open_event(1), open_event(1) };

	for (int i = 0; i < 3; i++)
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event[i]);
	for (int i = 0; i < 3; i++) {
		struct group_read group = { event[i], event[(i + 1) % 3] };
		s64 other = local64_read(&event[(i + 2) % 3]->count);

		happen(3);
		KUNIT_ASSERT_EQ(test, smp_call_function_single(0, read_equals, &group, 1), 0);
		KUNIT_EXPECT_EQ(test, local64_read(&group.leader->count), 8LL * (i + 1));
		KUNIT_EXPECT_EQ(test, local64_read(&group.other->count), 8LL * (i + 1));
		KUNIT_EXPECT_EQ(test, local64_read(&event[(i + 2) % 3]->count), other);
	}
	for (int i = 0; i < 3; i++)
		perf_event_release_kernel(event[i]);
}

/* perf takes an event out, and puts it back. In a move, and only then, its count is up to date. */
static void take_out(void *data)
{
	struct perf_event *event = data;
	struct pmu *pmu = event->pmu;

	for (int moving = 0; moving < 2; moving++) {
		pmu_event_of(event)->box->moving = moving;
		pmu->pmu_disable(pmu);
		pmu->del(event, 0);
		fake->misuse += local64_read(&event->count) != 3 * moving;
		pmu->add(event, PERF_EF_START);
		pmu->pmu_enable(pmu);
	}
	pmu_event_of(event)->box->moving = false;
	happen(2);
}

static void taken_out_with_its_count(struct kunit *test)
{
	struct perf_event *event = open_event(1), *other = open_event(1);

	KUNIT_ASSERT_FALSE(test, IS_ERR(event) || IS_ERR(other));
	happen(3);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 3ULL);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, take_out, event, 1), 0);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	perf_event_release_kernel(other);
	perf_event_release_kernel(event);
}

/* Members of a group are read when perf asks for them, once each, and nothing at the end. */
static void group_reads_at_once(struct kunit *test)
{
	struct group_read group = { open_event(1), open_event(0xff) };
	unsigned int reads = fake->reads;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group.leader);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, group.other);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, read_group, &group, 1), 0);
	KUNIT_EXPECT_EQ(test, fake->reads, reads + 2);
	KUNIT_EXPECT_EQ(test, local64_read(&group.leader->count), 3LL);
	KUNIT_EXPECT_EQ(test, local64_read(&group.other->count), 3LL);
	/* Counts that arrived later are part of the next read. */
	happen(1);
	KUNIT_EXPECT_EQ(test, perf_open_count(group.leader), 8ULL);
	perf_event_release_kernel(group.other);
	perf_event_release_kernel(group.leader);
}

/* Events that the hardware or the ABI lacks are refused with the errno that perf explains. */
static void refusals(struct kunit *test)
{
	static const struct perf_event_attr refused[] = {
		{ .config = 0x101 },				/* reserved */
		{ .config = 1, .config1 = 1 },
		{ .config = 1, .config2 = 1 },
		{ .config = 1, .sample_period = 1000 },		/* no interrupt */
		{ .config = 1, .exclude_kernel = 1 },
	};

	for (int i = 0; i < ARRAY_SIZE(refused); i++)
		KUNIT_EXPECT_EQ_MSG(test, PTR_ERR_OR_ZERO(perf_open_attr(FAKE_PMU, refused[i], 0, NULL)),
				    -EINVAL, "row %d", i);
	KUNIT_EXPECT_EQ(test, perf_open_error(FAKE_PMU, 1, -1, current), -EINVAL);
}

/* A 16-bit counter that nobody reads is folded by the timer before it wraps unseen. */
static void timer_folds(struct kunit *test)
{
	struct perf_event *event;
	u64 truth = 0;

	fake->max_rate = 65536 * 10;	/* wraps in 100 ms: polled every 50 ms */
	event = open_event(1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	for (int i = 0; i < 20; i++) {
		unsigned int reads = READ_ONCE(fake->reads);

		local_irq_disable();
		happen(20000);
		local_irq_enable();
		truth += 20000;
		/* A guest may be slow, so wait until it has polled rather than for a time. */
		for (int j = 0; j < 200 && READ_ONCE(fake->reads) == reads; j++)
			msleep(20);
		KUNIT_ASSERT_GT(test, READ_ONCE(fake->reads), reads);
	}
	KUNIT_EXPECT_EQ(test, perf_open_count(event), truth);
	perf_event_release_kernel(event);
}

/* An event that has to be folded sooner than the others does not put off theirs. */
static void shorter_period_folds_at_once(struct kunit *test)
{
	struct perf_event *slow, *quick;

	fake->max_rate = 65536;		/* polled every 500 ms */
	slow = open_event(1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, slow);
	happen(3);
	fake->max_rate = 65536 * 2;
	quick = open_event(2);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, quick);
	KUNIT_EXPECT_EQ(test, pmu_event_of(slow)->counter.total, 3ULL);
	perf_event_release_kernel(quick);
	perf_event_release_kernel(slow);
}

static struct tracepoint *hrtimer_start_point;

static void find_hrtimer_start(struct tracepoint *point, void *unused)
{
	if (!strcmp(point->name, "hrtimer_start"))
		hrtimer_start_point = point;
}

/* hrtimer has a lock here. */
static void reads_at_hrtimer_start(void *data, struct hrtimer *timer, enum hrtimer_mode mode)
{
	struct perf_event *event = data;

	if (timer != &pmu_event_of(event)->box->timer)
		return;
	/* The box may be frozen, until perf enables the PMU. */
	fake->raw[event->hw.idx] += 7;
	perf_open_read_here(event);
}

/* A sample of the tracepoint, whose lock is hrtimer's, may wait for the box: nobody who has that starts its timer. */
static void timer_starts_without_the_lock(struct kunit *test)
{
	struct perf_event_attr attr = { .config = 1, .disabled = 1 };
	struct perf_event *event;
	bool seen;

	if (!IS_ENABLED(CONFIG_TRACEPOINTS))
		kunit_skip(test, "needs tracepoints");
	for_each_kernel_tracepoint(find_hrtimer_start, NULL);
	KUNIT_ASSERT_NOT_NULL(test, hrtimer_start_point);
	fake->max_rate = 65536;		/* polled every 500 ms */
	event = perf_open_attr(FAKE_PMU, attr, 0, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	KUNIT_ASSERT_EQ(test, tracepoint_probe_register(hrtimer_start_point,
							reads_at_hrtimer_start, event), 0);
	perf_event_enable(event);
	seen = local64_read(&event->count) == 7;
	perf_event_disable(event);
	tracepoint_probe_unregister(hrtimer_start_point, reads_at_hrtimer_start, event);
	tracepoint_synchronize_unregister();
	KUNIT_EXPECT_TRUE(test, seen);
	perf_event_release_kernel(event);
}

/* What the log has to say of the fake's device, since its boxes came. */
static unsigned int complaints(struct pmu_event *ev)
{
	irq_work_sync(&ev->box->complaint);
	return ev->box->doubt_delta;
}

/*
 * Another program writes to a counter. An impossible difference is not counted, later ones are. The
 * log says so once, and again only after the box has counted without it.
 */
static void impossible_is_not_counted(struct kunit *test)
{
	struct perf_event *event;
	struct pmu_event *ev;

	fake->max_rate = 1000;
	fake->bound = 1000;
	for (int session = 0; session < 4; session++) {
		event = open_event(1);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
		ev = pmu_event_of(event);
		ev->box->doubt_delta = 0;
		happen(5);
		KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
		if (session != 2)
			fake->raw[0] -= 5;
		KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
		happen(7);
		KUNIT_EXPECT_EQ(test, perf_open_count(event), 12ULL);
		KUNIT_EXPECT_EQ_MSG(test, complaints(ev), session == 0 || session == 3 ? 65531U : 0U,
				    "session %d", session);
		perf_event_release_kernel(event);
	}
}

/* The bound of an event that is not said to have one is that of its counter. */
static void not_bounded_is_counted(struct kunit *test)
{
	struct perf_event *event;

	fake->max_rate = 1000;
	event = open_event(1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	happen(65535);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 65535ULL);
	perf_event_release_kernel(event);
}

/*
 * The time of the bound is since the last fold, and an event that starts again has nothing to catch up with:
 * it does not begin with the time that it stood still, nor without that before.
 */
static void bound_is_of_the_last_fold(struct kunit *test)
{
	struct perf_event *event;
	struct pmu_event *ev;

	fake->max_rate = 1000;
	fake->bound = 1000;
	event = open_event(1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	ev = pmu_event_of(event);
	/* A second would allow 2112. */
	ev->counter.folded_ns -= NSEC_PER_SEC;
	happen(2000);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 2000ULL);
	perf_event_disable(event);
	ev->counter.folded_ns -= 60ULL * NSEC_PER_SEC;
	perf_event_enable(event);
	happen(30000);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 2000ULL);
	KUNIT_EXPECT_EQ(test, complaints(ev), 30000U);
	perf_event_release_kernel(event);
}

/* A device that stops answering: the event goes to error state and keeps what it counted. */
static void read_errors(struct kunit *test)
{
	struct perf_event *event = open_event(1);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	happen(5);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 5ULL);
	fake->gone = true;
	happen(1000);
	perf_open_count(event);
	KUNIT_EXPECT_TRUE(test, perf_open_fails_soon(event));
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 5LL);
	perf_event_release_kernel(event);
}

/* The device goes while an event waits for a counter: it fails as those that count. */
static void fails_while_it_waits(struct kunit *test)
{
	struct perf_event *event[3];

	for (int i = 0; i < 3; i++) {
		event[i] = open_event(1 + i);
		KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event[i]);
	}
	fake_unplug();
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_TRUE_MSG(test, perf_open_fails_soon(event[i]), "event %d", i);
	for (int i = 0; i < 3; i++)
		perf_event_release_kernel(event[i]);
}

/*
 * The device is unbound while an event is open: the event fails with all that was counted, no
 * verb is called any more, no event can be opened; a device that comes back joins the PMU that stayed.
 */
static void unplugged_while_open(struct kunit *test)
{
	struct perf_event *event = open_event(1), *second;
	unsigned int reads;
	int type = perf_open_type(FAKE_PMU);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	/* As long as an event is open perf has the module pinned. */
	KUNIT_EXPECT_GT(test, module_refcount(THIS_MODULE), 0);
	happen(9);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 9ULL);
	happen(3);
	fake_unplug();
	reads = fake->reads;
	KUNIT_EXPECT_TRUE(test, perf_open_fails_soon(event));
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 12LL);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(open_event(1)), -ENODEV);
	KUNIT_EXPECT_EQ(test, fake->reads, reads);

	for (int i = 0; i < FAKE_COUNTERS; i++)
		fake->on[i] = false;
	KUNIT_ASSERT_EQ(test, fake_plug(test), 0);
	KUNIT_EXPECT_EQ(test, perf_open_type(FAKE_PMU), type);
	second = open_event(1);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, second);
	happen(4);
	KUNIT_EXPECT_EQ(test, perf_open_count(second), 4ULL);
	perf_event_release_kernel(second);
	perf_event_release_kernel(event);
}

/*
 * perf stops an event without asking for its count where it throttles a group, which may be in an
 * NMI: the event counts on.
 */
static void throttled_from_anywhere(struct kunit *test)
{
	struct perf_event *event = open_event(1);
	unsigned long flags;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	local_irq_save(flags);
	event->pmu->stop(event, 0);
	local_irq_restore(flags);
	happen(7);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 7ULL);
	perf_event_release_kernel(event);
}

static void start_here(void *data)
{
	struct perf_event *event = data;

	event->pmu->start(event, 0);
}

/* perf of 6.16 ends the throttling of a whole group by starting its events, also those that are off. */
static void started_only_when_added(struct kunit *test)
{
	struct perf_event *event;

	event = perf_open_attr(FAKE_PMU, (struct perf_event_attr){ .config = 1, .disabled = 1 }, 0, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	for (int i = 0; i < 2; i++) {
		KUNIT_ASSERT_EQ(test, smp_call_function_single(0, start_here, event, 1), 0);
		KUNIT_ASSERT_EQ(test, fake->thaws, (unsigned int)i);
		perf_event_enable(event);
		happen(7);
		perf_event_disable(event);
		KUNIT_EXPECT_EQ(test, perf_open_count(event), 7ULL * (i + 1));
	}
	perf_event_release_kernel(event);
}

/* In an NMI no register is read, nor a pass begun: the count is that of the last read or fold. */
static void registers_are_not_read_in_an_nmi(struct kunit *test)
{
	struct perf_event *event = open_event(1);
	unsigned int reads;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	happen(7);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 7ULL);
	happen(5);
	reads = fake->reads;
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, perf_open_read_in_nmi, event, 1), 0);
	KUNIT_EXPECT_EQ(test, fake->reads, reads);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 7LL);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, perf_open_fold_here, event, 1), 0);
	happen(1);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, perf_open_read_in_nmi, event, 1), 0);
	KUNIT_EXPECT_EQ(test, local64_read(&event->count), 12LL);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 13ULL);
	perf_event_release_kernel(event);
}

/*
 * perf says that an event is on its CPU before it adds the event. A read at that time finds no
 * counter.
 */
static void nothing_is_read_before_it_is_added(struct kunit *test)
{
	struct perf_event *event;

	event = perf_open_attr(FAKE_PMU, (struct perf_event_attr){ .config = 1, .disabled = 1 }, 0, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	KUNIT_ASSERT_EQ(test, smp_call_function_single(0, perf_open_read_here, event, 1), 0);
	KUNIT_EXPECT_EQ(test, fake->reads, 0U);
	perf_event_release_kernel(event);
}

/* Two boxes of one name and scope cannot be: the second is refused. */
static void refuses_a_second_box(struct kunit *test)
{
	struct device *dev = root_device_register("pmu_core_kunit_second");

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	KUNIT_EXPECT_EQ(test, devm_pmu_box_register(dev, &fake_desc, FAKE_PMU, 0, fake), -EEXIST);
	/* A PMU cannot have the name of another driver's PMU. */
	KUNIT_EXPECT_EQ(test, devm_pmu_box_register(dev, &fake_desc, "software", 0, fake), -EEXIST);
	root_device_unregister(dev);
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(counts_over_wraps),
	KUNIT_CASE(stops_when_disabled),
	KUNIT_CASE(freezes_when_idle),
	KUNIT_CASE(counters_run_out),
	KUNIT_CASE(undisturbed_by_another),
	KUNIT_CASE(undisturbed_at_all),
	KUNIT_CASE(turns_disturb_nobody),
	KUNIT_CASE(gives_way_to_a_pinned_one),
	KUNIT_CASE(group_reads_at_once),
	KUNIT_CASE(equals_of_a_group_are_level),
	KUNIT_CASE(taken_out_with_its_count),
	KUNIT_CASE(refusals),
	KUNIT_CASE(timer_folds),
	KUNIT_CASE(shorter_period_folds_at_once),
	KUNIT_CASE(timer_starts_without_the_lock),
	KUNIT_CASE(impossible_is_not_counted),
	KUNIT_CASE(not_bounded_is_counted),
	KUNIT_CASE(bound_is_of_the_last_fold),
	KUNIT_CASE(read_errors),
	KUNIT_CASE(fails_while_it_waits),
	KUNIT_CASE(unplugged_while_open),
	KUNIT_CASE(throttled_from_anywhere),
	KUNIT_CASE(started_only_when_added),
	KUNIT_CASE(registers_are_not_read_in_an_nmi),
	KUNIT_CASE(nothing_is_read_before_it_is_added),
	KUNIT_CASE(refuses_a_second_box),
	{ }
};

struct kunit_suite pmu_event_suite = {
	.name = "pmu_core_event",
	.init = event_test_init,
	.exit = event_test_exit,
	.test_cases = event_cases,
};
