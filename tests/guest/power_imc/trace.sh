#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# trace_imc: profiles that are right, nothing lost, nobody interrupted, and whose samples
# they are. The model makes records more slowly than hardware does (trace-div), since an
# emulated processor has to be stopped for each.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver ours --model power9 --timeout 400
. ./power_imc/lib.sh

EVENT=trace_imc/trace_cycles/
TRACE=/sys/kernel/debug/power_imc_pmu/trace
DATA=/tmp/perf.data

# Records a second: 128 kHz by this. No multiple of the kernel's tick.
for cpu in 0 1; do pmu-model set thread$cpu trace-div 31; done

record() {
	perf record -q -o $DATA -e "$@" > /tmp/said 2>&1 || { cat /tmp/said; return 1; }
}

# The sum of a field of all CPUs: trace_sum FIELD
trace_sum() {
	awk -v field="$1" '{ for (i = 1; i < NF; i++) if ($i == field) sum += $(i + 1) } END { print sum }' $TRACE
}

produced() {
	echo $(($(pmu-model get thread0 total) + $(pmu-model get thread1 total)))
}

# Lines of perf script that have a text.
samples() {
	perf script -i $DATA -F "${2:-pid,ip,sym}" 2> /dev/null | grep -c "$1"
}

# heavy's share of both functions, in permille.
share() {
	heavy=$(samples 'heavy') light=$(samples 'light')
	echo $((heavy * 1000 / (heavy + light)))
}

# What perf report says of a function, in hundredths of a percent: percent FUNCTION
percent() {
	echo "$report" | sed -n "s/^ *\([0-9]*\)\.\([0-9]*\)% .* \[\.\] $1 *\$/\1\2/p" | sed 's/^0*//'
}

# A function that has three quarters of a program's time has them in the profile.
test_profile_of_a_program() {
	record $EVENT -c 1 -- pmu-spin 5
	within "heavy, permille" "$(share)" 730 770
	report=$(perf report -i $DATA --stdio 2>&1)
	contains "report" "$report" '# Total Lost Samples: 0'
	echo "$report" | grep -E '^# (Event count|Overhead)|^ +[0-9]' | head -n 6 | show
	heavy=$(percent heavy) light=$(percent light)
	within "heavy of both in the report, permille" $((heavy * 1000 / (heavy + light))) 730 770
}

test_profile_of_a_cpu() {
	record $EVENT -c 1 -a -- pmu-spin 5
	within "heavy, permille" "$(share)" 730 770
}

# The kernel's part of a program that makes it work, and the user's part of one that does not.
test_user_and_kernel() {
	record $EVENT -c 1 -- dd if=/dev/zero of=/dev/null bs=4M count=500
	kernel=$(perf report -i $DATA --stdio --sort sym 2> /dev/null | grep -c '\[k\]')
	within "kernel functions" "$kernel" 1 100000
	record ${EVENT}u -c 1 -- pmu-spin 1
	equal "kernel samples with u" "$(samples ' c[0-9a-f]\{15\} *$' ip)" 0
	within "user samples with u" "$(samples heavy)" 100 100000
	record ${EVENT}k -c 1 -- pmu-spin 1
	equal "user samples with k" "$(samples ' [0-9a-f]\{1,15\} *$' ip)" 0
	within "kernel samples with k" "$(samples .)" 10 100000
}

# What the hardware wrote is what the driver took, and what perf has: exact.
test_nothing_is_lost() {
	for what in "-- pmu-spin 1" "-a -- pmu-spin 1"; do
		before=$(produced) taken=$(trace_sum taken)
		# shellcheck disable=SC2086 # options
		record $EVENT -c 1 $what
		records=$(($(produced) - before))
		within "records" $records 500 1000000
		equal "records taken of $what" "$(($(trace_sum taken) - taken))" $records
		equal "samples of $what" "$(trace_samples $DATA)" $records
		equal "lost" "$(trace_sum lost)" 0
	done
}

# No interrupt of the counters. Of the timer about one in each millisecond, however many samples there are: at the
# hardware's rate 128.
test_no_interrupts() {
	before=$(grep PMI: /proc/interrupts) samples=$(trace_sum samples) timers=$(trace_sum timers)
	record $EVENT -c 1 -- pmu-spin 4
	equal "interrupts" "$(grep PMI: /proc/interrupts)" "$before"
	timers=$(($(trace_sum timers) - timers))
	show "timer interrupts: $timers, samples: $(($(trace_sum samples) - samples))"
	within "timer interrupts" $timers 100 4400
}

# Two tasks take turns on a CPU: each function's samples are of the task that runs it. Once by CPU; and once by
# events that both have inherited, which perf does not schedule out and in between the two.
test_whose_samples() {
	for whole in '' -a; do
		# shellcheck disable=SC2086 # none or one
		record $EVENT -c 1 $whole -- sh -c 'taskset 1 pmu-spin 2 1 0 & echo $! > /tmp/heavy
			taskset 1 pmu-spin 2 0 1 & echo $! > /tmp/light; wait'
		each_has_its_own
	done
}

each_has_its_own() {
	heavy=$(cat /tmp/heavy) light=$(cat /tmp/light)
	perf script -i $DATA -F pid,ip,sym 2> /dev/null | awk '$NF == "heavy" || $NF == "light" { print $1, $NF }' |
		sort | uniq -c > /tmp/pairs
	equal "pairs of task and function" "$(awk '{ print $2, $3 }' /tmp/pairs | sort)" \
		"$(printf '%s heavy\n%s light\n' "$heavy" "$light" | sort)"
}

# Threads that end before they were switched away from once: they have a number only up to then.
test_whose_end() {
	record $EVENT -c 1 -a -- taskset 1 pmu-spin threads 2000
	perf script -i $DATA -F tid,ip,sym 2> /dev/null | grep heavy > /tmp/heavy
	all=$(grep -c . /tmp/heavy) nobody=$(grep -c '^ *-1 ' /tmp/heavy) || :
	show "$all samples, $nobody of nobody"
	within "samples" "$all" 20 100000
	within "samples of nobody" "$nobody" 0 $((all / 10))
}

# A sample's time is its record's, by any clock: they come evenly, although the ring is drained in bursts.
test_when() {
	for clock in '' '-k CLOCK_MONOTONIC' '-k CLOCK_MONOTONIC_RAW'; do
		# shellcheck disable=SC2086 # none or two
		record $EVENT -c 1 $clock -- taskset 1 pmu-spin 1
		perf script -i $DATA -F time,ip,sym 2> /dev/null | tr -d : | awk '
			/heavy|light/ { d = ($1 - last) * 1e6; if (last && d < 150) close_by++; if (last) n++; last = $1 }
			END { print int(1000 * close_by / n) }' > /tmp/close
		# Every 242 us; what is late is followed by what is not. Times of drains would be some us apart.
		within "permille of samples within 150 us of another $clock" "$(cat /tmp/close)" 0 200
		perf report -i $DATA --stdio > /tmp/said 2>&1
		fails grep -qi 'out of order' /tmp/said
	done
}

# A call chain is the address alone: the stack is that of the drain, not of the record.
test_call_chain() {
	record $EVENT -c 1 -g -- pmu-spin 0.5
	perf script -i $DATA -F ip 2> /dev/null | awk '
		NF { n++ }
		!NF { if (n) chains++; if (n > most) most = n; n = 0 }
		END { print most + 0, chains + 0 }' > /tmp/chains
	read -r most chains < /tmp/chains
	equal "longest" "$most" 1
	within "chains" "$chains" 50 100000
}

# LDBAR is written while it traces, as the kernel does after deep sleep: the writer begins at slot 0 again.
test_the_writer_goes_back() {
	before=$(produced)
	record $EVENT -c 1 -- taskset 1 sh -c 'pmu-spin 0.3
		for _ in 1 2 3; do pmu-model set thread0 ldbar "$(pmu-model get thread0 ldbar)"; pmu-spin 0.3; done'
	equal "samples" "$(trace_samples $DATA)" $(($(produced) - before))
	equal "lost" "$(trace_sum lost)" 0
}

# -c and -F thin the stream out: 250 counts of 32 MHz are a record.
test_thinning() {
	before=$(trace_sum taken)
	record $EVENT -c 2000 -- pmu-spin 1
	taken=$(($(trace_sum taken) - before))
	within "of 8 records 1" "$(trace_samples $DATA)" $((taken / 8 - 10)) $((taken / 8 + 1))
	record $EVENT -F 8000 -- pmu-spin 0.5
	equal "periods" "$(perf script -i $DATA -F period 2> /dev/null | sort -u | tr -d ' ')" 4000
	record $EVENT -c 1300 -d -P -- pmu-spin 0.5
	equal "periods" "$(perf script -i $DATA -F period 2> /dev/null | sort -u | tr -d ' ')" 1250
}

# With -R a sample has the hardware's 64 bytes behind 8: they begin and end with the timebase, whose
# low 40 bits are compared, and the second doubleword is the address.
test_raw_records() {
	record $EVENT -c 1 -R -- pmu-spin 0.2
	perf report -i $DATA -D 2> /dev/null | awk '
		/^\. +[0-9a-f]+: /	{ for (i = 3; i <= 18 && $i ~ /^[0-9a-f][0-9a-f]$/; i++) bytes = bytes $i }
		/PERF_RECORD_SAMPLE/	{ print bytes; bytes = "" }
		/^0x/			{ if (!/PERF_RECORD_SAMPLE/) bytes = "" }' |
		awk 'length > 160 { record = substr($0, length - 135, 128); n++
			good += substr(record, 7, 10) == substr(record, 119, 10) && substr(record, 1, 16) > 0
		} END { print n, good }' > /tmp/raw
	read -r samples good < /tmp/raw
	within "raw samples" "$samples" 10 100000
	# Now and then the text beside the hex digits looks like some, in a line that is not full.
	within "whole records" "$good" $((samples * 95 / 100)) "$samples"
}

# The writer laps the reader: what it overwrote is told to the user, as nearly as can be known.
test_laps_are_reported() {
	before=$(produced) taken=$(trace_sum taken) laps=$(trace_sum laps) lost=$(trace_sum lost)
	record $EVENT -c 1 -- taskset 1 sh -c 'pmu-model set thread0 stop 1; pmu-spin 0.5
		pmu-model set thread0 burst 6000; pmu-spin 0.1; pmu-model set thread0 stop 0'
	gone=$(($(produced) - before - ($(trace_sum taken) - taken)))
	equal "laps" "$(($(trace_sum laps) - laps))" 1
	within "records that were overwritten" $gone 1904 1910
	within "what the driver says" "$(($(trace_sum lost) - lost))" $((gone * 9 / 10)) $((gone * 11 / 10))
	stats=$(perf report -i $DATA --stats 2>&1 | awk '/LOST_SAMPLES events:/ { n = $3 } END { print n }')
	equal "what perf report says" "$stats" "$(($(trace_sum lost) - lost))"
}

# Records that are no good are passed over, and told.
test_corrupt_records() {
	corrupt=$(trace_sum corrupt)
	record $EVENT -c 1 -- taskset 1 sh -c 'pmu-model set thread0 corrupt 3; pmu-spin 0.2'
	equal "corrupt" "$(($(trace_sum corrupt) - corrupt))" 3
	contains "perf" "$(perf report -i $DATA --stats 2>&1)" 'LOST_SAMPLES events: +3$'
}

# Two profiles at a time share the ring; each has all of it that is its own.
test_two_profiles() {
	perf record -q -o /tmp/all.data -e $EVENT -c 1 -a -- sleep 10 > /dev/null 2>&1 &
	sleep 3
	record $EVENT -c 1 -- pmu-spin 1
	wait
	mine=$(samples heavy)
	all=$(perf script -i /tmp/all.data -F comm,ip,sym 2> /dev/null | grep -c 'pmu-spin.*heavy')
	within "heavy of both" "$all" $((mine * 9 / 10)) $((mine + mine / 10))
}

test_refused() {
	contains "counting" "$(perf stat -e $EVENT true 2>&1)" 'not supported'
	fails record trace_imc/event=0x1/ -c 1 -- true
	fails record $EVENT -c 1 --call-graph dwarf -- true
	fails record $EVENT -c 1 -a -e core_imc/event=0x98/ -- true
	echo -1 > /proc/sys/kernel/perf_event_paranoid
	equal "without privileges" "$(pmu-event --user 1000 --period 250 trace_imc:0x10200000)" EACCES
	equal "with privileges" "$(pmu-event --period 250 trace_imc:0x10200000)" ""
}

# One engine: nobody may accumulate while another traces, in either order, for as long as either
# is open and not longer.
test_exclusion() {
	contains "core while tracing" "$(perf record -q -o $DATA -e $EVENT -c 1 -a -- \
		perf stat -a -e core_imc/event=0x98/ true 2>&1)" 'busy|EBUSY'
	contains "thread while tracing" "$(perf record -q -o $DATA -e $EVENT -c 1 -a -- \
		perf stat -e thread_imc/event=0x98/ true 2>&1)" 'busy|EBUSY'
	contains "tracing while core counts" "$(perf stat -a -e core_imc/event=0x98/ -- \
		perf record -o $DATA -e $EVENT -c 1 -a true 2>&1)" 'busy|EBUSY'
	contains "tracing while thread counts" "$(perf stat -e thread_imc/event=0x98/ -- \
		perf record -o $DATA -e $EVENT -c 1 -- true 2>&1)" 'busy|EBUSY'
	for _ in 1 2 3; do
		record $EVENT -c 1 -- true
		perf stat -x, -a -e core_imc/event=0x98/ true > /tmp/said 2>&1
		fails grep -q 'not counted\|not supported' /tmp/said
	done
}

# The last of one kind closes while the other opens, over and over: either goes, never both; and each gets its turn.
test_exclusion_in_passing() {
	(for _ in $(seq 8); do
		perf record -q -o /tmp/a.data -e $EVENT -c 1 -a -- true && echo trace
	done) > /tmp/traced 2> /dev/null &
	for _ in $(seq 8); do
		perf stat -a -e core_imc/event=0x98/ true > /dev/null 2>&1 && echo core
		perf stat -e thread_imc/event=0x98/ true > /dev/null 2>&1 && echo thread
	done > /tmp/counted || :
	wait
	for kind in trace core thread; do
		times=$(cat /tmp/traced /tmp/counted | grep -c $kind) || :
		echo "$kind: $times of 8 times"
		within "times for $kind" "$times" 1 8
	done
	equal "times that both were on" "$(pmu-model get core0 checkstop)" 0
	equal "LDBAR with both bits" "$(($(pmu-model get thread0 undefined) + $(pmu-model get thread1 undefined)))" 0
	# The engine goes off soon after the last event.
	sleep 0.5
	equal "engine" "$(pmu-model get core0 running)" 0
}

run_tests
