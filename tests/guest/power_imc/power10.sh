#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# POWER10: other registers of the cores, other counters of the nest, and records that say in which mode they
# were made.
#
# vm: --arch ppc64le --kernel 6.12 --driver ours --model power10
. ./power_imc/lib.sh

ICACHE=0x60
NEST_READS=0x10
trap 'trace_every 0' EXIT
trace_every $INSTRUCTIONS

# Lines of perf script that match, of a profile with modifiers: profile MODIFIERS PATTERN
profile() {
	perf record -q -o $DATA -c 1 -e ${EVENT}"$1" -- sh -c "$SPIN; dd if=/dev/zero of=/dev/null bs=512 count=1000"
	perf script -i $DATA -F ip,sym 2> /dev/null | grep -c "$2" || :
}

test_counts() {
	equal "core" "$(pmu-event core_imc:$ICACHE -x "$(imc_add core0 $ICACHE 70000)")" 70000
	equal "nest" "$(pmu-event nest_mcs01_imc:$NEST_READS -x "$(imc_add nest $NEST_READS 1234567)")" 1234567
	equal "thread" "$(pmu-event --pid 0 --cpu -1 --inherit thread_imc:$ICACHE -x "$(imc_thread_add 0 $ICACHE 33)")" 33
}

# CPMC1 is the trigger here. How good a profile is, trace.sh tests.
test_profile() {
	trace_record -- sh -c "pmu-model get core0 trace > /tmp/scom; taskset 1 $SPIN"
	equal "register" "$(cat /tmp/scom)" "$(printf '%u' 0x3fffffc142020000)"
	trace_is_profile_of_spin
}

# By the record's own bits. There is no guest, so nothing is of one.
test_modes() {
	equal "kernel samples with u" "$(profile u '^ *c[0-9a-f]\{15\} ')" 0
	within "user samples with u" "$(profile u heavy)" 500 100000
	equal "user samples with k" "$(profile k heavy)" 0
	within "kernel samples with k" "$(profile k .)" 10 100000
	equal "samples of guests" "$(profile G .)" 0
	within "samples of the host" "$(profile H heavy)" 500 100000
}

run_tests
