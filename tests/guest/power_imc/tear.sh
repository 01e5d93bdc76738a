#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# POWER9's microcode posts a group of nest counters one by one. Who reads meanwhile sees some of
# this update and others of the last; the driver waits for the update's end.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver ours --model power9
. ./power_imc/lib.sh

# The first group: counts of updates begun and done at its ends, a counter in each half.
BEGUN=0x0
DONE=0x108
EARLY=0x10
LATE=0xf0

torn() {
	sed 's/.*torn //' /sys/kernel/debug/power_imc_pmu/nest
}

# Both counters get the same amount at every update. The frame's counts, which are read first and
# without waiting, show that reads did fall into updates. How often the driver gave up waiting it
# says itself: a host that stops the guest's clockwork makes an update as long as it likes.
test_group_is_of_one_update() {
	pmu-model set nest@0 slow 50000
	before=$(torn)
	for _ in $(seq 12); do
		set -- -x true -x true -x true -x true -x true -x true -x true -x true -x true -x true
		pmu-event --group nest_powerbus0_imc:$BEGUN nest_powerbus0_imc:$DONE \
			nest_powerbus0_imc:$EARLY nest_powerbus0_imc:$LATE \
			-x 'pmu-model set nest@0 flush 1; pmu-model set nest@0 traffic 100000000' \
			"$@" "$@" "$@" "$@" "$@" -x 'pmu-model set nest@0 traffic 0'
	done > /tmp/reads
	given_up=$(($(torn) - before))
	pmu-model set nest@0 slow 0
	within "reads" "$(sort -u /tmp/reads | wc -l)" 200 1000
	during=$(awk '$1 != $2' /tmp/reads | wc -l)
	within "reads of two updates, $given_up given up" "$(awk '$3 != $4' /tmp/reads | wc -l)" 0 $given_up
	within "reads while an update was under way, $given_up given up" "$during" $((given_up + 1)) 1000
}

# An update that never ends does not hang the reader: it gives up, and says so.
test_update_that_does_not_end() {
	before=$(torn)
	got=$(pmu-event nest_powerbus0_imc:$EARLY -x 'pmu-model set nest@0 flush 1
		pmu-model set nest@0 post 10000000; pmu-model set nest@0 slow 2000000000
		pmu-model add nest@0 0x10 5; sleep 0.5' -x 'pmu-model set nest@0 slow 0
		pmu-model set nest@0 post 1000000; pmu-model set nest@0 flush 1' | tr '\n' ' ')
	equal "counts" "$got" "5 5 "
	[ "$(torn)" -gt "$before" ]
}

run_tests
