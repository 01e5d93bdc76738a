#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Engines switched by their registers instead of firmware's calls: traces are the same, and with trace_config an
# event says what makes a record.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver none --model power9 --timeout 400
. ./power_imc/lib.sh

EVENT=trace_imc/trace_cycles/
# A thousand ticks of the 32 MHz clock, a fourth of the records that firmware sets up.
SLOW=trace_imc/cpmc_event=2,cpmc_samplesel=1,cpmc_load=1000/
DATA=/tmp/perf.data
# As many as a busy host can make.
for cpu in 0 1; do pmu-model set thread$cpu trace-div 200; done
insmod /vm/modules.d/pmu_core.ko
insmod /vm/modules.d/power_imc_pmu.ko firmware=scom trace_config=1

produced() {
	echo $(($(pmu-model get thread0 total) + $(pmu-model get thread1 total)))
}

# profile EVENT: sets records that were made, samples in perf.data, and their periods
profile() {
	before=$(produced)
	perf record -q -o $DATA -c 1 -d -P -e "$1" -- taskset 1 sh -c \
		'pmu-model get core0 trace > /tmp/scom; pmu-spin 2' > /tmp/said 2>&1 || { cat /tmp/said; return 1; }
	records=$(($(produced) - before))
	samples=$(trace_samples $DATA)
	periods=$(perf script -i $DATA -F period 2> /dev/null | awk '{ print $1 }' | sort -u)
	echo "$1: $records records"
}

test_by_registers() {
	profile $EVENT
	equal "register" "$(cat /tmp/scom)" "$(printf '%u' 0x7fffffc142020000)"
	equal "samples" "$samples" "$records"
	equal "periods" "$periods" 250
	echo "$records" > /tmp/fast
}

test_slower() {
	profile $SLOW
	equal "register" "$(cat /tmp/scom)" "$(printf '%u' 0x7fffff05c2020000)"
	equal "samples" "$samples" "$records"
	equal "periods" "$periods" 1000
	# How long the commands run is the host's to say, so the fourth is not sharp.
	within "records" "$records" 100 $(($(cat /tmp/fast) / 2))
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
	rmmod power_imc_pmu
	insmod /vm/modules.d/power_imc_pmu.ko firmware=scom
	fails perf record -q -o $DATA -c 1 -e $SLOW -- true
	rmmod power_imc_pmu
	insmod /vm/modules.d/power_imc_pmu.ko trace_config=1 firmware=opal
	fails perf record -q -o $DATA -c 1 -e $SLOW -- true
}

run_tests
