# SPDX-License-Identifier: GPL-2.0-only
"""What make says where it cannot build, with a kernel's build directory that only says that it was asked; what it has the host
install."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from pmusuite import cache

OLD = "The modules need Linux 5.10 or later, and this is"


class Make(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.top = Path(directory.name)
        self.top.chmod(0o755)
        self.kdir = self.top / "kdir"
        self.kdir.mkdir()
        (self.kdir / "Makefile").write_text("modules:; @echo asked the kernel\n")
        self.tree = self.copy("tree")

    def copy(self, name):
        shutil.copytree(cache.TREE, self.top / name, symlinks=True, ignore=lambda directory, names:
                        {other for other in names if Path(directory) == cache.TREE and other not in ("Makefile", "Kbuild", "include")})
        return self.top / name

    def make(self, *arguments, tree=None, **options):
        done = subprocess.run(["make", "-s", "--no-print-directory", "-C", tree or self.tree, *arguments], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, env=os.environ | {"LC_ALL": "C"}, **options)
        return done.returncode, done.stdout

    def test_the_kernel_builds(self):
        self.assertEqual(self.make(f"KDIR={self.kdir}"), (0, "asked the kernel\n"))

    def test_a_directory_that_make_cannot_name(self):
        for name in "of mine", "a:b":
            status, said = self.make(f"KDIR={self.kdir}", tree=self.copy(name))
            self.assertEqual(status, 2)
            self.assertIn(f'no directory with a space or a colon in its name: move "{self.top}/{name}"', said)

    def test_a_directory_that_cannot_be_written(self):
        """Or the kernel's makefile, which tries the compiler there, takes it for one that lacks an option."""
        options = {} if os.geteuid() else {"user": 65534, "group": 65534, "extra_groups": []}
        self.tree.chmod(0o555)
        status, said = self.make(f"KDIR={self.kdir}", **options)
        self.tree.chmod(0o755)
        self.assertEqual(status, 2)
        self.assertIn(f"Cannot write to {self.tree}, where the modules are built", said)

    def test_no_headers(self):
        """What to install is advice for who named none."""
        for arguments, advice in (["KDIR=/usr"], "KDIR= has to name a kernel's build directory, such as /lib/modules/"), ([], "install them"):
            (self.tree / "Makefile").write_text((cache.TREE / "Makefile").read_text().replace("KDIR := /lib/modules", "KDIR := /nowhere"))
            status, said = self.make(*arguments)
            self.assertEqual(status, 2)
            self.assertIn("No kernel headers in /", said)
            self.assertIn(f": {advice}", said)

    def test_one_file_where_it_cannot_be_written(self):
        shutil.copytree(cache.TREE / "tools", self.tree / "tools")
        options = {} if os.geteuid() else {"user": 65534, "group": 65534, "extra_groups": []}
        self.tree.chmod(0o555)
        status, said = self.make("pmu-check.pyz", **options)
        self.tree.chmod(0o755)
        self.assertEqual(status, 2)
        self.assertRegex(said, r"^\S+: cannot create .*'pmu-check.pyz': Permission denied\nmake(\[\d+\])?: ")

    def test_clean(self):
        for name in ("drivers/a/.a.o.d", "drivers/a/a.ko", "Module.symvers", "pmu-check.pyz", "tools/pmu-top.1", "dist/a.ko"):
            (self.tree / name).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / name).touch()
        self.assertEqual(self.make("clean"), (0, ""))
        left = {path.name for path in self.tree.rglob("*") if path.is_file()} - {path.name for path in (cache.TREE / "include").rglob("*")}
        self.assertEqual(left, {"Makefile", "Kbuild", "a.ko"})     # of a package in dist/


class Kbuild(unittest.TestCase):
    """Read as kbuild does, of a kernel of some version."""

    def read(self, version, patchlevel):
        done = subprocess.run(["make", "-s", "-f", "-"], input=f"include {cache.TREE}/Kbuild\nall:; @echo $(obj-m)\n.DEFAULT_GOAL = all\n",
                              capture_output=True, text=True, check=False, env=os.environ | {
                                  "LC_ALL": "C", "KBUILD_EXTMOD": "x", "VERSION": str(version), "PATCHLEVEL": str(patchlevel),
                                  "KERNELRELEASE": f"{version}.{patchlevel}.0-1.el"})
        return done.returncode, done.stdout + done.stderr

    def test_old_kernels_are_refused(self):
        """RHEL 8 has 4.18. Before, the compiler complained of the first thing that it did not know."""
        for version, patchlevel in (3, 10), (4, 18), (5, 4), (5, 9):
            status, said = self.read(version, patchlevel)
            self.assertEqual(status, 2, said)
            self.assertIn(f"{OLD} {version}.{patchlevel}.0-1.el.", said)

    def test_all_others_are_not(self):
        for version, patchlevel in (5, 10), (5, 14), (6, 1), (6, 12), (7, 3), (10, 0), (14, 4):
            self.assertEqual(self.read(version, patchlevel), (0, "drivers/core/\n"))


if __name__ == "__main__":
    unittest.main()


class Setup(unittest.TestCase):
    def lacking(self, goal):
        """The packages that @goal lacks on a host that has none of them, and a user who may not install any."""
        with tempfile.TemporaryDirectory() as directory:
            for name, script in (("id", "echo 1000"), ("sudo", "exit 1"), ("dpkg-query", "exit 1"), ("df", "echo; echo . 0 0 99999999")):
                (program := Path(directory) / name).write_text(f"#!/bin/sh\n{script}\n")
                program.chmod(0o755)
            environment = os.environ | {"PATH": f"{directory}:{os.environ['PATH']}"}
            done = subprocess.run(["scripts/setup", goal], cwd=cache.TREE, env=environment, stdin=subprocess.DEVNULL, text=True,
                                  stderr=subprocess.PIPE, check=False)
        if "use Debian" in done.stderr or "host of x86_64" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 1, done.stderr)
        return {*done.stderr.split("to install what is missing: ")[1].split()}

    def test_each_goal_has_what_it_needs_and_no_more(self):
        demo, test, everything = (self.lacking(goal) for goal in ("demo", "test", "all"))
        self.assertLess(demo, test)
        self.assertLess(test, everything)
        # objtool, which builds modules, needs a library, and all else of a debug kernel is for make test-all.
        self.assertLessEqual({"git", "gcc", "libelf-dev", "device-tree-compiler"}, demo)
        self.assertLessEqual({"bc", "flex", "clang", "mmdebstrap", "ccache"}, everything - test)
        self.assertEqual(self.lacking("docs"), {"python3-sphinx", "python3-myst-parser", "graphviz", "codespell"})
        for goal in re.findall(r"^\t@scripts/setup (\w+)$", (cache.TREE / "Makefile").read_text(), re.M):
            self.assertTrue(self.lacking(goal))
