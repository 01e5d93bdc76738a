#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's metric of read latency, which only Skylake's and Cascade Lake's tables have: before,
# the queues' occupancy cannot be counted.
#
# vm: --kernel 6.12 --driver 'ours in-tree' --model 'skx clx'
. ./intel_imc/lib.sh

# The metric that wants a PMU of the very name uncore_imc_0: 20 reads, 100 clocks in the queue each.
test_latency_metric() {
	said=$(perf stat -x, -a -M tma_info_system_mem_dram_read_latency -- \
		sh -c 'pmu-model add imc0 rpq_inserts 20; pmu-model add imc0 rpq_occupancy 100 20; sleep 0.2' 2>&1)
	contains "inserts" "$said" '^20,,UNC_M_RPQ_INSERTS'
	contains "occupancy" "$said" '^2000,,UNC_M_RPQ_OCCUPANCY'
	# perf's clock is that of all channels of all the time, so the metric itself is not round.
	contains "metric" "$said" ',[0-9]+\.[0-9]+,tma_info_system_mem_dram_read_latency'
}

run_tests
