#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check on a processor that has events of ranks.
#
# all vm: --tools --kernel 6.12 --model skx
. ./intel_imc/lib.sh
. ./check.sh

# A part of what a channel reads is at rank 0.
test_ranks() {
	echo 'add imc0 cas_rd 1000' > /tmp/add
	echo 'add imc0 rd_cas_rank0.bank5 600' >> /tmp/add
	while_adding 0.01 found_at_last ranks ok \
		'uncore_imc_0 on CPU 0: ranks \(0xb0 to 0xb2\) have [1-9][0-9]* of [1-9][0-9]* reads'
}

# Event 0 is a clock on each of these processors, but on Sandy Bridge nobody knows.
test_more_than_the_channel() {
	for _ in $(seq 2000); do
		printf 'add imc0 rd_cas_rank0.bank5 1000\nset imc0 ctr0 0\n'
	done > /tmp/add
	while_adding 0.01 found ranks FAIL 'uncore_imc_0 on CPU 0: ranks \(0xb0 .* reads, the channel 0' \
		two-clocks FAIL 'uncore_imc_0 on CPU 0: the fixed counter has [0-9]+ clocks, a general one'
}

run_tests
