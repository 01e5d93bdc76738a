#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What cannot be counted is refused with the errno that perf explains, and what was refused leaves
# nothing behind. Most of this the in-tree driver accepts, or forgets to give back.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9
# kernels vm: --arch ppc64le --kernel 6.1 --driver ours --model power9
. ./power_imc/lib.sh

# Nothing is open: soon no engine is on, no thread points to memory, and each kind can be opened.
nothing_is_left() {
	eventually "engine" 0 pmu-model get core0@0 running
	equal "users" "$(cat $DEBUG/engines)" "core of cpu 0: users 0 restarts 0"
	equal "core event" "$(pmu-event core_imc:$INST -x "$(imc_add core0@0 $INST 2)")" 2
	equal "modes of the threads" "$(get_all 'thread*' mode)" "0 0 "
	equal "thread event" "$(imc_thread_event -x "$(imc_thread_add 0 $TASK_INST 3)")" 3
}

# The 8 bytes of a counter have to be inside: the in-tree driver reads up to 8 bytes behind the page.
test_offset_outside() {
	for offset in 0x2000 0x2008 0xfff8000 0xfffffff8 0xffffffff; do
		equal "core $offset" "$(pmu-event core_imc:$offset)" EINVAL
		equal "thread $offset" "$(pmu-event --pid 0 --cpu -1 thread_imc:$offset)" EINVAL
	done
	for offset in 0x40000 0x40008 0xfffffff8; do
		equal "nest $offset" "$(pmu-event nest_mcs01_imc:$offset)" EINVAL
	done
	equal "the last" "$(pmu-event core_imc:0x1ff8 nest_mcs01_imc:0x3fff8 -x true)" "0 0"
	equal "the last of a thread" "$(pmu-event --pid 0 --cpu -1 thread_imc:0x1ff8 -x true)" 0
}

test_offset_unaligned() {
	for offset in 0x1ff9 0x1ffc 0x1fff 0x119 0x11c; do
		equal "core $offset" "$(pmu-event core_imc:$offset)" EINVAL
		equal "thread $offset" "$(pmu-event --pid 0 --cpu -1 thread_imc:$offset)" EINVAL
		equal "nest $offset" "$(pmu-event nest_mcs01_imc:$offset)" EINVAL
	done
}

# The commands to the microcode are no counters.
test_control_block() {
	for offset in 0x3fc00 0x3fc08 0x3fc28; do
		equal "nest $offset" "$(pmu-event nest_mcs01_imc:$offset)" EINVAL
	done
	equal "before and after it" "$(pmu-event nest_mcs01_imc:0x3fbf8 nest_mcs01_imc:0x3fc30)" ""
}

# The in-tree driver drops these bits and counts something else.
test_reserved_bits() {
	for bits in 0x100000000 0x200000000 0x10000000000 0x20000000000 0x4000000000000000 0x8000000000000000; do
		config=$(printf '%#x' $((bits | 0x118)))
		equal "core $config" "$(pmu-event "core_imc:$config")" EINVAL
		equal "thread $config" "$(pmu-event --pid 0 --cpu -1 "thread_imc:$config")" EINVAL
		equal "nest $config" "$(pmu-event "nest_mcs01_imc:$config")" EINVAL
	done
	equal "config1" "$(pmu-event core_imc:$INST,1)" EINVAL
	equal "config2" "$(pmu-event nest_mcs01_imc:$READS,0,1)" EINVAL
	# perf itself refuses what its kernel does not know yet.
	equal "config3" "$(pmu-event core_imc:$INST,0,0,1)" "$(since 6.3 EINVAL E2BIG)"
	equal "config4" "$(pmu-event core_imc:$INST,0,0,0,1)" "$(since 6.19 EINVAL E2BIG)"
}

test_sampling() {
	equal "core" "$(pmu-event --period 1000 core_imc:$INST)" EINVAL
	equal "nest" "$(pmu-event --period 1000 nest_mcs01_imc:$READS)" EINVAL
	equal "thread" "$(pmu-event --period 1000 --pid 0 --cpu -1 thread_imc:$TASK_INST)" EINVAL
	nothing_is_left
}

# What perf says of a refused trace is about something else: Documentation/symptoms.md.
test_what_perf_says() {
	for options in '--call-graph dwarf' -I; do
		# shellcheck disable=SC2086 # several
		contains "$options" "$(perf record -q -o $DATA $options -e $EVENT -- true 2>&1)" "PMU Hardware doesn't support sampling/overflow-interrupts"
	done
	for term in cpmc_load=100 event=0x10300000; do
		contains "$term" "$(perf record -q -o $DATA -e trace_imc/trace_cycles,$term/ -- true 2>&1)" \
			"Invalid event .* in per-thread mode, enable system wide with '-a'"
	done
}

test_per_task() {
	for cpu in -1 0; do
		equal "core, own task, CPU $cpu" "$(pmu-event --pid 0 --cpu $cpu core_imc:$INST)" EINVAL
		equal "nest, own task, CPU $cpu" "$(pmu-event --pid 0 --cpu $cpu nest_mcs01_imc:$READS)" EINVAL
	done
	nothing_is_left
}

test_thread_without_task() {
	equal "all of CPU 0" "$(pmu-event --cpu 0 thread_imc:$TASK_INST)" EINVAL
	contains "perf stat -a" "$(perf stat -x, -a -e thread_imc/CPM_MSR_TA_USER_INST/ true 2>&1)" '^<not supported>'
	nothing_is_left
}

# Of a task, but only while it is on one CPU.
test_thread_on_one_cpu() {
	got=$(pmu-event --pid 0 --cpu 1 --inherit thread_imc:$TASK_INST -x "$(imc_thread_add 1 $TASK_INST 5)" \
		-x "! $(imc_thread_add 0 $TASK_INST 7) 2> /dev/null" | tr '\n' ' ')
	equal "count" "$got" "5 5 "
}

test_exclude_is_refused() {
	for event in core_imc/event=$INST/u nest_mcs01_imc/event=$READS/k; do
		contains "$event" "$(perf stat -x, -C 0 -e $event true 2>&1)" '^<not supported>'
	done
	contains "thread" "$(perf stat -x, -e thread_imc/event=$TASK_INST/u true 2>&1)" '^<not supported>'
}

# Whatever perf itself allows. Other events are perf's affair alone.
test_thread_without_privilege() {
	before=$(cat /proc/sys/kernel/perf_event_paranoid)
	echo -1 > /proc/sys/kernel/perf_event_paranoid
	said=$(pmu-event --user 65534 --pid 0 --cpu -1 thread_imc:$TASK_INST) || :
	core=$(pmu-event --user 65534 core_imc:$INST -x true) || :
	echo "$before" > /proc/sys/kernel/perf_event_paranoid
	equal "thread event" "$said" EACCES
	equal "core event" "$core" 0
}

# A core and a thread of it use one engine, and only one kind has it at a time. The refused one
# leaves nothing on; the other goes on counting.
test_core_excludes_thread() {
	got=$(pmu-event core_imc:$INST -x "pmu-event --pid 0 --cpu -1 thread_imc:$TASK_INST || :" \
		-x "$(imc_add core0@0 $INST 5)" | tr '\n' ' ')
	equal "refused, counts" "$got" "EBUSY 0 5 "
	nothing_is_left
}

test_thread_excludes_core() {
	got=$(imc_thread_event -x "pmu-event core_imc:$INST || :" -x "$(imc_thread_add 0 $TASK_INST 5)" | tr '\n' ' ')
	equal "refused, counts" "$got" "EBUSY 0 5 "
	nothing_is_left
}

# The task sleeps all the time: what it might want when it wakes up is kept for it.
test_sleeping_thread_excludes_core() {
	sleep 100 &
	got=$(pmu-event --pid $! --cpu -1 thread_imc:$TASK_INST -x "pmu-event core_imc:$INST || :" | tr '\n' ' ')
	kill $!
	equal "refused, count" "$got" "EBUSY 0 "
	nothing_is_left
}

# Again and again: a count that is not given back shows sooner or later.
test_exclusion_does_not_leak() {
	for _ in $(seq 5); do
		equal "thread" "$(pmu-event core_imc:$INST core_imc:0x98 -x "pmu-event --pid 0 --cpu -1 \
			thread_imc:$TASK_INST || :" | head -n 1)" EBUSY
		equal "core" "$(imc_thread_event -x "pmu-event core_imc:$INST || :" | head -n 1)" EBUSY
	done
	nothing_is_left
}

# A second event of a group that is refused, when the first is open already.
test_refused_sibling() {
	equal "sibling outside" "$(pmu-event --group core_imc:$INST core_imc:0x2000)" EINVAL
	equal "sibling of another kind" "$(pmu-event --group core_imc:$INST nest_mcs01_imc:$READS)" EINVAL
	nothing_is_left
}

# The nest has hardware of its own and takes part in no exclusion.
test_nest_beside_the_others() {
	equal "core, nest" "$(pmu-event core_imc:$INST nest_mcs01_imc:$READS -x "$(imc_add core0@0 $INST 4)
		$(imc_add nest@0 $READS 5)")" "4 5"
	got=$(imc_thread_event -x "pmu-event nest_mcs01_imc:$READS -x '$(imc_add nest@0 $READS 6)'" | tr '\n' ' ')
	equal "nest, thread" "$got" "6 0 "
}

# An engine that firmware does not start is an error, and no count of 0.
test_cpu_that_is_offline() {
	trap 'echo 1 > /sys/devices/system/cpu/cpu1/online' EXIT
	echo 0 > /sys/devices/system/cpu/cpu1/online
	equal "core" "$(pmu-event --cpu 1 core_imc:$INST)" ENODEV
	equal "nest" "$(pmu-event --cpu 1 nest_mcs01_imc:$READS)" ENODEV
	echo 1 > /sys/devices/system/cpu/cpu1/online
	for cpu in 0 1; do
		equal "by CPU $cpu" "$(pmu-event --cpu $cpu core_imc:$INST -x "$(imc_add core0@0 $INST $cpu)")" $cpu
	done
}

run_tests
