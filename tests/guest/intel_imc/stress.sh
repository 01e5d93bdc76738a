#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Everything at once on the debug kernel: events opened with any config, CPUs and devices that
# come and go. The kernel must not complain, and afterwards everything counts as before.
#
# vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --timeout 400
. ./intel_imc/lib.sh

DRIVER=/sys/bus/pci/drivers/intel_imc_pmu

# Run a function over and over as long as /tmp/go exists, and count the rounds.
forever() {
	while [ -e /tmp/go ]; do
		"$1" > /dev/null 2>&1 || :
		echo >> "/tmp/rounds.$1"
	done
}

random() {
	od -An -N4 -tu4 /dev/urandom | tr -d ' '
}

open_anything() {
	pmu-event --cpu $(($(random) % 4)) "uncore_imc_$(($(random) % 4)):$(random)" \
		"uncore_imc_0:$(($(random) & 0xffff))" -x true
}

open_groups() {
	pmu-event --cpu $(($(random) % 4)) --group uncore_imc_0:0x304 uncore_imc_0:0xc04 \
		uncore_imc_0:0x101 uncore_imc_0:0x10 uncore_imc_0:0xff -x true -x true
}

multiplex() {
	perf stat -a -I 50 -e uncore_imc/event=0x1/,uncore_imc/event=0x2/,uncore_imc/event=0x4/ \
		-e uncore_imc/event=0x10/,uncore_imc/event=0x11/,uncore_imc/clockticks/ -- sleep 0.3
}

plug_cpus() {
	for cpu in 2 3; do
		echo 0 > /sys/devices/system/cpu/cpu$cpu/online
		echo 1 > /sys/devices/system/cpu/cpu$cpu/online
	done
}

plug_devices() {
	for device in 0000:3f:10.0 0000:7f:10.0; do
		echo $device > $DRIVER/unbind
		echo $device > $DRIVER/bind
	done
}

test_all_at_once() {
	touch /tmp/go
	for what in open_anything open_groups multiplex plug_cpus plug_devices; do
		forever $what &
	done
	sleep 20
	rm /tmp/go
	wait
	for what in open_anything open_groups multiplex plug_cpus plug_devices; do
		rounds=$(wc -l < /tmp/rounds.$what)
		within "rounds of $what" "$rounds" 1 100000
	done
}

# No counter, no owner and no box was lost on the way.
test_counts_as_before() {
	for cpu in $(tr , ' ' < "$PMUS/uncore_imc_0/cpumask"); do
		[ "$cpu" -ge 2 ] && socket=1 || socket=0
		got=$(pmu-event --cpu "$cpu" --group uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x101 \
			uncore_imc_0:0x10 uncore_imc_0:0xff -x "pmu-model add imc0@$socket cas_rd 1234")
		equal "socket $socket" "${got%% *}" 1234
	done
	equal "sockets" "$(tr , '\n' < "$PMUS/uncore_imc_0/cpumask" | wc -l)" 2
}

test_nothing_leaks() {
	[ -e /sys/kernel/debug/kmemleak ] || skip "this kernel does not look for leaks; the debug kernel does"
	sleep 6
	for _ in 1 2; do
		echo scan > /sys/kernel/debug/kmemleak
	done
	equal "leaks" "$(cat /sys/kernel/debug/kmemleak)" ""
}

run_tests
