#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What it costs to make samples of trace records; runs in a guest for scripts/bench. Prints
# WHAT VALUE, a line each.
#
# The records are written at once, on CPU 0, by the model; perf record itself is on CPU 1.
# Instructions are those that CPU 0 executed with many records, less those with few, for
# each record: what else is done cancels out, but for what chance adds, hence the bursts.
# Time is that of the kernel's functions that drain, by its function graph tracer.
set -e

EVENT=trace_imc/trace_cycles/
TRACING=/sys/kernel/tracing
FEW=100 MANY=4000 BURSTS=40
NEVER=4294967295	# times slower than hardware: there are the records of bursts alone

case $1 in
ours) drain='power_imc_drain power_imc_drain_timer' ;;
in-tree) drain='trace_imc_event_stop trace_imc_event_read' ;;
esac

# One run with so many records in each burst: instructions of CPU 0.
run() {
	taskset 2 perf record -q -o /tmp/perf.data -e $EVENT -c 1 -m 1024 -- taskset 1 sh -c "
		pmu-model set thread0 trace-div $NEVER
		pmu-spin 0.05
		pmu-model get thread0 instructions > /tmp/before
		for _ in \$(seq $BURSTS); do pmu-model set thread0 burst $1; pmu-spin 0.01; done" \
		> /tmp/said 2>&1 || { cat /tmp/said >&2; exit 1; }
	taskset 1 pmu-model get thread0 instructions > /tmp/after
	pmu-model set thread0 trace-div 64
	echo $(($(cat /tmp/after) - $(cat /tmp/before)))
}

samples() {
	perf script -i /tmp/perf.data -F ip 2> /dev/null | grep -c .
}

# The least of some runs: nothing makes it execute less than it has to.
least() {
	for _ in 1 2 3 4 5; do run "$1"; done | sort -n | head -n 1
}

few=$(least $FEW)
few_samples=$(samples)
many=$(least $MANY)
many_samples=$(samples)
echo instructions $(((many - few) / (many_samples - few_samples)))

echo "$drain" > $TRACING/set_ftrace_filter
echo function_graph > $TRACING/current_tracer
echo > $TRACING/trace
run $MANY > /dev/null
grep -hE "${drain% *}|${drain#* }" $TRACING/trace | sed 's/.*) *[^0-9 ]* *\([0-9.]*\) us.*/\1/' | awk -v samples="$(samples)" '
	{ sum += $1; if ($1 > most) most = $1 }
	END { print "ns", int(sum * 1000 / samples); print "longest", int(most); print "drains", NR }'
echo nop > $TRACING/current_tracer
