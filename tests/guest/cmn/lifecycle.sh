#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The life of a mesh's PMU: overflow interrupts, CPUs that go, modules that come and go, the map.
#
# vm: --arch arm64 --kernel '6.1 6.12' --driver ours --model cmn700 --cpus 2
. ./cmn/lib.sh

MESH=$PMUS/arm_cmn_0
HOME_NODES=$(pmu-model list cmn0 | grep -c '^node hnf ')

interrupts() {
	awk '/cmn_pmu|\.pmu/ { n += $2 + $3 } END { print n + 0 }' /proc/interrupts
}

count_misses() {
	pmu-event "$(cmn_event hnf_cache_miss)" -x 'pmu-model add cmn0 hnf_cache_miss 70000'
}

# More than 32 bits, and more than the hardware's 48 have before they wrap: with an interrupt at half of that.
test_counts_beyond_overflow() {
	before=$(interrupts)
	got=$(pmu-event "$(cmn_event hnf_cache_miss,bynodeid=1,nodeid=0x64)" -x 'pmu-model add cmn0 hnf_cache_miss@0x64 6000000000' \
		-x 'pmu-model add cmn0 hnf_cache_miss@0x64 140737488355328' -x 'pmu-model add cmn0 hnf_cache_miss@0x64 140737488355328' \
		-x 'pmu-model add cmn0 hnf_cache_miss@0x64 140737488355328')
	equal "6 * 10^9, and 2^47 three times" "$got" "6000000000
$((6000000000 + (1 << 47)))
$((6000000000 + (2 << 47)))
$((6000000000 + (3 << 47)))"
	within "interrupts" $(($(interrupts) - before)) 1 100
}

# Nobody reads in between, so without interrupts two of four would be lost.
test_interrupts_alone_keep_the_count() {
	half='pmu-model add cmn0 hnf_cache_miss@0x64 140737488355328'
	got=$(pmu-event --manual "$(cmn_event hnf_cache_miss,bynodeid=1,nodeid=0x64)" -x "$half; $half; $half; $half; $half" -x @read)
	equal "2^47 five times" "$got" $((5 << 47))
}

# Eight events of one node each have all letters of a DTC, from DTMs of two XPs; each overflows by itself.
test_every_letter_overflows() {
	half=140737488355328 events='' happens='' wanted='' n=0
	for id in $(pmu-model list cmn0 | sed -n 's/^node hnf \(0x[0-9a-f]*\) .* xp=\(0x[0-9a-f]*\) .* dtc=0 .*/\2 \1/p' |
		awk '!seen[$1]++ { print $2 }' | head -n 2); do
		for name in hnf_cache_miss hnf_mc_reqs hnf_seq_hit hnf_snp_sent; do
			n=$((n + 1))
			events="$events $(cmn_event $name,bynodeid=1,nodeid=$id)"
			for times in $half $half $((half + n)); do
				happens="$happens pmu-model add cmn0 $name@$id $times;"
			done
			wanted="$wanted $(((3 << 47) + n))"
		done
	done
	equal "events" $n 8
	# shellcheck disable=SC2086 # a list
	equal "3 * 2^47 and their numbers" "$(pmu-event --manual $events -x "$happens" -x @read)" "${wanted# }"
}

# The owner goes while events are counted: the next CPU takes them over, and nothing is lost.
test_owner_goes_offline() {
	equal "cpumask" "$(cat "$MESH/cpumask")" 0
	got=$(pmu-event --cpu 0 "$(cmn_event hnf_cache_miss)" \
		-x 'pmu-model add cmn0 hnf_cache_miss 70000' \
		-x 'echo 0 > /sys/devices/system/cpu/cpu0/online; pmu-model add cmn0 hnf_cache_miss 70000' \
		-x 'pmu-model add cmn0 hnf_cache_miss@0x64 140737488355328' \
		-x 'pmu-model add cmn0 hnf_cache_miss@0x64 140737488355328' \
		-x 'echo 1 > /sys/devices/system/cpu/cpu0/online; pmu-model add cmn0 hnf_cache_miss 70000')
	equal "cpumask" "$(cat "$MESH/cpumask")" 1
	n=$((70000 * HOME_NODES))
	equal "before, after, with interrupts there, and with CPU 0 again" "$got" "$n
$((2 * n))
$((2 * n + (1 << 47)))
$((2 * n + (2 << 47)))
$((3 * n + (2 << 47)))"
	# And back.
	echo 0 > /sys/devices/system/cpu/cpu1/online
	equal "cpumask" "$(cat "$MESH/cpumask")" 0
	equal "on CPU 0" "$(count_misses)" $n
	echo 1 > /sys/devices/system/cpu/cpu1/online
}

test_ten_times_in_and_out() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		rmmod cmn_pmu
		[ ! -e "$MESH" ]
		[ ! -e /sys/kernel/debug/arm-cmn ]
		insmod /vm/modules.d/cmn_pmu.ko
		equal "misses" "$(count_misses)" $((70000 * HOME_NODES))
	done
}

# A module that somebody counts with stays.
test_busy_while_counting() {
	pmu-event "$(cmn_event hnf_cache_miss)" -x 'rmmod cmn_pmu 2> /tmp/said || touch /tmp/stays' > /tmp/got
	[ -e /tmp/stays ]
	contains "rmmod" "$(cat /tmp/said)" 'unavailable|busy|in use'
	equal "misses later" "$(count_misses)" $((70000 * HOME_NODES))
}

# The cells of the map, each in a line after its coordinates: "X Y TEXT"
cells() {
	awk -F'|' '/^y=/ { y = substr($1, 3) + 0; row = 1 } /^ *[+]/ { row = 0 }
		row || /^ *[|]/ { for (i = 2; i < NF; i++) cell[i - 2 " " y] = cell[i - 2 " " y] " " $i }
		END { for (at in cell) { gsub(/ +/, " ", cell[at]); print at, cell[at] } }' /sys/kernel/debug/arm-cmn/map
}

# What a kind of node is called in the map, with its own events: title TYPE
title() {
	case $1 in
	hnf) echo HN-F ;;
	hni) echo HN-I ;;
	hnp) echo HN-P ;;
	rni) echo RN-I ;;
	rnd) echo RN-D ;;
	sbsx | mtsx | dn | dtc | ccra | ccha | ccla | ccla_rni) echo "$1" | tr "[:lower:]" "[:upper:]" ;;
	esac
}

# The map has every XP where it is, with its domain, and there each device with its ports and numbers.
test_map() {
	contains "map" "$(head -n 1 /sys/kernel/debug/arm-cmn/map)" '^arm_cmn_0: CMN-700 r[0-9]p[0-9], 4x2, 2 DTCs'
	cells > /tmp/cells
	equal "cells" "$(wc -l < /tmp/cells)" 8
	pmu-model list cmn0 | sed -n 's/^node //p' > /tmp/nodes
	checked=0
	while read -r type id logical xp port _; do
		at=$id
		[ "$type" = mxp ] || at=${xp#xp=}
		cell=$(grep "^$((at >> 5)) $((at >> 3 & 3)) " /tmp/cells)
		id=$(printf '0x%03x' "$id")
		if [ "$type" = mxp ]; then
			contains "cell of XP $id" "$cell" "XP $id DTC ${xp#dtc=}"
		elif [ -n "$(title "$type")" ]; then
			contains "cell of $type $id" "$cell" " p${port#port=} [-A-Z]* $id .*$(title "$type")#${logical#logical=} "
		fi
		checked=$((checked + 1))
	done < /tmp/nodes
	[ $checked -ge 30 ]
}

# From a PMU to its mesh, to tell one of several from another.
test_device_link() {
	equal "device" "$(readlink -f "$MESH/device")" "$(readlink -f /sys/bus/platform/drivers/cmn_pmu/100000000.pmu)"
	[ -e "$MESH/device/driver" ]
}

# Gone with its counters stopped: the next driver of it, or kernel, finds a mesh at rest.
test_at_rest_after_unload() {
	frame=$(pmu-model list cmn0 | sed -n 's/^node hnf 0x64 .*frame=\(0x[0-9a-f]*\).*/\1/p')
	equal "misses" "$(count_misses)" $((70000 * HOME_NODES))
	rmmod cmn_pmu
	pmu-model set cmn0 address $((frame + 0x2000))
	equal "events selected at 0x64" $(($(pmu-model get cmn0 word))) 0
	for key in dtc0_control dtc0_pmcr; do
		equal "$key" $(($(pmu-model get cmn0 $key))) 0
	done
}

run_tests
