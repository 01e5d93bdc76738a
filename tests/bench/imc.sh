#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Accesses to the counter registers of one memory channel, operation by operation; runs in
# a guest for scripts/bench. Loads "ours" or the "in-tree" driver itself, to count what
# its probe does. Prints OPERATION READS WRITES WRITES-OF-BOX_CTL, a line each.
set -e

# What the accesses since the last count were for; without a name they are forgotten.
cat > /tmp/count <<'EOT'
pmu-model stats imc0 --reset | awk -v operation="$1" '
	$1 ~ /^(ctl|ctr|fixed_ctl|fixed_ctr|box_ctl|box_status)$/ { reads += $2; writes += $3; classes++ }
	$1 == "box_ctl" { box = $3 }
	END {
		if (operation != "")
			print operation, reads + 0, writes + 0, box + 0
		exit classes != 6
	}'
EOT
count() { sh /tmp/count "$@"; }

# From open to close; several events are a group.
life() { # NAME EVENTS...
	name=$1
	shift
	count
	pmu-event --group --disabled --manual "$@" -x "sh /tmp/count open-$name" \
		-x @enable -x "sh /tmp/count start-$name" \
		-x @read -x "sh /tmp/count read-$name" -x @disable -x "sh /tmp/count stop-$name" \
		-x @enable -x "sh /tmp/count restart-$name" >> /tmp/results
	count "close-$name" >> /tmp/results
}

count
case $1 in
ours)
	insmod /vm/modules.d/pmu_core.ko
	insmod /vm/modules.d/intel_imc_pmu.ko ;;
in-tree)
	modprobe intel-uncore ;;
esac
count probe > /tmp/results

pmu=uncore_imc_0
group="$pmu:0x304 $pmu:0xc04 $pmu:0x101 $pmu:0x10 $pmu:0xff"
life 1 $pmu:0x23
# shellcheck disable=SC2086 # a list
life 5 $group

# Five one after the other, each of which makes perf schedule the others again.
count
# shellcheck disable=SC2086
pmu-event --manual $group -x "sh /tmp/count start-singly" >> /tmp/results

# Eight take turns on four counters.
pmu-event --manual $pmu:0x304 $pmu:0xc04 $pmu:0x101 $pmu:0x10 $pmu:0x11 $pmu:0x12 $pmu:0x20 $pmu:0x21 \
	-x "sh /tmp/count" -x 'sleep 1' -x "sh /tmp/count turns" >> /tmp/results

# perf disables and enables the PMU, for an event that then finds no counter. Pinned events stay
# where they are meanwhile; and in the hour for which it waits nothing takes turns.
echo 3600000 > /sys/bus/event_source/devices/$pmu/perf_event_mux_interval_ms
# shellcheck disable=SC2086
pmu-event --group --pinned --manual $group -x "sh /tmp/count" \
	-x "pmu-event $pmu:0xff" -x "sh /tmp/count idle" >> /tmp/results

# Without the counts, which pmu-event prints.
grep -v '^[0-9]' /tmp/results
