#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Both drivers are installed, and udev looks for drivers: the administrator's choice decides, and nothing else.
#
# all vm: --kernel 6.1 --driver none --udev --model snbep,sockets=2 --timeout 900
# all vm: --kernel 6.12 --driver none --udev --model icx,sockets=2 --timeout 900 --allow-warn --append boots=1
# soak vm: --kernel 6.12 --driver none --udev --model snbep,sockets=2 --append boots=20 --timeout 900
. ./lib.sh
OURS=intel_imc_pmu TWIN=intel_uncore
. ./boot.sh

# The PMUs that are none of a memory channel.
other_units() {
	for pmu in $PMUS/uncore_*; do
		case $pmu in
		*/uncore_imc_*) ;;
		*) basename "$pmu" ;;
		esac
	done
}

# Of the functions that are memory channels, or lead to them. No driver of the kernel binds the latter.
owner() {
	for device in /sys/bus/pci/devices/*; do
		case $(cat "$device/device") in
		0x3cb0 | 0x3cb1 | 0x3cb4 | 0x3cb5) twin=nobody ;;
		0x3451) [ -e $PMUS/uncore_imc_0 ] && twin=$TWIN || twin=nobody ;;
		*) continue ;;
		esac
		case $(readlink "$device/driver") in
		*/intel_imc_pmu) echo $OURS ;;
		*_uncore) echo $TWIN ;;
		*) echo $twin ;;
		esac
	done | sort -u
}

in_memory() {
	grep -qx 0x3451 /sys/bus/pci/devices/*/device
}

test_installing_changes_nothing() {
	installing_changes_nothing
}

test_ours_is_asked_for() {
	ours_is_asked_for
}

# What intel_uncore has beside the memory channels stays with it. Where these are in memory it finds their names taken.
test_other_units_stay() {
	trap as_it_was EXIT
	log_mark
	boot 0
	others=$(other_units)
	contains "others" "$others" '^uncore_pcu'
	debian pmu-driver ours
	boot 0
	equal "owner" "$(owner)" $OURS
	equal "others" "$(other_units)" "$others"
	said=$(log_since_mark | grep -E 'WARNING: |BUG: |Oops: |sysfs: cannot create duplicate' || :)
	if in_memory; then
		contains "log" "$said" 'cannot create duplicate filename ./devices/uncore_imc_'
		equal "warnings" "$(echo "$said" | wc -l)" 1
	else
		equal "warnings" "$said" ""
	fi
}

test_asking_twice_is_asking_once() {
	asking_twice_is_asking_once
}

test_it_is_given_back() {
	it_is_given_back
}

test_a_kernel_without_ours_has_its_own() {
	a_kernel_without_ours_has_its_own
}

# Somebody loads the in-tree driver by hand, and no udev.
test_whoever_loads_the_twin_loads_ours_first() {
	trap as_it_was EXIT
	debian pmu-driver ours
	debian modprobe intel-uncore
	equal "owner" "$(owner)" $OURS
}

test_now() {
	trap as_it_was EXIT
	boot 0
	debian pmu-driver ours --now
	equal "owner" "$(owner)" $OURS
	is_loaded $TWIN
	debian modprobe -r $TWIN
	fails is_loaded $OURS
	debian modprobe $TWIN
	equal "owner" "$(owner)" $OURS
	debian pmu-driver in-tree --now
	equal "owner" "$(owner)" $TWIN
	fails is_loaded pmu_core
}

# As where intel_uncore is built in: the unit takes the memory channels from it, and nothing else.
test_the_channels_are_unbound() {
	! in_memory || skip "channels in memory are no devices"
	trap as_it_was EXIT
	boot 0
	others=$(other_units)
	debian pmu-driver ours --unbind
	[ -e "$ROOT$(readlink $ROOT/etc/systemd/system/sysinit.target.wants/pmu-suite.service)" ]
	# shellcheck disable=SC2046 # a list
	debian $(sed -n 's/^ExecStart=//p' $ROOT/etc/systemd/system/pmu-suite.service)
	equal "owner" "$(owner)" $OURS
	is_loaded $TWIN
	equal "others" "$(other_units)" "$others"
	contains "status" "$(debian pmu-driver)" "^pmu-driver: at boot: $OURS, unbound"
	debian pmu-driver in-tree
	equal "what is left in /etc" "$(find $ROOT/etc -type f -o -type l)" ""
}

# An open event does not live through it under most kernels.
test_channels_with_events_open_stay() {
	! in_memory || skip "channels in memory are no devices"
	trap as_it_was EXIT
	boot 0
	fails pmu-event uncore_imc_0:0x304 -x "chroot $ROOT /usr/sbin/pmu-driver unbind" > /tmp/said 2>&1
	contains "said" "$(cat /tmp/said)" "events are open:.* pmu-event \([0-9]"
	equal "owner" "$(owner)" $TWIN
}

# The log says which channels the other driver has, and then the module does not load. The kernel's counts again.
test_channels_go_back() {
	! in_memory || skip "channels in memory are no devices"
	trap as_it_was EXIT
	boot 0
	before=$(ls $PMUS)
	mkdir -p $ROOT/etc/modprobe.d
	echo "install $OURS /sbin/modprobe --ignore-install $OURS && /sbin/rmmod $OURS; false" > $ROOT/etc/modprobe.d/fails.conf
	fails debian pmu-driver unbind > /tmp/said 2>&1
	contains "said" "$(cat /tmp/said)" "$OURS cannot be loaded"
	equal "owner" "$(owner)" $TWIN
	equal "PMUs" "$(ls $PMUS)" "$before"
	pmu-event uncore_imc_0:0x304
}

# Where the channels are no devices nothing is written that fails at each boot.
test_channels_in_memory_are_not_unbound() {
	in_memory || skip "the channels are devices"
	trap as_it_was EXIT
	boot 0
	for command in 'ours --unbind' unbind; do
		# shellcheck disable=SC2086 # words
		fails debian pmu-driver $command > /tmp/said 2>&1
		contains "$command" "$(cat /tmp/said)" "are no devices, so $TWIN has all of them or none: use 'pmu-driver ours'"
	done
	# Other processors may have such functions, too, and a family of others the same models.
	for processor in '6 109' '19 106'; do
		sed "s/^\(cpu family.*: \).*/\1${processor% *}/; s/^\(model\t.*: \).*/\1${processor#* }/" /proc/cpuinfo > /tmp/cpuinfo
		mount --bind /tmp/cpuinfo $ROOT/proc/cpuinfo
		for command in 'ours --unbind' unbind; do
			# shellcheck disable=SC2086 # words
			fails debian pmu-driver $command > /tmp/said 2>&1
			contains "$processor, $command" "$(cat /tmp/said)" "this machine has nothing that $OURS serves"
		done
		umount $ROOT/proc/cpuinfo
	done
	equal "owner" "$(owner)" $TWIN
	equal "what is written" "$(find $ROOT/etc -type f -o -type l)" ""
}

# An event is open: what cannot be done now is done at the next boot, and nothing changes until then.
test_not_now() {
	trap as_it_was EXIT
	boot 0
	fails pmu-event uncore_imc_0:0x304 -x "chroot $ROOT /usr/sbin/pmu-driver ours --now" > /tmp/said 2>&1
	contains "said" "$(cat /tmp/said)" "$TWIN is in use; the change is made at the next boot"
	equal "owner" "$(owner)" $TWIN
	boot 0
	equal "owner" "$(owner)" $OURS
}

# The other way round the kernel's driver keeps what it has meanwhile.
test_not_given_back_now() {
	trap as_it_was EXIT
	boot 0
	debian pmu-driver ours --now
	fails pmu-event uncore_imc_0:0x304 -x "chroot $ROOT /usr/sbin/pmu-driver in-tree --now" > /tmp/said 2>&1
	contains "said" "$(cat /tmp/said)" "$OURS is in use; the change is made at the next boot"
	equal "owner" "$(owner)" $OURS
	is_loaded $TWIN
}

run_tests
