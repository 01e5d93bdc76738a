#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs with a KUnit suite loaded: shows its results, and, if it is to do so, tests that the debug
# kernel's checkers are at work.
#
# usage: kunit.sh [debug]
. ./lib.sh
debug=${1-}

# Kconfig drops an option whose dependencies are not met without a word.
test_debug_options_are_on() {
	zcat /proc/config.gz > /tmp/config
	# One program for all lines: to start one takes a tenth of a second here.
	awk '/^CONFIG_.*=/ { name = $0; sub(/=.*/, "", name) }
	     FILENAME == "/tmp/config" { has[$0]; if (/^CONFIG_/) set[name] = $0; next }
	     /^CONFIG_.*=/ { asked[$0] = name }
	     /^# CONFIG_.* is not set$/ { off[$2] }
	     END {
		for (line in asked) {
			count++
			if (!(line in has) && !(asked[line] in off))
				print line
		}
		for (name in off)
			if (name in set)
				print set[name]
		print count > "/tmp/count"
	     }' /tmp/config ./*.config > /tmp/differ
	[ "$(cat /tmp/count)" -gt 20 ]
	equal "options that are not as asked for" "$(cat /tmp/differ)" ""
}

# Built in is not enough: lockdep turns itself off when it meets trouble, and so does
# kmemleak, which then refuses to scan below.
test_checkers_work() {
	contains "KASAN" "$(cat /vm/boot)" 'KernelAddressSanitizer initialized|KASAN init done'
	contains "lockdep" "$(cat /proc/lockdep_stats)" 'debug_locks: *1'
}

test_no_leaks() {
	no_leaks
}

# With kunit.filter_glob there may be no suite left.
set -- /sys/kernel/debug/kunit/*/results
if [ ! -e "$1" ] && ! grep -q '(null)' /sys/module/kunit/parameters/filter_glob; then
	exit 0
fi
cat "$@" || exit
[ ! "$debug" ] || run_tests
