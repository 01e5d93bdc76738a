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
FEW=32 MANY=128	# records to a drain: what the hardware writes in 250 us, and in a millisecond

case $1 in
ours)
	drain=$DRAINS switch='power_imc_drain power_imc_drain_task_switched'
	start=power_imc_trace_engage
	;;
in-tree)
	drain='trace_imc_event_stop trace_imc_event_read' switch=trace_imc_event_stop
	start=trace_imc_event_add
	;;
esac

# record COMMAND [OPTION...]: on CPU 0, traced, to the shell
record() {
	command=$1
	shift
	taskset 2 perf record -q -o $DATA -e $EVENT -m 1024 "${@:--c1}" -- taskset 1 sh -c "$command" > /tmp/said 2>&1 ||
		{ cat /tmp/said >&2; exit 1; }
}

# drains N [OPTION...]: drains with N records each: instructions of the longest in $longest, the samples in $samples. All
# records have to be there. How many drains find nothing is up to the host, so a sum of all drains says nothing.
drains() {
	# shellcheck disable=SC2086 # several
	measure $drain
	before=$(trace_made) wanted=$((BURSTS * $1)) burst="for _ in \$(seq $BURSTS); do pmu-model set thread0 burst $1; done"
	shift
	record "$burst" "$@"
	longest=$(measured -most)
	records=$(($(trace_made) - before))
	# A call chain has lines of its own.
	samples=$(trace_lines ip | grep -c :)
	[ "$records" -eq $wanted ] || { echo "$records records, of $wanted asked for" >&2; exit 1; }
}

# each_record [OPTION...]: what a record costs, by the difference of a long drain and a short one, in $cost
each_record() {
	drains $FEW "$@"
	few=$longest
	drains $MANY "$@"
	cost=$(((longest - few) / (MANY - FEW)))
}

# The same where each record is a sample.
each_sample() {
	each_record "$@"
	[ "$samples" -eq "$records" ] || { echo "$samples samples of $records records" >&2; exit 1; }
}

trace_every $NEVER

each_sample
echo record $cost
echo longest "$longest"
if [ "$1" = ours ]; then
	each_sample -c 1 -R
	echo raw $cost
	each_sample -c 1 -g
	echo chain $cost
	# As many samples as perf record asks for by default: one in a short drain, four in a long one.
	each_record -c 8000
	echo thinned $cost

	# The engine writes on while the traced task sleeps, and waits for one on the other CPU.
	measure power_imc_trace_start
	record "for _ in 1 2 3; do taskset 2 pmu-model set thread0 burst 4096; done"
	echo passed "$(measured -most)"
fi

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
