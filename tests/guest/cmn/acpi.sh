#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A mesh that ACPI describes, as on servers: found by its name there, with the root of a CMN-600 as a second
# region in the first, and with interrupts. The in-tree driver finds the same one.
#
# vm: --arch arm64 --kernel 6.12 --driver 'ours in-tree' --model 'cmn600,acpi=on cmn700,acpi=on'
# vm: --arch arm64 --kernel 6.1 --driver ours --model cmn600,acpi=on
. ./cmn/lib.sh

HOME_NODES=$(pmu-model list cmn0 | grep -c '^node hnf ')

test_acpi_and_no_device_tree() {
	[ ! -e /sys/firmware/devicetree/base/cpus ]
	contains "devices" "$(cat /sys/bus/acpi/devices/*/hid)" '^ARMHC[67]00$'
}

test_counts() {
	got=$(pmu-event "$(cmn_event hnf_cache_miss)" -x 'pmu-model add cmn0 hnf_cache_miss 70000')
	equal "misses" "$got" $((70000 * HOME_NODES))
}

# Of both DTCs: at a node of each domain more than the hardware has room for, and nobody reads in between.
test_interrupts() {
	pmu-model list cmn0 | sed -n 's/^node hnf \(0x[0-9a-f]*\) .*/\1/p' | sed -n '1p;$p' > /tmp/ends
	more=true
	while read -r id; do
		more="$more; pmu-model add cmn0 hnf_cache_miss@$id 140737488355328"
	done < /tmp/ends
	got=$(pmu-event --manual "$(cmn_event hnf_cache_miss)" -x "$more; $more; $more" -x @read)
	equal "3 * 2^47 at each end" "$got" $((6 << 47))
}

run_tests
