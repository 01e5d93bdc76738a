#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Where a channel is: the files of our driver in sysfs, and pmu-top's sums by controller and node, with the in-tree driver
# as well. Nodes are those of CPUs; which channels are whose the models do not know.
#
# kernels vm: --tools --kernel 6.12 --driver 'ours in-tree' --model spr,sockets=2 --cpus 4 --nodes 4
# all vm: --tools --kernel 6.12 --driver ours --model gnr,sockets=2 --cpus 6 --nodes 6
# kernels vm: --tools --kernel 6.12 --driver in-tree --model gnr,sockets=2 --cpus 6 --nodes 6
# all vm: --tools --kernel 6.12 --driver ours --model icx,sockets=2
# kernels vm: --tools --kernel 6.12 --driver in-tree --model icx,sockets=2
# kernels vm: --tools --kernel 6.12 --driver ours --model skx,sockets=2 --cpus 4 --nodes 4
. ./intel_imc/lib.sh
. ./top.sh
trap as_it_was EXIT

MODEL=$(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo)

# FILE of all channels, in the order of their numbers
each() {
	for number in $(cd "$PMUS" && for pmu in uncore_imc_[0-9]*; do echo "${pmu##*_}"; done | sort -n); do
		xargs < "$PMUS/uncore_imc_$number/$1"
	done
}

test_files() {
	[ $driver = ours ] || skip "files of our driver"
	case $MODEL in
	143) controllers='0 0 1 1 2 2 3 3' channels='0 1 0 1 0 1 0 1' first='0 0 1 1 0 0 1 1' second='2 2 3 3 2 2 3 3' ;;
	173) controllers=$(seq 0 11 | xargs) channels='0 0 0 0 0 0 0 0 0 0 0 0' first='1 1 0 0 2 2 1 1 0 0 2 2'
		second='4 4 3 3 5 5 4 4 3 3 5 5' ;;
	106) controllers='0 0 1 1 2 2 3 3' channels='0 1 0 1 0 1 0 1' first='0 0 0 0 0 0 0 0' second=$first ;;
	85) controllers='0 0 0 1 1 1' channels='0 1 2 0 1 2' first='unknown unknown unknown unknown unknown unknown' second=$first ;;
	esac
	equal controllers "$(each controller | xargs)" "$controllers"
	equal channels "$(each channel | xargs)" "$channels"
	equal "nodes of socket 0" "$(each nodes | sed 's/^socket 0: \(node \)*\([a-z0-9]*\) socket 1: .*/\2/' | xargs)" "$first"
	equal "nodes of socket 1" "$(each nodes | sed 's/.* socket 1: \(node \)*//' | xargs)" "$second"
}

# With a CPU a node may be missing: then nothing is told rather than something wrong.
test_a_cpu_is_offline() {
	[ $driver = ours ] || skip "files of our driver"
	case $MODEL in 143 | 173) ;; *) skip "its nodes are not told" ;; esac
	cpu_online 1 0
	contains "nodes" "$(xargs < "$PMUS/uncore_imc_2/nodes")" '^socket 0: unknown socket 1: node [23]'
	cpu_online 1 1
	contains "nodes" "$(xargs < "$PMUS/uncore_imc_2/nodes")" 'socket 0: node [01] socket 1: node [23]'
}

# Where firmware tells the node of a table's function, the table is that socket's, on whichever bus it is.
test_the_node_of_a_table() {
	[ $driver = ours ] || skip "what our driver does"
	case $MODEL in 143 | 173) ;; *) skip "there is no table" ;; esac
	tables=$(grep -lx 0x09a7 /sys/bus/pci/devices/*/device | sed 's|/device$||' | sort)
	first=$(echo "$tables" | sed -n 1p)/numa_node second=$(echo "$tables" | sed -n 2p)/numa_node
	trap 'echo -1 > "$first"; echo -1 > "$second"; as_it_was' EXIT
	last=$(sed 's/.*-//' /sys/devices/system/cpu/online)
	equal "nodes at first" "$(cat "$first" "$second" | xargs)" "-1 -1"
	unload
	echo "/sys/devices/system/cpu/cpu$last"/node* | sed 's/.*node//' > "$first"
	echo /sys/devices/system/cpu/cpu0/node* | sed 's/.*node//' > "$second"
	load
	equal "socket 0" "$(pmu-event --cpu 0 uncore_imc_3:0xcf05 -x 'pmu-model add imc3@1 cas_rd 9; pmu-model add imc3@0 cas_rd 70')" 9
	equal "socket 1" "$(pmu-event --cpu "$last" uncore_imc_3:0xcf05 -x 'pmu-model add imc3@1 cas_rd 9; pmu-model add imc3@0 cas_rd 70')" 70
}

# 3.2 GB read on channel 0 of socket 0, 64 MB written on channel 3 of socket 1, and on Granite Rapids as much by the
# other sub-channels.
test_sums() {
	more='' factor=1 mode=power
	if [ "$MODEL" = 173 ]; then
		more='; pmu-model add imc0 cas_rd_sch1 50000000; pmu-model add imc3@1 cas_wr_sch1 1000000' factor=2 mode=all
	fi
	# Where nothing takes turns
	pmu-top --mode $mode --json --output /tmp/top -- \
		sh -c "pmu-model add imc0 cas_rd 50000000; pmu-model add imc3@1 cas_wr 1000000$more"
	read=$((3200000000 * factor)) written=$((64000000 * factor))
	equal "socket 0, read" "$(top_value socket_read_bytes socket=0)" $read
	equal "socket 1, written" "$(top_value socket_write_bytes socket=1)" $written
	equal "channel 0" "$(top_value read_bytes socket=0 channel=0)" $read
	case $MODEL in
	143) equal "node 0" "$(top_value node_read_bytes socket=0 node=0)" $read
		equal "node 1" "$(top_value node_read_bytes socket=0 node=1)" 0
		equal "node 3, written" "$(top_value node_write_bytes socket=1 node=3)" $written
		equal "controller 0" "$(top_value controller_read_bytes socket=0 node=0 controller=0)" $read ;;
	173) equal "node 1" "$(top_value node_read_bytes socket=0 node=1)" $read
		equal "node 0" "$(top_value node_read_bytes socket=0 node=0)" 0
		equal "node 3, written" "$(top_value node_write_bytes socket=1 node=3)" $written ;;
	*) equal "controller 0" "$(top_value controller_read_bytes socket=0 controller=0)" $read
		equal "controller 1, written" "$(top_value controller_write_bytes socket=1 controller=1)" $written
		contains "no node" "$(grep -c '"node' /tmp/top || :)" '^0$' ;;
	esac
}

# The clock is that of the memory, though the fixed counter has half of it.
test_clock() {
	[ "$MODEL" != 85 ] || skip "DDR4 counts all"
	pmu-top --once --json --output /tmp/top
	within "MHz" "$(top_int "$(top_value clock socket=0 channel=0) * 1e-6")" 1550 1650
}

run_tests
