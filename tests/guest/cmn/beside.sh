#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Our driver where the in-tree module is loaded, and the mesh is kept from that.
#
# vm: --arch arm64 --kernel '6.1 6.12' --driver none --model cmn700
. ./cmn/lib.sh

# It counts, but the map's place is the other one's: the log says so, and what to do.
test_kept_from_the_in_tree_driver() {
	echo cmn_pmu > /sys/bus/platform/devices/100000000.pmu/driver_override
	modprobe arm-cmn
	[ ! -e $PMUS/arm_cmn_0 ]
	insmod /vm/modules.d/pmu_core.ko
	log_mark
	insmod /vm/modules.d/cmn_pmu.ko
	n=$(pmu-model list cmn0 | grep -c '^node hnf ')
	equal "misses" "$(pmu-event "$(cmn_event hnf_cache_miss)" -x 'pmu-model add cmn0 hnf_cache_miss 70000')" $((70000 * n))
	contains "log" "$(log_since_mark)" 'cmn_pmu: .*arm-cmn.* map .*unload'
	rmmod cmn_pmu
}

# What the sentence says to do.
test_after_the_in_tree_module() {
	rmmod arm_cmn
	insmod /vm/modules.d/cmn_pmu.ko
	contains "map" "$(cat /sys/kernel/debug/arm-cmn/map)" '^arm_cmn_[0-9]: CMN-700'
	rmmod cmn_pmu
	[ ! -e /sys/kernel/debug/arm-cmn ]
}

run_tests
