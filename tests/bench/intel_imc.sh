#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Accesses to the counter registers of one memory channel, operation by operation; runs in
# a guest for scripts/bench. Prints OPERATION READS WRITES and the writes by which turns are told, a line each.
set -e
. ./accesses.sh

# A turn stops an event and starts another: ours writes a control for each, in-tree freezes the channel and thaws it.
[ "$1" = ours ] && turn=ctl || turn=box_ctl
classes imc0 'ctl|ctr|fixed_ctl|fixed_ctr|box_ctl' $turn
load "$1" intel_imc_pmu intel-uncore

pmu=uncore_imc_0
group="$pmu:0x304 $pmu:0xc04 $pmu:0x101 $pmu:0x10 $pmu:0xff"
life 1 $pmu:0x23
# shellcheck disable=SC2086 # a list
life 5 $group

# Five one after the other, each of which makes perf schedule the others again.
count
# shellcheck disable=SC2086
pmu-event --manual $group -x "sh /tmp/count start-singly"

# One beside three others that count.
pmu-event --manual $pmu:0x304 $pmu:0xc04 $pmu:0x101 -x "
	pmu-event --disabled --manual $pmu:0x10 -x 'sh /tmp/count' -x @enable -x 'sh /tmp/count start-beside' \
		-x 'sleep 1' -x @disable -x 'sh /tmp/count stop-beside'" | grep -v '^[0-9]*$'

second second $pmu:0x304
users $pmu/event=0x4,umask=0x3/,$pmu/event=0x4,umask=0xc/,$pmu/event=0x1,umask=0x1/,$pmu/event=0x0/

# A hundred reads without a pause
pmu-event --manual $pmu:0x23 -x "sh /tmp/count" -x '@time 100' -x "sh /tmp/count often" | grep -v '^[0-9]'

# Eight take turns on four counters.
pmu-event --manual $pmu:0x304 $pmu:0xc04 $pmu:0x101 $pmu:0x10 $pmu:0x11 $pmu:0x12 $pmu:0x20 $pmu:0x21 \
	-x "sh /tmp/count" -x 'sleep 1' -x "sh /tmp/count turns"

# perf disables and enables the PMU, for an event that then finds no counter. Pinned events stay
# where they are meanwhile; and in the hour for which it waits nothing takes turns.
echo 3600000 > /sys/bus/event_source/devices/$pmu/perf_event_mux_interval_ms
# shellcheck disable=SC2086
pmu-event --group --pinned --manual $group -x "sh /tmp/count" \
	-x "pmu-event --manual $pmu:0x11" -x "sh /tmp/count idle"
