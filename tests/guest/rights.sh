# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Who may open an event of a PMU that counts for the system, and what the others can bring about:
# for each perf_event_paranoid, with CAP_PERFMON and without. perf looks at most of that only after
# the driver has taken the event. What is expected is what perf says of the in-tree drivers' events.
#
# A file sets these and sources this: GOOD an event; BAD one that our driver refuses with a line in
# the log, or nothing; ACCESSES a command that prints how many accesses to registers there were since
# it did so last.

PARANOID=/proc/sys/kernel/perf_event_paranoid
NOBODY='--user 65534'
PERFMON="$NOBODY --perfmon"
AGAIN=20

# No line of a PMU in the log since its mark.
log_is_silent() {
	log_since_mark | grep -E '_imc|arm_cmn|pmu' > /tmp/logged || :
	equal "lines in the log" "$(wc -l < /tmp/logged), $(tail -n 1 /tmp/logged)" "0, "
}

# What each of AGAIN events gets that are opened as asked: opened EVENT OPTION...
opened() {
	event=$1
	shift
	for _ in $(seq $AGAIN); do echo "$event"; done | pmu-event "$@" --lines | sort | uniq -c |
		sed 's/^ *//; s/ $//'
}

# at_level LEVEL COMMAND...: with this perf_event_paranoid
at_level() {
	before=$(cat $PARANOID)
	# shellcheck disable=SC2064 # as it is now
	trap "echo $before > $PARANOID" EXIT
	echo "$1" > $PARANOID
	shift
	"$@"
	echo "$before" > $PARANOID
}

# answers WHAT GOOD OTHER USER-OPTION...: what an event gets, and one that cannot be
answers() {
	what=$1 good=$2 other=$3
	shift 3
	equal "$what" "$(opened "$GOOD" "$@")" "$AGAIN$good"
	equal "$what, sampling" "$(opened "$GOOD" "$@" --period 1000)" "$AGAIN$other"
	equal "$what, of a task" "$(opened "$GOOD" "$@" --pid 0 --cpu 0)" "$AGAIN$other"
	if [ -n "${BAD:-}" ]; then
		equal "$what, an event that there is not" "$(opened "$BAD" "$@")" "$AGAIN$other"
	fi
}

# Who may not profile the system gets an errno: no line in the log, and no register is touched.
users_are_refused() {
	log_mark
	$ACCESSES > /dev/null
	for level in 4 3 2 1; do
		other=' EINVAL' kernel=' EINVAL'
		# Debian's kernels let nobody but CAP_SYS_ADMIN beyond 2.
		[ $level -le 2 ] || kernel=' EACCES'
		[ $level -le 1 ] || other=' EACCES'
		# shellcheck disable=SC2086 # options
		at_level $level answers "at $level" ' EACCES' "$other" $NOBODY
		for event in $GOOD ${BAD:-}; do
			# shellcheck disable=SC2086
			got=$(at_level $level opened "$event" $NOBODY --exclude-kernel)
			equal "at $level, without the kernel" "$got" "$AGAIN$kernel"
		done
	done
	accesses=$($ACCESSES)
	log_is_silent
	[ "${driver:-ours}" = in-tree ] || equal "accesses" "$accesses" 0
}

# Where perf lets everybody count, everybody can; but the log is for who administers the machine.
users_are_allowed() {
	log_mark
	for level in 0 -1; do
		# shellcheck disable=SC2086
		at_level $level answers "at $level" '' ' EINVAL' $NOBODY
	done
	log_is_silent
}

# Somebody who may has opened the leader and passed it on. That gives no right to others, nor do they touch anything.
passed_leader_is_no_right() {
	set --
	for _ in $(seq $AGAIN); do set -- "$@" -x "@join $GOOD"; done
	$ACCESSES > /dev/null
	got=$(at_level 1 pmu-event --manual --group software:0 -x "@become 65534" "$@" | sort | uniq -c | xargs)
	equal "siblings" "$got" "$AGAIN EACCES"
	[ "${driver:-ours}" = in-tree ] || equal "accesses" "$($ACCESSES)" 0
}

# CAP_PERFMON is enough, and is told why.
perfmon_is_enough() {
	# The log has a limit for everybody: ten lines in 5 s.
	AGAIN=1
	sleep 6
	for level in 2 1 0 -1; do
		log_mark
		# shellcheck disable=SC2086
		at_level $level answers "at $level" '' ' EINVAL' $PERFMON
		[ -z "${BAD:-}" ] || contains "log at $level" "$(log_since_mark)" 'event refused: '
	done
	# shellcheck disable=SC2086
	at_level 3 answers "at 3" ' EACCES' ' EACCES' $PERFMON
}

# The log has a limit for those who may see it as well: that of perf, ten lines in 5 s.
log_has_a_limit() {
	AGAIN=100
	log_mark
	equal "sampling" "$(opened "$GOOD" --period 1000)" "100 EINVAL"
	within "lines" "$(log_since_mark | grep -c 'event refused: ' || :)" 0 20
}
