#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What the events of a mesh count: exact numbers, on our driver and, as the referee, on the in-tree one.
#
# vm: --arch arm64 --kernel 6.12 --driver ours --model cmn600 --model cmn650 --model ci700 --model cmn700 --model cmns3 --model cmns3,rev=2 --model cmns3,rev=3
# vm: --arch arm64 --kernel 6.12 --driver in-tree --model cmn600 --model cmn650 --model ci700 --model cmn700 --model cmns3
# all vm: --arch arm64 --kernel 6.1 --driver ours --model cmn600 --model cmn700 --model ci700
# kernels vm: --arch arm64 --kernel 6.1 --driver in-tree --model cmn600 --model cmn700
. ./cmn/lib.sh

# Where an XP of this product says what is connected to a port: connect_info PORT
connect_info() {
	case $PART$1 in
	*0) echo 0x8 ;;
	*1) echo 0x10 ;;
	0x34?|0x38?) ;; # two ports at most
	0x36?|0x3a?) echo $((0x28 + 8 * ($1 - 2))) ;;
	0x3c?|0x3e?) echo $((0x18 + 8 * ($1 - 2))) ;;
	*) echo "part $PART: say in connect_info() where an XP has the connect info of port $1" >&2 && exit 1 ;;
	esac
}

# The in-tree driver before 6.7, where registers say which domain an XP is in.
loses_carries() {
	[ -e /sys/module/arm_cmn ] && [ "$MODEL" != cmn0 ] && [ "$(since 6.7 no yes)" = yes ]
}

# Ids of the XPs that have something connected to a port: nothing passes at others.
xps_with_port() {
	offset=$(connect_info "$1")
	[ -n "$offset" ] || return 0
	sed -n 's/^node mxp \(0x[0-9a-f]*\) .*frame=\(0x[0-9a-f]*\).*/\1 \2/p' "$LIST" > /tmp/xps
	while read -r id frame; do
		echo "set $MODEL address $((frame + offset))"
		echo "get $MODEL word"
	done < /tmp/xps | pmu-model - | paste -d' ' /tmp/xps - > /tmp/connected
	while read -r id frame info; do
		[ $((info & 0x3f)) = 0 ] || echo "$id"
	done < /tmp/connected
}

# Choose a mesh, and find out what it is. Carries of all domains but the first are lost on some in-tree drivers
# (findings.md); their counts are right but for that.
setup() {
	use_mesh "$1"
	LOST=0
	! loses_carries || LOST=65536
	# The low byte of the part's number: the root says it, which is at 0 but on CMN-600.
	root=$(sed -n 's/^node cfg .*frame=\(0x[0-9a-f]*\).*/\1/p' "$LIST")
	PART=$(printf '%#x' $(($(word $((${root:-0} + 8))) & 0xff)))
	# The home nodes of this product, and two of their events. Some of an HN-S tell kinds of requests apart.
	HN=hnf MISS=hnf_cache_miss REQS=hnf_mc_reqs
	# The events of S3 are those of HN-S, also where there are HN-Fs beside.
	if [ "$PART" = 0x3e ] || [ ! -e "$MESH/events/$MISS" ]; then
		HN=hns MISS=hns_cache_miss_all REQS=hns_mc_reqs_local_all
	fi
	# From r2p0 on S3 counts snoops by virtual channel.
	SNOOPS=${HN}_snp_sent
	[ ! -e "$MESH/events/${SNOOPS}_vc0" ] || SNOOPS=${SNOOPS}_vc0
	NODES=$(nodes $HN | wc -l)
	# Names that can be counted without more said, and that the model knows: all but cycles and watchpoints.
	sed -n 's/^event \([^ ]*\) .*/\1/p' "$LIST" > /tmp/known
	(cd "$MESH/events" && printf '%s\n' *) > /tmp/named
	both /tmp/known /tmp/named > /tmp/names
}

# Ids of the nodes that count an event by this name.
sources() {
	case $1 in
	mxp_p[0-9]_*) port=${1#mxp_p} && xps_with_port "${port%%_*}" ;;
	mxp_*) nodes mxp ;;
	rnid_*) nodes rni rnd ccla_rni ;;
	hni_*) nodes hni hnp ;;
	# The in-tree driver of 6.1 counts at nodes with an RN-I only.
	ccla_*) if loses_carries; then nodes ccla_rni; else nodes ccla ccla_rni; fi ;;
	*) nodes "${1%%_*}" ;;
	esac
}

# The first of a node's names: name TYPE
name() {
	grep -m 1 "^$1_" /tmp/names
}

test_nothing_is_nothing() {
	setup "$1"
	expect "0 0 0" "$(name $HN)" "$(name rnid)" "$(name mxp)" -- ''
	counted
}

# Every event by its name: what happens at any of its nodes. Names that begin alike have the same.
test_every_name() {
	setup "$1"
	alike='' n=1000
	while read -r name; do
		prefix=${name#mxp_} prefix=${prefix%%_*}
		if [ "$alike" != "${name%%_*} $prefix" ]; then
			alike="${name%%_*} $prefix"
			sources "$name" > /tmp/sources
			number=$(wc -l < /tmp/sources)
			[ "$number" -gt 0 ] || { echo "$name: no node counts it, as far as sources() knows" && exit 1; }
		fi
		happens="add $MODEL $name $n"
		case $name in
		mxp_p[0-9]_*)
			happens=''
			while read -r id; do happens="$happens add $MODEL $name@$id $n;"; done < /tmp/sources ;;
		esac
		expect $((n * number)) "$name" -- "$happens"
		n=$((n + 1))
	done < /tmp/names
	counted
	show "$((n - 1000)) names"
	[ $n -ge 1100 ]
}

# What happens at a node is counted there and by all of the type, not by the node's neighbours.
test_by_node() {
	setup "$1"
	checked=0
	for type in mxp hnf hns rnid hni hnp sbsx dn mtsx cxra cxha ccra ccha ccla; do
		name=$(name $type) || continue
		sources "$name" > /tmp/sources
		number=$(wc -l < /tmp/sources)
		while read -r id; do
			expect "107 $((7 + 100 * number))" "$name,bynodeid=1,nodeid=$id" "$name" -- \
				"add $MODEL $name@$id 7; add $MODEL $name 100"
			checked=$((checked + 1))
		done < /tmp/sources
	done
	counted
	show "$checked nodes"
	[ $checked -ge 15 ]
}

# Four events of one type at once, of which each node has four lines.
test_four_lines_of_a_node() {
	setup "$1"
	id=$(nodes $HN | head -n 1)
	at=bynodeid=1,nodeid=$id
	expect "1 20 300 4000" "$MISS,$at" "$REQS,$at" "$SNOOPS,$at" "${HN}_seq_hit,$at" -- \
		"add $MODEL $MISS@$id 1; add $MODEL $REQS@$id 20;
		 add $MODEL $SNOOPS@$id 300; add $MODEL ${HN}_seq_hit@$id 4000"
	counted
}

# A filter lets its kind pass, the filter "all" every kind: kinds NAME HAPPENS KIND=COUNT...
kinds() {
	kinds_of=$1 happens=$2
	shift 2
	for pair; do
		expect $((${pair#*=} * NODES)) "${kinds_of}_${pair%=*}" -- "$happens"
	done
}

# What S3 has from r2p0 on. One kind of event at a time, and then one with each filter at one node.
filters_of_s3_r2() {
	kinds hns_sf_hit "add $MODEL hns_sf_hit_rnf 5; add $MODEL hns_sf_hit_ccgrn 70" all=75 rnf=5 ccgrn=70 rni=0
	kinds hns_pocq_retry "add $MODEL hns_pocq_retry_read 5; add $MODEL hns_pocq_retry_ccglcn 70" \
		all=75 read=5 ccglcn=70 rnf=0
	kinds hns_cbusy01 "add $MODEL hns_cbusy01_ccg_read 5; add $MODEL hns_cbusy01_lbt_write 70" \
		all=75 ccg_read=5 lbt=70 lbt_read=0
	kinds hns_snp_fwded "add $MODEL hns_snp_fwded_vc0 5; add $MODEL hns_snp_fwded_vc2 70" vc0=5 vc1=0 vc2=70
	kinds hns_slc_eviction "add $MODEL hns_slc_eviction_hbt_all 5; add $MODEL hns_slc_eviction_lbt_all 70" \
		all_all=75 hbt_all=5 lbt_all=70
	kinds hns_sf_evictions "add $MODEL hns_sf_evictions_hbt_mu 5; add $MODEL hns_sf_evictions_hbt_sn 70;
		add $MODEL hns_sf_evictions_lbt_mu 900" all_all=975 hbt_all=75 all_mu=905 hbt_mu=5 hbt_sn=70 lbt_sn=0
	counted
	id=$(nodes hns | head -n 1)
	at=bynodeid=1,nodeid=$id
	expect "1 20 300 4000" "hns_cache_miss_rnf,$at" "hns_snp_sent_vc1,$at" "hns_sf_imprecise_evict_lbt,$at" \
		"hns_mc_retries_local_sn,$at" -- \
		"add $MODEL hns_cache_miss_rnf@$id 1; add $MODEL hns_snp_sent_vc1@$id 20;
		 add $MODEL hns_sf_imprecise_evict_lbt@$id 300; add $MODEL hns_mc_retries_local_sn@$id 4000"
	counted
	# None that the revision has no more
	lacking /tmp/known /tmp/named > /tmp/unknown
	equal "names that the model does not know" "$(grep '^hns_' /tmp/unknown || true)" ""
	grep '^hns_' /tmp/known > /tmp/known_hns
	equal "names that are lacking" "$(lacking /tmp/named /tmp/known_hns)" ""
}

test_filters() {
	setup "$1"
	occupancy=${HN}_qos_pocq_occupancy retry=${HN}_pocq_class_retry
	kinds $occupancy "add $MODEL ${occupancy}_read 5; add $MODEL ${occupancy}_write 70;
		add $MODEL ${occupancy}_atomic 900" all=975 read=5 write=70 atomic=900 stash=0
	if [ -e "$MESH/events/${retry}_class0" ]; then
		kinds $retry "add $MODEL ${retry}_class1 5; add $MODEL ${retry}_class3 70" \
			class0=0 class1=5 class2=0 class3=70
	fi
	if [ $HN = hns ]; then
		kinds hns_cache_miss "add $MODEL hns_cache_miss_hbt 5; add $MODEL hns_cache_miss_lbt 70" \
			all=75 hbt=5 lbt=70
	fi
	counted
	! grep -q '^event hns_snp_sent_vc0 ' "$LIST" || filters_of_s3_r2
}

# The wraps of 16-bit counters go on in the DTCs, of every domain, and again and again.
test_beyond_16_bits() {
	setup "$1"
	got=$(pmu-event "$PMU/$MISS/" -x "@model add $MODEL $MISS 65535" -x "@model add $MODEL $MISS 1" \
		-x "@model add $MODEL $MISS 1000000000")
	equal "65535, 65536, 10^9 more" "$got" "$((65535 * NODES))
$((65536 * NODES))
$((1000065536 * NODES))"
}

# A node of each domain, beyond the 16 bits of its counter.
test_carries_of_each_domain() {
	setup "$1"
	for id in $(nodes $HN | sed -n '1p;$p'); do
		got=$(pmu-event "$PMU/$MISS,bynodeid=1,nodeid=$id/" -x "@model add $MODEL $MISS@$id 70001")
		domain=$(sed -n "s/^node $HN $id .* dtc=\([0-9]\).*/\1/p" "$LIST")
		if loses_carries && [ "$domain" != 0 ]; then
			equal "70001 without carries" "$got" $((70001 % 65536))
		else
			equal "70001 at $id" "$got" 70001
		fi
	done
}

# spent EVENT...: how many cycles, which the first event counts, are between two reads; and how often the clock
# ticked: at the least between the peeks within, at the most between those around the reads.
spent() {
	peek="@model get $MODEL dtc0_ticks"
	pmu-event --manual "$@" -x "$peek" -x @read -x "$peek" -x "@model add $MODEL $MISS 3" -x "$peek" -x @read \
		-x "$peek" > /tmp/got
	awk '{ moments = moments $1 " " } END { print moments }' /tmp/got > /tmp/moments
	read -r before first after again second last < /tmp/moments
	CYCLES=$((second - first)) LEAST=$((again - after)) MOST=$((last - before))
	# The counts beside.
	sed -n 's/^[0-9]* \(.*\)/\1/p' /tmp/got > /tmp/others
}

# Cycles are ticks of the DTC's clock. Beside other events too; but for these the mesh may be stopped to be read.
test_cycles() {
	setup "$1"
	[ -e "$MESH/identifier" ] || skip "the in-tree driver of 6.1 does not switch clock gating off"
	spent "$PMU/dtc_cycles/"
	within "cycles" "$CYCLES" "$LEAST" "$MOST"
	spent "$PMU/dtc_cycles/" "$PMU/$MISS/"
	within "cycles beside misses" "$CYCLES" 1 "$MOST"
	equal "misses" "$(tr '\n' ' ' < /tmp/others)" "0 $((3 * NODES)) "
}

# An XP and a port of it with a device that flits come from.
watched() {
	sed -n "s/^node $HN 0x[0-9a-f]* .* xp=\(0x[0-9a-f]*\) port=\([0-9]\) .*/\1 \2/p" "$LIST" | head -n 1 > /tmp/watched
	read -r xp port < /tmp/watched
}

# flit DIR CHN N [g0=...,g1=...]
flit() {
	echo "add $MODEL flit@$xp,port=$port,dir=$1,chn=$2${4:+,$4} $3"
}

test_watchpoint_value_and_mask() {
	setup "$1"
	watched
	at=wp_dev_sel=$port,bynodeid=1,nodeid=$xp
	happens="$(flit up req 3 g0=0x1234); $(flit up req 50 g0=0x1235); $(flit up req 700 g0=0x8000000000001234);
		 $(flit down req 9000 g0=0x1234); $(flit up dat 20000 g0=0x1234)"
	while read -r fields wanted; do
		expect "$wanted" "$fields,$at" -- "$happens"
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
	counted
}

# perf's timer for turns waits for up to an interval. A machine whose driver is unloaded before hangs: findings.md.
has_turns_behind() {
	[ -e /sys/module/cmn_pmu ] || sleep 11
}

# Match groups are views of a flit; a pair of watchpoints wants both to match.
test_watchpoint_groups_and_pairs() {
	setup "$1"
	watched
	up=watchpoint_up,wp_dev_sel=$port,bynodeid=1,nodeid=$xp,wp_chn_sel=2
	happens="$(flit up snp 4 g0=0x11,g1=0x22); $(flit up snp 60 g0=0x11,g1=0x23); $(flit up snp 800 g0=0x12,g1=0x22)"
	expect 64 "$up,wp_grp=0,wp_val=0x11,wp_mask=0" -- "$happens"
	expect 804 "$up,wp_grp=1,wp_val=0x22,wp_mask=0" -- "$happens"
	expect "64 804" "$up,wp_grp=0,wp_val=0x11,wp_mask=0" "$up,wp_grp=1,wp_val=0x22,wp_mask=0" -- "$happens"
	counted
	# A group that fails at first is not tried again before the flits come.
	trap 'echo 4 > $MESH/perf_event_mux_interval_ms; has_turns_behind' EXIT
	echo 10000 > "$MESH/perf_event_mux_interval_ms"
	got=$(pmu-event --group "$PMU/$up,wp_combine=1,wp_grp=0,wp_val=0x11,wp_mask=0/" \
		"$PMU/$up,wp_combine=1,wp_grp=1,wp_val=0x22,wp_mask=0/" -x "@model $happens")
	equal "a pair counts at its first" "${got% *}" 4
	# As tools ask for one, without a group.
	got=$(pmu-event "$PMU/$up,wp_combine=1,wp_grp=0,wp_val=0x11,wp_mask=0/" \
		"$PMU/$up,wp_combine=1,wp_grp=1,wp_val=0x22,wp_mask=0/" -x "@model $happens")
	equal "a pair without a group" "${got% *}" 4
}

# Two in each direction at one XP, and a flit that goes down is an event of the XP as well.
test_four_watchpoints_and_the_xp() {
	setup "$1"
	[ -e "$MESH/identifier" ] || skip "the in-tree driver of 6.1 has one watchpoint for a group and direction"
	watched
	at=wp_dev_sel=$port,bynodeid=1,nodeid=$xp,wp_chn_sel=3,wp_mask=0
	happens="$(flit up dat 1 g0=1); $(flit up dat 20 g0=2); $(flit down dat 300 g0=3); $(flit down dat 4000 g0=4)"
	expect "1 20 300 4000" "watchpoint_up,$at,wp_val=1" "watchpoint_up,$at,wp_val=2" \
		"watchpoint_down,$at,wp_val=3" "watchpoint_down,$at,wp_val=4" -- "$happens"
	expect 4300 "mxp_p${port}_dat_txflit_valid" -- "$happens"
	counted
}

# Without a node, at this port of every XP: those with a flit are two.
test_watchpoint_everywhere() {
	setup "$1"
	sed -n "s/^node $HN 0x[0-9a-f]* .* xp=\(0x[0-9a-f]*\) port=1 .*/\1/p" "$LIST" | uniq | sed -n '1p;$p' > /tmp/two
	port=1 happens='' number=5
	while read -r xp; do
		happens="$happens $(flit up rsp $number g0=9);" number=$((number * 100))
	done < /tmp/two
	expect 505 watchpoint_up,wp_dev_sel=1,wp_chn_sel=1,wp_val=9,wp_mask=0 -- "$happens"
	counted
}

# As users ask: perf's own parser and names.
test_perf_stat() {
	setup "$1"
	id=$(nodes $HN | tail -n 1)
	out=$(perf stat -x, -a -e "$PMU/$MISS/,$PMU/$REQS,bynodeid=1,nodeid=$id/" -- \
		sh -c "pmu-model add $MODEL $MISS 123456; pmu-model add $MODEL $REQS 77" 2>&1)
	contains "misses" "$out" "^$((123456 * NODES)),,$PMU/$MISS/"
	contains "requests" "$out" "^77,,$PMU/$REQS"
}

find_meshes
# shellcheck disable=SC2046 # a list
run_tests $(meshes)
