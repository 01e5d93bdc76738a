// SPDX-License-Identifier: GPL-2.0-only
/*
 * Claims: boxes of which an event takes more than a counter. Here it takes, of
 * CLAIM_UNITS that there are, as many as its config says.
 */
#include <kunit/test.h>
#include <linux/device.h>
#include <linux/module.h>
#include <linux/mutex.h>

#include <pmu/core.h>

#include "suites.h"
#include "perf_open.h"

#define CLAIM_PMU	"pmu_core_kunit_claim"
#define CLAIM_UNITS	4
#define GROUP_MOST	4

struct claim_state {
	unsigned int used;
	unsigned int calls;
};

static struct {
	struct device *dev;
	struct claim_state *real;	/* once something was really claimed */
	unsigned int trials, claims, unclaims;
	unsigned int misuse;
	u64 raw;
} claim;

static int claim_event_init(const struct pmu_desc *desc, struct pmu_event *ev)
{
	return 0;
}

static int claim_claim(struct pmu_box *box, struct pmu_event *ev, void *data, bool trial)
{
	struct claim_state *state = data;
	unsigned int wanted = ev->event->attr.config;

	if (trial) {
		/* A state of its own, at first all zero, in which every call is counted. */
		claim.misuse += state == claim.real || (!state->calls && state->used);
		claim.trials++;
	} else {
		claim.misuse += !irqs_disabled();
		claim.real = state;
	}
	state->calls++;
	if (state->used + wanted > CLAIM_UNITS)
		return -EAGAIN;
	state->used += wanted;
	if (!trial) {
		ev->priv = (void *)(unsigned long)wanted;
		claim.claims++;
	}
	return 0;
}

static void claim_unclaim(struct pmu_box *box, struct pmu_event *ev, void *data)
{
	struct claim_state *state = data;

	claim.misuse += state != claim.real || !irqs_disabled();
	claim.unclaims++;
	state->used -= (unsigned long)ev->priv;
}

static int claim_read(struct pmu_box *box, struct pmu_event *ev, int idx, u64 *value)
{
	*value = claim.raw;
	return 0;
}

static const struct pmu_box_ops claim_ops = {
	.event_init = claim_event_init,
	.claim = claim_claim,
	.unclaim = claim_unclaim,
	.read = claim_read,
};

static const struct pmu_format claim_formats[] = {
	{ .name = "units", .mask = GENMASK_ULL(7, 0) },
};

static const struct pmu_desc claim_desc = {
	.owner = THIS_MODULE,
	.ops = &claim_ops,
	.scope = PMU_SCOPE_SYSTEM,
	.width = 64,
	.state_size = sizeof(struct claim_state),
	.formats = claim_formats,
	.nr_formats = ARRAY_SIZE(claim_formats),
};

static int claim_test_init(struct kunit *test)
{
	memset(&claim, 0, sizeof(claim));
	claim.dev = root_device_register("pmu_core_kunit_claim_device");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, claim.dev);
	return devm_pmu_box_register(claim.dev, &claim_desc, CLAIM_PMU, 0, NULL);
}

static void claim_test_exit(struct kunit *test)
{
	if (claim.real)
		KUNIT_EXPECT_EQ(test, claim.real->used, 0U);
	root_device_unregister(claim.dev);
	pmu_unregister_all(THIS_MODULE);
	KUNIT_EXPECT_EQ(test, claim.misuse, 0U);
	KUNIT_EXPECT_EQ(test, claim.claims, claim.unclaims);
}

static struct perf_event *open_units(struct kunit *test, unsigned int units)
{
	struct perf_event *event = perf_open(CLAIM_PMU, units, 0, NULL);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, event);
	return event;
}

/*
 * perf makes no groups for the kernel's own events. This is one as event_init sees it:
 * built by hand, with the context's lock held, and never scheduled.
 */
struct group {
	struct perf_event_context ctx;
	struct perf_event *member[GROUP_MOST];
	unsigned int size;
};

static struct group *group_create(struct kunit *test)
{
	struct group *group = kunit_kzalloc(test, sizeof(*group), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, group);
	mutex_init(&group->ctx.mutex);
	return group;
}

/* Add a member that takes @units: what its event_init says. */
static int group_add(struct kunit *test, struct group *group, struct pmu *pmu, unsigned int units)
{
	struct perf_event *event = kunit_kzalloc(test, sizeof(*event), GFP_KERNEL);
	struct perf_event *leader = group->size ? group->member[0] : event;
	int err;

	KUNIT_ASSERT_NOT_NULL(test, event);
	KUNIT_ASSERT_LT(test, group->size, GROUP_MOST);
	INIT_LIST_HEAD(&event->sibling_list);
	event->pmu = pmu;
	event->attr.type = pmu->type;
	event->attr.config = units;
	event->group_leader = leader;
	event->ctx = &group->ctx;
	event->attach_state = PERF_ATTACH_CONTEXT;
	mutex_lock(&group->ctx.mutex);
	err = pmu->event_init(event);
	if (!err) {
		group->member[group->size++] = event;
		if (leader != event)
			list_add_tail(&event->sibling_list, &leader->sibling_list);
	}
	mutex_unlock(&group->ctx.mutex);
	return err;
}

static void group_destroy(struct group *group)
{
	while (group->size) {
		struct perf_event *event = group->member[--group->size];

		if (event->destroy)
			event->destroy(event);
	}
}

/* The PMU that the events opened here have. */
static struct pmu *claim_pmu(struct kunit *test)
{
	struct perf_event *event = open_units(test, 1);
	struct pmu *pmu = event->pmu;

	perf_event_release_kernel(event);
	return pmu;
}

/* Claims are given back. Until then the driver finds what it kept of them. */
static void gives_back(struct kunit *test)
{
	struct perf_event *a = open_units(test, 3), *b = open_units(test, 1);

	KUNIT_EXPECT_EQ(test, claim.real->used, 4U);
	perf_event_disable(a);
	KUNIT_EXPECT_EQ(test, claim.real->used, 1U);
	perf_event_enable(a);
	KUNIT_EXPECT_EQ(test, claim.real->used, 4U);
	claim.raw += 6;
	KUNIT_EXPECT_EQ(test, perf_open_count(a), 6ULL);
	KUNIT_EXPECT_EQ(test, perf_open_count(b), 6ULL);
	perf_event_release_kernel(a);
	KUNIT_EXPECT_EQ(test, claim.real->used, 1U);
	perf_event_release_kernel(b);
	KUNIT_EXPECT_EQ(test, claim.real->used, 0U);
}

/* An event that the box has no room for waits, and gets it when there is. */
static void waits_for_room(struct kunit *test)
{
	struct perf_event *a = open_units(test, 3), *b = open_units(test, 2);
	unsigned int used;

	used = READ_ONCE(claim.real->used);
	KUNIT_EXPECT_TRUE(test, used == 2 || used == 3);
	perf_event_release_kernel(a);
	KUNIT_EXPECT_TRUE(test, perf_open_soon(READ_ONCE(claim.real->used) == 2));
	perf_event_release_kernel(b);
}

/* A group that can never fit is refused in the trial. Nothing was really claimed. */
static void too_much_for_one(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, perf_open_error(CLAIM_PMU, CLAIM_UNITS + 1, 0, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, claim.trials, 1U);
	KUNIT_EXPECT_EQ(test, claim.claims, 0U);
	KUNIT_EXPECT_NULL(test, claim.real);
}

/* A group fits as a whole or is refused, and the members that were there stay. */
static void group_fits_as_a_whole(struct kunit *test)
{
	struct pmu *pmu = claim_pmu(test);
	struct group *group = group_create(test);
	unsigned int claims = claim.claims;

	KUNIT_EXPECT_EQ(test, group_add(test, group, pmu, 2), 0);
	KUNIT_EXPECT_EQ(test, group_add(test, group, pmu, 1), 0);
	KUNIT_EXPECT_EQ(test, group_add(test, group, pmu, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, group_add(test, group, pmu, 1), 0);
	KUNIT_EXPECT_EQ(test, group_add(test, group, pmu, 1), -EINVAL);
	KUNIT_EXPECT_EQ(test, claim.claims, claims);
	KUNIT_EXPECT_EQ(test, claim.real->used, 0U);
	group_destroy(group);
}

/* A group is tried on an empty box: what others take now they will not take for ever. */
static void trial_ignores_who_counts(struct kunit *test)
{
	struct perf_event *event = open_units(test, CLAIM_UNITS);
	struct group *group = group_create(test);

	KUNIT_EXPECT_EQ(test, claim.real->used, (unsigned int)CLAIM_UNITS);
	KUNIT_EXPECT_EQ(test, group_add(test, group, event->pmu, 3), 0);
	KUNIT_EXPECT_EQ(test, group_add(test, group, event->pmu, 1), 0);
	KUNIT_EXPECT_EQ(test, claim.real->used, (unsigned int)CLAIM_UNITS);
	group_destroy(group);
	perf_event_release_kernel(event);
}

/* Members of other PMUs take nothing of this one's boxes. */
static void others_take_nothing(struct kunit *test)
{
	struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(clock), .config = PERF_COUNT_SW_CPU_CLOCK,
	};
	struct perf_event *other = perf_event_create_kernel_counter(&clock, 0, NULL, NULL, NULL);
	struct pmu *pmu = claim_pmu(test);
	struct group *group = group_create(test);

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, other);
	KUNIT_EXPECT_EQ(test, group_add(test, group, pmu, 3), 0);
	/* If it were an event of this PMU, its config would claim too much. */
	group->member[group->size] = kunit_kzalloc(test, sizeof(*other), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, group->member[group->size]);
	group->member[group->size]->pmu = other->pmu;
	group->member[group->size]->attr.config = CLAIM_UNITS;
	list_add_tail(&group->member[group->size++]->sibling_list, &group->member[0]->sibling_list);
	KUNIT_EXPECT_EQ(test, group_add(test, group, pmu, 1), 0);
	group_destroy(group);
	perf_event_release_kernel(other);
}

static struct kunit_case claim_cases[] = {
	KUNIT_CASE(gives_back),
	KUNIT_CASE(waits_for_room),
	KUNIT_CASE(too_much_for_one),
	KUNIT_CASE(group_fits_as_a_whole),
	KUNIT_CASE(trial_ignores_who_counts),
	KUNIT_CASE(others_take_nothing),
	{ }
};

struct kunit_suite pmu_claim_suite = {
	.name = "pmu_core_claim",
	.init = claim_test_init,
	.exit = claim_test_exit,
	.test_cases = claim_cases,
};
