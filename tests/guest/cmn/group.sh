#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A group of four events of every HN-F of a large mesh: as exact as one event, and how few accesses it takes. The
# in-tree driver reads a DTM for every event; ours reads it once for all.
#
# vm: --arch arm64 --kernel 6.12 --driver none --model 'cmn700,mesh=8x8,ports=1,dtc=4,hnf=60'
# vm: --arch arm64 --kernel 6.1 --driver none --model 'cmn600,mesh=8x8,ports=1,dtc=4,hnf=60'
. ./cmn/lib.sh

EVENTS='hnf_cache_miss hnf_mc_reqs hnf_seq_hit hnf_snp_sent'
HAPPENS='pmu-model add cmn0 hnf_cache_miss 70001; pmu-model add cmn0 hnf_mc_reqs 2
	 pmu-model add cmn0 hnf_seq_hit 300000; pmu-model add cmn0 hnf_snp_sent 4'

# Register reads of DTMs and of DTCs for reading a group once, while it counts.
group_read() {
	# shellcheck disable=SC2046 # a list
	set -- $(for name in $EVENTS; do cmn_event "$name"; done)
	pmu-event --group --manual "$@" -x 'pmu-model stats cmn0 --reset > /dev/null' -x @read -x @read \
		-x 'pmu-model stats cmn0 > /tmp/after' > /dev/null
	awk '/^dtm_/ { dtm += $2 } /^dtc_/ { dtc += $2 } END { print int(dtm / 2), int(dtc / 2) }' /tmp/after
}

load_ours() {
	insmod /vm/modules.d/pmu_core.ko
	insmod /vm/modules.d/cmn_pmu.ko
}

test_group_counts_exactly() {
	load_ours
	# shellcheck disable=SC2046 # a list
	got=$(pmu-event --group $(for name in $EVENTS; do cmn_event "$name"; done) -x "$HAPPENS")
	equal "group" "$got" "$((70001 * 60)) $((2 * 60)) $((300000 * 60)) $((4 * 60))"
}

# One read of a DTM instead of four, and of a DTC one for two letters, which no register has more of.
# Nothing else reads meanwhile, such as a timer.
test_reads_of_a_group() {
	ours=$(group_read)
	rmmod cmn_pmu
	rmmod pmu_core
	modprobe arm-cmn
	theirs=$(group_read)
	rmmod arm_cmn
	show "reads of DTMs and DTCs for a group of four on 60 HN-Fs: ours $ours, in-tree $theirs"
	equal "of DTMs and DTCs, ours" "$ours" "60 8"
	within "of DTMs, in-tree" "${theirs% *}" $((4 * 60)) 1000
	within "of DTCs, in-tree" "${theirs#* }" $((4 * 4)) 100
}

run_tests
