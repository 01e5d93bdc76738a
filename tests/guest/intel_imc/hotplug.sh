#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The owner CPU goes offline and comes back while events count: nothing is lost.
#
# vm: --kernel '6.1 6.12 kunit' --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
. ./intel_imc/lib.sh

online() { # CPU 0|1
	echo "$2" > "/sys/devices/system/cpu/cpu$1/online"
}

owner() {
	sed 's/.*,//; s/0-//' "$PMUS/uncore_imc_0/cpumask"
}

test_owner_moves() {
	equal "cpumask" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0,2
	online 2 0
	equal "cpumask without CPU 2" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0,3
	online 2 1
	equal "cpumask with CPU 2 back" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0,3
	online 3 0
	equal "cpumask without CPU 3" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0,2
	online 3 1
}

# Events of two kinds happen all the time, in between and during every move: all of them are counted, also of the
# second event, which kernels since 6.2 leave behind unless they are asked again.
test_nothing_is_lost() {
	cat > /tmp/storm <<-'EOT'
		for i in $(seq 100); do
			pmu-model add imc0@1 cas_rd 1000
			pmu-model add imc0@1 act 7
		done
	EOT
	cat > /tmp/moves <<-'EOT'
		sh /tmp/storm &
		storm=$!
		for i in 1 2 3; do
			for cpu in 2 3; do
				echo 0 > /sys/devices/system/cpu/cpu$cpu/online
				echo 1 > /sys/devices/system/cpu/cpu$cpu/online
			done
		done
		wait $storm
	EOT
	got=$(pmu-event --cpu 2 uncore_imc_0:0x304 uncore_imc_0:0x101 -x 'sh /tmp/moves' -x true | tr '\n' ' ')
	equal "reads, activates" "$got" "100000 700 100000 700 "
}

# A clock that never stands still: what it counted over the moves is the time that passed.
test_clock_over_moves() {
	cat > /tmp/moves <<-'EOT'
		start=$(pmu-model get imc0@1 fixed)
		for cpu in 2 3 2 3; do
			echo 0 > /sys/devices/system/cpu/cpu$cpu/online
			echo 1 > /sys/devices/system/cpu/cpu$cpu/online
		done
		echo $((0 + $(pmu-model get imc0@1 fixed) - start)) > /tmp/moved
	EOT
	got=$(pmu-event --cpu 2 uncore_imc_0:0xff -x 'sh /tmp/moves')
	[ "$got" -ge "$(cat /tmp/moved)" ]
}

# More events than counters take turns; a move in the middle of that leaves no counter behind.
test_moves_while_multiplexing() {
	perf stat -x, -C 2 -e uncore_imc_0/event=0x10/ -e uncore_imc_0/event=0x11/ \
		-e uncore_imc_0/event=0x12/ -e uncore_imc_0/event=0x20/ -e uncore_imc_0/event=0x21/ \
		-e uncore_imc_0/event=0x22/ -- sh -c 'for cpu in 2 3 2 3; do
			echo 0 > /sys/devices/system/cpu/cpu$cpu/online
			echo 1 > /sys/devices/system/cpu/cpu$cpu/online
		done' > /tmp/said 2>&1
	# All counters are free again: a full group opens and counts.
	got=$(pmu-event --cpu 2 --group uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x101 \
		uncore_imc_0:0x10 uncore_imc_0:0xff -x 'pmu-model add imc0@1 cas_rd 42')
	equal "reads" "${got%% *}" 42
}

# The whole socket goes: counts stay as they were, and it counts again when a CPU is back.
test_last_cpu_of_the_socket() {
	cat > /tmp/moves <<-'EOT'
		pmu-model add imc0@1 cas_rd 5
		echo 0 > /sys/devices/system/cpu/cpu2/online
		echo 0 > /sys/devices/system/cpu/cpu3/online
		pmu-model add imc0@1 cas_rd 70
	EOT
	got=$(pmu-event --cpu 2 uncore_imc_0:0x304 -x 'sh /tmp/moves')
	equal "count when the socket left" "$got" 5
	equal "cpumask" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0
	online 2 1
	online 3 1
	got=$(pmu-event --cpu "$(owner)" uncore_imc_0:0x304 -x 'pmu-model add imc0@1 cas_rd 6')
	equal "count when it is back" "$got" 6
}

run_tests
