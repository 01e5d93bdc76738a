#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random programs of events of two channels, one of them on the second socket, where the owner changes, and the machine
# sleeps. Equal events share, so all of them fit. Without sharing four always fit, and twelve take turns, with pinned
# ones among them.
#
# all vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 600
# kernels vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 600
# hostile vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
# hostile vm: --kernel 6.12 --races --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
. ./ledger.sh

# Events of both: two_channels LEDGER [OPTION]...
two_channels() {
	"$@" uncore_imc_0/cas_count_read/=imc0:cas_rd uncore_imc_0/cas_count_write/=imc0:cas_wr \
		uncore_imc_0/event=0x4,umask=0xf/=imc0:cas_rd+imc0:cas_wr uncore_imc_1/cas_count_read/@1=imc1@1:cas_rd \
		uncore_imc_1/cas_count_write/@1=imc1@1:cas_wr uncore_imc_1/event=0x4,umask=0xf/@1=imc1@1:cas_rd+imc1@1:cas_wr
}

test_twelve_events() {
	two_channels ledger --open 12 --no-turns
}

test_owners_that_go() {
	two_channels ledger --open 12 --moves
}

# CPU 0 stays, so one channel has its owner.
test_owners_that_others_take() {
	two_channels ledger_and_moves "1 2 3" --open 12
}

test_without_sharing() {
	trap as_it_was EXIT
	unload
	insmod $MODULES/pmu_core.ko share=0
	insmod $MODULES/intel_imc_pmu.ko
	two_channels ledger --moves --most 4
	two_channels ledger --moves --turns --most 4 --open 12
}

# Counts that are so large that halves of counters carry, of which the driver mostly reads one.
test_halves_that_carry() {
	trap 'echo Y > /sys/module/pmu_core/parameters/bound' EXIT
	echo N > /sys/module/pmu_core/parameters/bound
	two_channels ledger --open 12 --no-turns --large 28
}

# S3 takes the second socket's CPUs offline, and perf keeps no event of them. Of 1000 operations one is a sleep.
test_sleeps() {
	[ "$OPERATIONS" -ge 2500 ] || OPERATIONS=2500
	ledger --open 12 --moves --sleep 'pmu-model set firmware wake 200; echo mem > /sys/power/state' \
		uncore_imc_0/cas_count_read/=imc0:cas_rd uncore_imc_0/cas_count_write/=imc0:cas_wr \
		uncore_imc_1/cas_count_read/=imc1:cas_rd uncore_imc_1/event=0x4,umask=0xf/=imc1:cas_rd+imc1:cas_wr
}

# An event that counts something else: what is left of the program is what it takes to see that, and can be kept.
test_a_program_that_fails_is_made_short() {
	for wanted in "$((SEED + 1))" "$((SEED + 2))"; do
		fails pmu-ledger --seed "$wanted" --operations 200 uncore_imc_0/cas_count_read/=imc0:cas_wr > /tmp/failed
		contains "verdict" "$(cat /tmp/failed)" "^the shortest program that fails: event [0-9]+ .* has 0, made were "
		contains "log" "$(dmesg)" "pmu-ledger: wrong: event [0-9]+ .* has 0, made were "
		sed '1,/^the shortest/d' /tmp/failed > /tmp/program
		within "operations" "$(wc -l < /tmp/program)" 2 4
		fails pmu-ledger --program /tmp/program uncore_imc_0/cas_count_read/=imc0:cas_wr > /dev/null
		pmu-ledger --program /tmp/program uncore_imc_0/cas_count_write/=imc0:cas_wr > /dev/null
	done
}

run_tests
