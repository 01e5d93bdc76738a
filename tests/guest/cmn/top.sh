#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-top: the mesh as it is, and what the model made in it, with our driver and with the in-tree one.
#
# vm: --tools --arch arm64 --kernel 6.12 --driver 'ours in-tree' --model cmn700,mesh=3x2,hnf=0.0.0+1.1.1+2.0.1,rni=1.0.0,rnf=0.1.0
. ./cmn/lib.sh
trap 'echo 1 > /proc/sys/kernel/perf_event_paranoid; pmu-model set cmn0 traffic 0' EXIT

# Of 3 * 1000 accesses 3 * 250 miss; of 3 * 50 requests to memory 3 * 5 come back.
test_totals() {
	pmu-top --mode totals --json --record /tmp/record --output /tmp/top -- sh -c "pmu-model add cmn0 hnf_slc_sf_cache_access 1000
		pmu-model add cmn0 hnf_cache_miss 250; pmu-model add cmn0 hnf_mc_reqs 50; pmu-model add cmn0 hnf_mc_retries 5"
	equal "misses" "$(top_value slc_miss_rate)" 0.25
	equal "took no turns" "$(top_value slc_miss_rate share)" 1.0
	equal "sent back" "$(top_value memory_retry_rate)" 0.1
	equal "bytes to memory" "$(top_int "$(top_value memory) * $(top_seconds reqs)")" $((135 * 64))
}

# 100 million flits a second of 32 bytes on every link: 3.2 GB/s, on each of them and in the picture.
test_links() {
	pmu-model set cmn0 traffic 100000000
	pmu-top --interval 2 --once --json --record /tmp/record --output /tmp/top
	pmu-model set cmn0 traffic 0
	# Between neighbours 14; to ports: three home nodes, RN-I, RN-F and HN-D.
	equal "links" "$(top_value link | wc -w)" 20
	for link in $(top_value link); do
		within "MB/s" "$(top_int "$link / 1e6")" 3000 3400
	done
	for width in 80 200; do
		pmu-top --replay /tmp/record --width $width --once --output /tmp/text
		contains "$width columns" "$(cat /tmp/text)" 'XP 000 .*XP 020 .*XP 040'
		contains "$width columns" "$(cat /tmp/text)" '→ +3\.[0-4].*→ +3\.[0-4]'
		contains "$width columns" "$(cat /tmp/text)" "p. HN-F +3\.[0-4]"
		within "columns of the widest line" "$(python3 -c 'print(max(map(len, open("/tmp/text"))) - 1)')" 40 $width
	done
	pmu-top --replay /tmp/record --svg /tmp/svg
	contains "the picture" "$(cat /tmp/svg)" "HN-F.*3\.[0-4]"
}

# Nothing happens: nothing is shown to happen.
test_nothing() {
	pmu-top --once --json --output /tmp/top
	equal "links" "$(top_value link | tr ' ' '\n' | sort -u)" 0.0
}

test_what_there_is_not() {
	fails pmu-top --event hnf_nonsense --once > /tmp/text 2>&1
	contains "an event" "$(cat /tmp/text)" "arm_cmn_0 has no event 'hnf_nonsense'"
	fails pmu-top --mesh arm_cmn_7 --once > /tmp/text 2>&1
	contains "a mesh" "$(cat /tmp/text)" 'There is no mesh arm_cmn_7'
}

# The mesh goes while it is looked at.
test_the_mesh_vanishes() {
	driver=$(ls -d /sys/bus/platform/drivers/cmn_pmu /sys/bus/platform/drivers/arm-cmn 2> /dev/null | head -n 1)
	[ "${driver##*/}" = cmn_pmu ] || skip "the in-tree driver moves no event to its error state"
	device=$(basename "$(ls -d "$driver"/*.pmu "$driver"/*cmn* 2> /dev/null | head -n 1)")
	status=0
	pmu-top --mode totals -- sh -c "echo $device > $driver/unbind" > /tmp/text 2>&1 || status=$?
	equal "exit status" $status 1
	contains "the sentence" "$(cat /tmp/text)" 'arm_cmn_0 is gone'
}

run_tests
