// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls on the machine: the models make counts, CPUs, devices and modules come and go.
 */
#define _GNU_SOURCE	/* program_invocation_short_name, strerrorname_np(), basename() */
#include <fcntl.h>
#include <libgen.h>
#include <sys/syscall.h>

#include "../pmu-ctl.h"
#include "fuzz.h"

static struct ctl ctl;

void find_models(void)
{
	ctl = ctl_open();
}

int write_word(const char *path, const char *text)
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

/* Without a word where the model refuses: an engine that is off counts nothing. */
int do_add(const struct call *call)
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

int do_cpu(const struct call *call)
{
	char path[64];

	if (!cpus.n)
		return 0;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%s/online", cpus.of[call->arg[1] % cpus.n]);
	return write_word(path, call->kind & 1 ? "1" : "0");
}

/* "DIRECTORY,NAME" */
int do_bind(const struct call *call, bool bind)
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
int do_unload(const struct call *call)
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
