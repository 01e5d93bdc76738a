#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Equal events share a counter: what that costs, that each has its own count, and that any number of
# users fit. The in-tree driver, and ours without sharing, have turns instead.
#
# vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 600
# kernels vm: --kernel 6.1 --driver 'ours in-tree' --model snbep,sockets=2 --cpus 4 --timeout 600
# kernels vm: --kernel 6.12 --driver in-tree --model snbep,sockets=2 --cpus 4 --timeout 600
# all vm: --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --param pmu_core.share=0 --timeout 600
# hostile vm: --kernel 6.12 --races --driver ours --model snbep,sockets=2 --cpus 4 --timeout 1200
. ./intel_imc/lib.sh
trap as_it_was EXIT

[ $driver = in-tree ] || [ "$(cat /sys/module/pmu_core/parameters/share)" != Y ] || shares=yes

needs_sharing() {
	[ -n "$shares" ] || skip "what our driver does"
}

# The second event starts, stops and closes beside the first, in a program of its own: nothing is written.
test_a_second_one_writes_nothing() {
	needs_sharing
	cat > /tmp/second <<-'EOT'
		pmu-model stats imc0 --reset | awk -v what="$1" '{ w += $3 } END { print what, w + 0 }' >> /tmp/writes
	EOT
	rm -f /tmp/writes
	got=$(pmu-event --manual uncore_imc_0:0x304 -x 'pmu-model add imc0 cas_rd 5; pmu-model stats imc0 --reset > /dev/null' -x '
		pmu-event --disabled --manual uncore_imc_0:0x304 -x "sh /tmp/second open" -x @enable -x "sh /tmp/second start" \
			-x "pmu-model add imc0 cas_rd 70" -x @read -x @disable -x "sh /tmp/second stop" \
			-x "pmu-model add imc0 cas_rd 600" -x @read
		sh /tmp/second close' -x @read | tr '\n' ' ')
	equal "counts of the second, and of the first" "$got" "70 70 675 "
	equal "writes" "$(tr '\n' ' ' < /tmp/writes)" "open 0 start 0 stop 0 close 0 "
}

# The first closes, and the second counts on: nothing is written before that closes, too.
test_the_first_leaves() {
	needs_sharing
	rm -f /tmp/open /tmp/go /tmp/gone
	{ pmu-event --manual uncore_imc_0:0x304 -x 'touch /tmp/open; until [ -e /tmp/go ]; do sleep 0.1; done' \
		-x @read > /tmp/first; touch /tmp/gone; } &
	until [ -e /tmp/open ]; do sleep 0.1; done
	got=$(pmu-event --manual uncore_imc_0:0x304 -x "pmu-model add imc0 cas_rd 5
			pmu-model stats imc0 --reset > /dev/null; touch /tmp/go; until [ -e /tmp/gone ]; do sleep 0.1; done
			pmu-model stats imc0 > /tmp/stats; pmu-model add imc0 cas_rd 70" -x @read)
	equal "first, second" "$(cat /tmp/first) $got" "5 75"
	equal "writes" "$(awk '{ w += $3 } END { print w + 0 }' /tmp/stats)" 0
}

# A group may have an event any number of times, also all that there is room for. Each counter is read once.
test_a_group_has_an_event_twice() {
	needs_sharing
	five="uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x101 uncore_imc_0:0x10 uncore_imc_0:0xff"
	# shellcheck disable=SC2086 # lists
	got=$(pmu-event --group --disabled --manual $five $five uncore_imc_0:0x304 -x @enable \
		-x 'pmu-model add imc0 cas_rd 5; pmu-model add imc0 cas_wr 70; pmu-model stats imc0 --reset > /dev/null' \
		-x @read -x 'pmu-model stats imc0 > /tmp/stats')
	equal "counts" "$(echo "$got" | cut -d' ' -f1-3,6-8,11)" "5 70 0 5 70 0 5"
	equal "clocks" "$(echo "$got" | cut -d' ' -f5)" "$(echo "$got" | cut -d' ' -f10)"
	within "reads" "$(awk '$1 ~ /ctr/ { r += $2 } END { print r + 0 }' /tmp/stats)" 5 10
	# shellcheck disable=SC2086
	equal "with one more" "$(pmu-event --group $five uncore_imc_0:0x304 uncore_imc_0:0x11)" EINVAL
}

# Of counters that are taken for good: a pinned event has room beside its equals.
test_pinned() {
	needs_sharing
	got=$(pmu-event --pinned uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x101 uncore_imc_0:0x10 \
		uncore_imc_0:0x304 uncore_imc_0:0x11 -x 'pmu-model add imc0 cas_rd 5')
	equal "counts" "$got" "5 0 0 0 5 error"
}

# perf tries no event behind the first that does not fit, also if it would share with one that counts all the time. Six
# take turns on three counters, and one of them needs none: it counts unless it is behind four others.
test_behind_one_that_does_not_fit() {
	needs_sharing
	imc=uncore_imc_0/event=0x4,umask
	others=$imc=0xc/,$imc=0x1/,$imc=0x2/,$imc=0x4/,$imc=0x8/
	perf stat -a -x, -o /tmp/turns -e "$imc=0x3/D" -e "$others,$imc=0x3/" -- sleep 3
	grep "$imc=0x3/" /tmp/turns | sed 's/.*,\([0-9]*\)[.0-9]*,,$/\1/' > /tmp/share
	pinned=$(head -n 1 /tmp/share) flexible=$(tail -n 1 /tmp/share)
	show "one that is equal to a pinned one counts $flexible % of the time"
	equal "the pinned one" "$pinned" 100
	within "its equal" "$flexible" 40 90
	perf stat -a -x, -o /tmp/turns -e "$imc=0x3/D" -e "$others" -e "$imc=0x3/D" -- sleep 1
	equal "both pinned" "$(grep "$imc=0x3/" /tmp/turns | grep -c ',100.00,')" 2
}

# 16 users, each of whom opens reads, writes, activations and clocks of all channels: each has all, all the time. With
# the other drivers they share the time, and where something happens once, most miss it and some have too much of it.
test_sixteen_users() {
	events=$(for n in 0 1 2 3; do printf "uncore_imc_$n/event=0x4,umask=0x3/,uncore_imc_$n/event=0x4,umask=0xc/,"
		printf "uncore_imc_$n/event=0x1,umask=0x1/,uncore_imc_$n/event=0x0/,"; done)
	rm -f /tmp/user.*
	for user in $(seq 16); do
		perf stat -a -x, -o "/tmp/user.$user" -e "${events%,}" -- sh -c "touch /tmp/user.there.$user; sleep 12" &
	done
	eventually "users" 16 sh -c 'ls /tmp/user.there.* 2> /dev/null | wc -l'
	sleep 1
	pmu-model add imc2 cas_rd 123457
	wait
	cat /tmp/user.[0-9]* | awk -F, '/event=0x4,umask=0x3/ && /imc_2/ { print $1 }' | sort | uniq -c > /tmp/reads
	grep -h uncore_imc /tmp/user.[0-9]* | sed 's/.*,100\.00,.*/all/; t; s/.*/a part/' | sort | uniq -c > /tmp/times
	show "$(cat /tmp/reads)"
	show "$(cat /tmp/times)"
	if [ -n "$shares" ]; then
		equal "reads" "$(awk '{ $1 = $1; print }' /tmp/reads)" "16 123457"
		equal "of the time" "$(awk '{ $1 = $1; print }' /tmp/times)" "256 all"
	else
		within "users with something else" "$(awk '$2 != 123457 { n += $1 } END { print n + 0 }' /tmp/reads)" 8 16
		contains "of the time" "$(cat /tmp/times)" 'a part'
	fi
}

# Without sharing an equal event has a counter of its own.
test_switched_off() {
	[ $driver = ours ] && [ -z "$shares" ] || skip "for who switches it off"
	# The channel's first start resets it, too, so another event counts already.
	pmu-event uncore_imc_0:0xff -x "pmu-event --disabled --manual uncore_imc_0:0x304 uncore_imc_0:0x304 \
		-x 'pmu-model stats imc0 --reset > /dev/null' -x @enable -x 'pmu-model stats imc0 > /tmp/stats'" > /dev/null
	equal "controls written to start two" "$(awk '$1 == "ctl" { print $3 }' /tmp/stats)" 2
	equal "five equal ones in a group" "$(pmu-event --group uncore_imc_0:0x304 uncore_imc_0:0x304 uncore_imc_0:0x304 \
		uncore_imc_0:0x304 uncore_imc_0:0x304)" EINVAL
}

run_tests
