#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check: a mesh that works passes, with traffic or without, and each fault is said.
#
# kernels vm: --tools --arch arm64 --kernel 6.12 --model cmn700 --model cmn700,mesh=2x2,hnf=0.0.0+1.1.1 --timeout 900
. ./cmn/lib.sh
. ./check.sh
find_meshes
use_mesh cmn1
STILL=$PMU
use_mesh cmn0

as_it_was() {
	for key in gone traffic carry_drop carry_delay stop_delay; do
		pmu-model set cmn0 $key 0
	done
	pmu-model set cmn0 clock 2000000000
	echo 1 > /proc/sys/kernel/perf_event_paranoid
}

# One mesh under traffic, so that there is something to compare, and one where nothing happens, which is no fault. A busy
# host holds the guest up between a count and perf's time, so how even the clock seems is check_clock.sh's affair.
test_a_good_machine() {
	trap as_it_was EXIT
	pmu-model set cmn0 traffic 2000000
	good_machine 'log|clock'
	contains "the mesh" "$(cat /tmp/report.md)" 'mesh \| cmn_pmu'
	said clock '(ok|note)' "$PMU: [0-9.]+ GHz" hits ok "$PMU: [0-9]+ misses of [1-9][0-9]* accesses" \
		nodes ok "$PMU: .* of all nodes is [1-9]" a-clock ok "$PMU: [1-9][0-9]* accesses" \
		steady ok "$PMU: equal in 101 reads, at last [1-9]" ports ok "$PMU: watchpoints saw [1-9]" \
		twins ok '[1-9][0-9]* of them more than 0'
	said clock '(ok|note)' "$STILL: [0-9.]+ GHz" hits ok "$STILL: 0 misses of 0 accesses" \
		nodes ok "$STILL: .* of all nodes is 0, of 2 of 2 one by one 0" a-clock ok "$STILL: 0 accesses at 2 nodes" \
		steady ok "$STILL: equal in 101 reads, at last 0" ports ok "$STILL: watchpoints saw 0 of 0 requests"
}

# Both by traffic that a mesh of 2 GHz has, and one of 1 MHz cannot.
test_a_clock_that_no_mesh_has() {
	trap as_it_was EXIT
	pmu-model set cmn0 traffic 100000000
	pmu-model set cmn0 clock 1000000
	found clock FAIL "$PMU: its clock is .*; a mesh has 50 MHz to 4 GHz" a-clock FAIL 'accesses at [0-9]+ nodes in'
}

# Ours says so, and counts again when it is bound anew.
test_a_mesh_that_goes() {
	if [ -e /sys/module/cmn_pmu ]; then
		trap 'as_it_was; rmmod cmn_pmu; insmod /vm/modules.d/cmn_pmu.ko' EXIT
		says='arm_cmn_[0-9]/dtc_cycles/ on CPU 0: its device went away'
	else
		trap as_it_was EXIT
		says="$PMU: its clock is 0Hz"
	fi
	pmu-model set cmn0 gone 1
	found clock FAIL "$says"
}

# Misses at home nodes that nobody asked; and requests at crosspoints whose event lines select nothing any more, since
# another program has written there: a watchpoint sees what the event does not.
test_more_of_a_part_than_of_the_whole() {
	pmu-model list cmn0 | sed -n 's/^node mxp \(0x[0-9a-f]*\) .* frame=\(0x[0-9a-f]*\).*/\1 \2/p' |
		while read -r xp frame; do
			printf 'set cmn0 address %#x\nset cmn0 word 0\n' $((frame + SELECTOR))
			printf 'add cmn0 %s 1000\n' "flit@$xp,port=0,dir=down,chn=req" hnf_cache_miss
		done > /tmp/add
	while_adding 0.01 found_at_last hits FAIL "$PMU: [1-9][0-9]* misses of 0 accesses" \
		ports note "$PMU: XP 0x[0-9a-f]+, mxp_p0_req_txflit_valid: [0-9]+, but a watchpoint saw [1-9][0-9]* pass"
}
SELECTOR=0x2000		# pmu_event_sel of CMN-700's crosspoints

# A carry on its way that is lost when the mesh stands. One look at all nodes stops it twice, so it may lose none, or
# as many of the whole as of its parts.
test_carries_that_are_lost() {
	trap as_it_was EXIT
	pmu-model set cmn0 traffic 200000000
	pmu-model set cmn0 carry_delay 50000
	pmu-model set cmn0 carry_drop 1
	# Two counters of a DTM that have never been used apart wrap in the same clock, and lose the same.
	pmu-check a-clock > /dev/null
	found steady FAIL 'twice in a group differed' \
		twins FAIL "$PMU/.*/ twice in a group on CPU 0 counted [0-9]+ and [0-9]+"
	for _ in $(seq 30); do
		pmu-check nodes > /tmp/said 2>&1 || break
	done
	said nodes FAIL "$PMU: hnf_slc_sf_cache_access of all nodes is [0-9]+, of .* one by one [0-9]+: 0x"
	# The driver tells when it knows of one: it saw the counter wrap between two reads.
	pmu-model set cmn0 traffic 0
	pmu-model set cmn0 carry_delay 900000000
	node=$(nodes hnf | head -n 1)
	pmu-event --disabled --manual "$PMU/hnf_cache_miss,bynodeid=1,nodeid=$node/" -x @enable \
		-x "@model add cmn0 hnf_cache_miss@$node 40000" -x @read \
		-x "@model add cmn0 hnf_cache_miss@$node 40000" -x @disable -x @read
	pmu-model wait cmn0 carries 0
	found log note "$PMU: carries are lost when the mesh is stopped"
}

test_rights() {
	without_rights
}

# A line is a request to memory, at any home node: $share of them. The guest's firmware does not say which mesh is near,
# so it is no fault that one has none of them.
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
	with_cpus 0 found idle ok "$PMU: 0B/s to memory while nothing runs"
	pmu-model set cmn0 traffic 100000000
	with_cpus 4 found idle note "$PMU: .*B/s to memory while nothing runs: a device may"
	with_cpus 6 found idle skip 'The CPUs are 6 % busy'
}

test_both_drivers() {
	in_tree_knows_all || skip "the in-tree driver of this kernel knows CMN-600 alone"
	both_drivers cmn_pmu arm_cmn hits clock
}

run_tests
