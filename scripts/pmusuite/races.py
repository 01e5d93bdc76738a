# SPDX-License-Identifier: GPL-2.0-only
"""Modules whose accesses of memory tests/races looks at, for --races: which of them race."""
import shutil
from pathlib import Path

from .cache import TREE

MODULE = "pmu_races"
SOURCE = TREE / "tests" / "races" / f"{MODULE}.c"
SOURCES = (Path(__file__), SOURCE)
# As the kernel's Makefile.kcsan has it.
FLAGS = "-fsanitize=thread -fno-optimize-sibling-calls --param tsan-instrument-func-entry-exit=0 " \
    "--param tsan-distinguish-volatile=1"


def prepare(work):
    """Have the copy of the sources in @work built so."""
    (work / MODULE).mkdir()
    shutil.copy(SOURCE, work / MODULE)
    (work / MODULE / "Kbuild").write_text(f"obj-m := {MODULE}.o\n")
    kbuild = work / "Kbuild"
    kbuild.write_text(f"{kbuild.read_text()}obj-m += {MODULE}/\n")
    for path in work.glob("drivers/*/Kbuild"):
        path.write_text(f"{path.read_text()}ccflags-y += {FLAGS}\n")
