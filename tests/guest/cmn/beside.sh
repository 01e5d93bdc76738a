#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Our driver where the in-tree module is loaded, and the meshes are kept from that.
#
# all vm: --arch arm64 --kernel 6.12 --driver none --model cmn700,mesh=12x12,ports=1,dtc=4,hnf=130,rni=2,hnv=1 --model cmn700,mesh=1x1,ports=6,hnf=4
# all vm: --arch arm64 --kernel 6.1 --driver none --model cmn600,mesh=8x8,ports=1,dtc=4,hnf=56,rni=1,cxra=1,cxha=1 --model cmn700,mesh=1x1,ports=6,hnf=4
. ./cmn/lib.sh

# all DRIVER: which driver is to have the meshes, or none but by their names
all() {
	for device in /sys/bus/platform/devices/*.pmu; do
		echo "$1" > "$device/driver_override"
	done
}

# It counts, but the map's place is the other one's: the log says where ours is.
test_kept_from_the_in_tree_driver() {
	all cmn_pmu
	modprobe arm-cmn
	[ ! -e $PMUS/arm_cmn_0 ]
	in_tree_knows_all || skip "the in-tree driver of this kernel draws no map"
	log_mark
	load_ours
	find_meshes
	use_mesh cmn0
	expect $((70000 * $(nodes hnf | wc -l))) hnf_cache_miss -- "add cmn0 hnf_cache_miss 70000"
	counted
	contains "log" "$(log_since_mark)" 'cmn_pmu: arm-cmn/map .* in-tree driver.s'
	[ ! -e /sys/kernel/debug/arm-cmn/map ]
	contains "drawing" "$(cat /sys/kernel/debug/cmn_pmu/"$PMU")" "^$PMU: CMN-[67]00"
	unload_ours
	[ ! -e /sys/kernel/debug/cmn_pmu ]
}

test_after_the_in_tree_module() {
	rmmod arm_cmn
	load_ours
	contains "map" "$(cat /sys/kernel/debug/arm-cmn/map)" '^Y P D[+]'
	unload_ours
	[ ! -e /sys/kernel/debug/arm-cmn ]
	all ''
}

run_tests
