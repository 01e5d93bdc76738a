// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the operations of a program do, and what they add to the ledger.
 */
#define _GNU_SOURCE	/* program_invocation_short_name, CPU_SET() */
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

#include "../pmu-ctl.h"
#include "ledger.h"

#define BESIDE		16	/* so many times "beside" adds */

static struct ctl ctl;

void find_models(void)
{
	ctl = ctl_open();
}

/* So that all that it has counted is seen. */
static bool settle(int n)
{
	return !late || !is_on(&events[n]) || toggle(n, false);
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
	struct moment before;
	int group = op->leader < 0 ? 1 : siblings_of(op->leader) + 2;

	if (e->fd >= 0 || (op->leader >= 0 && !may_lead(&events[op->leader], spec)))
		return true;
	event.attr.disabled = op->disabled;
	event.attr.pinned = op->pinned && leader < 0;
	event.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	if (op->whole)
		event.attr.read_format |= PERF_FORMAT_GROUP | PERF_FORMAT_ID;
	e->spec = op->spec;
	before = now_of(e);
	e->fd = syscall(SYS_perf_event_open, &event, spec->task ? 0 : -1, spec->task ? -1 : owner(spec), leader, 0);
	if (e->fd < 0) {
		tally.refused++;
		return true;
	}
	if (ioctl(e->fd, PERF_EVENT_IOC_ID, &e->id))
		die("no id of", spec->name);
	tally.opened++;
	e->leader = op->leader;
	e->enabled = true;
	e->turns = false;
	e->whole = op->whole;
	e->least = e->made = e->last = 0;
	e->may_fail = event.attr.pinned || may_have_moved(e, &before);
	if (!wait_for_moves())
		return false;
	e->owner = now_of(e).owner;
	if (op->disabled && !toggle(op->event, moved))
		return false;
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

/*
 * Where a source is to make something. Events take turns in an interrupt of their CPU, and a device that stands for
 * reads of groups stands for an overflow, too: for a moment none of them counts, also none that goes on, and perf's
 * times do not say so. On that CPU the interrupt cannot come between.
 */
static int makes_on(int source)
{
	for (int i = 0; i < MAX_OPEN && (turns || (large && stands)); i++)
		if (counts(&events[i], source))
			return owner(&specs[events[i].spec]);
	return cpu_of(source);
}

struct state {
	bool is_known;
	struct reading reading;
	struct moment moment;
};

/* Those that took turns and count a source: their times before it makes something. */
static void read_turning(int source, struct state *before)
{
	for (int i = 0; i < MAX_OPEN && !late; i++) {
		if (!counts(&events[i], source) || !events[i].turns)
			continue;
		before[i].moment = now_of(&events[i]);
		before[i].is_known = read_one(&events[i], &before[i].reading);
	}
}

/* By its times an event was on, or off, all the time while something was made; or nobody knows. */
static void account(int n, uint64_t count, const struct state *before)
{
	struct event *e = &events[n];
	uint64_t on, all;
	struct reading now;

	/* While an event moves it is off by its times, and counts. */
	if (!e->turns || late || !before->is_known || !read_one(e, &now) || may_have_moved(e, &before->moment)) {
		e->made += count;
		return;
	}
	on = now.running - before->reading.running;
	all = now.enabled - before->reading.enabled;
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
	struct state before[MAX_OPEN];
	int cpu = makes_on(op->event);

	if (around && !anybody_counts(op->event))
		return true;
	/* A mesh that is told to count starts some time later, and a quick guest would add before. */
	if (late)
		sleep_ms(1);
	if (cpu >= 0)
		stay_on(cpu);
	read_turning(op->event, before);
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
		struct moment before;

		if (events[i].fd < 0 || stops_others(&events[i]))
			continue;
		before = now_of(&events[i]);
		/* What has failed is found later, as is what has moved. */
		if (!read_one(&events[i], &now) ||
		    (events[i].leader >= 0 && !read_one(&events[events[i].leader], &leaders)))
			continue;
		events[i].turns |= now.running != now.enabled;
		if ((!check_count(i, now.count, more_meanwhile(i)) ||
		     (events[i].whole && !check_group(i, more_meanwhile))) &&
		    (!by_move || !may_have_moved(&events[i], &before)))
			return false;
	}
	return true;
}

/* Each has a file of its own, of which one has the lock. */
static pid_t another(int source, uint64_t count, unsigned int times, int cpu, bool may_be_refused)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child < 0)
		die("cannot", "fork");
	if (!child) {
		struct ctl its = ctl_open();

		if (cpu >= 0)
			stay_on(cpu);
		if (may_be_refused)
			stderr = stdout = fopen("/dev/null", "w");
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
	child = another(op->event, op->count, BESIDE, makes_on(op->event), false);
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
	waitpid(another(op->event, op->count, 1, cpu, true), NULL, 0);
	stay_on(-1);
}

/* perf switches on what it moves, also what was off: findings.md. */
static bool stay_off(void)
{
	for (int i = 0; i < MAX_OPEN; i++)
		if (events[i].fd >= 0 && !events[i].enabled && !toggle(i, false))
			return false;
	return true;
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
	return stay_off();
}

static bool do_sleep(void)
{
	tally.sleeps++;
	return system(sleep_by) ? wrong("the machine does not sleep") : stay_off();
}

static bool do_fault(int n)
{
	return !ctl_command(&ctl, faults[n], stdout) || wrong("the model refuses: %s", faults[n]);
}

static bool do_one(const struct operation *op)
{
	bool good = true;

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
	if ((events[op->event].leader >= 0 && has_failed(events[op->event].leader, &good)) || !good)
		return good;
	if (has_failed(op->event, &good) || !good)
		return good;
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
bool run(const struct operation *op, unsigned int n)
{
	bool good = !nr_faults || do_fault(0);

	memset(&tally, 0, sizeof(tally));
	for (int i = 0; i < MAX_OPEN; i++)
		events[i].fd = -1;
	for (unsigned int i = 0; i < n && good; i++)
		good = do_one(&op[i]);
	for (int i = 0; i < MAX_OPEN; i++)
		if (good && events[i].fd >= 0 && events[i].leader < 0 && !has_failed(i, &good) && good)
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
