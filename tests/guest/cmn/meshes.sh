#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Meshes of other shapes than the products' own: one XP, 2x2, 3x3 whose XPs have two, three and four ports, and S3 from
# r2p0 on, which has its fields elsewhere. XPs with more ports than are in use, which no source says whether node ids go
# by: the last three. What happens at a node counts there and nowhere else, and the map is the in-tree driver's.
#
# all vm: --arch arm64 --kernel 6.12 --driver none --model cmn700,mesh=1x1,ports=6,hnf=4 --model cmn600,mesh=1x1,hnf=1 --model cmn700,mesh=2x2,hnf=3,rni=1 --model cmn600,mesh=2x2,hnf=3 --model cmn700,mesh=3x3,ports=2+3@1.0+4@2.1+3@0.2,dtc=3,hnf=0.0.1.0+0.0.1.1+1.0.2.0+1.0.2.1+2.1.3.1+2.1.2+2.1.0,rni=0.2.2 --model cmn700,mesh=3x3,ports=2+4@1.1,multi-dtm=off,hnf=1.1.3+1.1.2+1.1.0+2.2.0 --model cmns3,rev=3 --model cmns3,rev=6,mesh=3x3,ports=2+4@1.1,dtc=2,hns=1.1.3.1+1.1.2+1.1.0+2.2.0,hnf=0.1.1 --model cmn700,mesh=3x2,ports=4,ids-by-use=on,hnf=0.0.0+0.0.1+1.1.0.0+1.1.0.1+1.1.1+2.0.2+2.1.1 --model cmn700,mesh=3x2,ports=4,hnf=0.0.0+0.0.1+1.1.0.0+1.1.0.1+1.1.1+2.0.2+2.1.1 --model ci700,mesh=3x2,ports=3,hnf=0.0.0+0.0.1+1.1.0.0+1.1.0.1+1.1.1+2.0.2+2.1.1
. ./cmn/lib.sh

number_of() {
	n=${1##*_}
	[ "$n" = 0 ] || echo "_$n"
}

# What the map of each mesh is now, if there is one: keep_maps DIRECTORY
keep_maps() {
	mkdir -p "$1"
	for mesh in $(meshes); do
		use_mesh "$mesh"
		map=/sys/kernel/debug/arm-cmn/map$(number_of "$PMU")
		[ ! -e "$map" ] || cat "$map" > "$1/$mesh"
	done
}

modprobe arm-cmn
find_meshes
keep_maps /tmp/theirs
rmmod arm_cmn
load_ours
find_meshes
keep_maps /tmp/ours

# Each node's events by themselves, and all of them together.
test_each_node_counts() {
	use_mesh "$1"
	for type in hnf hns; do
		name=${type}_seq_hit all=$(nodes $type | wc -l)
		[ "$all" = 0 ] || expect $((70000 * all)) "$name" -- "add $1 $name 70000"
		for id in $(nodes $type); do
			expect 70009 "$name,bynodeid=1,nodeid=$id" -- "add $1 $name 70000; add $1 $name@$id 9"
		done
	done
	counted
}

# Watchpoints at every port that something is connected to, wherever the DTM is.
test_each_port_counts() {
	use_mesh "$1"
	sed -n 's/^node .* xp=\(0x[0-9a-f]*\) port=\([0-9]\) .*/\1 \2/p' "$LIST" | sort -u > /tmp/ports
	[ "$(wc -l < /tmp/ports)" -ge 2 ]
	while read -r xp port; do
		expect 1$port "watchpoint_up,bynodeid=1,nodeid=$xp,wp_dev_sel=$port,wp_val=7,wp_mask=0" -- \
			"add $1 flit@$xp,port=$port,dir=up,chn=req,g0=7 1$port; add $1 flit@$xp,port=$port,dir=up,chn=req,g0=6 5"
	done < /tmp/ports
	counted
}

# In-tree there are no maps in 5.10, and products came one by one, the last of these in 6.12.
test_map() {
	[ "$(wc -l < "/tmp/ours/$1")" -ge 10 ]
	[ "$(since 6.12 must may)" = must ] || [ -e "/tmp/theirs/$1" ] || skip "the in-tree driver has no map of it"
	cmp "/tmp/theirs/$1" "/tmp/ours/$1"
}

equal "meshes" "$(meshes | wc -l)" 11
# shellcheck disable=SC2046 # a list
run_tests $(meshes)
