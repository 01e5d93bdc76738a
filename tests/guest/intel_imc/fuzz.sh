#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random calls by root and by nobody, near to what is valid, while CPUs, channels and modules come and go.
#
# hostile: many calls
# vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
. ./fuzz.sh
trap as_it_was EXIT

test_calls_are_of_the_seed() {
	the_same_again uncore_imc
}

test_random_calls() {
	plain "[ \"\$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 7')\" = 7 ]" \
		"[ \"\$(pmu-event --cpu 2 uncore_imc_1:0xc04 -x 'pmu-model add imc1@1 cas_wr 9')\" = 9 ]"
	fuzz --device $DRIVER,0000:3f:10.0 --device $DRIVER,0000:7f:10.0 --module $MODULES/intel_imc_pmu.ko \
		--module $MODULES/pmu_core.ko --cpu 1 --cpu 2 --cpu 3 --add 'add imc0 cas_rd' --add 'add imc1@1 cas_wr' uncore_imc
}

test_nothing_is_lost() {
	unload
	no_leaks
	load
}

run_tests
