#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tools that look for the in-tree driver's names: perf's own event tables and tests,
# and PAPI, which goes through libpfm4. The in-tree driver must do as well as ours.
#
# all vm: --tools --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4
# soak vm: --tools --kernel 6.12 --driver in-tree --model snbep,sockets=2 --cpus 4
# soak vm: --tools --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4
. ./intel_imc/lib.sh

# perf's table for this processor, by the event's name in Intel's list.
test_perf_event_table() {
	out=$(perf stat -x, -a -e unc_m_cas_count.rd,unc_m_cas_count.wr -- \
		sh -c 'pmu-model add imc0 cas_rd 1000; pmu-model add imc3 cas_rd 500; pmu-model add imc1 cas_wr 70' 2>&1)
	contains "reads" "$out" '^1500,.*unc_m_cas_count.rd'
	contains "writes" "$out" '^70,.*unc_m_cas_count.wr'
}

# perf's own tests of event tables, names and formats. "perf all PMU test" is a script that
# Debian does not ship, so that is what test_perf_takes_every_name in events.sh does.
test_perf_test() {
	perf test list 2>&1 | sed -n \
		's/^ *\([0-9]*\): \(PMU events\|PMU JSON event tests\|Parse event definition strings\|Parse perf pmu format\|Sysfs PMU tests\)$/\1/p' \
		> /tmp/numbers
	equal "tests found" "$(wc -l < /tmp/numbers)" 3
	: > /tmp/said
	while read -r number; do
		perf test -F "$number" >> /tmp/said 2>&1 &
		# What comes behind that one is metrics of all processors, which take minutes. They are as good without any PMU
		# of memory channels.
		while kill -0 $! 2> /dev/null &&
		      ! sed -n '/PMU event map aliases  *:/,$p' /tmp/said | grep -Eq '(Ok|FAILED!|\))$'; do
			sleep 0.1
		done
		kill $! 2> /dev/null || :
		wait $! 2> /dev/null || :
	done < /tmp/numbers
	within "tests passed" "$(grep -c ' Ok$' /tmp/said)" 7 50
	equal "tests failed" "$(grep -c 'FAILED' /tmp/said || :)" 0
}

# PAPI runs no program of ours in its window. But a counter moves only while an event is on it, so what
# PAPI says of the clock is at most by how much it moved: PAPI reads, then stops it.
test_papi() {
	before=$(counts_from imc0 fixed)
	said=$(papi_command_line snbep_unc_imc0::UNC_M_CLOCKTICKS:cpu=0)
	contains "PAPI" "$said" 'Successfully added'
	got=$(echo "$said" | sed -n 's/^[a-z]*_unc_imc0.*:[[:space:]]*\([0-9]*\)[[:space:]]*$/\1/p')
	within "clocks" "$got" 1 $(($(pmu-model get imc0 fixed) - before))
}

run_tests
