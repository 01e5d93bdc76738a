// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-cost: how long operations on a PMU's events take, on this CPU, which owns them.
 *
 *	pmu-cost EVENT
 *
 * Prints OPERATION NS, a line each: the lower quartile of many. pmu-attr.h says what an EVENT is.
 */
#define _GNU_SOURCE	/* program_invocation_short_name */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pmu-attr.h"
#include "pmu-time.h"

#define TIMES	100
#define PAUSE	2000	/* us; the kernel has freed what was closed by then */

static union attr event;

static int open_event(int leader, int disabled)
{
	int fd;

	event.attr.disabled = disabled;
	fd = syscall(SYS_perf_event_open, &event, -1, 0, leader, 0);
	if (fd < 0)
		die("cannot open an event:", strerror(errno));
	return fd;
}

static int open_software(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY, .disabled = 1 };
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	if (fd < 0)
		die("cannot open a software event:", strerror(errno));
	return fd;
}

/* What is timed, of an event that is open but does not count. */
enum operation { OPEN, CLOSE, ENABLE, READ };

static uint64_t time_one(enum operation operation, int leader)
{
	uint64_t count, start = now_ns(), took;
	int fd = open_event(leader, leader < 0);

	if (operation == OPEN)
		took = now_ns() - start;
	if (operation == ENABLE || operation == READ) {
		start = now_ns();
		if (ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
			die("cannot enable an event:", strerror(errno));
		took = now_ns() - start;
	}
	if (operation == READ) {
		start = now_ns();
		if (read(fd, &count, sizeof(count)) != sizeof(count))
			die("cannot read an event:", strerror(errno));
		took = now_ns() - start;
	}
	start = now_ns();
	close(fd);
	return operation == CLOSE ? now_ns() - start : took;
}

static void measure(const char *what, enum operation operation, int leader)
{
	uint64_t took[TIMES];

	for (int i = 0; i < TIMES; i++) {
		took[i] = time_one(operation, leader);
		usleep(PAUSE);
	}
	printf("%s %" PRIu64 "\n", what, lower_quartile(took, TIMES));
}

/* Beside so many equal events that count. */
static void measure_beside(int equals)
{
	char what[32];
	int fd[64];

	for (int i = 0; i < equals; i++)
		fd[i] = open_event(-1, 0);
	snprintf(what, sizeof(what), "enable-%d", equals);
	measure(what, ENABLE, -1);
	snprintf(what, sizeof(what), "read-%d", equals);
	measure(what, READ, -1);
	for (int i = 0; i < equals; i++)
		close(fd[i]);
}

int main(int argc, char **argv)
{
	int other, software;

	if (argc != 2)
		die("usage: pmu-cost", "EVENT");
	parse_event(argv[1], &event);
	measure("open-first", OPEN, -1);
	measure("close-last", CLOSE, -1);
	other = open_event(-1, 1);
	measure("open", OPEN, -1);
	measure("close", CLOSE, -1);
	software = open_software();
	measure("close-led", CLOSE, software);
	close(software);
	measure_beside(0);
	measure_beside(1);
	measure_beside(3);
	measure_beside(63);
	close(other);
	return 0;
}
