// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-event: open perf events exactly as asked, and read them exactly when asked. perf
 * explains errors in prose and reads when it likes; tests want the errno and each value.
 *
 *   pmu-event [--cpu N] [--pid N] [--period N] [--group] [--pinned] [--disabled] [--manual]
 *             [--inherit] [--user UID] PMU:CONFIG[,CONFIG1[,CONFIG2]]... [-x COMMAND]...
 *
 * --inherit: commands are counted as well, where --pid is 0; --user: as this user, without
 * privileges.
 *
 * Opens the events, then runs each command and after it prints one line with the count of
 * every event: a number, or "error" for an event in error state. A group is read in one go.
 * A command is for the shell, or one of these, for the events:
 *
 *   @enable, @disable	a group by its leader; with --disabled the events start disabled
 *   @read		with --manual the counts are read and printed here, and nowhere else
 *
 * Without -x the events are opened and closed. If an event cannot be opened the name of the
 * errno is printed and the exit status is 1.
 */
#define _GNU_SOURCE	/* strerrorname_np() */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

struct events {
	int fd[MAX_EVENTS];
	int n;
	int group;	/* all are siblings of the first */
	int manual;	/* no reads but by @read */
};

/* Read @n counts by the event @fd; none when its event is in error state. */
static int read_counts(int fd, uint64_t *counts, int n)
{
	return read(fd, counts, n * sizeof(*counts)) == (ssize_t)(n * sizeof(*counts));
}

static void print_counts(const struct events *events)
{
	uint64_t counts[1 + MAX_EVENTS];	/* of a group: their number comes first */
	int good = events->group && read_counts(events->fd[0], counts, 1 + events->n);

	for (int i = 0; i < events->n; i++) {
		if (!events->group)
			good = read_counts(events->fd[i], &counts[1 + i], 1);
		if (i)
			putchar(' ');
		if (good)
			printf("%" PRIu64, counts[1 + i]);
		else
			fputs("error", stdout);
	}
	putchar('\n');
	fflush(stdout);
}

static void control(const struct events *events, unsigned long request)
{
	for (int i = 0; i < (events->group ? 1 : events->n); i++)
		if (ioctl(events->fd[i], request, 0))
			die("cannot control an event:", strerror(errno));
}

/* Whom a privileged user turns into has no capability left. */
static void become(uid_t user)
{
	if (setgid(user) || setuid(user))
		die("cannot become another user:", strerror(errno));
}

static void run(const struct events *events, const char *command)
{
	if (!strcmp(command, "@enable"))
		control(events, PERF_EVENT_IOC_ENABLE);
	else if (!strcmp(command, "@disable"))
		control(events, PERF_EVENT_IOC_DISABLE);
	else if (strcmp(command, "@read") && system(command))
		die("failed:", command);
	if (!events->manual || !strcmp(command, "@read"))
		print_counts(events);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'c' }, { "pid", required_argument, NULL, 'p' },
		{ "period", required_argument, NULL, 's' }, { "group", no_argument, NULL, 'g' },
		{ "pinned", no_argument, NULL, 'i' }, { "disabled", no_argument, NULL, 'd' },
		{ "manual", no_argument, NULL, 'm' }, { "inherit", no_argument, NULL, 'h' },
		{ "user", required_argument, NULL, 'u' }, { 0 },
	};
	int commands = 0, cpu = 0, pid = -1, pinned = 0, disabled = 0, inherit = 0, c;
	const char *command[MAX_COMMANDS];
	unsigned long long period = 0;
	struct events events = { 0 };

	while ((c = getopt_long(argc, argv, "x:", options, NULL)) != -1) {
		switch (c) {
		case 'c': cpu = atoi(optarg); break;
		case 'p': pid = atoi(optarg); break;
		case 's': period = strtoull(optarg, NULL, 0); break;
		case 'g': events.group = 1; break;
		case 'i': pinned = 1; break;
		case 'd': disabled = 1; break;
		case 'm': events.manual = 1; break;
		case 'h': inherit = 1; break;
		case 'u': become(atoi(optarg)); break;
		case 'x':
			if (commands == MAX_COMMANDS)
				die("too many commands:", optarg);
			command[commands++] = optarg;
			break;
		default: return 2;
		}
	}
	for (; optind < argc; optind++, events.n++) {
		struct perf_event_attr attr;
		int sibling = events.group && events.n;

		if (events.n == MAX_EVENTS)
			die("too many events:", argv[optind]);
		parse_event(argv[optind], &attr);
		attr.sample_period = period;
		attr.pinned = pinned && !sibling;
		attr.disabled = disabled && !sibling;
		attr.inherit = inherit;
		attr.read_format = events.group ? PERF_FORMAT_GROUP : 0;
		c = syscall(SYS_perf_event_open, &attr, pid, cpu, sibling ? events.fd[0] : -1, 0);
		if (c < 0) {
			puts(strerrorname_np(errno));
			return 1;
		}
		events.fd[events.n] = c;
	}
	for (int i = 0; i < commands; i++)
		run(&events, command[i]);
	return 0;
}
