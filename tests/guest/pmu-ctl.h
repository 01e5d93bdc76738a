/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The device models' control device, for the guests' programs: a command is a line of text
 * to the pmu-ctl PCI function, whose model in tests/models/common/pmu-ctl.c describes the
 * registers. When the store to the doorbell has been executed the command has taken effect.
 *
 *   list, add, stats, set, get	as the models have them (Documentation/models.md)
 *   wait DEVICE KEY VALUE	until the key has the value, which is asked for again and again
 */
#ifndef PMU_CTL_H
#define PMU_CTL_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#define PCI_DEVICES	"/sys/bus/pci/devices"
#define CTL_VENDOR	0x1b36
#define CTL_DEVICE	0x50c7

#define CTL_BAR_SIZE	0x4000
#define CTL_MAGIC	0x0000
#define CTL_DOORBELL	0x0008
#define CTL_STATUS	0x0009
#define CTL_LENGTH	0x000c
#define CTL_LEFT	0x0010
#define CTL_COMMAND	0x1000
#define CTL_COMMAND_SIZE 0x1000
#define CTL_ANSWER	0x2000
#define CTL_ANSWER_SIZE	0x2000

struct ctl {
	int fd;				/* of the BAR; locked for a command and its answer */
	volatile uint8_t *bar;
};

static const char ctl_magic[] = "pmu-ctl1";

static void __attribute__((noreturn, format(printf, 1, 2)))
ctl_die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fprintf(stderr, "%s: ", program_invocation_short_name);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static int ctl_open_attribute(const char *device, const char *name, int flags)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), PCI_DEVICES "/%s/%s", device,
		     name) >= (int)sizeof(path))
		ctl_die("%s: the path of %s is too long", device, name);
	return open(path, flags);
}

static unsigned long ctl_read_attribute(const char *device, const char *name)
{
	int fd = ctl_open_attribute(device, name, O_RDONLY);
	char text[32] = "";

	/* A device that is just going away is not the one we look for. */
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtoul(text, NULL, 0);
}

static bool ctl_is(const char *device)
{
	return ctl_read_attribute(device, "vendor") == CTL_VENDOR &&
	       ctl_read_attribute(device, "device") == CTL_DEVICE;
}

static void ctl_enable(const char *device)
{
	int fd;

	/* The count goes up with every write, so look first. */
	if (ctl_read_attribute(device, "enable"))
		return;
	fd = ctl_open_attribute(device, "enable", O_WRONLY);
	if (fd < 0 || write(fd, "1", 1) != 1)
		ctl_die("cannot enable %s: %s", device, strerror(errno));
	close(fd);
}

static struct ctl ctl_map(const char *device)
{
	struct ctl ctl;
	int i;

	ctl_enable(device);
	ctl.fd = ctl_open_attribute(device, "resource0", O_RDWR | O_CLOEXEC);
	if (ctl.fd < 0)
		ctl_die("cannot open resource0 of %s: %s", device, strerror(errno));
	ctl.bar = mmap(NULL, CTL_BAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		       ctl.fd, 0);
	if (ctl.bar == MAP_FAILED)
		ctl_die("cannot map %s: %s", device, strerror(errno));
	for (i = 0; ctl_magic[i]; i++)
		if (ctl.bar[CTL_MAGIC + i] != (uint8_t)ctl_magic[i])
			ctl_die("%s does not speak this program's protocol",
				device);
	return ctl;
}

static struct ctl ctl_open(void)
{
	struct dirent *entry;
	DIR *dir = opendir(PCI_DEVICES);

	if (!dir)
		ctl_die("cannot read " PCI_DEVICES ": %s (is sysfs mounted?)",
			strerror(errno));
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] != '.' && ctl_is(entry->d_name)) {
			struct ctl ctl = ctl_map(entry->d_name);

			closedir(dir);
			return ctl;
		}
	}
	ctl_die("there is no pmu-ctl device (%04x:%04x) in this machine",
		CTL_VENDOR, CTL_DEVICE);
}

static void ctl_ring(volatile uint8_t *bar, const char *line)
{
	size_t i = 0;

	do
		bar[CTL_COMMAND + i] = line[i];
	while (line[i++]);
	bar[CTL_DOORBELL] = 1;
}

static uint32_t ctl_length(volatile uint8_t *bar, size_t reg)
{
	return bar[reg] | bar[reg + 1] << 8 | bar[reg + 2] << 16 |
	       (uint32_t)bar[reg + 3] << 24;
}

/* True: there is more to come. */
static bool ctl_print(volatile uint8_t *bar, FILE *out)
{
	uint32_t length = ctl_length(bar, CTL_LENGTH);
	uint32_t i;

	if (length > CTL_ANSWER_SIZE)
		ctl_die("the device says that its answer has %u bytes", length);
	for (i = 0; i < length; i++)
		fputc(bar[CTL_ANSWER + i], out);
	return ctl_length(bar, CTL_LEFT);
}

/* One command at a time, of all programs; the answer goes to @out. True: it was refused. */
static bool ctl_run(const struct ctl *ctl, const char *line, FILE *out)
{
	bool refused;

	if (strlen(line) >= CTL_COMMAND_SIZE)
		ctl_die("the command is too long: at most %d characters",
			CTL_COMMAND_SIZE - 1);
	if (flock(ctl->fd, LOCK_EX))
		ctl_die("cannot lock the control device: %s", strerror(errno));
	ctl_ring(ctl->bar, line);
	refused = ctl->bar[CTL_STATUS];
	if (refused) {
		out = stderr;
		fprintf(stderr, "%s: ", program_invocation_short_name);
	}
	while (ctl_print(ctl->bar, out))
		ctl_ring(ctl->bar, "more");
	flock(ctl->fd, LOCK_UN);
	return refused;
}

/* "DEVICE KEY VALUE" */
static bool ctl_wait(const struct ctl *ctl, const char *what)
{
	char line[CTL_COMMAND_SIZE], device[64], key[64];
	unsigned long long value, now;

	if (sscanf(what, "%63s %63s %lli", device, key, (long long *)&value) != 3)
		ctl_die("use: wait DEVICE KEY VALUE");
	snprintf(line, sizeof(line), "get %s %s", device, key);
	do {
		char *answer = NULL;
		size_t size;
		FILE *out = open_memstream(&answer, &size);
		bool refused;

		if (!out)
			ctl_die("out of memory");
		refused = ctl_run(ctl, line, out);
		fclose(out);
		now = strtoull(answer, NULL, 10);
		free(answer);
		if (refused)
			return true;
		sched_yield();
	} while (now != value);
	return false;
}

/* What pmu-model does: a command of the models, or "wait". True: it was refused. */
static inline bool ctl_command(const struct ctl *ctl, const char *line, FILE *out)
{
	if (!strncmp(line, "wait ", 5))
		return ctl_wait(ctl, line + 5);
	return ctl_run(ctl, line, out);
}

#endif /* PMU_CTL_H */
