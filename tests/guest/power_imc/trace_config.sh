#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Engines switched by their registers instead of firmware's calls: traces are the same, and with trace_config an
# event says what makes a record.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver ours --model power9
. ./power_imc/lib.sh

# A thousand ticks of the 32 MHz clock, a fourth of the records that firmware sets up.
SLOW=trace_imc/cpmc_event=2,cpmc_samplesel=1,cpmc_load=1000/
trap 'trace_every 0; load' EXIT
trace_every $INSTRUCTIONS
load firmware=scom trace_config=1

# profile EVENT: the register while it traces, and the periods of its samples; all of them are there
profile() {
	taken=$(trace_sum taken)
	perf record -q -o $DATA -c 1 -d -P -e "$1" -- taskset 1 sh -c "pmu-model get core0 trace > /tmp/scom; $SPIN" \
		> /tmp/said 2>&1 || { cat /tmp/said; return 1; }
	records=$(($(trace_sum taken) - taken))
	within "records" $records 1000 10000
	equal "samples" "$(trace_samples)" "$records"
	perf script -i $DATA -F period 2> /dev/null | awk '{ print $1 }' | sort -u > /tmp/periods
}

test_by_registers() {
	profile $EVENT
	equal "register" "$(cat /tmp/scom)" "$(printf '%u' 0x7fffffc142020000)"
	equal "periods" "$(cat /tmp/periods)" 250
}

test_slower() {
	profile $SLOW
	equal "register" "$(cat /tmp/scom)" "$(printf '%u' 0x7fffff05c2020000)"
	equal "periods" "$(cat /tmp/periods)" 1000
}

# All threads of a core have one register.
test_one_trigger_at_a_time() {
	fails perf record -q -o $DATA -c 1 -e $EVENT -a -- perf record -q -o /tmp/other.data -c 1 -e $SLOW -a true \
		2> /tmp/said
	contains "perf" "$(cat /tmp/said)" 'busy|EBUSY'
	perf record -q -o $DATA -c 1 -e $SLOW -a -- perf record -q -o /tmp/other.data -c 1 -e $SLOW -a true
}

# Records as fast as that would be all that a processor does.
test_refused() {
	fails perf record -q -o $DATA -c 1 -e trace_imc/cpmc_event=2,cpmc_samplesel=1,cpmc_load=99/ -- true
	fails perf record -q -o $DATA -c 1 -e trace_imc/cpmc_event=2,cpmc_samplesel=3,cpmc_load=250/ -- true
	fails perf record -q -o $DATA -c 1 -e trace_imc/cpmc_event=200,cpmc_samplesel=1,cpmc_load=250/ -- true
	load firmware=scom
	fails perf record -q -o $DATA -c 1 -e $SLOW -- true
	load trace_config=1 firmware=opal
	fails perf record -q -o $DATA -c 1 -e $SLOW -- true
}

run_tests
