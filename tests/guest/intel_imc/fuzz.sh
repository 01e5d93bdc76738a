#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random calls by root and by nobody, near to what is valid, while CPUs, channels and modules come and go.
#
# hostile: many calls
# vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
# vm: --kernel 6.12 --driver ours --model 'snbep,sockets=2 icx,sockets=2 gnr,sockets=2' --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
. ./fuzz.sh
trap as_it_was EXIT

MODEL=$(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo)
[ "$MODEL" = 173 ] && CLOCK=1 || CLOCK=0

# Does a counter with umask $1 see the event with these bits of what happens ($2) and where ($3)?
seen() {
	places=$((${3:-0}))
	[ $places = 0 ] || [ $(($1 & $2 & places)) != 0 ] || return 1
	[ $places = 0 ] || [ $(($1 & ~places)) != 0 ] || return 0
	[ $(($2 & ~places ? $1 & $2 & ~places : !$1 || $1 & 1)) != 0 ]
}

# Each sub-event of the code happens, with increments of up to three. What edges and inverted counters count is
# not said here, nor what the clock does. With config1=1 an event of Granite Rapids counts two codes.
made() {
	code=$(($2 & 0xff)) umask=$(($2 >> 8 & 0xff)) least=$(($2 >> 24 & 0xff)) WANTED=0 last=$(($2 & 0xff))
	[ $(($2 & 0x840000)) = 0 ] && [ $code != $CLOCK ] && [ $code != 255 ] || return 1
	[ $(($3 & 1)) = 0 ] || last=$((code + 1))
	[ -e /tmp/events ] || pmu-model list imc0 | sed -n 's/^event \([^ ]*\) [^ ]* code=\([^ ]*\) umask=\([^ ]*\) max=/\1 \2 \3 /p' > /tmp/events
	COMMANDS='' other=''
	while read -r name its bits max places; do
		[ $((its)) -ge $code ] && [ $((its)) -le $last ] || { other=$name; continue; }
		[ "$max" -le 3 ] || max=3
		COMMANDS="$COMMANDS; add imc${1##*_} $name 7 $max"
		seen $umask "$bits" "${places#places=}" || continue
		[ $least = 0 ] && WANTED=$((WANTED + 7 * max))
		[ $least != 0 ] && [ $least -le "$max" ] && WANTED=$((WANTED + 7))
	done < /tmp/events
	COMMANDS="add imc${1##*_} $other 5$COMMANDS"
}

test_calls_are_of_the_seed() {
	the_same_again uncore_imc
}

test_random_calls() {
	plain "[ \"\$(pmu-event uncore_imc_0/cas_count_read/ -x 'pmu-model add imc0 cas_rd 7')\" = 7 ]" \
		"[ \"\$(pmu-event --cpu 2 uncore_imc_1/cas_count_write/ -x 'pmu-model add imc1@1 cas_wr 9')\" = 9 ]"
	# shellcheck disable=SC2046 # a list
	fuzz $(for bus in 3f:10.0 7f:10.0 7e:00.1 fe:00.1; do
		[ ! -e "$DRIVER/0000:$bus" ] || echo "--device $DRIVER,0000:$bus"
	done) --module $MODULES/intel_imc_pmu.ko \
		--module $MODULES/pmu_core.ko --cpu 1 --cpu 2 --cpu 3 --add 'add imc0 cas_rd' --add 'add imc1@1 cas_wr' uncore_imc
}

test_nothing_is_lost() {
	unload
	no_leaks
	load
}

fuzz_or_count "$@"
