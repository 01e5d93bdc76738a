#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# trace_imc on the debug kernel: no memory for rings, and groups whose locking lockdep watches.
#
# all vm: --arch ppc64le --kernel kunit --driver none --model power9
. ./power_imc/lib.sh

FAIL=/sys/kernel/debug/fail_page_alloc
# As many pages as a ring is, and more, cannot be had: no_rings COMMAND...
no_rings() {
	echo 2 > $FAIL/min-order
	echo 1 > $FAIL/task-filter
	echo 0 > $FAIL/verbose
	echo N > $FAIL/ignore-gfp-wait
	echo -1 > $FAIL/times
	echo 100 > $FAIL/probability
	sh -c 'echo 1 > /proc/self/make-it-fail; exec "$@"' sh "$@" || status=$?
	echo 0 > $FAIL/probability
	return ${status:-0}
}

# Without rings there is no trace_imc, which the log says; the other PMUs are there.
test_no_memory_for_rings() {
	insmod /vm/modules.d/pmu_core.ko
	log_mark
	no_rings insmod /vm/modules.d/power_imc_pmu.ko
	equal "a core event" "$(pmu-event core_imc:$INST -x "$(imc_add core0 $INST 7)")" 7
	fails ls $PMUS/trace_imc
	contains "log" "$(log_since_mark)" 'trace_imc: could not be registered wholly .-(ENOMEM|12)'
	load
	equal "once there is memory" "$(pmu-event --period 250 trace_imc:$CONFIG)" ""
}

# perf does not lock the list of siblings for this kind of PMU, so it must not be walked.
test_groups() {
	load
	equal "group" "$(pmu-event --group --disabled --period 250 trace_imc:$CONFIG trace_imc:$CONFIG software:0)" ""
	equal "group of another" "$(pmu-event --group --disabled --period 250 software:0 trace_imc:$CONFIG trace_imc:$CONFIG)" ""
}

run_tests
