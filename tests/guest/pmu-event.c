// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-event: open perf events exactly as asked, and read them exactly when asked. perf
 * explains errors in prose and reads when it likes; tests want the errno and each value.
 *
 *   pmu-event [--cpu N] [--pid N] [--period N] [--group] PMU:CONFIG[,CONFIG1[,CONFIG2]]...
 *             [-x SHELL-COMMAND]...
 *
 * Opens the events, then runs each command and after it prints one line with the count of
 * every event: a number, or "error" for an event in error state. Without -x the events
 * are opened and closed. If an event cannot be opened the name of the errno is printed
 * and the exit status is 1.
 */
#define _GNU_SOURCE	/* strerrorname_np() */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAX_EVENTS	64
#define MAX_COMMANDS	64

static void die(const char *what, const char *which)
{
	fprintf(stderr, "pmu-event: %s %s\n", what, which);
	exit(2);
}

/* The number that the kernel gave the PMU. */
static int pmu_type(const char *pmu)
{
	char path[256];
	int type;
	FILE *file;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	file = fopen(path, "r");
	if (!file || fscanf(file, "%d", &type) != 1)
		die("no such PMU:", pmu);
	fclose(file);
	return type;
}

/* "uncore_imc_0:0x304" */
static void parse_event(char *text, struct perf_event_attr *attr)
{
	char *config = strchr(text, ':'), *end;

	if (!config)
		die("not PMU:CONFIG:", text);
	*config++ = '\0';
	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	attr->type = pmu_type(text);
	attr->config = strtoull(config, &end, 0);
	if (*end == ',')
		attr->config1 = strtoull(end + 1, &end, 0);
	if (*end == ',')
		attr->config2 = strtoull(end + 1, &end, 0);
	if (*end)
		die("not a number:", config);
}

static void print_counts(const int *fd, int n)
{
	for (int i = 0; i < n; i++) {
		uint64_t count;
		ssize_t got = read(fd[i], &count, sizeof(count));

		if (i)
			putchar(' ');
		if (got == sizeof(count))
			printf("%" PRIu64, count);
		else
			fputs("error", stdout);	/* end of file: the event is in error state */
	}
	putchar('\n');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'c' }, { "pid", required_argument, NULL, 'p' },
		{ "period", required_argument, NULL, 's' }, { "group", no_argument, NULL, 'g' }, { 0 },
	};
	const char *command[MAX_COMMANDS];
	int fd[MAX_EVENTS], n = 0, commands = 0, cpu = 0, pid = -1, group = 0, c;
	unsigned long long period = 0;

	while ((c = getopt_long(argc, argv, "x:", options, NULL)) != -1) {
		switch (c) {
		case 'c': cpu = atoi(optarg); break;
		case 'p': pid = atoi(optarg); break;
		case 's': period = strtoull(optarg, NULL, 0); break;
		case 'g': group = 1; break;
		case 'x':
			if (commands == MAX_COMMANDS)
				die("too many commands:", optarg);
			command[commands++] = optarg;
			break;
		default: return 2;
		}
	}
	for (; optind < argc; optind++, n++) {
		struct perf_event_attr attr;

		if (n == MAX_EVENTS)
			die("too many events:", argv[optind]);
		parse_event(argv[optind], &attr);
		attr.sample_period = period;
		fd[n] = syscall(SYS_perf_event_open, &attr, pid, cpu, group && n ? fd[0] : -1, 0);
		if (fd[n] < 0) {
			puts(strerrorname_np(errno));
			return 1;
		}
	}
	for (int i = 0; i < commands; i++) {
		if (system(command[i]))
			die("failed:", command[i]);
		print_counts(fd, n);
	}
	return 0;
}
