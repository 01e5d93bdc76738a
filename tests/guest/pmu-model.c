// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pmu-model: talk to the device models from inside the guest.
 *
 *   pmu-model list [DEVICE]
 *   pmu-model add DEVICE EVENT N [INC]
 *   pmu-model stats DEVICE [--reset]
 *   pmu-model set DEVICE KEY VALUE
 *   pmu-model get DEVICE KEY
 *
 * The arguments travel as one line of text to the pmu-ctl PCI function, whose
 * model in tests/models/pmu-ctl.c describes the registers. When the store to
 * the doorbell has been executed the command has taken effect. Answers go to
 * stdout, errors to stderr; the exit status is 0 or 1.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

static const char magic[] = "pmu-ctl1";

static void __attribute__((noreturn, format(printf, 1, 2)))
die(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("pmu-model: ", stderr);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
	va_end(args);
	exit(1);
}

static int open_attribute(const char *device, const char *name, int flags)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), PCI_DEVICES "/%s/%s", device,
		     name) >= (int)sizeof(path))
		die("%s: the path of %s is too long", device, name);
	return open(path, flags);
}

static unsigned long read_attribute(const char *device, const char *name)
{
	int fd = open_attribute(device, name, O_RDONLY);
	char text[32] = "";

	/* A device that is just going away is not the one we look for. */
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return strtoul(text, NULL, 0);
}

static bool is_control(const char *device)
{
	return read_attribute(device, "vendor") == CTL_VENDOR &&
	       read_attribute(device, "device") == CTL_DEVICE;
}

static void enable(const char *device)
{
	int fd;

	/* The count goes up with every write, so look first. */
	if (read_attribute(device, "enable"))
		return;
	fd = open_attribute(device, "enable", O_WRONLY);
	if (fd < 0 || write(fd, "1", 1) != 1)
		die("cannot enable %s: %s", device, strerror(errno));
	close(fd);
}

static volatile uint8_t *map_control(const char *device)
{
	volatile uint8_t *bar;
	int fd, i;

	enable(device);
	fd = open_attribute(device, "resource0", O_RDWR);
	if (fd < 0)
		die("cannot open resource0 of %s: %s", device, strerror(errno));
	/* A command and its answer belong together; callers may be many. */
	if (flock(fd, LOCK_EX))
		die("cannot lock %s: %s", device, strerror(errno));
	bar = mmap(NULL, CTL_BAR_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
		   fd, 0);
	if (bar == MAP_FAILED)
		die("cannot map %s: %s", device, strerror(errno));
	for (i = 0; magic[i]; i++)
		if (bar[CTL_MAGIC + i] != (uint8_t)magic[i])
			die("%s does not speak this program's protocol",
			    device);
	return bar;
}

static volatile uint8_t *find_control(void)
{
	volatile uint8_t *bar = NULL;
	struct dirent *entry;
	DIR *dir = opendir(PCI_DEVICES);

	if (!dir)
		die("cannot read " PCI_DEVICES ": %s (is sysfs mounted?)",
		    strerror(errno));
	while (!bar && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && is_control(entry->d_name))
			bar = map_control(entry->d_name);
	closedir(dir);
	if (!bar)
		die("there is no pmu-ctl device (%04x:%04x) in this machine",
		    CTL_VENDOR, CTL_DEVICE);
	return bar;
}

static void join(char *line, size_t size, int argc, char **argv)
{
	size_t used = 0;
	int i;

	line[0] = '\0';
	for (i = 1; i < argc; i++) {
		size_t len = strlen(argv[i]);

		if (!len || strpbrk(argv[i], " \t\r\n"))
			die("argument %d, '%s', is empty or has blanks in it",
			    i, argv[i]);
		if (used + len + 2 > size)
			die("the command is too long: at most %zu characters",
			    size - 1);
		used += sprintf(line + used, "%s%s", i > 1 ? " " : "", argv[i]);
	}
}

static void run(volatile uint8_t *bar, const char *line)
{
	size_t i = 0;

	do
		bar[CTL_COMMAND + i] = line[i];
	while (line[i++]);
	bar[CTL_DOORBELL] = 1;
}

static uint32_t read_length(volatile uint8_t *bar, size_t reg)
{
	return bar[reg] | bar[reg + 1] << 8 | bar[reg + 2] << 16 |
	       (uint32_t)bar[reg + 3] << 24;
}

/* True: there is more to come. */
static bool print_answer(volatile uint8_t *bar, FILE *out)
{
	uint32_t length = read_length(bar, CTL_LENGTH);
	uint32_t i;

	if (length > CTL_ANSWER_SIZE)
		die("the device says that its answer has %u bytes", length);
	for (i = 0; i < length; i++)
		fputc(bar[CTL_ANSWER + i], out);
	return read_length(bar, CTL_LEFT);
}

int main(int argc, char **argv)
{
	char line[CTL_COMMAND_SIZE];
	volatile uint8_t *bar;
	bool failed;
	FILE *out;

	join(line, sizeof(line), argc, argv);
	bar = find_control();
	run(bar, line);
	failed = bar[CTL_STATUS];
	out = failed ? stderr : stdout;
	if (failed)
		fputs("pmu-model: ", stderr);
	while (print_answer(bar, out))
		run(bar, "more");
	if (fflush(out) || ferror(out))
		die("cannot write the answer: %s", strerror(errno));
	return failed;
}
