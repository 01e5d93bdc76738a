// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-fail: do something again and again, and each time the next allocation of the kernel fails, until all
 * that it needs have failed once.
 *
 *   pmu-fail [--ours [--but FUNCTION]] [--most N [--seed N] [--last N]] [--least N] [--period N] [--check COMMAND] \
 *		[--undo COMMAND] [--then COMMAND] load FILE [PARAMETERS]
 *   pmu-fail ... write FILE TEXT
 *   pmu-fail ... read FILE
 *   pmu-fail ... open EVENT...		a group, which is enabled, read and closed
 *   pmu-fail ... fork EVENT		of this process, inherited by the one that is forked
 *
 * pmu-attr.h says what an EVENT is. --period: it samples.
 *
 * --check: a command after each success. --undo: one after --check's; without it a module is unloaded. --then: one
 * after each try. No command may fail.
 *
 * --ours: only what a module asks for fails, itself or by what it calls; not what the kernel needs to load it. --but:
 * and FUNCTION is not among the callers. --most: of many allocations so many fail, chosen by the seed, one of each
 * part; --last: and the last N. --least: it is a failure if there are fewer. Only what the kernel allocates for this process fails, and what it
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
#define NONE		1000000		/* no operation has so many */
#define MAX_GROUP	8
#define MAX_ERRNO	256

static const char *check, *undo, *then;
static unsigned int most = NONE, seed, last, period;
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
		event[i].attr.sample_period = period;
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

/* Where a function or symbol of the kernel is, and if asked, where the next one is */
static unsigned long long symbol(const char *name, unsigned long long *next)
{
	unsigned long long found = 0, address;
	size_t length = strlen(name);
	char line[512], *word;
	FILE *in;

	/* The compiler may have added a dot and more. Addresses go up, but for those of modules; several may be the same. */
	in = fopen("/proc/kallsyms", "r");
	while (in && fgets(line, sizeof(line), in)) {
		address = strtoull(line, NULL, 16);
		line[strcspn(line, "\n")] = '\0';
		word = strrchr(line, ' ');
		if (!found && word && !strncmp(word + 1, name, length) &&
		    (!word[1 + length] || word[1 + length] == '.'))
			found = address;
		if (found && next)
			*next = address;
		if (found && (!next || address > found))
			break;
	}
	if (in)
		fclose(in);
	if (!found)
		die("/proc/kallsyms lacks", name);
	return found;
}

/* Where a module is that is loaded now: all are behind the kernel, or before it. Of x86 and POWER one knows. */
static unsigned long long a_module(void)
{
	FILE *in = fopen("/proc/modules", "r");
	char line[512] = "", *address;

	if (in && fgets(line, sizeof(line), in)) {
		fclose(in);
		address = strstr(line, " 0x");
		return address ? strtoull(address, NULL, 16) : 0;
	}
#ifdef __aarch64__
	die("to aim at modules one has to be", "loaded");
#endif
	return ~0ull;
}

/* A caller has to be in a module, among the 32 at most that the kernel looks at. */
static void aim_at_modules(const char *but)
{
	bool behind = a_module() > symbol("_etext", NULL);
	unsigned long long next;
	char from[32], to[32];

	snprintf(from, sizeof(from), "%#llx", behind ? symbol("_etext", NULL) : 1);
	snprintf(to, sizeof(to), "%#llx", behind ? ~0ull - 1 : symbol("_stext", NULL));
	configure("failslab/require-start", from);
	configure("failslab/require-end", to);
	configure("failslab/stacktrace-depth", "32");
	if (!but)
		return;
	snprintf(from, sizeof(from), "%#llx", symbol(but, &next));
	snprintf(to, sizeof(to), "%#llx", next);
	configure("failslab/reject-start", from);
	configure("failslab/reject-end", to);
}

/* All that is allocated in slabs; what pages cannot be had is told by the kernel at length. */
static void aim(bool ours, const char *but)
{
	configure("failslab/require-start", "0");
	configure("failslab/require-end", "0xffffffffffffffff");
	configure("failslab/reject-start", "0");
	configure("failslab/reject-end", "0");
	if (ours)
		aim_at_modules(but);
	configure("failslab/ignore-gfp-wait", "N");
	configure("failslab/verbose", "0");
	configure("fail_page_alloc/min-order", "100");
	fail_nth = open(FAIL_NTH, O_RDWR | O_CLOEXEC);
	if (fail_nth < 0)
		die("no", FAIL_NTH);
}

/* One time, with the failure of allocation @n: 0 or an errno. @left: how many were missing to it; 0: it failed */
static int attempt(unsigned int which, char **words, unsigned int n, unsigned int *left)
{
	char text[16] = "";
	int err = operations[which].once(words, n);

	if (pread(fail_nth, text, sizeof(text) - 1, 0) < 1)
		die("cannot read " FAIL_NTH ":", strerror(errno));
	*left = atoi(text);
	arm(0);
	if (!err)
		shell(check);
	if (!err && undo)
		shell(undo);
	else if (!err && operations[which].once == load)
		unload(words[0]);
	shell(then);
	if (*left && err)
		die("without a failure:", strerrorname_np(err));
	if (!*left)
		said[err < MAX_ERRNO ? err : 0]++;
	return err;
}

/*
 * How many allocations there are, without a failure. The second run is counted: what is allocated only once is there by
 * then.
 */
static unsigned int count(unsigned int which, char **words)
{
	unsigned int left;

	attempt(which, words, NONE, &left);
	attempt(which, words, NONE, &left);
	return NONE - left;
}

static void report(const char *what, unsigned int points, unsigned int missed)
{
	printf("%s: %u allocations", what, points);
	if (points > most + last)
		printf(", of which %u failed (seed %u)", most + last - missed, seed);
	for (int i = 0; i < MAX_ERRNO; i++)
		if (said[i])
			printf(", %u times %s", said[i], i ? strerrorname_np(i) : "did without");
	putchar('\n');
}

/* Each fails once, until none is left to fail: how many these were */
static unsigned int all(unsigned int which, char **words)
{
	unsigned int left = 0, n = 0;

	while (!left)
		attempt(which, words, ++n, &left);
	return n - 1;
}

/* Of each of so many parts one fails, and the last ones; returns how many were not reached. */
static unsigned int some(unsigned int which, char **words, unsigned int points)
{
	unsigned int left, missed = 0;

	srandom(seed);
	for (unsigned int i = 0; i < most; i++) {
		unsigned int from = points * i / most, to = points * (i + 1) / most;

		attempt(which, words, from + 1 + random() % (to - from), &left);
		missed += left > 0;
	}
	for (unsigned int n = points - last + 1; n <= points; n++) {
		attempt(which, words, n, &left);
		missed += left > 0;
	}
	return missed;
}

/* What aim() is told, and how many allocations there have to be. */
struct aims {
	bool ours;
	const char *but;
	unsigned int least;
};

static bool parse(int argc, char **argv, struct aims *aims)
{
	static const struct option options[] = {
		{ "check", required_argument, NULL, 'c' },
		{ "undo", required_argument, NULL, 'u' }, { "then", required_argument, NULL, 't' },
		{ "ours", no_argument, NULL, 'o' }, { "but", required_argument, NULL, 'b' },
		{ "most", required_argument, NULL, 'm' }, { "seed", required_argument, NULL, 's' },
		{ "last", required_argument, NULL, 'e' }, { "least", required_argument, NULL, 'l' },
		{ "period", required_argument, NULL, 'p' }, { 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			check = optarg;
			break;
		case 'u':
			undo = optarg;
			break;
		case 't':
			then = optarg;
			break;
		case 'o':
			aims->ours = true;
			break;
		case 'b':
			aims->but = optarg;
			break;
		case 'm':
			most = atoi(optarg);
			break;
		case 's':
			seed = atoi(optarg);
			break;
		case 'e':
			last = atoi(optarg);
			break;
		case 'p':
			period = atoi(optarg);
			break;
		case 'l':
			aims->least = atoi(optarg);
			break;
		default:
			return false;
		}
	}
	return argc - optind >= 2;
}

int main(int argc, char **argv)
{
	unsigned int which = 0, points, missed = 0;
	struct aims aims = { .least = 1 };

	if (!parse(argc, argv, &aims))
		return 2;
	while (which < OPERATIONS && strcmp(operations[which].name, argv[optind]))
		which++;
	if (which == OPERATIONS)
		die("no operation:", argv[optind]);
	aim(aims.ours, aims.but);
	argv += optind;
	points = count(which, argv + 1);
	if (points > most + last)
		missed = some(which, argv + 1, points);
	else
		points = all(which, argv + 1);
	report(argv[0], points, missed);
	if (points < aims.least) {
		fprintf(stderr, "there were %u allocations or more\n", aims.least);
		return 1;
	}
	return 0;
}
