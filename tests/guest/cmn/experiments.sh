#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check --probe: each experiment on a mesh that answers as the driver assumes, and on one that does not, which is said
# with the number of its question.
#
# all vm: --tools --arch arm64 --kernel 6.12 --driver ours --model cmn700,mesh=3x2,hnd=0.0.1,hnf=0.1.0+1.0.0+2.1.1,req-vcs=2 --model cmns3,rev=3,isolation=on,isolated=1.0.0 --model cmn600,mesh=2x1,hnf=1,niden=off --timeout 2400
. ./cmn/lib.sh
. ./check.sh
find_meshes
use_mesh cmn0
XP=$(printf '%#x' $(($(nodes hnf | head -n 1) & ~7)))

as_it_was() {
	pmu-model set 'cmn*' clock 2000000000
	for key in traffic carry_drop carry_delay filter_all invert_pair any_vc; do
		pmu-model set 'cmn*' $key 0
	done
}

# again 'EVENT N'...: /tmp/add for while_adding, so often that hardly a moment is without
again() {
	for _ in $(seq 200); do printf 'add cmn0 %s\n' "$@"; done > /tmp/add
}

test_isolation() {
	probed isolation answer '11[.]9: .*isolat'
}

# Whose firmware lets nothing be counted says so, and so does its clock.
test_nothing_to_see() {
	trap as_it_was EXIT
	pmu-model set 'cmn*' traffic 200000000
	dark=$(sed -n 's/^cmn2 //p' /tmp/meshes)
	probed visible FAIL "11[.]15: $dark: .*; AUTHSTATUS: NIDEN off: who copies memory has flits of req, rsp, dat"
	found clock FAIL "$dark: its clock is 0Hz; .*; AUTHSTATUS: NIDEN off"
	# What follows is of one mesh.
	for n in 2 3; do
		echo ${n}00000000.pmu > /sys/bus/platform/drivers/cmn_pmu/unbind
	done
	probed visible ok "11[.]15: $PMU: flits by channel: [^;]*$"
}

test_carries_that_are_lost() {
	trap as_it_was EXIT
	pmu-model set cmn0 traffic 200000000
	pmu-model set cmn0 carry_delay 50000
	pmu-model set cmn0 carry_drop 1
	# Two counters of a DTM that have never been used apart wrap in the same clock, and lose the same.
	pmu-check a-clock > /dev/null
	probed carry FAIL "11[.]1: $PMU: [1-9][0-9]* of [0-9]+ reads differed.*multiple of 65536"
	# Question 11.1's own command: it stops the mesh for each read, and sees the same.
	pmu-model set cmn0 stands 0
	perf stat -x, -I 20 -o /tmp/stat -a -e "{$PMU/hnf_slc_sf_cache_access/,$PMU/hnf_slc_sf_cache_access/}:e" sleep 3
	within "stands" "$(pmu-model get cmn0 stands)" 50 100000
	awk -F, '/hnf/ { if ($1 == at && $2 != value) unlike++; at = $1; value = $2 } END { exit !unlike }' /tmp/stat
}

# A clock that overflows after seconds; and a counter that goes back by itself behind the interrupt.
test_interrupts() {
	trap 'as_it_was; bound Y' EXIT
	bound N
	pmu-model set cmn0 clock 100000000000
	probed interrupts ok "11[.]3: $PMU: [123] interrupts in [0-9]+ s, in which its clock overflowed"
	served() { awk '/100000000.pmu$/ { for (i = 2; i <= NF; i++) n += $i } END { print n + 0 }' /proc/interrupts; }
	before=$(served)
	(
		for _ in $(seq 600); do
			[ "$(served)" = "$before" ] || break
			sleep 0.2
		done
		pmu-model set cmn0 dtc0_cycles 1000
	) &
	probed interrupts FAIL "11[.]3: $PMU: .*: the overflow was lost"
	wait
}

test_a_home_node_that_counts_nothing() {
	trap as_it_was EXIT
	again 'hnf_slc_sf_cache_access 1000'
	while_adding 0 probed home-nodes ok "11[.]7: $PMU: hnf_slc_sf_cache_access at 3 of 3 home nodes"
	silent=$(nodes hnf | tail -n 1)
	nodes hnf | grep -vx "$silent" | sed 's/.*/add cmn0 hnf_slc_sf_cache_access@& 1000/' > /tmp/add
	while_adding 0 probed home-nodes FAIL "11[.]7: $PMU: .*: nothing is counted at $silent"
}

test_filters() {
	trap as_it_was EXIT
	pmu-model set cmn0 traffic 200000000
	probed filters ok "11[.]13: $PMU: hnf_slc_sf_cache_access"
	pmu-model set cmn0 traffic 0
	pmu-model set cmn0 filter_all 1
	again 'hnf_slc_sf_cache_access 1000'
	while_adding 0 probed filters FAIL "11[.]13: $PMU: .*: a filter acts on other events of its node"
}

test_pairs() {
	trap as_it_was EXIT
	again "flit@$XP,port=0,dir=down,chn=req,g0=0,g1=0,g2=0 1000"
	while_adding 0 probed pairs answer "11[.]19: $PMU: .*each half is inverted"
	pmu-model set cmn0 invert_pair 1
	while_adding 0 probed pairs answer "11[.]19: $PMU: .*the pair is inverted"
}

test_virtual_channels() {
	trap as_it_was EXIT
	again "flit@$XP,port=0,dir=down,chn=req,vc=0,g0=0,g1=0,g2=0 20" "flit@$XP,port=0,dir=down,chn=req,vc=1,g0=0,g1=0,g2=0 10"
	while_adding 0 probed virtual-channels ok "11[.]12: $PMU: XP $XP port 0: channels 0 and 1 seen"
	pmu-model set cmn0 any_vc 1
	while_adding 0 probed virtual-channels FAIL "11[.]12: $PMU: XP $XP port 0: .*wp_chn_num does not select"
}

run_tests
