#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What nest events count, on two chips. The in-tree driver cannot be the referee: it reads a chip's
# counters through the linear map, where on this machine they are not, and the kernel oopses.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver ours --model power9,chips=2
. ./power_imc/lib.sh

READS=0xd0	# PM_MCS01_128B_RD_DISP_PORT01
WRITES=0xd8

test_cpumask_has_a_cpu_of_each_chip() {
	equal "cpumask" "$(cat $PMUS/nest_mcs01_imc/cpumask)" 0,2
}

test_nothing_is_nothing() {
	equal "counts" "$(pmu-event nest_mcs01_imc:$READS nest_mcs01_imc:$WRITES -x 'pmu-model set nest@0 flush 1')" "0 0"
}

test_counts_exactly() {
	got=$(pmu-event nest_mcs01_imc:$READS nest_mcs01_imc:$WRITES nest_phb0_imc:0x340 -x "$(imc_add nest@0 $READS 7)" \
		-x "$(imc_add nest@0 0x340 1000)" -x "$(imc_add nest@0 $WRITES 3)" | tr '\n' ';')
	equal "counts" "$got" "7 0 0;7 0 1000;7 3 1000;"
}

# Chips are told apart.
test_chips_apart() {
	for cpu in 0 2; do
		got=$(pmu-event --cpu $cpu nest_mcs01_imc:$READS \
			-x "pmu-model set nest@$((cpu / 2)) flush 1; $(imc_add nest@$((cpu / 2)) $READS 1$cpu)")
		equal "chip $((cpu / 2))" "$got" 1$cpu
	done
}

# A line is 128 bytes and a unit of the counter 256 of them, which perf multiplies in.
test_perf_stat_per_socket() {
	out=$(perf stat -x, -a --per-socket -e nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/ -- \
		sh -c "$(imc_add nest@0 $READS 1000); $(imc_add nest@1 $READS 50)" 2>&1)
	contains "chip 0" "$out" '^S0,1,256000,,nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/'
	contains "chip 1" "$out" '^S1,1,12800,,nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/'
	out=$(perf stat -x, -a -e nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/ -- \
		sh -c "$(imc_add nest@0 $READS 1000); $(imc_add nest@1 $READS 50)" 2>&1)
	contains "both" "$out" '^268800,,nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/'
}

# A unit, and a scale of its own in another notation than its sisters'.
test_scale_and_unit() {
	out=$(perf stat -x, -C 0 -e nest_xlink0_imc/PM_XLINK0_OUT_ODD_DATA_COUNT/ -- sh -c "$(imc_add nest@0 0x148 2)" 2>&1)
	contains "flits" "$out" '^8192(\.00)?,flits,nest_xlink0_imc/PM_XLINK0_OUT_ODD_DATA_COUNT/'
}

# Across two groups of counters that are posted apart.
test_group() {
	got=$(pmu-event --group nest_mcs01_imc:$READS nest_mcs01_imc:$WRITES nest_mcs01_imc:0xc8 \
		-x "$(imc_add nest@0 $READS 5)" -x "$(imc_add nest@0 $WRITES 6)" | tr '\n' ';')
	equal "group" "$got" "5 0 0;5 6 0;"
}

# An even stream of ten million events a second at every counter, for as long as perf counted.
test_traffic() {
	pmu-model set nest@0 traffic 10000000
	out=$(perf stat -x, -C 0 -e nest_mcs01_imc/event=$READS/ -e nest_powerbus0_imc/event=0x80/ -- sleep 1 2>&1)
	pmu-model set nest@0 traffic 0
	for event in mcs01 powerbus0; do
		line=$(echo "$out" | grep "nest_$event")
		count=$(echo "$line" | cut -d, -f1) ns=$(echo "$line" | cut -d, -f4)
		within "$event, permille" $((count * 1000 / (ns / 100))) 980 1020
	done
}

# The microcode runs from the first event on a chip to the last one's end: two PMUs share it, and
# nobody else's chip is touched.
test_microcode_runs_while_needed() {
	pmu-model set nest@0 flush 1 2> /dev/null || :
	starts=$(pmu-model get nest@0 starts) stops=$(pmu-model get nest@0 stops)
	pmu-event --cpu 0 nest_mcs01_imc:$READS nest_mcs23_imc:0x50 nest_phb0_imc:0x338 -x 'pmu-model set nest@0 flush 1
		pmu-event --cpu 1 nest_nx_imc:0x3f8
		pmu-model get nest@0 status > /tmp/status; pmu-model get nest@1 status >> /tmp/status' > /dev/null
	equal "status of both while open" "$(tr '\n' ' ' < /tmp/status)" "1 2 "
	eventually "status afterwards" 2 pmu-model get nest@0 status
	equal "resumed" $(($(pmu-model get nest@0 starts) - starts)) 1
	equal "paused" $(($(pmu-model get nest@0 stops) - stops)) 1
}

# What is behind the counters says how it is.
test_debugfs() {
	contains "nest" "$(cat /sys/kernel/debug/power_imc_pmu/nest)" '^chip 0 at 0x203ffd980000: paused, .*users 0, torn [0-9]+$'
	contains "nest" "$(cat /sys/kernel/debug/power_imc_pmu/nest)" '^chip 1 at 0x203ffdd80000: paused, .*users 0, torn [0-9]+$'
	contains "events" "$(cat /sys/kernel/debug/power_imc_pmu/events/nest_xlink0_imc)" \
		'^PM_XLINK0_OUT_ODD_DATA_COUNT event=0x148 scale=4.096e3 unit=flits$'
}

run_tests
