#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Each allocation fails once: loading, opening nest, core and trace events, forking with a thread event, files of
# debugfs, a CPU that goes or comes. Afterwards everything counts.
#
# fresh: where its own memory runs out, kmemleak prints with a lock held, after which lockdep complains of the kernel
# hostile: everything is done again and again
# vm: --arch ppc64le --kernel kunit --driver ours --model power9 --cpus 2 --timeout 1200
. ./power_imc/lib.sh
# To load the driver takes seconds, and so does a look at all of its scales.
MOST=${MOST:-$((3 * ${SIZE:-1}))}
. ./allocations.sh

counts() {
	got=$(pmu-event nest_mcs01_imc:$READS core_imc:$INST -x "pmu-model set nest@0 flush 1" -x "$(imc_add nest@0 $READS 7)" \
		-x "$(imc_add core0 $INST 5)" | tail -n 1)
	equal "afterwards" "$got" "7 5"
}

# The files of scales and units
scaled() {
	(cd "$PMUS" && ls -d ./*_imc/events/*.scale ./*_imc/events/*.unit)
}

# An event that is there has all that belongs to it: without its scale its number would be another one.
cat > /tmp/whole << 'EOF'
while read -r file; do
	[ ! -e "$file" ] && [ -e "${file%.*}" ] && { echo "$file is missing"; exit 1; }
done < /tmp/scaled
exit 0
EOF

test_the_driver_is_loaded() {
	scaled > /tmp/scaled
	within "scales and units" "$(wc -l < /tmp/scaled)" 10 100000
	rmmod power_imc_pmu
	each 500 --check "cd $PMUS && sh /tmp/whole" load /vm/modules.d/power_imc_pmu.ko
	insmod /vm/modules.d/power_imc_pmu.ko
	counts
}

test_events_are_opened() {
	for event in nest_mcs01_imc:$READS core_imc:$INST; do
		fail_each "$event:" --least 10 open "$event"
	done
	fail_each "trace_imc:" --least 10 --period 1 open trace_imc:$CONFIG
	counts
}

test_a_task_forks() {
	fail_each "all:" --least 50 fork thread_imc:$TASK_INST
	counts
}

test_debugfs_is_read() {
	files core_imc:$INST /sys/kernel/debug/power_imc_pmu
	counts
}

test_a_cpu_goes() {
	fail_each "all:" --least 1 --undo 'echo 1 > /sys/devices/system/cpu/cpu1/online' write /sys/devices/system/cpu/cpu1/online 0
	counts
}

test_a_cpu_comes() {
	echo 0 > /sys/devices/system/cpu/cpu1/online
	fail_each "all:" --least 1 --undo 'echo 0 > /sys/devices/system/cpu/cpu1/online' write /sys/devices/system/cpu/cpu1/online 1
	echo 1 > /sys/devices/system/cpu/cpu1/online
	counts
}

test_nothing_is_lost() {
	unload
	no_leaks
	load
}

run_tests
