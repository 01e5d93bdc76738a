#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Lockdown, which Secure Boot turns on: modules that are loaded count on, unsigned ones are refused from then on.
#
# all vm: --kernel 6.12 --driver ours
# fresh: lockdown cannot be taken back
. ./intel_imc/lib.sh

lock_down() {
	mount -t securityfs security /sys/kernel/security 2> /dev/null || :
	echo "$1" > /sys/kernel/security/lockdown
	contains "lockdown" "$(cat /sys/kernel/security/lockdown)" "\[$1\]"
}

# Clocks: under lockdown nobody reaches the model by its memory.
counts() {
	[ "$(pmu-event uncore_imc_0:0xff -x 'sleep 0.1')" -gt 0 ]
}

test_counts_in_integrity() {
	lock_down integrity
	counts
}

test_counts_in_confidentiality() {
	lock_down confidentiality
	counts
}

test_unsigned_is_refused() {
	unload
	log_mark
	fails load 2> /tmp/said
	contains "said" "$(cat /tmp/said)" 'Operation not permitted'
	contains "log" "$(log_since_mark)" 'Lockdown: insmod: unsigned module loading is restricted'
}

run_tests
