#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check --probe: each experiment on a machine that answers as the driver assumes, and on one that does not, which is said
# with the number of its question. That of a pause is nothing for our driver, and the in-tree driver has no nest here, where
# the catalog has no G6.
#
# all vm: --tools --arch ppc64le --kernel 6.12 --driver ours --model power9 --timeout 1200
. ./power_imc/lib.sh
. ./check.sh

as_it_was() {
	pmu-model - <<-EOT
		set core* period 1000000
		set core* deep 0
		set core* drops 0
		set nest* traffic 0
		set nest* speed 0
		set thread* idles 0
		set thread* tells 0
		set thread* trace-div 64
	EOT
	trace_every 0
}

test_posts() {
	trap as_it_was EXIT
	pmu-model set 'nest*' traffic 8000000
	probed core-posts answer '13[.]3: core_imc on CPU 0: CPM_32MHZ_CYC changes each [0-9.]+ ms' \
		nest-posts answer '13[.]12: nest_powerbus0_imc on CPU 0: PM_PB_CYC changes each [0-9.]+ ms' \
		frames skip 'There is no nest_mba0_imc' pause skip "Our driver's open waits"
	pmu-model set 'core*' period 100000000
	pmu-model set 'nest*' speed 3
	pmu-model set 'nest*' traffic 8000000
	probed core-posts answer '13[.]3: core_imc on CPU 0: CPM_32MHZ_CYC changes each (9[5-9]|1[0-9][0-9])[.]' \
		nest-posts answer '13[.]12: nest_powerbus0_imc on CPU 0: PM_PB_CYC changes each ([7-9]|1[0-9])[.]'
}

# As far apart as they are made, at either rate: those of a thread that runs on a busy host come late now and then.
test_records() {
	trap as_it_was EXIT
	probed records answer '13[.]5: a record each 0[.][4-9][0-9]+ ms' \
		doubleword-2 answer '13[.]13: doubleword 2 of [1-9][0-9]* records: 0x0( |$)'
	pmu-model set 'thread*' trace-div 512
	pmu-model set 'thread*' tells 1
	probed records answer '13[.]5: a record each (3[.]9|4[.])[0-9]+ ms, [0-9,]+ ticks of the timebase [(][1-9][0-9]+ samples' \
		doubleword-2 answer '13[.]13: doubleword 2 of [1-9][0-9]* records: .*0x[4c]000'
	trace_every $NEVER
	probed records FAIL '13[.]5: no record in 2 s'
}

# One each 4 ms, if the thread makes them all of the time.
test_records_of_an_idle_cpu() {
	trap as_it_was EXIT
	pmu-model set 'thread*' trace-div 512
	probed idle-records answer '13[.]7: [0-9]{1,2} records in 2 s'
	pmu-model set 'thread*' idles 1
	probed idle-records answer '13[.]7: [3-5][0-9]{2} records in 2 s'
}

test_engines() {
	trap as_it_was EXIT
	probed engine-modes ok '13[.]16: busy cores, max_latency=-?[0-9]+: 0 engines were found off'
	pmu-model set core0 drops 1000000000
	probed engine-modes answer '13[.]16: .*: 1 engines were found off'
	pmu-model set core0 drops 0
	load max_latency=0
	probed deep-sleep ok '13[.]8: idle cores, max_latency=0: 0 engines were found off'
	pmu-model set core0 deep 1
	probed deep-sleep FAIL '13[.]8: idle cores, max_latency=0: [1-9][0-9]* engines were found off'
	pmu-model set core0 deep 0
	load
}

run_tests
