# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the tests of Intel's memory controllers share, beside what all do.
. ./lib.sh

# The events of a PMU as the user asks for them, to a config: config PMU NAME
config() {
	sed 's/event=\(0x[0-9a-f]*\),umask=\(0x[0-9a-f]*\)/\1 \2/' "$PMUS/$1/events/$2" |
		(read -r event umask && printf '%#x\n' $((event | umask << 8)))
}
