#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Loading, unloading, unbinding, vanishing: with events open and without.
#
# vm: --kernel '6.1 6.12 kunit' --driver none --model snbep,sockets=2,dead=1.3 --timeout 900
. ./intel_imc/lib.sh

MODULES=/vm/modules.d
DRIVER=/sys/bus/pci/drivers/intel_imc_pmu

# From nothing, whatever a test that failed has left behind.
load() {
	rmmod intel_imc_pmu 2> /dev/null || :
	rmmod pmu_core 2> /dev/null || :
	insmod $MODULES/pmu_core.ko
	insmod $MODULES/intel_imc_pmu.ko
}

unload() {
	rmmod intel_imc_pmu
	rmmod pmu_core
}

# A module that is in use is not unloaded; with the last event closed it is.
test_rmmod_with_an_event_open() {
	load
	got=$(pmu-event uncore_imc_0:0x304 -x 'rmmod intel_imc_pmu 2> /tmp/said && exit 1
		pmu-model add imc0 cas_rd 5')
	equal "count" "$got" 5
	contains "rmmod" "$(cat /tmp/said)" 'temporarily unavailable|in use'
	unload
	[ ! -e $PMUS/uncore_imc_0 ]
}

# A channel whose clock stands still is reported and is in no PMU.
test_dead_channel() {
	log_mark
	load
	contains "log" "$(log_since_mark)" '7f:10.5: .*fixed counter does not advance'
	equal "cpumask of a channel that is whole" "$(cat $PMUS/uncore_imc_2/cpumask)" 0-1
	equal "cpumask of the half dead one" "$(cat $PMUS/uncore_imc_3/cpumask)" 0
	equal "event on the dead one" "$(pmu-event --cpu 1 uncore_imc_3:0x304)" ENODEV
	unload
}

# After unloading the registers are as after reset, for the next driver or none.
test_leaves_registers_as_after_reset() {
	load
	pmu-event uncore_imc_0:0x304 uncore_imc_0:0xff -x true > /dev/null
	unload
	for reg in d8 dc e0 e4 f0 f4; do
		offset=$((0x$reg))
		equal "register $reg" "$(dd if=/sys/bus/pci/devices/0000:3f:10.0/config bs=1 skip=$offset count=4 \
			2>/dev/null | hexdump -e '1/4 "%08x"')" 00000000
	done
}

test_load_and_unload_100_times() {
	for _ in $(seq 100); do
		load
		unload
	done
	# The debug kernel looks for what was forgotten; scripts/vm fails on its complaint.
	if [ -e /sys/kernel/debug/kmemleak ]; then
		sleep 6
		for _ in 1 2; do
			echo scan > /sys/kernel/debug/kmemleak
		done
		equal "leaks" "$(cat /sys/kernel/debug/kmemleak)" ""
	fi
}

# The device is unbound while it counts: the event fails, its sisters on others count on.
test_unbind_with_events_open() {
	load
	got=$(pmu-event uncore_imc_0:0x304 uncore_imc_1:0x304 \
		-x 'pmu-model add imc0 cas_rd 5; pmu-model add imc1 cas_rd 6' \
		-x "echo 0000:3f:10.0 > $DRIVER/unbind; sleep 0.5; pmu-model add imc1 cas_rd 10" | tr '\n' ' ')
	equal "before and after" "$got" "5 6 error 16 "
	equal "cpumask" "$(cat $PMUS/uncore_imc_0/cpumask)" 1
	echo 0000:3f:10.0 > $DRIVER/bind
	equal "cpumask when bound again" "$(cat $PMUS/uncore_imc_0/cpumask)" 0-1
	equal "counts again" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 7')" 7
	unload
}

# Both sockets' channel goes while an event is open: the PMU is gone as soon as it can be.
test_unbind_all_of_a_pmu() {
	load
	got=$(pmu-event uncore_imc_0:0x304 -x "echo 0000:3f:10.0 > $DRIVER/unbind
		echo 0000:7f:10.0 > $DRIVER/unbind; sleep 0.5
		pmu-event uncore_imc_0:0x304 > /tmp/second || :")
	equal "open event" "$got" error
	equal "new event meanwhile" "$(cat /tmp/second)" ENODEV
	echo 0000:3f:10.0 > $DRIVER/bind
	equal "joins the PMU that stayed" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 3')" 3
	echo 0000:3f:10.0 > $DRIVER/unbind
	[ ! -e $PMUS/uncore_imc_0 ]
	unload
}

# Surprise removal: all ones from every register. Nothing of that is counted.
test_function_answers_all_ones() {
	load
	got=$(pmu-event uncore_imc_1:0x304 -x 'pmu-model add imc1 cas_rd 5' \
		-x 'pmu-model set imc1 gone 1' -x 'sleep 0.5' | tr '\n' ' ')
	equal "counts" "$got" "5 5 error "
	pmu-model set imc1 gone 0
	# It answers again: a new event counts.
	equal "when it is back" "$(pmu-event uncore_imc_1:0x304 -x 'pmu-model add imc1 cas_rd 2')" 2
	unload
}

# Removed and found again by the PCI core, with an event open all the time.
test_pci_remove_and_rescan() {
	load
	got=$(pmu-event uncore_imc_2:0x304 -x 'pmu-model add imc2 cas_rd 5' \
		-x 'echo 1 > /sys/bus/pci/devices/0000:3f:10.4/remove; sleep 0.5' | tr '\n' ' ')
	equal "counts" "$got" "5 error "
	echo 1 > /sys/bus/pci/rescan
	equal "cpumask" "$(cat $PMUS/uncore_imc_2/cpumask)" 0-1
	equal "counts again" "$(pmu-event uncore_imc_2:0x304 -x 'pmu-model add imc2 cas_rd 4')" 4
	unload
}

# Without its UBOX a socket's channels belong nowhere; to guess would count for another socket.
test_no_ubox() {
	echo 1 > /sys/bus/pci/devices/0000:3f:0b.0/remove
	log_mark
	load
	contains "log" "$(log_since_mark)" '3f:10.0: .*no UBOX 8086:3ce0 on this bus, so its socket is unknown'
	equal "cpumask of the other socket" "$(cat $PMUS/uncore_imc_0/cpumask)" 1
	unload
	echo 1 > /sys/bus/pci/devices/0000:7f:0b.0/remove
	log_mark
	insmod $MODULES/pmu_core.ko
	fails insmod $MODULES/intel_imc_pmu.ko
	contains "log" "$(log_since_mark)" '8 memory channels found, none of which counts'
	[ ! -e $PMUS/uncore_imc_0 ]
	rmmod pmu_core
	echo 1 > /sys/bus/pci/rescan
	load
	equal "cpumask when they are back" "$(cat $PMUS/uncore_imc_0/cpumask)" 0-1
	unload
}

run_tests
