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

/* A try that takes less than this is exact enough: records are 7.8 us apart, or more. */
#define POWER_IMC_CLOCK_TICKS		(2 * tb_ticks_per_usec)
#define POWER_IMC_CLOCK_TRIES		4

/*
 * In which mode was the thread? On POWER10 the record says so, before only its address does, and a
 * guest's counts as the host's. A kernel thread, which has no user, at a low address executes the
 * kernel or firmware in real mode.
 */
enum power_imc_mode power_imc_record_mode(enum power_imc_generation generation,
					  const struct power_imc_record *record, bool has_user)
{
	u64 state = be64_to_cpu(record->state), ip = be64_to_cpu(record->ip);

	if (generation != POWER_IMC_P10)
		return has_user && ip >= POWER_IMC_USER_ADDRESS && ip < POWER_IMC_KERNEL_ADDRESS ?
		       POWER_IMC_HOST_USER : POWER_IMC_HOST_KERNEL;
	if (state & POWER_IMC_RECORD_HV)
		return state & POWER_IMC_RECORD_PR ? POWER_IMC_HOST_USER : POWER_IMC_HOST_KERNEL;
	return state & POWER_IMC_RECORD_PR ? POWER_IMC_GUEST_USER : POWER_IMC_GUEST_KERNEL;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_record_mode);

/*
 * Does an event want records of a mode? The host's kernel is the hypervisor: exclude_hv means
 * nothing.
 */
bool power_imc_sample_wanted(const struct perf_event_attr *attr, enum power_imc_mode mode)
{
	switch (mode) {
	case POWER_IMC_HOST_USER:
		return !attr->exclude_host && !attr->exclude_user;
	case POWER_IMC_HOST_KERNEL:
		return !attr->exclude_host && !attr->exclude_kernel;
	case POWER_IMC_GUEST_USER:
		return !attr->exclude_guest && !attr->exclude_user;
	case POWER_IMC_GUEST_KERNEL:
		return !attr->exclude_guest && !attr->exclude_kernel;
	}
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_sample_wanted);

/* Call this before the first record. The other members are set when they are needed. */
void power_imc_sample_init(struct power_imc_sample *sample)
{
	memset(&sample->regs, 0, sizeof(sample->regs));
	/* perf fills struct trace_entry, but not the bytes between it and the record. */
	memset(sample->raw.skipped, 0, sizeof(sample->raw.skipped));
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_sample_init);

static bool power_imc_sample_chain_wanted(const struct perf_event_attr *attr, bool user)
{
	return !(user ? attr->exclude_callchain_user : attr->exclude_callchain_kernel);
}

static u64 power_imc_sample_chain_bytes(const struct perf_callchain_entry *chain)
{
	return (1 + chain->nr) * sizeof(chain->ip[0]);
}

/*
 * perf_sample_save_callchain() of newer kernels would walk stacks. If a BPF program has looked at
 * the sample, perf has already walked them. Then the size of that chain is subtracted.
 */
static void power_imc_sample_set_chain(struct perf_sample_data *data,
				       struct perf_callchain_entry *chain)
{
	if (pmu_sample_flags(data) & PERF_SAMPLE_CALLCHAIN)
		pmu_sample_grow(data, -power_imc_sample_chain_bytes(data->callchain));
	data->callchain = chain;
	pmu_sample_flags(data) |= PERF_SAMPLE_CALLCHAIN;
	pmu_sample_grow(data, power_imc_sample_chain_bytes(chain));
}

/*
 * perf_tp_event() calls this in the end. The call chain has only the address, since the current
 * stacks are not those of the record.
 */
static void power_imc_sample_overflow(struct perf_event *event, struct perf_sample_data *data,
				      struct pt_regs *regs)
{
	const struct power_imc_trace_event *te = pmu_event_of(event)->priv;
	struct power_imc_sample *sample = te->sample;

	data->time = sample->time;
	pmu_sample_flags(data) |= PERF_SAMPLE_TIME;
	if (event->attr.sample_type & PERF_SAMPLE_CALLCHAIN) {
		sample->chain.nr = 0;
		if (power_imc_sample_chain_wanted(&event->attr, sample->user)) {
			sample->chain.nr = 2;
			sample->chain.context = sample->user ? PERF_CONTEXT_USER :
							       PERF_CONTEXT_KERNEL;
			sample->chain.ip = regs->nip;
		}
		power_imc_sample_set_chain(data, (struct perf_callchain_entry *)&sample->chain);
	}
	te->output(event, data, regs);
}

/*
 * Have this file make an event's samples. @parent is the event that it is inherited from, or NULL.
 */
void power_imc_sample_attach(struct power_imc_trace_event *te,
			     const struct power_imc_trace_event *parent)
{
	struct perf_event *event = te->event;

	pmu_list_alone(event, &te->only);
	if (parent) {
		/* perf has copied the handler; or, before 6.11, has put a BPF program before it. */
		te->output = parent->output;
		return;
	}
	te->output = pmu_swap_output(event, power_imc_sample_overflow);
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_sample_attach);

/*
 * From the timebase to the event's clock, in ns. The two cannot be read at once. A hypervisor or an
 * emulator may stop this CPU in between for milliseconds, and then all samples of a drain would be
 * too early. So the shortest of several tries counts.
 */
static u64 power_imc_sample_clock_offset(const struct perf_event *event)
{
	u64 offset = 0, least = U64_MAX;

	for (unsigned int i = 0; i < POWER_IMC_CLOCK_TRIES && least > POWER_IMC_CLOCK_TICKS; i++) {
		u64 begin = get_tb(), clock = event->clock(), took = get_tb() - begin;

		if (took >= least)
			continue;
		least = took;
		offset = clock - tb_to_ns(begin + took / 2);
	}
	return offset;
}

/*
 * Samples of an event, which is scheduled here, are going to be made in @sample, with interrupts
 * off until the last of them.
 */
void power_imc_sample_begin(struct power_imc_trace_event *te, struct power_imc_sample *sample)
{
	struct perf_event *event = te->event;

	te->sample = sample;
	te->clock_offset = power_imc_sample_clock_offset(event);
	te->modes = 0;
	for (enum power_imc_mode mode = POWER_IMC_HOST_USER; mode <= POWER_IMC_GUEST_KERNEL; mode++)
		te->modes |= (!te->over && power_imc_sample_wanted(&event->attr, mode)) << mode;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_sample_begin);

/*
 * Make a sample of the record in te->sample, with the current task, the time of sample->tb, a call
 * chain of one address, and as raw data a struct trace_entry with the record after it. The
 * registers have only what the record says; perf has no way to learn of guests. Returns false if
 * this CPU is in the middle of making another software event's sample.
 */
bool power_imc_sample_deliver(struct power_imc_trace_event *te, enum power_imc_mode mode)
{
	struct power_imc_sample *sample = te->sample;
	const struct power_imc_record *record = &sample->raw.record;
	int rctx, limit;
	u64 count;

	sample->user = mode == POWER_IMC_HOST_USER || mode == POWER_IMC_GUEST_USER;
	sample->regs.nip = be64_to_cpu(record->ip);
	sample->regs.msr = MSR_SF | MSR_LE | (sample->user ? MSR_PR : MSR_HV);
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
	if (limit && !atomic_read(&te->event->event_limit)) {
		te->over = true;
		te->modes = 0;
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(power_imc_sample_deliver);
