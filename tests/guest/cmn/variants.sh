#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Meshes as firmware and builds leave them: counters that run and flags that are set since the kernel before, one
# interrupt for all DTCs, one DTM for all ports of an XP. And what watchpoints have of ports and channels.
#
# all vm: --arch arm64 --kernel 6.12 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
# kernels vm: --arch arm64 --kernel 6.1 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
# kernels vm: --arch arm64 --kernel 6.12 --driver in-tree --model cmn700,shared-irq=on,multi-dtm=off
#
# Where there are several DTMs in an XP, the in-tree driver of 6.12 sees nothing at ports from 2 on.
. ./cmn/lib.sh

# Interrupts are served where the commands run that cause them: nothing happens while they are.
taskset -p 1 $$ > /dev/null

if [ -e /sys/module/arm_cmn ]; then
	DRIVER=arm_cmn MESHES=cmn0
	reload() { rmmod arm_cmn; "$@"; modprobe arm-cmn; }
else
	DRIVER=cmn_pmu MESHES='cmn0 cmn1 cmn2'
	reload() { rmmod cmn_pmu; "$@"; insmod /vm/modules.d/cmn_pmu.ko; }
fi

# Of the mesh: how many there are, and how often they came. The in-tree driver names them for itself.
interrupts() {
	awk -v device="$(printf '%x' $((${MODEL#cmn} + 1 << 32))).pmu" '$NF == device || $NF == "arm-cmn" {
		lines++; n += $2 + $3 } END { print lines + 0, n + 0 }' /proc/interrupts
}

soil() {
	pmu-model set "$MODEL" dirty 1
}

test_nothing_is_left_from_before() {
	MODEL=$1
	# The kernel counts an interrupt on from one driver to the next.
	before=$(interrupts | cut -d' ' -f2)
	reload soil
	find_meshes
	use_mesh "$1"
	interrupts > /tmp/interrupts
	within "interrupts" $(($(cut -d' ' -f2 /tmp/interrupts) - before)) 0 2
	expect "0 0" hnf_cache_miss mxp_e_req_txflit_valid -- ''
	counted
	for dtc in 0 1; do
		equal "flags of DTC $dtc" $(($(pmu-model get "$MODEL" dtc${dtc}_overflow))) 0
	done
}

# Of every DTC: 2^47 more at a node of each domain than the hardware has room for, and nobody reads in between.
test_interrupts_of_all_domains() {
	bound N
	use_mesh "$1"
	before=$(interrupts | cut -d' ' -f2)
	happens=''
	for dtc in 0 1; do
		id=$(sed -n "s/^node hnf \(0x[0-9a-f]*\) .* dtc=$dtc .*/\1/p" "$LIST" | head -n 1)
		half="add $MODEL hnf_cache_miss@$id 140737488355328;"
		happens="$happens $half $half $half"
	done
	got=$(pmu-event --manual "$PMU/hnf_cache_miss/" -x "@model $happens" -x @read)
	equal "3 * 2^47 at two" "$got" $((6 << 47))
	interrupts > /tmp/interrupts
	read -r lines n < /tmp/interrupts
	node=/sys/firmware/devicetree/base/pmu@$(printf '%x' $((${MODEL#cmn} + 1 << 32)))
	equal "lines of 2 DTCs" "$lines" "$(hexdump -v -e '12/1 "%02x" "\n"' "$node/interrupts" | sort -u | wc -l)"
	within "interrupts" $((n - before)) 1 100
}

# flit PORT DIR VC N [GROUP=WORD,...]
flit() {
	echo "add $MODEL flit@$xp,port=$1,dir=$2,chn=req,vc=$3${5:+,$5} $4"
}

# The XP with four ports that are in use, and what a watchpoint there has to say: watch COUNT UP|DOWN FIELDS
four_ports() {
	use_mesh "$1"
	xp=$(sed -n 's/^node .* xp=\(0x[0-9a-f]*\) port=3 .*/\1/p' "$LIST" | head -n 1)
	[ -n "$xp" ]
}

watch() {
	expect "$1" "watchpoint_$2,bynodeid=1,nodeid=$xp,wp_chn_sel=0,wp_mask=0,$3" -- "$happens"
}

# Each port by itself, in whichever DTM and at whichever place there; group 2 is what CMN-650 and later have.
test_watchpoints_of_four_ports() {
	four_ports "$1"
	happens=''
	for port in 0 1 2 3; do
		happens="$happens $(flit $port up 0 1$port g2=0x77); $(flit $port down 0 2$port g2=0x77);"
		happens="$happens $(flit $port up 0 5000000 g0=0x77,g1=0x77,g2=0x78);"
	done
	for port in 0 1 2 3; do
		watch 1$port up "wp_dev_sel=$port,wp_grp=2,wp_val=0x77"
		watch 2$port down "wp_dev_sel=$port,wp_grp=2,wp_val=0x77"
	done
	counted
}

# Several at once: with two DTMs, one in the first and two in the second.
test_ports_at_once() {
	four_ports "$1"
	at=bynodeid=1,nodeid=$xp,wp_chn_sel=0,wp_grp=2,wp_mask=0,wp_val=5
	expect "30 400 7000" "watchpoint_up,$at,wp_dev_sel=1" "watchpoint_up,$at,wp_dev_sel=3" \
		"watchpoint_down,$at,wp_dev_sel=2" -- "$(flit 1 up 0 30 g2=5); $(flit 3 up 0 400 g2=5); $(flit 2 down 0 7000 g2=5)"
	counted
}

# A watchpoint sees one virtual channel, which the in-tree driver has no field for.
test_watchpoint_of_a_virtual_channel() {
	four_ports "$1"
	[ -e "$MESH/events/mxp_e_req2_txflit_valid" ]
	happens="$(flit 3 up 0 3 g0=9); $(flit 3 up 1 50 g0=9)"
	watch 3 up wp_dev_sel=3,wp_grp=0,wp_val=9
	[ $DRIVER = arm_cmn ] || watch 50 up wp_dev_sel=3,wp_grp=0,wp_val=9,wp_chn_num=1
	counted
}

# shellcheck disable=SC2086 # a list
run_tests $MESHES
