# SPDX-License-Identifier: GPL-2.0-only
"""pmu-check.pyz: one file that needs nothing but a Python of 3.6 or newer, whatever this host's own is."""
import ast
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

import tree

TREE = tree.HERE.parents[1]
# What the library has got since 3.6, as far as a program like this one may want it.
LATER = r"_ns\(|capture_output|\btext=True|removeprefix|removesuffix|missing_ok|fromisoformat|nullcontext|cached_property|" \
        r"dataclass|shlex\.join|math\.prod|is_relative_to|with_stem|importlib\.|asyncio|zoneinfo|addClassCleanup"
ALLOWED = "time.monotonic_ns()"         # behind hasattr()


class TestAlone(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        directory = tempfile.TemporaryDirectory(prefix="pmu-alone.")
        cls.addClassCleanup(directory.cleanup)
        here = Path(directory.name)
        shutil.copytree(TREE / "tools", here / "tools", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(TREE / "Makefile", here)
        subprocess.run(["make", "-s", "-C", here, "pmu-check.pyz"], check=True)
        cls.program = here / "elsewhere" / "pmu-check.pyz"
        cls.program.parent.mkdir()
        (here / "pmu-check.pyz").rename(cls.program)
        # The oldest that there is, and this one: some hosts have names without an interpreter behind them.
        names = [name for name in (f"python3.{number}" for number in range(6, 12)) if shutil.which(name)]
        cls.pythons = [*[name for name in names if not subprocess.run([name, "-c", ""], capture_output=True).returncode][:1], sys.executable]

    def run_by(self, python, *words):
        done = subprocess.run([shutil.which(python), *map(str, words)], capture_output=True, text=True, cwd="/",
                              env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"})
        self.assertEqual((done.returncode, done.stderr), (0, ""), words)
        return done.stdout

    def test_it_runs(self):
        for python in self.pythons:
            self.assertIn("cmn 11.1, 60 s", self.run_by(python, self.program, "--probe", "list"))
            self.assertIn("load-memory", self.run_by(python, self.program, "--list"))

    def test_every_check(self):
        for python in self.pythons:
            for name in ("snbep", "skx", "cmn700", "power9"):
                said = self.run_by(python, tree.HERE / "every-check.py", self.program, tree.HERE / f"trees/{name}.json", tree.ARCH[name])
                self.assertRegex(said, r"^\d\d \d{4,}\n$")

    def test_nothing_of_it_is_newer_than_python_3_6(self):
        with zipfile.ZipFile(self.program) as packed:
            names = [name for name in packed.namelist() if name.endswith(".py")]
            self.assertIn("__main__.py", names)
            for name in names:
                text = packed.read(name).decode()
                ast.parse(text, name, feature_version=(3, 6))
                self.assertEqual(re.findall(LATER, text.replace(ALLOWED, "")), [], name)
