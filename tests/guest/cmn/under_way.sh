#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What is under way in a mesh takes time: carries, a stop, writes, interrupts. Counts never go back, are never too
# high, and are exact when they are stopped; and an event that is read stops nobody else's.
#
# all vm: --arch arm64 --kernel 6.12 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
# kernels vm: --arch arm64 --kernel 6.1 --driver ours --cpus 2 --model cmn700,snp-vcs=1 --model cmn700,shared-irq=on --model cmn700,shared-irq=on,multi-dtm=off --model cmns3,rev=3,isolation=on,isolated=1.0.0+2.0.1 --model cmns3,rev=2,isolation=on,isolated=1.0.0 --model cmn700,spniden=off
. ./cmn/lib.sh

taskset -p 1 $$ > /dev/null
find_meshes
use_mesh cmn0
NODE=hnf_cache_miss,bynodeid=1,nodeid=0x64
GROUP="$PMU/hnf_cache_miss/ $PMU/hnf_mc_reqs/"

model() {
	printf '%s\n' "$@" | pmu-model -
}

# The modules again, as they are loaded or with parameters; $core has those of pmu_core.
core=''
reload() {
	unload_ours
	# shellcheck disable=SC2086 # none, or one
	insmod /vm/modules.d/pmu_core.ko $core
	insmod /vm/modules.d/cmn_pmu.ko "$@"
	find_meshes
	use_mesh cmn0
}

# Nothing takes time any more, and nobody has noticed that it did.
restore() {
	for key in carry_delay carry_drop stop_delay posted irq_delay traffic pm_disable dt_disable pm_on dtm_lock filter_all; do
		echo "set cmn0 $key 0"
	done | pmu-model -
	core=''
	reload
}

interrupts() {
	awk '/cmn_pmu|\.pmu/ { n += $2 + $3 } END { print n + 0 }' /proc/interrupts
}

# As often as the word has letters: reads xxx
reads() {
	sed 's/./ -x @read/g'
}

# Reads and writes of the control of DTCs that one read of the counts makes: control [--group] EVENT...
control() {
	stats='pmu-model stats cmn0 --reset'
	pmu-event --manual "$@" -x "$stats > /dev/null" -x @read \
		-x "$stats | awk '/^dtc_control/ { r += \$2; w += \$3 } END { print r + 0, w + 0 }'" | tail -n 1
}

# Single events do not stop the mesh, however many they are; a group stands still once, which is read back. What
# other PMUs count in the group does not matter. Before 6.2 perf does not say that it reads one that they lead.
test_who_stops_the_mesh() {
	clock=software:0
	equal "three that are single" "$(control "$PMU/hnf_cache_miss/" "$PMU/hnf_mc_reqs/" "$PMU/dtc_cycles/")" "0 0"
	equal "a group of one" "$(control --group "$PMU/hnf_cache_miss/")" "0 0"
	# shellcheck disable=SC2086 # a list
	equal "a group of two" "$(control --group $GROUP)" "1 2"
	equal "one behind a clock" "$(control --group $clock "$PMU/hnf_cache_miss/")" "0 0"
	equal "one before a clock" "$(control --group "$PMU/hnf_cache_miss/" $clock)" "0 0"
	# shellcheck disable=SC2086 # a list
	equal "two behind a clock" "$(control --group $clock $GROUP)" "$(since 6.2 "1 2" "0 0")"
	# shellcheck disable=SC2086 # a list
	equal "two before a clock" "$(control --group $GROUP $clock)" "1 2"
	# The core may keep the module for a moment after a group with a clock has gone.
	eventually "references on the module" 0 cat /sys/module/cmn_pmu/refcnt
}

# Counts that race with their reads, and what they must be at the end: race [--group] EVENT...
race() {
	pmu-model set cmn0 total 0
	# shellcheck disable=SC2046 # a list
	pmu-event --disabled --manual "$@" -x @enable -x "@model set cmn0 traffic 1000000000" \
		$(echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx | reads) -x @disable -x @read -x '@model get cmn0 total' \
		> /tmp/race
	pmu-model set cmn0 traffic 0
	awk 'NF > 1 || NR <= 41 {
		for (i = 1; i <= NF; i++) {
			if ($i + 0 < last[i])
				print "read " NR ", event " i ": " $i " after " last[i]
			last[i] = $i + 0
		}
		next
	} {
		for (i in last)
			sum += last[i]
		if (sum != $1)
			print "at the end " sum ", counted were " $1
		lines = NR
	} END {
		if (lines != 42)
			print NR " lines"
	}' /tmp/race > /tmp/wrong
	equal "$*" "$(cat /tmp/wrong)" ""
	show "$1 ...: $(tail -n 1 /tmp/race) counts in 40 reads"
}

# The parameter is what carries and the stop take here together, at the most.
test_counts_that_race_with_reads() {
	trap restore EXIT
	reload carry_ns=400000
	model 'set cmn0 carry_delay 300000' 'set cmn0 stop_delay 50000' 'set cmn0 posted 1000000'
	log_mark
	race "$PMU/$NODE/"
	race "$PMU/hnf_cache_miss/"
	# shellcheck disable=SC2086 # a list
	race --group $GROUP
	equal "carries that were lost or late" "$(log_since_mark | grep -cE 'carries are lost|a carry took')" 0
}

# A group is of one moment: two of the same counts, with a counter for each, are equal in each read.
test_a_group_is_of_one_moment() {
	trap restore EXIT
	core=share=0
	reload carry_ns=400000
	model 'set cmn0 carry_delay 300000' 'set cmn0 stop_delay 50000'
	race --group "$PMU/$NODE/" "$PMU/$NODE/"
	equal "differ" "$(awk 'NF == 2 && $1 != $2' /tmp/race)" ""
}

# After another event the counters and letters are where that left them, with carries on their way.
test_what_was_before_does_not_count() {
	trap restore EXIT
	reload carry_ns=400000
	pmu-model set cmn0 carry_delay 300000
	for _ in 1 2 3 4 5; do
		got=$(pmu-event --disabled --manual "$PMU/$NODE/" -x @enable -x '@model add cmn0 hnf_cache_miss@0x64 65535' \
			-x @read -x '@model add cmn0 hnf_cache_miss@0x64 65535' -x @disable -x @read |
			tr '\n' ' ')
		equal "131070 twice 65535" "${got#* }" "131070 "
	done
}

# What was stopped is still selected, and carries on, until something starts at its XP or takes its letter.
test_what_was_stopped_disturbs_nobody() {
	elsewhere=$(nodes hnf | grep -v 0x64 | head -n 1)
	for _ in 1 2 3 4 5; do
		# shellcheck disable=SC2086 # a list
		pmu-event --group $GROUP > /dev/null
		got=$(pmu-event --manual "$PMU/$NODE/" -x "@model add cmn0 hnf_cache_miss@$elsewhere 300000" \
			-x '@model add cmn0 hnf_cache_miss@0x64 70000' -x @disable -x @read)
		equal "count" "$got" 70000
	done
}

# A carry that takes longer than was thought is waited for, and from then on each stop waits as long. The stop may
# come too late to see that: once in a while it does not.
test_a_carry_that_is_late() {
	trap restore EXIT
	pmu-model set cmn0 carry_delay 1000000
	log_mark
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		got=$(pmu-event --disabled --manual "$PMU/$NODE/" -x @enable -x '@model add cmn0 hnf_cache_miss@0x64 40000' \
			-x @read -x '@model add cmn0 hnf_cache_miss@0x64 40000' -x @disable -x @read | tr '\n' ' ')
		equal "40000 twice" "$got" "40000 80000 "
	done
	# How late a carry is seen to be is up to how long ago it was made. Each time it is told the wait gets twice as long.
	waits=$(log_since_mark | sed -n 's/.* arm_cmn_[0-9]: a carry took longer than \([0-9]*\) ns, .* carry_ns=.*/\1/p')
	contains "told" "$waits" '^[0-9]+'
	equal "waits that are not twice the one before" "$(echo "$waits" | awk '$1 < 2 * before { print } { before = $1 }')" ""
	equal "lost" "$(log_since_mark | grep -c 'carries are lost')" 0
}

# An owner that goes offline brings all counts up to date in one pass, and does not stop the mesh for it: events
# that share a DTM with those before them count no carry twice.
test_events_that_are_read_in_one_pass() {
	trap 'echo 1 > /sys/devices/system/cpu/cpu0/online; restore' EXIT
	core=share=0
	reload
	log_mark
	set -- "$PMU/$NODE/" "$PMU/$NODE/" "$PMU/$NODE/"
	got=$(pmu-event --disabled --manual "$@" -x @enable -x '@model add cmn0 hnf_cache_miss@0x64 30000' -x @read \
		-x 'pmu-model set cmn0 tear_dtm 40000' -x 'echo 0 > /sys/devices/system/cpu/cpu0/online' -x @read \
		-x '@model add cmn0 hnf_cache_miss@0x64 1' -x @disable -x @read | tr '\n' ' ')
	equal "in the pass" "$(pmu-model get cmn0 tear_dtm)" 0
	equal "counts" "$got" "30000 30000 30000 70000 70000 70000 70001 70001 70001 "
	equal "carries that were lost or late" "$(log_since_mark | grep -cE 'carries are lost|a carry took')" 0
}

# A carry that is lost costs 65536, where it cannot be known that it was there; and the log tells.
test_a_carry_that_is_lost() {
	trap restore EXIT
	model 'set cmn0 carry_delay 900000000' 'set cmn0 carry_drop 1' 'set cmn0 dropped 0'
	log_mark
	got=$(pmu-event --disabled --manual "$PMU/$NODE/" -x @enable -x '@model add cmn0 hnf_cache_miss@0x64 40000' \
		-x @read -x '@model add cmn0 hnf_cache_miss@0x64 40000' -x @disable -x @read | tr '\n' ' ')
	equal "40000 twice" "$got" "40000 80000 "
	equal "told" "$(log_since_mark | grep -c 'arm_cmn_[0-9]: carries are lost when the mesh is stopped')" 1
	got=$(pmu-event --disabled --manual "$PMU/$NODE/" -x @enable -x '@model add cmn0 hnf_cache_miss@0x64 65536' \
		-x @disable -x @read)
	equal "65536, of which nothing can be known" "$got" 0
	pmu-model wait cmn0 carries 0
	# The counter may have been about to wrap at the start.
	within "dropped" "$(pmu-model get cmn0 dropped)" 2 3
}

# Counters wrap many times between two reads of perf's, so that a carry more or less does not show in the counts. Still the
# log tells of what is late or lost.
test_what_is_late_or_lost_between_reads_far_apart() {
	trap restore EXIT
	apart=$(for _ in $(seq 30); do echo '-x /tmp/apart -x @read'; done)
	echo 'exec sleep 0.02' > /tmp/apart
	chmod +x /tmp/apart
	# KEYS, joined by commas | LINE
	while read -r keys line; do
		core=share=0
		reload
		echo "$keys" | tr ',=' '\n ' | sed 's/^/set cmn0 /' | pmu-model -
		pmu-model set cmn0 traffic 1000000000
		log_mark
		# shellcheck disable=SC2086 # a list
		pmu-event --manual --group "$PMU/$NODE/" "$PMU/$NODE/" $apart > /dev/null
		contains "$keys" "$(log_since_mark)" "$line"
		restore
	done <<-'EOT'
		carry_delay=50000 a carry took longer
		carry_delay=20000,carry_drop=1 carries are lost
		stop_delay=50000,carry_delay=100 or a DTM to stop
	EOT
}

# Who does not want to wait at all does so only for what is missing, and not for ever.
test_no_wait_at_all() {
	trap restore EXIT
	reload carry_ns=0
	pmu-model set cmn0 carry_delay 200000
	log_mark
	got=$(pmu-event --disabled --manual "$PMU/$NODE/" -x @enable -x '@model add cmn0 hnf_cache_miss@0x64 40000' \
		-x @read -x '@model add cmn0 hnf_cache_miss@0x64 40000' -x @disable -x @read | tr '\n' ' ')
	equal "40000 twice" "$got" "40000 80000 "
	model 'set cmn0 carry_delay 900000000' 'set cmn0 carry_drop 1'
	got=$(pmu-event --disabled --manual "$PMU/$NODE/" -x @enable -x '@model add cmn0 hnf_cache_miss@0x64 40000' \
		-x @read -x '@model add cmn0 hnf_cache_miss@0x64 40000' -x @disable -x @read | tr '\n' ' ')
	equal "40000 twice" "$got" "40000 80000 "
	equal "lost" "$(log_since_mark | grep -c 'carries are lost')" 1
	pmu-model wait cmn0 carries 0
}

# What another program does costs the count, and not the time of each later stop; and the log tells, once.
test_a_mesh_that_another_program_runs() {
	trap restore EXIT
	reload
	log_mark
	model 'set cmn0 pm_on 1' 'set cmn0 traffic 1000000000'
	for _ in 1 2 3 4 5; do
		# shellcheck disable=SC2046,SC2086 # lists
		pmu-event --manual --group $GROUP $(echo xxxxxxxxxx | reads) > /dev/null
	done
	told() { log_since_mark | grep -c "$PMU: another program runs the mesh"; }
	eventually "told" 1 told
	equal "waits" "$(log_since_mark | grep -c 'from now on each stop waits')" 0
	model 'set cmn0 pm_on 0' 'set cmn0 traffic 0' 'set cmn0 stands 0'
	# shellcheck disable=SC2046,SC2086 # lists
	pmu-event --manual --group $GROUP $(echo xxxxxxxxxx | reads) > /dev/null
	within "ns of a stop" $(($(pmu-model get cmn0 stand_ns) / $(pmu-model get cmn0 stands))) 1 700000
}

# An interrupt's flag is gone when it has been served, though the write that clears it takes its time.
test_an_interrupt_comes_once() {
	trap restore EXIT
	bound N
	half='add cmn0 hnf_cache_miss@0x64 140737488355328'
	before=$(interrupts)
	got=$(pmu-event --manual "$PMU/$NODE/" -x '@model set cmn0 posted 900000000' -x "@model $half; $half; $half" -x @read)
	equal "2^47 three times" "$got" $((3 << 47))
	equal "interrupts" $(($(interrupts) - before)) 3
}

# One that comes late finds that all was served, or nothing counts any more, and ends.
test_an_interrupt_comes_late() {
	trap restore EXIT
	bound N
	half='add cmn0 hnf_cache_miss@0x64 140737488355328'
	pmu-model set cmn0 irq_delay 300000
	log_mark
	for _ in 1 2 3; do
		got=$(pmu-event --manual "$PMU/$NODE/" -x "@model $half" -x @read)
		equal "2^47" "$got" $((1 << 47))
		pmu-model wait cmn0 dtc1_overflow 0
	done
	equal "2^47 again and again" "$(pmu-event --manual "$PMU/$NODE/" -x "@model $half; wait cmn0 dtc1_overflow 0" \
		-x "@model $half; wait cmn0 dtc1_overflow 0" -x "@model $half" -x @read)" $((3 << 47))
	pmu-model wait cmn0 dtc1_overflow 0
	equal "nobody cared" "$(log_since_mark | grep -c 'nobody cared')" 0
}

# Firmware may have the PMU for itself: no PMU then, and a sentence, rather than zeros.
test_a_pmu_that_is_out_of_reach() {
	trap restore EXIT
	for key in pm_disable dt_disable; do
		pmu-model set cmn0 $key 1
		log_mark
		rmmod cmn_pmu
		insmod /vm/modules.d/cmn_pmu.ko
		find_meshes
		[ $key = pm_disable ] && what='0x41 was written to PMCR' || what='0x1 was written to DTC_CTL'
		contains "log" "$(log_since_mark)" "100000000.pmu: error (-EACCES|-13): the PMU of DTC 0 stays off: $what"
		equal "PMUs of cmn0" "$(meshes | grep -c '^cmn0$')" 0
		contains "others" "$(meshes)" '^cmn1$'
		pmu-model set cmn0 $key 0
	done
}

# What traces leave set locks a DTM, and what another kernel filtered is filtered still, unless they are cleared.
test_what_others_left() {
	trap restore EXIT
	rmmod cmn_pmu
	model 'set cmn0 dtm_lock 1' 'set cmn0 filter_all 1' 'set cmn0 dirty 1'
	insmod /vm/modules.d/cmn_pmu.ko
	find_meshes
	use_mesh cmn0
	all=$(nodes hnf | wc -l)
	equal "misses" "$(pmu-event "$PMU/hnf_cache_miss/" -x '@model add cmn0 hnf_cache_miss 70000')" $((70000 * all))
	# Nor does an event of our own leave its filter.
	equal "reads" "$(pmu-event "$PMU/hnf_qos_pocq_occupancy_read/" \
		-x '@model add cmn0 hnf_qos_pocq_occupancy_read 5; add cmn0 hnf_qos_pocq_occupancy_write 70')" $((5 * all))
	equal "misses again" "$(pmu-event "$PMU/hnf_cache_miss/" -x '@model add cmn0 hnf_cache_miss 3')" $((3 * all))
}

run_tests
