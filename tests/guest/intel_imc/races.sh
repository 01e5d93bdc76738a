#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Readers on every CPU, against owners that move, devices that go and come back, and sysfs. A data race of our
# modules is a line in the kernel's log, and fails the guest. Other files look for races while they do what they do.
#
# hostile vm: --kernel 6.12 --races --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
trap as_it_was EXIT

WAITS=/sys/module/pmu_races/parameters/waits

before_end() {
	[ "$(cut -d. -f1 /proc/uptime)" -lt "$end" ]
}

# read_and_toggle CPU
read_and_toggle() {
	while before_end; do
		# shellcheck disable=SC2046 # a list
		taskset $((1 << $1)) pmu-event --cpu $(($1 & 2)) --groups-of 2 --readers 2 --toggle \
			$(pairs uncore_imc_$(($1 & 1)) 2) -x 'sleep 2' > /dev/null 2>&1 || :
	done
}

look() {
	while before_end; do
		cat "$PMUS"/uncore_imc_*/cpumask > /dev/null 2>&1 || :
	done
}

move_owners() {
	while before_end; do
		for cpu in 3 2 1; do
			cpu_online $cpu 0
		done
		for cpu in 2 3 1; do
			cpu_online $cpu 1
		done
	done
}

plug_devices() {
	while before_end; do
		for device in 0000:3f:10.0 0000:7f:10.1; do
			echo $device > $DRIVER/unbind
			echo $device > $DRIVER/bind
		done
	done
}

test_readers_everywhere() {
	waits=$(cat $WAITS)
	end=$(($(cut -d. -f1 /proc/uptime) + ${LONG:-60}))
	for cpu in 0 1 2 3; do
		read_and_toggle $cpu &
	done
	look &
	move_owners &
	plug_devices &
	wait
	waits=$(($(cat $WAITS) - waits))
	show "accesses that waited for another: $waits"
	within "accesses that waited" $waits 1000 1000000000
}

run_tests
