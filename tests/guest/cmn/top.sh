#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-top: the mesh as it is, and what the model made in it, with our driver and with the in-tree one.
#
# kernels vm: --tools --arch arm64 --kernel 6.12 --driver 'ours in-tree' --cpus 2 --timeout 900 --model cmn700,mesh=3x2,hnf=0.0.0+1.1.1+2.0.1,rni=1.0.0,rnf=0.1.0 --model cmns3,mesh=2x2,hns=0.0.1+1.1.0
. ./cmn/lib.sh
. ./top.sh
trap 'echo 1 > /proc/sys/kernel/perf_event_paranoid; pmu-model set "cmn*" traffic 0' EXIT
find_meshes
use_mesh cmn0

# What counts is on the CPU of what makes things happen, so none happens between two counters of a group.
taskset -p 1 $$ > /dev/null

# pmu-top's numbers in /tmp/top and /tmp/record, which begins anew: a record is of the same meshes and event throughout.
recorded() {
	rm -f /tmp/record
	pmu-top --json --record /tmp/record --output /tmp/top "$@"
}

# Of 3 * 1000 accesses 3 * 250 miss; of 3 * 50 requests to memory 3 * 5 come back.
test_totals() {
	recorded --mesh "$PMU" --mode totals -- sh -c "pmu-model add cmn0 hnf_slc_sf_cache_access 1000
		pmu-model add cmn0 hnf_cache_miss 250; pmu-model add cmn0 hnf_mc_reqs 50; pmu-model add cmn0 hnf_mc_retries 5"
	equal "lines that are JSON" "$(python3 -c 'import json; print(all(map(json.loads, open("/tmp/top"))))')" True
	equal "misses of 1000" "$(top_int "1000 * $(top_value slc_miss_rate)")" 250
	equal "took no turns" "$(top_value slc_miss_rate share)" 1.0
	equal "sent back of 1000" "$(top_int "1000 * $(top_value memory_retry_rate)")" 100
	equal "bytes to memory" "$(top_int "$(top_value memory) * $(top_seconds "$PMU:reqs")")" $((135 * 64))
}

# Without a name all meshes are counted, at the same time, each under its own.
test_all_meshes() {
	[ -e /sys/bus/platform/drivers/cmn_pmu ] || skip "the in-tree driver's home nodes of CMN S3 have other events"
	recorded --mode totals -- sh -c "pmu-model add cmn0 hnf_mc_reqs 50
		pmu-model add cmn1 hns_mc_reqs_local_all 70"
	first=$PMU
	equal "$first" "$(top_int "$(top_value memory "pmu=$first") * $(top_seconds "$first:reqs")")" $((150 * 64))
	use_mesh cmn1
	equal "$PMU" "$(top_int "$(top_value memory "pmu=$PMU") * $(top_seconds "$PMU:reqs")")" $((140 * 64))
	use_mesh cmn0
}

# 100 million flits a second of 32 bytes on every link: 3.2 GB/s, on each of them and in the picture.
test_links() {
	pmu-model set cmn0 traffic 100000000
	recorded --mesh "$PMU" --interval 2 --once
	pmu-model set cmn0 traffic 0
	# Between neighbours 14; to ports: three home nodes, RN-I, RN-F and HN-D.
	equal "links" "$(top_value link | wc -w)" 20
	for link in $(top_value link); do
		within "MB/s" "$(top_int "$link / 1e6")" 3000 3400
	done
	pictures 'XP 000 .*XP 020 .*XP 040' '→ +3\.[0-4].*→ +3\.[0-4]' 'p. HN-F +3\.[0-4]'
	pmu-top --replay /tmp/record --svg /tmp/svg
	contains "the picture" "$(cat /tmp/svg)" "HN-F.*3\.[0-4]"
}

# Nothing happens: nothing is shown to happen.
test_nothing() {
	pmu-top --mesh "$PMU" --once --json --output /tmp/top
	equal "links" "$(top_value link | tr ' ' '\n' | sort -u)" 0.0
}

# An event at each of its nodes: 100 million a second at all three, then at one alone, which is named as the hottest.
test_an_event() {
	pmu-model set cmn0 traffic 100000000
	recorded --mesh "$PMU" --event hnf_cache_miss --interval 2 --once
	pmu-model set cmn0 traffic 0
	equal "nodes" "$(top_value event node | wc -w)" 3
	for rate in $(top_value event); do
		within "thousands a second" "$(top_int "$rate / 1e3")" 93000 107000
	done
	pictures 'XP 000 .*XP 020 .*XP 040' 'HN-F#0 +(9[3-9]|10[0-7])'
	node=$(nodes hnf | tail -n 1)
	while :; do
		pmu-model add cmn0 "hnf_cache_miss@$node" 100000
		sleep 0.02
	done &
	recorded --mesh "$PMU" --event hnf_cache_miss --interval 2 --once
	kill $!
	contains "the hottest node" "$(top_value event "node=$node")" '^[1-9][0-9]+\.'
	equal "nodes where nothing was" "$(top_value event | tr ' ' '\n' | grep -cx 0.0)" 2
	pictures "^hottest: XP 0$(printf %x $((node & ~7))) HN-F#2 ~?[0-9.]+\$"
}

# CMN S3 has other home nodes, whose events have other names.
test_s3() {
	[ -e /sys/bus/platform/drivers/cmn_pmu ] || skip "with the in-tree driver these events take turns, and miss a moment"
	use_mesh cmn1
	recorded --mesh "$PMU" --mode totals -- sh -c "
		pmu-model add cmn1 hns_slc_sf_cache_access_all 1000; pmu-model add cmn1 hns_cache_miss_all 250
		pmu-model add cmn1 hns_mc_reqs_local_all 50; pmu-model add cmn1 hns_mc_retries_local 5"
	equal "misses of 1000" "$(top_int "1000 * $(top_value slc_miss_rate)")" 250
	equal "bytes to memory" "$(top_int "$(top_value memory) * $(top_seconds "$PMU:reqs")")" $((90 * 64))
	pmu-model set cmn1 traffic 100000000
	recorded --mesh "$PMU" --interval 2 --once
	pmu-model set cmn1 traffic 0
	for link in $(top_value link); do
		within "MB/s" "$(top_int "$link / 1e6")" 3000 3400
	done
	pictures "^$PMU 2x2" 'XP 000 .*XP 020' '→ +3\.[0-4]' 'p. HN-S +3\.[0-4]'
}

# What happens all the time, in these proportions: each metric has a turn in which it sees some of it. A turn may begin
# or end in the middle of a round, so there have to be many, also where a busy host lets the loop run twenty times in it.
test_metrics() {
	use_mesh cmn1
	rounds=$(for _ in 1 2 3 4 5 6 7 8 9 10; do
		printf 'add cmn1 %s\n' 'hns_slc_sf_cache_access_all 200' 'hns_cache_miss_all 50' 'hns_sf_hit_all 20' \
			'hns_sf_evictions_all 10' 'hns_pocq_reqs_recvd_all 200' 'hns_pocq_retry_all 100' \
			'hns_mc_reqs_local_all 200' 'hns_mc_retries_local 150' 'hns_qos_pocq_occupancy_all 6000'
	done)
	while :; do
		echo "$rounds"
		sleep 0.005
	done | pmu-model - &
	recorded --mesh "$PMU" --mode metrics --interval 7 --once
	kill $!
	for pair in slc_miss_rate=250 sf_hit_rate=100 sf_eviction_rate=50 message_retry_rate=500 mc_retry_rate=750; do
		got=$(top_int "1000 * $(top_value "hns_${pair%=*}" "pmu=$PMU")")
		within "${pair%=*} of 1000" "$got" $((${pair#*=} * 95 / 100)) $((${pair#*=} * 105 / 100))
	done
	within "clocks" "$(top_int "$(top_value hns_pocq_residency)")" 29 31
	[ "$(top_int "$(top_value hns_mc_bandwidth)")" -gt 1000 ]
	pmu-top --replay /tmp/record --once --output /tmp/text
	contains "the picture" "$(cat /tmp/text)" '^ hns_slc_miss_rate +~2[3-7]\.[0-9]+ +%'
}

test_what_there_is_not() {
	refused 1 "$PMU has no event 'hnf_nonsense'" --mesh "$PMU" --event hnf_nonsense --once
	refused 1 'There is no mesh arm_cmn_7' --mesh arm_cmn_7 --once
}

# The mesh's CPU goes offline: another one has it, and nothing is lost.
test_a_cpu_goes_offline() {
	for _ in 1 2; do
		owner=$(cat "$MESH/cpumask")
		recorded --mesh "$PMU" --mode totals -- sh -c "pmu-model add cmn0 hnf_mc_reqs 50
			echo 0 > /sys/devices/system/cpu/cpu$owner/online; pmu-model add cmn0 hnf_mc_reqs 7"
		echo 1 > "/sys/devices/system/cpu/cpu$owner/online"
		equal "bytes to memory" "$(top_int "$(top_value memory) * $(top_seconds "$PMU:reqs")")" $((3 * 57 * 64))
		[ "$(cat "$MESH/cpumask")" != "$owner" ]
	done
}

# Who may count, but not read debugfs, has the totals, and is told what the drawing needs.
test_rights() {
	without_rights '^SLC: 0.00 M accesses/s'
	contains "the drawing" "$(cat /tmp/text)" 'The mesh cannot be drawn: root alone may read'
}

# All meshes go while they are looked at, and come back.
test_meshes_come_and_go() {
	driver=/sys/bus/platform/drivers/cmn_pmu
	[ -e $driver ] || skip "the in-tree driver moves no event to its error state"
	devices=$(cd $driver && for device in *; do [ ! -e "$device/driver" ] || echo "$device"; done)
	equal "meshes" "$(echo "$devices" | wc -l)" 2
	: > /tmp/top
	pmu-top --json --output /tmp/top &
	told '"link"'
	for device in $devices; do
		echo "$device" > $driver/unbind
	done
	told '"notes": \["arm_cmn_0 is gone: its numbers are missing", "arm_cmn_1 is gone'
	for device in $devices; do
		echo "$device" > $driver/bind
	done
	told '"notes": \[\]'
	pmu-model set cmn0 traffic 100000000
	told '"link".*"value": 3[0-9]{9}'
	pmu-model set cmn0 traffic 0
	ended $!
	find_meshes
}

# The mesh goes while it is looked at.
test_the_mesh_vanishes() {
	use_mesh cmn0
	driver=$(ls -d /sys/bus/platform/drivers/cmn_pmu /sys/bus/platform/drivers/arm-cmn 2> /dev/null | head -n 1)
	[ "${driver##*/}" = cmn_pmu ] || skip "the in-tree driver moves no event to its error state"
	refused 125 "$PMU is gone" --mesh "$PMU" --mode totals -- \
		sh -c "for device in $driver/*.pmu $driver/*cmn*; do echo \${device##*/} > $driver/unbind; done"
}

run_tests
