#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check: a machine that works passes, and each fault is said.
#
# all vm: --tools --kernel 6.12 --model snbep,sockets=2 --cpus 4 --timeout 900
. ./intel_imc/lib.sh
. ./check.sh

test_a_good_machine() {
	good_machine log
	contains "what has the channels" "$(cat /tmp/report.md)" 'memory channel, .* \| intel_imc_pmu'
	contains "events" "$(cat /tmp/report.md)" '^uncore_imc_0/clockticks/ [1-9]'
	contains "events" "$(cat /tmp/report.md)" '^0 everywhere: .*cas_count_read'
}

test_a_clock_that_stands() {
	trap as_it_was EXIT
	pmu-model set imc1 dead 1
	found clock FAIL 'uncore_imc_1 on CPU 0: the DRAM clock is 0Hz'
}

test_a_device_that_goes() {
	trap as_it_was EXIT
	pmu-model set imc1 gone 1
	found events FAIL 'uncore_imc_1/.*its device went away' clock FAIL 'uncore_imc_1/event=0xff/ on CPU 0'
}

# Sandy Bridge has no events of ranks; check_ranks.sh has a processor that does.
test_sums() {
	echo 'add imc* cas_rd 1000' > /tmp/add
	while_adding 0.01 found parts ok 'its parts [1-9]' clock ok 'channels at (79[2-9]|80[0-8])(\.[0-9]+)? MHz, DDR-1(58|59|60|61).' \
		two-clocks ok 'clocks by both' bus ok '0.0 % of the bus' twins ok '[1-9][0-9]* of them more than 0' \
		ranks skip 'has no events of ranks'
}

test_more_lines_than_clocks() {
	# Several at a time on a busy host: still no more than the driver takes for possible.
	echo 'add imc0 cas_rd 100000000' > /tmp/add
	while_adding 0.05 found_at_last bus FAIL 'uncore_imc_0 on CPU 0: .* lines in .* clocks; a line takes 4'
}

test_what_moves_while_nothing_runs() {
	with_cpus 0 found idle ok 'uncore_imc_0 on CPU 0: 0B/s while nothing runs'
	echo 'add imc0 cas_rd 40000000' > /tmp/add
	while_adding 0.05 with_cpus 4 found_at_last idle note 'uncore_imc_0 on CPU 0: [1-9].*B/s while the CPUs do nothing'
	with_cpus 6 found idle skip 'The CPUs are 6 % busy'
}

# Another program clears a counter again and again, most of the time. The fixed one and the second of a group are not
# touched.
test_a_counter_that_others_clear() {
	for _ in $(seq 2000); do
		echo 'add imc1 cas_rd 1000'
		echo 'set imc1 ctr0 0'
	done > /tmp/add
	while_adding 0.01 found \
		two-clocks FAIL 'uncore_imc_1 on CPU 0: the fixed counter has [0-9]+ clocks, a general one [1-9][0-9]*' \
		parts FAIL 'uncore_imc_1 on CPU 0, all: [0-9]+ lines, its parts [1-9][0-9]* [+] 0' \
		twins FAIL 'uncore_imc_1/.*/ twice in a group on CPU 0 counted [0-9]+ and [1-9]'
}

# Somebody else has all counters of a channel: events take turns, which is no fault.
test_counters_that_others_have() {
	perf stat -x, -o /tmp/stat -e '{uncore_imc_0/event=4,umask=1/,uncore_imc_0/event=4,umask=2/,uncore_imc_0/event=4,umask=4/}' \
		-e '{uncore_imc_0/event=4,umask=8/,uncore_imc_0/event=0/}' -a sleep 300 &
	sleep 1
	found events note 'took turns with events that others have open'
	kill $!
	wait $! || :
}

test_rights() {
	without_rights
}

# What load.c does moves nothing in a model, so this takes its place and tells the model: $share of the bytes.
test_load() {
	load_program <<-'EOT'
		socket=$(cat "/sys/devices/system/cpu/cpu$2/topology/physical_package_id")
		pmu-model add "imc0@$socket" "cas_$(echo "$1" | sed 's/read/rd/; s/write/wr/')" $(($3 / 64 * share / 100))
	EOT
	export share=100
	loaded 0 '^ok    load-memory'
	contains "all of it" "$(cat /tmp/said)" 'read on socket 0, at the channels of all sockets: 1.074 GB counted of 1.074 GB'
	for share in 50 150; do
		loaded 1 '^FAIL  load-memory'
	done
}

# A socket that lacks a channel.
test_a_channel_that_nobody_has() {
	trap as_it_was EXIT
	function=$(basename "$(ls -d $DRIVER/0000:* | tail -n 1)")
	echo "$function" > $DRIVER/unbind
	found cpumask note 'uncore_imc_[0-9] counts on 1 of 2 units'
	found devices note "$function .* has no driver"
}

test_both_drivers() {
	trap as_it_was EXIT
	both_drivers intel_imc_pmu intel_uncore parts events
}

run_tests
