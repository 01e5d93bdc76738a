#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine on which the third channel of some controllers of an Ice Lake-SP is active: these have a PMU, and of the others
# nothing is left. Exact counts of each, beside the in-tree driver: generations.sh.
#
# all vm: --kernel 6.12 --driver ours --model icx,sockets=2,third=5 --cpus 4 --timeout 600
# kernels vm: --kernel kunit --driver ours --model icx,sockets=2,third=5 --cpus 4 --timeout 600
. ./intel_imc/lib.sh
trap as_it_was EXIT

FUNCTION=0000:7e:00.1
UNTIL_ERROR='for _ in $(seq 6000); do [ "$(head -c 8 <&3 | wc -c)" = 0 ] && exit; sleep 0.01; done; exit 1'
ALL='0 1 2 3 4 6 7 8 9 10'

# Two PMUs more, which no line tells from others, and memory that is claimed for them on both sockets, beside that of eight
# channels and of four sets of free-running counters.
test_only_those_that_are_active() {
	unload
	pmu-model stats mmio@0 --reset > /dev/null
	log_mark
	load
	equal "PMUs" "$(of_socket_0)" "$ALL"
	equal "controller, channel" "$(cat $PMUS/uncore_imc_8/controller $PMUS/uncore_imc_8/channel | xargs)" "2 2"
	equal "lines" "$(log_since_mark | grep -c '7e:00.1: Ice Lake-SP channel counters of socket 0')" 10
	equal "lines about others" "$(log_since_mark | grep -c 'uncore_imc_\(5\|11\)' || :)" 0
	equal "memory that is claimed" "$(grep -c intel_imc_pmu /proc/iomem)" 28
	equal "accesses to the others" "$(pmu-model stats mmio@0 | sed -n 's/^phantom *//p' | xargs)" "8 6"
}

# All reads of the three channels of a controller are in its free-running counter.
test_three_channels_of_a_controller() {
	got=$(pmu-event uncore_imc_6:0xf04 uncore_imc_7:0xf04 uncore_imc_8:0xf04 uncore_imc_free_running_2:0x20ff \
		-x 'pmu-model add imc6 cas_rd 5; pmu-model add imc7 cas_rd 60; pmu-model add imc8 cas_rd 700')
	equal "reads" "$got" "5 60 700 765"
}

# One that has no clock yet, one that does not keep what is written, and one that nobody answers for
test_those_that_fail() {
	unload
	pmu-model set imc2 dead 1
	pmu-model set imc8 gone 1
	log_mark
	load
	equal "PMUs" "$(of_socket_0)" '0 1 3 4 6 7 9 10'
	contains "log" "$(log_since_mark)" '7e:00.1: the fixed counter does not advance.*uncore_imc_2 lacks socket 0'
	equal "lines about the other" "$(log_since_mark | grep -c '7e:00.1: .*uncore_imc_8' || :)" 0
	pmu-model set imc2 dead 0
	pmu-model set imc8 gone 0
	eventually "PMUs, with a clock" '0 1 2 3 4 6 7 9 10' of_socket_0
	unload
	pmu-model set imc8 lose 2
	load
	equal "PMUs, after lost writes" "$(of_socket_0)" '0 1 2 3 4 6 7 9 10'
	echo $FUNCTION > $DRIVER/unbind
	echo $FUNCTION > $DRIVER/bind
	equal "PMUs, bound again" "$(of_socket_0)" "$ALL"
}

test_function_goes_and_comes() {
	got=$(pmu-event uncore_imc_8:0xf04 -x 'pmu-model add imc8 cas_rd 5' -x "echo $FUNCTION > $DRIVER/unbind; $UNTIL_ERROR" | tr '\n' ' ')
	equal "counts" "$got" "5 error "
	equal "cpumask" "$(cat $PMUS/uncore_imc_8/cpumask)" 2
	echo $FUNCTION > $DRIVER/bind
	equal "PMUs" "$(of_socket_0)" "$ALL"
	equal "count" "$(pmu-event uncore_imc_8:0xf04 -x 'pmu-model add imc8 cas_rd 7')" 7
}

test_sleep() {
	got=$(pmu-event uncore_imc_2:0xf04 -x 'pmu-model add imc2 cas_rd 5' \
		-x 'pmu-model set firmware wake 200; echo mem > /sys/power/state' -x 'pmu-model add imc2 cas_rd 6' | tr '\n' ' ')
	equal "before, behind, after" "$got" "5 5 11 "
}

test_leaves_nothing() {
	unload
	equal "memory that is claimed" "$(grep -c intel_imc_pmu /proc/iomem || :)" 0
	no_leaks
	load
}

run_tests
