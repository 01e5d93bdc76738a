// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls on processes: children with the events of their parent, execs, filters of system calls, CPUs to run on.
 */
#define _GNU_SOURCE	/* program_invocation_short_name, CPU_SET() */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "fuzz.h"

bool am_child;

int do_affinity(const struct call *call)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(call->arg[0] % sysconf(_SC_NPROCESSORS_CONF), &set);
	if (call->kind % 3 == 0)
		memset(&set, 0xff, sizeof(set));
	return sched_setaffinity(0, sizeof(set), &set);
}

/* A child has the events of its parent, inherited or as files, and does calls of its own. */
int do_fork(const struct call *call)
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
		seed_state ^= call->arg[0];
		do_calls(call->kind % 20, NULL);
		_exit(0);
	}
	if (call->kind & 1)
		waitpid(child, NULL, 0);
	return 0;
}

int do_exec(struct call *call)
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

/* How a child tells that its kernel has no such filters */
#define CANNOT_FILTER	3

/* From then on a child may open no event; those that it has are read and closed. */
int do_seccomp(struct call *call)
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
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
			_exit(1);
		if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
			_exit(errno == EINVAL ? CANNOT_FILTER : 1);
		if (open_event(call) >= 0 || errno != ENOSYS)
			_exit(2);
		for (int i = 0; i < SLOTS; i++) {
			slots[i].unsure = true;
			do_read(call, &slots[i]);
			drop(&slots[i]);
		}
		_exit(0);
	}
	if (waitpid(child, &status, 0) < 0)
		return -1;
	if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_FILTER) {
		errno = EINVAL;
		return -1;
	}
	if (status)
		wrong("who is filtered ended with %#x", status);
	return 0;
}
