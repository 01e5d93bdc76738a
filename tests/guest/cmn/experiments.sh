#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check --probe: each experiment on a mesh that answers as the driver assumes, and on one that does not, which is said
# with the number of its question.
#
# all vm: --tools --arch arm64 --kernel 6.12 --driver ours --model cmn700,mesh=3x2,hnd=0.0.1,hnf=0.1.0+1.0.0+2.1.1,req-vcs=2 --model cmns3,rev=3,isolation=on,isolated=1.0.0 --timeout 1200
. ./cmn/lib.sh
. ./check.sh
find_meshes
use_mesh cmn0

as_it_was() {
	for key in traffic carry_drop carry_delay; do
		pmu-model set 'cmn*' $key 0
	done
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

test_isolation() {
	probed isolation answer '11[.]9: .*isolat'
}

run_tests
