# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Who drives after a boot: Debian's udev finds both drivers installed, as at every boot, and
# systemd loads what it is told to meanwhile. For guests with --udev. A file that sources this has
# set OURS and TWIN, modules, and defines owner, which names the drivers that have the devices.

ROOT=/vm/debian
RELEASE=$(uname -r)
# Each order of the two a few times; who comes first is chance, too, so "make soak" has twenty: a kernel's
# parameter that it does not know is in init's environment.
BOOTS=${boots:-4}

# Run a command as on the installed system. Busybox would run its own modprobe rather than the root's.
debian() {
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin SYSTEMD_IGNORE_CHROOT=1 SYSTEMD_LOG_LEVEL=warning \
		chroot $ROOT /bin/dash -c 'exec "$@"' dash "$@"
}

if [ ! -e $ROOT/proc/self ]; then
	mkdir -p $ROOT/proc $ROOT/sys $ROOT/dev $ROOT/run $ROOT/etc
	mount -t proc proc $ROOT/proc
	mount -t sysfs sys $ROOT/sys
	mount -t devtmpfs dev $ROOT/dev
	ln -s dash $ROOT/bin/sh
	for name in cat env grep id ln ls mkdir mv readlink rm sed uname; do
		ln -s busybox $ROOT/bin/$name
	done
	debian depmod
fi

is_loaded() {
	[ -d "/sys/module/$1" ]
}

unload_all() {
	for module in $TWIN $OURS pmu_core; do
		! is_loaded "$module" || rmmod "$module"
	done
}

# What a boot does from here on, and in no order: boot SECONDS until systemd-modules-load runs
boot() {
	unload_all
	debian /lib/systemd/systemd-udevd --daemon
	(sleep "$1"; debian /lib/systemd/systemd-modules-load > /tmp/load 2>&1 || :) &
	debian udevadm trigger --type=subsystems --action=add
	debian udevadm trigger --type=devices --action=add
	debian udevadm settle
	wait
	debian udevadm control --exit
}

# Who has the devices after each of so many boots, each answer once.
owners() { # BOOTS
	for number in $(seq "$1"); do
		# Both may be first.
		boot "$((number % 4 / 2)).$((number % 2 * 2))"
		owner
	done | sort -u
}

# The end of a test: nothing is chosen, nothing loaded.
as_it_was() {
	rm -rf $ROOT/etc/modprobe.d $ROOT/etc/modules-load.d $ROOT/etc/default $ROOT/etc/systemd
	if [ -e $ROOT/lib/modules/updates ]; then
		mv $ROOT/lib/modules/updates "$ROOT/lib/modules/$RELEASE"
		debian depmod
	fi
	unload_all
}

# A kernel for which our modules were not built.
hide_ours() {
	mv "$ROOT/lib/modules/$RELEASE/updates" $ROOT/lib/modules
	debian depmod
}

installing_changes_nothing() {
	trap as_it_was EXIT
	equal "owners" "$(owners $BOOTS)" "${1:-$TWIN}"
	fails is_loaded $OURS
	contains "status" "$(debian pmu-driver)" "^pmu-driver: at boot: the kernel's driver"
}

ours_is_asked_for() {
	trap as_it_was EXIT
	debian pmu-driver ours
	equal "owners" "$(owners $BOOTS)" $OURS
	contains "status" "$(debian pmu-driver)" "^pmu-driver: at boot: $OURS"
	contains "status" "$(debian pmu-driver)" "^pmu-driver: now: $OURS, version [0-9]"
}

asking_twice_is_asking_once() {
	trap as_it_was EXIT
	debian pmu-driver ours
	find $ROOT/etc -type f -exec md5sum {} + > /tmp/first
	debian pmu-driver ours
	equal "files" "$(find $ROOT/etc -type f -exec md5sum {} +)" "$(cat /tmp/first)"
}

it_is_given_back() {
	trap as_it_was EXIT
	debian pmu-driver ours
	boot 0
	equal "owner" "$(owner)" $OURS
	debian pmu-driver in-tree
	equal "what is left in /etc" "$(find $ROOT/etc -type f)" ""
	equal "owners" "$(owners 4)" "${1:-$TWIN}"
}

a_kernel_without_ours_has_its_own() {
	trap as_it_was EXIT
	debian pmu-driver ours
	hide_ours
	equal "owners" "$(owners 4)" "${1:-$TWIN}"
}
