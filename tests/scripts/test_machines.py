# SPDX-License-Identifier: GPL-2.0-only
# all: it starts each machine in QEMU
"""From options of scripts/vm to QEMU's: what is the architecture's, what the spec's, what is refused."""
import importlib.util
import marshal
import platform
import subprocess
import tempfile
import unittest
from pathlib import Path

from pmusuite import arch, build, cache, debug_kernel, guest, initrd, kernel, kernels, specs, tsc

STOCK = kernel.Kernel("6.1", "6.1.0", Path("vmlinuz"), Path("modules"), Path("kdir"), "")
DEBUG = kernel.Kernel("kunit", "6.12", Path("vmlinuz"), None, Path("kdir"), "")


def options(spec, option):
    """{key: value} of the argument of @option, and what it starts with."""
    arguments = specs.qemu_args(spec)
    first, *pairs = arguments[arguments.index(option) + 1].split(",")
    return first, dict(pair.split("=") for pair in pairs)


class Power(unittest.TestCase):
    def test_the_model(self):
        for name, generation in (("power9", "p9"), ("power10", "p10")):
            self.assertEqual(options(name, "-device"), ("power-imc", {"generation": generation}))

    def test_the_flash_has_the_catalog(self):
        for catalog in ("small", cache.TREE / "tests/models/power_imc/catalogs/p9.dts"):
            interface, drive = options(f"power9,catalog={catalog}", "-drive")
            self.assertEqual((interface, drive["format"], drive["readonly"]), ("if=mtd", "raw", "on"))
            flash = Path(drive["file"]).read_bytes()
            self.assertIn(b"IMCC\0\0\0\1\0\x4e\2\0", flash)
            self.assertEqual(b"\0\x80\2\0" in flash[:0x1100], catalog == "small")

    def test_chips_are_sockets(self):
        self.assertEqual(specs.want("power9").sockets, 1)
        self.assertEqual(specs.want("power10,chips=2").sockets, 2)

    def test_mistakes(self):
        for spec, message in (("power9,chips=3", "from 1 to 2"), ("power9,chips=0", "from 1 to"),
                              ("power9,sockets=1", "no key 'sockets'")):
            with self.subTest(spec), self.assertRaisesRegex(ValueError, message):
                specs.qemu_args(spec)
        with self.assertRaisesRegex(cache.Error, "cannot read the catalog /nowhere"):
            specs.qemu_args("power9,catalog=/nowhere")


class Command(unittest.TestCase):
    """QEMU's command line"""

    def command(self, name, kernel_of=STOCK, **options):
        machine = guest.Guest(arch=arch.get(name), **{"models": (arch.get(name).default_model,), **options})
        return guest._qemu(machine, kernel_of, "initrd")

    def after(self, command, option):
        return command[command.index(option) + 1]

    def smp(self, name, **options):
        return self.after(self.command(name, **options), "-smp")

    def test_processors(self):
        for name, options, wanted in (
                ("x86_64", {}, "1,sockets=1,cores=1,threads=1"),
                ("x86_64", {"cpus": 4, "models": ("snbep,sockets=2",)}, "4,sockets=2,cores=2,threads=1"),
                ("x86_64", {"cpus": 8, "models": ("clx,sockets=2,dies=2",)}, "8,sockets=2,dies=2,cores=2,threads=1"),
                ("arm64", {"cpus": 2}, "2,sockets=1,cores=2,threads=1"),
                ("ppc64le", {}, "2,sockets=1,cores=1,threads=2"),
                ("ppc64le", {"cpus": 1}, "1,sockets=1,cores=1,threads=1"),
                ("ppc64le", {"cpus": 4}, "4,sockets=1,cores=2,threads=2"),
                ("ppc64le", {"models": ("power9,chips=2",)}, "4,sockets=2,cores=1,threads=2")):
            with self.subTest(name, **options):
                self.assertEqual(self.smp(name, **options), wanted)

    def test_processors_that_do_not_fit(self):
        with self.assertRaisesRegex(cache.Error, "--cpus 3 cannot be spread over 2 sockets"):
            self.smp("ppc64le", cpus=3, models=("power9,chips=2",))

    def test_a_model_of_another_architecture(self):
        with self.assertRaisesRegex(cache.Error, "model snbep is for x86_64, not arm64"):
            self.command("arm64", models=("snbep",))

    def test_the_built_in_driver_is_kept_away_unless_asked_for(self):
        for driver, away in (("ours", True), ("none", True), ("in-tree", False)):
            line = self.after(self.command("ppc64le", driver=driver), "-append").split()
            self.assertEqual("initcall_blacklist=opal_imc_driver_init" in line, away, driver)

    def test_the_debug_kernel_panics_on_a_warning(self):
        for options, panics in (({}, True), ({"allow_warn": True}, False)):
            line = self.after(self.command("arm64", DEBUG, **options), "-append").split()
            self.assertEqual("panic_on_warn=1" in line, panics)
        self.assertNotIn("panic_on_warn=1", self.after(self.command("arm64"), "-append").split())

    def test_a_busy_host_makes_no_kernel_of_x86_panic(self):
        """At boot it waits for ten ticks of the timer, and without them says "IO-APIC + timer doesn't work!"."""
        for name in arch.ARCHES:
            for of_debug in ((), (DEBUG,)):
                line = self.after(self.command(name, *of_debug), "-append").split()
                self.assertEqual("no_timer_check" in line, name == "x86_64", name)

    def test_a_busy_host_makes_no_clock_of_x86_wrong(self):
        """At boot it measures its counter, and by how much that is wrong its clock stands still in each tick."""
        for options in ({}, {"icount": "trace", "cpus": 1}):
            line = self.after(self.command("x86_64", **options), "-append").split()
            said = [int(word.split("=")[1]) for word in line if word.startswith("tsc_early_khz=")]
            self.assertEqual(len(said), platform.machine() == "x86_64" and not options)
            for khz in said:
                # Measured again, over as long a time; and no processor's is slower than 500 MHz, or faster than 10 GHz.
                self.assertAlmostEqual(khz / tsc.khz.__wrapped__(), 1, delta=.001)
                self.assertTrue(500_000 < khz < 10_000_000, khz)
        self.assertNotIn("tsc_early_khz", self.after(self.command("arm64"), "-append"))

    def test_boots_are_quick_but_where_instructions_are_counted(self):
        for name in arch.ARCHES:
            line = self.after(self.command(name), "-append").split()
            self.assertIn("mitigations=off", line)
            self.assertEqual("kpti=off" in line, name == "arm64", name)
            self.assertNotIn("mitigations=off", self.after(self.command(name, icount="trace", cpus=1), "-append").split())

    def test_what_is_installed_runs_the_command_and_keeps_its_disk(self):
        command = self.command("x86_64", installed=(Path("disk"), Path("own")), command=("pmu-driver", "status"))
        self.assertIn("; pmu-driver status > out", self.after(command, "-append"))
        self.assertIn("snapshot=on", self.after(command, "-drive"))
        with self.assertRaisesRegex(cache.Error, "plain words, not: echo 'a'"):
            self.command("x86_64", installed=(Path("disk"), Path("own")), command=("echo", "'a'"))

    def test_every_architecture_has_a_default_model_and_its_own_bus_for_ports(self):
        for name in arch.ARCHES:
            command = self.command(name)
            self.assertEqual(specs.want(arch.get(name).default_model).arch, name)
            self.assertIn(f"virtio-serial-pci,bus={'pcie.1' if name == 'ppc64le' else 'pcie.0'}", command)
            self.assertIn("pmu-ctl,bus=pcie.0", command)


class Modules(unittest.TestCase):
    """What is loaded, from modules that were really built."""

    @classmethod
    def setUpClass(cls):
        cls.x86 = arch.get("x86_64")
        cls.built = build.modules(cls.x86, kernels.get(cls.x86, "6.1"))

    def load(self, **options):
        listed = guest._modules_to_load(guest.Guest(arch=self.x86, **options), self.built).decode().splitlines()
        return [line.replace("/vm/modules.d/", "") for line in listed]

    def test_what_a_driver_needs_comes_before_it(self):
        self.assertEqual(self.load(), ["pmu_core.ko", "intel_imc_pmu.ko"])

    def test_each_once(self):
        self.assertEqual(self.load(modules=("pmu_core", "intel_imc_pmu")), ["pmu_core.ko", "intel_imc_pmu.ko"])

    def test_parameters_are_for_one_module(self):
        parameters = ("pmu_core.a=1", "intel_imc_pmu.b=2", "intel_imc_pmu.c=3")
        self.assertEqual(self.load(parameters=parameters), ["pmu_core.ko a=1", "intel_imc_pmu.ko b=2 c=3"])

    def test_the_twin_instead(self):
        self.assertEqual(self.load(driver="in-tree"), ["intel-uncore"])

    def test_none(self):
        self.assertEqual(self.load(driver="none"), [])
        self.assertEqual(self.load(driver="none", modules=("pmu_core",)), ["pmu_core.ko"])

    def test_a_module_that_there_is_not(self):
        with tempfile.TemporaryDirectory() as empty, self.assertRaisesRegex(cache.Error, "there is no module"):
            guest._modules_to_load(guest.Guest(arch=self.x86), Path(empty))


class Python(unittest.TestCase):
    """Guests do not compile: under emulation that takes half a minute."""

    def lacking(self, names):
        """Those of @names that are Python and have no bytecode."""
        suffix = "cpython-311.pyc"      # of Debian 12
        return [name for name in names if name.endswith(".py") and
                str(Path(name).parent / "__pycache__" / f"{Path(name).stem}.{suffix}") not in names]

    def test_the_programs_of_tools(self):
        files = initrd.tools()
        self.assertLessEqual({f"/vm/{name}" for name in cache.tree_files("tools")}, set(files))
        self.assertEqual(self.lacking(files), [])
        for name in ("/vm/tools/pmutools/count", "/vm/tools/pmutools/check/main"):
            code = files[f"{Path(name).parent}/__pycache__/{Path(name).name}.cpython-311.pyc"].read_bytes()
            self.assertEqual(code[4:8], b"\1\0\0\0")     # PEP 552: by a hash that is not checked
            self.assertTrue((cache.TREE / f"{name.removeprefix('/vm/')}.py").exists())
            if code[:4] == importlib.util.MAGIC_NUMBER:     # the host's Python is of that version
                self.assertEqual(marshal.loads(code[16:]).co_filename, f"{name}.py")

    def test_the_library(self):
        with open(initrd.python(arch.get("x86_64")), "rb") as part:
            names = set(subprocess.run(["cpio", "--quiet", "-it"], stdin=part, capture_output=True, text=True,
                                       check=True).stdout.splitlines())
        self.assertIn("usr/lib/python3/dist-packages/rich/__init__.py", names)
        self.assertEqual(self.lacking(names), [])


class DebugKernel(unittest.TestCase):
    def without_fair_server(self, source):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, debug_kernel.FAIR_SERVER[0])
            path.parent.mkdir(parents=True)
            path.write_text(source)
            debug_kernel._without_fair_server(Path(directory))
            return path.read_text()

    def test_the_fair_server_has_no_time(self):
        self.assertEqual(self.without_fair_server("\tu64 runtime =  50 * NSEC_PER_MSEC;\n\tu64 period;\n"),
                         "\tu64 runtime =  0;\n\tu64 period;\n")

    def test_a_source_that_has_it_elsewhere_is_refused(self):
        for source in "", "u64 runtime = 25 * NSEC_PER_MSEC;", 2 * "u64 runtime = 50 * NSEC_PER_MSEC;":
            with self.subTest(source), self.assertRaisesRegex(cache.Error, "see what it does now"):
                self.without_fair_server(source)
