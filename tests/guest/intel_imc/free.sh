#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Free-running counters of Ice Lake's memory controllers: traffic and the clock, which always count. Nothing is ever
# written there, and any number of events may read one. The in-tree driver is the referee.
#
# all vm: --kernel 6.12 --driver ours --model icx,sockets=2
# kernels vm: --kernel 6.12 --driver in-tree --model icx,sockets=2
. ./intel_imc/lib.sh
trap 'pmu-model set "free*" dead 0; pmu-model set "free*" gone 0; as_it_was; pmu-model set "mmio*" gone 0' EXIT

FREE=uncore_imc_free_running
PMU=$PMUS/${FREE}_0

test_names_and_formats() {
	equal "PMUs" "$(cd "$PMUS" && echo ${FREE}_*)" "${FREE}_0 ${FREE}_1 ${FREE}_2 ${FREE}_3"
	equal "formats" "$(cd "$PMU/format" && grep . ./* | sort | xargs)" "./event:config:0-7 ./umask:config:8-15"
	equal "events" "$(cd "$PMU/events" && grep . dclk read write ddrt_read ddrt_write | xargs)" \
		"$(printf '%s:event=0xff,umask=0x%s ' dclk 10 read 20 write 21 ddrt_read 30 ddrt_write 31 | sed 's/ $//')"
	for event in read write ddrt_read ddrt_write; do
		equal "$event" "$(cat "$PMU/events/$event.scale") $(cat "$PMU/events/$event.unit")" "6.103515625e-5 MiB"
	done
}

# Each on its own controller and socket, of both channels.
test_exact_traffic() {
	got=$(pmu-event ${FREE}_1:0x20ff ${FREE}_1:0x21ff ${FREE}_1:0x30ff ${FREE}_1:0x31ff ${FREE}_0:0x20ff -x '
		pmu-model add imc3 cas_rd 7; pmu-model add imc4 cas_rd 70; pmu-model add imc4 cas_wr 8
		pmu-model add imc3 pmm_rpq_inserts 3; pmu-model add imc3 pmm_wpq_inserts 4; pmu-model add imc3@1 cas_rd 1000')
	equal "read, write, of persistent memory, of another controller" "$got" "77 8 3 4 0"
	out=$(perf stat -a -x, --per-socket -e ${FREE}_3/read/ -- pmu-model add imc9@1 cas_rd 16384 2>&1)
	contains "socket 0" "$out" "^S0,1,0.00,MiB,${FREE}_3/read/"
	contains "socket 1" "$out" "^S1,1,1.00,MiB,${FREE}_3/read/"
}

test_wraps_at_2_48() {
	pmu-model set free2 read 0xfffffffffff0
	equal "count" "$(pmu-event ${FREE}_2:0x20ff -x 'pmu-model add imc6 cas_rd 1000000')" 1000000
}

# What a program that writes registers did to it is not counted, and told.
test_somebody_sets_it_back() {
	[ $driver = ours ] || skip "what our driver does"
	log_mark
	got=$(pmu-event --manual ${FREE}_0:0x20ff -x 'pmu-model add imc0 cas_rd 7' -x @read -x 'pmu-model set free0 read 0' \
		-x @read -x 'pmu-model add imc0 cas_rd 3' -x @read | tr '\n' ' ')
	equal "counts" "$got" "7 7 10 "
	equal "told" "$(log_since_mark | grep -c 'more than it can have counted')" 1
}

# Between two looks at the counter before and two behind
test_clock() {
	before=$(pmu-model get free0 dclk)
	got=$(pmu-event ${FREE}_0:0x10ff -x 'pmu-model get free0 dclk > /tmp/first; pmu-model get free0 dclk > /tmp/last')
	after=$(pmu-model get free0 dclk)
	within "clocks" "$got" $(($(cat /tmp/last) - $(cat /tmp/first))) $((after - before))
}

# Any number of events, of which none is refused or takes turns; nothing is written.
test_for_everybody() {
	pmu-model stats 'free*' --reset > /dev/null
	got=$(pmu-event --group ${FREE}_0:0x20ff ${FREE}_0:0x20ff ${FREE}_0:0x20ff ${FREE}_0:0x20ff ${FREE}_0:0x20ff \
		${FREE}_0:0x21ff -x 'pmu-model add imc0 cas_rd 5')
	equal "counts" "$got" "5 5 5 5 5 0"
	equal "writes" "$(pmu-model stats 'free*' | awk '{ n += $4 } END { print n }')" 0
}

test_what_is_no_counter() {
	[ $driver = ours ] || skip "what our driver does"
	for config in 0x00ff 0x12ff 0x2010 0x1020ff; do
		equal "$config" "$(pmu-event ${FREE}_0:$config)" EINVAL
	done
}

# A read takes one access, and the channels are left alone.
test_accesses() {
	[ $driver = ours ] || skip "what our driver does"
	pmu-model stats 'imc*' --reset > /dev/null
	got=$(pmu-event --manual ${FREE}_0:0x20ff -x 'pmu-model stats free0 --reset > /dev/null; pmu-model add imc0 cas_rd 5' \
		-x @read -x 'pmu-model stats free0 > /tmp/stats')
	equal "count" "$got" 5
	equal "accesses of a read" "$(cat /tmp/stats)" "free 1 0"
	equal "accesses to channels" "$(pmu-model stats 'imc*' | awk '{ n += $3 + $4 } END { print n }')" 0
}

test_sleep() {
	[ $driver = ours ] || skip "what our driver does"
	got=$(pmu-event ${FREE}_0:0x20ff -x 'pmu-model add imc0 cas_rd 5' \
		-x 'pmu-model set firmware wake 200; echo mem > /sys/power/state' -x 'pmu-model add imc0 cas_rd 6' | tr '\n' ' ')
	equal "before, behind, after" "$got" "5 5 11 "
}

# Load the driver while a key of a block has a value: silicon KEY VALUE [BLOCK]
silicon() {
	unload
	pmu-model set "${3:-free0@0}" "$1" "$2"
	log_mark
	load
}

# No PMU that would read 0 for ever: the others and the channels are none the worse for it.
test_a_block_that_stands_still() {
	[ $driver = ours ] || skip "what our driver does"
	for fault in 'dead 1000000 its clock stands still at 0x[0-9a-f]* .no memory there..: it lacks this socket until this module is loaded again' \
		'gone 1 nothing answers at 0x[0-9a-f]*: it lacks this socket'; do
		# shellcheck disable=SC2086 # words
		set -- $fault
		key=$1
		silicon "$key" "$2"
		shift 2
		contains "log" "$(log_since_mark)" "${FREE}_0: $*"
		equal "lines" "$(log_since_mark | grep -c "$FREE" || :)" 1
		equal "cpumask" "$(cat "$PMU/cpumask")" 1
		equal "others" "$(cat "$PMUS/${FREE}_1/cpumask") $(cat $PMUS/uncore_imc_0/cpumask)" "0-1 0-1"
		pmu-model set free0@0 "$key" 0
	done
	unload
	load
	equal "cpumask" "$(cat "$PMU/cpumask")" 0-1
}

# A clock that stands for a moment, or while its socket has no CPU to keep it awake, does not lose the PMU.
test_a_clock_that_stands_for_a_moment() {
	[ $driver = ours ] || skip "what our driver does"
	silicon dead 8
	equal "log" "$(log_since_mark | grep "$FREE" || :)" ''
	equal "reads until it ran" "$(pmu-model get free0@0 dead)" 0
	equal "cpumask" "$(cat "$PMU/cpumask")" 0-1
	cpu_online 1 0
	silicon dead 1000 free0@1
	cpu_online 1 1
	equal "cpumask" "$(cat "$PMU/cpumask")" 0-1
	pmu-model set free0@1 dead 0
}

# All ones are no count.
test_gone() {
	[ $driver = ours ] || skip "what our driver does"
	equal "counts" "$(pmu-event ${FREE}_0:0x20ff -x 'pmu-model add imc0 cas_rd 5' -x 'pmu-model set mmio@0 gone 1' \
		-x 'for _ in $(seq 6000); do [ "$(head -c 8 <&3 | wc -c)" = 0 ] && exit; sleep 0.01; done; exit 1' |
		tr '\n' ' ')" "5 5 error "
	pmu-model set mmio@0 gone 0
	equal "a new one" "$(pmu-event ${FREE}_0:0x20ff -x 'pmu-model add imc0 cas_rd 5')" 5
}

run_tests
