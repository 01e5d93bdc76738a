#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random programs of events of two channels, one of them on the second socket, where the owner changes. Four events
# always fit; twelve take turns, with pinned ones among them.
#
# vm: --kernel '6.1 6.12' --driver ours --model snbep,sockets=2 --cpus 4
# hostile vm: --kernel kunit --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
. ./ledger.sh

two_channels() {
	ledger --moves "$@" uncore_imc_0/cas_count_read/=imc0:cas_rd uncore_imc_0/cas_count_write/=imc0:cas_wr \
		uncore_imc_0/event=0x4,umask=0xf/=imc0:cas_rd+imc0:cas_wr uncore_imc_1/cas_count_read/@1=imc1@1:cas_rd \
		uncore_imc_1/cas_count_write/@1=imc1@1:cas_wr uncore_imc_1/event=0x4,umask=0xf/@1=imc1@1:cas_rd+imc1@1:cas_wr
}

test_four_events() {
	two_channels
}

test_twelve_events() {
	two_channels --open 12
}

run_tests
