// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events that are off stay off when perf moves them. perf switches on whatever it moves
 * (__perf_pmu_install_event()), unless it is in error state. So an event that is off is put into
 * that state while it moves. If the user enables it meanwhile, perf ends that state first, and
 * nothing is put back. An event that has failed stays in error state.
 *
 * perf holds the context's mutex from where it sees that an event is off until it has enabled it.
 * In between, the event must not go to error state: perf would not enable it then. The mutex
 * cannot be held until perf takes the events, which locks it itself. So a user who waited for it
 * may switch an event off in between. perf tells the core of that in pmu_enable(), before anybody
 * can enable the event again, or, if pmu_tells_of_off() says no, in del(). Then the event is not
 * off yet, so it is looked at as soon as perf is done with it. To switch it off and on again takes
 * two system calls, the second of which would have to be half done by then.
 *
 * All of this is called with ctx->lock, which protects @on and @off of an event.
 */
#include <linux/smp.h>

#include <pmu/loans.h>

#include "core.h"

/* An event that is on, or that may not go to error state although it is off, is left as it is. */
static void pmu_event_spare_if(struct perf_event *event, bool may_go)
{
	struct pmu_event *ev = pmu_event_of(event);

	if (event->state > PERF_EVENT_STATE_OFF) {
		ev->on = pmu_tells_of_off(event->pmu);
		ev->off = false;
		return;
	}
	if (may_go && !ev->failed &&
	    pmu_swap_state_locked(event, PERF_EVENT_STATE_OFF, PERF_EVENT_STATE_ERROR))
		ev->off = true;
	ev->on = false;
}

/* Before perf moves the event; with the context's mutex. */
void pmu_event_spare(struct perf_event *event)
{
	pmu_event_spare_if(event, true);
}

/* Without it: only if the event was on when perf last did something to it. */
static void pmu_event_spare_late(struct perf_event *event)
{
	pmu_event_spare_if(event, pmu_event_of(event)->on);
}

/* After perf has moved the event, or has not. */
void pmu_event_unspare(struct perf_event *event)
{
	struct pmu_event *ev = pmu_event_of(event);

	if (ev->off && !ev->failed)
		pmu_swap_state_locked(event, PERF_EVENT_STATE_ERROR, PERF_EVENT_STATE_OFF);
	ev->on = false;
	ev->off = false;
}

static bool pmu_dev_is_looked_at(const struct pmu_dev *pd)
{
	return READ_ONCE(pd->looked_at) == smp_processor_id();
}

static void pmu_dev_look(struct irq_work *work)
{
	struct pmu_dev *pd = container_of(work, struct pmu_dev, look);

	pmu_context_look(&pd->pmu, smp_processor_id(), false, pmu_event_spare_late);
}

/* In perf's pmu_enable() on a CPU whose box has left. */
void pmu_dev_enabled(struct pmu_dev *pd)
{
	if (pmu_dev_is_looked_at(pd) && pmu_tells_of_off(&pd->pmu))
		pmu_context_look(&pd->pmu, smp_processor_id(), true, pmu_event_spare_late);
}

/* In perf's del() there. */
void pmu_event_taken_out(struct pmu_event *ev)
{
	if (!pmu_dev_is_looked_at(ev->pd) || pmu_tells_of_off(&ev->pd->pmu))
		return;
	ev->on = true;
	irq_work_queue(&ev->pd->look);
}

void pmu_dev_init_looks(struct pmu_dev *pd)
{
	pd->looked_at = -1;
	pd->look = IRQ_WORK_INIT_HARD(pmu_dev_look);
}

/* @cpu: the CPU that events move from. */
void pmu_dev_begin_looks(struct pmu_dev *pd, int cpu)
{
	WRITE_ONCE(pd->looked_at, cpu);
}

static void pmu_pass_by(void *data)
{
}

/* Wait for whatever of perf's callbacks is under way on @cpu, which is online. */
void pmu_wait_for_callbacks(int cpu)
{
	smp_call_function_single(cpu, pmu_pass_by, NULL, 1);
}

void pmu_dev_end_looks(struct pmu_dev *pd)
{
	int cpu = pd->looked_at;

	WRITE_ONCE(pd->looked_at, -1);
	pmu_wait_for_callbacks(cpu);
	irq_work_sync(&pd->look);
}
