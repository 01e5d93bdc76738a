#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# trace_imc on the debug kernel: no memory for rings, and groups whose locking lockdep watches.
#
# all vm: --arch ppc64le --kernel kunit --driver none --model power9
. ./power_imc/lib.sh

FAIL=/sys/kernel/debug/fail_page_alloc
# As many pages as a ring is, and more, cannot be had, this often, by this shell's children: no_rings TIMES COMMAND...
no_rings() {
	times=$1
	shift
	echo 2 > $FAIL/min-order
	echo 1 > $FAIL/task-filter
	echo 0 > $FAIL/verbose
	echo N > $FAIL/ignore-gfp-wait
	echo "$times" > $FAIL/times
	echo 100 > $FAIL/probability
	sh -c 'echo 1 > /proc/self/make-it-fail; exec "$@"' sh "$@" || status=$?
	echo 0 > $FAIL/probability
	return ${status:-0}
}

# The driver is there without any, and so are its other PMUs; one is had when it is first used.
test_rings_are_had_when_used() {
	insmod /vm/modules.d/pmu_core.ko
	no_rings -1 insmod /vm/modules.d/power_imc_pmu.ko
	equal "a core event" "$(pmu-event core_imc:$INST -x "$(imc_add core0 $INST 7)")" 7
	equal "without memory" "$(no_rings -1 pmu-event --period 250 trace_imc:$CONFIG || :)" ENOMEM
	equal "with memory" "$(pmu-event --period 250 trace_imc:$CONFIG)" ""
	equal "once it is had" "$(no_rings -1 pmu-event --period 250 trace_imc:$CONFIG)" ""
}

# What one CPU lacks costs that CPU alone: tasks are traced on the other one.
test_one_cpu_without() {
	load
	equal "CPU 0, without memory" "$(no_rings -1 pmu-event --cpu 0 --period 250 trace_imc:$CONFIG || :)" ENOMEM
	equal "CPU 1" "$(pmu-event --cpu 1 --period 250 trace_imc:$CONFIG)" ""
	trace_every $INSTRUCTIONS
	no_rings -1 perf record -q -o $DATA -e $EVENT -c 1 -- sh -c "taskset 1 $SPIN_SHORT; taskset 2 $SPIN_SHORT" > /tmp/said 2>&1
	trace_every 0
	contains "log" "$(log_since_mark)" 'no memory for the records of CPU 0: tasks are not traced there'
	within "samples" "$(trace_samples heavy)" 50 5000
	equal "samples of CPU 0" "$(trace_sum taken)" "$(sed -n 's/^cpu 1: taken \([0-9]*\).*/\1/p' $DEBUG/trace)"
}

# A task's event has CPU 0 powered, which lacks memory. When there is some, an event on that CPU is not blind.
test_memory_that_comes_later() {
	load
	equal "CPU 1" "$(pmu-event --cpu 1 --period 250 trace_imc:$CONFIG)" ""
	echo 'echo 0 > /proc/self/make-it-fail
		pmu-event --cpu 0 --period 250 trace_imc:'$CONFIG' -x "taskset 1 pmu-model set thread0 burst 10" > /tmp/count' > /tmp/later
	trace_every $NEVER
	no_rings -1 pmu-event --pid 0 --cpu -1 --period 250 trace_imc:$CONFIG -x 'sh /tmp/later' > /tmp/said
	trace_every 0
	equal "count on CPU 0" "$(cat /tmp/count)" 10
}

# perf does not lock the list of siblings for this kind of PMU, so it must not be walked.
test_groups() {
	load
	equal "group" "$(pmu-event --group --disabled --period 250 trace_imc:$CONFIG trace_imc:$CONFIG software:0)" ""
	equal "group of another" "$(pmu-event --group --disabled --period 250 software:0 trace_imc:$CONFIG trace_imc:$CONFIG)" ""
}

run_tests
