#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A kernel that wants signatures refuses what has none, and its log says why. The kernel's own modules are signed.
#
# all vm: --kernel 6.12 --driver none --append module.sig_enforce=1
# kernels vm: --kernel 6.1 --driver none --append module.sig_enforce=1
. ./intel_imc/lib.sh

test_unsigned_is_refused() {
	log_mark
	fails insmod $MODULES/pmu_core.ko 2> /tmp/said
	contains "said" "$(cat /tmp/said)" 'Key was rejected by service'
	contains "log" "$(log_since_mark)" 'Loading of unsigned module is rejected'
	modprobe intel-uncore
	rmmod intel_uncore
}

run_tests
