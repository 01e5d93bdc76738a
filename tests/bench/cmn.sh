#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Accesses to the registers of a mesh, operation by operation, and how long the mesh stands still for
# them; runs in a guest for scripts/bench. Prints OPERATION READS WRITES, a line each, and then
# stands OPERATION TIMES ACCESSES NS.
set -e
. ./cmn/lib.sh
. ./accesses.sh

classes cmn0 '(discovery|selector|dtm_[a-z]+|dtc_[a-z]+)(64|32)'
load "$1" cmn_pmu arm-cmn
find_meshes
use_mesh cmn0

node=$(nodes hnf | head -n 1)
group=''
for name in hnf_cache_miss hnf_mc_reqs hnf_seq_hit hnf_snp_sent; do
	group="$group $PMU/$name/"
done

life node "$PMU/hnf_cache_miss,bynodeid=1,nodeid=$node/"
life all "$PMU/hnf_cache_miss/"
# shellcheck disable=SC2086 # a list
life group $group

second second-node "$PMU/hnf_cache_miss,bynodeid=1,nodeid=$node/"
second second-all "$PMU/hnf_cache_miss/"
users "$(echo "${group# }" | sed 's, ,\,,g')"

# How the mesh stood still since it was last asked: stands [OPERATION]. Without one that is forgotten.
cat > /tmp/stands <<-'EOT'
	set -- "$1" $(printf '%s\n' 'get cmn0 stands' 'get cmn0 stand_accesses' 'get cmn0 stand_ns' 'set cmn0 stands 0' |
		pmu-model -)
	[ -z "$1" ] || echo "stands $*"
EOT

# Somebody else counts all the time, so each stop has an end. Ten reads, for a mean. A start looks at DTMs ten times a
# second at most.
ten=''
for _ in 1 2 3 4 5 6 7 8 9 10; do
	ten="$ten -x @read"
done
# shellcheck disable=SC2086 # lists
pmu-event --manual "$PMU/dtc_cycles/" -x "
	pmu-event --disabled --manual $PMU/hnf_cache_miss,bynodeid=1,nodeid=$node/ -x 'sh /tmp/stands' -x 'sleep 0.2' \
		-x @enable -x 'sh /tmp/stands start-node' \
		$ten -x 'sh /tmp/stands read-node' -x @disable -x 'sh /tmp/stands stop-node'
	pmu-event --disabled --manual $PMU/hnf_cache_miss/ -x 'sh /tmp/stands' -x 'sleep 0.2' \
		-x @enable -x 'sh /tmp/stands start-all' \
		$ten -x 'sh /tmp/stands read-all' -x @disable -x 'sh /tmp/stands stop-all'
	pmu-event --group --disabled --manual $group -x 'sh /tmp/stands' -x 'sleep 0.2' \
		-x @enable -x 'sh /tmp/stands start-group' \
		$ten -x 'sh /tmp/stands read-group' -x @disable -x 'sh /tmp/stands stop-group' \
		-x @enable -x 'sh /tmp/stands'
	sh /tmp/stands close-group" | grep '^stands [a-z]'

# Our driver again, as if the mesh were so slow that a guest can look at counters twice before they wrap
[ "$1" = ours ] || exit 0
rmmod cmn_pmu
insmod /vm/modules.d/cmn_pmu.ko clock_mhz=1
find_meshes
use_mesh cmn0
second slow-node "$PMU/hnf_cache_miss,bynodeid=1,nodeid=$node/"
second slow-all "$PMU/hnf_cache_miss/"
