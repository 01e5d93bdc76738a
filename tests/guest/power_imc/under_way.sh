#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Records that are read while they are written, and what is under way when tracing stops. The driver counts on one
# thing only: the first or the last doubleword of a record is written last.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9
. ./power_imc/lib.sh

trap 'trace_every 0; pmu-model set thread0 order 0x01234567; pmu-model set thread0 hold 0; pmu-model set thread0 linger 0
	pmu-model set thread0 lossy 0; load' EXIT
trace_every $NEVER

# Seven records, each of which stops after one doubleword more and is looked at by the timer, several times, before it
# goes on. The ring was empty before.
record_in_order() { # ORDER
	load
	trace_record -C 0 -- taskset 1 sh -c "pmu-model set thread0 order $1
		for words in 1 2 3 4 5 6 7; do
			pmu-model set thread0 hold \$words; pmu-model set thread0 burst 1; sleep 0.03; pmu-model set thread0 hold 0
		done"
	pmu-model set thread0 order 0x01234567
}

# Samples at an address that nobody has written yet
too_early() {
	trace_lines ip | grep -c ' 0 *$' || :
}

test_orders_that_end_with_a_timebase() {
	for order in 0x01234567 0x76543210 0x71234560 0x06543217 0x12345607; do
		record_in_order $order
		equal "samples, corrupt, lost, too early in order $order" \
			"$(trace_samples) $(trace_sum corrupt) $(trace_sum lost) $(too_early)" "7 0 0 0"
	done
}

# Nothing tells that the rest of a record is still to come. If hardware writes so, samples are at addresses of records
# a lap before: this is what it looks like.
test_orders_that_do_not() {
	for order in 0x07123456 0x70654321; do
		record_in_order $order
		equal "samples in order $order" "$(trace_samples)" 7
		within "too early in order $order" "$(too_early)" 1 6
		show "order $order: $(too_early) of 7 samples are at another record's address"
	done
}

# The record under way when the event stops is completed, or lost. Either way it is no sample, and no other suffers.
test_record_under_way_when_tracing_stops() {
	for lossy in 0 1; do
		load
		pmu-model set thread0 lossy $lossy
		trace_record -C 0 -- taskset 1 sh -c 'pmu-model set thread0 burst 10; pmu-model set thread0 hold 4; pmu-model set thread0 burst 1'
		pmu-model set thread0 hold 0
		equal "samples, corrupt, lost, lossy=$lossy" "$(trace_samples) $(trace_sum corrupt) $(trace_lost)" "10 0 0"
		trace_record -C 0 -- taskset 1 pmu-model set thread0 burst 5
		equal "samples of the next" "$(trace_samples)" 5
	done
}

# An event starts while a record is under way, which is completed only afterwards. It is of nobody, and not lost.
test_record_under_way_when_tracing_starts() {
	for order in 0x01234567 0x76543210; do
		load
		pmu-model set thread0 order $order
		taskset 2 pmu-event --cpu 0 --period 250 trace_imc:$CONFIG -x 'taskset 1 pmu-model set thread0 burst 10' \
			-x '@disable' -x 'pmu-model set thread0 hold 4; taskset 1 pmu-model set thread0 burst 1' \
			-x '@enable' -x 'pmu-model set thread0 hold 0; sleep 0.05' \
			-x 'taskset 1 pmu-model set thread0 burst 5' > /tmp/counts
		equal "samples in order $order" "$(tail -n 1 /tmp/counts)" 15
		equal "corrupt, lost" "$(trace_sum corrupt) $(trace_sum lost)" "0 0"
	done
	pmu-model set thread0 order 0x01234567
}

# LDBAR is cleared for another kind, but the record is completed only afterwards, and nobody takes it for one of the next
# trace.
test_record_that_comes_after_tracing_has_stopped() {
	load
	pmu-model set thread0 linger 20000000
	trace_record -C 0 -- taskset 1 sh -c 'sleep 0.1; pmu-model set thread0 burst 10; pmu-model set thread0 hold 4
		pmu-model set thread0 burst 1'
	pmu-event core_imc:$INST > /dev/null
	eventually "LDBAR" 0 pmu-model get thread0 mode
	pmu-model set thread0 hold 0
	equal "samples, corrupt" "$(trace_samples) $(trace_sum corrupt)" "10 0"
	pmu-model set thread0 linger 0
	trace_record -C 0 -- taskset 1 pmu-model set thread0 burst 5
	equal "samples of the next" "$(trace_samples)" 5
}

run_tests
