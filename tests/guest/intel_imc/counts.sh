#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What events count: exact numbers, on our driver and, as the referee, on the in-tree one.
#
# vm: --kernel '6.1 6.12' --driver 'ours in-tree' --model snbep,sockets=2
# vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --param intel_imc_pmu.access=pci
. ./intel_imc/lib.sh

# Nothing happened but what the command made happen.
test_nothing_is_nothing() {
	equal "count" "$(pmu-event uncore_imc_0:0x304 -x true)" 0
}

# An exact number, by perf itself, as a user asks for it.
test_perf_stat_counts_exactly() {
	out=$(perf stat -x, -a -e uncore_imc/event=0x4,umask=0x3/ -- pmu-model add imc0 cas_rd 1000000 2>&1)
	contains "perf stat" "$out" '^1000000,,uncore_imc/event=0x4,umask=0x3/'
}

# One MiB is 16384 lines of 64 bytes.
test_mib_of_reads_and_writes() {
	out=$(perf stat -x, -a -e uncore_imc/cas_count_read/,uncore_imc/cas_count_write/ -- \
		sh -c 'pmu-model add imc1 cas_rd 16384; pmu-model add imc2 cas_wr 32768' 2>&1)
	contains "reads" "$out" '^1.00,MiB,uncore_imc/cas_count_read/'
	contains "writes" "$out" '^2.00,MiB,uncore_imc/cas_count_write/'
}

# Sockets and channels are told apart.
test_sockets_and_channels_apart() {
	cpus=$(cat "$PMUS/uncore_imc_0/cpumask")
	equal "cpumask" "$cpus" 0-1
	for cpu in 0 1; do
		got=$(pmu-event --cpu "$cpu" uncore_imc_0:0x304 uncore_imc_1:0x304 \
			-x 'pmu-model add imc0@0 cas_rd 11; pmu-model add imc1@0 cas_rd 12
			    pmu-model add imc0@1 cas_rd 21; pmu-model add imc1@1 cas_rd 22')
		[ "$cpu" = 0 ] && wanted='11 12' || wanted='21 22'
		equal "socket $cpu" "$got" "$wanted"
	done
}

# Edge, threshold and inversion do in the register what they say.
test_modifiers() {
	# Thresholds of 4 and 5 against clocks in which 4 came; bursts of 4 have edges of their own.
	got=$(pmu-event uncore_imc_0:0x80 uncore_imc_0:0x04000080 uncore_imc_0:0x05000080 \
		uncore_imc_0:0x01040080 -x 'pmu-model add imc0 rpq_occupancy 100 4')
	equal "occupancy, >= 4, >= 5, bursts" "$got" "400 100 0 100"
	# Clocks in which fewer than 5 came: all that passed, and the counter runs.
	got=$(pmu-event uncore_imc_0:0x05800080 uncore_imc_0:0xff -x true | tr ' ' '\n' | sort -n | head -n 1)
	[ "$got" -gt 0 ]
}

# Five in a group, four general and the fixed one, count the same interval.
test_full_group() {
	got=$(pmu-event --group uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x101 \
		uncore_imc_0:0x10 uncore_imc_0:0xff \
		-x 'pmu-model add imc0 cas_rd 7; pmu-model add imc0 cas_wr 8; pmu-model add imc0 rpq_inserts 9')
	equal "group" "${got% *}" "7 8 0 9"
	[ "${got##* }" -gt 0 ]
}

# The fixed counter against a general one on the same clock: as good as equal, and 800 MHz. They are
# read a few accesses apart; a busy host may stop the guest just there, but not five times.
test_clock() {
	for _ in 1 2 3 4 5; do
		got=$(pmu-event --group uncore_imc_0:0xff uncore_imc_0:0x00 -x 'sleep 0.2')
		fixed=${got% *} general=${got#* }
		within "clocks in 0.2 s" "$fixed" 160000000 1600000000
		permille=$((general * 1000 / fixed))
		[ $permille -ge 990 ] && [ $permille -le 1010 ] && return
	done
	within "general against fixed, permille" $permille 990 1010
}

# Where 48 bits wrap the count goes on: 2^48 - 16 events, a read, and a million more.
test_wraps_at_2_48() {
	now=$(pmu-model get imc3 ctr0)
	first=$((0xfffffffffff0 - now))
	got=$(pmu-event uncore_imc_3:0x304 -x "pmu-model add imc3 cas_rd $first" -x 'pmu-model add imc3 cas_rd 1000000')
	equal "before and after the wrap" "$got" "$first
$((first + 1000000))"
	equal "the counter did wrap" "$((0 + $(pmu-model get imc3 ctr0)))" $((1000000 - 16))
}

run_tests
