#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What becomes of counts for each answer that hardware may have for an open question. These rows are a table in
# Documentation/hardware/power_imc.md, too: scripts/pages --answers.
#
# number | answer | keys of the model | ours | in-tree
# 13.1 | no: all is as assumed, and records come each 0.5 ms | - | exact | exact
# 13.1 | yes | not run | the machine stops | the machine stops
# 13.2 | they are posted 1 ms later, since LDBAR acts late | thread* linger 1000000 | told: are not in its page when LDBAR | silent
# 13.2 | they come with the first post of the next task | core* unposted 1 | told: are not in its page when LDBAR | silent
# 13.3 | each 100 ms | core* period 100000000 | told: less often than each 10 ms | silent
# 13.4 | STOP restarts it, too | core* rewinds 1 | exact | not run
# 13.5 | each 4 ms | thread* trace-div 512 | exact | not run
# 13.6 | one that is far behind | thread* tb-div 2 | told: each record is a sample | not run
# 13.6 | a guest's is behind, the host's is not, and the ring is lapped | not run | told: how many are lost may be wrong | silent
# 13.7 | yes | thread* idles 1 | exact | not run
# 13.8 | no, and max_latency=0 lets cores sleep | core* deep 1 | told: as after a deep sleep | silent
# 13.9 | yes | nest* through 1; nest* speed 3 | exact | not run
# 13.10 | they agree | nest* agree 1 | exact | not run
# 13.11 | they are otherwise | not run | exact: the driver waits for none | exact
# 13.12 | at a speed that changes scales | nest* speed 4 | refused | not run
# 13.12 | eight times as long | nest* speed 3 | exact | not run
# 13.12 | a post takes 200 us | nest* slow 200000 | exact | not run
# 13.13 | MSR bits | thread* tells 1 | exact | not run
# 13.14 | it counts guests | not run | told: if the hardware counts what guests of KVM do | silent
# 13.15 | no, and there is memory above 2^50 bytes | not run | refused: the hardware may not reach it | silent
# 13.16 | it reads as 0 | core* mute 1 | exact | exact
# 13.16 | it reads as 0 after a second | core* drops 1000000000 | exact | exact
# 13.17 | yes | core* shares 1 | told: does not keep what is written to it | silent
# 13.18 | yes | core* through 1; core* period 8000000 | exact | silent
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9 --timeout 1200
# all vm: --arch ppc64le --kernel 6.12 --driver in-tree --allow-warn --model power9 --timeout 1200
. ./power_imc/lib.sh
. ./answers.sh

[ -e $DEBUG ] && driver=ours || driver=in-tree

# Deep sleep is what some answers are about. The in-tree driver cannot be unloaded.
load() {
	[ $driver = ours ] || return 0
	insmod /vm/modules.d/pmu_core.ko
	insmod /vm/modules.d/power_imc_pmu.ko max_latency=0
}

unload() {
	[ $driver = ours ] || return 0
	rmmod power_imc_pmu
	rmmod pmu_core
}

as_at_first() {
	pmu-model - <<-EOT
		set core* deep 0
		set core* mute 0
		set core* drops 0
		set core* unposted 0
		set core* rewinds 0
		set core* shares 0
		set core* through 0
		set core* period 1000000
		set thread* linger 0
		set thread* every 0
		set thread* idles 0
		set thread* tells 0
		set thread* tb-div 1
		set thread* trace-div 64
		set nest* traffic 0
		set nest* through 0
		set nest* agree 0
		set nest* slow 0
		set nest* speed 0
	EOT
}

case_a_core_counter() {
	exactly 5 core_imc:$INST -x "$(imc_add core0@0 $INST 5)"
}

# Behind what the core has counted while its engine was off, if it does
case_behind_a_stop() {
	[ "$(pmu-model get core0@0 running)" = 0 ] && pmu-model add core0@0 $INST 9
	exactly 5 core_imc:$INST -x "$(imc_add core0@0 $INST 5)"
} 2> /dev/null

# Posted by the core itself
case_the_end_of_a_core_counter() {
	perf stat -x, -o /tmp/said -C 0 -e core_imc/event=$INST/ -- sh -c "pmu-model add core0@0 $INST 5; sleep 0.02"
	same "$(sed -n 's/,.*core_imc.*//p' /tmp/said)" 5
}

# Of a core that mostly sleeps: two per cent less or more.
case_the_clock_of_an_idle_core() {
	got=$(pmu-event core_imc:0xa0 -x 'sleep 3')
	same "$((got * 512 / 3 / 31360000))" 1
}

# The in-tree driver cannot read the nest under QEMU.
of_ours() {
	[ $driver = ours ] || exit 0
}

case_a_nest_counter() {
	of_ours
	exactly 7 nest_mcs01_imc:$READS -x "$(imc_add nest@0 $READS 7)"
}

# What passes while nobody counts, of a unit that is posted seldom
case_behind_a_pause() {
	of_ours
	pmu-model set nest@0 traffic 1000000
	pmu-event nest_phb0_imc:0x340 -x 'sleep 0.1' > /tmp/busy
	sleep 1
	pmu-model set nest@0 traffic 0
	exactly 0 nest_phb0_imc:0x340 -x 'pmu-model set nest@0 flush 1'
}

case_a_group_of_the_nest() {
	of_ours
	pmu-model set nest@0 traffic 1000000
	# shellcheck disable=SC2046 # a list
	pmu-event --manual --group nest_mcs01_imc:$READS nest_mcs01_imc:$WRITES $(for _ in $(seq 40); do echo -x @read; done) > /tmp/pairs
	pmu-model set nest@0 traffic 0
	same "$(awk 'NR > 1 && $1 - one != $2 - other { n++ } { one = $1; other = $2 } END { print n + 0 }' /tmp/pairs)" 0
}

# Again and again, each with a start and a stop: the first begins with what was due before.
case_tasks() {
	for _ in 1 2 3; do
		exactly 3 --pid 0 --cpu -1 --inherit thread_imc:$TASK_INST -x "$(imc_thread_add 0 $TASK_INST 3)"
	done
}

# All of it on CPU 0, while another thread of the core counts, if it does.
case_beside_a_sibling() {
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		pmu-model add thread1@0 $TASK_INST 1
		sleep 0.1
	done 2> /dev/null &
	same "$(taskset 1 pmu-event --pid 0 --cpu -1 --inherit thread_imc:$TASK_INST \
		-x "$(imc_thread_add 0 $TASK_INST 3); pmu-spin 1")" 3
	wait
}

# Two bursts of a program, and as many in the next session. The in-tree driver has records of traces before as well, and what
# it has of a frequency is less.
case_records() {
	of_ours
	pmu-model set 'thread*' every $NEVER
	for _ in 1 2; do
		before=$(trace_sum samples)
		trace_record -- taskset 1 sh -c 'pmu-model set thread0 burst 10; sleep 0.1; pmu-model set thread0 burst 10' ||
			echo "wrong: no trace" >> /tmp/case
		same $(($(trace_sum samples) - before)) 20
	done
	pmu-model set 'thread*' every 0
}

# A program that works for two seconds, and sleeps as long: as many samples as it asks for, 100, give or take chance, those
# before the distance of records is known, and the time that the host takes.
case_a_frequency() {
	of_ours
	before=$(trace_sum samples)
	perf record -q --no-bpf-event -o $DATA -e $EVENT -F 50 -- taskset 1 sh -c 'timeout 2 sh -c "while :; do :; done"; sleep 2' > /tmp/said 2>&1 || :
	got=$(($(trace_sum samples) - before))
	[ "$got" -lt 30 ] || [ "$got" -gt 220 ] || got=enough
	same "$got" enough
}

test_each_answer() {
	STRICT=yes
	answers $driver 'core*'
}

run_tests
