#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Graviton5: a CMN S3 of 10x14 that ACPI has another name for, and that does not tell in which domain an XP or a DTC
# is. Each domain is a quarter of the mesh: carries arrive in the right DTC, and so do interrupts. Two more meshes by
# that name are of a size and of a revision that nobody knows. The in-tree driver is the referee where it knows the
# name, from 7.3 on.
#
# vm: --arch arm64 --kernel 6.12 --driver none --model cmns3,graviton5=on,mesh=10x14,ports=2,dtc=4,hns=128,rni=4,rev=3,acpi=on --model cmns3,graviton5=on,mesh=8x8,dtc=4,hns=4,rev=3,acpi=on --model cmns3,graviton5=on,mesh=10x14,dtc=4,hns=4,rev=9,acpi=on
. ./cmn/lib.sh

# The drivers that know Graviton5; ours is first, since the in-tree one leaves registers as it likes.
drivers() {
	echo ours
	! grep -q AMZN0070 "/lib/modules/$(uname -r)/modules.alias" || echo in_tree
}

# One HN-S of each domain.
homes() {
	for dtc in 0 1 2 3; do
		sed -n "s/^node hns \(0x[0-9a-f]*\) .* dtc=$dtc .*/\1/p" "$LIST" | tail -n 1
	done
}

test_loads() {
	log_mark
	case $1 in
	ours) load_ours ;;
	*) modprobe arm-cmn ;;
	esac
	log_since_mark > /tmp/log
	find_meshes
	use_mesh cmn0
	equal "devices" "$(cat /sys/bus/acpi/devices/*/hid | grep -c '^AMZN0070$')" 3
	equal "XPs" "$(nodes mxp | wc -l)" 140
	equal "HN-S" "$(nodes hns | wc -l)" 128
	equal "of one in each domain" "$(homes | wc -l)" 4
}

# What does not fit into 16 bits is in the right DTC, or lost.
test_counts_of_all_domains() {
	use_mesh cmn0
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
	bound N
	use_mesh cmn0
	more=''
	for id in $(homes); do
		more="$more add cmn0 hns_cache_miss_all@$id 140737488355328;"
	done
	got=$(pmu-event --manual "$PMU/hns_cache_miss_all/" -x "@model $more $more $more" -x @read)
	equal "3 * 2^47 in each" "$got" $((12 << 47))
}

# The drawing has the domain of each XP that the model has, and both drivers' maps have the same.
test_drawing() {
	use_mesh cmn0
	cp /sys/kernel/debug/arm-cmn/map "/tmp/map.$1"
	cmp /tmp/map.ours "/tmp/map.$1"
	[ "$1" = ours ] || return 0
	contains "drawing" "$(head -n 1 "/sys/kernel/debug/cmn_pmu/$PMU")" ", 10x14, 4 DTCs"
	for dtc in 0 1 2 3; do
		equal "XPs of DTC $dtc" "$(grep -o "XP 0x[0-9a-f]* DTC $dtc" "/sys/kernel/debug/cmn_pmu/$PMU" | wc -l)" 35
	done
}

# Both drivers have the same events, under the same names.
test_events() {
	use_mesh cmn0
	(cd "$MESH/events" && grep '' ./*) | sed 's/,filter=/,occupid=/' > "/tmp/events.$1"
	[ "$(grep -c '/hns_' "/tmp/events.$1")" -ge 100 ]
	cmp /tmp/events.ours "/tmp/events.$1"
}

# A count that may lack carries is worse than none. The in-tree driver takes a mesh of another size for one of 10x14.
test_others_are_refused() {
	if [ "$1" != ours ]; then
		contains "meshes" "$(meshes)" '^cmn1$'
		return
	fi
	equal "meshes" "$(meshes)" cmn0
	contains "log" "$(cat /tmp/log)" 'AMZN0070:01: error (-ENODEV|-19): .*Graviton5, and the mesh has 8x8 XPs'
	contains "log" "$(cat /tmp/log)" 'AMZN0070:02: error (-ENODEV|-19): revision code 9 of CMN S3 is unknown'
	equal "errors" "$(grep -c 'AMZN0070.*: error ' /tmp/log)" 2
}

test_unloads() {
	case $1 in
	ours) unload_ours ;;
	*) rmmod arm_cmn ;;
	esac
	equal "PMUs" "$(echo $PMUS/arm_cmn_*)" "$PMUS/arm_cmn_*"
}

# shellcheck disable=SC2046 # a list
run_tests $(drivers)
