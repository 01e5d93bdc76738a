// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counter arithmetic: from raw values that wrap to 64-bit counts that do not.
 */
#include <linux/export.h>
#include <linux/ktime.h>
#include <linux/math64.h>

#include <pmu/core.h>

/*
 * As if so much more time had passed: a count may come to its counter late, as where hardware
 * writes counts to memory, and the clock is not read in the same moment as the counter.
 */
#define PMU_LATE_NS	BIT_ULL(27)

/**
 * pmu_delta() - events between two raw values of a counter.
 * @prev: earlier raw value, @width bits
 * @now: later raw value, @width bits
 * @width: width of the counter in bits, 1 to 64
 *
 * Exact while fewer than 2^@width events lie between the two.
 *
 * Context: any.
 * Return: number of events, 0 to 2^@width - 1.
 */
u64 pmu_delta(u64 prev, u64 now, unsigned int width)
{
	return (now - prev) & GENMASK_ULL(width - 1, 0);
}
EXPORT_SYMBOL_PMU_CORE(pmu_delta);

/**
 * pmu_fold() - read a counter and account what it counted since the last fold.
 * @prev: raw value at the last fold; set to the value read now
 * @width: width of the counter in bits, 1 to 64
 * @read: reads the raw value; returns 0 or a negative errno
 * @context: passed to @read
 * @delta: set to the number of events since the last fold
 *
 * Any number of callers may fold one counter at the same time, on any CPU: every event
 * is in exactly one caller's @delta. A caller whose value was overtaken reads again,
 * since its old value would look like a wrap.
 *
 * Context: that of @read. Lock-free.
 * Return: 0, or what @read returned; then @prev and @delta are unchanged.
 */
int pmu_fold(atomic64_t *prev, unsigned int width,
	     int (*read)(void *context, u64 *now), void *context, u64 *delta)
{
	s64 old = atomic64_read(prev);
	u64 now;
	int err;

	do {
		err = read(context, &now);
		if (err)
			return err;
	} while (!atomic64_try_cmpxchg(prev, &old, now));

	*delta = pmu_delta(old, now, width);
	return 0;
}
EXPORT_SYMBOL_PMU_CORE(pmu_fold);

/**
 * pmu_most_counts() - how far a counter can have moved in some time.
 * @max_rate: most counts per second
 * @ns: the time; one that is negative for two readings of a clock that went back
 *
 * This is generous: 10^9 / 2^29, or 1.86, times the rate, and for 134 ms more.
 *
 * Context: any.
 * Return: number of events; U64_MAX if it has more than 64 bits.
 */
u64 pmu_most_counts(u64 max_rate, u64 ns)
{
	if ((s64)ns < 0)
		return U64_MAX;
	ns += PMU_LATE_NS;
	if (fls64(max_rate) + fls64(ns) > 64 + 29)
		return U64_MAX;
	return mul_u64_u64_shr(max_rate, ns, 29);
}
EXPORT_SYMBOL_PMU_CORE(pmu_most_counts);

/**
 * pmu_delta_is_possible() - can a counter have counted that?
 * @delta: events since the last fold
 * @width: width of the counter in bits, 1 to 64
 * @max_rate: most counts per second; 0 if that is not known
 * @ns: time since the last fold
 *
 * A difference that is not possible comes of a counter that was written, or reset with its
 * device, or of a value that was read wrongly. 64 bits do not wrap, so half of that is a counter
 * that went back.
 *
 * Context: any.
 * Return: true if it can.
 */
bool pmu_delta_is_possible(u64 delta, unsigned int width, u64 max_rate, u64 ns)
{
	if (width == 64 && (s64)delta < 0)
		return false;
	return !max_rate || delta <= pmu_most_counts(max_rate, ns);
}
EXPORT_SYMBOL_PMU_CORE(pmu_delta_is_possible);

/**
 * pmu_poll_period_ns() - how often a counter has to be folded so that no wrap is missed.
 * @width: width of the counter in bits, 1 to 64
 * @max_rate: most counts per second; 0 means that it does not count
 *
 * Folding is exact up to 2^@width / @max_rate; the period is half of that, rounded down, so
 * that a timer may be late by as much again.
 *
 * mul_u64_u64_div_u64() is not for this: 6.1's, where it is not written in assembler,
 * returns 0 for such numbers.
 *
 * Context: any.
 * Return: period in ns; 0 if the counter cannot wrap within the kernel's time (292 years).
 */
u64 pmu_poll_period_ns(unsigned int width, u64 max_rate)
{
	/* What is left of a rate has to leave room for the 30 bits of NSEC_PER_SEC. */
	unsigned int shift = max(fls64(max_rate), 34) - 34;
	u64 seconds, rest;

	if (!max_rate)
		return 0;
	seconds = div64_u64_rem(BIT_ULL(width - 1), max_rate, &rest);
	if (seconds >= KTIME_SEC_MAX)
		return 0;
	rest = div64_u64((rest >> shift) * NSEC_PER_SEC, (max_rate >> shift) + !!shift);
	/* A timer needs to advance. */
	return max(seconds * NSEC_PER_SEC + rest, 1ULL);
}
EXPORT_SYMBOL_PMU_CORE(pmu_poll_period_ns);
