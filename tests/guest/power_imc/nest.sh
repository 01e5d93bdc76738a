#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What nest events count, on two chips. The in-tree driver cannot be the referee: it reads a chip's
# counters through the linear map, where on this machine they are not, and the kernel oopses.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9,chips=2
# kernels vm: --arch ppc64le --kernel 6.1 --driver ours --model power9,chips=2
. ./power_imc/lib.sh

test_cpumask_has_a_cpu_of_each_chip() {
	equal "cpumask" "$(cat $PMUS/nest_mcs01_imc/cpumask)" 0,2
}

test_nothing_is_nothing() {
	equal "counts" "$(pmu-event nest_mcs01_imc:$READS nest_mcs01_imc:$WRITES -x 'pmu-model set nest@0 flush 1')" "0 0"
}

test_counts_exactly() {
	got=$(pmu-event nest_mcs01_imc:$READS nest_mcs01_imc:$WRITES nest_phb0_imc:0x340 -x "$(imc_add nest@0 $READS 7)" \
		-x "$(imc_add nest@0 0x340 1000)" -x "$(imc_add nest@0 $WRITES 3)" | tr '\n' ';')
	equal "counts" "$got" "7 0 0;7 0 1000;7 3 1000;"
}

# Chips are told apart.
test_chips_apart() {
	for cpu in 0 2; do
		got=$(pmu-event --cpu $cpu nest_mcs01_imc:$READS \
			-x "pmu-model set nest@$((cpu / 2)) flush 1; $(imc_add nest@$((cpu / 2)) $READS 1$cpu)")
		equal "chip $((cpu / 2))" "$got" 1$cpu
	done
}

# A line is 128 bytes and a unit of the counter 256 of them, which perf multiplies in.
test_perf_stat_per_socket() {
	out=$(perf stat -x, -a --per-socket -e nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/ -- \
		sh -c "$(imc_add nest@0 $READS 1000); $(imc_add nest@1 $READS 50)" 2>&1)
	contains "chip 0" "$out" '^S0,1,256000,,nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/'
	contains "chip 1" "$out" '^S1,1,12800,,nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/'
	out=$(perf stat -x, -a -e nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/ -- \
		sh -c "$(imc_add nest@0 $READS 1000); $(imc_add nest@1 $READS 50)" 2>&1)
	contains "both" "$out" '^268800,,nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/'
}

# A unit, and a scale of its own in another notation than its sisters'.
test_scale_and_unit() {
	out=$(perf stat -x, -C 0 -e nest_xlink0_imc/PM_XLINK0_OUT_ODD_DATA_COUNT/ -- sh -c "$(imc_add nest@0 0x148 2)" 2>&1)
	contains "flits" "$out" '^8192(\.00)?,flits,nest_xlink0_imc/PM_XLINK0_OUT_ODD_DATA_COUNT/'
}

# Across two groups of counters that are posted apart.
test_group() {
	got=$(pmu-event --group nest_mcs01_imc:$READS nest_mcs01_imc:$WRITES nest_mcs01_imc:0xc8 \
		-x "$(imc_add nest@0 $READS 5)" -x "$(imc_add nest@0 $WRITES 6)" | tr '\n' ';')
	equal "group" "$got" "5 0 0;5 6 0;"
}

# A million events a second at every counter for some time: no less than from the end of the command that begins it
# to the beginning of the one that ends it, and no more than from begin to end of both. On the way it is posted, often.
test_traffic() {
	pmu-event nest_mcs01_imc:$READS nest_powerbus0_imc:0x80 -x "pmu-model set nest@0 flush 1; $NOW > /tmp/0
		pmu-model set nest@0 traffic 1000000; $NOW > /tmp/1; sleep 0.2; $NOW > /tmp/2
		pmu-model set nest@0 traffic 0; $NOW > /tmp/3; pmu-model set nest@0 flush 1" > /tmp/counts
	least=$((($(cat /tmp/2) - $(cat /tmp/1)) / 1000)) most=$((($(cat /tmp/3) - $(cat /tmp/0)) / 1000))
	read -r mcs powerbus < /tmp/counts
	show "$mcs and $powerbus events, of $least to $most"
	within "mcs01" "$mcs" "$least" "$most"
	within "powerbus0" "$powerbus" "$least" "$most"
}

# POWER9's microcode posts a group of nest counters one by one. Who reads meanwhile sees some of this update and
# others of the last, so the driver waits for the update's end. Of the first group: counts of updates begun and done
# at its ends, a counter in each half.
BEGUN=0x0
DONE=0x108
EARLY=0x10
LATE=0xf0

torn() { # [FILE]
	sed -n 's/^chip 0 .*torn //p' "${1:-$DEBUG/nest}"
}

# An update that never ends does not hang the reader: for each pass it gives up once, and says so. Both counters get
# the same amount at every update, so they are the same but in the middle of one.
test_update_that_does_not_end() {
	before=$(torn)
	pmu-event --manual --group nest_powerbus0_imc:$EARLY nest_powerbus0_imc:$LATE -x 'pmu-model set nest@0 flush 1
		pmu-model set nest@0 traffic 100000000; pmu-model set nest@0 half 1' -x "cat $DEBUG/nest > /tmp/opened" \
		-x @read -x @read -x "cat $DEBUG/nest > /tmp/read; pmu-model set nest@0 half 0" -x @read \
		-x 'pmu-model set nest@0 traffic 0' > /tmp/counts
	equal "more early than late: two reads in the update, one after it" \
		"$(awk '{ printf "%d%d ", ($1 > $2), ($1 == $2) }' /tmp/counts)" "10 10 01 "
	equal "two reads in the update" "$(sed -n 1p /tmp/counts)" "$(sed -n 2p /tmp/counts)"
	equal "torn when they were opened" "$(torn /tmp/opened)" "$before"
	equal "torn by two reads" "$(torn /tmp/read)" $((before + 2))
	equal "torn after the update" "$(torn)" $((before + 2))
}

# The frame's counts, which are read first and without waiting, show which reads fell into an update: begun is one
# ahead of where else it is. How often the driver gave up waiting it says itself: a host that stops the guest's
# clockwork makes an update as long as it likes.
test_group_is_of_one_update() {
	trap 'pmu-model set nest@0 slow 0; pmu-model set nest@0 traffic 0' EXIT
	pmu-model set nest@0 slow 50000
	before=$(torn) reads=0 during=0 given_up=0
	: > /tmp/torn
	set -- -x true -x true -x true -x true -x true -x true -x true -x true -x true -x true
	until [ $during -gt $((given_up + 5)) ]; do
		within "reads, $during in an update, $given_up given up" $reads 0 100000
		pmu-event --group nest_powerbus0_imc:$BEGUN nest_powerbus0_imc:$DONE \
			nest_powerbus0_imc:$EARLY nest_powerbus0_imc:$LATE \
			-x 'pmu-model set nest@0 flush 1; pmu-model set nest@0 traffic 100000000' \
			"$@" "$@" "$@" "$@" "$@" -x 'pmu-model set nest@0 traffic 0' > /tmp/reads
		reads=$((reads + $(wc -l < /tmp/reads))) given_up=$(($(torn) - before))
		during=$((during + $(awk '{ ahead[NR] = $1 - $2; if (NR == 1 || ahead[NR] < least) least = ahead[NR] }
			END { for (i in ahead) n += ahead[i] > least; print n + 0 }' /tmp/reads)))
		awk '$3 != $4' /tmp/reads >> /tmp/torn
	done
	show "$reads reads, $during while an update was under way, $given_up given up"
	within "reads of two updates, $given_up given up" "$(wc -l < /tmp/torn)" 0 $given_up
}

# The counts of the last two groups, G6 and G7, never agree, so to wait for that is in vain: a counter of each is read,
# with posts behind it and in the middle of one, and nobody waits, though it is a group. What a test before has left in
# the model is in the first read.
test_groups_without_update_counts() {
	before=$(torn)
	pmu-event --manual --group nest_mcs01_imc:0x558 nest_mcs01_imc:0x6c8 -x 'pmu-model set nest@0 flush 1' -x @read \
		-x "$(imc_add nest@0 0x558 5)" -x "$(imc_add nest@0 0x6c8 6)" -x @read -x 'pmu-model set nest@0 half 1' \
		-x @read -x 'pmu-model set nest@0 half 0' > /tmp/counts
	equal "counts" "$(awk 'NR == 1 { a = $1; b = $2 } NR > 1 { printf "%d %d;", $1 - a, $2 - b }' /tmp/counts)" "5 6;5 6;"
	equal "torn" "$(torn)" "$before"
}

# The speed is changed under the microcode, which begins anew at 0: what it counts from there is counted, what it counted
# since the last read is not, and the log says so, once a minute.
test_microcode_begins_anew() {
	load
	trap 'pmu-model set nest@0 speed 0' EXIT
	got=$(pmu-event nest_mcs01_imc:$READS nest_phb0_imc:0x340 -x "$(imc_add nest@0 $READS 5); $(imc_add nest@0 0x340 9)" \
		-x "pmu-model set nest@0 speed 1; $(imc_add nest@0 $READS 3)" \
		-x "$(imc_add nest@0 $READS 4); pmu-model set nest@0 speed 0; $(imc_add nest@0 0x340 2)" -x true | tr '\n' ';')
	equal "counts" "$got" "5 9;8 9;8 11;8 11;"
	within "times that the log says so" "$(log_since_mark | grep -c 'have begun anew at 0')" 1 2
}

# The controller runs the microcode no more, as in its safe state: who opens a chip's first event is told.
test_microcode_that_is_not_run() {
	trap 'pmu-model set nest@0 stalled 0' EXIT
	load
	eventually "status before" 2 pmu-model get nest@0 status
	pmu-model set nest@0 stalled 1
	equal "count" "$(pmu-event nest_mcs01_imc:$READS -x true)" 0
	contains "log" "$(log_since_mark)" "chip 0: the nest's microcode does not resume: its events may count 0"
	pmu-model set nest@0 stalled 0
	log_mark
	equal "count" "$(pmu-event nest_mcs01_imc:$READS -x "$(imc_add nest@0 $READS 5)")" 5
	equal "lines" "$(log_since_mark | grep -c microcode)" 0
}

# Chip 1 lacks mcs0 and mcs1. Firmware names all chips for each unit that the boot chip has.
test_chip_without_the_unit() {
	trap 'pmu-model set nest@1 uav 0xffffffffffffe000; load' EXIT
	pmu-model set nest@1 uav 0x9fffffffffffe000
	load
	contains "log" "$(log_since_mark)" 'nest_mcs01_imc: chip 1 has no such unit'
	equal "lines" "$(log_since_mark | grep -c 'no such unit')" 1
	equal "CPUs of it, of another" "$(cat $PMUS/nest_mcs01_imc/cpumask) $(cat $PMUS/nest_mcs23_imc/cpumask)" "0 0,2"
	equal "an event there" "$(pmu-event --cpu 2 nest_mcs01_imc:$READS || :)" ENODEV
	equal "another unit's" "$(pmu-event --cpu 2 nest_mcs23_imc:0x50 -x "$(imc_add nest@1 0x50 3)")" 3
	out=$(perf stat -x, -a --per-socket -e nest_mcs01_imc/PM_MCS01_128B_RD_DISP_PORT01/ -- \
		sh -c "$(imc_add nest@0 $READS 1000)" 2>&1)
	contains "chip 0" "$out" '^S0,1,256000,'
	equal "lines of chip 1" "$(echo "$out" | grep -c '^S1,')" 0
}

# The microcode runs from the first event on a chip to the last one's end: two PMUs share it, and
# nobody else's chip is touched.
test_microcode_runs_while_needed() {
	eventually "status before" 2 pmu-model get nest@0 status
	starts=$(pmu-model get nest@0 starts) stops=$(pmu-model get nest@0 stops)
	pmu-event --cpu 0 nest_mcs01_imc:$READS nest_mcs23_imc:0x50 nest_phb0_imc:0x338 -x 'pmu-model set nest@0 flush 1
		pmu-event --cpu 1 nest_nx_imc:0x3f8
		pmu-model get nest@0 status > /tmp/status; pmu-model get nest@1 status >> /tmp/status' > /dev/null
	equal "status of both while open" "$(tr '\n' ' ' < /tmp/status)" "1 2 "
	eventually "status afterwards" 2 pmu-model get nest@0 status
	equal "resumed" $(($(pmu-model get nest@0 starts) - starts)) 1
	equal "paused" $(($(pmu-model get nest@0 stops) - stops)) 1
}

# What is behind the counters says how it is: what is in the control block.
test_debugfs() {
	for chip in 0:0x203ffd980000 1:0x203ffdd80000; do
		nest=nest@${chip%:*}
		contains "nest" "$(cat $DEBUG/nest)" "$(printf '^chip %d at %s: paused, speed %d, mode %d, available %#x, users 0, torn [0-9]+$' \
			"${chip%:*}" "${chip#*:}" "$(pmu-model get "$nest" speed)" "$(pmu-model get "$nest" mode)" \
			"$(pmu-model get "$nest" uav)")"
	done
	contains "events" "$(cat $DEBUG/events/nest_xlink0_imc)" \
		'^PM_XLINK0_OUT_ODD_DATA_COUNT event=0x148 scale=4.096e3 unit=flits$'
}

run_tests
