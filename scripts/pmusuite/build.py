# SPDX-License-Identifier: GPL-2.0-only
"""What is built from this tree: modules for a kernel, device models, programs for guests.

Everything is built out of the tree, into the cache, under a key of what went in.
"""
import functools
import os
import shutil
import subprocess
from pathlib import Path

from . import cache, coverage, debian, kernel as stock, qemu, races
from .arch import ARCHES
from .cache import TREE, Error, run, tree_files

DRIVER_SOURCES = ("Kbuild", "Makefile", "drivers", "include", "scripts/conftest.sh")
SUITE_SOURCES = ("tests/kunit",)
SPARSE = TREE / "scripts/sparse"     # for kbuild: marks what sparse says
BUILD_LOG = "build.log"
RECIPE = Path(__file__)      # how things are built is part of their keys


def make(*arguments):
    return ["make", f"-j{os.cpu_count()}", "--no-print-directory", *arguments]


def compiler(arch):
    """The prefix of the compiler's name, empty where it is the host's own."""
    prefix = "" if debian.host_arch() == arch.debian else arch.cross
    if not shutil.which(prefix + "gcc"):
        raise Error(f"no {prefix}gcc; scripts/setup demo installs it")
    return prefix


def compiler_version(name):
    return subprocess.run([name, "--version"], capture_output=True, text=True, check=True).stdout


def kbuild(arch):
    """What kbuild has to be told to build for @arch."""
    # Debian's headers name the compiler of their own suite, such as gcc-12; a later host has its own alone.
    return {"ARCH": arch.kernel, "CROSS_COMPILE": compiler(arch), "CC": f"{compiler(arch)}gcc"}


CCACHE = cache.ROOT / "ccache"


def with_ccache():
    """The environment in which compilers are ccache's, as Debian has them: for what compiles nearly the same again and again,
    in the same places."""
    return {"CCACHE_DIR": str(CCACHE), "CCACHE_MAXSIZE": "1G", "PATH": f"/usr/lib/ccache:{os.environ['PATH']}"}


def own_mounts(mounts="/proc/self/mountinfo"):
    """The first words of a command that runs in its own mount namespace."""
    if not any(line.split()[4] == "/" for line in Path(mounts).read_text().splitlines()):
        raise Error("/ is no mount point, as in a plain chroot, so a command cannot have mounts of its own; "
                    "leave the chroot, run mount --bind ROOT ROOT, and enter it again")
    return ["unshare", "--mount"]


def _in_root(root, work, command):
    """@command, which sees @root as / with @work as /work, and the host's devices and processes."""
    namespaces = [*own_mounts(), *(["--map-root-user"] if os.geteuid() else [])]
    return [*namespaces, "sh", "-ec", 'root=$1 work=$2; shift 2; '
            'for name in dev proc; do mount --rbind "/$name" "$root/$name"; done; mount --bind "$work" "$root/work"; '
            'exec chroot "$root" env -i PATH=/usr/bin:/bin LC_ALL=C "$@"', "sh", root, work, *command]


def _make_modules(arch, kernel, work, arguments):
    """The command that builds the modules in @work, and what it has to be given for that compiler."""
    if not kernel.root:
        return make("-C", work, f"KDIR={kernel.kdir}", *arguments,
                     *(f"{name}={value}" for name, value in kbuild(arch).items()), "modules")
    cross = "" if debian.host_arch() == arch.debian else arch.cross
    return _in_root(kernel.root, work, make("-C", "/work", f"KDIR={kernel.kdir}", *arguments, f"ARCH={arch.kernel}",
                                             f"CROSS_COMPILE={cross}", "modules"))


def sources(arch, suites):
    """The files that our modules, and their @suites, are built from: no driver of another architecture."""
    others = {other.pmu for other in ARCHES.values()} - {arch.pmu}
    return [name for name in tree_files(*DRIVER_SOURCES, *(SUITE_SOURCES if suites else ()))
            if others.isdisjoint(Path(name).parts)]


def copy_sources(arch, directory, suites):
    for name in sources(arch, suites):
        target = directory / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(TREE / name, target)


def sources_key(arch, suites):
    """A key of what our modules, and their @suites, are built from."""
    return cache.key_of_tree(*sources(arch, suites))


def strip(arch, module, directory):
    """Put @module into @directory as DKMS installs it. QEMU's powernv takes no more than 128 MiB of initramfs."""
    run([f"{compiler(arch)}strip", "--strip-debug", "-o", directory / module.name, module], "stripping")


def modules(arch, kernel, kunit=False, ask_sparse=False, find_races=False):
    """The directory of our .ko files for @kernel: as users build them, or with suites for that of @kunit (kunit.get()),
    or to @find_races.

    BUILD_LOG beside them is what the build said, with all that the compiler can warn of, and sparse, where it is
    installed and asked: scripts/check reads it, so nothing is compiled for that alone.
    """
    measured = coverage.DIRECTORY and not find_races
    # It takes as long as the compiler, and finds the same in all builds of a file. So it looks at one kernel every day.
    ask_sparse = ask_sparse or kernel.series == stock.STOCK[-1]
    sparse = None if kernel.root or not ask_sparse else shutil.which("sparse")
    key = cache.key_of(RECIPE, sources_key(arch, kunit), kernel.release, kernel.version, str(kunit),
                       str(kernel.kdir), str(kernel.root),
                       compiler_version(compiler(arch) + "gcc"), SPARSE, compiler_version(sparse) if sparse else "",
                       *(coverage.SOURCES if measured else ()), *(races.SOURCES if find_races else ()))

    def build(directory):
        cache.say(f"building the modules for {kernel.release}")
        work = directory / "build"
        copy_sources(arch, work, kunit)
        if measured:
            coverage.prepare(work)
        if find_races:
            races.prepare(work)
        extra = ["C=1", f"CHECK={SPARSE}", "CF=-D__CHECK_ENDIAN__"] if sparse else []
        if kunit:
            extra += ["KUNIT=1", *([f"KBUILD_EXTRA_SYMBOLS={kunit}/Module.symvers"] if kunit != kernel.kdir else [])]
        said = run(_make_modules(arch, kernel, work, ["W=1", *extra]),
                   f"building the modules for {kernel.release}")
        (directory / BUILD_LOG).write_text(said.replace(f"{work}/", ""))
        if measured:
            coverage.keep(work, directory)
        for module in work.rglob("*.ko"):
            strip(arch, module, directory)
        for module in kunit.glob("*.ko") if kunit else ():
            shutil.copy(module, directory)
        shutil.rmtree(work)

    return cache.entry("modules", f"{arch.name}-{kernel.series}-{key}", build)


GUEST_PROGRAMS = TREE / "tests" / "guest"


def guest_programs():
    """The names of the programs in tests/guest: each is a file of C, or a folder of them."""
    return sorted({path.stem for path in GUEST_PROGRAMS.glob("*.c")} |
                  {path.parent.name for path in GUEST_PROGRAMS.glob("*/*.c")})


def guest_program(arch, name, source=None):
    """A static program for guests from tests/guest/NAME.c, from all of tests/guest/NAME, or from @source."""
    folder = GUEST_PROGRAMS / name
    files = [source] if source else sorted(folder.glob("*.c")) or [folder.with_suffix(".c")]
    headers = sorted({*files[0].parent.glob("*.h"), *GUEST_PROGRAMS.glob("*.h")})
    gcc = compiler(arch) + "gcc"

    def build(directory):
        run([gcc, "-static", "-O2", "-Wall", "-Wextra", "-o", directory / name, *files], f"compiling {name}")

    key = cache.key_of(RECIPE, *files, *headers, compiler_version(gcc))
    return cache.entry("programs", f"{arch.name}-{name}-{key}", build) / name


def models(arch):
    """The shared object of device models for QEMU's @arch."""
    headers = qemu.headers(arch)
    key = cache.key_of(RECIPE, cache.key_of_tree("tests/models"), *headers, compiler_version("gcc"))

    def build(directory):
        cache.say("compiling the device models")
        work = directory / "build"
        run(make("-C", TREE / "tests" / "models", *headers, f"O={work}", f"TARGET={arch.qemu}"), "compiling the device models")
        shutil.copy(work / f"pmu-models-{arch.qemu}.so", directory)
        shutil.rmtree(work)

    return cache.entry("models", f"{arch.qemu}-{key}", build) / f"pmu-models-{arch.qemu}.so"


@functools.cache
def emulator(arch):
    """The first words of a command that runs QEMU for @arch, with the models."""
    return qemu.command(arch, models(arch))
