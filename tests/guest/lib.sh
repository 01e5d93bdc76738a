# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the tests that run inside guests share. A test file sources this, defines functions
# called test_*, and ends with run_tests. Each runs in a shell of its own, in order; it
# fails when a command in it fails, and what it prints becomes diagnostics. Results are
# KTAP. Comment lines "# vm: OPTIONS" in a test file say which guests scripts/test runs
# it in; an option's value may list several, separated by spaces within quotes. TESTS in the
# environment: those alone whose name has it.

PMUS=/sys/bus/event_source/devices

# equal WHAT GOT WANTED
equal() {
	[ "$2" = "$3" ] && return
	echo "$1: got '$2', wanted '$3'"
	exit 1
}

# within WHAT GOT LOW HIGH
within() {
	[ "$2" -ge "$3" ] && [ "$2" -le "$4" ] && return
	echo "$1: got '$2', wanted $3 to $4"
	exit 1
}

# contains WHAT TEXT PATTERN: a line of TEXT matches the extended regular expression
contains() {
	echo "$2" | grep -Eq "$3" && return
	echo "$1: nothing like '$3' in:"
	echo "$2"
	exit 1
}

# eventually WHAT WANTED COMMAND...: within some seconds the command prints that
eventually() {
	what=$1 wanted=$2
	shift 2
	for _ in $(seq 50); do
		got=$("$@")
		[ "$got" = "$wanted" ] && return
		sleep 0.1
	done
	equal "$what" "$got" "$wanted"
}

# Nothing that was allocated is lost; the debug kernel looks for it. It takes what is younger than
# 5 s for not yet lost; what only a register held at the first scan is found by the second.
no_leaks() {
	[ -e /sys/kernel/debug/kmemleak ] || return 0
	sleep 6
	for _ in 1 2; do
		echo scan > /sys/kernel/debug/kmemleak
	done
	equal "leaks" "$(cat /sys/kernel/debug/kmemleak)" ""
}

# fails COMMAND...: since "! COMMAND" cannot fail a test, whatever the command does
fails() {
	if "$@"; then
		echo "should have failed: $*"
		exit 1
	fi
}

skip() {
	echo "$*"
	exit 4
}

# since VERSION NEW OLD: what holds for this kernel, for one of this version and later or for older ones
since() {
	if [ "$(printf '%s\n%s\n' "$1" "$(uname -r)" | sort -V | head -n 1)" = "$1" ]; then echo "$2"; else echo "$3"; fi
}

# show TEXT, or its input: what scripts/test prints of a test that passes, too
show() {
	if [ $# -gt 0 ]; then echo "$@"; else cat; fi | sed 's/^/| /'
}

# perf's own tests of event tables, names and formats: sets failed to the names of those that do
perf_tests() {
	perf test list 2>&1 | sed -n \
		's/^ *\([0-9]*\): \(PMU events\|PMU JSON event tests\|Parse event definition strings\|Parse perf pmu format\|Sysfs PMU tests\)$/\1/p' \
		> /tmp/numbers
	equal "tests found" "$(wc -l < /tmp/numbers)" 3
	# shellcheck disable=SC2046 # a list
	perf test $(cat /tmp/numbers) > /tmp/said 2>&1
	within "tests passed" "$(grep -c ': Ok$' /tmp/said)" 7 50
	failed=$(sed -n 's/^ *[0-9.]*: \(.*[^ ]\) *: FAILED!$/\1/p' /tmp/said)
}

# Mark the end of the kernel's log as it is now.
log_mark() {
	mark="lib.sh: mark $(cut -d' ' -f1 /proc/uptime)"
	echo "$mark" > /dev/kmsg
}

# What the kernel said since.
log_since_mark() {
	dmesg | sed "1,/$mark/d"
}

# as_nobody COMMAND...: by a user without rights
as_nobody() {
	python3 -S -E -c 'import os, sys; os.setgid(65534); os.setuid(65534); os.execvp(sys.argv[1], sys.argv[1:])' "$@"
}

# A kernel's probes that a test has set, whether it passed or not
remove_probes() {
	for tracing in /sys/kernel/tracing /sys/kernel/debug/tracing; do
		[ ! -e $tracing/kprobe_events ] || break
	done
	[ "$(cat $tracing/kprobe_events 2> /dev/null)" ] || return 0
	echo 0 > $tracing/events/kprobes/enable
	echo > $tracing/kprobe_events
}

# run_tests [PARAMETER]...: all tests of the file; with parameters all of them for each, which they get as $1
run_tests() {
	tests=$(sed -n 's/^\(test_[a-z0-9_]*\)() {$/\1/p' "$0" | grep -F "${TESTS:-test_}")
	[ $# -gt 0 ] || set -- ''
	echo "KTAP version 1"
	echo "1..$(($(echo "$tests" | wc -l) * $#))"
	number=0 failed=0
	for parameter; do
		for test in $tests; do
			number=$((number + 1))
			name="${test#test_}${parameter:+ $parameter}"
			# Not in a condition: there the shell would ignore set -e.
			(set -e; "$test" ${parameter:+"$parameter"}) > /tmp/diagnostics 2>&1 < /dev/null
			status=$?
			sed 's/^/# /' /tmp/diagnostics
			remove_probes
			case $status in
			0) echo "ok $number $name" ;;
			4) echo "ok $number $name # SKIP $(head -n 1 /tmp/diagnostics)" ;;
			*) echo "not ok $number $name"; failed=1 ;;
			esac
		done
	done
	exit $failed
}
