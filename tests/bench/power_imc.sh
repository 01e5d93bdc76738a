#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What trace_imc costs; runs in a guest for scripts/bench. Prints WHAT VALUE, a line each.
#
# Nothing but the functions named below is counted: the model counts the instructions from their
# call to their return, on CPU 0. perf record itself is on CPU 1. The records are made by the
# model, all of a drain at once, and by nothing else.
. ./power_imc/lib.sh
set -e

BURSTS=40 FORKS=100
FEW=16 MANY=128	# records to a drain: what the hardware writes in 125 us, and in a millisecond

case $1 in
ours)
	drain=$DRAINS switch='power_imc_drain power_imc_drain_switched'
	start=power_imc_trace_power_on
	;;
in-tree)
	drain='trace_imc_event_stop trace_imc_event_read' switch=trace_imc_event_stop
	start=trace_imc_event_add
	;;
esac

# record COMMAND: on CPU 0, traced, to the shell
record() {
	taskset 2 perf record -q -o $DATA -e $EVENT -c 1 -m 1024 -- taskset 1 sh -c "$1" > /tmp/said 2>&1 ||
		{ cat /tmp/said >&2; exit 1; }
}

# Drains with so many records each: instructions in $spent, the samples in $samples. All records have to be there.
drains() {
	# shellcheck disable=SC2086 # several
	measure $drain
	before=$(trace_made)
	record "for _ in \$(seq $BURSTS); do pmu-model set thread0 burst $1; done"
	spent=$(measured)
	records=$(($(trace_made) - before))
	samples=$(trace_samples)
	[ "$records" -eq $((BURSTS * $1)) ] && [ "$samples" -eq "$records" ] ||
		{ echo "$samples samples of $records records, of $((BURSTS * $1)) asked for" >&2; exit 1; }
}

trace_every $NEVER

drains $FEW
few=$spent few_samples=$samples
drains $MANY
echo record $(((spent - few) / (samples - few_samples)))
echo longest "$(measured -most)"

# shellcheck disable=SC2086 # several
measure $switch
record "for _ in \$(seq $BURSTS); do pmu-model get thread0 total > /dev/null; done"
echo empty "$(measured -quartile)"

# The call that has the firmware start an engine is the longest.
measure $start
record "true & wait"
echo start "$(measured -most)"

# Of a process that inherits an event for each CPU. Interrupts are on there: a quarter of them has none.
for what in fork:perf_event_init_task exit:perf_event_exit_task; do
	measure "${what#*:}"
	record "for _ in \$(seq $FORKS); do true & wait; done"
	echo "${what%:*}" "$(measured -quartile)"
done
measure
trace_every 0
