/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of pmu-fuzz share.
 */
#ifndef PMU_FUZZ_H
#define PMU_FUZZ_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../pmu-attr.h"

#define MAX_PMUS	64
#define MAX_EVENTS	64	/* of a PMU; a mesh has more, of which these are a part */
#define MAX_FIELDS	32
#define MAX_LIST	16
#define MAX_ERRNO	256
#define MAX_ACCEPTED	1024	/* configs in a round */
#define SLOTS		8
#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

/* By the command line: main.c */

struct list {
	char *of[MAX_LIST];
	int n;
};

extern struct list prefixes, devices, modules, cpus, adds;
extern const char *check, *accepted;
extern bool print;

/* pmus.c */

/* What a PMU offers, as it was at first. */
struct pmu {
	char name[64];
	struct { int word, low, bits; } field[MAX_FIELDS];
	union attr event[MAX_EVENTS];
	int fields, events;
};

extern struct pmu pmus[MAX_PMUS];
extern int nr_pmus;

/* Where they are now: their numbers change when a device is bound again. */
struct now {
	int type, cpu;
	char name[64];
};

extern struct now now[MAX_PMUS];
extern int nr_now;

void take_pmu(const char *name);
int scan(char **names);

/* calls.c */

enum what {
	OPEN, CLOSE, ENABLE, DISABLE, RESET, REFRESH, PERIOD, OUTPUT, FILTER, BPF, ID, PAUSE, QUERY, MODIFY, ODD,
	READ, MAP, UNMAP, POLL, TASK, AFFINITY, FORK, EXEC, SECCOMP, ADD, CPU, UNBIND, BIND, UNLOAD, WHATS
};

struct kind_of_call {
	const char *name;
	int share;
	int known[16];
};

extern const struct kind_of_call whats[WHATS];

/* One call, before anything is known of what others have returned. */
struct call {
	uint32_t what, slot, other, pmu, event, kind;
	uint64_t plain;		/* an event as anybody opens it */
	uint64_t arg[3];
	union attr attr;
};

extern uint64_t seed_state;

struct call make(void);
void digest(uint64_t *sum, const struct call *call);
void show(const struct call *call);

/* events.c: each call returns 0, or -1 and errno. */

/* An event that this process has open */
struct slot {
	int fd, pmu;
	uint64_t read_format, last;
	bool unsure;		/* its count may go back */
	void *map;
	size_t size;
};

extern struct slot slots[SLOTS];
extern int program;

int open_event(const struct call *call);
void drop(struct slot *slot);
void write_accepted(void);
int do_open(const struct call *call);
int do_close(struct slot *slot);
int do_read(const struct call *call, struct slot *slot);
int do_map(const struct call *call, struct slot *slot);
int do_unmap(struct slot *slot);
int do_ioctl(struct call *call, struct slot *slot);
int do_poll(struct slot *slot);

/* processes.c */

extern bool am_child;

int do_affinity(const struct call *call);
int do_fork(const struct call *call);
int do_exec(struct call *call);
int do_seccomp(struct call *call);

/* machine.c */

void find_models(void);
int write_word(const char *path, const char *text);
int do_add(const struct call *call);
int do_cpu(const struct call *call);
int do_bind(const struct call *call, bool bind);
int do_unload(const struct call *call);

/* rounds.c */

/* What all processes have seen. */
struct tally {
	unsigned int calls[WHATS], good[WHATS], said[WHATS][MAX_ERRNO];
	uint64_t digest[2];
	struct { char pmu[64]; uint64_t config[3]; } accepted[MAX_ACCEPTED];
	unsigned int nr_accepted, all_accepted;
	char wrong[512];
};

extern struct tally *tally;

void __attribute__((format(printf, 1, 2))) wrong(const char *format, ...);
void do_calls(unsigned int n, uint64_t *sum);
void one_round(uint64_t seed, unsigned int calls);

#endif /* PMU_FUZZ_H */
