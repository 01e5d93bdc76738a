#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What cannot be counted is refused with EINVAL and a sentence in the kernel's log.
#
# all vm: --arch arm64 --kernel 6.12 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
# kernels vm: --arch arm64 --kernel 6.1 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
. ./cmn/lib.sh

find_meshes
use_mesh cmn0

# refused SENTENCE EVENT...: note that opening them, as a group, is to give EINVAL, and the log to say that
refused() {
	sentence=$1 line=''
	shift
	for event; do
		line="$line $PMU/$event/"
	done
	echo "$sentence" >> /tmp/sentences
	echo "$line" >> /tmp/lines
}

# The group opens, so what is refused beside it is so for what is said there.
accepted() {
	refused '' "$@"
}

# tried: what was noted comes true, one after the other; each refusal has a sentence, and nothing else has
tried() {
	log_mark
	# The log takes ten lines in 5 s.
	awk '{ print > sprintf("/tmp/ten.%03d", (NR - 1) / 10) }' /tmp/lines
	for lines in /tmp/ten.*; do
		sleep 6
		pmu-event --group --lines < "$lines"
	done > /tmp/got
	rm /tmp/ten.*
	log_since_mark | grep 'event refused: ' > /tmp/said || true
	while read -r sentence <&3 && read -r got <&4 && read -r line <&5; do
		if [ -z "$sentence" ]; then
			equal "$line" "$got" ""
			continue
		fi
		equal "$line" "$got" EINVAL
		read -r said <&6 || said=nothing
		contains "log of $line" "$said" "$PMU: event refused: .*$sentence"
	done 3< /tmp/sentences 4< /tmp/got 5< /tmp/lines 6< /tmp/said
	equal "tried" "$(wc -l < /tmp/got)" "$(wc -l < /tmp/lines)"
	equal "refusals" "$(wc -l < /tmp/said)" "$(grep -c . /tmp/sentences)"
	rm /tmp/sentences /tmp/lines
}

test_unknown_types() {
	refused 'type 0x42 is not known' type=0x42,eventid=1
	refused 'type 0x0 is not known' type=0,eventid=1
	refused 'there is no HN-S' type=0x200,eventid=1
	tried
}

test_no_such_node() {
	refused 'there is no HN-F with nodeid 0x7ff8' hnf_cache_miss,bynodeid=1,nodeid=0x7ff8
	refused 'there is no XP with nodeid 0x1' watchpoint_up,bynodeid=1,nodeid=1
	# Another type is there.
	refused 'there is no HN-F with nodeid 0x8' hnf_cache_miss,bynodeid=1,nodeid=0x8
	refused 'nodeid wants bynodeid' hnf_cache_miss,nodeid=0x20
	accepted hnf_cache_miss,bynodeid=1,nodeid=0x20
	tried
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
	refused 'nothing that filter2' hnf_cache_miss,filter2=1
	refused 'nothing that filter2' type=6,eventid=0x71,wp_dev_sel=1
	refused 'one cycles event' dtc_cycles,eventid=1
	refused 'one cycles event' dtc_cycles,bynodeid=1
	tried
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
	tried
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
	tried
}

# Bits that no format has are not for the core to ignore.
test_reserved_bits() {
	for config in 0x2000000000010005 0x8000000000010005 0x4000000000007770; do
		equal "config $config" "$(pmu-event $PMU:$config)" EINVAL
	done
}

test_sampling_and_tasks() {
	equal "a period" "$(pmu-event --period 1000 "$PMU/hnf_cache_miss/")" EINVAL
	equal "own task, any CPU" "$(pmu-event --pid 0 --cpu -1 "$PMU/hnf_cache_miss/")" EINVAL
	equal "own task, one CPU" "$(pmu-event --pid 0 --cpu 0 "$PMU/hnf_cache_miss/")" EINVAL
	fails perf record -e $PMU/hnf_cache_miss/ -a -o /tmp/perf.data true 2> /tmp/said
	contains "perf record" "$(cat /tmp/said)" 'Invalid argument|sampling'
}

test_groups() {
	accepted dtc_cycles dtc_cycles hnf_cache_miss
	at=bynodeid=1,nodeid=0x20
	accepted hnf_cache_miss,$at hnf_mc_reqs,$at hnf_seq_hit,$at hnf_snp_sent,$at
	refused 'four counters of a DTM' hnf_cache_miss,$at hnf_mc_reqs,$at hnf_seq_hit,$at \
		hnf_snp_sent,$at hnf_sf_hit,$at
	refused 'different filters' hnf_qos_pocq_occupancy_read,$at hnf_qos_pocq_occupancy_write,$at
	accepted hnf_qos_pocq_occupancy_read,$at hnf_cache_miss,$at
	up=watchpoint_up,bynodeid=1,nodeid=0x20
	accepted $up $up,wp_val=1 watchpoint_down,bynodeid=1,nodeid=0x20
	refused 'two watchpoints of a direction' $up $up,wp_val=1 $up,wp_val=2
	refused 'differ in wp_grp alone' $up,wp_combine=1 $up,wp_combine=2,wp_grp=1
	refused 'two of the same XPs' $up,wp_combine=1 watchpoint_up,wp_combine=1,wp_grp=1
	accepted $up,wp_combine=1 $up,wp_combine=1,wp_grp=1
	tried
}

FIELDS=wp_dev_sel=0,wp_chn_sel=0,wp_val=0,wp_mask=0,wp_combine=1,bynodeid=1
MATCHES='add cmn0 flit@0x20,port=0,dir=up,chn=req,g0=0,g1=0 100'

# halves EVENT EVENT: neither has a partner, so neither counts, and the log has a line for each
halves() {
	log_mark
	equal "halves: $*" "$(pmu-event "$PMU/$1/" "$PMU/$2/" -x "@model $MATCHES")" "0 0"
	equal "lines" "$(log_since_mark | grep -c "$PMU: event has counted nothing: wp_combine=1: no other watchpoint")" 2
}

# A watchpoint without its partner waits for it, and what nobody else could count then is 0; when it goes the log has
# a line.
test_half_a_pair_counts_nothing() {
	halves "watchpoint_up,wp_grp=0,$FIELDS,nodeid=0x20" "watchpoint_up,wp_grp=1,$FIELDS,nodeid=0x40"
	halves "watchpoint_up,wp_grp=0,$FIELDS,nodeid=0x20" "watchpoint_down,wp_grp=1,$FIELDS,nodeid=0x20"
	log_mark
	equal "a pair" "$(pmu-event "$PMU/watchpoint_up,wp_grp=0,$FIELDS,nodeid=0x20/" \
		"$PMU/watchpoint_up,wp_grp=1,$FIELDS,nodeid=0x20/" -x "@model $MATCHES")" "100 100"
	equal "lines" "$(log_since_mark | grep -c 'counted nothing')" 0
}

# That it waits is no reason for others to take turns.
test_half_a_pair_disturbs_nobody() {
	out=$(perf stat -x, -a -e "$PMU/watchpoint_up,wp_grp=0,$FIELDS,nodeid=0x20/,$PMU/hnf_cache_miss/" -- sleep 0.3 2>&1)
	equal "always counted" "$(echo "$out" | grep -c '^0,.*,100\.00,')" 2
}

# Another's half with the same number is none of a pair.
test_pairs_of_two_users() {
	first=$PMU/watchpoint_up,wp_grp=0,$FIELDS,nodeid=0x20/ second=$PMU/watchpoint_up,wp_grp=1,$FIELDS,nodeid=0x20/
	got=$(pmu-event "$first" -x "pmu-event '$second' -x '@model $MATCHES' > /dev/null")
	equal "the first" "$got" 0
}

# It counts at the first, whichever is switched on again first.
test_pairs_that_are_switched_off_and_on() {
	first=$PMU/watchpoint_up,wp_grp=0,$FIELDS,nodeid=0x20/ second=$PMU/watchpoint_up,wp_grp=1,$FIELDS,nodeid=0x20/
	other='add cmn0 flit@0x20,port=0,dir=up,chn=req,g0=1,g1=0 7'
	got=$(pmu-event "$first" "$second" -x "@model $MATCHES; $other" -x @disable -x @enable -x "@model $MATCHES; $other" |
		tail -n 1)
	equal "twice" "$got" "200 214"
}

# Halves at two XPs: of the flits 4 match both, 60 the first alone, 800 the second.
PAIR=watchpoint_up,wp_dev_sel=0,wp_chn_sel=0,wp_mask=0,wp_combine=1
FIRST=$PMU/$PAIR,wp_grp=0,wp_val=0x11/ SECOND=$PMU/$PAIR,wp_grp=1,wp_val=0x22/
HAPPENS=''
for xp in 0x20 0x60; do
	flit="add cmn0 flit@$xp,port=0,dir=up,chn=req"
	HAPPENS="$HAPPENS $flit,g0=0x11,g1=0x22 4; $flit,g0=0x11,g1=0x23 60; $flit,g0=0x12,g1=0x22 800;"
done

# perf schedules what is pinned before the rest.
test_pairs_count_at_the_half_that_was_opened_first() {
	for second in "$SECOND" "${SECOND}D"; do
		perf stat -x, -a -e "$FIRST" -e "$second" -- sh -c "printf '%s\n' '$HAPPENS' | tr ';' '\n' | pmu-model -" \
			2> /tmp/said
		equal "$second" "$(cut -d, -f1 /tmp/said | tr '\n' ' ')" "8 1608 "
	done
}

# As long as an XP has a counter for one of them alone, halves take turns, and each is the first for a while.
test_halves_that_found_no_place() {
	at=bynodeid=1,nodeid=0x40
	for _ in 1 2 3 4 5 6; do
		rm -f /tmp/full /tmp/enough
		pmu-event --pinned "$PMU/mxp_e_req_txflit_valid,$at/" "$PMU/mxp_w_req_txflit_valid,$at/" \
			"$PMU/mxp_n_req_txflit_valid,$at/" \
			-x 'touch /tmp/full; until [ -e /tmp/enough ]; do sleep 0.02; done' > /dev/null &
		until [ -e /tmp/full ]; do sleep 0.02; done
		pmu-event "$FIRST" "$SECOND" -x "sleep 0.2; touch /tmp/enough; while kill -0 $! 2> /dev/null; do sleep 0.02; done; sleep 0.1" \
			-x "@model $HAPPENS" > /tmp/got
		equal "the pair, and the second" "$(tail -n 1 /tmp/got)" "8 1608"
	done
}

# Five events of one XP: what had no place in a group takes turns without one. A turn writes a selector or more,
# and four have had theirs before the first; so after as many writes as this all five have.
test_turns_without_a_group() {
	at=bynodeid=1,nodeid=0x20
	writes="pmu-model stats cmn0 | awk '/^selector/ { n += \$3 } END { exit n < 40 }'"
	pmu-model stats cmn0 --reset > /dev/null
	out=$(perf stat -x, -a -e $PMU/hnf_cache_miss,$at/ -e $PMU/hnf_mc_reqs,$at/ -e $PMU/hnf_seq_hit,$at/ \
		-e $PMU/hnf_snp_sent,$at/ -e $PMU/hnf_sf_hit,$at/ -- sh -c "until $writes; do :; done" 2>&1)
	equal "events counted" "$(echo "$out" | grep -c "^0,,$PMU")" 5
}

# A CPU that is offline is none to count by; any other one will do, the owner counts.
test_cpus() {
	echo 0 > /sys/devices/system/cpu/cpu1/online
	equal "offline CPU" "$(pmu-event --cpu 1 "$PMU/hnf_cache_miss/")" ENODEV
	echo 1 > /sys/devices/system/cpu/cpu1/online
	got=$(pmu-event --cpu 1 "$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x20/" -x '@model add cmn0 hnf_cache_miss 3')
	equal "by CPU 1" "$got" 3
}

run_tests
