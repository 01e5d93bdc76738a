#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random programs of events of the nest, whose owner changes.
#
# vm: --arch ppc64le --kernel '6.1 6.12' --driver ours --model power9 --cpus 2 --timeout 600
# hostile vm: --arch ppc64le --kernel kunit --driver ours --model power9 --cpus 2 --timeout 1200
. ./power_imc/lib.sh
. ./ledger.sh

test_the_nest() {
	ledger --moves --open 12 --around 'set nest@0 flush 1' "nest_mcs01_imc:$READS=nest@0:$READS" \
		"nest_mcs01_imc:$WRITES=nest@0:$WRITES" nest_phb0_imc:0x340=nest@0:0x340
}

run_tests
