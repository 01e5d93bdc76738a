#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# trace_imc by the clock and for long: how it fares beside the in-tree driver at a rate that is up to the host,
# and whether the shares of time, of which a host may take any from the guest, are those of a profile.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver 'ours in-tree' --model power9 --timeout 900
# soak: records by the clock come as fast as the host lets them, and a ring is lapped where it stops the guest
. ./power_imc/lib.sh

trap 'pmu-model set "thread*" trace-div 64' EXIT
# 4129 records a second: 128 kHz by this. No multiple of the kernel's tick.
pmu-model set 'thread*' trace-div 31

[ -e $DEBUG ] && driver=ours || driver=in-tree

# Records: ours says how many it took of those that the hardware made while events were on.
made_or_taken() {
	if [ $driver = ours ]; then trace_sum taken; else trace_made; fi
}

# run OPTIONS...: records and samples that perf has. Ours has all of them, or tells; here, all. The in-tree driver
# reads what is left of the ring when the event stops.
run() {
	before=$(made_or_taken)
	trace_record "$@"
	records=$(($(made_or_taken) - before)) samples=$(trace_samples) lost=$(trace_lost)
	show "$driver, $*: $records records, $samples samples, $lost lost"
	within "records" $records 300 1000000
	if [ $driver = ours ]; then
		equal "samples, and losses" "$samples $lost" "$records 0"
	else
		within "samples" "$samples" 1 "$records"
	fi
}

test_program() {
	run -- pmu-spin 1
}

test_all_cpus() {
	run -a -- pmu-spin 1
}

# Much longer than a ring of 4096 lasts at this rate.
test_program_for_long() {
	run -- pmu-spin 30
}

test_all_cpus_for_long() {
	run -a -- pmu-spin 30
}

# A function that has three quarters of a program's time has them in the profile.
test_shares_of_time() {
	run -- pmu-spin 5
	heavy=$(trace_samples heavy) light=$(trace_samples ' light$')
	within "heavy, permille" $((heavy * 1000 / (heavy + light))) 730 770
}

run_tests
