# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the files at_once.sh of each PMU share, behind ledger.sh: programs of the ledger on one device, while random calls
# are made on others, CPUs and the other devices come and go, and the machine sleeps. SEED, SIZE and MINUTES (at least so
# many) may be in the environment: two hours are scripts/vm ... --timeout 9000 -- env MINUTES=120 sh PMU/at_once.sh
OPERATIONS=1000
ROUNDS=$((2 * ${SIZE:-1}))
CALLS=${CALLS:-1000}

uptime_s() {
	cut -d. -f1 /proc/uptime
}

# Random calls until there is a file /tmp/enough, at least once: call OPTION... PREFIX...
call() {
	seed=$SEED
	until [ -e /tmp/enough ] && [ "$seed" != "$SEED" ]; do
		pmu-fuzz --seed "$seed" --rounds "$ROUNDS" --calls "$CALLS" "$@" > /tmp/fuzzed 2>&1 || { cat /tmp/fuzzed; return 1; }
		seed=$((seed + 1))
		head -n 1 /tmp/fuzzed
	done
}

# A command of the shell again and again: sleeps COMMAND
sleeps() {
	n=0
	until [ -e /tmp/enough ]; do
		sleep 2
		sh -c "$1" 2> /dev/null && n=$((n + 1))
		echo $n > /tmp/sleeps
	done
}

# Programs of the ledger, as long as calls are made: at_once SLEEP OPTION... -- LEDGER'S ARGUMENT...
at_once() {
	command=$1 end=$(($(uptime_s) + 60 * ${MINUTES:-0})) programs=0
	shift
	options=''
	while [ "$1" != -- ]; do
		options="$options '$1'"
		shift
	done
	shift
	rm -f /tmp/enough /tmp/ended
	echo 0 > /tmp/sleeps
	(code=0; eval "call $options" > /tmp/calls || code=$?; echo $code > /tmp/ended) &
	[ -z "$command" ] || sleeps "$command" &
	while [ ! -e /tmp/ended ]; do
		[ "$(uptime_s)" -lt "$end" ] || touch /tmp/enough
		out=$(pmu-ledger --seed $((SEED + programs)) --operations "$OPERATIONS" --moved "$@") ||
			{ echo "seed $((SEED + programs)): $out"; touch /tmp/enough; wait; exit 1; }
		programs=$((programs + 1))
	done
	touch /tmp/enough
	wait
	show < /tmp/calls
	show "$programs programs of the ledger, $(cat /tmp/sleeps) sleeps; the last: $out"
	equal "how the calls ended" "$(cat /tmp/ended)" 0
	[ -z "$command" ] || within "sleeps" "$(cat /tmp/sleeps)" 1 1000000
}
