#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Accesses to the registers of a mesh, operation by operation; runs in a guest for
# scripts/bench. Prints OPERATION READS WRITES, a line each.
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
