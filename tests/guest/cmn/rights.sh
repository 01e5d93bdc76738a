#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Users without privileges: what they can open, and that it leaves no trace if they cannot.
#
# vm: --arch arm64 --kernel 6.12 --driver ours --model cmn600
# all vm: --arch arm64 --kernel 6.1 --driver ours --model cmn600
# kernels vm: --arch arm64 --kernel '6.1 6.12' --driver in-tree --model cmn600
. ./cmn/lib.sh

if [ -e /sys/module/cmn_pmu ]; then driver=ours; else driver=in-tree; fi
find_meshes
use_mesh cmn0

accesses() {
	pmu-model stats "$MODEL" --reset | awk '{ sum += $(NF - 1) + $NF } END { print sum + 0 }'
}

GOOD=$PMU/hnf_cache_miss/ BAD=$PMU/type=0x42,eventid=1/ ACCESSES=accesses
# With a warning, which is once.
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

# What is said when an event is closed, too.
test_what_a_user_could_not_count() {
	[ $driver = ours ] || skip "the in-tree driver has no pairs that wait for each other"
	half=$PMU/watchpoint_up,wp_combine=1/
	log_mark
	# shellcheck disable=SC2086 # options
	equal "count of a user" "$(at_level 0 pmu-event $NOBODY "$half" -x true)" 0
	log_is_silent
	equal "count" "$(pmu-event "$half" -x true)" 0
	contains "log" "$(log_since_mark)" 'event has counted nothing: '
}

test_log_has_a_limit() {
	log_has_a_limit
}

run_tests
