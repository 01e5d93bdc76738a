#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Engines switched by their registers instead of firmware's calls: traces are the same. An event cannot choose what
# makes a record, by whichever way engines are switched.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9
# kernels vm: --arch ppc64le --kernel 6.1 --driver ours --model power9
. ./power_imc/lib.sh

# A thousand ticks of the 32 MHz clock, a fourth of the records that firmware sets up.
SLOW=trace_imc/cpmc_event=2,cpmc_samplesel=1,cpmc_load=1000/
trap 'trace_every 0; load' EXIT
trace_every $INSTRUCTIONS
load firmware=scom

test_by_registers() {
	taken=$(trace_sum taken) start=$(now)
	perf record -q -o $DATA -c 1 -d -P -e $EVENT -- taskset 1 sh -c "pmu-model get core0 trace > /tmp/scom; $SPIN" \
		> /tmp/said 2>&1 || { cat /tmp/said; return 1; }
	records=$(($(trace_sum taken) - taken)) us=$((($(now) - start) / 1000))
	within "records" $records 1000 10000
	equal "samples" "$(trace_samples)" "$records"
	equal "register" "$(cat /tmp/scom)" "$(printf '%u' 0x7fffffc142020000)"
	# Each has the time since the one before, or the mean of that.
	trace_lines period | awk '{ sum += $NF; least = NR == 1 || $NF < least ? $NF : least } END { print least, int(sum / 32) }' \
		> /tmp/periods
	read -r least sum < /tmp/periods
	within "least period" "$least" 250 100000
	within "us of all periods" "$sum" 1000 $((us * 3 / 2))
}

test_no_other_trigger() {
	fails perf record -q -o $DATA -c 1 -e $SLOW -- true
	load firmware=opal
	fails perf record -q -o $DATA -c 1 -e $SLOW -- true
}

run_tests
