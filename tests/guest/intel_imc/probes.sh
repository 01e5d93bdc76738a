#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A BPF program in a kernel probe reads an event. One that a breakpoint calls is in an NMI for the kernel: it
# may have come while the bus is locked, so it touches no register.
#
# all vm: --kernel 6.12 --driver ours --model snbep
# kernels vm: --kernel 6.1 --driver ours --model snbep
# all vm: --kernel 6.12 --driver ours --model snbep --param intel_imc_pmu.access=pci
# kernels vm: --kernel 6.1 --driver ours --model snbep --param intel_imc_pmu.access=pci
. ./intel_imc/lib.sh

ADD='pmu-model add imc0 cas_rd 100'

# The event's file descriptor is the first that pmu-event opens.
EVENT=3

test_program_reads() {
	got=$(pmu-event --manual uncore_imc_0:0x304 -x "$ADD" -x @read -x "pmu-probe $EVENT entry '$ADD'" -x @read)
	equal "read, by the program, read" "$(echo "$got" | tr '\n' ' ')" "100 200 200 "
}

# What it sees is the last count that was read.
test_program_in_an_nmi_reads() {
	got=$(pmu-event --manual uncore_imc_0:0x304 -x "$ADD" -x @read \
		-x "pmu-probe $EVENT inside '$ADD; pmu-model stats imc0 --reset > /tmp/before'; pmu-model stats imc0 > /tmp/stats" \
		-x @read)
	equal "read, by the program, read" "$(echo "$got" | tr '\n' ' ')" "100 100 200 "
	equal "accesses by the program" "$(awk '{ n += $2 + $3 } END { print n + 0 }' /tmp/stats)" 0
	# They are counted.
	within "accesses before" "$(awk '{ n += $2 + $3 } END { print n + 0 }' /tmp/before)" 2 1000
}

run_tests
