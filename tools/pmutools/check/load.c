// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work of which it is known what counters have to say of it:
 *
 *	load read|write CPU BYTES BUFFER	so many bytes, past the caches, in memory that is near to the CPU
 *	load instructions CPU N			N instructions of a user's program, and some thousands
 *	load shares CPU ROUNDS			heavy() and light(), whose times are 3 to 1
 *
 * It makes ready, says "ready", and waits for a line on stdin; then it works, and says "done NANOSECONDS".
 * BUFFER is in bytes, and has to be several times what caches hold.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#ifdef __x86_64__
#include <emmintrin.h>
#endif

#define LINE 64

static volatile uint64_t sink;

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * 1000000000ULL + time.tv_nsec;
}

/* One word of each line is enough: memory gives whole lines. */
static void read_lines(const char *buffer, uint64_t bytes)
{
	uint64_t sum = 0;

	for (uint64_t at = 0; at < bytes; at += LINE)
		sum += *(const volatile uint64_t *)(buffer + at);
	sink += sum;
}

/* Without reading the lines first where the processor can do that; elsewhere it finds out by itself, or reads. */
static void write_lines(char *buffer, uint64_t bytes)
{
#ifdef __x86_64__
	__m128i value = _mm_set1_epi8(1);

	for (uint64_t at = 0; at < bytes; at += sizeof(value))
		_mm_stream_si128((__m128i *)(buffer + at), value);
	_mm_sfence();
#else
	memset(buffer, 1, bytes);
#endif
}

static void move(const char *kind, char *buffer, uint64_t bytes, uint64_t size)
{
	while (bytes) {
		uint64_t some = bytes < size ? bytes : size;

		if (*kind == 'r')
			read_lines(buffer, some);
		else
			write_lines(buffer, some);
		bytes -= some;
	}
}

/* A loop of known length, in the processor's own words: a compiler's would differ between versions. */
static void instructions(uint64_t number)
{
#if defined(__x86_64__)
	uint64_t left = number / 2;

	asm volatile("1: dec %0\n\tjnz 1b" : "+r" (left) : : "cc");
#elif defined(__aarch64__)
	uint64_t left = number / 2;

	asm volatile("1: subs %0, %0, #1\n\tb.ne 1b" : "+r" (left) : : "cc");
#elif defined(__powerpc64__)
	asm volatile("mtctr %0\n1: bdnz 1b" : : "r" (number) : "ctr");
#else
#error "not known: a loop of this processor"
#endif
}

/* noipa: or the compiler would see that one is the other. */
#define LOOP(name)						\
	__attribute__((noipa)) static void name(long n)		\
	{							\
		for (volatile long i = 0; i < n; i++)		\
			;					\
	}

LOOP(heavy)
LOOP(light)

static int pin(int cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	int err;

	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	err = sched_setaffinity(0, size, set);
	CPU_FREE(set);
	return err;
}

int main(int argc, char **argv)
{
	const char *kind = argc > 3 ? argv[1] : "";
	uint64_t number = argc > 3 ? strtoull(argv[3], NULL, 0) : 0;
	uint64_t size = argc > 4 ? strtoull(argv[4], NULL, 0) : 0;
	int moves = !strcmp(kind, "read") || !strcmp(kind, "write");
	char *buffer = NULL;
	uint64_t begin;

	if (!number || (moves && size < LINE) ||
	    (!moves && strcmp(kind, "instructions") && strcmp(kind, "shares"))) {
		fprintf(stderr, "usage: load read|write CPU BYTES BUFFER | instructions CPU N | shares CPU ROUNDS\n");
		return 2;
	}
	if (pin(atoi(argv[2]))) {
		perror("load: this CPU may not be used");
		return 1;
	}
	if (moves) {
		buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		if (buffer == MAP_FAILED) {
			perror("load: no memory");
			return 1;
		}
		madvise(buffer, size, MADV_HUGEPAGE);
		memset(buffer, 2, size);
	}
	puts("ready");
	fflush(stdout);
	if (getchar() == EOF)
		return 0;
	begin = now();
	if (moves)
		move(kind, buffer, number, size);
	else if (*kind == 'i')
		instructions(number);
	else
		for (; number; number--) {
			heavy(30000);
			light(10000);
		}
	printf("done %llu\n", (unsigned long long)(now() - begin));
	return 0;
}
