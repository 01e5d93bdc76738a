#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The ledger of the nest, while random calls are made on core, thread and trace, and a CPU comes and goes.
#
# hostile: it goes by chance, and takes long
# vm: --arch ppc64le --kernel kunit --driver ours --model power9 --cpus 2 --timeout 1200
. ./power_imc/lib.sh
. ./ledger.sh
. ./at_once.sh

test_all_at_once() {
	at_once '' --cpu 1 --add "add core0 $INST" core_imc thread_imc trace_imc -- --open 12 --around 'set nest@0 flush 1' \
		"nest_mcs01_imc:$READS=nest@0:$READS" "nest_mcs01_imc:$WRITES=nest@0:$WRITES" nest_phb0_imc:0x340=nest@0:0x340
}

test_nothing_is_lost() {
	unload
	no_leaks
	load
}

run_tests
