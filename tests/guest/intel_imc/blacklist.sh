#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine that does not come up with our driver: one parameter of the boot loader keeps it out, whatever was chosen.
#
# soak vm: --kernel 6.12 --driver none --udev --model snbep,sockets=2 --append module_blacklist=intel_imc_pmu --timeout 600
. ./lib.sh
OURS=intel_imc_pmu TWIN=intel_uncore
. ./boot.sh

owner() {
	for device in /sys/bus/pci/devices/*; do
		case $(cat "$device/device") in
		0x3cb0 | 0x3cb1 | 0x3cb4 | 0x3cb5) basename "$(readlink "$device/driver")" ;;
		esac
	done | sort -u
}

test_the_kernels_own_driver_counts() {
	trap as_it_was EXIT
	debian pmu-driver ours
	boot 0
	fails is_loaded $OURS
	equal "owner" "$(owner)" snbep_uncore
	contains "status" "$(debian pmu-driver)" "^pmu-driver: at boot: $OURS"
	fails debian pmu-driver status
}

run_tests
