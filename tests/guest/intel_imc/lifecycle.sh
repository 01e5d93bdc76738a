#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Loading, unloading, unbinding, vanishing: with events open and without.
#
# vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
# all vm: --kernel '6.1 kunit' --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
. ./intel_imc/lib.sh
trap as_it_was EXIT

# A command for pmu-event's -x: until the first event, whose file every child inherits, is in error
# state. Its read() then says so. That takes some milliseconds; in a minute something is wrong.
UNTIL_ERROR='for _ in $(seq 6000); do [ "$(head -c 8 <&3 | wc -c)" = 0 ] && exit; sleep 0.01; done; exit 1'

# The registers of imc0 from OFFSET on, COUNT dwords
registers() {
	hexdump -v -s $((0x$1)) -n $((4 * $2)) -e '1/4 "%08x "' /sys/bus/pci/devices/0000:3f:10.0/config
}

# A module that is in use is not unloaded; with the last event closed it is.
test_rmmod_with_an_event_open() {
	got=$(pmu-event uncore_imc_0:0x304 -x 'rmmod intel_imc_pmu 2> /tmp/said && exit 1
		pmu-model add imc0 cas_rd 5')
	equal "count" "$got" 5
	contains "rmmod" "$(cat /tmp/said)" 'temporarily unavailable|in use'
	unload
	[ ! -e $PMUS/uncore_imc_0 ]
	load
}

# A clock that was in a group with one of our events uses our PMU until it is closed itself.
test_rmmod_with_a_clock_open() {
	for ours in 0 1; do
		[ $ours = 0 ] && group="uncore_imc_0:0x304 software:0" || group="software:0 uncore_imc_0:0x304"
		# shellcheck disable=SC2086 # two events
		pmu-event --group $group -x "@close $ours" \
			-x 'sleep 2; rmmod intel_imc_pmu 2> /tmp/said || touch /tmp/kept' > /dev/null
		contains "rmmod" "$(cat /tmp/said)" 'temporarily unavailable|in use'
		rm /tmp/kept
		eventually "rmmod" "" sh -c 'rmmod intel_imc_pmu 2>&1 || :'
		rmmod pmu_core
		load
	done
}

# perf's timer for taking turns goes on until an interval after the last event, but not without its PMU.
test_rmmod_before_the_next_turn() {
	for _ in 1 2 3; do
		echo 1000 > $PMUS/uncore_imc_0/perf_event_mux_interval_ms
		pmu-event uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x101 uncore_imc_0:0x102 \
			uncore_imc_0:0xf04 -x true > /dev/null
		unload
		load
	done
	# A new interval starts them all, until the file is gone.
	file=$PMUS/uncore_imc_0/perf_event_mux_interval_ms
	for _ in 1 2 3; do
		(while echo 300 > $file && echo 301 > $file; do :; done 2> /dev/null) &
		unload
		wait
		load
	done
	sleep 2
	equal "count" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 5')" 5
}

# A channel whose clock stands still is reported and is in no PMU.
test_dead_channel() {
	unload
	pmu-model set imc3@1 dead 1
	log_mark
	load
	contains "log" "$(log_since_mark)" '7f:10.5: .*fixed counter does not advance'
	equal "cpumask of a channel that is whole" "$(cat $PMUS/uncore_imc_2/cpumask)" 0,2
	equal "cpumask of the half dead one" "$(cat $PMUS/uncore_imc_3/cpumask)" 0
	equal "event on the dead one" "$(pmu-event --cpu 2 uncore_imc_3:0x304)" ENODEV
	pmu-model set imc3@1 dead 0
	unload
	load
}

# What others have left in the counters is nothing that happened; and after unloading the registers
# are as after reset, for the next driver or none.
test_clears_counters_and_leaves_nothing() {
	unload
	for key in ctr0 ctr1 ctr2 ctr3 fixed; do
		pmu-model set imc0 $key 0xfffffffffff0
	done
	load
	equal "counters" "$(registers a0 8)$(registers d0 2)" "$(printf '00000000 %.0s' 1 2 3 4 5 6 7 8 9 10)"
	pmu-event uncore_imc_0:0x304 uncore_imc_0:0xff -x true > /dev/null
	unload
	equal "controls" "$(registers d8 4)$(registers f0 2)" "$(printf '00000000 %.0s' 1 2 3 4 5 6)"
	load
}

# Often: the debug kernel looks for what was forgotten. Its checks make a round take some seconds, and
# find in one what without them shows when something is used up.
test_load_and_unload() {
	[ -e /sys/kernel/debug/kmemleak ] && rounds=5 || rounds=20
	for _ in $(seq $rounds); do
		unload
		load
	done
	unload
	no_leaks
	load
}

# The last event of a channel is closed on a CPU that a real-time task then keeps for itself: what is left to do is
# done by whoever opens the next one, on another CPU. 6.12 would leave other tasks some
# time even there, but for what init has switched off.
test_a_cpu_that_belongs_to_a_real_time_task() {
	limit=$(cat /proc/sys/kernel/sched_rt_runtime_us)
	trap 'wait; echo $limit > /proc/sys/kernel/sched_rt_runtime_us' EXIT
	echo -1 > /proc/sys/kernel/sched_rt_runtime_us
	cat > /tmp/hog <<-'EOT'
		pmu-event uncore_imc_0:0x304 -x true
		touch /tmp/hogs
		pmu-spin 8
		touch /tmp/over
	EOT
	rm -f /tmp/hogs /tmp/over
	taskset 2 pmu-event --fifo uncore_imc_2:0x304 -x "sh /tmp/hog" &
	eventually "hog" /tmp/hogs sh -c 'ls /tmp/hogs 2> /dev/null || :'
	equal "count" "$(taskset 4 pmu-event uncore_imc_1:0x304 \
		-x 'ls /tmp/over > /tmp/late 2> /dev/null; pmu-model add imc1 cas_rd 5')" 5
	# On PREEMPT_RT perf itself waits for RCU when an event is closed.
	uname -v | grep -q PREEMPT_RT || ls /tmp/over >> /tmp/late 2> /dev/null || :
	equal "what is over" "$(cat /tmp/late)" ""
}

# The device is unbound while it counts: the event fails, its sisters on others count on.
test_unbind_with_events_open() {
	got=$(pmu-event uncore_imc_0:0x304 uncore_imc_1:0x304 \
		-x 'pmu-model add imc0 cas_rd 5; pmu-model add imc1 cas_rd 6' \
		-x "echo 0000:3f:10.0 > $DRIVER/unbind; pmu-model add imc1 cas_rd 10; $UNTIL_ERROR" | tr '\n' ' ')
	equal "before and after" "$got" "5 6 error 16 "
	equal "cpumask" "$(cat $PMUS/uncore_imc_0/cpumask)" 2
	echo 0000:3f:10.0 > $DRIVER/bind
	equal "cpumask when bound again" "$(cat $PMUS/uncore_imc_0/cpumask)" 0,2
	equal "counts again" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 7')" 7
}

# An event that fails is just being closed: whoever lets it fail is the last to use it, and the module can go.
# So a work item closes it, too. On a busy host the one who closed it may be the last one after all.
test_closed_while_it_fails() {
	grep -q '\buserfaultfd_' /proc/kallsyms || skip "this kernel has no userfaultfd"
	probed=$(since 5.11 yes '')
	if [ "$probed" ]; then
		echo 'p:late perf_event_release_kernel' > /sys/kernel/tracing/kprobe_events
		echo > /sys/kernel/tracing/trace
		echo 1 > /sys/kernel/tracing/events/kprobes/late/enable
	fi
	for _ in 1 2 3 4 5; do
		got=$(pmu-late uncore_imc_0:0x304 "echo 0000:3f:10.0 > $DRIVER/unbind")
		equal "the other" "$got" error
		! grep -q 'kworker.* late:' /sys/kernel/tracing/trace || break
		echo 0000:3f:10.0 > $DRIVER/bind
	done
	[ -z "$probed" ] || contains "closed by a work item" "$(cat /sys/kernel/tracing/trace)" 'kworker.* late:'
	unload
	load
	equal "counts again" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 7')" 7
}

# perf is asked for its bus once, when the core is loaded. To ask opens an event, which changes code of all CPUs, and may
# wait for a PMU that is unregistered, which on older kernels waits for it.
test_no_event_is_opened_for_a_name() {
	[ "$(since 5.11 '' no)" ] && skip "this kernel lets nobody probe perf"
	cd /sys/kernel/tracing
	echo 'p:opens perf_swevent_init' > kprobe_events
	echo > trace
	echo 1 > events/kprobes/opens/enable
	echo 0000:3f:10.0 > $DRIVER/unbind
	echo 0000:7f:10.0 > $DRIVER/unbind
	[ ! -e $PMUS/uncore_imc_0 ]
	echo 0000:3f:10.0 > $DRIVER/bind
	echo 0000:7f:10.0 > $DRIVER/bind
	[ -e $PMUS/uncore_imc_0 ]
	opened=$(grep -c opens: trace || :)
	unload
	load
	equal "opened by binds" "$opened" 0
	within "opened by loading both modules" "$(grep -c opens: trace)" 1 2
}

# Both sockets' channel goes while an event is open: the PMU is gone as soon as it can be.
test_unbind_all_of_a_pmu() {
	got=$(pmu-event uncore_imc_0:0x304 -x "echo 0000:3f:10.0 > $DRIVER/unbind
		echo 0000:7f:10.0 > $DRIVER/unbind
		pmu-event uncore_imc_0:0x304 > /tmp/second
		$UNTIL_ERROR")
	equal "open event" "$got" error
	equal "new event meanwhile" "$(cat /tmp/second)" ENODEV
	echo 0000:3f:10.0 > $DRIVER/bind
	equal "joins the PMU that stayed" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 3')" 3
	echo 0000:3f:10.0 > $DRIVER/unbind
	[ ! -e $PMUS/uncore_imc_0 ]
	echo 0000:3f:10.0 > $DRIVER/bind
	echo 0000:7f:10.0 > $DRIVER/bind
}

# Both sockets' channel goes while an event of another is open: its PMU goes at once, so perf counts the others, and the
# channel can be given to the in-tree driver. An event of its own keeps the PMU only until it is closed.
test_unbind_a_channel_beside_another() {
	in_tree=/sys/bus/pci/drivers/snbep_uncore
	unbind="echo 0000:3f:10.0 > $DRIVER/unbind; echo 0000:7f:10.0 > $DRIVER/unbind"
	rest="for _ in \$(seq 50); do [ ! -e $PMUS/uncore_imc_0 ] || sleep 0.1; done; ls $PMUS > /tmp/pmus
		perf stat -a -x, -e uncore_imc/cas_count_read/ -- pmu-model add imc2 cas_rd 16384 > /tmp/stat 2>&1
		pmu-model add imc1 cas_rd 10"
	log_mark
	for own in '' uncore_imc_0:0x304; do
		# shellcheck disable=SC2086 # an event, or none
		got=$(pmu-event uncore_imc_1:0x304 $own -x "$unbind" ${own:+-x "@close 1"} -x "$rest" | tail -n 1)
		equal "count of another" "${got% error}" 10
		equal "PMUs" "$(grep uncore_imc_ /tmp/pmus | xargs)" "uncore_imc_1 uncore_imc_2 uncore_imc_3"
		contains "perf" "$(cat /tmp/stat)" '^1.00,MiB,uncore_imc/cas_count_read/'
		echo 0000:3f:10.0 > $DRIVER/bind
		echo 0000:7f:10.0 > $DRIVER/bind
	done
	# The debug kernel has no driver of its own.
	if [ -d /lib/modules ]; then
		pmu-event uncore_imc_1:0x304 -x "$unbind" -x "modprobe intel-uncore; cd $in_tree
			for channel in 0000:3f:10.0 0000:7f:10.0; do [ -e \$channel ] || echo \$channel > bind; done" > /dev/null
		equal "in-tree" "$(cat $PMUS/uncore_imc_0/cpumask)" 0,2
		rmmod intel_uncore
	fi
	equal "warnings" "$(log_since_mark | grep -E 'Call Trace|cannot create duplicate|WARNING|BUG' || :)" ""
	unload
	load
	equal "counts again" "$(pmu-event uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 7')" 7
}

# Surprise removal: all ones from every register. Nothing of that is counted.
test_function_answers_all_ones() {
	got=$(pmu-event uncore_imc_1:0x304 -x 'pmu-model add imc1 cas_rd 5' \
		-x 'pmu-model set imc1 gone 1' -x "$UNTIL_ERROR" | tr '\n' ' ')
	equal "counts" "$got" "5 5 error "
	pmu-model set imc1 gone 0
	# It answers again: a new event counts.
	equal "when it is back" "$(pmu-event uncore_imc_1:0x304 -x 'pmu-model add imc1 cas_rd 2')" 2
}

# Removed and found again by the PCI core, with an event open all the time.
test_pci_remove_and_rescan() {
	got=$(pmu-event uncore_imc_2:0x304 -x 'pmu-model add imc2 cas_rd 5' \
		-x "echo 1 > /sys/bus/pci/devices/0000:3f:10.4/remove; $UNTIL_ERROR" | tr '\n' ' ')
	equal "counts" "$got" "5 error "
	echo 1 > /sys/bus/pci/rescan
	equal "cpumask" "$(cat $PMUS/uncore_imc_2/cpumask)" 0,2
	equal "counts again" "$(pmu-event uncore_imc_2:0x304 -x 'pmu-model add imc2 cas_rd 4')" 4
}

# Without its UBOX a socket's channels belong nowhere; to guess would count for another socket.
test_no_ubox() {
	unload
	echo 1 > /sys/bus/pci/devices/0000:3f:0b.0/remove
	log_mark
	load
	contains "log" "$(log_since_mark)" '3f:10.0: .*no UBOX 8086:3ce0 on this bus, so its socket is unknown'
	equal "cpumask of the other socket" "$(cat $PMUS/uncore_imc_0/cpumask)" 2
	unload
	echo 1 > /sys/bus/pci/devices/0000:7f:0b.0/remove
	log_mark
	insmod $MODULES/pmu_core.ko
	fails insmod $MODULES/intel_imc_pmu.ko
	contains "log" "$(log_since_mark)" '8 memory channels found, none of which counts'
	[ ! -e $PMUS/uncore_imc_0 ]
	rmmod pmu_core
	echo 1 > /sys/bus/pci/rescan
	load
	equal "cpumask when they are back" "$(cat $PMUS/uncore_imc_0/cpumask)" 0,2
}

# Nor with one that answers all ones, or whose map does not have its node.
test_ubox_that_tells_nothing() {
	unload
	pmu-model set ubox@0 gone 1
	pmu-model set ubox@1 gidnidmap 0
	log_mark
	insmod $MODULES/pmu_core.ko
	fails insmod $MODULES/intel_imc_pmu.ko
	for bus in 3f 7f; do
		contains "log" "$(log_since_mark)" "$bus:10.0: UBOX 0000:$bus:0b.0 does not tell its socket"
	done
	rmmod pmu_core
	pmu-model set ubox@0 gone 0
	load
	equal "cpumask of the socket that is known" "$(cat $PMUS/uncore_imc_0/cpumask)" 0
	unload
	pmu-model set ubox@1 gidnidmap $GIDNIDMAP_IDENTITY
	load
}

# A socket that no CPU is in: nobody can count there, and the log says so.
test_socket_without_a_cpu() {
	unload
	pmu-model set ubox@1 nodeid 5
	log_mark
	load
	contains "log" "$(log_since_mark)" '7f:10.0: uncore_imc_0: no CPU of package 5 is online'
	equal "cpumask" "$(cat $PMUS/uncore_imc_0/cpumask)" 0
	unload
	pmu-model set ubox@1 nodeid 1
	load
}

# To see whether the name of a PMU is taken the driver opens an event, which must not be one of a task: the first
# of these has every CPU change code of the scheduler, and so interrupts all of them.
test_loading_interrupts_nobody() {
	tracing=/sys/kernel/tracing
	[ -e $tracing/kprobe_events ] || tracing=/sys/kernel/debug/tracing
	key=$(sed -n 's/^\([0-9a-f]*\) . perf_sched_events$/0x\1/p' /proc/kallsyms)
	[ -e $tracing/kprobe_events ] && [ "$key" ] || skip "this kernel lets nobody probe perf"
	grep -q ' static_key_enable$' /proc/kallsyms || skip "this kernel was built without CONFIG_JUMP_LABEL"
	unload
	echo 'p:switches static_key_enable key=%di' > $tracing/kprobe_events
	echo "key == $key" > $tracing/events/kprobes/switches/filter
	echo 1 > $tracing/events/kprobes/switches/enable
	switches() {
		grep -c 'switches:' $tracing/trace || :
	}
	load
	loaded=$(switches)
	perf stat -e cpu-clock -- true 2> /dev/null
	opened=$(switches)
	equal "by loading, and an event of a task" "$loaded $opened" "0 1"
}

run_tests
