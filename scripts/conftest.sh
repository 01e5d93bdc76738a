#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Compiles a snippet per kernel feature with the flags that kbuild gives, and writes
# the outcome as macros. Run by Kbuild:
#
#   conftest.sh HEADER COMPILER FLAGS...
#
# A snippet tests for what a driver wants to use, in the newest kernel's form.
set -eu

header=$1
shift
work=$(mktemp -d "${TMPDIR:-/tmp}/pmu-conftest.XXXXXX")
trap 'rm -rf "$work"' EXIT

compile() { # MACRO DESCRIPTION COMPILER FLAGS...: the snippet is on standard input
	macro=$1 what=$2
	shift 2
	cat > "$work/$macro.c"
	if "$@" -Werror -c -o "$work/$macro.o" "$work/$macro.c" > "$work/$macro.log" 2>&1; then
		printf '#define %s 1\t/* %s */\n' "$macro" "$what"
	else
		printf '/* %s: no: %s */\n' "$macro" "$what"
	fi
}

{
	echo "/* Made by scripts/conftest.sh for one kernel; not to be edited. */"

	# The harness itself: where this fails the flags are wrong, not the kernel.
	compile PMU_CONFTEST_WORKS "the flags compile a module" "$@" <<-EOT
		#include <linux/module.h>
		#include <linux/perf_event.h>
		int conftest(struct pmu *pmu); int conftest(struct pmu *pmu) { return pmu->type; }
	EOT

	compile HAVE_HRTIMER_SETUP "hrtimer_setup(), 6.13" "$@" <<-EOT
		#include <linux/hrtimer.h>
		void conftest(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *));
		void conftest(struct hrtimer *t, enum hrtimer_restart (*f)(struct hrtimer *))
		{ hrtimer_setup(t, f, CLOCK_MONOTONIC, HRTIMER_MODE_REL); }
	EOT

	compile HAVE_IRQ_SET_AFFINITY "irq_set_affinity_and_hint(), 5.17" "$@" <<-EOT
		#include <linux/interrupt.h>
		int conftest(unsigned int irq, const struct cpumask *m);
		int conftest(unsigned int irq, const struct cpumask *m)
		{ return irq_set_affinity_and_hint(irq, m); }
	EOT

	compile HAVE_PMU_PARENT "pmu.parent, 6.7" "$@" <<-EOT
		#include <linux/perf_event.h>
		void conftest(struct pmu *pmu, struct device *dev);
		void conftest(struct pmu *pmu, struct device *dev) { pmu->parent = dev; }
	EOT

	# As an inline function it uses what is not exported, and this would be its second body.
	compile HAVE_PERF_ALLOW_CPU "perf_allow_cpu() is exported, 7.x" "$@" <<-EOT
		#include <linux/perf_event.h>
		int perf_allow_cpu(void) { return 0; }
	EOT

	compile HAVE_CPU_PMU_CONTEXT_POINTER "pmu.cpu_pmu_context of pointers, 6.15" "$@" <<-EOT
		#include <linux/perf_event.h>
		int conftest(struct pmu *pmu, int cpu);
		int conftest(struct pmu *pmu, int cpu)
		{ return (*per_cpu_ptr(pmu->cpu_pmu_context, cpu))->epc.nr_events; }
	EOT

	compile HAVE_CPU_PMU_CONTEXT "pmu.cpu_pmu_context, 6.2" "$@" <<-EOT
		#include <linux/perf_event.h>
		int conftest(struct pmu *pmu, int cpu);
		int conftest(struct pmu *pmu, int cpu)
		{ return per_cpu_ptr(pmu->cpu_pmu_context, cpu)->epc.nr_events; }
	EOT

	compile HAVE_TOPOLOGY_MAX_DIES "topology_max_dies_per_package(), 6.9" "$@" <<-EOT
		#include <linux/topology.h>
		int conftest(void); int conftest(void) { return topology_max_dies_per_package(); }
	EOT

	compile HAVE_SAMPLE_DYN_SIZE "perf_sample_data.dyn_size, 6.3" "$@" <<-EOT
		#include <linux/perf_event.h>
		void conftest(struct perf_sample_data *data);
		void conftest(struct perf_sample_data *data) { data->dyn_size = 0; }
	EOT

	compile HAVE_HK_TYPE "enum hk_type, 5.18" "$@" <<-EOT
		#include <linux/sched/isolation.h>
		bool conftest(int cpu);
		bool conftest(int cpu) { return housekeeping_test_cpu(cpu, HK_TYPE_TICK); }
	EOT

	compile HAVE_CPU_IS_ISOLATED "cpu_is_isolated(), 6.4" "$@" <<-EOT
		#include <linux/sched/isolation.h>
		bool conftest(int cpu);
		bool conftest(int cpu) { return cpu_is_isolated(cpu); }
	EOT

	compile HAVE_SYSTEM_DFL_WQ "system_dfl_wq, 6.17" "$@" <<-EOT
		#include <linux/workqueue.h>
		bool conftest(struct work_struct *work);
		bool conftest(struct work_struct *work) { return queue_work(system_dfl_wq, work); }
	EOT

	compile HAVE_TRACEPOINT_EXT "tracepoint.ext, 6.13" "$@" <<-EOT
		#include <linux/tracepoint.h>
		void *conftest(struct tracepoint *tp);
		void *conftest(struct tracepoint *tp) { return tp->ext; }
	EOT

	for word in 3 4; do
		compile HAVE_ATTR_CONFIG$word "perf_event_attr.config$word" "$@" <<-EOT
			#include <linux/perf_event.h>
			u64 conftest(struct perf_event_attr *attr);
			u64 conftest(struct perf_event_attr *attr) { return attr->config$word; }
		EOT
	done

	compile HAVE_BARE_NAMESPACES "symbol namespaces are bare words, until 6.12" "$@" <<-EOT
		#include <linux/module.h>
		MODULE_IMPORT_NS(BARE_WORD);
	EOT
} > "$header.new"

grep -q 'define PMU_CONFTEST_WORKS' "$header.new" || {
	cat "$work/PMU_CONFTEST_WORKS.log" >&2
	echo "conftest.sh: the kernel's headers do not compile a trivial module; see above" >&2
	exit 1
}
mv "$header.new" "$header"
