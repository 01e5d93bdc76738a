#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# pmu-top: what it says is what the model made, with our driver and with the in-tree one.
#
# all vm: --tools --kernel 6.12 --driver ours --model snbep,sockets=2 --cpus 4 --timeout 900
# kernels vm: --tools --kernel 6.12 --driver in-tree --model snbep,sockets=2 --cpus 4 --timeout 900
# kernels vm: --tools --kernel 6.1 --driver ours --model skx,sockets=2 --timeout 900
. ./intel_imc/lib.sh
. ./top.sh
trap 'echo 1 > /proc/sys/kernel/perf_event_paranoid; as_it_was' EXIT

# The in-tree driver stops all counters of a channel while perf changes what they count, so it misses a burst now and
# then where events take turns (Documentation/tools.md). Its exact counts are looked at where nothing does.
if [ $driver = ours ]; then steady=all; else steady=pages; fi

# Sandy Bridge has one event for all of them.
if pmu-model list imc0 | grep -q '^event act_count '; then activations=act_count; else activations=act_count.rd; fi

# 3.2 GB read from one channel, 64 MB written to another: exactly that, and nothing elsewhere.
test_bytes() {
	pmu-top --mode $steady --json --output /tmp/top -- \
		sh -c 'pmu-model add imc0 cas_rd 50000000; pmu-model add imc1@1 cas_wr 1000000'
	equal "read, socket 0, channel 0" "$(top_value read_bytes socket=0 channel=0)" 3200000000
	equal "written, socket 1, channel 1" "$(top_value write_bytes socket=1 channel=1)" 64000000
	equal "read, socket 1" "$(top_value socket_read_bytes socket=1)" 0
	equal "all that was read" "$(top_value total_read_bytes)" 3200000000
	equal "all that was written" "$(top_value total_write_bytes)" 64000000
}

# By intervals, and then all of it: what a burst was is in one of them. The command's own words are not among the JSON.
test_a_series() {
	status=0
	pmu-top --mode $steady --interval 0.5 --json -- \
		sh -c 'echo hello; sleep 1; pmu-model add imc0 cas_rd 50000000; sleep 1; exit 3' > /tmp/top 2> /tmp/said || status=$?
	equal "exit status" $status 3
	equal "what the command says" "$(cat /tmp/said)" hello
	equal "all that was read" "$(top_value read_bytes socket=0 channel=0)" 3200000000
	python3 -c 'import json
*series, last = map(json.loads, open("/tmp/top"))
bytes = [row["value"] for one in series for row in one["rows"] if row["name"] == "read_bytes" and row["value"]]
print(len(series) >= 3 and last["summary"]["intervals"] == len(series), *bytes)' > /tmp/series
	equal "the series" "$(cat /tmp/series)" "True 3200000000"
	equal "no such command" "$(pmu-top -- /nowhere/x > /tmp/said 2>&1 || echo $?)" 127
}

# The picture says so many GB/s, at any width, from a record.
test_the_picture() {
	pmu-top --mode $steady --record /tmp/record --output /tmp/text -- \
		sh -c 'pmu-model add imc0 cas_rd 50000000; pmu-model add imc2@1 cas_wr 25000000; sleep 1'
	# From the record's time, and the bytes that the model was told to move.
	read=$(top_rate 3200000000 0/0/rd) write=$(top_rate 1600000000 1/2/wr)
	pictures "^RECORD +Intel Xeon \\(S" "^read $read GB/s +write $write GB/s" "^ *socket 0 +$read .* 0.00 "
	contains "socket 1" "$(sed '1,/socket 1/d' /tmp/text)" "^ *channel 2 .* $write "
	pmu-top --replay /tmp/record --svg /tmp/svg
	contains "the picture" "$(cat /tmp/svg)" "read&#160;$read&#160;GB/s"
}

# The screen with counters that count: what was read once is in one picture, to the digit, and in no other. It
# begins where nothing takes turns, and goes to all and back.
test_the_screen() {
	[ -e /dev/pts/ptmx ] || { mkdir -p /dev/pts; mount -t devpts devpts /dev/pts; }
	rm -f /tmp/record
	python3 screen.py 80x24 'see:^read 0.00 GB/s' 'run:pmu-model add imc0 cas_rd 50000000' 'see:^read [0-9.]*[1-9]' \
		'see:^read 0.00 GB/s' key:p 'see:^PAUSED' key:p key:left size:200x60 'see:self-refresh %' key:right \
		'see:page hit % +clock MHz' key:? 'see:Page Down' key:q \
		-- pmu-top --mode pages --record /tmp/record > /tmp/screen 2>&1 || { cat /tmp/screen; return 1; }
	contains "the end" "$(cat /tmp/screen)" '^ended with 0'
	python3 -c 'import json
reads = [json.loads(line)["counts"]["0/0/rd"] for line in open("/tmp/record").readlines()[1:]]
print(sum(one[0] for one in reads), *(f"{64 * one[0] / one[1]:.2f}" for one in reads if one[0]))' > /tmp/reads
	equal "reads, and GB/s of the picture" "$(cat /tmp/reads)" \
		"50000000 $(sed -n 's/^read \([0-9.]*[1-9][0-9.]*\) GB.*/\1/p' /tmp/screen | head -n 1)"
}

# 1000 commands of which 250 had to open a page.
test_page_hits() {
	pmu-top --mode pages --json --output /tmp/top -- \
		sh -c 'pmu-model add imc0 cas_rd 600; pmu-model add imc0 cas_wr 400; pmu-model add imc0 '"$activations"' 250'
	equal "hits" "$(top_value page_hit socket=0 channel=0)" 0.75
	equal "no commands" "$(top_value page_hit socket=0 channel=1)" None
}

# 10 reads that wait for 80 clocks each of 1.25 ns, by the clock that pmu-top counts.
test_read_latency() {
	pmu-top --mode latency --json --output /tmp/top -- \
		sh -c 'pmu-model add imc0 rpq_occupancy 100 8; pmu-model add imc0 rpq_inserts 10; sleep 1'
	clock=$(top_value clock socket=0 channel=0)
	within "MHz" "$(top_int "$clock * 1e-6")" 780 820
	equal "clocks" "$(top_int "$(top_value read_latency socket=0 channel=0) * $clock")" 80
}

# Power-down for a part of the clocks.
test_power_down() {
	pmu-top --mode power --json --output /tmp/top --record /tmp/record -- \
		sh -c 'pmu-model add imc0 power_channel_ppd 1000000; sleep 1'
	clock=$(top_value clock socket=0 channel=0)
	equal "clocks" "$(top_int "$(top_value power_down socket=0 channel=0) * $clock * $(top_seconds 0/0/ppd)")" 1000000
}

# Two counters cannot look at three things: the numbers say for how long they did. Reads and writes take no turns where
# nobody else counts.
test_turns_are_told() {
	pmu-top --once --json --output /tmp/top --record /tmp/record
	equal "reads" "$(top_value read socket=0 channel=0 share)" 1.0
	# A third is wanted; a host that stands still gives a long turn away.
	share=$(top_value power_down socket=0 channel=0 share)
	equal "the share is perf's" "$share" "$(python3 -c 'import json
_, enabled, running = json.loads(open("/tmp/record").readlines()[-1])["counts"]["0/0/ppd"]
print(running / enabled)')"
	equal "a part of the time" "$(python3 -c "print(0 < $share < 1)")" True
	pmu-top --once --replay /tmp/record --output /tmp/text
	contains "the text" "$(cat /tmp/text)" '~ (pmu-top counts these in turn,|counters took turns with others: these numbers are of) [0-9]+%'
}

# A monitor and another pmu-top that count the same: nothing takes turns, so no number is marked.
test_beside_equals() {
	[ $driver = ours ] || skip "events of the in-tree driver do not share"
	perf stat -a -o /tmp/perf -e uncore_imc/cas_count_read/,uncore_imc/cas_count_write/,uncore_imc/event=0xff/ -- \
		pmu-top --mode pages --json --output /tmp/other -- \
		pmu-top --mode pages --record /tmp/record --json --output /tmp/top -- sleep 2
	equal "notes" "$(top_value "" notes)" '[]'
	for what in read write page_hit; do
		equal "$what" "$(top_value $what socket=0 channel=0 share) $(top_value $what socket=0 channel=0 share /tmp/other)" "1.0 1.0"
	done
	pmu-top --once --replay /tmp/record --output /tmp/text
	fails grep '~' /tmp/text
}

# Which program it is, by perf. A guest's CPUs have no counters, so pages that a program touches first stand for misses:
# 32 MiB are 8192, a sample for each hundred, unless they are huge.
HUGE=/sys/kernel/mm/transparent_hugepage/enabled
test_programs() {
	rm -f /tmp/record
	[ ! -e "$HUGE" ] || echo never > "$HUGE"
	programs '"page-faults", 100' --json --output /tmp/top --record /tmp/record -- dd if=/dev/zero of=/dev/null bs=32M count=1
	[ ! -e "$HUGE" ] || echo always > "$HUGE"
	within "samples of dd" "$(python3 -c 'import json
said = json.load(open("/tmp/top"))["programs"]
print(*[samples for name, process, samples in said.get("top", ()) if name == "dd"] or [said])')" 80 100
	pictures 'an estimate: misses of the last cache, by [0-9]+ samples' '[0-9.]+ +[0-9.]+ +█.* [0-9]+ +dd'
}

# perf writes a process' name as it is. A sample is one sample, and of the process that it was.
test_programs_with_ends_of_lines() {
	[ ! -e "$HUGE" ] || echo never > "$HUGE"
	programs '"page-faults", 100' --json --output /tmp/top -- python3 -c 'import os
open("/proc/self/comm", "wb").write(b"a 1 \nbash 1 \n")
open("/tmp/process", "w").write(str(os.getpid()))
b"1" * (32 << 20)'
	[ ! -e "$HUGE" ] || echo always > "$HUGE"
	equal "processes of these names" "$(python3 -c 'import json
said = json.load(open("/tmp/top"))["programs"]
print(*[process for name, process, _ in said.get("top", ()) if name in ("a", "bash", "a 1 ?bash 1 ?")] or [said])')" \
		"$(cat /tmp/process)"
}

# programs EVENT, PERIOD OPTION...: pmu-top in this mode, whatever sysfs says, with these in place of its own
programs() {
	cat > /tmp/programs <<-EOT
		from pmutools.top import main, programs
		programs.known = lambda machine: True
		programs.EVENT, programs.PERIOD = $1
		main.main()
	EOT
	shift
	PYTHONPATH=$(dirname "$(command -v pmu-top)") python3 /tmp/programs --mode programs "$@"
}

# Misses cannot be counted here: pmu-top says so, and so does perf where it is asked all the same.
test_programs_without_a_pmu() {
	[ ! -e $PMUS/cpu ] || skip "the CPUs of this guest have a PMU"
	contains "perf" "$(perf stat -e cache-misses true 2>&1)" '<not supported> +cache-misses'
	refused 1 "There is no mode 'programs' here. perf has no event cache-misses for these CPUs" --mode programs
	status=0
	programs 'programs.EVENT, programs.PERIOD' --once > /tmp/text 2>&1 || status=$?
	equal "exit status" $status 1
	contains "the sentence" "$(tr '\n' ' ' < /tmp/text)" 'perf record of cache-misses failed: .*not supported.* Choose another --mode'
}

test_rights() {
	without_rights '^read 0.00 GB/s'
}

# One channel vanishes: it is named, the others count on. When it is back it is counted again.
test_a_device_vanishes() {
	[ $driver = ours ] || skip "the in-tree driver has no such thing as a channel that vanishes"
	function=$(ls -d $DRIVER/0000:* | head -n 1)
	function=${function##*/}
	pmu-top --json --output /tmp/top -- \
		sh -c "echo $function > $DRIVER/unbind; pmu-model add imc1 cas_rd 5; pmu-model add imc3@1 cas_wr 6"
	contains "notes" "$(cat /tmp/top)" '"notes": \["a part of uncore_imc_[0-9]+ is gone'
	equal "no sum" "$(top_value total_read_bytes)" None
	equal "another channel" "$(top_value write_bytes socket=1 channel=3)" $((6 * 64))
	echo "$function" > $DRIVER/bind
	: > /tmp/top
	pmu-top --mode pages --json --output /tmp/top &
	told 'intel_imc'
	echo "$function" > $DRIVER/unbind
	told 'is gone: its numbers are missing'
	echo "$function" > $DRIVER/bind
	told '"uncore_imc_[0-9]+ was lost, and is counted again'
	pmu-model add "imc*" cas_rd 50000000
	told '"total_read_bytes", "value": [1-9]'
	ended $!
}

# All of it goes, and comes back.
test_everything_vanishes() {
	[ $driver = ours ] || skip "the in-tree driver has no such thing as a channel that vanishes"
	functions=$(cd $DRIVER && ls -d 0000:*)
	: > /tmp/top
	pmu-top --mode pages --json --output /tmp/top &
	told '"total_read_bytes", "value": 0'
	for function in $functions; do
		echo "$function" > $DRIVER/unbind
	done
	told '"notes": \["uncore_imc_0 is gone: its numbers are missing"'
	told '"total_read_bytes", "value": null'
	for function in $functions; do
		echo "$function" > $DRIVER/bind
	done
	told '"notes": \[\]'
	pmu-model add "imc*" cas_rd 50000000
	told "\"total_read_bytes\", \"value\": $(($(echo "$functions" | wc -l) * 50000000 * 64))"
	ended $!
}

# The CPU that has a socket's counters goes offline: another one has them, and nothing is lost.
test_a_cpu_goes_offline() {
	owner=$(sed 's/.*[-,]//' $PMUS/uncore_imc_0/cpumask)
	[ "$(cat /sys/devices/system/cpu/cpu"$owner"/topology/package_cpus_list)" != "$owner" ] || skip "a socket has one CPU"
	pmu-top --mode pages --json --output /tmp/top -- sh -c "pmu-model add imc0@1 cas_rd 1000
		echo 0 > /sys/devices/system/cpu/cpu$owner/online; pmu-model add imc0@1 cas_rd 200"
	cpu_online "$owner" 1
	equal "read" "$(top_value read_bytes socket=1 channel=0)" $((1200 * 64))
	owner=$(sed 's/.*[-,]//' $PMUS/uncore_imc_0/cpumask)
	: > /tmp/top
	pmu-top --mode pages --json --output /tmp/top &
	told '"total_read_bytes", "value": 0'
	cpu_online "$owner" 0
	cpu_online "$owner" 1
	told '"notes": \[\]'
	pmu-model add imc0@1 cas_rd 50000000
	told '"total_read_bytes", "value": 3200000000'
	ended $!
}

# No driver: a sentence, and what to do.
test_no_pmu() {
	unload
	refused 1 'pmu-top: This machine shows no PMU of memory channels' --once
	contains "what to do" "$(cat /tmp/text)" 'modprobe intel_imc_pmu'
	load
}

run_tests
