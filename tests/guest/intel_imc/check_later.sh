#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check on Ice Lake to Granite Rapids, with our driver and with the in-tree one: a machine that works passes, and
# what each check is for is told.
#
# kernels vm: --tools --kernel 6.12 --driver 'ours in-tree' --model spr,sockets=2 --cpus 4 --nodes 4 --timeout 900
# kernels vm: --tools --kernel 6.12 --driver 'ours in-tree' --model gnr,sockets=2 --cpus 6 --nodes 6 --timeout 900
# kernels vm: --tools --kernel 6.12 --driver 'ours in-tree' --model emr,sockets=2 --timeout 900
# kernels vm: --tools --kernel 6.12 --driver 'ours in-tree' --model icx,sockets=2 --timeout 900
. ./intel_imc/lib.sh
. ./check.sh

MODEL=$(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo)

# The in-tree driver shows phantoms on Ice Lake, which are told.
test_a_good_machine() {
	good_machine 'log|clocks'
	if [ "$MODEL/$driver" = 106/in-tree ]; then
		contains "phantoms" "$(cat /tmp/said)" 'uncore_imc_2 on CPU 0: a channel that does not exist'
	else
		equal "clocks" "$(grep '^note *clocks' /tmp/said || :)" ""
	fi
}

test_sums_and_clocks() {
	echo 'add imc* cas_rd 1000' > /tmp/add
	set -- ok 'uncore_imc_0 on CPU 0: 1(\.[56][0-9]*)? GHz, DDR-3[12][0-9]*, and half of it'
	[ "$MODEL/$driver" != 106/in-tree ] || set -- note 'a channel that does not exist'
	while_adding 0.01 found parts ok 'uncore_imc_0 on CPU 0, all.*: [1-9][0-9]* lines, its parts [1-9]' clocks "$@"
}

# What a controller's counters have is what its channels do, while they count, and its clock theirs.
test_free_running_counters() {
	case $MODEL in
	173) found free skip 'nothing that this check looks at'
		return ;;
	106) wanted='read: [1-9][0-9,.MG ]* to [1-9][0-9,.MG ]*; channels have [1-9][0-9]* [+] [1-9]' ;;
	*) wanted='dclk: [1-9][0-9,.MG ]* to [1-9][0-9,.MG ]*; a channel has [1-9][0-9]* clocks' ;;
	esac
	echo 'add imc* cas_rd 1000' > /tmp/add
	while_adding 0.01 found free ok "uncore_imc_free_running_0 on CPU 0, $wanted"
}

# Half clocks and clocks that stand still are not judged.
test_clocks_that_stand() {
	[ "$MODEL/$driver" != 106/in-tree ] || skip "phantoms are told first"
	trap as_it_was EXIT
	pmu-model set 'imc*' dead 1
	found clocks skip 'uncore_imc_1 on CPU 0: no clock'
}

# A program in load.c's place moves lines on the channels of its CPU's node, as the driver has them, or of the other one.
test_load() {
	[ "$MODEL/$driver" = 143/ours ] || skip "where a socket has two nodes"
	load_program <<-'EOT'
		first=$(($2 % 2 ? 5 : 1))
		for number in $(echo "$clusters" | cut -d' ' -f$first-$((first + 3))); do
			echo "add imc$number@$(($2 / 2)) cas_$(echo "$1" | sed 's/read/rd/; s/write/wr/') $(($3 / 64 / 4))"
		done | pmu-model -
	EOT
	export clusters='0 1 4 5 2 3 6 7'
	loaded 0 '^ok    load-memory'
	contains "nodes" "$(cat /tmp/said)" 'socket 0, node 1: memory is on uncore_imc_2, uncore_imc_3, uncore_imc_6, uncore_imc_7$'
	clusters='2 3 6 7 0 1 4 5'
	loaded 1 '^FAIL  load-nodes'
	contains "others" "$(cat /tmp/said)" 'uncore_imc_6, uncore_imc_7 said to be of another node'
}

run_tests
