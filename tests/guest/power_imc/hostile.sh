#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A catalog with units and events that are wrong in one way each, which their names say: they are left out and told
# of, and the good ones count. Without a type, or of a nest unit without size or offset, firmware itself does not
# start; KUnit has those.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9,catalog=tests/models/power_imc/catalogs/hostile/catalog.dts
# kernels vm: --arch ppc64le --kernel 6.1 --driver ours --model power9,catalog=tests/models/power_imc/catalogs/hostile/catalog.dts
. ./power_imc/lib.sh

load
log_since_mark > /tmp/log

GOOD="GOOD_ABOUT GOOD_CHILD GOOD_FIRST GOOD_LAST GOOD_SCALE GOOD_SCALE.scale GOOD_SCALE.unit"

names() { # PMU
	(cd "$PMUS/$1/events" && echo *)
}

test_bad_units_are_left_out() {
	wanted="core_imc nest_a_other_size_imc nest_control_block_imc nest_events_0_imc nest_events_dangling_imc"
	wanted="$wanted nest_events_empty_imc nest_events_self_imc nest_mcs01_imc nest_no_prefix_imc nest_open_prefix_imc"
	wanted="$wanted nest_other_size_imc nest_path_prefix_imc nest_twice_imc"
	equal "PMUs" "$(cd $PMUS && echo *_imc)" "$wanted"
}

test_each_is_told_of() {
	while read -r line; do
		contains "log" "$(cat /tmp/log)" "imc-counters: $line"
	done <<-'EOT'
		the unit no_size has no size: left out
		the unit short_size has no size: left out
		the unit no_reg has no reg: left out
		the unit short_reg has no reg: left out
		the unit size_0 has a control block that is not inside of its area: left out
		the unit size_huge has an area that is not inside of HOMER: left out
		the unit core_size_huge is larger than the page that a core has for it: left out
		the unit offset_unaligned has an area that is not inside of HOMER: left out
		the unit offset_outside has an area that is not inside of HOMER: left out
		the unit offset_huge has an area that is not inside of HOMER: left out
		the unit cb_unaligned has a control block that is not inside of its area: left out
		the unit cb_outside has a control block that is not inside of its area: left out
		the unit cb_huge has a control block that is not inside of its area: left out
		the unit bad,name\+1 has a name that cannot be a file name: left out
		nest_twice_imc: the event event has the name of an earlier one
		nest_twice_imc: 2 of 2 events left out
		nest_bad_scale_imc: its scale or unit is invalid: left out
		nest_bad_unit_imc: its scale or unit is invalid: left out
		nest_events_dangling_imc: its list of events is not there
		nest_events_0_imc: its list of events is not there
		nest_path_prefix_imc: 2 of 2 events left out
		core_imc: the event control has a name that cannot be a file name
		core_imc: 28 of 33 events left out
		nest_mcs01_imc: 27 of 33 events left out
		nest_control_block_imc: 32 of 33 events left out
	EOT
}

# The first two that name a place for the chip's counters are wrong: no microcode is there.
test_first_units_spoil_no_other() {
	contains "log" "$(cat /tmp/log)" 'chip 0: its nest is not counted: the microcode has not started'
	for what in area control; do
		contains "log" "$(cat /tmp/log)" "nest_a_other_${what}_imc: has another area on chip 0 than other units: left out"
	done
}

# Units say three sizes of one area, the smallest first. Each counts, up to its own end.
test_areas_of_other_sizes() {
	while read -r pmu last; do
		equal "$pmu, count" "$(pmu-event nest_${pmu}_imc:0xd0 -x "$(imc_add nest@0 0xd0 5)")" 5
		equal "$pmu, at $last" "$(pmu-event nest_${pmu}_imc:$last -x true)" 0
		equal "$pmu, behind it" "$(pmu-event nest_${pmu}_imc:$((last + 8)))" EINVAL
	done <<-'EOT'
		a_other_size 0x3fbf8
		mcs01 0x3fff8
		other_size 0x7fff8
	EOT
}

# Units without names for what they count; offsets can be counted all the same.
test_units_without_events() {
	for pmu in events_0 events_dangling events_empty events_self no_prefix open_prefix path_prefix; do
		pmu=nest_${pmu}_imc
		equal "$pmu, events" "$(ls $PMUS/$pmu/events)" ""
		equal "$pmu, cpumask" "$(cat $PMUS/$pmu/cpumask)" 0
		equal "$pmu, count" "$(pmu-event $pmu:0xd0 -x "$(imc_add nest@0 0xd0 5)")" 5
	done
}

# Where the control block's other events would be there are the commands to the microcode.
test_bad_events_are_left_out() {
	equal "core_imc" "$(names core_imc)" "CPM_$(echo "$GOOD" | sed 's/ / CPM_/g')"
	# What is outside of a core's page is not outside of a nest's area.
	equal "nest_mcs01_imc" "$(names nest_mcs01_imc)" "PM_$(echo "$GOOD OUTSIDE" | sed 's/ / PM_/g')"
	equal "nest_control_block_imc" "$(names nest_control_block_imc)" PM_GOOD_FIRST
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

# Nothing of all that is in the way of going, or of coming again.
test_unload_and_load() {
	for _ in 1 2 3; do
		rmmod power_imc_pmu
		equal "PMUs that are left" "$(find $PMUS/ -name '*_imc')" ""
		load
	done
	equal "nest" "$(pmu-event nest_mcs01_imc:0xc8 -x "$(imc_add nest@0 0xc8 3)")" 3
}

run_tests
