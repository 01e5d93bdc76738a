#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Random calls by root and by nobody, near to what is valid, while CPUs, the mesh and modules come and go.
#
# hostile: many calls
# vm: --arch arm64 --kernel kunit --driver ours --cpus 2 --model cmn700,mesh=3x3,hnf=3 --timeout 1200
# vm: --arch arm64 --kernel 6.12 --driver ours --cpus 2 --model cmn700,mesh=3x3,hnf=3 --timeout 1200
. ./cmn/lib.sh
. ./fuzz.sh
find_meshes
use_mesh cmn0
DEVICE=$(cd /sys/bus/platform/devices && ls -d ./*.pmu ./*cmn* 2> /dev/null | sed 's,^\./,,' | head -n 1)
BUS=/sys/bus/platform/drivers/$(basename "$(readlink -f "/sys/bus/platform/devices/$DEVICE/driver")")
NODE=$(nodes hnf | head -n 1)

# The PMU of the mesh as it is bound now. Its number is another one each time, and one that was unbound while somebody
# counted has no CPU.
bound() {
	(cd $PMUS && grep -l . arm_cmn_*/cpumask | cut -d/ -f1)
}

# At one node that counts it each kind of the event happens. What cycles and watchpoints count is not said here, nor at
# which XPs something is connected to a port.
made() {
	config=$2 pmu=${now:=$(bound)}
	type=$(printf '0x%x' $((config & 0xffff))) id=$(printf '0x%x' $((config >> 16 & 0x7ff))) kind=$((config >> 27 & 0xf))
	sed -n "s/^event \([^ ]*\) type=$type eventid=$id\( occupid=\|$\)/\1 /p" "$LIST" > /tmp/rows
	case $(head -n 1 /tmp/rows) in
	'' | mxp_p*) return 1 ;;
	esac
	name=$(cut -d' ' -f1 /tmp/rows | head -n 1)
	if [ $((config >> 31 & 1)) = 1 ]; then
		node=$(printf '0x%x' $((config >> 32 & 0xffff)))
	else
		node=$(nodes "${name%%_*}" | head -n 1)
	fi
	[ -n "$node" ] || return 1
	WANTED=0 COMMANDS='' whole=
	while read -r name its; do
		COMMANDS="$COMMANDS${COMMANDS:+; }add cmn0 $name@$node 7"
		case $name in
		*_all) all=$its ;;
		*) all= ;;
		esac
		# A filter that the event has not is one of no kind.
		[ -n "$its" ] && [ "$its" != $kind ] || WANTED=$((WANTED + 7)) whole=$name
		[ "$all" != $kind ] || everything=1
	done < /tmp/rows
	# Reads or writes of all groups
	case $whole in
	*throttle*_group*) ;;
	*throttle*_read | *throttle*_write) WANTED=$((7 * $(grep -c "_${whole##*_} " /tmp/rows))) ;;
	esac
	[ -z "${everything:-}" ] || WANTED=$((7 * $(wc -l < /tmp/rows)))
	unset everything
}

test_calls_are_of_the_seed() {
	the_same_again arm_cmn
}

test_random_calls() {
	plain "pmu=\$(cd $PMUS && grep -l . arm_cmn_*/cpumask | cut -d/ -f1)" \
		"[ \"\$(pmu-event \$pmu/hnf_cache_miss,bynodeid=1,nodeid=$NODE/ -x 'pmu-model add cmn0 hnf_cache_miss@$NODE 7')\" = 7 ]"
	fuzz --device "$BUS,$DEVICE" --module /vm/modules.d/cmn_pmu.ko --module /vm/modules.d/pmu_core.ko --cpu 0 --cpu 1 \
		--add "add cmn0 hnf_cache_miss@$NODE" --add "add cmn0 hnf_mc_reqs@$NODE" arm_cmn
}

test_nothing_is_lost() {
	unload_ours
	no_leaks
	load_ours
}

fuzz_or_count "$@"
