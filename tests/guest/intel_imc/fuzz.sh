#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random calls by root and by nobody, near to what is valid, while CPUs, channels and modules come and go.
#
# hostile: many calls
# vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
# vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
. ./fuzz.sh
trap as_it_was EXIT

# Each sub-event of the code happens, with increments of up to three. What edges and inverted counters count is
# not said here, nor what the clock does.
made() {
	code=$(($2 & 0xff)) umask=$(($2 >> 8 & 0xff)) least=$(($2 >> 24 & 0xff)) WANTED=0
	[ $(($2 & 0x840000)) = 0 ] && [ $code != 0 ] && [ $code != 255 ] || return 1
	[ -e /tmp/events ] || pmu-model list imc0 | sed -n 's/^event \([^ ]*\) [^ ]* code=\([^ ]*\) umask=\([^ ]*\) max=/\1 \2 \3 /p' > /tmp/events
	COMMANDS="add imc${1##*_} rpq_inserts 5"
	[ $code != 16 ] || COMMANDS="add imc${1##*_} cas_rd 5"
	while read -r name its bits max; do
		[ $((its)) = $code ] || continue
		[ "$max" -le 3 ] || max=3
		COMMANDS="$COMMANDS; add imc${1##*_} $name 7 $max"
		[ $((bits ? bits & umask : !umask || umask & 1)) != 0 ] || continue
		[ $least = 0 ] && WANTED=$((WANTED + 7 * max))
		[ $least != 0 ] && [ $least -le "$max" ] && WANTED=$((WANTED + 7))
	done < /tmp/events
	:
}

test_calls_are_of_the_seed() {
	the_same_again uncore_imc
}

test_random_calls() {
	plain "[ \"\$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 7')\" = 7 ]" \
		"[ \"\$(pmu-event --cpu 2 uncore_imc_1:0xc04 -x 'pmu-model add imc1@1 cas_wr 9')\" = 9 ]"
	fuzz --device $DRIVER,0000:3f:10.0 --device $DRIVER,0000:7f:10.0 --module $MODULES/intel_imc_pmu.ko \
		--module $MODULES/pmu_core.ko --cpu 1 --cpu 2 --cpu 3 --add 'add imc0 cas_rd' --add 'add imc1@1 cas_wr' uncore_imc
}

test_nothing_is_lost() {
	unload
	no_leaks
	load
}

fuzz_or_count "$@"
