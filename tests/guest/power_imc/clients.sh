#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Tools that look for the in-tree driver's names: perf's metrics of POWER9's nest, and perf's tests
# of tables, names and formats. Its metrics of hv_24x7 are for partitions of another hypervisor.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9
# soak vm: --arch ppc64le --kernel 6.1 --driver ours --model power9
. ./power_imc/lib.sh

# What a metric says while N happen at each of some offsets: metric NAME N OFFSET...
metric() {
	name=$1 n=$2
	shift 2
	for offset in "$@"; do
		imc_add nest@0 "$offset" "$n"
	done > /tmp/add
	perf stat -x, -a -M "$name" -- sh /tmp/add 2>&1 | sed -n "s/.*100.00,\([0-9.]*\),\(..*\)  $name\$/\1 \2/p"
}

# perf takes a count for 64 bytes and a megabyte for 2^20 of them. The offsets are those of reads,
# 128 bytes each, by two ports of a pair of controllers, and of writes.
test_memory_bandwidth() {
	equal "mcs01-read" "$(metric mcs01-read 1000000 0xd0 0xf0)" "122.0 MB"
	equal "mcs01-write" "$(metric mcs01-write 1000000 0xd8 0xf8)" "122.0 MB"
	equal "mcs23-read" "$(metric mcs23-read 3000000 0x50 0x70)" "366.0 MB"
	equal "mcs23-write" "$(metric mcs23-write 3000000 0x58 0x78)" "366.0 MB"
	equal "Memory-bandwidth-MCS" "$(metric Memory-bandwidth-MCS 1000000 0xd0 0xf0 0xd8 0xf8 0x50 0x70 0x58 0x78)" \
		"488.0 MB"
}

test_powerbus_frequency() {
	equal "powerbus_freq" "$(metric powerbus_freq 3000000000 0x80)" "3.0 GHz"
}

# perf 6.12 takes NAME.scale, where NAME is in capitals, for an event with a bad name; the in-tree
# driver's as well.
test_perf_test() {
	perf_tests
	[ -z "$failed" ] || equal "tests failed" "$failed" "PMU event names"
}

# perf resolves every name that sysfs offers.
test_perf_takes_every_name() {
	for dir in $PMUS/nest_*_imc $PMUS/core_imc $PMUS/thread_imc; do
		pmu=${dir##*/}
		[ "$pmu" = thread_imc ] && how= || how=-a
		names=$(find "$dir/events" -type f | sed -n "s|.*/\([^.]*\)\$|-e $pmu/\1/|p")
		# shellcheck disable=SC2086 # lists
		perf stat -x, $how $names true > /tmp/said 2>&1 || { cat /tmp/said; exit 1; }
		equal "$pmu, events counted" "$(grep -Ec "^[0-9.]+,[a-z]*,$pmu/" /tmp/said)" "$(echo "$names" | wc -l)"
	done
}

run_tests
