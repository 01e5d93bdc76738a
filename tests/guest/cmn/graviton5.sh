#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Graviton5: a CMN S3 of 10x14 that ACPI has another name for, and that does not tell in which domain an XP or a DTC
# is. Each domain is a quarter of the mesh: carries arrive in the right DTC, and so do interrupts.
#
# vm: --arch arm64 --kernel 6.12 --driver ours --model cmns3,graviton5=on,mesh=10x14,ports=2,dtc=4,hns=128,rni=4,rev=3,acpi=on
. ./cmn/lib.sh

find_meshes
use_mesh cmn0

# One HN-S of each domain.
homes() {
	for dtc in 0 1 2 3; do
		sed -n "s/^node hns \(0x[0-9a-f]*\) .* dtc=$dtc .*/\1/p" "$LIST" | tail -n 1
	done
}

test_found() {
	contains "devices" "$(cat /sys/bus/acpi/devices/*/hid)" '^AMZN0070$'
	equal "XPs" "$(nodes mxp | wc -l)" 140
	equal "HN-S" "$(nodes hns | wc -l)" 128
	equal "of one in each domain" "$(homes | wc -l)" 4
}

# What does not fit into 16 bits is in the right DTC, or lost.
test_counts_of_all_domains() {
	n=7
	for id in $(homes); do
		expect $((70000 + n)) "hns_cache_miss_all,bynodeid=1,nodeid=$id" -- "add cmn0 hns_cache_miss_all@$id $((70000 + n))"
		n=$((n * 10))
	done
	expect $((70001 * 128)) hns_cache_miss_all -- "add cmn0 hns_cache_miss_all 70001"
	expect $((70001 * 140)) mxp_n_dat_txflit_valid -- "add cmn0 mxp_n_dat_txflit_valid 70001"
	counted
}

test_interrupts_of_all_domains() {
	more=''
	for id in $(homes); do
		more="$more add cmn0 hns_cache_miss_all@$id 140737488355328;"
	done
	got=$(pmu-event --manual "$PMU/hns_cache_miss_all/" -x "@model $more $more $more" -x @read)
	equal "3 * 2^47 in each" "$got" $((12 << 47))
}

# The drawing has the domain of each XP that the model has.
test_drawing() {
	contains "drawing" "$(head -n 1 "/sys/kernel/debug/cmn_pmu/$PMU")" ", 10x14, 4 DTCs"
	for dtc in 0 1 2 3; do
		equal "XPs of DTC $dtc" "$(grep -o "XP 0x[0-9a-f]* DTC $dtc" "/sys/kernel/debug/cmn_pmu/$PMU" | wc -l)" 35
	done
}

run_tests
