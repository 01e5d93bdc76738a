// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ledger of the events that are open: what each says when it is read, and what it must have.
 */
#define _GNU_SOURCE	/* program_invocation_short_name, strerrorname_np() */
#include <stdarg.h>
#include <sys/ioctl.h>

#include "ledger.h"

struct event events[MAX_OPEN];
struct tally tally;
char verdict[512];

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

bool toggle(int n, bool on)
{
	events[n].enabled = on;
	if (ioctl(events[n].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0))
		return wrong("event %d cannot be %sabled: %s", n, on ? "en" : "dis",
			     strerrorname_np(errno));
	return true;
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
	if (!e->turns && count != e->made && !more)
		return wrong("event %d (%s) has %" PRIu64 ", made were %" PRIu64 ", and it took no turns",
			     n, name, count, e->made);
	if (count < e->least)
		return wrong("event %d (%s) has %" PRIu64 ", made were %" PRIu64 " while it was certainly on", n, name,
			     count, e->least);
	return true;
}

/* All that a read of a group says. */
bool check_group(int n, uint64_t (*more)(int n))
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

bool check(int n)
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

void forget(int n)
{
	close(events[n].fd);
	events[n].fd = -1;
}

/* A pinned event for which there was no room, and its group. */
bool has_failed(int n)
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
