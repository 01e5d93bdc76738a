// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the PMUs offer, as it was at first, and where they are now.
 */
#define _GNU_SOURCE	/* program_invocation_short_name, strverscmp() */
#include <dirent.h>

#include "fuzz.h"

struct pmu pmus[MAX_PMUS];
int nr_pmus;
struct now now[MAX_PMUS];
int nr_now;

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

/* Names in a directory, as they are sorted; returns how many. */
static int names_in(const char *path, char **names, int most)
{
	struct dirent *entry;
	DIR *dir = opendir(path);
	int n = 0;

	while (dir && n < most && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' && !strchr(entry->d_name, '.'))
			names[n++] = strdup(entry->d_name);
	if (dir)
		closedir(dir);
	qsort(names, n, sizeof(*names), by_name);
	return n;
}

/* "config1:0-15", "config:3"; of a field in pieces the first */
static bool take_field(struct pmu *pmu, const char *text)
{
	int word = 0, low, high;

	if (pmu->fields == MAX_FIELDS || strncmp(text, "config", 6))
		return false;
	text += 6;
	if (*text != ':')
		word = strtol(text, NULL, 10);
	text = strchr(text, ':');
	if (!text || word > 2)
		return false;
	if (sscanf(text, ":%d-%d", &low, &high) < 2)
		high = low = atoi(text + 1);
	pmu->field[pmu->fields].word = word;
	pmu->field[pmu->fields].low = low;
	pmu->field[pmu->fields++].bits = high - low + 1;
	return true;
}

void take_pmu(const char *name)
{
	static char *names[4096];
	char path[192], text[ATTR_TEXT];
	struct pmu *pmu = &pmus[nr_pmus++];
	int n;

	snprintf(pmu->name, sizeof(pmu->name), "%s", name);
	snprintf(path, sizeof(path), PMUS "/%s/format", name);
	n = names_in(path, names, 4096);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "format/%s", names[i]);
		if (read_file(name, path, text, sizeof(text)))
			take_field(pmu, text);
	}
	snprintf(path, sizeof(path), PMUS "/%s/events", name);
	n = names_in(path, names, 4096);
	for (int i = 0; i < n && pmu->events < MAX_EVENTS; i++) {
		/* Of many some of each part */
		if (n > MAX_EVENTS && i * MAX_EVENTS / n == (i + 1) * MAX_EVENTS / n)
			continue;
		snprintf(text, sizeof(text), "%s/%s/", name, names[i]);
		parse_event(text, &pmu->event[pmu->events++]);
	}
}

static bool is_ours(const char *name)
{
	for (int i = 0; i < prefixes.n; i++)
		if (!strncmp(name, prefixes.of[i], strlen(prefixes.of[i])))
			return true;
	return false;
}

/* A PMU whose last device has gone while somebody counted has no CPU. */
int scan(char **names)
{
	char *found[256], text[256];
	int n = names_in(PMUS, found, 256), kept = 0;

	for (int i = 0; i < n; i++) {
		bool has_mask = read_file(found[i], "cpumask", text, sizeof(text));

		if (!is_ours(found[i]) || kept == MAX_PMUS || (has_mask && !*text) ||
		    !read_file(found[i], "type", text, sizeof(text)))
			continue;
		now[kept].type = atoi(text);
		now[kept].cpu = read_file(found[i], "cpumask", text, sizeof(text)) ? atoi(text) : 0;
		snprintf(now[kept].name, sizeof(now[kept].name), "%s", found[i]);
		names[kept++] = found[i];
	}
	nr_now = kept;
	return kept;
}
