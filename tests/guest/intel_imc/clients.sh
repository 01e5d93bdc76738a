#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tools that look for the in-tree driver's names: perf's own event tables and PAPI, which
# goes through libpfm4.
#
# vm: --kernel '6.1 6.12' --driver 'ours in-tree' --model snbep
. ./lib.sh

# perf's table for this processor, by the event's name in Intel's list.
test_perf_event_table() {
	out=$(perf stat -x, -a -e unc_m_cas_count.rd,unc_m_cas_count.wr -- \
		sh -c 'pmu-model add imc0 cas_rd 1000; pmu-model add imc3 cas_rd 500; pmu-model add imc1 cas_wr 70' 2>&1)
	contains "reads" "$out" '^1500,.*unc_m_cas_count.rd'
	contains "writes" "$out" '^70,.*unc_m_cas_count.wr'
}

# PAPI's window is short and its program does not run ours in it: events come all the time,
# a thousand at once, until some fell into a window.
test_papi() {
	touch /tmp/storm
	(while [ -e /tmp/storm ]; do pmu-model add imc0 cas_rd 1000; done) &
	for _ in $(seq 50); do
		said=$(papi_command_line snbep_unc_imc0::UNC_M_CAS_COUNT:RD:cpu=0)
		contains "PAPI" "$said" 'Successfully added'
		got=$(echo "$said" | sed -n 's/^snbep_unc_imc0.*:[[:space:]]*\([0-9]*\)[[:space:]]*$/\1/p')
		[ "$got" -gt 0 ] && break
	done
	rm /tmp/storm
	wait
	[ "$got" -gt 0 ]
	equal "rest of $got by 1000" $((got % 1000)) 0
}

run_tests
