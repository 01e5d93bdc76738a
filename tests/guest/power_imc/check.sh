#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check: a machine that works passes, and each fault is said.
#
# kernels vm: --tools --arch ppc64le --kernel 6.12 --model power9,chips=2 --timeout 900
. ./power_imc/lib.sh
. ./check.sh

as_it_was() {
	pmu-model set 'core*' refuse 0
	pmu-model set 'thread*' deaf 0
	pmu-model set 'nest*' traffic 0
	echo 1 > /proc/sys/kernel/perf_event_paranoid
}

# The model's powerbus has no clock: only what is added counts.
test_a_good_machine() {
	good_machine 'log|nest|devices'
	contains "events" "$(cat /tmp/report.md)" '^core_imc/CPM_.*[1-9]'
}

test_the_powerbus() {
	trap as_it_was EXIT
	[ -e $PMUS/nest_powerbus0_imc/events/PM_PB_CYC ] || skip "this machine has no PM_PB_CYC"
	pmu-model set 'nest*' traffic 8000000
	found nest ok '2.* GHz'
	pmu-model set 'nest*' traffic 80000000
	found nest FAIL 'cycles of the bus a second'
}

test_an_engine_that_does_not_start() {
	trap as_it_was EXIT
	pmu-model set core0 refuse 15
	found events FAIL 'core_imc/.*did not start the counter'
	as_it_was
	found reference '(ok|skip)' .
}

# An engine that loses its mode, as in a deep sleep.
test_an_engine_that_stops() {
	[ -e $PMUS/core_imc/events/CPM_32MHZ_CYC ] || skip "this machine has no CPM_32MHZ_CYC"
	echo 'set core0 lost 1' > /tmp/add
	while_adding 0.2 found reference FAIL 'core_imc on CPU 0: the clock of 32 MHz has'
	found reference ok 'MHz'
}

# Cycles that no processor makes, and of its parts more than of the whole.
test_too_many_cycles() {
	for event in CPM_CCYC CPM_PCYC CPM_NON_IDLE_PCYC; do
		[ -e $PMUS/core_imc/events/$event ] || skip "this machine has no $event"
	done
	echo "add core0 $(offset CPM_CCYC) 20000000" > /tmp/add
	echo "add core0 $(offset CPM_NON_IDLE_PCYC) 20000000" >> /tmp/add
	while_adding 0.05 found cycles FAIL 'core_imc on CPU 0: .* cycles a second, of a core that is awake' \
		parts note 'core_imc on CPU 0: CPM_PCYC is .*, of which CPM_NON_IDLE_PCYC'
}

offset() { # EVENT
	sed 's/event=//' "$PMUS/core_imc/events/$1"
}

# LDBAR is out of the kernel's reach, so a thread's engine has no page to count to.
test_a_thread_that_is_not_counted() {
	trap as_it_was EXIT
	pmu-model set 'thread*' deaf 1
	found threads FAIL 'thread_imc/.*/ counted nothing of a program that has worked'
	as_it_was
	found threads ok '[1-9][0-9,]* instructions of this program'
}

# Ten records, of which three are no good and so lost to perf: these and no others.
test_records_that_are_no_good() {
	trace_every $NEVER
	lost=$(($(trace_sum lost) + 3)) corrupt=$(($(trace_sum corrupt) + 3))
	trace_record -- taskset 1 sh -c 'pmu-model set thread0 corrupt 3; pmu-model set thread0 burst 10'
	trace_every 0
	equal "lost, by perf" "$(trace_lost)" 3
	found rings note "CPU 0: since the module was loaded $lost records of a trace were lost, $corrupt of them no good"
}

# load.c itself runs here: the model counts its instructions, and makes records of it. Then half of these, and two
# functions that have as much of the time each.
#
# A round of heavy() and light() has 280,000 instructions. So many to a record are in the golden ratio to it: with 200,000, at
# five of seven places or at six of them there was always heavy().
test_load() {
	trace_every 173050
	LOAD=$(command -v pmu-load)
	loaded 0 '^ok    load-thread'
	contains "shares" "$(cat /tmp/said)" '^ok    load-shares'
	grep -A 1 '^ok    load' /tmp/said | show
	load_program <<-'EOT'
		case $1 in
		instructions) echo | pmu-load instructions "$2" $(($3 / 2)) ;;
		shares) pmu-spin rounds 1000 1 1 ;;
		esac > /dev/null
	EOT
	LOAD=/tmp/load
	loaded 1 '^FAIL  load-thread'
	contains "shares" "$(cat /tmp/said)" '^FAIL  load-shares'
	trace_every 0
}

test_rights() {
	without_rights
}

run_tests
