#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# stress.sh for long. Longer still: scripts/vm ... --timeout 9000 -- env MINUTES=120 sh intel_imc/stress.sh
#
# vm: --kernel 'kunit 6.12' --driver ours --model snbep,sockets=2 --cpus 4 --timeout 3600
# soak: it goes by the clock, and how much it does is up to the host
MINUTES=${MINUTES:-30} exec sh intel_imc/stress.sh
