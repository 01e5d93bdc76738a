// SPDX-License-Identifier: GPL-2.0-only
/*
 * An event that fails while it is being closed, so that whoever lets it fail is the last to use it:
 *
 *	pmu-late EVENT COMMAND
 *
 * opens EVENT (pmu-attr.h) twice. A read of the second holds the lock of their context until a page
 * of memory is there, which this program itself supplies (userfaultfd). Meanwhile the first is
 * closed, and COMMAND takes the device away. Prints what a read says afterwards: "error" for an event
 * in error state, or its count.
 */
#define _GNU_SOURCE	/* program_invocation_short_name */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "pmu-attr.h"

static int closed, read_late;		/* events */
static uint64_t *late;			/* the page that is not there */
static long count = -1;
static pid_t closer;

static int open_event(union attr *event)
{
	int fd = syscall(SYS_perf_event_open, event, -1, 0, -1, 0);

	if (fd < 0)
		die("cannot open an event:", strerror(errno));
	return fd;
}

static void *read_it(void *unused)
{
	(void)unused;
	if (read(read_late, late, sizeof(*late)) == sizeof(*late))
		count = *late;
	return NULL;
}

static void *close_it(void *unused)
{
	(void)unused;
	__atomic_store_n(&closer, gettid(), __ATOMIC_RELEASE);
	close(closed);
	return NULL;
}

static pthread_t begin(void *(*function)(void *))
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, function, NULL))
		die("cannot have", "a thread");
	return thread;
}

/* A lock of the kernel is waited for in state D. */
static bool waits(pid_t tid)
{
	char path[64], state = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
		state = 0;
	fclose(file);
	return state == 'D';
}

static int watch(long size)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register area = {
		.range = { .start = (uintptr_t)late, .len = size },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};
	/* One that blocks cannot be polled. */
	int fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		die("no userfaultfd:", strerror(errno));
	if (ioctl(fd, UFFDIO_API, &api) || ioctl(fd, UFFDIO_REGISTER, &area))
		die("cannot watch", "a page");
	return fd;
}

int main(int argc, char **argv)
{
	long size = sysconf(_SC_PAGESIZE);
	struct uffdio_zeropage zero;
	struct pollfd fault;
	pthread_t thread[2];
	union attr event;

	if (argc != 3)
		die("use:", "EVENT COMMAND");
	parse_event(argv[1], &event);
	closed = open_event(&event);
	read_late = open_event(&event);
	late = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (late == MAP_FAILED)
		die("cannot have", "a page");
	fault.fd = watch(size);
	fault.events = POLLIN;
	thread[0] = begin(read_it);
	if (poll(&fault, 1, 60000) != 1 || fault.revents != POLLIN)
		die("nobody reads", argv[1]);
	thread[1] = begin(close_it);
	for (int i = 0; !__atomic_load_n(&closer, __ATOMIC_ACQUIRE) || !waits(closer); i++) {
		if (i == 60000)
			die("nobody waits for", "the lock");
		usleep(1000);
	}
	if (system(argv[2]))
		die("failed:", argv[2]);
	/* Time for who lets events fail to come for the lock, too */
	usleep(300000);
	zero = (struct uffdio_zeropage){ .range = { .start = (uintptr_t)late, .len = size } };
	if (ioctl(fault.fd, UFFDIO_ZEROPAGE, &zero))
		die("cannot supply", "a page");
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	/* It may have waited for the lock behind the first. */
	for (int i = 0; i < 600 && count >= 0; i++) {
		usleep(100000);
		count = -1;
		read_it(NULL);
	}
	if (count < 0)
		puts("error");
	else
		printf("%ld\n", count);
	return 0;
}
