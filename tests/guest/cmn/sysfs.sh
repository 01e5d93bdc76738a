#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What perf finds in sysfs, and tools in debugfs, is what the in-tree driver shows of the same mesh, and what is more
# is listed here. The revisions are those from which on a product has other events, and those before. The in-tree driver
# knows S3 from r2p0 on since 7.3.
# That of 6.1 has other formats for watchpoints and no identifier; ours is as 6.12 has it on every kernel. That of 7.3
# says filter= where 6.12 says occupid=, which are the same bits, and has some of our formats.
#
# all vm: --arch arm64 --kernel 6.12 --driver none --model cmn600,rev=1 --model cmn600,rev=2 --model cmn600 --model cmn600,rev=4 --model cmn650,rev=2 --model cmn650 --model cmn650,rev=4 --model ci700 --model cmn700,rev=0 --model cmn700,rev=1 --model cmn700 --model cmn700,rev=3 --model cmns3,rev=2 --model cmns3,rev=3 --model cmns3,rev=6 --model cmn700,req-vcs=1,rsp-vcs=1,snp-vcs=1,dat-vcs=1
. ./cmn/lib.sh

# Lines "NAME CONTENT" of a directory.
lines() {
	(cd "$1" && grep '' ./* | sed 's/^\.\/\([^:]*\):/\1 /')
}

# What the PMUs' files say as they are now, in a directory for each mesh: keep DIRECTORY
keep() {
	find_meshes
	for mesh in $(meshes); do
		pmu=$PMUS/$(sed -n "s/^$mesh //p" /tmp/meshes)
		mkdir -p "$1/$mesh"
		lines "$pmu/events" | sed 's/,filter=/,occupid=/' > "$1/$mesh/events"
		lines "$pmu/format" > "$1/$mesh/format"
		cat "$pmu/identifier" "$pmu/cpumask" > "$1/$mesh/identifier_and_cpumask"
		number=${pmu##*_}
		cat "/sys/kernel/debug/arm-cmn/map$([ "$number" = 0 ] || echo "_$number")" > "$1/$mesh/map"
	done
}

# Both are looked at once; the in-tree driver has to let go first. Ours stays.
look_at_both() {
	modprobe arm-cmn
	keep /tmp/theirs
	rmmod arm_cmn
	load_ours
	keep /tmp/ours
}

# What both drivers show of a mesh: $THEIRS and $OURS.
setup() {
	in_tree_knows_all || skip "the in-tree driver of this kernel knows CMN-600 alone"
	use_mesh "$1"
	THEIRS=/tmp/theirs/$1 OURS=/tmp/ours/$1
}

# Is the in-tree driver that of 7.3 or later?
is_newer() {
	grep -q '^filter2 ' "$THEIRS/format"
}

# Names of the in-tree driver that would count something else, or that it has since 7.3 in place of ours, as
# Documentation/cmn.md says.
other_names() {
	case $(cat "$MESH/identifier") in
	4340[4-9]) echo 'dn_rxreq_.*' ;;
	43c*|43e0[0-2]) ! is_newer || echo 'hns_pocq_(atomic_)?addrhaz_(all|hbt|lbt)' ;;
	43e0[3-9]) echo 'hnf_sn_throttle_(min_)?(ccg_read|ccg_write|lbt|lbt_read|lbt_write)' ;;
	esac
}

# Names that ours has in addition.
more_names() {
	case $(cat "$MESH/identifier") in
	4340[4-9]) echo 'dn_(dvmop_(tlbi|bpi|pici|vici)|dvmsync|vmid_filtered|rndop_filtered|retry|txsnp_(flitv|stall)|trkfull|trk_occupancy_.*)' ;;
	43c*|43e0[0-2]) ! is_newer || echo 'hns_pocq_(atomic_)?addrhaz' ;;
	esac
	case $(cat "$MESH/identifier") in
	43e*)
		echo 'rnid_(ldb_full|rrt_rd_req_occup_ovfl_slice[0-3]|rrt_burst_(alloc|occup_ovfl_slice[0-3])|awid_hash|atomic_(alloc|occ_ovfl))'
		is_newer || echo 'dn_((trk|trk_cxha|trk_pdn)_alloc|trk_occupancy_(cxha|pdn)_.*|txsnp_stall_limit|txsnp_sync_stall_op|rxsnp_stall_starv)' ;;
	esac
}

# The lines of a list that none of the expressions allows: but EXPRESSION...
but() {
	grep -Ev "^($(echo "$1" | paste -sd'|')) " || true
}

# Its events by name, with the config that it gives them.
test_every_event_of_the_in_tree_driver() {
	setup "$1"
	[ "$(wc -l < "$THEIRS/events")" -ge 50 ]
	missing=$(lacking "$OURS/events" "$THEIRS/events" | but "$(other_names)")
	equal "events of the in-tree driver alone, or other there" "$missing" ""
}

test_no_other_events_but_the_documented() {
	setup "$1"
	undocumented=$(lacking "$THEIRS/events" "$OURS/events" | but "$(more_names)")
	equal "events of ours alone" "$undocumented" ""
}

test_formats() {
	setup "$1"
	[ "$(wc -l < "$THEIRS/format")" -ge 12 ]
	equal "formats of the in-tree driver alone, or other there" "$(lacking "$OURS/format" "$THEIRS/format")" ""
	equal "ours alone" "$(lacking "$THEIRS/format" "$OURS/format" | grep -Ev '^(filter|filter2|wp_chn_num) ' || true)" ""
	equal "ours" "$(grep -E '^(filter|filter2|occupid|wp_chn_num) ' "$OURS/format" | tr '\n' ';')" \
		"filter config:27-30;filter2 config:48-51;occupid config:27-30;wp_chn_num config:59-60;"
}

test_identifier_and_cpumask() {
	setup "$1"
	[ "$(wc -l < "$OURS/identifier_and_cpumask")" = 2 ]
	equal "identifier and cpumask" "$(cat "$OURS/identifier_and_cpumask")" "$(cat "$THEIRS/identifier_and_cpumask")"
}

# Arm's tools parse it. That of 7.3 knows the domain of no XP of a CMN-600.
test_map() {
	setup "$1"
	[ "$(wc -l < "$OURS/map")" -ge 10 ]
	case $(cat "$MESH/identifier") in
	434*) grep -q 'DTC [0-9]' "$OURS/map"
	      grep -q 'DTC [0-9]' "$THEIRS/map" || sed -i 's/DTC [0-9] /DTC ??/g' "$OURS/map" ;;
	esac
	cmp "$THEIRS/map" "$OURS/map"
}

# pmu-event makes an event of every name, watchpoints with the rest filled in.
test_every_name_opens() {
	setup "$1"
	sed "s/ .*//; s/^watchpoint_.*/&,wp_dev_sel=1,wp_chn_sel=0,wp_grp=0,wp_val=0,wp_mask=0/
		s|.*|$PMU/&/|" "$OURS/events" > /tmp/lines
	pmu-event --disabled --lines < /tmp/lines > /tmp/got
	equal "lines" "$(wc -l < /tmp/got)" "$(wc -l < /tmp/lines)"
	equal "names that do not open" "$(paste /tmp/got /tmp/lines | grep -v '^	' || true)" ""
}

# The meshes that the in-tree driver shows as they are.
compared() {
	for mesh in $(meshes); do
		if grep -q '^43e0[3-9]' "/tmp/theirs/$mesh/identifier_and_cpumask"; then
			grep -q '^filter2 ' "/tmp/theirs/$mesh/format" || continue
		fi
		echo "$mesh"
	done
}

if in_tree_knows_all; then
	look_at_both
	equal "meshes of both" "$(cd /tmp/ours && echo cmn*)" "$(cd /tmp/theirs && echo cmn*)"
	equal "meshes that have a PMU" "$(meshes | wc -l)" "$(find /sys/firmware/devicetree/base -name 'pmu@*' | wc -l)"
fi
# shellcheck disable=SC2046 # a list
run_tests $([ ! -e /tmp/meshes ] || compared)
