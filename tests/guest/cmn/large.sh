#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The largest mesh that there can be, with four domains.
#
# vm: --arch arm64 --kernel 6.12 --driver 'ours in-tree' --model 'cmn700,mesh=12x12,ports=1,dtc=4,hnf=130,rni=2'
. ./cmn/lib.sh

pmu-model list cmn0 > /tmp/list

# What happens at each node of a kind, in all domains, carries into four DTCs.
test_aggregates() {
	n=$(grep -c '^node hnf ' /tmp/list)
	equal "HN-Fs" "$n" 130
	equal "misses" "$(pmu-event "$(cmn_event hnf_cache_miss)" -x 'pmu-model add cmn0 hnf_cache_miss 70001')" $((70001 * n))
	equal "XPs" "$(grep -c '^node mxp ' /tmp/list)" 144
	equal "flits east" "$(pmu-event "$(cmn_event mxp_e_dat_txflit_valid)" -x 'pmu-model add cmn0 mxp_e_dat_txflit_valid 70001')" \
		$((70001 * 144))
}

# The last XP, with four bits each for X and Y, and every fifth HN-F.
test_by_node() {
	for id in $(sed -n 's/^node hnf \(0x[0-9a-f]*\) .*/\1/p' /tmp/list | awk 'NR % 20 == 1'); do
		got=$(pmu-event "$(cmn_event "hnf_cache_miss,bynodeid=1,nodeid=$id")" \
			-x "pmu-model add cmn0 hnf_cache_miss@$id 9; pmu-model add cmn0 hnf_cache_miss 100000")
		equal "misses at $id" "$got" 100009
	done
	got=$(pmu-event "$(cmn_event mxp_w_req_txflit_valid,bynodeid=1,nodeid=0x5d8)" \
		-x 'pmu-model add cmn0 mxp_w_req_txflit_valid@0x5d8 6')
	equal "flits west of the last XP" "$got" 6
}

run_tests
