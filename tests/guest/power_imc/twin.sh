#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The in-tree driver is built into the kernel and has the counters: ours says what to do, does not
# load, and leaves everything as it was.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver in-tree --model power9
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
	got=$(pmu-event core_imc:0x118 -x 'insmod /vm/modules.d/pmu_core.ko
		insmod /vm/modules.d/power_imc_pmu.ko 2> /dev/null && exit 1
		'"$(imc_add core0@0 0x118 5)")
	equal "count" "$got" 5
}

run_tests
