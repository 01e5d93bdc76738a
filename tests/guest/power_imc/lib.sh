# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the tests of POWER's in-memory collection share, beside what all do.
. ./lib.sh

# Counters at which the model counts nothing by itself.
INST=0x118		# of a core: CPM_1THRD_NON_IDLE_INST
TASK_INST=0x798		# of a thread: CPM_MSR_TA_USER_INST
READS=0xd0		# of the nest: PM_MCS01_128B_RD_DISP_PORT01
WRITES=0xd8

EVENT=trace_imc/trace_cycles/
CONFIG=0x10200000	# of that event
DATA=/tmp/perf.data
DEBUG=/sys/kernel/debug/power_imc_pmu
export INST TASK_INST READS WRITES EVENT CONFIG DATA DEBUG

# A command for pmu-event: N at the counter at OFFSET of a chip or a core, and in memory when the
# command ends: imc_add DEVICE OFFSET N. The first flush ends what the microcode has yet to do.
imc_add() {
	echo "pmu-model set $1 flush 1 && pmu-model add $1 $2 $3 && pmu-model set $1 flush 1"
}

# The same for a thread of chip 0. It counts only tasks that are counted: with pmu-event
# --inherit the command is. imc_thread_add CPU OFFSET N
imc_thread_add() {
	echo "taskset -c $1 pmu-model add thread$1@0 $2 $3"
}

# A thread event of the command's own task: imc_thread_event -x COMMAND...
imc_thread_event() {
	pmu-event --pid 0 --cpu -1 --inherit thread_imc:$TASK_INST "$@"
}

# A command that tells the guest's clock, which is the models' virtual time, in ns.
NOW="sed -n '/^now at /{s/[^0-9]//g;p;q}' /proc/timer_list"
now() {
	eval "$NOW"
}

# A key of all devices that match: get_all DEVICES KEY
get_all() {
	pmu-model get "$1" "$2" | sed 's/.* //' | tr '\n' ' '
}

# The driver anew: load PARAMETER... A file that ends with another than it found ends with this.
load() {
	rmmod power_imc_pmu 2> /dev/null || :
	[ -e /sys/module/pmu_core ] || insmod /vm/modules.d/pmu_core.ko
	log_mark
	insmod /vm/modules.d/power_imc_pmu.ko "$@"
}

unload() {
	rmmod power_imc_pmu
	rmmod pmu_core
}

# A number of instructions of user programs, and as many of the kernel, for each record, or 0: by
# the clock. How many records a program has does not depend on the host then. A sample takes the
# kernel some 1400 instructions, so there have to be several times as many to a record.
INSTRUCTIONS=20000
NEVER=$((1 << 40))
trace_every() { # NUMBER
	pmu-model set 'thread*' every "$1"
	pmu-model set 'thread*' spread 0
}

# 28 million instructions of a program, of which heavy() has three quarters: some 1400 records.
SPIN='pmu-spin rounds 1 300 100'
# A tenth of that.
SPIN_SHORT='pmu-spin rounds 1 30 10'
export INSTRUCTIONS NEVER SPIN SPIN_SHORT

# Instructions of these functions are counted from now on, from call to return: measure FUNCTION...
measure() {
	pmu-model set thread0 measure 0
	for function in "$@"; do
		address=$(awk -v name="$function" '$3 == name { print "0x" $1; exit }' /proc/kallsyms)
		pmu-model set thread0 measure "$address"
	done
}

# What they were on CPU 0; or "-calls", or of one call the "-most" or "-quartile": measured [WHICH]
measured() {
	taskset 2 pmu-model get thread0 "measured${1:-}"
}

# The driver's functions that drain a ring, each from the hardware to the samples.
DRAINS='power_imc_drain power_imc_drain_timer power_imc_drain_task_switched'
export DRAINS

# Records that the model has made, of all threads.
trace_made() {
	pmu-model get 'thread*' total | awk '{ sum += $NF } END { print sum }'
}

# A field of the driver's account of its rings, the sum of all CPUs: trace_sum FIELD
trace_sum() {
	awk -v field="$1" '{ for (i = 1; i < NF; i++) if ($i == field) sum += $(i + 1) } END { print sum }' $DEBUG/trace
}

# What the driver took perf has, and nothing was lost: all_is_taken LEAST OPTION... for perf record. The hardware makes
# other records as well, while no event is on. Sets "taken".
all_is_taken() {
	least=$1
	shift
	made=$(trace_made) taken=$(trace_sum taken) lost=$(trace_sum lost)
	trace_record "$@"
	made=$(($(trace_made) - made)) taken=$(($(trace_sum taken) - taken))
	within "records taken" $taken "$least" $made
	equal "samples" "$(trace_samples '')" $taken
	equal "lost" $(($(trace_sum lost) - lost)) 0
}

# What the hardware wrote is what the driver took, and what perf has: exact, where records are made by traced
# programs alone. all_is_there NUMBER OPTION...
all_is_there() {
	number=$1
	shift
	before=$(trace_made)
	all_is_taken "$number" "$@"
	equal "records" $(($(trace_made) - before)) "$number"
	equal "records taken" "$taken" "$number"
}

# The records of a burst, from here on, are of the time since the last one.
SPREAD='pmu-model set thread0 spread 1'

# trace_record OPTION...: perf record of trace_imc, into DATA. Looking for BPF programs, it reads all of the kernel's
# symbols, which is half of its time.
trace_record() {
	perf record -q --no-bpf-event -o $DATA -e $EVENT -c 1 --sample-cpu "$@" > /tmp/said 2>&1 || { cat /tmp/said; return 1; }
}

# The samples of DATA, or FILE, a line each, each once: trace_lines FIELDS [FILE]. perf record looks at the head
# of its buffer twice, and what comes between (perf_mmap__push() in tools/perf) it writes twice; cpu-clock shows
# it, too. Two records of a CPU are never of the same time, nor of a task, whose events tell no CPU.
trace_lines() {
	{
		perf script -i "${2:-$DATA}" --ns -F "cpu,tid,time,$1" ||
			perf script -i "${2:-$DATA}" --ns -F "tid,time,$1"
	} 2> /dev/null | sort -u
}

# How many they are, or those that have a text: trace_samples [TEXT [FILE]]
trace_samples() {
	trace_lines "ip${1:+,sym}" "${2:-}" | grep -c "${1:-.}" || :
}

# heavy() and light() have what they execute of the records, which is 3 to 1, to within one for each. The kernel has
# functions "..._in_flight".
trace_is_profile_of_spin() {
	trace_lines ip,sym > /tmp/lines
	heavy=$(grep -c ' heavy$' /tmp/lines) light=$(grep -c ' light$' /tmp/lines)
	within "samples of light" "$light" 200 1000
	within "samples of heavy, where light has $light" "$heavy" $((3 * light - 4)) $((3 * light + 4))
}

# What perf lost, by its own account.
trace_lost() {
	perf report -i $DATA --stats 2> /dev/null | awk '/LOST_SAMPLES events:/ { n = $3 } END { print n + 0 }'
}

# Classes of a core's registers that were written, by what "pmu-model stats" says of it: written < FILE
written() {
	sed -n 's/^\(pdbar\|htm\|event_mask\|trace\) [0-9]* \([1-9][0-9]*\)$/\1/p' | tr '\n' ' '
}

# The same since the last reset
writes() { # DEVICE
	pmu-model stats "$1" --reset | written
}
