#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Graviton5: a CMN S3 of 10x14 that ACPI has another name for, and that does not tell in which domain an XP or a DTC
# is. Each domain is a quarter of the mesh: carries arrive in the right DTC, and so do interrupts. Of two more meshes by
# that name nobody knows the domains: one is of another size, and in one the DTCs are not in the order of the quarters.
# One is of a revision that nobody knows. The in-tree driver is the referee where it knows the name, from 7.3 on.
#
# all vm: --arch arm64 --kernel 6.12 --driver none --model cmns3,graviton5=on,mesh=10x14,ports=2,dtc=4,hns=128,rni=4,rev=3,acpi=on --model cmns3,graviton5=on,mesh=8x8,dtc=4,hns=100,rev=3,acpi=on --model cmns3,graviton5=on,mesh=10x14,dtc=4,hns=4,rev=9,acpi=on --model cmns3,graviton5=on,mesh=10x14,dtc=4,hnd=0.0.0,hnt=5.0.0+0.8.0+5.7.0,hns=1.1.0+6.1.0+1.9.0+6.9.0,rev=3,acpi=on
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
	equal "devices" "$(cat /sys/bus/acpi/devices/*/hid | grep -c '^AMZN0070$')" 4
	equal "XPs" "$(nodes mxp | wc -l)" 140
	equal "HN-S" "$(nodes hns | wc -l)" 128
	equal "of one in each domain" "$(homes | wc -l)" 4
}

# What does not fit into 16 bits is in the right DTC, or lost.
counts_of_all_domains() {
	use_mesh "$1"
	n=7
	for id in $(homes); do
		expect $((70000 + n)) "hns_cache_miss_all,bynodeid=1,nodeid=$id" -- "add $1 hns_cache_miss_all@$id $((70000 + n))"
		n=$((n * 10))
	done
	expect $((70001 * $(nodes hns | wc -l))) hns_cache_miss_all -- "add $1 hns_cache_miss_all 70001"
	expect $((70001 * $(nodes mxp | wc -l))) mxp_n_dat_txflit_valid -- "add $1 mxp_n_dat_txflit_valid 70001"
	counted
}

interrupts_of_all_domains() {
	bound N
	use_mesh "$1"
	more=''
	for id in $(homes); do
		more="$more add $1 hns_cache_miss_all@$id 140737488355328;"
	done
	got=$(pmu-event --manual "$PMU/hns_cache_miss_all/" -x "@model $more $more $more" -x @read)
	equal "3 * 2^47 in each" "$got" $((12 << 47))
}

test_counts_of_all_domains() {
	counts_of_all_domains cmn0
}

test_interrupts_of_all_domains() {
	interrupts_of_all_domains cmn0
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

# Events look for carries in every DTC. The in-tree driver goes by the rule of 10x14 and by the DTCs' order.
test_others_count() {
	[ "$1" = ours ] || skip "the in-tree driver takes each mesh for one of 10x14"
	for mesh in cmn1 cmn3; do
		use_mesh $mesh
		equal "HN-S of one in each domain of $mesh" "$(homes | wc -l)" 4
		counts_of_all_domains $mesh
		interrupts_of_all_domains $mesh
		equal "XPs of $mesh whose DTC is said" "$(grep -c 'XP 0x[0-9a-f]* DTC' "/sys/kernel/debug/cmn_pmu/$PMU")" 0
	done
	contains "log" "$(cat /tmp/log)" 'AMZN0070:01: Graviton5 with 8x8 XPs and these DTCs is unknown'
	contains "log" "$(cat /tmp/log)" 'AMZN0070:03: Graviton5 with 10x14 XPs and these DTCs is unknown'
	equal "warnings" "$(grep -c 'AMZN0070.*these DTCs is unknown' /tmp/log)" 2
}

# Eight letters in all.
test_others_have_eight_counters() {
	[ "$1" = ours ] || skip "the in-tree driver takes each mesh for one of 10x14"
	use_mesh cmn3
	set --
	for id in $(homes); do
		for name in hns_cache_miss_all hns_mc_reqs_local_all hns_seq_hit; do
			set -- "$@" "$PMU/$name,bynodeid=1,nodeid=$id/"
		done
	done
	[ $# = 12 ]
	fails pmu-event --group "$@"
	shift 4
	pmu-event --group "$@" > /tmp/got
}

test_an_unknown_revision_is_refused() {
	[ "$1" = ours ] || skip "the in-tree driver takes any revision"
	equal "meshes" "$(meshes | tr '\n' ' ')" "cmn0 cmn1 cmn3 "
	contains "log" "$(cat /tmp/log)" 'AMZN0070:02: error (-ENODEV|-19): revision code 9 of CMN S3 is unknown'
	equal "errors" "$(grep -c 'AMZN0070.*: error ' /tmp/log)" 1
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
