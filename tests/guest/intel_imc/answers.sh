#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What becomes of counts for each answer that hardware may have for an open question. These rows are a table in
# Documentation/hardware/intel_imc.md, too: scripts/pages --answers.
#
# number | answer | keys of the model | ours | in-tree
# 12.1 | BOX_CTL 17:16 are as is assumed, and so is all below | - | exact | exact
# 12.1 | BOX_CTL 17:16 have to be 0 from I on | not run | refused: the fixed counter does not advance | exact
# 12.2 | the fixed counter does not freeze | runs_frozen 1 | refused | silent
# 12.2 | the general counters do not freeze | runs_frozen 2 | refused | silent
# 12.3 | J has reset bits 1:0 in BOX_CTL | not run | exact: they are not used | exact
# 12.4 | bits 63:48 of a counter read ones | high 65535 | exact | exact
# 12.5 | a threshold has to be exceeded | exceeds 1 | told: do not rely on thresh | silent
# 12.6 | a read of the low half latches the high one | latches 1 | exact | exact
# 12.7 | the clock stands while all CPUs of the socket sleep | doze 1 | exact | exact
# 12.8 | a phantom has a clock that runs | not run | exact: it has a PMU more | exact
# 12.9 | events without sub-events need a umask | needs_umask 1; arrives 1 | exact | silent
# 12.9 | there is no event 00 | no_event_0 1 | refused | silent
# 12.10 | increments are larger than 22, 32, 16 and 4 | unbounded 1 | exact | exact
# 12.11 | an occupancy starts from 0 | begins_at 3 | told: an occupancy may start from 0 | silent
# 12.12 | field i of the map is another die | not run | told: dies may be numbered otherwise | silent
# 12.13 | slots of B and D have other ids | not run | exact: drivers go by ids | exact
# 12.14 | a control has to be written twice | twice 1 | exact | silent
# 12.15 | BOX_STATUS is otherwise | not run | exact: it is not used | exact
# 12.16 | none | edge_alone 1 | exact | silent
# 12.16 | all, as without `edge` | edge_alone 2 | exact | silent
# 12.17 | yes | inv_alone 1 | refused: always | silent
#
# all vm: --kernel 6.12 --driver ours --model snbep --cpus 2 --timeout 900
# all vm: --kernel 6.12 --driver in-tree --model snbep --cpus 2 --timeout 900
. ./intel_imc/lib.sh
. ./answers.sh

as_at_first() {
	for key in runs_frozen high exceeds latches doze needs_umask arrives no_event_0 unbounded twice \
		begins_at edge_alone inv_alone; do
		echo "set imc* $key 0"
	done | pmu-model -
}

case_reads() {
	exactly "100 300" --manual uncore_imc_0:0x304 -x '@model add imc0 cas_rd 100' -x @read -x '@model add imc0 cas_rd 200' -x @read
}

case_a_group() {
	exactly "7 9 14 18" --manual --group uncore_imc_0:0x304 uncore_imc_0:0xc04 -x '@model add imc0 cas_rd 7; add imc0 cas_wr 9' -x @read \
		-x '@model add imc0 cas_rd 7; add imc0 cas_wr 9' -x @read
}

case_the_clock() {
	same "$(pmu-event --manual uncore_imc_0:0xff -x 'sleep 0.1' -x @read 2>&1 | awk '/no such/ { print; next } { print ($1 > 1000000) }')" 1
}

# All of a group start and stop as one: their clocks are equal then, to two.
case_clocks_of_a_group() {
	same "$(pmu-event --disabled --manual --group uncore_imc_0:0xff uncore_imc_0:0x0 uncore_imc_0:0x100 -x @enable -x 'sleep 0.05' -x @disable \
		-x @read 2>&1 | awk '/no such|^E/ { print; next } {
		print (($1 - $2) * ($1 - $2) <= 4 && ($2 - $3) * ($2 - $3) <= 4 && $1 > 0) }')" 1
}

case_a_threshold() {
	exactly "10 0" --manual uncore_imc_0:0x04000080 uncore_imc_0:0x05000080 -x '@model add imc0 rpq_occupancy 10 4' -x @read
}

case_an_occupancy() {
	exactly 400 uncore_imc_0:0x80 -x '@model add imc0 rpq_occupancy 100 4'
}

case_edge_without_a_threshold() {
	exactly 100 uncore_imc_0:0x00040110 -x '@model add imc0 rpq_inserts 100'
}

# What no guide defines is no number of ours.
case_inv_without_a_threshold() {
	exactly 100 uncore_imc_0:0x00800110 -x '@model add imc0 rpq_inserts 100'
}

case_edge_of_the_clock() {
	exactly 0 uncore_imc_0:0x00040000 -x true
}

case_no_umask() {
	exactly 100 uncore_imc_0:0x10 -x '@model add imc0 rpq_inserts 100'
}

case_a_large_increment() {
	inc=$((22 + $(pmu-model get imc0 unbounded)))
	exactly $((100 * inc)) uncore_imc_0:0x80 -x "@model add imc0 rpq_occupancy 100 $inc"
}

case_starts_and_stops() {
	set --
	for _ in $(seq 15); do
		set -- "$@" -x @enable -x '@model add imc0 cas_rd 5' -x @disable -x '@model add imc0 cas_rd 1000'
	done
	exactly 75 --disabled --manual uncore_imc_0:0x304 "$@" -x @read
}

# From the low half of a counter to the high one
case_a_carry() {
	# Counts of seconds come at once.
	[ ! -e /sys/module/pmu_core ] || echo N > /sys/module/pmu_core/parameters/bound
	exactly "4294967290 4294967396" --manual uncore_imc_0:0x304 -x '@model add imc0 cas_rd 4294967290' -x @read -x '@model add imc0 cas_rd 106' -x @read
}

test_each_answer() {
	answers $driver 'imc*'
}

run_tests
