#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The ledger of one mesh, while random calls are made on another one, which comes and goes as CPUs do, and devices are
# suspended where the kernel has that.
#
# hostile: it goes by chance, and takes long
# vm: --arch arm64 --kernel kunit --driver ours --cpus 2 --model cmn600,mesh=2x2,hnf=2 --model cmn700,mesh=3x3,hnf=3 --timeout 1200
. ./cmn/lib.sh
. ./ledger.sh
. ./at_once.sh
find_meshes

# The one that is unbound has another number each time, but never that of the first.
test_all_at_once() {
	asleep=''
	if [ -e /sys/power/pm_test ]; then
		trap 'echo none > /sys/power/pm_test' EXIT
		echo 1 > /sys/module/suspend/parameters/pm_test_delay
		asleep='echo devices > /sys/power/pm_test; echo freeze > /sys/power/state'
	fi
	stays=$(sed -n 's/ arm_cmn_0$//p' /tmp/meshes)
	goes=$(meshes | grep -v "^$stays$")
	use_mesh "$goes"
	device=$(basename "$(readlink -f "$MESH/device")")
	node=$(nodes hnf | head -n 1)
	use_mesh "$stays"
	# shellcheck disable=SC2046 # lists
	at_once "$asleep" --device "/sys/bus/platform/drivers/cmn_pmu,$device" \
		--cpu 0 --cpu 1 --add "add $goes hnf_cache_miss@$node" --add "add $goes hnf_mc_reqs@$node" $(seq 9 | sed 's/^/arm_cmn_/') -- --open 12 --stands \
		"$PMU/hnf_cache_miss/=$(nodes hnf | sed "s/^/$stays:hnf_cache_miss@/" | paste -sd+)" \
		$(nodes hnf | sed "s,.*,$PMU/hnf_mc_reqs\,bynodeid=1\,nodeid=&/=$stays:hnf_mc_reqs@&,")
}

test_nothing_is_lost() {
	unload_ours
	no_leaks
	load_ours
}

run_tests
