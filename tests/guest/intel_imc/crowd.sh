#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Several tools at once on every generation, with our driver and with the in-tree one: all have numbers.
#
# all vm: --tools --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4
# kernels vm: --tools --kernel 6.12 --driver in-tree --model snbep,sockets=2 --cpus 4
# all vm: --tools --kernel 6.1 --driver ours --model skx,sockets=2
# soak vm: --tools --kernel 6.12 --driver 'ours in-tree' --model 'ivbep,sockets=2 hswep,sockets=2 bdxep,sockets=2 bdxde,sockets=2 skx,sockets=2 clx,sockets=2 icx,sockets=2 spr,sockets=2 emr,sockets=2' --timeout 900
# soak vm: --tools --kernel 6.12 --driver 'ours in-tree' --model gnr,sockets=2 --cpus 6 --nodes 6 --timeout 900
. ./intel_imc/lib.sh
. ./top.sh

# The in-tree driver has no name for all reads of a channel of Granite Rapids: those of a sub-channel.
if [ -e $PMUS/uncore_imc_0/events/cas_count_read ]; then half=''; else half=_sch0; fi

# A group that needs all counters of a channel, the clock that has one alone, what pmu-top counts as well, and another
# pmu-top: nobody is left without numbers, and those that took turns say so.
test_two_of_pmu_top_and_three_of_perf() {
	crowd "read write clock" "" uncore_imc_0/event=0xff/ uncore_imc_0/cas_count_read$half/,uncore_imc_0/cas_count_write$half/ \
		'{uncore_imc_0/event=0x1/,uncore_imc_0/event=0x2/,uncore_imc_0/event=0x10/,uncore_imc_0/event=0x4,umask=0xf/}'
	for said in /tmp/top /tmp/other; do
		share=$(top_value read socket=0 channel=0 share $said)
		equal "a part of the time in $said, which is $share" "$(python3 -c "print(0 < $share < 0.99)")" True
		equal "another channel" "$(python3 -c "print($(top_value read socket=1 channel=1 share $said) > 0)")" True
	done
}

run_tests
