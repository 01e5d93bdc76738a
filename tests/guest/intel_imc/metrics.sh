#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's metrics of memory, which look for the in-tree driver's names and events.
#
# vm: --kernel 6.12 --driver 'ours in-tree' --model 'hswep bdxep skx'
. ./lib.sh

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

# The metric that wants a PMU of the very name uncore_imc_0: 20 reads, 100 clocks in the queue each.
test_latency_metric() {
	# Haswell's and Broadwell's tables have no such metric: their queues' occupancy cannot be counted.
	[ "$(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo)" = 85 ] || return 0
	said=$(perf stat -x, -a -M tma_info_system_mem_dram_read_latency -- \
		sh -c 'pmu-model add imc0 rpq_inserts 20; pmu-model add imc0 rpq_occupancy 100 20; sleep 0.2' 2>&1)
	contains "inserts" "$said" '^20,,UNC_M_RPQ_INSERTS'
	contains "occupancy" "$said" '^2000,,UNC_M_RPQ_OCCUPANCY'
	# perf's clock is that of all channels of all the time, so the metric itself is not round.
	contains "metric" "$said" ',[0-9]+\.[0-9]+,tma_info_system_mem_dram_read_latency'
}

run_tests
