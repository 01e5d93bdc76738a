#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# trace_imc: profiles that are right, nothing lost, nobody interrupted, whose samples they are, and who else may count.
# What is thinned, limited or corrupt, and what it costs, is in trace_limits.sh. The model
# makes records by the instructions that are executed, so their numbers follow from counting; runs by the clock
# for long, as hardware makes records, are in trace_soak.sh.
#
# vm: --arch ppc64le --kernel 6.12 --driver ours --model power9 --timeout 600
# kernels vm: --arch ppc64le --kernel 6.1 --driver ours --model power9 --timeout 600
. ./power_imc/lib.sh

trap 'trace_every 0; pmu-model set "thread*" trace-div 64' EXIT

# perf is on CPU 1, what is traced on CPU 0, if it is a program.
on_cpu0() { # OPTION... -- COMMAND...
	taskset 2 perf record -q --no-bpf-event -o $DATA -e $EVENT -c 1 --sample-cpu "$@" > /tmp/said 2>&1 || { cat /tmp/said; return 1; }
}

# A function that has three quarters of a program's instructions has them in the profile, and perf report says so.
test_profile() {
	trace_every $INSTRUCTIONS
	for what in '' -a; do
		# shellcheck disable=SC2086 # none or one
		on_cpu0 $what -- taskset 1 $SPIN
		trace_is_profile_of_spin
	done
	perf report -i $DATA --stdio > /tmp/report 2>&1
	contains "report" "$(cat /tmp/report)" '# Total Lost Samples: 0'
	grep -E '^# (Event count|Overhead)|^ +[0-9]' /tmp/report | head -n 3 | show
	perf script -i $DATA -F ip,sym 2> /dev/null | awk '/heavy/ { heavy++ } /./ { all++ } END { printf "%.2f", 100 * heavy / all }' \
		> /tmp/percent
	contains "heavy in the report" "$(cat /tmp/report)" "^ *$(cat /tmp/percent)% .* heavy *\$"
}

# At once three profiles: of everything, of user programs, of the kernel. They share the ring, and each has all of it
# that is its own: while all three are on, the first is the other two, record by record. perf switches them on and off
# one after the other.
test_user_and_kernel() {
	trace_every $INSTRUCTIONS
	trace_record -C 0 -e ${EVENT}u -e ${EVENT}k -- taskset 1 sh -c "$SPIN; dd if=/dev/zero of=/dev/null bs=512 count=5000"
	trace_lines event,ip | sed 's/.* \([0-9.]*\): *[^ ]*trace_cycles\/\([uk]*\): */\2 \1 /' | sort -n -k 2 > /tmp/samples
	for whose in '' u k; do
		sed -n "s/^$whose //p" /tmp/samples | sort -n > /tmp/of_$whose
	done
	user=$(wc -l < /tmp/of_u) kernel=$(wc -l < /tmp/of_k)
	show "user $user, kernel $kernel"
	within "user" "$user" 1000 10000
	within "kernel" "$kernel" 100 100000
	equal "kernel's addresses for the user" "$(grep -c ' c[0-9a-f]\{15\} *$' /tmp/of_u)" 0
	equal "kernel's addresses for the kernel" "$(grep -c ' c[0-9a-f]\{15\} *$' /tmp/of_k)" "$kernel"
	# The kernel runs before and after the program. An event's clock may differ by a microsecond from another's.
	from=$(for whose in '' k; do head -n 1 /tmp/of_$whose; done | sort -n | tail -n 1 | cut -d ' ' -f 1)
	to=$(for whose in '' k; do tail -n 1 /tmp/of_$whose; done | sort -n | head -n 1 | cut -d ' ' -f 1)
	for whose in whole parts; do
		case $whose in whole) cat /tmp/of_ ;; parts) sort -n /tmp/of_u /tmp/of_k ;; esac |
			awk -v from="$from" -v to="$to" '$1 > from + 5e-6 && $1 < to - 5e-6 { print $2 }' > /tmp/$whose
	done
	within "while all are on" "$(wc -l < /tmp/whole)" $((user + kernel - 100)) $((user + kernel))
	equal "what one has and the others have not" "$(diff /tmp/whole /tmp/parts)" ""
}

# A program's functions have what they execute of the samples; by all CPUs' events or by the program's, it is the same.
test_nothing_is_lost() {
	trace_every $INSTRUCTIONS
	all_is_taken 1000 -- $SPIN
	mine=$(trace_samples ' \(heavy\|light\)$')
	all_is_taken 1000 -a -- $SPIN
	within "of its functions" "$(trace_samples ' \(heavy\|light\)$')" $((mine - 4)) $((mine + 4))
}

# Three times round the ring, which has 4096. Whoever made a burst ends, and there is a drain. Those of a program, whose
# event stops and starts in between, are so close to each other that some have the same time in perf's file.
test_nothing_is_lost_where_the_ring_wraps() {
	trace_every $NEVER
	laps=$(trace_sum laps)
	# shellcheck disable=SC2016 # for the inner shell
	bursts='for _ in $(seq 10); do pmu-model set thread0 burst 1500; done'
	all_is_there 15000 -a -- taskset 1 sh -c "$SPREAD; $bursts"
	trace_every $NEVER
	before=$(trace_made) taken=$(trace_sum taken) samples=$(trace_sum samples)
	trace_record -- taskset 1 sh -c "$bursts"
	equal "a program's records, taken, samples" \
		"$(($(trace_made) - before)) $(($(trace_sum taken) - taken)) $(($(trace_sum samples) - samples))" "15000 15000 15000"
	equal "laps" "$(trace_sum laps)" "$laps"
}

# As hardware makes them, only slower, for as long as it takes; and at the rate of the kernel's document. While the CPU
# runs others there are records, too, which nobody takes.
test_nothing_is_lost_by_the_clock() {
	trace_every 0
	for row in 31:500 512:200; do
		pmu-model set 'thread*' trace-div "${row%:*}"
		all_is_taken $((${row#*:} / 2)) -- taskset 1 sh -c "end=\$((\$(pmu-model get thread0 total) + ${row#*:}))
			until [ \$(pmu-model get thread0 total) -ge \$end ]; do $SPIN_SHORT; done"
	done
}

# None of the counters. The timer's come 1009 us apart, however many records there are.
test_no_interrupts() {
	trace_every $INSTRUCTIONS
	interrupts=$(grep PMI: /proc/interrupts) samples=$(trace_sum samples) timers=$(trace_sum timers) start=$(now)
	trace_record -- $SPIN
	us=$((($(now) - start) / 1000)) samples=$(($(trace_sum samples) - samples)) timers=$(($(trace_sum timers) - timers))
	equal "interrupts" "$(grep PMI: /proc/interrupts)" "$interrupts"
	show "timer interrupts: $timers, samples: $samples, in $((us / 1000)) ms"
	within "timer interrupts" $timers 1 $((us / 1009 + 2))
}

# The commands of the kernel's document (Documentation/arch/powerpc/imc.rst), with the names that it has today, at both
# rates: each record is a sample, nothing interrupts, and perf top shows where the CPUs are. Where an emulator that was held
# up makes its records up, they come more often than perf asks for, and not all are samples.
test_the_kernels_document() {
	trace_every 0
	perf list > /tmp/list 2>&1
	contains "perf list" "$(cat /tmp/list)" 'nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/'
	contains "perf list" "$(cat /tmp/list)" 'trace_imc/trace_cycles/'
	contains "per chip" "$(perf stat -e "nest_mcs01_imc/PM_MCS01_128B_WR_DISP_PORT01/" -a --per-socket true 2>&1)" '^S0 +1 +[0-9]'
	(sleep 6; kill -INT "$(cat /tmp/stat)") &
	sh -c 'echo $$ > /tmp/stat; exec perf stat -e "core_imc/CPM_NON_IDLE_INST/" -C 0 -I 1000' > /tmp/said 2>&1 || :
	contains "intervals" "$(cat /tmp/said)" '^ +1\.[0-9]+ +[1-9][0-9]* +core_imc/CPM_NON_IDLE_INST/'
	contains "make" "$(perf stat -e "thread_imc/CPM_MSR_TA_USER_PCYC/" $SPIN_SHORT 2>&1)" '[0-9] +thread_imc/CPM_MSR_TA_USER_PCYC/'
	interrupts=$(grep PMI /proc/interrupts)
	for row in 64:1000 512:150; do
		pmu-model set 'thread*' trace-div "${row%:*}"
		taken=$(trace_sum taken) samples=$(trace_sum samples)
		(cd /tmp && timeout -s INT 7 perf record -e trace_imc/trace_cycles/ yes > /dev/null 2> /tmp/said) || :
		taken=$(($(trace_sum taken) - taken)) samples=$(($(trace_sum samples) - samples))
		show "$row: $taken records, $samples samples; ticks between records: $(sed 's/.* step \([0-9]*\) .*/\1/' "$DEBUG/trace" | xargs)"
		within "records" $taken "${row#*:}" 100000
		within "samples" "$(trace_samples '' /tmp/perf.data)" $((taken - taken / 50)) $taken
		contains "report" "$(perf report -i /tmp/perf.data --stdio 2> /dev/null)" '^ +[0-9.]+% +yes '
		yes > /dev/null &
		# At the end of its input it would ask for a key for ever.
		(sleep 10; echo q) | timeout -k 5 60 perf top --stdio -d 2 -e trace_imc/trace_cycles/ > /tmp/top 2>&1 || :
		kill $!
		contains "perf top" "$(cat /tmp/top)" '^ +[1-9][0-9]*\.[0-9]+% '
	done
	equal "interrupts" "$(grep PMI /proc/interrupts)" "$interrupts"
}

# Two tasks take turns on a CPU: each function's samples are of the task that runs it. Once by CPU; and once by
# events that both have inherited, which perf does not schedule out and in between the two.
test_whose_samples() {
	trace_every $INSTRUCTIONS
	for whole in '' -a; do
		# shellcheck disable=SC2086 # none or one
		trace_record $whole -- sh -c 'taskset 1 pmu-spin rounds 300 1 0 & echo $! > /tmp/heavy
			taskset 1 pmu-spin rounds 300 0 1 & echo $! > /tmp/light; wait'
		perf script -i $DATA -F pid,ip,sym 2> /dev/null | awk '$NF == "heavy" || $NF == "light" { print $1, $NF }' > /tmp/pairs
		equal "pairs of task and function" "$(sort -u /tmp/pairs)" \
			"$(printf '%s heavy\n%s light\n' "$(cat /tmp/heavy)" "$(cat /tmp/light)" | sort)"
		for function in heavy light; do
			within "samples of $function" "$(grep -c $function /tmp/pairs)" 200 5000
		done
	done
}

# Programs that run already. -p has all threads of a process, also those that it makes later, and the programs that it
# starts; -t has one thread, and nothing that it makes or starts.
test_what_runs_already() {
	trace_every $INSTRUCTIONS
	taskset 1 pmu-spin threads 100000000 &
	# Its first thread waits for each of the others: until there have been twenty.
	cat > /tmp/twenty <<-'EOT'
		waits() { sed -n 's/^voluntary_ctxt_switches:\t//p' "/proc/$1/status"; }
		enough=$(($(waits "$1") + 20))
		while kill -0 "$1" && [ "$(waits "$1")" -lt $enough ]; do sleep 0.1; done
	EOT
	for what in -p -t; do
		trace_record $what $! -- sh /tmp/twenty $!
		perf script -i $DATA -F pid,tid,ip,sym 2> /dev/null | sed 's/^ *//; s/\// /' > /tmp/samples
		equal "$what: processes" "$(cut -d ' ' -f 1 /tmp/samples | sort -u)" $!
		cut -d ' ' -f 2 /tmp/samples | sort -u > /tmp/threads
		heavy=$(grep -c heavy /tmp/samples) || :
		case $what in
		-p)
			within "threads" "$(grep -c . /tmp/threads)" 3 10000
			within "samples of threads" "$heavy" 3 100000
			;;
		-t)
			equal "threads" "$(cat /tmp/threads)" $!
			equal "samples of other threads" "$heavy" 0
			;;
		esac
	done
	kill $!

	for what in -p -t; do
		rm -f /tmp/go /tmp/done
		sh -c "while [ ! -e /tmp/go ]; do sleep 0.1; done; taskset 1 $SPIN; touch /tmp/done; sleep 1000" &
		trace_record $what $! -- sh -c 'touch /tmp/go; while [ ! -e /tmp/done ]; do sleep 0.1; done'
		within "$what: samples of the shell" "$(trace_lines ip,comm | grep -c ' sh ')" 1 10000
		case $what in
		-p) trace_is_profile_of_spin ;;
		-t) equal "samples of what it started" "$(trace_samples heavy)" 0 ;;
		esac
		kill $!
	done
}

# Threads that end before they were switched away from once: they have a number only up to then.
test_whose_end() {
	trace_every $INSTRUCTIONS
	trace_record -a -- taskset 1 pmu-spin threads 300
	perf script -i $DATA -F tid,ip,sym 2> /dev/null | grep heavy > /tmp/heavy
	within "samples" "$(grep -c . /tmp/heavy)" 300 10000
	equal "samples of nobody" "$(grep -c '^ *-1 ' /tmp/heavy)" 0
}

# A sample has the hardware's 64 bytes behind 8: they begin and end with the timebase, whose low 40 bits are
# compared. Its time is that timebase's, by any clock: 512 ticks are 1000 ns. The clocks are compared once for
# each drain, which takes all that is there.
test_raw_records_and_when() {
	trace_every $NEVER
	for clock in '' '-k CLOCK_MONOTONIC' '-k CLOCK_MONOTONIC_RAW'; do
		# shellcheck disable=SC2086 # none or two
		trace_record $clock -R -C 0 -- taskset 1 sh -c "$SPREAD"'; for _ in 1 2; do pmu-model set thread0 burst 300; done'
		perf report -i $DATA -D > /tmp/dump 2> /tmp/said
		awk '
			function number(hex,   i, n) {
				for (i = 1; i <= length(hex); i++)
					n = 16 * n + index("0123456789abcdef", substr(hex, i, 1)) - 1
				return n
			}
			/^\. +[0-9a-f]+: /	{ text = $0; sub(/^\. +[0-9a-f]+: +/, "", text); bytes = bytes substr(text, 1, 47) " " }
			/PERF_RECORD_SAMPLE/	{
				gsub(/[^0-9a-f]/, "", bytes)
				record = substr(bytes, length(bytes) - 135, 128)
				good += substr(record, 7, 10) == substr(record, 119, 10)
				tb = number(substr(record, 5, 12))
				off = ($2 - time) * 512 - (tb - last) * 1000
				if (n++ && (off > 2000 || off < -2000))
					uneven++
				time = $2; last = tb; bytes = ""
			}
			/^0x/			{ bytes = "" }
			END			{ print n + 0, good + 0, uneven + 0 }' /tmp/dump > /tmp/raw
		read -r samples good uneven < /tmp/raw
		show "$clock: $samples samples, $uneven of another drain"
		equal "samples" "$samples" 600
		equal "whole records" "$good" "$samples"
		within "samples that are not as far from the last as their records" "$uneven" 0 6
		fails grep -qi 'out of order' /tmp/said
	done
}

# A call chain is the address alone: the stack is that of the drain, not of the record.
test_call_chain() {
	trace_every $INSTRUCTIONS
	trace_record -g -- $SPIN_SHORT
	perf script -i $DATA -F ip 2> /dev/null | awk '
		NF { n++ }
		!NF { if (n) chains++; if (n > most) most = n; n = 0 }
		END { print most + 0, chains + 0 }' > /tmp/chains
	read -r most chains < /tmp/chains
	equal "longest" "$most" 1
	within "chains" "$chains" 50 100000
}

# Of two profilers at a time each has all that is its own.
test_two_profiles() {
	trace_every $INSTRUCTIONS
	perf record -q -o /tmp/all.data -e $EVENT -c 1 -a -- perf record -q -o $DATA -e $EVENT -c 1 -- $SPIN > /tmp/said 2>&1
	mine=$(trace_samples heavy)
	within "heavy" "$mine" 500 5000
	equal "heavy of both" "$(trace_samples heavy /tmp/all.data)" "$mine"
}

test_refused() {
	contains "counting" "$(perf stat -e $EVENT true 2>&1)" 'not supported'
	fails perf record -q -o $DATA -e trace_imc/event=0x1/ -c 1 -- true
	fails trace_record --call-graph dwarf -- true
	fails trace_record -a -e core_imc/event=$INST/ -- true
	paranoid=$(cat /proc/sys/kernel/perf_event_paranoid)
	echo -1 > /proc/sys/kernel/perf_event_paranoid
	without=$(pmu-event --user 1000 --period 250 trace_imc:$CONFIG) || :
	echo "$paranoid" > /proc/sys/kernel/perf_event_paranoid
	equal "without privileges" "$without" EACCES
	equal "with privileges" "$(pmu-event --period 250 trace_imc:$CONFIG)" ""
	equal "with a signal for each sample" "$(pmu-event --pid 0 --period 250 --sigtrap trace_imc:$CONFIG || :)" \
		EOPNOTSUPP
}

CORE="pmu-event core_imc:$INST -x true"
THREAD="pmu-event --pid 0 --cpu -1 thread_imc:$TASK_INST -x true"
TRACE="pmu-event --period 250 trace_imc:$CONFIG -x true"

# One engine: nobody may accumulate while another traces, in either order, for as long as either
# is open and not longer.
test_exclusion() {
	for other in "$CORE" "$THREAD"; do
		equal "$other while tracing" "$(${TRACE%true} "$other || :" | head -n 1)" EBUSY
		equal "tracing during $other" "$(${other%true} "$TRACE || :" | head -n 1)" EBUSY
	done
	for _ in 1 2 3; do
		for one in "$TRACE" "$CORE" "$THREAD"; do
			$one > /dev/null
		done
	done
}

# The last of one kind closes while another opens, over and over, until each has had its turns: never are two on.
test_exclusion_in_passing() {
	hot=$(pmu-model get core0 hot)
	for one in "$TRACE" "$CORE" "$THREAD"; do
		for _ in 1 2 3 4 5; do
			until $one; do :; done
		done > /dev/null &
	done
	wait
	equal "times that both were on" "$(pmu-model get core0 checkstop)" 0
	equal "times that LDBAR was written while the engine was on" "$(pmu-model get core0 hot)" "$hot"
	equal "LDBAR with both bits" "$(get_all 'thread*' undefined)" "0 0 "
	eventually "engine" 0 pmu-model get core0 running
}

run_tests
