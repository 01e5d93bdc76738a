# SPDX-License-Identifier: GPL-2.0-only
"""KUnit for a kernel that was built without: the kernel's own, out of Debian's source, as a module."""
import shutil

from . import build, cache, debug_kernel
from .cache import TREE, Error, run

# What takes the place of the members that the kernel's structures lack. KUnit's sources come beside it.
STOCK = "tests/kunit/stock"


def get(arch, kernel):
    """The directory of the Module.symvers that has KUnit's symbols for @kernel: the kernel's own, or that of a KUnit that
    is built, kunit.ko."""
    if kernel.series == "kunit":
        return kernel.kdir
    if kernel.series != debug_kernel.SERIES:
        raise Error(f"the KUnit suites run on {debug_kernel.SERIES} and on the debug kernel, not on {kernel.series}")

    def make(directory):
        cache.say(f"building KUnit for {kernel.release}")
        debug_kernel.unpack(arch, directory / "source", "lib/kunit")
        work = directory / "source/lib/kunit"
        shutil.copytree(TREE / STOCK, work, dirs_exist_ok=True)
        run(build.make("-C", kernel.kdir, f"M={work}", *(f"{name}={value}" for name, value in build.kbuild(arch).items()),
                       "modules"), f"building KUnit for {kernel.release}")
        build.strip(arch, work / "kunit.ko", directory)
        shutil.copy(work / "Module.symvers", directory)
        shutil.rmtree(directory / "source")

    key = cache.key_of(cache.key_of_tree(STOCK), kernel.release, kernel.version, str(kernel.kdir),
                       build.compiler_version(build.compiler(arch) + "gcc"))
    return cache.entry("kunit", f"{arch.name}-{key}", make)
