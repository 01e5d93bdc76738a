# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the tests of POWER's in-memory collection share, beside what all do.
. ./lib.sh

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

# How many samples of trace_imc a perf.data has, each once: trace_samples FILE. perf record looks at the head of
# its buffer twice, and what comes between (perf_mmap__push() in tools/perf) it writes twice; cpu-clock shows it,
# too. Two records of a CPU are never of the same time, nor of a task, whose events tell no CPU.
trace_samples() {
	{ perf script -i "$1" --ns -F cpu,tid,time,ip || perf script -i "$1" --ns -F tid,time,ip; } 2> /dev/null |
		sort -u | grep -c .
}
