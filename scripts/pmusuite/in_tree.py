# SPDX-License-Identifier: GPL-2.0-only
"""Our modules as a part of a kernel's tree: what a maintainer does who merges them, by our Kconfig and Kbuild alone."""
import re
import shutil
from pathlib import Path

from . import build, cache, debug_kernel
from .cache import Error, run

PLACE = "drivers/perf/pmu-suite"


def _put(arch, tree):
    """Make the suite a directory of @tree, and choose all of it that @arch can have. The options that were chosen."""
    build.copy_sources(arch, tree / PLACE, suites=True)
    shutil.copy(cache.TREE / "Kconfig", tree / PLACE)
    kconfig, makefile = (tree / PLACE).parent / "Kconfig", (tree / PLACE).parent / "Makefile"
    kconfig.write_text(re.sub(r"^endmenu$", f'source "{PLACE}/Kconfig"\nendmenu', kconfig.read_text(), flags=re.M))
    makefile.write_text(f"{makefile.read_text()}obj-$(CONFIG_PMU_SUITE) += {Path(PLACE).name}/\n")
    modules = ["PMU_SUITE_CORE", f"PMU_SUITE_{arch.pmu.upper()}", "PMU_SUITE_KUNIT_TEST"]
    (tree / "ours.config").write_text("\n".join(["CONFIG_PMU_SUITE=y", *(f"CONFIG_{name}=m" for name in modules), ""]))
    return modules


def build_log(arch):
    """What gcc says of our modules and suites, with W=1; an Error if they cannot be chosen, or cannot be built."""
    fragments = [debug_kernel.CONFIGS / f"{name}.config" for name in ("common", arch.name)]
    environment = build.kbuild(arch)

    def make(directory):
        cache.say(f"building the modules for {arch.name} inside a kernel's tree")
        tree = directory / "source"
        debug_kernel.unpack(arch, tree)
        modules = _put(arch, tree)
        debug_kernel._configure(tree, environment, [*fragments, tree / "ours.config"])
        command = build.make("-C", tree, *(f"{name}={value}" for name, value in environment.items()))
        run([*command, "modules_prepare"], "preparing a kernel's tree")
        said = run([*command, "W=1", f"{PLACE}/"], f"building the modules for {arch.name} inside a kernel's tree")
        wanted = {f"{name}{suite}.o" for name in ("pmu_core", arch.driver) for suite in ("", "_test")}
        if lacking := {name.replace("_pmu_test", "_test") for name in wanted} - {path.name for path in (tree / PLACE).rglob("*.o")}:
            raise Error(f"{', '.join(modules)} are chosen, but {', '.join(sorted(lacking))} is not there")
        (directory / build.BUILD_LOG).write_text(said)
        shutil.rmtree(tree)

    key = cache.key_of(build.sources_key(arch, suites=True), cache.key_of_tree("Kconfig"), debug_kernel.version(arch),
                       build.compiler_version(build.compiler(arch) + "gcc"), Path(__file__), *fragments)
    return (cache.entry("in-tree", f"{arch.name}-{key}", make) / build.BUILD_LOG).read_text()
