# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the tests that run inside guests share. A test file sources this, defines functions
# called test_*, and ends with run_tests. Each runs in a shell of its own, in order; it
# fails when a command in it fails, and what it prints becomes diagnostics. Results are
# KTAP. Comment lines "# vm: OPTIONS" in a test file say which guests scripts/test runs
# it in; an option's value may list several, separated by spaces within quotes.

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

# show TEXT, or its input: what scripts/test prints of a test that passes, too
show() {
	if [ $# -gt 0 ]; then echo "$@"; else cat; fi | sed 's/^/| /'
}

# The events of a PMU as the user asks for them, to a config: config PMU NAME
config() {
	sed 's/event=\(0x[0-9a-f]*\),umask=\(0x[0-9a-f]*\)/\1 \2/' "$PMUS/$1/events/$2" |
		(read -r event umask && printf '%#x\n' $((event | umask << 8)))
}

# A command for pmu-event: N at the counter at OFFSET of a chip or a core, and in memory when the
# command ends: imc_add DEVICE OFFSET N. The first flush ends what the microcode has yet to do.
imc_add() {
	echo "pmu-model set $1 flush 1 && pmu-model add $1 $2 $3 && pmu-model set $1 flush 1"
}

# The same for a thread of chip 0. It counts only tasks that are counted: with pmu-event
# --inherit the command is. imc_thread_add CPU OFFSET N
imc_thread_add() {
	echo "taskset -c $1 pmu-model add thread$1@0 $2 $3"
}

# How many samples of trace_imc a perf.data has, each once: trace_samples FILE. perf record looks at the head of
# its buffer twice, and what comes between (perf_mmap__push() in tools/perf) it writes twice; cpu-clock shows it,
# too. Two records of a CPU are never of the same time, nor of a task, whose events tell no CPU.
trace_samples() {
	{ perf script -i "$1" --ns -F cpu,tid,time,ip || perf script -i "$1" --ns -F tid,time,ip; } 2> /dev/null |
		sort -u | grep -c .
}

# An event of a mesh for pmu-event, by the PMU's own names and formats: cmn_event NAME, or NAME or
# fields and more fields, as in hnf_mc_reqs,bynodeid=1,nodeid=0x24.
cmn_event() {
	mesh=$PMUS/arm_cmn_0 terms=$1 config=0 config1=0 config2=0
	if [ -e "$mesh/events/${1%%,*}" ]; then
		read -r terms < "$mesh/events/${1%%,*}"
		terms=$terms${1#"${1%%,*}"}
	fi
	while [ -n "$terms" ]; do
		term=${terms%%,*} terms=${terms#"${terms%%,*}"} terms=${terms#,}
		[ "${term#*=}" = '?' ] && continue
		read -r place < "$mesh/format/${term%%=*}"
		bit=${place#*:}
		eval "${place%%:*}=\$((${place%%:*} | ${term#*=} << ${bit%-*}))"
	done
	printf 'arm_cmn_0:%#x,%#x,%#x\n' $config $config1 $config2
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

run_tests() {
	tests=$(sed -n 's/^\(test_[a-z0-9_]*\)() {$/\1/p' "$0")
	echo "KTAP version 1"
	echo "1..$(echo "$tests" | wc -l)"
	number=0 failed=0
	for test in $tests; do
		number=$((number + 1))
		# Not in a condition: there the shell would ignore set -e.
		(set -e; "$test") > /tmp/diagnostics 2>&1 < /dev/null
		status=$?
		sed 's/^/# /' /tmp/diagnostics
		case $status in
		0) echo "ok $number ${test#test_}" ;;
		4) echo "ok $number ${test#test_} # SKIP $(head -n 1 /tmp/diagnostics)" ;;
		*) echo "not ok $number ${test#test_}"; failed=1 ;;
		esac
	done
	exit $failed
}
