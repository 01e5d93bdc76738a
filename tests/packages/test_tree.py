# SPDX-License-Identifier: GPL-2.0-only
"""What is made of all files of the tree: source packages, as lintian sees them, copies without private keys, the tarball."""
import itertools
import os
import re
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock
from pathlib import Path

from inroot import VERSION, InRoot, export
from pmusuite import cache


class Lintian(InRoot):
    def test_lintian_has_nothing_to_say(self):
        # Each suite wants its own version of the policy. Debian 13's lintian no longer has a tag that is overridden for 12's.
        suppressed = "out-of-date-standards-version" + ("" if self.suite == "bookworm" else ",alien-tag")
        said = self.inside(f"cd {self.dist()}; lintian --allow-root --display-info --pedantic --fail-on error "
                           f"--suppress-tags {suppressed} *.changes")
        self.assertEqual([line for line in said.splitlines() if re.match("[EWIP]: ", line)], [])


class Clone(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.clone = Path(directory.name) / "clone"
        self.copy = Path(directory.name) / "copy"
        self.git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org", "-C", self.clone]
        export(self.clone)
        for command in ("init", "-q"), ("add", "-A"), ("commit", "-qm", "all"):
            subprocess.run([*self.git, *command], check=True)

    def programs(self):
        """A directory with what builds packages, which does nothing."""
        directory = self.clone.with_name("programs")
        directory.mkdir(exist_ok=True)
        for name in "rpmbuild", "dpkg-checkbuilddeps":
            (directory / name).write_text("#!/bin/sh\n")
            (directory / name).chmod(0o755)
        return directory

    def export(self):
        return subprocess.run([self.clone / "scripts/packaging/export", self.copy], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)

    def make_key(self, *options, name="mok.key"):
        """A private key at the top of the tree, where somebody follows Documentation/install.md."""
        subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", self.clone / name, *options], check=True)


class Export(Clone):
    """No package has the private key of its maker."""

    def private_keys(self):
        names = [path for path in self.copy.rglob("*") if path.is_file()]
        self.assertFalse(self.copy.exists() and len(names) < 100)
        return [path.name for path in names if path.name == "mok.key" or b"\n-----BEGIN PRIVATE KEY-----" in b"\n" + path.read_bytes()]

    def test_a_private_key_in_a_clone_stays_there(self):
        for name in "mok.key", "mok.pem":
            self.make_key(name=name)
        done = self.export()
        self.assertEqual((done.returncode, self.private_keys()), (0, []), done.stdout)
        self.assertIn("since git does not track it: mok.pem", done.stdout)

    def test_a_private_key_that_is_committed_is_refused(self):
        self.make_key(name="certificate")
        subprocess.run([*self.git, "add", "certificate"], check=True)
        done = self.export()
        self.assertEqual((done.returncode, self.private_keys()), (1, []))
        self.assertIn("move it out of this directory: ./certificate", done.stdout)

    def test_a_private_key_in_a_tarball_is_refused(self):
        """In DER it says nothing of itself, so its name decides."""
        shutil.rmtree(self.clone / ".git")
        for options in (), ("-outform", "DER"):
            self.make_key(*options)
            done = self.export()
            self.assertEqual((done.returncode, self.private_keys()), (1, []))
            self.assertIn("move it out of this directory: ./mok.key", done.stdout)

    def test_a_directory_that_is_there_stays(self):
        self.copy.mkdir()
        (self.copy / "mine").touch()
        self.make_key(name="certificate")
        subprocess.run([*self.git, "add", "certificate"], check=True)
        self.assertEqual((self.export().returncode, [path.name for path in self.copy.iterdir()]), (1, ["mine"]))

    @unittest.skipIf(os.geteuid(), "only root can give a clone away")
    def test_another_user_s_clone_is_no_tarball(self):
        """Git refuses it, and this is said."""
        os.chown(self.clone, 65534, 65534)
        os.chown(self.clone / ".git", 65534, 65534)
        for program in "export", "version":
            done = subprocess.run([self.clone / f"scripts/packaging/{program}", self.copy], capture_output=True, text=True,
                                  env=os.environ | {"HOME": str(self.clone)}, check=False)
            self.assertEqual((done.stdout, self.copy.exists()), ("", False))
            self.assertIn("dubious ownership", done.stderr)
            self.assertNotEqual(done.returncode, 0)
        for goal in "dist", "rpm", "deb":
            done = subprocess.run(["sh", "-c", f'PATH="$1:$PATH" exec make -s -C "$2" {goal}', "sh", self.programs(), self.clone],
                                  capture_output=True, text=True, env=os.environ | {"HOME": str(self.clone)}, check=False)
            self.assertIn("make packages as the user whose clone it is, or of a tarball", done.stderr)
            self.assertNotEqual(done.returncode, 0)

    def test_what_was_changed_is_packed_as_it_is(self):
        (self.clone / "Kbuild").write_text("# changed\n")
        self.export()
        self.assertEqual((self.copy / "Kbuild").read_text(), "# changed\n")


class Versions(Clone):
    def version(self):
        return cache.run([self.clone / "scripts/packaging/version"], "asking for the version").strip()

    def commit(self):
        subprocess.run([*self.git, "commit", "-q", "--allow-empty", "-m", "more"], check=True)

    def test_a_later_commit_has_a_later_version(self):
        """Or a package manager would keep the older package: it already has the version."""
        found = ["0.1", self.version()]
        self.commit()
        found.append(self.version())
        (self.clone / "Kbuild").write_text("# changed\n")
        found.append(self.version())
        subprocess.run([*self.git, "checkout", "-q", "Kbuild"], check=True)
        subprocess.run([*self.git, "tag", f"v{VERSION}"], check=True)
        found.append(self.version())
        self.assertEqual(found[-1], VERSION)
        self.commit()
        found.append(self.version())
        for older, newer in itertools.pairwise(found):
            self.assertEqual(subprocess.run(["dpkg", "--compare-versions", older, "lt", newer], check=False).returncode, 0,
                             f"{older} is not below {newer}")

    def test_a_clone_without_its_history(self):
        """The count of its commits would be one, however many there were: a version that goes back."""
        self.commit()
        whole, self.clone = self.clone, self.copy
        subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{whole}", self.clone], check=True)
        done = subprocess.run([self.clone / "scripts/packaging/version"], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("'git fetch --unshallow --tags' gets them", done.stderr)
        subprocess.run(["git", "-C", self.clone, "tag", f"v{VERSION}"], check=True)
        self.assertEqual(self.version(), VERSION)

    def test_the_package_says_its_version_everywhere(self):
        version = self.version()
        subprocess.run([self.clone / "scripts/packaging/export", self.copy, version], check=True)
        for name in "include/pmu/version.h", "tools/pmutools/__init__.py", "scripts/packaging/debian/changelog":
            self.assertIn(version, (self.copy / name).read_text())
        spec = (self.copy / "scripts/packaging/pmu-suite.spec").read_text()
        self.assertRegex(spec, rf"(?m)^Version: +{re.escape(version)}$")
        day = subprocess.run([*self.git, "log", "-1", "--format=%cd", "--date=format-local:%a %b %d %Y"], capture_output=True, text=True,
                             check=True, env=os.environ | {"TZ": "UTC", "LC_ALL": "C"}).stdout.strip()
        self.assertRegex(spec, rf"(?m)^\* {day} pmu-suite maintainers .* - {re.escape(version)}-1$")


class Dist(Clone):
    """The tarball, of a clone."""

    def dist(self):
        return subprocess.run(["make", "-C", self.clone, "--no-print-directory", "-s", "dist"], capture_output=True, text=True,
                              check=False)

    def test_the_tag_is_the_version(self):
        subprocess.run([*self.git, "tag", f"v{VERSION}"], check=True)
        self.assertEqual(self.dist().stdout, f"dist/pmu-suite-{VERSION}.tar.xz\n")
        files = cache.run(["tar", "-tf", self.clone / f"dist/pmu-suite-{VERSION}.tar.xz"], "reading the tarball").split()
        self.assertIn(f"pmu-suite-{VERSION}/Kbuild", files)

    def test_between_tags_the_name_says_so(self):
        self.assertRegex(self.dist().stdout, rf"^dist/pmu-suite-{re.escape(VERSION)}~1\.g[0-9a-f]+\.tar\.xz\n$")

    def test_each_byte_is_the_same_again(self):
        """Whoever makes it, and where the clone is."""
        tarballs = []
        for umask in 0o22, 0o77:
            other = self.clone.with_name(f"other{umask}")
            before = os.umask(umask)
            try:
                subprocess.run(["git", "clone", "-q", self.clone, other], check=True)
                os.utime(other / "Kbuild", (umask, umask))
                said = subprocess.run(["make", "-C", other, "--no-print-directory", "-s", "dist"], check=True, capture_output=True,
                                      text=True).stdout
            finally:
                os.umask(before)
            tarballs.append((other / said.strip()).read_bytes())
        self.assertEqual(tarballs[0], tarballs[1])

    def test_another_tag_is_refused(self):
        subprocess.run([*self.git, "tag", "v99"], check=True)
        self.assertIn(f"the tag is v99, and include/pmu/version.h says {VERSION}", self.dist().stderr)

    def test_changes_are_refused(self):
        (self.clone / "Kbuild").write_text("")
        self.assertIn("there are changes that are not committed", self.dist().stderr)


class Release(Clone):
    """What "make release" asks for, and makes, with programs that stand in for those of packages."""

    RPM = 'for word; do case $word in "_topdir "*) cd "${word#* }"; mkdir -p RPMS SRPMS; echo made > RPMS/pmu.rpm;; esac; done'
    NOTES = "\n".join(f"* `make {run}`: 7 passed, 0 failed, 1 skipped" for run in ("test-all", "test-kernels", "mutate", "hostile"))

    def commit(self, name, text):
        (self.clone / name).write_text(text)
        subprocess.run([*self.git, "add", "-A"], check=True)
        subprocess.run([*self.git, "commit", "-qm", name], check=True)

    def whole_run(self):
        """The notes of a whole run of the last commit, which are all that is said of the version."""
        head = cache.run([*self.git, "rev-parse", "HEAD"], "asking for the commit").strip()
        self.commit("CHANGELOG.md", f"# Changes\n\n## {VERSION}\n\nTested at {head}:\n{self.NOTES}\n\n## 0.1\nNot released yet.\n")

    def release(self, version=VERSION, rpm=RPM):
        programs = self.programs()
        for name, script in ("rpmbuild", rpm), ("dpkg-buildpackage", "echo made > ../pmu.deb; date > ../pmu.changes"):
            (programs / name).write_text(f"#!/bin/sh\n{script}\n")
            (programs / name).chmod(0o755)
        done = subprocess.run(["make", "-s", "-C", self.clone, "release", f"VERSION={version}"], capture_output=True, text=True,
                              env=os.environ | {"PATH": f"{programs}:{os.environ['PATH']}"}, check=False)
        return done.returncode, done.stdout, done.stderr

    def test_what_is_not_ready_is_said(self):
        self.commit("CHANGELOG.md", f"# Changes\n\n## {VERSION}\nNot released yet.\n")
        (self.clone / "Kbuild").write_text("# changed\n")
        status, _, said = self.release("9.9")
        self.assertNotEqual(status, 0)
        for text in ("changes that are not committed", f"include/pmu/version.h says {VERSION}, not 9.9", "no line 'Tested at COMMIT:' for 9.9",
                     "no line '* `make test-all`: N passed, 0 failed' for 9.9",
                     "no line '* `make hostile`: N passed, 0 failed', nor '... not run: REASON' for 9.9"):
            self.assertIn(text, said)
        self.assertIn(f"{VERSION} is not released yet", self.release()[2])
        self.assertFalse((self.clone / "dist").exists())

    def test_ready(self):
        """Also after a change of a page."""
        self.whole_run()
        self.commit("SECURITY.md", "a page\n")
        status, said, errors = self.release()
        self.assertEqual(status, 0, errors)
        made = self.clone / "dist" / VERSION
        self.assertEqual({path.name for path in made.iterdir()}, {"SHA256SUMS", f"pmu-suite-{VERSION}.tar.xz", "pmu.deb", "pmu.rpm"})
        subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=made, check=True)
        self.assertRegex(said, rf"\n    git tag -a v{re.escape(VERSION)} -m 'pmu-suite {re.escape(VERSION)}' [0-9a-f]{{12}}\n$")
        self.assertEqual(cache.run([*self.git, "tag"], "asking for tags"), "")

    def test_only_the_test_of_each_night_has_to_be_run(self):
        for run, ready in ("hostile", True), ("test-all", False):
            notes = re.sub(rf"(make {run}`): .*", r"\1: not run: no idle host", self.NOTES)
            with self.subTest(run), unittest.mock.patch.object(Release, "NOTES", notes):
                self.whole_run()
                self.assertEqual(self.release()[0] == 0, ready)

    def test_what_was_changed_after_the_run_was_not_tested(self):
        self.whole_run()
        self.commit("Kbuild", "# changed\n")
        self.assertRegex(self.release()[2], "changed since [0-9a-f]+ was tested: Kbuild")

    def test_builds_that_differ_are_no_release(self):
        self.whole_run()
        status, _, said = self.release(rpm=self.RPM.replace("made", "$$"))
        self.assertNotEqual(status, 0)
        self.assertIn("two builds of one commit differ", said)
        self.assertFalse((self.clone / "dist" / VERSION).exists())
