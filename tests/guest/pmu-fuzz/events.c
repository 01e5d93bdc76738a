// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls on events: they are opened, read, mapped, controlled and closed.
 */
#define _GNU_SOURCE	/* program_invocation_short_name */
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "fuzz.h"

#define GARBAGE		(1ULL << 56)	/* no counter gets here in the time of a round */

struct slot slots[SLOTS];
int program;

/* Only thread_imc's are by nature; trace_imc's may be. */
static bool is_of_tasks(const struct call *call)
{
	const char *name = pmus[call->pmu].name;

	return !strcmp(name, "thread_imc") || (!strcmp(name, "trace_imc") && call->kind & 1);
}

static int pick_cpu(const struct call *call, int owner)
{
	int n = sysconf(_SC_NPROCESSORS_CONF);

	if (call->plain)
		return is_of_tasks(call) ? -1 : owner;
	if (call->kind % 10 < 6)
		return owner;
	if (call->kind % 10 < 8)
		return call->arg[0] % n;
	return call->kind % 10 == 8 ? -1 : (int)call->arg[0];
}

static int pick_pid(const struct call *call)
{
	unsigned int kind = call->kind / 10 % 10;

	if (call->plain)
		return is_of_tasks(call) ? 0 : -1;
	if (kind < 6)
		return -1;
	if (kind < 8)
		return 0;
	return kind == 8 ? getppid() : (int)(call->arg[1] % 65536);
}

static int pick_group(const struct call *call)
{
	unsigned int kind = call->kind / 100;

	if (kind < 6)
		return -1;
	return kind < 9 || call->plain ? slots[call->other].fd : (int)call->arg[2];
}

static unsigned long pick_flags(const struct call *call)
{
	if (call->event >> 28 || call->plain)
		return PERF_FLAG_FD_CLOEXEC;
	return call->event >> 24 & 0xf;
}

/*
 * An event of the kernel's own stands beside ours now and then, as leader or in the group. Not in the group where CPUs go:
 * perf lets it join a leader that it has taken out, and then uses memory that is freed (Documentation/findings.md).
 */
int open_event(const struct call *call)
{
	unsigned int at = nr_now ? call->pmu % nr_now : 0;
	union attr event = call->attr;
	int group = pick_group(call);

	event.attr.type = nr_now ? (unsigned int)now[at].type : 0;
	if (call->event % 16 == 0) {
		memset(&event, 0, sizeof(event));
		event.attr.size = sizeof(event.attr);
		event.attr.type = PERF_TYPE_SOFTWARE;
		event.attr.config = PERF_COUNT_SW_DUMMY;
		if (cpus.n)
			group = -1;
	}
	return syscall(SYS_perf_event_open, &event, pick_pid(call), pick_cpu(call, nr_now ? now[at].cpu : 0), group,
		       pick_flags(call));
}

/* What one process of root has opened, and not its children, to be counted when all are gone. */
static void note(const struct call *call)
{
	const struct perf_event_attr *attr = &call->attr.attr;
	/* The kernel takes no more than the size says. */
	const uint64_t config2 = attr->size >= PERF_ATTR_SIZE_VER1 ? attr->config2 : 0;
	const uint64_t config[] = { attr->config, attr->config1, config2 };
	const char *pmu = now[call->pmu % nr_now].name;
	unsigned int n = tally->nr_accepted;

	for (unsigned int i = 0; i < n; i++)
		if (!memcmp(tally->accepted[i].config, config, sizeof(config)) && !strcmp(tally->accepted[i].pmu, pmu))
			return;
	if (n == MAX_ACCEPTED)
		return;
	snprintf(tally->accepted[n].pmu, sizeof(tally->accepted[n].pmu), "%s", pmu);
	memcpy(tally->accepted[n].config, config, sizeof(config));
	tally->nr_accepted++;
}

void write_accepted(void)
{
	FILE *file = fopen(accepted, "w");

	if (!file)
		die("cannot write", accepted);
	for (unsigned int i = 0; i < tally->nr_accepted; i++)
		fprintf(file, "%s:%#" PRIx64 ",%#" PRIx64 ",%#" PRIx64 "\n", tally->accepted[i].pmu,
			tally->accepted[i].config[0], tally->accepted[i].config[1], tally->accepted[i].config[2]);
	if (fclose(file))
		die("cannot write", accepted);
	tally->all_accepted += tally->nr_accepted;
	tally->nr_accepted = 0;
}

void drop(struct slot *slot)
{
	if (slot->map)
		munmap(slot->map, slot->size);
	if (slot->fd >= 0)
		close(slot->fd);
	memset(slot, 0, sizeof(*slot));
	slot->fd = -1;
}

int do_open(const struct call *call)
{
	struct slot *slot = &slots[call->slot];
	static char *names[MAX_PMUS];
	bool member = pick_group(call) >= 0;
	int fd = open_event(call), err = errno;

	/* PMUs have gone, and others may have come. */
	if (fd < 0 && (err == ENOENT || err == ENODEV))
		scan(names);
	errno = err;
	if (fd < 0)
		return -1;
	drop(slot);
	slot->fd = fd;
	slot->pmu = call->event % 16 ? (int)call->pmu : -1;
	if (slot->pmu >= 0 && nr_now && !am_child && !geteuid())
		note(call);
	slot->read_format = call->attr.attr.read_format;
	slot->unsure = member && slot->read_format & PERF_FORMAT_GROUP;
	return 0;
}

int do_close(struct slot *slot)
{
	if (slot->fd < 0) {
		errno = EBADF;
		return -1;
	}
	drop(slot);
	return 0;
}

/*
 * The count is the event's own or, with PERF_FORMAT_GROUP, that of the first of its group. If that one is
 * closed, a member goes on with its own.
 */
int do_read(const struct call *call, struct slot *slot)
{
	uint64_t text[512] = { 0 }, count;
	size_t size = call->kind < 900 ? sizeof(text) : call->arg[0] % 64;
	unsigned int at = 0;
	ssize_t got = read(slot->fd, text, size);

	if (got <= 0)
		return got;
	if (slot->read_format & PERF_FORMAT_GROUP)
		at = 1 + !!(slot->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			!!(slot->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	count = text[at];
	if (slot->pmu < 0)
		return 0;
	if (count >= GARBAGE)
		wrong("an event of %s has %#" PRIx64, pmus[slot->pmu].name, count);
	if (count < slot->last && !slot->unsure)
		wrong("an event of %s went from %" PRIu64 " back to %" PRIu64, pmus[slot->pmu].name,
		      slot->last, count);
	slot->last = count;
	return 0;
}

int do_map(const struct call *call, struct slot *slot)
{
	size_t page = sysconf(_SC_PAGESIZE), size = page * (1 + (1 << call->kind % 4));
	off_t offset = call->kind / 10 % 10 ? 0 : call->arg[0] % 8 * page;
	void *map;

	if (call->kind / 100 == 0)
		size = page * (call->arg[1] % 16);
	if (slot->map) {
		errno = EBUSY;
		return -1;
	}
	map = mmap(NULL, size, PROT_READ | (call->kind & 1 ? PROT_WRITE : 0), MAP_SHARED, slot->fd, offset);
	if (map == MAP_FAILED)
		return -1;
	slot->map = map;
	slot->size = size;
	if (!offset && call->kind & 1) {
		struct perf_event_mmap_page *head = map;

		head->data_tail = call->arg[2] & 1 ? head->data_head : call->arg[2];
		head->aux_size = call->arg[1];
		head->aux_offset = call->arg[2];
	}
	return 0;
}

int do_unmap(struct slot *slot)
{
	if (!slot->map) {
		errno = EINVAL;
		return -1;
	}
	munmap(slot->map, slot->size);
	slot->map = NULL;
	return 0;
}

static int do_query(struct slot *slot)
{
	uint32_t ids[1 + 4] = { 4 };

	return ioctl(slot->fd, PERF_EVENT_IOC_QUERY_BPF, ids);
}

int do_ioctl(struct call *call, struct slot *slot)
{
	static const char *const filters[] = { "", "cpu==0", "filter 0x100/0x200", "id > 1 && (", "%" };
	unsigned long flags = call->kind % 4 ? call->kind / 4 % 2 : call->arg[0];
	int other = call->kind % 4 ? slots[call->other].fd : (int)call->arg[0];

	switch (call->what) {
	case ENABLE: return ioctl(slot->fd, PERF_EVENT_IOC_ENABLE, flags);
	case DISABLE: return ioctl(slot->fd, PERF_EVENT_IOC_DISABLE, flags);
	case RESET:
		/* A group's others are reset as well. */
		for (int i = 0; i < SLOTS; i++)
			slots[i].last = 0;
		/* The parent knows nothing of a child's. */
		return am_child ? 0 : ioctl(slot->fd, PERF_EVENT_IOC_RESET, flags);
	case REFRESH: return ioctl(slot->fd, PERF_EVENT_IOC_REFRESH, (int)call->arg[0]);
	case PERIOD: return ioctl(slot->fd, PERF_EVENT_IOC_PERIOD, &call->arg[0]);
	case OUTPUT: return ioctl(slot->fd, PERF_EVENT_IOC_SET_OUTPUT, other);
	case FILTER: return ioctl(slot->fd, PERF_EVENT_IOC_SET_FILTER, filters[call->kind % 5]);
	case BPF: return ioctl(slot->fd, PERF_EVENT_IOC_SET_BPF, call->kind % 3 ? program : other);
	case ID: return ioctl(slot->fd, PERF_EVENT_IOC_ID, &call->arg[0]);
	case PAUSE: return ioctl(slot->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, flags);
	case QUERY: return do_query(slot);
	case MODIFY: return ioctl(slot->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &call->attr);
	default: return ioctl(slot->fd, _IO('$', 0x40 + call->kind % 64), &call->arg[0]);
	}
}

int do_poll(struct slot *slot)
{
	struct pollfd one = { .fd = slot->fd, .events = POLLIN };

	return poll(&one, 1, 0) < 0 ? -1 : 0;
}
