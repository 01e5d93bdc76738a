#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random programs of events of two channels, one of them on the second socket, where the owner changes, and the machine
# sleeps. Equal events share, so all of them fit. Without sharing four always fit, and twelve take turns, with pinned
# ones among them.
#
# all vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 600
# all vm: --kernel 6.12 --driver ours --model 'icx,sockets=2 gnr,sockets=2' --cpus 4 --timeout 600
# kernels vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 600
# hostile vm: --kernel kunit --driver ours --model 'snbep,sockets=2 icx,sockets=2 gnr,sockets=2' --cpus 4 --timeout 1200
# hostile vm: --kernel 6.12 --races --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
. ./ledger.sh

# On Granite Rapids, events of one sub-channel: those of both take two counters.
READ=cas_count_read WRITE=cas_count_write ALL=cas_count
[ ! -e $PMUS/uncore_imc_0/events/cas_count_sch0_all ] || READ=${READ}_sch0 WRITE=${WRITE}_sch0 ALL=cas_count_sch0_all

# Events of both: two_channels LEDGER [OPTION]...
two_channels() {
	"$@" uncore_imc_0/$READ/=imc0:cas_rd uncore_imc_0/$WRITE/=imc0:cas_wr uncore_imc_0/$ALL/=imc0:cas_rd+imc0:cas_wr \
		uncore_imc_1/$READ/@1=imc1@1:cas_rd uncore_imc_1/$WRITE/@1=imc1@1:cas_wr uncore_imc_1/$ALL/@1=imc1@1:cas_rd+imc1@1:cas_wr
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

# Three pairs of counters, of which two fit
test_both_sub_channels() {
	[ $READ != cas_count_read ] || skip "no event takes two counters"
	ledger --open 12 --turns --moves uncore_imc_0/cas_count_read/=imc0:cas_rd+imc0:cas_rd_sch1 \
		uncore_imc_0/cas_count_write/=imc0:cas_wr+imc0:cas_wr_sch1 uncore_imc_0/$READ/=imc0:cas_rd \
		uncore_imc_1/cas_count_read/@1=imc1@1:cas_rd+imc1@1:cas_rd_sch1 uncore_imc_1/$WRITE/@1=imc1@1:cas_wr
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
		uncore_imc_0/$READ/=imc0:cas_rd uncore_imc_0/$WRITE/=imc0:cas_wr \
		uncore_imc_1/$READ/=imc1:cas_rd uncore_imc_1/$ALL/=imc1:cas_rd+imc1:cas_wr
}

# An event that counts something else: what is left of the program is what it takes to see that, and can be kept.
test_a_program_that_fails_is_made_short() {
	for wanted in "$((SEED + 1))" "$((SEED + 2))"; do
		fails pmu-ledger --seed "$wanted" --operations 200 uncore_imc_0/$READ/=imc0:cas_wr > /tmp/failed
		contains "verdict" "$(cat /tmp/failed)" "^the shortest program that fails: event [0-9]+ .* has 0, made were "
		contains "log" "$(dmesg)" "pmu-ledger: wrong: event [0-9]+ .* has 0, made were "
		sed '1,/^the shortest/d' /tmp/failed > /tmp/program
		within "operations" "$(wc -l < /tmp/program)" 2 4
		fails pmu-ledger --program /tmp/program uncore_imc_0/$READ/=imc0:cas_wr > /dev/null
		pmu-ledger --program /tmp/program uncore_imc_0/$WRITE/=imc0:cas_wr > /dev/null
	done
}

run_tests
