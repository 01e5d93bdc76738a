#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A catalog with good units, and events that are wrong in one way each, which their nodes' names
# say: they have no names in sysfs, and the good ones have.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver ours --model power9,catalog=tests/models/power_imc/catalogs/hostile/events.dts
. ./power_imc/lib.sh

GOOD="GOOD_ABOUT GOOD_CHILD GOOD_FIRST GOOD_LAST GOOD_SCALE GOOD_SCALE.scale GOOD_SCALE.unit"

names() { # PMU
	(cd "$PMUS/$1/events" && echo *)
}

test_bad_events_are_left_out() {
	equal "PMUs" "$(cd $PMUS && echo *_imc)" "core_imc nest_control_block_imc nest_mcs01_imc"
	equal "core_imc" "$(names core_imc)" "CPM_$(echo "$GOOD" | sed 's/ / CPM_/g')"
	# What is outside of a core's page is not outside of a nest's area.
	equal "nest_mcs01_imc" "$(names nest_mcs01_imc)" "PM_$(echo "$GOOD OUTSIDE" | sed 's/ / PM_/g')"
}

# Where this unit's others would be there are the commands to the microcode.
test_control_block_has_no_events() {
	equal "nest_control_block_imc" "$(names nest_control_block_imc)" PM_GOOD_FIRST
}

test_each_unit_tells_of_its_own() {
	for said in 'core_imc: the event control has a name that is none for a file' 'core_imc: 28 of 33 events left out' \
		'nest_mcs01_imc: 27 of 33 events left out' 'nest_control_block_imc: 32 of 33 events left out'; do
		contains "log" "$(dmesg)" "imc-counters: $said"
	done
}

# A scale that strtod() takes and a unit with a space and a slash are good.
test_unusual_ones_are_kept() {
	equal "scale" "$(cat $PMUS/core_imc/events/CPM_GOOD_SCALE.scale)" -1.5e-3
	equal "unit" "$(cat $PMUS/core_imc/events/CPM_GOOD_SCALE.unit)" 'a b/c'
	equal "event" "$(cat $PMUS/core_imc/events/CPM_GOOD_SCALE)" event=0x140
}

test_good_ones_count() {
	out=$(perf stat -x, -a -e nest_mcs01_imc/PM_GOOD_FIRST/,core_imc/CPM_GOOD_LAST/ -- \
		sh -c "$(imc_add nest@0 0xc8 7); $(imc_add core0@0 0x158 9)" 2>&1)
	contains "nest" "$out" "^7,,nest_mcs01_imc/PM_GOOD_FIRST/"
	contains "core" "$out" "^9,,core_imc/CPM_GOOD_LAST/"
}

run_tests
