#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-top on an Ice Lake of which a controller has a third channel, with our driver and with the in-tree one, which has a
# PMU for each: the channels that there are, and what free-running counters say where counters are taken.
#
# kernels vm: --tools --kernel 6.12 --driver 'ours in-tree' --model icx,sockets=2,third=1 --timeout 900
. ./intel_imc/lib.sh
. ./top.sh
trap as_it_was EXIT

ADD='pmu-model add imc0 cas_rd 50000000; pmu-model add imc2 cas_rd 25000000; pmu-model add imc4@1 cas_wr 1000000'

test_channels_that_there_are() {
	pmu-top --mode power --json --output /tmp/top -- sh -c "$ADD"
	equal "channels" "$(quick_python 'print(*[dict(row)["channel"] for row in eval(open("/tmp/top").readlines()[-1])["rows"]
		if row["name"] == "read" and row["socket"] == "0"])')" "0 1 2 3 4 6 7 9 10"
	equal "third channel" "$(top_value read_bytes socket=0 channel=2)" 1600000000
	equal "controller" "$(top_value controller_read_bytes socket=0 controller=0)" 4800000000
	equal "all that was read" "$(top_value total_read_bytes)" 4800000000
}

# Somebody has pinned all counters of a channel.
test_free_running_counters() {
	pinned() {
		pmu-event --pinned --manual uncore_imc_0:0xb01 uncore_imc_0:0x80 uncore_imc_0:0x10 uncore_imc_0:0x20 -x "$1"
	}
	pinned "pmu-top --mode power --json --output /tmp/top -- sh -c '$ADD'"
	equal "channel 0, all" "$(top_value read_bytes socket=0 channel=0) $(top_value total_read_bytes)" "None None"
	equal "channel 2" "$(top_value read_bytes socket=0 channel=2)" 1600000000
	equal "controller 0, by its own" "$(top_value free_read_bytes socket=0 controller=0)" 4800000000
	equal "controller 1 of socket 1" "$(top_value free_write_bytes socket=1 controller=1)" 64000000
	pinned "pmu-top --mode power --record /tmp/record --output /tmp/text -- sh -c '$ADD; sleep 1'"
	read=$(top_rate 4800000000 0/free0/read)
	pictures "^by free-running counters: read $read GB/s +write [0-9.]* GB/s"
	pmu-top --mode power --output /tmp/text -- true
	equal "where the channels have a sum" "$(grep -c free-running /tmp/text || :)" 0
}

run_tests
