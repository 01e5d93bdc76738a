# SPDX-License-Identifier: GPL-2.0-only
"""What make says where it cannot build, with a kernel's build directory that only says that it was asked."""
import os
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
