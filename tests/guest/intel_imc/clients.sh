#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tools that look for the in-tree driver's names: perf's own event tables, metrics and tests,
# and PAPI, which goes through libpfm4. The in-tree driver must do as well as ours.
#
# vm: --kernel '6.1 6.12' --driver 'ours in-tree' --model snbep --cpus 2
# vm: --kernel 6.12 --driver 'ours in-tree' --model 'hswep bdxep skx' --cpus 2
. ./lib.sh

# perf's table for this processor, by the event's name in Intel's list.
test_perf_event_table() {
	out=$(perf stat -x, -a -e unc_m_cas_count.rd,unc_m_cas_count.wr -- \
		sh -c 'pmu-model add imc0 cas_rd 1000; pmu-model add imc3 cas_rd 500; pmu-model add imc1 cas_wr 70' 2>&1)
	contains "reads" "$out" '^1500,.*unc_m_cas_count.rd'
	contains "writes" "$out" '^70,.*unc_m_cas_count.wr'
}

# A metric of perf's for this processor: a million lines of 64 bytes, per second that passed.
test_bandwidth_metric() {
	perf list --raw-dump metric 2> /dev/null | grep -qw memory_bandwidth_total ||
		skip "perf has no bandwidth metric for this processor"
	perf stat -x, -a -M memory_bandwidth_total -- \
		sh -c 'pmu-model add imc0 cas_rd 600000; pmu-model add imc1 cas_wr 400000; sleep 0.3' > /tmp/said 2>&1
	sed -n 's/^\([0-9]*\),ns,duration_time,.*/\1/p' /tmp/said > /tmp/ns
	sed -n 's/.*,\([0-9.]*\),MB\/s  memory_bandwidth_total$/\1/p' /tmp/said > /tmp/rate
	megabytes=$(awk -v ns="$(cat /tmp/ns)" -v rate="$(cat /tmp/rate)" 'BEGIN { print int(ns * rate / 1e9 + 0.5) }')
	within "megabytes" "$megabytes" 63 65
}

# The metric that wants a PMU of the very name uncore_imc_0: 20 reads, 100 clocks in the queue each.
test_latency_metric() {
	perf list --raw-dump metric 2> /dev/null | grep -qw tma_info_system_mem_dram_read_latency ||
		skip "perf has no latency metric for this processor"
	said=$(perf stat -x, -a -M tma_info_system_mem_dram_read_latency -- \
		sh -c 'pmu-model add imc0 rpq_inserts 20; pmu-model add imc0 rpq_occupancy 100 20; sleep 0.2' 2>&1)
	contains "inserts" "$said" '^20,,UNC_M_RPQ_INSERTS'
	contains "occupancy" "$said" '^2000,,UNC_M_RPQ_OCCUPANCY'
	# perf's clock is that of all channels of all the time, so the metric itself is not round.
	contains "metric" "$said" ',[0-9]+\.[0-9]+,tma_info_system_mem_dram_read_latency'
}

# perf's own tests of event tables, names and formats. "perf all PMU test" is a script that
# Debian does not ship, so that is what test_perf_takes_every_name in events.sh does.
test_perf_test() {
	perf test list 2>&1 | sed -n \
		's/^ *\([0-9]*\): \(PMU events\|PMU JSON event tests\|Parse event definition strings\|Parse perf pmu format\|Sysfs PMU tests\)$/\1/p' \
		> /tmp/numbers
	equal "tests found" "$(wc -l < /tmp/numbers)" 3
	# shellcheck disable=SC2046 # a list
	perf test $(cat /tmp/numbers) > /tmp/said 2>&1
	within "tests passed" "$(grep -c ': Ok$' /tmp/said)" 7 50
	equal "tests failed" "$(grep -c 'FAILED' /tmp/said || :)" 0
}

# PAPI's window is short and its program does not run ours in it: events come all the time,
# a thousand at once, until some fell into a window.
test_papi() {
	case $(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo) in
	45) pmu=snbep_unc_imc0 ;;
	63) pmu=hswep_unc_imc0 ;;
	79) pmu=bdx_unc_imc0 ;;
	85) pmu=skx_unc_imc0 ;;
	esac
	touch /tmp/storm
	(while [ -e /tmp/storm ]; do pmu-model add imc0 cas_rd 1000; done) &
	for _ in $(seq 20); do
		said=$(papi_command_line $pmu::UNC_M_CAS_COUNT:RD:cpu=0)
		contains "PAPI" "$said" 'Successfully added'
		got=$(echo "$said" | sed -n 's/^[a-z]*_unc_imc0.*:[[:space:]]*\([0-9]*\)[[:space:]]*$/\1/p')
		[ "$got" -gt 0 ] && break
	done
	rm /tmp/storm
	wait
	[ "$got" -gt 0 ]
	equal "rest of $got by 1000" $((got % 1000)) 0
}

run_tests
