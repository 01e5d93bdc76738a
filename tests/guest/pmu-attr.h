/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How the guests' programs name an event: PMU:CONFIG[,CONFIG1[,...]], up to config4, or
 * PMU/TERM[,TERM]/ as perf has it: names of the PMU's events/ and fields of its format/.
 */
#ifndef PMU_ATTR_H
#define PMU_ATTR_H

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PMUS		"/sys/bus/event_source/devices"
#define ATTR_TEXT	4096

static inline void die(const char *what, const char *which)
{
	fprintf(stderr, "%s: %s %s\n", program_invocation_short_name, what, which);
	exit(2);
}

/* The first line of a PMU's file, if there is that: PMU[/DIRECTORY]/NAME */
static inline int read_file(const char *pmu, const char *name, char *text, size_t size)
{
	char path[256];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), PMUS "/%s/%s", pmu, name);
	file = fopen(path, "r");
	if (!file)
		return 0;
	found = !!fgets(text, size, file);
	fclose(file);
	text[found ? strcspn(text, "\n") : 0] = '\0';
	return found;
}

/* The number that the kernel gave the PMU. */
static int pmu_type(const char *pmu)
{
	char text[32];

	if (!read_file(pmu, "type", text, sizeof(text)))
		die("no such PMU:", pmu);
	return atoi(text);
}

#define CONFIG3		16
#define ATTR_WORDS	18

/* With words that the compiler's headers may not have yet: config3 and config4 are the last. */
union attr {
	struct perf_event_attr attr;
	__u64 word[ATTR_WORDS];
};

/* "0x304", with more words behind it */
static void parse_config(char *config, union attr *event)
{
	struct perf_event_attr *attr = &event->attr;
	char *end;

	attr->config = strtoull(config, &end, 0);
	if (*end == ',')
		attr->config1 = strtoull(end + 1, &end, 0);
	if (*end == ',')
		attr->config2 = strtoull(end + 1, &end, 0);
	for (int word = CONFIG3; *end == ',' && word < ATTR_WORDS; word++) {
		event->word[word] = strtoull(end + 1, &end, 0);
		attr->size = sizeof(event->word);
	}
	if (*end)
		die("not a number:", config);
}

/* The bits of a field that has @value: @ranges is "0-15", one bit, or several of these: "8-15,32-55" */
static uint64_t field_bits(const char *ranges, uint64_t value)
{
	uint64_t bits = 0;

	for (const char *at = ranges; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
		int low, high;

		if (sscanf(at, "%d-%d", &low, &high) < 2)
			high = low = atoi(at);
		bits |= (value & (~0ULL >> (63 - (high - low)))) << low;
		value = high - low == 63 ? 0 : value >> (high - low + 1);
	}
	if (value)
		die("the value is too large for the field:", ranges);
	return bits;
}

/* @place is "config1:0-15" */
static void set_field(char *place, uint64_t value, struct perf_event_attr *attr)
{
	char *ranges = strchr(place, ':');
	uint64_t bits;

	if (!ranges)
		die("not a place of a field:", place);
	*ranges++ = '\0';
	bits = field_bits(ranges, value);
	if (!strcmp(place, "config"))
		attr->config |= bits;
	else if (!strcmp(place, "config1"))
		attr->config1 |= bits;
	else if (!strcmp(place, "config2"))
		attr->config2 |= bits;
	else
		die("no word of an event:", place);
}

/* "hnf_mc_reqs,bynodeid=1,nodeid=0x24" */
static void parse_terms(const char *pmu, char *terms, struct perf_event_attr *attr)
{
	char name[128], text[ATTR_TEXT];

	for (char *term; (term = strsep(&terms, ","));) {
		char *value = strchr(term, '=');

		if (value)
			*value++ = '\0';
		snprintf(name, sizeof(name), "format/%s", term);
		if (read_file(pmu, name, text, sizeof(text))) {
			/* In events/, "nodeid=?" is for the user to say. */
			if (!value || *value != '?')
				set_field(text, value ? strtoull(value, NULL, 0) : 1, attr);
			continue;
		}
		snprintf(name, sizeof(name), "events/%s", term);
		if (value || !read_file(pmu, name, text, sizeof(text)))
			die("neither an event nor a field of the PMU:", term);
		parse_terms(pmu, text, attr);
	}
}

/* "uncore_imc_0:0x304", "arm_cmn_0/hnf_cache_miss/" */
static inline void parse_event(char *text, union attr *event)
{
	struct perf_event_attr *attr = &event->attr;
	char *rest = strpbrk(text, ":/"), by;

	if (!rest)
		die("neither PMU:CONFIG nor PMU/TERMS/:", text);
	by = *rest;
	*rest++ = '\0';
	memset(event, 0, sizeof(*event));
	attr->size = sizeof(*attr);
	attr->type = pmu_type(text);
	if (by == ':') {
		parse_config(rest, event);
		return;
	}
	if (!*rest || rest[strlen(rest) - 1] != '/')
		die("no / at the end:", rest);
	rest[strlen(rest) - 1] = '\0';
	parse_terms(text, rest, attr);
}

#endif /* PMU_ATTR_H */
