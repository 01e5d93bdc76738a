// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-ledger: a random program of opens, closes, enables, disables, reads, owners that change, sleeps, faults
 * and counts of the models, and a ledger of what each event must have.
 *
 *   pmu-ledger [--seed N] [--operations N] [--open N] [--moves] [--no-turns | --turns] [--most N] [--late] [--large BITS]
 *	      [--stands] [--moved] [--around COMMAND] [--fault COMMAND]... [--sleep COMMAND] EVENT=SOURCE[+SOURCE]...
 *   pmu-ledger --program FILE [OPTION]... EVENT=SOURCE[+SOURCE]...
 *
 * pmu-attr.h says what an EVENT is; with "@N" behind it, it is opened on the Nth CPU of the PMU's cpumask, from 0,
 * with "@task" for the program itself. A SOURCE is DEVICE:NAME, as "pmu-model add" has them; those of a task are
 * made by the CPU N of a DEVICE threadN@0.
 *
 * --open: so many events are open at once, 4 unless it says otherwise. --moves: the CPU that the events are on goes
 * offline and comes back. --around: a command of pmu-model before and after each that adds; without anybody who counts
 * that, nothing is added then. --no-turns: all events fit at any time. --turns: they do not, so what is made is made
 * on their CPU. --most: no group of more than N events fits. --late: a device counts some time after it is told to,
 * and what it has counted may be seen only when the event has been disabled. --large: some counts are of so many bits,
 * so that halves of counters carry, and counters overflow. --fault: commands of pmu-model that must not matter, at any
 * time; the first one also before each program. --sleep: a command of the shell that puts the machine to sleep until
 * it wakes up. --stands: to read a group stops the device, so nobody adds meanwhile. So does an overflow, so with
 * --large what is made is made on the events' CPU. --moved: others take CPUs offline at any time. Then rule 5 of
 * Documentation/design.md leaves some things for the end of a move, which is waited for after an event is opened or
 * switched, and before a count that is too low, or cannot be read, is called wrong. perf switches on what it moves, so
 * with --moved an event that is disabled is enabled at once, and otherwise one that was off is disabled again after a move.
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
#define _GNU_SOURCE	/* program_invocation_short_name */
#include <getopt.h>
#include <time.h>

#include "ledger.h"

#define SHRINK_TRIES	400
#define SHRINK_SECONDS	90	/* A program of moves takes seconds, and who waits for the verdict has minutes. */

const char *around;
const char *faults[MAX_FAULTS], *sleep_by;
int nr_faults;
bool late, no_turns, turns, stands, moved;
int large, most;

/* Leave out what can be left out, larger pieces first. */
static unsigned int shrink(struct operation *op, unsigned int n)
{
	struct operation *tried = calloc(n, sizeof(*tried));
	time_t end = time(NULL) + SHRINK_SECONDS;
	unsigned int tries = 0;

	if (!tried)
		die("no memory for", "a shorter program");
	for (unsigned int piece = n / 2; piece; piece /= 2)
		for (unsigned int at = 0; at + piece <= n && tries < SHRINK_TRIES && time(NULL) < end; tries++) {
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
		{ "no-turns", no_argument, NULL, 'r' }, { "turns", no_argument, NULL, 'T' }, { "large", required_argument, NULL, 'L' },
		{ "most", required_argument, NULL, 'M' },
		{ "around", required_argument, NULL, 'a' }, { "fault", required_argument, NULL, 'f' },
		{ "sleep", required_argument, NULL, 'S' }, { "stands", no_argument, NULL, 't' },
		{ "moved", no_argument, NULL, 'd' },
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
		case 'T': turns = true; break;
		case 'l': late = true; break;
		case 'M': most = atoi(optarg); break;
		case 'L': large = atoi(optarg); break;
		case 'S': sleep_by = optarg; break;
		case 't': stands = true; break;
		case 'd': moved = true; break;
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

/* In the kernel's log as well, which is there even if this takes longer than the machine has. */
static void tell_the_kernel(void)
{
	FILE *log = fopen("/dev/kmsg", "w");

	if (!log)
		return;
	fprintf(log, "<6>pmu-ledger: wrong: %s\n", verdict);
	fclose(log);
}

static int report(struct operation *op, unsigned int n)
{
	printf("wrong: %s\n", verdict);
	tell_the_kernel();
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
	find_models();
	op = calloc(request.operations, sizeof(*op));
	if (!op)
		die("no memory for", "so many operations");
	seed_state = request.seed;
	if (request.program)
		n = read_program(request.program, op, request.operations);
	else
		for (n = 0; n < request.operations; n++)
			op[n] = make(request.open, request.moves);
	if (!run(op, n))
		return report(op, n);
	printf("seed %" PRIu64 ": %u operations, %u opened, %u refused, %u pinned that found no room, %u moves, %u sleeps; %u reads and %u of groups, %u to one, %u of events that took turns, for which %u times something was made while they were on, %u while they were off; %u times a CPU on its way was waited for, and %u reads made again\n",
	       request.seed, tally.operations, tally.opened, tally.refused, tally.failed, tally.moves, tally.sleeps,
	       tally.reads, tally.groups, tally.exact, tally.turns, tally.on, tally.off, tally.waits, tally.excused);
	return 0;
}
