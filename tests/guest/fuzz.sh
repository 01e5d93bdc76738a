# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the files fuzz.sh of each PMU share: rounds of random calls of pmu-fuzz, behind each of which plain events count
# exactly. SEED, ROUNDS and CALLS (of each of the two processes, in a round) may be in the environment. The script
# /tmp/plain fails if the plain events do not count what the models make.
SEED=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
ROUNDS=${ROUNDS:-$((8 * ${SIZE:-1}))}
CALLS=${CALLS:-1500}

# plain COMMAND...: the lines of /tmp/plain
plain() {
	{
		echo 'set -e'
		printf '%s\n' "$@"
	} > /tmp/plain
	sh /tmp/plain
}

# fuzz OPTION... PREFIX...: those of pmu-fuzz
fuzz() {
	pmu-fuzz --seed "$SEED" --rounds "$ROUNDS" --calls "$CALLS" --check 'sh /tmp/plain > /tmp/said 2>&1' "$@" > /tmp/fuzzed ||
		{ cat /tmp/fuzzed /tmp/said; exit 1; }
	show < /tmp/fuzzed
}

# Calls depend on the seed alone: the_same_again OPTION... PREFIX...
the_same_again() {
	for seed in "$SEED" "$SEED" $((SEED + 1)); do
		pmu-fuzz --print --seed "$seed" --rounds 2 --calls 500 "$@" | md5sum
	done > /tmp/sums
	equal "programs" "$(uniq /tmp/sums | wc -l)" 2
	equal "the first two" "$(head -n 2 /tmp/sums | uniq | wc -l)" 1
}
