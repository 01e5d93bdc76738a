#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Users without privileges: what they can open, and that it leaves no trace if they cannot.
#
# vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4
# all vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4
# kernels vm: --kernel '6.1 6.12' --driver in-tree --model snbep,sockets=2 --cpus 4
. ./intel_imc/lib.sh

accesses() {
	pmu-model stats 'imc*' --reset | awk '{ sum += $(NF - 1) + $NF } END { print sum + 0 }'
}

GOOD=uncore_imc_0:0x304 BAD=uncore_imc_0:0x300304 ACCESSES=accesses
# It counts what others call BAD.
[ $driver = ours ] || BAD=
. ./rights.sh

test_users_are_refused() {
	users_are_refused
}

test_users_are_allowed() {
	users_are_allowed
}

test_passed_leader_is_no_right() {
	passed_leader_is_no_right
}

test_cap_perfmon_is_enough() {
	perfmon_is_enough
}

test_log_has_a_limit() {
	log_has_a_limit
}

run_tests
