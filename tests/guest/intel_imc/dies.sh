#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Packages of two dies, each with a UBOX and memory controllers of its own: the map of the UBOX gives the
# die, counted over all packages.
#
# all vm: --kernel 6.12 --driver ours --model clx,sockets=2,dies=2 --cpus 4
# kernels vm: --kernel 6.1 --driver 'ours in-tree' --model clx,sockets=2,dies=2 --cpus 4
# kernels vm: --kernel 6.12 --driver in-tree --model clx,sockets=2,dies=2 --cpus 4
. ./intel_imc/lib.sh
trap as_it_was EXIT

# Each CPU is a die here.
test_the_machine_has_dies() {
	equal "packages" "$(cat /sys/devices/system/cpu/cpu*/topology/physical_package_id | xargs)" "0 0 1 1"
	equal "dies" "$(cat /sys/devices/system/cpu/cpu*/topology/die_cpus_list | xargs)" "0 1 2 3"
}

test_every_die_has_a_cpu() {
	for pmu in "$PMUS"/uncore_imc_*; do
		equal "${pmu##*/}" "$(cat "$pmu/cpumask")" 0-3
	done
	equal "PMUs" "$(find "$PMUS/" -name 'uncore_imc_*' | wc -l)" 6
}

# What happens on a die is counted by that die's CPU, and by no other.
test_each_die_counts_its_own() {
	for die in 0 1 2 3; do
		for cpu in 0 1 2 3; do
			[ $cpu = $die ] && wanted=$((die + 5)) || wanted=0
			equal "die $die, CPU $cpu" "$(pmu-event --cpu $cpu uncore_imc_4:0x304 \
				-x "pmu-model add imc4@$die cas_rd $((die + 5))")" $wanted
		done
	done
}

# The log does not claim to know which die a number is of.
test_dies_that_are_numbered_otherwise() {
	[ $driver = ours ] || skip "the in-tree driver says nothing"
	unload
	pmu-model set ubox@0 nodeid 1
	pmu-model set ubox@1 nodeid 0
	log_mark
	load
	equal "die 0, on the CPU of die 1" "$(pmu-event --cpu 1 uncore_imc_4:0x304 -x 'pmu-model add imc4@0 cas_rd 5')" 5
	equal "lines" "$(log_since_mark | grep -c 'dies may be numbered otherwise .*pmu-check --probe sockets')" 1
	unload
	pmu-model set ubox@0 nodeid 0
	pmu-model set ubox@1 nodeid 1
	load
}

# A die that no CPU is in, beyond those of the machine.
test_die_without_a_cpu() {
	[ $driver = ours ] || skip "the in-tree driver says nothing"
	unload
	pmu-model set ubox@3 nodeid 6
	log_mark
	load
	contains "log" "$(log_since_mark)" 'fc:0a.2: uncore_imc_0: no CPU of die 6 is online'
	equal "cpumask" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0-2
}

run_tests
