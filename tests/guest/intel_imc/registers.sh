#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Registers that do not hold what the driver wrote: the machine slept, another program wrote, a
# write was lost; and channels that have no clock for a while.
#
# all vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
# kernels vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
# kernels vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
. ./intel_imc/lib.sh
trap as_it_was EXIT

HOST_BRIDGE=/sys/bus/pci/devices/0000:00:00.0/config
IMC0=/sys/bus/pci/devices/0000:3f:10.0/config
COUNT="pmu-event uncore_imc_0:0x304"
ADD='pmu-model add imc0 cas_rd 100'

# What setpci does: poke FILE REGISTER VALUE, a dword
poke() {
	# shellcheck disable=SC2059 # the format is the data
	printf "$(printf '\\x%02x' $(($3 & 255)) $(($3 >> 8 & 255)) $(($3 >> 16 & 255)) $(($3 >> 24 & 255)))" |
		dd of="$1" bs=4 seek=$(($2 / 4)) count=1 conv=notrunc 2> /dev/null
}

# A command that sleeps; the model wakes the machine up.
SLEEP='pmu-model set firmware wake 200; echo mem > /sys/power/state'

cpumask() {
	cat "$PMUS/$1/cpumask" 2> /dev/null || :
}

complaints() {
	log_since_mark | grep -c 'another program writes to this channel, or a write was lost' || :
}

impossible() {
	log_since_mark | grep -c 'more than it can have counted since the last read: another program wrote to it' || :
}

# box_ctl COMMAND: how often a channel was frozen or thawed while another event of it counted all the time; it is
# pinned, or perf would take it out for a turn now and then
box_ctl() {
	pmu-event --pinned uncore_imc_0:0x101 -x "pmu-model stats imc0 --reset > /dev/null; $1; pmu-model stats imc0 > /tmp/stats" > /dev/null
	awk '$1 == "box_ctl" { print $3 }' /tmp/stats
}

# What starts, stops and takes turns by itself leaves the others of its channel alone.
test_nothing_stands_still_for_one() {
	equal "start and stop of one" "$(box_ctl "pmu-event uncore_imc_0:0x304 -x '$ADD' > /tmp/one")" 0
	equal "its count" "$(cat /tmp/one)" 100
	equal "turns" "$(box_ctl "pmu-event uncore_imc_0:0xff uncore_imc_0:0x10 uncore_imc_0:0x11 uncore_imc_0:0x12 \
		uncore_imc_0:0x20 uncore_imc_0:0x21 -x 'sleep 1' > /dev/null")" 0
	# Some did take place.
	within "controls written" "$(awk '$1 == "ctl" { print $3 }' /tmp/stats)" 20 100000
}

# A group starts and stops in one moment, beside others: of the clock, which runs, all its members have one number.
test_group_beside_another() {
	equal "start and stop of a group" "$(box_ctl "pmu-event --group --disabled --manual uncore_imc_0:0x00 uncore_imc_0:0x00 \
		uncore_imc_0:0xff -x @enable -x 'sleep 0.1' -x @disable -x @read > /tmp/group")" 4
	read -r first second fixed < /tmp/group
	[ "$first" -gt 0 ]
	equal "clocks" "$second $fixed" "$first $first"
}

# S3 resets every register. What was counted before is kept, read or not, and all events of the group
# go on.
test_open_events_go_on_after_sleep() {
	log_mark
	got=$(pmu-event --group uncore_imc_0:0x304 uncore_imc_0:0xc04 -x "$ADD; pmu-model add imc0 cas_wr 5" \
		-x "pmu-model add imc0 cas_rd 20; $SLEEP" -x "$ADD; pmu-model add imc0 cas_wr 6" | tr '\n' ' ')
	equal "before, behind, after" "$got" "100 5 120 5 220 11 "
	equal "log" "$(log_since_mark | grep 'intel_imc_pmu' || :)" ""
}

# The clock counts what passed while the machine was awake: as much as the register has moved since.
test_clock_over_sleep() {
	pmu-model set imc0 dead 1
	got=$(pmu-event uncore_imc_0:0xff -x true -x "$SLEEP" -x "$(clock imc0 true)" | tr '\n' ' ')
	now=$(pmu-model get imc0 fixed)
	pmu-model set imc0 dead 0
	[ "$now" -gt 0 ]
	equal "clocks" "$got" "0 0 $now "
}

# perf keeps no event of a CPU that went offline with its whole socket: it stays at what it had.
test_another_socket_over_sleep() {
	cpu=$(sed 's/.*[-,]//' $PMUS/uncore_imc_0/cpumask)
	got=$(pmu-event --cpu "$cpu" uncore_imc_0:0x304 -x 'pmu-model add imc0@1 cas_rd 5' -x "$SLEEP" | tr '\n' ' ')
	equal "before, behind" "$got" "5 5 "
	cpu=$(sed 's/.*[-,]//' $PMUS/uncore_imc_0/cpumask)
	equal "a new one" "$(pmu-event --cpu "$cpu" uncore_imc_0:0x304 -x 'pmu-model add imc0@1 cas_rd 6')" 6
}

test_counts_after_sleep() {
	equal "before" "$($COUNT -x "$ADD")" 100
	eval "$SLEEP"
	equal "after" "$($COUNT -x "$ADD")" 100
	equal "and again" "$($COUNT -x "$ADD")" 100
}

# Suspend to idle, and what hibernation asks of drivers: registers keep what they have, but nobody can
# know, so they are taken over anew.
test_other_sleeps() {
	echo 0 > /sys/module/suspend/parameters/pm_test_delay
	for state in freeze disk; do
		got=$($COUNT -x "$ADD" -x "echo devices > /sys/power/pm_test
			pmu-model stats imc0 --reset > /dev/null
			echo $state > /sys/power/state && pmu-model stats imc0 > /tmp/stats
			echo none > /sys/power/pm_test" -x "$ADD" | tr '\n' ' ')
		equal "$state" "$got" "100 100 200 "
		# All counters are cleared.
		equal "$state: writes of counters" "$(awk '$1 ~ /ctr$/ { n += $3 } END { print n }' /tmp/stats)" 10
		rm /tmp/stats
	done
}

# Firmware that does not switch on memory-mapped configuration space again.
test_firmware_forgets_ecam() {
	pmu-model set firmware forgets 1
	log_mark
	got=$($COUNT -x "$ADD" -x "$SLEEP" -x "$ADD" | tr '\n' ' ')
	pmu-model set firmware forgets 0
	equal "counts" "$got" "100 100 200 "
	contains "log" "$(log_since_mark)" '3f:10.0: firmware has lost the memory-mapped configuration space'
	# It is still off: the log says how the channel is reached, and not what was tried.
	unload
	log_mark
	load
	contains "log without" "$(log_since_mark)" '3f:10.0: .*uncore_imc_0, by the PCI core'
	equal "count" "$($COUNT -x "$ADD")" 100
	poke $HOST_BRIDGE 0x60 0xb0000001
	unload
	log_mark
	load
	contains "log" "$(log_since_mark)" '3f:10.0: .*uncore_imc_0, by ECAM'
}

# Events that are opened and closed, and never count, write nothing.
test_opens_write_nothing() {
	pmu-model stats imc0 --reset > /dev/null
	for _ in $(seq 100); do echo uncore_imc_0:0x304; done | pmu-event --disabled --lines > /dev/null
	equal "writes" "$(pmu-model stats imc0 | awk '{ n += $3 } END { print n + 0 }')" 0
}

# Nobody has an event open while another program uses the channel.
test_another_program_before() {
	equal "first" "$($COUNT -x "$ADD")" 100
	poke $IMC0 0xd8 0
	equal "control written" "$($COUNT -x "$ADD")" 100
	poke $IMC0 0xa0 0x89abcdef
	poke $IMC0 0xa4 0x4567
	equal "counter written" "$($COUNT -x "$ADD")" 100
	poke $IMC0 0xf4 0x10100
	equal "frozen" "$($COUNT -x "$ADD")" 100
}

# Another program clears a counter, and nothing else: 2^48 is not what came. The log says so, once.
test_another_program_clears_a_counter() {
	log_mark
	clear="for seek in $((0xa0 / 4)) $((0xa4 / 4)); do
		dd if=/dev/zero of=$IMC0 bs=4 seek=\$seek count=1 conv=notrunc 2> /dev/null; done"
	got=$($COUNT -x "$ADD" -x "$clear" -x "$ADD" -x "$clear" -x "$ADD" | tr '\n' ' ')
	equal "counts" "$got" "100 100 200 200 300 "
	eventually "impossible differences in the log" 1 impossible
	contains "log" "$(log_since_mark)" \
		'3f:10.0: uncore_imc_0: the counter of event config=0x304 moved by 281474976710556, more than it can have counted'
	equal "count of the next" "$($COUNT -x "$ADD")" 100
	equal "lines in the log" "$(impossible)" 1
}

# While an event counts: the log says so, once; and when it starts again it counts right.
test_another_program_meanwhile() {
	unload
	load
	log_mark
	got=$(pmu-event --manual uncore_imc_0:0x304 uncore_imc_0:0xc04 -x "$ADD" -x @read \
		-x "printf '\\0\\0\\0\\0' | dd of=$IMC0 bs=4 seek=$((0xd8 / 4)) count=1 conv=notrunc 2> /dev/null; $ADD" \
		-x @read)
	equal "counts" "$(echo "$got" | tr '\n' ' ')" "100 0 100 0 "
	eventually "complaints" 1 complaints
	contains "log" "$(log_since_mark)" '3f:10.0: register d8 holds 00000000, not 00400304'
	equal "count of the next" "$($COUNT -x "$ADD")" 100
	poke $IMC0 0xd8 0
	equal "and of its next" "$($COUNT -x "$ADD")" 100
	equal "complaints" "$(complaints)" 1
}

# Another program meanwhile, and nobody stops an event: within 10 s and a read it counts on, and the log
# says why. The same where the program has frozen the channel, which no control shows.
test_another_program_and_nobody_stops() {
	for poked in '0xd8 0' '0xf4 0x10100'; do
		unload
		load
		log_mark
		# shellcheck disable=SC2086 # words
		poke /tmp/dword 0 ${poked#* }
		got=$(pmu-event uncore_imc_0:0x304 -x "dd if=/tmp/dword of=$IMC0 bs=4 seek=$((${poked% *} / 4)) conv=notrunc 2> /dev/null
			$ADD" -x 'sleep 11' -x "$ADD" | tr '\n' ' ')
		equal "counts, $poked" "$got" "0 0 100 "
		eventually "complaints" 1 complaints
	done
}

# The function does not answer when the channel is taken over, but soon after: what a counter had before is
# not counted.
test_gone_when_taken_over() {
	equal "before" "$($COUNT -x "$ADD")" 100
	pmu-model set imc0 gone 1
	got=$(pmu-event --disabled --manual uncore_imc_0:0x304 -x 'pmu-model set imc0 gone 0' -x @enable -x "$ADD" -x @read)
	equal "count" "$got" 100
}

# A write does not arrive. Nobody can know until somebody looks.
test_lost_write() {
	unload
	load
	log_mark
	# Another event has counted and is open, or the first write would be one of the channel's reset.
	pmu-event --disabled --manual uncore_imc_0:0xff -x @enable -x @disable -x "pmu-event --disabled --manual uncore_imc_0:0x304 \
		-x 'pmu-model set imc0 lose 1' -x @enable -x '$ADD' -x @read > /tmp/lost"
	equal "count" "$(cat /tmp/lost)" 0
	eventually "complaints" 1 complaints
	equal "lost" "$(pmu-model get imc0 lose)" 0
	equal "next" "$($COUNT -x "$ADD")" 100
}

# The function does not answer while an event of it is closed, so what is written then is lost, and
# another event stays open all the time: the first behind it starts from what the counter has.
test_gone_and_back_with_an_event_open() {
	got=$(pmu-event --disabled --manual uncore_imc_0:0xff -x 'sh /tmp/gone')
	equal "outer" "$got" ""
	equal "inner" "$(cat /tmp/inner)" "100"
}
cat > /tmp/gone <<-EOT
	pmu-event uncore_imc_0:0x304 -x '$ADD' -x 'pmu-model set imc0 gone 1' -x true > /dev/null
	pmu-model set imc0 gone 0
	$ADD
	pmu-event uncore_imc_0:0x304 -x '$ADD' > /tmp/inner
EOT

# A channel without a clock gets no PMU, until it has one.
test_clock_comes_late() {
	unload
	pmu-model set 'imc3*' dead 1
	log_mark
	load
	contains "log" "$(log_since_mark)" '3f:10.5: .*does not advance.*uncore_imc_3 lacks socket 0'
	[ ! -e $PMUS/uncore_imc_3 ]
	# Once it does not even answer.
	pmu-model set 'imc3*' gone 1
	pmu-model stats imc3 --reset > /dev/null
	for _ in $(seq 300); do
		[ "$(pmu-model stats imc3 | awk '{ n += $2 } END { print n + 0 }')" = 0 ] || break
		sleep 0.1
	done
	pmu-model set 'imc3*' gone 0
	pmu-model set 'imc3*' dead 0
	# It is tried again 1, 3, 7 and so on seconds after loading, which may take long here.
	for _ in $(seq 300); do
		[ "$(cpumask uncore_imc_3)" != 0,2 ] || break
		sleep 0.1
	done
	equal "channel 3" "$(cpumask uncore_imc_3)" 0,2
	equal "count" "$(pmu-event uncore_imc_3:0x304 -x 'pmu-model add imc3 cas_rd 7')" 7
}

# Sockets that sleep have no clock, so they are kept awake while they are tried.
test_idle_sockets_have_no_clock() {
	unload
	pmu-model set 'imc*' doze 1
	log_mark
	load
	pmu-model set 'imc*' doze 0
	equal "channels without" "$(log_since_mark | grep 'does not advance' || :)" ""
	for n in 0 1 2 3; do
		equal "channel $n" "$(cat $PMUS/uncore_imc_$n/cpumask)" 0,2
	done
}

run_tests
