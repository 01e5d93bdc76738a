#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random programs of events of single nodes, of all of them, and of two meshes of different products, while carries take
# their time.
#
# vm: --arch arm64 --kernel '6.1 6.12' --driver ours --cpus 4 --model cmn700,mesh=4x4,hnf=6 --model cmn600,mesh=4x2,hnf=4
# hostile vm: --arch arm64 --kernel kunit --driver ours --cpus 4 --model cmn700,mesh=4x4,hnf=6 --model cmn600,mesh=4x2,hnf=4 --timeout 1200
. ./cmn/lib.sh
. ./ledger.sh
find_meshes

# Events of a mesh: of all HN-Fs, of one, and what else two of these and one more have: specs cmnN
specs() {
	use_mesh "$1"
	set -- "$1" "$(nodes hnf | head -n 1)" "$(nodes hnf | tail -n 1)"
	for name in hnf_cache_miss hnf_mc_reqs; do
		echo "$PMU/$name/=$(nodes hnf | sed "s/^/$1:$name@/" | paste -sd+)"
		echo "$PMU/$name,bynodeid=1,nodeid=$2/=$1:$name@$2"
		echo "$PMU/$name,bynodeid=1,nodeid=$3/=$1:$name@$3"
	done
}

setup() {
	# shellcheck disable=SC2046 # a list
	set -- "$@" $(specs cmn0) $(specs cmn1)
	ledger --moves "$@"
}

test_four_events() {
	setup
}

test_twelve_events() {
	setup --open 12
}

test_carries_under_way() {
	rmmod cmn_pmu
	insmod /vm/modules.d/cmn_pmu.ko carry_ns=400000
	find_meshes
	for key in carry_delay=300000 stop_delay=50000; do
		pmu-model set cmn0 ${key%=*} ${key#*=}
		pmu-model set cmn1 ${key%=*} ${key#*=}
	done
	setup --late
}

run_tests
