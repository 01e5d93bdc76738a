#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# More NUMA nodes than the UBOX's map has room for sockets, as of machines whose sockets are several nodes, or
# whose memory is some of its own: the map tells the sockets all the same. Not on 6.1, which warns when it is
# told to make nodes up.
#
# all vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --append numa=fake=10
. ./intel_imc/lib.sh

test_sockets_are_known() {
	[ "$(ls -d /sys/devices/system/node/node* | wc -l)" -gt 8 ]
	equal "cpumask" "$(cat $PMUS/uncore_imc_0/cpumask)" 0-1
	for cpu in 0 1; do
		equal "socket $cpu" "$(pmu-event --cpu $cpu uncore_imc_0:0x304 -x "pmu-model add imc0@$cpu cas_rd 1$cpu")" 1$cpu
	done
}

run_tests
