#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation fails once: loading, binding, opening a group, a CPU that goes or comes, a sleep.
# Afterwards everything counts.
#
# fresh: where its own memory runs out, kmemleak prints with a lock held, after which lockdep complains of the kernel
# hostile: everything is done again and again
# vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
. ./allocations.sh
trap as_it_was EXIT

counts() {
	equal "afterwards" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 7')" 7
}

test_the_core_is_loaded() {
	unload
	each 1 load $MODULES/pmu_core.ko
	load
	counts
}

test_the_driver_is_loaded() {
	rmmod intel_imc_pmu
	each 800 load $MODULES/intel_imc_pmu.ko
	insmod $MODULES/intel_imc_pmu.ko
	counts
}

test_a_channel_is_bound() {
	echo 0000:7f:10.0 > $DRIVER/unbind
	echo 0000:3f:10.0 > $DRIVER/unbind
	each_of_all 150 --undo "echo 0000:3f:10.0 > $DRIVER/unbind" write $DRIVER/bind 0000:3f:10.0
	echo 0000:3f:10.0 > $DRIVER/bind
	echo 0000:7f:10.0 > $DRIVER/bind
	counts
}

test_a_group_is_opened() {
	fail_each "all:" --least 25 open uncore_imc_0/cas_count_read/ uncore_imc_0/cas_count_write/ uncore_imc_0:0x101
	counts
}

test_an_owner_goes() {
	fail_each "all:" --least 1 --undo 'echo 1 > /sys/devices/system/cpu/cpu2/online' write /sys/devices/system/cpu/cpu2/online 0
	counts
}

test_an_owner_comes() {
	echo 0 > /sys/devices/system/cpu/cpu2/online
	fail_each "all:" --least 1 --undo 'echo 0 > /sys/devices/system/cpu/cpu2/online' write /sys/devices/system/cpu/cpu2/online 1
	echo 1 > /sys/devices/system/cpu/cpu2/online
	counts
}

test_a_sleep() {
	sleeps uncore_imc_0:0x304 'pmu-model add imc0 cas_rd 7'
}

test_nothing_is_lost() {
	unload
	no_leaks
	load
}

run_tests
