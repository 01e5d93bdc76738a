#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything at once on the debug kernel: events of all kinds opened with any config, in each
# other's way, CPUs that come and go. The kernel must not complain, and afterwards everything counts
# as before.
#
# vm: --arch ppc64le --kernel 'kunit 6.1' --driver ours --model imc-p9,slow=50 --timeout 900 --append nowatchdog
. ./lib.sh

INST=0x118
TASK_INST=0x798
READS=0xd0
ALL="open_anything open_groups open_tasks count_tasks multiplex look plug_cpus post"

# Run a function over and over as long as /tmp/go exists, and count the rounds.
forever() {
	while [ -e /tmp/go ]; do
		"$1" > /dev/null 2>&1 || :
		echo >> "/tmp/rounds.$1"
	done
}

random() {
	od -An -N4 -tu4 /dev/urandom | tr -d ' '
}

open_anything() {
	pmu-event --cpu $(($(random) % 2)) "nest_mcs01_imc:$(random)" -x true
	pmu-event --cpu $(($(random) % 2)) "core_imc:$(($(random) & 0x1ff8))" "nest_phb0_imc:$(($(random) & 0x3fff8))" -x true
	pmu-event --cpu $(($(random) % 2)) "core_imc:$(($(random) & 0x3fff))" -x true
}

open_groups() {
	pmu-event --cpu $(($(random) % 2)) --group nest_mcs01_imc:$READS nest_mcs01_imc:0xd8 nest_mcs01_imc:0x340 -x true -x true
	pmu-event --cpu $(($(random) % 2)) --group core_imc:$INST core_imc:0x98 -x true -x true
}

open_tasks() {
	pmu-event --pid 0 --cpu $(($(random) % 3 - 1)) --inherit "thread_imc:$(($(random) & 0x1ff8))" -x 'true; true'
}

count_tasks() {
	perf stat -e thread_imc/CPM_MSR_TA_USER_INST/,thread_imc/CPM_CS_PURR_USER/ -- sh -c 'true & true & wait'
}

multiplex() {
	perf stat -a -I 50 -e core_imc/event=0x98/,nest_mcs01_imc/event=0xd0/,nest_nx_imc/event=0x3f8/ -- sleep 0.2
}

look() {
	cat /sys/kernel/debug/imc_pmu/nest /sys/kernel/debug/imc_pmu/engines /sys/kernel/debug/imc_pmu/events/*
	grep -r '' $PMUS/core_imc/ $PMUS/nest_mcs01_imc/
}

plug_cpus() {
	for cpu in 0 1; do
		echo 0 > /sys/devices/system/cpu/cpu$cpu/online
		echo 1 > /sys/devices/system/cpu/cpu$cpu/online
	done
}

post() {
	imc_add core0@0 $INST 1 | sh
	imc_add nest@0 $READS 1 | sh
}

test_all_at_once() {
	touch /tmp/go
	for what in $ALL; do
		forever "$what" &
	done
	sleep 30
	rm /tmp/go
	wait
	for what in $ALL; do
		within "rounds of $what" "$(wc -l < "/tmp/rounds.$what")" 1 100000
	done
}

# No engine is left on, no kind is excluded for good, no owner was lost.
test_counts_as_before() {
	pmu-model set nest@0 slow 0
	eventually "engine" 0 pmu-model get core0@0 running
	eventually "nest" 2 pmu-model get nest@0 status
	equal "modes of the threads" "$(pmu-model get 'thread*' mode | sed 's/.* //' | tr '\n' ' ')" "0 0 "
	equal "checkstops" "$(pmu-model get core0@0 checkstop)" 0
	for cpu in 0 1; do
		equal "core by CPU $cpu" "$(pmu-event --cpu $cpu core_imc:$INST -x "$(imc_add core0@0 $INST 7)")" 7
		equal "nest by CPU $cpu" "$(pmu-event --cpu $cpu nest_mcs01_imc:$READS -x "$(imc_add nest@0 $READS 8)")" 8
		equal "thread on CPU $cpu" "$(pmu-event --pid 0 --cpu -1 --inherit thread_imc:$TASK_INST \
			-x "$(imc_thread_add $cpu $TASK_INST 9)")" 9
	done
}

test_unloads() {
	rmmod imc_pmu
	rmmod pmu_core
	equal "PMUs" "$(find $PMUS/ -name '*_imc')" ""
}

test_nothing_leaks() {
	[ -e /sys/kernel/debug/kmemleak ] || skip "this kernel does not look for leaks; the debug kernel does"
	sleep 6
	for _ in 1 2; do
		echo scan > /sys/kernel/debug/kmemleak
	done
	equal "leaks" "$(cat /sys/kernel/debug/kmemleak)" ""
}

run_tests
