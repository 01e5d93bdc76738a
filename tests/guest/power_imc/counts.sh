#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What core and thread events count: exact numbers, on our driver and, as the referee, on the
# in-tree one.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver 'ours in-tree' --model power9
. ./power_imc/lib.sh

INST=0x118	# CPM_1THRD_NON_IDLE_INST: at these offsets the model counts nothing by itself
USER_CYC=0x1018
LAST=0x1fd8	# the last that the catalog names
TASK_INST=0x798	# CPM_MSR_TA_USER_INST
TASK_CYC=0x7a0

test_nothing_is_nothing() {
	equal "counts" "$(pmu-event core_imc:$INST core_imc:$LAST -x 'pmu-model set core0@0 flush 1')" "0 0"
}

# An exact number at each of several offsets, and none at a neighbour's.
test_core_counts_exactly() {
	got=$(pmu-event core_imc:$INST core_imc:$USER_CYC core_imc:$LAST -x "$(imc_add core0@0 $INST 7)" \
		-x "$(imc_add core0@0 $LAST 1000)" -x "$(imc_add core0@0 $USER_CYC 3)" | tr '\n' ';')
	equal "counts" "$got" "7 0 0;7 0 1000;7 3 1000;"
}

# A unit of the counter is 512 events, which perf multiplies in.
test_perf_stat_scales() {
	out=$(perf stat -x, -a -e core_imc/CPM_1THRD_NON_IDLE_INST/ -- sh -c "$(imc_add core0@0 $INST 1000)" 2>&1)
	contains "perf stat" "$out" '^512000,,core_imc/CPM_1THRD_NON_IDLE_INST/'
}

# An offset can be asked for by two other names of the same bits.
test_perf_takes_the_formats() {
	out=$(perf stat -x, -a -e core_imc/event=$INST/ -e core_imc/offset=$INST/ -- \
		sh -c "$(imc_add core0@0 $INST 9)" 2>&1)
	equal "events that counted 9" "$(echo "$out" | grep -c '^9,,core_imc/')" 2
}

# All of a group count the same interval.
test_core_group() {
	got=$(pmu-event --group core_imc:$INST core_imc:$USER_CYC core_imc:$LAST -x "$(imc_add core0@0 $USER_CYC 5)" \
		-x "$(imc_add core0@0 $INST 6)" | tr '\n' ';')
	equal "group" "$got" "0 5 0;6 5 0;"
}

# perf -I: each interval has what came in it, and together it is all.
test_intervals() {
	perf stat -x, -C 0 -I 200 -e core_imc/event=$INST/ -- sh -c "for _ in 1 2 3 4 5; do
		$(imc_add core0@0 $INST 100); sleep 0.15; done" > /tmp/said 2>&1
	equal "sum" "$(awk -F, '{ sum += $2 } END { print sum }' /tmp/said)" 500
	within "intervals with something in them" "$(awk -F, '$2 > 0' /tmp/said | wc -l)" 2 5
}

# 32 MHz for as long as perf says that the event was counted.
test_core_clock() {
	out=$(perf stat -x, -C 0 -e core_imc/CPM_32MHZ_CYC/ -- sleep 1 2>&1)
	count=$(echo "$out" | cut -d, -f1) ns=$(echo "$out" | cut -d, -f4)
	within "permille of 32 MHz" $((count * 1000 / (ns * 32 / 1000))) 985 1015
}

# What came while the event was disabled is not counted.
test_disabled() {
	got=$(pmu-event --disabled core_imc:$INST core_imc:$USER_CYC -x "$(imc_add core0@0 $INST 5)" -x @enable \
		-x "$(imc_add core0@0 $INST 70)" -x @disable -x "$(imc_add core0@0 $INST 900)" | tr '\n' ';')
	equal "counts" "$got" "0 0;0 0;70 0;70 0;70 0;"
}

# A command's own events, wherever it runs, and not those of the time when another task runs.
test_thread_counts_the_task() {
	got=$(pmu-event --pid 0 --cpu -1 --inherit thread_imc:$TASK_INST thread_imc:$TASK_CYC \
		-x "$(imc_thread_add 0 $TASK_INST 7)" -x "$(imc_thread_add 1 $TASK_INST 1000)" \
		-x "$(imc_thread_add 1 $TASK_CYC 3)" | tr '\n' ';')
	equal "counts" "$got" "7 0;1007 0;1007 3;"
	fails pmu-model add thread0@0 $TASK_INST 1 2> /tmp/said
	contains "nobody is counted" "$(cat /tmp/said)" 'counts nothing'
}

test_thread_perf_stat() {
	out=$(perf stat -x, -e thread_imc/CPM_MSR_TA_USER_INST/ -- taskset -c 1 pmu-model add thread1@0 $TASK_INST 1000 2>&1)
	contains "perf stat" "$out" '^512000,,thread_imc/CPM_MSR_TA_USER_INST/'
}

# Two tasks, each with an event of its own: neither sees the other's.
test_thread_tasks_apart() {
	pmu-event --pid 0 --cpu -1 --inherit thread_imc:$TASK_INST -x "$(imc_thread_add 0 $TASK_INST 11); sleep 0.5
		$(imc_thread_add 0 $TASK_INST 11)" > /tmp/first &
	pmu-event --pid 0 --cpu -1 --inherit thread_imc:$TASK_INST -x "sleep 0.2; $(imc_thread_add 0 $TASK_INST 500)" \
		> /tmp/second
	wait
	equal "the first" "$(cat /tmp/first)" 22
	equal "the second" "$(cat /tmp/second)" 500
}

# With the last event closed the engine is off and no thread points to memory.
test_off_when_closed() {
	equal "while an event is open" "$(pmu-event core_imc:$INST -x 'pmu-model get core0@0 running >&2' 2>&1 | head -n 1)" 1
	eventually "engine" 0 pmu-model get core0@0 running
	equal "modes of the threads" "$(pmu-model get 'thread*' mode | sed 's/.* //' | tr '\n' ' ')" "0 0 "
	equal "checkstops" "$(pmu-model get core0@0 checkstop)" 0
}

run_tests
