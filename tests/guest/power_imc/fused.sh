#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Fused cores: the kernel sees one core of eight threads, the hardware has two halves, each with an
# engine. CPUs 0, 2, 4 and 6 are core0 of the model, the odd ones are core1. A half without a CPU
# online sleeps: it answers nobody, and nobody needs it.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --timeout 600 --model power9fused
. ./power_imc/lib.sh

online() { # 0|1 CPU...
	to=$1
	shift
	for cpu in "$@"; do
		echo "$to" > "/sys/devices/system/cpu/cpu$cpu/online"
	done
}

# A half whose CPUs are asleep or offline loses its switch and does not answer. stop1 takes 5 us, so with
# max_latency=4 CPUs that are online do not use it while events are open.
deep() { # 0|1
	pmu-model set 'core*' deep "$1"
}

restarts() {
	sed -n 's/.*restarts //p' $DEBUG/engines
}

running() {
	get_all 'core*' running
}

trap 'deep 0; online 1 1 2 3 4 5 6 7' EXIT

test_one_core_of_eight_threads() {
	equal "threads" "$(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list)" 0-7
	equal "box" "$(cat $PMUS/core_imc/cpumask)" 0
}

# What both halves count is the core's.
test_both_halves_count() {
	for firmware in opal scom; do
		load firmware=$firmware
		got=$(pmu-event core_imc:$INST -x "$(imc_add core0 $INST 5)" -x "$(imc_add core1 $INST 7)" | tr '\n' ' ')
		equal "counts by $firmware" "$got" "5 12 "
		equal "engines afterwards by $firmware" "$(running)" "0 0 "
	done
}

# It has CPUs, which sleep deeply until an event is opened.
test_half_that_sleeps_is_awaited() {
	deep 1
	for firmware in opal scom; do
		load firmware=$firmware max_latency=4
		for round in 1 2 3 4 5; do
			sleep 0.3
			got=$(pmu-event --cpu 0 core_imc:$INST -x "$(imc_add core1 $INST 7)")
			equal "count $round by $firmware" "$got" 7
		done
		equal "log by $firmware" "$(log_since_mark | grep -c 'engine of')" 0
	done
	deep 0
}

# As after ppc64_cpu --smt=1.
test_half_without_cpu_is_no_error() {
	online 0 1 3 5 7
	deep 1
	for firmware in opal scom; do
		load firmware=$firmware max_latency=4
		got=$(pmu-event core_imc:$INST -x "$(imc_add core0 $INST 5)" -x true | tr '\n' ' ')
		equal "core counts by $firmware" "$got" "5 5 "
		equal "thread counts by $firmware" "$(imc_thread_event -x "$(imc_thread_add 0 $TASK_INST 5)")" 5
		trace_every $NEVER
		trace_record -C 0 -- taskset 1 pmu-model set thread0 burst 100
		trace_every 0
		equal "samples by $firmware" "$(trace_samples)" 100
		equal "engines by $firmware" "$(running)" "0 0 "
		equal "log by $firmware" "$(log_since_mark | grep -c 'could not be')" 0
		rmmod power_imc_pmu
	done
	within "accesses that nobody answered" "$(pmu-model get core1 unanswered)" 1 1000000
}

# Its half is started when it comes, and nobody takes that for an engine that was lost.
test_first_cpu_of_a_half_comes() {
	for firmware in opal scom; do
		online 0 1 3 5 7
		deep 1
		load firmware=$firmware max_latency=4
		cat > /tmp/comes <<-EOT
			. ./power_imc/lib.sh
			$(imc_add core0 $INST 5)
			echo 1 > /sys/devices/system/cpu/cpu3/online
			$(imc_add core1 $INST 7)
			$(imc_add core0 $INST 9)
		EOT
		got=$(pmu-event core_imc:$INST -x 'sh /tmp/comes' -x true | tr '\n' ' ')
		equal "counts by $firmware" "$got" "21 21 "
		equal "restarts by $firmware" "$(restarts)" 0
		equal "engines by $firmware" "$(running)" "0 0 "
		equal "log by $firmware" "$(log_since_mark | grep -c 'engine of')" 0
	done
}

# The last CPU of a half goes while events count, its half falls asleep, and comes back, or does not.
test_last_cpu_of_a_half_goes() {
	load max_latency=4
	online 1 1
	online 0 3 5 7
	deep 1
	cat > /tmp/goes <<-EOT
		$(imc_add core1 $INST 7)
		echo 0 > /sys/devices/system/cpu/cpu1/online
		$(imc_add core0 $INST 5)
	EOT
	cat > /tmp/back <<-EOT
		echo 1 > /sys/devices/system/cpu/cpu1/online
		$(imc_add core1 $INST 7)
	EOT
	got=$(pmu-event core_imc:$INST -x 'sh /tmp/goes' -x 'sh /tmp/back' -x 'sh /tmp/goes' | tr '\n' ' ')
	equal "counts" "$got" "12 19 31 "
	equal "restarts" "$(restarts)" 0
	equal "engines" "$(running)" "0 0 "
	equal "log" "$(log_since_mark | grep -c 'engine of')" 0
	rmmod power_imc_pmu
}

run_tests
