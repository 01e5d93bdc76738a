# SPDX-License-Identifier: GPL-2.0-only
"""Which lines of drivers/ guests reach, as tests/coverage counts them.

With PMU_COVERAGE=DIRECTORY in the environment all modules are built to count, for any kernel, and every guest leaves
its counts in there when it ends, below the name of the build. scripts/coverage makes a report of them.
"""
import os
import shutil
import tempfile
from pathlib import Path

from .cache import TREE

DIRECTORY = os.environ.get("PMU_COVERAGE")
MODULE = "pmu_gcov"
PARTS = TREE / "tests" / "coverage"
SOURCES = (Path(__file__), *sorted(PARTS.glob("*.c")))
# Counts are atomic, since gcov takes the difference of some for others'. The paths are to be those of the tree.
FLAGS = "-fprofile-arcs -ftest-coverage -fprofile-info-section=.gcov_info -fprofile-update=prefer-atomic " \
    "-fno-tree-loop-im $(if $(CONFIG_ARM64),-mno-outline-atomics) -fprofile-prefix-map={}/="


def prepare(work):
    """Have the copy of the sources in @work built to count."""
    (work / MODULE).mkdir()
    shutil.copy(PARTS / f"{MODULE}.c", work / MODULE)
    (work / MODULE / "Kbuild").write_text(f"obj-m := {MODULE}.o\n")
    kbuild = work / "Kbuild"
    kbuild.write_text(f"{kbuild.read_text()}obj-m += {MODULE}/\n")
    for path in work.glob("drivers/*/Kbuild"):
        for name in ("first", "last"):
            shutil.copy(PARTS / f"{name}.c", path.parent / f"gcov_{name}.c")
        text = path.read_text().replace("-y := ", "-y := gcov_first.o ")
        module = "pmu_core" if path.parent.name == "core" else f"{path.parent.name}_pmu"
        path.write_text(f"{text}{module}-y += gcov_last.o\nccflags-y += {FLAGS.format(work)}\n")


def keep(work, directory):
    """Keep of a build in @work what its counts mean."""
    for path in work.rglob("*.gcno"):
        target = directory / path.relative_to(work)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, target)


def sinks(ours):
    """What takes a guest's counts, whose modules are in @ours."""
    if not DIRECTORY or not (ours / f"{MODULE}.ko").exists():
        return {}
    place = Path(DIRECTORY, ours.name)
    place.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=place, delete=False) as file:
        path = Path(file.name)

    def append(data):
        with open(path, "ab") as out:
            out.write(data)
    return {"coverage": append}
