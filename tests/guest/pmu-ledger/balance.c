// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ledger of the events that are open: what each says when it is read, and what it must have.
 */
#define _GNU_SOURCE	/* program_invocation_short_name, strerrorname_np() */
#include <stdarg.h>
#include <sys/ioctl.h>
#include <time.h>

#include "ledger.h"

#define MOVE_SECONDS	60	/* A move takes no longer, */
#define MOVE_USUAL_US	60000	/* and in a guest mostly less than this. */

struct event events[MAX_OPEN];
struct tally tally;
char verdict[512];
bool by_move;	/* a move may be the reason: a count is that of before, or there is none */

/* Why the ledger does not balance; the first reason is kept. */
bool __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(verdict, sizeof(verdict), format, args);
	va_end(args);
	return false;
}

bool is_on(const struct event *e)
{
	return e->enabled && (e->leader < 0 || events[e->leader].enabled);
}

/* The step that CPU hotplug has reached with a CPU, 0 if it is offline; -1 if there is no such CPU. */
static int step_of(int cpu)
{
	char path[80];
	FILE *file;
	int step = -1;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/hotplug/state", cpu);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%d", &step) != 1)
		die("no number in", path);
	fclose(file);
	return step;
}

/* That of a CPU which is online: the last one that the file has. */
static int step_online(void)
{
	static int last;
	char line[128];
	FILE *file;

	if (last)
		return last;
	file = fopen("/sys/devices/system/cpu/hotplug/states", "r");
	if (!file)
		die("there is no", "CPU hotplug");
	while (fgets(line, sizeof(line), file))
		sscanf(line, "%d:", &last);
	fclose(file);
	return last;
}

/* "target" does not say it: before 6.2 that of the boot CPU is 0. */
static bool is_on_its_way(int step)
{
	return step > 0 && step != step_online();
}

static bool any_cpu_moves(void)
{
	for (int cpu = 0, step; (step = step_of(cpu)) >= 0; cpu++)
		if (is_on_its_way(step))
			return true;
	return false;
}

/* Until a CPU is offline or online, or goes the other way. */
static bool wait_for_cpu(int cpu)
{
	time_t end = time(NULL) + MOVE_SECONDS;
	int last = step_of(cpu), way = 0;

	tally.waits += is_on_its_way(last);
	while (is_on_its_way(last)) {
		int now = step_of(cpu);

		if ((now - last) * way < 0)
			break;
		if (now != last)
			way = now - last;
		last = now;
		if (time(NULL) > end)
			return wrong("CPU %d goes or comes for more than %d s", cpu, MOVE_SECONDS);
		usleep(500);
	}
	return true;
}

/*
 * Until the move that is under way has ended, where others make such. What follows is to come at any time of the next one,
 * not always at its beginning.
 */
bool wait_for_moves(void)
{
	unsigned int waits = tally.waits;

	for (int cpu = 0; moved && step_of(cpu) >= 0; cpu++)
		if (!wait_for_cpu(cpu))
			return false;
	if (tally.waits > waits)
		usleep(random() % MOVE_USUAL_US);
	return true;
}

/* Before something is done with an event. */
struct moment now_of(const struct event *e)
{
	struct moment now = { 0 };

	if (moved) {
		now.owner = owner(&specs[e->spec]);
		now.moves = any_cpu_moves();
	}
	return now;
}

/* After that: may it have moved meanwhile? */
bool may_have_moved(const struct event *e, const struct moment *since)
{
	return moved && (since->moves || any_cpu_moves() || owner(&specs[e->spec]) != since->owner);
}

/* Where others take CPUs offline nothing stays off, since perf switches on what it moves: findings.md. */
bool toggle(int n, bool on)
{
	events[n].enabled = on || moved;
	if ((!on && ioctl(events[n].fd, PERF_EVENT_IOC_DISABLE, 0)) ||
	    (events[n].enabled && ioctl(events[n].fd, PERF_EVENT_IOC_ENABLE, 0)))
		return wrong("event %d cannot be %sabled: %s", n, on ? "en" : "dis",
			     strerrorname_np(errno));
	return wait_for_moves();
}

int siblings_of(int n)
{
	int siblings = 0;

	for (int i = 0; i < MAX_OPEN; i++)
		siblings += events[i].fd >= 0 && events[i].leader == n;
	return siblings;
}

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
bool read_one(const struct event *e, struct reading *reading)
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
bool check_count(int n, uint64_t count, uint64_t more)
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
	by_move = true;
	if (!e->turns && count != e->made && !more)
		return wrong("event %d (%s) has %" PRIu64 ", made were %" PRIu64 ", and it took no turns",
			     n, name, count, e->made);
	if (count < e->least)
		return wrong("event %d (%s) has %" PRIu64 ", made were %" PRIu64 " while it was certainly on", n, name,
			     count, e->least);
	by_move = false;
	return true;
}

/* All that a read of a group says. */
bool check_group(int n, uint64_t (*more)(int n))
{
	const struct event *e = &events[n];
	int leader = e->leader < 0 ? n : e->leader;
	struct group group;
	uint64_t members = 1;

	by_move = !read_group(e, &group);
	if (by_move)
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

static bool check_now(int n)
{
	struct event *e = &events[n];
	struct reading now;

	by_move = !read_one(e, &now);
	if (by_move)
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

/* A count of before a move is excused, and read again. */
bool check(int n)
{
	struct event *e = &events[n];
	struct moment before = now_of(e);

	tally.moves += moved && before.owner != e->owner;
	e->owner = before.owner;
	if (check_now(n))
		return true;
	if (!by_move || !may_have_moved(e, &before))
		return false;
	tally.excused++;
	return wait_for_moves() && check_now(n);
}

void forget(int n)
{
	close(events[n].fd);
	events[n].fd = -1;
}

/* May an event be in error state? */
static bool may_fail(const struct event *e)
{
	return e->may_fail || (e->leader >= 0 && events[e->leader].may_fail);
}

/*
 * An event that failed, and its group, are forgotten: a pinned one for which there was no room, or one that came to a CPU
 * as its device left it.
 */
bool has_failed(int n, bool *good)
{
	struct reading now;

	if (events[n].fd < 0 || read_one(&events[n], &now))
		return false;
	if (moved) {
		*good = wait_for_moves();
		if (!*good || read_one(&events[n], &now))
			return false;
	}
	*good = may_fail(&events[n]) || wrong("event %d (%s) cannot be read", n, specs[events[n].spec].name);
	for (int i = 0; i < MAX_OPEN; i++)
		if (events[i].fd >= 0 && events[i].leader == n)
			forget(i);
	forget(n);
	tally.failed++;
	return true;
}
