#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# README, "On real hardware": the in-tree driver is unloaded, and loaded again behind ours. Ours then has all memory
# channels, and the in-tree driver all that it had beside them.
#
# vm: --kernel 6.12 --driver in-tree --model skx,sockets=2
# vm: --kernel 6.1 --driver in-tree --model snbep,sockets=2
. ./intel_imc/lib.sh
trap as_it_was EXIT

channels() {
	(cd $PMUS && ls -d uncore_imc_[0-9]*)
}

other_units() {
	for pmu in "$PMUS"/uncore_*; do
		case $pmu in
		*/uncore_imc_[0-9]*) ;;
		*) basename "$pmu" ;;
		esac
	done
}

test_other_units_stay_with_the_in_tree_driver() {
	others=$(other_units) all=$(channels)
	contains "others" "$others" '^uncore_ubox'
	rmmod intel_uncore
	insmod $MODULES/pmu_core.ko
	insmod $MODULES/intel_imc_pmu.ko
	modprobe intel-uncore
	equal "others" "$(other_units)" "$others"
	equal "channels" "$(channels)" "$all"
	for pmu in $all; do
		channel=imc${pmu#uncore_imc_}
		pmu-model list | grep -q "^$channel@0 " || continue
		equal "$pmu" "$(pmu-event "$pmu:0x304" -x "pmu-model add $channel@0 cas_rd 7")" 7
	done
	equal "functions of ours" "$(ls -d $DRIVER/0000:* | wc -l)" $((2 * $(echo "$all" | wc -l)))
	rmmod intel_imc_pmu
	rmmod pmu_core
	rmmod intel_uncore
	modprobe intel-uncore
	equal "others" "$(other_units)" "$others"
	equal "channels" "$(channels)" "$all"
}

run_tests
