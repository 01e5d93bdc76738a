#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Loading and unloading: what a predecessor left on is stopped, nothing is left on by us, and both
# ways of switching engines do so.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver ours --model power9,chips=2
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

# Classes of accesses to a core's registers since the last reset, those that are not 0.
writes() { # DEVICE
	pmu-model stats "$1" --reset | sed -n 's/^\(pdbar\|htm\|event_mask\|trace\) [0-9]* \([1-9][0-9]*\)$/\1/p' | tr '\n' ' '
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

test_unknown_way() {
	rmmod power_imc_pmu 2> /dev/null || :
	log_mark
	fails insmod /vm/modules.d/power_imc_pmu.ko firmware=magic 2> /tmp/said
	contains "log" "$(log_since_mark)" 'firmware=magic is not known: it may be opal, scom or auto'
	equal "PMUs" "$(pmus)" ""
}

run_tests
