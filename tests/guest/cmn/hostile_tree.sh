#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Trees of nodes that cannot be: no crash, a sentence, and the mesh is refused or what is left of it counts. One
# mesh for each way in which a tree is broken, all at once.
#
# all vm: --arch arm64 --kernel 6.12 --driver none --model cmn700,corrupt=loop --model cmn600,corrupt=xp-loop --model cmn700,corrupt=range --model cmn700,corrupt=xp-range --model cmn700,corrupt=count --model cmn700,corrupt=array --model cmn700,corrupt=crowd --model cmn700,corrupt=isolated+hidden --model cmn700,corrupt=twice --model cmn700,corrupt=xp-twice --model cmn700,corrupt=type --model cmn700,corrupt=xp-type --model cmn700,corrupt=id --model cmn700,corrupt=logical --model cmn700,corrupt=dtc --model cmn700,corrupt=domain
. ./cmn/lib.sh

# How the meshes are broken, in their order.
KINDS=$(sed -n 's/^# \(all \)\?vm: //p' "$0" | grep -o 'corrupt=[a-z-]*' | cut -d= -f2)

# What is said of a tree: "counts" with what is passed over, or "refused" with why.
verdict() {
	case $1 in
	loop) echo "counts: child 0 of the node at .* as another is: ignored" ;;
	twice) echo "counts: child 1 of the node at .* as another is: ignored" ;;
	crowd) echo "counts: 4x2 XPs, 2 DTCs" ;;
	isolated) echo "counts: the node at 0x[0-9a-f]* is isolated: left alone" ;;
	type) echo "counts: 1 nodes of unknown type ignored; the first, type 0xabc, is at XP 0x20" ;;
	range) echo "refused: child 0 of the node at .* not in the region" ;;
	xp-range) echo "refused: child 0 of the node at 0x0 .* not in the region" ;;
	xp-loop) echo "refused: child 0 of the root, at .* is of type 0x2, not an XP" ;;
	xp-type) echo "refused: child 1 of the root, at .* is of type 0x5, not an XP" ;;
	xp-twice) echo "counts: child 1 of the node at 0x0 .* as another is: ignored" ;;
	logical) echo "counts: the numbers and ids of the 8 XPs make no grid" ;;
	count) echo "refused: the XP at .* says that it has 65535 children" ;;
	array) echo "refused: the XP at .* its children are listed at 0xfff8, which cannot be" ;;
	id) echo "counts: node 0xfff8 is listed by XP 0x20, where it is not by its id" ;;
	dtc) echo "refused: the DTC at .* is number 3, which another is" ;;
	domain) echo "refused: XP 0x20 is in the domain of DTC 3, and there are 2" ;;
	esac
}

# What the driver said of the n-th mesh; what the kernel itself says when a probe fails is the same for all.
said() {
	grep "cmn_pmu $(printf '%x' $((($1 + 1) << 32))).pmu: " /tmp/log | grep -v 'failed with error'
}

log_mark
load_ours
log_since_mark > /tmp/log
find_meshes

# A mesh that is refused says why, once, and is no PMU.
test_each_has_its_sentence() {
	n=0
	for kind in $KINDS; do
		verdict=$(verdict "$kind")
		contains "$kind" "$(said $n)" "${verdict#*: }"
		pmu=$(grep -c "^cmn$n " /tmp/meshes || true)
		case $verdict in
		counts*)
			equal "$kind: PMUs" "$pmu" 1 ;;
		*)
			equal "$kind: sentences" "$(said $n | grep -Ec ': error -E(INVAL|NODEV): .{15}')" 1
			equal "$kind: PMUs" "$pmu" 0 ;;
		esac
		n=$((n + 1))
	done
	equal "meshes" $n 16
}

# What is left counts exactly: an HN-F of the first XP, which nothing happened to.
test_the_rest_counts() {
	n=0
	for mesh in $(meshes); do
		use_mesh "$mesh"
		expect 70000 hnf_cache_miss,bynodeid=1,nodeid=0x4 -- "add $mesh hnf_cache_miss@0x4 70000"
		counted
		n=$((n + 1))
	done
	equal "meshes" $n 8
}

test_unload() {
	unload_ours
	equal "PMUs" "$(echo $PMUS/arm_cmn_*)" "$PMUS/arm_cmn_*"
}

# The model says when something was touched that must not be, from load to unload.
test_nothing_outside_was_touched() {
	pmu-model stats 'cmn*' | grep -E ' (external|isolated|hole)(64|32) ' > /tmp/outside
	equal "classes" "$(wc -l < /tmp/outside)" $((6 * 16))
	equal "touched" "$(grep -v ' 0 0$' /tmp/outside)" ""
}

run_tests
