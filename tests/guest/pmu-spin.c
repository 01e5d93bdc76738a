// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose profile is known:
 *
 *	pmu-spin SECONDS [HEAVY LIGHT]
 *
 * burns processor time in two functions of the same loop, heavy() and light(), in the ratio
 * HEAVY to LIGHT (3 1), for so many seconds by the clock. Either may be 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUND 10000

/* noipa: or the compiler would see that one is the other. */
#define LOOP(name)						\
	__attribute__((noipa)) static void name(long n)	\
	{							\
		for (volatile long i = 0; i < n; i++)		\
			;					\
	}

LOOP(heavy)
LOOP(light)

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	long heavies = 3, lights = 1;
	double end;

	if (argc == 4) {
		heavies = atol(argv[2]);
		lights = atol(argv[3]);
	} else if (argc != 2) {
		fprintf(stderr, "usage: pmu-spin SECONDS [HEAVY LIGHT]\n");
		return 2;
	}
	for (end = now() + atof(argv[1]); now() < end;) {
		if (heavies)
			heavy(heavies * ROUND);
		if (lights)
			light(lights * ROUND);
	}
	return 0;
}
