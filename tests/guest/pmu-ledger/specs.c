// SPDX-License-Identifier: GPL-2.0-only
/*
 * What may be opened, and the sources that make what it counts.
 */
#define _GNU_SOURCE	/* program_invocation_short_name */
#include "ledger.h"

struct spec specs[MAX_SPECS];
int nr_specs;
char *sources[MAX_SOURCES];
int nr_sources;

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
void take_spec(char *text)
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
		spec->task = !strcmp(at + 1, "task");
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

/* The CPU that an event is to be opened on, or -1. A cpumask has no ranges, but where CPUs are neighbours. */
int owner(const struct spec *spec)
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

/* The CPU that makes what a task is to count: "thread1@0 0x798"; or -1. */
int cpu_of(int source)
{
	return strncmp(sources[source], "thread", 6) ? -1 : atoi(sources[source] + 6);
}
