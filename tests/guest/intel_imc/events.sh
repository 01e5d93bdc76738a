#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The sysfs interface: formats and names as in the in-tree driver, and every named event
# counts what its name says and nothing else.
#
# all vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4
# kernels vm: --kernel 6.1 --driver ours --model snbep,sockets=2 --cpus 4
# all vm: --kernel 6.12 --driver ours --model icx,sockets=2
. ./intel_imc/lib.sh

PMU=$PMUS/uncore_imc_0

# Ice Lake's channels have other numbers for most events.
if grep -q '^model[[:space:]]*: 106$' /proc/cpuinfo; then
	CLOCKTICKS=event=0x00,umask=0x00 READS=0x0f WRITES=0x30 PRECHARGES='pre_rd pre_pgt' SECOND_WRITE=cas_wr_pre
else
	CLOCKTICKS=event=0xff,umask=0x00 READS=0x03 WRITES=0x0c PRECHARGES='pre_miss pre_close' SECOND_WRITE=cas_wr_rmm
fi

test_formats() {
	for format in event=config:0-7 umask=config:8-15 edge=config:18 inv=config:23 \
		      thresh=config:24-31; do
		equal "${format%%=*}" "$(cat "$PMU/format/${format%%=*}")" "${format#*=}"
	done
	equal "number of formats" "$(find "$PMU/format" -type f | wc -l)" 5
}

# perf's tools and libraries know these.
test_in_tree_aliases() {
	equal clockticks "$(cat "$PMU/events/clockticks")" $CLOCKTICKS
	equal cas_count_read "$(cat "$PMU/events/cas_count_read")" event=0x04,umask=$READS
	equal cas_count_write "$(cat "$PMU/events/cas_count_write")" event=0x04,umask=$WRITES
	for event in cas_count_read cas_count_write; do
		equal "$event.scale" "$(cat "$PMU/events/$event.scale")" 6.103515625e-5
		equal "$event.unit" "$(cat "$PMU/events/$event.unit")" MiB
	done
}

# The model's list (Documentation/hardware/intel_imc.md, 5): EVENT ALIAS code=C umask=U max=M. Every
# event of it is in sysfs by name, with its code and umask.
listed() {
	pmu-model list imc0 | sed -n 's/^event \([^ ]*\) [^ ]* code=\([^ ]*\) umask=\([^ ]*\).*/\1 \2 \3/p'
}

test_all_events_are_named() {
	listed > /tmp/events
	[ "$(wc -l < /tmp/events)" -gt 24 ]
	while read -r name code umask; do
		name=$(echo "$name" | tr . _)
		equal "$name" "$(cat "$PMU/events/$name")" "event=$code,umask=$umask"
	done < /tmp/events
}

# Each named event, four at a time, counts its own happenings, and none of the other three's.
test_every_name_counts_its_own() {
	listed | xargs -n 12 > /tmp/events
	while read -r four; do
		configs='' adds='' wanted='' n=0
		# shellcheck disable=SC2086 # a list
		set -- $four
		while [ $# -gt 0 ]; do
			n=$((n + 111))
			configs="$configs uncore_imc_0:$(($2 | $3 << 8))"
			adds="$adds pmu-model add imc0 $1 $n;"
			wanted="$wanted $n"
			shift 3
		done
		# shellcheck disable=SC2086 # a list
		equal "$four" " $(pmu-event $configs -x "$adds")" "$wanted"
	done < /tmp/events
}

# A name without a suffix is the sum of its sub-events.
test_names_of_whole_events() {
	equal "reads and writes" "$(pmu-event uncore_imc_0:"$(config uncore_imc_0 cas_count)" \
		-x "pmu-model add imc0 cas_rd 1; pmu-model add imc0 cas_rd_underfill 10
		    pmu-model add imc0 cas_wr 100; pmu-model add imc0 $SECOND_WRITE 1000")" 1111
	equal "precharges" "$(pmu-event uncore_imc_0:"$(config uncore_imc_0 pre_count)" \
		-x "pmu-model add imc0 ${PRECHARGES% *} 1; pmu-model add imc0 ${PRECHARGES#* } 10")" 11
}

# perf resolves every name that sysfs offers.
test_perf_takes_every_name() {
	(cd "$PMU/events" && ls) | grep -v '[.]' > /tmp/names
	events=$(sed 's|.*|uncore_imc_0/&/|' /tmp/names | paste -sd ,)
	perf stat -x, -C 0 -e "$events" true > /tmp/said 2>&1 || { cat /tmp/said; exit 1; }
	while read -r name; do
		contains "$name" "$(cat /tmp/said)" "^([0-9.]+|<not counted>),(MiB)?,uncore_imc_0/$name/"
	done < /tmp/names
}

run_tests
