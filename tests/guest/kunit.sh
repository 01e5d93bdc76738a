#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the debug kernel, with a KUnit suite loaded: shows its results, and tests that the
# kernel's checkers, without which they prove little, are at work.
. ./lib.sh

# Kconfig drops an option whose dependencies are not met without a word.
test_debug_options_are_on() {
	zcat /proc/config.gz > /tmp/config
	cat ./*.config > /tmp/asked
	while read -r line; do
		case $line in
		CONFIG_*=*)
			grep -Fqx "$line" /tmp/config || grep -Fqx "# ${line%%=*} is not set" /tmp/asked || echo "$line" ;;
		'# CONFIG_'*' is not set')
			option=${line#\# }
			grep "^${option% is not set}=" /tmp/config || : ;;
		esac
	done < /tmp/asked > /tmp/differ
	[ "$(grep -c '^CONFIG_.*=' /tmp/asked)" -gt 20 ]
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
if [ ! -e "$1" ] && grep -q kunit.filter_glob= /proc/cmdline; then
	exit 0
fi
cat "$@" || exit
run_tests
