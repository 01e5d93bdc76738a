#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Readers on every CPU, against owners that move, overflow interrupts, a mesh that goes and comes back, and debugfs. Each
# mesh has an owner of its own. A data race of our modules is a line in the kernel's log, and fails the guest. Other files
# look for races while they do what they do.
#
# hostile vm: --arch arm64 --kernel 6.12 --races --driver ours --cpus 4 --nodes 2 --model cmn700,mesh=4x4,hnf=6,node=1 --model cmn600,mesh=4x2,hnf=4,node=0 --timeout 1800
. ./cmn/lib.sh

WAITS=/sys/module/pmu_races/parameters/waits
BUS=/sys/bus/platform/drivers/cmn_pmu
HALF=140737488355328	# of what the hardware has room for
find_meshes
use_mesh cmn1
GOES=$(basename "$(readlink -f "$MESH/device")")
NODE1=$(nodes hnf | head -n 1)
use_mesh cmn0
STAYS=$PMU
NODE0=$(nodes hnf | head -n 1)

before_end() {
	[ "$(cut -d. -f1 /proc/uptime)" -lt "$end" ]
}

# Equal events, which share; groups, of which one event is switched off and on; and one of a single node, which is read
# while the mesh counts. Of the mesh that goes nobody knows the number: read_and_toggle CPU
read_and_toggle() {
	while before_end; do
		for pmu in $(cd "$PMUS" && grep -ls . arm_cmn_*/cpumask | cut -d/ -f1); do
			[ "$pmu" = "$STAYS" ] && node=$NODE0 || node=$NODE1
			taskset $((1 << $1)) pmu-event --cpu 0 --groups-of 2 --readers 2 --toggle "$pmu/hnf_cache_miss/" \
				"$pmu/hnf_mc_reqs/" "$pmu/hnf_cache_miss,bynodeid=1,nodeid=$node/" "$pmu/dtc_cycles/" \
				-x 'sleep 1' 2>> "/tmp/said.$pmu" > /dev/null || :
		done
	done
}

count() {
	while before_end; do
		pmu-model add cmn0 "hnf_cache_miss@$NODE0" $HALF
		pmu-model add cmn1 hnf_mc_reqs 1000 > /dev/null
	done
}

look() {
	while before_end; do
		find /sys/kernel/debug/cmn_pmu -type f -exec cat {} + > /dev/null 2>&1 || :
		cat "$PMUS"/arm_cmn_*/cpumask > /dev/null 2>&1 || :
	done
}

move_owners() {
	while before_end; do
		for cpu in 0 1 2 3; do
			echo 0 > /sys/devices/system/cpu/cpu$cpu/online
			echo 1 > /sys/devices/system/cpu/cpu$cpu/online
			moves=$((${moves:-0} + 1))
		done
	done
	echo "$moves" > /tmp/moves
}

plug_mesh() {
	while before_end; do
		echo "$GOES" > $BUS/unbind
		echo "$GOES" > $BUS/bind
		binds=$((${binds:-0} + 1))
	done
	echo "$binds" > /tmp/binds
}

test_readers_everywhere() {
	bound N
	rm -f /tmp/said.* /tmp/moves /tmp/binds
	waits=$(cat $WAITS)
	end=$(($(cut -d. -f1 /proc/uptime) + ${LONG:-60}))
	for cpu in 0 1 2 3; do
		read_and_toggle $cpu &
	done
	count &
	look &
	move_owners &
	plug_mesh &
	wait
	bound Y
	waits=$(($(cat $WAITS) - waits))
	show "accesses that waited for another: $waits; moves: $(cat /tmp/moves); binds: $(cat /tmp/binds)"
	within "accesses that waited" $waits 1000 1000000000
	within "moves" "$(cat /tmp/moves)" 4 1000000
	# Nobody unbinds it: no count goes down.
	fails grep 'a reader\|a count' "/tmp/said.$STAYS"
}

run_tests
