#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Two sockets, and a kernel that expects CPUs for more of them than the UBOX's map has room for: firmware lists more
# CPUs than there are, or the kernel's command line holds most of them back. Up to 6.8 kernels then know of a number of
# sockets that does not exist.
#
# all vm: --kernel 6.1 --driver ours --model 'snbep,sockets=2 skx,sockets=2' --append possible_cpus=64
# all vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 18 --append maxcpus=2
# kernels vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 18 --append maxcpus=2
# kernels vm: --kernel '6.1 6.12' --driver ours --model snbep,sockets=2 --cpus 18 --append nr_cpus=2
# kernels vm: --kernel 6.1 --driver in-tree --model snbep,sockets=2 --append possible_cpus=64
. ./intel_imc/lib.sh

CPUS=/sys/devices/system/cpu

socket_of() { # CPU
	cat "$CPUS/cpu$1/topology/physical_package_id"
}

# The PMU has a CPU of each socket that has one online.
test_sockets_with_a_cpu() {
	for cpu in "$CPUS"/cpu[0-9]*/topology; do
		cpu=${cpu%/topology}
		socket_of "${cpu##*cpu}"
	done | sort -u > /tmp/sockets
	for pmu in "$PMUS"/uncore_imc_[0-9]*; do
		equal "${pmu##*/}" "$(tr , ' ' < "$pmu/cpumask" | sed 's/\([0-9]*\)-\([0-9]*\)/\1 \2/' | wc -w)" "$(wc -l < /tmp/sockets)"
	done
}

# Sockets whose CPUs were all offline when the driver was loaded join with their first CPU.
test_each_socket_counts_its_own() {
	for cpu in "$CPUS"/cpu[0-9]*/online; do
		echo 1 > "$cpu" 2> /dev/null || :
	done
	for cpu in $(tr , ' ' < "$PMUS/uncore_imc_0/cpumask" | sed 's/-/ /'); do
		socket=$(socket_of "$cpu")
		equal "socket $socket" "$(pmu-event --cpu "$cpu" uncore_imc_1:0x304 \
			-x "pmu-model add imc1@$socket cas_rd $((socket + 5)); pmu-model add imc1@$((1 - socket)) cas_rd 70")" $((socket + 5))
		echo "$socket"
	done | xargs > /tmp/counted
	contains "sockets" "$(cat /tmp/counted)" "$(grep -q nr_cpus /proc/cmdline && echo '^0$' || echo '^0 1$')"
}

run_tests
