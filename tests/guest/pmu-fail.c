// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-fail: do something again and again, and each time the next allocation of the kernel fails, until all
 * that it needs have failed once.
 *
 *   pmu-fail [--undo COMMAND] [--then COMMAND] load FILE [PARAMETERS]
 *   pmu-fail ... write FILE TEXT
 *   pmu-fail ... read FILE
 *   pmu-fail ... open EVENT...		a group, which is enabled, read and closed
 *   pmu-fail ... fork EVENT		of this process, inherited by the one that is forked
 *
 * pmu-attr.h says what an EVENT is. --undo: after each time that worked; without it a module is unloaded.
 * --then: after each time; it must not fail. Only what the kernel allocates for this process fails, and what it
 * allocates in slabs: not what its threads do, as when a CPU comes online.
 *
 * The answer says how many allocations there were, what was said when one failed, and how often it went without.
 */
#define _GNU_SOURCE	/* program_invocation_short_name, strerrorname_np() */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libgen.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmu-attr.h"

#define FAIL_NTH	"/proc/thread-self/fail-nth"
#define MOST		10000
#define MAX_GROUP	8
#define MAX_ERRNO	256

static const char *undo, *then;
static unsigned int said[MAX_ERRNO];
static int fail_nth;

/* The Nth allocation from now on fails; 0: none. */
static void arm(unsigned int n)
{
	char text[16];
	int size = snprintf(text, sizeof(text), "%u", n);

	if (pwrite(fail_nth, text, size, 0) != size)
		die("cannot write " FAIL_NTH ":", strerror(errno));
}

static bool has_failed(void)
{
	char text[16] = "";

	if (pread(fail_nth, text, sizeof(text) - 1, 0) < 1)
		die("cannot read " FAIL_NTH ":", strerror(errno));
	return atoi(text) == 0;
}

static void shell(const char *command)
{
	if (command && system(command))
		die("failed:", command);
}

/* Each returns 0 or an errno, and leaves as little as it can. */

static int load(char **words, unsigned int n)
{
	int fd = open(words[0], O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		die("cannot open", words[0]);
	arm(n);
	err = syscall(SYS_finit_module, fd, words[1] ? words[1] : "", 0) ? errno : 0;
	close(fd);
	return err;
}

static void unload(const char *file)
{
	char *copy = strdup(file), *name = basename(copy);

	name[strcspn(name, ".")] = '\0';
	if (syscall(SYS_delete_module, name, O_NONBLOCK))
		die("cannot be unloaded:", name);
	free(copy);
}

static int write_text(char **words, unsigned int n)
{
	int fd = open(words[0], O_WRONLY | O_CLOEXEC), err;

	if (fd < 0 || !words[1])
		die("cannot write", words[0]);
	arm(n);
	err = write(fd, words[1], strlen(words[1])) < 0 ? errno : 0;
	close(fd);
	return err;
}

static int read_text(char **words, unsigned int n)
{
	static char text[65536];
	ssize_t got = 0;
	int fd, err;

	arm(n);
	fd = open(words[0], O_RDONLY | O_CLOEXEC);
	while (fd >= 0 && (got = read(fd, text, sizeof(text))) > 0)
		;
	err = fd < 0 || got < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	return err;
}

static int owner(const char *text)
{
	char pmu[64], cpus[64];

	snprintf(pmu, sizeof(pmu), "%.*s", (int)strcspn(text, ":/"), text);
	return read_file(pmu, "cpumask", cpus, sizeof(cpus)) ? atoi(cpus) : 0;
}

static int open_group(char **words, unsigned int n)
{
	union attr event[MAX_GROUP];
	int fd[MAX_GROUP], cpu = owner(words[0]), opened = 0, err = 0;
	uint64_t counts[1 + MAX_GROUP];

	for (int i = 0; i < MAX_GROUP && words[i]; i++) {
		char *copy = strdup(words[i]);

		parse_event(copy, &event[i]);
		event[i].attr.disabled = !i;
		event[i].attr.read_format = PERF_FORMAT_GROUP;
		free(copy);
	}
	arm(n);
	while (!err && opened < MAX_GROUP && words[opened]) {
		fd[opened] = syscall(SYS_perf_event_open, &event[opened], -1, cpu,
				     opened ? fd[0] : -1, PERF_FLAG_FD_CLOEXEC);
		if (fd[opened] < 0)
			err = errno;
		else
			opened++;
	}
	if (!err && (ioctl(fd[0], PERF_EVENT_IOC_ENABLE, 0) || read(fd[0], counts, sizeof(counts)) < 0))
		err = errno;
	while (opened--)
		close(fd[opened]);
	return err;
}

static int fork_with(char **words, unsigned int n)
{
	char *copy = strdup(words[0]);
	union attr event;
	int fd, err = 0, status;
	pid_t child;

	parse_event(copy, &event);
	free(copy);
	event.attr.inherit = 1;
	arm(n);
	fd = syscall(SYS_perf_event_open, &event, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	child = fork();
	if (!child)
		_exit(0);
	if (child < 0)
		err = errno;
	else if (waitpid(child, &status, 0) < 0)
		err = errno;
	close(fd);
	return err;
}

static const struct {
	const char *name;
	int (*once)(char **words, unsigned int n);
} operations[] = {
	{ "load", load }, { "write", write_text }, { "read", read_text }, { "open", open_group }, { "fork", fork_with },
};

#define OPERATIONS	(sizeof(operations) / sizeof(operations[0]))

static void configure(const char *file, const char *text)
{
	char path[128];
	FILE *out;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", file);
	out = fopen(path, "w");
	if (!out || fputs(text, out) < 0 || fclose(out))
		die("a kernel with fault injection has", path);
}

/* All that is allocated in slabs; what pages cannot be had is told by the kernel at length. */
static void aim(void)
{
	configure("failslab/ignore-gfp-wait", "N");
	configure("failslab/verbose", "0");
	configure("fail_page_alloc/min-order", "100");
	fail_nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (fail_nth < 0)
		die("no", FAIL_NTH);
}

static void report(const char *what, unsigned int points)
{
	printf("%s: %u allocations failed", what, points);
	for (int i = 0; i < MAX_ERRNO; i++)
		if (said[i])
			printf(", %u times %s", said[i], i ? strerrorname_np(i) : "did without");
	putchar('\n');
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "undo", required_argument, NULL, 'u' }, { "then", required_argument, NULL, 't' }, { 0 },
	};
	unsigned int which = 0;
	int option;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (option == '?')
			return 2;
		*(option == 'u' ? &undo : &then) = optarg;
	}
	if (argc - optind < 2)
		return 2;
	while (which < OPERATIONS && strcmp(operations[which].name, argv[optind]))
		which++;
	if (which == OPERATIONS)
		die("no operation:", argv[optind]);
	aim();
	for (unsigned int n = 1; n < MOST; n++) {
		int err = operations[which].once(argv + optind + 1, n);
		bool failed = has_failed();

		arm(0);
		if (!err && undo)
			shell(undo);
		else if (!err && operations[which].once == load)
			unload(argv[optind + 1]);
		shell(then);
		if (!failed) {
			if (err)
				die("without a failure:", strerrorname_np(err));
			report(argv[optind], n - 1);
			return 0;
		}
		said[err < MAX_ERRNO ? err : 0]++;
	}
	die("there is no end of", "allocations");
	return 1;
}
