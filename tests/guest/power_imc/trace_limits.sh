#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# trace_imc at its limits: samples that are thinned or limited, records that are lapped or corrupt, BPF programs, CPUs that
# come and go, and what a record costs. The model makes records by the instructions that are executed.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9 --timeout 600
# kernels vm: --arch ppc64le --kernel 6.1 --driver ours --model power9 --timeout 600
. ./power_imc/lib.sh

trap 'trace_every 0; pmu-model set "thread*" trace-div 64' EXIT

# A BPF program sees each sample before it is written, and may drop it. perf then walks the stack of now for a call
# chain, which is not what the sample gets.
test_bpf_program() {
	trace_every $NEVER
	for row in keep:100 drop:0 half:50; do
		equal "with one that says ${row%:*}" \
			"$(pmu-samples --bpf "${row%:*}" trace_imc:$CONFIG 'taskset 1 pmu-model set thread0 burst 100')" \
			"samples ${row#*:} odd 0 runs 100"
	done
	equal "without" "$(pmu-samples trace_imc:$CONFIG 'taskset 1 pmu-model set thread0 burst 100')" "samples 100 odd 0 runs 0"
}

# LDBAR is written while it traces, as the kernel does after deep sleep: the writer begins at slot 0 again. It stays behind
# where the reader is, and twice it comes past it, which is no lap. What the reader, which takes 256 in a millisecond, has
# not taken by then is lost, so it is given the time.
test_the_writer_goes_back() {
	trace_every $NEVER
	laps=$(trace_sum laps)
	# shellcheck disable=SC2016 # for the inner shell
	all_is_there 1500 -C 0 -- taskset 1 sh -c "$SPREAD"'; for n in 300 200 100 50 250 600; do
		pmu-model set thread0 burst $n; sleep 0.2; pmu-model set thread0 ldbar "$(pmu-model get thread0 ldbar)"; done'
	equal "laps" "$(trace_sum laps)" "$laps"
}

# A period and a frequency thin the stream out: 250 counts of 32 MHz are a record, and neither has to be a whole number
# of records. perf has an event for each of two CPUs, and each takes one of each 8 records, anywhere in them. The first
# one starts first, so it has all that is taken.
test_thinning() {
	trace_every $INSTRUCTIONS
	before=$(trace_sum taken)
	perf record -q -o $DATA -P --sample-cpu -e trace_imc/trace_cycles,period=2000/ -e trace_imc/trace_cycles,freq=8000/ \
		-e trace_imc/trace_cycles,freq=997/ -e trace_imc/trace_cycles,period=1300/ -- $SPIN
	taken=$(($(trace_sum taken) - before))
	trace_lines event,period,ip > /tmp/samples
	within "records" $taken 1000 10000
	within "of 8 records 1" "$(grep -c 'period=2000/' /tmp/samples)" $((taken / 8 - 1)) $((taken / 8 + 2))
	for row in period=2000:2000 freq=8000:4000 freq=997:32096 period=1300:1300; do
		equal "periods of ${row%:*}" "$(sed -n "s/.* \([0-9][0-9]*\) *trace_imc\/trace_cycles,${row%:*}\/.*/\1/p" /tmp/samples | sort -u)" \
			"${row#*:}"
	done
}

# A program that does the same thing every 32 records, 12.5 % of it in heavy(), of which one record in 32 becomes a
# sample. 100 samples have 12.5 of heavy() in them then, with a standard deviation of 3.3: within five of these. If
# each was the 32nd, they would have none, or all.
test_thinning_in_lockstep() {
	trace_every 10000
	taskset 2 perf record -q -o $DATA -e ${EVENT}u -c 1 -- taskset 1 pmu-spin rounds 1 100 0
	pass=$((($(trace_samples heavy) + 50) / 100))
	show "$pass instructions for each pass of a loop"
	trace_every $((80000 * pass / 32))
	taskset 2 perf record -q -o $DATA -e ${EVENT}u -c 8000 -- taskset 1 pmu-spin rounds 100 1 7
	heavy=$(trace_samples heavy) light=$(trace_samples light)
	within "samples" $((heavy + light)) 99 101
	within "samples of heavy" "$heavy" 1 29
}

# An event that is opened begins anywhere in its period, too: so a program that moves is seen although it is nowhere for
# as long as that. Ten times it has 240 records on two CPUs. Of 128 one is wanted: on each CPU it has a sample with a
# chance of 15 in 16. All in all that makes 18.8 of 20, with a standard deviation of 1.1, within five of these.
test_thinning_of_short_stays() {
	trace_every $NEVER
	for cpu in 0 1; do
		for _ in 1 2 3 4 5 6 7 8 9 10; do
			echo "trace_imc:$CONFIG -- taskset $((1 << cpu)) pmu-model set thread$cpu burst 120"
		done | pmu-event --cpu $cpu --period 32000 --lines
	done > /tmp/counts
	equal "stays" "$(grep -c '^[01]$' /tmp/counts)" 20
	within "samples" "$(grep -c 1 /tmp/counts)" 13 20
}

# A task inherits an event that begins anywhere in its period, so those that are shorter than that have their share:
# here some 20 records each, of which one in 32 is wanted. Their number is random, with a standard deviation of its
# root at most, and within 5 of those. Between tasks that have inherited all there is perf exchanges their events
# instead of scheduling them, and a thread would go on in its parent's period: one event is not inherited.
test_thinning_of_short_lives() {
	trace_every 3000
	perf record -q -o $DATA -m 512 -e trace_imc/trace_cycles,period=250/ -e trace_imc/trace_cycles,freq=4000/ \
		-e trace_imc/trace_cycles,period=1000000,no-inherit/ -- taskset 1 pmu-spin threads 400
	trace_lines event,ip,sym | grep heavy > /tmp/samples
	all=$(grep -c 'period=250/' /tmp/samples) some=$(grep -c 'freq=4000/' /tmp/samples) || :
	show "records of threads: $all, samples: $some, expected: $((all / 32))"
	within "records of threads" "$all" 4000 20000
	root=1
	while [ $((root * root)) -lt $((all / 32)) ]; do root=$((root + 1)); done
	within "samples" "$some" $((all / 32 - 5 * root)) $((all / 32 + 5 * root))
}

# The writer laps the reader: what it overwrote is told to the user, by the records' times, which are even.
test_laps_are_reported() {
	trace_every $NEVER
	before=$(trace_made) taken=$(trace_sum taken) laps=$(trace_sum laps) lost=$(trace_sum lost)
	trace_record -C 0 -- taskset 1 sh -c "$SPREAD"'; pmu-model set thread0 burst 10; sleep 0.3; pmu-model set thread0 burst 6000'
	equal "records" $(($(trace_made) - before)) 6010
	equal "laps" "$(($(trace_sum laps) - laps))" 1
	equal "records taken" "$(($(trace_sum taken) - taken))" $((10 + 4096))
	equal "lost, by the driver and by perf" "$(($(trace_sum lost) - lost)) $(trace_lost)" "$((6000 - 4096)) $((6000 - 4096))"
}

# Records that are no good are passed over, and told.
test_corrupt_records() {
	trace_every $NEVER
	corrupt=$(trace_sum corrupt)
	trace_record -- taskset 1 sh -c 'pmu-model set thread0 corrupt 3; pmu-model set thread0 burst 10'
	equal "corrupt" "$(($(trace_sum corrupt) - corrupt))" 3
	equal "samples" "$(trace_samples)" 7
	equal "lost, by perf" "$(trace_lost)" 3
}

# What a record costs up to perf's buffer, and what a switch costs where there is none: instructions. scripts/bench
# has the numbers, beside the in-tree driver's.
test_what_it_costs() {
	[ -e /sys/module/pmu_gcov ] && skip "modules that count their lines cost more"
	trace_every $NEVER
	samples=$(trace_sum samples)
	# shellcheck disable=SC2086 # several
	measure $DRAINS
	taskset 2 perf record -q -o $DATA -m 512 -e $EVENT -c 1 -- taskset 1 sh -c \
		'for _ in 1 2 3 4 5 6 7 8 9 10; do pmu-model set thread0 burst 1000; done'
	spent=$(measured) samples=$(($(trace_sum samples) - samples))
	measure power_imc_drain_task_switched
	taskset 2 perf record -q -o /tmp/empty.data -e $EVENT -c 1 -a -- taskset 1 sh -c \
		'for _ in 1 2 3 4 5 6 7 8 9 10; do true & wait; done'
	empty=$(measured -quartile)
	measure
	equal "samples" "$samples" 10000
	show "for each record: $((spent / 10000)) instructions, for a switch without: $empty"
	within "for each record" $((spent / 10000)) 300 1050
	within "for a switch without a record" "$empty" 10 120
}

# So many samples, and no more, though a drain finds more records at a time; and after that as many as it is told.
test_limit_of_samples() {
	trace_every $NEVER
	got=$(pmu-event --cpu 0 --disabled --period 250 trace_imc:$CONFIG -x '@refresh 5' -x 'taskset 1 pmu-model set thread0 burst 100' \
		-x '@refresh 3' -x 'taskset 1 pmu-model set thread0 burst 2' -x 'taskset 1 pmu-model set thread0 burst 100' \
		-x '@enable' | tr '\n' ' ')
	equal "samples" "$got" "0 5 5 7 8 8 "
}

# A hardware event that comes too often is throttled, since 6.16 with its group, from an NMI: the trace goes on.
test_group_that_is_throttled() {
	rate=$(cat /proc/sys/kernel/perf_event_max_sample_rate)
	echo 1000 > /proc/sys/kernel/perf_event_max_sample_rate
	trace_every $INSTRUCTIONS
	before=$(trace_sum taken)
	taskset 2 perf record -q -o $DATA -C 0 -e "{instructions/period=20000/,trace_imc/trace_cycles,period=250/}" \
		-- taskset 1 $SPIN > /tmp/said 2>&1 || { cat /tmp/said; exit 1; }
	echo "$rate" > /proc/sys/kernel/perf_event_max_sample_rate
	taken=$(($(trace_sum taken) - before))
	throttled=$(perf report -i $DATA --stats 2> /dev/null | awk '/ THROTTLE events:/ { print $3; exit }')
	show "records $taken, throttled ${throttled:-0} times"
	within "times throttled" "${throttled:-0}" 1 100000
	within "records" $taken 1000 100000
	equal "samples" "$(trace_lines event,ip | grep -c trace_cycles)" $taken
}

# No thread ceases to trace while its core's engine is on: not when its program pauses, nor when its event is closed and
# the core's other thread goes on, nor when the last is closed and the engine takes its time. Each has all of its records.
test_no_trace_ends_under_an_engine() {
	trap 'pmu-model set core0 linger 0; pmu-model set "thread*" linger 0' EXIT
	trace_every $NEVER
	pmu-model set core0 linger 45000000
	trace_record -- taskset 1 sh -c 'for _ in 1 2 3; do pmu-model set thread0 burst 5; sleep 0.05; done'
	equal "samples" "$(trace_samples)" 15
	trace_record -C 0 -- taskset 1 sh -c "pmu-model set thread0 burst 10
		perf record -q -o /tmp/other.data -e $EVENT -c 1 -C 1 -- taskset 2 pmu-model set thread1 burst 20
		pmu-model set thread0 burst 30"
	equal "samples of the other thread" "$(trace_samples '' /tmp/other.data)" 20
	equal "samples of the one that goes on" "$(trace_samples)" 40
	pmu-model set 'thread*' linger 45000000
	# The next kind waits for the engine first, and then for LDBAR.
	pmu-event --pid 0 --cpu -1 thread_imc:$TASK_INST -x true > /dev/null
	eventually "engine" 0 pmu-model get core0 running
	eventually "modes of the threads" "0 0 " get_all 'thread*' mode
	equal "traces that ended while it was on" "$(pmu-model get core0 untraced)" 0
	equal "times that both were on" "$(pmu-model get core0 checkstop)" 0
}

# An event of another PMU may lead a group. CPUs come and go meanwhile, and that is waited for.
test_groups_wait_for_hotplug() {
	echo 'for _ in $(seq 20); do for on in 0 1; do echo $on > /sys/devices/system/cpu/cpu1/online; done; done' \
		> /tmp/moves
	sh /tmp/moves &
	moves=$! opened=0
	while kill -0 $moves 2> /dev/null; do
		equal "refused" "$(pmu-event --group --disabled --period 250 software:0 trace_imc:$CONFIG || :)" ""
		opened=$((opened + 1))
	done
	show "$opened groups opened"
	within "groups" $opened 1 100000
}

run_tests
