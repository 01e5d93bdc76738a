#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Lockdown, which Secure Boot turns on: the mesh counts on, and debugfs, which is only read, can be read.
#
# all vm: --arch arm64 --kernel 6.12 --driver ours --model cmn600
# fresh: lockdown cannot be taken back
. ./cmn/lib.sh
find_meshes
use_mesh cmn0

drawing() {
	cat "/sys/kernel/debug/cmn_pmu/$PMU"
}

test_debugfs_and_counts() {
	mount -t securityfs security /sys/kernel/security
	before=$(drawing)
	for level in integrity confidentiality; do
		echo $level > /sys/kernel/security/lockdown
		contains "lockdown" "$(cat /sys/kernel/security/lockdown)" "\[$level\]"
		equal "drawing in $level" "$(drawing)" "$before"
		equal "clocks in $level" "$(pmu-event "$PMU/type=3/" -x true | grep -c '^[1-9]')" 1
	done
}

run_tests
