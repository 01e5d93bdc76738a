# SPDX-License-Identifier: GPL-2.0-only
"""Tests that install the suite in a root of Debian, each in a fresh one."""
import atexit
import contextlib
import functools
import os
import re
import shutil
import tempfile
import time
import unittest
from pathlib import Path

from pmusuite import arch, cache, kernel, kernels, roots

ARCH = arch.get("x86_64")
VERSION = re.search(r'"(.*)"', (cache.TREE / "include/pmu/version.h").read_text().split("PMU_SUITE_VERSION")[1])[1]
NEXT = f"{VERSION}.1"
A_DAY = 24 * 60 * 60       # seconds; no test takes that long
# What depmod and DKMS write for every module: not of one package.
SHARED = re.compile(r"(/usr)?/lib/modules/[^/]*/modules\.|/var/lib/dkms/(mok\.|dkms_dbversion)|/etc/dkms/")


def export(directory, version=VERSION):
    """The tree in @directory, as of @version."""
    cache.run(["scripts/packaging/export", directory, version], "copying the tree", cwd=cache.TREE)


PASSPHRASE = "secret"


def make_key(directory, name):
    """The command that makes a key in @directory, called @name, as Documentation/install.md has it."""
    page = (cache.TREE / "Documentation/install.md").read_text()
    command = re.search(r"(?ms)^    (openssl req .*?/mok\.pub)$", page)[1]
    return (f"export KBUILD_SIGN_PIN={PASSPHRASE}; " +
            command.replace("/root/mok/", f"{directory}/").replace("my modules", name) + " 2> /tmp/said")


@functools.cache
def scratch():
    """A directory that goes when the tests end. It is where the roots are: overlayfs does not take every file system."""
    cache.ROOT.mkdir(parents=True, exist_ok=True)
    for left in cache.ROOT.glob("packages.*"):      # by one that was killed
        with contextlib.suppress(FileNotFoundError):    # another run's, which has just ended
            if time.time() - left.stat().st_mtime > A_DAY:
                shutil.rmtree(left, ignore_errors=True)
    directory = Path(tempfile.mkdtemp(prefix="packages.", dir=cache.ROOT))
    atexit.register(shutil.rmtree, directory)
    (directory / "work").mkdir()
    return directory


@unittest.skipIf(os.geteuid(), "a root of Debian needs root")
class InRoot(unittest.TestCase):
    suite, series = "bookworm", "6.1"
    packages = ("linux-headers-{}",)        # {}: the kernel's release

    @classmethod
    def setUpClass(cls):
        cls.kernel = kernels.get(ARCH, cls.series)
        # The kernel itself is not there, nor a list of its modules.
        cls.dkms = f"/lib/modules/{cls.kernel.release}/updates/dkms"
        cls.root = roots.get(cls.suite, *(name.format(cls.kernel.release) for name in cls.packages),
                             debs=[deb for part in ("headers", "image", "kbuild") for deb in kernel.debs(ARCH, cls.series, part)
                                   if deb.name.startswith("linux-")])
        cls.work = scratch() / "work"

    def setUp(self):
        self.over = Path(tempfile.mkdtemp(dir=scratch()))
        self.addCleanup(shutil.rmtree, self.over)

    def inside(self, script, status=0):
        done = roots.run(self.root, self.over, self.work, "sh", "-ec", script)
        self.assertEqual(done.returncode, status, f"{script}\n{done.stdout[-4000:]}")
        return done.stdout

    def tree(self, version=VERSION):
        """Where in the root the tree is, as of @version."""
        if not (self.work / f"tree-{version}").exists():
            export(self.work / f"tree-{version}", version)
        return f"/mnt/tree-{version}"

    def dist(self, version=VERSION):
        """Where in the root that suite's packages are, made there by "make deb"."""
        name = f"dist-{self.suite}-{version}"
        if not (self.work / name).exists():
            building = scratch() / f"building-{name}"
            done = roots.run(self.root, building, self.work, "sh", "-ec",
                             f"cp -r {self.tree(version)} /root/tree; cd /root/tree; make deb; cp -r dist /mnt/{name}")
            shutil.rmtree(building)
            self.assertEqual(done.returncode, 0, f"make deb:\n{done.stdout[-4000:]}")
        return f"/mnt/{name}"

    def deb(self, version=VERSION, name="pmu-suite-dkms"):
        return f"{self.dist(version)}/{name}_{version}_all.deb"

    def headers(self, release, recipe):
        """Install a package of headers, as Debian's, that build modules by the shell command @recipe."""
        return f"""tree=/tmp/{release}; source=$tree/usr/src/linux-headers-{release}
mkdir -p $tree/DEBIAN $source/include $tree/lib/modules/{release}
cp /usr/src/linux-headers-{self.kernel.release}/.config $source
ln -s ${{source#$tree}} $tree/lib/modules/{release}/build
printf '%%:\n\t{recipe}\n' > $source/Makefile
printf 'Package: linux-headers-{release}\nVersion: 1\nArchitecture: all\nMaintainer: test\nDescription: test\n' > $tree/DEBIAN/control
printf '#!/bin/sh\nset -e\nrun-parts --report --exit-on-error --arg={release} /etc/kernel/header_postinst.d\n' > $tree/DEBIAN/postinst
chmod 755 $tree/DEBIAN/postinst
dpkg-deb -b $tree > /dev/null
dpkg -i $tree.deb
"""

    def program(self, name, script):
        """What takes the place of a program: a @script of the shell."""
        self.inside(f"cat > /usr/local/sbin/{name} <<'EOT'\n#!/bin/sh\n{script}\nEOT\nchmod 755 /usr/local/sbin/{name}")

    def make(self, goals, version=VERSION, status=0):
        """By make alone, of a copy of the tree."""
        return self.inside(f"[ -e /tmp/tree ] || cp -r {self.tree(version)} /tmp/tree; cd /tmp/tree; make {goals} "
                           f"KDIR=/lib/modules/{self.kernel.release}/build", status)

    def left(self):
        """What is in the root that was not there before."""
        return [name for name in roots.changed(self.over) if not SHARED.match(name)]

    def modules(self):
        """The modules that are installed, by their path."""
        upper = self.over / "upper"
        return sorted(path for path in upper.rglob("*.ko*") if path.is_file() and "/lib/modules/" in str(path))

    def installed(self, version=VERSION):
        """The line that DKMS has for what is installed, once."""
        return f"pmu-suite/{version}, {self.kernel.release}, x86_64: installed\n"
