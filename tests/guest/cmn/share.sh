#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Equal events of a mesh share counters, letters, selectors and watchpoints: what that costs, that each
# has its own count, and that any number of users fit.
#
# vm: --arch arm64 --kernel 6.12 --driver ours --cpus 2 --model cmn700 --model cmn600 --timeout 900
# vm: --arch arm64 --kernel 6.12 --driver in-tree --cpus 2 --model cmn700 --model cmn600 --timeout 900
. ./cmn/lib.sh

COUNTERS=/sys/kernel/debug/pmu_core/counters
[ ! -e $COUNTERS ] || ours=yes
find_meshes
use_mesh cmn0
trap 'model "set cmn0 carry_delay 0" "set cmn1 carry_delay 0"' EXIT

model() {
	printf '%s\n' "$@" | pmu-model -
}

needs_sharing() {
	[ -n "$ours" ] || skip "what our driver does"
}

# Writes by register since the last time, and which mesh stood: "CLASS WRITES..."
writes() {
	pmu-model stats cmn0 --reset | awk '$3 { printf "%s %d ", $1, $3 }'
}

# The second starts and stops while the mesh stands, which is all that is written; each has its own count.
test_a_second_one_writes_no_setup() {
	needs_sharing
	node=$(nodes hnf | head -n 1)
	for event in "hnf_cache_miss,bynodeid=1,nodeid=$node" hnf_cache_miss dtc_cycles \
		"watchpoint_up,wp_val=1,wp_mask=0,bynodeid=1,nodeid=$(nodes mxp | head -n 1)"; do
		stats='pmu-model stats cmn0 --reset'
		pmu-event --manual "$PMU/$event/" -x "$stats > /dev/null" -x "
			pmu-event --disabled --manual '$PMU/$event/' -x @enable -x '$stats > /tmp/start' -x @disable -x '$stats > /tmp/stop'"
		for when in start stop; do
			equal "writes of a $when: $event" \
				"$(awk '$3 { print $1, $3 }' /tmp/$when | grep -v '^dtc_control' | tr '\n' ' ')" ""
		done
	done
}

test_the_first_leaves() {
	needs_sharing
	for event in hnf_cache_miss "hnf_cache_miss,bynodeid=1,nodeid=$(nodes hnf | head -n 1)"; do
		[ "$event" = hnf_cache_miss ] && times=$(nodes hnf | wc -l) || times=1
		rm -f /tmp/there
		pmu-event --manual "$PMU/$event/" -x 'until [ -e /tmp/there ]; do sleep 0.02; done' -x @read > /tmp/first &
		first=$!
		until grep -q . $COUNTERS; do sleep 0.02; done
		got=$(pmu-event --manual "$PMU/$event/" -x '@model add cmn0 hnf_cache_miss 70000' -x "touch /tmp/there
			while grep -q ' $first' $COUNTERS; do sleep 0.02; done" -x '@model add cmn0 hnf_cache_miss 70001' -x @read)
		equal "the second" "$got" $((140001 * times))
		equal "the first" "$(cat /tmp/first)" $((70000 * times))
	done
	equal "none" "$(cat $COUNTERS)" ""
}

# A group with all that an XP has room for fits also if it is in there twice.
test_a_group_has_an_event_twice() {
	needs_sharing
	at=bynodeid=1,nodeid=$(nodes hnf | head -n 1)
	four="$PMU/hnf_cache_miss,$at/ $PMU/hnf_mc_reqs,$at/ $PMU/hnf_seq_hit,$at/ $PMU/hnf_sf_hit,$at/"
	# shellcheck disable=SC2086 # lists
	got=$(pmu-event --group --disabled --manual $four $four $PMU/dtc_cycles/ $PMU/dtc_cycles/ -x @enable \
		-x '@model add cmn0 hnf_cache_miss 5; add cmn0 hnf_sf_hit 70' -x @disable -x @read)
	equal "counts" "$(echo "$got" | cut -d' ' -f1-8)" "5 0 0 70 5 0 0 70"
	equal "cycles" "$(echo "$got" | cut -d' ' -f9)" "$(echo "$got" | cut -d' ' -f10)"
	# shellcheck disable=SC2086
	equal "with one more" "$(pmu-event --group $four $four "$PMU/hnf_snp_sent,$at/")" EINVAL
}

# Half a pair is of its user alone: what it counts depends on the other half.
test_pairs_are_not_shared() {
	needs_sharing
	xp=$(nodes mxp | head -n 1)
	up=watchpoint_up,wp_dev_sel=0,wp_chn_sel=0,wp_mask=0,wp_val=0,wp_combine=1,bynodeid=1,nodeid=$xp
	got=$(pmu-event "$PMU/$up,wp_grp=0/" "$PMU/$up,wp_grp=1/" -x "cat $COUNTERS > /tmp/counters")
	equal "counts" "$got" "0 0"
	equal "counters" "$(wc -l < /tmp/counters)" 2
	equal "users of one" "$(grep -c 'opened by [0-9]*$' /tmp/counters)" 2
}

# 16 users, each with four events of a node: all count all of the time. The in-tree driver has turns.
test_sixteen_users() {
	at=bynodeid=1,nodeid=$(nodes hnf | head -n 1)
	events="$PMU/hnf_cache_miss,$at/,$PMU/hnf_mc_reqs,$at/,$PMU/hnf_seq_hit,$at/,$PMU/hnf_sf_hit,$at/"
	rm -f /tmp/user.*
	for user in $(seq 16); do
		perf stat -a -x, -o "/tmp/user.$user" -e "$events" -- sh -c "touch /tmp/user.there.$user; sleep 20" &
	done
	eventually "users" 16 sh -c 'ls /tmp/user.there.* 2> /dev/null | wc -l'
	pmu-model add cmn0 hnf_cache_miss 123457
	wait
	grep -h hnf_cache_miss /tmp/user.[0-9]* | cut -d, -f1 | sort | uniq -c | awk '{ $1 = $1; print }' > /tmp/misses
	grep -h arm_cmn /tmp/user.[0-9]* | awk '{ print /,100\.00,/ ? "all" : "a part" }' | sort | uniq -c |
		awk '{ $1 = $1; print }' > /tmp/times
	show "$(cat /tmp/misses)"
	show "$(cat /tmp/times)"
	if [ -n "$ours" ]; then
		equal "misses" "$(cat /tmp/misses)" "16 123457"
		equal "of the time" "$(cat /tmp/times)" "64 all"
	else
		contains "of the time" "$(cat /tmp/times)" 'a part'
	fi
}

run_tests
