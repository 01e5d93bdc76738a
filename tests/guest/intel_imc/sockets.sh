#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Eight sockets, as many as the map of a UBOX has room for: each socket's channels count for its CPU alone, and the last
# CPU of one leaves with an event open.
#
# all vm: --kernel 6.12 --driver ours --model gnr,sockets=8 --timeout 900
# kernels vm: --kernel 6.12 --driver ours --model icx,sockets=8 --timeout 900
. ./intel_imc/lib.sh
trap as_it_was EXIT

MODEL=$(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo)
if [ "$MODEL" = 106 ]; then READS=0xf04 LAST=10 CHANNELS=8; else READS=0xcf05 LAST=11 CHANNELS=12; fi

test_every_socket_has_all_channels() {
	equal "PMUs" "$(find "$PMUS/" -name 'uncore_imc_[0-9]*' | wc -l)" $CHANNELS
	for pmu in "$PMUS"/uncore_imc_[0-9]*; do
		equal "${pmu##*/}" "$(cat "$pmu/cpumask")" 0-7
	done
}

test_each_socket_counts_its_own() {
	for socket in 0 1 2 3 4 5 6 7; do
		adds="${adds:-}pmu-model add imc$LAST@$socket cas_rd $((socket + 5));"
	done
	out=$(perf stat -a --per-socket -x, -e "uncore_imc_$LAST/config=$READS/" -- sh -c "$adds" 2>&1)
	for socket in 0 1 2 3 4 5 6 7; do
		contains "socket $socket" "$out" "^S$socket,1,$((socket + 5)),"
	done
}

test_last_cpu_of_a_socket() {
	equal "count" "$(pmu-event --cpu 7 uncore_imc_0:$READS -x 'pmu-model add imc0@7 cas_rd 7' \
		-x 'echo 0 > /sys/devices/system/cpu/cpu7/online' | xargs)" "7 7"
	equal "cpumask" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0-6
	cpu_online 7 1
	equal "and again" "$(pmu-event --cpu 7 uncore_imc_0:$READS -x 'pmu-model add imc0@7 cas_rd 8')" 8
}

run_tests
