#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What perf finds in sysfs is what the in-tree driver shows of the same mesh, and what is more is listed here.
# That of 6.1 has other formats for watchpoints and no identifier; ours is as 6.12 has it on every kernel.
#
# vm: --arch arm64 --kernel 6.12 --driver none --model 'cmn600 cmn650 ci700 cmn700 cmns3'
# vm: --arch arm64 --kernel 6.12 --driver none --model 'cmn600,rev=0 cmn600,rev=4 cmn650,rev=4 cmn700,rev=3 cmns3,rev=2'
# vm: --arch arm64 --kernel 6.12 --driver none --model 'cmn700,mesh=1x1,ports=6,hnf=4'
. ./cmn/lib.sh

MESH=$PMUS/arm_cmn_0

# Files of the PMU as they are now: keep DIRECTORY
keep() {
	mkdir -p "$1"
	cp -r "$MESH/events" "$MESH/format" "$MESH/identifier" "$MESH/cpumask" "$1"
}

# Both are looked at once; the in-tree driver has to let go first.
look_at_both() {
	modprobe arm-cmn
	keep /tmp/theirs
	rmmod arm_cmn
	insmod /vm/modules.d/pmu_core.ko
	insmod /vm/modules.d/cmn_pmu.ko
	keep /tmp/ours
}

# Lines "NAME CONTENT" of a directory.
lines() {
	(cd "$1" && for name in *; do
		echo "$name $(cat "$name")"
	done)
}

# One that is alone numbers its ports otherwise, which the in-tree driver does not know.
alone() {
	[ "$(pmu-model list cmn0 | grep -c '^node mxp ')" = 1 ]
}

# Events that both are to have: events DIRECTORY
events() {
	if alone; then
		lines "$1/events" | grep -v '^mxp_'
	else
		lines "$1/events"
	fi
}

look_at_both
events /tmp/theirs > /tmp/events.theirs
events /tmp/ours > /tmp/events.ours

# Names that ours has in addition, as Documentation/cmn.md says.
is_more() {
	case $(cut -c1-3 "$MESH/identifier") in
	434) more='dvmop_(tlbi|bpi|pici|vici)|dvmsync|vmid_filtered|rndop_filtered|retry|txsnp_(flitv|stall)|trkfull|trk_occupancy_.*' ;;
	43e) more='(trk|trk_cxha|trk_pdn)_alloc|trk_occupancy_(cxha|pdn)_.*|txsnp_stall_limit|txsnp_sync_stall_op|rxsnp_stall_starv' ;;
	*) more=none ;;
	esac
	echo "$1" | grep -Eqx "dn_($more)"
}

# Its events by name, with the config that it gives them.
test_every_event_of_the_in_tree_driver() {
	[ "$(wc -l < /tmp/events.theirs)" -ge 50 ]
	missing=$(grep -Fxv -f /tmp/events.ours /tmp/events.theirs || true)
	equal "events of the in-tree driver alone, or other there" "$missing" ""
}

test_no_other_events_but_the_documented() {
	grep -Fxv -f /tmp/events.theirs /tmp/events.ours > /tmp/more || true
	while read -r name config; do
		is_more "$name" || echo "$name $config"
	done < /tmp/more > /tmp/undocumented
	equal "events of ours alone" "$(cat /tmp/undocumented)" ""
}

test_formats() {
	lines /tmp/theirs/format > /tmp/wanted
	lines /tmp/ours/format | grep -v '^wp_chn_num ' > /tmp/got
	equal "formats" "$(cat /tmp/got)" "$(cat /tmp/wanted)"
	equal "ours alone" "$(cat "$MESH/format/wp_chn_num")" config:59-60
}

test_identifier_and_cpumask() {
	equal "cpumask" "$(cat /tmp/ours/cpumask)" "$(cat /tmp/theirs/cpumask)"
	equal "identifier" "$(cat /tmp/ours/identifier)" "$(cat /tmp/theirs/identifier)"
}

# Every port in use by its number, and by that of a link where there are as many of these.
test_ports_of_an_xp_alone() {
	alone || skip "there are several"
	for port in 0 1 2 3 4; do
		name=mxp_p${port}_req_txflit_valid
		happens="pmu-model add cmn0 $name $((7 + port))"
		equal "$name" "$(pmu-event "$(cmn_event $name)" -x "$happens")" $((7 + port))
	done
	equal "south" "$(pmu-event "$(cmn_event mxp_s_req_txflit_valid)" -x 'pmu-model add cmn0 mxp_p3_req_txflit_valid 5')" 5
	[ ! -e "$MESH/events/mxp_p5_req_txflit_valid" ]
}

# perf makes an event of every name, watchpoints with the rest filled in.
test_perf_takes_every_name() {
	for name in $(cd "$MESH/events" && printf '%s\n' *); do
		case $name in
		watchpoint_*) fields=,wp_dev_sel=1,wp_chn_sel=0,wp_grp=0,wp_val=0,wp_mask=0 ;;
		*) fields='' ;;
		esac
		said=$(pmu-event "$(cmn_event "$name$fields")") || echo "$name: $said"
	done > /tmp/refused
	equal "names that do not open" "$(cat /tmp/refused)" ""
}

run_tests
