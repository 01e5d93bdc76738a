#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Both drivers on one machine: what ours says, and taking channels over one by one.
#
# all vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4
# kernels vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4
. ./intel_imc/lib.sh
trap as_it_was EXIT

# With the in-tree driver on the functions ours says what to do, and does not load.
test_in_tree_driver_has_the_device() {
	unload
	modprobe intel-uncore
	[ -e $PMUS/uncore_imc_0 ]
	log_mark
	insmod $MODULES/pmu_core.ko
	fails insmod $MODULES/intel_imc_pmu.ko 2> /tmp/said
	contains "insmod" "$(cat /tmp/said)" 'busy'
	# In one line, since who loads it by its aliases tries once for each function.
	# insmod tries twice.
	said=$(log_since_mark | sed 's/^\[[^]]*\] //' | grep 'snbep_uncore has' | sort -u)
	equal "lines" "$(echo "$said" | wc -l)" 1
	contains "log" "$said" 'memory channels;.*> /sys/bus/pci/drivers/snbep_uncore/unbind for 0000:'
	equal "functions" "$(echo "$said" | grep -o ' 0000:[37]f:10\.[0145]' | sort -u | wc -l)" 8
	# One device is taken over as the message says; the PMU's name is still the other driver's.
	echo 0000:3f:10.0 > /sys/bus/pci/drivers/snbep_uncore/unbind
	log_mark
	fails insmod $MODULES/intel_imc_pmu.ko 2> /tmp/said
	contains "log" "$(log_since_mark)" '3f:10.0: .*another driver has a PMU named uncore_imc_0'
	contains "log" "$(log_since_mark)" '3f:10.0: uncore_imc_0 lacks socket 0$'
	# Also where who loads it sees no sysfs.
	mkdir -p /tmp/jail
	cp /bin/busybox $MODULES/intel_imc_pmu.ko /tmp/jail
	log_mark
	fails chroot /tmp/jail /busybox insmod /intel_imc_pmu.ko 2> /tmp/said
	contains "log" "$(log_since_mark)" '3f:10.0: .*another driver has a PMU named uncore_imc_0'
	echo 0000:7f:10.0 > /sys/bus/pci/drivers/snbep_uncore/unbind
	insmod $MODULES/intel_imc_pmu.ko
	equal "ours counts" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 3')" 3
	equal "theirs counts" "$(pmu-event uncore_imc_1:0x304 -x 'pmu-model add imc1 cas_rd 4')" 4
	# The other driver has one socket of a channel alone, and so have neither of the two a whole PMU.
	rmmod intel_imc_pmu
	echo 0000:3f:10.1 > /sys/bus/pci/drivers/snbep_uncore/unbind
	log_mark
	insmod $MODULES/intel_imc_pmu.ko
	contains "log" "$(log_since_mark)" '3f:10.1: uncore_imc_1 lacks socket 0$'
	contains "log" "$(log_since_mark)" '7f:10.1: snbep_uncore has .*uncore_imc_1 of this driver lacks socket 1'
	equal "sockets that are said to lack in whole PMUs" \
		"$(log_since_mark | grep -c 'uncore_imc_0.* lacks' || :)" 0
	unload
	rmmod intel_uncore
}

# And back: what ours had, the in-tree driver takes again.
test_going_back() {
	load
	equal "ours" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 5')" 5
	unload
	modprobe intel-uncore
	equal "theirs" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 6')" 6
}

run_tests
