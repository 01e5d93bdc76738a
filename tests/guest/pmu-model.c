// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pmu-model: talk to the device models from inside the guest.
 *
 *   pmu-model list [DEVICE]
 *   pmu-model add DEVICE EVENT N [INC]
 *   pmu-model stats DEVICE [--reset]
 *   pmu-model set DEVICE KEY VALUE
 *   pmu-model get DEVICE KEY
 *   pmu-model wait DEVICE KEY VALUE
 *   pmu-model -				commands from stdin, one a line
 *
 * A command has taken effect when the program ends, and with "-" when the next begins; what
 * was refused ends the program. Answers go to stdout, errors to stderr; the exit status is 0
 * or 1.
 */
#define _GNU_SOURCE	/* program_invocation_short_name */
#include "pmu-ctl.h"

static void join(char *line, size_t size, int argc, char **argv)
{
	size_t used = 0;
	int i;

	line[0] = '\0';
	for (i = 1; i < argc; i++) {
		size_t len = strlen(argv[i]);

		if (!len || strpbrk(argv[i], " \t\r\n"))
			ctl_die("argument %d, '%s', is empty or has blanks in it",
			    i, argv[i]);
		if (used + len + 2 > size)
			ctl_die("the command is too long: at most %zu characters",
			    size - 1);
		used += sprintf(line + used, "%s%s", i > 1 ? " " : "", argv[i]);
	}
}

static bool run_lines(const struct ctl *ctl, FILE *in)
{
	char line[CTL_COMMAND_SIZE];

	while (fgets(line, sizeof(line), in)) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && ctl_command(ctl, line, stdout))
			return true;
	}
	return false;
}

int main(int argc, char **argv)
{
	char line[CTL_COMMAND_SIZE];
	struct ctl ctl;
	bool failed;

	join(line, sizeof(line), argc, argv);
	ctl = ctl_open();
	failed = strcmp(line, "-") ? ctl_command(&ctl, line, stdout) : run_lines(&ctl, stdin);
	if (fflush(stdout) || ferror(stdout))
		ctl_die("cannot write the answer: %s", strerror(errno));
	return failed;
}
