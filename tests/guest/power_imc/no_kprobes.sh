#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel without kprobes, as the debug kernel is on this architecture: nobody can look up the firmware's calls, so
# engines are switched by registers, and all kinds of units count.
#
# kernels vm: --arch ppc64le --kernel kunit --driver ours --model power9
. ./power_imc/lib.sh

trap 'trace_every 0; load' EXIT

test_there_are_none() {
	fails grep -q ' register_kprobe$' /proc/kallsyms
	grep -q ' opal_imc_counters_init$' /proc/kallsyms
}

test_registers_are_used() {
	load
	contains "log" "$(log_since_mark)" 'engines switched by registers'
	equal "core" "$(pmu-event core_imc:$INST -x "$(imc_add core0 $INST 5)")" 5
	equal "thread" "$(imc_thread_event -x "$(imc_thread_add 0 $TASK_INST 6)")" 6
	equal "nest" "$(pmu-event nest_mcs01_imc:$READS -x "$(imc_add nest@0 $READS 7)")" 7
	trace_every $NEVER
	equal "trace" "$(pmu-event --period 250 trace_imc:$CONFIG -x 'taskset 1 pmu-model set thread0 burst 8')" 8
	rmmod power_imc_pmu
	equal "engine" "$(pmu-model get core0 running)" 0
	eventually "microcode" 2 pmu-model get nest@0 status
}

test_calls_are_refused() {
	rmmod power_imc_pmu 2> /dev/null || :
	log_mark
	fails insmod /vm/modules.d/power_imc_pmu.ko firmware=opal 2> /dev/null
	contains "log" "$(log_since_mark)" 'firmware=opal: no calls can be looked up: try scom'
}

run_tests
