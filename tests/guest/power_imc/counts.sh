#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What core and thread events count: exact numbers, on our driver and, as the referee, on the
# in-tree one.
#
# vm: --arch ppc64le --kernel 6.12 --driver 'ours in-tree' --model power9
# all vm: --arch ppc64le --kernel 6.1 --driver ours --model power9
# kernels vm: --arch ppc64le --kernel 6.1 --driver in-tree --model power9
. ./power_imc/lib.sh

USER_CYC=0x1018	# at these offsets, too, the model counts nothing by itself
LAST=0x1fd8	# the last that the catalog names
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

# What a core has counted while its engine was off, if it does, is not the next event's. The in-tree driver counts it.
test_core_counts_from_its_start() {
	[ -e "$DEBUG" ] || skip "not our driver"
	trap 'pmu-model set core0@0 through 0; pmu-model set core0@0 period 1000000' EXIT
	pmu-model set core0@0 through 1
	pmu-model set core0@0 period 8000000
	pmu-event core_imc:$INST -x true > /tmp/said
	eventually "engine" 0 pmu-model get core0@0 running
	pmu-model add core0@0 $INST 9
	equal "counts" "$(pmu-event core_imc:$INST -x "$(imc_add core0@0 $INST 7)")" 7
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
	cat > /tmp/add <<-EOT
		for n in 1 2 3; do
			$(imc_add core0@0 $INST 100)
			for _ in \$(seq 1000); do
				[ "\$(awk -F, '\$2 > 0' /tmp/said | wc -l)" = \$n ] && break
				sleep 0.02
			done
		done
	EOT
	rm -f /tmp/said
	perf stat -x, -C 0 -I 50 -o /tmp/said -e core_imc/event=$INST/ -- sh /tmp/add
	equal "what was in intervals with something in them" "$(awk -F, '$2 > 0 { printf "%s ", $2 }' /tmp/said)" "100 100 100 "
}

# What counts by itself, in units: bracket OFFSET COMMAND FACTOR DIVISOR, where the command tells how far it is, of
# which FACTOR / DIVISOR are a unit. Each count is of a post between the command before it and the one after it.
bracket() {
	pmu-event core_imc:"$1" -x "$2 > /tmp/0; pmu-model set core0@0 flush 1" \
		-x "$2 > /tmp/1; sleep 0.2; $2 > /tmp/2; pmu-model set core0@0 flush 1" > /tmp/counts
	eval "$2" > /tmp/3
	units=$(($(tail -n 1 /tmp/counts) - $(head -n 1 /tmp/counts)))
	least=$((($(cat /tmp/2) - $(cat /tmp/1)) * $3 / $4)) most=$((($(cat /tmp/3) - $(cat /tmp/0)) * $3 / $4))
	show "$units units, of $least to $most"
	within "units" $units $((least - 1)) $((most + 1))
}

# 32 MHz, in units of 512.
test_core_clock() {
	bracket 0xa0 "$NOW" 32 512000
}

# Of both threads.
test_core_instructions() {
	bracket 0x28 "pmu-model get 'thread*' instructions | awk '{ sum += \$NF } END { print sum }'" 1 512
}

# What came while the event was disabled is not counted.
test_disabled() {
	got=$(pmu-event --disabled core_imc:$INST core_imc:$USER_CYC -x "$(imc_add core0@0 $INST 5)" -x @enable \
		-x "$(imc_add core0@0 $INST 70)" -x @disable -x "$(imc_add core0@0 $INST 900)" | tr '\n' ';')
	equal "counts" "$got" "0 0;0 0;70 0;70 0;70 0;"
}

# A command's own events, wherever it runs, and not those of the time when another task runs.
test_thread_counts_the_task() {
	got=$(imc_thread_event thread_imc:$TASK_CYC \
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
	rm -f /tmp/begun /tmp/between
	imc_thread_event -x "$(imc_thread_add 0 $TASK_INST 11); touch /tmp/begun
		sh power_imc/await /tmp/between; $(imc_thread_add 0 $TASK_INST 11)" > /tmp/first &
	imc_thread_event -x "sh power_imc/await /tmp/begun; $(imc_thread_add 0 $TASK_INST 500)
		touch /tmp/between" > /tmp/second
	wait
	equal "the first" "$(cat /tmp/first)" 22
	equal "the second" "$(cat /tmp/second)" 500
}

# What has counted most may not count now. The other counters say that nothing is missing where counting ends.
test_a_counter_that_stands() {
	[ -e "$DEBUG" ] || skip "not our driver"
	# Each CPU looks only the first times.
	load
	imc_thread_event -x "$(imc_thread_add 0 $TASK_INST $((1 << 40)))" > /tmp/said
	for _ in 1 2 3 4 5 6 7 8; do
		imc_thread_event -x 'taskset -c 0 sleep 0.01' > /tmp/said
	done
	equal "what the log says" "$(log_since_mark | grep 'power_imc.*LDBAR')" ""
}

# LDBAR of a thread that counts is lost, again and again, or is that of the whole core: the log says so once for each time
# that events are opened.
test_ldbar_that_is_lost() {
	[ -e "$DEBUG" ] || skip "not our driver"
	trap 'pmu-model set core0@0 shares 0' EXIT
	log_mark
	lose="taskset -c 0 pmu-model set thread0@0 ldbar 0"
	for _ in 1 2; do
		equal "counts" "$(imc_thread_event -x "$(imc_thread_add 0 $TASK_INST 5); $lose" \
			-x "$lose; $(imc_thread_add 0 $TASK_INST 6)" | tr '\n' ' ')" "5 11 "
	done
	equal "times that the log says so" "$(log_since_mark | grep -c 'LDBAR of CPU 0 does not keep what is written to it')" 2
	pmu-model set core0@0 shares 1
	log_mark
	imc_thread_event -x 'taskset -c 0 true; taskset -c 1 true' > /tmp/said
	contains "what the log says" "$(log_since_mark)" 'LDBAR of CPU [01] does not keep what is written to it'
}

# With the last event closed the engine is off and no thread points to memory.
test_off_when_closed() {
	equal "while an event is open" "$(pmu-event core_imc:$INST -x 'pmu-model get core0@0 running >&2' 2>&1 | head -n 1)" 1
	eventually "engine" 0 pmu-model get core0@0 running
	equal "modes of the threads" "$(get_all 'thread*' mode)" "0 0 "
	equal "checkstops" "$(pmu-model get core0@0 checkstop)" 0
}

run_tests
