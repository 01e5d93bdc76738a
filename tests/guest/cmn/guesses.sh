#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Meshes that the driver does not know: of a revision that came later, with numbers that make no grid, with DTMs that
# do not say their domain or a wrong one, where firmware forbids to debug. They count as what they come closest to, and
# the log says so; where a wrong guess could hang the system, somebody has to say what they are.
#
# all vm: --arch arm64 --kernel 6.12 --driver none --model cmn700,rev=5 --model cmn600ae,rev=0 --model cmns3,rev=7 --model cmns3,rev=6,isolation=on,isolated=1.0.0 --model cmn700,corrupt=xp-id --model cmn700,corrupt=dtm-domain --model cmn600,rev=4 --model cmns3,rev=7,isolation=on,isolated=1.0.0 --model cmn650,rev=5 --model cmn700,corrupt=connect --model cmn600,rev=4,niden=off --model cmn700,spniden=off,secure-disable=off --model cmn700,corrupt=other-domain --model cmn700,mesh=2x1,ports=6@0.0,hnf=0.0.0+0.0.4+1.0.1 --model cmn700,mesh=3x2,ports=1,corrupt=other-part,hnf=1
. ./cmn/lib.sh

# load [PARAMETER]: what was said is in /tmp/log
load() {
	[ ! -e /sys/module/cmn_pmu ] || unload_ours
	log_mark
	insmod /vm/modules.d/pmu_core.ko
	insmod /vm/modules.d/cmn_pmu.ko "$@"
	log_since_mark > /tmp/log
	find_meshes
}

# said NUMBER PATTERN: of the mesh of this number
said() {
	contains "log of cmn$1" "$(grep "cmn_pmu $(printf '%x' $(($1 + 1)))00000000.pmu: " /tmp/log)" "$2"
}

load

test_later_revision_is_taken_for_the_last_one() {
	said 0 'revision code 5 of CMN-700 is unknown .* taken for r3p0; please report'
	use_mesh cmn0
	equal "identifier" "$(cat "$MESH/identifier")" 43c05
	expect $((70000 * $(nodes hns | wc -l))) hns_seq_hit -- "add cmn0 hns_seq_hit 70000"
	expect $((70000 * $(nodes ccha | wc -l))) ccha_pb_rhu_pcie_dat_occ -- "add cmn0 ccha_pb_rhu_pcie_dat_occ 70000"
	counted
}

# Of CMN-650 the newest is not the one with the highest number.
test_later_revision_of_650() {
	said 8 'revision code 5 of CMN-650 is unknown .* taken for r2p0; please report'
	use_mesh cmn8
	expect $((9 * $(nodes hnf | wc -l))) hnf_snp_sent_cluster -- "add cmn8 hnf_snp_sent_cluster 9"
	counted
}

# Its revisions start from 0 again, but its events are those of the CMN-600 that it was made of.
test_cmn_600ae() {
	use_mesh cmn1
	equal "said to be unknown" "$(grep -c '200000000.pmu: .*unknown' /tmp/log)" 0
	equal "identifier" "$(cat "$MESH/identifier")" 43400
	expect "9 8" dn_dvmsync cxra_external_chirsp_stalls -- "add cmn1 dn_dvmsync 9; add cmn1 cxra_external_chirsp_stalls 8"
	counted
	[ ! -e "$MESH/events/dn_rxreq_dvmop" ]
}

# Neither way to read the id of an HN-F puts it where an HN-F is. The others of its XP count, whatever it does.
test_node_where_it_cannot_be() {
	said 9 'node 0x20 of type 0x5 is device 0 at port 0 of XP 0x20 by its id, and connect info has type 0xd there, no CAL: .*'
	equal "sentences" "$(grep -c 'cmn_pmu a00000000.pmu: .* connect info has type' /tmp/log)" 1
	use_mesh cmn9
	for id in $(nodes hnf); do
		[ "$id" = 0x20 ] || expect 9 "hnf_cache_miss,bynodeid=1,nodeid=$id" -- "add cmn9 hnf_cache_miss@$id 9"
	done
	counted
}

# AUTHSTATUS says whether anything can be counted, and whether secure flits can. Sources disagree whether these can be
# counted nevertheless.
test_what_firmware_allows() {
	said 10 'AUTHSTATUS says that NIDEN is off: all counts may be 0; .*'
	said 11 'AUTHSTATUS says that SPNIDEN is off: secure traffic may not be counted, .*'
	equal "sentences" "$(grep -c AUTHSTATUS /tmp/log)" 2
	use_mesh cmn10
	expect 0 hnf_cache_miss -- "add cmn10 hnf_cache_miss 9"
	counted
	contains "drawing" "$(head -n 1 "/sys/kernel/debug/cmn_pmu/$PMU")" ', NIDEN off$'
	use_mesh cmn11
	expect 9 watchpoint_up,bynodeid=1,nodeid=0x20,wp_dev_sel=0,wp_chn_sel=1,wp_val=0,wp_mask=0xffffffffffffffff -- \
		"add cmn11 flit@0x20,port=0,dir=up,chn=rsp 9"
	counted
	contains "drawing" "$(head -n 1 "/sys/kernel/debug/cmn_pmu/$PMU")" ', SPNIDEN off$'
}

# An XP that names a DTC which does not get its carries: where these are is said.
test_carries_of_another_domain() {
	use_mesh cmn12
	log_mark
	pmu-event --manual "$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x20/" -x '@model add cmn12 hnf_cache_miss@0x20 65000' \
		-x @read -x '@model add cmn12 hnf_cache_miss@0x20 65000' -x @read > /dev/null
	astray() { log_since_mark | grep -c "$PMU: carries do not come to DTC 1, and counter . of DTC 0, which no event has, has counted"; }
	eventually "sentences" 1 astray
	equal "said to be lost" "$(log_since_mark | grep -c 'carries are lost')" 0
}

# Ids at an XP with six ports, which no source describes: types that do not fit are told.
test_six_ports_among_others() {
	said 13 'node 0x4 of type 0x5 is device 0 at port [12] of XP 0x0 by its id, and connect info has type 0x0 there, no CAL: .*'
	use_mesh cmn13
	expect 0 hnf_cache_miss,bynodeid=1,nodeid=0x4 -- "add cmn13 hnf_cache_miss@0x4 9"
	expect 9 hnf_cache_miss,bynodeid=1,nodeid=0x24 -- "add cmn13 hnf_cache_miss@0x24 9"
	counted
}

# A CI-700 that is as CMN-700: the selectors of its XPs are wider than those of CMN-650.
test_ci_700_as_cmn_700() {
	use_mesh cmn14
	log_mark
	got=$(pmu-event "$PMU/mxp_p0_req_txflit_valid/" "$PMU/mxp_p0_dat_txflit_valid/" \
		-x '@model add cmn14 mxp_p0_req_txflit_valid@0x20 3; add cmn14 mxp_p0_dat_txflit_valid@0x20 5' | tr '\n' ' ')
	[ "$got" != "3 5 " ]
	pmu-event "$PMU/hnf_cache_miss/"
	told() { log_since_mark | grep -c "$PMU: CI-700 has no public manual and is taken to be as CMN-650"; }
	eventually "told" 1 told
}

# A name stands for what the manual says that it counts.
test_names_of_dvm_events() {
	use_mesh cmn6
	[ ! -e "$MESH/events/dn_rxreq_dvmop" ]
	expect 9 dn_dvmop_tlbi -- "add cmn6 dn_dvmop_tlbi 9"
	counted
}

# From r2p0 on it says which devices are isolated; a revision that nobody knows may say so elsewhere.
test_s3_by_guess_is_refused() {
	equal "meshes" "$(meshes | tr '\n' ' ')" "cmn0 cmn1 cmn3 cmn4 cmn5 cmn6 cmn8 cmn9 cmn10 cmn11 cmn12 cmn13 cmn14 "
	for n in 2 7; do
		said $n 'error -ENODEV: revision code 7 of CMN S3 is unknown .* must not be touched: .* assume_revision=r2p5'
	done
	use_mesh cmn3
	expect 7 hnf_seq_hit,bynodeid=1,nodeid=0x4 -- "add cmn3 hnf_seq_hit 7"
	counted
}

# The numbers of the XPs decide what the map looks like, and nothing else.
test_numbers_without_a_grid() {
	said 4 'ids of the 8 XPs make no grid'
	use_mesh cmn4
	expect $((70000 * $(nodes hnf | wc -l))) hnf_cache_miss -- "add cmn4 hnf_cache_miss 70000"
	for id in $(nodes hnf); do
		expect 9 "hnf_cache_miss,bynodeid=1,nodeid=$id" -- "add cmn4 hnf_cache_miss@$id 9"
	done
	counted
	[ "$(wc -l < "/sys/kernel/debug/cmn_pmu/$PMU")" -ge 10 ]
}

# Carries of ports 2 and up go where those of ports 0 and 1 do, or they would be lost.
test_one_domain_of_an_xp() {
	use_mesh cmn5
	id=$(nodes ccra | head -n 1)
	contains "place" "$(grep "^node ccra $id " "$LIST")" 'port=2 .*dtc=1'
	expect 200000 "ccra_rht_occ,bynodeid=1,nodeid=$id" -- "add cmn5 ccra_rht_occ@$id 200000"
	counted
}

test_no_guess_at_all() {
	load assume_revision=no
	equal "meshes" "$(meshes | tr '\n' ' ')" "cmn1 cmn3 cmn4 cmn5 cmn6 cmn9 cmn10 cmn11 cmn12 cmn13 cmn14 "
	said 0 'error -ENODEV: revision code 5 of CMN-700 is unknown'
}

# Who says what it is takes the risk; what is isolated is not touched as long as that is true.
test_revision_by_order() {
	pmu-model stats 'cmn*' --reset > /dev/null
	load assume_revision=r2p0
	equal "meshes" "$(meshes | tr '\n' ' ')" "cmn0 cmn2 cmn3 cmn4 cmn5 cmn6 cmn7 cmn8 cmn9 cmn10 cmn11 cmn12 cmn13 cmn14 "
	said 1 'error -ENODEV: CMN-600AE has no revision r2p0'
	said 7 'revision code 7 of CMN S3 is taken for r2p0, as assume_revision says'
	use_mesh cmn7
	expect 70000 hnf_seq_hit,bynodeid=1,nodeid=0x4 -- "add cmn7 hnf_seq_hit@0x4 70000"
	counted
	equal "isolated nodes that were touched" \
		"$(pmu-model stats 'cmn*' | awk '$2 ~ /^isolated/ { n += $3 + $4 } END { print n + 0 }')" 0
}

test_unload() {
	unload_ours
}

run_tests
