# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=dash
#
# Counting the accesses to registers, operation by operation; what bench scripts in guests share. The
# model's counts are of one device; which of its classes count is an extended regular expression.

# classes DEVICE PATTERN [SEPARATE]: what is counted, and whose writes are counted once more
classes() {
	# What the accesses since the last count were for, OPERATION READS WRITES [SEPARATE-WRITES]; without
	# an operation they are forgotten. Fails if the model has none of the classes.
	cat > /tmp/count <<-EOT
		pmu-model stats $1 --reset | awk -v operation="\$1" '
			\$1 ~ /^($2)\$/ { reads += \$2; writes += \$3; found = 1 }
			\$1 == "$3" { separate = \$3 }
			END {
				if (operation != "")
					print operation, reads + 0, writes + 0, separate
				exit !found
			}'
	EOT
}

count() {
	sh /tmp/count "$@"
}

# load ours|in-tree OURS IN-TREE: the driver, by itself, to count what its probe does
load() {
	count
	if [ "$1" = ours ]; then
		insmod /vm/modules.d/pmu_core.ko
		insmod "/vm/modules.d/$2.ko"
	else
		modprobe "$3"
	fi
	count probe
}

# An event beside one that is equal: second NAME EVENT
second() {
	pmu-event --manual "$2" -x "
		pmu-event --disabled --manual '$2' -x 'sh /tmp/count' -x @enable -x 'sh /tmp/count start-$1' \
			-x 'sleep 1' -x @read -x 'sh /tmp/count read-$1' \
			-x 'sleep 1' -x @disable -x 'sh /tmp/count stop-$1'" | grep -v '^[0-9]*$'
}

# 16 users, each of whom reads these events each second, for ten seconds: users EVENT,EVENT...
users() {
	rm -f /tmp/user.*
	for user in $(seq 16); do
		perf stat -a -I 1000 -o "/tmp/user.$user" -e "$1" -- sleep 600 &
		echo $! >> /tmp/users
	done
	until [ "$(grep -l ' 2\.[0-9]* ' /tmp/user.* 2> /dev/null | wc -l)" = 16 ]; do sleep 0.2; done
	count
	sleep 10
	count users
	# shellcheck disable=SC2046 # a list
	kill -INT $(cat /tmp/users)
	rm /tmp/users
	wait
}

# From open to close; several events are a group: life NAME EVENT... Reads and stops come a second after what was
# before, since a driver may read less of a counter that it has read a moment ago.
life() {
	name=$1
	shift
	count
	# Without the counts, which pmu-event prints.
	pmu-event --group --disabled --manual "$@" -x "sh /tmp/count open-$name" \
		-x @enable -x "sh /tmp/count start-$name" \
		-x 'sleep 1' -x @read -x "sh /tmp/count read-$name" \
		-x 'sleep 1' -x @disable -x "sh /tmp/count stop-$name" \
		-x @enable -x "sh /tmp/count restart-$name" -x 'sleep 1' | grep -v '^[0-9]'
	count "close-$name"
}
