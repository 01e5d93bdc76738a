#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Both drivers are installed, and udev looks for drivers: the administrator's choice decides, and nothing else.
#
# all vm: --arch arm64 --kernel 6.12 --driver none --udev --model cmn600 --timeout 900
# soak vm: --arch arm64 --kernel 6.12 --driver none --udev --model 'cmn600 cmn600,acpi=on' --append boots=20 --timeout 900
. ./lib.sh
OURS=cmn_pmu TWIN=arm_cmn
. ./boot.sh

owner() {
	found=
	for driver in cmn_pmu:$OURS arm-cmn:$TWIN; do
		ls -d /sys/bus/platform/drivers/${driver%:*}/*/driver > /dev/null 2>&1 && echo ${driver#*:} && found=1
	done
	[ -n "$found" ] || echo nobody
}

test_installing_changes_nothing() {
	installing_changes_nothing
}

test_ours_is_asked_for() {
	ours_is_asked_for
}

test_asking_twice_is_asking_once() {
	asking_twice_is_asking_once
}

test_it_is_given_back() {
	it_is_given_back
}

test_a_kernel_without_ours_has_its_own() {
	a_kernel_without_ours_has_its_own
}

test_now() {
	trap as_it_was EXIT
	boot 0
	debian pmu-driver ours --now
	equal "owner" "$(owner)" $OURS
	debian pmu-driver in-tree --now
	equal "owner" "$(owner)" $TWIN
	fails is_loaded pmu_core
}

run_tests
