# SPDX-License-Identifier: GPL-2.0-only
"""What is built from this tree: modules for a kernel, device models, programs for guests.

Everything is built out of the tree, into the cache, under a key of what went in.
"""
import os
import shutil
import subprocess

from . import cache, debian
from .cache import TREE, Error, run, tree_files

DRIVER_SOURCES = ("Kbuild", "Makefile", "drivers", "include", "scripts/conftest.sh", "tests/kunit")


def _make(*arguments):
    return ["make", f"-j{os.cpu_count()}", "--no-print-directory", *arguments]


def compiler(arch):
    """The prefix of the compiler's name, empty where it is the host's own."""
    prefix = "" if debian.host_arch() == arch.debian else arch.cross
    if not shutil.which(prefix + "gcc"):
        raise Error(f"no {prefix}gcc; scripts/setup test installs it")
    return prefix


def compiler_version(name):
    return subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout


def kbuild(arch):
    """What kbuild has to be told to build for @arch."""
    # Debian's headers name the compiler of their own suite, such as gcc-12; a later host has its own alone.
    return {"ARCH": arch.kernel, "CROSS_COMPILE": compiler(arch), "CC": f"{compiler(arch)}gcc"}


def _copy_sources(directory):
    for name in tree_files(*DRIVER_SOURCES):
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TREE / name, target)


def make_modules(arch, kernel, directory, *arguments):
    """Build the modules in @directory, a fresh copy of the sources; returns make's output."""
    _copy_sources(directory)
    return run(_make("-C", directory, f"KDIR={kernel.kdir}",
                     *(f"{name}={value}" for name, value in kbuild(arch).items()), *arguments, "modules"),
               f"building the modules for {kernel.release}")


def modules(arch, kernel, debug=False):
    """The directory of our .ko files for @kernel; with @debug they name their sources as the tree does."""
    flags = ["-g", arch.debug_flags] if debug else []
    key = cache.key_of(cache.key_of_tree(*DRIVER_SOURCES), kernel.release, kernel.version,
                       str(kernel.kdir), compiler_version(compiler(arch) + "gcc"), *flags)

    def build(directory):
        cache.say(f"building the modules for {kernel.release}")
        work = directory / "build"
        make_modules(arch, kernel, work, *[f"KCFLAGS={' '.join(flags)} -fdebug-prefix-map={work}/="] * debug)
        for module in work.rglob("*.ko"):
            shutil.copy(module, directory)
        shutil.rmtree(work)

    return cache.entry("modules", f"{arch.name}-{kernel.series}-{key}", build)


def guest_program(arch, name):
    """A static program for guests from tests/guest/NAME.c."""
    source = TREE / "tests" / "guest" / f"{name}.c"
    gcc = compiler(arch) + "gcc"

    def build(directory):
        run([gcc, "-static", "-O2", "-Wall", "-Wextra", "-o", directory / name, source], f"compiling {name}")

    return cache.entry("programs", f"{arch.name}-{name}-{cache.key_of(source, compiler_version(gcc))}", build) / name


def _qemu_version(arch):
    program = f"qemu-system-{arch.qemu}"
    if not shutil.which(program):
        raise Error(f"no {program}; scripts/setup demo installs it")
    package = subprocess.run(["dpkg-query", "-f", "${source:Version}", "-W", arch.qemu_package],
                             capture_output=True, text=True).stdout
    version = package.split(":")[-1]
    if not version or int(version.split(".")[0]) < 10:
        raise Error(f"{program} is {version or 'not a Debian package'}; the models need QEMU >= 10: "
                    "scripts/setup demo installs it")
    return version


def _qemu_headers(arch):
    """The headers of the installed QEMU, from the source package of its very version."""
    version = _qemu_version(arch)
    upstream = version.rsplit("-", 1)[0]
    script = TREE / "tests" / "models" / "prepare-headers"

    def build(directory):
        cache.say(f"preparing the headers of QEMU {upstream}")
        tarball = debian.source_tarball(debian.HOST, "qemu", upstream)
        run([script, tarball, directory / "include"], "preparing QEMU's headers")

    return cache.entry("qemu-headers", f"{upstream}-{cache.key_of(script)}", build) / "include"


def models(arch):
    """The shared object of device models to preload into the stock QEMU of @arch."""
    headers = _qemu_headers(arch)
    key = cache.key_of(cache.key_of_tree("tests/models"), _qemu_version(arch), compiler_version("gcc"))

    def build(directory):
        cache.say("compiling the device models")
        work = directory / "build"
        run(_make("-C", TREE / "tests" / "models", f"HEADERS={headers}", f"O={work}", f"TARGET={arch.qemu}"),
            "compiling the device models")
        shutil.copy(work / f"pmu-models-{arch.qemu}.so", directory)
        shutil.rmtree(work)

    return cache.entry("models", f"{arch.qemu}-{key}", build) / f"pmu-models-{arch.qemu}.so"
