#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What becomes of counts for each answer that hardware may have for an open question. These rows are a table in
# Documentation/hardware/cmn.md, too: scripts/pages --answers.
#
# number | answer | keys of the model | ours | in-tree
# 11.1 | a carry arrives at once, and DTMs stop with DTC 0 | - | exact | exact
# 11.1 | a carry takes 2 us | carry_delay 2000 | exact | silent
# 11.1 | a carry takes 50 us | carry_delay 50000 | told: a carry took longer | silent
# 11.1 | a carry takes 20 us, and a stopped DTC loses it | carry_delay 20000; carry_drop 1 | told: carries are lost | silent
# 11.1 | DTMs stop 2 us after DTC 0 | stop_delay 2000; carry_delay 100 | exact | silent
# 11.1 | DTMs stop 50 us after DTC 0 | stop_delay 50000; carry_delay 100 | told: or a DTM to stop | silent
# 11.1 | DTMs stop 2 us after DTC 0, and a stopped DTC takes no carry | stop_delay 2000 | told: carries are lost | silent
# 11.1 | writes arrive 2 us late, unless something is read | posted 2000 | exact | silent
# 11.2 | a stopped DTC shows no overflow | hide_overflow 1 | exact | exact
# 11.2 | after kexec counters run and have overflowed | dirty 1 | exact | exact
# 11.3 | an overflow interrupts a second late | irq_delay 1000000000 | exact | exact
# 11.3 | INTREQPMU is a pulse | not run | exact: the timer finds the overflow | silent
# 11.4 | dtm_enable locks a DTM, and another program has left it set | dtm_lock 1; dirty 1 | exact | silent
# 11.4 | and sets it later | dtm_lock 2 | told: another program has set dtm_enable | silent
# 11.5 | letters of other DTCs need nothing but DTC 0 | not run | exact: all are enabled | exact
# 11.6 | one node of a device has the lines, and others with it nothing | lone_lines 1 | told: a node that shares its lines | silent
# 11.7 | ids at an XP with unused ports are decoded by the ports that are in use | not run | exact: what is connected tells | exact
# 11.8 | ids at an XP with 5 ports or more are formed otherwise | not run | told: connect info has type | silent
# 11.9 | another bit than 30 says that a node is isolated | not run | the system hangs at probe | the same
# 11.10 | CI-700 is not as CMN-650 | not run | told: taken to be as CMN-650 | silent
# 11.11 | CMN-650 has two ports at most | not run | exact: a port is drawn that is not there | exact
# 11.12 | chn_num is not looked at: both virtual channels are counted | any_vc 1 | told: a channel of which the mesh has several | exact
# 11.13 | a filter acts on other events of its node | filter_all 1 | told: beside another one with a filter | silent
# 11.14 | occupancies have a scale | not run | exact: the count is the counter's, and no unit is claimed | exact
# 11.15 | nothing counts without NIDEN | not run | told | silent
# 11.16 | code 6 is r2p1 | not run | exact: the log has another name | exact
# 11.17 | a snapshot catches all at once | not run | exact: none is used | exact
# 11.18 | firmware has switched the PMU off, and PMCR keeps nothing | pm_disable 1 | refused | silent
# 11.19 | of a pair, exclusive inverts the match of both | invert_pair 1 | told: wp_exclusive of half a pair | silent
# 11.20 | a counter loses its count with another input | config_clear 1 | exact | exact
#
# all vm: --arch arm64 --kernel 6.12 --driver ours --cpus 2 --model cmn700,mesh=3x2,hnd=0.0.1,hnf=0.1.0+1.0.0+2.1.1,req-vcs=2 --timeout 900
# all vm: --arch arm64 --kernel 6.12 --driver in-tree --allow-warn --cpus 2 --model cmn700,mesh=3x2,hnd=0.0.1,hnf=0.1.0+1.0.0+2.1.1,req-vcs=2 --timeout 900
. ./cmn/lib.sh
. ./answers.sh

taskset -p 1 $$ > /dev/null
if [ -e /sys/module/cmn_pmu ]; then DRIVER=ours; else DRIVER=in-tree; fi
pmu-model list cmn0 > /tmp/list.cmn0
LIST=/tmp/list.cmn0
export LIST
NODE=$(nodes hnf | head -n 1)
XP=$(printf '%#x' $((NODE & ~7)))
AT="bynodeid=1,nodeid=$NODE" AT_XP="bynodeid=1,nodeid=$XP"
FLITS="flit@$XP,port=0,dir=up,chn=req"

unload() {
	if [ $DRIVER = ours ]; then unload_ours; else rmmod arm_cmn; fi
}

load() {
	if [ $DRIVER = ours ]; then
		insmod /vm/modules.d/pmu_core.ko share=0
		insmod /vm/modules.d/cmn_pmu.ko
	else
		modprobe arm_cmn
	fi
	find_meshes
	use_mesh cmn0
	bound N
	[ "$PMU" ]
}

# What any answer leaves behind is gone.
as_at_first() {
	for key in carry_delay carry_drop stop_delay posted irq_delay hide_overflow traffic pm_disable dtm_lock config_clear filter_all \
		any_vc invert_pair lone_lines; do
		echo "set cmn0 $key 0"
	done | pmu-model -
}

case_a_node() {
	exactly 70001 "$PMU/hnf_cache_miss,$AT/" -x "@model add cmn0 hnf_cache_miss@$NODE 70001"
}

case_all_nodes() {
	exactly 210003 "$PMU/hnf_cache_miss/" -x "@model add cmn0 hnf_cache_miss 70001"
}

case_a_group() {
	exactly "70001 9 140002 18" --manual --group "$PMU/hnf_cache_miss/" "$PMU/hnf_mc_reqs/" \
		-x "@model add cmn0 hnf_cache_miss@$NODE 70001; add cmn0 hnf_mc_reqs@$NODE 9" -x @read \
		-x "@model add cmn0 hnf_cache_miss@$NODE 70001; add cmn0 hnf_mc_reqs@$NODE 9" -x @read
}

# Counts on their way when an event stops and starts: the model knows how many there were.
case_starts_and_stops() {
	pmu-model set cmn0 total 0
	# shellcheck disable=SC2046 # a list
	got=$(pmu-event --disabled --manual "$PMU/hnf_cache_miss,$AT/" -x "@model set cmn0 traffic 1000000000" \
		$(for _ in $(seq 20); do echo -x @enable -x @disable; done) -x @read -x '@model get cmn0 total' | tr '\n' ' ')
	pmu-model set cmn0 traffic 0
	# shellcheck disable=SC2086 # two numbers
	set -- $got
	same "${1:-none}" "${2:-}"
}

# Two of the same counts, each with a counter of its own: load() sees to that.
case_reads_of_a_group() {
	# shellcheck disable=SC2046 # a list
	pmu-event --manual --group "$PMU/hnf_cache_miss,$AT/" "$PMU/hnf_cache_miss,$AT/" -x "@model set cmn0 traffic 1000000000" \
		$(for _ in $(seq 40); do echo -x @read; done) > /tmp/pairs
	pmu-model set cmn0 traffic 0
	same "$(awk '$1 != $2' /tmp/pairs | wc -l)" 0
}

# DN and HN-I of the HN-D, one after the other and together.
case_nodes_of_one_device() {
	hnd=$(nodes dn)
	hni=hni_rrt_rd_occ_cnt_ovfl,bynodeid=1,nodeid=$hnd
	exactly 3 "$PMU/dn_dvmsync/" -x "@model add cmn0 dn_dvmsync@$hnd 3"
	exactly "3 5" "$PMU/dn_dvmsync/" "$PMU/$hni/" -x "@model add cmn0 dn_dvmsync@$hnd 3; add cmn0 hni_rrt_rd_occ_cnt_ovfl@$hnd 5"
}

case_beside_a_filter() {
	exactly "1000 5 2000 10" --manual "$PMU/hnf_mc_reqs,$AT/" "$PMU/hnf_qos_pocq_occupancy_read,$AT/" \
		-x "@model add cmn0 hnf_mc_reqs@$NODE 1000; add cmn0 hnf_qos_pocq_occupancy_read@$NODE 5" -x @read \
		-x "@model add cmn0 hnf_mc_reqs@$NODE 1000; add cmn0 hnf_qos_pocq_occupancy_read@$NODE 5" -x @read
}

case_behind_a_filter() {
	exactly "1000 2000" --manual "$PMU/hnf_mc_reqs,$AT/" -x "@model add cmn0 hnf_mc_reqs@$NODE 1000" -x @read \
		-x "pmu-event $PMU/hnf_qos_pocq_occupancy_read,$AT/ -x true > /dev/null" -x "@model add cmn0 hnf_mc_reqs@$NODE 1000" -x @read
}

case_another_input() {
	exactly 25541 "$PMU/hnf_cache_miss,$AT/" -x "@model add cmn0 hnf_cache_miss@$NODE 25541"
	exactly 5 "$PMU/mxp_p0_dat_txflit_valid,$AT_XP/" -x "@model add cmn0 mxp_p0_dat_txflit_valid@$XP 5"
}

case_virtual_channels() {
	watch=watchpoint_up,$AT_XP,wp_dev_sel=0,wp_chn_sel=0,wp_grp=0,wp_val=0,wp_mask=0xffffffffffffffff
	exactly "3 4" "$PMU/$watch,wp_chn_num=0/" "$PMU/$watch,wp_chn_num=1/" \
		-x "@model add cmn0 $FLITS,vc=0,g0=0,g1=0,g2=0 3; add cmn0 $FLITS,vc=1,g0=0,g1=0,g2=0 4"
}

case_a_pair() {
	half=watchpoint_up,$AT_XP,wp_dev_sel=0,wp_chn_sel=0,wp_mask=0,wp_combine=1
	exactly "2 10" --group "$PMU/$half,wp_grp=0,wp_val=0x11/" "$PMU/$half,wp_grp=1,wp_val=0x22/" \
		-x "@model add cmn0 $FLITS,g0=0x11,g1=0x22,g2=0 2; add cmn0 $FLITS,g0=0x11,g1=0,g2=0 4; add cmn0 $FLITS,g0=0,g1=0x22,g2=0 8"
}

# What match both, and do not match the first: as two that are inverted each.
case_a_pair_with_exclusive() {
	half=watchpoint_up,$AT_XP,wp_dev_sel=0,wp_chn_sel=0,wp_mask=0,wp_combine=1
	exactly "8 10" --group "$PMU/$half,wp_grp=0,wp_val=0x11,wp_exclusive=1/" "$PMU/$half,wp_grp=1,wp_val=0x22/" \
		-x "@model add cmn0 $FLITS,g0=0x11,g1=0x22,g2=0 2; add cmn0 $FLITS,g0=0x11,g1=0,g2=0 4; add cmn0 $FLITS,g0=0,g1=0x22,g2=0 8"
}

# 2^46 counts five times, as far apart as on hardware for the driver: a letter overflows, and is served in between.
case_an_overflow() {
	set --
	for _ in 1 2 3 4 5; do
		set -- "$@" -x "@model add cmn0 hnf_cache_miss@$NODE 70368744177664" -x 'sleep 0.1' -x @read
	done
	exactly "$((1 << 46)) $((2 << 46)) $((3 << 46)) $((4 << 46)) $((5 << 46))" --manual "$PMU/hnf_cache_miss,$AT/" "$@"
}

case_the_clock() {
	pmu-event --manual "$PMU/dtc_cycles/" -x @read -x '@model get cmn0 dtc0_ticks' -x 'sleep 0.2' -x @read -x '@model get cmn0 dtc0_ticks' \
		> /tmp/clock
	same "$(tr '\n' ' ' < /tmp/clock | awk '{ one = $3 - $1; other = $4 - $2; print (one > 0.5 * other && one < 2 * other) }')" 1
}

test_each_answer() {
	answers $DRIVER cmn0
}

run_tests
