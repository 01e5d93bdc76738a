#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random calls by root and by nobody, near to what is valid, while CPUs, the mesh and modules come and go.
#
# hostile: many calls
# vm: --arch arm64 --kernel kunit --driver ours --cpus 2 --model cmn700,mesh=3x3,hnf=3 --timeout 1200
. ./cmn/lib.sh
. ./fuzz.sh
find_meshes
use_mesh cmn0
DEVICE=$(cd /sys/bus/platform/devices && ls -d ./*.pmu ./*cmn* 2> /dev/null | sed 's,^\./,,' | head -n 1)
BUS=/sys/bus/platform/drivers/$(basename "$(readlink -f "/sys/bus/platform/devices/$DEVICE/driver")")
NODE=$(nodes hnf | head -n 1)

test_calls_are_of_the_seed() {
	the_same_again arm_cmn
}

# Its number is another one each time, and one that was unbound while somebody counted has no CPU.
test_random_calls() {
	plain "pmu=\$(cd $PMUS && grep -l . arm_cmn_*/cpumask | cut -d/ -f1)" \
		"[ \"\$(pmu-event \$pmu/hnf_cache_miss,bynodeid=1,nodeid=$NODE/ -x 'pmu-model add cmn0 hnf_cache_miss@$NODE 7')\" = 7 ]"
	fuzz --device "$BUS,$DEVICE" --module /vm/modules.d/cmn_pmu.ko --module /vm/modules.d/pmu_core.ko --cpu 0 --cpu 1 \
		--add "add cmn0 hnf_cache_miss@$NODE" --add "add cmn0 hnf_mc_reqs@$NODE" arm_cmn
}

test_nothing_is_lost() {
	unload_ours
	no_leaks
	load_ours
}

run_tests
