#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Two sockets with a mesh each, which is near the CPUs of its own: cmn0 those of node 1, cmn1 those of node 0. What
# happens to one is nothing to the other: its counts, its interrupts, who owns it, that it is unbound.
#
# vm: --arch arm64 --kernel 6.12 --driver ours --cpus 4 --nodes 2 --model cmn700,node=1 --model cmn700,mesh=3x3,dtc=2,hnf=6,rni=2,node=0
# kernels vm: --arch arm64 --kernel 6.12 --driver in-tree --cpus 4 --nodes 2 --model cmn700,node=1 --model cmn700,mesh=3x3,dtc=2,hnf=6,rni=2,node=0
. ./cmn/lib.sh

if [ -e /sys/module/cmn_pmu ]; then driver=ours; else driver=in-tree; fi
CPUS=/sys/devices/system/cpu
HALF=140737488355328	# of what the hardware has room for

# use MESH: what lib.sh has of it, and $NODE, the $CPU that is its first one and the $OTHER one; $DEVICE, the mesh's
use() {
	use_mesh "$1"
	NODE=$((1 - ${1#cmn})) CPU=$((2 - 2 * ${1#cmn})) OTHER=$((3 - 2 * ${1#cmn}))
	# Ours has a link; the in-tree driver's PMU is below its device.
	DEVICE=$(readlink -f "$MESH")
	[ -e "$DEVICE/device" ] && DEVICE=$(readlink -f "$DEVICE/device") || DEVICE=${DEVICE%/*}
	DEVICE=${DEVICE##*/}
}

# An event of a mesh, at all of its home nodes, and how many those are.
event() {
	(use_mesh "$1" && echo "$PMU/hnf_cache_miss/")
}

homes() {
	(use_mesh "$1" && nodes hnf | wc -l)
}

# A command: half of what the hardware has room for, in each of the mesh's domains. It runs on the owner CPU, where
# nothing happens while the interrupt is served.
overflow() {
	(
		use_mesh "$1"
		for id in $(nodes hnf | sed -n '1p;$p'); do
			echo "taskset \$((1 << \$(cat $MESH/cpumask))) pmu-model add $1 hnf_cache_miss@$id $HALF;"
		done
	) | tr '\n' ' '
}

# Interrupts of a mesh on a CPU: interrupts DEVICE CPU
interrupts() {
	awk -v device="$1" -v column=$(($2 + 2)) '$NF == device { n += $column } END { print n + 0 }' /proc/interrupts
}

test_two_sockets() {
	equal "PMUs" "$(echo "$PMUS"/arm_cmn_*)" "$PMUS/arm_cmn_0 $PMUS/arm_cmn_1"
	equal "meshes" "$(meshes | tr '\n' ' ')" "cmn0 cmn1 "
	for mesh in cmn0 cmn1; do
		use $mesh
		equal "CPUs of node $NODE" "$(cat /sys/devices/system/node/node$NODE/cpulist)" $CPU-$OTHER
		equal "sockets of these" "$(cat $CPUS/cpu$CPU/topology/core_siblings_list)" $CPU-$OTHER
		equal "node of $mesh" "$(cat /sys/bus/platform/devices/"$DEVICE"/numa_node)" $NODE
	done
}

test_owners_are_near() {
	for mesh in cmn0 cmn1; do
		use $mesh
		within "cpumask of $mesh" "$(cat "$MESH/cpumask")" $CPU $OTHER
	done
}

test_each_counts_its_own() {
	first=$(homes cmn0) second=$(homes cmn1)
	got=$(pmu-event "$(event cmn0)" "$(event cmn1)" -x '@model add cmn0 hnf_cache_miss 70000' \
		-x '@model add cmn1 hnf_cache_miss 90000' -x '@model add cmn1 hnf_cache_miss 5; add cmn0 hnf_cache_miss 7')
	equal "counts" "$got" "$((70000 * first)) 0
$((70000 * first)) $((90000 * second))
$((70007 * first)) $((90005 * second))"
}

# Nobody reads in between, so without interrupts of both counts would be lost. They come to the owner.
test_interrupts() {
	bound N
	for mesh in cmn0 cmn1; do
		use $mesh
		for cpu in 0 1 2 3; do
			echo "$mesh $cpu $(cat "$MESH/cpumask") $(interrupts "$DEVICE" $cpu)"
		done
	done > /tmp/before
	got=$(pmu-event --manual "$(event cmn0)" "$(event cmn1)" -x "$(overflow cmn0)" -x "$(overflow cmn1)" \
		-x "$(overflow cmn0)" -x "$(overflow cmn1)" -x "$(overflow cmn0)" -x @read)
	equal "2^47 in two domains, three times and twice" "$got" "$((6 << 47)) $((4 << 47))"
	while read -r mesh cpu owner before; do
		use "$mesh"
		case $cpu in
		"$owner") within "interrupts of $mesh" $(($(interrupts "$DEVICE" "$cpu") - before)) 4 100 ;;
		*) equal "interrupts of $mesh on CPU $cpu" "$(interrupts "$DEVICE" "$cpu")" "$before" ;;
		esac
	done < /tmp/before
}

# Each map is of its own mesh: so many columns and rows, and the drawing too.
test_maps() {
	for size in cmn0,4x2 cmn1,3x3; do
		use ${size%,*}
		number=${PMU#arm_cmn_}
		[ "$number" = 0 ] && map=map || map=map_$number
		awk 'NR == 1 { columns = NF - 1 } /^[0-9]+ +[|]/ { rows++ } END { print columns "x" rows }' \
			"/sys/kernel/debug/arm-cmn/$map" > /tmp/size
		equal "map of $size" "$(cat /tmp/size)" "${size#*,}"
		[ $driver = ours ] || continue
		contains "drawing" "$(head -n 1 "/sys/kernel/debug/cmn_pmu/$PMU")" "^$PMU: CMN-700 .* ${size#*,}, 2 DTCs"
	done
}

# The owner goes, then the other CPU of its node, and they come back; both meshes count all the time.
test_owner_stays_in_its_node() {
	first=$(homes cmn0) second=$(homes cmn1)
	happens='pmu-model add cmn0 hnf_cache_miss 70000; pmu-model add cmn1 hnf_cache_miss 90000'
	for mesh in cmn0 cmn1; do
		use $mesh
		owner=$(cat "$MESH/cpumask") left=$((CPU + OTHER - owner))
		far=$PMUS/$(grep -v "^$mesh " /tmp/meshes | cut -d' ' -f2)/cpumask
		asks="cat $MESH/cpumask >> /tmp/owners; cat $far >> /tmp/far"
		rm -f /tmp/owners
		cat "$far" > /tmp/far
		pmu-event "$(event cmn0)" "$(event cmn1)" -x "$happens" \
			-x "echo 0 > $CPUS/cpu$owner/online; $asks; $happens" \
			-x "echo 0 > $CPUS/cpu$left/online; $asks; $happens" \
			-x "echo 1 > $CPUS/cpu$OTHER/online; $asks; $happens" \
			-x "$(overflow $mesh)" \
			-x "echo 1 > $CPUS/cpu$CPU/online; $asks; $happens" > /tmp/got
		while read -r times wraps; do
			[ $mesh = cmn0 ] && a=$wraps b=0 || a=0 b=$wraps
			echo "$((70000 * times * first + (a << 47))) $((90000 * times * second + (b << 47)))"
		done > /tmp/wanted <<-LIST
			1 0
			2 0
			3 0
			4 0
			4 2
			5 2
		LIST
		equal "counts" "$(cat /tmp/got)" "$(cat /tmp/wanted)"
		away=$(sed -n 2p /tmp/owners)
		equal "owners of $mesh" "$(tr '\n' ' ' < /tmp/owners)" "$left $away $OTHER $OTHER "
		within "owner without the node" $((away / 2)) $((1 - NODE)) $((1 - NODE))
		equal "owners of the other mesh" "$(sort -u /tmp/far | wc -l)" 1
	done
}

# One is unbound with events open on both: its event fails, and the other mesh counts on. Bound again
# it has a new number, since somebody still counts with the PMU that was.
test_one_is_unbound() {
	bound N
	[ $driver = ours ] || skip "perf frees what open events use when the in-tree driver takes its PMU back"
	drivers=/sys/bus/platform/drivers/cmn_pmu
	# shellcheck disable=SC2016 # for the shell that pmu-event starts
	until_error='for _ in $(seq 6000); do [ "$(head -c 8 <&3 | wc -c)" = 0 ] && exit; sleep 0.01; done; exit 1'
	for mesh in cmn0 cmn1; do
		[ $mesh = cmn0 ] && stays=cmn1 || stays=cmn0
		n=$(homes "$stays")
		use $mesh
		gone=$PMU
		got=$(pmu-event "$(event $mesh)" "$(event "$stays")" \
			-x "@model add $mesh hnf_cache_miss 70000; add $stays hnf_cache_miss 90000" \
			-x "echo $DEVICE > $drivers/unbind; $until_error" \
			-x "pmu-model add $stays hnf_cache_miss 90000; $(overflow "$stays")" \
			-x "cat $MESH/cpumask > /tmp/cpumask; ls /sys/kernel/debug/cmn_pmu > /tmp/drawings" \
			-x "echo $DEVICE > $drivers/bind; pmu-model add $stays hnf_cache_miss 90000")
		equal "counts" "$got" "$((70000 * $(homes $mesh))) $((90000 * n))
error $((90000 * n))
error $((180000 * n + (2 << 47)))
error $((180000 * n + (2 << 47)))
error $((270000 * n + (2 << 47)))"
		equal "cpumask of $gone" "$(cat /tmp/cpumask)" ''
		equal "drawings" "$(cat /tmp/drawings)" "$(sed -n "s/^$stays //p" /tmp/meshes)"
		find_meshes
		use $mesh
		[ "$PMU" != "$gone" ]
		within "owner of $mesh" "$(cat "$MESH/cpumask")" $CPU $OTHER
		test_each_counts_its_own
		test_interrupts
	done
	unload_ours
	equal "PMUs" "$(echo "$PMUS"/arm_cmn_*)" "$PMUS/arm_cmn_*"
	load_ours
	find_meshes
	test_two_sockets
}

# If only an event of the other mesh is open, the PMU goes with its mesh.
test_one_is_unbound_beside_the_other() {
	[ $driver = ours ] || skip "what our driver does"
	for mesh in cmn0 cmn1; do
		[ $mesh = cmn0 ] && stays=cmn1 || stays=cmn0
		use $mesh
		drivers=/sys/bus/platform/drivers/cmn_pmu
		got=$(pmu-event "$(event "$stays")" -x "echo $DEVICE > $drivers/unbind; ls $PMUS > /tmp/pmus
			echo $DEVICE > $drivers/bind; ls $PMUS > /tmp/again; pmu-model add $stays hnf_cache_miss 90000")
		equal "count" "$got" $((90000 * $(homes "$stays")))
		equal "PMUs" "$(grep arm_cmn_ /tmp/pmus)" "$(sed -n "s/^$stays //p" /tmp/meshes)"
		equal "number of PMUs when bound again" "$(grep -c arm_cmn_ /tmp/again)" 2
		find_meshes
		test_each_counts_its_own
	done
}

find_meshes
run_tests
