#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Meshes as firmware and builds leave them: counters that run and flags that are set since the kernel before, one
# interrupt for all DTCs, one DTM for all ports of an XP. And what watchpoints have of ports and channels.
#
# vm: --arch arm64 --kernel 6.12 --driver ours --model 'cmn700,dirty=on cmn700,shared-irq=on'
# vm: --arch arm64 --kernel 6.12 --driver 'ours in-tree' --model 'cmn700,dirty=on,shared-irq=on,multi-dtm=off'
# vm: --arch arm64 --kernel 6.1 --driver ours --model cmn700,dirty=on,shared-irq=on
#
# Where there are several DTMs in an XP, the in-tree driver of 6.12 sees nothing at ports from 2 on.
. ./cmn/lib.sh

MESH=$PMUS/arm_cmn_0
pmu-model list cmn0 > /tmp/list

# Of the mesh: how many there are, and how often they came.
interrupts() {
	awk '/\.pmu|arm-cmn/ { lines++; n += $2 } END { print lines + 0, n + 0 }' /proc/interrupts
}

test_nothing_is_left_from_before() {
	equal "count" "$(pmu-event "$(cmn_event hnf_cache_miss)" "$(cmn_event mxp_e_req_txflit_valid)" -x true)" "0 0"
	for dtc in 0 1; do
		equal "flags of DTC $dtc" $(($(pmu-model get cmn0 dtc${dtc}_overflow))) 0
	done
	within "interrupts" "$(interrupts | cut -d' ' -f2)" 0 2
}

# Of every DTC: 2^47 more at a node of each domain than the hardware has room for, and nobody reads in between.
test_interrupts_of_all_domains() {
	happens=''
	for dtc in 0 1; do
		id=$(sed -n "s/^node hnf \(0x[0-9a-f]*\) .* dtc=$dtc .*/\1/p" /tmp/list | head -n 1)
		half="pmu-model add cmn0 hnf_cache_miss@$id 140737488355328"
		happens="$happens $half; $half; $half;"
	done
	got=$(pmu-event --manual "$(cmn_event hnf_cache_miss)" -x "$happens" -x @read)
	equal "3 * 2^47 at two" "$got" $((6 << 47))
	interrupts > /tmp/interrupts
	read -r lines n < /tmp/interrupts
	equal "lines of 2 DTCs" "$lines" "$(hexdump -v -e '12/1 "%02x" "\n"' \
		/sys/firmware/devicetree/base/pmu@100000000/interrupts | sort -u | wc -l)"
	within "interrupts" "$n" 1 100
}

# flit PORT DIR VC N [GROUP=WORD,...]
flit() {
	echo "pmu-model add cmn0 flit@$xp,port=$1,dir=$2,chn=req,vc=$3${5:+,$5} $4"
}

# watchpoint_UP|DOWN FIELDS: what it counts of all that happens
watch() {
	pmu-event "$(cmn_event "watchpoint_$1,bynodeid=1,nodeid=$xp,wp_chn_sel=0,wp_mask=0,$2")" -x "$happens"
}

# The XP with four ports that are in use.
four_ports() {
	xp=$(sed -n 's/^node .* xp=\(0x[0-9a-f]*\) port=3 .*/\1/p' /tmp/list | head -n 1)
	[ -n "$xp" ]
}

# Each port by itself, in whichever DTM and at whichever place there; group 2 is what CMN-650 and later have.
test_watchpoints_of_four_ports() {
	four_ports
	happens=''
	for port in 0 1 2 3; do
		happens="$happens $(flit $port up 0 1$port g2=0x77); $(flit $port down 0 2$port g2=0x77);"
		happens="$happens $(flit $port up 0 5000000 g0=0x77,g1=0x77,g2=0x78);"
	done
	for port in 0 1 2 3; do
		equal "up at port $port" "$(watch up "wp_dev_sel=$port,wp_grp=2,wp_val=0x77")" 1$port
		equal "down at port $port" "$(watch down "wp_dev_sel=$port,wp_grp=2,wp_val=0x77")" 2$port
	done
}

# Several at once: with two DTMs, one in the first and two in the second.
test_ports_at_once() {
	four_ports
	at=bynodeid=1,nodeid=$xp,wp_chn_sel=0,wp_grp=2,wp_mask=0,wp_val=5
	happens="$(flit 1 up 0 30 g2=5); $(flit 3 up 0 400 g2=5); $(flit 2 down 0 7000 g2=5)"
	equal "ports 1 and 3 up, 2 down" "$(pmu-event "$(cmn_event "watchpoint_up,$at,wp_dev_sel=1")" \
		"$(cmn_event "watchpoint_up,$at,wp_dev_sel=3")" "$(cmn_event "watchpoint_down,$at,wp_dev_sel=2")" \
		-x "$happens")" "30 400 7000"
}

# A watchpoint sees one virtual channel, which the in-tree driver has no field for.
test_watchpoint_of_a_virtual_channel() {
	[ -e "$MESH/format/wp_chn_num" ] || skip "the in-tree driver sees the first one alone"
	[ -e "$MESH/events/mxp_e_req2_txflit_valid" ] || skip "this mesh has one REQ channel"
	four_ports
	happens="$(flit 3 up 0 3 g0=9); $(flit 3 up 1 50 g0=9)"
	equal "channel 0" "$(watch up wp_dev_sel=3,wp_grp=0,wp_val=9)" 3
	equal "channel 1" "$(watch up wp_dev_sel=3,wp_grp=0,wp_val=9,wp_chn_num=1)" 50
}

run_tests
