// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-samples: the samples of an event, each with a call chain, as the kernel has written them.
 *
 *   pmu-samples [--cpu N] [--period N] [--bpf keep|drop|half] PMU:CONFIG COMMAND
 *
 * While COMMAND runs the event is open. With --bpf a program sees each sample first, and keeps all
 * of them, none, or every other one. Prints how many samples there are, how many of these are not
 * as long as they say or have a chain other than the sample's own address behind its context, and
 * how often the program ran.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pmu-bpf.h"

#define PMUS	"/sys/bus/event_source/devices"
#define PAGES	16	/* of data: a power of two */

static void die(const char *what)
{
	fprintf(stderr, "pmu-samples: %s: %s\n", what, strerror(errno));
	exit(2);
}

/* "trace_imc:0x10200000" */
static void parse_event(char *text, struct perf_event_attr *attr)
{
	char *config = strchr(text, ':'), path[256];
	FILE *file;

	if (!config)
		die("no PMU:CONFIG");
	*config++ = '\0';
	snprintf(path, sizeof(path), PMUS "/%s/type", text);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%u", &attr->type) != 1)
		die(path);
	fclose(file);
	attr->config = strtoull(config, NULL, 0);
}

/* What a program says of a sample: the number of its run & @mask | @set; 0: it is dropped. */
struct verdict {
	const char *name;
	int mask, set;
};

static const struct verdict verdicts[] = {
	{ "keep", 0, 1 }, { "drop", 0, 0 }, { "half", 1, 0 },
};

/* A program that counts its runs in the array @map. */
static int load_program(int map, const struct verdict *verdict)
{
	const struct bpf_insn insns[] = {
		INSN(BPF_ST | BPF_MEM | BPF_W, BPF_REG_10, 0, -4, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -4),
		INSN_MAP(BPF_REG_1, map),
		INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_map_lookup_elem),
		INSN(BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 6, 0),
		INSN(BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_1, BPF_REG_0, 0, 0),
		INSN(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_1, 0, 0, 1),
		INSN(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_1, 0, 0),
		INSN(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_0, BPF_REG_1, 0, 0),
		INSN(BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_0, 0, 0, verdict->mask),
		INSN(BPF_ALU64 | BPF_OR | BPF_K, BPF_REG_0, 0, 0, verdict->set),
		INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	int fd = bpf_load(BPF_PROG_TYPE_PERF_EVENT, insns, sizeof(insns) / sizeof(insns[0]));

	if (fd < 0)
		die("BPF_PROG_LOAD");
	return fd;
}

/* How often the program has run. */
static uint64_t runs_of(int map)
{
	uint64_t runs = 0;

	if (bpf_map_get(map, 0, &runs))
		die("BPF_MAP_LOOKUP_ELEM");
	return runs;
}

static void attach(int event, int map, const char *name)
{
	for (size_t i = 0; i < sizeof(verdicts) / sizeof(verdicts[0]); i++) {
		if (strcmp(verdicts[i].name, name))
			continue;
		if (ioctl(event, PERF_EVENT_IOC_SET_BPF, load_program(map, &verdicts[i])))
			die("PERF_EVENT_IOC_SET_BPF");
		return;
	}
	die("no such program");
}

/* As attr.sample_type asks for: an address, and a chain of so many. */
struct sample {
	struct perf_event_header header;
	uint64_t ip, nr, chain[];
};

static int is_good(const struct sample *sample)
{
	return sample->header.size == sizeof(*sample) + sample->nr * sizeof(sample->chain[0]) &&
	       sample->nr == 2 && sample->chain[1] == sample->ip &&
	       (sample->chain[0] == (uint64_t)PERF_CONTEXT_USER ||
		sample->chain[0] == (uint64_t)PERF_CONTEXT_KERNEL);
}

/* The buffer has not wrapped: records lie one behind the other. */
static void count(const struct perf_event_mmap_page *page, size_t page_size, int *samples, int *odd)
{
	const char *data = (const char *)page + page_size;

	for (uint64_t at = 0; at < page->data_head;) {
		const struct sample *sample = (const void *)(data + at);

		if (sample->header.type == PERF_RECORD_SAMPLE) {
			++*samples;
			*odd += !is_good(sample);
		}
		at += sample->header.size;
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'c' }, { "period", required_argument, NULL, 'p' },
		{ "bpf", required_argument, NULL, 'b' }, { 0 },
	};
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_period = 250, .disabled = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
	};
	size_t page_size = sysconf(_SC_PAGESIZE);
	int cpu = 0, samples = 0, odd = 0, event, map, c;
	struct perf_event_mmap_page *page;
	const char *program = NULL;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'c': cpu = atoi(optarg); break;
		case 'p': attr.sample_period = strtoull(optarg, NULL, 0); break;
		case 'b': program = optarg; break;
		default: return 2;
		}
	}
	if (argc - optind != 2)
		return 2;
	parse_event(argv[optind], &attr);
	map = bpf_map(BPF_MAP_TYPE_ARRAY, sizeof(uint64_t), 1);
	if (map < 0)
		die("BPF_MAP_CREATE");
	event = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, 0);
	if (event < 0)
		die("perf_event_open");
	page = mmap(NULL, (1 + PAGES) * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, event, 0);
	if (page == MAP_FAILED)
		die("mmap");
	if (program)
		attach(event, map, program);
	if (ioctl(event, PERF_EVENT_IOC_ENABLE, 0))
		die("PERF_EVENT_IOC_ENABLE");
	if (system(argv[optind + 1]))
		die("the command failed");
	if (ioctl(event, PERF_EVENT_IOC_DISABLE, 0))
		die("PERF_EVENT_IOC_DISABLE");
	count(page, page_size, &samples, &odd);
	printf("samples %d odd %d runs %" PRIu64 "\n", samples, odd, runs_of(map));
	return 0;
}
