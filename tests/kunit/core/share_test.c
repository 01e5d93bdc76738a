// SPDX-License-Identifier: GPL-2.0-only
/*
 * Equal events share a counter: real perf, real core, and a box of two counters, each of which
 * counts what the event is for that claimed it. Any word of the config is a kind of event.
 */
#include <kunit/test.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/prandom.h>
#include <linux/smp.h>

#include <core/core.h>

#include "suites.h"
#include "perf_open.h"

#define SHARE_PMU	"pmu_core_kunit_share"
#define COUNTERS	2
#define KINDS		4
#define EVENTS		12
#define WIDTH		32

static unsigned int seed;
module_param_named(share_seed, seed, uint, 0444);

static struct {
	struct device *dev;
	u64 raw[COUNTERS];
	int kind[COUNTERS];		/* what it counts; -1: nothing */
	u64 happened[KINDS];		/* while the box counted */
	u8 claimed;
	bool frozen, gone;
	unsigned int freezes, starts, stops, reads, hands;
	unsigned int exact;		/* reads that are to the unit while the box counts; */
	bool never_exact, anew;		/* or that cannot be; events claim anew */
	unsigned int misuse;		/* verbs called when, or with what, they must not be */
	u64 max_rate;
} share;

static struct pmu_box_ops share_ops;
static struct pmu_desc share_desc;

static int share_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	ev->poll_rate = share.max_rate;
	ev->bound = share.max_rate;
	ev->claims_anew = share.anew;
	return 0;
}

static u64 share_counters(const struct pmu_desc *desc, const struct pmu_event *ev)
{
	return GENMASK_ULL(COUNTERS - 1, 0);
}

/* The same by claims: the driver keeps in the event which counter it has, as one more than that. */
static int share_claim(struct pmu_box *box, struct pmu_event *ev, void *data, bool trial)
{
	u8 *claimed = data;
	int n = ffs(~*claimed) - 1;

	if (n >= COUNTERS)
		return -EAGAIN;
	*claimed |= BIT(n);
	if (trial)
		return 0;
	share.misuse += !!ev->priv;
	share.claimed = *claimed;
	ev->priv = (void *)(n + 1L);
	return 0;
}

static void share_unclaim(struct pmu_box *box, struct pmu_event *ev, void *data)
{
	u8 *claimed = data;

	share.misuse += !ev->priv;
	*claimed &= ~BIT((long)ev->priv - 1);
	share.claimed = *claimed;
	ev->priv = NULL;
}

static void share_hand(struct pmu_box *box, struct pmu_event *from, struct pmu_event *to)
{
	share.hands++;
	share.misuse += !irqs_disabled() || (share_ops.claim && (!from->priv || to->priv));
	to->priv = from->priv;
	from->priv = NULL;
}

/* The counter of an event that verbs are called with: it has claimed one. */
static int share_counter(const struct pmu_event *ev, int idx)
{
	if (share_ops.claim)
		idx = (long)ev->priv - 1;
	share.misuse += idx < 0 || !irqs_disabled();
	return max(idx, 0);
}

static u64 share_start(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	int n = share_counter(ev, idx);

	share.misuse += share.kind[n] >= 0 || (!share.frozen && !share_desc.live);
	share.kind[n] = ev->event->attr.config % KINDS;
	share.starts++;
	return share.raw[n];
}

static void share_stop(struct pmu_box *box, struct pmu_event *ev, int idx)
{
	int n = share_counter(ev, idx);

	share.misuse += share.kind[n] < 0 || (!share.frozen && !share_desc.live);
	share.kind[n] = -1;
	share.stops++;
}

static int share_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	int n = share_counter(ev, idx);

	share.reads++;
	*value = share.raw[n];
	return share.gone ? -ENODEV : 0;
}

/* Plain reads of a box that counts return older values than this. */
static int share_read_late(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	int err = share_read(box, ev, idx, value);

	*value -= share.frozen ? 0 : min(*value, 3ULL);
	return err;
}

static int share_read_exact(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	int n = share_counter(ev, idx);

	share.misuse += share.frozen || share.kind[n] < 0;
	share.exact++;
	*value = share.raw[n];
	return share.never_exact ? -EAGAIN : 0;
}

static void share_freeze(struct pmu_box *box)
{
	share.freezes++;
	share.misuse += share.frozen;
	share.frozen = true;
}

static void share_thaw(struct pmu_box *box)
{
	share.misuse += !share.frozen;
	share.frozen = false;
}

static const struct pmu_format share_formats[] = {
	{ .name = "event", .mask = GENMASK_ULL(7, 0) },
	{ .name = "more", .mask = GENMASK_ULL(7, 0), .word = PMU_CONFIG1 },
	{ .name = "most", .mask = GENMASK_ULL(7, 0), .word = PMU_CONFIG2 },
};

/* Events of @kind happen: whoever counts them gets them. */
static void happen(unsigned int kind, unsigned int events)
{
	for (int n = 0; n < COUNTERS; n++)
		if (share.kind[n] == kind && !share.frozen)
			share.raw[n] = (share.raw[n] + events) & GENMASK_ULL(WIDTH - 1, 0);
	share.happened[kind] += events;
}

static struct perf_event *open_attr(struct kunit *test, struct perf_event_attr attr)
{
	struct perf_event *event = perf_open_attr(SHARE_PMU, attr, 0, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

static struct perf_event *open_event(struct kunit *test, u64 config)
{
	return open_attr(test, (struct perf_event_attr){ .config = config });
}

static int share_test_init(struct kunit *test)
{
	memset(&share, 0, sizeof(share));
	memset(share.kind, -1, sizeof(share.kind));
	share.frozen = true;
	share_ops = (struct pmu_box_ops){
		.event_init = share_event_init, .counters = share_counters,
		.start = share_start, .stop = share_stop, .read = share_read,
		.freeze = share_freeze, .thaw = share_thaw, .hand = share_hand,
	};
	share_desc = (struct pmu_desc){
		.owner = THIS_MODULE, .ops = &share_ops, .scope = PMU_SCOPE_SYSTEM,
		.live = true, .excludes = true, .width = WIDTH, .state_size = sizeof(u64),
		.formats = share_formats, .nr_formats = ARRAY_SIZE(share_formats),
	};
	share.dev = root_device_register("pmu_core_kunit_share_device");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, share.dev);
	return devm_pmu_box_register(share.dev, &share_desc, SHARE_PMU, 0, NULL);
}

static void share_test_exit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, share.claimed, 0);
	if (share.dev)
		root_device_unregister(share.dev);
	pmu_unregister_all(THIS_MODULE);
	KUNIT_EXPECT_EQ(test, share.misuse, 0U);
}

static void with_claims(void)
{
	share_ops.claim = share_claim;
	share_ops.unclaim = share_unclaim;
}

/* The second costs one read when it starts and one when it stops, and neither disturbs the first. */
static void second_takes_nothing(struct kunit *test)
{
	struct perf_event *event = open_event(test, 1), *other;

	happen(1, 5);
	other = open_event(test, 1);
	KUNIT_EXPECT_EQ(test, share.starts, 1U);
	KUNIT_EXPECT_EQ(test, share.freezes, 0U);
	KUNIT_EXPECT_EQ(test, share.reads, 1U);
	/* Nothing of before is to be seen. */
	KUNIT_EXPECT_EQ(test, local64_read(&other->count), 0LL);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 0ULL);
	happen(1, 70);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 70ULL);
	share.reads = 0;
	happen(1, 600);
	perf_event_disable(other);
	KUNIT_EXPECT_EQ(test, share.reads, 1U);
	KUNIT_EXPECT_EQ(test, share.stops + share.freezes, 0U);
	happen(1, 8000);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 670ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 8675ULL);
	perf_event_release_kernel(other);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, share.stops, 1U);
	KUNIT_EXPECT_EQ(test, share.freezes, 1U);
	KUNIT_EXPECT_EQ(test, share.hands, 0U);
}

/* Each fold adds to all that share, so there is a bound: the next one has a counter of its own. */
static void sixty_four_share(struct kunit *test)
{
	struct perf_event *event[65];

	for (int i = 0; i < ARRAY_SIZE(event); i++) {
		event[i] = open_event(test, 1);
		KUNIT_EXPECT_EQ(test, share.starts, i < 64 ? 1U : 2U);
	}
	happen(1, 5);
	for (int i = 0; i < ARRAY_SIZE(event); i++)
		KUNIT_EXPECT_EQ(test, perf_open_count(event[i]), 5ULL);
	for (int i = 0; i < ARRAY_SIZE(event); i++)
		perf_event_release_kernel(event[i]);
}

/* A group as event_init sees it, of equal events, is refused if 64 at each of the two counters are too few. */
static void group_is_tried_with_all_its_counters(struct kunit *test)
{
	struct perf_event *single = open_event(test, 1), **member;
	struct perf_event_context *ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	int n;

	member = kunit_kcalloc(test, 64 * COUNTERS + 1, sizeof(*member), GFP_KERNEL);
	KUNIT_ASSERT_TRUE(test, ctx && member);
	mutex_init(&ctx->mutex);
	for (n = 0; n <= 64 * COUNTERS; n++) {
		member[n] = kunit_kzalloc(test, sizeof(**member), GFP_KERNEL);
		KUNIT_ASSERT_NOT_NULL(test, member[n]);
		INIT_LIST_HEAD(&member[n]->sibling_list);
		member[n]->pmu = single->pmu;
		member[n]->attr = single->attr;
		member[n]->group_leader = member[0];
		member[n]->ctx = ctx;
		member[n]->attach_state = PERF_ATTACH_CONTEXT;
		mutex_lock(&ctx->mutex);
		if (single->pmu->event_init(member[n]))
			break;
		if (n)
			list_add_tail(&member[n]->sibling_list, &member[0]->sibling_list);
		mutex_unlock(&ctx->mutex);
	}
	KUNIT_EXPECT_EQ(test, n, 64 * COUNTERS);
	if (n <= 64 * COUNTERS)
		mutex_unlock(&ctx->mutex);
	while (n--)
		member[n]->destroy(member[n]);
	perf_event_release_kernel(single);
}

/* The first leaves, and the counter counts on for the second: nothing is written. */
static void first_hands_it_on(struct kunit *test)
{
	struct perf_event *event = open_event(test, 1), *other = open_event(test, 1), *third;

	happen(1, 5);
	perf_event_release_kernel(event);
	KUNIT_EXPECT_EQ(test, share.hands, 1U);
	KUNIT_EXPECT_EQ(test, share.stops + share.freezes, 0U);
	happen(1, 70);
	third = open_event(test, 1);
	KUNIT_EXPECT_EQ(test, share.starts, 1U);
	happen(1, 600);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 675ULL);
	perf_event_release_kernel(other);
	happen(1, 8000);
	KUNIT_EXPECT_EQ(test, perf_open_count(third), 8600ULL);
	perf_event_release_kernel(third);
	KUNIT_EXPECT_EQ(test, share.stops, 1U);
}

/* The same where an event claims what its driver says, which the driver hands on. */
static void claims_are_handed_on(struct kunit *test)
{
	with_claims();
	first_hands_it_on(test);
}

/* A driver that cannot do so shares nothing. */
static void not_without_hand(struct kunit *test)
{
	struct perf_event *event, *other;

	with_claims();
	share_ops.hand = NULL;
	event = open_event(test, 1);
	other = open_event(test, 1);
	KUNIT_EXPECT_EQ(test, share.starts, 2U);
	KUNIT_EXPECT_EQ(test, share.claimed, 3);
	perf_event_release_kernel(event);
	perf_event_release_kernel(other);
}

/* A PMU that is not live stands while an event starts or stops. What is counted stays set up. */
static void stands_for_a_start(struct kunit *test)
{
	struct perf_event *event, *other;

	share_desc.live = false;
	event = open_event(test, 1);
	happen(1, 5);
	other = open_event(test, 1);
	happen(1, 70);
	perf_event_release_kernel(event);
	happen(1, 600);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 670ULL);
	KUNIT_EXPECT_EQ(test, share.starts, 1U);
	KUNIT_EXPECT_EQ(test, share.stops, 0U);
	KUNIT_EXPECT_EQ(test, share.freezes, 2U);
	perf_event_release_kernel(other);
}

/*
 * Nor does it stand beside an equal one if what this has counted can be known to the unit while it
 * counts. Plain reads may lack some of that, which then would be the other's.
 */
static void counts_on_if_that_is_exact(struct kunit *test)
{
	struct perf_event *event, *other;

	share_desc.live = false;
	share_ops.read = share_read_late;
	share_ops.read_exact = share_read_exact;
	for (int way = 0; way < 2; way++) {
		share.exact = 0;
		share.freezes = 0;
		share.never_exact = way;
		event = open_event(test, 1);
		KUNIT_EXPECT_EQ(test, share.exact, 0U);
		happen(1, 5);
		other = open_event(test, 1);
		happen(1, 70);
		perf_event_disable(event);
		KUNIT_EXPECT_EQ(test, local64_read(&event->count), 75LL);
		happen(1, 600);
		perf_event_disable(other);
		KUNIT_EXPECT_EQ(test, local64_read(&other->count), 670LL);
		/* The last event has no other to share with. */
		KUNIT_EXPECT_EQ(test, share.exact, 2U);
		KUNIT_EXPECT_EQ(test, share.freezes, way ? 3U : 1U);
		perf_event_release_kernel(event);
		perf_event_release_kernel(other);
	}
	KUNIT_EXPECT_EQ(test, share.starts, 2U);
	KUNIT_EXPECT_EQ(test, share.stops, 2U);
}

/* Whatever differs is counted apart. */
static void only_equal_ones_share(struct kunit *test)
{
	static const struct perf_event_attr other[] = {
		{ .config = 2 },
		{ .config = 1, .config1 = 1 },
		{ .config = 1, .config2 = 1 },
		{ .config = 1, .exclude_kernel = 1 },
		{ .config = 1, .exclusive = 1 },
	};
	struct perf_event *event, *second;

	event = open_event(test, 1);
	for (int i = 0; i < ARRAY_SIZE(other); i++) {
		perf_event_disable(event);
		share.starts = 0;
		second = open_attr(test, other[i]);
		perf_event_enable(event);
		/* An exclusive event does not share: it takes turns with the other. */
		KUNIT_EXPECT_GE_MSG(test, share.starts, 2U, "row %d", i);
		perf_event_release_kernel(second);
	}
	perf_event_release_kernel(event);
}

/* What claims anew depends on others, such as half a pair: it has a counter of its own. */
static void anew_is_apart(struct kunit *test)
{
	struct perf_event *event, *second;

	share.anew = true;
	event = open_event(test, 1);
	second = open_event(test, 1);
	KUNIT_EXPECT_NE(test, event->hw.idx, second->hw.idx);
	perf_event_release_kernel(second);
	perf_event_release_kernel(event);
}

/* Even if pinned events have all counters, an event that is equal to one of them counts. */
static void pinned_ones_have_room_for_equals(struct kunit *test)
{
	static const struct perf_event_attr attr[] = {
		{ .config = 0, .pinned = 1 }, { .config = 1, .pinned = 1 }, { .config = 0 },
		{ .config = 3, .pinned = 1 },
	};
	struct perf_event *event[4];

	for (int i = 0; i < 4; i++)
		event[i] = open_attr(test, attr[i]);
	KUNIT_EXPECT_EQ(test, event[2]->state, PERF_EVENT_STATE_ACTIVE);
	KUNIT_EXPECT_EQ(test, event[3]->state, PERF_EVENT_STATE_ERROR);
	for (int i = 0; i < 4; i++)
		perf_event_release_kernel(event[i]);
}

/* Two that share and one that is alone, read as perf reads a group. */
static void read_group(void *data)
{
	struct perf_event **event = data;
	struct pmu *pmu = event[0]->pmu;

	pmu->start_txn(pmu, PERF_PMU_TXN_READ);
	for (int i = 0; i < 3; i++)
		pmu->read(event[i]);
	pmu->commit_txn(pmu);
}

/* One read of the counter is enough for all of a pass, and another pass reads it again. */
static void read_once_in_a_pass(struct kunit *test)
{
	struct perf_event *event[3] = {
		open_event(test, 1), open_event(test, 1), open_event(test, 2),
	};

	for (int pass = 1; pass < 4; pass++) {
		share.reads = 0;
		happen(1, 7);
		happen(2, 8);
		KUNIT_ASSERT_EQ(test, smp_call_function_single(0, read_group, event, 1), 0);
		KUNIT_EXPECT_EQ(test, share.reads, 2U);
		KUNIT_EXPECT_EQ(test, local64_read(&event[0]->count), 7LL * pass);
		KUNIT_EXPECT_EQ(test, local64_read(&event[1]->count), 7LL * pass);
		KUNIT_EXPECT_EQ(test, local64_read(&event[2]->count), 8LL * pass);
	}
	for (int i = 0; i < 3; i++)
		perf_event_release_kernel(event[i]);
}

/*
 * Another program writes to the counter. No event counts the difference, all count on, and the log
 * says so once.
 */
static void told_once(struct kunit *test)
{
	struct perf_event *event[3];
	struct pmu_box *box;

	share.max_rate = 1000;
	for (int i = 0; i < 3; i++)
		event[i] = open_event(test, 1);
	box = pmu_event_of(event[0])->box;
	happen(1, 5);
	KUNIT_EXPECT_EQ(test, perf_open_count(event[1]), 5ULL);
	share.raw[0] += BIT(30);
	KUNIT_EXPECT_EQ(test, perf_open_count(event[2]), 5ULL);
	irq_work_sync(&box->complaint);
	KUNIT_EXPECT_EQ(test, box->doubt_delta, (s64)BIT(30));
	box->doubt_delta = 0;
	happen(1, 7);
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ_MSG(test, perf_open_count(event[i]), 12ULL, "event %d", i);
	irq_work_sync(&box->complaint);
	KUNIT_EXPECT_EQ(test, box->doubt_delta, 0LL);
	for (int i = 0; i < 3; i++)
		perf_event_release_kernel(event[i]);
}

/* A device that stops answering, or goes: all fail and keep what they have counted. */
static void all_fail(struct kunit *test)
{
	struct perf_event *event[3];

	for (int way = 0; way < 2; way++) {
		for (int i = 0; i < 3; i++) {
			event[i] = open_event(test, 1);
			happen(1, 5);
		}
		if (way) {
			root_device_unregister(share.dev);
			share.dev = NULL;
		} else {
			perf_open_count(event[1]);
			share.gone = true;
			perf_open_count(event[1]);
		}
		for (int i = 0; i < 3; i++) {
			KUNIT_EXPECT_TRUE_MSG(test, perf_open_fails_soon(event[i]), "event %d", i);
			KUNIT_EXPECT_EQ(test, local64_read(&event[i]->count), 5LL * (3 - i));
		}
		share.gone = false;
		for (int i = 0; i < 3; i++)
			perf_event_release_kernel(event[i]);
	}
}

/* A machine sleeps: the counter starts once, and all that shared it before go on. */
static void goes_on_after_sleep(struct kunit *test)
{
	struct perf_event *event = open_event(test, 1), *other, *late;

	happen(1, 5);
	other = open_event(test, 1);
	happen(1, 70);
	KUNIT_ASSERT_EQ(test, pmu_boxes_suspend(share.dev), 0);
	memset(share.kind, -1, sizeof(share.kind));
	share.raw[0] = 12345;
	late = open_event(test, 1);
	KUNIT_ASSERT_EQ(test, pmu_boxes_resume(share.dev), 0);
	KUNIT_EXPECT_EQ(test, share.starts, 2U);
	happen(1, 600);
	KUNIT_EXPECT_EQ(test, perf_open_count(event), 675ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(other), 670ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(late), 600ULL);
	perf_event_release_kernel(event);
	perf_event_release_kernel(late);
	perf_event_release_kernel(other);
}

/* A group as event_init sees it: see claim_test.c. */
struct group {
	struct perf_event_context ctx;
	struct perf_event member[4];
	unsigned int size;
};

static struct group *group_create(struct kunit *test)
{
	struct group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, group);
	mutex_init(&group->ctx.mutex);
	return group;
}

static int group_add(struct group *group, struct pmu *pmu, u64 config, bool exclusive)
{
	struct perf_event *event = &group->member[group->size], *leader = &group->member[0];
	int err;

	INIT_LIST_HEAD(&event->sibling_list);
	event->pmu = pmu;
	event->attr.type = pmu->type;
	event->attr.config = config;
	event->attr.exclusive = exclusive && event == leader;
	event->group_leader = leader;
	event->ctx = &group->ctx;
	event->attach_state = PERF_ATTACH_CONTEXT;
	mutex_lock(&group->ctx.mutex);
	err = pmu->event_init(event);
	if (!err && group->size++)
		list_add_tail(&event->sibling_list, &leader->sibling_list);
	mutex_unlock(&group->ctx.mutex);
	return err;
}

static void group_destroy(struct group *group)
{
	while (group->size) {
		struct perf_event *member = &group->member[--group->size];

		member->destroy(member);
	}
}

/* Do all but the last fit, and what about that? */
static void try_group(struct kunit *test, const int *config, unsigned int size, bool exclusive,
		      int last)
{
	struct perf_event *event = open_event(test, 0);
	struct group *group = group_create(test);

	for (int i = 0; i < size; i++)
		KUNIT_EXPECT_EQ_MSG(test, group_add(group, event->pmu, config[i], exclusive),
				    i < size - 1 ? 0 : last, "member %d", i);
	group_destroy(group);
	perf_event_release_kernel(event);
}

/* A group that has one event several times fits where one of each fits; one that is exclusive does not. */
static void group_with_equals(struct kunit *test)
{
	static const int fits[][4] = {
		{ 1, 1, 1, 1 }, { 1, 2, 1, 2 }, { 1, 2, 2, 1 }, { 2, 1, 1, 1 }, { 1, 1, 1, 2 },
	};
	static const int fits_not[][4] = {
		{ 1, 1, 2, 3 }, { 1, 2, 1, 3 }, { 1, 2, 2, 3 },
	};

	for (int claims = 0; claims < 2; claims++) {
		for (int i = 0; i < ARRAY_SIZE(fits); i++)
			try_group(test, fits[i], 4, false, 0);
		for (int i = 0; i < ARRAY_SIZE(fits_not); i++)
			try_group(test, fits_not[i], 4, false, -EINVAL);
		with_claims();
	}
}

static void exclusive_group_shares_nothing(struct kunit *test)
{
	static const int config[] = { 1, 1, 1 };

	try_group(test, config, 3, true, -EINVAL);
}

/* What perf does on the CPU. */
static void member_add(void *data)
{
	struct perf_event *member = data;

	member->state = PERF_EVENT_STATE_ACTIVE;
	member->pmu->pmu_disable(member->pmu);
	if (member->pmu->add(member, PERF_EF_START))
		member->state = PERF_EVENT_STATE_INACTIVE;
	member->pmu->pmu_enable(member->pmu);
}

static void member_del(void *data)
{
	struct perf_event *member = data;

	member->pmu->del(member, 0);
}

/*
 * A sibling whose exclusive leader is closed is not exclusive any more. A leader may be freed before
 * a sibling that is being closed, so its memory may be that of another event, as of an exclusive one.
 */
static void freed_leader_asks_for_nothing(struct kunit *test)
{
	struct perf_event *event = open_event(test, 0), *member, *equal;
	struct group *group = group_create(test);

	KUNIT_ASSERT_EQ(test, group_add(group, event->pmu, 1, true), 0);
	KUNIT_ASSERT_EQ(test, group_add(group, event->pmu, 1, true), 0);
	member = &group->member[1];
	list_del_init(&member->sibling_list);
	member->group_leader = member;
	smp_call_function_single(event->cpu, member_add, member, 1);
	KUNIT_ASSERT_EQ(test, (int)member->state, (int)PERF_EVENT_STATE_ACTIVE);
	member->group_leader = &group->member[0];
	equal = open_event(test, 1);
	KUNIT_EXPECT_EQ(test, equal->hw.idx, member->hw.idx);
	smp_call_function_single(event->cpu, member_del, member, 1);
	perf_event_release_kernel(equal);
	group_destroy(group);
	perf_event_release_kernel(event);
}

/* An event of the ledger: what it should have counted, from what has happened while it was on. */
struct entry {
	struct perf_event *event;
	int kind;
	bool on;
	u64 since, sum;
};

static u64 owed(const struct entry *entry)
{
	return entry->sum + (entry->on ? share.happened[entry->kind] - entry->since : 0);
}

static void ledger_step(struct kunit *test, struct entry *entry, struct rnd_state *rnd)
{
	unsigned int what = prandom_u32_state(rnd) % 6;

	if (!entry->event) {
		entry->kind = prandom_u32_state(rnd) % COUNTERS;
		entry->event = open_event(test, entry->kind);
		entry->on = true;
		entry->since = share.happened[entry->kind];
		entry->sum = 0;
	} else if (what == 0) {
		perf_event_release_kernel(entry->event);
		entry->event = NULL;
	} else if (what <= 2) {
		entry->sum = owed(entry);
		entry->since = share.happened[entry->kind];
		entry->on = !entry->on;
		if (entry->on)
			perf_event_enable(entry->event);
		else
			perf_event_disable(entry->event);
	} else {
		KUNIT_ASSERT_EQ(test, perf_open_count(entry->event), owed(entry));
	}
}

/* Whoever opens, closes, switches and reads, in whatever order: each has what happened while it was on. */
static void ledger(struct kunit *test)
{
	struct entry *entry = kunit_kcalloc(test, EVENTS, sizeof(*entry), GFP_KERNEL);
	struct rnd_state rnd;

	KUNIT_ASSERT_NOT_NULL(test, entry);
	if (!seed)
		seed = get_random_u32();
	kunit_info(test, "share_seed=%u\n", seed);
	prandom_seed_state(&rnd, seed);
	for (int way = 0; way < 5; way++) {
		share_desc.live = way & 1;
		if (way & 2)
			with_claims();
		if (way == 4)
			share_ops.read_exact = share_read_exact;
		for (int step = 0; step < 1000; step++) {
			share.never_exact = prandom_u32_state(&rnd) % 2;
			ledger_step(test, &entry[prandom_u32_state(&rnd) % EVENTS], &rnd);
			happen(prandom_u32_state(&rnd) % KINDS, prandom_u32_state(&rnd) % 10000000);
			KUNIT_ASSERT_EQ(test, share.misuse, 0U);
		}
		for (int i = 0; i < EVENTS; i++) {
			if (!entry[i].event)
				continue;
			KUNIT_EXPECT_EQ(test, perf_open_count(entry[i].event), owed(&entry[i]));
			perf_event_release_kernel(entry[i].event);
			entry[i].event = NULL;
		}
		KUNIT_EXPECT_EQ(test, share.starts, share.stops);
	}
	KUNIT_EXPECT_GT(test, share.hands, 0U);
}

static struct kunit_case share_cases[] = {
	KUNIT_CASE(second_takes_nothing),
	KUNIT_CASE(sixty_four_share),
	KUNIT_CASE(group_is_tried_with_all_its_counters),
	KUNIT_CASE(first_hands_it_on),
	KUNIT_CASE(claims_are_handed_on),
	KUNIT_CASE(not_without_hand),
	KUNIT_CASE(stands_for_a_start),
	KUNIT_CASE(counts_on_if_that_is_exact),
	KUNIT_CASE(only_equal_ones_share),
	KUNIT_CASE(anew_is_apart),
	KUNIT_CASE(pinned_ones_have_room_for_equals),
	KUNIT_CASE(read_once_in_a_pass),
	KUNIT_CASE(told_once),
	KUNIT_CASE(all_fail),
	KUNIT_CASE(goes_on_after_sleep),
	KUNIT_CASE(group_with_equals),
	KUNIT_CASE(exclusive_group_shares_nothing),
	KUNIT_CASE(freed_leader_asks_for_nothing),
	KUNIT_CASE_SLOW(ledger),
	{ }
};

struct kunit_suite pmu_share_suite = {
	.name = "pmu_core_share",
	.init = share_test_init,
	.exit = share_test_exit,
	.test_cases = share_cases,
};
