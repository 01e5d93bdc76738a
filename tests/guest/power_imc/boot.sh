#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The in-tree driver is built in, so the boot parameter decides, and pmu-driver has GRUB give it.
#
# all vm: --arch ppc64le --kernel 6.12 --driver in-tree --udev --model power9 --timeout 900
# all vm: --arch ppc64le --kernel 6.12 --driver in-tree --udev --model power9 --timeout 900 --append initcall_blacklist=opal_imc_driver_init
# soak vm: --arch ppc64le --kernel 6.12 --driver in-tree --udev --model power9 --timeout 900 --append initcall_blacklist=opal_imc_driver_init --append boots=20
. ./lib.sh
OURS=power_imc_pmu TWIN=
. ./boot.sh

PARAMETER=initcall_blacklist=opal_imc_driver_init
if grep -qw $PARAMETER /proc/cmdline; then given=1; else given=; fi
# Who has the counters where nobody has asked for ours.
others=${given:+nobody}
others=${others:-in-tree}

owner() {
	if ls -d /sys/bus/platform/drivers/power_imc_pmu/*/driver > /dev/null 2>&1; then
		echo $OURS
	elif [ -e $PMUS/core_imc ]; then
		echo in-tree
	else
		echo nobody
	fi
}

test_installing_changes_nothing() {
	installing_changes_nothing $others
}

test_ours_is_asked_for() {
	if [ -n "$given" ]; then
		ours_is_asked_for
	else
		trap as_it_was EXIT
		debian pmu-driver ours
		equal "owners" "$(owners 4)" in-tree
		contains "status" "$(debian pmu-driver 2>&1)" "this boot was without the boot parameter $PARAMETER"
	fi
}

test_asking_twice_is_asking_once() {
	mkdir -p $ROOT/etc/default/grub.d
	asking_twice_is_asking_once
}

# The file is part of GRUB's own configuration, which is a shell's.
test_grub_gives_the_parameter() {
	trap as_it_was EXIT
	mkdir -p $ROOT/etc/default/grub.d
	debian pmu-driver ours
	GRUB_CMDLINE_LINUX=quiet
	. $ROOT/etc/default/grub.d/pmu-suite.cfg
	equal "parameters" "$GRUB_CMDLINE_LINUX" "quiet $PARAMETER"
}

test_without_grub_it_is_said() {
	trap as_it_was EXIT
	contains "said" "$(debian pmu-driver ours 2>&1)" "your boot loader has to give it the boot parameter $PARAMETER"
}

test_it_is_given_back() {
	trap as_it_was EXIT
	mkdir -p $ROOT/etc/default/grub.d
	debian pmu-driver ours
	debian pmu-driver in-tree
	equal "what is left in /etc" "$(find $ROOT/etc -type f)" ""
	equal "owners" "$(owners 4)" $others
}

run_tests
