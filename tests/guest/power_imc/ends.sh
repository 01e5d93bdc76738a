#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Loading and unloading: what a predecessor left on is stopped, nothing is left on by us, both ways of
# switching engines do so, and memory that the hardware may still write is not freed.
#
# Freed memory is filled: who uses it is found.
#
# all vm: --arch ppc64le --kernel '6.1 6.12' --driver ours --model power9,chips=2 --append slub_debug=P
. ./power_imc/lib.sh

trap load EXIT

pmus() {
	find $PMUS/ -name '*_imc'
}

# Engines, all threads, microcode of both chips.
all_is_off() {
	equal "engines" "$(get_all 'core*' running)" "0 0 "
	equal "modes of the threads" "$(get_all 'thread*' mode)" "0 0 0 0 "
	for nest in nest@0 nest@1; do
		eventually "$nest" 2 pmu-model get $nest status
	done
}

# Each kind counts.
all_counts() {
	equal "core" "$(pmu-event --cpu 2 core_imc:$INST -x "$(imc_add core0@1 $INST 5)")" 5
	equal "thread" "$(imc_thread_event -x "$(imc_thread_add 0 $TASK_INST 6)")" 6
	equal "nest" "$(pmu-event --cpu 2 nest_mcs01_imc:$READS -x "$(imc_add nest@1 $READS 7)")" 7
}

# As if another kernel had been stopped in the middle: a thread points to memory that is ours now.
test_predecessor_is_stopped() {
	rmmod power_imc_pmu
	pmu-model set thread1@0 ldbar 0x8000000012340000
	pmu-model set thread0@1 ldbar 0x4000000023450000
	load
	equal "LDBAR" "$(get_all 'thread*' ldbar)" "0 0 0 0 "
	all_is_off
	all_counts
}

test_unload_leaves_nothing_on() {
	load
	all_counts
	rmmod power_imc_pmu
	all_is_off
	equal "PMUs" "$(pmus)" ""
	[ ! -e $DEBUG ]
}

# So no PMU goes while an event of another one is open, and perf can count on.
test_the_device_cannot_be_unbound() {
	load
	equal "files" "$(cd /sys/bus/platform/drivers/power_imc_pmu && echo *bind)" '*bind'
}

# With events open the module is in use; with the last one closed it goes, though an engine is
# switched off only a little later.
test_rmmod_with_events_open() {
	load
	got=$(pmu-event core_imc:$INST nest_mcs01_imc:$READS -x 'rmmod power_imc_pmu 2> /tmp/said && exit 1
		'"$(imc_add core0@0 $INST 5)" && rmmod power_imc_pmu)
	equal "counts" "$got" "5 0"
	contains "rmmod" "$(cat /tmp/said)" 'temporarily unavailable|in use'
	all_is_off
	load
	got=$(imc_thread_event -x 'rmmod power_imc_pmu 2> /tmp/said && exit 1
		'"$(imc_thread_add 1 $TASK_INST 5)" && rmmod power_imc_pmu)
	equal "count of a thread" "$got" 5
	contains "rmmod" "$(cat /tmp/said)" 'temporarily unavailable|in use'
	all_is_off
	equal "PMUs" "$(pmus)" ""
}

# Tasks open events by LINE, and what they say is WHAT. Then they wait, so perf does not schedule them. They go on, and exit,
# when the PMU is no more: outlive WHAT LINE OPTION...
outlive() {
	what=$1 line=$2
	shift 2
	load
	rm -f /tmp/line* /tmp/got*
	for task in 4 5 6 7; do
		mkfifo /tmp/line$task
		pmu-event --fifo --pid 0 --cpu -1 "$@" --lines < /tmp/line$task > /tmp/got$task &
	done
	exec 4> /tmp/line4 5> /tmp/line5 6> /tmp/line6 7> /tmp/line7
	for task in 4 5 6 7; do
		echo "$line" >&$task
	done
	eventually "what the tasks said" "$what $what $what $what " eval "cat /tmp/got* | tr '\n' ' '"
	rmmod power_imc_pmu
	exec 4>&- 5>&- 6>&- 7>&-
	wait
	load
	all_counts
}

# An event that is closed cannot be read.
test_task_that_was_counted_outlives_the_module() {
	outlive error "thread_imc:$TASK_INST -- @close 0"
}

test_task_that_was_refused_outlives_the_module() {
	outlive EINVAL "software:9 thread_imc:$TASK_INST" --group --astray
}

test_load_and_unload_again_and_again() {
	for _ in 1 2 3 4 5; do
		rmmod power_imc_pmu 2> /dev/null || :
		insmod /vm/modules.d/power_imc_pmu.ko
		pmu-event core_imc:$INST nest_mcs01_imc:$READS
	done
	all_counts
	rmmod power_imc_pmu
	all_is_off
}

# The firmware and the driver make the same writes, and the counts are the same.
test_firmware_calls_and_registers() {
	for firmware in opal scom; do
		[ $firmware = opal ] && way='firmware calls' || way=registers
		load firmware=$firmware
		contains "log" "$(log_since_mark)" "engines switched by $way"
		pmu-model stats 'core*' --reset > /dev/null
		pmu-event --cpu 2 core_imc:$INST -x 'pmu-model get core0@1 htm' > /tmp/htm
		equal "HTM mode while counting by $firmware" "$(head -n 1 /tmp/htm)" "$(printf '%u' 0xe800000000000000)"
		eventually "HTM mode afterwards by $firmware" "$(printf '%u' 0xe000000000000000)" pmu-model get core0@1 htm
		equal "registers written by $firmware" "$(writes core0@1)" "pdbar htm event_mask "
		equal "of the other chip" "$(writes core0@0)" ""
		equal "event mask by $firmware" "$(pmu-model get core0@1 event_mask)" "$(printf '%u' 0x0402010000000000)"
		all_counts
		rmmod power_imc_pmu
		all_is_off
	done
}

# A CPU that was offline when the module was loaded: what another kernel left there is not written to, neither before
# nor after it comes. Its core is used already.
test_cpu_that_comes_later() {
	trap 'echo 1 > /sys/devices/system/cpu/cpu1/online' EXIT
	rmmod power_imc_pmu 2> /dev/null || :
	for ldbar in 0x4000000010000000 0x8000000010000000; do
		echo 0 > /sys/devices/system/cpu/cpu1/online
		pmu-model set thread1@0 ldbar $ldbar
		load
		pmu-model stats thread1@0 --reset > /dev/null
		got=$(pmu-event core_imc:$INST -x "echo 1 > /sys/devices/system/cpu/cpu1/online; pmu-model get thread1@0 ldbar > /tmp/ldbar
			taskset 2 true; pmu-model stats thread1@0 > /tmp/stats; $(imc_add core0@0 $INST 5)")
		equal "LDBAR" "$(cat /tmp/ldbar)" 0
		equal "records" "$(grep '^record' /tmp/stats)" "record 0 0"
		equal "count of the other thread's core" "$got" 5
		contains "log" "$(log_since_mark)" 'CPU 1 comes online for the first time: the engine of its core is off for 100 ms'
		[ $ldbar = 0x8000000010000000 ] || equal "pages" "$(grep '^post' /tmp/stats)" "post 0 0"
		rmmod power_imc_pmu
	done
}

times_said() { # PATTERN
	log_since_mark | grep -c "$1" || :
}

# The firmware says that an engine does not stop: it goes on writing to a page, so that stays, and the module.
test_engine_that_does_not_stop() {
	trap 'pmu-model set core0@0 refuse 0' EXIT
	for firmware in opal scom; do
		load firmware=$firmware
		pmu-event core_imc:$INST -x 'pmu-model set core0@0 refuse 2' > /dev/null
		eventually "message by $firmware" 1 times_said "CPU 0's core could not be stopped .*: the module stays, and no other kind"
		equal "engine" "$(pmu-model get core0@0 running)" 1
		fails rmmod power_imc_pmu 2> /tmp/said
		contains "rmmod" "$(cat /tmp/said)" 'temporarily unavailable|in use'
		equal "another kind" "$(pmu-event --pid 0 --cpu -1 thread_imc:$TASK_INST)" EBUSY
		equal "its own kind" "$(pmu-event core_imc:$INST)" EIO
		pmu-model set core0@0 refuse 0
		equal "count" "$(pmu-event core_imc:$INST -x "$(imc_add core0@0 $INST 5)")" 5
		eventually "engine by $firmware" 0 pmu-model get core0@0 running
		all_counts
		rmmod power_imc_pmu
		all_is_off
	done
}

# A thread that traces goes on tracing while its engine does not stop, and its CPU cannot go offline. The ring stays, and so
# does the module, until an event of that core is closed and the engine stops.
test_trace_that_does_not_stop() {
	trap 'pmu-model set core0@0 refuse 0; echo 1 > /sys/devices/system/cpu/cpu1/online' EXIT
	trace="pmu-event --cpu 1 --period 250 trace_imc:$CONFIG"
	for way in 'true' 'echo 0 2> /dev/null > /sys/devices/system/cpu/cpu1/online || touch /tmp/stays; sleep 1.5'; do
		load
		rm -f /tmp/stays
		$trace -x "pmu-model set core0@0 refuse 2; $way" > /dev/null
		eventually "message after $way" 1 times_said "CPU 0's core could not be stopped .*: the module stays, and no other kind"
		if [ "$way" != true ]; then
			equal "the CPU" "$(ls /tmp/stays)" /tmp/stays
			equal "times that it reads as off" "$(times_said 'reads as off')" 0
			contains "log" "$(log_since_mark)" 'CPU 1 cannot go offline: it traces, and the engine of its core could not be stopped'
		fi
		fails rmmod power_imc_pmu 2> /tmp/said
		equal "another kind" "$(pmu-event --pid 0 --cpu -1 thread_imc:$TASK_INST)" EBUSY
		equal "mode" "$(pmu-model get thread1@0 mode)" 2
		pmu-model set core0@0 refuse 0
		$trace > /dev/null
		eventually "engine" 0 pmu-model get core0@0 running
		pmu-event core_imc:$INST > /dev/null
		equal "modes" "$(get_all 'thread*' mode)" "0 0 0 0 "
		equal "traces that ended while the engine was on" "$(pmu-model get core0@0 untraced)" 0
		all_counts
		rmmod power_imc_pmu
		all_is_off
	done
}

# One core's engine is refused: a task counts on all others, and the log says where it does not. If none starts it
# is refused.
test_engine_that_does_not_start() {
	trap 'pmu-model set "core*" refuse 0' EXIT
	for firmware in opal scom; do
		load firmware=$firmware
		pmu-model set core0@1 refuse 4
		equal "count by $firmware" "$(imc_thread_event -x "$(imc_thread_add 0 $TASK_INST 6)")" 6
		contains "log" "$(log_since_mark)" "the engine of CPU 2's core could not be started"
		equal "on that core" "$(pmu-event --cpu 2 core_imc:$INST)" EIO
		pmu-model set core0@0 refuse 4
		equal "with none" "$(pmu-event --pid 0 --cpu -1 thread_imc:$TASK_INST)" EIO
		pmu-model set 'core*' refuse 0
		all_counts
	done
}

# Nobody knows of an engine that is on, but whether it is off cannot be had when the module goes.
test_memory_is_kept_if_need_be() {
	trap 'pmu-model set core0@0 refuse 0' EXIT
	load
	pmu-model set core0@0 refuse 2
	log_mark
	rmmod power_imc_pmu
	contains "log" "$(log_since_mark)" 'the core with PIR 0x0 could not be stopped'
	contains "log" "$(log_since_mark)" 'memory that an engine may still write is kept'
	log_mark
	insmod /vm/modules.d/power_imc_pmu.ko
	contains "log" "$(log_since_mark)" 'the core with PIR 0x0 could not be stopped'
	pmu-model set core0@0 refuse 0
	all_counts
}

# A core that sleeps deeply answers nobody else: it is asked on one of its CPUs. stop1 is deep here.
test_core_that_sleeps() {
	trap 'pmu-model set core0@1 deep 0' EXIT
	for firmware in opal scom; do
		load firmware=$firmware
		pmu-model set core0@1 deep 1
		log_mark
		taskset 1 sh -c "sleep 1; rmmod power_imc_pmu; sleep 1; insmod /vm/modules.d/power_imc_pmu.ko firmware=$firmware"
		equal "complaints by $firmware" "$(log_since_mark | grep -c 'could not be stopped\|is kept for good')" 0
		equal "registers that did not answer" "$(pmu-model get core0@1 unanswered)" 0
		pmu-model set core0@1 deep 0
		all_counts
	done
}

# What was under way when an engine stopped is written before the memory is freed: the driver waits for 50 ms. Who
# looks is there already.
test_unload_waits_for_what_is_under_way() {
	trap 'pmu-model set core0@0 linger 0; pmu-model set thread0@0 linger 0' EXIT
	load
	pmu-model set core0@0 linger 45000000
	pmu-model set thread0@0 linger 45000000
	for one in "pmu-event core_imc:$INST" 'pmu-event --pid 0 --cpu -1 thread_imc:'$TASK_INST \
		"pmu-event --period 250 trace_imc:$CONFIG"; do
		load
		$one -x true > /dev/null
		{ rmmod power_imc_pmu && echo get core0@0 running && echo get thread0@0 mode; } | pmu-model - > /tmp/left
		equal "engine, thread behind $one" "$(tr '\n' ' ' < /tmp/left)" "0 0 "
	done
}

test_unknown_way() {
	rmmod power_imc_pmu 2> /dev/null || :
	log_mark
	fails insmod /vm/modules.d/power_imc_pmu.ko firmware=magic 2> /tmp/said
	contains "log" "$(log_since_mark)" 'firmware=magic is not known: it may be opal, scom or auto'
	equal "PMUs" "$(pmus)" ""
}

run_tests
