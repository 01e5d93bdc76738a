// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a trace record to a perf sample.
 *
 * perf_event_overflow() is not exported, but perf_tp_event() is, which tracepoints use. It gets a
 * list of just our event. What it does not know of the past, this file's function adds where perf
 * calls that to write the sample.
 *
 * Everything about a sample is passed in its perf_sample_data. The event itself is never changed
 * temporarily, since a fork may copy it at any time.
 */
#include <linux/export.h>
#include <linux/perf_event.h>
#include <asm/ptrace.h>
#include <asm/reg.h>
#include <asm/time.h>

#include <pmu/compat.h>
#include <pmu/loans.h>

#include "trace.h"

/* Where the kernel's half of addresses begins. */
#define POWER_IMC_KERNEL_ADDRESS	0xc000000000000000ULL
/*
 * Lower addresses are interrupt handlers in real mode: no program may map memory there
 * (mmap_min_addr).
 */
#define POWER_IMC_USER_ADDRESS		0x10000ULL

/*
 * In which mode was the thread? On POWER10 the record says so, before only its address does, and a
 * guest's counts as the host's. A kernel thread, which has no user, at a low address executes the
 * kernel or firmware in real mode.
 */
struct power_imc_mode power_imc_record_mode(enum power_imc_generation generation,
					    const struct power_imc_record *record, bool has_user)
{
	u64 state = be64_to_cpu(record->state), ip = be64_to_cpu(record->ip);

	if (generation == POWER_IMC_P10)
		return (struct power_imc_mode){ .user = state & POWER_IMC_RECORD_PR,
						.guest = !(state & POWER_IMC_RECORD_HV) };
	return (struct power_imc_mode){ .user = has_user && ip >= POWER_IMC_USER_ADDRESS &&
						ip < POWER_IMC_KERNEL_ADDRESS };
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_record_mode);

/*
 * Does an event want records of a mode? The host's kernel is the hypervisor: exclude_hv means
 * nothing.
 */
bool power_imc_sample_wanted(const struct perf_event_attr *attr, struct power_imc_mode mode)
{
	return !(mode.user ? attr->exclude_user : attr->exclude_kernel) &&
	       !(mode.guest ? attr->exclude_guest : attr->exclude_host);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_sample_wanted);

/*
 * The call chain has only the address, since the current stacks are not those of the record:
 * perf_sample_save_callchain() of newer kernels would walk them. If a BPF program has looked at the
 * sample, perf has done so already. Then the size of that chain is subtracted.
 */
static void power_imc_sample_set_chain(const struct perf_event_attr *attr,
				       struct power_imc_sample *sample,
				       struct perf_sample_data *data)
{
	u64 words;

	sample->chain.context = sample->user ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL;
	sample->chain.ip = sample->regs.nip;
	sample->chain.nr = (sample->user ? attr->exclude_callchain_user :
					   attr->exclude_callchain_kernel) ? 0 : 2;
	words = 1 + sample->chain.nr;
	if (pmu_sample_flags(data) & PERF_SAMPLE_CALLCHAIN)
		words -= 1 + data->callchain->nr;
	data->callchain = (struct perf_callchain_entry *)&sample->chain;
	pmu_sample_flags(data) |= PERF_SAMPLE_CALLCHAIN;
	pmu_sample_grow(data, words * sizeof(u64));
}

/* perf_tp_event() calls this in the end. */
static void power_imc_sample_overflow(struct perf_event *event, struct perf_sample_data *data,
				      struct pt_regs *regs)
{
	const struct power_imc_trace_event *te = pmu_event_of(event)->priv;
	struct power_imc_sample *sample = te->sample;

	data->time = sample->time;
	pmu_sample_flags(data) |= PERF_SAMPLE_TIME;
	if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN)
		power_imc_sample_set_chain(&event->attr, sample, data);
	te->output(event, data, regs);
}

/*
 * Have this file make an event's samples. @parent is the event that it is inherited from, or NULL.
 */
void power_imc_sample_attach(struct power_imc_trace_event *te,
			     const struct power_imc_trace_event *parent)
{
	te->output = pmu_swap_output(te->event, parent ? NULL : power_imc_sample_overflow,
				     &te->only);
	/* perf has copied the handler; or, before 6.11, has put a BPF program before it. */
	if (parent)
		te->output = parent->output;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_sample_attach);

/*
 * From the timebase to the event's clock, in ns. If firmware or an emulator stops this CPU between
 * the two, all samples of a drain would be too late: then they are read again.
 */
static u64 power_imc_sample_clock_offset(const struct perf_event *event)
{
	unsigned int tries = 4;
	u64 begin, clock;

	do {
		begin = get_tb();
		clock = event->clock();
	} while (get_tb() - begin > 10 * tb_ticks_per_usec && --tries);
	return clock - tb_to_ns(begin);
}

/*
 * Samples of an event, which is scheduled here, are going to be made in @sample, which is zeroed,
 * with interrupts off until the last of them.
 */
void power_imc_sample_begin(struct power_imc_trace_event *te, struct power_imc_sample *sample)
{
	te->sample = sample;
	te->clock_offset = power_imc_sample_clock_offset(te->event);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_sample_begin);

/*
 * Make a sample of the record in te->sample, with the current task, the time of sample->tb, a call
 * chain of one address, and as raw data a struct trace_entry with the record after it. The
 * registers have only what the record says; perf has no way to learn of guests. Returns false if
 * this CPU is in the middle of making another software event's sample.
 */
bool power_imc_sample_deliver(struct power_imc_trace_event *te, bool user)
{
	struct power_imc_sample *sample = te->sample;
	const struct power_imc_record *record = &sample->raw.record;
	int rctx, limit;
	u64 count;

	sample->user = user;
	sample->regs.nip = be64_to_cpu(record->ip);
	sample->regs.msr = MSR_SF | MSR_LE | (user ? MSR_PR : MSR_HV);
	sample->time = tb_to_ns(sample->tb) + te->clock_offset;
	rctx = perf_swevent_get_recursion_context();
	if (rctx < 0)
		return false;
	limit = atomic_read(&te->event->event_limit);
	/* With a period in the sample the event counts periods, else samples. */
	count = te->event->attr.sample_type & PERF_SAMPLE_PERIOD ? te->period : 1;
	perf_tp_event(0, count, &sample->raw, sizeof(sample->raw), &sample->regs, &te->only,
		      rctx, NULL);
	/* perf stops it once interrupts are on. */
	if (limit && !atomic_read(&te->event->event_limit))
		te->over = true;
	return true;
}
