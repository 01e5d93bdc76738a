#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What a large mesh takes: the probe of our driver, and its events, open but not counting; runs in a guest for
# scripts/bench. Prints OPERATION READS WRITES KB US, a line each: accesses to registers, memory that the kernel does
# not have any more, and time by the guest's clock.
set -e
. ./cmn/lib.sh
. ./accesses.sh

PROBES=10

classes cmn0 '(discovery|selector|dtm_[a-z]+|dtc_[a-z]+)(64|32)'
load_ours
cd /sys/bus/platform/drivers/cmn_pmu
device=$(ls -d -- *00000*)

# What slabs, vmalloc and the PMU's counters for each CPU take, in KB.
cat > /tmp/used <<-'EOT'
	echo 3 > /proc/sys/vm/drop_caches
	awk '/^(Slab|VmallocUsed|Percpu):/ { sum += $2 } END { print sum }' /proc/meminfo
EOT

# In units of 10 ms
uptime() {
	sed 's/ .*//; s/[.]//' /proc/uptime
}

# The first probe also takes what is kept for all later ones.
echo "$device" > unbind
echo "$device" > bind
echo "$device" > unbind
before=$(sh /tmp/used)
sh /tmp/count
echo "$device" > bind
accesses=$(sh /tmp/count probe)
after=$(sh /tmp/used)
start=$(uptime)
for _ in $(seq $PROBES); do
	echo "$device" > unbind
	echo "$device" > bind
done
end=$(uptime)
echo "$accesses" $((after - before)) $(((end - start) * 10000 / PROBES))

cd - > /dev/null
find_meshes
use_mesh cmn0

# opened NAME EVENT,...: perf opens them, and while it has them
cat > /tmp/opened <<-'EOT'
	echo "$(sh /tmp/count "$1") $(($(sh /tmp/used) - $2)) $((($(sed 's/ .*//; s/[.]//' /proc/uptime) - $3) * 10000))"
EOT
opened() {
	before=$(sh /tmp/used) start=$(uptime)
	sh /tmp/count
	perf stat --delay=-1 -a -e "$2" -- sh /tmp/opened "$1" "$before" "$start" 2> /dev/null
}

each=''
for id in $(nodes hns); do
	for name in hns_cache_miss_all hns_mc_reqs_local_all; do
		each="$each,$PMU/$name,bynodeid=1,nodeid=$id/"
	done
done
opened none cpu-clock
opened two "$PMU/hns_cache_miss_all/,$PMU/hns_mc_reqs_local_all/"
opened each "${each#,}"
