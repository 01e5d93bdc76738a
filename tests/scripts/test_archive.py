# SPDX-License-Identifier: GPL-2.0-only
# all: half a minute: an archive in each state, which apt reads
"""What is fetched from an archive that moves on: a small one is made here, in each of the states that Debian's has had."""
import contextlib
import email.utils
import functools
import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from pmusuite import build, cache, debian

HOST = debian.host_arch()
ARCHES = {"amd64": "amd64", "arm64": "arm64"}       # Debian's name: the flavour of kernels
ADDRESS = "debian"
# What a script decides of a kernel and of what its guests have; in a process of its own, since the cache is another.
DECIDE = """
import json, sys
from pmusuite import arch, cache, choice, debian, initrd, kernel, linux_tools, qemu
def version(packages, name):
    return next(package.split("=")[1] for package in packages if package.split("=")[0] == name)
FIND = {"kernel": lambda of: kernel.packages(arch.get(of[0]), of[1])["version"],
        "kbuild": lambda of: kernel.packages(arch.get(of[0]), of[1])["kbuild"],
        "perf": lambda of: version(initrd.packages(arch.get(of[0]), of[1]), "linux-perf"),
        "library": lambda of: version(initrd.packages(arch.get(of[0]), of[1]), "libopencsd1"),
        "source": lambda of: debian.download("amd64", [f"linux-source-6.12={of[0]}"])[0].name,
        "tools": lambda of: choice.Choice("tools", lambda: linux_tools._sources("amd64"), lambda one, _: {"source": ["amd64", [one]]}).get()[0],
        "qemu": lambda of: (lambda found, parts: [found, parts["glib"]])(*qemu._choice(arch.get(of[0])).get()),
        "tarball": lambda of: debian.source_tarball("amd64", of[0], of[1]).name}
found = []
for word, *of in json.loads(sys.argv[1]):
    try:
        found.append(FIND[word](of))
    except cache.Lost as error:
        found.append(f"lost: {error}")
    except cache.Error as error:
        found.append(f"error: {error}")
print(json.dumps(found))
"""


def package(name, version, arch="all", depends="", **fields):
    return {"Package": name, "Version": version, "Architecture": arch, "Maintainer": "nobody", "Description": "none",
            **({"Depends": depends} if depends else {}), **fields}


def kernel(version, release, series, arch, kbuild, oldest=""):
    """The packages of a kernel, with the one that is always of the newest."""
    flavour, both = ARCHES[arch], release.removesuffix("-")
    meta = f"linux-image-{flavour}" if series == "6.1" else f"linux-image-{series}-{flavour}"
    return [package(meta, version, arch, f"linux-image-{both}-{flavour} (= {version})"),
            package(f"linux-image-{both}-{flavour}", version, arch, "kmod"),
            package(f"linux-headers-{both}-{flavour}", version, arch,
                    f"linux-headers-{both}-common (= {version}), {kbuild}{oldest and f' (>= {oldest})'}, gcc-12"),
            package(f"linux-headers-{both}-common", version)]


def of_suites(arch):
    """{suite: packages} as on 28 November 2026, when a kbuild was newer than its image."""
    def perf(version, *more):
        return package("linux-perf", version, arch, ", ".join(["libopencsd1", *more]))

    return {
        "bookworm": [*kernel("6.1.176-1", "6.1.0-50", "6.1", arch, "linux-kbuild-6.1", "6.1.176-1"), perf("6.1.176-1"),
                     package("linux-kbuild-6.1", "6.1.176-1", arch), package("libopencsd1", "1.3-1", arch),
                     package("busybox-static", "1:1.35-4", arch), package("papi-tools", "7.0-2", arch)],
        "bookworm-updates": [],
        "bookworm-security": [*kernel("6.1.192-2", "6.1.0-56", "6.1", arch, "linux-kbuild-6.1", "6.1.192-2"), perf("6.1.192-3"),
                              package("linux-kbuild-6.1", "6.1.192-3", arch), package("libopencsd1", "1.3-2", arch),
                              *kernel("6.12.117-1~deb12u1", "6.12.117+deb12", "6.12", arch, "linux-kbuild-6.12.117+deb12"),
                              package("linux-kbuild-6.12.117+deb12", "6.12.117-1~deb12u1", arch),
                              package("linux-source-6.12", "6.12.117-1~deb12u1"), package("linux-source-6.12", "6.12.115-2~deb12u1")],
        "bookworm-backports": [perf("6.12.95-1~bpo12+1", "libtraceevent1"), package("libtraceevent1", "1:1.7-1", arch)]}


@functools.cache
def _made(fields):
    """The bytes of a .deb, which take dpkg-deb a while."""
    with tempfile.TemporaryDirectory() as scratch:
        control = Path(scratch, "tree/DEBIAN/control")
        control.parent.mkdir(parents=True)
        control.write_text("".join(f"{name}: {value}\n" for name, value in fields))
        subprocess.run(["dpkg-deb", "-Znone", "--build", f"{scratch}/tree", f"{scratch}/deb"], check=True, capture_output=True)
        return Path(scratch, "deb").read_bytes()


class Archive:
    """An archive below @root, and a host that uses it, which never fetched a list before."""

    def __init__(self, root):
        self.root = root
        self.suites = {}        # {suite: {architecture: packages}}
        for arch in ARCHES:
            for suite, packages in of_suites(arch).items():
                self.suites.setdefault(suite, {})[arch] = packages
        self.labels, self.places, self.valid_days = {}, {}, {}
        self.sources = None     # of the host
        self.method = "file"    # of apt, which then uses lists where they lie
        self.configuration = ""

    def place(self, suite):
        """Where the archive that has @suite lies."""
        return self.root / self.places.get(suite, "debian-security" if suite.endswith("-security") else ADDRESS)

    def remove(self, suite, prefix):
        """@suite loses the packages that begin with "NAME=VERSION" @prefix."""
        for arch, packages in self.suites[suite].items():
            self.suites[suite][arch] = [one for one in packages if not f"{one['Package']}={one['Version']}".startswith(prefix)]

    def publish(self):
        for suite, of_arch in self.suites.items():
            top, digests = self.place(suite) / "dists" / suite, []
            for arch, packages in of_arch.items():
                index = top / f"main/binary-{arch}/Packages"
                index.parent.mkdir(parents=True, exist_ok=True)
                index.write_text("".join(f"{self._stanza(suite, one)}\n\n" for one in packages))
                digests.append(self._digest(top, index))
            for index in top.glob("main/source/Sources"):
                digests.append(self._digest(top, index))
            date = email.utils.formatdate(time.time() - 3600, usegmt=True)
            (top / "Release").write_text(
                f"Origin: Debian\nLabel: {self.labels.get(suite, 'Debian-Security' if suite.endswith('-security') else 'Debian')}\n"
                f"Suite: oldstable{suite.removeprefix('bookworm')}\nCodename: {suite}\nDate: {date}\n" +
                (f"Valid-Until: {email.utils.formatdate(time.time() + self.valid_days[suite] * 86400, usegmt=True)}\n"
                 if suite in self.valid_days else "") +
                f"Architectures: {' '.join(of_arch)}\nComponents: main\nSHA256:\n{''.join(digests)}")

    def add_source(self, suite, digest=hashlib.sha256(b"source").hexdigest()):
        """@suite gets a source of QEMU, which has the @digest or is damaged."""
        top = self.place(suite)
        for folder in f"dists/{suite}/main/source", "pool":
            (top / folder).mkdir(parents=True, exist_ok=True)
        (top / f"dists/{suite}/main/source/Sources").write_text(
            f"Package: qemu\nVersion: 1:10.0.2+ds-2\nDirectory: pool\nChecksums-Sha256:\n {digest} 6 qemu_10.0.2+ds.orig.tar.xz\n"
            f"Files:\n {'0' * 32} 6 qemu_10.0.2+ds.orig.tar.xz\n")
        (top / "pool/qemu_10.0.2+ds.orig.tar.xz").write_bytes(b"source")

    def _digest(self, top, index):
        return f" {hashlib.sha256(index.read_bytes()).hexdigest()} {index.stat().st_size} {index.relative_to(top)}\n"

    def _stanza(self, suite, fields):
        content = _made(tuple(fields.items()))
        path = self.place(suite) / self.file(fields)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return "\n".join([*(f"{name}: {value}" for name, value in fields.items()), f"Filename: {self.file(fields)}",
                          f"Size: {len(content)}", f"SHA256: {hashlib.sha256(content).hexdigest()}"])

    @staticmethod
    def file(fields):
        return f"pool/{fields['Package']}_{fields['Version'].replace(':', '%3a')}_{fields['Architecture']}.deb"

    def pool(self, pattern):
        return list(self.root.glob(f"*/pool/{pattern}"))

    def environment(self):
        """What makes this the host's archive."""
        sources = self.sources or {"debian.list": "".join(
            f"deb [trusted=yes] {self.method}:{self.root}/{place} {suite} main\n" for place, suite in (
                (ADDRESS, "bookworm"), (ADDRESS, "bookworm-updates"), ("debian-security", "bookworm-security")))}
        parts = self.root / "sources.list.d"
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir()
        for name, text in sources.items():
            (parts / name).write_text(text)
        (self.root / "lists/partial").mkdir(parents=True, exist_ok=True)
        (self.root / "apt.conf").write_text(
            f'Dir::Etc::Parts "/dev/null";\nDir::Etc::SourceList "/dev/null";\nDir::Etc::SourceParts "{parts}";\nDir::State::Lists "{self.root}/lists";\n'
            f'Dir::Cache "{self.root}/host-cache";\nAPT::Sandbox::User "root";\n{self.configuration}')
        return os.environ | {"APT_CONFIG": f"{self.root}/apt.conf", "XDG_CACHE_HOME": f"{self.root}/cache",
                             "PYTHONPATH": f"{cache.TREE}/scripts"}


@unittest.skipUnless(HOST == "amd64", "the archive that is made here has a host of amd64")
class InArchive(unittest.TestCase):
    KERNEL, PERF = ["kernel", "x86_64", "6.1"], ["perf", "x86_64", "6.1"]
    interpreter = ("python3",)

    def setUp(self):
        directory = tempfile.TemporaryDirectory(prefix="pmu-archive.")
        self.addCleanup(directory.cleanup)
        self.archive = Archive(Path(directory.name))

    def decide(self, *wanted, publish=True):
        """What is decided of each of @wanted, and the lines that are said."""
        if publish:
            self.archive.publish()
        done = subprocess.run([*self.interpreter, "-c", DECIDE, json.dumps(wanted)], cwd=cache.TREE, env=self.archive.environment(),
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line for line in done.stderr.splitlines() if not line.startswith("== downloading ")]
        return (*json.loads(done.stdout), lines)

    def assert_one(self, lines, *words):
        self.assertEqual(len(lines), 1, lines)
        for word in words:
            self.assertIn(word, lines[0])


class Candidates(InArchive):
    """Of the packages that are listed, the newest that are whole."""

    def test_a_kbuild_that_is_newer_than_its_image(self):
        found = self.decide(self.KERNEL, ["kbuild", "x86_64", "6.1"], self.PERF, ["kernel", "x86_64", "6.12"], ["perf", "x86_64", "6.12"])
        lines = found[-1]
        self.assertEqual(found[:-1], ("6.1.192-2", "linux-kbuild-6.1=6.1.192-3", "6.1.192-3", "6.12.117-1~deb12u1", "6.12.95-1~bpo12+1"))
        self.assertEqual(lines, [])

    def test_later_runs_need_no_archive(self):
        first = self.decide(self.KERNEL, self.PERF)
        shutil.rmtree(self.archive.root / ADDRESS)
        shutil.rmtree(self.archive.root / "debian-security")
        shutil.rmtree(self.archive.root / "cache/pmu-suite/apt")
        self.assertEqual(self.decide(self.KERNEL, self.PERF, publish=False), first)

    def test_what_was_chosen_stays_until_it_is_lost(self):
        self.archive.remove("bookworm-security", "linux-")
        self.assertEqual(self.decide(self.KERNEL)[0], "6.1.176-1")
        self.archive.suites = {suite: {arch: of_suites(arch)[suite] for arch in ARCHES} for suite in self.archive.suites}
        self.assertEqual(self.decide(self.KERNEL), ("6.1.176-1", []))
        shutil.rmtree(self.archive.root / "cache/pmu-suite/debs")
        self.archive.remove("bookworm", "linux-headers")
        self.archive.publish()
        for lost in self.archive.pool("linux-headers-*6.1.176*"):
            lost.unlink()
        found, lines = self.decide(self.KERNEL, publish=False)
        self.assertEqual(found, "6.1.192-2")
        self.assertTrue(all("not downloaded" in line and "6.1.176-1" in line for line in lines), lines)

    def test_a_meta_package_ahead_of_its_image(self):
        self.archive.remove("bookworm-security", "linux-image-6.1.0-56")
        found, lines = self.decide(self.KERNEL)
        self.assertEqual(found, "6.1.176-1")
        self.assert_one(lines, "kernel-x86_64-6.1: 6.1.176-1, since the archive has no linux-image-6.1.0-56-amd64=6.1.192-2")

    def test_headers_or_kbuild_are_missing(self):
        for prefix in ("linux-headers-6.1.0-56-amd64", "linux-headers-6.1.0-56-common", "linux-kbuild-6.1=6.1.192"):
            with self.subTest(prefix):
                self.setUp()
                self.archive.remove("bookworm-security", prefix)
                found, lines = self.decide(self.KERNEL)
                self.assertEqual(found, "6.1.176-1")
                self.assert_one(lines, "6.1.176-1, since the archive has no", prefix.split("=")[0])

    def test_what_is_listed_may_be_gone_or_damaged(self):
        for damage in (Path.unlink, lambda path: path.write_bytes(path.read_bytes()[:-1]),
                       lambda path: path.write_bytes(b"x" * path.stat().st_size)):
            self.setUp()
            self.archive.publish()
            for path in self.archive.pool("linux-image-6.1.0-56*"):
                damage(path)
            found, lines = self.decide(self.KERNEL, publish=False)
            self.assertEqual(found, "6.1.176-1")
            self.assertIn("kernel-x86_64-6.1: 6.1.176-1, since the archive has no linux-image-6.1.0-56-amd64=6.1.192-2", lines[-1])

    def test_lists_that_are_old_are_fetched_once_more(self):
        self.archive.method = "copy"
        self.decide(self.KERNEL)
        for packages in self.archive.suites["bookworm-security"].values():
            packages.append(package("linux-perf", "6.1.192-4", packages[0]["Architecture"], "libopencsd1"))
        self.archive.remove("bookworm-security", "linux-perf=6.1.192-3")
        for path in self.archive.pool("linux-perf_6.1.192-3*"):
            path.unlink()
        found, lines = self.decide(self.PERF)
        self.assertEqual(found, "6.1.192-4")
        self.assert_one(lines, "not downloaded: ", "linux-perf_6.1.192-3")

    def test_any_perf_will_do(self):
        for prefix in ("linux-perf", "libtraceevent1"):
            with self.subTest(prefix):
                self.setUp()
                self.archive.remove("bookworm-backports", prefix)
                found, lines = self.decide(["perf", "x86_64", "6.12"])
                self.assertEqual(found, "6.1.192-3")
                if prefix != "linux-perf":
                    self.assert_one(lines, "guest-x86_64-6.12: ", "linux-perf=6.12.95", "libtraceevent1")

    def test_an_older_library_will_do(self):
        self.archive.publish()
        for path in self.archive.pool("libopencsd1_1.3-2_*"):
            path.unlink()
        found = self.decide(["library", "x86_64", "6.1"], self.PERF, publish=False)
        self.assertEqual(found[:2], ("1.3-1", "6.1.192-3"))

    def test_a_source_that_is_lost(self):
        """Guests need none; the debug kernel needs that of its version, and checkpatch any."""
        self.archive.remove("bookworm-security", "linux-source-6.12=6.12.117")
        kernel_of, source, tools, lines = self.decide(["kernel", "x86_64", "6.12"], ["source", "6.12.117-1~deb12u1"], ["tools"])
        self.assertEqual((kernel_of, tools), ("6.12.117-1~deb12u1", "linux-source-6.12=6.12.115-2~deb12u1"))
        self.assertEqual(source, "lost: the archive has no linux-source-6.12=6.12.117-1~deb12u1")
        self.assertEqual(lines, [])

    def test_a_kernel_that_there_is_not(self):
        self.archive.remove("bookworm-security", "linux-image-6.12")
        found, other, lines = self.decide(["kernel", "x86_64", "6.12"], self.KERNEL)
        self.assertEqual((found[:5], other), ("lost:", "6.1.192-2"))


class Suites(InArchive):
    """Only the suite itself is needed."""

    def test_a_suite_that_is_absent(self):
        for suite, version in (("bookworm-updates", "6.1.192-2"), ("bookworm-backports", "6.1.192-2"), ("bookworm-security", "6.1.176-1")):
            with self.subTest(suite):
                self.setUp()
                del self.archive.suites[suite]
                found, lines = self.decide(self.KERNEL)
                self.assertEqual(found, version)
                self.assert_one(lines, f"leaving out {suite} for amd64: ")

    def test_lists_out_of_step(self):
        self.archive.publish()
        for suite in ("bookworm-security", "bookworm-backports"):
            index = self.archive.place(suite) / f"dists/{suite}/main/binary-amd64/Packages"
            index.write_text(index.read_text() + "\n")
        found, lines = self.decide(self.KERNEL, publish=False)
        self.assertEqual(found, "6.1.176-1")
        self.assertEqual([line.split(":")[0] for line in lines], [f"== leaving out {suite} for amd64" for suite in (
            "bookworm-security", "bookworm-backports")])

    def test_lists_half_there(self):
        self.archive.publish()
        (self.archive.place("bookworm-security") / "dists/bookworm-security/main/binary-amd64/Packages").unlink()
        found, lines = self.decide(self.KERNEL, publish=False)
        self.assertEqual(found, "6.1.176-1")
        self.assert_one(lines, "leaving out bookworm-security for amd64")

    def test_a_suite_that_was_left_out_is_asked_for_again(self):
        """Once what was left out with it is wanted, also on the same day."""
        self.archive.publish()
        index = self.archive.place("bookworm-security") / "dists/bookworm-security/main/binary-amd64/Packages"
        index.write_text(index.read_text() + "\n")
        found, lines = self.decide(self.KERNEL, publish=False)
        self.assertEqual(found, "6.1.176-1")
        self.assertEqual(self.decide(["kernel", "x86_64", "6.12"])[0], "6.12.117-1~deb12u1")

    def test_an_expired_suite(self):
        self.archive.valid_days["bookworm-security"] = -7
        found, lines = self.decide(self.KERNEL)
        self.assertEqual(found, "6.1.176-1")
        self.assert_one(lines, "leaving out bookworm-security", "expired")

    def test_options_of_the_host_s_sources(self):
        """In both formats, of which the second may have comments, stanzas that are off, and several suites."""
        self.archive.valid_days = {"bookworm": -7, "bookworm-security": -7, "bookworm-backports": -7}
        root = self.archive.root
        for name, text in (
                ("a.list", f"# Debian\n\ndeb [ arch=amd64 trusted=yes check-valid-until=no ] file:{root}/debian bookworm main contrib\n"
                           f"deb [trusted=yes check-valid-until=no] file:{root}/debian-security bookworm-security main\n"),
                ("a.sources", f"Types: deb\nURIs: file:{root}/gone\nSuites: bookworm\nComponents: main\nEnabled: no\n\n# Debian\n\n"
                              f"Types: deb deb-src\n# all\nURIs: file:{root}/debian\nSuites: bookworm bookworm-updates\n"
                              "Components: main\nTrusted: yes\nCheck-Valid-Until: no\n\n"
                              f"Types: deb\nURIs: file:{root}/debian-security\nSuites: bookworm-security\nComponents: main\n"
                              "Check-Valid-Until: no\nTrusted: yes\n")):
            with self.subTest(name), contextlib.suppress(FileNotFoundError):
                self.archive.sources = {name: text}
                shutil.rmtree(root / "cache", ignore_errors=True)
                self.assertEqual(self.decide(self.KERNEL, ["perf", "x86_64", "6.12"]), ("6.1.192-2", "6.12.95-1~bpo12+1", []))

    def test_backports_in_the_host_s_sources(self):
        """Their label begins as Debian's does, and their file may come first."""
        self.archive.labels["bookworm-backports"] = "Debian Backports"
        root = self.archive.root
        self.archive.sources = {
            "backports.list": f"deb [trusted=yes] file:{root}/debian bookworm-backports main\n" * 2,
            "debian.list": f"deb [trusted=yes] file:{root}/debian bookworm main\n"
                           f"deb [trusted=yes] file:{root}/debian-security bookworm-security main\n"}
        self.assertEqual(self.decide(self.KERNEL, ["perf", "x86_64", "6.12"]), ("6.1.192-2", "6.12.95-1~bpo12+1", []))

    def test_two_that_fetch_at_once(self):
        """As scripts/setup does in the midst of a demo, for the host's own packages."""
        self.archive.publish()
        environment = self.archive.environment()
        asking = [subprocess.Popen([cache.TREE / "scripts/apt", arch, "update", "now"], env=environment, text=True,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for arch in 3 * ("amd64", "arm64")]
        said = [one.communicate()[1] for one in asking]
        self.assertEqual([one.returncode for one in asking], [0] * len(asking), said)
        self.assertEqual("".join(said), "")

    def test_an_address_for_each_suite(self):
        for labels in ({}, {suite: f". {suite}" for suite in self.archive.suites}):     # as Nexus does it, and aptly
            with self.subTest(labels):
                self.setUp()
                self.archive.places, self.archive.labels = {suite: f"of-{suite}" for suite in self.archive.suites}, labels
                self.archive.sources = {"a.list": "".join(f"deb [trusted=yes] file:{self.archive.place(suite)} {suite} main\n"
                                                          for suite in self.archive.suites)}
                self.assertEqual(self.decide(self.KERNEL, ["perf", "x86_64", "6.12"]), ("6.1.192-2", "6.12.95-1~bpo12+1", []))

    def test_others_archives(self):
        """Somebody else's packages are not asked for, though their suite is called as Debian's."""
        root = self.archive.root
        self.archive.publish()
        shutil.copytree(root / ADDRESS / "dists/bookworm", root / "other/dists/bookworm")
        release = root / "other/dists/bookworm/Release"
        release.write_text(release.read_text().replace("Label: Debian", "Label: other"))
        self.archive.environment()
        self.archive.sources = {"a.list": f"deb [trusted=yes] file:{root}/other bookworm main\n",
                                "cdrom.list": "deb cdrom:[Debian 12]/ bookworm main\n",
                                "b.list": f"deb [trusted=yes] file:{root}/debian bookworm main\n"}
        shutil.rmtree(root / "other/dists/bookworm/main")
        self.assertEqual(self.decide(self.KERNEL)[0], "6.1.176-1")

    def test_the_host_s_configuration(self):
        """What is for the host's own packages: releases, priorities, further architectures, hooks; and a proxy."""
        self.archive.configuration = (
            f'APT::Default-Release "trixie";\nAPT::Architectures {{ "amd64"; "i386"; }};\nDir::Etc::Preferences "{self.archive.root}/never";\n'
            'APT::Update::Post-Invoke { "false"; };\nAcquire::http::Proxy "http://127.0.0.1:9";\nDir::Cache::pkgcache "";\n')
        (self.archive.root / "never").write_text("Package: *\nPin: release n=bookworm*\nPin-Priority: -1\n")
        self.assertEqual(self.decide(self.KERNEL, self.PERF), ("6.1.192-2", "6.1.192-3", []))

    def test_a_host_without_an_archive(self):
        self.archive.sources = {"a.list": "# nothing\n"}
        found, _ = self.decide(self.KERNEL)
        self.assertEqual(found[:7], "error: ")
        self.assertIn("this host's apt has no source of Debian; add one to /etc/apt/sources.list", found)

    def test_an_archive_that_cannot_be_reached(self):
        """This is an error, also for another architecture: nothing is left out."""
        here, there, _ = self.decide(self.KERNEL, ["kernel", "arm64", "6.1"], publish=False)
        for found in here, there:
            self.assertEqual(found[:7], "error: ")
            self.assertIn("as root, apt-get update tells more", found)

    def test_a_tarball_takes_the_lists_of_one_suite(self):
        for suite in ("bookworm", "bookworm-backports"):
            self.archive.add_source(suite)
        self.assertEqual(self.decide(["tarball", "qemu", "10.0.2+ds"]), ("qemu_10.0.2+ds.orig.tar.xz", []))
        lists = [path.name for path in self.archive.root.glob("cache/pmu-suite/apt/amd64/lists/*Sources*")]
        self.assertEqual(len(lists), 1)
        self.assertIn("bookworm-backports", lists[0])

    def test_a_tarball_that_is_lost(self):
        """A mirror may have no sources, or have dropped one that it lists: another version of QEMU may be whole."""
        self.assertEqual(self.decide(["tarball", "qemu", "10.0.2+ds"])[0],
                         "lost: looking for the source of qemu 10.0.2+ds failed (exit status 1): "
                         "scripts/apt: no suite of bookworm has the source of qemu 10.0.2+ds")
        self.archive.add_source("bookworm", "0" * 64)
        found, _ = self.decide(["tarball", "qemu", "10.0.2+ds"])
        self.assertEqual(found[:18], "lost: downloading ")


class OneRelease(InArchive):
    """A mirror of Debian 13 alone, as that release needs no other: guests are of it, too, and have no Linux 6.1."""

    def setUp(self):
        super().setUp()
        release = self.archive.root / "os-release"
        release.write_text("ID=debian\nVERSION_ID=13\nVERSION_CODENAME=trixie\n")
        self.interpreter = (*build.own_mounts(), *(["--map-root-user"] if os.geteuid() else []), "sh", "-ec",
                            'mount --bind "$0" /etc/os-release; exec "$@"', str(release), "python3")
        if subprocess.run([*self.interpreter, "-c", ""], check=False, capture_output=True).returncode:
            self.skipTest("nobody may mount here")
        self.archive.suites = {"trixie": {arch: [
            *kernel("6.12.90-2", "6.12.90+deb13", "6.12", arch, "linux-kbuild-6.12.90+deb13"), package("libopencsd1", "1.5-1", arch),
            package("linux-kbuild-6.12.90+deb13", "6.12.90-2", arch), package("linux-perf", "6.12.90-2", arch, "libopencsd1"),
            package("busybox-static", "1:1.37-6", arch)] for arch in ARCHES}}
        self.archive.suites |= {f"trixie-{part}": {arch: [] for arch in ARCHES} for part in ("updates", "security", "backports")}
        self.archive.sources = {"debian.list": f"deb [trusted=yes] file:{self.archive.root}/debian trixie main\n"
                                               f"deb [trusted=yes] file:{self.archive.root}/debian-security trixie-security main\n"}

    def test_what_can_be_had(self):
        newer, perf, older, lines = self.decide(["kernel", "x86_64", "6.12"], ["perf", "x86_64", "6.12"], self.KERNEL)
        self.assertEqual((newer, perf, older), ("6.12.90-2", "6.12.90-2", "lost: kernel-x86_64-6.1: the archive has none"))
        self.assert_one(lines, "guests have packages of trixie, since there are no lists of bookworm for amd64: ")

    def test_its_qemu(self):
        """GLib's headers are in two packages since Debian 13."""
        self.archive.suites["trixie"]["amd64"] += [package(name, version, HOST) for name, version in (
            ("qemu-system-x86", "1:10.0.2+ds-2"), ("qemu-system-data", "1:10.0.2+ds-2"), ("qemu-system-common", "1:10.0.2+ds-2"),
            ("seabios", "1.16-1"), ("libglib2.0-dev", "2.84-1"), ("libgio-2.0-dev", "2.84-1"))]
        self.archive.add_source("trixie")
        self.assertEqual(self.decide(["qemu", "x86_64"])[0], [
            ["amd64", "1:10.0.2+ds-2"], ["amd64", ["libglib2.0-dev=2.84-1", "libgio-2.0-dev=2.84-1"]]])

    def test_a_mirror_that_has_both(self):
        self.archive.suites |= {suite: {arch: of_suites(arch)[suite] for arch in ARCHES} for suite in of_suites("amd64")}
        self.assertEqual(self.decide(["kernel", "x86_64", "6.12"], self.KERNEL), ("6.12.117-1~deb12u1", "6.1.192-2", []))

    def test_a_mirror_that_has_neither(self):
        shutil.rmtree(self.archive.root / ADDRESS, ignore_errors=True)
        found, _ = self.decide(self.KERNEL, publish=False)
        self.assertEqual(found[:7], "error: ")


class OneArchitecture(InArchive):
    """A mirror of amd64 alone."""

    def test_releases_say_so(self):
        for of_arch in self.archive.suites.values():
            del of_arch["arm64"]
        self.judge()

    def test_releases_do_not_say_so(self):
        self.archive.publish()
        for path in self.archive.root.glob("*/dists/*/main/binary-arm64"):
            shutil.rmtree(path)
        self.judge(publish=False)

    def judge(self, publish=True):
        here, there, lines = self.decide(self.KERNEL, ["kernel", "arm64", "6.1"], publish=publish)
        self.assertEqual(here, "6.1.192-2")
        self.assertEqual(there[:48], "lost: no lists of bookworm for arm64: " + there[38:48])
        self.assertEqual(lines, [])


class Order(unittest.TestCase):
    def test_versions_sort_as_dpkg_sorts_them(self):
        versions = ["1.0~rc1-1", "1.0-1~bpo1", "1.0-1", "1.0-1+b1", "1.0-2", "1.0+dfsg-1", "1.0.1-1", "1.0a-1", "1.10-1", "1:0.5-1",
                    "6.12.95-1~bpo12+1", "6.12.117-1~deb12u1", "1.0", "1.0-0", "2.0~~", "2.0~", "2.0", "2.0a", "2.0+"]
        for one in versions:
            for other in versions:
                status = subprocess.run(["dpkg", "--compare-versions", one, "lt", other], check=False).returncode
                self.assertEqual(debian.order(one) < debian.order(other), not status, f"{one} and {other}")
