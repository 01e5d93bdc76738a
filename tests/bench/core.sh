#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# What operations on events of a memory channel cost; runs in a guest for scripts/bench. Prints OPERATION NS, a line each.
exec pmu-cost uncore_imc_0:0x304
