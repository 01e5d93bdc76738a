#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-check: the rate of a mesh's clock.
#
# soak: a rate is by the guest's clock, which runs while a busy host holds the guest up
# vm: --tools --arch arm64 --kernel 6.12 --model cmn700 --timeout 900
. ./cmn/lib.sh
. ./check.sh
find_meshes
use_mesh cmn0

test_the_same_twice() {
	found clock ok "$PMU: (2|1\.9[0-9]*|2\.0[0-9]*) GHz, twice"
}

run_tests
