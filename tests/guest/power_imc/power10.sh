#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# POWER10: other registers of the cores, other counters of the nest, and records that say in which mode they
# were made. Likewise of POWER11, whose catalog is the same. The in-tree driver is the referee of cores and threads;
# of the nest it cannot be, and of a trace it has what is left in the ring when an event stops.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power10
# kernels vm: --arch ppc64le --kernel 6.12 --driver in-tree --model power10
. ./power_imc/lib.sh
[ -e $DEBUG ] && driver=ours || driver=in-tree

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
	[ $driver = in-tree ] ||
		equal "nest" "$(pmu-event nest_mcs01_imc:$NEST_READS -x "$(imc_add nest $NEST_READS 1234567)")" 1234567
	equal "thread" "$(pmu-event --pid 0 --cpu -1 --inherit thread_imc:$ICACHE -x "$(imc_thread_add 0 $ICACHE 33)")" 33
}

# CPMC1 is the trigger here. How good a profile is, trace.sh tests.
test_profile() {
	trace_record -- sh -c "pmu-model get core0 trace > /tmp/scom; taskset 1 $SPIN"
	equal "register" "$(cat /tmp/scom)" "$(printf '%u' 0x3fffffc142020000)"
	if [ $driver = ours ]; then
		trace_is_profile_of_spin
	else
		within "samples" "$(trace_samples heavy)" 10 10000
	fi
}

# By the record's own bits. There is no guest, so nothing is of one.
test_modes() {
	[ $driver = ours ] || skip "the in-tree driver samples all modes"
	equal "kernel samples with u" "$(profile u '^ *c[0-9a-f]\{15\} ')" 0
	within "user samples with u" "$(profile u heavy)" 500 100000
	equal "user samples with k" "$(profile k heavy)" 0
	within "kernel samples with k" "$(profile k .)" 10 100000
	equal "samples of guests" "$(profile G .)" 0
	within "samples of the host" "$(profile H heavy)" 500 100000
}

# The same with the registers that firmware's calls write. Where the engine runs, by the model.
test_by_registers() {
	[ $driver = ours ] || skip "ours alone can"
	load firmware=scom
	test_counts
	test_profile
	load
	eventually "engine" 0 pmu-model get core0 running
}

run_tests
