#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Trees of nodes that cannot be: no crash, a sentence, and the mesh is refused or what is left of it counts.
#
# vm: --arch arm64 --kernel 6.12 --driver none --model 'cmn700,corrupt=loop cmn700,corrupt=range cmn700,corrupt=count cmn600,corrupt=xp-loop cmn700,corrupt=xp-range cmn700,mesh=4x2,dtc=2,hnd=0.1.1,hnt=3.1.0,hnf=0.0.1+0.1.0,corrupt=type'
#
# Where the first device counts, it is one that the driver looks at: an HN-F.
. ./cmn/lib.sh

MESH=$PMUS/arm_cmn_0
insmod /vm/modules.d/pmu_core.ko
log_mark
insmod /vm/modules.d/cmn_pmu.ko
# What the kernel itself says when a probe fails is the same for all.
log_since_mark | grep 'cmn_pmu [0-9a-f]*\.pmu: ' | grep -v 'failed with error' > /tmp/said

# A mesh that is refused says why, once, and is no PMU.
test_one_sentence() {
	cat /tmp/said
	if [ -e "$MESH" ]; then
		contains "log" "$(cat /tmp/said)" 'XPs, 2 DTCs: arm_cmn_0'
	else
		equal "sentences" "$(grep -Ec ': error -E(INVAL|NODEV): .{15}' /tmp/said)" 1
	fi
}

# What is left counts exactly: HN-Fs of the first XP, which nothing happened to.
test_the_rest_counts() {
	[ -e "$MESH" ] || skip "the mesh was refused"
	got=$(pmu-event "$(cmn_event hnf_cache_miss,bynodeid=1,nodeid=0x4)" -x 'pmu-model add cmn0 hnf_cache_miss@0x4 70000')
	equal "misses at 0x4" "$got" 70000
}

# The model says when something was touched that must not be.
test_nothing_outside_was_touched() {
	for class in external isolated hole; do
		equal "$class" "$(pmu-model stats cmn0 | grep -c "^${class}[0-9]* 0 0$")" 2
	done
}

# The modules go as if nothing had been.
test_unload() {
	rmmod cmn_pmu
	rmmod pmu_core
	[ ! -e "$MESH" ]
}

run_tests
