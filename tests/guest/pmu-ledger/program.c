// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs: random ones, and how they are written down.
 */
#define _GNU_SOURCE	/* program_invocation_short_name */
#include "../pmu-random.h"
#include "ledger.h"

static const char *const words[WHATS] = {
	"open", "close", "enable", "disable", "read", "add", "beside", "others", "move", "sleep", "fault", "turn",
};

uint64_t seed_state;

static uint64_t any(void)
{
	return splitmix64(&seed_state);
}

/* Whether it names a source. */
bool makes(enum what what)
{
	return what == ADD || what == BESIDE_READS || what == OTHERS;
}

void print(const struct operation *op)
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

struct operation make(int open, bool moves)
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

unsigned int read_program(const char *name, struct operation *op, unsigned int most)
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
