/* SPDX-License-Identifier: GPL-2.0-only */
/* How the guests' programs time what they do. */
#ifndef PMU_TIME_H
#define PMU_TIME_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

static inline uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Of @n times: the host may do something else meanwhile, but not most of the time. Sorts them. */
static uint64_t lower_quartile(uint64_t *took, int n)
{
	qsort(took, n, sizeof(*took), by_size);
	return took[n / 4];
}

#endif
