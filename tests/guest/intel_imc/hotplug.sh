#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The owner CPU goes offline and comes back while events count: nothing is lost.
#
# vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
# all vm: --kernel '6.1 kunit' --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
# hostile vm: --kernel 6.12 --races --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
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

# And this makes events of two kinds happen as long as there is a file /tmp/moving, ten times at least.
cat > /tmp/storm <<-'EOT'
	n=0
	while [ $n -lt 10 ] || [ -e /tmp/moving ]; do
		pmu-model add imc0@1 cas_rd 1000
		pmu-model add imc0@1 act 7
		n=$((n + 1))
	done
	echo $n > /tmp/rounds
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

# A partition of cpusets takes the owner's CPU while nothing is open: the next events have another one, and their program
# is told nothing of that. While something is open the owner stays, and whom perf refuses moves nothing.
test_an_owner_is_isolated_later() {
	grep -qw cpuset_cpu_is_isolated /proc/kallsyms || skip "this kernel does not tell which CPUs are in partitions"
	first=$(last_owner)
	other=$((5 - first))
	mkdir -p /tmp/cgroup
	mount -t cgroup2 none /tmp/cgroup
	echo +cpuset > /tmp/cgroup/cgroup.subtree_control
	mkdir /tmp/cgroup/alone
	echo "$first" > /tmp/cgroup/alone/cpuset.cpus
	cat > /tmp/isolate <<-EOT
		echo isolated > /tmp/cgroup/alone/cpuset.cpus.partition
		cat $PMUS/uncore_imc_0/cpumask > /tmp/owners
	EOT
	pmu-event --cpu "$first" uncore_imc_0:0x304 -x 'sh /tmp/isolate' > /dev/null
	equal "partition" "$(cat /tmp/cgroup/alone/cpuset.cpus.partition)" isolated
	equal "a user without rights" "$(pmu-event --user 65534 --cpu "$first" uncore_imc_0:0x304)" EACCES
	equal "owner after that" "$(last_owner)" "$first"
	log_mark
	got=$(pmu-event --cpu "$first" uncore_imc_0:0x304 uncore_imc_0:0xc04 -x 'pmu-model add imc0@1 cas_rd 5')
	now=$(last_owner)
	equal "log" "$(log_since_mark | grep uncore_imc || :)" ""
	echo member > /tmp/cgroup/alone/cpuset.cpus.partition
	rmdir /tmp/cgroup/alone
	umount /tmp/cgroup
	equal "owners while an event is open" "$(cat /tmp/owners)" "0,$first"
	equal "owner of the next, counts" "$now, $got" "$other, 5 0"
}

# Events of two kinds happen all the time, from before the first move until after the last: all of them
# are counted, also of the second event, which kernels since 6.2 leave behind unless they are asked again.
test_nothing_is_lost() {
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
	pmu-event --cpu "$owner" --groups-of 2 --readers 2 $(pairs uncore_imc_0 8) \
		-x 'sh /tmp/moves; sh /tmp/moves' > /tmp/counts
	equal "counts" "$(wc -w < /tmp/counts)" 16
	# No counter was lost: there is room for two such groups at once.
	got=$(pmu-event --cpu "$(last_owner)" --groups-of 2 uncore_imc_0:0x304 uncore_imc_0:0xc04 \
		uncore_imc_0:0x101 uncore_imc_0:0x102 -x 'pmu-model add imc0@1 cas_rd 7; pmu-model add imc0@1 cas_wr 8
		pmu-model add imc0@1 act 5; pmu-model add imc0@1 pre_miss 6')
	equal "counts behind the moves" "$got" "7 8 5 6"
}

# When the last CPU of a socket goes offline perf takes events out of its context for good. A leader that
# was taken out gets no sibling: that one would move to another CPU without its leader, and perf would
# change the lists of one CPU under the locks of another. The CPU that goes last comes back first, so perf itself
# would take the sibling. A leader of another PMU does not move, so it has to be on this CPU.
test_no_sibling_of_a_leader_that_has_left() {
	for leader in uncore_imc_0:0x304 software:0; do
		cpu_online 2 0
		cpu_online 2 1
		log_mark
		got=$(pmu-event --cpu 3 --group $leader -x 'for cpu in 2 3; do
				echo 0 > /sys/devices/system/cpu/cpu$cpu/online; done; for cpu in 3 2; do
				echo 1 > /sys/devices/system/cpu/cpu$cpu/online; done' \
			-x '@join uncore_imc_0:0xc04' -x 'sh /tmp/moves' | sed 's/^[1-9].*/0/' | tr '\n' ' ')
		equal "counts behind $leader" "$got" "0 EINVAL 0 0 "
		contains "log" "$(log_since_mark)" "event refused: the leader of its group left with its CPU"
	done
}

# One that has moved, or is off, is still in its context. In 6.1 an event that joins a leader of perf's own which has moved
# waits for ever, whichever driver has the PMU (findings.md).
test_a_sibling_of_a_leader_that_has_moved() {
	software=$(since 6.12 'software:0 uncore_imc_0:0x304' '')
	for group in uncore_imc_0:0x304 '--disabled uncore_imc_0:0x304' "$software"; do
		[ "$group" ] || continue
		# shellcheck disable=SC2086 # options and events
		got=$(pmu-event --cpu "$(last_owner)" --group $group -x "cpu=$(last_owner)
				echo 0 > /sys/devices/system/cpu/cpu\$cpu/online; echo 1 > /sys/devices/system/cpu/cpu\$cpu/online" \
			-x '@join uncore_imc_0:0xc04' -x @enable -x 'pmu-model add imc0@1 cas_wr 7' | sed -n '$s/.* //p')
		equal "writes behind $group" "$got" 7
	done
}

# perf is called as often as it moves something, and not at all where there is nothing to move: some kernels
# move all of a PMU in a call, others one group.
test_no_move_for_nothing() {
	cd /sys/kernel/tracing || cd /sys/kernel/debug/tracing
	[ "$(since 5.11 '' no)" ] && skip "this kernel lets nobody probe perf"
	echo 'p:moves perf_pmu_migrate_context' > kprobe_events
	echo 'p:installs perf_install_in_context' >> kprobe_events
	moved() { # EVENT...: what perf did for these, a letter for each call (m) and for each event (i)
		cpu=$(last_owner)
		echo > trace
		# shellcheck disable=SC2086 # $1 may be empty
		pmu-event --cpu "$cpu" --groups-of 2 $1 -x "echo 1 > $PWD/events/kprobes/enable; \
			echo 0 > /sys/devices/system/cpu/cpu$cpu/online; echo 0 > $PWD/events/kprobes/enable" > /dev/null
		cpu_online "$cpu" 1
		sed -n 's/.* \([mi]\)[a-z]*: (.*/\1/p' trace | tr -d '\n'
	}
	none=$(moved "")
	one=$(moved "uncore_imc_0:0x304 uncore_imc_0:0xc04")
	three=$(moved "uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x10 uncore_imc_0:0x11 uncore_imc_1:0x304")
	show "two groups of a PMU and one of another: $three"
	equal "calls for no event" "$none" ""
	equal "calls for a group" "$one" mii
	equal "events moved" "$(echo "$three" | tr -cd i | wc -c)" 5
	case $three in
	*mm* | *m) false ;; # a call that moved nothing
	esac
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

# refuses CPU STATE 0|1: the CPU does not go offline, or come online, since this state fails.
refuses() {
	echo "$2" 2> /dev/null > "/sys/devices/system/cpu/cpu$1/hotplug/fail" || return 1
	if (cpu_online "$1" "$3") 2> /dev/null; then return 1; fi
}

# The states of hotplug between pmu_core's and perf's own in which a CPU that goes offline can be refused.
# Some do nothing in that direction, and can only refuse a CPU that comes.
states_that_refuse() {
	sed -n '/: perf:online/,/: perf\/pmu_core:online/s/^ *\([0-9]*\): [^ ].*/\1/p' \
		/sys/devices/system/cpu/hotplug/states | sed '1d;$d' > /tmp/between
	while read -r state; do
		if refuses 1 "$state" 0; then
			echo "$state"
		else
			cpu_online 1 1 2> /dev/null || cpu_online 1 1
		fi
	done < /tmp/between
}

# The last CPU of a socket begins to go offline, and a state behind ours refuses it, whichever: its events
# count on, all the time.
test_an_offline_that_is_refused() {
	cat > /tmp/refuse <<-'EOT'
		while read -r state; do
			echo "$state" > /sys/devices/system/cpu/cpu3/hotplug/fail
			if echo 0 2> /dev/null > /sys/devices/system/cpu/cpu3/online; then
				echo "state $state did not refuse"
				exit 1
			fi
		done
	EOT
	states_that_refuse > /tmp/states
	within "states" "$(wc -l < /tmp/states)" 1 100
	show "refused by $(wc -l < /tmp/states) states"
	cpu_online 2 0
	touch /tmp/moving
	got=$(pmu-event --cpu 3 uncore_imc_0:0x304 -x 'pmu-model add imc0@1 cas_rd 5' \
		-x 'sh /tmp/storm & sh /tmp/refuse < /tmp/states; refused=$?; rm /tmp/moving; wait; exit $refused' \
		-x 'pmu-model add imc0@1 cas_rd 7' | tr '\n' ' ')
	n=$(cat /tmp/rounds)
	equal "cpumask" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0,3
	cpu_online 2 1
	equal "reads" "$got" "5 $((5 + 1000 * n)) $((12 + 1000 * n)) "
}

# The same with nothing that counts: the box is off in between, and what is then enabled counts.
test_an_offline_that_is_refused_while_idle() {
	cpu_online 2 0
	got=$(pmu-event --disabled --cpu 3 uncore_imc_0:0x304 -x 'head -n 1 /tmp/states | sh /tmp/refuse' -x @enable \
		-x 'pmu-model add imc0@1 cas_rd 7' | tr '\n' ' ')
	cpu_online 2 1
	equal "reads" "$got" "0 0 7 "
}

# A CPU that would come online, as the socket's first, and is refused by a state behind ours.
test_an_online_that_is_refused() {
	last=$(sed -n 's/^ *\([0-9]*\): sched:active.*/\1/p' /sys/devices/system/cpu/hotplug/states)
	cpu_online 2 0
	cpu_online 3 0
	refuses 2 "$last" 1
	equal "cpumask" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0
	equal "an event" "$(pmu-event --cpu 2 uncore_imc_0:0x304)" ENODEV
	cpu_online 3 1
	got=$(pmu-event --cpu 3 uncore_imc_0:0x304 -x 'pmu-model add imc0@1 cas_rd 6')
	cpu_online 2 1
	equal "reads" "$got" 6
}

# A pinned event does not go to error state while another one is switched off and on during the moves, which
# makes perf take both out and put them back, wherever they are just then. What happens while the other
# one starts or stops is not counted, since the channel is frozen.
test_pinned_events_survive() {
	touch /tmp/moving
	got=$(pmu-event --cpu "$(last_owner)" --pinned --toggle uncore_imc_0:0x304 uncore_imc_0:0xc04 \
		-x 'sh /tmp/storm & for _ in 1 2 3 4 5; do sh /tmp/moves; done; rm /tmp/moving; wait')
	show "${got% *} of $((1000 * $(cat /tmp/rounds))) reads"
	within "reads" "${got% *}" 1 $((1000 * $(cat /tmp/rounds)))
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
