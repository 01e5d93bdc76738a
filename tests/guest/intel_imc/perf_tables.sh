#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# perf's own events and metrics for every generation: each event can be counted, our names mean the
# same, and metrics find what they look for. perf of 6.1 has no such list.
#
# all vm: --kernel 6.12 --driver ours --model 'ivbep,sockets=2 hswep,sockets=2 bdxep,sockets=2 bdxde,sockets=2 skx,sockets=2 clx,sockets=2 icx,sockets=2'
# kernels vm: --kernel 6.12 --driver in-tree --model 'ivbep,sockets=2 hswep,sockets=2 bdxep,sockets=2 bdxde,sockets=2 skx,sockets=2 clx,sockets=2 icx,sockets=2'
# all vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4
# kernels vm: --kernel 6.12 --driver in-tree --model snbep,sockets=2 --cpus 4
# all vm: --kernel 6.12 --driver ours --model 'spr,sockets=2 gnr,sockets=2'
. ./intel_imc/lib.sh

# What perf's own table for this processor has of the memory controllers: NAME EVENT UMASK, two digits
# each. Two rows are calculated from others.
perf_table() {
	perf list -j pmu | awk -F'"' '
		$2 == "EventName" { name = $4 }
		$2 == "Encoding" && $4 ~ /^uncore_imc\// { print name, $4 }' |
	sed '/pmm_bandwidth.total/d; /pmm_read_latency/d; s|^uncore_imc_[0-9]*/\(.*\)/ |\1 |' | event_and_umask | sort -u
}

# "NAME ...event=0x4,umask=0x3..." and the like, without a umask too, to "NAME 04 03"
event_and_umask() {
	sed 's|[^ ]*event=\([0-9a-fx]*\),umask=\([0-9a-fx]*\).*|\1 \2|
	     s|[^ ]*event=\([0-9a-fx]*\).*|\1 0|
	     s| 0x| |g; s| \(.\) | 0\1 |; s| \(.\)$| 0\1|'
}

# Each row of it can be counted.
test_perf_table_opens() {
	perf_table > /tmp/table
	within "rows" "$(wc -l < /tmp/table)" 40 600
	equal "refused" "$(sed 's/.* \(..\) \(..\)$/uncore_imc_0:0x\2\1/' /tmp/table | sort -u |
		xargs -n 60 pmu-event)" ""
}

# And each row has a name of ours that means the same, which is the in-tree driver's for some and one name
# for all sub-events, but for some hundred events of ranks and banks, and the clock, whose names say fixed
# here and general there. The in-tree driver has three names.
test_perf_table_means_the_same() {
	sed 's/^unc_m_//; /^\(rd\|wr\)_cas_rank[0-9]/d; /^d\?clockticks/d
	     s/^cas_count.rd /cas_count_read /; s/^llc_misses.mem_read /cas_count_read /
	     s/^cas_count.wr /cas_count_write /; s/^llc_misses.mem_write /cas_count_write /
	     s/^cas_count.all /cas_count /
	     s/^pmm_bandwidth.read /pmm_rpq_inserts /; s/^pmm_bandwidth.write /pmm_wpq_inserts /' \
		/tmp/table | tr . _ > /tmp/rows
	within "rows" "$(wc -l < /tmp/rows)" 40 250
	(cd "$PMUS/uncore_imc_0/events" && grep -H event= ./*) | sed 's|^./\([^:]*\):|\1 |' |
		event_and_umask > /tmp/named
	if [ $driver = ours ]; then
		equal "rows without a name that means the same" "$(grep -vFxf /tmp/named /tmp/rows || :)" ""
	else
		equal "rows with a name" "$(grep -Fxf /tmp/named /tmp/rows | sort -u | wc -l)" 2
	fi
}

# perf's metric of bandwidth: a million lines of 64 bytes a second are 0.064 GB/s. The second is perf's,
# which is not shorter than the command takes, and not longer than perf.
test_bandwidth_metric() {
	! grep -q '^model[[:space:]]*: 173$' /proc/cpuinfo || skip "perf's metric takes four counters, two of each kind"
	start=$(cut -d' ' -f1 /proc/uptime)
	said=$(perf stat -x, -a -M tma_info_system_dram_bw_use -- \
		sh -c 'pmu-model add imc0 cas_rd 600000000; pmu-model add imc1 cas_wr 400000000; sleep 0.5' 2>&1)
	end=$(cut -d' ' -f1 /proc/uptime)
	contains "reads" "$said" '^600000000,,(UNC_M_CAS_COUNT.RD|unc_m_cas_count.rd)'
	contains "writes" "$said" '^400000000,,(UNC_M_CAS_COUNT.WR|unc_m_cas_count.wr)'
	rate=$(echo "$said" | sed -n 's/.*,\([0-9.]*\),tma_info_system_dram_bw_use$/\1/p')
	awk -v rate="$rate" -v start="$start" -v end="$end" 'BEGIN {
		if (rate <= 64 / 0.5 && rate >= 64 / (end - start + 0.02) - 0.05)
			exit 0
		print "rate " rate " GB/s, with perf running from " start " to " end
		exit 1
	}'
}

# perf's metric of latency is for Skylake and Cascade Lake, whose queues' occupancy can be counted, and
# wants a PMU of the very name uncore_imc_0: 20 reads, 100 clocks in the queue each. perf's clock is that of all the time, so the metric
# itself is not round. From Ice Lake on the metric wants counters of the caches, which the model lacks.
test_latency_metric() {
	! grep -qE '^model[[:space:]]*: (106|143|173)$' /proc/cpuinfo || skip "perf's metric is one of CHA"
	said=$(perf stat -x, -a -M tma_info_system_mem_dram_read_latency -- \
		sh -c 'pmu-model add imc0 rpq_inserts 20; pmu-model add imc0 rpq_occupancy 100 20' 2>&1 || :)
	if grep -q '^model[[:space:]]*: 85$' /proc/cpuinfo; then
		contains "inserts" "$said" '^20,,UNC_M_RPQ_INSERTS'
		contains "occupancy" "$said" '^2000,,UNC_M_RPQ_OCCUPANCY'
		contains "metric" "$said" ',[0-9]+\.[0-9]+,tma_info_system_mem_dram_read_latency'
	else
		contains "perf" "$said" 'Cannot find metric'
	fi
}

run_tests
