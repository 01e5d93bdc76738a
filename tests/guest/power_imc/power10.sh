#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# POWER10: other registers of the cores, other counters of the nest, and records that say in which mode they
# were made.
#
# vm: --arch ppc64le --kernel 6.12 --driver ours --model power10
. ./power_imc/lib.sh

EVENT=trace_imc/trace_cycles/
DATA=/tmp/perf.data
ICACHE=0x60
READS=0x10
for cpu in 0 1; do pmu-model set thread$cpu trace-div 31; done

# Lines of perf script that match, of a profile with modifiers: profile MODIFIERS PATTERN
profile() {
	perf record -q -o $DATA -c 1 -e ${EVENT}"$1" -- pmu-spin 1
	perf script -i $DATA -F ip,sym 2> /dev/null | grep -c "$2" || :
}

test_counts() {
	equal "core" "$(pmu-event core_imc:$ICACHE -x "$(imc_add core0 $ICACHE 70000)")" 70000
	equal "nest" "$(pmu-event nest_mcs01_imc:$READS -x "$(imc_add nest $READS 1234567)")" 1234567
	equal "thread" "$(pmu-event --pid 0 --cpu -1 --inherit thread_imc:$ICACHE -x "$(imc_thread_add 0 $ICACHE 33)")" 33
}

# CPMC1 is the trigger here. How good a profile is, trace.sh tests.
test_profile() {
	perf record -q -o $DATA -c 1 -e $EVENT -- sh -c 'pmu-model get core0 trace > /tmp/scom; pmu-spin 2'
	equal "register" "$(cat /tmp/scom)" "$(printf '%u' 0x3fffffc142020000)"
	heavy=$(perf script -i $DATA -F ip,sym 2> /dev/null | grep -c heavy)
	light=$(perf script -i $DATA -F ip,sym 2> /dev/null | grep -c light)
	within "heavy, permille" $((heavy * 1000 / (heavy + light))) 700 800
}

# By the record's own bits. There is no guest, so nothing is of one.
test_modes() {
	equal "kernel samples with u" "$(profile u '^ *c[0-9a-f]\{15\} ')" 0
	within "user samples with u" "$(profile u heavy)" 100 100000
	equal "user samples with k" "$(profile k heavy)" 0
	within "kernel samples with k" "$(profile k .)" 10 100000
	equal "samples of guests" "$(profile G .)" 0
	within "samples of the host" "$(profile H heavy)" 100 100000
}

run_tests
