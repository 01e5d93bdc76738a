#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the records of the same runs become with the in-tree driver: the number that ours is
# to be measured by, and the proof that the model traces for another driver, too.
#
# vm: --arch ppc64le --kernel 6.12 --driver 'ours in-tree' --model power9 --timeout 400
# vm: --arch ppc64le --kernel 6.1 --driver ours --model power9 --timeout 400
. ./power_imc/lib.sh

EVENT=trace_imc/trace_cycles/
for cpu in 0 1; do pmu-model set thread$cpu trace-div 31; done

[ -e /sys/kernel/debug/power_imc_pmu ] && driver=ours || driver=in-tree

# How many records the model made, on both CPUs.
made() {
	echo $(($(pmu-model get thread0 total) + $(pmu-model get thread1 total)))
}

# Our driver's own account, of all CPUs; of the in-tree driver there is none.
account() {
	grep -h . /sys/kernel/debug/power_imc_pmu/trace 2> /dev/null || :
}

# How many samples it has made by that.
delivered() {
	account | awk '{ sum += $NF } END { print sum + 0 }'
}

# run OPTIONS...: records that were made and samples that perf has
run() {
	account > /tmp/before
	before=$(made) delivered=$(delivered)
	perf record -q -o /tmp/perf.data -e $EVENT -c 1 "$@" > /tmp/said 2>&1 || { cat /tmp/said; return 1; }
	records=$(($(made) - before)) delivered=$(($(delivered) - delivered))
	samples=$(trace_samples /tmp/perf.data) || :
	lost=$(perf report -i /tmp/perf.data --stats 2> /dev/null | awk '/LOST_SAMPLES events:/ { n = $3 } END { print n + 0 }')
	show "$driver, $*: $records records, $samples samples, $lost lost"
	account | cat /tmp/before -
	within "records" $records 300 1000000
}

# Ours has all of them, or tells; here, all. The in-tree driver reads what is left of the ring when the event stops.
judge() {
	if [ $driver = ours ]; then
		equal "samples and losses" $((samples + lost)) "$records"
		equal "losses" "$lost" 0
		equal "samples by the driver's account" $delivered "$records"
	else
		within "samples" "$samples" 1 "$records"
	fi
}

test_program() {
	run -- pmu-spin 1
	judge
}

test_all_cpus() {
	run -a -- pmu-spin 1
	judge
}

# Much longer than a ring of 4096 lasts at this rate.
test_program_for_long() {
	run -- pmu-spin 30
	judge
}

test_all_cpus_for_long() {
	run -a -- pmu-spin 30
	judge
}

run_tests
