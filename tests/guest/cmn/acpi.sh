#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Meshes that ACPI describes, as on servers: found by their names there, with the root of a CMN-600 as a second
# region in the first, and with interrupts. The in-tree driver finds the same ones, but up to 6.12 none of another part
# that has a second region, too (-EBUSY). The first may begin before the mesh, where nothing answers, and the second where
# nothing can be read.
#
# all vm: --arch arm64 --kernel 6.12 --driver ours --model cmn600,acpi=on --model cmn700,acpi=on --model cmn700,acpi=two --model cmn700,acpi=before --model cmn700,acpi=odd
# kernels vm: --arch arm64 --kernel 6.1 --driver ours --model cmn600,acpi=on --model cmn700,acpi=on
# kernels vm: --arch arm64 --kernel 6.12 --driver in-tree --model cmn600,acpi=on --model cmn700,acpi=on
. ./cmn/lib.sh

test_acpi_and_no_device_tree() {
	[ ! -e /sys/firmware/devicetree/base/cpus ]
	cat /sys/bus/acpi/devices/*/hid > /tmp/hids
	contains "devices" "$(cat /tmp/hids)" '^ARMHC600$'
	contains "devices" "$(cat /tmp/hids)" '^ARMHC700$'
	equal "PMUs" "$(wc -l < /tmp/meshes)" "$(grep -c '^ARMHC' /tmp/hids)"
}

test_counts() {
	for mesh in $(meshes); do
		use_mesh $mesh
		expect $((70000 * $(nodes hnf | wc -l))) hnf_cache_miss -- "add $MODEL hnf_cache_miss 70000"
		counted
	done
}

# Of both DTCs: at a node of each domain more than the hardware has room for, and nobody reads in between.
test_interrupts() {
	bound N
	for mesh in $(meshes); do
		use_mesh "$mesh"
		more=''
		for id in $(nodes hnf | sed -n '1p;$p'); do
			more="$more add $MODEL hnf_cache_miss@$id 140737488355328;"
		done
		got=$(pmu-event --manual "$PMU/hnf_cache_miss/" -x "@model $more $more $more" -x @read)
		equal "3 * 2^47 at each end of $mesh" "$got" $((6 << 47))
	done
}

# The metrics that perf has for meshes, all of its tables. It sums up over them, so in all the same happens.
test_perf_metrics() {
	perf list --no-desc metric > /tmp/metrics 2>&1
	grep -q slc_miss_rate /tmp/metrics || skip "this perf or driver has none"
	equal "metrics" "$(grep -cE '^ +[a-z_.]+$' /tmp/metrics)" 8
	while read -r metric first second; do
		out=$(perf stat -x, -a -M "$metric" -- sh -c "echo \"add cmn0 $first 3000
			add cmn0 ${second:-$first} 12000\" | pmu-model -" 2>&1)
		if [ -n "$second" ]; then
			contains "$metric" "$out" ",25\.0,%  *$metric"
		else
			contains "$metric" "$out" "^[1-9][0-9]*000,,$first,"
			contains "$metric" "$out" ",[1-9][0-9]*\.[0-9],MB/s  *$metric"
		fi
	done <<-LIST
		slc_miss_rate hnf_cache_miss hnf_slc_sf_cache_access
		hnf_message_retry_rate hnf_pocq_retry hnf_pocq_reqs_recvd
		sf_hit_rate hnf_sf_hit hnf_slc_sf_cache_access
		mc_message_retry_rate hnf_mc_retries hnf_mc_reqs
		rni_retry_rate rnid_txreq_flits_retried rnid_txreq_flits_total
		rni_actual_read_bandwidth.all rnid_rxdat_flits
		rni_actual_write_bandwidth.all rnid_txdat_flits
		sbsx_actual_write_bandwidth.all sbsx_txdat_flitv
	LIST
}

find_meshes
run_tests
