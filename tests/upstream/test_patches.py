# SPDX-License-Identifier: GPL-2.0-only
"""The semantic patches of Documentation/upstream: applied to Debian's kernel source by spatch, built, and run on the models.

The driver is built twice, without the patch and with it, so what differs is the patch: before it a count is wrong, after it none.
POWER's driver is built in, but can be a module with what imc_symbols.c finds for it. For perf's core the whole kernel is built.
"""
import os
import shutil
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from pmusuite import arch, build, cache, debian, debug_kernel, guest, kernel, kernels, unittests

REPORTS = cache.TREE / "Documentation/upstream"


def unpack(of, series, directory, *members):
    """These @members of Debian's source of the stock kernel of a @series."""
    source = f"linux-source-{series}"
    outer = directory / ".deb"
    outer.mkdir(parents=True)
    debian.unpack(debian.download(debian.host_arch(), [f"{source}={kernel.packages(of, series)['version']}"]), outer)
    cache.run(["tar", "-xf", outer / "usr/src" / f"{source}.tar.xz", "-C", directory, "--strip-components=1",
               *(f"{source}/{member}" for member in members)], f"unpacking {source}")


def apply(patch, file):
    """Change @file as a semantic @patch has it."""
    before = file.read_text()
    cache.run(["spatch", "--smpl-spacing", "--in-place", "--sp-file", REPORTS / f"{patch}.cocci", file], f"applying {patch}")
    if file.read_text() == before:
        raise cache.Error(f"{patch} changes nothing in {file}")


class Patch(unittest.TestCase):
    """A driver that is a module: its sources, what kbuild makes of them, and the commands whose counts tell."""

    series, helpers = debug_kernel.SERIES, ()

    def setUp(self):
        if not shutil.which("spatch"):
            self.skipTest("spatch is not installed: apt install coccinelle")
        directory = tempfile.TemporaryDirectory(prefix="upstream.")
        self.addCleanup(directory.cleanup)
        self.source = Path(directory.name) / "source"
        self.kernel = kernels.get(self.arch, self.series)
        unpack(self.arch, self.series, self.source, *self.members)

    def make(self, *goals):
        place = (self.source / self.file).parent
        (place / "Makefile").write_text(self.kbuild)
        cache.run(build.make("-C", self.kernel.kdir, f"M={place}", *goals,
                             *(f"{variable}={value}" for variable, value in build.kbuild(self.arch).items())), f"building {goals[0]}")
        return place

    def build(self, name):
        """The module, called @name.ko, of the source as it is."""
        place = self.make("modules")
        build.strip(self.arch, place / self.module, self.source)
        return (self.source / self.module).rename(self.source.parent / f"{name}.ko")

    def counts(self, module):
        modules = [*((self.source / self.file).with_name(name) for name in self.helpers), module]
        done = unittests.vm(self, "--arch", self.arch.name, "--kernel", self.series, "--driver", "none", "--model", self.model,
                            *(word for one in modules for word in ("--copy", str(one))), "--", "sh", "-ec",
                            "".join(f"insmod {one.name}; " for one in modules) + self.commands)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [int(line) for line in done.stdout.split()]

    def check(self):
        before = self.build("before")
        apply(self.patch, self.source / self.file)
        after = self.build("after")
        self.assertEqual((self.counts(before), self.counts(after)), (self.wrong, self.right))


class TornRead(Patch):
    arch, model = arch.ARCHES["x86_64"], "snbep,sockets=2"
    patch, file, module = "intel-uncore-torn-read", "arch/x86/events/intel/uncore_snbep.c", "intel-uncore.ko"
    members = ("arch/x86/events",)
    kbuild = ("obj-m := intel-uncore.o\n"
              "intel-uncore-y := uncore.o uncore_nhmex.o uncore_snb.o uncore_snbep.o uncore_discovery.o\n")
    commands = ("pmu-event uncore_imc_2:0x304 -x 'pmu-model add imc2 cas_rd 0xfffffff0' -x 'pmu-model set imc2 tear 0x30' -x true")
    wrong = [4294967280, 8589934576, 281479271677984]
    right = [4294967280, 4294967328, 4294967328]

    def test_before_it_the_fault_and_after_it_none(self):
        self.check()


class LostCarry(Patch):
    arch, model = arch.ARCHES["arm64"], "cmn700"
    patch, file, module = "arm-cmn-lost-carry", "drivers/perf/arm-cmn.c", "arm-cmn.ko"
    members = (file,)
    kbuild = "obj-m := arm-cmn.o\n"
    commands = ("pmu-event --manual arm_cmn_0/hnf_cache_miss,bynodeid=1,nodeid=0x24/ -x '@model add cmn0 hnf_cache_miss@0x24 65500' "
                "-x @read -x '@model set cmn0 tear_dtc 300' -x @read -x @read")
    wrong = [65500, 65500, 264]
    right = [65500, 65500, 65800]

    def test_before_it_the_fault_and_after_it_none(self):
        self.check()


class LostDomains(Patch):
    arch, model, series = arch.ARCHES["arm64"], "cmn700", "6.1"
    patch, file, module = "arm-cmn-domains", "drivers/perf/arm-cmn.c", "arm-cmn.ko"
    members = (file,)
    kbuild = "obj-m := arm-cmn.o\n"
    commands = ("for node in 0x24 0x64; do pmu-event arm_cmn_0/hnf_cache_miss,bynodeid=1,nodeid=$node/ "
                '-x "pmu-model add cmn0 hnf_cache_miss@$node 70001"; done')
    wrong = [70001, 4465]
    right = [70001, 70001]

    def test_before_it_the_fault_and_after_it_none(self):
        self.check()


class Imc(Patch):
    """The built-in driver, and beside it a module with what it calls and the kernel does not export."""

    arch, model = arch.ARCHES["ppc64le"], "power9"
    file, module, helpers = "arch/powerpc/perf/imc-pmu.c", "imc.ko", ("imc-symbols.ko",)
    members = (file, "arch/powerpc/platforms/powernv/opal-imc.c")
    # The built-in one is kept away by the name of its initcall.
    kbuild = ("obj-m := imc-symbols.o imc.o\nimc-symbols-y := imc_symbols.o\nimc-y := imc-pmu.o opal-imc.o license.o\n"
              "CFLAGS_opal-imc.o := -Dopal_imc_driver=imc_driver\n")

    def setUp(self):
        super().setUp()
        place = (self.source / self.file).parent
        shutil.copy(Path(__file__).with_name("imc_symbols.c"), place)
        (self.source / self.members[1]).rename(place / "opal-imc.c")
        (place / "license.c").write_text('#include <linux/module.h>\nMODULE_DESCRIPTION("IMC");\nMODULE_LICENSE("GPL");\n')


class OffsetCheck(Imc):
    patch = "imc-offset-check"
    commands = "for offset in 0x2000 0x1ffc 0x1ff8; do if pmu-event core_imc:$offset > /dev/null 2>&1; then echo 1; else echo 0; fi; done"
    wrong = [1, 1, 1]
    right = [0, 0, 1]

    def test_before_it_the_fault_and_after_it_none(self):
        self.check()


class TraceLaps(Imc):
    """10000 records, of which a ring has 4096: how many became samples, and whether perf knows of others."""

    patch = "imc-trace-laps"
    commands = ("pmu-model set 'thread*' every 1099511627776; perf record -q -o /tmp/data -C 0 -e trace_imc/trace_cycles/ -- "
                "sh -c 'pmu-model set thread0@0 spread 1; sleep 1; pmu-model set thread0@0 burst 10000; sleep 1'; "
                "perf script -i /tmp/data -F ip 2> /dev/null | wc -l; "
                "perf report -i /tmp/data --stdio 2> /dev/null | awk '/Total Lost Samples:/ { print ($NF >= 5904) }'")
    wrong = [1808, 0]
    right = [4095, 1]

    def test_before_it_the_fault_and_after_it_none(self):
        self.check()


class Core(unittest.TestCase):
    """perf's core, in a small kernel with the in-tree driver as a module: built once without its patches, and once with both."""

    arch, file = arch.ARCHES["x86_64"], "kernel/events/core.c"
    patches = ("perf-off-events-count", "perf-unregister-timer")

    @classmethod
    def setUpClass(cls):
        if not shutil.which("spatch"):
            raise unittest.SkipTest("spatch is not installed: apt install coccinelle")
        cls.enterClassContext(unittest.mock.patch.dict(os.environ, build.with_ccache() | build.kbuild(cls.arch)))
        directory = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="upstream.")))
        source = directory / "source"
        unpack(cls.arch, debug_kernel.SERIES, source)
        configs = [debug_kernel.CONFIGS / f"{name}.config" for name in ("common", cls.arch.name)]
        cache.run(["scripts/kconfig/merge_config.sh", "-n", *configs, Path(__file__).with_name("core.config")], "configuring", cwd=source)
        cls.before = cls.kernel(source, directory / "before")
        for patch in cls.patches:
            apply(patch, source / cls.file)
        cls.after = cls.kernel(source, directory / "after")

    @classmethod
    def kernel(cls, source, directory):
        """The kernel of the source as it is, and beside it its driver."""
        cache.run(build.make("-C", source), "building the kernel")
        directory.mkdir()
        shutil.copy(source / cls.arch.image, directory / "image")
        shutil.copy(source / "arch/x86/events/intel/intel-uncore.ko", directory)
        release = (source / "include/config/kernel.release").read_text().strip()
        return kernel.Kernel("kunit", release, directory / "image", None, source, "upstream")

    def run_on(self, of, commands):
        """(the guest's Outcome, what @commands print)"""
        out = bytearray()
        with unittest.mock.patch.object(kernels, "get", lambda *_: of):
            outcome = guest.run(guest.Guest(self.arch, "kunit", "none", ("snbep,sockets=2",), cpus=4, ours=of.image.parent,
                                            modules=("intel-uncore",), command=("sh", "-ec", commands)), out.extend)
        return outcome, out.decode()

    def test_events_that_are_off_stay_off(self):
        commands = ("owner=$(sed 's/.*,//' /sys/bus/event_source/devices/uncore_imc_0/cpumask); "
                    "pmu-event --disabled --cpu $owner uncore_imc_0:0x304 -x \"echo 0 > /sys/devices/system/cpu/cpu$owner/online\" "
                    "-x 'pmu-model add imc0@1 cas_rd 10'")
        for of, printed in (self.before, "0\n10\n"), (self.after, "0\n0\n"):
            outcome, out = self.run_on(of, commands)
            self.assertEqual((outcome.status, out), (0, printed), outcome.log)

    def test_a_pmu_leaves_no_timer(self):
        """Memory with a timer that is queued is used again: the timers' tree is broken, and the kernel's checks see it, too."""
        commands = ("for round in 1 2 3; do echo 10000 > /sys/bus/event_source/devices/uncore_imc_0/perf_event_mux_interval_ms; "
                    "pmu-event uncore_imc_0:0x304 uncore_imc_0:0xc04 uncore_imc_0:0x101 uncore_imc_0:0x102 uncore_imc_0:0xf04 -x true; "
                    "rmmod intel_uncore; insmod /vm/modules.d/intel-uncore.ko; done; sleep 15")
        outcome, _ = self.run_on(self.before, commands)
        self.assertEqual(outcome.status, guest.UNSOUND, outcome.log)
        self.assertIn("hrtimer", outcome.log)
        outcome, _ = self.run_on(self.after, commands)
        self.assertEqual(outcome.status, 0, outcome.log)


if __name__ == "__main__":
    unittests.main()
