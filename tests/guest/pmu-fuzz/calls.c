// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls are made up.
 */
#define _GNU_SOURCE	/* program_invocation_short_name */
#include "../pmu-random.h"
#include "fuzz.h"

/* Of 1000 calls so many, and the errnos that they may have: Documentation/hostile.md says when. */
const struct kind_of_call whats[WHATS] = {
	[OPEN]     = { "open", 327, { EINVAL, EOPNOTSUPP, ENOENT, ENODEV, EACCES, EPERM, EBADF, ESRCH, E2BIG, EBUSY } },
	[CLOSE]    = { "close", 130, { EBADF } },
	[ENABLE]   = { "enable", 60, { EBADF } },
	[DISABLE]  = { "disable", 50, { EBADF } },
	[RESET]    = { "reset", 25, { EBADF } },
	[REFRESH]  = { "refresh", 15, { EBADF, EINVAL } },
	[PERIOD]   = { "period", 20, { EBADF, EINVAL } },
	[OUTPUT]   = { "set_output", 25, { EBADF, EINVAL } },
	[FILTER]   = { "set_filter", 15, { EBADF, EINVAL } },
	[BPF]      = { "set_bpf", 15, { EBADF, EINVAL, EEXIST, EOPNOTSUPP, EPROTO } },
	[ID]       = { "id", 10, { EBADF } },
	[PAUSE]    = { "pause_output", 10, { EBADF, EINVAL } },
	[QUERY]    = { "query_bpf", 10, { EBADF, EINVAL, EPERM, EOPNOTSUPP } },
	[MODIFY]   = { "modify_attributes", 10, { EBADF, EINVAL, EOPNOTSUPP, E2BIG, EFAULT } },
	[ODD]      = { "no ioctl", 5, { EBADF, ENOTTY, EFAULT } },
	[READ]     = { "read", 125, { EBADF, ENOSPC } },
	[MAP]      = { "mmap", 35, { EBADF, EINVAL, EPERM, EACCES, EBUSY } },
	[UNMAP]    = { "munmap", 20, { EINVAL } },
	[POLL]     = { "poll", 10, { 0 } },
	[TASK]     = { "prctl", 10, { 0 } },
	[AFFINITY] = { "sched_setaffinity", 10, { EINVAL } },
	[FORK]     = { "fork", 6, { 0 } },
	[EXEC]     = { "exec", 3, { 0 } },
	[SECCOMP]  = { "seccomp", 3, { EINVAL } },
	[ADD]      = { "add", 40, { EIO } },
	[CPU]      = { "cpu", 5, { EACCES, EBUSY } },
	[UNBIND]   = { "unbind", 2, { EACCES, ENODEV, ENOENT } },
	[BIND]     = { "bind", 3, { EACCES, ENODEV, EBUSY, ENOENT } },
	[UNLOAD]   = { "unload", 1, { EPERM, EWOULDBLOCK } },
};

uint64_t seed_state;

static uint64_t any(void)
{
	return splitmix64(&seed_state);
}

static bool one_in(unsigned int n)
{
	return !(any() % n);
}

/* One that somebody may have thought of, or not */
static uint64_t any_value(void)
{
	static const uint64_t likely[] = { 0, 1, 2, 3, 0xff, 0x100, 0xffff, 1ULL << 31, 1ULL << 32, 1ULL << 63, ~0ULL };

	if (one_in(2))
		return likely[any() % (sizeof(likely) / sizeof(likely[0]))];
	return any() >> (any() % 64);
}

static void any_bits(union attr *event)
{
	struct perf_event_attr *attr = &event->attr;

	/* The word behind sample_type and read_format has all bits of the kind of "disabled". */
	static const int bits = 5;

	switch (any() % 12) {
	case 0: attr->inherit = 1; break;
	case 1: attr->pinned = 1; break;
	case 2: attr->exclusive = 1; break;
	case 3: attr->exclude_user = 1; break;
	case 4: attr->exclude_kernel = 1; break;
	case 5: attr->exclude_hv = 1; break;
	case 6: attr->exclude_idle = 1; break;
	case 7: attr->exclude_host = 1; break;
	case 8: attr->exclude_guest = 1; break;
	case 9: attr->enable_on_exec = 1; break;
	case 10: attr->inherit_stat = 1; break;
	default: event->word[bits] ^= 1ULL << any() % 64;
	}
}

static void any_sampling(struct perf_event_attr *attr)
{
	if (one_in(2))
		attr->sample_period = 1 + any() % 4;
	else
		attr->sample_period = any_value();
	attr->freq = one_in(8);
	if (one_in(2))
		attr->sample_type = any() & any() & 0x1ffffff;
	else if (one_in(8))
		attr->sample_type = any_value();
	if (one_in(8))
		attr->branch_sample_type = any_value();
	if (one_in(8))
		attr->sample_regs_user = any_value();
	if (one_in(8))
		attr->sample_stack_user = any_value();
	if (one_in(8))
		attr->wakeup_events = any_value();
	if (one_in(8))
		attr->aux_watermark = any_value();
	if (one_in(8)) {
		attr->use_clockid = 1;
		attr->clockid = any() % 16;
	}
}

/* A field of the PMU, or any bit */
static void any_config(const struct pmu *pmu, union attr *event)
{
	__u64 *const word[3] = {
		(__u64 *)&event->attr.config, (__u64 *)&event->attr.config1, (__u64 *)&event->attr.config2,
	};
	uint64_t value = any_value(), mask;
	unsigned int f = any() % MAX_FIELDS;

	if (one_in(6) || !pmu->fields) {
		*word[any() % 3] ^= 1ULL << any() % 64;
		return;
	}
	f %= pmu->fields;
	mask = (pmu->field[f].bits == 64 ? ~0ULL : (1ULL << pmu->field[f].bits) - 1) << pmu->field[f].low;
	*word[pmu->field[f].word] &= ~mask;
	*word[pmu->field[f].word] |= (value << pmu->field[f].low) & mask;
}

static void any_attr(const struct pmu *pmu, struct call *call)
{
	union attr *event = &call->attr;

	if (pmu->events && !one_in(8))
		*event = pmu->event[call->event % pmu->events];
	else
		event->attr.size = sizeof(event->attr);
	event->attr.type = 0;
	event->attr.disabled = any() % 2;
	if (call->plain) {
		event->attr.sample_period = !strcmp(pmu->name, "trace_imc");
		event->attr.pinned = one_in(8);
		event->attr.inherit = one_in(8);
		event->attr.read_format = any() % 16;
		return;
	}
	for (unsigned int n = any() % 4; n; n--)
		if (one_in(2))
			any_config(pmu, event);
	if (one_in(3))
		event->attr.read_format = any() % 32;
	else if (one_in(32))
		event->attr.read_format = any_value();
	if (one_in(3))
		any_bits(event);
	/* Only what samples well does so often. */
	if (!strcmp(pmu->name, "trace_imc") ? !one_in(3) : one_in(10))
		any_sampling(&event->attr);
	if (one_in(40))
		event->attr.size = any_value();
	if (one_in(60))
		event->word[any() % ATTR_WORDS] ^= 1ULL << any() % 64;
}

struct call make(void)
{
	unsigned int share = any() % 1000;
	struct call call;

	memset(&call, 0, sizeof(call));
	while (call.what < WHATS - 1 && share >= (unsigned int)whats[call.what].share)
		share -= whats[call.what++].share;
	call.slot = any() % SLOTS;
	call.other = any() % SLOTS;
	call.pmu = any() % nr_pmus;
	call.event = any();
	call.kind = any() % 1000;
	call.plain = any() % 2;
	for (int i = 0; i < 3; i++)
		call.arg[i] = any_value();
	if (call.what == OPEN || call.what == EXEC || call.what == SECCOMP || call.what == MODIFY)
		any_attr(&pmus[call.pmu], &call);
	return call;
}

void digest(uint64_t *sum, const struct call *call)
{
	const unsigned char *byte = (const void *)call;

	/* FNV-1a */
	for (size_t i = 0; i < sizeof(*call); i++)
		*sum = (*sum ^ byte[i]) * 0x100000001b3;
}

void show(const struct call *call)
{
	printf("%s slot %u, %u; pmu %u event %u kind %u: %#" PRIx64 " %#" PRIx64 " %#" PRIx64 ";",
	       whats[call->what].name, call->slot, call->other, call->pmu, call->event, call->kind, call->arg[0],
	       call->arg[1], call->arg[2]);
	for (int i = 0; i < ATTR_WORDS && call->attr.attr.size; i++)
		printf(" %" PRIx64, (uint64_t)call->attr.word[i]);
	putchar('\n');
}
