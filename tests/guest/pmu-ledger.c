// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-ledger: a random program of opens, closes, enables, disables, reads, owners that change, sleeps, faults
 * and counts of the models, and a ledger of what each event must have.
 *
 *   pmu-ledger [--seed N] [--operations N] [--open N] [--moves] [--no-turns] [--most N] [--late] [--large BITS]
 *	      [--stands] [--around COMMAND] [--fault COMMAND]... [--sleep COMMAND] EVENT=SOURCE[+SOURCE]...
 *   pmu-ledger --program FILE [OPTION]... EVENT=SOURCE[+SOURCE]...
 *
 * pmu-attr.h says what an EVENT is; with "@N" behind it, it is opened on the Nth CPU of the PMU's cpumask, from 0,
 * with "@task" for the program itself. A SOURCE is DEVICE:NAME, as "pmu-model add" has them; those of a task are
 * made by the CPU N of a DEVICE threadN@0.
 *
 * --open: so many events are open at once, 4 unless it says otherwise. --moves: the CPU that the events are on goes
 * offline and comes back. --around: a command of pmu-model before and after each that adds; without anybody who
 * counts that, nothing is added then. --no-turns: all events fit at any time. --most: no group of more
 * than N events fits. --late: a device counts some time after
 * it is told to, and what it has counted may be seen only when the event has been disabled. --large: some counts are of
 * so many bits, so that halves of counters carry, and counters overflow. --fault: commands of pmu-model that must not
 * matter, at any time; the first one also before each program. --sleep: a command of the shell that puts the machine
 * to sleep until it wakes up. --stands: to read a group stops the device, so nobody adds meanwhile.
 *
 * An event must have what its sources made while it and its leader were enabled. If it took turns with others, as it
 * says by its times, it has no more than that, without what was made while it was certainly off, and no less than
 * what was made while it was certainly on. It never goes back, and a read of its group says the same. If an event has
 * something else, the program is made shorter as long as it fails, and is printed. The exit status is then 1.
 * "--program -" does a program again, which is one operation a line:
 *
 *   open E SPEC [disabled] [pinned] [whole] [in LEADER]	E and LEADER are numbers of events, SPEC of
 *				EVENT=SOURCE; "whole": to read it is to read its group
 *   close E, enable E, disable E, read E
 *   add SOURCE N		the number of a source, in the order of the command line
 *   beside SOURCE N		another process adds N again and again, while all events are read, but
 *				with --stands none that is read as a group
 *   others SOURCE N		another task does on the CPU of a task's source, which this one is not to count
 *   move E, sleep, fault N, turn	of "turn" a few ms pass
 */
#define _GNU_SOURCE	/* program_invocation_short_name, strerrorname_np() */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "pmu-attr.h"
#include "pmu-ctl.h"

#define MAX_SPECS	16
#define MAX_SOURCES	256
#define MAX_OPEN	16
#define MAX_FAULTS	16
#define BESIDE		16	/* so many times "beside" adds */
#define SHRINK_TRIES	400

/* What may be opened, and what it counts. */
struct spec {
	char name[256], pmu[64];
	int box;		/* on which CPU of the PMU's cpumask */
	bool task;		/* of the program itself */
	union attr event;
	int source[MAX_SOURCES], sources;
};

static struct spec specs[MAX_SPECS];
static int nr_specs;
static char *sources[MAX_SOURCES];
static int nr_sources;
static const char *around;
static const char *faults[MAX_FAULTS], *sleep_by;
static int nr_faults;
static bool late, no_turns;
static bool stands;	/* a device counts nothing while a group of its events is read */
static int large, most;
static struct ctl ctl;

enum what { OPEN, CLOSE, ENABLE, DISABLE, READ, ADD, BESIDE_READS, OTHERS, MOVE, SLEEP, FAULT, TURN, WHATS };

static const char *const words[WHATS] = {
	"open", "close", "enable", "disable", "read", "add", "beside", "others", "move", "sleep", "fault", "turn",
};

struct operation {
	enum what what;
	int event, spec, leader;	/* event: or a source, or a fault; leader: -1 for none */
	bool disabled, pinned, whole;
	uint64_t count;
};

struct event {
	int fd;			/* -1: not open */
	int spec, leader;
	bool enabled, turns;	/* turns: it was not always on while it should have been */
	bool whole;		/* a read is that of its group */
	uint64_t id;
	uint64_t least, made, last;	/* by the ledger: at least, at most; as it was last read */
};

static struct event events[MAX_OPEN];

/* What was done, in the last run. */
static struct {
	unsigned int operations, opened, refused, reads, groups, exact, turns, on, off, moves, sleeps, failed;
} tally;

static char verdict[512];

/* Why the ledger does not balance; the first reason is kept. */
static bool __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(verdict, sizeof(verdict), format, args);
	va_end(args);
	return false;
}

static uint64_t state;

/* splitmix64 */
static uint64_t any(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static bool is_on(const struct event *e)
{
	return e->enabled && (e->leader < 0 || events[e->leader].enabled);
}

static bool toggle(int n, bool on)
{
	events[n].enabled = on;
	if (ioctl(events[n].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
		return wrong("event %d cannot be %sabled: %s", n, on ? "en" : "dis",
			     strerrorname_np(errno));
	return true;
}

/* So that all that it has counted is seen. */
static bool settle(int n)
{
	return !late || !is_on(&events[n]) || toggle(n, false);
}

static int siblings_of(int n)
{
	int siblings = 0;

	for (int i = 0; i < MAX_OPEN; i++)
		siblings += events[i].fd >= 0 && events[i].leader == n;
	return siblings;
}

/* The CPU that an event is to be opened on, or -1. A cpumask has no ranges, but where CPUs are neighbours. */
static int owner(const struct spec *spec)
{
	char text[256], *list = text;
	int n = spec->box;

	if (!read_file(spec->pmu, "cpumask", text, sizeof(text)) || !*text)
		return -1;
	for (char *part; (part = strsep(&list, ","));) {
		char *end;
		int first = strtol(part, &end, 10), last = *end == '-' ? atoi(end + 1) : first;

		if (n <= last - first)
			return first + n;
		n -= last - first + 1;
	}
	return -1;
}

static bool set_online(int cpu, int on)
{
	char path[64];
	FILE *file;
	bool good;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	file = fopen(path, "w");
	if (!file)
		return false;
	fprintf(file, "%d", on);
	good = !fclose(file);
	return good;
}

static void sleep_ms(long ms)
{
	struct timespec time = { .tv_nsec = ms * 1000000 };

	nanosleep(&time, NULL);
}

struct reading {
	uint64_t count, enabled, running;
};

/* What a read of a group has. The times are the leader's. */
struct group {
	uint64_t n, enabled, running;
	struct { uint64_t count, id; } of[MAX_OPEN];
};

/* The event of a group's read, or -1 */
static int by_id(uint64_t id)
{
	for (int i = 0; i < MAX_OPEN; i++)
		if (events[i].fd >= 0 && events[i].id == id)
			return i;
	return -1;
}

static bool read_group(const struct event *e, struct group *group)
{
	return read(e->fd, group, sizeof(*group)) > 0;
}

/* An event by itself. In error state, where only a pinned one may be, it has no count. */
static bool read_one(const struct event *e, struct reading *reading)
{
	struct group group;

	if (!e->whole)
		return read(e->fd, reading, sizeof(*reading)) == sizeof(*reading);
	if (!read_group(e, &group))
		return false;
	for (uint64_t i = 0; i < group.n && i < MAX_OPEN; i++)
		if (group.of[i].id == e->id) {
			*reading = (struct reading){ group.of[i].count, group.enabled, group.running };
			return true;
		}
	return false;
}

/* Whether an event may have a count, if @more of what it counts may have been made meanwhile. */
static bool check_count(int n, uint64_t count, uint64_t more)
{
	struct event *e = &events[n];
	const char *name = specs[e->spec].name;

	if (count < e->last)
		return wrong("event %d (%s) went from %" PRIu64 " back to %" PRIu64, n, name, e->last, count);
	if (count > e->made + more)
		return wrong("event %d (%s) has %" PRIu64 ", made were %" PRIu64, n, name, count, e->made + more);
	e->last = count;
	if (late && is_on(e))
		return true;
	if (!e->turns && count != e->made && !more)
		return wrong("event %d (%s) has %" PRIu64 ", made were %" PRIu64 ", and it took no turns",
			     n, name, count, e->made);
	if (count < e->least)
		return wrong("event %d (%s) has %" PRIu64 ", made were %" PRIu64 " while it was certainly on", n, name,
			     count, e->least);
	return true;
}

/* All that a read of a group says. */
static bool check_group(int n, uint64_t (*more)(int n))
{
	const struct event *e = &events[n];
	int leader = e->leader < 0 ? n : e->leader;
	struct group group;
	uint64_t members = 1;

	if (!read_group(e, &group))
		return wrong("the group of event %d (%s) cannot be read", n, specs[e->spec].name);
	tally.groups++;
	for (int i = 0; i < MAX_OPEN; i++)
		members += events[i].fd >= 0 && events[i].leader == leader;
	if (group.n != members)
		return wrong("the group of event %d has %" PRIu64 " members, and not %" PRIu64, n, group.n, members);
	for (uint64_t i = 0; i < members; i++) {
		int of = by_id(group.of[i].id);

		if (of < 0 || (of != leader && events[of].leader != leader))
			return wrong("in the group of event %d is another one", n);
		events[of].turns |= group.running != group.enabled;
		if (!check_count(of, group.of[i].count, more(of)))
			return false;
	}
	return true;
}

static uint64_t no_more(int n)
{
	(void)n;
	return 0;
}

static bool check(int n)
{
	struct event *e = &events[n];
	struct reading now;

	if (!read_one(e, &now))
		return wrong("event %d (%s) cannot be read", n, specs[e->spec].name);
	tally.reads++;
	e->turns |= now.running != now.enabled;
	if (e->turns && no_turns)
		return wrong("event %d (%s) took turns", n, specs[e->spec].name);
	if (!check_count(n, now.count, 0) || (e->whole && !check_group(n, no_more)))
		return false;
	/* Until now it took none. */
	if (!e->turns && !late)
		e->least = e->made;
	if (e->turns)
		tally.turns++;
	else if (now.count == e->made)
		tally.exact++;
	return true;
}

static void forget(int n)
{
	close(events[n].fd);
	events[n].fd = -1;
}

/* A pinned event for which there was no room, and its group. */
static bool has_failed(int n)
{
	struct reading now;

	if (events[n].fd < 0 || read_one(&events[n], &now))
		return false;
	for (int i = 0; i < MAX_OPEN; i++)
		if (events[i].fd >= 0 && events[i].leader == n)
			forget(i);
	forget(n);
	tally.failed++;
	return true;
}

/* Of a group all are on the same CPU, and of the same PMU. */
static bool may_lead(const struct event *leader, const struct spec *spec)
{
	const struct spec *its = &specs[leader->spec];

	return leader->fd >= 0 && leader->leader < 0 && its->box == spec->box && its->task == spec->task &&
		!strcmp(its->pmu, spec->pmu);
}

static bool do_open(const struct operation *op)
{
	struct event *e = &events[op->event];
	struct spec *spec = &specs[op->spec];
	union attr event = spec->event;
	int leader = op->leader < 0 ? -1 : events[op->leader].fd;
	int group = op->leader < 0 ? 1 : siblings_of(op->leader) + 2;

	if (e->fd >= 0 || (op->leader >= 0 && !may_lead(&events[op->leader], spec)))
		return true;
	event.attr.disabled = op->disabled;
	event.attr.pinned = op->pinned && leader < 0;
	event.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (op->whole)
		event.attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	e->fd = syscall(SYS_perf_event_open, &event, spec->task ? 0 : -1, spec->task ? -1 : owner(spec), leader, 0);
	if (e->fd < 0) {
		tally.refused++;
		return true;
	}
	if (ioctl(e->fd, PERF_EVENT_IOC_ID, &e->id))
		die("no id of", spec->name);
	tally.opened++;
	e->spec = op->spec;
	e->leader = op->leader;
	e->enabled = !op->disabled;
	e->turns = false;
	e->whole = op->whole;
	e->least = e->made = e->last = 0;
	return !most || group <= most || wrong("a group of %d events is accepted, which does not fit", group);
}

static bool counts(const struct event *e, int source)
{
	const struct spec *spec = &specs[e->spec];

	if (e->fd < 0 || !is_on(e))
		return false;
	for (int i = 0; i < spec->sources; i++)
		if (spec->source[i] == source)
			return true;
	return false;
}

static bool anybody_counts(int source)
{
	for (int i = 0; i < MAX_OPEN; i++)
		if (counts(&events[i], source))
			return true;
	return false;
}

/* The CPU that makes what a task is to count: "thread1@0 0x798"; or -1. */
static int cpu_of(int source)
{
	return strncmp(sources[source], "thread", 6) ? -1 : atoi(sources[source] + 6);
}

/* On one CPU, or on any again */
static void stay_on(int cpu)
{
	cpu_set_t set;

	memset(&set, cpu < 0 ? 0xff : 0, sizeof(set));
	if (cpu >= 0)
		CPU_SET(cpu, &set);
	/* One that is offline: then it stays where it is. */
	sched_setaffinity(0, sizeof(set), &set);
}

static bool make_some(const struct ctl *by, int source, uint64_t count, FILE *out)
{
	char line[512];

	snprintf(line, sizeof(line), "add %s %" PRIu64, sources[source], count);
	return !(around && ctl_command(by, around, out)) && !ctl_command(by, line, out) &&
		!(around && ctl_command(by, around, out));
}

/* Those that take turns and count a source: their times before it makes something. Returns where they are, or -1. */
static int read_turning(int source, struct reading *before)
{
	int cpu = -1;

	for (int i = 0; i < MAX_OPEN && !late; i++)
		if (counts(&events[i], source) && events[i].turns) {
			if (cpu < 0) {
				cpu = owner(&specs[events[i].spec]);
				/* They change turns in an interrupt of that CPU, which cannot come between. */
				stay_on(cpu);
			}
			if (!read_one(&events[i], &before[i]))
				before[i].enabled = UINT64_MAX;
		}
	return cpu;
}

/* By its times an event was on, or off, all the time while something was made; or nobody knows. */
static void account(int n, uint64_t count, const struct reading *before)
{
	struct event *e = &events[n];
	uint64_t on, all;
	struct reading now;

	if (!e->turns || late || before->enabled == UINT64_MAX || !read_one(e, &now)) {
		e->made += count;
		return;
	}
	on = now.running - before->running;
	all = now.enabled - before->enabled;
	if (!on && all) {
		tally.off++;
		return;
	}
	e->made += count;
	if (on == all && all) {
		e->least += count;
		tally.on++;
	}
}

static bool do_add(const struct operation *op)
{
	struct reading before[MAX_OPEN];
	int cpu = cpu_of(op->event);

	if (around && !anybody_counts(op->event))
		return true;
	/* A mesh that is told to count starts some time later, and a quick guest would add before. */
	if (late)
		sleep_ms(1);
	if (cpu >= 0)
		stay_on(cpu);
	else
		cpu = read_turning(op->event, before);
	if (!make_some(&ctl, op->event, op->count, stdout))
		return wrong("the model refuses: add %s %" PRIu64, sources[op->event], op->count);
	for (int i = 0; i < MAX_OPEN; i++)
		if (counts(&events[i], op->event))
			account(i, op->count, &before[i]);
	if (cpu >= 0)
		stay_on(-1);
	return true;
}

static const struct operation *meanwhile;

/* What an event may have beyond its ledger while another process adds. */
static uint64_t more_meanwhile(int n)
{
	return counts(&events[n], meanwhile->event) ? BESIDE * meanwhile->count : 0;
}

/* Would a read of an event, or of its leader, have all counters stand, so that what is added then is lost? */
static bool stops_others(const struct event *e)
{
	return stands && (e->whole || (e->leader >= 0 && events[e->leader].whole));
}

static bool read_all_meanwhile(void)
{
	for (int i = 0; i < MAX_OPEN; i++) {
		struct reading now, leaders;

		/* What has failed is found later. */
		if (events[i].fd < 0 || stops_others(&events[i]) || !read_one(&events[i], &now) ||
		    (events[i].leader >= 0 && !read_one(&events[events[i].leader], &leaders)))
			continue;
		events[i].turns |= now.running != now.enabled;
		if (!check_count(i, now.count, more_meanwhile(i)) ||
		    (events[i].whole && !check_group(i, more_meanwhile)))
			return false;
	}
	return true;
}

/* Each has a file of its own, of which one has the lock. */
static pid_t another(int source, uint64_t count, unsigned int times, int cpu)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		die("cannot", "fork");
	if (!child) {
		struct ctl its = ctl_open();

		if (cpu >= 0) {
			stay_on(cpu);
			stderr = stdout = fopen("/dev/null", "w");
		}
		for (unsigned int i = 0; i < times; i++)
			if (!make_some(&its, source, count, stdout))
				_exit(1);
		_exit(0);
	}
	return child;
}

static bool do_beside(const struct operation *op)
{
	int status = 0;
	bool good = true;
	pid_t child;

	/* What another task makes a task's event does not count. */
	if (cpu_of(op->event) >= 0 || !anybody_counts(op->event))
		return true;
	if (late)
		sleep_ms(1);
	meanwhile = op;
	child = another(op->event, op->count, BESIDE, -1);
	while (!waitpid(child, &status, WNOHANG))
		good = good && read_all_meanwhile();
	for (int i = 0; i < MAX_OPEN; i++)
		if (counts(&events[i], op->event))
			events[i].made += BESIDE * op->count;
	return good && (!status || wrong("the model refuses: add %s %" PRIu64, sources[op->event], op->count));
}

/* It runs where this one could run, which waits for it: it is a switch of tasks, and one back. */
static void do_others(const struct operation *op)
{
	int cpu = cpu_of(op->event);

	if (cpu < 0)
		return;
	stay_on(cpu);
	/* Refused, if nobody's engine is on. */
	waitpid(another(op->event, op->count, 1, cpu), NULL, 0);
	stay_on(-1);
}

static bool do_move(const struct operation *op)
{
	const struct spec *spec = &specs[events[op->event].spec];
	int cpu = spec->task ? cpu_of(spec->source[op->event % spec->sources]) : owner(spec);

	if (cpu < 0 || !set_online(cpu, 0))
		return true;	/* CPU 0 of some machines stays */
	if (!set_online(cpu, 1))
		return wrong("CPU %d does not come back", cpu);
	tally.moves++;
	return true;
}

static bool do_sleep(void)
{
	tally.sleeps++;
	return !system(sleep_by) || wrong("the machine does not sleep");
}

static bool do_fault(int n)
{
	return !ctl_command(&ctl, faults[n], stdout) || wrong("the model refuses: %s", faults[n]);
}

static bool do_one(const struct operation *op)
{
	tally.operations++;
	switch (op->what) {
	case OPEN: return do_open(op);
	case ADD: return do_add(op);
	case BESIDE_READS: return do_beside(op);
	case OTHERS: do_others(op); return true;
	case SLEEP: return do_sleep();
	case FAULT: return do_fault(op->event);
	case TURN: sleep_ms(9); return true;
	default: break;
	}
	if (events[op->event].fd < 0)
		return true;
	if (events[op->event].leader >= 0 && has_failed(events[op->event].leader))
		return true;
	if (has_failed(op->event))
		return true;
	switch (op->what) {
	case CLOSE:
		/* Siblings of a leader that goes would be events of their own. */
		if (siblings_of(op->event))
			return true;
		if (!settle(op->event) || !check(op->event))
			return false;
		forget(op->event);
		return true;
	case MOVE:
		return do_move(op);
	case READ:
		return check(op->event);
	default:
		return toggle(op->event, op->what == ENABLE);
	}
}

/* From no open event to none. False, and verdict, if the ledger does not balance. */
static bool run(const struct operation *op, unsigned int n)
{
	bool good = !nr_faults || do_fault(0);

	memset(&tally, 0, sizeof(tally));
	for (int i = 0; i < MAX_OPEN; i++)
		events[i].fd = -1;
	for (unsigned int i = 0; i < n && good; i++)
		good = do_one(&op[i]);
	for (int i = 0; i < MAX_OPEN; i++)
		if (good && events[i].fd >= 0 && events[i].leader < 0 && !has_failed(i))
			good = settle(i) && check(i);
	/* Siblings first. */
	for (int siblings = 1; siblings >= 0; siblings--)
		for (int i = 0; i < MAX_OPEN; i++) {
			if (events[i].fd < 0 || (events[i].leader >= 0) != siblings)
				continue;
			if (good && siblings)
				good = settle(i) && check(i);
			forget(i);
		}
	return good;
}

/* Whether it names a source. */
static bool makes(enum what what)
{
	return what == ADD || what == BESIDE_READS || what == OTHERS;
}

static void print(const struct operation *op)
{
	printf("%s", words[op->what]);
	if (op->what != TURN && op->what != SLEEP)
		printf(" %d", op->event);
	if (makes(op->what))
		printf(" %" PRIu64, op->count);
	if (op->what == OPEN) {
		printf(" %d%s%s%s", op->spec, op->disabled ? " disabled" : "", op->pinned ? " pinned" : "",
		       op->whole ? " whole" : "");
		if (op->leader >= 0)
			printf(" in %d", op->leader);
	}
	putchar('\n');
}

/* One that is about to do something: mostly small, now and then about to wrap something. */
static uint64_t any_count(void)
{
	static const unsigned int bits[] = { 1, 4, 8, 12, 15, 16, 17, 20 };
	bool is_large = large && any() % 4 == 0;
	uint64_t most = 1ULL << (is_large ? large - any() % 4 : bits[any() % 8]);

	switch (any() % 4) {
	case 0: return most;
	case 1: return most - 1;
	case 2: return most + 1;
	default: return 1 + any() % most;
	}
}

static struct operation make(int open, bool moves)
{
	/* Of 1000. */
	static const int shares[WHATS] = { 200, 160, 80, 70, 130, 300, 8, 8, 10, 1, 8, 25 };
	struct operation op = { .leader = -1, .event = any() % open };
	int share = any() % 1000;

	while (share >= shares[op.what])
		share -= shares[op.what++];
	if ((op.what == MOVE && !moves) || (op.what == SLEEP && !sleep_by) || (op.what == FAULT && !nr_faults))
		op.what = READ;
	if (op.what == FAULT)
		op.event = any() % nr_faults;
	if (makes(op.what)) {
		op.event = any() % nr_sources;
		op.count = any_count();
		/* Not more than can be, in a moment. */
		if (op.what == BESIDE_READS && op.count > 1 << 20)
			op.count = 1 << 20;
	}
	if (op.what == OPEN) {
		op.spec = any() % nr_specs;
		op.disabled = any() % 3 == 0;
		op.pinned = any() % 4 == 0;
		op.whole = any() % 3 == 0;
		/* Some groups are to be large. */
		switch (any() % 3) {
		case 0: op.leader = any() % open; break;
		case 1: op.leader = any() % 2; break;
		}
		if (op.leader == op.event)
			op.leader = -1;
	}
	return op;
}

/* Leave out what can be left out, larger pieces first. */
static unsigned int shrink(struct operation *op, unsigned int n)
{
	struct operation *tried = calloc(n, sizeof(*tried));
	unsigned int tries = 0;

	if (!tried)
		die("no memory for", "a shorter program");
	for (unsigned int piece = n / 2; piece; piece /= 2)
		for (unsigned int at = 0; at + piece <= n && tries < SHRINK_TRIES; tries++) {
			memcpy(tried, op, at * sizeof(*op));
			memcpy(tried + at, op + at + piece, (n - at - piece) * sizeof(*op));
			if (run(tried, n - piece)) {
				at += piece;
				continue;
			}
			n -= piece;
			memcpy(op, tried, n * sizeof(*op));
		}
	free(tried);
	return n;
}

static int number(char **line)
{
	char *word;

	while ((word = strsep(line, " ")))
		if (*word)
			return atoi(word);
	die("a number is missing in", "the program");
	return 0;
}

static struct operation parse(char *line)
{
	struct operation op = { .leader = -1 };
	char *word = strsep(&line, " ");

	for (; op.what < WHATS && strcmp(word, words[op.what]); op.what++)
		;
	if (op.what == WHATS)
		die("no operation:", word);
	if (op.what == TURN || op.what == SLEEP)
		return op;
	op.event = number(&line);
	if (makes(op.what))
		op.count = strtoull(line, NULL, 0);
	if (op.what != OPEN)
		return op;
	op.spec = number(&line);
	while ((word = strsep(&line, " "))) {
		op.disabled |= !strcmp(word, "disabled");
		op.pinned |= !strcmp(word, "pinned");
		op.whole |= !strcmp(word, "whole");
		if (!strcmp(word, "in"))
			op.leader = number(&line);
	}
	return op;
}

static unsigned int read_program(const char *name, struct operation *op, unsigned int most)
{
	FILE *file = strcmp(name, "-") ? fopen(name, "r") : stdin;
	char line[256];
	unsigned int n = 0;

	if (!file)
		die("cannot open", name);
	while (n < most && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		if (!*line)
			continue;
		op[n] = parse(line);
		if (op[n].event < 0 || op[n].spec < 0 || op[n].spec >= nr_specs || op[n].leader >= MAX_OPEN ||
		    op[n].event >= (makes(op[n].what) ? nr_sources : op[n].what == FAULT ? nr_faults : MAX_OPEN) ||
		    (op[n].what == SLEEP && !sleep_by))
			die("no such event, EVENT=SOURCE, source, fault or sleep:", line);
		n++;
	}
	return n;
}

static int source_number(const char *name)
{
	char *colon, *copy = strdup(name);

	if (!copy)
		die("no memory for", name);
	colon = strchr(copy, ':');
	if (!colon)
		die("not DEVICE:NAME:", name);
	*colon = ' ';
	for (int i = 0; i < nr_sources; i++)
		if (!strcmp(sources[i], copy))
			return i;
	if (nr_sources == MAX_SOURCES)
		die("too many sources:", name);
	sources[nr_sources] = copy;
	return nr_sources++;
}

/* "uncore_imc_0/cas_count_read/=imc0:cas_rd" */
static void take_spec(char *text)
{
	struct spec *spec = &specs[nr_specs];
	char *equals = strrchr(text, '='), *list, *at;

	if (nr_specs == MAX_SPECS || !equals)
		die("too many, or not EVENT=SOURCE:", text);
	*equals = '\0';
	list = equals + 1;
	at = strrchr(text, '@');
	if (at) {
		*at = '\0';
		spec->box = atoi(at + 1);
		spec->task = !strcmp(at + 1, "task");
	}
	snprintf(spec->name, sizeof(spec->name), "%s", text);
	snprintf(spec->pmu, sizeof(spec->pmu), "%.*s", (int)strcspn(text, ":/"), text);
	parse_event(text, &spec->event);
	for (char *name; (name = strsep(&list, "+"));) {
		if (spec->sources == MAX_SOURCES)
			die("too many sources of", spec->name);
		spec->source[spec->sources++] = source_number(name);
	}
	nr_specs++;
}

struct request {
	unsigned int operations;
	int open;
	bool moves;
	const char *program;
	uint64_t seed;
};

static bool take_options(struct request *request, int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' }, { "operations", required_argument, NULL, 'n' },
		{ "open", required_argument, NULL, 'o' }, { "moves", no_argument, NULL, 'm' },
		{ "program", required_argument, NULL, 'p' }, { "late", no_argument, NULL, 'l' },
		{ "no-turns", no_argument, NULL, 'r' }, { "large", required_argument, NULL, 'L' },
		{ "most", required_argument, NULL, 'M' },
		{ "around", required_argument, NULL, 'a' }, { "fault", required_argument, NULL, 'f' },
		{ "sleep", required_argument, NULL, 'S' }, { "stands", no_argument, NULL, 't' },
		{ 0 },
	};
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option) {
		case 's': request->seed = strtoull(optarg, NULL, 0); break;
		case 'n': request->operations = atoi(optarg); break;
		case 'o': request->open = atoi(optarg); break;
		case 'm': request->moves = true; break;
		case 'r': no_turns = true; break;
		case 'l': late = true; break;
		case 'M': most = atoi(optarg); break;
		case 'L': large = atoi(optarg); break;
		case 'S': sleep_by = optarg; break;
		case 't': stands = true; break;
		case 'f':
			if (nr_faults == MAX_FAULTS)
				return false;
			faults[nr_faults++] = optarg;
			break;
		case 'p': request->program = optarg; break;
		case 'a': around = optarg; break;
		default: return false;
		}
	return request->open >= 1 && request->open <= MAX_OPEN && optind < argc;
}

static int report(struct operation *op, unsigned int n)
{
	printf("wrong: %s\n", verdict);
	n = shrink(op, n);
	if (run(op, n))
		puts("the shortest program that has failed, which did not fail again:");
	else
		printf("the shortest program that fails: %s\n", verdict);
	for (unsigned int i = 0; i < n; i++)
		print(&op[i]);
	return 1;
}

int main(int argc, char **argv)
{
	struct request request = { .operations = 1000, .open = 4, .seed = 1 };
	struct operation *op;
	unsigned int n;

	if (!take_options(&request, argc, argv))
		return 2;
	for (int i = optind; i < argc; i++)
		take_spec(argv[i]);
	ctl = ctl_open();
	op = calloc(request.operations, sizeof(*op));
	if (!op)
		die("no memory for", "so many operations");
	state = request.seed;
	if (request.program)
		n = read_program(request.program, op, request.operations);
	else
		for (n = 0; n < request.operations; n++)
			op[n] = make(request.open, request.moves);
	if (!run(op, n))
		return report(op, n);
	printf("seed %" PRIu64 ": %u operations, %u opened, %u refused, %u pinned that found no room, %u moves, %u sleeps; %u reads and %u of groups, %u to one, %u of events that took turns, for which %u times something was made while they were on, %u while they were off\n",
	       request.seed, tally.operations, tally.opened, tally.refused, tally.failed, tally.moves, tally.sleeps,
	       tally.reads, tally.groups, tally.exact, tally.turns, tally.on, tally.off);
	return 0;
}
