// SPDX-License-Identifier: GPL-2.0-only
/*
 * pmu-ledger: a random program of opens, closes, enables, disables, reads, owners that change and counts
 * of the models, and a ledger of what each event must have.
 *
 *   pmu-ledger [--seed N] [--operations N] [--open N] [--moves] [--no-turns] [--late] [--around COMMAND] EVENT=SOURCE[+SOURCE]...
 *   pmu-ledger --program FILE [--around COMMAND] EVENT=SOURCE[+SOURCE]...
 *
 * pmu-attr.h says what an EVENT is; with "@N" behind it, it is opened on the Nth CPU of the PMU's cpumask, from 0.
 * A SOURCE is DEVICE:NAME, as "pmu-model add" has them. --open: so many events are open at once, 4 unless it says
 * otherwise. --moves: the CPU that the events are on goes offline
 * and comes back. --around: a command of pmu-model before and after each that adds;
 * without anybody who counts that, nothing is added then. --no-turns: all events fit at any time. --late: a device
 * counts some time after it is told to, and what it has counted may be seen only when the event has been disabled.
 *
 * An event must have what its sources made while it and its leader were enabled; if it took turns with
 * others, as it says by its times, no more than that. It never goes back, and a read of its group says the
 * same. If an event has something else, the program is made shorter as long as it fails, and is printed.
 * The exit status is then 1. "--program -" does a program again, which is one operation a line:
 *
 *   open E SPEC [disabled] [pinned] [in LEADER]	E and LEADER are numbers of events, SPEC of EVENT=SOURCE
 *   close E, enable E, disable E, read E
 *   add SOURCE N		the number of a source, in the order of the command line
 *   move E, turn		a few ms pass
 */
#define _GNU_SOURCE	/* program_invocation_short_name, strerrorname_np() */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pmu-attr.h"
#include "pmu-ctl.h"

#define MAX_SPECS	16
#define MAX_SOURCES	256
#define MAX_OPEN	16
#define SHRINK_TRIES	400

/* What may be opened, and what it counts. */
struct spec {
	char name[256], pmu[64];
	int box;		/* on which CPU of the PMU's cpumask */
	union attr event;
	int source[MAX_SOURCES], sources;
};

static struct spec specs[MAX_SPECS];
static int nr_specs;
static char *sources[MAX_SOURCES];
static int nr_sources;
static const char *around;
static bool late, no_turns;
static struct ctl ctl;

enum what { OPEN, CLOSE, ENABLE, DISABLE, READ, ADD, MOVE, TURN, WHATS };

static const char *const words[WHATS] = {
	"open", "close", "enable", "disable", "read", "add", "move", "turn",
};

struct operation {
	enum what what;
	int event, spec, leader;	/* leader: -1 for none */
	bool disabled, pinned;
	uint64_t count;
};

struct event {
	int fd;			/* -1: not open */
	int spec, leader;
	bool enabled, turns;	/* turns: it was not always on while it should have been */
	uint64_t made, last;	/* by the ledger; as it was last read */
};

static struct event events[MAX_OPEN];

/* What was done, in the last run. */
static struct {
	unsigned int operations, opened, refused, reads, exact, turns, moves, failed;
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

static bool has_siblings(int n)
{
	for (int i = 0; i < MAX_OPEN; i++)
		if (events[i].fd >= 0 && events[i].leader == n)
			return true;
	return false;
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

/* An event by itself. In error state, where only a pinned one may be, it has no count. */
static bool read_one(const struct event *e, struct reading *reading)
{
	return read(e->fd, reading, sizeof(*reading)) == sizeof(*reading);
}

static bool check(int n)
{
	struct event *e = &events[n];
	struct reading now;

	if (!read_one(e, &now))
		return wrong("event %d (%s) cannot be read", n, specs[e->spec].name);
	tally.reads++;
	if (now.count < e->last)
		return wrong("event %d (%s) went from %" PRIu64 " back to %" PRIu64, n,
			     specs[e->spec].name, e->last, now.count);
	if (now.count > e->made)
		return wrong("event %d (%s) has %" PRIu64 ", made were %" PRIu64, n,
			     specs[e->spec].name, now.count, e->made);
	e->turns |= now.running != now.enabled;
	if (e->turns && no_turns)
		return wrong("event %d (%s) took turns", n, specs[e->spec].name);
	if (!e->turns && now.count != e->made && !(late && is_on(e)))
		return wrong("event %d (%s) has %" PRIu64 ", made were %" PRIu64 ", and it took no turns",
			     n, specs[e->spec].name, now.count, e->made);
	e->last = now.count;
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

	return leader->fd >= 0 && leader->leader < 0 && its->box == spec->box && !strcmp(its->pmu, spec->pmu);
}

static void do_open(const struct operation *op)
{
	struct event *e = &events[op->event];
	struct spec *spec = &specs[op->spec];
	union attr event = spec->event;
	int leader = op->leader < 0 ? -1 : events[op->leader].fd;

	if (e->fd >= 0 || (op->leader >= 0 && !may_lead(&events[op->leader], spec)))
		return;
	event.attr.disabled = op->disabled;
	event.attr.pinned = op->pinned && leader < 0;
	event.attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
	e->fd = syscall(SYS_perf_event_open, &event, -1, owner(spec), leader, 0);
	if (e->fd < 0) {
		tally.refused++;
		return;
	}
	tally.opened++;
	e->spec = op->spec;
	e->leader = op->leader;
	e->enabled = !op->disabled;
	e->turns = false;
	e->made = e->last = 0;
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

static bool do_add(const struct operation *op)
{
	char line[512];
	bool anybody = false;

	for (int i = 0; i < MAX_OPEN; i++)
		anybody |= counts(&events[i], op->event);
	if (around && !anybody)
		return true;
	/* A mesh that is told to count starts some time later, and a quick guest would add before. */
	if (late)
		sleep_ms(1);
	snprintf(line, sizeof(line), "add %s %" PRIu64, sources[op->event], op->count);
	if ((around && ctl_command(&ctl, around, stdout)) || ctl_command(&ctl, line, stdout) ||
	    (around && ctl_command(&ctl, around, stdout)))
		return wrong("the model refuses: %s", line);
	for (int i = 0; i < MAX_OPEN; i++)
		if (counts(&events[i], op->event))
			events[i].made += op->count;
	return true;
}

static bool do_move(const struct operation *op)
{
	int cpu = owner(&specs[events[op->event].spec]);

	if (cpu < 0 || !set_online(cpu, 0))
		return true;	/* CPU 0 of some machines stays */
	if (!set_online(cpu, 1))
		return wrong("CPU %d does not come back", cpu);
	tally.moves++;
	return true;
}

static bool do_one(const struct operation *op)
{
	tally.operations++;
	if (op->what == OPEN) {
		do_open(op);
		return true;
	}
	if (op->what == ADD)
		return do_add(op);
	if (op->what == TURN) {
		sleep_ms(9);
		return true;
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
		if (has_siblings(op->event))
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
	bool good = true;

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

static void print(const struct operation *op)
{
	printf("%s", words[op->what]);
	if (op->what == ADD)
		printf(" %d %" PRIu64, op->event, op->count);
	else if (op->what != TURN)
		printf(" %d", op->event);
	if (op->what == OPEN) {
		printf(" %d%s%s", op->spec, op->disabled ? " disabled" : "", op->pinned ? " pinned" : "");
		if (op->leader >= 0)
			printf(" in %d", op->leader);
	}
	putchar('\n');
}

/* One that is about to do something: mostly small, now and then about to wrap something. */
static uint64_t any_count(void)
{
	static const unsigned int bits[] = { 1, 4, 8, 12, 15, 16, 17, 20 };
	uint64_t most = 1ULL << bits[any() % 8];

	switch (any() % 4) {
	case 0: return most;
	case 1: return most - 1;
	case 2: return most + 1;
	default: return 1 + any() % most;
	}
}

static struct operation make(int open, bool moves)
{
	/* Of 100. */
	static const int shares[WHATS] = { 20, 16, 8, 7, 13, 32, 1, 3 };
	struct operation op = { .leader = -1, .event = any() % open };
	int share = any() % 100;

	while (share >= shares[op.what])
		share -= shares[op.what++];
	if (op.what == MOVE && !moves)
		op.what = READ;
	if (op.what == ADD) {
		op.event = any() % nr_sources;
		op.count = any_count();
	}
	if (op.what == OPEN) {
		op.spec = any() % nr_specs;
		op.disabled = any() % 3 == 0;
		op.pinned = any() % 4 == 0;
		op.leader = any() % 2 ? -1 : (int)(any() % open);
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
	if (op.what == TURN)
		return op;
	op.event = number(&line);
	if (op.what == ADD)
		op.count = strtoull(line, NULL, 0);
	if (op.what != OPEN)
		return op;
	op.spec = number(&line);
	while ((word = strsep(&line, " "))) {
		op.disabled |= !strcmp(word, "disabled");
		op.pinned |= !strcmp(word, "pinned");
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
		    op[n].event >= (op[n].what == ADD ? nr_sources : MAX_OPEN))
			die("no such event, EVENT=SOURCE or source:", line);
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
		{ "no-turns", no_argument, NULL, 'r' },
		{ "around", required_argument, NULL, 'a' },
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
	printf("seed %" PRIu64 ": %u operations, %u opened, %u refused, %u pinned that found no room, %u moves; %u reads, %u of them to one, %u of events that took turns\n",
	       request.seed, tally.operations, tally.opened, tally.refused, tally.failed, tally.moves,
	       tally.reads, tally.exact, tally.turns);
	return 0;
}
