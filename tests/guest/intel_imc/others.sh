#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Processors whose number of channels no two sources give: the machine says how many there are, by its table or by channels
# that answer, and each of them counts. The in-tree driver is the referee; one that it does not know has other names there.
#
# vm: --kernel 6.12 --driver ours --model 'srf,sockets=2 unlisted,sockets=2'
# all vm: --kernel 6.12 --driver ours --model 'gnrd,sockets=2 icxd,sockets=2 snr'
# all vm: --kernel 6.12 --driver ours --model unlisted,sockets=2,bare=1
# kernels vm: --kernel 6.12 --driver in-tree --model 'srf,sockets=2 gnrd,sockets=2 unlisted,sockets=2 unlisted,sockets=2,bare=1'
# kernels vm: --kernel newest --driver in-tree --model 'srf,sockets=2 gnrd,sockets=2 unlisted,sockets=2 icxd,sockets=2 snr'
# kernels vm: --kernel 6.1 --driver ours --model 'srf,sockets=2 icxd,sockets=2'
. ./intel_imc/lib.sh
trap as_it_was EXIT

# Does only a table, in a function that no list has, lead to the channels?
BARE=1
! grep -q 0x3251 /sys/bus/pci/devices/*/device || BARE=

MODEL=$(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo)
case $MODEL in 108 | 134) READS=0xf04 ;; *) READS=0xcf05 ;; esac
NAME=uncore_imc
[ $driver = ours ] || [ "$MODEL" != 238 ] || NAME=uncore_type_6
CHANNELS=$(pmu-model list | sed -n 's/^imc\([0-9]*\)@0 .*/\1/p' | sort -n | xargs)
SOCKETS=$(pmu-model list | grep -c '^mmio@')

# With the in-tree driver more PMUs than channels exist, of which the others read 0 (findings.md).
test_pmus_are_the_channels() {
	found=$(cd "$PMUS" && for pmu in "${NAME}"_[0-9]*; do echo "${pmu##*_}"; done | sort -n | xargs)
	if [ $driver = ours ] || [ $READS = 0xcf05 ]; then
		equal "PMUs" "$found" "$CHANNELS"
	else
		for number in $CHANNELS; do
			contains "PMUs" " $found " " $number "
		done
	fi
}

test_each_channel_counts() {
	for number in $CHANNELS; do
		for socket in $(seq 0 $((SOCKETS - 1))); do
			cpu=$(tr , ' ' < "$PMUS/${NAME}_$number/cpumask" | sed 's/-/ /' | cut -d' ' -f$((socket + 1)))
			equal "channel $number, socket $socket" "$(pmu-event --cpu "$cpu" "${NAME}_$number:$READS" \
				-x "pmu-model add imc$number@$socket cas_rd $((100 * number + socket + 1))")" $((100 * number + socket + 1))
		done
	done
}

# The list of models only names.
test_names() {
	[ $driver = ours ] || skip "what our driver does"
	case $MODEL in
	108) names='clockticks cas_count_read cas_count_write dram_refresh_panic' said='Ice Lake-D channel' ;;
	134) names='clockticks cas_count_read cas_count_write' said='Snow Ridge channel' ;;
	238) names=clockticks_f said='unlisted Xeon channel' ;;
	*) names='clockticks cas_count_read_sch0 cas_count_write_sch1 cas_count' said='(Sierra Forest|Granite Rapids-D) channel' ;;
	esac
	for name in $names; do
		[ -e "$PMUS/uncore_imc_0/events/$name" ] || { echo "no $name"; exit 1; }
	done
	contains "log" "$(dmesg)" "$said counters of socket 0: uncore_imc_0, by memory"
	equal "forbidden" "$(pmu-model get imc0 reserved)" 0
}

# An event without a name may be an occupancy, of which no source tells where it starts.
test_events_without_a_name() {
	[ $driver = ours ] || skip "what our driver does"
	unload
	load
	log_mark
	pmu-event uncore_imc_0:0xff -x true > /dev/null
	[ "$MODEL" = 238 ] || pmu-event uncore_imc_0:$READS -x true > /dev/null
	equal "with names" "$(log_since_mark | grep occupancy || :)" ''
	pmu-event uncore_imc_0:0xfe -x true > /dev/null
	contains "log" "$(log_since_mark)" 'uncore_imc_0: event=0xfe has no name here: if it is an occupancy, it may start from 0'
}

owners() {
	cat "$PMUS/uncore_imc_1/cpumask" 2> /dev/null || echo none
}

# A channel that is listed, or answers, and has no clock
test_a_channel_without_a_clock() {
	[ $driver = ours ] || skip "what our driver does"
	unload
	pmu-model set imc1@0 dead 1
	load
	[ $SOCKETS = 1 ] && wanted=none || wanted=1
	equal "without" "$(owners)" $wanted
	pmu-model set imc1@0 dead 0
	eventually "with" "$(cat "$PMUS/uncore_imc_0/cpumask")" owners
}

# Where each channel is asked whether it is there, silicon may answer otherwise than in full and at once.
test_channels_that_answer_otherwise() {
	[ $driver = ours ] && [ $READS = 0xf04 ] || skip "where channels are asked"
	unload
	pmu-model set imc1@0 twice 1
	log_mark
	load
	contains "log" "$(log_since_mark)" 'uncore_imc_1: self-test: a control has to be written twice'
	test_each_channel_counts
	unload
	pmu-model set imc1@0 twice 0
	pmu-model set imc1@0 drops 0x80
	log_mark
	load
	contains "log" "$(log_since_mark)" 'uncore_imc_1: self-test: a control does not keep what is written to it'
	[ $SOCKETS = 1 ] && wanted=none || wanted=1
	equal "lacks bits" "$(owners)" $wanted
	unload
	pmu-model set imc1@0 drops 0
	for number in $CHANNELS; do
		pmu-model set "imc$number@0" gone 1
	done
	log_mark
	[ $SOCKETS = 1 ] && fails load || load
	contains "log" "$(log_since_mark)" 'no memory channel of socket 0 answers'
	unload 2> /dev/null || :
	for number in $CHANNELS; do
		pmu-model set "imc$number@0" gone 0
	done
	load
}

whole_tables() {
	for socket in 0 1; do
		pmu-model set discovery@$socket whole 1
	done
}

# Only the first record of the table is a channel: the in-tree driver's PMU then has no number.
test_the_other_driver_has_the_only_one() {
	[ $driver = ours ] && [ "$MODEL" = 238 ] || skip "what our driver does with a table"
	unload
	for socket in 0 1; do
		for record in 2 5 6 7; do
			for word in 0 8 16; do
				pmu-model set discovery@$socket at $((32 * record + word))
				pmu-model set discovery@$socket word 0
			done
		done
	done
	why=
	modprobe intel-uncore 2> /dev/null || why="this kernel has no intel_uncore as a module"
	[ "$why" ] || [ -e "$PMUS/uncore_type_6" ] || why="the in-tree driver does not have it: $(cd "$PMUS" && echo uncore_*)"
	if [ "$why" ]; then
		! grep -q '^intel_uncore ' /proc/modules || rmmod intel_uncore
		whole_tables
		load
		skip "$why"
	fi
	insmod $MODULES/pmu_core.ko
	fails insmod $MODULES/intel_imc_pmu.ko 2> /tmp/said
	rmmod intel_uncore
	insmod $MODULES/intel_imc_pmu.ko
	equal "PMUs" "$(cd "$PMUS" && echo uncore_imc*)" uncore_imc_0
	unload
	whole_tables
	load
}

test_the_other_driver_has_them() {
	[ $driver = ours ] || skip "what our driver does"
	unload
	modprobe intel-uncore 2> /dev/null || { load; skip "this kernel has no intel_uncore as a module"; }
	ls "$PMUS" > /tmp/pmus
	grep -q '^uncore_\(imc\|type_6\)_[0-9]' /tmp/pmus || { rmmod intel_uncore; load; skip "the in-tree driver does not have them"; }
	insmod $MODULES/pmu_core.ko
	log_mark
	fails insmod $MODULES/intel_imc_pmu.ko 2> /tmp/said
	contains "log" "$(log_since_mark)" 'another driver has PMUs of these memory channels'
	rmmod intel_uncore
	insmod $MODULES/intel_imc_pmu.ko
	test_each_channel_counts
}

# A table on its own: nobody's function is bound, and a socket that nothing tells is left out.
test_tables_without_a_function() {
	[ $driver = ours ] && [ "$MODEL$BARE" = 2381 ] || skip "where a table is all that leads to channels"
	for function in $(grep -l 0x0aa7 /sys/bus/pci/devices/*/device); do
		equal "driver" "$(readlink "${function%/device}/driver" || echo none)" none
	done
	equal "before, behind, after" "$(pmu-event uncore_imc_0:0xcf05 -x 'pmu-model add imc0 cas_rd 100' \
		-x 'pmu-model set firmware wake 200; echo mem > /sys/power/state' -x 'pmu-model add imc0 cas_rd 100' | xargs)" \
		"100 100 200"
	unload
	pmu-model set ubox@1 gone 1
	log_mark
	load
	equal "socket 0" "$(cat "$PMUS/uncore_imc_0/cpumask")" 0
	contains "log" "$(log_since_mark)" 'ea:00.1: table of counters: its socket is unknown'
	unload
	equal "memory that is claimed" "$(grep -c intel_imc_pmu /proc/iomem || :)" 0
	equal "devices" "$(ls -d /sys/bus/platform/devices/intel_imc* 2> /dev/null)" ''
	no_leaks
	for socket in 0 1; do
		pmu-model set discovery@$socket entry 3
	done
	log_mark
	fails load
	contains "log" "$(log_since_mark)" 'no memory channel of a supported processor'
	rmmod pmu_core
	for socket in 0 1; do
		pmu-model set discovery@$socket entry 1
	done
	pmu-model set ubox@1 gone 0
	# A capability that another vendor defines is no table, whatever its number.
	pmu-model set discovery@1 owner 0x01001e98
	pmu-model stats discovery@1 --reset > /dev/null
	load
	equal "another vendor's" "$(cat "$PMUS/uncore_imc_0/cpumask"), $(pmu-model stats discovery@1)" "0, table 0 0"
	unload
	pmu-model set discovery@1 owner 0x01008086
	load
}

# Its names are others, so nothing keeps it off. Then nobody begins to count here, and it has the registers.
test_the_other_driver_comes_later() {
	[ $driver = ours ] && [ "$MODEL" = 238 ] || skip "where it has other names"
	log_mark
	modprobe intel-uncore 2> /dev/null || skip "this kernel has no intel_uncore as a module"
	if [ ! -e "$PMUS/uncore_type_6_0" ]; then
		rmmod intel_uncore
		skip "the in-tree driver does not have them"
	fi
	contains "log of its load" "$(log_since_mark)" 'another driver takes the memory channels of intel_imc_pmu'
	log_mark
	equal "ours" "$(pmu-event uncore_imc_0:$READS -x true)" EBUSY
	equal "theirs" "$(pmu-event uncore_type_6_0:$READS -x 'pmu-model add imc0@0 cas_rd 5')" 5
	contains "log" "$(log_since_mark)" 'another driver, loaded later, has PMUs of these memory channels'
	rmmod intel_uncore
	test_each_channel_counts
}

run_tests
