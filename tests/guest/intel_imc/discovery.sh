#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Sapphire, Emerald and Granite Rapids, whose channels are listed in a table behind a PCI capability: names and
# exact counts, with the in-tree driver as the referee; then tables that lie, and functions that go.
#
# vm: --kernel 6.12 --driver ours --model 'spr,sockets=2 gnr,sockets=2' --timeout 900
# all vm: --kernel 6.12 --driver in-tree --model 'spr,sockets=2 gnr,sockets=2' --timeout 900
# all vm: --kernel 6.12 --driver ours --model emr --timeout 900
# kernels vm: --kernel 6.1 --driver ours --model 'spr,sockets=2 gnr,sockets=2' --timeout 900
# kernels vm: --kernel 6.1 --driver in-tree --model spr,sockets=2 --timeout 900
# kernels vm: --kernel newest --driver in-tree --model 'spr,sockets=2 gnr,sockets=2' --timeout 900
# fresh: the in-tree driver numbers sockets in the order of PCI functions, which those that went and came back change
. ./intel_imc/lib.sh
trap 'pmu-model set "discovery*" gone 0; pmu-model set "discovery*" whole 1; capability; as_it_was' EXIT

FUNCTION=0000:7e:00.1
TABLE=0000:6a:00.1
UNTIL_ERROR='for _ in $(seq 6000); do [ "$(head -c 8 <&3 | wc -c)" = 0 ] && exit; sleep 0.01; done; exit 1'
MODEL=$(sed -n 's/^model\t*: //p; /^$/q' /proc/cpuinfo)
SOCKETS=$(pmu-model list | grep -c '^mmio@')
[ "$MODEL" = 173 ] && CHANNELS='0 1 2 3 4 5 6 7 8 9 10 11' || CHANNELS='0 1 2 3 4 5 6 7'

# The second capability as it was at first
capability() {
	pmu-model set 'discovery*' header 0x00010023
	pmu-model set 'discovery*' entry 1
	pmu-model set 'discovery*' bir 0
}

ours_only() {
	[ $driver = ours ] || skip "what our driver does"
}

test_pmus_are_the_channels() {
	equal "PMUs" "$(of_socket_0)" "$CHANNELS"
	for pmu in "$PMUS"/uncore_imc_[0-9]*; do
		equal "CPUs of ${pmu##*/}" "$(sed 's/[,-]/ /g' "$pmu/cpumask" | wc -w)" "$SOCKETS"
	done
}

test_formats_and_in_tree_names() {
	PMU=$PMUS/uncore_imc_0
	for format in event=config:0-7 umask=config:8-15,32-55 edge=config:18 inv=config:23 thresh=config:24-31; do
		equal "${format%%=*}" "$(cat "$PMU/format/${format%%=*}")" "${format#*=}"
	done
	[ $driver = ours ] || [ -e "$PMU/events/clockticks" ] || skip "this kernel's intel_uncore has no names"
	equal clockticks "$(cat "$PMU/events/clockticks")" event=0x01,umask=0x00
	[ "$MODEL" = 173 ] && names='read_sch0:5 read_sch1:6 write_sch0:5 write_sch1:6' || names='read:5 write:5'
	for name in $names; do
		case $name in read*) umask=0xcf ;; *) umask=0xf0 ;; esac
		equal "$name" "$(cat "$PMU/events/cas_count_${name%:*}")" "event=0x0${name#*:},umask=$umask"
		equal "$name" "$(cat "$PMU/events/cas_count_${name%:*}.scale") $(cat "$PMU/events/cas_count_${name%:*}.unit")" \
			"6.103515625e-5 MiB"
	done
}

# Each channel of each socket: 1000 * NUMBER + SOCKET + 1 reads
test_each_channel_counts() {
	events='' adds=''
	for number in $CHANNELS; do
		events="$events,uncore_imc_$number/event=0x5,umask=0xcf/"
		for socket in $(seq 0 $((SOCKETS - 1))); do
			adds="$adds add imc$number@$socket cas_rd $((1000 * number + socket + 1));"
		done
	done
	out=$(perf stat -a --per-socket -x, -e "${events#,}" -- sh -c "echo '$adds' | tr ';' '\n' | while read -r words; do
		[ \"\$words\" ] && pmu-model \$words; done; true" 2>&1)
	for number in $CHANNELS; do
		for socket in $(seq 0 $((SOCKETS - 1))); do
			contains "channel $number, socket $socket" "$out" \
				"^S$socket,1,$((1000 * number + socket + 1)),,uncore_imc_$number/"
		done
	done
}

# Each event of the model, four at a time, counts its own happenings, and none of the other three's.
test_every_event_counts_its_own() {
	pmu-model list imc0 | sed -n 's/^event \([^ ]*\) [^ ]* code=\([^ ]*\) umask=\([^ ]*\).*/\1 \2 \3/p' | xargs -n 12 |
	while read -r four; do
		configs='' adds='' wanted='' n=0
		# shellcheck disable=SC2086 # a list
		set -- $four
		while [ $# -gt 0 ]; do
			n=$((n + 111))
			configs="$configs uncore_imc_0:$(($2 | $3 << 8))"
			adds="$adds; add imc0 $1 $n"
			wanted="$wanted $n"
			shift 3
		done
		echo "$configs -- @model ${adds#; }"
		echo "${wanted# }" >> /tmp/wanted
	done > /tmp/lines
	within "lines" "$(wc -l < /tmp/lines)" 20 60
	pmu-event --lines < /tmp/lines > /tmp/got
	diff /tmp/wanted /tmp/got
	rm /tmp/wanted
}

# The clock of the memory, half of it under the in-tree driver's name, and the fixed counter; one group, of one moment.
test_clock_and_half_clock() {
	pmu-model set imc0 dead 1
	got=$(pmu-event --group uncore_imc_0:0x101 uncore_imc_0:0x001 uncore_imc_0:0xff -x "$(clock imc0 true)")
	pmu-model set imc0 dead 0
	# shellcheck disable=SC2086 # words
	set -- $got
	[ "$1" -gt 1000 ]
	within "half of $1" "$2" $(($1 / 2 - 1)) $(($1 / 2 + 1))
	within "fixed, half of $1" "$3" $(($1 / 2 - 1)) $(($1 / 2 + 1))
}

test_no_forbidden_bit_is_written() {
	ours_only
	pmu-model set 'imc*' reserved 0
	pmu-event uncore_imc_0:0xcf05 uncore_imc_0:0xff -x 'pmu-model add imc0 cas_rd 7' > /dev/null
	equal "forbidden" "$(pmu-model get imc0 reserved)" 0
	equal "bits that are in no control" "$(pmu-event uncore_imc_0:0x100000005)" EINVAL
	equal "a group of five and the clock" "$(pmu-event --group uncore_imc_0:0xcf05 uncore_imc_0:0xf005 uncore_imc_0:0x101 \
		uncore_imc_0:0xff02 uncore_imc_0:0xff -x true | wc -w)" 5
	equal "of six" "$(pmu-event --group uncore_imc_0:0xcf05 uncore_imc_0:0xf005 uncore_imc_0:0x101 \
		uncore_imc_0:0xff02 uncore_imc_0:0xff uncore_imc_0:0x80)" EINVAL
}

# The first start resets the channel: six reads and nine writes. Apart from that a start takes a write for each event and
# one for the channel, a read one access.
test_accesses() {
	ours_only
	pmu-event --disabled --manual uncore_imc_0:0xcf05 -x 'pmu-model stats imc0 --reset > /dev/null' -x @enable \
		-x 'pmu-model stats imc0 --reset > /tmp/start; pmu-model add imc0 cas_rd 7' -x @read \
		-x 'pmu-model stats imc0 --reset > /tmp/read' -x @disable -x 'pmu-model stats imc0 --reset > /tmp/stop' \
		-x @enable -x 'pmu-model stats imc0 --reset > /tmp/again' -x true
	for step in 'start 6 11' 'read 1 0' 'stop 1 1' 'again 0 1'; do
		# shellcheck disable=SC2086 # words
		set -- $step
		equal "$1: reads, writes" "$(awk '{ r += $2; w += $3 } END { print r, w }' "/tmp/$1")" "$2 $3"
	done
}

# Granite Rapids: reads of both sub-channels, by two counters; two such events are all four, and a third takes turns.
test_both_sub_channels() {
	ours_only
	[ "$MODEL" = 173 ] || skip "no sub-channels"
	equal "both" "$(cat "$PMUS/uncore_imc_0/format/both")" config1:0
	equal "names" "$(cd "$PMUS/uncore_imc_0/events" && cat cas_count_read cas_count_write cas_count | xargs)" \
		"event=0x05,umask=0xcf,both=0x1 event=0x05,umask=0xf0,both=0x1 event=0x05,umask=0xff,both=0x1"
	got=$(pmu-event --group uncore_imc_0:0xcf05,1 uncore_imc_0:0xf005,1 uncore_imc_0:0xff -x \
		'pmu-model add imc0 cas_rd 7; pmu-model add imc0 cas_rd_sch1 80; pmu-model add imc0 cas_wr 900
		 pmu-model add imc0 cas_wr_sch1 1000')
	equal "reads, writes" "${got% *}" "87 1900"
	equal "three in a group" "$(pmu-event --group uncore_imc_0:0xcf05,1 uncore_imc_0:0xf005,1 uncore_imc_0:0x101)" EINVAL
	equal "two and one beside" "$(pmu-event --group uncore_imc_0:0xcf05,1 uncore_imc_0:0xcf05 uncore_imc_0:0xcf06 \
		-x 'pmu-model add imc0 cas_rd 3; pmu-model add imc0 cas_rd_sch1 4')" "7 3 4"
	out=$(perf stat -a -x, -e uncore_imc_0/cas_count_read/ -- pmu-model add imc0 cas_rd_sch1 16384 2>&1)
	contains "perf" "$out" '^1.00,MiB,uncore_imc_0/cas_count_read/'
	equal "both of another event" "$(pmu-event uncore_imc_0:0xf702,1)" EINVAL
}

# Two equal events of both sub-channels are two counters. The first leaves, and both count on for the second, which
# gives them back. Another event has the counter that a first claim would take.
test_both_sub_channels_are_handed_on() {
	ours_only
	[ "$MODEL" = 173 ] || skip "no sub-channels"
	rm -f /tmp/open /tmp/go /tmp/gone
	cat > /tmp/handed <<-'EOT'
		{ pmu-event --manual uncore_imc_0:0xcf05,1 -x 'touch /tmp/open; until [ -e /tmp/go ]; do sleep 0.02; done' \
			-x @read > /tmp/first; touch /tmp/gone; } &
		until [ -e /tmp/open ]; do sleep 0.02; done
		pmu-event --manual uncore_imc_0:0xcf05,1 -x "pmu-model add imc0 cas_rd 5; pmu-model add imc0 cas_rd_sch1 70
			pmu-model stats imc0 --reset > /dev/null; touch /tmp/go; until [ -e /tmp/gone ]; do sleep 0.02; done
			pmu-model stats imc0 > /tmp/stats" -x @read \
			-x 'pmu-model add imc0 cas_rd 600; pmu-model add imc0 cas_rd_sch1 8000' -x @read \
			-x "pmu-event uncore_imc_0:0xf006 -x 'pmu-model add imc0 cas_wr_sch1 4'" -x @read
		pmu-event --group uncore_imc_0:0xcf05,1 uncore_imc_0:0xf006 -x 'pmu-model add imc0 cas_rd_sch1 9; pmu-model add imc0 cas_wr_sch1 1'
	EOT
	got=$(pmu-event --manual uncore_imc_0:0xf005 -x 'sh /tmp/handed' | xargs)
	equal "the first; the second, one beside it; who comes next" "$(cat /tmp/first); $got" "75; 75 8675 4 8675 9 1"
	equal "writes when the first leaves" "$(awk '{ w += $3 } END { print w + 0 }' /tmp/stats)" 0
}

# perf also takes the name that a unit has by its number in the table. Free-running counters are in no table.
test_aliases() {
	for number in $CHANNELS; do
		equal "channel $number" "$(cat "$PMUS/uncore_imc_$number/alias")" "uncore_type_6_$number"
	done
	equal "others" "$(cd "$PMUS" && echo uncore_imc_free*/alias)" 'uncore_imc_free*/alias'
	contains "perf" "$(perf stat -a -x, --per-socket -e uncore_type_6_3/event=0x5,umask=0xcf/ -- \
		pmu-model add imc3 cas_rd 9 2>&1)" '^S0,1,9,,uncore_'
}

# An older in-tree driver, loaded behind ours, takes the names for its own PMUs.
test_aliases_of_the_other_driver() {
	case $driver/$MODEL/$(uname -r) in
		ours/173/6.1.*) ;;
		*) skip "where the in-tree driver does not know the processor" ;;
	esac
	modprobe intel-uncore
	[ -e "$PMUS/uncore_type_6_3" ]
	equal "alias" "$(cat "$PMUS/uncore_imc_3/alias" 2> /dev/null || echo none)" none
	contains "perf" "$(perf stat -a -x, --per-socket -e uncore_type_6_3/event=0x5,umask=0xcf/ -- \
		pmu-model add imc3 cas_rd 9 2>&1)" '^S0,1,9,,uncore_type_6_3'
	rmmod intel_uncore
	test_aliases
}

test_free_running() {
	if [ "$MODEL" = 173 ]; then
		equal "PMUs" "$(cd "$PMUS" && echo uncore_imc_free_running_*)" 'uncore_imc_free_running_*'
		return
	fi
	PMU=$PMUS/uncore_imc_free_running_3
	equal "events" "$(cd "$PMU/events" && grep . dclk rpq_cycles wpq_cycles | xargs)" \
		"dclk:event=0xff,umask=0x10 rpq_cycles:event=0xff,umask=0x20 wpq_cycles:event=0xff,umask=0x21"
	for key in rpq_cycles wpq_cycles; do pmu-model set free3 $key 1000; done
	equal "counts" "$(pmu-event uncore_imc_free_running_3:0x20ff uncore_imc_free_running_3:0x21ff \
		-x 'pmu-model set free3 rpq_cycles 1007; pmu-model set free3 wpq_cycles 1080')" "7 80"
	before=$(pmu-model get free3 dclk)
	got=$(pmu-event uncore_imc_free_running_3:0x10ff \
		-x 'pmu-model get free3 dclk > /tmp/first; pmu-model get free3 dclk > /tmp/last')
	within "clocks" "$got" $(($(cat /tmp/last) - $(cat /tmp/first))) $(($(pmu-model get free3 dclk) - before))
}

# What begins anew, as behind a sleep, has not gone round.
test_free_running_begins_anew() {
	ours_only
	[ "$MODEL" = 173 ] && skip "there are none"
	pmu-model set free0 rpq_cycles 5000000
	equal "counts" "$(pmu-event uncore_imc_free_running_0:0x20ff -x 'pmu-model set free0 rpq_cycles 5000007' \
		-x 'pmu-model set free0 rpq_cycles 3' -x 'pmu-model set free0 rpq_cycles 5' | xargs)" "7 7 9"
}

# A record that lies costs its channel, and a line: lies RECORD WORD VALUE LEFT WHY
lies() {
	unload
	pmu-model set discovery@0 whole 1
	pmu-model set discovery@0 at $(($1 * 32 + $2 * 8))
	pmu-model set discovery@0 word "$3"
	log_mark
	load
	equal "record $1, word $2: PMUs" "$(of_socket_0)" "$4"
	contains "record $1, word $2: log" "$(log_since_mark)" "6a:00.1: table of counters.*$5"
	equal "lines" "$(log_since_mark | grep -c 'table of counters' || :)" 1
}

test_tables_that_lie() {
	ours_only
	[ "$MODEL/$SOCKETS" = 143/2 ] || skip "tried on Sapphire Rapids"
	lies 2 0 0x0000005c08304004 '0 2 3 4 5 6 7' 'record 2: its registers are not in memory: no PMU for this channel'
	lies 2 2 0x00000006 '0 2 3 4 5 6 7' 'record 2: another one has its number'
	lies 13 1 0 '0 1 2 3 4 6 7' 'record 13: its address cannot be right'
	lies 0 0 0x03ff0400 "$CHANNELS" 'record 256: it is outside the memory'
	unload
	pmu-model set discovery@0 whole 1
	load
}

# Tables in which some words are others: noise, no bit, all bits, other records of channels. TABLE RECORD WORD VALUE
generated() { # TABLES
	awk -v tables="$1" '
		function half() { return sprintf("%04x", int(rand() * 65536)) }
		function value(word, kind) {
			kind = int(rand() * 6)
			if (kind == 0) return "0"
			if (kind == 1) return "0xffffffffffffffff"
			if (kind == 2) return "0x" half() half() half() half()
			if (word == 0) return "0x40" substr(half() half(), 1, 6) "0830" half()
			if (word == 1) return "0x00000000d0" substr(half() half(), 1, 6)
			return sprintf("0x%04x0006", int(rand() * 120))
		}
		BEGIN {
			srand(28)
			for (table = 1; table <= tables; table++)
				for (n = int(rand() * 6); n >= 0; n--) {
					word = int(rand() * 3)
					print table, int(rand() * 20), word, value(word)
				}
		}'
}

# Whatever a table says, nothing is written where no channel is, the other socket counts, and a good table is served again.
test_generated_tables() {
	ours_only
	[ "$MODEL/$SOCKETS" = 143/2 ] || skip "tried on Sapphire Rapids"
	pmu-model stats mmio@0 --reset > /dev/null
	generated 100 > /tmp/tables
	told=0 whole=0 tables=0
	for table in $(seq 100); do
		[ ! -e "$DRIVER/$FUNCTION" ] || echo $FUNCTION > $DRIVER/unbind
		{
			echo "set discovery@0 whole 1"
			sed -n "s/^$table //p" /tmp/tables | while read -r record word value; do
				echo "set discovery@0 at $((record * 32 + word * 8))"
				echo "set discovery@0 word $value"
			done
		} > /tmp/table
		pmu-model - < /tmp/table > /dev/null
		log_mark
		echo $FUNCTION 2> /dev/null > $DRIVER/bind || :
		pmus=$(grep -l '^0' "$PMUS"/uncore_imc_[0-9]*/cpumask | wc -l)
		within "PMUs of table $table" "$pmus" 0 20
		[ "$pmus" != 8 ] || whole=$((whole + 1))
		! log_since_mark | grep -qE 'table of counters|no PMU for this channel' || told=$((told + 1))
		tables=$((tables + 1))
	done
	show "$tables tables, $told with a complaint, $whole with all channels"
	equal "tables" $tables 100
	within "with a complaint" $told 30 95
	within "with all channels" $whole 5 80
	equal "writes elsewhere" "$(pmu-model stats mmio@0 | awk '{ n += $3 } END { print n }')" 0
	equal "the other socket" "$(perf stat -a -x, --per-socket -e uncore_imc_3/event=0x5,umask=0xcf/ -- \
		pmu-model add imc3@1 cas_rd 7 2>&1 | sed -n 's/^S1,1,\([0-9]*\),.*/\1/p')" 7
	[ ! -e "$DRIVER/$FUNCTION" ] || echo $FUNCTION > $DRIVER/unbind
	pmu-model set discovery@0 whole 1
	echo $FUNCTION > $DRIVER/bind
	equal "PMUs" "$(of_socket_0)" "$CHANNELS"
	equal "count" "$(pmu-event uncore_imc_7:0xcf05 -x 'pmu-model add imc7 cas_rd 100')" 100
}

# No table at all: the socket has no PMU, the other one is served.
test_no_table() {
	ours_only
	[ "$SOCKETS" = 2 ] || skip "one socket"
	for how in 'gone 1' 'entry 3' 'bir 7' 'bir 0x10' 'bir 3' 'header 0x00010024'; do
		unload
		# shellcheck disable=SC2086 # words
		pmu-model set discovery@0 $how
		log_mark
		load
		equal "$how" "$(of_socket_0)" ""
		contains "$how: log" "$(log_since_mark)" '7e:00.1: .*no table of counters lists a memory channel of socket 0'
		equal "$how: the other socket" "$(perf stat -a -x, --per-socket -e uncore_imc_3/event=0x5,umask=0xcf/ -- \
			pmu-model add imc3@1 cas_rd 7 2>&1 | sed -n 's/^S1,1,\([0-9]*\),.*/\1/p')" 7
		pmu-model set discovery@0 gone 0
		capability
	done
	# The table's function decodes no memory.
	unload
	config=/sys/bus/pci/devices/$TABLE/config
	dd if=$config of=/tmp/command bs=1 skip=4 count=2 2> /dev/null
	printf '\0\0' | dd of=$config bs=1 seek=4 conv=notrunc 2> /dev/null
	log_mark
	load
	equal "no memory" "$(of_socket_0)" ""
	contains "no memory: log" "$(log_since_mark)" "6a:00.1: table of counters: the function's memory is off"
	dd if=/tmp/command of=$config bs=1 seek=4 conv=notrunc 2> /dev/null
	# Capabilities that lead back: each is looked at once.
	unload
	pmu-model set discovery@0 header 0x10010023
	load
	equal "PMUs" "$(of_socket_0)" "$CHANNELS"
	capability
}

# A channel where nobody answers, and one that is dead
test_channels_that_fail() {
	ours_only
	[ "$SOCKETS" = 2 ] || skip "one socket"
	unload
	pmu-model set imc4 dead 1
	pmu-model set imc6 gone 1
	log_mark
	load
	equal "PMUs" "$(of_socket_0)" "$(echo "$CHANNELS" | sed 's/4 5 6 /5 /')"
	contains "log" "$(log_since_mark)" '7e:00.1: the fixed counter does not advance.*uncore_imc_4 lacks socket 0'
	contains "log" "$(log_since_mark)" '7e:00.1: .*uncore_imc_6: nothing answers at 0x'
	pmu-model set imc4 dead 0
	pmu-model set imc6 gone 0
	eventually "PMUs, with a clock" "$(echo "$CHANNELS" | sed 's/6 //')" of_socket_0
	unload
	load
}

# The in-tree driver's PMUs tell that it has the channels. Nothing is written then.
test_the_in_tree_driver_was_first() {
	ours_only
	unload
	log_mark
	modprobe intel-uncore 2> /dev/null || { load; skip "this kernel has no intel_uncore as a module"; }
	[ -e "$PMUS/uncore_imc_0" ] || { rmmod intel_uncore; load; skip "this kernel's intel_uncore has no such channels"; }
	insmod $MODULES/pmu_core.ko
	pmu-event uncore_imc_0:0xcf05 -x 'pmu-model stats imc0 --reset > /dev/null; insmod /vm/modules.d/intel_imc_pmu.ko
		pmu-model stats imc0 > /tmp/stats; pmu-model add imc0 cas_rd 5' > /tmp/count 2> /tmp/said
	rmmod intel_uncore
	insmod $MODULES/intel_imc_pmu.ko
	equal "count" "$(cat /tmp/count)" 5
	contains "insmod" "$(cat /tmp/said)" 'busy'
	equal "accesses" "$(awk '{ n += $2 + $3 } END { print n }' /tmp/stats)" 0
	contains "log" "$(dmesg)" \
		'7e:00.1: .*another driver has PMUs of these memory channels: to use intel_imc_pmu unload that driver \(intel_uncore\)'
	equal "channels that are said not to count" "$(log_since_mark | grep -c 'none of which counts' || :)" 0
	equal "PMUs" "$(of_socket_0)" "$CHANNELS"
}

# The function with the table belongs to another driver, and may go: it was only read. All channels go with the one
# that is bound.
test_functions_that_go() {
	ours_only
	equal "driver of the table" "$(readlink "/sys/bus/pci/devices/$TABLE/driver" || echo none)" none
	got=$(pmu-event uncore_imc_0:0xcf05 uncore_imc_7:0xcf05 -x 'pmu-model add imc0 cas_rd 5; pmu-model add imc7 cas_rd 6' \
		-x "echo 1 > /sys/bus/pci/devices/$TABLE/remove; pmu-model add imc0 cas_rd 5" \
		-x "echo $FUNCTION > $DRIVER/unbind; $UNTIL_ERROR" | xargs)
	equal "counts" "$got" "5 6 10 6 error error"
	echo 1 > /sys/bus/pci/rescan
	echo $FUNCTION > $DRIVER/bind
	equal "PMUs" "$(of_socket_0)" "$CHANNELS"
	equal "count" "$(pmu-event uncore_imc_0:0xcf05 -x 'pmu-model add imc0 cas_rd 100')" 100
}

# The last CPU of a socket leaves with an event open.
test_last_cpu_of_a_socket() {
	ours_only
	[ "$SOCKETS" = 2 ] || skip "one socket"
	equal "count" "$(pmu-event --cpu 1 uncore_imc_0:0xcf05 -x 'pmu-model add imc0@1 cas_rd 7' \
		-x 'echo 0 > /sys/devices/system/cpu/cpu1/online' | xargs)" "7 7"
	cpu_online 1 1
	equal "and again" "$(pmu-event --cpu 1 uncore_imc_0:0xcf05 -x 'pmu-model add imc0@1 cas_rd 8')" 8
}

test_sleep() {
	ours_only
	log_mark
	equal "before, behind, after" "$(pmu-event uncore_imc_0:0xcf05 -x 'pmu-model add imc0 cas_rd 100' \
		-x 'pmu-model set firmware wake 200; echo mem > /sys/power/state' -x 'pmu-model add imc0 cas_rd 100' | xargs)" \
		"100 100 200"
	equal "log" "$(log_since_mark | grep intel_imc_pmu || :)" ""
}

test_leaves_nothing() {
	ours_only
	unload
	equal "memory that is claimed" "$(grep -c intel_imc_pmu /proc/iomem || :)" 0
	no_leaks
	load
}

run_tests
