#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Users without privileges: what they can open, that it leaves no trace if they cannot, and that
# they are in nobody's way. What runs in a session of somebody who may profile the system is no user
# of it.
#
# vm: --arch ppc64le --kernel 6.12 --driver ours --timeout 600 --model power9,chips=2
# all vm: --arch ppc64le --kernel 6.1 --driver ours --timeout 600 --model power9,chips=2
. ./power_imc/lib.sh

# But for what the model itself writes: accesses [DEVICES]
accesses() {
	pmu-model stats "${1:-*}" --reset | awk '$2 != "post" && $2 != "record" { sum += $(NF - 1) + $NF }
		END { print sum + 0 }'
}

ACCESSES=accesses
. ./rights.sh

# for_each COMMAND...: with a counter of a core, and with one of the nest
for_each() {
	for GOOD in core_imc:$INST nest_mcs01_imc:$READS; do
		BAD=$GOOD,1
		"$@"
	done
}

test_users_are_refused() {
	for_each users_are_refused
}

test_users_are_allowed() {
	for_each users_are_allowed
}

test_passed_leader_is_no_right() {
	for_each passed_leader_is_no_right
}

# Nor does a leader of the same PMU on another chip.
a_leader_elsewhere() {
	accesses > /dev/null
	got=$(at_level 1 pmu-event --manual --group $GOOD -x '@become 65534' -x "@join $GOOD@2")
	equal "sibling" "$got" EINVAL
	equal "accesses to its chip" "$(accesses '*@1')" 0
}

test_a_leader_elsewhere_is_no_right() {
	for_each a_leader_elsewhere
}

test_cap_perfmon_is_enough() {
	for_each perfmon_is_enough
}

# A task's counters are not for its owner: they tell what the machine does.
test_tasks_are_for_who_may_profile_the_system() {
	log_mark
	accesses > /dev/null
	for level in 4 3 2 1 0 -1; do
		for exclude in '' --exclude-kernel; do
			# shellcheck disable=SC2086 # options
			equal "thread at $level" "$(at_level $level opened thread_imc:$TASK_INST $NOBODY $exclude \
				--pid 0 --cpu -1)" "$AGAIN EACCES"
			# shellcheck disable=SC2086
			equal "trace at $level" "$(at_level $level opened $EVENT $NOBODY $exclude --period 1 \
				--pid 0 --cpu -1)" "$AGAIN EACCES"
		done
	done
	accesses=$(accesses)
	log_is_silent
	equal "accesses" "$accesses" 0
	for level in 2 -1; do
		# shellcheck disable=SC2086
		equal "thread with CAP_PERFMON at $level" "$(at_level $level opened thread_imc:$TASK_INST $PERFMON \
			--pid 0 --cpu -1)" "$AGAIN"
		# shellcheck disable=SC2086
		equal "trace with CAP_PERFMON at $level" "$(at_level $level opened $EVENT $PERFMON --period 1 \
			--pid 0 --cpu -1)" "$AGAIN"
	done
}

# A user who tries all the time takes nothing from who may have it.
test_users_hold_nothing() {
	touch /tmp/trying
	# shellcheck disable=SC2086
	while [ -e /tmp/trying ]; do
		echo core_imc:$INST
	done | at_level 1 pmu-event $NOBODY --lines > /tmp/answers &
	sleep 1
	for _ in $(seq 20); do
		pmu-event --pid 0 --cpu -1 thread_imc:$TASK_INST
		pmu-event --pid 0 --cpu -1 --period 1 $EVENT
	done > /tmp/got || :
	rm /tmp/trying
	wait
	equal "answers to the user" "$(sort -u /tmp/answers)" EACCES
	equal "answers" "$(sort -u /tmp/got)" ""
}

# The right is the opener's: who forks in a session needs none. With the in-tree driver fork() fails.
test_a_user_forks_while_profiled() {
	for event in thread_imc:$TASK_INST $EVENT; do
		[ $event = $EVENT ] && period='--period 1' || period=
		# shellcheck disable=SC2086
		pmu-event --pid 0 --cpu -1 --inherit $period $event \
			-x "pmu-event $NOBODY -x 'true; (true)' > /tmp/forked 2>&1 || :" > /tmp/count
		equal "$event" "$(cat /tmp/forked)" ""
	done
}

test_log_has_a_limit() {
	for_each log_has_a_limit
}

run_tests
