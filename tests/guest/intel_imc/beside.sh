#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# README, "On real hardware": the in-tree driver is unloaded, and loaded again behind ours. Ours then has all memory
# channels, and the in-tree driver all that it had beside them. Where channels are in memory it finds its names taken,
# which the kernel logs with a stack dump.
#
# all vm: --kernel 6.12 --driver in-tree --model skx,sockets=2
# all vm: --kernel 6.1 --driver in-tree --model snbep,sockets=2
# all vm: --kernel 6.12 --driver in-tree --model icx,sockets=2 --allow-warn
# kernels vm: --kernel 6.12 --driver in-tree --model 'spr,sockets=2 gnr,sockets=2' --allow-warn
# kernels vm: --kernel newest --driver in-tree --model icx,sockets=2 --allow-warn --timeout 600
. ./intel_imc/lib.sh
trap as_it_was EXIT

case $(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo) in
106) READS=0xf04 WHERE=memory ;;
143 | 173) READS=0xcf05 WHERE=memory ;;
*) READS=0x304 WHERE=functions ;;
esac

# From 7.3 on the in-tree driver tries each PMU by itself, and resets a channel before it does.
case $WHERE/$(uname -r) in
memory/[1-6].*) BY_ITSELF='' ;;
memory/*) BY_ITSELF=1 ;;
*) BY_ITSELF='' ;;
esac

channels() {
	(cd $PMUS && ls -d uncore_imc_[0-9]*)
}

# Those that there are: the in-tree driver has a third one in each controller of Ice Lake.
real_channels() {
	channels | while read -r pmu; do
		! pmu-model list | grep -q "^imc${pmu#uncore_imc_}@0 " || echo "$pmu"
	done
}

other_units() {
	for pmu in "$PMUS"/uncore_*; do
		case $pmu in
		*/uncore_imc_[0-9]*) ;;
		*) basename "$pmu" ;;
		esac
	done
}

# An event that counts meanwhile is none the worse for it, unless its channel is reset: then it loses counts, not more, and
# the log says so.
test_other_units_stay_with_the_in_tree_driver() {
	others=$(other_units) all=$(channels) real=$(real_channels)
	first=$(echo "$real" | head -n 1)
	contains "others" "$others" '^uncore_(ubox|pcu)$'
	log_mark
	rmmod intel_uncore
	insmod $MODULES/pmu_core.ko
	insmod $MODULES/intel_imc_pmu.ko
	add="pmu-model add imc${first#uncore_imc_}@0 cas_rd 5"
	got=$(pmu-event "$first:$READS" -x "$add" -x 'modprobe intel-uncore' -x "$add" | xargs)
	if [ "$BY_ITSELF" ]; then
		contains "meanwhile" "$got" '^5 5 (5|10)$'
		contains "log" "$(log_since_mark)" 'another program wrote to it, or the device was reset'
		equal "channels" "$(channels)" "$all"
	else
		equal "meanwhile" "$got" "5 5 10"
		equal "channels" "$(channels)" "$real"
	fi
	equal "others" "$(other_units)" "$others"
	for pmu in $real; do
		equal "$pmu" "$(pmu-event "$pmu:$READS" -x "pmu-model add imc${pmu#uncore_imc_}@0 cas_rd 7")" 7
	done
	[ $WHERE = memory ] && functions=2 || functions=$((2 * $(echo "$all" | wc -l)))
	equal "functions of ours" "$(ls -d $DRIVER/0000:* | wc -l)" $functions
	rmmod intel_imc_pmu
	rmmod pmu_core
	rmmod intel_uncore
	modprobe intel-uncore
	equal "others" "$(other_units)" "$others"
	equal "channels" "$(channels)" "$all"
	# One dump of a name that is taken twice, and no other warning
	[ $WHERE = memory ] && dumps=1 || dumps=0
	free=$(echo "$others" | grep -c '^uncore_imc_free_running_' || :)
	[ ! "$BY_ITSELF" ] || dumps=$(($(echo "$real" | wc -l) + free))
	equal "names" "$(log_since_mark | grep -c 'sysfs: cannot create duplicate filename ./devices/uncore_imc_' || :)" $dumps
	equal "dumps" "$(log_since_mark | grep -c 'Call Trace:' || :)" $dumps
	equal "warnings" "$(log_since_mark | grep -E 'WARNING: |BUG: |Oops: ' || :)" ""
}

run_tests
