#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# CPUs and whole cores go offline and come back while events count: nothing is lost, nothing is
# left on, and who has the engines keeps them. CPUs 0 and 1 are core 0, 2 and 3 are core 1.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver ours --model power9 --cpus 4 --append nowatchdog --timeout 900
. ./power_imc/lib.sh

INST=0x118
TASK_INST=0x798
READS=0xd0

online() { # CPU 0|1
	echo "$2" > "/sys/devices/system/cpu/cpu$1/online"
}

test_owners_move() {
	equal "core_imc" "$(cat $PMUS/core_imc/cpumask)" 0,2
	equal "nest" "$(cat $PMUS/nest_mcs01_imc/cpumask)" 0
	online 2 0
	equal "core_imc without CPU 2" "$(cat $PMUS/core_imc/cpumask)" 0,3
	online 2 1
	equal "core_imc with CPU 2 back" "$(cat $PMUS/core_imc/cpumask)" 0,3
	online 3 0
	equal "core_imc without CPU 3" "$(cat $PMUS/core_imc/cpumask)" 0,2
	online 3 1
	online 0 0
	contains "nest without CPU 0" "$(cat $PMUS/nest_mcs01_imc/cpumask)" '^[123]$'
	online 0 1
}

# What happens all the time, in between and during every move, of the core whose CPUs go, of the
# other one and of the nest: all of it is counted.
test_nothing_is_lost() {
	cat > /tmp/storm <<-EOT
		for i in \$(seq 50); do
			pmu-model add core1@0 $INST 1000
			pmu-model add core0@0 $INST 10
			pmu-model add nest@0 $READS 1
		done
	EOT
	cat > /tmp/moves <<-'EOT'
		pmu-model set nest@0 flush 1
		sh /tmp/storm &
		storm=$!
		for cpu in 2 3 1; do
			echo 0 > /sys/devices/system/cpu/cpu$cpu/online
			echo 1 > /sys/devices/system/cpu/cpu$cpu/online
		done
		wait $storm
		for device in core0@0 core1@0 nest@0; do
			pmu-model set $device flush 1
		done
	EOT
	pmu-event --cpu 0 core_imc:$INST nest_mcs01_imc:$READS -x 'while [ ! -e /tmp/moved ]; do sleep 0.1; done' > /tmp/core0 &
	got=$(pmu-event --cpu 2 core_imc:$INST core_imc:0x1018 nest_mcs01_imc:$READS -x 'sh /tmp/moves' -x true | tr '\n' ' ')
	touch /tmp/moved
	wait
	equal "core 1, nothing, nest" "$got" "50000 0 50 50000 0 50 "
	equal "core 0, nest" "$(cat /tmp/core0)" "500 50"
}

# The last CPU of a core goes: its events keep their counts, as perf detaches them for good, and the
# engine is off. When it is back new events count.
test_whole_core_goes_and_comes() {
	cat > /tmp/goes <<-EOT
		$(imc_add core1@0 $INST 5)
		echo 0 > /sys/devices/system/cpu/cpu2/online
		echo 0 > /sys/devices/system/cpu/cpu3/online
		pmu-model get core1@0 running > /tmp/running
		pmu-model get core0@0 running >> /tmp/running
		cat $PMUS/core_imc/cpumask >> /tmp/running
	EOT
	cat > /tmp/comes <<-EOT
		echo 1 > /sys/devices/system/cpu/cpu2/online
		echo 1 > /sys/devices/system/cpu/cpu3/online
		pmu-event --cpu 2 core_imc:$INST -x "$(imc_add core1@0 $INST 70)" > /tmp/new
	EOT
	pmu-event --cpu 0 core_imc:$INST -x "while [ ! -e /tmp/came ]; do sleep 0.1; done; $(imc_add core0@0 $INST 3)" \
		> /tmp/core0 &
	got=$(pmu-event --cpu 2 core_imc:$INST -x 'sh /tmp/goes' -x 'sh /tmp/comes' | tr '\n' ' ')
	touch /tmp/came
	wait
	equal "core 1, core 0, cpumask while it is away" "$(tr '\n' ' ' < /tmp/running)" "0 1 0 "
	equal "the event when its core went, and when it was back" "$got" "5 5 "
	equal "a new event" "$(cat /tmp/new)" 70
	equal "the other core" "$(cat /tmp/core0)" 3
	eventually "engine of core 1" 0 pmu-model get core1@0 running
}

# A task's event counts wherever it runs, whatever other CPUs do.
test_thread_events_survive() {
	cat > /tmp/moves <<-EOT
		$(imc_thread_add 3 $TASK_INST 1)
		echo 0 > /sys/devices/system/cpu/cpu3/online
		$(imc_thread_add 2 $TASK_INST 20)
		echo 0 > /sys/devices/system/cpu/cpu2/online
		$(imc_thread_add 0 $TASK_INST 300)
		echo 1 > /sys/devices/system/cpu/cpu2/online
		echo 1 > /sys/devices/system/cpu/cpu3/online
		$(imc_thread_add 3 $TASK_INST 4000)
		$(imc_thread_add 2 $TASK_INST 50000)
	EOT
	equal "count" "$(pmu-event --pid 0 --cpu -1 --inherit thread_imc:$TASK_INST -x 'sh -e /tmp/moves')" 54321
	for core in 0 1; do
		eventually "engine of core $core" 0 pmu-model get core$core@0 running
	done
}

# A profile goes on while CPUs go and come: what was recorded before a CPU went is in it.
test_profile_survives() {
	pmu-model set 'thread*' trace-div 31
	before=$(made)
	perf record -q -o /tmp/perf.data -e trace_imc/trace_cycles/ -c 1 -a -- sh -c '
		taskset 8 pmu-spin 0.5
		for cpu in 3 2; do echo 0 > /sys/devices/system/cpu/cpu$cpu/online; done
		taskset 1 pmu-spin 0.5
		for cpu in 2 3; do echo 1 > /sys/devices/system/cpu/cpu$cpu/online; done
		taskset 8 pmu-spin 0.5'
	records=$(($(made) - before))
	within "records" $records 500 1000000
	equal "samples" "$(trace_samples /tmp/perf.data)" $records
	perf script -i /tmp/perf.data -F cpu,ip 2> /dev/null | sort -u -k1,1 | awk '{ print $1 }' | tr -d '\n' > /tmp/cpus
	contains "CPUs with samples" "$(cat /tmp/cpus)" '\[000\].*\[003\]'
}

made() {
	pmu-model get 'thread*' total | awk '{ sum += $NF } END { print sum }'
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
	got=$(pmu-event --pid 0 --cpu -1 --inherit thread_imc:$TASK_INST -x 'sh /tmp/moves' | tr '\n' ' ')
	equal "core events beside a thread event" "$got" "EBUSY EBUSY EBUSY EBUSY 0 "
	echo "pmu-event --pid 0 --cpu -1 thread_imc:$TASK_INST" > /tmp/other
	got=$(pmu-event --cpu 2 core_imc:$INST -x 'sh /tmp/moves' | tr '\n' ' ')
	equal "thread events beside a core event" "$got" "EBUSY EBUSY EBUSY EBUSY 0 "
	equal "core event afterwards" "$(pmu-event --cpu 2 core_imc:$INST -x "$(imc_add core1@0 $INST 2)")" 2
	equal "thread event afterwards" "$(pmu-event --pid 0 --cpu -1 --inherit thread_imc:$TASK_INST \
		-x "$(imc_thread_add 3 $TASK_INST 3)")" 3
}

test_nothing_is_left() {
	for device in core0@0 core1@0; do
		eventually "engine of $device" 0 pmu-model get $device running
		equal "checkstops of $device" "$(pmu-model get $device checkstop)" 0
	done
	equal "modes of the threads" "$(pmu-model get 'thread*' mode | sed 's/.* //' | tr '\n' ' ')" "0 0 0 0 "
	eventually "nest" 2 pmu-model get nest@0 status
}

run_tests
