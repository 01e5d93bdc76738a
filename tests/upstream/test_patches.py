# SPDX-License-Identifier: GPL-2.0-only
"""The semantic patches of Documentation/upstream: applied to Debian's kernel source by spatch, built, and run on the models.

The driver is built twice, without the patch and with it, so what differs is the patch: before it a count is wrong, after it none.
POWER's driver is built in, but can be a module with what imc_symbols.c finds for it. What is in perf's core is compiled, and not
run: that would take a kernel of its own.
"""
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from pmusuite import arch, build, cache, debian, debug_kernel, kernel, kernels, unittests

REPORTS = cache.TREE / "Documentation/upstream"


def unpack(of, series, directory, *members):
    """These @members of Debian's source of the stock kernel of a @series."""
    source = f"linux-source-{series}"
    outer = directory / ".deb"
    outer.mkdir(parents=True)
    debian.unpack(debian.download(debian.host_arch(), [f"{source}={kernel.packages(of, series)['version']}"]), outer)
    cache.run(["tar", "-xf", outer / "usr/src" / f"{source}.tar.xz", "-C", directory, "--strip-components=1",
               *(f"{source}/{member}" for member in members)], f"unpacking {source}")


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

    def apply(self):
        done = subprocess.run(["spatch", "--smpl-spacing", "--in-place", "--sp-file", REPORTS / f"{self.patch}.cocci", self.source / self.file],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

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
        self.apply()
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


class Compiled(Patch):
    """Patches of perf's core: each is found, changes something, and compiles without a warning."""

    kbuild = "obj-y := core.o\nccflags-y := -Werror\n"

    def compiled(self):
        before = (self.source / self.file).read_text()
        self.apply()
        self.assertNotEqual((self.source / self.file).read_text(), before)
        self.make(Path(self.file).with_suffix(".o").name)


class OffEvents(Compiled):
    arch, members = arch.ARCHES["x86_64"], ("kernel/events",)
    patch, file = "perf-off-events-count", "kernel/events/core.c"

    def test_compiles(self):
        self.compiled()


class UnregisterTimer(Compiled):
    arch, members = arch.ARCHES["x86_64"], ("kernel/events",)
    patch, file = "perf-unregister-timer", "kernel/events/core.c"

    def test_compiles(self):
        self.compiled()


if __name__ == "__main__":
    unittests.main()
