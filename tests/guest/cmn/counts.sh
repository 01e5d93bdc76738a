#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the events of a mesh count: exact numbers, on our driver and, as the referee, on the in-tree one.
#
# vm: --arch arm64 --kernel 6.12 --driver 'ours in-tree' --model 'cmn600 cmn700 ci700'
# vm: --arch arm64 --kernel 6.12 --driver ours --model 'cmn650 cmns3 cmns3,rev=2 cmns3,rev=3'
# vm: --arch arm64 --kernel 6.1 --driver ours --model 'cmn600 cmn700 ci700'
# vm: --arch arm64 --kernel 6.1 --driver in-tree --model cmn600
. ./cmn/lib.sh

MESH=$PMUS/arm_cmn_0
pmu-model list cmn0 > /tmp/list

# Run commands, of which there may be several, while events are counted: count EVENT... -- COMMAND
count() {
	events=''
	while [ "$1" != -- ]; do
		events="$events $(cmn_event "$1")"
		shift
	done
	# shellcheck disable=SC2086 # a list
	pmu-event $events -x "$2"
}

# Ids of the nodes of some types, in the order of the list: nodes TYPE...
nodes() {
	for type; do
		sed -n "s/^node $type \(0x[0-9a-f]*\) .*/\1/p" /tmp/list
	done
}

# A doubleword of a frame: word FRAME OFFSET
word() {
	pmu-model set cmn0 address $(($1 + $2))
	pmu-model get cmn0 word
}

# Where an XP of this product says what is connected to a port: connect_info PORT
connect_info() {
	case $PART$1 in
	*0) echo 0x8 ;;
	*1) echo 0x10 ;;
	0x36?|0x3a?) echo $((0x28 + 8 * ($1 - 2))) ;;
	0x3c?|0x3e?) echo $((0x18 + 8 * ($1 - 2))) ;;
	esac
}

# Ids of the XPs that have something connected to a port: nothing passes at others.
xps_with_port() {
	offset=$(connect_info "$1")
	[ -n "$offset" ] || return 0
	sed -n 's/^node mxp \(0x[0-9a-f]*\) .*frame=\(0x[0-9a-f]*\).*/\1 \2/p' /tmp/list > /tmp/xps
	while read -r id frame; do
		[ $(($(word "$frame" "$offset") & 0x3f)) = 0 ] || echo "$id"
	done < /tmp/xps
}

# Ids of the nodes that count an event by this name.
sources() {
	case $1 in
	mxp_p[0-9]_*) port=${1#mxp_p} && cat "/tmp/port${port%%_*}" ;;
	mxp_*) nodes mxp ;;
	rnid_*) nodes rni rnd ccla_rni ;;
	hni_*) nodes hni hnp ;;
	ccla_*) nodes ccla ccla_rni ;;
	*) nodes "${1%%_*}" ;;
	esac
}

# Names that can be counted without more said, and that the model knows: all but cycles and watchpoints.
names() {
	sed -n 's/^event \([^ ]*\) .*/\1/p' /tmp/list > /tmp/known
	(cd "$MESH/events" && printf '%s\n' *) | grep -Fx -f /tmp/known
}

# The first of a node's names: name TYPE
name() {
	names | grep -m 1 "^$1_"
}

# The low byte of the part's number: the root says it, which is at 0 but on CMN-600.
root=$(sed -n 's/^node cfg .*frame=\(0x[0-9a-f]*\).*/\1/p' /tmp/list)
PART=$(printf '%#x' $(($(word "${root:-0}" 8) & 0xff)))

for port in 0 1 2 3; do
	xps_with_port $port > /tmp/port$port
done

# The home nodes of this product, and two of their events. Some of an HN-S tell kinds of requests apart.
case $PART in
0x3e) HN=hns MISS=hns_cache_miss_all REQS=hns_mc_reqs_local_all ;;
*) HN=hnf MISS=hnf_cache_miss REQS=hnf_mc_reqs ;;
esac

test_nothing_is_nothing() {
	equal "count" "$(count "$(name $HN)" "$(name rnid)" "$(name mxp)" -- true)" "0 0 0"
}

# How many they are, found out once for all names that begin alike.
number_of_sources() {
	alike=${1#mxp_} alike=/tmp/sources_${alike%%_*}
	[ -e "$alike" ] || sources "$1" | wc -l > "$alike"
	read -r nodes < "$alike"
}

# That it happens at each of these nodes: at_each NAME N
at_each() {
	case $1 in
	mxp_p[0-9]_*) for id in $(sources "$1"); do echo "pmu-model add cmn0 $1@$id $2"; done ;;
	*) echo "pmu-model add cmn0 $1 $2" ;;
	esac
}

# Every event by its name: what happens at any of its nodes.
test_every_name() {
	checked=0
	for name in $(names); do
		number_of_sources "$name"
		[ "$nodes" -gt 0 ]
		happens=$((1000 + checked))
		equal "$name, $happens at each of $nodes nodes" \
			"$(count "$name" -- "$(at_each "$name" $happens)")" $((happens * nodes))
		checked=$((checked + 1))
	done
	show "$checked names"
	[ $checked -ge 100 ]
}

# What happens at a node is counted there and by all of the type, not by the node's neighbours.
test_by_node() {
	checked=0
	for type in mxp hnf hns rnid hni hnp sbsx dn mtsx cxra cxha ccra ccha ccla; do
		name=$(name $type) || continue
		for id in $(sources "$name"); do
			got=$(count "$name,bynodeid=1,nodeid=$id" "$name" -- \
				"pmu-model add cmn0 $name@$id 7; pmu-model add cmn0 $name 100")
			equal "$name at $id, at all" "$got" "107 $((7 + 100 * $(sources "$name" | wc -l)))"
			checked=$((checked + 1))
		done
	done
	show "$checked nodes"
	[ $checked -ge 15 ]
}

# Four events of one type at once, of which each node has four lines.
test_four_lines_of_a_node() {
	id=$(nodes $HN | head -n 1)
	at=bynodeid=1,nodeid=$id
	got=$(count "$MISS,$at" "$REQS,$at" "${HN}_snp_sent,$at" "${HN}_seq_hit,$at" -- \
		"pmu-model add cmn0 $MISS@$id 1; pmu-model add cmn0 $REQS@$id 20
		 pmu-model add cmn0 ${HN}_snp_sent@$id 300; pmu-model add cmn0 ${HN}_seq_hit@$id 4000")
	equal "four events at $id" "$got" "1 20 300 4000"
}

# A filter lets its kind pass, the filter "all" every kind.
test_filters() {
	n=$(nodes $HN | wc -l)
	occupancy=${HN}_qos_pocq_occupancy retry=${HN}_pocq_class_retry
	happens="pmu-model add cmn0 ${occupancy}_read 5; pmu-model add cmn0 ${occupancy}_write 70
		 pmu-model add cmn0 ${occupancy}_atomic 900"
	for pair in all=975 read=5 write=70 atomic=900 stash=0; do
		equal "occupancy, ${pair%=*}" "$(count "${occupancy}_${pair%=*}" -- "$happens")" $((${pair#*=} * n))
	done
	[ -e "$MESH/events/${retry}_class0" ] || return 0
	happens="pmu-model add cmn0 ${retry}_class1 5; pmu-model add cmn0 ${retry}_class3 70"
	for pair in class0=0 class1=5 class2=0 class3=70; do
		equal "retries, ${pair%=*}" "$(count "${retry}_${pair%=*}" -- "$happens")" $((${pair#*=} * n))
	done
	[ $HN = hns ] || return 0
	happens='pmu-model add cmn0 hns_cache_miss_hbt 5; pmu-model add cmn0 hns_cache_miss_lbt 70'
	for pair in all=75 hbt=5 lbt=70; do
		equal "misses, ${pair%=*}" "$(count "hns_cache_miss_${pair%=*}" -- "$happens")" $((${pair#*=} * n))
	done
}

# The wraps of 16-bit counters go on in the DTCs, of every domain, and again and again.
test_beyond_16_bits() {
	got=$(pmu-event "$(cmn_event $MISS)" -x "pmu-model add cmn0 $MISS 65535" \
		-x "pmu-model add cmn0 $MISS 1" -x "pmu-model add cmn0 $MISS 1000000000")
	n=$(nodes $HN | wc -l)
	equal "65535, 65536, 10^9 more" "$got" "$((65535 * n))
$((65536 * n))
$((1000065536 * n))"
}

# Cycles, of 2 GHz; and beside them other events.
test_cycles() {
	[ -e "$MESH/identifier" ] || skip "the in-tree driver of 6.1 does not switch clock gating off"
	got=$(count dtc_cycles $MISS -- "sleep 0.2; pmu-model add cmn0 $MISS 3")
	within "cycles in 0.2 s and a command" "${got% *}" 400000000 4000000000
	equal "misses" "${got#* }" $((3 * $(nodes $HN | wc -l)))
}

# An XP and a port of it with a device that flits come from, and where it is: FLIT is "ID port PORT".
watched() {
	sed -n "s/^node $HN 0x[0-9a-f]* .* xp=\(0x[0-9a-f]*\) port=\([0-9]\) .*/\1 \2/p" /tmp/list | head -n 1
}

# flit DIR CHN N [g0=...,g1=...]
flit() {
	echo "pmu-model add cmn0 flit@$xp,port=$port,dir=$1,chn=$2${4:+,$4} $3"
}

test_watchpoint_value_and_mask() {
	watched > /tmp/watched && read -r xp port < /tmp/watched
	at=wp_dev_sel=$port,bynodeid=1,nodeid=$xp
	happens="$(flit up req 3 g0=0x1234); $(flit up req 50 g0=0x1235); $(flit up req 700 g0=0x8000000000001234)
		 $(flit down req 9000 g0=0x1234); $(flit up dat 20000 g0=0x1234)"
	while read -r fields wanted; do
		equal "$fields" "$(count "$fields,$at" -- "$happens")" "$wanted"
	done <<-LIST
		watchpoint_up,wp_chn_sel=0,wp_val=0x1234,wp_mask=0x0 3
		watchpoint_up,wp_chn_sel=0,wp_val=0x1234,wp_mask=0x1 53
		watchpoint_up,wp_chn_sel=0,wp_val=0x1234,wp_mask=0x8000000000000000 703
		watchpoint_up,wp_chn_sel=0,wp_val=0x0,wp_mask=0xffffffffffffffff 753
		watchpoint_up,wp_chn_sel=0,wp_val=0x1234,wp_mask=0x0,wp_exclusive=1 750
		watchpoint_down,wp_chn_sel=0,wp_val=0x1234,wp_mask=0x0 9000
		watchpoint_up,wp_chn_sel=3,wp_val=0x1234,wp_mask=0x0 20000
		watchpoint_down,wp_chn_sel=3,wp_val=0x1234,wp_mask=0x0 0
		watchpoint_up,wp_chn_sel=1,wp_val=0x0,wp_mask=0xffffffffffffffff 0
	LIST
}

# Match groups are views of a flit; a pair of watchpoints wants both to match.
test_watchpoint_groups_and_pairs() {
	watched > /tmp/watched && read -r xp port < /tmp/watched
	up=watchpoint_up,wp_dev_sel=$port,bynodeid=1,nodeid=$xp,wp_chn_sel=2
	happens="$(flit up snp 4 g0=0x11,g1=0x22); $(flit up snp 60 g0=0x11,g1=0x23); $(flit up snp 800 g0=0x12,g1=0x22)"
	equal "group 0" "$(count "$up,wp_grp=0,wp_val=0x11,wp_mask=0" -- "$happens")" 64
	equal "group 1" "$(count "$up,wp_grp=1,wp_val=0x22,wp_mask=0" -- "$happens")" 804
	equal "both, each for itself" "$(count "$up,wp_grp=0,wp_val=0x11,wp_mask=0" "$up,wp_grp=1,wp_val=0x22,wp_mask=0" -- \
		"$happens")" "64 804"
	got=$(pmu-event --group "$(cmn_event "$up,wp_combine=1,wp_grp=0,wp_val=0x11,wp_mask=0")" \
		"$(cmn_event "$up,wp_combine=1,wp_grp=1,wp_val=0x22,wp_mask=0")" -x "$happens")
	equal "a pair counts at its first" "${got% *}" 4
}

# Two in each direction at one XP, and a flit that goes down is an event of the XP as well.
test_four_watchpoints_and_the_xp() {
	[ -e "$MESH/identifier" ] || skip "the in-tree driver of 6.1 has one watchpoint for a group and direction"
	watched > /tmp/watched && read -r xp port < /tmp/watched
	at=wp_dev_sel=$port,bynodeid=1,nodeid=$xp,wp_chn_sel=3,wp_mask=0
	happens="$(flit up dat 1 g0=1); $(flit up dat 20 g0=2); $(flit down dat 300 g0=3); $(flit down dat 4000 g0=4)"
	equal "two up, two down" "$(count "watchpoint_up,$at,wp_val=1" "watchpoint_up,$at,wp_val=2" \
		"watchpoint_down,$at,wp_val=3" "watchpoint_down,$at,wp_val=4" -- "$happens")" "1 20 300 4000"
	equal "the XP transmits" "$(count "mxp_p${port}_dat_txflit_valid" -- "$happens")" 4300
}

# Without a node, at this port of every XP: those with a flit are two.
test_watchpoint_everywhere() {
	sed -n "s/^node $HN 0x[0-9a-f]* .* xp=\(0x[0-9a-f]*\) port=1 .*/\1/p" /tmp/list | uniq | sed -n '1p;$p' > /tmp/two
	port=1 happens=true number=5
	while read -r xp; do
		happens="$happens; $(flit up rsp $number g0=9)" number=$((number * 100))
	done < /tmp/two
	equal "up at port 1" "$(count watchpoint_up,wp_dev_sel=1,wp_chn_sel=1,wp_val=9,wp_mask=0 -- "$happens")" 505
}

# As users ask: perf's own parser and names.
test_perf_stat() {
	n=$(nodes $HN | wc -l) id=$(nodes $HN | tail -n 1)
	out=$(perf stat -x, -a -e "arm_cmn_0/$MISS/,arm_cmn/$REQS,bynodeid=1,nodeid=$id/" -- \
		sh -c "pmu-model add cmn0 $MISS 123456; pmu-model add cmn0 $REQS 77" 2>&1)
	contains "misses" "$out" "^$((123456 * n)),,arm_cmn_0/$MISS/"
	contains "requests" "$out" "^77,,arm_cmn/$REQS"
}

run_tests
