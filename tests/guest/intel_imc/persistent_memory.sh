#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# The events of persistent memory are Cascade Lake's; Skylake, which has the same PCI ids
# and CPU model, counts nothing for them.
#
# vm: --kernel 6.12 --driver 'ours in-tree' --model 'skx clx'
. ./intel_imc/lib.sh

# Cascade Lake's steppings start at 5.
stepping=$(sed -n 's/^stepping\t*: //p; /^$/q' /proc/cpuinfo)

test_counts() {
	got=$(pmu-event uncore_imc_0:0xe3 uncore_imc_0:0xe7 uncore_imc_0:0x1e0 -x \
		'pmu-model list imc0 | grep -q pmm_rpq_inserts || exit 0
		 pmu-model add imc0 pmm_rpq_inserts 7
		 pmu-model add imc0 pmm_wpq_inserts 80
		 pmu-model add imc0 pmm_rpq_occupancy.all 100 9')
	[ "$stepping" -ge 5 ] && wanted='7 80 900' || wanted='0 0 0'
	equal "inserts, occupancy" "$got" "$wanted"
}

# Ours has names for them, on the processor that has the events.
test_names() {
	names=$(find "$PMUS/uncore_imc_0/events" -name 'pmm_*' | wc -l)
	if [ "$stepping" -ge 5 ] && [ -e /sys/bus/pci/drivers/intel_imc_pmu ]; then
		within names "$names" 20 60
	else
		equal names "$names" 0
	fi
}

run_tests
