# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the files fuzz.sh of each PMU share: rounds of random calls of pmu-fuzz, behind each of which plain events count
# exactly, and so does each config of which an event was accepted. SEED, ROUNDS and CALLS (of each of the two processes,
# in a round) may be in the environment. The script /tmp/plain fails if the plain events do not count what the models
# make. A file that sources this has
#
#   made PMU CONFIG CONFIG1 CONFIG2	sets "COMMANDS", which make something, and "WANTED", what such an event counts of
#					that; or fails, where that is not said here
SEED=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
ROUNDS=${ROUNDS:-$((2 * ${SIZE:-1}))}
CALLS=${CALLS:-1100}

# plain COMMAND...: the lines of /tmp/plain
plain() {
	{
		echo 'set -e'
		printf '%s\n' "$@"
	} > /tmp/plain
	sh /tmp/plain
}

# Where the commands of made() are executed: by pmu-event with these options, on the CPU of these events
count_lines() {
	pmu-event --lines
}

# Events of what was accepted, one after the other; which is said if it counts something else.
accepted() {
	rm -f /tmp/lines /tmp/wanted
	while IFS=:, read -r pmu config config1 config2; do
		made "$pmu" "$config" "$config1" "$config2" || continue
		echo "$pmu:$config,$config1,$config2 -- @model $COMMANDS" >> /tmp/lines
		echo "$WANTED" >> /tmp/wanted
	done < /tmp/accepted
	[ -e /tmp/lines ] || return 0
	count_lines < /tmp/lines > /tmp/got
	echo "$(wc -l < /tmp/accepted) $(wc -l < /tmp/lines) $(grep -c '[1-9]' /tmp/wanted)" >> /tmp/counted
	paste /tmp/wanted /tmp/got /tmp/lines |
		awk -F'\t' '$1 != $2 { print $3 ": got " $2 ", wanted " $1; bad = 1 } END { exit bad }'
}

# fuzz OPTION... PREFIX...: those of pmu-fuzz
fuzz() {
	rm -f /tmp/counted
	pmu-fuzz --seed "$SEED" --rounds "$ROUNDS" --calls "$CALLS" --accepted /tmp/accepted \
		--check "{ sh /tmp/plain && sh $0 accepted; } > /tmp/said 2>&1" "$@" > /tmp/fuzzed ||
		{ cat /tmp/fuzzed /tmp/said; exit 1; }
	show < /tmp/fuzzed
	# The debug kernel has none, and a short run may make no such call.
	! grep -q ^seccomp: /tmp/fuzzed || [ ! -e /proc/sys/kernel/seccomp ] || contains "all filters were set" "$(cat /tmp/fuzzed)" '^seccomp: ([0-9]+), good \1$'
	show "$(awk '{ all += $1; counted += $2; some += $3 } END { print counted " of " all " accepted configs were counted again, " some " of them something" }' /tmp/counted)"
	within "configs that counted something" "$(awk '{ some += $3 } END { print some + 0 }' /tmp/counted)" 10 1000000
}

# run_tests, or what pmu-fuzz asks for behind each round: fuzz_or_count "$@"
fuzz_or_count() {
	if [ "${1:-}" = accepted ]; then
		set -e
		accepted
	else
		run_tests
	fi
}

# Calls depend on the seed alone: the_same_again OPTION... PREFIX...
the_same_again() {
	for seed in "$SEED" "$SEED" $((SEED + 1)); do
		pmu-fuzz --print --seed "$seed" --rounds 2 --calls 500 "$@" | md5sum
	done > /tmp/sums
	equal "programs" "$(uniq /tmp/sums | wc -l)" 2
	equal "the first two" "$(head -n 2 /tmp/sums | uniq | wc -l)" 1
}
