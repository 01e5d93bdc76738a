#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-top: memory bandwidth of chips, cycles and instructions of cores.
#
# kernels vm: --tools --arch ppc64le --kernel 6.12 --model power9,chips=2
# kernels vm: --tools --arch ppc64le --kernel 6.1 --model power10
. ./power_imc/lib.sh
. ./top.sh
trap 'echo 1 > /proc/sys/kernel/perf_event_paranoid; pmu-model set "nest*" traffic 0; trace_every 0' EXIT

# A count of POWER9's memory controllers is 256 commands, of POWER10's 4096; reads are of 128 bytes, writes of
# 128 on POWER9 and of 64 on POWER10.
if grep -q POWER10 /proc/cpuinfo; then
	read_size=$((4096 * 128)) write_size=$((4096 * 64)) reads=0x10 writes=0x18
else
	read_size=$((256 * 128)) write_size=$((256 * 128)) reads=$READS writes=$WRITES
fi

# So many reads and writes of one controller of chip 0 are so many bytes, and no other has any.
test_bytes() {
	pmu-top --json --output /tmp/top -- sh -c "$(imc_add nest@0 $reads 1000); $(imc_add nest@0 $writes 300)"
	equal "read" "$(top_value read_bytes chip=0 controller=mcs01)" "$((1000 * read_size)).0"
	equal "written" "$(top_value write_bytes chip=0 controller=mcs01)" "$((300 * write_size)).0"
	equal "another controller" "$(top_value read_bytes chip=0 controller=mcs23)" 0.0
	equal "all that was read" "$(top_value total_read_bytes)" "$((1000 * read_size)).0"
}

# The picture says it in GB/s.
test_the_picture() {
	pmu-top --record /tmp/record --output /tmp/text -- sh -c "$(imc_add nest@0 $reads 100000); sleep 1"
	key=$(python3 -c 'import json
print(next(key for key, one in json.loads(open("/tmp/record").readlines()[-1])["counts"].items() if one[0]))')
	read=$(top_rate $((100000 * read_size)) "$key")
	pictures "^memory: read $read GB/s   write 0.00 GB/s   sum $read GB/s" "^ *chip 0 +$read .* 0.00 .*$read" "^ *mcs01 +$read .* 0.00"
}

# A core that spins is not idle: 2 GHz, which is the model's clock, for each of its threads that does. The
# instructions are those that the model saw executed.
test_cores() {
	(taskset -c 0 sh -c 'while :; do :; done' & echo $! > /tmp/spins; wait) &
	pmu-top --interval 2 --once --json --output /tmp/top
	kill "$(cat /tmp/spins)"
	within "MHz of core 0" "$(top_int "$(top_value cycles chip=0 core=0) / 1e6")" 1500 4400
	[ "$(top_int "1e6 * $(top_value ipc chip=0 core=0)")" -gt 0 ]
}

# Two pmu-top, and others with the same counters, which are words in memory: there is room for all.
test_a_crowd() {
	crowd "read write cycles" "--mode cores" "core_imc/CPM_NON_IDLE_PCYC/" "core_imc/CPM_NON_IDLE_INST/,core_imc/CPM_NON_IDLE_PCYC/" "nest_mcs01_imc/config=$reads/"
	equal "took turns" "$(top_value read chip=0 controller=mcs01 share) $(top_value cycles chip=0 core=0 share)" "1.0 1.0"
}

# The CPU that has a chip's counters and its core goes offline: another one has them, and nothing is lost.
test_a_cpu_goes_offline() {
	for _ in 1 2; do
		owner=$(sed 's/[-,].*//' $PMUS/nest_mcs01_imc/cpumask)
		pmu-top --json --output /tmp/top -- sh -c "$(imc_add nest@0 $reads 1000)
			echo 0 > /sys/devices/system/cpu/cpu$owner/online; $(imc_add nest@0 $reads 50)"
		echo 1 > "/sys/devices/system/cpu/cpu$owner/online"
		equal "read" "$(top_value read_bytes chip=0 controller=mcs01)" "$((1050 * read_size)).0"
		[ "$(sed 's/[-,].*//' $PMUS/nest_mcs01_imc/cpumask)" != "$owner" ]
	done
}

# A chip and its core have no CPU for a time.
test_all_cpus_of_a_chip_go_offline() {
	[ -e "/sys/devices/system/cpu/cpu3" ] || skip "there is one chip"
	: > /tmp/top
	pmu-top --json --output /tmp/top &
	told '"total_read_bytes", "value": 0'
	for cpu in 2 3; do
		echo 0 > /sys/devices/system/cpu/cpu$cpu/online
	done
	told '"notes": \[".*gone: its numbers are missing'
	for cpu in 2 3; do
		echo 1 > /sys/devices/system/cpu/cpu$cpu/online
	done
	told '"notes": \[\]'
	pmu-model set nest@1 flush 1
	pmu-model add nest@1 $reads 1000
	pmu-model set nest@1 flush 1
	told "\"total_read_bytes\", \"value\": $((1000 * read_size))"
	ended $!
}

# A tracer has the cores' engines, and nobody has the chips' counters.
test_while_somebody_traces() {
	perf record -q -a -e trace_imc/trace_cycles/ -o /tmp/perf.data -- \
		pmu-top --json --output /tmp/top -- sh -c "$(imc_add nest@0 $reads 1000)"
	equal "read" "$(top_value read_bytes chip=0 controller=mcs01)" "$((1000 * read_size)).0"
	equal "cores" "$(top_value cycles | tr ' ' '\n' | sort -u)" None
	contains "notes" "$(top_value "" notes)" 'not counted: Cannot count core_imc/.*somebody else has what it needs'
}

# The other way round: who shows the chips alone is in no tracer's way.
test_somebody_traces_beside_the_nest() {
	trace="perf record -q -a -e trace_imc/trace_cycles/ -o /tmp/perf.data -- true"
	pmu-top --json --mode cores --output /tmp/top -- sh -c "! $trace 2> /dev/null"
	pmu-top --json --mode nest --output /tmp/top -- sh -c "$(imc_add nest@0 $reads 1000) && $trace"
	equal "read" "$(top_value read_bytes chip=0 controller=mcs01)" "$((1000 * read_size)).0"
	equal "cores" "$(top_value cycles)" ""
}

# The functions in which a program was, by trace_imc: heavy() has three quarters of what light() and heavy() have.
test_functions() {
	# The model makes so many records that 4000 a second are a fraction of them, as of the hardware's.
	trace_every $((INSTRUCTIONS / 4))
	rm -f /tmp/record
	pmu-top --mode functions --json --output /tmp/top --record /tmp/record -- taskset 1 sh -c "for _ in \$(seq 20); do $SPIN; done"
	python3 -c 'import json, sys
said = json.load(open("/tmp/top"))["functions"]
print(*(f"{function}={samples}" for function, command, samples in said.get("top") or sys.exit(said)
        if command == "pmu-spin" and function in ("heavy", "light")))' > /tmp/shares
	heavy=$(grep -o 'heavy=[0-9]*' /tmp/shares | cut -d= -f2) light=$(grep -o 'light=[0-9]*' /tmp/shares | cut -d= -f2)
	show "heavy $heavy, light $light"
	within "samples of light" "$light" 400 1800
	# Chance chooses: of some 900 and 2700, a fifth is five sigmas.
	within "samples of heavy, where light has $light" "$heavy" $((light * 24 / 10)) $((light * 36 / 10))
	pictures 'records of trace_imc were made, for which no counter interrupted' \
		'[0-9.]+ +█.* heavy +pmu-spin' 'light +pmu-spin'
}

test_rights() {
	without_rights '^memory: read 0.00 GB/s'
}

run_tests
