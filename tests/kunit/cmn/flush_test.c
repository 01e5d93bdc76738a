// SPDX-License-Identifier: GPL-2.0-only
/*
 * cmn: what a start writes of what earlier stops have left, and what it leaves.
 */
#include <kunit/test.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "regfile.h"

#define PMU_CONFIG_PAIRED	0xf0ULL

/* An event of all XPs, one of XP 0x00, and one of XP 0x20. */
#define EVERYWHERE	0x110006
#define AT_00		0x0080110006
#define AT_20		0x2080110006
#define HNF_20		0x2080010005	/* of a device at XP 0x20 */

static void start(struct kunit *test, struct cmn_regfile *file, struct cmn_claims *claims,
		  u64 config, struct cmn_event **ce, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		ce[i] = cmn_regfile_start(test, file, claims, config, 0, 0);
	cmn_events_begin(&file->cmn);
}

static void stop(struct cmn_regfile *file, struct cmn_claims *claims, struct cmn_event **ce,
		 unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		cmn_event_stop(&file->cmn, ce[i]);
		cmn_unclaim(&file->cmn, claims, ce[i]);
		kvfree(ce[i]);
	}
	cmn_events_begin(&file->cmn);
}

/* In how many XPs a local counter carries into a letter. */
static unsigned int paired_with(struct cmn_regfile *file, unsigned int letter)
{
	unsigned int nr = 0;

	for (unsigned int i = 0; i < file->cmn.nr_xps; i++) {
		u64 config = cmn_regfile_get(file, file->xp[i] + PMU_CONFIG);

		for (unsigned int k = 0; k < 4; k++)
			nr += (config >> (4 + k) & 1) && (config >> (16 + 4 * k) & 7) == letter;
	}
	return nr;
}

/* A stop writes nothing, and a start elsewhere does not write what was stopped. */
static void a_start_writes_its_own_xp(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 xp = file->xp[1];		/* id 0x20 */
	struct cmn_event *ce[4];

	start(test, file, claims, EVERYWHERE, ce, 4);
	cmn_regfile_forget(file);
	stop(file, claims, ce, 4);
	KUNIT_EXPECT_EQ(test, file->writes, 0U);
	start(test, file, claims, AT_20, ce, 1);
	KUNIT_EXPECT_EQ(test, ce[0]->letter[0], 4);
	KUNIT_EXPECT_EQ(test, file->writes, 2U);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + SEL), 0x11ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + PMU_CONFIG) & PMU_CONFIG_PAIRED, 0x10ULL);
	for (unsigned int letter = 0; letter < 4; letter++)
		KUNIT_EXPECT_EQ(test, paired_with(file, letter), file->cmn.nr_xps - 1);
	KUNIT_EXPECT_EQ(test, paired_with(file, 4), 1U);
	stop(file, claims, ce, 1);
}

/* If no other letter is left, the DTMs that still carry into it are written first. */
static void a_letter_has_one_user(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce[4];

	start(test, file, claims, EVERYWHERE, ce, 4);
	stop(file, claims, ce, 4);
	start(test, file, claims, AT_00, ce, 4);
	KUNIT_EXPECT_EQ(test, ce[3]->letter[0], 7);
	stop(file, claims, ce, 4);
	cmn_regfile_forget(file);
	start(test, file, claims, AT_20, ce, 1);
	KUNIT_EXPECT_EQ(test, ce[0]->letter[0], 0);
	KUNIT_EXPECT_EQ(test, paired_with(file, 0), 1U);
	/* The selector is written, and each DTM but that of XP 0x00. */
	KUNIT_EXPECT_EQ(test, file->writes, file->cmn.nr_xps);
	KUNIT_EXPECT_EQ(test, paired_with(file, 7), 1U);
	start(test, file, claims, AT_20, ce + 1, 1);
	KUNIT_EXPECT_EQ(test, ce[1]->letter[0], 1);
	stop(file, claims, ce, 2);
}

/* Another node's event on the same line would be counted, too. */
static void a_start_writes_its_neighbours(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_700);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	struct cmn_event *ce[2];

	/* Events of the HN-Fs 0x20 and 0x22, which share an XP, and of 0x42. */
	start(test, file, claims, 0x10005, ce, 1);
	stop(file, claims, ce, 1);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[3] + SEL), 0x1ULL);
	start(test, file, claims, 0x2280020005, ce, 1);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[3] + SEL), 0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[4] + SEL), 0x2ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[5] + SEL), 0x1ULL);
	/* The stale register is written when an event starts at its XP. */
	start(test, file, claims, 0x4280020005, ce + 1, 1);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, file->node[5] + SEL), 0x2ULL);
	stop(file, claims, ce, 2);
}

/* What was written while another program had set dtm_enable may not have arrived. */
static void a_dtm_that_was_locked(struct kunit *test)
{
	struct cmn_regfile *file = cmn_regfile_ready(test, &cmn_fake_600);
	struct cmn_claims *claims = cmn_regfile_claims(test, file);
	u32 xp = file->xp[1];		/* id 0x20 */
	struct cmn_event *ce[3];

	start(test, file, claims, AT_20, ce, 1);
	cmn_regfile_set(file, xp + DTM_CONTROL, 1);
	cmn_regfile_set(file, xp + PMU_CONFIG, 1);
	/* It is not looked at each time: the mesh stands meanwhile. */
	file->cmn.dtms[1].unlocked = jiffies;
	start(test, file, claims, AT_20, ce + 1, 1);
	stop(file, claims, ce + 1, 1);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + DTM_CONTROL), 1ULL);
	file->cmn.dtms[1].unlocked -= HZ;
	KUNIT_EXPECT_FALSE(test, test_bit(CMN_DTM_LOCKED, &file->cmn.told));
	cmn_regfile_set(file, xp + PMU_CONFIG, 1);
	start(test, file, claims, AT_20, ce + 1, 1);
	KUNIT_EXPECT_TRUE(test, test_bit(CMN_DTM_LOCKED, &file->cmn.told));
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + DTM_CONTROL), 0ULL);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + PMU_CONFIG) & PMU_CONFIG_PAIRED, 0x30ULL);
	/* Nor what was written to the XP's selector, which has not changed since. */
	cmn_regfile_set(file, xp + DTM_CONTROL, 1);
	cmn_regfile_set(file, xp + SEL, 0);
	file->cmn.dtms[1].unlocked -= HZ;
	start(test, file, claims, HNF_20, ce + 2, 1);
	KUNIT_EXPECT_EQ(test, cmn_regfile_get(file, xp + SEL), 0x1111ULL);
	stop(file, claims, ce, 3);
}

static struct kunit_case cmn_flush_cases[] = {
	KUNIT_CASE(a_start_writes_its_own_xp),
	KUNIT_CASE(a_letter_has_one_user),
	KUNIT_CASE(a_start_writes_its_neighbours),
	KUNIT_CASE(a_dtm_that_was_locked),
	{ }
};

struct kunit_suite cmn_flush_suite = {
	.name = "cmn-flush",
	.test_cases = cmn_flush_cases,
};
