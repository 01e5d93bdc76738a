#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check: a mesh that works passes, and each fault is said.
#
# vm: --tools --arch arm64 --kernel 6.12 --model cmn700 --timeout 900
. ./cmn/lib.sh
. ./check.sh

as_it_was() {
	for key in gone traffic carry_drop carry_delay stop_delay; do
		pmu-model set cmn0 $key 0
	done
	pmu-model set cmn0 clock 2000000000
	echo 1 > /proc/sys/kernel/perf_event_paranoid
}

test_a_good_machine() {
	good_machine 'log|idle'
	contains "the mesh" "$(cat /tmp/report.md)" 'mesh \| cmn_pmu'
}

test_under_traffic() {
	trap as_it_was EXIT
	pmu-model set cmn0 traffic 2000000
	for check in hits nodes a-clock steady twins; do
		found $check ok 'arm_cmn_0|counted the same'
	done
}

test_a_clock_that_no_mesh_has() {
	trap as_it_was EXIT
	pmu-model set cmn0 clock 1000000
	found clock FAIL 'arm_cmn_0: its clock is .*; a mesh has 50 MHz to 4 GHz'
	as_it_was
	found clock ok '(2|1.9..|2.0..) GHz, twice'
}

test_a_mesh_that_goes() {
	trap as_it_was EXIT
	pmu-model set cmn0 gone 1
	found clock FAIL 'arm_cmn_0: its clock is 0Hz'
}

test_misses_without_accesses() {
	echo "add cmn0 hnf_cache_miss 1000" > /tmp/add
	while_adding 0.01 found hits FAIL 'arm_cmn_0: [1-9][0-9]* misses of 0 accesses'
}

# A carry on its way that is lost when the mesh stands.
test_carries_that_are_lost() {
	trap as_it_was EXIT
	pmu-model set cmn0 traffic 200000000
	pmu-model set cmn0 carry_delay 50000
	pmu-model set cmn0 carry_drop 1
	found steady FAIL 'twice in a group differed'
}

test_more_than_clocks() {
	trap as_it_was EXIT
	pmu-model set cmn0 traffic 100000000
	pmu-model set cmn0 clock 1000000
	found a-clock FAIL 'accesses at [0-9]+ nodes in'
}

test_rights() {
	without_rights
}

test_experiments() {
	pmu-check --probe isolation --probe visible > /tmp/said || { cat /tmp/said; return 1; }
	contains "visible" "$(cat /tmp/said)" 'flits by channel: .*req 0'
}

# A line is a request to memory, at any home node: $share of them.
test_load() {
	load_program <<-'EOT'
		pmu-model add cmn0 "hnf_mc_reqs@$node" $(($3 / 64 * share / 100))
	EOT
	export share=100 node
	node=$(pmu-model list cmn0 | sed -n 's/^node hnf \(0x[0-9a-f]*\) .*/\1/p' | head -n 1)
	loaded 0 '^ok    load-memory'
	share=50
	loaded 1 '^FAIL  load-memory'
}

test_what_is_asked_of_memory_while_nothing_runs() {
	trap as_it_was EXIT
	pmu-model set cmn0 traffic 100000000
	found idle '(note|skip)' '(B/s to memory while nothing runs: a device may|busy)'
}

test_both_drivers() {
	both_drivers cmn_pmu arm_cmn clock hits
}

run_tests
