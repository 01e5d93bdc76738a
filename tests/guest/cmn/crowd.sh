#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Several tools at once on meshes of every product, with our driver and with the in-tree one: all have numbers.
#
# all vm: --tools --arch arm64 --kernel 6.12 --driver ours --cpus 2 --timeout 900 --model cmn700,mesh=3x2,hnf=0.0.0+1.1.1+2.0.1,rni=1.0.0,rnf=0.1.0 --model cmns3,mesh=2x2,hns=0.0.1+1.1.0
# kernels vm: --tools --arch arm64 --kernel 6.12 --driver in-tree --cpus 2 --timeout 900 --model cmn700,mesh=3x2,hnf=0.0.0+1.1.1+2.0.1,rni=1.0.0,rnf=0.1.0 --model cmns3,mesh=2x2,hns=0.0.1+1.1.0
# soak vm: --tools --arch arm64 --kernel 6.12 --driver 'ours in-tree' --cpus 2 --timeout 900 --model cmn600,mesh=2x2,hnf=2,rni=1 --model cmn650,mesh=2x2,hnf=2,rni=1 --model ci700,mesh=2x1,hnf=1,rni=1 --model cmns3,mesh=2x2,hns=2,rni=1
. ./cmn/lib.sh
. ./top.sh
find_meshes

# Two pmu-top with all links, and events that others count: there is room for all, or they take turns.
test_two_of_pmu_top_and_three_of_perf() {
	use_mesh "$1"
	clock=$PMU/dtc_cycles/ links=$PMU/mxp_n_dat_txflit_valid/
	[ ! -e "$MESH/events/rnid_rxdat_flits" ] || links=$links,$PMU/rnid_rxdat_flits/
	if [ -e "$MESH/events/hnf_mc_reqs" ]; then
		second=$PMU/hnf_mc_reqs/,$PMU/hnf_mc_retries/ third=$PMU/hnf_cache_miss/,$PMU/hnf_slc_sf_cache_access/
	else
		[ -e /sys/bus/platform/drivers/cmn_pmu ] || skip "the in-tree driver's home nodes of CMN S3 have other events"
		second=$PMU/hns_mc_reqs_local_all/,$PMU/hns_mc_retries_local/
		third=$PMU/hns_cache_miss_all/,$PMU/hns_slc_sf_cache_access_all/
	fi
	crowd "clock link slc_access memory" "--mesh $PMU --mode links" "$clock" "$second" "$third,$links"
}

# shellcheck disable=SC2046 # several words
run_tests $(meshes)
