#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A carry between the two halves of a read. The same steps on both drivers: ours is exact,
# the in-tree driver is off by 2^32 at once and by 2^48 from the next read on.
#
# vm: --kernel '6.1 6.12' --driver 'ours in-tree' --model snbep
# vm: --kernel 6.1 --driver ours --model snbep --param intel_imc_pmu.access=pci
. ./intel_imc/lib.sh

# Just below the low half's end; 0x30 events come right after the low half was read.
torn_read() {
	pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 0xfffffff0' \
		-x 'pmu-model set imc0 tear0 0x30' -x true
}

test_torn_between_the_halves() {
	equal "the counter starts at" "$((0 + $(pmu-model get imc0 ctr0)))" 0
	got=$(torn_read | tr '\n' ' ')
	before=$((0xfffffff0)) truth=$((0xfffffff0 + 0x30))
	case $(readlink /sys/bus/pci/devices/0000:3f:10.0/driver) in
	*/intel_imc_pmu) equal "counts" "$got" "$before $truth $truth " ;;
	*) equal "the in-tree driver's counts" "$got" \
		"$before $((before + (1 << 32))) $((truth + (1 << 48))) " ;;
	esac
}

run_tests
