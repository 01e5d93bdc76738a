#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The ledger of two channels, while random calls are made on two others, which come and go as CPUs do, and S3.
#
# hostile: it goes by chance, and takes long
# vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --append no_console_suspend --timeout 1200
. ./intel_imc/lib.sh
. ./ledger.sh
. ./at_once.sh
trap as_it_was EXIT

# S3 takes the second socket's CPUs offline, and perf keeps no event of them.
test_all_at_once() {
	pmu-model set firmware wake 200
	at_once 'echo mem > /sys/power/state' --device $DRIVER,0000:3f:10.4 --device $DRIVER,0000:7f:10.5 --cpu 1 --cpu 2 --cpu 3 \
		--add 'add imc2 cas_rd' --add 'add imc3@1 cas_wr' uncore_imc_2 uncore_imc_3 -- --open 12 \
		uncore_imc_0/cas_count_read/=imc0:cas_rd uncore_imc_0/cas_count_write/=imc0:cas_wr \
		uncore_imc_1/cas_count_read/=imc1:cas_rd uncore_imc_1/event=0x4,umask=0xf/=imc1:cas_rd+imc1:cas_wr
}

test_nothing_is_lost() {
	unload
	no_leaks
	load
}

run_tests
