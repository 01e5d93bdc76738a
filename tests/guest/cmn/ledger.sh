#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random programs of events of single nodes, of all of them, with a filter, and of two meshes of different products, whose
# owner changes, that have no power for a while, and whose carries and writes take their time. Equal events share;
# without sharing twelve take turns.
#
# all vm: --arch arm64 --kernel 6.12 --driver ours --cpus 4 --model cmn700,mesh=4x4,hnf=6 --model cmn600,mesh=4x2,hnf=4 --timeout 600
# kernels vm: --arch arm64 --kernel 6.1 --driver ours --cpus 4 --model cmn700,mesh=4x4,hnf=6 --model cmn600,mesh=4x2,hnf=4 --timeout 600
# hostile vm: --arch arm64 --kernel kunit --driver ours --cpus 4 --model cmn700,mesh=4x4,hnf=6 --model cmn600,mesh=4x2,hnf=4 --timeout 1200
# hostile vm: --arch arm64 --kernel 6.12 --races --driver ours --cpus 4 --model cmn700,mesh=4x4,hnf=6 --model cmn600,mesh=4x2,hnf=4 --timeout 1800
. ./cmn/lib.sh
. ./ledger.sh
find_meshes

# Events of a mesh, as many as the DTM of a node has counters: of all HN-Fs, and of one alone: specs cmnN
specs() {
	use_mesh "$1"
	for name in hnf_cache_miss hnf_mc_reqs hnf_qos_pocq_occupancy_read; do
		echo "$PMU/$name/=$(nodes hnf | sed "s/^/$1:$name@/" | paste -sd+)"
	done
	for node in $(nodes hnf | sed -n '1p;$p'); do
		echo "$PMU/hnf_cache_miss,bynodeid=1,nodeid=$node/=$1:hnf_cache_miss@$node"
	done
}

# Events of both. While a group is read, the mesh stands and counts nothing: two_meshes LEDGER [OPTION]...
two_meshes() {
	# shellcheck disable=SC2046 # a list
	"$@" --stands $(specs cmn0) $(specs cmn1)
}

setup() {
	two_meshes ledger "$@"
}

test_twelve_events() {
	setup --open 12 --no-turns
}

test_owners_that_go() {
	setup --open 12 --moves
}

# While an event moves, its mesh counts on.
test_owners_that_others_take() {
	two_meshes ledger_and_moves "0 1 2 3" --open 12
}

# The modules again, as they are loaded or with parameters: reload [SHARE [CARRY_NS [CLOCK_MHZ]]]. With a slow clock the
# mesh never stands for an event beside an equal one, which guests are too slow for otherwise.
reload() {
	unload_ours
	insmod /vm/modules.d/pmu_core.ko "share=${1:-1}"
	insmod /vm/modules.d/cmn_pmu.ko "carry_ns=${2:-2500}" "clock_mhz=${3:-4000}"
	find_meshes
}

restore() {
	for mesh in cmn0 cmn1; do
		pmu-model set $mesh carry_delay 0
		pmu-model set $mesh stop_delay 0
		pmu-model set $mesh posted 0
		pmu-model set $mesh irq_delay 0
		pmu-model set $mesh sleep 0
	done
	bound Y
	[ ! -e /sys/power/pm_test ] || echo none > /sys/power/pm_test
	reload
}

carries_under_way() {
	trap restore EXIT
	reload 1 400000 "${1:-4000}"
	for mesh in cmn0 cmn1; do
		pmu-model set $mesh carry_delay 300000
		pmu-model set $mesh stop_delay 50000
	done
	log_mark
	setup --open 12 --moves --late
	equal "carries that were lost or late" "$(log_since_mark | grep -cE 'carries are lost|a carry took')" 0
}

test_carries_under_way() {
	carries_under_way
}

test_carries_under_way_in_a_slow_mesh() {
	carries_under_way 1
}

# Whenever it likes, a mesh takes its time for writes, and for interrupts.
test_writes_under_way() {
	trap restore EXIT
	# The first is what all programs begin with.
	setup --open 12 --moves --late --fault 'set cmn* posted 0' --fault 'set cmn* posted 30000' \
		--fault 'set cmn0 posted 300000' --fault 'set cmn1 posted 300000' --fault 'set cmn* irq_delay 0' \
		--fault 'set cmn* irq_delay 300000'
}

# Counts that are so large that letters overflow.
test_large_counts() {
	trap restore EXIT
	bound N
	setup --open 12 --no-turns --large 44
}

# Devices are suspended for five seconds, in whose midst the meshes have no power. So the programs are short.
test_sleeps() {
	[ -e /sys/power/pm_test ] || skip "this kernel does not sleep"
	trap restore EXIT
	echo 5 > /sys/module/suspend/parameters/pm_test_delay
	echo devices > /sys/power/pm_test
	OPERATIONS=$((OPERATIONS / 5))
	setup --open 12 --moves --sleep "printf 'set cmn0 sleep 2000\nset cmn1 sleep 2000\n' | pmu-model - && echo freeze > /sys/power/state"
}

test_slow_mesh() {
	trap restore EXIT
	reload 1 2500 1
	setup --open 12 --no-turns
	setup --open 12 --moves
}

test_without_sharing() {
	trap restore EXIT
	reload 0
	setup --moves
	setup --moves --turns --open 12
}

run_tests
