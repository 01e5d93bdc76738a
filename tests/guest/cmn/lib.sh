# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the tests of Arm's mesh share, beside what all do.
. ./lib.sh

# An event of a mesh for pmu-event, by the PMU's own names and formats: cmn_event NAME, or NAME or
# fields and more fields, as in hnf_mc_reqs,bynodeid=1,nodeid=0x24.
cmn_event() {
	mesh=$PMUS/arm_cmn_0 terms=$1 config=0 config1=0 config2=0
	if [ -e "$mesh/events/${1%%,*}" ]; then
		read -r terms < "$mesh/events/${1%%,*}"
		terms=$terms${1#"${1%%,*}"}
	fi
	while [ -n "$terms" ]; do
		term=${terms%%,*} terms=${terms#"${terms%%,*}"} terms=${terms#,}
		[ "${term#*=}" = '?' ] && continue
		read -r place < "$mesh/format/${term%%=*}"
		bit=${place#*:}
		eval "${place%%:*}=\$((${place%%:*} | ${term#*=} << ${bit%-*}))"
	done
	printf 'arm_cmn_0:%#x,%#x,%#x\n' $config $config1 $config2
}
