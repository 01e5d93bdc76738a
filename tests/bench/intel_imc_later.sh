#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Accesses to the counter registers of one memory channel in memory space, operation by operation; runs in a guest for
# scripts/bench, which names the driver and the generation. Prints what intel_imc.sh prints.
set -e
. ./accesses.sh

[ "$1" = ours ] && turn=ctl || turn=box_ctl
classes imc0 'ctl|ctr|fixed_ctl|fixed_ctr|box_ctl' $turn
load "$1" intel_imc_pmu intel-uncore

pmu=uncore_imc_0
case $2 in
icx) one=0xf04 two=0x3004 three=0xb01 four=0x00 more='0x1c02 0x80 0x110 0x43' ;;
*) one=0xcf05 two=0xf005 three=0xff02 four=0x101 more='0xff03 0x80 0x110 0x43' ;;
esac
life 1 $pmu:$one
life 5 $pmu:$one $pmu:$two $pmu:$three $pmu:$four $pmu:0xff

# One beside three others that count
pmu-event --manual $pmu:$one $pmu:$two $pmu:$three -x "
	pmu-event --disabled --manual $pmu:$four -x 'sh /tmp/count' -x @enable -x 'sh /tmp/count start-beside' \
		-x 'sleep 1' -x @disable -x 'sh /tmp/count stop-beside'" | grep -v '^[0-9]*$'

# The in-tree driver has an event for each sub-channel.
if [ "$2" = gnr ]; then
	if [ "$1" = ours ]; then life both $pmu:0xcf05,1; else life both $pmu:0xcf05 $pmu:0xcf06; fi
fi

# Eight take turns on four counters.
# shellcheck disable=SC2046 # a list
pmu-event --manual $pmu:$one $pmu:$two $pmu:$three $pmu:$four $(printf "$pmu:%s " $more) \
	-x "sh /tmp/count" -x 'sleep 1' -x "sh /tmp/count turns"
