#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each access to a mesh is the last one, or reads all ones: while it is discovered, and from the first open to the last
# read, with an owner that goes, and with a sleep. What a mesh may have counted has no bound, so another wrong answer is not noticed.
#
# hostile: everything is done again and again
# vm: --arch arm64 --kernel kunit --driver ours --cpus 2 --model cmn600,mesh=2x2,hnf=2 --timeout 1200
. ./cmn/lib.sh
. ./faults.sh
find_meshes
use_mesh cmn0

DEVICE=cmn0
ORDINARY="CMN-600 r|CPU[0-9]|Detected|lib.sh: mark|GICv3|psci|$ASLEEP"
FUNCTION=100000000.pmu
BUS=/sys/bus/platform/drivers/cmn_pmu
NODE=$(nodes hnf | head -n 1)
WANTED='7 3 77 3 77 3 '
LAST=2

appear() {
	echo $FUNCTION > $BUS/bind
}

leave() {
	echo $FUNCTION > $BUS/unbind
}

# Its number is another one each time.
count() {
	pmu=$(cd $PMUS && ls -d arm_cmn_*)
	pmu-event --manual "$pmu/hnf_cache_miss,bynodeid=1,nodeid=$NODE/" "$pmu/hnf_mc_reqs,bynodeid=1,nodeid=$NODE/" \
		-x "@model add cmn0 hnf_cache_miss@$NODE 7; add cmn0 hnf_mc_reqs@$NODE 3" -x @read "$@" \
		-x "@model add cmn0 hnf_cache_miss@$NODE 70" -x @read -x 'sleep 0.2' -x @read
}

test_a_life() {
	BEGIN=probe
	LIVES=$((LIVES / 2))
	life() {
		count
	}
	leave 2> /dev/null || :
	lives 100 last ones
	appear
}

test_counting_while_the_owner_goes() {
	BEGIN=open
	LIVES=$((LIVES / 2))
	appear 2> /dev/null || :
	owner=$(cat "$PMUS"/arm_cmn_*/cpumask)
	life() {
		count -x "echo 0 > /sys/devices/system/cpu/cpu$owner/online"
		echo 1 > /sys/devices/system/cpu/cpu"$owner"/online
	}
	leave 2> /dev/null || :
	lives 20 last ones
	appear
}

test_counting_over_a_sleep() {
	[ -e /sys/power/pm_test ] || skip "this kernel does not sleep"
	BEGIN=open
	LIVES=$((LIVES / 2))
	appear 2> /dev/null || :
	life() {
		count -x "$SLEEP"
	}
	leave 2> /dev/null || :
	lives 20 last ones
	appear
}

test_nothing_is_lost() {
	unload_ours
	no_leaks
	load_ours
}

run_tests
