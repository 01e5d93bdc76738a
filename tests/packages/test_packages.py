# SPDX-License-Identifier: GPL-2.0-only
"""The packages, in a root of Debian: built, what is in them, installed, removed; the same by make; the tarball.

What takes longer, and Debian's other suite, is in everything.py.
"""
import platform
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from inroot import VERSION, InRoot, export
from pmusuite import cache

DOCS = "/usr/share/doc/"


class Packages(InRoot):
    def files(self, name):
        """What a package has, but for documentation."""
        said = self.inside(f"dpkg-deb --fsys-tarfile {self.deb(name=name)} | tar -t")
        return {line[1:] for line in said.splitlines() if not line.endswith("/") and not line[1:].startswith(DOCS)}

    def test_lintian_has_nothing_to_say(self):
        # Each suite wants its own version of the policy.
        said = self.inside(f"cd {self.dist()}; lintian --allow-root --display-info --pedantic --fail-on error "
                           "--suppress-tags out-of-date-standards-version *.changes")
        self.assertEqual([line for line in said.splitlines() if re.match("[EWIP]: ", line)], [])

    def test_dkms_has_what_a_build_needs(self):
        files = self.files("pmu-suite-dkms")
        source = f"/usr/src/pmu-suite-{VERSION}/"
        self.assertEqual({name for name in files if not name.startswith(source)},
                         {"/usr/sbin/pmu-driver", "/usr/share/man/man8/pmu-driver.8.gz"})
        needed = {"Kbuild", "Makefile", "dkms.conf", "scripts/conftest.sh",
                  *(name for name in cache.tree_files("drivers", "include") if Path(name).suffix in (".c", ".h", "")
                    and Path(name).name != "Kconfig")}
        self.assertEqual({name.removeprefix(source) for name in files if name.startswith(source)}, needed)

    def test_tools_has_the_programs_and_their_pages(self):
        files = self.files("pmu-suite-tools")
        programs = [name for name in cache.tree_files("tools") if name.count("/") == 1]
        self.assertTrue(programs)
        for name in programs:
            self.assertLessEqual({f"/usr/bin/{Path(name).name}", f"/usr/share/man/man1/{Path(name).name}.1.gz"}, files)
        self.assertEqual({name.removeprefix("/usr/share/pmu-suite/") for name in files if name.startswith("/usr/share/pmu-suite/")},
                         {name.removeprefix("tools/") for name in cache.tree_files("tools")})

    def test_installed_and_removed(self):
        """The modules are those of the architecture; nothing is chosen; what was chosen is given back."""
        self.inside(f"dpkg -i {self.deb()}")
        self.assertEqual({path.name.split(".")[0] for path in self.modules()}, {"pmu_core", "intel_imc_pmu"})
        self.assertEqual(self.inside("dkms status"), self.installed())
        self.assertEqual([name for name in self.left() if name.startswith("/etc/")], [])
        self.inside("pmu-driver ours; test -e /etc/modprobe.d/pmu-suite.conf; dpkg --remove pmu-suite-dkms")
        self.assertEqual(self.left(), [])

    def test_tools_run_and_are_removed(self):
        """On a machine without such counters each says so in a sentence."""
        self.inside(f"dpkg -i {self.deb(name='pmu-suite-tools')}")
        self.assertEqual(self.inside("pmu-top --version"), f"pmu-top {VERSION}\n")
        self.assertIn("--once", self.inside("pmu-top --help"))
        self.assertIn("SYNOPSIS", self.inside("man pmu-top; man pmu-check"))
        if any(Path("/sys/bus/event_source/devices").glob("*imc*")):
            self.skipTest("this host has such counters")
        for program in "pmu-top --once", "pmu-check":
            self.assertIn("This machine shows no PMU", self.inside(program, status=1))
        self.inside("dpkg --purge pmu-suite-tools")
        self.assertEqual(self.left(), [])


class Make(InRoot):
    def test_install(self):
        """Twice is once; uninstalled, nothing is left."""
        self.make("install install-tools")
        first = self.left()
        self.make("install install-tools")
        self.assertEqual(self.left(), first)
        self.assertEqual([path.name for path in self.modules()], ["intel_imc_pmu.ko", "pmu_core.ko"])
        self.inside(f"modprobe -S {self.kernel.release} -n -v intel_imc_pmu; pmu-driver ours; pmu-top --version")
        said = self.inside(f"dpkg -i {self.deb()}", status=1)
        self.assertIn(f"{self.kernel.release}/updates/pmu-suite is of no package; 'make uninstall", said)
        self.make("uninstall uninstall-tools")
        self.assertEqual(self.left(), [])

    def test_dkms_install_without_headers(self):
        """The running kernel's are missing: that is said, and DKMS builds when it is told that there are some."""
        self.inside("mv /lib/modules/*/build /tmp")
        before = self.left()
        said = self.make("dkms-install")
        running = platform.release()
        self.assertIn(f"linux-headers-{running}; Fedora, RHEL: kernel-devel-{running}), and DKMS builds", said)
        self.assertEqual(self.inside("dkms status"), f"pmu-suite/{VERSION}: added\n")
        # As Debian's package of headers does.
        self.inside(f"mv /tmp/build {self.dkms.removesuffix('/updates/dkms')}; "
                    f"run-parts --arg={self.kernel.release} /etc/kernel/header_postinst.d")
        self.assertEqual(self.inside("dkms status"), self.installed())
        self.make("dkms-uninstall")
        self.inside("mv /lib/modules/*/build /tmp")
        self.assertEqual(self.left(), before)

    def test_dkms_install_without_dkms(self):
        self.inside("rm /usr/sbin/dkms")
        before = self.left()
        self.assertIn("There is no dkms", self.make("dkms-install", status=2))
        self.assertEqual(self.left(), before)


class Driver(InRoot):
    """pmu-driver, where something is in the way."""

    def setUp(self):
        super().setUp()
        self.make("install-driver PREFIX=/usr")
        self.before = self.left()

    def built_in(self):
        """The kernel's driver is part of the kernel that runs."""
        self.inside('lib=/lib/modules/$(uname -r); mkdir -p "$lib"; depmod; cd "$lib"; '
                    "echo kernel/arch/x86/events/intel/intel-uncore.ko > modules.builtin; "
                    "printf 'intel_uncore.description=x\\0intel_uncore.file=x\\0' > modules.builtin.modinfo; : > modules.order; depmod")

    def test_wrong_arguments(self):
        for wrong in "their", "ours now", "--now ours", "in-tree --now again":
            self.assertIn("usage: pmu-driver", self.inside(f"pmu-driver {wrong}", status=2))
        self.assertEqual(self.left(), self.before)

    def test_users_may_look_and_not_change(self):
        user = "setpriv --reuid 65534 --clear-groups env PATH=/usr/bin:/bin /usr/sbin/pmu-driver"
        self.assertIn("at boot: the kernel's driver", self.inside(user))
        for change in "ours", "in-tree":
            self.assertIn("only root can change", self.inside(f"{user} {change}", status=1))
        self.assertEqual(self.left(), self.before)

    def test_what_cannot_be_written(self):
        locked = "mount --bind /etc /etc; mount -o remount,ro,bind /etc; "
        self.assertIn("cannot write /etc/modprobe.d/pmu-suite.conf", self.inside(f"{locked} pmu-driver ours", status=1))
        self.assertEqual(self.left(), self.before)
        self.inside("pmu-driver ours")
        self.assertIn("cannot remove", self.inside(f"{locked} pmu-driver in-tree", status=1))

    def test_a_module_that_is_missing_is_told(self):
        for command in "pmu-driver ours", "pmu-driver":
            self.assertIn("intel_imc_pmu is not installed for this kernel", self.inside(command))

    def test_a_boot_loader_that_was_not_told_is_told_the_next_time(self):
        self.built_in()
        self.inside("printf '#!/bin/sh\\nexit 3\\n' > /usr/sbin/update-grub; chmod 755 /usr/sbin/update-grub")
        self.assertIn("update-grub failed", self.inside("pmu-driver ours", status=1))
        self.inside("printf '#!/bin/sh\\necho told\\n' > /usr/sbin/update-grub")
        self.assertIn("told", self.inside("pmu-driver ours").split())
        self.assertIn("initcall_blacklist=intel_uncore_init", self.inside("cat /etc/default/grub.d/pmu-suite.cfg"))
        self.assertIn("told", self.inside("pmu-driver in-tree").split())


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
