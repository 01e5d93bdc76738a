# SPDX-License-Identifier: GPL-2.0-only
"""The packages, in roots of Debian: built, installed, upgraded, removed, and booted from in a guest."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from pmusuite import arch, cache, kernel as kernels, roots, unittests

ARCH = arch.get("x86_64")
VERSION = re.search(r'"(.*)"', (cache.TREE / "include/pmu/version.h").read_text().split("PMU_SUITE_VERSION")[1])[1]
NEXT = f"{VERSION}.1"
# What depmod and DKMS write for every module: not of one package.
SHARED = re.compile(r"(/usr)?/lib/modules/[^/]*/modules\.|/var/lib/dkms/(mok\.|dkms_dbversion)|/etc/dkms/")


def export(directory, version=VERSION):
    """The tree in @directory, as of @version."""
    cache.run(["scripts/packaging/export", directory], "copying the tree", cwd=cache.TREE)
    for name in ("include/pmu/version.h", "scripts/packaging/debian/changelog"):
        path = directory / name
        path.write_text(path.read_text().replace(VERSION, version, 1))


@unittest.skipIf(os.geteuid(), "a root of Debian needs root")
class InRoot(unittest.TestCase):
    suite, series = "bookworm", "6.1"

    @classmethod
    def setUpClass(cls):
        cls.kernel = kernels.get(ARCH, cls.series)
        # The kernel itself is not there, nor a list of its modules.
        cls.dkms = f"/lib/modules/{cls.kernel.release}/updates/dkms"
        cls.root = roots.get(cls.suite, f"linux-headers-{cls.kernel.release}")
        cls.scratch = Path(tempfile.mkdtemp(prefix="pmu-packages."))
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.work = cls.scratch / "work"
        for version in (VERSION, NEXT):
            export(cls.work / f"tree-{version}", version)
            done = roots.run(cls.root, cls.scratch / "building", cls.work, "make", "-C", f"/work/tree-{version}", "deb")
            if done.returncode:
                raise cache.Error(f"make deb failed:\n{done.stdout[-3000:]}")
            (cls.work / f"tree-{version}/dist").rename(cls.work / f"dist-{version}")

    def setUp(self):
        self.over = Path(tempfile.mkdtemp(dir=self.scratch))

    def inside(self, script, status=0):
        done = roots.run(self.root, self.over, self.work, "sh", "-ec", script)
        self.assertEqual(done.returncode, status, f"{script}\n{done.stdout[-4000:]}")
        return done.stdout

    def deb(self, version=VERSION):
        return f"/work/dist-{version}/pmu-suite-dkms_{version}_all.deb"

    def left(self):
        return [name for name in roots.changed(self.over) if not SHARED.match(name)]

    def modules(self):
        """The modules that are installed, by their path."""
        upper = self.over / "upper"
        return sorted(path for path in upper.rglob("*.ko*") if path.is_file() and "/lib/modules/" in str(path))


class Packages(InRoot):
    def test_lintian_has_nothing_to_say(self):
        # Each suite wants its own version of the policy.
        said = self.inside(f"cd /work/dist-{VERSION}; lintian --allow-root --display-info --pedantic --fail-on error "
                           "--suppress-tags out-of-date-standards-version *.changes")
        self.assertEqual([line for line in said.splitlines() if re.match("[EWIP]: ", line)], [])

    def guest(self, *arguments):
        """scripts/vm with the modules that are installed."""
        modules = self.over / "modules"
        modules.mkdir()
        for path in self.modules():
            shutil.copy(path, modules)
            if path.suffix == ".xz":
                cache.run(["unxz", modules / path.name], "unpacking a module")
        return unittests.vm(self, "--kernel", self.series, "--driver", "none", "--modules", modules, *arguments)

    def test_signed_by_dkms_with_a_key_that_nobody_knows(self):
        self.inside(f"dpkg -i {self.deb()}")
        self.assertIn("DKMS", self.inside(f"modinfo -F signer {self.dkms}/pmu_core.ko*"))
        done = self.guest("--append", "module.sig_enforce=1", "--", "sh", "-c", "insmod /vm/modules.d/pmu_core.ko || dmesg | tail")
        self.assertIn("Loading of module with unavailable key is rejected", done.stdout, done.stderr)

    def test_a_guest_boots_from_it(self):
        """The modules are those of the architecture; installing changes nothing; asked for they drive."""
        self.inside(f"dpkg -i {self.deb()}")
        self.assertEqual({path.name.split(".")[0] for path in self.modules()}, {"pmu_core", "intel_imc_pmu"})
        self.assertIn(f"pmu-suite/{VERSION}, {self.kernel.release}, x86_64: installed", self.inside("dkms status"))
        self.assertEqual([name for name in self.left() if name.startswith("/etc/")], [])
        done = self.guest("--udev", "--timeout", "900", "--copy", "tests/guest/lib.sh", "--copy", "tests/guest/boot.sh",
                          "--copy", "tests/guest/intel_imc", "--", "env", "TESTS=asked_for", "sh", "intel_imc/boot.sh")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("ok 1 ours_is_asked_for", done.stdout)

    def test_purge_leaves_nothing(self):
        self.inside(f"dpkg -i {self.deb()}; pmu-driver ours; test -e /etc/modprobe.d/pmu-suite.conf; dpkg --purge pmu-suite-dkms")
        self.assertEqual(self.left(), [])

    def test_removal_gives_the_pmu_back(self):
        self.inside(f"dpkg -i {self.deb()}; pmu-driver ours; dpkg --remove pmu-suite-dkms")
        self.assertEqual(self.left(), [])

    def test_upgrade_and_downgrade(self):
        """There is one version at a time, and who drives stays as chosen."""
        self.inside(f"dpkg -i {self.deb()}; pmu-driver ours")
        for version in (NEXT, VERSION, VERSION):
            self.inside(f"dpkg -i --force-downgrade {self.deb(version)}")
            self.assertEqual(self.inside("dkms status"), f"pmu-suite/{version}, {self.kernel.release}, x86_64: installed\n")
            self.assertEqual(self.inside("ls -d /usr/src/pmu-suite*"), f"/usr/src/pmu-suite-{version}\n")
            self.assertEqual(self.inside(f"modinfo -F version {self.dkms}/intel_imc_pmu.ko*"), f"{version}\n")
            self.inside("test -e /etc/modprobe.d/pmu-suite.conf")
        self.inside("dpkg --purge pmu-suite-dkms")
        self.assertEqual(self.left(), [])

    def test_a_kernel_that_does_not_run(self):
        """DKMS builds for it without headers of the one that does, and cleans behind itself without a complaint."""
        said = self.inside(f"dpkg -i {self.deb()}")
        self.assertNotRegex(said, "(?i)bad exit status|error")
        said = self.inside(f"dkms remove pmu-suite/{VERSION} --all; dkms add pmu-suite/{VERSION}; "
                           f"dkms install pmu-suite/{VERSION} -k {self.kernel.release} 2>&1")
        self.assertNotRegex(said, "(?i)bad exit status|error")


class OnTrixie(Packages):
    suite, series = "trixie", kernels.NEWEST


class Make(InRoot):
    """The same by make alone, of the tree."""

    def make(self, goals, version=VERSION, status=0):
        return self.inside(f"[ -e /tmp/tree ] || cp -r /work/tree-{version} /tmp/tree; cd /tmp/tree; make {goals} "
                           f"KDIR=/lib/modules/{self.kernel.release}/build", status)

    def test_install(self):
        """Twice is once; uninstalled, nothing is left."""
        self.make("install")
        first = roots.changed(self.over)
        self.make("install")
        self.assertEqual(roots.changed(self.over), first)
        self.assertEqual([path.name for path in self.modules()], ["intel_imc_pmu.ko", "pmu_core.ko"])
        self.inside(f"modprobe -S {self.kernel.release} -n -v intel_imc_pmu; pmu-driver ours")
        self.make("uninstall")
        self.assertEqual(self.left(), [])

    def test_destdir(self):
        self.make("install DESTDIR=/tmp/into INSTALL_MOD_PATH=/tmp/modules PREFIX=/usr")
        self.assertEqual(self.left(), [])
        self.assertEqual(self.inside("cd /tmp; find into modules -type f | sort").split(), [
            "into/usr/sbin/pmu-driver", "into/usr/share/man/man8/pmu-driver.8",
            f"modules/lib/modules/{self.kernel.release}/updates/pmu-suite/intel_imc_pmu.ko",
            f"modules/lib/modules/{self.kernel.release}/updates/pmu-suite/pmu_core.ko"])
        self.make("uninstall DESTDIR=/tmp/into INSTALL_MOD_PATH=/tmp/modules PREFIX=/usr")
        self.assertEqual(self.inside("cd /tmp; find into modules -type f"), "")

    def test_dkms(self):
        """Another version takes the place of the first; uninstalled, nothing is left."""
        for version in (VERSION, NEXT, VERSION):
            self.inside("rm -rf /tmp/tree")
            self.make("dkms-install", version)
            self.assertEqual(self.inside("dkms status"), f"pmu-suite/{version}, {self.kernel.release}, x86_64: installed\n")
        self.make("dkms-uninstall")
        self.assertEqual(self.left(), [])

    def test_a_package_is_not_touched(self):
        self.inside(f"dpkg -i {self.deb()}")
        self.assertIn("is of a package (pmu-suite-dkms)", self.make("dkms-install", status=2))
        self.inside("dpkg --verify pmu-suite-dkms")

    def test_sign(self):
        """By a key of one's own: signed is what was built, and the certificate says that it is genuine."""
        self.inside("cd /tmp; openssl req -new -x509 -newkey rsa:2048 -nodes -keyout key -outform DER -out cert -subj /CN=mine/")
        self.make("modules")
        self.assertIn("No key: name it with KEY=", self.make("sign", status=2))
        self.make("sign KEY=/tmp/key CERT=/tmp/cert")
        self.make("install")
        for module in ("pmu_core", "intel_imc_pmu"):
            self.assertEqual(self.inside(f"modinfo -k {self.kernel.release} -F signer {module}"), "mine\n")

    def test_rpm(self):
        """What Debian's rpm makes of the spec file; nothing of it is installed."""
        self.make("rpm")
        rpm = f"/tmp/tree/dist/pmu-suite-dkms-{VERSION}-1.noarch.rpm"
        files = self.inside(f"rpm -qlp {rpm}").split()
        source = f"/usr/src/pmu-suite-{VERSION}"
        self.assertLessEqual({"/usr/sbin/pmu-driver", f"{source}/dkms.conf", f"{source}/drivers/core/perf.c"}, set(files))
        self.assertEqual([name for name in files if name.startswith(("/etc", "/lib"))], [])
        self.assertIn("dkms remove -m pmu-suite", self.inside(f"rpm -qp --scripts {rpm}"))

    def test_build_leaves_nothing_that_git_sees(self):
        self.make("modules")
        upper = self.over / "upper/tmp/tree"
        subprocess.run(["git", "init", "-q", upper], check=True)
        seen = subprocess.run(["git", "-C", upper, "ls-files", "--others", "--exclude-standard"], check=True,
                              capture_output=True, text=True).stdout.splitlines()
        self.assertEqual(set(seen) - set(cache.tree_files(".")), set())
        shutil.rmtree(upper / ".git")
        self.make("clean")
        names = {str(path.relative_to(upper)) for path in upper.rglob("*") if path.is_file()}
        self.assertEqual(names - set(cache.tree_files(".")), set())


class Dist(unittest.TestCase):
    """The tarball, of a clone."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.clone = Path(directory.name) / "clone"
        self.git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", "-C", self.clone]
        export(self.clone)
        for command in ("init", "-q"), ("add", "-A"), ("commit", "-qm", "all"):
            subprocess.run([*self.git, *command], check=True)

    def dist(self):
        return subprocess.run(["make", "-C", self.clone, "--no-print-directory", "-s", "dist"], capture_output=True, text=True,
                              check=False)

    def test_the_tag_is_the_version(self):
        subprocess.run([*self.git, "tag", f"v{VERSION}"], check=True)
        self.assertEqual(self.dist().stdout, f"dist/pmu-suite-{VERSION}.tar.xz\n")
        files = cache.run(["tar", "-tf", self.clone / f"dist/pmu-suite-{VERSION}.tar.xz"], "reading the tarball").split()
        self.assertIn(f"pmu-suite-{VERSION}/Kbuild", files)

    def test_between_tags_the_name_says_so(self):
        self.assertRegex(self.dist().stdout, rf"^dist/pmu-suite-{re.escape(VERSION)}-g[0-9a-f]+\.tar\.xz\n$")

    def test_another_tag_is_refused(self):
        subprocess.run([*self.git, "tag", "v99"], check=True)
        self.assertIn(f"the tag is v99, and include/pmu/version.h says {VERSION}", self.dist().stderr)

    def test_changes_are_refused(self):
        (self.clone / "Kbuild").write_text("")
        self.assertIn("there are changes that are not committed", self.dist().stderr)
