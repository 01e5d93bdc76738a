# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the files allocations.sh of each PMU share. To load a module and to bind a device takes thousands of allocations,
# nearly all of them for files in sysfs. So of those for which our modules ask, but for sysfs, MOST fail; and of all
# those for which they ask, and of the kernel's own, a third each. MOST=1000000 in the environment: all. SEED chooses.
SEED=${SEED:-$(od -An -N3 -tu4 /dev/urandom | tr -d ' ')}
MOST=${MOST:-$((6 * ${SIZE:-1}))}

# What pmu-fail does has to work, and is shown behind a word: fail_each WORD OPTION... OPERATION...
fail_each() {
	word=$1
	shift
	pmu-fail "$@" > /tmp/each 2>&1 || { cat /tmp/each; exit 1; }
	show "$word $(cat /tmp/each)"
}

# each LEAST OPERATION...: the least number of allocations that are neither sysfs' nor the kernel's own
each() {
	least=$1
	shift
	# Behind a probe the kernel can still fail: it has to undo everything.
	fail_each ours: --ours --but __kernfs_new_node --most "$MOST" --seed "$SEED" --last 8 --least "$least" "$@"
	fail_each 'with sysfs:' --ours --most $((MOST / 3)) --seed "$SEED" --least "$least" "$@"
}

# The same, and those of the kernel itself: not where it reads a file of a module, since it complains with a stack
each_of_all() {
	each "$@"
	shift
	fail_each "the kernel's, too:" --most $((MOST / 3)) --seed "$SEED" "$@"
}

# Files of debugfs, with an event open: files EVENT DIRECTORY...
files() {
	event=$1
	shift
	find "$@" -type f > /tmp/files
	within "files in debugfs" "$(wc -l < /tmp/files)" 1 1000
	for file in $(cat /tmp/files); do
		rm -f /tmp/good
		pmu-event "$event" -x "pmu-fail read $file > /tmp/each 2>&1 && touch /tmp/good" > /dev/null
		[ -e /tmp/good ] || { cat /tmp/each; exit 1; }
		show "$file: $(cat /tmp/each)"
	done
}

# Devices go to sleep and wake up, with an event open, in one process: sleeps EVENT COMMAND, which makes 7 of it
sleeps() {
	echo 0 > /sys/power/pm_async
	echo 0 > /sys/module/suspend/parameters/pm_test_delay
	echo devices > /sys/power/pm_test
	got=$(pmu-event --manual "$1" -x 'pmu-fail --ours --least 0 write /sys/power/state freeze' -x "$2" -x @read)
	echo none > /sys/power/pm_test
	echo 1 > /sys/power/pm_async
	show "$got"
	equal "afterwards" "$(echo "$got" | tail -n 1)" 7
}
