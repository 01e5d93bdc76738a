#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The in-tree driver is built into the kernel and has the counters: ours says what to do, does not
# load, and leaves everything as it was. And the model traces for another driver, too.
#
# all vm: --arch ppc64le --kernel 6.12 --driver in-tree --model power9
# kernels vm: --arch ppc64le --kernel 6.1 --driver in-tree --model power9
. ./power_imc/lib.sh

test_in_tree_driver_has_the_counters() {
	pmus=$(cd $PMUS && echo *_imc)
	log_mark
	insmod /vm/modules.d/pmu_core.ko
	fails insmod /vm/modules.d/power_imc_pmu.ko 2> /tmp/said
	contains "log" "$(log_since_mark)" 'built-in driver has the counters: boot with initcall_blacklist=opal_imc_driver_init'
	equal "PMUs" "$(cd $PMUS && echo *_imc)" "$pmus"
	fails grep -q '^power_imc_pmu ' /proc/modules
	rmmod pmu_core
}

test_in_tree_driver_counts_on() {
	got=$(pmu-event core_imc:$INST -x 'insmod /vm/modules.d/pmu_core.ko
		insmod /vm/modules.d/power_imc_pmu.ko 2> /dev/null && exit 1
		rmmod pmu_core; '"$(imc_add core0@0 $INST 5)")
	equal "count" "$got" 5
}

# It reads what is in the ring when the event stops, and tells of no losses.
test_in_tree_driver_traces() {
	trap 'trace_every 0' EXIT
	trace_every $INSTRUCTIONS
	for what in '' -a; do
		before=$(trace_made)
		# shellcheck disable=SC2086 # none or one
		trace_record $what -- taskset 1 $SPIN
		records=$(($(trace_made) - before)) samples=$(trace_samples)
		show "$records records, $samples samples"
		within "records" $records 1000 1000000
		within "samples" "$samples" 1 "$records"
	done
}

run_tests
