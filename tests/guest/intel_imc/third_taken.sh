#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A channel of an Ice Lake whose name another driver has is left alone: a third one, and one that waits for its clock. Only
# the newest in-tree driver takes single names, and logs a stack dump for each that it cannot have.
#
# kernels vm: --kernel newest --driver ours --model icx,sockets=2,third=5 --cpus 4 --allow-warn --timeout 600
. ./intel_imc/lib.sh
trap as_it_was EXIT

FUNCTION=0000:7e:00.1
ALL='0 1 2 3 4 6 7 8 9 10'

# The in-tree driver of 7.3 has the PMU of a channel that was not there for ours. Then it is not touched.
test_its_name_is_taken() {
	unload
	pmu-model set 'imc2*' gone 1
	load
	equal "PMUs" "$(of_socket_0)" '0 1 3 4 6 7 8 9 10'
	modprobe intel-uncore
	[ -e $PMUS/uncore_imc_2 ]
	pmu-model set 'imc2*' gone 0
	echo $FUNCTION > $DRIVER/unbind
	pmu-model stats imc2 --reset > /dev/null
	log_mark
	echo $FUNCTION > $DRIVER/bind
	equal "accesses" "$(pmu-model stats imc2 | awk '{ n += $2 + $3 } END { print n }')" 0
	equal "lines" "$(log_since_mark | grep -c 'uncore_imc_2' || :)" 0
	equal "another of ours" "$(pmu-event uncore_imc_8:0xf04 -x 'pmu-model add imc8 cas_rd 7')" 7
	rmmod intel_uncore
	unload
	load
	equal "PMUs" "$(of_socket_0)" "$ALL"
}

# Nor is one that waits for its clock, as long as the other driver is there: it would be tried 1, 3, 7 and 15 s after ours came.
test_its_name_is_taken_while_it_waits() {
	unload
	pmu-model set 'imc2*' dead 1
	load
	equal "PMUs" "$(of_socket_0)" '0 1 3 4 6 7 8 9 10'
	modprobe intel-uncore
	[ -e $PMUS/uncore_imc_2 ]
	pmu-model stats imc2 --reset > /dev/null
	sleep 20
	equal "accesses" "$(pmu-model stats imc2 | awk '{ n += $2 + $3 } END { print n }')" 0
	pmu-model set 'imc2*' dead 0
	rmmod intel_uncore
	eventually "PMUs" "$ALL" of_socket_0
	equal "count" "$(pmu-event uncore_imc_2:0xf04 -x 'pmu-model add imc2 cas_rd 7')" 7
}

# Nor is it stopped when our driver leaves its function: it was never ours.
test_its_name_is_taken_when_ours_goes() {
	unload
	pmu-model set 'imc2*' dead 1
	load
	modprobe intel-uncore
	pmu-model set 'imc2*' dead 0
	equal "counts" "$(pmu-event uncore_imc_2:0xf04 -x 'pmu-model stats imc2 --reset > /dev/null' \
		-x "echo $FUNCTION > $DRIVER/unbind; pmu-model stats imc2 | awk '{ n += \$3 } END { print n + 0 }' > /tmp/writes" \
		-x 'pmu-model add imc2 cas_rd 7' | tail -n 1)" 7
	equal "writes" "$(cat /tmp/writes)" 0
	rmmod intel_uncore
	echo $FUNCTION > $DRIVER/bind
	eventually "PMUs" "$ALL" of_socket_0
}

run_tests
