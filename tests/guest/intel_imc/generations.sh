#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Every generation after the first: the PMUs are named and numbered as the in-tree driver does it, with
# gaps where channels are missing; they count for the socket that the UBOX tells, on each
# of its channels; and umasks mean what they mean on that generation.
#
# vm: --kernel 6.12 --driver 'ours in-tree' --model 'ivbep,sockets=2 hswep,sockets=2 bdxep,sockets=2 bdxde,sockets=2 skx,sockets=2 clx,sockets=2'
# vm: --kernel 6.12 --driver 'ours in-tree' --model 'ivbep,sockets=2,controllers=1 hswep,sockets=2,channels=0+1+4+5 skx,sockets=2,nodeids=1+0'
# vm: --kernel 6.1 --driver ours --model 'ivbep,sockets=2 clx,sockets=2'
. ./intel_imc/lib.sh

# The numbers of channels, by the CPU's model: id:device.function=number.
HASWELL_SLOTS='b0:14.0=0 b1:14.1=1 b4:15.0=2 b5:15.1=3 d0:17.0=4 d1:17.1=5 d4:18.0=6 d5:18.1=7'
MODEL=$(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo)
case $MODEL in
62) SLOTS='0eb4:10.4=0 0eb5:10.5=1 0eb0:10.0=2 0eb1:10.1=3 0ef4:1e.4=4 0ef5:1e.5=5 0ef0:1e.0=6 0ef1:1e.1=7' ;;
63) SLOTS=$(echo "$HASWELL_SLOTS" | sed 's/[bd][0-9]:/2f&/g') ;;
79 | 86) SLOTS=$(echo "$HASWELL_SLOTS" | sed 's/[bd][0-9]:/6f&/g') ;;
85) SLOTS='2042:0a.2=0 2046:0a.6=1 204a:0b.2=2 2042:0c.2=3 2046:0c.6=4 204a:0d.2=5' ;;
esac

# The numbers of the channels that this machine has, one a line and socket.
channels() {
	for device in /sys/bus/pci/devices/*; do
		id=$(cat "$device/device")
		for slot in $SLOTS; do
			[ "${id#0x}:${device##*:}" = "${slot%=*}" ] && echo "${slot#*=}"
		done
	done
}

# The package of a socket of the model: where its node id is in the map of its UBOX.
package() {
	nodeid=$(pmu-model get "ubox@$1" nodeid) map=$(pmu-model get "ubox@$1" gidnidmap)
	for i in 0 1 2 3 4 5 6 7; do
		[ $((map >> 3 * i & 7)) = "$nodeid" ] && echo "$i" && return
	done
}

# The first channel of the package that CPU 0 is in.
here() {
	[ "$(package 0)" = 0 ] && echo imc0@0 || echo imc0@1
}

test_exactly_the_pmus_of_the_channels() {
	wanted=$(channels | sort -un | sed 's/^/uncore_imc_/')
	[ "$(echo "$wanted" | wc -l)" -ge 2 ]
	equal "PMUs" "$(cd "$PMUS" && ls -d uncore_imc_*)" "$wanted"
	equal "channels of the model" "$(pmu-model list | grep -c '^imc')" "$(channels | wc -l)"
}

test_one_cpu_a_socket() {
	for pmu in "$PMUS"/uncore_imc_*; do
		equal "${pmu##*/}" "$(cat "$pmu/cpumask")" 0-1
	done
}

# Every channel counts its own reads, and those of each socket for that socket.
test_exact_counts_by_socket() {
	first=$(package 0) second=$(package 1)
	[ "$((first + second))" = 1 ]
	for number in $(channels | sort -un); do
		event=uncore_imc_$number/event=0x4,umask=0x3/
		out=$(perf stat -a --per-socket -x, -e "$event" -- sh -c "
			for model in \$(pmu-model list | sed -n 's/^\(imc[0-9]*@[01]\) .*/\1/p'); do
				case \$model in
				imc$number@0) pmu-model add \$model cas_rd 123456 ;;
				imc$number@1) pmu-model add \$model cas_rd 7654321 ;;
				*) pmu-model add \$model cas_rd 1000000000 ;;
				esac
			done" 2>&1)
		contains "channel $number, socket 0" "$out" "^S$first,1,123456,,$event"
		contains "channel $number, socket 1" "$out" "^S$second,1,7654321,,$event"
	done
}

# A MiB of reads and two of writes, by the names that all generations have.
test_named_events() {
	out=$(perf stat -x, -a -e uncore_imc_0/cas_count_read/,uncore_imc_0/cas_count_write/ -- \
		sh -c 'pmu-model add imc0@0 cas_rd 16384; pmu-model add imc0@1 cas_wr 32768' 2>&1)
	contains "reads" "$out" '^1.00,MiB,uncore_imc_0/cas_count_read/'
	contains "writes" "$out" '^2.00,MiB,uncore_imc_0/cas_count_write/'
}

# The fixed counter, and a general one with event 0: both run with the clock of 800 MHz.
test_clocks() {
	got=$(pmu-event uncore_imc_0:0xff uncore_imc_0:0x00 -x 'sleep 0.2')
	within "fixed, in 0.2 s" "${got% *}" 160000000 1600000000
	within "general, in 0.2 s" "${got#* }" 160000000 1600000000
}

# Threshold and edge: clocks in which 4 ranks were down, and spells of them.
test_threshold_and_edge() {
	got=$(pmu-event uncore_imc_0:0x85 uncore_imc_0:0x04000085 uncore_imc_0:0x04040085 \
		-x "pmu-model add $(here) power_channel_ppd 100 4; pmu-model add $(here) power_channel_ppd 10 3")
	equal "sum, >= 4, spells of >= 4" "$got" "430 100 100"
}

# Reads of one bank, by what umasks are here: none, a bit a bank, or numbers and groups.
test_ranks_and_banks() {
	case $MODEL in
	# bank 3; bank 4; banks 4 to 7; all
	62) configs='0x08b0 0x10b0 0xf0b0 0xffb0' wanted='1000 20000 20000 21000' ;;
	# bank 3; all; banks 0 to 3; banks 4 to 7
	*) configs='0x03b0 0x10b0 0x11b0 0x12b0' wanted='1000 21000 1000 20000' ;;
	esac
	# shellcheck disable=SC2046,SC2086 # several words
	got=$(pmu-event $(printf ' uncore_imc_0:%s' $configs) \
		-x "pmu-model add $(here) rd_cas_rank0.bank3 1000
		    pmu-model add $(here) rd_cas_rank0.bank4 20000
		    pmu-model add $(here) rd_cas_rank1.bank3 300000")
	equal "$configs" "$got" "$wanted"
}

run_tests
