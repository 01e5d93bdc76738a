#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The owner CPU goes offline and comes back while events count: nothing is lost.
#
# vm: --kernel '6.1 6.12 kunit' --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
. ./intel_imc/lib.sh
trap as_it_was EXIT

# The CPU that counts for the last socket.
last_owner() {
	sed 's/.*[-,]//' $PMUS/uncore_imc_0/cpumask
}

# For pmu-event's -x: moves what counts on socket 1, once with each of its CPUs.
cat > /tmp/moves <<-'EOT'
	for cpu in 2 3; do
		echo 0 > /sys/devices/system/cpu/cpu$cpu/online
		echo 1 > /sys/devices/system/cpu/cpu$cpu/online
	done
EOT

# Which CPU owned the socket before is up to what ran here before.
test_owner_moves() {
	first=$(last_owner)
	other=$((5 - first))
	equal "cpumask" "$(cat "$PMUS/uncore_imc_0/cpumask")" "0,$first"
	cpu_online "$first" 0
	equal "cpumask without CPU $first" "$(cat "$PMUS/uncore_imc_0/cpumask")" "0,$other"
	cpu_online "$first" 1
	equal "cpumask with CPU $first back" "$(cat "$PMUS/uncore_imc_0/cpumask")" "0,$other"
	cpu_online "$other" 0
	equal "cpumask without CPU $other" "$(cat "$PMUS/uncore_imc_0/cpumask")" "0,$first"
	cpu_online "$other" 1
}

# Events of two kinds happen all the time, from before the first move until after the last: all of them
# are counted, also of the second event, which kernels since 6.2 leave behind unless they are asked again.
test_nothing_is_lost() {
	cat > /tmp/storm <<-'EOT'
		n=0
		while [ $n -lt 10 ] || [ -e /tmp/moving ]; do
			pmu-model add imc0@1 cas_rd 1000
			pmu-model add imc0@1 act 7
			n=$((n + 1))
		done
		echo $n > /tmp/rounds
	EOT
	touch /tmp/moving
	got=$(pmu-event --cpu "$(last_owner)" uncore_imc_0:0x304 uncore_imc_0:0x101 -x true \
		-x 'sh /tmp/storm & sh /tmp/moves; sh /tmp/moves; rm /tmp/moving; wait' -x true | tr '\n' ' ')
	n=$(cat /tmp/rounds)
	equal "reads, activates" "$got" "0 0 $((1000 * n)) $((7 * n)) $((1000 * n)) $((7 * n)) "
}

# The channel is not written to while its events move.
test_a_move_only_reads() {
	pmu-event --cpu "$(last_owner)" uncore_imc_0:0x304 uncore_imc_0:0x101 uncore_imc_0:0xff \
		-x 'pmu-model stats imc0@1 --reset > /dev/null; sh /tmp/moves; pmu-model stats imc0@1 > /tmp/stats' > /dev/null
	equal "reads" "$(awk '{ n += $2 } END { print (n > 0) }' /tmp/stats)" 1
	equal "writes" "$(awk '{ n += $3 } END { print n + 0 }' /tmp/stats)" 0
}

# Groups that take turns are read all the time by two processes while they move, on whichever CPU they
# are just then: nothing goes down, and all of them are where the owner is in the end.
test_groups_are_read_while_they_move() {
	owner=$(last_owner)
	# shellcheck disable=SC2046 # a list
	pmu-event --cpu "$owner" --groups-of 2 --readers 2 $(printf 'uncore_imc_0:0x304 uncore_imc_0:0xc04 %.0s' $(seq 8)) \
		-x 'sh /tmp/moves; sh /tmp/moves' > /tmp/counts
	equal "counts" "$(wc -w < /tmp/counts)" 16
	# No counter was lost: there is room for two such groups at once.
	got=$(pmu-event --cpu "$(last_owner)" --groups-of 2 uncore_imc_0:0x304 uncore_imc_0:0xc04 \
		uncore_imc_0:0x304 uncore_imc_0:0xc04 -x 'pmu-model add imc0@1 cas_rd 7; pmu-model add imc0@1 cas_wr 8')
	equal "counts behind the moves" "$got" "7 8 7 8"
}

# perf is called as often as there are events to move, and not at all where there is none: until 6.2 and
# since the latest kernels once for all of a PMU, in between once for each group.
test_no_move_for_nothing() {
	cd /sys/kernel/tracing || cd /sys/kernel/debug/tracing
	[ "$(since 5.11 '' no)" ] && skip "this kernel lets nobody probe perf"
	echo 'p:moves perf_pmu_migrate_context' > kprobe_events
	echo 1 > events/kprobes/moves/enable
	moved() { # EVENT...: how often perf was called for these
		cpu=$(last_owner)
		before=$(awk '{ print $2 }' kprobe_profile)
		# shellcheck disable=SC2086 # $1 may be empty
		pmu-event --cpu "$cpu" --groups-of 2 $1 -x "echo 0 > /sys/devices/system/cpu/cpu$cpu/online" > /dev/null
		after=$(awk '{ print $2 }' kprobe_profile)
		cpu_online "$cpu" 1
		echo $((after - before))
	}
	none=$(moved "")
	one=$(moved "uncore_imc_0:0x304 uncore_imc_0:0xc04")
	three=$(moved "uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x10 uncore_imc_0:0x11 uncore_imc_1:0x304")
	echo 0 > events/kprobes/moves/enable
	echo > kprobe_events
	case $(uname -r) in
	6.12.*) groups=3 ;;
	*) groups=2 ;;
	esac
	equal "moves of no event, of a group, of two of a PMU and one of another" "$none $one $three" "0 1 $groups"
}

# A clock that never stands still during the moves: what it counted is what passed.
test_clock_over_moves() {
	pmu-model set imc0@1 dead 1
	before=$(counts_from imc0@1 fixed)
	got=$(pmu-event --cpu "$(last_owner)" uncore_imc_0:0xff -x "$(clock imc0@1 sh /tmp/moves)")
	passed=$(($(pmu-model get imc0@1 fixed) - before))
	pmu-model set imc0@1 dead 0
	[ $passed -gt 0 ]
	equal "clocks" "$got" $passed
}

# More events than counters take turns; a move in the middle of that leaves no counter behind.
test_moves_while_multiplexing() {
	pmu-event --cpu "$(last_owner)" uncore_imc_0:0x10 uncore_imc_0:0x11 uncore_imc_0:0x12 \
		uncore_imc_0:0x20 uncore_imc_0:0x21 uncore_imc_0:0x22 -x 'sh /tmp/moves; sh /tmp/moves'
	# All counters are free again: a full group opens and counts.
	got=$(pmu-event --cpu "$(last_owner)" --group uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x101 \
		uncore_imc_0:0x10 uncore_imc_0:0xff -x 'pmu-model add imc0@1 cas_rd 42')
	equal "reads" "${got%% *}" 42
}

# The whole socket goes: counts stay as they were, and it counts again when a CPU is back.
test_last_cpu_of_the_socket() {
	cat > /tmp/leave <<-'EOT'
		pmu-model add imc0@1 cas_rd 5
		echo 0 > /sys/devices/system/cpu/cpu2/online
		echo 0 > /sys/devices/system/cpu/cpu3/online
		pmu-model add imc0@1 cas_rd 70
	EOT
	got=$(pmu-event --cpu "$(last_owner)" uncore_imc_0:0x304 -x 'sh /tmp/leave')
	equal "count when the socket left" "$got" 5
	equal "cpumask" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0
	cpu_online 2 1
	cpu_online 3 1
	got=$(pmu-event --cpu "$(last_owner)" uncore_imc_0:0x304 -x 'pmu-model add imc0@1 cas_rd 6')
	equal "count when it is back" "$got" 6
}

run_tests
