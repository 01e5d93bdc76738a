// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose profile is known:
 *
 *	pmu-spin SECONDS [HEAVY LIGHT]
 *	pmu-spin rounds N [HEAVY LIGHT]
 *
 * burns processor time in two functions of the same loop, heavy() and light(), in the ratio
 * HEAVY to LIGHT (3 1), for so many seconds by the clock, or so many rounds. A round is 10000
 * passes of the loop times HEAVY, and then times LIGHT. Either may be 0.
 *
 *	pmu-spin threads N
 *
 * has N threads one after the other, each of which goes once through heavy() and ends.
 *
 *	pmu-spin fifo ...
 *
 * does the same with real-time priority: nothing else runs on that CPU meanwhile.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void *short_life(void *unused)
{
	(void)unused;
	heavy(ROUND);
	return NULL;
}

static int threads(long n)
{
	while (n--) {
		pthread_t thread;

		if (pthread_create(&thread, NULL, short_life, NULL) || pthread_join(thread, NULL)) {
			fprintf(stderr, "pmu-spin: cannot have a thread\n");
			return 1;
		}
	}
	return 0;
}

static void spin(long heavies, long lights)
{
	if (heavies)
		heavy(heavies * ROUND);
	if (lights)
		light(lights * ROUND);
}

static int usage(void)
{
	fprintf(stderr, "usage: pmu-spin [fifo] SECONDS|rounds N [HEAVY LIGHT] | threads N\n");
	return 2;
}

/* The words behind "fifo", if that is the first. */
static int become_fifo(int *argc, char ***argv)
{
	struct sched_param param = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };

	if (*argc < 2 || strcmp((*argv)[1], "fifo"))
		return 0;
	--*argc;
	++*argv;
	return sched_setscheduler(0, SCHED_FIFO, &param);
}

static int run(int argc, char **argv)
{
	int by_rounds = argc > 2 && !strcmp(argv[1], "rounds");
	char **length = argv + 1 + by_rounds, **ratio = length + 1;
	long heavies = 3, lights = 1;

	if (argc == 3 && !strcmp(argv[1], "threads"))
		return threads(atol(argv[2]));
	if (argc < 2 || (*ratio && (!ratio[1] || ratio[2])))
		return usage();
	if (*ratio) {
		heavies = atol(ratio[0]);
		lights = atol(ratio[1]);
	}
	if (by_rounds)
		for (long n = atol(*length); n > 0; n--)
			spin(heavies, lights);
	else
		for (double end = now() + atof(*length); now() < end;)
			spin(heavies, lights);
	return 0;
}

int main(int argc, char **argv)
{
	if (become_fifo(&argc, &argv)) {
		perror("pmu-spin: SCHED_FIFO");
		return 1;
	}
	return run(argc, argv);
}
