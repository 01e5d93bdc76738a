# SPDX-License-Identifier: GPL-2.0-only
"""Our modules as clang builds them: against the tree of a kernel that clang has prepared and nobody boots."""
import os
import shutil
from pathlib import Path

from . import build, cache, debug_kernel
from .cache import Error, run

TOOLS = ("clang", "ld.lld", "llvm-ar", "llvm-nm", "llvm-objcopy", "llvm-readelf", "llvm-strip")
FLAGS = ("LLVM=1", "KBUILD_MODPOST_WARN=1")     # without a kernel all of its symbols are unknown


def missing():
    """Those of clang's tools that this host lacks."""
    return [tool for tool in TOOLS if not shutil.which(tool)]


def _tree(arch):
    """The debug kernel's configuration, with KUnit, as far as modules need it."""
    fragments = [debug_kernel.CONFIGS / f"{name}.config" for name in ("common", arch.name)]

    def make(directory):
        cache.say(f"preparing {debug_kernel.SERIES} for clang and {arch.name}")
        tree = directory / "source"
        debug_kernel.unpack(arch, tree)
        # What clang cannot do, such as POWER's stack protector, Kconfig leaves out.
        run(["scripts/kconfig/merge_config.sh", "-n", *fragments], "configuring a kernel for clang", cwd=tree,
            env={**os.environ, "ARCH": arch.kernel, "LLVM": "1"})
        linked = [name for name in debug_kernel.LINKED_INTO_MODULES if name.startswith(f"arch/{arch.kernel}/")]
        run(build.make("-C", tree, f"ARCH={arch.kernel}", *FLAGS, "modules_prepare", *linked), "preparing a kernel for clang")
        debug_kernel._keep(arch, tree, directory / "kdir")
        shutil.rmtree(tree)

    key = cache.key_of(debug_kernel.version(arch), build.compiler_version("clang"), Path(__file__), *fragments)
    return cache.entry("clang-tree", f"{arch.name}-{key}", make) / "kdir"


def build_log(arch):
    """What clang says of our modules and suites, with W=1; an Error if it cannot build them."""
    if lacking := missing():
        raise Error(f"there is no {', '.join(lacking)}; scripts/setup all installs clang")
    kdir = _tree(arch)

    def make(directory):
        cache.say(f"building the modules for {arch.name} with clang")
        work = directory / "build"
        build.copy_sources(arch, work, suites=True)
        said = run(build.make("-C", work, f"KDIR={kdir}", "KUNIT=1", "W=1", f"ARCH={arch.kernel}", *FLAGS, "modules"),
                   f"building the modules for {arch.name} with clang")
        (directory / build.BUILD_LOG).write_text(said.replace(f"{work}/", ""))
        shutil.rmtree(work)

    key = cache.key_of(build.sources_key(arch, suites=True), str(kdir), Path(__file__))
    return (cache.entry("clang-modules", f"{arch.name}-{key}", make) / build.BUILD_LOG).read_text()
