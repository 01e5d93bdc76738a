#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random calls by root and by nobody, near to what is valid, of nest, core, thread and trace, while a CPU and modules
# come and go.
#
# hostile: many calls
# vm: --arch ppc64le --kernel kunit --driver ours --model power9 --cpus 2 --timeout 1200
# vm: --arch ppc64le --kernel 6.12 --driver ours --model power9 --cpus 2 --timeout 1200
. ./power_imc/lib.sh
. ./fuzz.sh

# Whether there is a counter, which does not count by itself: is_counter DEVICE PLACE
is_counter() {
	if [ "$1" = nest@0 ]; then
		pmu-model list nest@0 | sed -n 's/^event \(0x[0-9a-f]*\) to \(0x[0-9a-f]*\) .*/\1 \2/p' > /tmp/ranges
		while read -r first last; do
			[ $(($2)) -lt $((first)) ] || [ $(($2)) -gt $((last)) ] || return 0
		done < /tmp/ranges
		return 1
	fi
	pmu-model list "$1" | grep -q " $2 counts by itself" && return 1
	[ $(($2)) -ge $((0x18)) ] && [ $((($2 - 0x18) % 64)) -lt 32 ]
}

# What happens at the counter's place; a trace counts nothing.
made() {
	case $1 in
	nest_*) device=nest@0 around='set nest@0 flush 1' ;;
	core_imc) device=core0 around='set core0 flush 1' ;;
	thread_imc) device=thread0 around='set core0 flush 1' ;;
	*) return 1 ;;
	esac
	at=$(printf '0x%x' $(($2)))
	is_counter $device "$at" || return 1
	WANTED=7 COMMANDS="$around; add $device $at 7; $around"
}

# A task's are counted where the task is, and the others by their CPU.
count_lines() {
	cat > /tmp/all_lines
	while read -r line; do
		case $line in
		thread_imc*) echo "$line" | taskset 1 pmu-event --pid 0 --cpu -1 --lines ;;
		*) echo "$line" | pmu-event --lines ;;
		esac
	done < /tmp/all_lines
}

test_calls_are_of_the_seed() {
	the_same_again nest_ core_imc thread_imc trace_imc
}

test_random_calls() {
	plain "got=\$(pmu-event nest_mcs01_imc:$READS core_imc:$INST -x 'pmu-model set nest@0 flush 1' -x '$(imc_add nest@0 $READS 7)' \
-x '$(imc_add core0 $INST 5)' | tail -n 1)" 'echo "$got"' '[ "$got" = "7 5" ]'
	fuzz --module /vm/modules.d/power_imc_pmu.ko --module /vm/modules.d/pmu_core.ko --cpu 1 --add "add nest@0 $READS" \
		--add "add core0 $INST" nest_ core_imc thread_imc trace_imc
}

test_nothing_is_lost() {
	unload
	no_leaks
	load
}

fuzz_or_count "$@"
