// SPDX-License-Identifier: GPL-2.0-only
/*
 * A box is frozen or running, and is read in passes.
 *
 * The box is frozen whenever nothing counts. It is frozen late, at the first start or
 * stop between perf's pmu_disable and pmu_enable, so that a pair that changes nothing
 * costs no access, and thawed once at the end, so that a group starts together.
 *
 * All of this runs under the box's lock.
 */
#include "core.h"

/* What is read from now on is of another moment. */
void pmu_box_begin_pass(struct pmu_box *box)
{
	box->pass++;
	if (!pmu_box_absent(box) && box_ops(box)->begin_read)
		box_ops(box)->begin_read(box);
}

/* While perf reads a group on one CPU, another may read as well: the last one ends the pass. */
void pmu_box_begin_read(struct pmu_box *box)
{
	box->reading++;
	pmu_box_begin_pass(box);
}

void pmu_box_end_read(struct pmu_box *box)
{
	if (!--box->reading && !pmu_box_absent(box) && !box->frozen && box_ops(box)->end_read)
		box_ops(box)->end_read(box);
}

/* For a group of several events. It is not worth stopping the box for one event. */
void pmu_box_hold(struct pmu_box *box)
{
	if (!pmu_box_absent(box) && !box->frozen && box_ops(box)->hold)
		box_ops(box)->hold(box);
}

/* All reads of a frozen box are of one moment, so they are one pass. */
void pmu_box_freeze(struct pmu_box *box)
{
	if (box->frozen)
		return;
	if (!pmu_box_absent(box) && box_ops(box)->freeze)
		box_ops(box)->freeze(box);
	box->frozen = true;
	pmu_box_begin_pass(box);
}

void pmu_box_thaw(struct pmu_box *box)
{
	if (box->disabled)
		return;
	if (pmu_box_is_idle(box)) {
		/* Nothing counts until perf starts an event, so wake no CPU. */
		if (box->poll_ns && hrtimer_try_to_cancel(&box->timer) >= 0)
			box->poll_ns = 0;
		/* perf holds locks here under which a verb must not write to the log. */
		if (box->leaving && box->engaged)
			irq_work_queue(&box->left);
		return;
	}
	if (pmu_box_absent(box) || !box->frozen)
		return;
	if (box_ops(box)->thaw)
		box_ops(box)->thaw(box);
	box->frozen = false;
}
