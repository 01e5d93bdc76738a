#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What cannot be counted is refused with EINVAL and a sentence in the kernel's log.
#
# vm: --arch arm64 --kernel '6.1 6.12' --driver ours --model cmn700,snp-vcs=1 --cpus 2
. ./cmn/lib.sh

# refused SENTENCE [OPTION]... EVENT...: opening them gives EINVAL, and the log says that
refused() {
	sentence=$1 words=''
	shift
	for word; do
		case $word in
		-*) words="$words $word" ;;
		*) words="$words $(cmn_event "$word")" ;;
		esac
	done
	log_mark
	# shellcheck disable=SC2086 # a list
	equal "$*" "$(pmu-event $words)" EINVAL
	contains "log of $*" "$(log_since_mark)" "arm_cmn_0: event refused: .*$sentence"
}

# The group opens, so what is refused below is so for what is said there.
accepted() {
	words=''
	for word; do
		words="$words $(cmn_event "$word")"
	done
	# shellcheck disable=SC2086 # a list
	equal "group $*" "$(pmu-event --group $words)" ""
}

test_unknown_types() {
	refused 'type 0x42 is not known' type=0x42,eventid=1
	refused 'type 0x0 is not known' type=0,eventid=1
	refused 'there is no HN-S' type=0x200,eventid=1
}

test_no_such_node() {
	refused 'there is no HN-F with nodeid 0x7ff8' hnf_cache_miss,bynodeid=1,nodeid=0x7ff8
	refused 'there is no XP with nodeid 0x1' watchpoint_up,bynodeid=1,nodeid=1
	# Another type is there.
	refused 'there is no HN-F with nodeid 0x8' hnf_cache_miss,bynodeid=1,nodeid=0x8
	refused 'nodeid wants bynodeid' hnf_cache_miss,nodeid=0x20
	accepted hnf_cache_miss,bynodeid=1,nodeid=0x20
}

test_event_ids() {
	refused 'eventid 0 is no event' type=5,eventid=0
	refused 'eventid 0x7ff: HN-F.s have 6 bits' type=5,eventid=0x7ff
	# One bit more than there are would count what the others say.
	refused 'eventid 0x41: HN-F.s have 6 bits' type=5,eventid=0x41
	refused 'eventid 0x41: RN-I.s have 6 bits' type=0xa,eventid=0x41
	refused 'eventid 0x201: XP.s have 9 bits' type=6,eventid=0x201
	accepted type=5,eventid=0x3f
	refused 'occupid' hnf_cache_miss,occupid=1
	refused 'occupid' type=5,eventid=0xf,occupid=9
	refused 'one cycles event' dtc_cycles,eventid=1
	refused 'one cycles event' dtc_cycles,bynodeid=1
}

# An XP's id has fields; what they cannot say would be counted as 0.
test_ids_of_xps() {
	refused 'eventid 0x14 of XP: 0 in the low two bits' type=6,eventid=0x14
	refused 'eventid 0x101 of XP: there is no channel snp2' type=6,eventid=0x101
	refused 'eventid 0x13 of XP: partial flits' type=6,eventid=0x13
	refused 'eventid 0x63 of XP: partial flits' type=6,eventid=0x63
	refused 'nothing is connected to port 3 of this XP' mxp_p3_req_txflit_valid,bynodeid=1,nodeid=0x0
	# A channel that is in no public manual
	accepted type=6,eventid=0x181
}

test_watchpoints() {
	refused 'eventid is 0 for up or 2 for down, not 1' type=0x7770,eventid=1
	refused 'eventid is 0 for up or 2 for down, not 3' type=0x7770,eventid=3
	refused 'wp_chn_sel=4' watchpoint_up,wp_chn_sel=4
	refused 'wp_grp=3' watchpoint_up,wp_grp=3
	refused 'nothing is connected to port 5' watchpoint_up,wp_dev_sel=5
	refused 'wp_ fields' hnf_cache_miss,wp_val=1
	refused 'wp_ fields' hnf_cache_miss,wp_exclusive=1
	accepted watchpoint_up watchpoint_down,wp_dev_sel=1
}

# Bits that no format has are not for the core to ignore.
test_reserved_bits() {
	for config in 0x2000000000010005 0x8000000000010005 0x4000000000007770; do
		equal "config $config" "$(pmu-event arm_cmn_0:$config)" EINVAL
	done
}

test_sampling_and_tasks() {
	equal "a period" "$(pmu-event --period 1000 "$(cmn_event hnf_cache_miss)")" EINVAL
	equal "own task, any CPU" "$(pmu-event --pid 0 --cpu -1 "$(cmn_event hnf_cache_miss)")" EINVAL
	equal "own task, one CPU" "$(pmu-event --pid 0 --cpu 0 "$(cmn_event hnf_cache_miss)")" EINVAL
	fails perf record -e arm_cmn_0/hnf_cache_miss/ -a -o /tmp/perf.data true 2> /tmp/said
	contains "perf record" "$(cat /tmp/said)" 'Invalid argument|sampling'
}

test_groups() {
	refused 'two cycles events' --group dtc_cycles dtc_cycles
	accepted dtc_cycles hnf_cache_miss
	at=bynodeid=1,nodeid=0x20
	accepted hnf_cache_miss,$at hnf_mc_reqs,$at hnf_seq_hit,$at hnf_snp_sent,$at
	refused 'four counters of a DTM' --group hnf_cache_miss,$at hnf_mc_reqs,$at hnf_seq_hit,$at \
		hnf_snp_sent,$at hnf_sf_hit,$at
	refused 'different filters' --group hnf_qos_pocq_occupancy_read,$at hnf_qos_pocq_occupancy_write,$at
	accepted hnf_qos_pocq_occupancy_read,$at hnf_cache_miss,$at
	up=watchpoint_up,bynodeid=1,nodeid=0x20
	accepted $up $up,wp_val=1 watchpoint_down,bynodeid=1,nodeid=0x20
	refused 'two watchpoints of a direction' --group $up $up,wp_val=1 $up,wp_val=2
	refused 'differ in wp_grp alone' --group $up,wp_combine=1 $up,wp_combine=2,wp_grp=1
	refused 'two of the same XPs' --group $up,wp_combine=1 watchpoint_up,wp_combine=1,wp_grp=1
	accepted $up,wp_combine=1 $up,wp_combine=1,wp_grp=1
}

# not_counted EVENT EVENT: perf says so of both, which are a group; the log has a line for each that was tried
not_counted() {
	log_mark
	out=$(perf stat -x, -a -e "{arm_cmn_0/$1/,arm_cmn_0/$2/}" -- sleep 0.1 2>&1)
	equal "not counted: $*" "$(echo "$out" | grep -c '^<not counted>,')" 2
	within "lines" "$(log_since_mark | grep -c 'arm_cmn_0: event not counted: wp_combine=1: no other watchpoint')" 1 2
}

# A watchpoint without its partner would count nothing, or all: it is not counted, and no 0 says otherwise.
test_half_a_pair_is_not_counted() {
	fields=wp_dev_sel=0,wp_chn_sel=0,wp_val=0,wp_mask=0,wp_combine=1,bynodeid=1
	not_counted "watchpoint_up,wp_grp=0,$fields,nodeid=0x20" "watchpoint_up,wp_grp=1,$fields,nodeid=0x40"
	not_counted "watchpoint_up,wp_grp=0,$fields,nodeid=0x20" "watchpoint_down,wp_grp=1,$fields,nodeid=0x20"
	out=$(perf stat -x, -a -e "{arm_cmn_0/watchpoint_up,wp_grp=0,$fields,nodeid=0x20/,arm_cmn_0/watchpoint_up,wp_grp=1,$fields,nodeid=0x20/}" \
		-- true 2>&1)
	equal "a pair is counted" "$(echo "$out" | grep -c '^0,,arm_cmn_0')" 2
	# One that counts when the other is opened: its first half alone was tried before.
	log_mark
	accepted watchpoint_up,wp_combine=1 watchpoint_up,wp_combine=1,wp_grp=1
	fails sh -c "dmesg | sed '1,/$mark/d' | grep 'event not counted'"
}

# The two events of one XP after the other: what had no place in a group takes turns without one.
test_turns_without_a_group() {
	at=bynodeid=1,nodeid=0x20
	out=$(perf stat -x, -a -e arm_cmn_0/hnf_cache_miss,$at/ -e arm_cmn_0/hnf_mc_reqs,$at/ \
		-e arm_cmn_0/hnf_seq_hit,$at/ -e arm_cmn_0/hnf_snp_sent,$at/ -e arm_cmn_0/hnf_sf_hit,$at/ -- sleep 0.5 2>&1)
	equal "events counted" "$(echo "$out" | grep -c '^0,,arm_cmn_0')" 5
}

# A CPU that is offline is none to count by; any other one will do, the owner counts.
test_cpus() {
	echo 0 > /sys/devices/system/cpu/cpu1/online
	equal "offline CPU" "$(pmu-event --cpu 1 "$(cmn_event hnf_cache_miss)")" ENODEV
	echo 1 > /sys/devices/system/cpu/cpu1/online
	at=bynodeid=1,nodeid=0x20
	equal "by CPU 1" "$(pmu-event --cpu 1 "$(cmn_event hnf_cache_miss,$at)" -x 'pmu-model add cmn0 hnf_cache_miss 3')" 3
}

run_tests
