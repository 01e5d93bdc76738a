#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check --probe: each experiment on channels that answer as the driver assumes, and on one that does not, which is said
# with the number of its question.
#
# all vm: --tools --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --nodes 2 --timeout 900
. ./intel_imc/lib.sh
. ./check.sh

as_at_first() {
	for key in runs_frozen needs_umask doze; do
		pmu-model set 'imc*' $key 0
	done
}

# make EVENT...: these happen at all channels of socket 0, again and again
make() {
	printf "add imc*@0 %s\n" "$@" > /tmp/add
}

BAD='uncore_imc_1 on CPU 0'

# Its clock stands while both of its socket's CPUs sleep, whatever of the time that is.
test_a_clock_that_sleeps() {
	trap as_at_first EXIT
	probed sleep-clock answer '12[.]7: uncore_imc_0 on CPU 0: the clock runs [0-9.]+ % of the time while nothing runs'
	pmu-model set imc0@0 doze 1
	probed sleep-clock answer '12[.]7: uncore_imc_0 on CPU 0: the clock runs [0-9.]+ % of the time while nothing runs'
}

test_counters_that_do_not_freeze() {
	trap as_at_first EXIT
	probed freeze ok '12[.]2: uncore_imc_0 on CPU 0: 5 counters of clocks stopped within 0 clocks'
	pmu-model set imc1@0 runs_frozen 1
	probed freeze FAIL "12[.]2: $BAD: .*they are not stopped as one"
}

test_events_that_need_a_umask() {
	trap as_at_first EXIT
	make 'rpq_inserts 100'
	pmu-model set imc1@0 needs_umask 1
	while_adding 0.01 probed umask FAIL "12[.]9: $BAD: event 0x10 with umask 0 counts 0, with 1 [1-9]"
}

# A depth that starts from 0 where the queue is not empty is less than 1 in some of its clocks.
test_an_occupancy_that_begins_at_0() {
	trap as_at_first EXIT
	make 'rpq_cycles_ne 100' 'rpq_occupancy 100 2'
	while_adding 0.01 probed occupancy ok '12[.]11: uncore_imc_0 on CPU 0: .* add up to [1-9]'
	make 'rpq_cycles_ne 100' 'rpq_occupancy 50 1'
	while_adding 0.01 probed occupancy FAIL '12[.]11: uncore_imc_0 on CPU 0: .*does not start from'
}

run_tests
