#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Ice Lake-SP, whose channels are in memory behind one function of the socket: addresses that lie, another driver's
# PMUs, accesses, and the function and its channels that go while events are open.
#
# all vm: --kernel 6.12 --driver ours --model icx,sockets=2 --cpus 4 --timeout 900
# kernels vm: --kernel kunit --driver ours --model icx,sockets=2 --cpus 4 --timeout 900
. ./intel_imc/lib.sh
trap 'restore_addresses; as_it_was' EXIT

FUNCTION=0000:7e:00.1
COUNT='pmu-event uncore_imc_0:0xf04'
ADD='pmu-model add imc0 cas_rd 100'
SLEEP='pmu-model set firmware wake 200; echo mem > /sys/power/state'
UNTIL_ERROR='for _ in $(seq 6000); do [ "$(head -c 8 <&3 | wc -c)" = 0 ] && exit; sleep 0.01; done; exit 1'
ALL='0 1 3 4 6 7 9 10'

for key in base mem0 mem1 mem2 mem3; do
	eval "$key=$(pmu-model get mmio@0 $key)"
done

# shellcheck disable=SC2154 # set by eval
restore_addresses() {
	for pair in "base $base" "mem0 $mem0" "mem1 $mem1" "mem2 $mem2" "mem3 $mem3"; do
		# shellcheck disable=SC2086 # two words
		pmu-model set mmio@0 $pair
	done
	pmu-model set 'mmio*' gone 0
}

# An address that is none, or somebody else's, costs the channels there and a line for each: lies KEY VALUE WHAT LEFT.
# No other channel is the worse for it, and memory that is not theirs is not touched.
lies() {
	unload
	restore_addresses
	pmu-model set mmio@0 "$1" "$2"
	pmu-model stats mmio@0 --reset > /dev/null
	log_mark
	load
	equal "$1=$2: PMUs of the socket" "$(of_socket_0)" "$4"
	lost=$(($(echo "$ALL" | wc -w) - $(echo "$4" | wc -w)))
	equal "$1=$2: lines" "$(log_since_mark | grep -c "7e:00.1: .*uncore_imc_[0-9]*: $3.*: no PMU for this channel" || :)" $lost
	equal "$1=$2: writes elsewhere" "$(pmu-model stats mmio@0 | awk '$1 != "phantom" { n += $3 } END { print n }')" 0
	equal "$1=$2: the other socket" "$(perf stat -a -x, --per-socket -e uncore_imc_0/event=0x4,umask=0xf/ -- \
		pmu-model add imc0@1 cas_rd 7 2>&1 | sed -n 's/^S1,1,\([0-9]*\),.*/\1/p')" 7
}

test_addresses_that_are_none() {
	for value in 0 0xffffffff 0x20000000; do
		lies base $value 'registers d0 and ' ''
	done
	for value in 0 0xffffffff; do
		lies mem1 $value 'registers d0 and dc hold' '0 1 6 7 9 10'
	done
}

# Memory; the same controller twice; beyond what the processor can address; where nobody answers.
test_addresses_of_something_else() {
	lies base 0x00000001 'its registers should be at 0x0*[89][0-9a-f]*, where there is something else' ''
	lies mem2 "$mem0" 'its registers should be at 0x[0-9a-f]*, where there is something else' '0 1 3 4 9 10'
	lies base 0x1fffffff 'its registers should be at 0x[0-9a-f]*, where there is something else' ''
	lies mem3 0x700 'nothing answers at 0x' '0 1 3 4 6 7'
	unload
	restore_addresses
	load
}

# Both sockets: the module says so, and does not stay.
test_no_channel_at_all() {
	unload
	pmu-model set 'mmio*' base 0
	log_mark
	insmod $MODULES/pmu_core.ko
	fails insmod $MODULES/intel_imc_pmu.ko
	contains "log" "$(log_since_mark)" '16 memory channels found, none of which counts'
	rmmod pmu_core
	pmu-model set 'mmio*' base "$base"
	pmu-model set mmio@1 base $((base + 1))
	load
	equal "PMUs" "$(of_socket_0)" "$ALL"
}

# No driver binds the function, so the in-tree driver's PMUs tell that it is there. Nothing is written then. If it comes
# second it finds its names taken.
test_the_in_tree_driver_was_first() {
	unload
	log_mark
	modprobe intel-uncore 2> /dev/null || { load; skip "this kernel has no intel_uncore as a module"; }
	insmod $MODULES/pmu_core.ko
	pmu-event uncore_imc_0:0xf04 -x 'pmu-model stats imc0 --reset > /dev/null; insmod /vm/modules.d/intel_imc_pmu.ko
		pmu-model stats imc0 > /tmp/stats; pmu-model add imc0 cas_rd 5' > /tmp/count 2> /tmp/said
	rmmod intel_uncore
	insmod $MODULES/intel_imc_pmu.ko
	equal "count" "$(cat /tmp/count)" 5
	contains "insmod" "$(cat /tmp/said)" 'busy'
	equal "accesses" "$(awk '{ n += $2 + $3 } END { print n }' /tmp/stats)" 0
	contains "log" "$(dmesg)" \
		'7e:00.1: .*another driver has PMUs of these memory channels: to use intel_imc_pmu unload that driver \(intel_uncore\)'
	equal "channels that are said not to count" "$(log_since_mark | grep -c 'none of which counts' || :)" 0
	equal "PMUs" "$(of_socket_0)" "$ALL"
}

# Accesses: counters at once, controls by one write, nothing else; and no phantom is touched while others count. The first
# start resets the channel: six reads and nine writes.
test_accesses() {
	pmu-model stats 'imc*' --reset > /dev/null
	pmu-model stats 'mmio*' --reset > /dev/null
	got=$(pmu-event --disabled --manual uncore_imc_0:0xf04 -x 'pmu-model stats imc0 --reset > /dev/null' -x @enable \
		-x 'pmu-model stats imc0 --reset > /tmp/start; pmu-model add imc0 cas_rd 7' -x @read \
		-x 'pmu-model stats imc0 --reset > /tmp/read' -x @disable -x 'pmu-model stats imc0 --reset > /tmp/stop' \
		-x @enable -x 'pmu-model stats imc0 --reset > /tmp/again' -x true)
	equal "count" "$got" 7
	for step in 'start 6 11' 'read 1 0' 'stop 1 1' 'again 0 1'; do
		# shellcheck disable=SC2086 # words
		set -- $step
		equal "$1: reads, writes" "$(awk '{ r += $2; w += $3 } END { print r, w }' "/tmp/$1")" "$2 $3"
	done
	equal "accesses of another width" \
		"$(pmu-model stats 'imc*' | awk '$2 == "narrow" || $2 == "other" { n += $3 + $4 } END { print n }')" 0
	equal "accesses elsewhere" "$(pmu-model stats 'mmio*' | awk '{ n += $3 + $4 } END { print n }')" 0
}

# A group of the four and the fixed one, half of whose clock that is.
test_full_group() {
	pmu-model set imc3 dead 1
	got=$(pmu-event --group uncore_imc_3:0xf04 uncore_imc_3:0x3004 uncore_imc_3:0xb01 uncore_imc_3:0x00 uncore_imc_3:0xff \
		-x "$(clock imc3 'pmu-model add imc3 cas_rd 7; pmu-model add imc3 cas_wr 8')")
	pmu-model set imc3 dead 0
	# shellcheck disable=SC2086 # words
	set -- $got
	equal "reads, writes, activates" "$1 $2 $3" "7 8 0"
	[ "$5" -gt 0 ]
	within "clocks of $5 half clocks" "$4" $((2 * $5 - 1)) $((2 * $5 + 1))
}

test_wraps_at_2_48() {
	pmu-model set imc3 gone 1
	got=$(pmu-event --disabled --manual uncore_imc_3:0xf04 \
		-x 'pmu-model set imc3 gone 0; pmu-model set imc3 ctr0 0xfffffffffff0' -x @enable -x @read \
		-x 'pmu-model add imc3 cas_rd 1000000' -x @read | tr '\n' ' ')
	equal "before, after the wrap" "$got" "0 1000000 "
}

# A channel that loses its clock, one that does not answer, one that answers all ones while it counts.
test_channels_that_fail() {
	unload
	pmu-model set imc4 dead 1
	pmu-model set imc9 gone 1
	log_mark
	load
	equal "PMUs" "$(of_socket_0)" '0 1 3 6 7 10'
	contains "log" "$(log_since_mark)" '7e:00.1: the fixed counter does not advance.*uncore_imc_4 lacks socket 0'
	contains "log" "$(log_since_mark)" '7e:00.1: .*uncore_imc_9: nothing answers at 0x'
	pmu-model set imc4 dead 0
	pmu-model set imc9 gone 0
	eventually "PMUs, with a clock" '0 1 3 4 6 7 10' of_socket_0
	got=$(pmu-event uncore_imc_1:0xf04 uncore_imc_0:0xf04 -x 'pmu-model add imc1 cas_rd 5; pmu-model add imc0 cas_rd 6' \
		-x "pmu-model set imc1 gone 1; pmu-model add imc0 cas_rd 10; $UNTIL_ERROR" | tr '\n' ' ')
	equal "counts" "$got" "5 6 error 16 "
	pmu-model set imc1 gone 0
	unload
	load
}

# All channels of a socket go with the function, and come again with it.
test_function_goes_with_events_open() {
	for how in "$DRIVER/unbind" "/sys/bus/pci/devices/$FUNCTION/remove"; do
		case $how in *unbind) text=$FUNCTION ;; *) text=1 ;; esac
		got=$(pmu-event uncore_imc_0:0xf04 uncore_imc_10:0xf04 -x 'pmu-model add imc0 cas_rd 5; pmu-model add imc10 cas_rd 6' \
			-x "echo $text > $how; $UNTIL_ERROR" | tr '\n' ' ')
		equal "${how##*/}" "$got" "5 6 error error "
		equal "cpumask" "$(cat "$PMUS/uncore_imc_10/cpumask")" 2
		equal "memory that is claimed" "$(grep -c intel_imc_pmu /proc/iomem)" 12
		case $how in *unbind) echo $FUNCTION > $DRIVER/bind ;; *) echo 1 > /sys/bus/pci/rescan ;; esac
		equal "PMUs" "$(of_socket_0)" "$ALL"
		equal "count" "$($COUNT -x "$ADD")" 100
	done
}

# The last CPU of a socket leaves with an event open, which is where the in-tree driver reads what it has unmapped.
test_last_cpu_of_a_socket() {
	cpus=$(cd /sys/devices/system/cpu && for cpu in cpu[0-9]*; do
		[ "$(cat "$cpu/topology/physical_package_id")" = 1 ] && echo "${cpu#cpu}"; done)
	first=$(echo "$cpus" | head -n 1)
	equal "count" "$(pmu-event --cpu "$first" uncore_imc_0:0xf04 -x 'pmu-model add imc0@1 cas_rd 7' \
		-x "for cpu in $(echo "$cpus" | xargs); do echo 0 > /sys/devices/system/cpu/cpu\$cpu/online; done" | tr '\n' ' ')" "7 7 "
	for cpu in $cpus; do cpu_online "$cpu" 1; done
	equal "and again" "$(pmu-event --cpu "$first" uncore_imc_0:0xf04 -x 'pmu-model add imc0@1 cas_rd 8')" 8
}

# The owner changes while an event counts.
test_owner_moves() {
	owner=$(sed 's/.*[,-]//' "$PMUS/uncore_imc_0/cpumask")
	equal "count" "$(pmu-event --cpu "$owner" uncore_imc_0:0xf04 -x 'pmu-model add imc0@1 cas_rd 100' \
		-x "echo 0 > /sys/devices/system/cpu/cpu$owner/online; pmu-model add imc0@1 cas_rd 100" | tr '\n' ' ')" "100 200 "
	cpu_online "$owner" 1
}

test_sleep() {
	log_mark
	got=$($COUNT -x "$ADD" -x "$SLEEP" -x "$ADD" | tr '\n' ' ')
	equal "before, behind, after" "$got" "100 100 200 "
	equal "log" "$(log_since_mark | grep intel_imc_pmu || :)" ""
}

# On the way to sleep all CPUs of the other socket go offline with an event open, which is where the in-tree driver reads
# what it has unmapped.
test_another_socket_over_sleep() {
	cpu=$(sed 's/.*[-,]//' "$PMUS/uncore_imc_0/cpumask")
	got=$(pmu-event --cpu "$cpu" uncore_imc_0:0xf04 -x 'pmu-model add imc0@1 cas_rd 5' -x "$SLEEP" | tr '\n' ' ')
	equal "before, behind" "$got" "5 5 "
	cpu=$(sed 's/.*[-,]//' "$PMUS/uncore_imc_0/cpumask")
	equal "a new one" "$(pmu-event --cpu "$cpu" uncore_imc_0:0xf04 -x 'pmu-model add imc0@1 cas_rd 6')" 6
}

# A control that is not as written: the line names the register's address.
test_lost_write() {
	log_mark
	# Another event has counted and is open, or the first write would be one of the channel's reset.
	pmu-event --disabled --manual uncore_imc_3:0xff -x @enable -x @disable -x "pmu-event --disabled --manual uncore_imc_3:0xf04 \
		-x 'pmu-model set imc3 lose 1' -x @enable -x 'pmu-model add imc3 cas_rd 9' -x @read > /tmp/lost"
	equal "count" "$(cat /tmp/lost)" 0
	line() { log_since_mark | grep -c 'register d00e2840 holds 00000000, not 00400f04: another program writes' || :; }
	eventually "lines" 1 line
	equal "next" "$(pmu-event uncore_imc_3:0xf04 -x 'pmu-model add imc3 cas_rd 9')" 9
}

# Registers that are claimed are closed to programs, where the kernel says so: Debian's does, the debug kernel does not.
test_programs_that_write_registers() {
	address=0x$(sed -n 's/^ *\([0-9a-f]*\)-.* : intel_imc_pmu$/\1/p' /proc/iomem | head -n 1)
	case $(uname -r) in
	*-amd64) fails devmem "$address" 32 2> /tmp/said
		contains "devmem" "$(cat /tmp/said)" 'not permitted' ;;
	*) skip "this kernel lets programs map what is claimed" ;;
	esac
	unload
	devmem "$address" 32 > /tmp/said
	load
	contains "devmem, without a driver" "$(cat /tmp/said)" '^0x'
}

test_leaves_nothing() {
	unload
	equal "memory that is claimed" "$(grep -c intel_imc_pmu /proc/iomem || :)" 0
	no_leaks
	load
}

run_tests
