#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Compiles a snippet per kernel feature with the flags that kbuild gives, and writes
# the outcome as macros. Run by Kbuild:
#
#   conftest.sh HEADER NM SYMVERS COMPILER FLAGS...
#
# Headers also have what modules may not use. So where the kernel's build directory has the list of what it exports
# (SYMVERS), each symbol of a snippet has to be in there. NM may have options.
#
# A snippet tests for what a driver wants to use, in the newest kernel's form. Where a feature is
# missing, the compiler has to say so of the snippet's own lines: any other failure, as of a header or
# of the compiler, is no answer and ends the build.
set -eu

header=$1 nm=$2 symvers=$3
shift 3
work=$(mktemp -d "${TMPDIR:-/tmp}/pmu-conftest.XXXXXX")
trap 'rm -rf "$work"' EXIT
macros=
count=0
# That of modules which are built without the kernel has theirs alone.
if grep -q '	perf_pmu_register	' "$symvers" 2> /dev/null; then cut -f 2 "$symvers" > "$work/exported"; fi

compile() { # MACRO DESCRIPTION COMPILER FLAGS...: the snippet is on standard input
	macro=$1 what=$2
	shift 2
	cat > "$work/$macro.c"
	macros="$macros $macro"
	answer "$@" > "$work/$macro.h" &
	# Four at a time.
	count=$((count + 1))
	[ $((count % 4)) != 0 ] || wait
}

answer() { # COMPILER FLAGS...
	# A warning is none of the snippet's business, but where it says that the feature is another one. In colour, as by
	# KCFLAGS, an error would not be found.
	if LC_ALL=C "$@" -fdiagnostics-color=never -Wno-error -Werror=implicit-function-declaration -Werror=incompatible-pointer-types \
	   -Werror=int-conversion -c -o "$work/$macro.o" "$work/$macro.c" > "$work/$macro.log" 2>&1; then
		withheld=$(withheld "$work/$macro.o")
		if [ -n "$withheld" ]; then
			printf '/* %s: no, not exported: %s: %s */\n' "$macro" "$withheld" "$what"
			return
		fi
		printf '#define %s 1\t/* %s */\n' "$macro" "$what"
	elif grep -q "/$macro\.c:[0-9:]* \(fatal \)\{0,1\}error:" "$work/$macro.log"; then
		printf '/* %s: no: %s */\n' "$macro" "$what"
	fi
}

# The symbols of an object that the kernel has for itself. Those of the compiler for POWER are linked to each module, as
# modpost knows; clang's for kCFI has one more for each function.
withheld() { # OBJECT
	[ -e "$work/exported" ] || return 0
	$nm -gP "$1" 2> /dev/null | sed -n 's/^\([^ ]*\) [UT] .*/\1/p' | grep -vxF -f "$work/exported" |
		grep -vxE '(__cfi_)?conftest|\.TOC\.|_(save|rest)[a-z0-9]*_.*' || :
}

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
	{ return irq_set_affinity_and_hint(irq, m) ?: irq_set_affinity(irq, m); }
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

compile HAVE_TASK_CONTEXTS "task_struct.perf_event_ctxp[], before 6.2" "$@" <<-EOT
	#include <linux/perf_event.h>
	struct pmu *conftest(struct task_struct *task);
	struct pmu *conftest(struct task_struct *task)
	{ return task->perf_event_ctxp[perf_sw_context]->pmu; }
EOT

compile HAVE_TOPOLOGY_MAX_DIES "topology_max_dies_per_package(), 6.9" "$@" <<-EOT
	#include <linux/topology.h>
	int conftest(void); int conftest(void) { return topology_max_dies_per_package(); }
EOT

compile HAVE_SAMPLE_FLAGS "perf_sample_data.sample_flags, 6.1" "$@" <<-EOT
	#include <linux/perf_event.h>
	void conftest(struct perf_sample_data *data);
	void conftest(struct perf_sample_data *data) { data->sample_flags |= PERF_SAMPLE_TIME; }
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

for word in 3 4; do
	compile HAVE_ATTR_CONFIG$word "perf_event_attr.config$word" "$@" <<-EOT
		#include <linux/perf_event.h>
		u64 conftest(struct perf_event_attr *attr);
		u64 conftest(struct perf_event_attr *attr) { return attr->config$word; }
	EOT
done

compile HAVE_LOST_SAMPLES "perf_event.lost_samples, 6.0" "$@" <<-EOT
	#include <linux/perf_event.h>
	void conftest(struct perf_event *event);
	void conftest(struct perf_event *event) { atomic64_add(1, &event->lost_samples); }
EOT

compile HAVE_ATTR_SIGTRAP "perf_event_attr.sigtrap, 5.13" "$@" <<-EOT
	#include <linux/perf_event.h>
	bool conftest(struct perf_event_attr *attr);
	bool conftest(struct perf_event_attr *attr) { return attr->sigtrap; }
EOT

# What a tracepoint hands to its probes, behind the first argument.
probe() { # MACRO DESCRIPTION TRACEPOINT ARGUMENTS COMPILER FLAGS...
	macro=$1 what=$2 tracepoint=$3 arguments=$4
	shift 4
	compile "$macro" "$what" "$@" <<-EOT
		#include <trace/events/sched.h>
		void conftest(void (*probe)(void *, $arguments));
		void conftest(void (*probe)(void *, $arguments))
		{ check_trace_callback_type_$tracepoint(probe); }
	EOT
}
task="struct task_struct *"
probe HAVE_SCHED_SWITCH "sched_switch with a state behind the tasks, 5.19" \
	sched_switch "bool, $task, $task, unsigned int" "$@"
probe HAVE_SCHED_EXIT "sched_process_exit of a task alone, until 6.15" \
	sched_process_exit "$task" "$@"
probe HAVE_SCHED_EXIT_GROUP_DEAD "sched_process_exit with group_dead, 6.16" \
	sched_process_exit "$task, bool" "$@"

compile HAVE_BARE_NAMESPACES "symbol namespaces are bare words, until 6.12" "$@" <<-EOT
	#include <linux/module.h>
	MODULE_IMPORT_NS(BARE_WORD);
EOT

wait
grep -q define "$work/PMU_CONFTEST_WORKS.h" || {
	cat "$work/PMU_CONFTEST_WORKS.log" >&2
	echo "conftest.sh: the kernel's headers do not compile a trivial module; see above" >&2
	exit 1
}
for macro in $macros; do
	test -s "$work/$macro.h" || {
		cat "$work/$macro.log" >&2
		echo "conftest.sh: the compiler does not tell whether this kernel has $macro; see above" >&2
		exit 1
	}
done
{
	echo "/* Made by scripts/conftest.sh for one kernel; not to be edited. */"
	for macro in $macros; do cat "$work/$macro.h"; done
} > "$header.new"
mv "$header.new" "$header"
