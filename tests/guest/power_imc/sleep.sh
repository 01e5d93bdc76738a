#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Deep sleep, after which an engine is off: it is held off while engines are used, and what is found off all
# the same is started again. For the model a stop level is deep when a test says so.
#
# all vm: --arch ppc64le --kernel 6.12 --driver ours --model power9
# kernels vm: --arch ppc64le --kernel 6.1 --driver ours --model power9
. ./power_imc/lib.sh

trap 'pmu-model set core0 deep 0; load' EXIT

# As idle states' latencies in us; 2000000000 is none.
latency() {
	hexdump -n 4 -e '1/4 "%d"' /dev/cpu_dma_latency
}

restarts() {
	sed -n 's/.*restarts //p' $DEBUG/engines
}

# Somebody loses the switch of an engine in the middle: what comes after a moment is counted again.
test_engine_that_is_lost_is_started_again() {
	for firmware in opal scom; do
		load firmware=$firmware
		cat > /tmp/lose <<-EOT
			. ./power_imc/lib.sh
			pmu-model set core0 lost 1
			eventually "engine by $firmware" 1 pmu-model get core0 running
		EOT
		got=$(pmu-event core_imc:$INST -x "$(imc_add core0 $INST 5)" -x 'sh /tmp/lose' -x "$(imc_add core0 $INST 7)" | tr '\n' ' ')
		equal "core counts by $firmware" "$got" "5 5 12 "
		got=$(imc_thread_event -x "$(imc_thread_add 0 $TASK_INST 5)" -x 'sh /tmp/lose' -x "$(imc_thread_add 0 $TASK_INST 7)" |
			tr '\n' ' ')
		equal "thread counts by $firmware" "$got" "5 5 12 "
		trace_every $NEVER
		trace_record -C 0 -- taskset 1 sh -c 'pmu-model set thread0 burst 100; sh /tmp/lose; pmu-model set thread0 burst 50'
		trace_every 0
		equal "samples by $firmware" "$(trace_samples)" 150
		equal "restarts by $firmware" "$(restarts)" 3
		contains "log" "$(log_since_mark)" "the engine of CPU 0's core was off, as after a deep sleep"
	done
}

# One that cannot be started any more is tried again, and the log says so once; when it can, it counts again.
test_engine_that_is_lost_for_a_while() {
	trap 'pmu-model set core0 refuse 0' EXIT
	load
	cat > /tmp/lose <<-EOT
		. ./power_imc/lib.sh
		pmu-model set core0 refuse 2
		pmu-model set core0 lost 1
		while ! grep -q 'restarts [3-9]' $DEBUG/engines; do sleep 0.1; done
		pmu-model set core0 refuse 0
		eventually "engine" 1 pmu-model get core0 running
	EOT
	got=$(pmu-event core_imc:$INST -x "$(imc_add core0 $INST 5)" -x 'sh /tmp/lose' -x "$(imc_add core0 $INST 7)" | tr '\n' ' ')
	equal "counts" "$got" "5 5 12 "
	equal "times that the log says so" "$(log_since_mark | grep -c 'could not be started again')" 1
	equal "times that it says that it is started" "$(log_since_mark | grep -c 'is started again')" 1
}

# A switch that does not read as it was written: its engine is not started again and again.
test_switch_that_does_not_tell() {
	trap 'pmu-model set core0 mute 0' EXIT
	load
	pmu-model set core0 mute 1
	pmu-model stats core0 --reset > /dev/null
	got=$(pmu-event core_imc:$INST -x "sleep 1.5; $(imc_add core0 $INST 5)" -x 'pmu-model stats core0 > /tmp/stats')
	equal "counts" "$(echo "$got" | tr '\n' ' ')" "5 5 "
	equal "restarts" "$(restarts)" 0
	equal "writes of PDBAR" "$(sed -n 's/^pdbar [0-9]* //p' /tmp/stats)" 1
	equal "times that the log says so" "$(log_since_mark | grep -c 'it is not checked later')" 1
}

# A switch that reads as off later on, between two looks or not, of an engine that posts: it is left alone.
test_switch_that_drops() {
	trap 'pmu-model set core0 drops 0' EXIT
	load
	pmu-model set core0 drops 1300000000
	pmu-model stats core0 --reset > /dev/null
	got=$(pmu-event core_imc:$INST -x "sleep 4; $(imc_add core0 $INST 5)" -x 'pmu-model stats core0 > /tmp/stats')
	equal "count" "$(echo "$got" | tail -n 1)" 5
	equal "times found off, and writes of PDBAR" "$(restarts) $(sed -n 's/^pdbar [0-9]* //p' /tmp/stats)" "1 1"
	equal "times that the log says so" "$(log_since_mark | grep -c 'it is not checked any more')" 1
}

# The look is made on any CPU, by who has time: not by the one that opened an event.
test_look_is_nobodys() {
	load
	cd /sys/kernel/tracing || { mount -t tracefs tracing /sys/kernel/tracing; cd /sys/kernel/tracing; }
	echo 1 > events/workqueue/workqueue_queue_work/enable
	pmu-event core_imc:$INST -x 'sleep 1.5' > /dev/null
	echo 0 > events/workqueue/workqueue_queue_work/enable
	grep 'function=power_imc_session_run ' trace | sed 's/.*workqueue=\([^ ]*\) .*/\1/' > /tmp/looks
	within "looks" "$(grep -c . /tmp/looks)" 1 7
	equal "queues" "$(sort -u /tmp/looks)" events_unbound
}

# Nothing is limited where no idle state loses registers, as on this machine.
test_limit_is_held_while_engines_are_used() {
	for row in -1:2000000000 0:2000000000 3:3; do
		load max_latency=${row%:*}
		for event in "core_imc:$INST" "--pid 0 --cpu -1 thread_imc:$TASK_INST" "--period 250 trace_imc:$CONFIG"; do
			eventually "before $event" 2000000000 latency
			# shellcheck disable=SC2086 # options
			pmu-event $event -x "hexdump -n 4 -e '1/4 \"%d\"' /dev/cpu_dma_latency > /tmp/latency" > /dev/null
			equal "with $event, max_latency=${row%:*}" "$(cat /tmp/latency)" "${row#*:}"
		done
		eventually "afterwards" 2000000000 latency
	done
	load max_latency=3
	pmu-event nest_mcs01_imc:$READS -x "hexdump -n 4 -e '1/4 \"%d\"' /dev/cpu_dma_latency > /tmp/latency" > /dev/null
	equal "with a nest event" "$(cat /tmp/latency)" 2000000000
}

# The last event is closed, but the engine does not stop. It has to answer when that is tried again.
test_limit_is_held_until_engines_are_off() {
	trap 'pmu-model set core0 refuse 0' EXIT
	load max_latency=3
	pmu-event core_imc:$INST -x 'pmu-model set core0 refuse 2' > /dev/null
	sleep 1
	equal "with an engine that is on" "$(latency)" 3
	pmu-model set core0 refuse 0
	pmu-event core_imc:$INST -x true > /dev/null
	eventually "afterwards" 2000000000 latency
}

# stop1 is deep, and takes 5 us. Held off nothing is lost; else it is, and found.
test_deep_sleep() {
	before=$(pmu-model get core0 lost)
	load max_latency=4
	got=$(pmu-event core_imc:$INST -x "pmu-model set core0 deep 1; sleep 1; pmu-model get core0 lost > /tmp/lost" \
		-x "$(imc_add core0 $INST 7)" | tr '\n' ' ')
	equal "count, losses where it is held off" "$got$(($(cat /tmp/lost) - before))" "0 7 0"
	equal "restarts" "$(restarts)" 0
	load max_latency=0
	pmu-event core_imc:$INST -x 'sleep 3; pmu-model get core0 lost > /tmp/lost' > /dev/null
	within "losses where it is not" $(($(cat /tmp/lost) - before)) 1 1000000
	within "restarts" "$(restarts)" 1 10
	pmu-model set core0 deep 0
	equal "count" "$(pmu-event core_imc:$INST -x "$(imc_add core0 $INST 7)")" 7
}

run_tests
