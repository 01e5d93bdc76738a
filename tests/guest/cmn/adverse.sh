#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A mesh that does not make it easy: counters that carry between two reads, flags that a stopped DTC does not show,
# isolated devices, secure traffic, registers that are gone.
#
# all vm: --arch arm64 --kernel 6.12 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
# kernels vm: --arch arm64 --kernel 6.1 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
. ./cmn/lib.sh

taskset -p 1 $$ > /dev/null
find_meshes

# The sums of what was read and written of a class in a mesh: touched MESH CLASS
touched() {
	pmu-model stats "$1" | awk -v class="$2" '$1 ~ "^" class "(64|32)$" { n += $2 + $3 } END { print n + 0 }'
}

# A local counter carries right after it, or the DTC, was read: what is missing for a moment comes with the next
# read. For a group that is the look before the stop, and what comes then counts whole, for all of them.
test_counts_that_carry_between_reads() {
	use_mesh cmn0
	trap 'pmu-model set cmn0 tear_dtm 0; pmu-model set cmn0 tear_dtc 0' EXIT
	event=$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x64/
	for tear in tear_dtm tear_dtc; do
		got=$(pmu-event --manual "$event" \
			-x "@model add cmn0 hnf_cache_miss@0x64 65500" -x @read \
			-x "@model set cmn0 $tear 300" -x @read -x @read -x '@model add cmn0 hnf_cache_miss@0x64 65520' \
			-x @read | tr '\n' ' ')
		case $tear in
		tear_dtm) equal $tear "$got" "65500 65500 65800 131320 " ;;
		tear_dtc) equal $tear "$got" "65500 65800 65800 131320 " ;;
		esac
		equal "$tear, that does not wait" "$(pmu-model get cmn0 $tear)" 0
		got=$(pmu-event --manual --group "$event" "$event" \
			-x '@model add cmn0 hnf_cache_miss@0x64 65520' -x "@model set cmn0 $tear 300" -x @read -x @read |
			tr '\n' ' ')
		equal "$tear, a group" "$got" "65820 65820 65820 65820 "
		equal "$tear, that does not wait either" "$(pmu-model get cmn0 $tear)" 0
	done
}

# PMOVSR of a DTC that is not enabled may read 0: an overflow is seen all the same, and cleared.
test_hidden_overflow() {
	use_mesh cmn0
	trap 'pmu-model set cmn0 hide_overflow 0' EXIT
	pmu-model set cmn0 hide_overflow 1
	bound N
	half='add cmn0 hnf_cache_miss@0x64 140737488355328'
	got=$(pmu-event --manual "$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x64/" -x "@model $half; $half; $half" -x @read)
	equal "2^47 three times" "$got" $((3 << 47))
	equal "flags" "$(pmu-model get cmn0 dtc1_overflow)" 0
	rmmod cmn_pmu
	pmu-model set cmn0 dirty 1
	insmod /vm/modules.d/cmn_pmu.ko
	find_meshes
	equal "flags of the kernel before" "$(pmu-model get cmn0 dtc0_overflow) $(pmu-model get cmn0 dtc1_overflow)" "0 0"
}

# Another program clears a counter: the log says once that no mesh can have counted that, and nothing of it is counted.
test_another_program_clears_a_counter() {
	use_mesh cmn0
	happens='@model add cmn0 hnf_cache_miss@0x64 70000'
	clear='@model set cmn0 dtc1_a 0'
	bound Y
	log_mark
	got=$(pmu-event "$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x64/" -x "$happens" -x "$clear" -x "$happens" -x "$clear" \
		-x "$happens" | tr '\n' ' ')
	equal "counts" "$got" "70000 70000 140000 140000 210000 "
	said() { log_since_mark | grep -c 'more than it can have counted since the last read' || :; }
	eventually "lines in the log" 1 said
	got=$(pmu-event --manual "$PMU/dtc_cycles/" -x '@model set cmn0 clock 1' -x @read -x '@model set cmn0 dtc0_cycles 0' -x @read)
	pmu-model set cmn0 clock 2000000000
	# At 1 Hz.
	within "cycles" $((${got##*
} - ${got%%
*})) 0 9
	bound N
	[ "$(pmu-event "$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x64/" -x "$clear")" -gt $((1 << 46)) ]
}

# No source says whether a counter keeps its count when PMU_CONFIG gives it another input.
test_counters_that_a_new_input_clears() {
	use_mesh cmn0
	trap 'pmu-model set cmn0 config_clear 0' EXIT
	for clears in 0 1; do
		pmu-model set cmn0 config_clear $clears
		for n in 25541 5; do
			expect $n hnf_cache_miss,bynodeid=1,nodeid=0x64 -- "add cmn0 hnf_cache_miss@0x64 $n"
			expect $n mxp_p0_dat_txflit_valid,bynodeid=1,nodeid=0x60 -- \
				"add cmn0 mxp_p0_dat_txflit_valid@0x60 $n"
		done
		counted
	done
}

# If a filter acts on all events of its node, one that was left there would hide them when its event is gone.
# Meanwhile it would count too little, which the log says once.
test_filter_goes_with_its_event() {
	rmmod cmn_pmu
	insmod /vm/modules.d/cmn_pmu.ko
	find_meshes
	use_mesh cmn0
	log_mark
	trap 'pmu-model set cmn0 filter_all 0' EXIT
	pmu-model set cmn0 filter_all 1
	happens="@model add cmn0 hnf_mc_reqs@0x64 1000"
	got=$(pmu-event --manual "$PMU/hnf_mc_reqs,bynodeid=1,nodeid=0x64/" -x "$happens" -x @read \
		-x "pmu-event $PMU/hnf_qos_pocq_occupancy_read,bynodeid=1,nodeid=0x64/ -x true > /dev/null" \
		-x "$happens" -x @read | tr '\n' ' ')
	equal "requests" "$got" "1000 2000 "
	said() { log_since_mark | grep -c "$PMU: an event counts at a node beside another one with a filter" || :; }
	eventually "sentences" 1 said
}

# What a tracing tool has left in watchpoints would go on making packets.
test_watchpoints_of_a_trace() {
	rmmod cmn_pmu
	flits='add cmn0 flit@0x20,port=0,dir=up,chn=req,g0=0x1234 9'
	pmu-model set cmn0 trace 1
	insmod /vm/modules.d/cmn_pmu.ko
	find_meshes
	use_mesh cmn0
	pmu-model set cmn0 packets 0
	expect 9 watchpoint_up,bynodeid=1,nodeid=0x20,wp_dev_sel=0,wp_chn_sel=0,wp_grp=0,wp_val=0x1234,wp_mask=0 -- "$flits"
	expect 0 hnf_cache_miss -- "$flits"
	counted
	equal "packets" "$(pmu-model get cmn0 packets)" 0
}

# An isolated device is not touched: to do so would hang the system. Those beside it count.
test_isolated_devices() {
	rmmod cmn_pmu
	pmu-model stats 'cmn*' --reset > /dev/null
	log_mark
	insmod /vm/modules.d/cmn_pmu.ko
	log_since_mark > /tmp/log
	find_meshes
	use_mesh cmn3
	grep '^node .* isolated$' "$LIST" > /tmp/isolated
	equal "isolated nodes of an HN-F and an HN-S" "$(wc -l < /tmp/isolated)" 6
	equal "said to be left alone" "$(grep -c '400000000.pmu: the node at .* is isolated: left alone' /tmp/log)" 6
	for type in hnf hns; do
		name=${type}_seq_hit all=$(nodes $type | wc -l)
		expect $((7 * (all - 1))) $name -- "add cmn3 $name 7"
	done
	counted
	cat /sys/kernel/debug/arm-cmn/map /sys/kernel/debug/cmn_pmu/* > /dev/null
	rmmod cmn_pmu
	insmod /vm/modules.d/cmn_pmu.ko
	find_meshes
	equal "accesses to isolated nodes" "$(touched cmn3 isolated)" 0
}

# Where isolation is configured and the revision does not tell of whom, the mesh is refused as a whole.
test_isolation_that_is_not_told() {
	contains "meshes" "$(meshes)" '^cmn3$'
	equal "PMUs of cmn4" "$(meshes | grep -c '^cmn4$')" 0
	contains "log" "$(dmesg)" '500000000.pmu: error -ENODEV: devices may be isolated'
	equal "accesses to isolated nodes" "$(touched cmn4 isolated)" 0
}

# Without SPNIDEN a watchpoint sees what says that it is not secure, and no more: the others are not counted, and
# nothing tells. The bit is one of the flit's, by the manual's table for group 0.
test_secure_traffic() {
	for mesh in cmn0 cmn5; do
		use_mesh $mesh
		xp=$(sed -n 's/^node hnf 0x[0-9a-f]* .* xp=\(0x[0-9a-f]*\) port=0 .*/\1/p' "$LIST" | head -n 1)
		at=bynodeid=1,nodeid=$xp,wp_dev_sel=0,wp_val=0,wp_mask=0xffffffffffffffff
		[ $mesh = cmn5 ] && all=20 responses=0 || all=21 responses=4
		flit=flit@$xp,port=0,dir=up
		expect $all "watchpoint_up,wp_chn_sel=0,$at" -- \
			"add $mesh $flit,chn=req 1; add $mesh $flit,chn=req,g0=0x8000000000 20"
		expect $responses "watchpoint_up,wp_chn_sel=1,$at" -- "add $mesh $flit,chn=rsp 4"
		counted
	done
}

# The same while events count: what was counted is kept, and soon they are in error state. A mesh that was not there
# has to be taken over anew.
test_gone_while_counting() {
	trap 'pmu-model set cmn0 gone 0; rmmod cmn_pmu; insmod /vm/modules.d/cmn_pmu.ko' EXIT
	use_mesh cmn0
	got=$(pmu-event --manual "$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x64/" "$PMU/dtc_cycles/" \
		-x '@model add cmn0 hnf_cache_miss@0x64 65540' -x '@model set cmn0 gone 1' -x @read -x 'sleep 0.5' -x @read |
		tail -n 1)
	equal "count, cycles" "$got" "error error"
	pmu-model set cmn0 gone 0
	equal "not taken over" "$(pmu-event "$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x64/" \
		-x '@model add cmn0 hnf_cache_miss@0x64 7; set cmn0 gone 0' -x 'sleep 0.5' | tail -n 1)" error
	rmmod cmn_pmu
	insmod /vm/modules.d/cmn_pmu.ko
	find_meshes
	use_mesh cmn0
	equal "count" "$(pmu-event "$PMU/hnf_cache_miss,bynodeid=1,nodeid=0x64/" \
		-x '@model add cmn0 hnf_cache_miss@0x64 65540')" 65540
}

# All registers read as all ones, as of hardware that is off: no PMU, one sentence, and the others are there.
test_gone() {
	trap 'pmu-model set cmn1 gone 0; rmmod cmn_pmu; insmod /vm/modules.d/cmn_pmu.ko' EXIT
	rmmod cmn_pmu
	pmu-model set cmn1 gone 1
	log_mark
	insmod /vm/modules.d/cmn_pmu.ko
	contains "log" "$(log_since_mark)" '200000000.pmu: error -ENODEV: the node at 0x0 is of type 0xffff, not the root'
	find_meshes
	equal "meshes" "$(meshes | tr '\n' ' ')" "cmn0 cmn2 cmn3 cmn5 "
}

run_tests
