# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# What the tests of Intel's memory controllers share, beside what all do.
. ./lib.sh

MODULES=/vm/modules.d
DRIVER=/sys/bus/pci/drivers/intel_imc_pmu
GIDNIDMAP_IDENTITY=0x00fac688

# The driver that this guest was started with.
if [ -e $DRIVER ]; then driver=ours; else driver=in-tree; fi

# From where a counter of a channel goes on: our driver clears it when the channel's first event starts.
counts_from() { # CHANNEL COUNTER
	if [ $driver = ours ]; then echo 0; else pmu-model get "$1" "$2"; fi
}

# The PMUs that have a CPU of socket 0
of_socket_0() {
	for pmu in "$PMUS"/uncore_imc_[0-9]*; do
		grep -q '^0' "$pmu/cpumask" && echo "${pmu##*_}"
	done | sort -n | xargs
}

load() {
	if [ $driver = ours ]; then
		insmod $MODULES/pmu_core.ko
		insmod $MODULES/intel_imc_pmu.ko
	else
		modprobe intel-uncore
	fi
}

unload() {
	if [ $driver = ours ]; then
		rmmod intel_imc_pmu
		rmmod pmu_core
	else
		rmmod intel_uncore
	fi
}

# The machine as it was at first, whatever a test that failed has left: for "trap as_it_was EXIT".
as_it_was() {
	for module in intel_imc_pmu pmu_core intel_uncore; do
		rmmod $module 2> /dev/null || :
	done
	for cpu in /sys/devices/system/cpu/cpu*/online; do
		echo 1 > "$cpu"
	done
	for key in gone dead doze lose tear tearhigh reserved twice drops needs_umask; do
		pmu-model set 'imc*' $key 0 2> /dev/null || : # in memory nothing tears
	done
	pmu-model set 'ubox*' gone 0
	pmu-model set 'ubox*' gidnidmap $GIDNIDMAP_IDENTITY
	for ubox in $(pmu-model list | sed -n 's/^\(ubox@[0-9]*\) .*/\1/p'); do
		pmu-model set "$ubox" nodeid "${ubox#*@}"
	done
	echo 1 > /sys/bus/pci/rescan
	load
}

# The events of a PMU as the user asks for them, to a config: config PMU NAME
config() {
	sed 's/event=\(0x[0-9a-f]*\),umask=\(0x[0-9a-f]*\)/\1 \2/' "$PMUS/$1/events/$2" |
		(read -r event umask && printf '%#x\n' $((event | umask << 8)))
}

# N pairs of reads and writes that share no counter, since their thresholds differ: pairs PMU N
pairs() {
	for n in $(seq "$2"); do
		printf '%s:0x%02x000304 %s:0x%02x000c04 ' "$1" "$n" "$1" "$n"
	done
}

cpu_online() { # CPU 0|1
	echo "$2" > "/sys/devices/system/cpu/cpu$1/online"
}

# Run a command while the clock of a channel runs, which stands still before and after: clock DEVICE COMMAND...
# So counters of clocks hold one number, that of the clocks in between, whenever they are read.
clock() {
	device=$1
	shift
	echo "pmu-model set $device dead 0; $*; pmu-model set $device dead 1"
}
