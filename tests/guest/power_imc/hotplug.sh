#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# CPUs and whole cores go offline and come back while events count: nothing is lost, nothing is
# left on, and who has the engines keeps them. CPUs 0 and 1 are the core of chip 0, 2 and 3 that of chip 1.
#
# vm: --arch ppc64le --kernel 6.12 --driver ours --timeout 600 --model power9,chips=2
# all vm: --arch ppc64le --kernel 6.1 --driver ours --timeout 600 --model power9,chips=2
. ./power_imc/lib.sh

online() { # CPU 0|1
	echo "$2" > "/sys/devices/system/cpu/cpu$1/online"
}

owners() { # WHEN CPUS
	for pmu in core_imc nest_mcs01_imc; do
		equal "$pmu $1" "$(cat $PMUS/$pmu/cpumask)" "$2"
	done
}

# Whatever has failed, the next file finds all of them.
trap 'for cpu in 0 1 2 3; do online $cpu 1; done' EXIT

test_owners_move() {
	owners "at first" 0,2
	online 2 0
	owners "without CPU 2" 0,3
	online 2 1
	owners "with CPU 2 back" 0,3
	online 3 0
	owners "without CPU 3" 0,2
	online 3 1
	online 0 0
	owners "without CPU 0" 1-2
	online 0 1
}

# What happens all the time, in between and during every move, of the core whose CPUs go, of the
# other one and of the nests: all of it is counted.
test_nothing_is_lost() {
	cat > /tmp/storm <<-EOT
		for i in \$(seq 50); do
			pmu-model add core0@1 $INST 1000
			pmu-model add core0@1 0x1018 7
			pmu-model add core0@0 $INST 10
			pmu-model add nest@0 $READS 1
			pmu-model add nest@1 $READS 3
		done
	EOT
	cat > /tmp/moves <<-'EOT'
		for nest in nest@0 nest@1; do
			pmu-model set $nest flush 1
		done
		sh /tmp/storm &
		storm=$!
		for cpu in 2 3 1; do
			echo 0 > /sys/devices/system/cpu/cpu$cpu/online
			echo 1 > /sys/devices/system/cpu/cpu$cpu/online
		done
		wait $storm
		for device in core0@0 core0@1 nest@0 nest@1; do
			pmu-model set $device flush 1
		done
	EOT
	rm -f /tmp/open /tmp/moved
	pmu-event --cpu 0 core_imc:$INST nest_mcs01_imc:$READS \
		-x 'touch /tmp/open; sh power_imc/await /tmp/moved' > /tmp/core0 &
	sh power_imc/await /tmp/open
	# More than three groups of a PMU: this 6.12 moves one with each call.
	got=$(pmu-event --cpu 2 core_imc:$INST core_imc:0x1018 core_imc:$INST core_imc:0x1018 nest_mcs01_imc:$READS \
		-x 'sh /tmp/moves' -x true | tr '\n' ' ')
	touch /tmp/moved
	wait
	equal "chip 1: four of the core, nest" "$got" "50000 350 50000 350 150 50000 350 50000 350 150 "
	equal "chip 0: core, nest" "$(cat /tmp/core0)" "500 50"
}

# The last CPU of a core goes: its events keep their counts, as perf detaches them for good, and the
# engine is off. When it is back new events count. It is the chip's only one, so the nest goes with it.
test_whole_core_goes_and_comes() {
	cat > /tmp/goes <<-EOT
		$(imc_add core0@1 $INST 5)
		echo 0 > /sys/devices/system/cpu/cpu2/online
		echo 0 > /sys/devices/system/cpu/cpu3/online
		pmu-model get core0@1 running > /tmp/running
		pmu-model get core0@0 running >> /tmp/running
		cat $PMUS/core_imc/cpumask $PMUS/nest_mcs01_imc/cpumask >> /tmp/running
	EOT
	cat > /tmp/comes <<-EOT
		echo 1 > /sys/devices/system/cpu/cpu2/online
		echo 1 > /sys/devices/system/cpu/cpu3/online
		pmu-event --cpu 2 core_imc:$INST -x "$(imc_add core0@1 $INST 70)" > /tmp/new
		pmu-event --cpu 2 nest_mcs01_imc:$READS -x "$(imc_add nest@1 $READS 80)" >> /tmp/new
	EOT
	rm -f /tmp/open /tmp/came
	pmu-event --cpu 0 core_imc:$INST -x "touch /tmp/open; sh power_imc/await /tmp/came
		$(imc_add core0@0 $INST 3)" > /tmp/core0 &
	sh power_imc/await /tmp/open
	got=$(pmu-event --cpu 2 core_imc:$INST -x 'sh /tmp/goes' -x 'sh /tmp/comes' | tr '\n' ' ')
	touch /tmp/came
	wait
	equal "core of chip 1, of chip 0, cpumasks while it is away" "$(tr '\n' ' ' < /tmp/running)" "0 1 0 0 "
	equal "the event when its core went, and when it was back" "$got" "5 5 "
	equal "new events" "$(tr '\n' ' ' < /tmp/new)" "70 80 "
	equal "the other core" "$(cat /tmp/core0)" 3
	eventually "engine of chip 1" 0 pmu-model get core0@1 running
}

# A script: CPU 3 begins to go offline, and a state behind ours refuses it.
refuse() {
	state=$(sed -n 's/^ *\([0-9]*\): workqueue:online.*/\1/p' /sys/devices/system/cpu/hotplug/states)
	cat > /tmp/refuse <<-EOT
		echo $state > /sys/devices/system/cpu/cpu3/hotplug/fail
		if echo 0 2> /dev/null > /sys/devices/system/cpu/cpu3/online; then exit 1; fi
	EOT
}

# The last CPU of a core, and of its chip, stays after all: the core's events and the nest's count on, and the engine was
# not stopped.
test_an_offline_that_is_refused() {
	refuse
	add="$(imc_add core0@1 $INST 5); $(imc_add nest@1 $READS 80)"
	online 2 0
	got=$(pmu-event --cpu 3 core_imc:$INST nest_mcs01_imc:$READS -x "$add; pmu-model stats core0@1 --reset > /dev/null" \
		-x 'sh /tmp/refuse; pmu-model stats core0@1 > /tmp/stats' -x "$add" | tr '\n' ' ')
	owners "when it was refused" 0,3
	contains "stats" "$(cat /tmp/stats)" '^pdbar '
	equal "what was written to the core" "$(written < /tmp/stats)" ""
	online 2 1
	equal "core, nest" "$got" "5 80 5 80 10 160 "
}

# thread_add CPU N, of either chip
thread_add() {
	echo "taskset -c $1 pmu-model add thread$(($1 % 2))@$(($1 / 2)) $TASK_INST $2"
}

# A task's event counts wherever it runs, whatever other CPUs do.
test_thread_events_survive() {
	cat > /tmp/moves <<-EOT
		$(thread_add 3 1)
		echo 0 > /sys/devices/system/cpu/cpu3/online
		$(thread_add 2 20)
		echo 0 > /sys/devices/system/cpu/cpu2/online
		$(thread_add 0 300)
		echo 1 > /sys/devices/system/cpu/cpu2/online
		echo 1 > /sys/devices/system/cpu/cpu3/online
		$(thread_add 3 4000)
		$(thread_add 2 50000)
	EOT
	equal "count" "$(imc_thread_event -x 'sh -e /tmp/moves')" 54321
	for chip in 0 1; do
		eventually "engine of chip $chip" 0 pmu-model get core0@$chip running
	done
}

# A CPU of the second chip is traced as one of the first, and so is a task there.
test_trace_on_the_second_chip() {
	trap 'trace_every 0' EXIT
	trace_every $NEVER
	for which in '-C 3' ''; do
		# shellcheck disable=SC2086 # an option and its value, or none
		trace_record $which -- taskset 8 pmu-model set thread1@1 burst 100
		equal "samples of ${which:-the task}" "$(trace_samples)" 100
	done
}

# A CPU that goes offline traces no more, nor does its trace end under an engine, though that is slow and the core's other
# CPU goes on. A CPU that stays after all traces on.
test_trace_of_a_cpu_that_goes() {
	trap 'trace_every 0; pmu-model set "core*" linger 0; pmu-model set "thread*" linger 0; online 3 1' EXIT
	trace_every $NEVER
	refuse
	cat > /tmp/goes <<-'EOT'
		taskset 4 pmu-model set thread0@1 burst 10
		taskset 8 pmu-model set thread1@1 burst 100
		pmu-model set core0@1 linger 45000000
		pmu-model set 'thread*@1' linger 5000000
		sh /tmp/refuse
		# What was written last has acted.
		sleep 0.1
		taskset 8 pmu-model set thread1@1 burst 1000
		echo 0 > /sys/devices/system/cpu/cpu3/online
		pmu-model get thread1@1 mode > /tmp/mode
		sleep 0.1
		taskset 4 pmu-model set thread0@1 burst 20
	EOT
	# Some of a burst have the same time in perf's file.
	samples() { awk '{ print $NF }' $DEBUG/trace | tail -n 2 | tr '\n' ' '; }
	# shellcheck disable=SC2046 # two numbers
	set -- $(samples)
	trace_record -C 2,3 -- taskset 1 sh -e /tmp/goes
	equal "mode while it was away" "$(cat /tmp/mode)" 0
	equal "samples of the other, of the one that went" "$(samples)" "$(($1 + 30)) $(($2 + 1100)) "
	online 3 1
	equal "traces that ended while an engine was on" "$(get_all 'core*' untraced)" "0 0 "
}

# After the last trace LDBAR is cleared, so a CPU that goes later needs no stop of its core's engine.
test_an_offline_after_a_trace() {
	trap 'online 3 1' EXIT
	trace_record -C 2,3 -- true
	eventually "modes of the threads" "0 0 0 0 " get_all 'thread*' mode
	pmu-model stats core0@1 --reset > /dev/null
	online 3 0
	equal "what was written to the core" "$(writes core0@1)" ""
}

# A profile goes on while CPUs go and come: what was recorded before a CPU went is in it.
test_profile_survives() {
	trap 'trace_every 0' EXIT
	trace_every $INSTRUCTIONS
	all_is_taken 3000 -a -- sh -c "taskset 8 $SPIN
		for cpu in 3 2; do echo 0 > /sys/devices/system/cpu/cpu\$cpu/online; done
		taskset 1 $SPIN
		for cpu in 2 3; do echo 1 > /sys/devices/system/cpu/cpu\$cpu/online; done
		taskset 8 $SPIN"
	for cpu in 0 3; do
		within "of the programs on CPU $cpu" "$(trace_lines ip,sym | grep -c "\[00$cpu\].*heavy")" 700 10000
	done
}

# The in-tree driver gives the engines free when any CPU goes: the next may trace while one counts.
test_exclusion_outlives_cpus() {
	cat > /tmp/moves <<-'EOT'
		for cpu in 3 2; do
			echo 0 > /sys/devices/system/cpu/cpu$cpu/online
			sh /tmp/other || :
		done
		for cpu in 2 3; do
			echo 1 > /sys/devices/system/cpu/cpu$cpu/online
			sh /tmp/other || :
		done
	EOT
	echo "pmu-event core_imc:$INST" > /tmp/other
	got=$(imc_thread_event -x 'sh /tmp/moves' | tr '\n' ' ')
	equal "core events beside a thread event" "$got" "EBUSY EBUSY EBUSY EBUSY 0 "
	echo "pmu-event --pid 0 --cpu -1 thread_imc:$TASK_INST" > /tmp/other
	got=$(pmu-event --cpu 2 core_imc:$INST -x 'sh /tmp/moves' | tr '\n' ' ')
	equal "thread events beside a core event" "$got" "EBUSY EBUSY EBUSY EBUSY 0 "
	equal "core event afterwards" "$(pmu-event --cpu 2 core_imc:$INST -x "$(imc_add core0@1 $INST 2)")" 2
	equal "thread event afterwards" "$(imc_thread_event \
		-x "$(thread_add 3 3)")" 3
}

test_nothing_is_left() {
	for device in core0@0 core0@1; do
		eventually "engine of $device" 0 pmu-model get $device running
		equal "checkstops of $device" "$(pmu-model get $device checkstop)" 0
	done
	pmu-event core_imc:$INST > /dev/null
	equal "modes of the threads" "$(get_all 'thread*' mode)" "0 0 0 0 "
	equal "traces that ended while an engine was on" "$(get_all 'core*' untraced)" "0 0 "
	equal "times that LDBAR was written while an engine was on" "$(get_all 'core*' hot)" "0 0 "
	for nest in nest@0 nest@1; do
		eventually $nest 2 pmu-model get $nest status
	done
}

run_tests
