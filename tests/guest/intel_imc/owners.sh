#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Which CPU owns a channel where some are isolated: the first of each socket, from the scheduler or
# from the tick. An owner is interrupted by every read, and has a timer while something counts.
#
# all vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4 --append isolcpus=0,2
# all vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --append isolcpus=nohz,0,2
. ./intel_imc/lib.sh
trap as_it_was EXIT

# A kernel without CPUs that have no tick isolates nothing then.
isolated() {
	! grep -q isolcpus=nohz /proc/cmdline || [ -e /sys/devices/system/cpu/nohz_full ] ||
		skip "this kernel isolates no CPU from the tick"
}

cpumask() {
	cat "$PMUS/uncore_imc_0/cpumask"
}

test_isolated_cpus_are_left_alone() {
	isolated
	equal "cpumask" "$(cpumask)" 1,3
	equal "count" "$(pmu-event --cpu 2 uncore_imc_0:0x304 -x 'pmu-model add imc0@1 cas_rd 5')" 5
}

# With nobody else there an isolated CPU has to, until there is one again; events count on.
test_an_isolated_cpu_is_relieved() {
	isolated
	got=$(pmu-event --cpu 3 uncore_imc_0:0x304 -x 'pmu-model add imc0@1 cas_rd 5' \
		-x "echo 0 > /sys/devices/system/cpu/cpu3/online; cat $PMUS/uncore_imc_0/cpumask > /tmp/away
			pmu-model add imc0@1 cas_rd 70" \
		-x 'echo 1 > /sys/devices/system/cpu/cpu3/online; pmu-model add imc0@1 cas_rd 600' | tr '\n' ' ')
	equal "cpumask without CPU 3" "$(cat /tmp/away)" 1-2
	equal "cpumask" "$(cpumask)" 1,3
	equal "counts" "$got" "5 75 675 "
	equal "count later" "$(pmu-event --cpu 3 uncore_imc_0:0x304 -x 'pmu-model add imc0@1 cas_rd 8')" 8
}

# Events are opened while the owner of their channel moves, from 3 to 2 and back.
test_opens_during_moves() {
	isolated
	touch /tmp/moving
	: > /tmp/owners
	(while [ -e /tmp/moving ]; do
		cpu_online 3 0
		cpumask
		cpu_online 3 1
	done > /tmp/owners) &
	rounds=0
	while [ $rounds -eq 0 ] || [ "$(wc -l < /tmp/owners)" -lt 2 ]; do
		yes 'uncore_imc_0:0x304' | head -n 300 | pmu-event --cpu 2 --lines
		rounds=$((rounds + 1))
	done > /tmp/opened
	rm /tmp/moving
	wait
	show "$(wc -l < /tmp/owners) moves"
	equal "owners meanwhile" "$(sort -u /tmp/owners)" 1-2
	equal "opened, refused" "$(wc -l < /tmp/opened), $(grep . /tmp/opened | sort | uniq -c)" "$((300 * rounds)), "
}

# Which CPUs look whether a channel counts, when its driver is bound: they do in several steps.
tried_on() {
	cd /sys/kernel/tracing || cd /sys/kernel/debug/tracing
	echo 0000:7f:10.0 > $DRIVER/unbind
	echo 'p:tries intel_imc_try_step' > kprobe_events
	echo > trace
	echo 1 > events/kprobes/tries/enable
	echo 0000:7f:10.0 > $DRIVER/bind
	echo 0 > events/kprobes/tries/enable
	sed -n 's/.*\[00\([0-9]\)\].* tries: .*/\1/p' trace | sort -u
	echo > kprobe_events
}

test_isolated_cpus_do_not_look() {
	isolated
	equal "CPU" "$(tried_on)" 3
}

# And where there is no other, nobody waits for what its real-time task leaves over: nothing.
test_real_time_is_interrupted() {
	cpu_online 3 0
	echo -1 > /proc/sys/kernel/sched_rt_runtime_us
	taskset 4 pmu-spin fifo 20 &
	spin=$!
	# Its scheduling policy, once it has that of real-time tasks
	for _ in $(seq 100); do
		[ "$(cut -d' ' -f41 /proc/$spin/stat)" != 1 ] || break
		sleep 0.1
	done
	echo 0000:7f:10.0 > $DRIVER/unbind
	(echo 0000:7f:10.0 > $DRIVER/bind; touch /tmp/bound) &
	for _ in $(seq 100); do
		[ ! -e /tmp/bound ] || break
		sleep 0.1
	done
	bound=$([ ! -e /tmp/bound ] || echo yes)
	kill $spin
	wait
	echo 950000 > /proc/sys/kernel/sched_rt_runtime_us
	cpu_online 3 1
	equal "bound while CPU 2 is busy" "$bound" yes
}

# How many timers of boxes are armed, on all CPUs.
TIMERS="grep -c pmu_box_poll /proc/timer_list"

test_no_timer_is_armed_for_nothing() {
	pmu-event --disabled --manual uncore_imc_0:0x304 -x "$TIMERS > /tmp/opened || :" \
		-x @enable -x "$TIMERS > /tmp/counting || :" -x @disable -x "$TIMERS > /tmp/stopped || :" \
		-x @enable -x "$TIMERS > /tmp/again || :"
	equal "timers" "$(cat /tmp/opened /tmp/counting /tmp/stopped /tmp/again | tr '\n' ' ')" "0 1 0 1 "
	equal "timers when it is closed" "$($TIMERS)" 0
}

run_tests
