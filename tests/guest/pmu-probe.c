// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-probe: what a BPF program in a kernel probe reads of an event, as a command of pmu-event,
 * whose events it inherits.
 *
 *   pmu-probe FD entry|inside COMMAND
 *
 * The event FD is on CPU 0. When the COMMAND is over the probe is hit there: at the entry of a
 * function, where ftrace calls it, or inside, by a breakpoint, which the kernel takes as an NMI.
 * Prints the count that the program has read. x86 alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

#include "pmu-bpf.h"

#define PROBED		"__x64_sys_getpriority"
/* Behind the call of ftrace, which is the first or second instruction. */
#define FIRST_INSIDE	5
#define LAST_INSIDE	32
#define OPTIMIZATION	"/proc/sys/debug/kprobes-optimization"

static void die(const char *what)
{
	fprintf(stderr, "pmu-probe: %s: %s\n", what, strerror(errno));
	exit(2);
}

static int checked(int result, const char *what)
{
	if (result < 0)
		die(what);
	return result;
}

/* A probe that is hit often would become a jump, and no breakpoint any more. */
static void keep_breakpoints(void)
{
	FILE *file = fopen(OPTIMIZATION, "w");

	if (!file || fputs("0", file) < 0 || fclose(file))
		die(OPTIMIZATION);
}

static int probe_at(unsigned int offset)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .kprobe_func = (uintptr_t)PROBED, .probe_offset = offset,
	};
	FILE *file = fopen("/sys/bus/event_source/devices/kprobe/type", "r");

	if (!file || fscanf(file, "%u", &attr.type) != 1)
		die("the kernel has no probes");
	fclose(file);
	return syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
}

/* Only where an instruction begins can there be a probe. */
static int probe_inside(void)
{
	int probe = -1;

	for (unsigned int offset = FIRST_INSIDE; probe < 0 && offset <= LAST_INSIDE; offset++)
		probe = probe_at(offset);
	return probe;
}

/* Reads the event of this CPU in the map @events, and leaves the count, or an error, in @found. */
static int load_program(int events, int found)
{
	/* What the kernel tells of an event: its count, and times. */
	const int told = sizeof(struct bpf_perf_event_value);
	const struct bpf_insn insns[] = {
		INSN_MAP(BPF_REG_1, events),
		INSN(BPF_ALU | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, -1),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, -told),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, told),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_perf_event_read_value),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 1, 0),
		INSN(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_0, -told, 0),
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -told - 4, 0),
		INSN_MAP(BPF_REG_1, found),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -told - 4),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, -told),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, BPF_ANY),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_update_elem),
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, 0),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};

	return checked(bpf_load(BPF_PROG_TYPE_KPROBE, insns, sizeof(insns) / sizeof(insns[0])), "BPF_PROG_LOAD");
}

static void go_to_first_cpu(void)
{
	cpu_set_t first;

	CPU_ZERO(&first);
	CPU_SET(0, &first);
	checked(sched_setaffinity(0, sizeof(first), &first), "sched_setaffinity");
}

int main(int argc, char **argv)
{
	int64_t count = -EAGAIN;	/* as long as the program has not run */
	int event, events, found, probe;

	if (argc != 4 || (strcmp(argv[2], "entry") && strcmp(argv[2], "inside")))
		return 2;
	event = atoi(argv[1]);
	events = checked(bpf_map(BPF_MAP_TYPE_PERF_EVENT_ARRAY, sizeof(event), 1), "BPF_MAP_CREATE");
	found = checked(bpf_map(BPF_MAP_TYPE_ARRAY, sizeof(count), 1), "BPF_MAP_CREATE");
	/* The kernel reads the event here, to see whether it can be read. */
	checked(bpf_map_set(events, 0, &event), "no event");
	checked(bpf_map_set(found, 0, &count), "BPF_MAP_UPDATE_ELEM");
	keep_breakpoints();
	probe = checked(strcmp(argv[2], "entry") ? probe_inside() : probe_at(0), "no probe");
	checked(ioctl(probe, PERF_EVENT_IOC_SET_BPF, load_program(events, found)), "PERF_EVENT_IOC_SET_BPF");
	go_to_first_cpu();
	if (system(argv[3]))
		die("the command failed");
	getpriority(PRIO_PROCESS, 0);
	checked(bpf_map_get(found, 0, &count), "BPF_MAP_LOOKUP_ELEM");
	if (count < 0) {
		errno = -count;
		die("the program");
	}
	printf("%lld\n", (long long)count);
	return 0;
}
