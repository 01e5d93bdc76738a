#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random programs of events of the nest and of a core, whose owner changes, and of a task that runs here and there
# beside another one.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9 --cpus 2 --timeout 600
# kernels vm: --arch ppc64le --kernel 6.1 --driver ours --model power9 --cpus 2 --timeout 600
# hostile vm: --arch ppc64le --kernel kunit --driver ours --model power9 --cpus 2 --timeout 1200
# hostile vm: --arch ppc64le --kernel 6.12 --races --driver ours --model power9 --cpus 2 --timeout 1800
. ./power_imc/lib.sh
. ./ledger.sh

# The model counts nothing by itself at these, either.
USER_CYC=0x1018
TASK_CYC=0x7a0

# The nest's events: the_nest LEDGER [OPTION]...
the_nest() {
	"$@" --open 12 --around 'set nest@0 flush 1' "nest_mcs01_imc:$READS=nest@0:$READS" \
		"nest_mcs01_imc:$WRITES=nest@0:$WRITES" nest_phb0_imc:0x340=nest@0:0x340
}

test_the_nest() {
	the_nest ledger --moves
}

test_owners_that_others_take() {
	the_nest ledger_and_moves "0 1"
}

test_a_core() {
	ledger --moves --open 12 --around 'set core0 flush 1' "core_imc:$INST=core0:$INST" "core_imc:$USER_CYC=core0:$USER_CYC"
}

test_a_task() {
	ledger --moves --open 12 --around 'set core0 flush 1' "thread_imc:$TASK_INST@task=thread0@0:$TASK_INST+thread1@0:$TASK_INST" \
		"thread_imc:$TASK_CYC@task=thread0@0:$TASK_CYC+thread1@0:$TASK_CYC"
}

run_tests
