// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-fuzz: random calls of perf that are near to what is valid, on PMUs that come and go.
 *
 *   pmu-fuzz [--seed N] [--rounds N] [--calls N] [--device DIRECTORY,NAME]... [--module FILE]...
 *	      [--cpu N]... [--add COMMAND]... [--accepted FILE] [--check COMMAND] [--print] PREFIX...
 *
 * It opens events of all PMUs whose names begin with a PREFIX, from their events/ and format/, with some
 * things changed. In each round two processes make as many calls as --calls says, at once: one of root,
 * one of nobody. Root also switches off and on each --cpu, unbinds and binds each --device of a driver,
 * unloads and loads each --module. COMMANDs of --add are pmu-model's: they make counts. Behind each round
 * everything is put back, and --check, a command of the shell, must not fail: a plain event has to count
 * what the models make. FILE of --accepted has then a line for each config of which an event was accepted in the
 * round: PMU:CONFIG,CONFIG1,CONFIG2, with the name that the PMU had then.
 *
 * The same seed makes the same calls in the same order in each process, whatever they return: the digest
 * at the end is of the calls. --print: print them, and make none.
 *
 * It is a failure if a call fails by an errno that its list lacks, if a count goes back, and if one is
 * such as no counter can have. The kernel is expected to panic by itself where it warns.
 */
#define _GNU_SOURCE	/* program_invocation_short_name, strerrorname_np() */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <libgen.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pmu-attr.h"
#include "pmu-bpf.h"
#include "pmu-ctl.h"

#define MAX_PMUS	64
#define MAX_EVENTS	64	/* of a PMU; a mesh has more, of which these are a part */
#define MAX_FIELDS	32
#define MAX_LIST	16
#define MAX_ERRNO	256
#define MAX_ACCEPTED	1024	/* configs in a round */
#define SLOTS		8
#define NOBODY		65534
#define GARBAGE		(1ULL << 56)	/* no counter gets here in the time of a round */
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

/* What a PMU offers, as it was at first. */
struct pmu {
	char name[64];
	struct { int word, low, bits; } field[MAX_FIELDS];
	union attr event[MAX_EVENTS];
	int fields, events;
};

static struct pmu pmus[MAX_PMUS];
static int nr_pmus;

/* Where they are now: their numbers change when a device is bound again. */
static struct { int type, cpu; char name[64]; } now[MAX_PMUS];
static int nr_now;

struct list {
	char *of[MAX_LIST];
	int n;
};

static struct list prefixes, devices, modules, cpus, adds;
static const char *check, *accepted;
static bool print;
static int program;

enum what {
	OPEN, CLOSE, ENABLE, DISABLE, RESET, REFRESH, PERIOD, OUTPUT, FILTER, BPF, ID, PAUSE, QUERY, MODIFY, ODD,
	READ, MAP, UNMAP, POLL, TASK, AFFINITY, FORK, EXEC, SECCOMP, ADD, CPU, UNBIND, BIND, UNLOAD, WHATS
};

/* Of 1000 calls so many, and the errnos that they may have: Documentation/hostile.md says when. */
static const struct {
	const char *name;
	int share;
	int known[16];
} whats[WHATS] = {
	[OPEN]     = { "open", 327, { EINVAL, EOPNOTSUPP, ENOENT, ENODEV, EACCES, EPERM, EBADF, ESRCH, E2BIG, EBUSY } },
	[CLOSE]    = { "close", 130, { EBADF } },
	[ENABLE]   = { "enable", 60, { EBADF } },
	[DISABLE]  = { "disable", 50, { EBADF } },
	[RESET]    = { "reset", 25, { EBADF } },
	[REFRESH]  = { "refresh", 15, { EBADF, EINVAL } },
	[PERIOD]   = { "period", 20, { EBADF, EINVAL } },
	[OUTPUT]   = { "set_output", 25, { EBADF, EINVAL } },
	[FILTER]   = { "set_filter", 15, { EBADF, EINVAL } },
	[BPF]      = { "set_bpf", 15, { EBADF, EINVAL, EEXIST, EOPNOTSUPP, EPROTO } },
	[ID]       = { "id", 10, { EBADF } },
	[PAUSE]    = { "pause_output", 10, { EBADF, EINVAL } },
	[QUERY]    = { "query_bpf", 10, { EBADF, EINVAL, EPERM, EOPNOTSUPP } },
	[MODIFY]   = { "modify_attributes", 10, { EBADF, EINVAL, EOPNOTSUPP, E2BIG, EFAULT } },
	[ODD]      = { "no ioctl", 5, { EBADF, ENOTTY, EFAULT } },
	[READ]     = { "read", 125, { EBADF, ENOSPC } },
	[MAP]      = { "mmap", 35, { EBADF, EINVAL, EPERM, EACCES, EBUSY } },
	[UNMAP]    = { "munmap", 20, { EINVAL } },
	[POLL]     = { "poll", 10, { 0 } },
	[TASK]     = { "prctl", 10, { 0 } },
	[AFFINITY] = { "sched_setaffinity", 10, { EINVAL } },
	[FORK]     = { "fork", 6, { 0 } },
	[EXEC]     = { "exec", 3, { 0 } },
	[SECCOMP]  = { "seccomp", 3, { 0 } },
	[ADD]      = { "add", 40, { EIO } },
	[CPU]      = { "cpu", 5, { EACCES, EBUSY } },
	[UNBIND]   = { "unbind", 2, { EACCES, ENODEV, ENOENT } },
	[BIND]     = { "bind", 3, { EACCES, ENODEV, EBUSY, ENOENT } },
	[UNLOAD]   = { "unload", 1, { EPERM, EWOULDBLOCK } },
};

/* One call, before anything is known of what others have returned. */
struct call {
	uint32_t what, slot, other, pmu, event, kind;
	uint64_t plain;		/* an event as anybody opens it */
	uint64_t arg[3];
	union attr attr;
};

static struct slot {
	int fd, pmu;
	uint64_t read_format, last;
	bool unsure;		/* its count may go back */
	void *map;
	size_t size;
} slots[SLOTS];

/* What all processes have seen. */
static struct tally {
	unsigned int calls[WHATS], good[WHATS], said[WHATS][MAX_ERRNO];
	uint64_t digest[2];
	struct { char pmu[64]; uint64_t config[3]; } accepted[MAX_ACCEPTED];
	unsigned int nr_accepted, all_accepted;
	char wrong[512];
} *tally;

static uint64_t state;
static bool am_child;

/* splitmix64 */
static uint64_t any(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static bool one_in(unsigned int n)
{
	return !(any() % n);
}

/* One that somebody may have thought of, or not */
static uint64_t any_value(void)
{
	static const uint64_t likely[] = { 0, 1, 2, 3, 0xff, 0x100, 0xffff, 1ULL << 31, 1ULL << 32, 1ULL << 63, ~0ULL };

	if (one_in(2))
		return likely[any() % (sizeof(likely) / sizeof(likely[0]))];
	return any() >> (any() % 64);
}

/* The first reason is kept. */
static void __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!tally->wrong[0])
		vsnprintf(tally->wrong, sizeof(tally->wrong), format, args);
	va_end(args);
}

/* What the PMUs offer. */

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a directory, as they are sorted; returns how many. */
static int names_in(const char *path, char **names, int most)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && n < most && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !strchr(entry->d_name, '.'))
			names[n++] = strdup(entry->d_name);
	if (dir)
		closedir(dir);
	qsort(names, n, sizeof(*names), by_name);
	return n;
}

/* "config1:0-15", "config:3"; of a field in pieces the first */
static bool take_field(struct pmu *pmu, const char *text)
{
	int word = 0, low, high;

	if (pmu->fields == MAX_FIELDS || strncmp(text, "config", 6))
		return false;
	text += 6;
	if (*text != ':')
		word = strtol(text, NULL, 10);
	text = strchr(text, ':');
	if (!text || word > 2)
		return false;
	if (sscanf(text, ":%d-%d", &low, &high) < 2)
		high = low = atoi(text + 1);
	pmu->field[pmu->fields].word = word;
	pmu->field[pmu->fields].low = low;
	pmu->field[pmu->fields++].bits = high - low + 1;
	return true;
}

static void take_pmu(const char *name)
{
	static char *names[4096];
	char path[192], text[ATTR_TEXT];
	struct pmu *pmu = &pmus[nr_pmus++];
	int n;

	snprintf(pmu->name, sizeof(pmu->name), "%s", name);
	snprintf(path, sizeof(path), PMUS "/%s/format", name);
	n = names_in(path, names, 4096);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "format/%s", names[i]);
		if (read_file(name, path, text, sizeof(text)))
			take_field(pmu, text);
	}
	snprintf(path, sizeof(path), PMUS "/%s/events", name);
	n = names_in(path, names, 4096);
	for (int i = 0; i < n && pmu->events < MAX_EVENTS; i++) {
		/* Of many some of each part */
		if (n > MAX_EVENTS && i * MAX_EVENTS / n == (i + 1) * MAX_EVENTS / n)
			continue;
		snprintf(text, sizeof(text), "%s/%s/", name, names[i]);
		parse_event(text, &pmu->event[pmu->events++]);
	}
}

static bool is_ours(const char *name)
{
	for (int i = 0; i < prefixes.n; i++)
		if (!strncmp(name, prefixes.of[i], strlen(prefixes.of[i])))
			return true;
	return false;
}

/* A PMU whose last device has gone while somebody counted has no CPU. */
static int scan(char **names)
{
	char *found[256], text[256];
	int n = names_in(PMUS, found, 256), kept = 0;

	for (int i = 0; i < n; i++) {
		bool has_mask = read_file(found[i], "cpumask", text, sizeof(text));

		if (!is_ours(found[i]) || kept == MAX_PMUS || (has_mask && !*text) ||
		    !read_file(found[i], "type", text, sizeof(text)))
			continue;
		now[kept].type = atoi(text);
		now[kept].cpu = read_file(found[i], "cpumask", text, sizeof(text)) ? atoi(text) : 0;
		snprintf(now[kept].name, sizeof(now[kept].name), "%s", found[i]);
		names[kept++] = found[i];
	}
	nr_now = kept;
	return kept;
}

/* Calls are made up. */

static void any_bits(union attr *event)
{
	struct perf_event_attr *attr = &event->attr;

	/* The word behind sample_type and read_format has all bits of the kind of "disabled". */
	static const int bits = 5;

	switch (any() % 12) {
	case 0: attr->inherit = 1; break;
	case 1: attr->pinned = 1; break;
	case 2: attr->exclusive = 1; break;
	case 3: attr->exclude_user = 1; break;
	case 4: attr->exclude_kernel = 1; break;
	case 5: attr->exclude_hv = 1; break;
	case 6: attr->exclude_idle = 1; break;
	case 7: attr->exclude_host = 1; break;
	case 8: attr->exclude_guest = 1; break;
	case 9: attr->enable_on_exec = 1; break;
	case 10: attr->inherit_stat = 1; break;
	default: event->word[bits] ^= 1ULL << any() % 64;
	}
}

static void any_sampling(struct perf_event_attr *attr)
{
	if (one_in(2))
		attr->sample_period = 1 + any() % 4;
	else
		attr->sample_period = any_value();
	attr->freq = one_in(8);
	if (one_in(2))
		attr->sample_type = any() & any() & 0x1ffffff;
	else if (one_in(8))
		attr->sample_type = any_value();
	if (one_in(8))
		attr->branch_sample_type = any_value();
	if (one_in(8))
		attr->sample_regs_user = any_value();
	if (one_in(8))
		attr->sample_stack_user = any_value();
	if (one_in(8))
		attr->wakeup_events = any_value();
	if (one_in(8))
		attr->aux_watermark = any_value();
	if (one_in(8)) {
		attr->use_clockid = 1;
		attr->clockid = any() % 16;
	}
}

/* A field of the PMU, or any bit */
static void any_config(const struct pmu *pmu, union attr *event)
{
	__u64 *const word[3] = {
		(__u64 *)&event->attr.config, (__u64 *)&event->attr.config1, (__u64 *)&event->attr.config2,
	};
	uint64_t value = any_value(), mask;
	unsigned int f = any() % MAX_FIELDS;

	if (one_in(6) || !pmu->fields) {
		*word[any() % 3] ^= 1ULL << any() % 64;
		return;
	}
	f %= pmu->fields;
	mask = (pmu->field[f].bits == 64 ? ~0ULL : (1ULL << pmu->field[f].bits) - 1) << pmu->field[f].low;
	*word[pmu->field[f].word] &= ~mask;
	*word[pmu->field[f].word] |= (value << pmu->field[f].low) & mask;
}

static void any_attr(const struct pmu *pmu, struct call *call)
{
	union attr *event = &call->attr;

	if (pmu->events && !one_in(8))
		*event = pmu->event[call->event % pmu->events];
	else
		event->attr.size = sizeof(event->attr);
	event->attr.type = 0;
	event->attr.disabled = any() % 2;
	if (call->plain) {
		event->attr.sample_period = !strcmp(pmu->name, "trace_imc");
		event->attr.pinned = one_in(8);
		event->attr.inherit = one_in(8);
		event->attr.read_format = any() % 16;
		return;
	}
	for (unsigned int n = any() % 4; n; n--)
		if (one_in(2))
			any_config(pmu, event);
	if (one_in(3))
		event->attr.read_format = any() % 32;
	else if (one_in(32))
		event->attr.read_format = any_value();
	if (one_in(3))
		any_bits(event);
	/* Only what samples well does so often. */
	if (!strcmp(pmu->name, "trace_imc") ? !one_in(3) : one_in(10))
		any_sampling(&event->attr);
	if (one_in(40))
		event->attr.size = any_value();
	if (one_in(60))
		event->word[any() % ATTR_WORDS] ^= 1ULL << any() % 64;
}

static struct call make(void)
{
	unsigned int share = any() % 1000;
	struct call call;

	memset(&call, 0, sizeof(call));
	while (call.what < WHATS - 1 && share >= (unsigned int)whats[call.what].share)
		share -= whats[call.what++].share;
	call.slot = any() % SLOTS;
	call.other = any() % SLOTS;
	call.pmu = any() % nr_pmus;
	call.event = any();
	call.kind = any() % 1000;
	call.plain = any() % 2;
	for (int i = 0; i < 3; i++)
		call.arg[i] = any_value();
	if (call.what == OPEN || call.what == EXEC || call.what == SECCOMP || call.what == MODIFY)
		any_attr(&pmus[call.pmu], &call);
	return call;
}

static void digest(uint64_t *sum, const struct call *call)
{
	const unsigned char *byte = (const void *)call;

	/* FNV-1a */
	for (size_t i = 0; i < sizeof(*call); i++)
		*sum = (*sum ^ byte[i]) * 0x100000001b3;
}

/* Calls are made. Each returns 0, or -1 and errno. */

static int write_word(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), good, err;

	if (fd < 0)
		return -1;
	good = write(fd, text, strlen(text)) >= 0;
	err = errno;
	close(fd);
	errno = err;
	return good ? 0 : -1;
}

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

/* An event of the kernel's own stands beside ours now and then, as leader or in the group. */
static int open_event(const struct call *call)
{
	unsigned int at = nr_now ? call->pmu % nr_now : 0;
	union attr event = call->attr;

	event.attr.type = nr_now ? (unsigned int)now[at].type : 0;
	if (call->event % 16 == 0) {
		memset(&event, 0, sizeof(event));
		event.attr.size = sizeof(event.attr);
		event.attr.type = PERF_TYPE_SOFTWARE;
		event.attr.config = PERF_COUNT_SW_DUMMY;
	}
	return syscall(SYS_perf_event_open, &event, pick_pid(call), pick_cpu(call, nr_now ? now[at].cpu : 0),
		       pick_group(call), pick_flags(call));
}

/* What one process of root has opened, and not its children, to be counted when all are gone. */
static void note(const struct call *call)
{
	const struct perf_event_attr *attr = &call->attr.attr;
	const uint64_t config[] = { attr->config, attr->config1, attr->config2 };
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

static void write_accepted(void)
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

static void drop(struct slot *slot)
{
	if (slot->map)
		munmap(slot->map, slot->size);
	if (slot->fd >= 0)
		close(slot->fd);
	memset(slot, 0, sizeof(*slot));
	slot->fd = -1;
}

static int do_open(const struct call *call)
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

static int do_close(struct slot *slot)
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
static int do_read(const struct call *call, struct slot *slot)
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

static int do_map(const struct call *call, struct slot *slot)
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

static int do_unmap(struct slot *slot)
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

static int do_ioctl(struct call *call, struct slot *slot)
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

static int do_poll(struct slot *slot)
{
	struct pollfd one = { .fd = slot->fd, .events = POLLIN };

	return poll(&one, 1, 0) < 0 ? -1 : 0;
}

static int do_affinity(const struct call *call)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(call->arg[0] % sysconf(_SC_NPROCESSORS_CONF), &set);
	if (call->kind % 3 == 0)
		memset(&set, 0xff, sizeof(set));
	return sched_setaffinity(0, sizeof(set), &set);
}

static void do_calls(unsigned int n, uint64_t *sum);

/* A child has the events of its parent, inherited or as files, and does calls of its own. */
static int do_fork(const struct call *call)
{
	pid_t child;

	if (am_child)
		return 0;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	child = fork();
	if (child < 0)
		return -1;
	if (!child) {
		am_child = true;
		/* The parent resets events, too. */
		for (int i = 0; i < SLOTS; i++)
			slots[i].unsure = true;
		state ^= call->arg[0];
		do_calls(call->kind % 20, NULL);
		_exit(0);
	}
	if (call->kind & 1)
		waitpid(child, NULL, 0);
	return 0;
}

static int do_exec(struct call *call)
{
	pid_t child = fork();

	if (child < 0)
		return -1;
	if (!child) {
		call->attr.attr.enable_on_exec = 1;
		call->attr.attr.remove_on_exec = call->kind & 1;
		/* Of itself */
		call->plain = 0;
		call->kind = 68;
		open_event(call);
		execl("/bin/busybox", "true", NULL);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	return 0;
}

/* From then on a child may open no event; those that it has are read and closed. */
static int do_seccomp(struct call *call)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = 4, .filter = rules };
	pid_t child = fork();
	int status;

	if (child < 0)
		return -1;
	if (!child) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
			_exit(1);
		if (open_event(call) >= 0 || errno != ENOSYS)
			_exit(2);
		for (int i = 0; i < SLOTS; i++) {
			slots[i].unsure = true;
			do_read(call, &slots[i]);
			drop(&slots[i]);
		}
		_exit(0);
	}
	if (waitpid(child, &status, 0) < 0 || status)
		wrong("who is filtered ended with %#x", status);
	return 0;
}

static struct ctl ctl;

/* Without a word where the model refuses: an engine that is off counts nothing. */
static int do_add(const struct call *call)
{
	char line[256];
	bool refused;

	if (!adds.n || am_child)
		return 0;
	snprintf(line, sizeof(line), "%s %" PRIu64, adds.of[call->kind % adds.n], 1 + call->arg[0] % 65536);
	flock(ctl.fd, LOCK_EX);
	ctl_ring(ctl.bar, line);
	refused = ctl.bar[CTL_STATUS];
	flock(ctl.fd, LOCK_UN);
	errno = EIO;
	return refused ? -1 : 0;
}

static int do_cpu(const struct call *call)
{
	char path[64];

	if (!cpus.n)
		return 0;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%s/online", cpus.of[call->arg[1] % cpus.n]);
	return write_word(path, call->kind & 1 ? "1" : "0");
}

/* "DIRECTORY,NAME" */
static int do_bind(const struct call *call, bool bind)
{
	char path[256], *device, *comma;
	int err;

	/* One after the other, so that what is asked for can be had. */
	if (!devices.n || am_child)
		return 0;
	device = devices.of[call->arg[1] % devices.n];
	comma = strrchr(device, ',');
	snprintf(path, sizeof(path), "%.*s/%s", (int)(comma - device), device, bind ? "bind" : "unbind");
	err = write_word(path, comma + 1);
	return err;
}

static int load(const char *file)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		die("cannot open", file);
	err = syscall(SYS_finit_module, fd, "", 0);
	close(fd);
	return err;
}

/* It is gone for a moment, or there are events or modules that need it. */
static int do_unload(const struct call *call)
{
	const char *file;
	char *copy, *name;
	int err;

	if (!modules.n || am_child)
		return 0;
	file = modules.of[call->kind % modules.n];
	copy = strdup(file);
	name = basename(copy);
	name[strcspn(name, ".")] = '\0';
	err = syscall(SYS_delete_module, name, O_NONBLOCK);
	if (!err && load(file))
		wrong("%s cannot be loaded: %s", file, strerrorname_np(errno));
	free(copy);
	return err;
}

static int do_one(struct call *call)
{
	static char *names[MAX_PMUS];
	struct slot *slot = &slots[call->slot];
	int err;

	switch (call->what) {
	case OPEN: return do_open(call);
	case CLOSE: return do_close(slot);
	case READ: return do_read(call, slot);
	case MAP: return do_map(call, slot);
	case UNMAP: return do_unmap(slot);
	case POLL: return do_poll(slot);
	case TASK: return prctl(call->kind & 1 ? PR_TASK_PERF_EVENTS_ENABLE : PR_TASK_PERF_EVENTS_DISABLE);
	case AFFINITY: return do_affinity(call);
	case FORK: return do_fork(call);
	case EXEC: return do_exec(call);
	case SECCOMP: return do_seccomp(call);
	case ADD: return do_add(call);
	case CPU: return do_cpu(call);
	case UNBIND: return do_bind(call, false);
	case BIND:
	case UNLOAD:
		err = call->what == BIND ? do_bind(call, true) : do_unload(call);
		if (!err)
			scan(names);
		return err;
	default: return do_ioctl(call, slot);
	}
}

static bool is_known(const struct call *call, int err)
{
	for (int i = 0; i < 16 && whats[call->what].known[i]; i++)
		if (whats[call->what].known[i] == err)
			return true;
	return false;
}

static void show(const struct call *call)
{
	printf("%s slot %u, %u; pmu %u event %u kind %u: %#" PRIx64 " %#" PRIx64 " %#" PRIx64 ";",
	       whats[call->what].name, call->slot, call->other, call->pmu, call->event, call->kind, call->arg[0],
	       call->arg[1], call->arg[2]);
	for (int i = 0; i < ATTR_WORDS && call->attr.attr.size; i++)
		printf(" %" PRIx64, (uint64_t)call->attr.word[i]);
	putchar('\n');
}

static void do_calls(unsigned int n, uint64_t *sum)
{
	while (n--) {
		struct call call = make();
		int err;

		if (sum)
			digest(sum, &call);
		if (print) {
			show(&call);
			continue;
		}
		errno = 0;
		err = do_one(&call) < 0 ? errno : 0;
		__atomic_add_fetch(&tally->calls[call.what], 1, __ATOMIC_RELAXED);
		if (!err)
			__atomic_add_fetch(&tally->good[call.what], 1, __ATOMIC_RELAXED);
		else if (err < MAX_ERRNO)
			__atomic_add_fetch(&tally->said[call.what][err], 1, __ATOMIC_RELAXED);
		if (err && !is_known(&call, err))
			wrong("%s, by %s: %s", whats[call.what].name, geteuid() ? "nobody" : "root",
			      strerrorname_np(err) ?: "an errno without a name");
	}
}

static void nothing(int signal)
{
	(void)signal;
}

/* One of the two processes, in one round */
static void work(unsigned int who, uint64_t seed, unsigned int calls)
{
	static const int ignored[] = { SIGTRAP, SIGIO, SIGHUP, SIGUSR1 };
	uint64_t sum = tally->digest[who];

	for (unsigned int i = 0; i < sizeof(ignored) / sizeof(ignored[0]); i++)
		signal(ignored[i], nothing);
	if (!print)
		ctl = ctl_open();
	if (who && setresuid(NOBODY, NOBODY, NOBODY))
		die("cannot be", "nobody");
	for (int i = 0; i < SLOTS; i++)
		slots[i].fd = -1;
	state = seed;
	do_calls(calls, &sum);
	tally->digest[who] = sum;
	fflush(stdout);
	while (wait(NULL) > 0)
		;
	_exit(0);
}

/* As it was before the first round */
static void put_back(void)
{
	struct call all = { .kind = 1 };

	for (int i = 0; i < cpus.n; i++) {
		all.arg[1] = i;
		do_cpu(&all);
	}
	for (int i = 0; i < devices.n; i++) {
		all.arg[1] = i;
		do_bind(&all, true);
	}
	write_word(PARANOID, "1");
}

static void one_round(uint64_t seed, unsigned int calls)
{
	static char *names[MAX_PMUS];
	char level[2] = { '0' + seed % 3, '\0' };
	pid_t child[2];
	int status;

	fflush(stdout);
	if (!print) {
		scan(names);
		write_word(PARANOID, seed >> 8 & 1 ? level : "-1");
	}
	for (unsigned int who = 0; who < 2; who++) {
		child[who] = fork();
		if (child[who] < 0)
			die("cannot", "fork");
		if (!child[who])
			work(who, seed + who, calls);
		/* What is printed is one after the other. */
		if (print)
			waitpid(child[who], &status, 0);
	}
	for (unsigned int who = 0; who < 2 && !print; who++)
		if (waitpid(child[who], &status, 0) < 0 || status)
			wrong("%s ended with %#x", who ? "nobody" : "root", status);
	if (print)
		return;
	put_back();
	if (accepted)
		write_accepted();
	if (check && system(check))
		wrong("the plain events count something else");
}

static void report(uint64_t seed, unsigned int rounds)
{
	unsigned int calls = 0;

	for (int i = 0; i < WHATS; i++)
		calls += tally->calls[i];
	printf("seed %" PRIu64 ": %u rounds, %u calls of %d PMUs, digests %016" PRIx64 " %016" PRIx64 "\n", seed, rounds,
	       calls, nr_pmus, tally->digest[0], tally->digest[1]);
	if (accepted)
		printf("configs accepted: %u\n", tally->all_accepted);
	for (int i = 0; i < WHATS; i++) {
		if (!tally->calls[i])
			continue;
		printf("%s: %u, good %u", whats[i].name, tally->calls[i], tally->good[i]);
		for (int err = 0; err < MAX_ERRNO; err++)
			if (tally->said[i][err])
				printf(", %u %s", tally->said[i][err], strerrorname_np(err));
		putchar('\n');
	}
}

static bool take(struct list *list, char *text)
{
	if (list->n < MAX_LIST)
		list->of[list->n++] = text;
	return list->n < MAX_LIST;
}

struct request {
	uint64_t seed;
	unsigned int rounds, calls;
};

static bool take_options(struct request *request, int argc, char **argv)
{
	static const struct option options[] = {
		{ "seed", required_argument, NULL, 's' }, { "rounds", required_argument, NULL, 'r' },
		{ "calls", required_argument, NULL, 'n' }, { "device", required_argument, NULL, 'd' },
		{ "module", required_argument, NULL, 'm' }, { "cpu", required_argument, NULL, 'c' },
		{ "add", required_argument, NULL, 'a' }, { "check", required_argument, NULL, 'k' },
		{ "print", no_argument, NULL, 'p' }, { "accepted", required_argument, NULL, 'A' }, { 0 },
	};
	bool good = true;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1)
		switch (option) {
		case 's': request->seed = strtoull(optarg, NULL, 0); break;
		case 'r': request->rounds = atoi(optarg); break;
		case 'n': request->calls = atoi(optarg); break;
		case 'd': good &= strchr(optarg, ',') && take(&devices, optarg); break;
		case 'm': good &= take(&modules, optarg); break;
		case 'c': good &= take(&cpus, optarg); break;
		case 'a': good &= take(&adds, optarg); break;
		case 'k': check = optarg; break;
		case 'A': accepted = optarg; break;
		case 'p': print = true; break;
		default: return false;
		}
	while (optind < argc)
		good &= take(&prefixes, argv[optind++]);
	return good && prefixes.n;
}

int main(int argc, char **argv)
{
	static const struct bpf_insn insns[] = {
		INSN(BPF_ALU64 | BPF_MOV | BPF_K, 0, 0, 0, 0), INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	struct request request = { .seed = 1, .rounds = 4, .calls = 1000 };
	static char *names[MAX_PMUS];
	unsigned int round = 0;
	int n;

	if (!take_options(&request, argc, argv))
		return 2;
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (tally == MAP_FAILED)
		die("no memory for", "a tally");
	n = scan(names);
	for (int i = 0; i < n; i++)
		take_pmu(names[i]);
	if (!nr_pmus)
		die("no PMU begins with", prefixes.of[0]);
	program = bpf_load(BPF_PROG_TYPE_PERF_EVENT, insns, 2);
	state = request.seed;
	while (round < request.rounds && !tally->wrong[0]) {
		round++;
		one_round(any(), request.calls);
	}
	if (!print)
		report(request.seed, round);
	if (tally->wrong[0])
		printf("wrong in round %u: %s\n", round, tally->wrong);
	return !!tally->wrong[0];
}
