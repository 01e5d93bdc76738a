#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What cannot be counted is refused with the errno that perf explains, never counted as 0.
#
# vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4
# kernels vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4
. ./intel_imc/lib.sh
trap as_it_was EXIT

test_sampling() {
	equal "period 1000" "$(pmu-event --period 1000 uncore_imc_0:0x304)" EINVAL
	fails perf record -e uncore_imc_0/cas_count_read/ -a -o /tmp/perf.data true 2> /tmp/said
	contains "perf record" "$(cat /tmp/said)" 'Invalid argument|sampling'
}

test_per_task() {
	equal "own task, any CPU" "$(pmu-event --pid 0 --cpu -1 uncore_imc_0:0x304)" EINVAL
	equal "own task, one CPU" "$(pmu-event --pid 0 --cpu 0 uncore_imc_0:0x304)" EINVAL
}

# The in-tree driver drops such bits and counts something else.
test_reserved_bits() {
	for config in 0x00300304 0x00030304 0x00400304 0x00080304 0xffffffff 0x100000304; do
		equal "config $config" "$(pmu-event uncore_imc_0:$config)" EINVAL
	done
	equal "config1" "$(pmu-event uncore_imc_0:0x304,1)" EINVAL
	equal "config2" "$(pmu-event uncore_imc_0:0x304,0,1)" EINVAL
	# perf itself refuses what its kernel does not know yet.
	equal "config3" "$(pmu-event uncore_imc_0:0x304,0,0,1)" "$(since 6.3 EINVAL E2BIG)"
	equal "config4" "$(pmu-event uncore_imc_0:0x304,0,0,0,1)" "$(since 6.19 EINVAL E2BIG)"
	# No guide says what less than no threshold is.
	log_mark
	equal "inv alone" "$(pmu-event uncore_imc_0:0x800304)" EINVAL
	contains "log" "$(log_since_mark)" 'uncore_imc_0: event refused: inv needs a threshold'
	# 0xff with anything else is neither the fixed counter nor an event.
	equal "fixed counter with a umask" "$(pmu-event uncore_imc_0:0x1ff)" EINVAL
}

# perf opens an event on each CPU of a list and adds up what they count: 1 MiB is 2 then, and the log says why, once.
test_several_cpus_of_a_socket() {
	mib() {
		perf stat -x, -e uncore_imc_0/cas_count_read/ "$@" -- pmu-model add imc0 cas_rd 16384 2>&1
	}
	log_mark
	contains "on all CPUs" "$(mib -a)" '^1.00,MiB'
	equal "log" "$(log_since_mark | grep uncore_imc_0 || :)" ""
	contains "on each CPU" "$(mib -C 0-3)" '^2.00,MiB'
	contains "log" "$(log_since_mark)" 'uncore_imc_0: an event for CPU 1 counts the same as one for CPU 0, so .* twice'
	within "lines" "$(log_since_mark | grep -c 'an event for CPU .* counts the same')" 1 2
}

# A profile with the counts of a channel in each sample. Of a leader on another CPU the log names the right one.
test_counts_along_a_profile() {
	along() {
		perf record -q --no-bpf-event -o /tmp/perf.data -F 20 -e '{cpu-clock,uncore_imc_0/cas_count_read/}:S' "$@" -- \
			sh -c 'pmu-model add imc0 cas_rd 16384; pmu-spin 1; pmu-model add imc0 cas_rd 70; pmu-spin 1' > /tmp/said 2>&1
	}
	along -C 0
	perf script -i /tmp/perf.data -F event,period 2> /dev/null > /tmp/lines
	within "samples" "$(grep -c 'cpu-clock' /tmp/lines)" 5 60
	equal "reads" "$(awk '/uncore_imc_0/ { n += $1 } END { print n }' /tmp/lines)" 16454
	log_mark
	fails along -a
	contains "log" "$(log_since_mark)" \
		'uncore_imc_0: event refused: its group is led by an event on CPU 1, and it counts on CPU [02]: .* -C [02]'
}

test_group_too_large() {
	equal "five general" "$(pmu-event --group uncore_imc_0:0x304 uncore_imc_0:0xc04 \
		uncore_imc_0:0x101 uncore_imc_0:0x10 uncore_imc_0:0x11)" EINVAL
	equal "four general and the fixed one" "$(pmu-event --group uncore_imc_0:0x304 \
		uncore_imc_0:0xc04 uncore_imc_0:0x101 uncore_imc_0:0x10 uncore_imc_0:0xff)" ""
}

# As many single events as one likes: they take turns, until each has counted some of the clocks in
# which nothing came of its own. Every child inherits the events' files.
test_more_events_than_counters() {
	pmu-event uncore_imc_0:0x01800010 uncore_imc_0:0x01800011 uncore_imc_0:0x01800012 \
		uncore_imc_0:0x01800020 uncore_imc_0:0x01800021 uncore_imc_0:0x01800022 \
		-x 'for fd in 3 4 5 6 7 8; do
			until [ "$(head -c 8 <&$fd | od -An -tu8)" -gt 0 ]; do sleep 0.01; done
		    done'
}

# A CPU that is offline belongs to no socket that could be counted.
test_cpu_of_no_socket() {
	cpu_online 3 0
	equal "offline CPU" "$(pmu-event --cpu 3 uncore_imc_0:0x304)" ENODEV
	cpu_online 2 0
	equal "cpumask without socket 1" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0
	equal "offline socket" "$(pmu-event --cpu 2 uncore_imc_0:0x304)" ENODEV
	cpu_online 3 1
	equal "cpumask with socket 1 again" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0,3
	got=$(pmu-event --cpu 3 uncore_imc_0:0x304 -x 'pmu-model add imc0@1 cas_rd 5')
	equal "socket 1 counts" "$got" 5
	cpu_online 2 1
}

# Any CPU of the socket will do: the event goes to the owner.
test_any_cpu_of_the_socket() {
	for cpu in 0 1; do
		got=$(pmu-event --cpu $cpu uncore_imc_0:0x304 -x 'pmu-model add imc0@0 cas_rd 3')
		equal "by CPU $cpu" "$got" 3
	done
}

# perf turns this errno into words of its own.
test_exclude_is_refused() {
	contains "perf stat" "$(perf stat -x, -C 0 -e uncore_imc_0/event=0x4/u true 2>&1)" '^<not supported>'
}

# The driver does not guess what a parameter means, and says what it may be.
test_unknown_access() {
	unload
	insmod $MODULES/pmu_core.ko
	log_mark
	fails insmod $MODULES/intel_imc_pmu.ko access=memory
	contains "log" "$(log_since_mark)" 'access=memory must be auto, ecam or pci'
	insmod $MODULES/intel_imc_pmu.ko
}

# A driver that finds nothing to drive is not loaded, and says what it looked for.
test_no_memory_channels() {
	channels=$(cd $DRIVER && ls -d 0000:*)
	unload
	insmod $MODULES/pmu_core.ko
	for channel in $channels; do
		echo 1 > "/sys/bus/pci/devices/$channel/remove"
	done
	log_mark
	fails insmod $MODULES/intel_imc_pmu.ko
	contains "log" "$(log_since_mark)" 'no memory channel of a supported processor'
	echo 1 > /sys/bus/pci/rescan
	insmod $MODULES/intel_imc_pmu.ko
	equal "channels" "$(cd $DRIVER && ls -d 0000:*)" "$channels"
}

run_tests
