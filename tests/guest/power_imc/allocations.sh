#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation fails once: loading, opening nest, core and trace events, forking with a thread event. Afterwards
# everything counts.
#
# hostile: everything is done some hundred times
# vm: --arch ppc64le --kernel kunit --driver ours --model power9 --cpus 2 --timeout 1200
. ./power_imc/lib.sh

counts() {
	got=$(pmu-event nest_mcs01_imc:$READS core_imc:$INST -x "pmu-model set nest@0 flush 1" -x "$(imc_add nest@0 $READS 7)" \
		-x "$(imc_add core0 $INST 5)" | tail -n 1)
	equal "afterwards" "$got" "7 5"
}

test_the_driver_is_loaded() {
	rmmod power_imc_pmu
	show "$(pmu-fail load /vm/modules.d/power_imc_pmu.ko)"
	insmod /vm/modules.d/power_imc_pmu.ko
	counts
}

test_events_are_opened() {
	for event in nest_mcs01_imc:$READS core_imc:$INST trace_imc:$CONFIG; do
		show "$event $(pmu-fail open "$event")"
	done
	counts
}

test_a_task_forks() {
	show "$(pmu-fail fork thread_imc:$TASK_INST)"
	counts
}

test_nothing_is_lost() {
	rmmod power_imc_pmu
	rmmod pmu_core
	no_leaks
	insmod /vm/modules.d/pmu_core.ko
	insmod /vm/modules.d/power_imc_pmu.ko
}

run_tests
