# SPDX-License-Identifier: GPL-2.0-only
"""What the tests of tools/ share: machines that were recorded by record-tree."""
import json
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "tools"))

from pmutools import sysfs  # noqa: E402: the path comes first

# uname -m
ARCH = {"snbep": "x86_64", "skx": "x86_64", "cmn600": "aarch64", "cmn700": "aarch64", "power9": "ppc64le",
        "power10": "ppc64le"}


def machine(test, name, changes=None):
    """The recorded machine @name, with files as @changes has them: {path: text, or None to take it away}."""
    directory = tempfile.TemporaryDirectory(prefix="pmu-tree.")
    test.addCleanup(directory.cleanup)
    files = json.loads((HERE / "trees" / f"{name}.json").read_text())
    for path, text in (files | (changes or {})).items():
        if text is not None:
            target = Path(directory.name, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text)
    return sysfs.Machine(directory.name, ARCH[name])
