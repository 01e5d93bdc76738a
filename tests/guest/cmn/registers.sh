#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Registers that our driver accesses and the in-tree driver does not, from probe to a read of first events: what nobody
# has done on silicon may hang a machine that the in-tree driver counts on. Each has its reason, and each reason its registers:
# "# NODE OFFSET DIRECTION | why", where the offset is in the node's frame, and all three are extended regular expressions.
#
# dtc 0xa00 read | DTC_CTL is read back: firmware may have switched the DTC off
# dtc 0xa30 read | TRACE_CONTROL: a tracing tool may have asked for packets, and only then is it written
# dtc 0x(2db|fb)8 read | AUTHSTATUS: may anything be counted?
# dtc 0x20[123]0 write | PMEVCNT: all begin in the middle of their range, before an event has one
# dtc 0x2100 read | PMCR is read back: a write may arrive late
# mxp 0x2[135]00 read | DTM_CONTROL: a tracing tool may have locked the DTM, and only then is it written
# mxp 0x2[135](a0|b8|d0|e8) write | WPn_CONFIG: a tracing tool may have armed it
# [a-z_]+ 0x200[08] write | selectors of nodes at an XP where an event starts: another one may have the line
#
# all vm: --arch arm64 --kernel 6.12 --driver none --model cmn600 --model cmn700
. ./cmn/lib.sh

# registers DRIVER LOAD UNLOAD: NODE ID OFFSET DIRECTION of each that it accesses, in /tmp/DRIVER.MESH
registers() {
	pmu-model set 'cmn*' record 1
	$2
	find_meshes
	for mesh in $(meshes); do
		use_mesh "$mesh"
		node=$(nodes hnf | head -n 1)
		xp=$(printf '%#x' $((node & ~7)))
		pmu-event --manual "$PMU/hnf_cache_miss,bynodeid=1,nodeid=$node/" "$PMU/hnf_mc_reqs/" "$PMU/dtc_cycles/" \
			"$PMU/mxp_p0_req_txflit_valid,bynodeid=1,nodeid=$xp/" \
			"$PMU/watchpoint_up,bynodeid=1,nodeid=$xp,wp_dev_sel=0,wp_chn_sel=0,wp_grp=0,wp_val=0,wp_mask=0xffffffffffffffff/" \
			-x @read > /dev/null
		pmu-model list "$mesh" | awk '$1 == "access" { print $2, $3, $4, $5 }' | sort -u > "/tmp/$1.$mesh"
	done
	$3
	pmu-model set 'cmn*' record 0
}

test_registers_that_ours_alone_accesses() {
	sed -n 's/^# \(.* \(read\|write\)\) | .*/\1/p' "$0" > /tmp/reasons
	registers in-tree 'modprobe arm-cmn' 'rmmod arm_cmn'
	registers ours load_ours unload_ours
	equal "meshes" "$(meshes | wc -l)" 2
	# Not in the pipe below, whose first part cannot fail a test.
	for mesh in $(meshes); do
		[ "$(wc -l < "/tmp/in-tree.$mesh")" -gt 100 ]
	done
	for mesh in $(meshes); do
		lacking "/tmp/in-tree.$mesh" "/tmp/ours.$mesh" | awk '{ print $1, $3, $4 }'
	done | sort | uniq -c | awk '{ print $2, $3, $4, $1 }' > /tmp/alone
	show < /tmp/alone
	cut -d' ' -f1-3 /tmp/alone > /tmp/names
	equal "without a reason" "$(grep -Evx -f /tmp/reasons /tmp/names || :)" ""
	while read -r reason; do
		grep -Eqx "$reason" /tmp/names || echo "$reason: the in-tree driver accesses it, too"
	done < /tmp/reasons > /tmp/idle
	equal "reasons" "$(cat /tmp/idle)" ""
}

run_tests
