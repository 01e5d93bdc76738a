#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything at once: events opened with any config, groups that are read, CPUs and devices that come
# and go; and sleep. The kernel must not complain, and afterwards everything counts as before. Each does
# its rounds, however long they take, and with MINUTES in the environment goes on until these are over.
# To do the same again: scripts/vm ... -- env SEED=N sh intel_imc/stress.sh
#
# all vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
# soak vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
# hostile vm: --kernel 6.12 --races --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
trap as_it_was EXIT

SEED=${SEED:-$(od -An -N4 -tu4 /dev/urandom | tr -d ' ')}

# The next number of a sequence of 31 bits that $seed began, in $random
next() {
	seed=$((seed * 6364136223846793005 + 1442695040888963407))
	random=$((seed >> 33 & 0x7fffffff))
}

uptime_s() {
	cut -d. -f1 /proc/uptime
}

# rounds N FUNCTION SEQUENCE: each has its own sequence of numbers
rounds() {
	seed=$((SEED + $3)) n=0
	while [ $n -lt "$1" ] || [ "$(uptime_s)" -lt "$end" ]; do
		"$2" > /dev/null 2>&1 || :
		n=$((n + 1))
		echo $n > "/tmp/rounds.$2"
	done
}

open_anything() {
	next; cpu=$((random % 4))
	next; pmu=$((random % 4))
	next; any=$random
	next
	pmu-event --cpu $cpu "uncore_imc_$pmu:$any" "uncore_imc_0:$((random & 0xffff))" -x true
}

open_groups() {
	next
	pmu-event --cpu $((random % 4)) --group uncore_imc_0:0x304 uncore_imc_0:0xc04 \
		uncore_imc_0:0x101 uncore_imc_0:0x10 uncore_imc_0:0xff -x true -x true
}

# Nobody unbinds channel 1: its events are read all the time, on whichever CPU they are, and no count goes
# down. Two groups fit, four take turns. When a socket's CPUs have all left, as they do in a sleep, perf takes
# its groups apart, and they can be read as groups no more. CPU 0 never leaves.
read_groups() {
	next
	cpu=$((random % 4))
	# shellcheck disable=SC2046 # a list
	pmu-event --cpu $cpu --groups-of 2 --readers 2 $(pairs uncore_imc_1 4) \
		-x 'sleep 1' 2>> /tmp/said.socket$((cpu / 2))
}

# In earnest, or as far as one of the kernel's tests goes
sleep_and_wake() {
	next
	set -- devices processors core none
	shift $((random % 4))
	echo "$1" > /sys/power/pm_test
	echo mem > /sys/power/state
	echo none > /sys/power/pm_test
}

multiplex() {
	perf stat -a -I 50 -e uncore_imc/event=0x1/,uncore_imc/event=0x2/,uncore_imc/event=0x4/ \
		-e uncore_imc/event=0x10/,uncore_imc/event=0x11/,uncore_imc/clockticks/ -- sleep 0.3
}

plug_cpus() {
	for cpu in 2 3; do
		cpu_online $cpu 0
		cpu_online $cpu 1
	done
}

plug_devices() {
	for device in 0000:3f:10.0 0000:7f:10.0; do
		echo $device > $DRIVER/unbind
		echo $device > $DRIVER/bind
	done
}

test_all_at_once() {
	show "SEED=$SEED"
	rm -f /tmp/rounds.* /tmp/said.socket*
	echo 0 > /sys/module/suspend/parameters/pm_test_delay
	pmu-model set firmware wake 200
	end=$(($(uptime_s) + 60 * ${MINUTES:-0}))
	sequence=0
	# About as long each
	while read -r n what; do
		sequence=$((sequence + 1))
		rounds "$n" "$what" $sequence &
	done <<-'EOT'
		20 open_anything
		20 open_groups
		3 multiplex
		3 plug_cpus
		10 plug_devices
		3 read_groups
		3 sleep_and_wake
	EOT
	wait
	show "rounds: $(cd /tmp && grep . rounds.* | sed 's/rounds.//' | tr '\n' ' ')"
	within "rounds" "$(cat /tmp/rounds.* | awk '{ n += $1 } END { print n }')" 62 1000000
	fails grep 'a reader\|a count\|an event' /tmp/said.socket0
	fails grep 'a reader\|a count' /tmp/said.socket1
}

# No counter, no owner and no box was lost on the way.
test_counts_as_before() {
	cpus=$(tr , ' ' < "$PMUS/uncore_imc_0/cpumask")
	equal "sockets" "$(echo "$cpus" | wc -w)" 2
	for cpu in $cpus; do
		[ "$cpu" -ge 2 ] && socket=1 || socket=0
		got=$(pmu-event --cpu "$cpu" --group uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x101 \
			uncore_imc_0:0x10 uncore_imc_0:0xff -x "pmu-model add imc0@$socket cas_rd 1234")
		equal "socket $socket" "${got%% *}" 1234
	done
}

test_nothing_leaks() {
	no_leaks
}

run_tests
