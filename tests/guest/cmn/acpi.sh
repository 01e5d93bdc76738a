#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Meshes that ACPI describes, as on servers: found by their names there, with the root of a CMN-600 as a second
# region in the first, and with interrupts. The in-tree driver finds the same ones.
#
# vm: --arch arm64 --kernel '6.1 6.12' --driver ours --model cmn600,acpi=on --model cmn700,acpi=on
# vm: --arch arm64 --kernel 6.12 --driver in-tree --model cmn600,acpi=on --model cmn700,acpi=on
. ./cmn/lib.sh

test_acpi_and_no_device_tree() {
	[ ! -e /sys/firmware/devicetree/base/cpus ]
	contains "devices" "$(cat /sys/bus/acpi/devices/*/hid)" '^ARMHC600$'
	contains "devices" "$(cat /sys/bus/acpi/devices/*/hid)" '^ARMHC700$'
	equal "PMUs" "$(wc -l < /tmp/meshes)" 2
}

test_counts() {
	for mesh in cmn0 cmn1; do
		use_mesh $mesh
		expect $((70000 * $(nodes hnf | wc -l))) hnf_cache_miss -- "add $MODEL hnf_cache_miss 70000"
		counted
	done
}

# Of both DTCs: at a node of each domain more than the hardware has room for, and nobody reads in between.
test_interrupts() {
	for mesh in cmn0 cmn1; do
		use_mesh $mesh
		more=''
		for id in $(nodes hnf | sed -n '1p;$p'); do
			more="$more add $MODEL hnf_cache_miss@$id 140737488355328;"
		done
		got=$(pmu-event --manual "$PMU/hnf_cache_miss/" -x "@model $more $more $more" -x @read)
		equal "3 * 2^47 at each end of $mesh" "$got" $((6 << 47))
	done
}

find_meshes
run_tests
