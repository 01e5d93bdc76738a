# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# The ledger of each PMU's test: random programs of pmu-ledger, which says what each event must have. To do one
# again, shortest first: scripts/vm ... -- env SEED=N sh PMU/ledger.sh. PROGRAMS and OPERATIONS in the environment
# say how many there are, and how long.
SEED=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
# The debug kernel is slow, and runs in "make hostile" alone, which has time if it is given that.
[ -e /sys/kernel/debug/kmemleak ] && PROGRAMS=${PROGRAMS:-1} OPERATIONS=${OPERATIONS:-$((700 * ${SIZE:-1}))}
PROGRAMS=${PROGRAMS:-2}
OPERATIONS=${OPERATIONS:-2500}

# ledger [OPTION]... EVENT=SOURCE...
ledger() {
	for n in $(seq "$PROGRAMS"); do
		out=$(pmu-ledger --seed $((SEED + n)) --operations "$OPERATIONS" "$@") ||
			{ echo "seed $((SEED + n)): $out"; exit 1; }
		show "$out"
	done
}
