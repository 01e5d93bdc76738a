#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each access to a channel is the last one, or goes wrong: from the probe to the last read, with an owner that goes, and
# with a sleep.
#
# hostile: everything is done again and again
# vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
# vm: --kernel kunit --driver ours --model icx,sockets=2 --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
. ./faults.sh
trap as_it_was EXIT

DEVICE=imc0@1
WANTED='7 3 77 3 77 3 '
LAST=2
ORDINARY="channel counters of socket|smpboot: |: CPU|Unregister|Booting|lib.sh: mark|clocksource|masked|$ASLEEP"
FUNCTION=$(cd /sys/bus/pci/drivers/intel_imc_pmu && ls -d 0000:7f:10.0 0000:fe:00.1 2> /dev/null)

appear() {
	echo "$FUNCTION" > $DRIVER/bind
}

leave() {
	echo "$FUNCTION" > $DRIVER/unbind
}

count() {
	pmu-event --cpu 2 --manual uncore_imc_0/cas_count_read/ uncore_imc_0/cas_count_write/ \
		-x "@model add $DEVICE cas_rd 7; add $DEVICE cas_wr 3" -x @read "$@" -x "@model add $DEVICE cas_rd 70" -x @read \
		-x 'sleep 0.2' -x @read
}

test_a_life() {
	BEGIN=probe
	life() {
		count
	}
	leave 2> /dev/null || :
	lives 40 last zeroes ones bit
	appear
}

test_a_life_whose_owner_goes() {
	BEGIN=open
	LIVES=$((LIVES / 3))
	life() {
		count -x 'echo 0 > /sys/devices/system/cpu/cpu2/online'
		echo 1 > /sys/devices/system/cpu/cpu2/online
	}
	leave 2> /dev/null || :
	lives 15 last zeroes ones bit
	appear
}

test_a_life_with_a_sleep() {
	BEGIN=open
	LIVES=$((LIVES / 3))
	life() {
		count -x "$SLEEP"
	}
	leave 2> /dev/null || :
	lives 25 last zeroes ones bit
	appear
}

test_nothing_is_lost() {
	unload
	no_leaks
	load
}

run_tests
