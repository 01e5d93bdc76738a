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

# CPUs go offline and come back, one at a time, until there is a file /tmp/enough: move_cpus CPU...
move_cpus() {
	until [ -e /tmp/enough ]; do
		for cpu; do
			echo 0 > "/sys/devices/system/cpu/cpu$cpu/online"
			until echo 1 > "/sys/devices/system/cpu/cpu$cpu/online"; do sleep 1; done
		done
	done
}

# As ledger, while that is done all the time, which slows all down, so with a quarter of the operations: ledger_and_moves
# "CPU..." ...
ledger_and_moves() {
	cpus=$1 PROGRAMS=1 OPERATIONS=$((OPERATIONS / 2))
	shift
	rm -f /tmp/enough
	# shellcheck disable=SC2086 # a list
	(set +e; move_cpus $cpus) &
	trap 'touch /tmp/enough; wait; cat /tmp/balance' EXIT
	ledger --moved "$@" > /tmp/balance
	within "times that an event was on another CPU" $(($(sed -n 's/.* \([0-9]*\) moves, .*/\1/p' /tmp/balance | paste -sd+))) 3 100000
}
