#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The largest mesh that there can be, and one of a single XP. Large ones have four domains and the kinds of devices
# that others here have not. A group of four events of every HN-F is as exact as one event, and here is how few
# accesses it takes: the in-tree driver reads a DTM for every event; ours reads it once for all.
#
# all vm: --arch arm64 --kernel 6.12 --driver none --model cmn700,mesh=12x12,ports=1,dtc=4,hnf=130,rni=2,hnv=1 --model cmn700,mesh=1x1,ports=6,hnf=4
# all vm: --arch arm64 --kernel 6.1 --driver none --model cmn600,mesh=8x8,ports=1,dtc=4,hnf=56,rni=1,cxra=1,cxha=1 --model cmn700,mesh=1x1,ports=6,hnf=4
. ./cmn/lib.sh

GROUP='hnf_cache_miss hnf_mc_reqs hnf_seq_hit hnf_snp_sent'

# setup DRIVER: choose the mesh, and know how much there is of it
setup() {
	[ "$1" = ours ] || in_tree_knows_all || skip "the in-tree driver of this kernel knows CMN-600 alone"
	use_mesh cmn0
	HOME_NODES=$(nodes hnf | wc -l)
	XPS=$(nodes mxp | wc -l)
}

# The events of the group, as pmu-event wants them.
group() {
	for name in $GROUP; do
		echo "$PMU/$name/"
	done
}

test_loads() {
	case $1 in
	ours) load_ours ;;
	*) modprobe arm-cmn ;;
	esac
	find_meshes
	setup "$1"
	case $HOME_NODES-$XPS in
	130-144|56-64) ;;
	*) echo "not the mesh that was described: $HOME_NODES HN-Fs, $XPS XPs" && exit 1 ;;
	esac
}

# What happens at each node of a kind, in all domains, carries into four DTCs.
test_aggregates() {
	setup "$1"
	expect $((70001 * HOME_NODES)) hnf_cache_miss -- "add cmn0 hnf_cache_miss 70001"
	expect $((70001 * XPS)) mxp_e_dat_txflit_valid -- "add cmn0 mxp_e_dat_txflit_valid 70001"
	expect $((7 * $(nodes hni | wc -l))) hni_rrt_rd_occ_cnt_ovfl -- "add cmn0 hni_rrt_rd_occ_cnt_ovfl 7"
	for name in cxra_rht_occ cxha_rdb_occ; do
		[ "$(nodes ${name%%_*} | wc -l)" = 0 ] || expect 9 $name -- "add cmn0 $name 9"
	done
	counted
}

# The last XP, with as many bits for X and Y as there are, and every 20th HN-F.
test_by_node() {
	setup "$1"
	for id in $(nodes hnf | awk 'NR % 20 == 1'); do
		expect 100009 "hnf_cache_miss,bynodeid=1,nodeid=$id" -- \
			"add cmn0 hnf_cache_miss@$id 9; add cmn0 hnf_cache_miss 100000"
	done
	last=$(nodes mxp | tail -n 1)
	contains "the last XP" "$last" '^0x(5d8|1f8)$'
	expect 6 "mxp_w_req_txflit_valid,bynodeid=1,nodeid=$last" -- "add cmn0 mxp_w_req_txflit_valid@$last 6"
	counted
}

test_group_counts_exactly() {
	setup "$1"
	# shellcheck disable=SC2046 # a list
	got=$(pmu-event --group $(group) -x "@model add cmn0 hnf_cache_miss 70001; add cmn0 hnf_mc_reqs 2;
		add cmn0 hnf_seq_hit 300000; add cmn0 hnf_snp_sent 4")
	equal "group" "$got" \
		"$((70001 * HOME_NODES)) $((2 * HOME_NODES)) $((300000 * HOME_NODES)) $((4 * HOME_NODES))"
}

# One read of a DTM instead of four, and of a DTC one for two letters, which no register has more of; and one to see
# that the mesh has stopped. Before the stop and after the reads, one DTM and its letters again: of each DTC on CMN-600,
# whose domains are not known. Nothing else reads meanwhile, such as a timer.
test_reads_of_a_group() {
	setup "$1"
	# shellcheck disable=SC2046 # a list
	pmu-event --group --manual $(group) -x 'pmu-model stats cmn0 --reset > /dev/null' -x @read -x @read \
		-x 'pmu-model stats cmn0 > /tmp/after' > /dev/null
	awk '/^dtm_/ { dtm += $2 } /^dtc_/ { dtc += $2 } END { print int(dtm / 2), int(dtc / 2) }' \
		/tmp/after > /tmp/reads
	read -r dtms dtcs < /tmp/reads
	show "reads for a group of four on $HOME_NODES HN-Fs: $dtms of DTMs, $dtcs of DTCs"
	if [ "$1" = ours ]; then
		case $(cat "/sys/bus/event_source/devices/$PMU/identifier") in 434*) pairs=8 ;; *) pairs=2 ;; esac
		equal "of DTMs and DTCs" "$dtms $dtcs" "$((HOME_NODES + 2)) $((9 + 2 * pairs))"
	else
		within "of DTMs" "$dtms" $((4 * HOME_NODES)) $((17 * HOME_NODES))
		within "of DTCs" "$dtcs" $((4 * 4)) 100
	fi
}

# Where an XP is alone it has six ports and no neighbours: all in use count by number, and by that of a link where
# there are as many of these. The in-tree driver does not know, and has port 4 as its mxp_p0.
test_ports_of_an_xp_alone() {
	setup "$1"
	use_mesh cmn1
	equal "XPs" "$(nodes mxp | wc -l)" 1
	if [ "$1" = ours ]; then
		for port in 0 1 2 3 4; do
			name=mxp_p${port}_req_txflit_valid
			expect $((7 + port)) $name -- "add cmn1 $name $((7 + port))"
		done
		expect 5 mxp_s_req_txflit_valid -- 'add cmn1 mxp_p3_req_txflit_valid 5'
		[ ! -e "$MESH/events/mxp_p5_req_txflit_valid" ]
	else
		expect 5 mxp_p0_req_txflit_valid -- 'add cmn1 mxp_p4_req_txflit_valid 5'
	fi
	counted
}

test_unloads() {
	case $1 in
	ours) unload_ours ;;
	*) rmmod arm_cmn ;;
	esac
	[ ! -e $PMUS/arm_cmn_0 ]
}

run_tests ours in-tree
