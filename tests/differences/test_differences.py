# SPDX-License-Identifier: GPL-2.0-only
"""Kernels of other distributions: Debian's headers with the differences that these have, one at a time.

Distributions backport: a version says nothing of what a kernel has. Every feature that scripts/conftest.sh
asks for, and every macro that include/pmu/compat.h supplies, is put in or taken away in a copy of the headers.
What uses it has to compile without a warning; or a PMU is left out, which the driver has a sentence for.
"""
import concurrent.futures
import functools
import itertools
import os
import re
import shutil
import sys
import unittest
import unittest.mock
from dataclasses import dataclass
from pathlib import Path

from pmusuite import build, cache, kernels
from pmusuite.arch import ARCHES

sys.path.insert(0, str(Path(__file__).parent))
from copies import Build, Copy, complaints  # noqa: E402

SERIES = "6.12"
LEFT_OUT = b"needs perf to take a sample's time from a driver"
PERF = "include/linux/perf_event.h"
PERF_ATTR = "include/uapi/linux/perf_event.h"
SCHED = "include/trace/events/sched.h"
ISOLATION = "include/linux/sched/isolation.h"
MODULE, EXPORT = "include/linux/module.h", "include/linux/export.h"
SCHED_FEATURES = ("HAVE_SCHED_SWITCH", "HAVE_SCHED_EXIT", "HAVE_SCHED_EXIT_GROUP_DEAD")


def renamed(file, *words):
    return lambda copy: [copy.rename(file, word) for word in words]


def appended(file, text):
    return lambda copy: copy.append(file, text)


def substituted(file, *pairs):
    return lambda copy: [copy.substitute(file, pattern, text) for pattern, text in pairs]


def exports(word):
    return lambda copy: copy.exports(word)


def sched_switch(*types):
    """The tracepoint with these arguments."""
    names = [f"a{number}" for number in range(len(types))]
    return substituted(SCHED, (r"(TRACE_EVENT\(sched_switch,\s*TP_PROTO)\([^)]*\),\s*TP_ARGS\([^)]*\)", lambda found:
                               f"{found[1]}({', '.join(map(' '.join, zip(types, names)))}), TP_ARGS({', '.join(names)})"))


def sched_exit(*types):
    """The tracepoint with these arguments, of no class."""
    names = [f"a{number}" for number in range(len(types))]
    return substituted(SCHED, (r"(?:DEFINE_EVENT\(sched_process_template|TRACE_EVENT\(sched_process_exit), *sched_process_exit,"
                               r"[^)]*\),\s*TP_ARGS\([^)]*\)\);",
                               f"DECLARE_TRACE(sched_process_exit, TP_PROTO({', '.join(map(' '.join, zip(types, names)))}), "
                               f"TP_ARGS({', '.join(names)}));"))


def both(*edits):
    return lambda copy: [edit(copy) for edit in edits]


@dataclass(frozen=True)
class Difference:
    name: str
    arch: str
    edit: object            # of a Copy
    uses: tuple             # what sources that are affected have, as regular expressions
    answers: dict = None    # {feature: whether the kernel has it then}; of no feature: compat.h asks for a macro
    left_out: bool = False  # trace_imc
    also: str = ""          # C that has to compile, with the driver's headers of the last of the files


def flip(feature, has, arch, edit, *uses, **kwargs):
    return Difference(f"{feature} {'backported' if has else 'missing'}", arch, edit, uses, {feature: has}, **kwargs)


def macro(word, arch, file, *words):
    return Difference(f"no {word}", arch, renamed(file, word, *words), (word,))


TASK = "struct task_struct *"
SCHED_NONE = dict.fromkeys(SCHED_FEATURES, False)


def probes(name, edit, switch, leave, left_out=False):
    """Tracepoints with other arguments: which of the features there are then."""
    return Difference(name, "ppc64le", edit, ("power_imc_sched_", "PMU_SAMPLES_OF_THE_PAST"),
                      SCHED_NONE | {feature: True for feature in (switch, leave) if feature}, left_out)


def trace_entry(name, size, edit):
    offset = "offsetof(struct power_imc_sample, raw.record) - offsetof(struct power_imc_sample, raw)"
    return Difference(f"struct trace_entry {name}", "ppc64le", edit, ("power_imc_sample_deliver",), also=f"""
        #include "trace.h"
        static_assert(sizeof(struct trace_entry) <= {offset});
        static_assert({offset} == {size});""")


DIFFERENCES = (
    flip("HAVE_HRTIMER_SETUP", True, "ppc64le", appended("include/linux/hrtimer.h", """
        static inline void hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*function)(struct hrtimer *),
                                         clockid_t clock, enum hrtimer_mode mode) { }"""), "hrtimer_setup"),
    Difference("another hrtimer_setup()", "ppc64le", appended("include/linux/hrtimer.h", """
        void hrtimer_setup(struct hrtimer *timer, clockid_t clock);"""), ("hrtimer_setup",), {"HAVE_HRTIMER_SETUP": False}),
    flip("HAVE_IRQ_SET_AFFINITY", False, "arm64", renamed("include/linux/interrupt.h", "irq_set_affinity_and_hint"),
         "irq_set_affinity"),
    flip("HAVE_PMU_PARENT", False, "arm64", substituted(PERF, (r"(struct device\s+\*)parent;", r"\1parent_of_another_kernel;")),
         "pmu_set_parent"),
    *(Difference(f"perf_allow_cpu(), {'' if exported else 'not '}exported", "ppc64le", both(substituted(
        PERF, (r"static inline int perf_allow_cpu\([^)]*\)\n\{[^}]*\n\}", "int perf_allow_cpu(void);")),
        *([exports("perf_allow_cpu")] if exported else [])), ("pmu_allow_cpu",), {"HAVE_PERF_ALLOW_CPU": exported})
      for exported in (True, False)),
    Difference("another perf_allow_cpu()", "ppc64le", substituted(
        PERF, (r"static inline int perf_allow_cpu\([^)]*\)\n\{[^}]*\n\}", "int perf_allow_cpu(struct perf_event_attr *attr);")),
        ("pmu_allow_cpu",), {"HAVE_PERF_ALLOW_CPU": False}),
    flip("HAVE_CPU_PMU_CONTEXT_POINTER", True, "ppc64le", substituted(
        PERF, (r"(struct perf_cpu_pmu_context )(__percpu \*cpu_pmu_context;)", r"\1* \2")), "pmu_context_events"),
    Difference("HAVE_CPU_PMU_CONTEXT missing", "ppc64le", substituted(
        PERF, (r"struct perf_cpu_pmu_context __percpu \*cpu_pmu_context;",
               "struct perf_cpu_context __percpu *pmu_cpu_context;"),
        (r"(struct perf_cpu_context \{)",
         r"\1\n\traw_spinlock_t hrtimer_lock;\n\tstruct hrtimer hrtimer;\n\tunsigned int hrtimer_active;")), ("pmu_context_events",),
        {"HAVE_CPU_PMU_CONTEXT": False, "HAVE_CPU_PMU_CONTEXT_POINTER": False}),
    flip("HAVE_TASK_CONTEXTS", True, "ppc64le", both(
        substituted("include/linux/sched.h", (r"(struct perf_event_context\s+\*perf_event_ctxp);", r"\1[perf_nr_task_contexts];")),
        substituted(PERF, (r"(struct perf_event_context \{)", r"\1\n\tstruct pmu *pmu;"))),
        "pmu_unregister\\("),
    flip("HAVE_TOPOLOGY_MAX_DIES", False, "x86_64", substituted(
        "arch/x86/include/asm/topology.h", (r"\btopology_max_dies_per_package\b", "topology_max_die_per_package")),
        "topology_max_dies"),
    flip("HAVE_SAMPLE_FLAGS", False, "ppc64le", renamed(PERF, "sample_flags"), "pmu_sample_flags", "PMU_SAMPLES_OF_THE_PAST",
         left_out=True),
    flip("HAVE_SAMPLE_DYN_SIZE", False, "ppc64le", renamed(PERF, "dyn_size"), "pmu_sample_grow"),
    flip("HAVE_HK_TYPE", False, "x86_64", substituted(ISOLATION, (r"\bHK_TYPE_", "HK_FLAG_")), "HK_TYPE_"),
    flip("HAVE_CPU_IS_ISOLATED", False, "x86_64", renamed(ISOLATION, "cpu_is_isolated"), "cpu_is_isolated"),
    *(flip("HAVE_SYSTEM_DFL_WQ", has, "ppc64le", edit, "system_dfl_wq") for has, edit in (
        (True, both(appended("include/linux/workqueue.h", "extern struct workqueue_struct *system_dfl_wq;"), exports("system_dfl_wq"))),
        (False, renamed("include/linux/workqueue.h", "system_dfl_wq")))),
    flip("HAVE_LOST_SAMPLES", False, "ppc64le", renamed(PERF, "lost_samples"), "pmu_add_lost_samples"),
    flip("HAVE_ATTR_CONFIG3", False, "ppc64le", renamed(PERF_ATTR, "config3"), "pmu_attr_further_config"),
    flip("HAVE_ATTR_CONFIG4", True, "ppc64le", substituted(PERF_ATTR, (r"(__u64\s+config3;.*)", r"\1\n\t__u64 config4;")),
         "pmu_attr_further_config"),
    flip("HAVE_ATTR_SIGTRAP", False, "ppc64le", renamed(PERF_ATTR, "sigtrap"), "pmu_attr_sigtrap"),
    probes("sched_switch with the state first", sched_switch("bool", "unsigned int", TASK, TASK), None, "HAVE_SCHED_EXIT",
           left_out=True),
    probes("sched_switch of no known kind", sched_switch("bool", TASK, TASK, "unsigned int", "u64"), None, "HAVE_SCHED_EXIT",
           left_out=True),
    probes("sched_process_exit with group_dead", sched_exit(TASK, "bool"), "HAVE_SCHED_SWITCH",
           "HAVE_SCHED_EXIT_GROUP_DEAD"),
    probes("sched_process_exit of no known kind", sched_exit("int", TASK), "HAVE_SCHED_SWITCH", None, left_out=True),
    macro("FIELD_PREP_CONST", "x86_64", "include/linux/bitfield.h"),
    macro("dev_err_ptr_probe", "ppc64le", "include/linux/dev_printk.h"),
    macro("PCIE_ECAM_OFFSET", "x86_64", "include/linux/pci-ecam.h"),
    macro("PCI_POSSIBLE_ERROR", "x86_64", "include/linux/pci.h"),
    macro("PCI_EXT_CAP_ID_DVSEC", "x86_64", "include/uapi/linux/pci_regs.h"),
    macro("IRQ_WORK_INIT_HARD", "x86_64", "include/linux/irq_work.h"),
    macro("DEFINE_SIMPLE_DEV_PM_OPS", "x86_64", "include/linux/pm.h", "SYSTEM_SLEEP_PM_OPS", "pm_sleep_ptr"),
    *(Difference(f"{word} alone of its kind", "x86_64", renamed("include/linux/pm.h", *others),
                 ("DEFINE_SIMPLE_DEV_PM_OPS",)) for word, *others in (
        ("DEFINE_SIMPLE_DEV_PM_OPS", "pm_sleep_ptr"), ("SYSTEM_SLEEP_PM_OPS", "DEFINE_SIMPLE_DEV_PM_OPS"))),
    trace_entry("with a member more", 16, substituted("include/linux/trace_events.h", (
        r"(struct trace_entry \{[^}]*)\}", r"\1\tunsigned char preempt_lazy_count;\n}"))),
    trace_entry("with a smaller member", 8, substituted("include/linux/trace_events.h", (
        r"(struct trace_entry \{[^}]*)\bint(\s+pid;)", r"\1short\2"))),
)


def unexpanded(copy, imports, exports):
    """Symbol namespaces as they are written, by the macro that imports one, that exports to one, or both."""
    if imports:
        copy.substitute(MODULE, r"(define MODULE_IMPORT_NS\(ns\)).*", r"\1 MODULE_INFO(import_ns, #ns)")
    if exports:
        copy.substitute(EXPORT, r"(define EXPORT_SYMBOL_NS_GPL\(sym, ns\)).*", r'\1 __EXPORT_SYMBOL(sym, "GPL", #ns)')


def strings(copy):
    """Symbol namespaces as strings."""
    copy.substitute(MODULE, r"(define MODULE_IMPORT_NS\(ns\)).*", r"\1 MODULE_INFO(import_ns, ns)")
    copy.substitute(EXPORT, r"(define EXPORT_SYMBOL_NS_GPL\(sym, ns\)).*", r'\1 __EXPORT_SYMBOL(sym, "GPL", ns)')


def modpost_appends(copy):
    """modpost's makefile appends subdir-ccflags-y to the flags, and uses them, when it reads a module's Kbuild."""
    copy.substitute("scripts/Makefile.modpost", r"^include .*kbuild-file.*$|^include .*wildcard .*Kbuild.*$",
                    lambda found: f"include $(srctree)/scripts/Makefile.lib\n{found[0]}\nused-flags := $(KBUILD_CFLAGS)")


# What needs kbuild as a whole; what is tested of single files is compiled as kbuild did it here.
WHOLE = {"x86_64": modpost_appends, "arm64": functools.partial(unexpanded, imports=True, exports=False),
         "ppc64le": strings}


class Differences(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, build.with_ccache()))
        # What ccache has is of a place. The same one each time, unless somebody else is there.
        for number in itertools.count():
            name = f"differences-{number}"
            if cls.enterClassContext(cache.lock(name, wait=False)):
                break
        cls.directory = cache.ROOT / name
        shutil.rmtree(cls.directory, ignore_errors=True)    # of one that was killed
        cls.directory.mkdir(parents=True)
        cls.addClassCleanup(shutil.rmtree, cls.directory)

    @classmethod
    def whole(cls, arch, edit=None):
        """The Build for @arch with the difference @edit, by default that of WHOLE."""
        name = f"{arch}-{len(list(cls.directory.iterdir()))}"
        copy = Copy(kernels.get(ARCHES[arch], SERIES), cls.directory / f"{name}-headers")
        (edit or WHOLE[arch])(copy)
        return Build(ARCHES[arch], copy, cls.directory / name)

    @classmethod
    @functools.cache
    def base(cls, arch):
        return cls.whole(arch)

    def expect_built(self, built):
        self.assertEqual(complaints(built.said), [])
        self.assertEqual(built.modules(), {"pmu_core", built.arch.driver})

    def test_modpost_that_appends_to_the_flags(self):
        self.expect_built(self.base("x86_64"))

    def test_namespaces_imported_as_written(self):
        self.expect_built(self.base("arm64"))

    def test_namespaces_as_strings(self):
        built = self.base("ppc64le")
        self.expect_built(built)
        self.assertNotIn("HAVE_BARE_NAMESPACES", built.answers())

    def test_namespaces_as_written(self):
        self.expect_built(self.whole("x86_64", functools.partial(unexpanded, imports=True, exports=True)))

    def test_a_kernel_that_changes_where_it_is(self):
        """As by an update of its headers: whether it exports a function is asked again."""
        built = self.whole("x86_64")
        self.assertIn("HAVE_IRQ_SET_AFFINITY", built.answers())
        self.assertNotIn("conftest.h", built.make())
        built.copy.withholds("__irq_apply_affinity_hint")
        built.said = built.make()
        self.assertNotIn("HAVE_IRQ_SET_AFFINITY", built.answers())
        self.expect_built(built)

    def check(self, difference):
        """What is wrong with a kernel that has it, or None."""
        built = self.base(difference.arch)
        wanted = difference.answers or {}
        if wanted and all((feature in built.answers()) == has for feature, has in wanted.items()):
            return None     # as the kernel is
        copy = Copy(kernels.get(built.arch, SERIES), self.directory / re.sub(r"\W+", "-", f"difference {difference.name}"))
        difference.edit(copy)
        if wrong := built.ask(copy, wanted):
            return wrong
        for feature, has in wanted.items():
            if built.has(copy, feature) != has:
                return f"conftest.sh says that {feature} is {'missing' if has else 'there'}"
        files = built.files(difference.uses) if difference.uses else []
        if difference.uses and not files:
            return f"nothing for {difference.arch} uses {', '.join(difference.uses)} any more"
        said, objects = "", b""
        for file in files:
            more, target = built.compile(copy, file)
            said += more
            objects += target.read_bytes() if target.exists() else b""
        if difference.also:
            said += built.compile(copy, files[-1], difference.also)[0]
        if not said and "PMU_SAMPLES_OF_THE_PAST" in difference.uses and (LEFT_OUT in objects) != difference.left_out:
            said = f"trace_imc is{' not' if difference.left_out else ''} left out"
        return said or None

    def test_differences(self):
        for arch in WHOLE:
            self.base(arch)
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for difference, future in [(one, pool.submit(self.check, one)) for one in DIFFERENCES]:
                with self.subTest(difference.name):
                    self.assertIsNone(future.result())

    def test_every_feature_has_both_answers(self):
        """Each that conftest.sh asks for is as on the kernel itself, and the other way round in a difference."""
        asked = self.base("ppc64le").tree / "pmu_conftest.h"
        features = set(re.findall(r"\b(HAVE_\w+)\b", asked.read_text())) - {"HAVE_BARE_NAMESPACES"}     # of WHOLE
        said = {(feature, has) for one in DIFFERENCES for feature, has in (one.answers or {}).items()}
        for feature in features:
            here = {feature in self.base(one.arch).answers() for one in DIFFERENCES if feature in (one.answers or {})}
            self.assertTrue(any((feature, not has) in said for has in here), f"nothing changes {feature}")
        supplied = re.findall(r"^#ifndef (?!HAVE_|PMU_)(\w+)", (cache.TREE / "include/pmu/compat.h").read_text(), re.M)
        words = {word for one in DIFFERENCES for word in one.uses}
        # Another architecture has none; the other two come with DEFINE_SIMPLE_DEV_PM_OPS.
        self.assertLessEqual(set(supplied) - {"topology_logical_die_id", "SYSTEM_SLEEP_PM_OPS", "pm_sleep_ptr"}, words)

    def test_no_answer_ends_the_build(self):
        """A feature test that fails for another reason than its feature is no answer."""
        built = self.base("x86_64")
        for number, (name, text, script) in enumerate((
                ("a header that does not compile", "#error broken", None),
                ("a compiler that is killed", None, 'case "$*" in *HRTIMER*) kill -KILL $$ ;; esac; exec "$@"'))):
            with self.subTest(name):
                copy = Copy(kernels.get(built.arch, SERIES), self.directory / f"no-answer-{number}")
                if text:
                    copy.append("include/linux/hrtimer.h", text)
                said = built.ask(copy, ["HAVE_HRTIMER_SETUP"], ["sh", "-c", script, "sh"] if script else None)
                self.assertIn("conftest.sh: ", said or "")

    def test_a_warning_is_no_answer(self):
        """A header that warns has its features all the same."""
        built = self.base("arm64")
        copy = Copy(kernels.get(built.arch, SERIES), self.directory / "a-warning")
        copy.append("include/linux/interrupt.h", "#warning this header is old")
        self.assertIsNone(built.ask(copy, ["HAVE_IRQ_SET_AFFINITY"]))
        self.assertTrue(built.has(copy, "HAVE_IRQ_SET_AFFINITY"))
