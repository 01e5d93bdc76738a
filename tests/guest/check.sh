# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the tests of pmu-check share.
export COLUMNS=120

# found {CHECK VERDICT PATTERN}...: what one run of pmu-check says of these checks, and that its exit status tells of
# failures
found() {
	run_as '' "$@"
}

# probed {PROBE VERDICT PATTERN}...: the same of experiments, whose verdict is "answer" where any answer is right
probed() {
	run_as --probe "$@"
}

run_as() { # OPTION {NAME VERDICT PATTERN}...
	option=$1 status=0 wanted=0
	shift
	# shellcheck disable=SC2046 # a list
	pmu-check $(while [ $# -gt 0 ]; do echo "$option" "$1"; shift 3; done) > /tmp/said 2>&1 || status=$?
	said "$@"
	equal "exit status" $status $wanted
}

# found_at_last {CHECK VERDICT PATTERN}...: the same of one of 20 runs: what happens meanwhile may fall between the windows
# in which it looks
found_at_last() {
	for _ in $(seq 20); do
		! (found "$@") > /tmp/look || return 0
	done
	cat /tmp/look
	return 1
}

# said {CHECK VERDICT PATTERN}...: what it has said of these
said() {
	while [ $# -gt 0 ]; do
		awk -v check="$1" '/^[^ ]/ { on = NF == 2 && $2 == check } on' /tmp/said > /tmp/found
		contains "$1" "$(cat /tmp/found /tmp/said)" "^$2  *$1\$"
		tr -s ' \n' ' ' < /tmp/found > /tmp/line
		contains "$1" "$(cat /tmp/line)" "$3"
		[ "$2" != FAIL ] || wanted=1
		shift 3
	done
}

# while_adding INTERVAL COMMAND...: run the command while the models make things happen, one line of /tmp/add a time
while_adding() {
	interval=$1
	shift
	touch /tmp/adding
	while [ -e /tmp/adding ]; do
		# One that the model refuses, as while a CPU sleeps, ends nothing.
		pmu-model - < /tmp/add || :
		sleep "$interval"
	done &
	adder=$!
	result=0
	("$@") || result=$?
	rm /tmp/adding
	wait $adder
	return $result
}

# with_cpus SHARE COMMAND...: run the command with CPUs that are so busy, in %, by /proc/stat: how busy these really are
# depends on the host. Who opens the file waits for the next numbers.
with_cpus() {
	mkfifo /tmp/cpus
	(
		trap '' PIPE	# of one who has read all that he wants
		busy=0 idle=0
		while :; do
			busy=$((busy + $1)) idle=$((idle + 100 - $1))
			echo "cpu $busy 0 0 $idle 0 0 0 0 0 0" > /tmp/cpus || :
			sleep 0.1
		done
	) &
	teller=$!
	mount -o bind /tmp/cpus /proc/stat
	shift
	of_cpus=0
	("$@") || of_cpus=$?
	umount /proc/stat
	kill $teller
	wait $teller || :
	rm /tmp/cpus
	return $of_cpus
}

# All of it, on a machine that works: nothing fails, and what is to be looked at is as expected.
good_machine() { # CHECKS TO LOOK AT, an extended regular expression
	pmu-check -o /tmp/report > /tmp/said || { cat /tmp/said; return 1; }
	tail -n 1 /tmp/said | show
	equal "to look at" "$(grep '^note' /tmp/said | grep -Evw "${1:-none}" || :)" ""
	equal "failed" "$(grep '^FAIL' /tmp/said || :)" ""
	contains "summary" "$(tail -n 1 /tmp/said)" '^[0-9]+ ok, 0 failed'
	contains "report" "$(head -n 1 /tmp/report.md)" '^# pmu-check: .'
	equal "another look" "$(pmu-check --compare /tmp/report.md /tmp/report.json)" "The two are alike."
	name=$(uname -n)
	[ "$name" = '(none)' ] || [ "$name" = localhost ] || fails grep -F "$name" /tmp/report.md
}

# load_program < COMMANDS: a program in load.c's place, which does these with what load.c gets as its arguments
load_program() {
	{ echo '#!/bin/sh'; echo 'echo ready; read -r _'; cat; echo 'echo done 1'; } > /tmp/load
	chmod +x /tmp/load
}

# loaded STATUS PATTERN [OPTION...]: pmu-check --load ends so, and a line of what it says is like that
loaded() {
	wanted=$1 pattern=$2 status=0
	shift 2
	pmu-check --load --load-program "${LOAD:-/tmp/load}" "$@" > /tmp/said 2>&1 || status=$?
	contains "$pattern" "$(cat /tmp/said)" "$pattern"
	[ $status = "$wanted" ] || grep -A 3 '^FAIL' /tmp/said || :
	equal "exit status" $status "$wanted"
}

# Both drivers in turn: each is asked, and what was there is there again, also if a signal comes between. The first check
# is ok with either, so it is one of counts, not of rates.
# both_drivers OURS TWIN CHECK...
both_drivers() {
	ours=$1 twin=$2
	shift 2
	pmu-check --beside --yes --modules /vm/modules.d "$@" > /tmp/said 2>&1 || { cat /tmp/said; return 1; }
	contains "ours" "$(cat /tmp/said)" "^ok    $1 \(pmu-suite\)"
	contains "the in-tree driver" "$(cat /tmp/said)" "^ok    $1 \(in-tree\)"
	cost='([1-9][0-9]* ns|below the noise of [1-9][0-9]* ns)'
	contains "the cost" "$(cat /tmp/said)" "^ *a read of one event: $cost by ours, $cost by the in-tree driver"
	grep 'a read of' /tmp/said | show
	contains "what was given back" "$(cat /tmp/said)" "is served by $ours \(pmu-suite\) again"
	[ -e "/sys/module/$ours" ] && [ ! -e "/sys/module/$twin/initstate" ]
	pmu-check --beside --yes --modules /vm/modules.d "$@" > /tmp/said 2>&1 &
	for _ in $(seq 600); do
		! grep -qs live "/sys/module/$twin/initstate" || break
		sleep 0.1
	done
	sleep 0.5	# then it opens one event after the other, each of which keeps the module
	kill $!
	status=0
	wait $! || status=$?
	equal "exit status" $status 143
	contains "what was given back" "$(cat /tmp/said)" "is served by $ours \(pmu-suite\) again"
	fails pmu-check --beside --modules /vm/modules.d "$@" > /tmp/said 2>&1
	contains "nobody to ask" "$(cat /tmp/said)" 'There is no terminal to ask on'
}

# Who has no rights is told so once, and what to do. On POWER thread_imc wants CAP_PERFMON all the same.
without_rights() {
	trap 'echo 1 > /proc/sys/kernel/perf_event_paranoid' EXIT
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	fails as_nobody pmu-check > /tmp/said 2>&1
	contains "what to do" "$(tail -n 2 /tmp/said)" 'CAP_PERFMON'
	fails grep -q Traceback /tmp/said
	echo 0 > /proc/sys/kernel/perf_event_paranoid
	as_nobody pmu-check cpumask events > /tmp/said 2>&1 || { cat /tmp/said; return 1; }
	contains "events" "$(cat /tmp/said)" '^(ok|note)  *events'
}
