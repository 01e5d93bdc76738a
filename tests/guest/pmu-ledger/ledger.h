/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of pmu-ledger share.
 */
#ifndef PMU_LEDGER_H
#define PMU_LEDGER_H

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../pmu-attr.h"

#define MAX_SPECS	16
#define MAX_SOURCES	256
#define MAX_OPEN	16
#define MAX_FAULTS	16

/* By the command line: main.c */
extern const char *around;
extern const char *faults[MAX_FAULTS], *sleep_by;
extern int nr_faults;
extern bool late, no_turns, turns;
extern bool stands;	/* a device counts nothing while a group of its events is read */
extern bool moved;	/* others take CPUs offline at any time */
extern int large, most;

/* specs.c */

/* What may be opened, and what it counts. */
struct spec {
	char name[256], pmu[64];
	int box;		/* on which CPU of the PMU's cpumask */
	bool task;		/* of the program itself */
	union attr event;
	int source[MAX_SOURCES], sources;
};

extern struct spec specs[MAX_SPECS];
extern int nr_specs;
extern char *sources[MAX_SOURCES];
extern int nr_sources;

void take_spec(char *text);
int owner(const struct spec *spec);
int cpu_of(int source);

/* program.c */

enum what { OPEN, CLOSE, ENABLE, DISABLE, READ, ADD, BESIDE_READS, OTHERS, MOVE, SLEEP, FAULT, TURN, WHATS };

struct operation {
	enum what what;
	int event, spec, leader;	/* event: or a source, or a fault; leader: -1 for none */
	bool disabled, pinned, whole;
	uint64_t count;
};

extern uint64_t seed_state;

bool makes(enum what what);
struct operation make(int open, bool moves);
void print(const struct operation *op);
unsigned int read_program(const char *name, struct operation *op, unsigned int most);

/* balance.c */

struct event {
	int fd;			/* -1: not open */
	int spec, leader;
	bool enabled, turns;	/* turns: it was not always on while it should have been */
	bool whole;		/* a read is that of its group */
	bool may_fail;		/* it is pinned, or was opened while it moved */
	int owner;		/* its CPU, when it was opened or last checked */
	uint64_t id;
	uint64_t least, made, last;	/* by the ledger: at least, at most; as it was last read */
};

extern struct event events[MAX_OPEN];

struct reading {
	uint64_t count, enabled, running;
};

/* Where an event was, and whether any CPU was on its way, if others make moves. */
struct moment {
	bool moves;
	int owner;
};

/* What was done, in the last run. */
struct tally {
	unsigned int operations, opened, refused, reads, groups, exact, turns, on, off, moves, sleeps, failed, waits, excused;
};

extern struct tally tally;
extern char verdict[512];
extern bool by_move;

bool __attribute__((format(printf, 1, 2))) wrong(const char *format, ...);
bool is_on(const struct event *e);
bool wait_for_moves(void);
struct moment now_of(const struct event *e);
bool may_have_moved(const struct event *e, const struct moment *since);
bool toggle(int n, bool on);
int siblings_of(int n);
bool read_one(const struct event *e, struct reading *reading);
bool check_count(int n, uint64_t count, uint64_t more);
bool check_group(int n, uint64_t (*more)(int n));
bool check(int n);
void forget(int n);
bool has_failed(int n, bool *good);

/* operations.c */

void find_models(void);
bool run(const struct operation *op, unsigned int n);

#endif /* PMU_LEDGER_H */
