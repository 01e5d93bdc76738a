#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's metric of bandwidth, which looks for the in-tree driver's names and events.
#
# vm: --kernel 6.12 --driver 'ours in-tree' --model 'hswep bdxep skx'
. ./intel_imc/lib.sh

# A metric of perf's for this processor: a million lines of 64 bytes, per second that passed.
test_bandwidth_metric() {
	perf stat -x, -a -M memory_bandwidth_total -- \
		sh -c 'pmu-model add imc0 cas_rd 600000; pmu-model add imc1 cas_wr 400000; sleep 1' > /tmp/said 2>&1
	sed -n 's/^\([0-9]*\),ns,duration_time,.*/\1/p' /tmp/said > /tmp/ns
	sed -n 's/.*,\([0-9.]*\),MB\/s  memory_bandwidth_total$/\1/p' /tmp/said > /tmp/rate
	megabytes=$(awk -v ns="$(cat /tmp/ns)" -v rate="$(cat /tmp/rate)" 'BEGIN { print int(ns * rate / 1e9 + 0.5) }')
	# perf's two clocks, the printed one and the metric's, start some ms apart.
	within "megabytes" "$megabytes" 55 75
}

run_tests
