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
#include <getopt.h>
#include <sys/mman.h>

#include "../pmu-bpf.h"
#include "../pmu-random.h"
#include "fuzz.h"

struct list prefixes, devices, modules, cpus, adds;
const char *check, *accepted;
bool print;

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
	uint64_t state;
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
		one_round(splitmix64(&state), request.calls);
	}
	if (!print)
		report(request.seed, round);
	if (tally->wrong[0])
		printf("wrong in round %u: %s\n", round, tally->wrong);
	return !!tally->wrong[0];
}
