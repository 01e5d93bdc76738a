#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The machine sleeps: the mesh has no power meanwhile and loses its registers. Nobody touches it then, and
# events that are open go on behind it.
#
# vm: --arch arm64 --kernel 6.12 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
# kernels vm: --arch arm64 --kernel 6.1 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
. ./cmn/lib.sh

find_meshes
use_mesh cmn0
NODE=bynodeid=1,nodeid=0x64
READS="$PMU/hnf_qos_pocq_occupancy_read,$NODE/"
FLITS="$PMU/watchpoint_up,bynodeid=1,nodeid=0x20,wp_dev_sel=1,wp_chn_sel=0,wp_grp=0,wp_val=0,wp_mask=0xffffffffffffffff/"

# The mesh is without power from the third second to the fifth. A kernel that tests sleep, without a platform
# that could, waits for five, within which that has to be; and an alarm comes later.
POWER='set cmn0 sleep 2000'

# pretends STATE LEVEL: a command that does what STATE asks of drivers, and of CPUs if LEVEL says so
pretends() {
	echo "echo '$POWER' | pmu-model -; echo $2 > /sys/power/pm_test; echo $1 > /sys/power/state;
		echo none > /sys/power/pm_test"
}

awake() {
	pmu-model set cmn0 sleep 0
	pmu-model set cmn0 pm_disable 0
	pmu-model set cmn0 filter_all 0
	echo none > /sys/power/pm_test
	echo 1 > /sys/devices/system/cpu/cpu0/online
	echo 1 > /sys/devices/system/cpu/cpu1/online
}

# It has had no power, and nobody asked it for anything.
untouched() {
	equal "the sleep was over" "$(pmu-model get cmn0 sleep)" 0
	equal "accesses without power" "$(pmu-model stats cmn0 | grep unpowered)" "unpowered 0 0"
}

# Reads beside writes, which the filter leaves out; misses that carry; flits.
ADD='@model add cmn0 hnf_qos_pocq_occupancy_read@0x64 5; add cmn0 hnf_qos_pocq_occupancy_write@0x64 900;'
ADD="$ADD add cmn0 hnf_cache_miss@0x64 70000; add cmn0 flit@0x20,port=1,dir=up,chn=req,g0=1 3"

# over_sleep COMMAND [OPTION]...: what was counted is kept, read or not, and all go on
over_sleep() {
	command=$1
	shift
	got=$(pmu-event --manual "$@" "$PMU/hnf_cache_miss,$NODE/" "$READS" "$FLITS" \
		-x "$ADD" -x @read -x "$ADD" -x "$command" -x @read -x "$ADD" -x @read | grep -v '^ *$' | tr '\n' ';')
	equal "before, behind, after" "$got" "70000 5 3;140000 10 6;210000 15 9;"
	untouched
}

test_single_events() {
	trap awake EXIT
	over_sleep "$(pretends freeze devices)"
}

test_a_group() {
	trap awake EXIT
	over_sleep "$(pretends freeze devices)" --group
}

# In earnest, which suspend to idle alone can be here: interrupts are off, too, but for the clock's.
test_suspend_to_idle() {
	trap awake EXIT
	cd /sys/class/rtc/rtc0 || skip "no clock could wake this machine"
	over_sleep "echo '$POWER' | pmu-model -; echo +7 > wakealarm; echo freeze > /sys/power/state"
}

# Hibernation takes all CPUs but the first down. If that was the owner its events come to the first while the mesh
# has no power.
test_the_owner_goes_offline() {
	trap awake EXIT
	echo 0 > /sys/devices/system/cpu/cpu0/online
	eventually "owner" 1 cat "$MESH/cpumask"
	echo 1 > /sys/devices/system/cpu/cpu0/online
	over_sleep "$(pretends disk processors)"
	equal "owner" "$(cat "$MESH/cpumask")" 0
}

# What nobody counts with when the machine sleeps counts afterwards.
test_nothing_was_open() {
	trap awake EXIT
	sh -c "$(pretends freeze devices)"
	equal "misses" "$(pmu-event "$PMU/hnf_cache_miss,$NODE/" -x "$ADD")" 70000
	untouched
}

# An event that has slept leaves nothing behind: its filter would act on others.
test_filters_go() {
	trap awake EXIT
	pmu-event --manual "$READS" -x "$(pretends freeze devices)"
	pmu-model set cmn0 filter_all 1
	equal "misses" "$(pmu-event "$PMU/hnf_cache_miss,$NODE/" -x "$ADD")" 70000
}

# A letter that overflows interrupts, as it did before.
test_interrupts_come() {
	trap awake EXIT
	bound N
	half='add cmn0 hnf_cache_miss@0x64 140737488355328'
	got=$(pmu-event --manual "$PMU/hnf_cache_miss,$NODE/" -x "$(pretends freeze devices)" \
		-x "@model $half; wait cmn0 dtc1_overflow 0" -x "@model $half; wait cmn0 dtc1_overflow 0" -x @read)
	equal "2^47 twice" "$got" $((1 << 48))
}

# Cycles are those of the time in which the machine was awake.
test_cycles() {
	trap awake EXIT
	before=$(pmu-model get cmn0 dtc0_ticks)
	# shellcheck disable=SC2046 # a list
	set -- $(pmu-event --manual "$PMU/dtc_cycles/" -x @read -x "$(pretends freeze devices)" -x @read -x @read)
	passed=$(($(pmu-model get cmn0 dtc0_ticks) - before))
	[ "$1" -lt "$2" ] && [ "$2" -lt "$3" ]
	# Five seconds of 2 GHz.
	[ "$3" -lt $((passed - 9900000000)) ]
}

# Firmware that withholds the PMU behind a sleep is told, and what was counted until then is kept; behind the next
# sleep it may be there again.
test_firmware_withholds_the_pmu() {
	trap awake EXIT
	log_mark
	got=$(pmu-event "$PMU/hnf_cache_miss,$NODE/" -x "$ADD" -x "pmu-model set cmn0 pm_disable 1; $(pretends freeze devices)" \
		-x true | tr '\n' ' ')
	equal "before, behind, after" "$got" "70000 70000 error "
	contains "log" "$(log_since_mark)" '100000000.pmu: error (-EACCES|-13): the PMU of DTC 0 stays off: 0x41 was written'
	equal "blamed" "$(log_since_mark | grep -c 'a carry took longer')" 0
	pmu-model set cmn0 pm_disable 0
	sh -c "$(pretends freeze devices)"
	equal "again" "$(pmu-event "$PMU/hnf_cache_miss,$NODE/" -x "$ADD")" 70000
}

run_tests
