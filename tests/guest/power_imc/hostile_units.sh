#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A catalog with units that are wrong in one way each, which their names say: they are left out
# and told of, and the good ones count. Without a type, or of a nest unit without size or offset,
# firmware itself does not start; KUnit has those.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver ours --model power9,catalog=tests/models/power_imc/catalogs/hostile/units.dts
. ./power_imc/lib.sh

test_bad_units_are_left_out() {
	wanted="core_imc nest_events_0_imc nest_events_dangling_imc nest_events_empty_imc nest_events_self_imc"
	wanted="$wanted nest_mcs01_imc nest_no_prefix_imc nest_open_prefix_imc nest_path_prefix_imc nest_twice_imc"
	equal "PMUs" "$(cd $PMUS && echo *_imc)" "$wanted"
}

test_each_is_told_of() {
	dmesg > /tmp/log
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
		nest_other_size_imc: has another area on chip 0 than other units: left out there
		the unit bad,name\+1 has a name that is none for a file: left out
		the unit twice has the name of an earlier one: left out
		nest_bad_scale_imc: its scale or unit is no good: left out
		nest_bad_unit_imc: its scale or unit is no good: left out
		nest_events_dangling_imc: its list of events is not there
		nest_events_0_imc: its list of events is not there
		nest_path_prefix_imc: 2 of 2 events left out
	EOT
}

# The first that names a place for the chip's counters is wrong: no microcode is there.
test_first_unit_spoils_no_other() {
	contains "log" "$(dmesg)" 'chip 0: its nest is not counted: the microcode has not started'
	contains "log" "$(dmesg)" 'nest_a_other_area_imc: has another area on chip 0 than other units: left out there'
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

test_good_ones_count() {
	out=$(perf stat -x, -a -e nest_mcs01_imc/PM_FIRST/,core_imc/CPM_FIRST/ -- \
		sh -c "$(imc_add nest@0 0xc8 7); $(imc_add core0@0 0x118 9)" 2>&1)
	contains "nest" "$out" "^7,,nest_mcs01_imc/PM_FIRST/"
	contains "core" "$out" "^9,,core_imc/CPM_FIRST/"
}

# Nothing of all that is in the way of going, or of coming again.
test_unload_and_load() {
	for _ in 1 2 3; do
		rmmod power_imc_pmu
		equal "PMUs that are left" "$(find $PMUS/ -name '*_imc')" ""
		insmod /vm/modules.d/power_imc_pmu.ko
	done
	equal "nest" "$(pmu-event nest_mcs01_imc:0xc8 -x "$(imc_add nest@0 0xc8 3)")" 3
}

run_tests
