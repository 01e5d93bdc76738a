#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# A read of a running event on the CPU that the event is on, and on another one of its box; runs in a guest
# for scripts/bench, with the driver loaded. Prints WHERE NS READS WRITES, a line each: of one read the
# time in the guest, the lower quartile, and the accesses to registers, of the model's classes that count.
#
#	sh reads.sh DRIVER PMU DEVICE CLASSES EVENT
set -e
. ./accesses.sh

N=2000	# reads
pmu=$2 device=$3 event=$5
classes "$device" "$4"

owner=$(cut -d, -f1 "/sys/bus/event_source/devices/$pmu/cpumask")
other=$((1 - owner))

# reads WHERE CPU; until an emulator has got used to a busy CPU each interrupt may take milliseconds
reads() {
	# shellcheck disable=SC2046 # words
	set -- "$1" $(taskset -c "$2" pmu-event --manual --cpu "$owner" "$pmu$event" -x "@time $N" \
		-x "sh /tmp/count" -x "@time $N" -x "sh /tmp/count of")
	echo "$1 $3 $(($5 / N)) $(($6 / N))"
}

reads owner "$owner"
reads idle "$other"
# The owner has something to do: its own program is interrupted, and nobody wakes it up.
taskset -c "$owner" pmu-spin 3600 &
reads busy "$other"
kill $!
