#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Channels that are not as everybody assumes where no source says it: the driver asks each when it is loaded, goes by the
# answer, or refuses the channel and says why. Channel 0 of socket 0 is one of these here, the others are as ever.
#
# vm: --kernel 6.12 --driver ours --model 'snbep,sockets=2 gnr,sockets=2'
# all vm: --kernel 6.12 --driver ours --model 'ivbep,sockets=2 skx,sockets=2 icx,sockets=2 spr,sockets=2'
# kernels vm: --kernel 6.1 --driver ours --model snbep,sockets=2
. ./intel_imc/lib.sh
trap 'answers 0; as_it_was' EXIT

MODEL=$(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo)
SUB='' # On Granite Rapids events of one sub-channel
[ ! -e $PMUS/uncore_imc_0/events/cas_count_read_sch0 ] || SUB=_sch0
READ=$(config uncore_imc_0 cas_count_read$SUB) WRITE=$(config uncore_imc_0 cas_count_write$SUB)
MADE='pmu-model add imc0@0 cas_rd 7; pmu-model add imc0@0 cas_wr 5'

answers() { # VALUE [KEY]
	for key in ${2:-dead runs_frozen twice drops high below exceeds needs_umask arrives no_event_0 latches}; do
		pmu-model set imc0@0 "$key" "$1" 2> /dev/null || :
	done
}

# Load the driver while a key of the channel has a value: silicon KEY VALUE [PARAMETER]...
silicon() {
	unload
	answers 0
	pmu-model set imc0@0 "$1" "$2"
	log_mark
	shift 2
	insmod $MODULES/pmu_core.ko
	insmod $MODULES/intel_imc_pmu.ko "$@"
}

says() { # PATTERN, or none
	said=$(log_since_mark | grep self-test || :)
	if [ "$1" ]; then
		contains "log" "$said" "uncore_imc_0: self-test: $1"
		equal "lines" "$(echo "$said" | wc -l)" 1
	else
		equal "log" "$said" ''
	fi
}

counts() {
	equal "reads, writes" "$(pmu-event uncore_imc_0:$READ uncore_imc_0:$WRITE -x "$MADE" | xargs)" "7 5"
}

owners() {
	cat "$PMUS/uncore_imc_0/cpumask"
}

test_as_assumed() {
	silicon below 0
	says ''
	counts
}

test_counters_that_freezing_does_not_stop() {
	silicon runs_frozen 2
	says 'freezing does not stop all counters$'
	equal "cpumask" "$(owners)" 1
	silicon runs_frozen 1
	says 'freezing does not stop the fixed counter$'
	equal "cpumask" "$(owners)" 1
}

# What another program writes meanwhile: it costs a try, and no channel; one that never works is told what may help.
test_a_channel_that_is_disturbed() {
	silicon lose 12
	says ''
	equal "writes to be lost" "$(pmu-model get imc0@0 lose)" 0
	equal "cpumask" "$(owners)" 0-1
	counts
	silicon runs_frozen 2
	contains "log" "$(log_since_mark)" 'uncore_imc_0: the counters do not work: no PMU for this channel; if another program such as PCM used them, end it and load this module again$'
}

test_controls_that_take_the_second_write() {
	silicon twice 1
	says 'a control has to be written twice'
	for _ in 1 2 3; do
		counts
	done
	equal "clock" "$(pmu-event uncore_imc_0:0xff -x true | grep -c '[1-9]')" 1
}

# The highest bit of thresholds costs no event; one of events would make wrong ones of them. The driver does not take a
# bit that it lost for another program's.
test_controls_that_lack_bits() {
	silicon drops 0x80000000
	says 'a control does not keep all bits of edge, inv and thresh'
	counts
	pmu-event "$(thresh 128 0)" -x true > /dev/null
	equal "other programs" "$(log_since_mark | grep 'another program' || :)" ''
	if [ "$MODEL" != 62 ]; then
		silicon drops 0x800000
		says 'a control does not keep all bits of edge, inv and thresh'
		counts
	fi
	silicon drops 0x80
	says 'a control does not keep what is written to it$'
	equal "cpumask" "$(owners)" 1
}

test_bits_above_the_width() {
	for top in 1 0x8000 0xffff; do
		silicon high $top
		says 'bits 63:48 of the counters are not 0'
		counts
	done
	got=$(pmu-event uncore_imc_0:$READ -x 'pmu-model set imc0@0 gone 1' -x true 2>&1 | xargs)
	contains "gone" "$got" '[A-Z]|^0'
	pmu-model set imc0@0 gone 0
}

# Reads with a threshold, and inverted or not
thresh() {
	printf 'uncore_imc_0:%#x' $((READ | $1 << 24 | $2 << 23))
}

# Reads and writes, one at a time: thresh=1 counts them, and with inv what is no read of the time, which is not 7.
test_thresholds_from_below() {
	silicon below 1
	says 'thresholds count what does not reach them'
	[ "$MODEL" != 62 ] || skip "v2 has no inv to swap"
	equal "thresh=1" "$(pmu-event "$(thresh 1 0)" -x "$MADE")" 7
	equal "thresh=2" "$(pmu-event "$(thresh 2 0)" -x "$MADE")" 0
	within "inv" "$(pmu-event "$(thresh 1 1)" -x "$MADE")" 1000 1000000000000
}

test_thresholds_that_have_to_be_exceeded() {
	silicon exceeds 1
	says 'a threshold of 1 and one of 2 count the clock alike'
	counts
}

# Of Sandy Bridge no source says that the general counters count it: of the machine, if its first channel does not.
test_no_clock() {
	[ "$MODEL" = 45 ] || skip "sources tell"
	unload
	pmu-model set 'imc*' no_event_0 1
	log_mark
	load
	equal "lines" "$(log_since_mark | grep -c 'self-test: no event counts the clock, which the fixed counter has$')" 8
	counts
	equal "event 00" "$(pmu-event uncore_imc_0:0x0 -x true)" EINVAL
	contains "log" "$(log_since_mark)" 'uncore_imc_0: event refused: here only event 0xff is the clock'
	pmu-model set 'imc*' no_event_0 0
}

# Others have no memory then, and may get some; so has one that lacks what another channel has shown.
test_a_channel_without_the_general_clock() {
	silicon no_event_0 1
	says ''
	contains "log" "$(log_since_mark)" 'only the fixed counter advances: a channel without memory\? uncore_imc_0 lacks socket 0'
	equal "lines" "$(log_since_mark | grep -c 'does not advance' || :)" 0
	equal "cpumask" "$(owners)" 1
	answers 0 no_event_0
	eventually "cpumask" 0-1 owners
	counts
}

# A read that comes while the channel is asked tells it of all channels; events that have sub-events are left alone.
test_events_that_need_a_umask() {
	[ "$MODEL" = 45 ] || skip "sources tell"
	unload
	answers 0
	pmu-model set 'imc*' needs_umask 1
	pmu-model set imc0@0 arrives 1
	log_mark
	load
	says 'events without sub-events need a umask'
	for channel in 0 1; do
		equal "channel $channel" "$(pmu-event uncore_imc_$channel:0x10 uncore_imc_$channel:0x04 \
			-x "pmu-model add imc$channel@0 rpq_inserts 9; pmu-model add imc$channel@0 cas_rd 8" | xargs)" "9 0"
	done
	pmu-model set 'imc*' needs_umask 0
}

refusals() {
	log_since_mark | grep -c 'uncore_imc_0: \(self-test: freezing does not stop all counters\|the counters do not work: no PMU\)' || :
}

# A channel that gets its clock later is asked then, and refused for good.
test_asked_later() {
	silicon dead 1
	says ''
	pmu-model set imc0@0 runs_frozen 2
	pmu-model set imc0@0 dead 0
	eventually "lines" 2 refusals
	equal "cpumask" "$(owners)" 1
}

# The low half is read first, and the high half again if the low one has started anew: right both ways.
test_halves_that_are_latched() {
	pmu-model get imc0@0 latches > /dev/null 2>&1 || skip "counters are read at once"
	silicon latches 1
	says ''
	first=$((0xfffffff0))
	for tear in tear tearhigh; do
		got=$(pmu-event uncore_imc_0:$READ -x "sleep 3; pmu-model add imc0@0 cas_rd $first" \
			-x "sleep 1; pmu-model set imc0@0 $tear 48" -x 'sleep 1')
		equal "counts" "$(echo "$got" | xargs)" "$first $((first + 48)) $((first + 48))"
		equal "what waits" "$(pmu-model get imc0@0 $tear)" 0
	done
}

test_cost() {
	silicon below 0
	unload
	for selftest in 1 0; do
		pmu-model stats imc1@0 --reset > /dev/null
		insmod $MODULES/pmu_core.ko
		insmod $MODULES/intel_imc_pmu.ko selftest=$selftest
		pmu-model stats imc1@0 > /tmp/stats
		cost=$(awk '$1 != "config" { n += $2 + $3 } END { print n }' /tmp/stats)
		show "accesses with selftest=$selftest: $cost"
		within "accesses" "$cost" 20 $((selftest ? 220 : 60))
		unload
	done
	load
}

test_left_out() {
	silicon runs_frozen 2 selftest=0
	says ''
	equal "cpumask" "$(owners)" 0-1
}

run_tests
