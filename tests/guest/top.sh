# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the tests of pmu-top share.

# Python without what a start takes longest for: site, and json, of which a line is an expression but for three names.
quick_python() {
	code=$1
	shift
	python3 -S -E -c "null, true, false = None, True, False
$code" "$@"
}

# What pmu-top --json --output /tmp/top has last said: top_value NAME [LABEL=VALUE]... [share] [FILE], or
# top_value "" KEY of the interval itself.
top_value() {
	quick_python '
import sys
name, *words = sys.argv[1:]
said = eval(open(words.pop() if words and words[-1][0] == "/" else "/tmp/top").readlines()[-1])
what = words.pop() if words and "=" not in words[-1] else "value"
wanted = dict(word.split("=") for word in words)
if not name:
    print(said[what])
else:
    found = [row for row in said["rows"] if row["name"] == name and
             all(row.get(label) == value for label, value in wanted.items())]
    print(*(row[what] for row in found))
' "$@"
}

# The whole number that is nearest to a number of Python's.
top_int() {
	quick_python "print(round($1))"
}

# The time that perf says of a count in /tmp/record's last frame.
top_seconds() {
	quick_python 'import sys
print(eval(open("/tmp/record").readlines()[-1])["counts"][sys.argv[1]][1] / 1e9)' "$1"
}

# GB/s as pmu-top writes it, of so many bytes in the time of a count: top_rate BYTES COUNT
top_rate() {
	quick_python "print(f'{$1 / $(top_seconds "$2") / 1e9:.2f}')"
}

# The picture of /tmp/record's last frame at two widths has lines like these: pictures PATTERN...
pictures() {
	for width in 80 200; do
		pmu-top --replay /tmp/record --width $width --once --output /tmp/text
		for pattern; do
			contains "$width columns" "$(cat /tmp/text)" "$pattern"
		done
		within "columns of the widest line" "$(quick_python 'print(max(map(len, open("/tmp/text"))) - 1)')" 40 $width
	done
}

# refused STATUS PATTERN OPTION...: pmu-top ends so, and what it says has a line like that
refused() {
	wanted=$1 pattern=$2 status=0
	shift 2
	pmu-top "$@" > /tmp/text 2>&1 || status=$?
	equal "exit status" $status "$wanted"
	contains "the sentence" "$(cat /tmp/text)" "$pattern"
	fails grep -q Traceback /tmp/text
}

# Nobody needs to be root. Who has no rights is told so, and what to do: without_rights PATTERN OF THE PICTURE
without_rights() {
	echo 2 > /proc/sys/kernel/perf_event_paranoid
	status=0
	as_nobody pmu-top --once > /tmp/text 2>&1 || status=$?
	equal "exit status" $status 1
	contains "the sentence" "$(cat /tmp/text)" 'this user may not count system-wide \(kernel.perf_event_paranoid is 2\)'
	contains "what to do" "$(cat /tmp/text)" 'CAP_PERFMON'
	echo 0 > /proc/sys/kernel/perf_event_paranoid
	as_nobody pmu-top --once > /tmp/text 2>&1
	contains "with the right" "$(cat /tmp/text)" "$1"
}

# told PATTERN: pmu-top --output /tmp/top comes to say this, in a line that it has not said before this was asked
told() {
	from=$(wc -l < /tmp/top)
	for _ in $(seq 300); do
		! tail -n "+$((from + 1))" /tmp/top | grep -qE "$1" || return 0
		sleep 0.1
	done
	cat /tmp/top
	return 1
}

# ended PROCESS: pmu-top was told to end, and did
ended() {
	kill "$1"
	status=0
	wait "$1" || status=$?
	equal "exit status" $status 143
	fails grep -q Traceback /tmp/top
}

# crowd NAMES OPTIONS EVENTS EVENTS EVENTS: two pmu-top with these options and three "perf stat -e EVENTS" at once. Each
# has numbers, pmu-top those with these names.
crowd() {
	rm -f /tmp/perf.*
	# shellcheck disable=SC2086 # a list
	perf stat -a -x, -o /tmp/perf.1 -e "$3" -- perf stat -a -x, -o /tmp/perf.2 -e "$4" -- \
		perf stat -a -x, -o /tmp/perf.3 -e "$5" -- \
		pmu-top $2 --json --output /tmp/other -- pmu-top $2 --json --output /tmp/top -- sleep 3
	grep -h , /tmp/perf.? | show
	fails grep '<not' /tmp/perf.?
	equal "perf stat with numbers" "$(grep -lE '^[0-9]' /tmp/perf.? | wc -l)" 3
	for said in /tmp/top /tmp/other; do
		equal "notes of $said" "$(top_value "" notes $said)" '[]'
		for name in $1; do
			contains "$name" "$(top_value "$name" $said)" '[0-9]'
			equal "$name without a number" "$(top_value "$name" $said | grep -c None)" 0
		done
	done
}
