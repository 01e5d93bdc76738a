#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every generation: the PMUs are named and numbered as the in-tree driver does it, with gaps where
# channels are missing; they count for the socket that the UBOX tells, on each of its channels; umasks
# mean what they mean on that generation; and no register is written as a manual forbids it.
#
# vm: --kernel 6.12 --driver ours --model 'ivbep,sockets=2 hswep,sockets=2 bdxep,sockets=2 skx,sockets=2 icx,sockets=2'
# all vm: --kernel 6.12 --driver ours --model 'bdxde,sockets=2 clx,sockets=2 icx,sockets=2,third=5'
# kernels vm: --kernel 6.12 --driver in-tree --model 'ivbep,sockets=2 hswep,sockets=2 bdxep,sockets=2 bdxde,sockets=2 skx,sockets=2 clx,sockets=2 icx,sockets=2 icx,sockets=2,third=5'
# vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4
# kernels vm: --kernel 6.12 --driver in-tree --model snbep,sockets=2 --cpus 4
# kernels vm: --kernel 6.1 --driver ours --model 'ivbep,sockets=2 clx,sockets=2 icx,sockets=2'
# kernels vm: --kernel '6.1 newest' --driver in-tree --model icx,sockets=2
. ./intel_imc/lib.sh
trap as_it_was EXIT

# By the CPU's model, and its stepping where that does not tell: the numbers of channels,
# id:device.function=number, and which are there where some are missing.
HASWELL_SLOTS='b0:14.0=0 b1:14.1=1 b4:15.0=2 b5:15.1=3 d0:17.0=4 d1:17.1=5 d4:18.0=6 d5:18.1=7'
SOME='0 1 4 5'
MODEL=$(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo)
[ "$(sed -n 's/^stepping\t*: //p; /^$/q' /proc/cpuinfo)" -ge 5 ] && STEPPING=late || STEPPING=early
case $MODEL in
45) SLOTS='3cb0:10.0=0 3cb1:10.1=1 3cb4:10.4=2 3cb5:10.5=3' SOME='1 2' ;;
62) SLOTS='0eb4:10.4=0 0eb5:10.5=1 0eb0:10.0=2 0eb1:10.1=3 0ef4:1e.4=4 0ef5:1e.5=5 0ef0:1e.0=6 0ef1:1e.1=7' ;;
63) SLOTS=$(echo "$HASWELL_SLOTS" | sed 's/[bd][0-9]:/2f&/g') ;;
79 | 86) SLOTS=$(echo "$HASWELL_SLOTS" | sed 's/[bd][0-9]:/6f&/g') ;;
106) SLOTS='' ;;
85) SLOTS='2042:0a.2=0 2046:0a.6=1 204a:0b.2=2 2042:0c.2=3 2046:0c.6=4 204a:0d.2=5' SOME='2 4' ;;
esac

# The channels that this machine has: NUMBER DEVICE, a line for each and socket. Those in memory have no device.
channels() {
	if [ ! "$SLOTS" ]; then
		pmu-model list | sed -n 's/^imc\([0-9]*\)@.*/\1 memory/p'
		return
	fi
	for device in /sys/bus/pci/devices/*; do
		id=$(cat "$device/device")
		for slot in $SLOTS; do
			[ "${id#0x}:${device##*:}" = "${slot%=*}" ] && echo "${slot#*=} ${device##*/}"
		done
	done
}

numbers() {
	channels | cut -d' ' -f1 | sort -un
}

# The package of a socket of the model: where its node id is in the map of its UBOX.
package() {
	nodeid=$(pmu-model get "ubox@$1" nodeid) map=$(pmu-model get "ubox@$1" gidnidmap)
	for i in 0 1 2 3 4 5 6 7; do
		[ $((map >> 3 * i & 7)) = "$nodeid" ] && echo "$i" && return
	done
}

# The in-tree driver also has a third channel in each controller of Ice Lake, where mostly there is nothing.
pmus_are_the_channels() {
	wanted=$(numbers)
	[ $driver/"$MODEL" = in-tree/106 ] && wanted="$wanted 2 5 8 11"
	[ "$(echo "$wanted" | wc -w)" -ge 2 ]
	# shellcheck disable=SC2086 # a list
	equal "PMUs" "$(cd "$PMUS" && ls -d uncore_imc_[0-9]* | sort)" "$(printf 'uncore_imc_%d\n' $wanted | sort -u)"
}

# A number of reads for each channel of each socket, 1000 * NUMBER + SOCKET + 1, and perf says the same.
counts_are_the_channels() {
	events='' adds=''
	for number in $(numbers); do
		events="$events,uncore_imc_$number/event=0x4,umask=0x3/"
		for socket in 0 1; do
			adds="$adds pmu-model add imc$number@$socket cas_rd $((1000 * number + socket + 1));"
		done
	done
	out=$(perf stat -a --per-socket -x, -e "${events#,}" -- sh -c "$adds" 2>&1)
	for number in $(numbers); do
		for socket in 0 1; do
			contains "channel $number, socket $socket" "$out" \
				"^S$(package $socket),1,$((1000 * number + socket + 1)),,uncore_imc_$number/"
		done
	done
}

test_exactly_the_pmus_of_the_channels() {
	equal "channels of the model" "$(pmu-model list | grep -c '^imc')" "$(channels | wc -l)"
	pmus_are_the_channels
}

test_one_cpu_a_socket() {
	for pmu in "$PMUS"/uncore_imc_[0-9]*; do
		cpus=$(sed 's/[,-]/ /g' "$pmu/cpumask")
		for cpu in $cpus; do
			cat "/sys/devices/system/cpu/cpu$cpu/topology/physical_package_id"
		done > /tmp/packages
		equal "sockets of ${pmu##*/}" "$(xargs < /tmp/packages)" "0 1"
	done
}

test_exact_counts_by_socket() {
	counts_are_the_channels
}

# The UBOX alone tells the socket: by another node id, or another map of packages to node ids.
test_sockets_by_the_ubox() {
	unload
	pmu-model set ubox@0 nodeid 1
	pmu-model set ubox@1 nodeid 0
	load
	equal "package of socket 0" "$(package 0)" 1
	counts_are_the_channels
	unload
	pmu-model set ubox@1 nodeid 3
	pmu-model set 'ubox*' gidnidmap 0000000013
	load
	equal "package of socket 1" "$(package 1)" 0
	counts_are_the_channels
	as_it_was
}

# Channels that are missing leave gaps in the numbers.
test_gaps() {
	[ "$SLOTS" ] || skip "channels in memory are no devices"
	unload
	channels | while read -r number device; do
		case " $SOME " in
		*" $number "*) ;;
		*) echo 1 > "/sys/bus/pci/devices/$device/remove" ;;
		esac
	done
	load
	equal "channels" "$(numbers | xargs)" "$SOME"
	pmus_are_the_channels
	counts_are_the_channels
	as_it_was
	[ "$(numbers | wc -l)" -gt "$(echo "$SOME" | wc -w)" ]
	pmus_are_the_channels
}

# A MiB of reads and two of writes, by the names that all generations have.
test_named_events() {
	out=$(perf stat -x, -a -e uncore_imc_0/cas_count_read/,uncore_imc_0/cas_count_write/ -- \
		sh -c 'pmu-model add imc0@0 cas_rd 16384; pmu-model add imc0@1 cas_wr 32768' 2>&1)
	contains "reads" "$out" '^1.00,MiB,uncore_imc_0/cas_count_read/'
	contains "writes" "$out" '^2.00,MiB,uncore_imc_0/cas_count_write/'
}

# The fixed counter, and a general one with event 0: both run with the clock, but from Ice Lake on the fixed one with
# half of it.
test_clocks() {
	pmu-model set imc0 dead 1
	before=$(counts_from imc0 fixed)
	got=$(pmu-event uncore_imc_0:0xff uncore_imc_0:0x00 -x "$(clock imc0 true)")
	clocks=$(($(pmu-model get imc0 fixed) - before))
	pmu-model set imc0 dead 0
	[ $clocks -gt 0 ]
	if [ "$MODEL" = 106 ]; then
		equal "fixed" "${got% *}" $clocks
		within "general" "${got#* }" $((2 * clocks - 1)) $((2 * clocks + 1))
	else
		equal "fixed and general" "$got" "$clocks $clocks"
	fi
}

# Threshold and edge: clocks in which 4 ranks were down, and spells of them.
test_threshold_and_edge() {
	got=$(pmu-event uncore_imc_0:0x85 uncore_imc_0:0x04000085 uncore_imc_0:0x04040085 \
		-x 'pmu-model add imc0 power_channel_ppd 100 4; pmu-model add imc0 power_channel_ppd 10 3')
	equal "sum, >= 4, spells of >= 4" "$got" "430 100 100"
}

# Reads of one bank, by what umasks are here: none, a bit a bank, or numbers and groups.
test_ranks_and_banks() {
	case $MODEL in
	45 | 106) configs='0x08b0 0x10b0 0x11b0 0xffb0' wanted='0 0 0 0' ;;
	# bank 3; bank 4; banks 4 to 7; all
	62) configs='0x08b0 0x10b0 0xf0b0 0xffb0' wanted='1000 20000 20000 21000' ;;
	# bank 3; all; banks 0 to 3; banks 4 to 7
	*) configs='0x03b0 0x10b0 0x11b0 0x12b0' wanted='1000 21000 1000 20000' ;;
	esac
	# shellcheck disable=SC2046,SC2086 # several words
	got=$(pmu-event $(printf ' uncore_imc_0:%s' $configs) \
		-x "pmu-model list imc0 | grep -q rd_cas_rank0 || exit 0
		    pmu-model add imc0 rd_cas_rank0.bank3 1000
		    pmu-model add imc0 rd_cas_rank0.bank4 20000
		    pmu-model add imc0 rd_cas_rank1.bank3 300000")
	equal "$configs" "$got" "$wanted"
}

# Cascade Lake and Ice Lake have persistent memory, and ours the names; Skylake has the same PCI ids and CPU
# model, and counts nothing for them.
test_persistent_memory() {
	got=$(pmu-event uncore_imc_0:0xe3 uncore_imc_0:0xe7 uncore_imc_0:0x1e0 -x \
		'pmu-model list imc0 | grep -q pmm_rpq_inserts || exit 0
		 pmu-model add imc0 pmm_rpq_inserts 7
		 pmu-model add imc0 pmm_wpq_inserts 80
		 pmu-model add imc0 pmm_rpq_occupancy.all 100 9')
	names=$(find "$PMUS/uncore_imc_0/events" -name 'pmm_*' | wc -l)
	if [ "$MODEL/$STEPPING" = 85/late ] || [ "$MODEL" = 106 ]; then
		equal "inserts, occupancy" "$got" '7 80 900'
		[ $driver = in-tree ] || within "names" "$names" 20 60
	else
		equal "inserts, occupancy" "$got" '0 0 0'
		equal "names" "$names" 0
	fi
}

# From loading to unloading, every access is a dword, or a whole counter in memory, and no bit is written as a manual forbids it. The
# in-tree driver resets what Sandy Bridge does not have, and writes 0 where v2 to v4 want 1.
test_reserved_bits_are_left_alone() {
	unload
	pmu-model set 'imc*' reserved 0
	pmu-model stats 'imc*' --reset > /dev/null
	load
	pmu-event --group uncore_imc_0:0x304 uncore_imc_0:0x04040085 uncore_imc_0:0xff00ff85 uncore_imc_0:0x00 \
		uncore_imc_0:0xff -x true -x true > /tmp/counts
	unload
	got=$(pmu-model get imc0 reserved)
	case $driver/$MODEL in
	ours/* | in-tree/85 | in-tree/106) wanted=0 ;;
	in-tree/45) wanted=$((0xf400000003)) ;;
	in-tree/62) wanted=$((0xf400030000)) ;;
	in-tree/*) wanted=$((0xf400020000)) ;;
	esac
	equal "first of imc0: register << 32 | bits" "$got" $wanted
	equal "first of any" "$(pmu-model get 'imc*' reserved | cut -d' ' -f2 | sort -u)" $wanted
	equal "narrow accesses" "$(pmu-model stats 'imc*' | grep narrow | cut -d' ' -f3-4 | sort -u)" "0 0"
	load
}

run_tests
