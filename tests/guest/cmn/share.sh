#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Equal events of a mesh share counters, letters, selectors and watchpoints: what that costs, that each
# has its own count, and that any number of users fit.
#
# all vm: --arch arm64 --kernel 6.12 --driver ours --cpus 2 --model cmn700 --model cmn600 --timeout 900
# kernels vm: --arch arm64 --kernel 6.1 --driver ours --cpus 2 --model cmn700 --model cmn600 --timeout 900
# kernels vm: --arch arm64 --kernel 6.12 --driver in-tree --cpus 2 --model cmn700 --model cmn600 --timeout 900
. ./cmn/lib.sh

[ ! -e /sys/module/pmu_core ] || ours=yes
find_meshes
use_mesh cmn0

model() {
	printf '%s\n' "$@" | pmu-model -
}

# The modules again, as they are loaded or, for one test, with parameters of cmn_pmu
reload() {
	[ $# = 0 ] || trap 'model "set cmn0 carry_delay 0"; reload' EXIT
	unload_ours
	insmod /vm/modules.d/pmu_core.ko
	insmod /vm/modules.d/cmn_pmu.ko "$@"
	find_meshes
	use_mesh cmn0
}

needs_sharing() {
	[ -n "$ours" ] || skip "what our driver does"
}

# The second starts and stops beside the first, again and again: times, what, writes that stop the mesh and let it go
# on, other writes: beside EVENT [OPTION...]
beside() {
	again=''
	for _ in 1 2 3 4 5; do
		again="$again -x @enable -x 'sh /tmp/stats start' -x @disable -x 'sh /tmp/stats stop'"
	done
	cat > /tmp/stats <<-'EOT'
		pmu-model stats cmn0 --reset | awk -v what="$1" '/^dtc_control/ { stands += $3; next } { others += $3 }
			END { print what, stands + 0, others + 0 }' >> /tmp/writes
	EOT
	pmu-event --manual "$PMU/$1/" -x "
		pmu-event --disabled --manual '$PMU/$1/' $2 -x 'sh /tmp/stats open; rm /tmp/writes' $again"
	sort /tmp/writes | uniq -c | xargs
}

# Nothing is written, if a counter takes longer to wrap than to be looked at twice. In a guest that needs a slow clock.
# By the parameter's default the mesh stands for it here, but for the cycle counter, and nothing is set up.
test_a_second_one_writes_nothing() {
	needs_sharing
	one="hnf_cache_miss,bynodeid=1,nodeid=$(nodes hnf | head -n 1)"
	up="watchpoint_up,wp_val=1,wp_mask=0,bynodeid=1,nodeid=$(nodes mxp | head -n 1)"
	for event in "$one" hnf_cache_miss "$up"; do
		contains "$event" "$(beside "$event")" '^([0-9] (start|stop) [02] 0 ?)+$'
	done
	equal "cycles" "$(beside dtc_cycles)" "5 start 0 0 5 stop 0 0"
	reload clock_mhz=1
	for event in "$one" hnf_cache_miss "$up" dtc_cycles; do
		equal "$event" "$(beside "$event")" "5 start 0 0 5 stop 0 0"
	done
	equal "a group, whose members start at one moment" "$(beside "$one" "--group '$PMU/$one/'")" \
		"5 start 2 0 5 stop 2 0"
}

# Carries of before the second starts are under way then: they are the first one's alone. Those of while it counts are
# its own, also if it stops before they have come.
test_carries_under_way() {
	needs_sharing
	reload clock_mhz=1 carry_ns=400000
	model "set cmn0 carry_delay 300000"
	event="$PMU/hnf_cache_miss,bynodeid=1,nodeid=$(nodes hnf | head -n 1)/"
	add='@model add cmn0 hnf_cache_miss'
	for _ in 1 2 3 4 5; do
		got=$(pmu-event --manual "$event" -x "$add 65535" -x "
			pmu-event --disabled --manual '$event' -x '$add 1' -x @enable -x '$add 65536' -x @disable \
				-x '$add 65536' -x @read" -x 'sleep 0.1' -x @read | xargs)
		equal "the second, the first" "$got" "65536 196608"
	done
}

test_the_first_leaves() {
	needs_sharing
	for event in hnf_cache_miss "hnf_cache_miss,bynodeid=1,nodeid=$(nodes hnf | head -n 1)"; do
		[ "$event" = hnf_cache_miss ] && times=$(nodes hnf | wc -l) || times=1
		rm -f /tmp/open /tmp/there /tmp/gone
		{ pmu-event --manual "$PMU/$event/" -x 'touch /tmp/open; until [ -e /tmp/there ]; do sleep 0.02; done' \
			-x @read > /tmp/first; touch /tmp/gone; } &
		until [ -e /tmp/open ]; do sleep 0.02; done
		got=$(pmu-event --manual "$PMU/$event/" -x '@model add cmn0 hnf_cache_miss 70000' -x "touch /tmp/there
			until [ -e /tmp/gone ]; do sleep 0.02; done" -x '@model add cmn0 hnf_cache_miss 70001' -x @read)
		equal "the second" "$got" $((140001 * times))
		equal "the first" "$(cat /tmp/first)" $((70000 * times))
	done
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

# Nine events as people give them, each by itself: perf stops at the first that does not fit, so the last waits although
# nobody else can use its counter. Pinned it counts all of the time, and the others as long as before.
test_a_pinned_event_waits_for_no_turn() {
	set --
	for event in hnf_cache_miss hnf_slc_sf_cache_access hnf_cache_fill hnf_mc_reqs hnf_mc_retries hnf_seq_hit hnf_sf_hit \
		hnf_snp_sent; do
		set -- "$@" -e "$PMU/$event/"
	done
	for pin in '' D; do
		perf stat -a -x, "$@" -e "$PMU/dtc_cycles/$pin" -- sleep 3 2> /tmp/said
		awk -F, '/dtc_cycles/ { print int($5); next } /arm_cmn/ { sum += $5 } END { print int(sum / 8) }' /tmp/said |
			xargs > "/tmp/times$pin"
	done
	show "$(cat /tmp/times) $(cat /tmp/timesD)"
	within "not pinned" "$(cut -d' ' -f1 /tmp/times)" 1 80
	equal "pinned" "$(cut -d' ' -f1 /tmp/timesD)" 100
	others=$(cut -d' ' -f2 /tmp/times)
	within "the others" "$(cut -d' ' -f2 /tmp/timesD)" $((others - 5)) $((others + 5))
}

run_tests
