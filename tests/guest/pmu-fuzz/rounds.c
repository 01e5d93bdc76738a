// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rounds: two processes make calls at once, and then everything is put back.
 */
#define _GNU_SOURCE	/* program_invocation_short_name, strerrorname_np() */
#include <signal.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "fuzz.h"

#define NOBODY		65534

struct tally *tally;

/* The first reason is kept. */
void __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (!tally->wrong[0])
		vsnprintf(tally->wrong, sizeof(tally->wrong), format, args);
	va_end(args);
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

void do_calls(unsigned int n, uint64_t *sum)
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
		find_models();
	if (who && setresuid(NOBODY, NOBODY, NOBODY))
		die("cannot be", "nobody");
	for (int i = 0; i < SLOTS; i++)
		slots[i].fd = -1;
	seed_state = seed;
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

void one_round(uint64_t seed, unsigned int calls)
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
