#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The life of a mesh's PMU: overflow interrupts, CPUs that go, modules that come and go, the drawing.
#
# vm: --arch arm64 --kernel 6.12 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
# all vm: --arch arm64 --kernel 6.1 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
. ./cmn/lib.sh

find_meshes
use_mesh cmn0
HOME_NODES=$(nodes hnf | wc -l)
HALF=140737488355328	# of what the hardware has room for

# Interrupts are served where the commands run that cause them, CPU 0: nothing happens while they are.
taskset -p 1 $$ > /dev/null

interrupts() {
	awk '/cmn_pmu|\.pmu/ { n += $2 + $3 } END { print n + 0 }' /proc/interrupts
}

count_misses() {
	pmu-event "$PMU/hnf_cache_miss/" -x '@model add cmn0 hnf_cache_miss 70000'
}

# More than 32 bits, and more than the hardware's 48 have before they wrap: with an interrupt at half of that.
test_counts_beyond_overflow() {
	bound N
	before=$(interrupts)
	half="@model add cmn0 hnf_cache_miss@0x64 $HALF"
	got=$(pmu-event "$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x64/" \
		-x '@model add cmn0 hnf_cache_miss@0x64 6000000000' -x "$half" -x "$half" -x "$half")
	equal "6 * 10^9, and 2^47 three times" "$got" "6000000000
$((6000000000 + (1 << 47)))
$((6000000000 + (2 << 47)))
$((6000000000 + (3 << 47)))"
	within "interrupts" $(($(interrupts) - before)) 1 100
}

# Nobody reads in between, so without interrupts two of four would be lost.
test_interrupts_alone_keep_the_count() {
	bound N
	half="add cmn0 hnf_cache_miss@0x64 $HALF"
	got=$(pmu-event --manual "$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x64/" \
		-x "@model $half; $half; $half; $half; $half" -x @read)
	equal "2^47 five times" "$got" $((5 << 47))
}

# Eight events of one node each have all letters of a DTC, from DTMs of two XPs; each overflows by itself.
test_every_letter_overflows() {
	bound N
	events='' happens='' wanted='' n=0
	for id in $(sed -n 's/^node hnf \(0x[0-9a-f]*\) .* xp=\(0x[0-9a-f]*\) .* dtc=0 .*/\2 \1/p' "$LIST" |
		awk '!seen[$1]++ { print $2 }' | head -n 2); do
		for name in hnf_cache_miss hnf_mc_reqs hnf_seq_hit hnf_snp_sent; do
			n=$((n + 1))
			events="$events $PMU/$name,bynodeid=1,nodeid=$id/"
			for times in $HALF $HALF $((HALF + n)); do
				happens="$happens add cmn0 $name@$id $times;"
			done
			wanted="$wanted $(((3 << 47) + n))"
		done
	done
	equal "events" $n 8
	# shellcheck disable=SC2086 # a list
	equal "3 * 2^47 and their numbers" "$(pmu-event --manual $events -x "@model $happens" -x @read)" "${wanted# }"
}

# The cycle counter of 40 bits wraps, at a clock at which it does nothing else: its interrupt puts it back to the
# middle of its range, and the count goes on.
test_cycles_wrap() {
	bound N
	trap 'pmu-model set cmn0 clock 2000000000' EXIT
	pmu-model set cmn0 clock 1
	before=$(interrupts)
	got=$(pmu-event --manual "$PMU/dtc_cycles/" -x '@model set cmn0 dtc0_cycles 0xffffffffff' \
		-x '@model set cmn0 clock 2000000000; wait cmn0 dtc0_overflow 0; set cmn0 clock 1' -x @read)
	[ "$got" -ge $((1 << 39)) ]
	[ "$(interrupts)" -gt "$before" ]
	[ $(($(pmu-model get cmn0 dtc0_cycles))) -ge $((1 << 39)) ]
}

# The owner goes while events are counted: the next CPU takes them over, and nothing is lost.
test_owner_goes_offline() {
	bound N
	equal "cpumask" "$(cat "$MESH/cpumask")" 0
	got=$(pmu-event --cpu 0 "$PMU/hnf_cache_miss/" \
		-x '@model add cmn0 hnf_cache_miss 70000' \
		-x 'echo 0 > /sys/devices/system/cpu/cpu0/online; pmu-model add cmn0 hnf_cache_miss 70000' \
		-x "@model add cmn0 hnf_cache_miss@0x64 $HALF" -x "@model add cmn0 hnf_cache_miss@0x64 $HALF" \
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
		[ ! -e /sys/kernel/debug/cmn_pmu ]
		insmod /vm/modules.d/cmn_pmu.ko
		find_meshes
		use_mesh cmn0
		equal "misses" "$(count_misses)" $((70000 * HOME_NODES))
	done
}

# A module that somebody counts with stays.
test_busy_while_counting() {
	pmu-event "$PMU/hnf_cache_miss/" -x 'rmmod cmn_pmu 2> /tmp/said || touch /tmp/stays' > /tmp/got
	[ -e /tmp/stays ]
	contains "rmmod" "$(cat /tmp/said)" 'unavailable|busy|in use'
	equal "misses later" "$(count_misses)" $((70000 * HOME_NODES))
}

# The cells of the drawing, each in a line after its coordinates: "X Y TEXT"
cells() {
	awk -F'|' '/^y=/ { y = substr($1, 3) + 0; row = 1 } /^ *[+]/ { row = 0 }
		row || /^ *[|]/ { for (i = 2; i < NF; i++) cell[i - 2 " " y] = cell[i - 2 " " y] " " $i }
		END { for (at in cell) { gsub(/ +/, " ", cell[at]); print at, cell[at] } }' /tmp/drawing
}

# What a kind of node is called in the drawing, with its own events: title TYPE
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

# The drawing has every XP where it is, with its domain, and there each device with its ports and numbers.
test_drawing() {
	cat "/sys/kernel/debug/cmn_pmu/$PMU" > /tmp/drawing
	contains "drawing" "$(head -n 1 /tmp/drawing)" "^$PMU: CMN-700 r[0-9]p[0-9], 4x2, 2 DTCs"
	cells > /tmp/cells
	equal "cells" "$(wc -l < /tmp/cells)" 8
	sed -n 's/^node //p' "$LIST" > /tmp/nodes
	checked=0
	while read -r type id logical xp port _; do
		at=$id
		[ "$type" = mxp ] || at=${xp#xp=}
		cell=$(grep "^$((at >> 5)) $((at >> 3 & 3)) " /tmp/cells)
		id=$(printf '0x%03x' "$id")
		if [ "$type" = mxp ]; then
			contains "cell of XP $id" "$cell" "XP $id DTC ${xp#dtc=}"
		elif [ -n "$(title "$type")" ]; then
			contains "cell of $type $id" "$cell" " p${port#port=} [-A-Z_]* $id .*$(title "$type")#${logical#logical=} "
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
	frame=$(sed -n 's/^node hnf 0x64 .*frame=\(0x[0-9a-f]*\).*/\1/p' "$LIST")
	equal "misses" "$(count_misses)" $((70000 * HOME_NODES))
	rmmod cmn_pmu
	equal "events selected at 0x64" "$(word $((frame + 0x2000)))" 0
	for key in dtc0_control dtc0_pmcr; do
		equal "$key" $(($(pmu-model get cmn0 $key))) 0
	done
	insmod /vm/modules.d/cmn_pmu.ko
}

run_tests
