#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What events count: exact numbers, on our driver and, as the referee, on the in-tree one.
#
# vm: --kernel 6.12 --driver 'ours in-tree' --model snbep,sockets=2 --cpus 4
# all vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4
# kernels vm: --kernel 6.1 --driver in-tree --model snbep,sockets=2 --cpus 4
# kernels vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4 --param intel_imc_pmu.access=pci
. ./intel_imc/lib.sh
trap 'pmu-model set "imc*" dead 0; pmu-model set "imc*" tear 0; pmu-model set "imc*" tearhigh 0' EXIT

# Nothing happened but what the command made happen.
test_nothing_is_nothing() {
	equal "count" "$(pmu-event uncore_imc_0:0x304 -x true)" 0
}

# An exact number, by perf itself, as a user asks for it.
test_perf_stat_counts_exactly() {
	out=$(perf stat -x, -a -e uncore_imc/event=0x4,umask=0x3/ -- pmu-model add imc0 cas_rd 1000000 2>&1)
	contains "perf stat" "$out" '^1000000,,uncore_imc/event=0x4,umask=0x3/'
}

# Edge, threshold and inversion do in the register what they say.
test_modifiers() {
	# Thresholds of 4 and 5 against clocks in which 4 came; bursts of 4 have edges of their own.
	got=$(pmu-event uncore_imc_0:0x80 uncore_imc_0:0x04000080 uncore_imc_0:0x05000080 \
		uncore_imc_0:0x01040080 -x 'pmu-model add imc0 rpq_occupancy 100 4')
	equal "occupancy, >= 4, >= 5, bursts" "$got" "400 100 0 100"
	# Clocks in which fewer than 5 came: all that passed, but for 1000.
	pmu-model set imc0 dead 1
	got=$(pmu-event uncore_imc_0:0x05800080 uncore_imc_0:0xff \
		-x "$(clock imc0 'pmu-model add imc0 rpq_occupancy 1000 6')")
	pmu-model set imc0 dead 0
	equal "clocks with fewer than 5, of ${got#* }" "${got% *}" $((${got#* } - 1000))
}

# Five in a group, four general and the fixed one, count the same interval: the fixed one and a general
# one on the same clock the very same number, which is what the counter moved.
test_full_group() {
	pmu-model set imc0 dead 1
	before=$(counts_from imc0 fixed)
	got=$(pmu-event --group uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x101 uncore_imc_0:0x00 \
		uncore_imc_0:0xff -x "$(clock imc0 'pmu-model add imc0 cas_rd 7; pmu-model add imc0 cas_wr 8')")
	clocks=$(($(pmu-model get imc0 fixed) - before))
	pmu-model set imc0 dead 0
	[ $clocks -gt 0 ]
	equal "group" "$got" "7 8 0 $clocks $clocks"
}

# Two start and stop in one moment, too, though their leader is off before they are stopped.
test_pair() {
	for pair in "0xff uncore_imc_0:0" "0 uncore_imc_0:0xff"; do
		# shellcheck disable=SC2086 # two events
		got=$(pmu-event --group --disabled --manual uncore_imc_0:$pair -x @enable -x true -x @disable -x @read)
		equal "clocks of $pair" "${got% *}" "${got#* }"
	done
}

# Events are opened in a group of another PMU's while somebody opens and closes those of another channel, and
# right behind a close of their own: none is refused.
test_opened_beside_others() {
	yes uncore_imc_1:0x304 | pmu-event --lines > /dev/null &
	other=$!
	yes 'software:0 uncore_imc_0:0x304' | head -n 500 | pmu-event --group --lines > /tmp/opened
	kill $other
	equal "opened, refused" "$(wc -l < /tmp/opened), $(grep . /tmp/opened | sort | uniq -c)" "500, "
}

# Where 48 bits wrap the count goes on: from 16 before that a million. DRAM would take two days to get there, so the
# counter is set, after the reset that the first start brings.
test_wraps_at_2_48() {
	got=$(pmu-event --disabled --manual uncore_imc_3:0x304 -x @enable -x @disable \
		-x 'pmu-model set imc3 ctr0 0xfffffffffff0' -x @enable -x @read \
		-x 'pmu-model add imc3 cas_rd 1000000' -x @read -x 'pmu-model add imc3 cas_rd 5' -x @read | tr '\n' ' ')
	equal "before, after the wrap, and on" "$got" "0 1000000 1000005 "
	equal "the counter did wrap" "$(pmu-model get imc3 ctr0)" $((1000005 - 16))
}

# From the low half's end: 0x30 events come right after the half that KEY says was read. DRAM takes 3 s to get there,
# and our driver looks at the low half alone for most of a second after a read.
torn_read() { # KEY
	first=$((0xfffffff0 - $(counts_from imc2 ctr0) % (1 << 32)))
	pmu-event uncore_imc_2:0x304 -x "sleep 3; pmu-model add imc2 cas_rd $first" \
		-x "sleep 1; pmu-model set imc2 $1 0x30" -x 'sleep 1' | while read -r count; do printf '%s ' $((count - first)); done
	equal "what waits" "$(pmu-model get imc2 "$1")" 0
}

# Read often, a counter of ours costs one access, and is exact where the low half carries.
test_low_half_is_enough() {
	[ $driver = ours ] || skip "what our driver does"
	first=$((0xfffffff0))
	got=$(pmu-event --manual uncore_imc_2:0x304 -x "sleep 3; pmu-model add imc2 cas_rd $first" -x @read \
		-x 'pmu-model stats imc2 --reset > /dev/null; pmu-model add imc2 cas_rd 0x30' -x @read \
		-x 'pmu-model add imc2 cas_rd 5' -x '@time 200' -x @read -x 'pmu-model stats imc2 > /tmp/stats')
	equal "counts" "$(echo "$got" | sed 3d | tr '\n' ' ')" "$first $((first + 0x30)) $((first + 0x35)) "
	within "accesses of 202 reads" "$(awk '$1 == "ctr" { print $2 }' /tmp/stats)" 202 250
}

# A carry between the two halves of a read: ours is exact, the in-tree driver off by 2^32 at once and
# by 2^48 from the next read on.
test_torn_between_the_halves() {
	if [ $driver = ours ]; then
		equal "counts" "$(torn_read tear)" "0 48 48 "
	else
		equal "the in-tree driver's counts" "$(torn_read tear)" "0 $((1 << 32)) $((48 + (1 << 48))) "
	fi
}

# A carry when both halves were read: ours looks at the low one again, and has it already.
test_carry_after_both_halves() {
	[ $driver = ours ] && wanted="0 48 48 " || wanted="0 0 48 "
	equal "counts" "$(torn_read tearhigh)" "$wanted"
}

# A user without rights pins an event of a task. Each time that perf schedules the task, it takes all events that are not
# pinned off that CPU and puts them back. For the in-tree driver that is a stop and a start of the channel.
test_a_task_with_a_pinned_event() {
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	trap 'echo $paranoid > /proc/sys/kernel/perf_event_paranoid' EXIT
	echo 1 > /proc/sys/kernel/perf_event_paranoid
	cat > /tmp/switches <<-'EOT'
		pmu-model stats imc0 --reset > /dev/null
		taskset 1 pmu-event --user 65534 --exclude-kernel --pid 0 --cpu -1 --inherit --pinned software:1 \
			-x 'for _ in $(seq 100); do sleep 0.01; done' > /tmp/said
		pmu-model stats imc0 > /tmp/stats
		pmu-model add imc0 cas_rd 7
	EOT
	equal "count" "$(pmu-event uncore_imc_0:0x304 -x 'sh /tmp/switches')" 7
	contains "the task's event" "$(cat /tmp/said)" '^[0-9]+$'
	writes=$(awk '{ n += $3 } END { print n + 0 }' /tmp/stats)
	show "$driver: $writes writes in 100 rounds"
	if [ $driver = ours ]; then equal "writes" "$writes" 0; else within "writes" "$writes" 200 100000; fi
}

run_tests
