#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation fails once: loading, binding, opening a group and a pair of watchpoints, the map and the drawing,
# a CPU that goes or comes, a sleep. Afterwards everything counts.
#
# fresh: where its own memory runs out, kmemleak prints with a lock held, after which lockdep complains of the kernel
# hostile: everything is done again and again
# vm: --arch arm64 --kernel kunit --driver ours --cpus 2 --model cmn700,mesh=3x3,hnf=3 --timeout 1200
. ./cmn/lib.sh
# To load or bind a mesh takes seconds here.
MOST=${MOST:-$((2 * ${SIZE:-1}))}
. ./allocations.sh
find_meshes
use_mesh cmn0
DEVICE=$(cd /sys/bus/platform/devices && ls -d ./*.pmu ./*cmn* 2> /dev/null | sed 's,^\./,,' | head -n 1)
BUS=/sys/bus/platform/drivers/$(basename "$(readlink -f "/sys/bus/platform/devices/$DEVICE/driver")")
NODE=$(nodes hnf | head -n 1)

# Its number is another one each time.
counts() {
	use_mesh cmn0
	equal "afterwards" "$(pmu-event "$PMU/hnf_cache_miss,bynodeid=1,nodeid=$NODE/" \
		-x "pmu-model add cmn0 hnf_cache_miss@$NODE 70000")" 70000
}

test_the_driver_is_loaded() {
	rmmod cmn_pmu
	each 900 load /vm/modules.d/cmn_pmu.ko
	insmod /vm/modules.d/cmn_pmu.ko
	find_meshes
	counts
}

test_a_mesh_is_bound() {
	echo "$DEVICE" > "$BUS/unbind"
	each_of_all 900 --undo "echo $DEVICE > $BUS/unbind" write "$BUS/bind" "$DEVICE"
	echo "$DEVICE" > "$BUS/bind"
	find_meshes
	counts
}

test_a_group_is_opened() {
	use_mesh cmn0
	fail_each "all:" --least 30 open "$PMU/hnf_cache_miss/" "$PMU/hnf_mc_reqs/" "$PMU/dtc_cycles/"
	fail_each "all:" --least 20 open "$PMU/watchpoint_up,wp_dev_sel=0,wp_chn_sel=0,wp_combine=1,wp_val=1,wp_mask=1/" \
		"$PMU/watchpoint_up,wp_dev_sel=0,wp_chn_sel=0,wp_combine=1,wp_grp=1,wp_val=1,wp_mask=1/"
	counts
}

test_the_map_and_the_drawing_are_read() {
	use_mesh cmn0
	files "$PMU/hnf_cache_miss/" /sys/kernel/debug/cmn_pmu /sys/kernel/debug/arm-cmn
	counts
}

test_an_owner_goes() {
	fail_each "all:" --least 1 --undo 'echo 1 > /sys/devices/system/cpu/cpu0/online' write /sys/devices/system/cpu/cpu0/online 0
	counts
}

test_an_owner_comes() {
	echo 0 > /sys/devices/system/cpu/cpu0/online
	fail_each "all:" --least 1 --undo 'echo 0 > /sys/devices/system/cpu/cpu0/online' write /sys/devices/system/cpu/cpu0/online 1
	echo 1 > /sys/devices/system/cpu/cpu0/online
	counts
}

test_a_sleep() {
	[ -e /sys/power/pm_test ] || skip "this kernel does not sleep"
	use_mesh cmn0
	sleeps "$PMU/hnf_cache_miss,bynodeid=1,nodeid=$NODE/" "pmu-model add cmn0 hnf_cache_miss@$NODE 7"
}

test_nothing_is_lost() {
	unload_ours
	no_leaks
	load_ours
}

run_tests
