// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-event: open perf events exactly as asked, and read them exactly when asked. perf
 * explains errors in prose and reads when it likes; tests want the errno and each value.
 *
 *   pmu-event [--cpu N] [--pid N] [--period N] [--group] [--groups-of N] [--pinned]
 *             [--disabled] [--manual] [--inherit] [--sigtrap] [--exclude-kernel] [--astray]
 *             [--user UID [--perfmon]] [--fifo] [--readers N] [--toggle] EVENT... [-x COMMAND]...
 *   pmu-event [OPTION]... --lines
 *
 * pmu-attr.h says what an EVENT is.
 *
 * --inherit: commands are counted as well, where --pid is 0; --sigtrap: with a signal for each
 * sample; --user: as this user, without privileges, or with CAP_PERFMON alone; --fifo: as a
 * real-time task, with its commands; --group: all events are one group; --groups-of: N each are;
 * --astray: groups are led by an event of the task with pid 1, so perf refuses the others.
 *
 * --readers: while commands run so many processes read the events, again and again. A count
 * that goes down, or that cannot be read, is an error. --toggle: one more disables the last event
 * and enables it, again and again.
 *
 * Opens the events, then runs each command and after it prints one line with the count of
 * every event: a number, or "error" for an event in error state. A group is read in one go.
 * A command is for the shell, or one of these, for the events:
 *
 *   @enable, @disable	a group by its leader; with --disabled the events start disabled
 *   @disable N		the Nth event alone, from 0
 *   @refresh N		N samples more, and then no other
 *   @join EVENT[@CPU]	open one more event in the last group, or print the name of the errno
 *   @close N		close the Nth event, from 0; its count is an error from then on
 *   @become UID	from here on as this user, without privileges
 *   @read		with --manual the counts are read and printed here, and nowhere else
 *   @time N		read the counts N times and print how many ns one time took, the lower quartile
 *   @model COMMAND[; COMMAND]...	those of pmu-model, without a process for each
 *
 * Without -x the events are opened and closed. If an event cannot be opened the name of the
 * errno is printed and the exit status is 1.
 *
 * --lines: each line of stdin is "EVENT... [-- COMMAND]..."; its events are opened, counted and
 * closed before those of the next. An errno's name is what is printed of that line, an empty
 * line if it has no command; the exit status is 0.
 */
#define _GNU_SOURCE	/* strerrorname_np(), program_invocation_short_name */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmu-attr.h"
#include "pmu-ctl.h"
#include "pmu-time.h"

#define MAX_EVENTS	64
#define MAX_COMMANDS	64

/* How events are opened. */
struct options {
	int cpu, pid, pinned, disabled, inherit, exclude_kernel, sigtrap, astray;
	unsigned long long period;
};

struct events {
	int fd[MAX_EVENTS];
	int n;
	int group;	/* so many are a group: siblings of its first. 0: none are */
	int manual;	/* no reads but by @read */
};

/* Read @n counts by the event @fd; none when its event is in error state. */
static int read_counts(int fd, uint64_t *counts, int n)
{
	return read(fd, counts, n * sizeof(*counts)) == (ssize_t)(n * sizeof(*counts));
}

static int is_sibling(const struct events *events, int i)
{
	return events->group && i % events->group;
}

/* Each event's count, and whether it could be read. */
struct counts {
	uint64_t count[MAX_EVENTS];
	int good[MAX_EVENTS];
};

static void read_events(const struct events *events, struct counts *counts)
{
	uint64_t values[1 + MAX_EVENTS];	/* of a group: their number comes first */
	int good = 0, first = 0;

	for (int i = 0; i < events->n; i++) {
		if (!events->group) {
			good = read_counts(events->fd[i], &values[1], 1);
			first = i;
		} else if (!is_sibling(events, i)) {
			int left = events->n - i;

			good = read_counts(events->fd[i], values,
					   1 + (left < events->group ? left : events->group));
			first = i;
		}
		counts->good[i] = good;
		counts->count[i] = values[1 + i - first];
	}
}

static void print_counts(const struct events *events)
{
	struct counts counts;

	read_events(events, &counts);
	for (int i = 0; i < events->n; i++) {
		if (i)
			putchar(' ');
		if (counts.good[i])
			printf("%" PRIu64, counts.count[i]);
		else
			fputs("error", stdout);
	}
	putchar('\n');
	fflush(stdout);
}

static void time_reads(const struct events *events, int n)
{
	uint64_t *took = n > 0 ? calloc(n, sizeof(*took)) : NULL;
	struct counts counts;

	if (!took)
		die("cannot time", "so many reads");
	for (int i = 0; i < n; i++) {
		took[i] = now_ns();
		read_events(events, &counts);
		took[i] = now_ns() - took[i];
	}
	printf("%" PRIu64 "\n", lower_quartile(took, n));
	fflush(stdout);
	free(took);
}

static void control_one(const struct events *events, int i, unsigned long request, int argument)
{
	if (i < 0 || i >= events->n || ioctl(events->fd[i], request, argument))
		die("cannot control an event:", strerror(errno));
}

static void control(const struct events *events, unsigned long request, int argument)
{
	for (int i = 0; i < events->n; i++)
		if (!is_sibling(events, i))
			control_one(events, i, request, argument);
}

enum verdict { FINE, WENT_DOWN, NOT_READ };

/* Processes that read the events until they are told to stop, and one that toggles the last. */
struct readers {
	int n, toggle;
	volatile int *stop;
};

static enum verdict read_until(const struct events *events, const volatile int *stop)
{
	struct counts last = { 0 }, now;

	while (!*stop) {
		read_events(events, &now);
		for (int i = 0; i < events->n; i++) {
			if (!now.good[i])
				return NOT_READ;
			if (now.count[i] < last.count[i])
				return WENT_DOWN;
		}
		last = now;
	}
	return FINE;
}

static enum verdict toggle_until(const struct events *events, const volatile int *stop)
{
	int fd = events->fd[events->n - 1];

	while (!*stop)
		if (ioctl(fd, PERF_EVENT_IOC_DISABLE, 0) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
			return NOT_READ;
	return FINE;
}

static void start_readers(const struct events *events, struct readers *readers)
{
	readers->stop = mmap(NULL, sizeof(int), PROT_READ | PROT_WRITE,
			     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (readers->stop == MAP_FAILED)
		die("no memory:", strerror(errno));
	for (int i = 0; i < readers->n + readers->toggle; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("cannot fork:", strerror(errno));
		if (!pid)
			_exit((i < readers->n ? read_until : toggle_until)(events, readers->stop));
	}
}

static void stop_readers(struct readers *readers)
{
	bool down = false, unread = false;
	int status;

	*readers->stop = 1;
	for (int i = 0; i < readers->n + readers->toggle; i++) {
		if (wait(&status) < 0 || !WIFEXITED(status))
			die("a reader", "died");
		down |= WEXITSTATUS(status) == WENT_DOWN;
		unread |= WEXITSTATUS(status) == NOT_READ;
	}
	if (down)
		die("a count", "went down");
	if (unread)
		die("an event", "could not be read");
}

/* Whom a privileged user turns into has no capability left, or CAP_PERFMON alone. */
static void become(uid_t user, int perfmon)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };

	if (prctl(PR_SET_KEEPCAPS, perfmon) || setgid(user) || setuid(user))
		die("cannot become another user:", strerror(errno));
	if (!perfmon)
		return;
	data[CAP_TO_INDEX(CAP_PERFMON)].permitted = CAP_TO_MASK(CAP_PERFMON);
	data[CAP_TO_INDEX(CAP_PERFMON)].effective = CAP_TO_MASK(CAP_PERFMON);
	if (syscall(SYS_capset, &header, data))
		die("cannot keep CAP_PERFMON:", strerror(errno));
}

static void become_real_time(void)
{
	struct sched_param parameters = { .sched_priority = 50 };

	if (sched_setscheduler(0, SCHED_FIFO, &parameters))
		die("cannot become a real-time task:", strerror(errno));
}

/* Commands of the models, separated by semicolons. */
static void run_model(const char *commands)
{
	static struct ctl ctl;
	char *copy = strdup(commands), *rest = copy;

	if (!ctl.bar)
		ctl = ctl_open();
	for (char *command; (command = strsep(&rest, ";"));) {
		command += strspn(command, " \t\n");
		if (*command && ctl_command(&ctl, command, stdout))
			die("failed:", command);
	}
	free(copy);
}

/* Open an event, and say why not. */
static int open_event(struct events *events, char *text, const struct options *options)
{
	int sibling = is_sibling(events, events->n), fd;
	union attr event;

	if (events->n == MAX_EVENTS)
		die("too many events:", text);
	parse_event(text, &event);
	event.attr.sample_period = options->period;
	event.attr.pinned = options->pinned && !sibling;
	event.attr.disabled = options->disabled && !sibling;
	event.attr.inherit = options->inherit;
	event.attr.exclude_kernel = options->exclude_kernel;
	event.attr.sigtrap = options->sigtrap;
	event.attr.remove_on_exec = options->sigtrap;
	event.attr.read_format = events->group ? PERF_FORMAT_GROUP : 0;
	fd = syscall(SYS_perf_event_open, &event,
		     options->astray && !sibling ? 1 : options->pid, options->cpu,
		     sibling ? events->fd[events->n - events->n % events->group] : -1, 0);
	if (fd < 0) {
		puts(strerrorname_np(errno));
		return 0;
	}
	events->fd[events->n++] = fd;
	return 1;
}

static void close_one(struct events *events, int i)
{
	if (i < 0 || i >= events->n || close(events->fd[i]))
		die("cannot close an event:", strerror(errno));
	events->fd[i] = -1;
}

static void join(struct events *events, const char *text, const struct options *options)
{
	struct options how = *options;
	char *copy = strdup(text), *rest = copy, *event = strsep(&rest, "@");

	if (rest)
		how.cpu = atoi(rest);
	open_event(events, event, &how);
	free(copy);
}

static void run(struct events *events, const char *command, const struct options *options)
{
	if (!strncmp(command, "@model", 6))
		run_model(command + 6);
	else if (!strcmp(command, "@enable"))
		control(events, PERF_EVENT_IOC_ENABLE, 0);
	else if (!strcmp(command, "@disable"))
		control(events, PERF_EVENT_IOC_DISABLE, 0);
	else if (!strncmp(command, "@disable ", 9))
		control_one(events, atoi(command + 9), PERF_EVENT_IOC_DISABLE, 0);
	else if (!strncmp(command, "@refresh ", 9))
		control(events, PERF_EVENT_IOC_REFRESH, atoi(command + 9));
	else if (!strncmp(command, "@time ", 6))
		time_reads(events, atoi(command + 6));
	else if (!strncmp(command, "@close ", 7))
		close_one(events, atoi(command + 7));
	else if (!strncmp(command, "@become ", 8))
		become(atoi(command + 8), 0);
	else if (!strncmp(command, "@join ", 6))
		join(events, command + 6, options);
	else if (strcmp(command, "@read") && system(command))
		die("failed:", command);
	if (!events->manual || !strcmp(command, "@read"))
		print_counts(events);
}

/* The next part of a line, up to "--" or its end. */
static char *next_part(char **line)
{
	char *part = *line, *end = part ? strstr(part, " -- ") : NULL;

	if (end)
		*end = '\0';
	*line = end ? end + 4 : NULL;
	return part;
}

static void run_line(char *line, struct events *events, const struct options *options)
{
	char *names = next_part(&line), *name;
	int good = 1, commands = 0;

	events->n = 0;
	while (good && (name = strsep(&names, " ")))
		good = !*name || open_event(events, name, options);
	for (char *command; good && (command = next_part(&line)); commands++)
		run(events, command, options);
	if (good && !commands)
		putchar('\n');
	while (events->n)
		close(events->fd[--events->n]);
}

static int run_lines(struct events *events, const struct options *options)
{
	static char line[8 * ATTR_TEXT];

	setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		if (!strchr(line, '\n'))
			die("a line is too long, or has no end:", line);
		line[strcspn(line, "\n")] = '\0';
		run_line(line, events, options);
	}
	return 0;
}

/* What the command line asks for. */
struct request {
	struct options how;
	struct events events;
	struct readers readers;
	const char *command[MAX_COMMANDS];
	int commands, lines, user, perfmon;
};

static void add_command(struct request *request, const char *command)
{
	if (request->commands == MAX_COMMANDS)
		die("too many commands:", command);
	request->command[request->commands++] = command;
}

static int take_option(struct request *request, int option)
{
	switch (option) {
	case 'c': request->how.cpu = atoi(optarg); break;
	case 'p': request->how.pid = atoi(optarg); break;
	case 's': request->how.period = strtoull(optarg, NULL, 0); break;
	case 'g': request->events.group = MAX_EVENTS; break;
	case 'o': request->events.group = atoi(optarg); break;
	case 'r': request->readers.n = atoi(optarg); break;
	case 'e': request->readers.toggle = 1; break;
	case 'i': request->how.pinned = 1; break;
	case 'd': request->how.disabled = 1; break;
	case 'm': request->events.manual = 1; break;
	case 'h': request->how.inherit = 1; break;
	case 'y': request->how.astray = 1; break;
	case 't': request->how.sigtrap = 1; break;
	case 'u': request->user = atoi(optarg); break;
	case 'f': request->perfmon = 1; break;
	case 'k': request->how.exclude_kernel = 1; break;
	case 'b': become_real_time(); break;
	case 'l': request->lines = 1; break;
	case 'x': add_command(request, optarg); break;
	default: return 0;
	}
	return 1;
}

static int take_options(struct request *request, int argc, char **argv)
{
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'c' }, { "pid", required_argument, NULL, 'p' },
		{ "period", required_argument, NULL, 's' }, { "group", no_argument, NULL, 'g' },
		{ "pinned", no_argument, NULL, 'i' }, { "disabled", no_argument, NULL, 'd' },
		{ "manual", no_argument, NULL, 'm' }, { "inherit", no_argument, NULL, 'h' },
		{ "astray", no_argument, NULL, 'y' },
		{ "sigtrap", no_argument, NULL, 't' },
		{ "user", required_argument, NULL, 'u' }, { "perfmon", no_argument, NULL, 'f' },
		{ "exclude-kernel", no_argument, NULL, 'k' }, { "lines", no_argument, NULL, 'l' },
		{ "groups-of", required_argument, NULL, 'o' },
		{ "fifo", no_argument, NULL, 'b' },
		{ "readers", required_argument, NULL, 'r' }, { "toggle", no_argument, NULL, 'e' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "x:", options, NULL)) != -1)
		if (!take_option(request, option))
			return 0;
	return 1;
}

static int run_commands(struct request *request)
{
	struct readers *readers = &request->readers;
	bool reading = readers->n || readers->toggle;

	if (reading)
		start_readers(&request->events, readers);
	for (int i = 0; i < request->commands; i++)
		run(&request->events, request->command[i], &request->how);
	if (reading)
		stop_readers(readers);
	return 0;
}

int main(int argc, char **argv)
{
	static struct request request = { .how.pid = -1, .user = -1 };

	if (!take_options(&request, argc, argv))
		return 2;
	if (request.user >= 0)
		become(request.user, request.perfmon);
	if (request.lines)
		return run_lines(&request.events, &request.how);
	for (; optind < argc; optind++)
		if (!open_event(&request.events, argv[optind], &request.how))
			return 1;
	return run_commands(&request);
}
