#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A catalog of which nothing is left.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9,catalog=tests/models/power_imc/catalogs/hostile/nothing.dts
. ./power_imc/lib.sh

# The driver is there, for its debugfs and to have stopped what was running, but has no PMU.
test_no_unit_is_good() {
	load
	contains "log" "$(log_since_mark)" 'the unit core has no size: left out'
	contains "log" "$(log_since_mark)" 'imc-counters: 0 units'
	equal "PMUs" "$(find $PMUS/ -name '*_imc')" ""
	[ -d $DEBUG ]
	rmmod power_imc_pmu
	insmod /vm/modules.d/power_imc_pmu.ko
}

run_tests
